/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "runner/adaptive.h"
#include "runner/judging.h"
#include "runner/plan.h"
#include "runner/text.h"
#include "runner/tolerance.h"

static const char *const noise_names[] = {[NOISE_NONE] = "none",
                                          [NOISE_ONE_PHOTON] = "one_photon",
                                          [NOISE_HALF_PHOTON_GAUSSIAN] = "half_photon_gaussian",
                                          [NOISE_DIRECT] = "direct"};
static const char *const element_names[] = {
    [ELEMENT_F64] = "float64",   [ELEMENT_C128] = "complex128", [ELEMENT_F32] = "float32",
    [ELEMENT_C64] = "complex64", [ELEMENT_BF16] = "bfloat16",   [ELEMENT_I64] = "int64"};

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

/* "looks after 20, 40, 80, … 2000 realisations" */
static void write_looks(const struct scan *scan, FILE *out)
{
    const struct scan_until *const until = &scan_get_ensemble(scan)->until;
    int64_t count = 0;
    if (!adaptive_is_on(scan))
        return;
    const int looks = adaptive_looks(scan, 0, &count);
    fprintf(out, "             until the %serror of %s at the last plane is %g %% or less",
            until->kind == UNTIL_G12 ? "" : "relative ", until->quantity, 100 * until->error);
    if (until->banded)
        fprintf(out, ", from %.4g to %.4g nm", 1e9 * until->band[0], 1e9 * until->band[1]);
    fprintf(out, ";\n             looks after ");
    for (int k = 0; k < looks; k++) {
        adaptive_looks(scan, k, &count);
        fprintf(out, "%s%" PRId64, k > 0 ? ", " : "", count);
    }
    fprintf(out, " realisations: %" PRId64 " to %" PRId64 " members\n",
            scan_points(scan) * until->min, scan_members(scan));
}

static void write_counts(const struct plan *plan, FILE *out)
{
    const struct scan *scan = plan->scan;
    const struct scan_ensemble *ensemble = scan_get_ensemble(scan);
    char members[TEXT_SIZE];
    char points[TEXT_SIZE];
    text_count(scan_members(scan), members);
    text_count(scan_points(scan), points);
    fprintf(out, "Scan         %s (model %s)\n", scan_name(scan), scan_model(scan)->info->name);
    fprintf(out, "Members      %s%s = %s point%s x %lld realisation%s\n",
            adaptive_is_on(scan) ? "up to " : "", members, points, plural(scan_points(scan)),
            (long long)scan_realisations(scan), plural(scan_realisations(scan)));
    if (ensemble->present)
        fprintf(out, "Ensemble     seed %llu, noise %s%s\n", (unsigned long long)ensemble->seed,
                noise_names[ensemble->noise],
                ensemble->common ? ", common random numbers at all points" : "");
    write_looks(scan, out);
}

static void write_shapes(const struct scan *scan, FILE *out)
{
    char grids[TEXT_SIZE];
    char structures[TEXT_SIZE];
    text_count(scan_grids(scan), grids);
    text_count(scan_structures(scan), structures);
    fprintf(out, "Shapes       %s grid%s, %s kind%s of model object\n", grids,
            plural(scan_grids(scan)), structures, plural(scan_structures(scan)));
}

static void write_axes(const struct plan *plan, FILE *out)
{
    const struct scan *scan = plan->scan;
    for (int a = 0; a < scan_axes(scan); a++) {
        const struct scan_axis *axis = scan_get_axis(scan, a);
        for (int p = 0; p < axis->params; p++) {
            char first[TEXT_SIZE];
            char last[TEXT_SIZE];
            char count[TEXT_SIZE];
            survey_value_text(scan, a, p, 0, first, sizeof first);
            survey_value_text(scan, a, p, axis->length - 1, last, sizeof last);
            text_count(axis->length, count);
            fprintf(out, "%-12s %s%s: %s value%s, %s … %s\n", a + p == 0 ? "Axes" : "",
                    p > 0 ? "zipped with it " : "", axis->param[p].name, count,
                    plural(axis->length), first, last);
        }
    }
    if (scan_grids(scan) > 1 || scan_structures(scan) > 1)
        write_shapes(scan, out);
}

/* Each file, its shape and its hash; of a long axis of them the first. */
static void write_inputs(const struct scan *scan, FILE *out)
{
    const int shown = 8;
    const int count = scan_inputs(scan);
    for (int i = 0; i < count && i < shown; i++) {
        const struct scan_input *input = scan_get_input(scan, i);
        fprintf(out, "%-12s %s = %s; hash %s\n", i == 0 ? "Data" : "", input->param,
                input->set.label, input->set.hash);
    }
    if (count > shown)
        fprintf(out, "%-12s and %d more\n", "", count - shown);
}

