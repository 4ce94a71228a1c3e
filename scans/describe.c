/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scans/describe.h"

#include <string.h>

#include "kernels/base/nearest.h"
#include "scans/internal.h"
#include "scans/numbers.h"

static const char *const class_names[] = {"P (equal bits)", "R (rounding)", "T (tolerance)",
                                          "N (noise)"};
static const char class_letters[] = "PRTN";

static const char *unit_name(const struct param_info *p)
{
    if (p->kind == PARAM_LIST && p->list_unit != NULL)
        return strstr(p->list_unit, "%d") != NULL ? "see below" : p->list_unit;
    return p->unit;
}

/* What is not set is chosen by the model. */
static bool is_automatic(const struct param_info *p)
{
    return p->fallback != NULL && strcmp(p->fallback, "auto") == 0;
}

/* What a file may hold: columns with their units, or an array of earlier runs. */
static void write_data(FILE *out, const struct param_info *p)
{
    if (p->kind != PARAM_DATA)
        return;
    if (p->data->plane_array != NULL)
        fprintf(out, " of an earlier run of the model, array plane/%s", p->data->plane_array);
    if (p->data->steps)
        fprintf(out, " of an earlier run of the model, the steps of a member");
    for (int i = 0; p->data->tables != NULL && p->data->tables[i] != NULL; i++)
        fprintf(out, "%s %s", i > 0 ? "," : " with columns", p->data->tables[i]);
    for (const struct data_field *f = p->data->fields; f != NULL && f->name != NULL; f++)
        fprintf(out, "%s %s (%d dimension%s, %s%s)", f != p->data->fields ? "," : " with",
                f->name, f->dims, f->dims > 1 ? "s" : "", f->unit,
                f->optional ? ", optional" : "");
    if (p->data->columns == NULL)
        return;
    fprintf(out, "; SI units");
    for (const struct data_column *c = p->data->columns; c->name != NULL; c++)
        fprintf(out, "%s %s %s", c != p->data->columns ? "," : "", c->name, c->unit);
}

/* Words that are legal in place of a value. */
static void write_words(FILE *out, const struct param_info *p)
{
    if ((p->flags & PARAM_NONE) != 0)
        fprintf(out, ", or %s", is_automatic(p) ? "auto" : "none");
    if ((p->flags & PARAM_LAST) != 0)
        fprintf(out, ", or last");
}

/* "number in m, above 0, required" */
static void write_kind(FILE *out, const struct param_info *p)
{
    static const char *const kinds[] = {
        [PARAM_REAL] = "number",          [PARAM_INT] = "whole number",
        [PARAM_BOOL] = "true or false",   [PARAM_CHOICE] = "one of",
        [PARAM_LIST] = "list of numbers", [PARAM_DATA] = "file"};
    fprintf(out, "%s", kinds[p->kind]);
    write_data(out, p);
    const bool number = p->kind == PARAM_REAL || p->kind == PARAM_INT || p->kind == PARAM_LIST;
    if (p->kind == PARAM_CHOICE) {
        char list[512];
        nearest_list(p->choices, list, sizeof list);
        fprintf(out, " %s", list);
    }
    if (number) {
        char range[160];
        schema_range(p, range, sizeof range);
        if (strcmp(unit_name(p), "1") != 0 && strcmp(unit_name(p), "see below") != 0)
            fprintf(out, " in %s", unit_name(p));
        if (range[0] != '\0')
            fprintf(out, ", %s", range);
    }
    write_words(out, p);
    if (p->kind == PARAM_LIST && p->list_unit != NULL && strstr(p->list_unit, "%d") != NULL) {
        char first[64];
        char second[64];
        param_unit(p, 0, first, sizeof first);
        param_unit(p, 1, second, sizeof second);
        fprintf(out, " in %s, %s, …", first, second);
    }
    if ((p->flags & PARAM_REQUIRED) != 0)
        fprintf(out, "; required");
    else if (p->fallback != NULL)
        fprintf(out, "; default %s", p->fallback);
    else
        fprintf(out, "; no default");
}

