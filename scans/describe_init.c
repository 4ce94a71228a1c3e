/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "kernels/base/nearest.h"
#include "scans/describe.h"
#include "scans/internal.h"
#include "scans/names.h"

#define LINE_WIDTH 92

/* Values of an example where the table has no default, or has one that shows less. */
static const struct {
    const char *model;
    const char *param;
    const char *value;
} examples[] = {
    {"gnlse", "length", "15 cm"},
    {"gnlse", "wavelength", "835 nm"},
    {"gnlse", "betas",
     "[-11.830 ps^2/km, 8.1038e-2 ps^3/km, -9.5205e-5 ps^4/km, 2.0737e-7 ps^5/km, "
     "-5.3943e-10 ps^6/km, 1.3486e-12 ps^7/km, -2.5495e-15 ps^8/km, 3.0524e-18 ps^9/km, "
     "-1.7140e-21 ps^10/km]"},
    {"gnlse", "gamma", "0.11 W^-1 m^-1"},
    {"gnlse", "loss", "0 dB/m"},
    {"gnlse", "raman.model", "blow_wood"},
    {"gnlse", "pulse.duration", "50 fs"},
    {"gnlse", "pulse.peak_power", "10 kW"},
    {"gnlse", "grid.points", "8192"},
    {"gnlse", "grid.window", "12.5 ps"},
    {"capillary", "gas.name", "He"},
    {"capillary", "core_radius.constant", "125 um"},
    {"capillary", "length", "1.5 m"},
    {"capillary", "pressure.from", "0.8 bar"},
    {"capillary", "pressure.to", "0 bar"},
    {"capillary", "temperature", "293.15 K"},
    {"capillary", "guide.wall.glass", "silica_table"},
    {"capillary", "pulse.duration", "7.5 fs"},
    {"capillary", "pulse.energy", "275 uJ"},
    {"capillary", "pulse.wavelength", "800 nm"},
    {"capillary", "grid.wavelengths", "[90 nm, 4 um]"},
    {"capillary", "grid.window", "400 fs"},
    {"capillary", "bands.rdw", "[100 nm, 140 nm]"},
};

/* What an example scans. */
static const struct {
    const char *model;
    const char *axes;
} example_axes[] = {
    {"snl1", "axes:\n"
             "  - sea.depth: [10 m, 30 m, 100 m]\n"
             "  - sea.peak: {from: 0.08 Hz, to: 0.16 Hz, points: 3}\n"},
    {"gnlse", "axes:                             # first axis slowest, last axis fastest\n"
              "  - pulse.duration: [50 fs, 100 fs]\n"
              "  - pulse.peak_power: {from: 5 kW, to: 10 kW, points: 3}\n"},
    {"capillary", "axes:                             # first axis slowest, last axis fastest\n"
                  "  - pulse.energy: {from: 200 uJ, to: 300 uJ, points: 3}\n"},
    {"probe", "axes:                             # first axis slowest, last axis fastest\n"
              "  - a: [0, 1]\n"
              "  - b: {from: 0, to: 2, points: 3}\n"
              "  - c: {from: 0, to: 4, step: 1}\n"},
};

static const char *example_value(const struct model_info *info, const struct param_info *p)
{
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        if (strcmp(examples[i].model, info->name) == 0
            && strcmp(examples[i].param, p->name) == 0)
            return examples[i].value;
    if (p->fallback != NULL || (p->flags & PARAM_REQUIRED) == 0)
        return p->fallback;
    switch (p->kind) {
    case PARAM_BOOL:
        return "true";
    case PARAM_CHOICE:
        return p->choices[0];
    case PARAM_LIST:
        return "[1]";
    default:
        return "1";
    }
}

/* Words of a text as comment lines of limited width. */
static void write_comment(FILE *out, int indent, const char *text)
{
    int column = 0;
    for (const char *p = text; *p != '\0';) {
        const int length = (int)strcspn(p, " ");
        if (column == 0 || column + 1 + length > LINE_WIDTH) {
            fprintf(out, "%s%*s#", column > 0 ? "\n" : "", indent, "");
            column = indent + 1;
        }
        fprintf(out, " %.*s", length, p);
        column += 1 + length;
        p += length;
        p += strspn(p, " ");
    }
    fprintf(out, "\n");
}

/* Meaning, unit, range and choices of a parameter in one sentence. */
/* NOLINTNEXTLINE(readability-non-const-parameter): written through out.bytes */
static void explain(const struct param_info *p, char *text, size_t size)
{
    char range[160] = "";
    if (p->kind == PARAM_REAL || p->kind == PARAM_INT || p->kind == PARAM_LIST)
        schema_range(p, range, sizeof range);
    char list[256];
    struct text out = {.bytes = text, .size = size};
    text_add(&out, "%s", p->doc);
    if (range[0] != '\0')
        text_add(&out, "; %s", range);
    else if (strcmp(p->unit, "1") != 0)
        text_add(&out, "; in %s", p->unit);
    if (p->kind == PARAM_CHOICE) {
        nearest_list(p->choices, list, sizeof list);
        text_add(&out, "; one of: %s", list);
    }
    if ((p->flags & PARAM_NONE) != 0) {
        const bool automatic = p->fallback != NULL && strcmp(p->fallback, "auto") == 0;
        text_add(&out, "; or %s", automatic ? "auto" : "none");
    }
    if ((p->flags & PARAM_REQUIRED) != 0)
        text_add(&out, "; required");
    text_end(&out);
}