static void write_arrays(const struct plane_layout *layout, const struct scan_save *save,
                         FILE *out)
{
    for (int a = 0; a < layout->arrays; a++) {
        const struct layout_array *array = &layout->array[a];
        if (array->is_field && save->field == SAVE_FIELD_NO)
            continue;
        fprintf(out, "  %-10s", array->name);
        for (int d = 0; d < array->dims; d++)
            fprintf(out, " [%s %ld]", layout->axis[array->axis[d]].name,
                    layout->axis[array->axis[d]].length);
        const bool narrowed = array->is_field && save->field == SAVE_FIELD_FLOAT32;
        fprintf(out, " %s%s\n", element_names[array->type],
                narrowed ? ", stored in single precision" : "");
    }
}

static void write_planes(const struct plan *plan, FILE *out)
{
    const struct plane_layout *layout = &plan->survey.largest;
    const struct scan_save *save = scan_get_save(plan->scan);
    char first[TEXT_SIZE];
    char end[TEXT_SIZE];
    const bool listed = save->planes.kind == PLANES_LIST;
    const double start = listed ? save->planes.positions[0] : 0;
    text_value(start, start == 0 ? "1" : layout->progress_unit, first);
    text_value(listed ? save->planes.positions[save->planes.count - 1] : layout->span,
               layout->progress_unit, end);
    if (layout->planes == 1)
        fprintf(out, "Planes       1, at %s = %s\n", layout->progress_name, end);
    else
        fprintf(out, "Planes       %ld, %s = %s … %s\n", layout->planes, layout->progress_name,
                first, end);
    write_arrays(layout, save, out);
    int observables = 0;
    for (int i = 0; i < layout->observables; i++)
        observables += save->all_observables || save->observable[i];
    fprintf(out, "  and %d observable%s a plane\n", observables, plural(observables));
}

static void write_cost(const struct plan *plan, FILE *out)
{
    const struct survey *s = &plan->survey;
    if (plan->transforms > 0) {
        fprintf(out, "Transforms   about %.3g", s->transforms_mean);
        if (s->transforms_high > s->transforms_low)
            fprintf(out, " (%.3g … %.3g)", s->transforms_low, s->transforms_high);
        fprintf(out, " a member, %.3g in all (a prediction)\n", plan->transforms);
    }
    if (plan->fft_seconds > 0) {
        char one[TEXT_SIZE];
        char all[TEXT_SIZE];
        text_rounded(plan->fft_seconds, "s", 3, one);
        text_seconds(plan->fft_seconds * plan->transforms, all);
        fprintf(
            out,
            "Cost         %s of one core for the transforms alone, if so many (%ld points: %s "
            "here)\n",
            all, plan->fft_length, one);
    }
}

static void write_bytes(const struct plan *plan, FILE *out)
{
    const struct plane_layout *layout = &plan->survey.largest;
    char worker[TEXT_SIZE];
    char shared[TEXT_SIZE];
    char row[TEXT_SIZE];
    char apparent[TEXT_SIZE];
    char data[TEXT_SIZE];
    text_bytes(plan->worker_bytes, worker);
    text_bytes((double)layout->shared_bytes + (double)scan_input_bytes(plan->scan), shared);
    text_bytes((double)layout->row_bytes, row);
    text_bytes(plan->size.apparent, apparent);
    text_bytes(plan->size.data, data);
    if (plan->rows > 0)
        fprintf(out, "Memory       %s a worker: tables %s + %d row%s of %s\n", worker, shared,
                plan->rows, plural(plan->rows), row);
    else
        fprintf(out, "Memory       a worker: tables %s + one row of %s a core of its socket\n",
                shared, row);
    if (plan->batch.rows > 0) {
        char ledger[BATCH_TEXT_SIZE];
        batch_text(&plan->batch, ledger, sizeof ledger);
        fprintf(out, "Device       %s, PCI %s, as though nobody used it: %s\n",
                plan->device.name, plan->device.bus, ledger);
    } else if (scan_get_resources(plan->scan)->worker == WORKER_GPU) {
        fprintf(out,
                "Device       a worker each: tables %s + as many rows of %s, with their "
                "transforms, as its free memory holds, less a %dth of it\n",
                shared, row, BATCH_RESERVE);
    }
    fprintf(out, "File         %s, of which %s carry data when all is done\n", apparent, data);
}

