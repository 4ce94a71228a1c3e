/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "io/resume.h"
#include "io/schema.h"
#include "kernels/base/status.h"

/* A column: one element (or a pair) a row. Static tables of these make up /member, /step, … */
struct column {
    const char *name;
    const char *unit;
    const char *long_name;
    enum h5_kind kind;
    size_t text;
    const char *inner; /* scale of a second dimension, NULL: none */
    bool zeroed;
    bool diagnostic;
};

static int64_t scale_length(const struct schema *schema, const char *name)
{
    const struct schema_entry *const scale = schema_find(schema, name);
    return scale == NULL ? 0 : scale->length[0];
}

static void entry_append_dim(const struct schema *schema, struct schema_entry *entry,
                             const char *scale)
{
    snprintf(entry->dim[entry->dims], SCHEMA_NAME_MAX, "%s", scale);
    entry->length[entry->dims++] = scale_length(schema, scale);
}

static int add_columns(struct schema *schema, const char *group, const char *scale,
                       const struct column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct column *const c = &columns[i];
        struct schema_entry entry = {
            .kind = c->kind, .text = c->text, .zeroed = c->zeroed, .diagnostic = c->diagnostic};
        snprintf(entry.path, sizeof entry.path, "%s/%s", group, c->name);
        snprintf(entry.unit, sizeof entry.unit, "%s", c->unit);
        snprintf(entry.long_name, sizeof entry.long_name, "%s", c->long_name);
        entry_append_dim(schema, &entry, scale);
        if (c->inner != NULL)
            entry_append_dim(schema, &entry, c->inner);
        TRY(schema_add(schema, &entry));
    }
    return 0;
}

#define COLUMNS(table) (table), sizeof(table) / sizeof *(table)

static const struct column member_columns[] = {
    {"identity", "1", "XXH3-128 of model, parameters, stepper and seed key: high, low half",
     H5_U64, 0, "half", false, false},
    {"seed", "1", "Key of the noise: point key, realisation", H5_U64, 0, "half", false, false},
    {"n_saved", "1", "Number of committed planes: only these hold data", H5_I64, 0, NULL, true,
     false},
    {"state", "1",
     "0 pending 2 done 3 failed 4 timed_out 5 quarantined 6 not_needed 7 excluded", H5_U8, 0,
     NULL, true, false},
    {"reason", "1", "Why a member is not done", H5_TEXT, STORE_REASON_SIZE, NULL, false, true},
    {"grid", "1", "Which grid", H5_I64, 0, NULL, false, false},
    {"attempts", "1", "Number of tries", H5_I32, 0, NULL, false, false},
    {"wall_s", "s", "Wall time, with earlier runs that it went on from", H5_F64, 0, NULL, false,
     false},
    {"cpu_s", "s", "CPU time, with earlier runs that it went on from", H5_F64, 0, NULL, false,
     false},
    {"rank", "1", "MPI rank that computed it", H5_I32, 0, NULL, false, false},
    {"host", "1", "Host that computed it", H5_TEXT, 64, NULL, false, false},
    {"device", "1", "Device that computed it", H5_TEXT, 96, NULL, false, false},
    {"kernel_id", "1", "Instruction set, FFT library or kernel", H5_TEXT, 96, NULL, false,
     false},
    {"steps", "1", "Accepted steps", H5_I64, 0, NULL, false, false},
    {"rejected", "1", "Rejected steps", H5_I64, 0, NULL, false, false},
    {"rhs_calls", "1", "Evaluations of the right-hand side", H5_I64, 0, NULL, false, false},
    {"transforms", "1", "Fourier transforms", H5_I64, 0, NULL, false, false},
    {"history_truncated", "1", "1 when steps beyond the kept history were made", H5_U8, 0, NULL,
     false, false},
};

static const struct column contract_columns[] = {
    {"class", "1", "Contract class: 0 P, 1 R, 2 T, 3 N; meaningful once judged", H5_U8, 0, NULL,
     false, true},
    {"norm", "1", "Norm that was judged", H5_TEXT, 80, NULL, false, true},
    {"bound", "1", "Bound that was judged, in the unit of the norm", H5_F64, 0, NULL, false,
     true},
    {"observed", "1", "Observed error, in the unit of the norm", H5_F64, 0, NULL, false, true},
    {"margin", "1", "observed / bound: within when at most 1", H5_F64, 0, NULL, false, true},
    {"verdict", "1", "0 unjudged 1 within the bound 2 beyond it", H5_U8, 0, NULL, true, true},
    {"window", "1", "Window that was used", H5_TEXT, 80, NULL, false, true},
};