static void write_params(FILE *out, const struct model_info *info, bool stepper)
{
    for (int i = 0; i < info->param_count; i++) {
        const struct param_info *p = &info->params[i];
        if (schema_is_stepper(p->name) != stepper)
            continue;
        fprintf(out, "  %s\n      ", p->name);
        write_kind(out, p);
        fprintf(out, "\n      %s.\n", p->doc);
    }
}

void describe_text(FILE *out, const struct model_info *info)
{
    fprintf(out, "%s: %s.\n\nParameters (section `parameters`; any of them can be an axis)\n",
            info->name, info->doc);
    write_params(out, info, false);
    bool stepper = false;
    for (int i = 0; i < info->param_count; i++)
        stepper = stepper || schema_is_stepper(info->params[i].name);
    if (stepper) {
        fprintf(out, "\nStepper (section `stepper`; can be an axis too)\n");
        write_params(out, info, true);
    }
    fprintf(out, "\nObservables (saved with each plane)\n");
    for (int i = 0; i < info->observable_count; i++)
        fprintf(out, "  %-16s %-10s %s.\n", info->observables[i].name,
                info->observables[i].unit, info->observables[i].doc);
    fprintf(out, "\nError contract\n");
    for (int i = 0; model_bound(info, i) != NULL; i++) {
        const struct bound_info *const bound = model_bound(info, i);
        fprintf(out, "  %s: class %s, norm %s\n      %s\n      source: %s\n", bound->quantity,
                class_names[bound->class], bound->norm, bound->rule, bound->source);
    }
    fprintf(out, "\nNoise: %s.\n",
            info->takes_noise ? "one_photon (default), half_photon_gaussian, direct"
                              : "this model has none");
    if (info->convention[0] != '\0')
        fprintf(out, "Convention: %s.\n", info->convention);
}

/* JSON */

static void json_text(FILE *out, const char *text)
{
    if (text == NULL) {
        fprintf(out, "null");
        return;
    }
    fputc('"', out);
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if ((unsigned char)*p < 0x20)
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*p);
        else
            fputc(*p, out);
    }
    fputc('"', out);
}

static void json_pair(FILE *out, const char *key, const char *text)
{
    fprintf(out, "\"%s\": ", key);
    json_text(out, text);
    fprintf(out, ", ");
}

static void json_flag(FILE *out, const char *key, bool value)
{
    fprintf(out, "\"%s\": %s, ", key, value ? "true" : "false");
}

static void json_limit(FILE *out, const char *key, double value, bool limited)
{
    char number[NUMBER_SIZE] = "null";
    if (limited)
        number_write(value, number);
    fprintf(out, "\"%s\": %s, ", key, number);
}

static void json_data(FILE *out, const struct data_info *data)
{
    json_pair(out, "plane_array", data->plane_array);
    json_flag(out, "steps", data->steps);
    fprintf(out, "\"tables\": [");
    for (int i = 0; data->tables != NULL && data->tables[i] != NULL; i++) {
        fprintf(out, "%s", i > 0 ? ", " : "");
        json_text(out, data->tables[i]);
    }
    fprintf(out, "], \"columns\": [");
    for (int i = 0; data->columns != NULL && data->columns[i].name != NULL; i++) {
        fprintf(out, "%s{", i > 0 ? ", " : "");
        json_pair(out, "name", data->columns[i].name);
        json_pair(out, "unit", data->columns[i].unit);
        json_flag(out, "axis", data->columns[i].is_axis);
        fprintf(out, "\"doc\": ");
        json_text(out, data->columns[i].doc);
        fprintf(out, "}");
    }
    fprintf(out, "], \"fields\": [");
    for (int i = 0; data->fields != NULL && data->fields[i].name != NULL; i++) {
        fprintf(out, "%s{", i > 0 ? ", " : "");
        json_pair(out, "name", data->fields[i].name);
        json_pair(out, "unit", data->fields[i].unit);
        json_flag(out, "optional", data->fields[i].optional);
        fprintf(out, "\"dimensions\": %d, \"doc\": ", data->fields[i].dims);
        json_text(out, data->fields[i].doc);
        fprintf(out, "}");
    }
    fprintf(out, "], ");
}

