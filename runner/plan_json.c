/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "runner/adaptive.h"
#include "runner/judging.h"
#include "runner/plan.h"
#include "runner/text.h"
#include "runner/tolerance.h"

/* ,"name":value — the first member of an object is written without the comma. */
static void member_number(FILE *out, const char *name, double value)
{
    fprintf(out, ",\"%s\":", name);
    json_number(out, value);
}

static void member_integer(FILE *out, const char *name, int64_t value)
{
    fprintf(out, ",\"%s\":%lld", name, (long long)value);
}

static void member_text(FILE *out, const char *name, const char *value)
{
    fprintf(out, ",\"%s\":", name);
    json_text(out, value);
}

static void write_axes(const struct scan *scan, FILE *out)
{
    fprintf(out, ",\"axes\":[");
    for (int a = 0; a < scan_axes(scan); a++) {
        const struct scan_axis *axis = scan_get_axis(scan, a);
        fprintf(out, "%s{\"length\":%lld,\"parameters\":[", a > 0 ? "," : "",
                (long long)axis->length);
        for (int p = 0; p < axis->params; p++) {
            fprintf(out, "%s{\"name\":", p > 0 ? "," : "");
            json_text(out, axis->param[p].name);
            member_text(out, "unit", scan_model(scan)->info->params[axis->param[p].param].unit);
            member_text(out, "as_written", scan_axis_written(scan, a, p));
            member_number(out, "first", scan_axis_value(scan, a, p, 0));
            member_number(out, "last", scan_axis_value(scan, a, p, axis->length - 1));
            fprintf(out, "}");
        }
        fprintf(out, "]}");
    }
    fprintf(out, "]");
}

static void write_inputs(const struct scan *scan, FILE *out)
{
    fprintf(out, ",\"inputs\":[");
    for (int i = 0; i < scan_inputs(scan); i++) {
        const struct scan_input *input = scan_get_input(scan, i);
        fprintf(out, "%s{\"parameter\":", i > 0 ? "," : "");
        json_text(out, input->param);
        member_text(out, "file", input->written);
        member_text(out, "label", input->set.label);
        member_text(out, "hash", input->set.hash);
        member_integer(out, "bytes", (int64_t)data_bytes(&input->set));
        fprintf(out, "}");
    }
    fprintf(out, "]");
}

static void write_arrays(const struct plane_layout *layout, FILE *out)
{
    fprintf(out, ",\"arrays\":[");
    for (int a = 0; a < layout->arrays; a++) {
        const struct layout_array *array = &layout->array[a];
        fprintf(out, "%s{\"name\":", a > 0 ? "," : "");
        json_text(out, array->name);
        member_text(out, "unit", array->unit);
        member_integer(out, "element_bytes", (int64_t)element_size(array->type));
        fprintf(out, ",\"field\":%s,\"dimensions\":[", array->is_field ? "true" : "false");
        for (int d = 0; d < array->dims; d++) {
            fprintf(out, "%s{\"name\":", d > 0 ? "," : "");
            json_text(out, layout->axis[array->axis[d]].name);
            member_integer(out, "length", layout->axis[array->axis[d]].length);
            fprintf(out, "}");
        }
        fprintf(out, "]}");
    }
    fprintf(out, "]");
}

/* What `plot --what observable` will find. */
static void write_numbers(const struct plan *plan, FILE *out)
{
    fprintf(out, ",\"numbers\":[");
    for (const char *name = plan->numbers; *name != '\0'; name += strlen(name) + 1) {
        fprintf(out, "%s", name > plan->numbers ? "," : "");
        json_text(out, name);
    }
    fprintf(out, "]");
}

static void write_notes(const struct survey *survey, FILE *out)
{
    fprintf(out, ",\"notes\":[");
    for (int i = 0; i < survey->notes; i++) {
        const struct survey_note *note = &survey->note[i];
        fprintf(out, "%s{\"name\":", i > 0 ? "," : "");
        json_text(out, note->name);
        member_text(out, "unit", note->unit);
        member_number(out, "low", note->low);
        member_number(out, "high", note->high);
        member_text(out, "warning", note->warning);
        member_integer(out, "warned_points", note->warned);
        member_integer(out, "first_warned_point", note->warned_point);
        fprintf(out, "}");
    }
    fprintf(out, "]");
}

static void write_tolerance(const struct scan *scan, FILE *out)
{
    double range[2];
    char text[800];
    tolerance_range(scan, range);
    tolerance_text(scan, text, sizeof text);
    fprintf(out, ",\"tolerance\":{\"rtol_low\":");
    json_number(out, range[0]);
    member_number(out, "rtol_high", range[1]);
    member_text(out, "meaning", text);
    fprintf(out, "}");
}