/* Of a file whose scan has an envelope. */
static const struct column judgment_columns[] = {
    {"chosen", "1", "1 when the member is to be judged", H5_U8, 0, NULL, true, true},
    {"outcome", "1",
     "What became of the judgment: 0 not ended 2 verdict 3 failed 4 timed out 5 quarantined",
     H5_U8, 0, NULL, true, true},
    {"reference", "1", "What the member was compared with", H5_TEXT, 80, NULL, false, true},
    {"reason", "1", "Why there is no verdict", H5_TEXT, STORE_REASON_SIZE, NULL, false, true},
    {"envelope", "1", "XXH3-64 of the envelope that the judgment belongs to; 0: none", H5_U64,
     0, NULL, true, true},
    {"attempts", "1", "Judgments that were begun", H5_I32, 0, NULL, true, true},
    {"wall_s", "s", "Wall time of the judgment", H5_F64, 0, NULL, false, true},
    {"rhs_calls", "1", "Evaluations of the right-hand side by the reference run", H5_I64, 0,
     NULL, false, true},
    {"error", "1", "Error of each judged plane in the norm; NaN: not judged", H5_F64, 0,
     "plane_index", false, true},
};

/* … and of one whose members are judged where their dynamics do not amplify too much. */
static const struct column gain_columns[] = {
    {"gain", "1",
     "Distance, in the norm, that a perturbation of the input has grown to, in units of its "
     "size, at each plane that was to be judged; NaN: not measured",
     H5_F64, 0, "plane_index", false, true},
    {"planes_beyond", "1", "Planes that were to be judged and lie beyond the window", H5_I64, 0,
     NULL, false, true},
};

static bool has_column(const struct column *columns, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, columns[i].name) == 0)
            return true;
    return false;
}

bool schema_is_judgment(const struct schema_entry *entry)
{
    static const char group[] = "member/contract/";
    const char *const name = entry->path + sizeof group - 1;
    return strncmp(entry->path, group, sizeof group - 1) == 0
           && (has_column(COLUMNS(judgment_columns), name)
               || has_column(COLUMNS(gain_columns), name) || strcmp(name, "window_end") == 0);
}

static int add_gains(struct schema *schema, const struct store_spec *spec)
{
    const struct column end = {"window_end",
                               spec->layout->progress_unit,
                               "Progress at the last judged plane; NaN: none",
                               H5_F64,
                               0,
                               NULL,
                               false,
                               true};
    TRY(add_columns(schema, "member/contract", "member_id", COLUMNS(gain_columns)));
    return add_columns(schema, "member/contract", "member_id", &end, 1);
}

int schema_add_member(struct schema *schema, const struct store_spec *spec)
{
    TRY(add_columns(schema, "member", "member_id", COLUMNS(member_columns)));
    TRY(add_columns(schema, "member/contract", "member_id", COLUMNS(contract_columns)));
    if (spec->judged)
        TRY(add_columns(schema, "member/contract", "member_id", COLUMNS(judgment_columns)));
    if (spec->judged && spec->gains)
        TRY(add_gains(schema, spec));
    if (spec->axes > 0) {
        const struct column point = {
            "point", "1", "Index on each scan axis", H5_I32, 0, "axis_index", false, false};
        TRY(add_columns(schema, "member", "member_id", &point, 1));
    }
    for (int p = 0; p < spec->params; p++) {
        char name[SCHEMA_NAME_MAX];
        schema_param_name(&spec->param[p], "", name, sizeof name);
        const struct column value = {
            name, spec->param[p].unit, spec->param[p].doc, H5_F64, 0, NULL, false, false};
        TRY(add_columns(schema, "member/param", "member_id", &value, 1));
    }
    for (int a = 0; a < spec->layout->axes; a++) {
        if (spec->layout->axis[a].dimension != a)
            continue;
        char name[SCHEMA_NAME_MAX];
        snprintf(name, sizeof name, "n_%s", spec->layout->axis[a].name);
        const struct column length = {
            name, "1", "Valid length of this dimension", H5_I64, 0, NULL, false, false};
        TRY(add_columns(schema, "member", "member_id", &length, 1));
    }
    return 0;
}

/* An entry [member][plane] of /plane. */
static struct schema_entry plane_entry(const struct schema *schema, const char *name,
                                       const char *unit, const char *long_name)
{
    struct schema_entry entry = {.kind = H5_F64};
    snprintf(entry.path, sizeof entry.path, "plane/%s", name);
    snprintf(entry.unit, sizeof entry.unit, "%s", unit);
    snprintf(entry.long_name, sizeof entry.long_name, "%s", long_name);
    entry_append_dim(schema, &entry, "member_id");
    entry_append_dim(schema, &entry, "plane_index");
    return entry;
}

