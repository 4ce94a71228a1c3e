/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <omp.h>

#include "kernels/backend.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/snl1/snl1_model.h"

#define CHUNK     64L /* sea points that a thread takes at a time: whole blocks of any kernel */
#define STATE_TAG 0x736e6c3131000001ULL

enum array { SOURCE, DIAGONAL, ACTION, FLAGS, HEIGHT, ACTION_BALANCE, ENERGY_BALANCE, ARRAYS };

/* A member. */
struct member {
    float *a, *cg, *kdmean, *s, *d;
    unsigned char *flags;
    struct snl1_sums *sums; /* [points] */
    long there;             /* of the points */
    double input_bytes;
    bool done;
};

struct model {
    struct snl1 *handle;
    struct snl1_config config;
    long points;
    int capacity;
    int threads;
    size_t scratch_bytes; /* of one thread */
    char *scratch;
    struct member *row; /* [capacity] */
    double (*unit)[2];  /* [nth] cosine and sine of the directions */
};

struct state {
    uint64_t tag;
    int64_t done;
};

/* Shapes */

static void add_notes(const struct snl1_point *point, struct plane_layout *out)
{
    out->note[0] = (struct layout_note){
        .name = "bins of a point", .unit = "1", .value = point->config.nk * point->config.nth};
    if (point->config.nk < 10)
        snprintf(out->note[0].warning, sizeof out->note[0].warning,
                 "%d rows are fewer than the quadruplets span; 10 or more are meaningful",
                 (int)point->config.nk);
    out->note[1] =
        (struct layout_note){.name = "sea points", .unit = "1", .value = (double)point->there};
    out->notes = 2;
    if (point->arithmetic == SNL1_FAST && point->config.lam < 0.1f) {
        out->note[2] = (struct layout_note){
            .name = "quadruplet.lambda", .unit = "1", .value = (double)point->config.lam};
        snprintf(out->note[2].warning, sizeof out->note[2].warning,
                 "below 0.1 the sums cancel and arithmetic fast has no bound");
        out->notes = 3;
    }
}

static void add_shapes(const struct snl1_point *point, struct plane_layout *out)
{
    static const struct layout_array arrays[ARRAYS] = {
        [SOURCE] = {"source", "m^3 rad^-1", "S = dN/dt", ELEMENT_F64, true, 3, {0, 1, 2}},
        [DIAGONAL] = {"diagonal", "s^-1", "Diagonal of dS/dN", ELEMENT_F64, true, 3, {0, 1, 2}},
        [ACTION] = {"action", "m^3 s rad^-1", "N(k, theta)", ELEMENT_F64, true, 3, {0, 1, 2}},
        [FLAGS] =
            {"flags",
             "1",
             "Sum of 1: negative values, 2: results not finite, 4: input not finite, 8: no "
             "such point in the file",
             ELEMENT_F64,
             false,
             1,
             {0}},
        [HEIGHT] = {"point_height", "m", "Significant wave height", ELEMENT_F64, false, 1, {0}},
        [ACTION_BALANCE] = {"point_action_balance",
                            "1",
                            "|sum| over sum of sizes, action",
                            ELEMENT_F64,
                            false,
                            1,
                            {0}},
        [ENERGY_BALANCE] = {"point_energy_balance",
                            "1",
                            "|sum| over sum of sizes, energy",
                            ELEMENT_F64,
                            false,
                            1,
                            {0}}};
    const long nk = point->config.nk;
    const long nth = point->config.nth;
    out->axes = 3;
    out->axis[0] =
        (struct layout_axis){"point", "1", "Sea point of the block", point->points, 0};
    out->axis[1] = (struct layout_axis){"frequency", "Hz", "Frequency", nk, 1};
    out->axis[2] = (struct layout_axis){"direction", "rad", "Direction", nth, 2};
    out->arrays = ARRAYS;
    memcpy(out->array, arrays, sizeof arrays);
}