/* "5 % of the members judged against the same run at rtol / 10, error field_l2 up to 4 x 1e-4"
 */
static void write_envelope(const struct plan *plan, FILE *out)
{
    const struct scan_envelope *const e = scan_get_envelope(plan->scan);
    const bool all = strcmp(e->sample, "all") == 0;
    const double members = (double)scan_members(plan->scan);
    double amount = 0;
    const bool number = scan_envelope_sample(plan->scan, &amount) == SAMPLE_COUNT;
    if (e->reference == ENVELOPE_NONE) {
        fprintf(out, "Envelope     none: no member's error is judged\n");
        return;
    }
    if (number)
        fprintf(out, "Envelope     %.0f of %.0f members judged against ", fmin(amount, members),
                members);
    else
        fprintf(out, "Envelope     %s%s judged against ", e->sample,
                all ? " members are" : " of the members are");
    if (e->reference == ENVELOPE_TIGHTER)
        fprintf(out, "their own run at stepper.rtol / %g, about %.2g times the work of each;",
                e->factor, judging_stretch(plan->scan));
    else
        fprintf(out, "those of %s;", e->file);
    fprintf(out, " %s may differ by %g x %g\n", e->norm, e->safety, e->tolerance);
    if (judging_measures(plan->scan))
        fprintf(
            out,
            "             members carry noise: each is judged before the first plane where a "
            "perturbation has grown %g times\n",
            e->gain);
}

static void write_promises(const struct plan *plan, FILE *out)
{
    char text[800];
    tolerance_text(plan->scan, text, sizeof text);
    if (text[0] != '\0')
        fprintf(out, "Tolerance    %s\n", text);
    write_envelope(plan, out);
}

/* A whole number as it is: 16384 samples are not 1.638e+04. */
static void note_text(double value, const char *unit, char text[TEXT_SIZE])
{
    if (strcmp(unit, "1") == 0 && value == floor(value) && fabs(value) < 1e9)
        snprintf(text, TEXT_SIZE, "%.0f", value);
    else
        text_rounded(value, unit, 4, text);
}

static void write_notes(const struct plan *plan, FILE *out)
{
    const struct survey *s = &plan->survey;
    if (s->notes == 0)
        return;
    char looked[TEXT_SIZE];
    text_count(s->looked_at, looked);
    if (s->all_points)
        fprintf(out, "Sanity report (%s point%s)\n", s->looked_at == 1 ? "the" : looked,
                plural(s->looked_at));
    else
        fprintf(out, "Sanity report (%s points looked at, corners of the axes included)\n",
                looked);
    int width = 0;
    for (int i = 0; i < s->notes; i++) {
        int length = 0;
        for (const char *c = s->note[i].name; *c != '\0'; c++)
            length += (*c & 0xc0) != 0x80;
        width = length > width ? length : width;
    }
    for (int i = 0; i < s->notes; i++) {
        const struct survey_note *note = &s->note[i];
        char low[TEXT_SIZE];
        char high[TEXT_SIZE];
        note_text(note->low, note->unit, low);
        note_text(note->high, note->unit, high);
        if (note->high > note->low)
            fprintf(out, "  %-*s  %s … %s\n", width, note->name, low, high);
        else
            fprintf(out, "  %-*s  %s\n", width, note->name, low);
    }
}

static void write_warnings(const struct plan *plan, FILE *out)
{
    const struct survey *s = &plan->survey;
    for (int i = 0; i < s->notes; i++) {
        const struct survey_note *note = &s->note[i];
        if (note->warned == 0)
            continue;
        fprintf(out, "Warning: %s: %s", note->name, note->warning);
        char values[300];
        survey_point_text(plan->scan, note->warned_point, values, sizeof values);
        if (values[0] != '\0')
            fprintf(out, " (%lld of %lld points, first point %lld: %s)",
                    (long long)note->warned, (long long)s->looked_at,
                    (long long)note->warned_point, values);
        fprintf(out, "\n");
    }
}

void plan_write_text(const struct plan *plan, FILE *out)
{
    write_counts(plan, out);
    write_axes(plan, out);
    write_inputs(plan->scan, out);
    write_planes(plan, out);
    write_cost(plan, out);
    write_bytes(plan, out);
    plan_write_shards_text(plan, out);
    write_promises(plan, out);
    write_notes(plan, out);
    write_warnings(plan, out);
    if (plan->refusal[0] != '\0')
        fprintf(out, "Warning: `run` would refuse this scan: %s\n", plan->refusal);
}