static enum h5_kind stored_kind(const struct store_spec *spec, const struct layout_array *array)
{
    if (array->is_field && spec->field_float32 && array->type == ELEMENT_F64)
        return H5_F32;
    if (array->is_field && spec->field_float32 && array->type == ELEMENT_C128)
        return H5_C64;
    return (enum h5_kind)array->type;
}

static int add_arrays(struct schema *schema, const struct store_spec *spec)
{
    for (int a = 0; a < spec->layout->arrays; a++) {
        const struct layout_array *const array = &spec->layout->array[a];
        if (array->is_field && !spec->field)
            continue;
        struct schema_entry entry = plane_entry(schema, array->name, array->unit, array->doc);
        for (int d = 0; d < array->dims; d++) {
            char name[SCHEMA_NAME_MAX];
            schema_axis_name(spec, spec->layout->axis[array->axis[d]].dimension, name);
            entry_append_dim(schema, &entry, name);
        }
        entry.kind = stored_kind(spec, array);
        entry.part = PART_ARRAY;
        entry.index = a;
        TRY(schema_add(schema, &entry));
    }
    return 0;
}

int schema_add_plane(struct schema *schema, const struct store_spec *spec)
{
    const struct plane_layout *const layout = spec->layout;
    struct schema_entry progress =
        plane_entry(schema, layout->progress_name, layout->progress_unit, layout->progress_doc);
    progress.part = PART_PROGRESS;
    TRY(schema_add(schema, &progress));
    TRY(add_arrays(schema, spec));
    for (int i = 0; i < spec->model->observable_count; i++) {
        const struct observable_info *const info = &spec->model->observables[i];
        if (!spec->observable[i])
            continue;
        struct schema_entry entry = plane_entry(schema, info->name, info->unit, info->doc);
        entry.part = PART_OBSERVABLE;
        entry.index = i;
        TRY(schema_add(schema, &entry));
    }
    struct schema_entry checksum =
        plane_entry(schema, "checksum", "1",
                    "XXH3-64 of the plane's stored bytes, seeded with member and plane");
    checksum.kind = H5_U64;
    checksum.part = PART_CHECKSUM;
    return schema_add(schema, &checksum);
}

int schema_add_step(struct schema *schema, const struct store_spec *spec)
{
    if (spec->history <= 0)
        return 0;
    const struct column columns[] = {
        {spec->layout->progress_name, spec->layout->progress_unit, "Start of a trial step",
         H5_F64, 0, "step_index", false, true},
        {"h", spec->layout->progress_unit, "Length of a trial step", H5_F64, 0, "step_index",
         false, true},
        {"order", "1", "Order of a trial step", H5_I32, 0, "step_index", false, true},
        {"error", "1", "Error norm / tolerance; accepted when at most 1", H5_F64, 0,
         "step_index", false, true},
        {"accepted", "1", "1 accepted, 0 rejected", H5_U8, 0, "step_index", false, true},
        {"n_steps", "1", "Number of trial steps kept", H5_I64, 0, NULL, false, false},
    };
    return add_columns(schema, "step", "member_id", COLUMNS(columns));
}

/* Bytes have no index of their own: a scale of numbers would be larger than the checkpoints. */
static int add_bare_scale(struct schema *schema, const char *name, const char *long_name,
                          int64_t length)
{
    struct schema_entry entry = {.unit = "1",
                                 .kind = H5_U8,
                                 .dims = 1,
                                 .length = {length},
                                 .scale = true,
                                 .bare = true,
                                 .diagnostic = true};
    snprintf(entry.path, sizeof entry.path, "%s", name);
    snprintf(entry.long_name, sizeof entry.long_name, "%s", long_name);
    return schema_add(schema, &entry);
}

int schema_add_resume(struct schema *schema, const struct store_spec *spec)
{
    if (spec->resume_state == 0)
        return 0;
    TRY(add_bare_scale(schema, "resume_slot", "Place of a checkpoint",
                       resume_slots_for(spec->resume_rows)));
    TRY(add_bare_scale(schema, "resume_half", "Half of a place: they are written in turns", 2));
    TRY(add_bare_scale(schema, "resume_byte", "Byte of a checkpoint",
                       (int64_t)resume_slot_bytes(spec->resume_state)));
    struct schema_entry slot = {.path = "resume/slot",
                                .unit = "1",
                                .long_name = "Checkpoints of members in progress: head and "
                                             "state (docs/run-file.md)",
                                .kind = H5_U8,
                                .diagnostic = true};
    entry_append_dim(schema, &slot, "resume_slot");
    entry_append_dim(schema, &slot, "resume_half");
    entry_append_dim(schema, &slot, "resume_byte");
    return schema_add(schema, &slot);
}