/* What the library refuses by its own words, with the key of the scan file in front. */
static int fail_config(int rc, const char *text)
{
    static const struct {
        const char *word;
        const char *key;
    } keys[] = {
        {"IQTYPE ", "quadruplet.iqtype"}, {"lam ", "quadruplet.lambda"}, {"fr1 ", "grid"}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strncmp(text, keys[i].word, strlen(keys[i].word)) == 0)
            FAIL(rc, "%s: %s", keys[i].key, text);
    FAIL(rc, "%s", text);
}

static int snl1_layout(const struct params *params, struct plane_layout *out)
{
    struct snl1_point point;
    struct snl1 *handle = NULL;
    char text[SNL1_TEXT_SIZE];
    const long planes = params->planes.kind == PLANES_LAST ? 1 : params->planes.count;
    if (planes != 1)
        FAIL(ERR_ARGUMENT, "save.planes: %ld planes; a member of snl1 has one, its result",
             planes);
    TRY(snl1_read(params, &point));
    const int rc = snl1_create(&point.config, NULL, &handle, text);
    if (rc != 0)
        return fail_config(rc, text);
    const size_t scratch = snl1_scratch_bytes(handle);
    snl1_destroy(handle);
    const long nspec = (long)point.config.nk * point.config.nth;
    const size_t bytes = (size_t)(3 * nspec + point.config.nk + 1) * sizeof(float);
    *out = (struct plane_layout){.progress_name = "result",
                                 .progress_unit = "1",
                                 .progress_doc = "0 before the computation, 1 after it",
                                 .span = 1.0,
                                 .planes = 1,
                                 .observables = snl1_info.observable_count,
                                 .work = 1e-3 * (double)(point.there * nspec),
                                 .state_bytes = sizeof(struct state),
                                 .shared_bytes = scratch,
                                 .row_bytes = (size_t)point.points
                                              * (bytes + 1 + sizeof(struct snl1_sums))};
    add_shapes(&point, out);
    add_notes(&point, out);
    return 0;
}

static int snl1_axis(const struct params *params, int axis, double *values)
{
    struct snl1_point point;
    float sig[SNL1_ROWS_MAX];
    const double two_pi = 2.0 * acos(-1.0);
    TRY(snl1_read(params, &point));
    if (axis < 0 || axis > 2)
        FAIL(ERR_BUG, "snl1 has no axis %d", axis);
    snl1_frequencies(&point.config, point.config.nk, sig);
    for (long i = 0; axis == 0 && i < point.points; i++)
        values[i] = (double)i;
    for (long i = 0; axis == 1 && i < point.config.nk; i++)
        values[i] = (double)sig[i] / two_pi;
    for (long i = 0; axis == 2 && i < point.config.nth; i++)
        values[i] = two_pi * (double)i / (double)point.config.nth;
    return 0;
}

/* Objects */

static void free_member(struct member *r)
{
    mem_free(r->a);
    mem_free(r->cg);
    mem_free(r->kdmean);
    mem_free(r->s);
    mem_free(r->d);
    mem_free(r->flags);
    mem_free(r->sums);
}

static void snl1_model_destroy(struct model *m)
{
    if (m == NULL)
        return;
    for (int r = 0; m->row != NULL && r < m->capacity; r++)
        free_member(&m->row[r]);
    mem_free(m->row);
    mem_free(m->scratch);
    mem_free(m->unit);
    snl1_destroy(m->handle);
    mem_free(m);
}

static int make_member(const struct model *m, struct member *r)
{
    const long nk = m->config.nk;
    const long nspec = nk * m->config.nth;
    TRY(MEM_NEW(m->points * nspec, &r->a));
    TRY(MEM_NEW(m->points * nk, &r->cg));
    TRY(MEM_NEW(m->points, &r->kdmean));
    TRY(MEM_NEW(m->points * nspec, &r->s));
    TRY(MEM_NEW(m->points * nspec, &r->d));
    TRY(MEM_NEW(m->points, &r->flags));
    return MEM_NEW(m->points, &r->sums);
}