static void write_envelope(const struct scan *scan, FILE *out)
{
    const struct scan_envelope *const e = scan_get_envelope(scan);
    if (e->reference == ENVELOPE_NONE) {
        fprintf(out, ",\"envelope\":\"none\"");
        return;
    }
    fprintf(out, ",\"envelope\":{\"reference\":");
    json_text(out, e->reference == ENVELOPE_TIGHTER ? "tighter" : e->file);
    member_text(out, "norm", e->norm);
    member_text(out, "sample", e->sample);
    member_number(out, "bound", e->safety * e->tolerance);
    member_number(out, "work_of_a_judgment", judging_stretch(scan));
    if (judging_measures(scan))
        member_number(out, "gain", e->gain);
    fprintf(out, "}");
}

static void write_until(const struct scan *scan, FILE *out)
{
    const struct scan_until *const until = &scan_get_ensemble(scan)->until;
    int64_t count = 0;
    if (!adaptive_is_on(scan))
        return;
    const int looks = adaptive_looks(scan, 0, &count);
    fprintf(out, ",\"until\":{\"quantity\":");
    json_text(out, until->quantity);
    member_number(out, "error", until->error);
    if (until->banded) {
        member_number(out, "band_low", until->band[0]);
        member_number(out, "band_high", until->band[1]);
    }
    fprintf(out, ",\"looks\":[");
    for (int k = 0; k < looks; k++) {
        adaptive_looks(scan, k, &count);
        fprintf(out, "%s%lld", k > 0 ? "," : "", (long long)count);
    }
    fprintf(out, "]}");
}

static void write_cost(const struct plan *plan, FILE *out)
{
    const struct survey *s = &plan->survey;
    fprintf(out, ",\"transforms\":{\"total\":");
    json_number(out, plan->transforms);
    member_number(out, "member_mean", s->transforms_mean);
    member_number(out, "member_low", s->transforms_low);
    member_number(out, "member_high", s->transforms_high);
    member_integer(out, "length", plan->fft_length);
    member_number(out, "seconds_each", plan->fft_seconds);
    member_number(out, "core_seconds_least", plan->fft_seconds * plan->transforms);
    fprintf(out, "},\"memory\":{\"worker_bytes\":");
    json_number(out, plan->worker_bytes);
    member_integer(out, "shared_bytes", (int64_t)s->largest.shared_bytes);
    member_integer(out, "row_bytes", (int64_t)s->largest.row_bytes);
    member_integer(out, "rows", plan->rows);
    member_integer(out, "device_rows", plan->batch.rows);
    member_number(out, "device_transform_bytes",
                  plan->batch.rows > 0
                      ? plan->batch.work + (double)(plan->batch.rows - 1) * plan->batch.work_row
                      : 0);
    member_text(out, "device", plan->device.name);
    member_integer(out, "state_bytes", (int64_t)s->largest.state_bytes);
    member_number(out, "plane_bytes", plan->size.plane);
    fprintf(out, "},\"file\":{\"apparent_bytes\":");
    json_number(out, plan->size.apparent);
    member_number(out, "data_bytes", plan->size.data);
    fprintf(out, "}");
}

void plan_write_json(const struct plan *plan, FILE *out)
{
    const struct scan *scan = plan->scan;
    const struct plane_layout *layout = &plan->survey.largest;
    fprintf(out, "{\"scan\":");
    json_text(out, scan_name(scan));
    member_text(out, "model", scan_model(scan)->info->name);
    member_text(out, "configuration", plan->configuration);
    member_integer(out, "members", scan_members(scan));
    member_integer(out, "points", scan_points(scan));
    member_integer(out, "realisations", scan_realisations(scan));
    write_axes(scan, out);
    write_inputs(scan, out);
    member_integer(out, "grids", scan_grids(scan));
    member_integer(out, "structures", scan_structures(scan));
    member_integer(out, "shapes", scan_shapes(scan));
    member_integer(out, "planes", layout->planes);
    member_text(out, "progress", layout->progress_name);
    member_text(out, "progress_unit", layout->progress_unit);
    member_number(out, "span_low", plan->survey.span_low);
    member_number(out, "span_high", plan->survey.span_high);
    write_arrays(layout, out);
    member_integer(out, "observables", layout->observables);
    write_numbers(plan, out);
    write_cost(plan, out);
    write_tolerance(scan, out);
    write_envelope(scan, out);
    write_until(scan, out);
    member_integer(out, "points_looked_at", plan->survey.looked_at);
    fprintf(out, ",\"all_points\":%s", plan->survey.all_points ? "true" : "false");
    write_notes(&plan->survey, out);
    plan_write_shards_json(plan, out);
    member_text(out, "refusal", plan->refusal);
    fprintf(out, "}\n");
}