static int add_ensemble_spectra(struct schema *schema, const struct store_spec *spec, int array)
{
    const struct layout_array *const field = &spec->layout->array[array];
    char unit[64] = "W";
    if (strcmp(field->unit, "W^0.5") != 0 && strcmp(field->unit, "sqrt(W)") != 0)
        snprintf(unit, sizeof unit, "(%s)^2", field->unit);
    const struct {
        const char *name;
        const char *unit;
        const char *long_name;
    } parts[] = {
        {"mean_spectrum", unit, "Mean of |a|^2 over the done members"},
        {"std_spectrum", unit, "Standard deviation of |a|^2 (divisor n - 1)"},
        {"g12", "1", "Modulus of the complex degree of first-order coherence, pairs i != j"},
        {"g12_error", "1", "Jackknife standard error of g12; NaN below 3 members"},
        {"snr", "1", "mean_spectrum / std_spectrum"},
        {"coherence", "1", "Overall coherence: mean of g12 weighted with mean_spectrum"},
        {"coherence_error", "1", "Jackknife standard error of coherence; NaN below 3 members"},
    };
    char scale[SCHEMA_NAME_MAX];
    schema_axis_name(spec, spec->layout->axis[field->axis[0]].dimension, scale);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct schema_entry entry = {.kind = H5_F64};
        snprintf(entry.path, sizeof entry.path, "ensemble/%s", parts[i].name);
        snprintf(entry.unit, sizeof entry.unit, "%s", parts[i].unit);
        snprintf(entry.long_name, sizeof entry.long_name, "%s", parts[i].long_name);
        entry_append_dim(schema, &entry, "point_id");
        entry_append_dim(schema, &entry, "plane_index");
        if (strncmp(parts[i].name, "coherence", 9) != 0)
            entry_append_dim(schema, &entry, scale);
        TRY(schema_add(schema, &entry));
    }
    return 0;
}

static int add_histogram(struct schema *schema)
{
    struct schema_entry counts = {.path = "ensemble/peak_power_histogram",
                                  .unit = "1",
                                  .long_name = "Number of members by peak power",
                                  .kind = H5_I32};
    struct schema_entry edges = {.path = "ensemble/peak_power_edges",
                                 .unit = "W",
                                 .long_name = "Edges of the bins of peak_power_histogram",
                                 .kind = H5_F64};
    static const char *const dims[] = {"point_id", "plane_index"};
    for (int d = 0; d < 2; d++) {
        entry_append_dim(schema, &counts, dims[d]);
        entry_append_dim(schema, &edges, dims[d]);
    }
    entry_append_dim(schema, &counts, "histogram_bin");
    entry_append_dim(schema, &edges, "histogram_edge");
    TRY(schema_add(schema, &counts));
    return schema_add(schema, &edges);
}

int schema_add_ensemble(struct schema *schema, const struct store_spec *spec)
{
    if (!spec->ensemble)
        return 0;
    static const struct column columns[] = {
        {"n", "1", "Number of done members that entered", H5_I64, 0, NULL, true, false},
        {"n_failed", "1", "Number of members that ended otherwise", H5_I64, 0, NULL, true,
         false},
        {"biased", "1", "1 when members failed: what is left may not be a fair sample", H5_U8,
         0, NULL, true, false},
        {"reduced", "1", "1 when this row holds data", H5_U8, 0, NULL, true, false},
    };
    TRY(add_columns(schema, "ensemble", "point_id", COLUMNS(columns)));
    static const struct column until[] = {
        {"stopped", "1", "0 more members are needed 1 the error is small enough 2 all count",
         H5_U8, 0, NULL, true, false},
        {"realisations", "1", "Realisations that the last look counts", H5_I64, 0, NULL, true,
         false},
        {"looks", "1", "Looks that were taken", H5_I32, 0, NULL, true, false},
        {"until_value", "1", "What the looks estimate, in the unit of the quantity", H5_F64, 0,
         NULL, false, false},
        {"until_error", "1", "Its error at the last look, as the wanted one is meant", H5_F64,
         0, NULL, false, false},
    };
    if (spec->until != NULL)
        TRY(add_columns(schema, "ensemble", "point_id", COLUMNS(until)));
    const int spectrum = schema_spectrum_array(spec);
    if (spectrum >= 0)
        TRY(add_ensemble_spectra(schema, spec, spectrum));
    if (spec->histogram_bins > 0 && schema_observable(spec, "peak_power") >= 0)
        TRY(add_histogram(schema));
    return 0;
}