static int fill_model(const struct backend *backend, int arithmetic, struct model *m)
{
    char text[SNL1_TEXT_SIZE];
    int rc = snl1_create(&m->config, NULL, &m->handle, text);
    if (rc != 0)
        FAIL(rc, "%s", text);
    rc = snl1_choose(m->handle, arithmetic, backend->isa);
    if (rc != 0) {
        snl1_message(m->handle, text);
        FAIL(rc == SNL1_DEVICE ? ERR_DEVICE : rc, "%s", text);
    }
    m->scratch_bytes = snl1_scratch_bytes(m->handle);
    TRY(mem_alloc((long)m->scratch_bytes, (size_t)m->threads, (void **)&m->scratch));
    TRY(MEM_NEW(m->config.nth, &m->unit));
    for (int32_t t = 0; t < m->config.nth; t++) {
        const double theta = 2.0 * acos(-1.0) * t / m->config.nth;
        m->unit[t][0] = cos(theta);
        m->unit[t][1] = sin(theta);
    }
    TRY(MEM_NEW(m->capacity, &m->row));
    for (int r = 0; r < m->capacity; r++)
        TRY(make_member(m, &m->row[r]));
    return 0;
}

static int snl1_model_create(const struct params *params, struct backend *backend, int capacity,
                             struct model **out)
{
    struct snl1_point point;
    struct model *m;
    TRY(snl1_read(params, &point));
    TRY(MEM_NEW(1, &m));
    *m = (struct model){.config = point.config,
                        .points = point.points,
                        .capacity = capacity,
                        .threads = backend->threads};
    const int rc = fill_model(backend, point.arithmetic, m);
    if (rc != 0) {
        snl1_model_destroy(m);
        return rc;
    }
    *out = m;
    return 0;
}

static int resume_member(struct member *r, const struct state_in *resume, struct row_status *st)
{
    struct state state;
    if (resume->length != sizeof state)
        FAIL(ERR_ARGUMENT, "snl1 state of %zu bytes; %zu are expected", resume->length,
             sizeof state);
    memcpy(&state, resume->bytes, sizeof state);
    if (state.tag != STATE_TAG || (state.done != 0 && state.done != 1))
        FAIL(ERR_ARGUMENT, "snl1 state is damaged or of another version");
    r->done = state.done != 0;
    st->plane = r->done ? 0 : -1;
    st->steps = st->rhs_calls = r->done ? 1 : 0;
    st->progress = r->done ? 1.0 : 0.0;
    st->history_truncated = r->done;
    return 0;
}

/* A made spectrum that binary32 cannot hold is a mistake of the member's parameters. */
static void check_made(const struct model *m, const struct member *r, struct row_status *st)
{
    const long count = m->points * m->config.nk * m->config.nth;
    for (long i = 0; i < count; i++)
        if (!isfinite(r->a[i])) {
            st->outcome = ROW_FAILED;
            snprintf(st->reason, sizeof st->reason,
                     "sea point %ld: the action of bin %ld is beyond binary32; sea.height, "
                     "swell.height",
                     i / (m->config.nk * m->config.nth), i % (m->config.nk * m->config.nth));
            return;
        }
}

static int snl1_load(struct model *m, int row, const struct params *params,
                     const struct seed *seed, const struct state_in *resume,
                     struct row_status *st)
{
    struct snl1_point point;
    struct member *const r = &m->row[row];
    (void)seed;
    TRY(snl1_read(params, &point));
    if (point.file != NULL && point.file->arrays == 0)
        FAIL(ERR_ARGUMENT, "sea.file: the data are not there");
    *st = (struct row_status){.outcome = ROW_RUNNING,
                              .plane = -1,
                              .deadline = st->deadline,
                              .history = st->history,
                              .history_capacity = st->history_capacity};
    r->done = false;
    r->there = point.there;
    r->input_bytes = point.input_bytes;
    TRY(snl1_fill(&point, snl1_numbers(m->handle)->sig, r->a, r->cg, r->kdmean));
    if (point.file == NULL)
        check_made(m, r, st);
    return resume != NULL ? resume_member(r, resume, st) : 0;
}

/* Computing */