static void json_param(FILE *out, const struct param_info *p)
{
    static const char *const kinds[] = {
        [PARAM_REAL] = "real",     [PARAM_INT] = "int",   [PARAM_BOOL] = "bool",
        [PARAM_CHOICE] = "choice", [PARAM_LIST] = "list", [PARAM_DATA] = "data"};
    const bool number = p->kind == PARAM_REAL || p->kind == PARAM_INT || p->kind == PARAM_LIST;
    char unit[64];
    param_unit(p, 0, unit, sizeof unit);
    fprintf(out, "{");
    json_pair(out, "name", p->name);
    json_pair(out, "kind", kinds[p->kind]);
    json_pair(out, "unit", unit);
    json_pair(out, "list_unit", p->list_unit);
    json_pair(out, "default", p->fallback);
    json_flag(out, "required", (p->flags & PARAM_REQUIRED) != 0);
    json_flag(out, "none", (p->flags & PARAM_NONE) != 0);
    json_flag(out, "structural", (p->flags & PARAM_STRUCTURAL) != 0);
    json_flag(out, "grid", (p->flags & PARAM_GRID) != 0);
    json_limit(out, "minimum", p->minimum, number && p->minimum > -1e300);
    json_limit(out, "maximum", p->maximum, number && p->maximum < 1e300);
    json_flag(out, "minimum_excluded", (p->flags & PARAM_OPEN) != 0);
    if (p->kind == PARAM_CHOICE) {
        fprintf(out, "\"choices\": [");
        for (int i = 0; p->choices[i] != NULL; i++) {
            fprintf(out, "%s", i > 0 ? ", " : "");
            json_text(out, p->choices[i]);
        }
        fprintf(out, "], ");
    }
    if (p->kind == PARAM_DATA)
        json_data(out, p->data);
    fprintf(out, "\"doc\": ");
    json_text(out, p->doc);
    fprintf(out, "}");
}

static void json_bound(FILE *out, const struct bound_info *bound)
{
    const char letter[2] = {class_letters[bound->class], '\0'};
    fprintf(out, "{");
    json_pair(out, "quantity", bound->quantity);
    json_pair(out, "class", letter);
    json_pair(out, "norm", bound->norm);
    json_pair(out, "rule", bound->rule);
    fprintf(out, "\"source\": ");
    json_text(out, bound->source);
    fprintf(out, "}");
}

void describe_json(FILE *out, const struct model_info *info)
{
    fprintf(out, "{");
    json_pair(out, "name", info->name);
    json_pair(out, "doc", info->doc);
    fprintf(out, "\"numerics_version\": %d, ", info->numerics_version);
    json_pair(out, "convention", info->convention);
    json_flag(out, "takes_noise", info->takes_noise);
    json_pair(out, "progress_unit", info->progress_unit != NULL ? info->progress_unit : "1");
    fprintf(out, "\"parameters\": [");
    for (int i = 0; i < info->param_count; i++) {
        fprintf(out, "%s", i > 0 ? ",\n  " : "\n  ");
        json_param(out, &info->params[i]);
    }
    fprintf(out, "],\n\"observables\": [");
    for (int i = 0; i < info->observable_count; i++) {
        fprintf(out, "%s{", i > 0 ? ",\n  " : "\n  ");
        json_pair(out, "name", info->observables[i].name);
        json_pair(out, "unit", info->observables[i].unit);
        fprintf(out, "\"doc\": ");
        json_text(out, info->observables[i].doc);
        fprintf(out, "}");
    }
    fprintf(out, "],\n\"bounds\": [");
    for (int i = 0; model_bound(info, i) != NULL; i++) {
        fprintf(out, "%s", i > 0 ? ",\n  " : "\n  ");
        json_bound(out, model_bound(info, i));
    }
    fprintf(out, "]}\n");
}