/* Not zeroed: a new file has zeros where nothing was written, and needs no room for them. */
static const struct column timing_columns[] = {
    {"attempt", "1", "Attempt that wrote this row, from 1; 0: no such worker", H5_I64, 0, NULL,
     false, true},
    {"load", "s", "Loading members: tables, plans, input", H5_F64, 0, NULL, false, true},
    {"advance", "s", "Computing in the model", H5_F64, 0, NULL, false, true},
    {"host", "s", "Host loop: what is none of the other parts", H5_F64, 0, NULL, false, true},
    {"output", "s", "Writing and reducing", H5_F64, 0, NULL, false, true},
    {"mpi", "s", "Messages", H5_F64, 0, NULL, false, true},
    {"idle", "s", "Waiting for work", H5_F64, 0, NULL, false, true},
    {"total", "s", "From opening the file to having closed it: the sum of the parts", H5_F64, 0,
     NULL, false, true},
};

static const struct column attempt_columns[] = {
    {"number", "1", "Number of the attempt, from 1; 0: unused row", H5_I64, 0, NULL, false,
     true},
    {"start", "1", "Start, ISO 8601 UTC", H5_TEXT, 32, NULL, false, true},
    {"end", "1", "End, ISO 8601 UTC; empty while it runs", H5_TEXT, 32, NULL, false, true},
    {"job_id", "1", "Slurm job", H5_TEXT, 64, NULL, false, true},
    {"restart_count", "1", "Restarts of the Slurm job", H5_I32, 0, NULL, false, true},
    {"software", "1", "Version and git revision", H5_TEXT, 128, NULL, false, true},
    {"sync", "1", "1 when members were synced to the disk before they counted as done", H5_U8,
     0, NULL, false, true},
    {"exit_code", "1", "Exit code; -1: ended without a record", H5_I32, 0, NULL, false, true},
    {"reason", "1", "How it ended", H5_TEXT, STORE_REASON_SIZE, NULL, false, true},
};

/* Texts of the newest attempt; longer ones are cut (the wisdom is then left out). */
static const struct column run_texts[] = {
    {"libraries", "1", "Libraries of the newest attempt", H5_TEXT, 4096, NULL, false, true},
    {"build", "1", "Compiler and flags of the newest attempt", H5_TEXT, 4096, NULL, false,
     true},
    {"layout", "1", "Ranks, hosts and cores of the newest attempt", H5_TEXT, 65536, NULL, false,
     true},
    {"thresholds", "1", "Switching points of the newest attempt", H5_TEXT, 1024, NULL, false,
     true},
    {"wisdom", "1", "FFTW wisdom of the newest attempt", H5_TEXT, 262144, NULL, false, true},
};

static const struct column bound_columns[] = {
    {"quantity", "1", "Quantity", H5_TEXT, 64, NULL, false, false},
    {"class", "1", "Contract class", H5_TEXT, 4, NULL, false, false},
    {"norm", "1", "Norm", H5_TEXT, 96, NULL, false, false},
    {"rule", "1", "Bound", H5_TEXT, 320, NULL, false, false},
    {"source", "1", "Where the bound comes from", H5_TEXT, 320, NULL, false, false},
};

int schema_add_run(struct schema *schema, const struct store_spec *spec)
{
    TRY(add_columns(schema, "timing", "worker_id", COLUMNS(timing_columns)));
    TRY(add_columns(schema, "provenance/attempt", "attempt_row", COLUMNS(attempt_columns)));
    for (size_t i = 0; i < sizeof run_texts / sizeof *run_texts; i++) {
        const struct column *const c = &run_texts[i];
        struct schema_entry entry = {
            .unit = "1", .kind = c->kind, .text = c->text, .diagnostic = true};
        snprintf(entry.path, sizeof entry.path, "provenance/%s", c->name);
        snprintf(entry.long_name, sizeof entry.long_name, "%s", c->long_name);
        TRY(schema_add(schema, &entry));
    }
    if (spec->model->bound_count == 0)
        return 0;
    return add_columns(schema, "provenance/bounds", "bound_index", COLUMNS(bound_columns));
}