/* Sea points [first, first + count) of a member; the code of the call. */
static int compute_points(struct model *m, struct member *r, long first, long count, int thread)
{
    const struct snl1_numbers *const n = snl1_numbers(m->handle);
    const struct snl1_grid grid = {n->nk, n->nth, (double)m->config.xfr, n->sig};
    const long nspec = (long)n->nk * n->nth;
    const struct snl1_batch batch = {.npts = count,
                                     .nspec = (int32_t)nspec,
                                     .nk = n->nk,
                                     .a = r->a + first * nspec,
                                     .cg = r->cg + first * n->nk,
                                     .kdmean = r->kdmean + first,
                                     .s = r->s + first * nspec,
                                     .d = r->d + first * nspec,
                                     .scratch = m->scratch + (size_t)thread * m->scratch_bytes,
                                     .scratch_bytes = m->scratch_bytes,
                                     .flags = r->flags + first};
    const int rc = snl1_compute(m->handle, &batch);
    for (long p = first; rc == 0 && p < first + count; p++)
        snl1_sum(&grid, (const double(*)[2])m->unit,
                 &(const struct snl1_result){r->a + p * nspec, r->cg + p * n->nk,
                                             r->s + p * nspec, r->d + p * nspec},
                 &r->sums[p]);
    return rc;
}

static void record_step(struct row_status *st)
{
    st->steps++;
    st->rhs_calls++;
    if (st->history == NULL || st->history_count >= st->history_capacity) {
        st->history_truncated = true;
        return;
    }
    st->history[st->history_count++] =
        (struct step_record){.position = 0.0, .length = 1.0, .order = 1, .accepted = 1};
}

static void compute_member(struct model *m, struct member *r, struct row_status *st)
{
    const long chunks = (m->points + CHUNK - 1) / CHUNK;
    int worst = 0;
#pragma omp parallel for default(none) shared(m, r, chunks) num_threads(m->threads)            \
    schedule(static) reduction(max                                                             \
                               : worst) if (m->threads > 1 && chunks > 1)
    for (long c = 0; c < chunks; c++) {
        const long left = m->points - c * CHUNK;
        const int rc =
            compute_points(m, r, c * CHUNK, left < CHUNK ? left : CHUNK, omp_get_thread_num());
        worst = rc > worst ? rc : worst;
    }
    if (worst != 0) {
        char text[SNL1_TEXT_SIZE];
        /* once more and at once: the text is of the first wrong point, counted in the block */
        (void)compute_points(m, r, 0, m->points, 0);
        snl1_message(m->handle, text);
        st->outcome = ROW_FAILED;
        snprintf(st->reason, sizeof st->reason, "%.*s", MODEL_REASON_SIZE - 1, text);
        return;
    }
    record_step(st);
    r->done = true;
    st->plane = 0;
    st->progress = 1.0;
    st->plane_ready = true;
}

static bool stop_wanted(struct run_control *control)
{
    const double stop_at = atomic_load_explicit(&control->stop_at, memory_order_relaxed);
    return atomic_load_explicit(&control->stop, memory_order_relaxed) != 0
           || (stop_at > 0.0 && clock_wall() >= stop_at);
}

static int snl1_advance(struct model *m, struct run_control *control, struct row_status *st)
{
    for (int r = 0; r < m->capacity; r++) {
        if (st[r].outcome != ROW_RUNNING || st[r].plane_ready)
            continue;
        if (m->row[r].done) {
            st[r].outcome = ROW_DONE;
            continue;
        }
        if (stop_wanted(control))
            return 0;
        if (clock_wall() >= st[r].deadline) {
            st[r].outcome = ROW_TIMED_OUT;
            snprintf(st[r].reason, sizeof st[r].reason, "timed out before the computation");
            continue;
        }
        compute_member(m, &m->row[r], &st[r]);
        atomic_fetch_add_explicit(&control->steps_done, 1, memory_order_relaxed);
    }
    return 0;
}

/* Results */