static void write_key(FILE *out, const struct model_info *info, const struct param_info *p,
                      int indent)
{
    char text[1024];
    explain(p, text, sizeof text);
    write_comment(out, indent, text);
    const char *dot = strrchr(p->name, '.');
    const char *name = dot != NULL ? dot + 1 : p->name;
    const char *value = example_value(info, p);
    if (value != NULL)
        fprintf(out, "%*s%s: %s\n", indent, "", name, value);
    else
        fprintf(out, "%*s# %s:\n", indent, "", name);
}

static bool has_value(const struct model_info *info, const char *prefix)
{
    for (int i = 0; i < info->param_count; i++)
        if (strncmp(info->params[i].name, prefix, strlen(prefix)) == 0
            && example_value(info, &info->params[i]) != NULL)
            return true;
    return false;
}

/* All parameters under a prefix, groups as nested maps. */
static void write_group(FILE *out, const struct model_info *info, const char *prefix,
                        int indent)
{
    const size_t length = strlen(prefix);
    struct names groups = {0};
    for (int i = 0; i < info->param_count; i++) {
        const struct param_info *p = &info->params[i];
        if (strncmp(p->name, prefix, length) != 0
            || (length == 0 && schema_is_stepper(p->name)))
            continue;
        const char *rest = p->name + length;
        const size_t part = strcspn(rest, ".");
        if (rest[part] == '\0') {
            write_key(out, info, p, indent);
            continue;
        }
        const int known = groups.count;
        names_add_part(&groups, rest, part);
        if (groups.count == known)
            continue;
        char inner[128];
        snprintf(inner, sizeof inner, "%.*s.", (int)(length + part), p->name);
        fprintf(out, "%*s%s%.*s:\n", indent, "", has_value(info, inner) ? "" : "# ", (int)part,
                rest);
        write_group(out, info, inner, indent + 2);
    }
}

static void write_axes(FILE *out, const struct model_info *info)
{
    fprintf(out,
            "\n# What is scanned. An axis may name any parameter, also stepper.rtol or\n"
            "# grid.points, and replaces its value above. Values: [value, value, …],\n"
            "# {from: A, to: B, points: N, spacing: linear | log} with both ends included,\n"
            "# {from: A, to: B, step: S}; several parameters on one axis:\n"
            "# - zip: {first: [value, …], second: [value, …]}\n");
    for (size_t i = 0; i < sizeof example_axes / sizeof example_axes[0]; i++)
        if (strcmp(example_axes[i].model, info->name) == 0) {
            fprintf(out, "%s", example_axes[i].axes);
            return;
        }
    fprintf(out, "axes: []\n");
}

static void write_ensemble(FILE *out, const struct model_info *info)
{
    if (!info->takes_noise)
        return;
    fprintf(
        out,
        "\n# Noise seeds at each point; without this section one realisation, no noise.\n"
        "# noise: one_photon | half_photon_gaussian | direct; common: the same noise at all\n"
        "# points; onto_noise: true adds noise even to an input plane that carries noise\n"
        "# In place of realisations: until: {quantity: mean_spectrum, error: 2 %%}, min: 20,\n"
        "# max: 2000 goes on until the error is small enough (also g12, or an observable)\n"
        "ensemble: {realisations: 4, seed: 1, noise: one_photon, common: false}\n");
}

static void write_sections(FILE *out, const struct model_info *info)
{
    const char *unit = info->progress_unit != NULL ? info->progress_unit : "1";
    fprintf(
        out,
        "\n# planes: number of equidistant ones with both ends, or a list of positions\n"
        "# (bare: %s), or last; field: true | false | float32; observables: all or a list\n"
        "save: {planes: %s, field: true, observables: all}\n"
        "\n# Error envelope: none, or {reference: tighter | stored FILE | none, factor: 10,\n"
        "# safety: 4, norm: field_l2 | spectrum_l2 | energy | observable NAME, planes: as in\n"
        "# save, tolerance: expected error, times safety the largest that passes,\n"
        "# sample: all | 5 %% | number of members | {points: [0, 3]},\n"
        "# gain: 100}: members are computed once more at rtol / factor, and their errors and\n"
        "# verdicts stored; those with noise where a perturbation grows less than gain times\n"
        "envelope: none\n"
        "\n# worker: core | socket | {threads: N}; memory of a worker: none or 4 GB\n"
        "resources: {worker: core, memory: none}\n"
        "\n# timeout of a member: none | 10 min | {times_median: 5}\n"
        "limits: {timeout: none, attempts: 2}\n"
        "\n# sync: member (each finished member reaches the disk) | never; checkpoint: time\n"
        "# between saved states; history: steps kept a member\n"
        "store: {sync: member, checkpoint: 60 s, history: 8192}\n",
        unit, info->single_plane ? "last" : "51");
}

void describe_init(FILE *out, const struct model_info *info)
{
    fprintf(out,
            "# A scan of model %s: %s.\n"
            "# Numbers take units (50 fs, 10 kW); a bare number is in the unit named in its\n"
            "# comment. Everything not listed here is refused.\n\n"
            "scan: %s-example\n"
            "format: 1\n"
            "model: %s\n\nparameters:\n",
            info->name, info->doc, info->name, info->name);
    write_group(out, info, "", 2);
    write_axes(out, info);
    write_ensemble(out, info);
    bool stepper = false;
    for (int i = 0; i < info->param_count; i++)
        stepper = stepper || schema_is_stepper(info->params[i].name);
    if (stepper) {
        fprintf(out, "\nstepper:\n");
        write_group(out, info, "stepper.", 2);
    }
    write_sections(out, info);
}