static void widen(const float *from, long count, long there, double *to)
{
    for (long i = 0; to != NULL && i < count; i++)
        to[i] = i < there ? (double)from[i] : (double)NAN;
}

/* Numbers of each point; of an absent one, or of one without finite results, none. */
static void put_points(const struct model *m, const struct member *r, struct plane_buffers *out)
{
    double *const to[ARRAYS] = {[FLAGS] = out->array[FLAGS],
                                [HEIGHT] = out->array[HEIGHT],
                                [ACTION_BALANCE] = out->array[ACTION_BALANCE],
                                [ENERGY_BALANCE] = out->array[ENERGY_BALANCE]};
    for (long p = 0; p < m->points; p++) {
        const bool there = p < r->there;
        const bool sound = there && (r->flags[p] & SNL1_NONFINITE) == 0;
        if (to[FLAGS] != NULL)
            to[FLAGS][p] = there ? r->flags[p] : SNL1_ABSENT;
        if (to[HEIGHT] != NULL)
            to[HEIGHT][p] = there ? r->sums[p].height : (double)NAN;
        if (to[ACTION_BALANCE] != NULL)
            to[ACTION_BALANCE][p] = sound ? r->sums[p].action : (double)NAN;
        if (to[ENERGY_BALANCE] != NULL)
            to[ENERGY_BALANCE][p] = sound ? r->sums[p].energy : (double)NAN;
    }
}

static void put_observables(const struct member *r, double *out)
{
    double heights = 0.0;
    double sound = 0.0;
    double values[11] = {(double)r->there};
    for (long p = 0; p < r->there; p++) {
        const struct snl1_sums *const s = &r->sums[p];
        values[1] += (r->flags[p] & SNL1_NEGATIVE) != 0 ? 1.0 : 0.0;
        if ((r->flags[p] & SNL1_NONFINITE) != 0) {
            values[2] += 1.0;
            continue;
        }
        heights += s->height;
        values[4] = fmax(values[4], s->source);
        values[5] = sound > 0.0 ? fmin(values[5], s->lowest) : s->lowest;
        values[6] = sound > 0.0 ? fmax(values[6], s->highest) : s->highest;
        values[7] = fmax(values[7], s->action);
        values[8] = fmax(values[8], s->energy);
        values[9] = fmax(values[9], s->momentum);
        sound += 1.0;
    }
    values[10] = r->input_bytes;
    values[3] = sound > 0.0 ? heights / sound : 0.0;
    memcpy(out, values, sizeof values);
}

static int snl1_plane(struct model *m, int row, struct plane_buffers *out)
{
    const struct member *const r = &m->row[row];
    const long nspec = (long)m->config.nk * m->config.nth;
    widen(r->s, m->points * nspec, r->there * nspec, out->array[SOURCE]);
    widen(r->d, m->points * nspec, r->there * nspec, out->array[DIAGONAL]);
    widen(r->a, m->points * nspec, r->there * nspec, out->array[ACTION]);
    put_points(m, r, out);
    put_observables(r, out->observable);
    return 0;
}

static int snl1_state(struct model *m, int row, struct state_out *out)
{
    const struct state state = {STATE_TAG, m->row[row].done ? 1 : 0};
    out->length = sizeof state;
    if (out->capacity < sizeof state)
        FAIL(ERR_ARGUMENT, "snl1 state needs %zu bytes; %zu given", sizeof state,
             out->capacity);
    memcpy(out->bytes, &state, sizeof state);
    return 0;
}

static const char *snl1_model_kernel(const struct model *m)
{
    return snl1_kernel(m->handle);
}

const struct model_ops snl1_ops = {.abi = {MODEL_ABI_VERSION, sizeof(struct model_ops)},
                                   .info = &snl1_info,
                                   .layout = snl1_layout,
                                   .axis = snl1_axis,
                                   .create = snl1_model_create,
                                   .load = snl1_load,
                                   .advance = snl1_advance,
                                   .plane = snl1_plane,
                                   .state = snl1_state,
                                   .destroy = snl1_model_destroy,
                                   .kernel = snl1_model_kernel};
