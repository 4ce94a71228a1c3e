/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "kernels/backend.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"

/* A sleep is cut into slices so that a stop is noticed. */
#define PROBE_SLICE     0.01
#define PROBE_WORK_UNIT 1000000L
#define PROBE_STATE_TAG 0x70726f6265310001ULL

struct probe_row {
    double sleep; /* s a plane */
    double work;  /* millions of floating-point operations a plane */
    long fail_at;
    double code;
    long plane;   /* reached last, -1 before the first */
    double slept; /* of the next plane, as a stop left them */
    double done;
    double sink; /* result of the work, kept so that it is done */
};

/* On a device a plane's numbers go through its memory, so that a test of whatever stands around
 * models has one that computes there. */
struct model {
    struct backend *apart; /* that device, NULL: the CPU */
    double *there;         /* [capacity][size] on it */
    double *here;          /* [size] */
    int capacity;
    long size;
    long planes;
    struct probe_row *row; /* [capacity] */
};

struct probe_state {
    uint64_t tag;
    int64_t plane;
};

static const struct param_info probe_params[] = {
    {.name = "sleep",
     .kind = PARAM_REAL,
     .unit = "s",
     .fallback = "0",
     .minimum = 0,
     .maximum = 1e9,
     .doc = "Time slept before each plane; a stop interrupts it"},
    {.name = "work",
     .kind = PARAM_REAL,
     .unit = "1",
     .fallback = "0",
     .minimum = 0,
     .maximum = 1e12,
     .doc = "Millions of floating-point operations before each plane"},
    {.name = "fail_at",
     .kind = PARAM_INT,
     .unit = "1",
     .fallback = "-1",
     .minimum = -1,
     .maximum = 1e15,
     .doc = "Plane at which the member fails; -1: never"},
    {.name = "size",
     .kind = PARAM_INT,
     .flags = PARAM_STRUCTURAL | PARAM_GRID,
     .unit = "1",
     .fallback = "8",
     .minimum = 1,
     .maximum = 1e9,
     .doc = "Numbers saved with each plane"},
    {.name = "a",
     .kind = PARAM_REAL,
     .unit = "1",
     .fallback = "0",
     .minimum = -1e300,
     .maximum = 1e300,
     .doc = "Goes into code, times 10000"},
    {.name = "b",
     .kind = PARAM_REAL,
     .unit = "1",
     .fallback = "0",
     .minimum = -1e300,
     .maximum = 1e300,
     .doc = "Goes into code, times 100"},
    {.name = "c",
     .kind = PARAM_REAL,
     .unit = "1",
     .fallback = "0",
     .minimum = -1e300,
     .maximum = 1e300,
     .doc = "Goes into code, times 1"},
};

static const struct observable_info probe_observables[] = {
    {"code", "1", "10000 a + 100 b + c"},
};

static const struct bound_info probe_bounds[] = {
    {"data", CONTRACT_P, "bits", "equal, bit for bit: 1e6 code + 1e3 plane + index",
     "docs/models/probe.md"},
    {"code", CONTRACT_P, "bits", "equal, bit for bit: 10000 a + 100 b + c",
     "docs/models/probe.md"},
};

static const struct model_info probe_info = {
    .name = "probe",
    .doc = "Test model: sleeps, works, fails on request and saves numbers that identify it",
    .numerics_version = 1,
    .convention = "",
    .on_devices = true,
    .params = probe_params,
    .param_count = sizeof probe_params / sizeof probe_params[0],
    .observables = probe_observables,
    .observable_count = sizeof probe_observables / sizeof probe_observables[0],
    .bounds = probe_bounds,
    .bound_count = sizeof probe_bounds / sizeof probe_bounds[0]};

static int probe_layout(const struct params *point, struct plane_layout *out)
{
    const long size = params_int(point, "size");
    const long planes = point->planes.kind == PLANES_LAST ? 1 : point->planes.count;
    if (planes < 1)
        FAIL(ERR_ARGUMENT, "save.planes: %ld planes; at least one is needed", planes);
    *out = (struct plane_layout){
        .progress_name = "x",
        .progress_unit = "1",
        .progress_doc = "Index of the plane",
        .span = (double)(planes - 1),
        .planes = planes,
        .axes = 1,
        .axis = {{"index", "1", "Index of the saved number", size, 0}},
        .arrays = 1,
        .array = {{"data", "1", "1e6 code + 1e3 plane + index", ELEMENT_F64, true, 1, {0}}},
        .observables = 1,
        .transforms = 0,
        .work =
            (double)planes * (params_real(point, "sleep") + 1e-3 * params_real(point, "work")),
        .state_bytes = sizeof(struct probe_state),
        .shared_bytes = sizeof(struct model),
        .row_bytes = sizeof(struct probe_row) + (size_t)size * sizeof(double)};
    return 0;
}

static int probe_axis(const struct params *point, int axis, double *values)
{
    if (axis != 0)
        FAIL(ERR_BUG, "probe has no axis %d", axis);
    const long size = params_int(point, "size");
    for (long i = 0; i < size; i++)
        values[i] = (double)i;
    return 0;
}

static void probe_destroy(struct model *m)
{
    if (m == NULL)
        return;
    if (m->apart != NULL)
        m->apart->ops->release(m->apart, m->there);
    mem_free(m->here);
    mem_free(m->row);
    mem_free(m);
}

static int probe_allocate(struct model *m, struct backend *backend)
{
    TRY(MEM_NEW(m->capacity, &m->row));
    if (backend == NULL || !backend->apart)
        return 0;
    m->apart = backend;
    TRY(MEM_NEW(m->size, &m->here));
    return backend->ops->alloc(backend, m->capacity * m->size, sizeof *m->there,
                               (void **)&m->there);
}

static int probe_create(const struct params *point, struct backend *backend, int capacity,
                        struct model **out)
{
    struct plane_layout layout = {0};
    TRY(probe_layout(point, &layout));
    struct model *m;
    TRY(MEM_NEW(1, &m));
    *m = (struct model){
        .capacity = capacity, .size = layout.axis[0].length, .planes = layout.planes};
    const int rc = probe_allocate(m, backend);
    if (rc != 0) {
        probe_destroy(m);
        return rc;
    }
    *out = m;
    return 0;
}

static void reset_status(struct row_status *st)
{
    *st = (struct row_status){.outcome = ROW_RUNNING,
                              .plane = -1,
                              .deadline = st->deadline,
                              .history = st->history,
                              .history_capacity = st->history_capacity};
}

static int probe_load(struct model *m, int row, const struct params *point,
                      const struct seed *seed, const struct state_in *resume,
                      struct row_status *st)
{
    (void)seed;
    m->row[row] =
        (struct probe_row){.sleep = params_real(point, "sleep"),
                           .work = params_real(point, "work"),
                           .fail_at = params_int(point, "fail_at"),
                           .code = 10000.0 * params_real(point, "a")
                                   + 100.0 * params_real(point, "b") + params_real(point, "c"),
                           .plane = -1};
    reset_status(st);
    if (resume == NULL)
        return 0;
    struct probe_state state;
    if (resume->length != sizeof state)
        FAIL(ERR_ARGUMENT, "probe state of %zu bytes; %zu are expected", resume->length,
             sizeof state);
    memcpy(&state, resume->bytes, sizeof state);
    if (state.tag != PROBE_STATE_TAG || state.plane < -1 || state.plane >= m->planes)
        FAIL(ERR_ARGUMENT, "probe state is damaged or of another version");
    m->row[row].plane = (long)state.plane;
    st->plane = m->row[row].plane;
    st->steps = st->plane + 1;
    st->progress = st->plane < 0 ? 0.0 : (double)st->plane;
    st->history_truncated = st->steps > 0;
    return 0;
}

static bool stop_wanted(struct run_control *control)
{
    const double stop_at = atomic_load_explicit(&control->stop_at, memory_order_relaxed);
    return atomic_load_explicit(&control->stop, memory_order_relaxed) != 0
           || (stop_at > 0.0 && clock_wall() >= stop_at);
}

/* Sleep out `seconds`, of which `slept` have passed; false when it was interrupted. What has
 * been slept by then counts: calls that are cut short add up. */
static bool sleep_for(double seconds, double *slept, double deadline,
                      struct run_control *control)
{
    const double begin = clock_wall() - *slept;
    const double end = fmin(begin + seconds, deadline);
    double left = seconds - *slept;
    while (left > 0.0) {
        if (stop_wanted(control)) {
            *slept = clock_wall() - begin;
            return false;
        }
        const double slice = fmin(left, PROBE_SLICE);
        const struct timespec time = {.tv_sec = 0, .tv_nsec = (long)(slice * 1e9)};
        nanosleep(&time, NULL);
        left = end - clock_wall();
    }
    *slept = seconds;
    return true;
}

/* Multiply-add chains with a bounded value; false when interrupted, likewise. */
static bool work_for(double millions, struct probe_row *row, struct run_control *control)
{
    double x = row->sink;
    while (row->done < millions && !stop_wanted(control)) {
        const double share = fmin(1.0, millions - row->done);
        for (long i = 0; i < (long)(share * (double)PROBE_WORK_UNIT) / 2; i++)
            x = 0.999999 * x + 1e-6;
        row->done += 1.0;
    }
    row->sink = x;
    return !(millions > 0.0) || !stop_wanted(control);
}

static void record_step(struct row_status *st, long plane)
{
    st->steps++;
    if (st->history == NULL || st->history_count >= st->history_capacity) {
        st->history_truncated = true;
        return;
    }
    st->history[st->history_count++] = (struct step_record){
        .position = (double)plane, .length = 1.0, .order = 1, .accepted = 1};
}

/* One row to its next plane; false when a stop interrupted it. */
static bool advance_row(const struct model *m, struct probe_row *row,
                        struct run_control *control, struct row_status *st)
{
    const long plane = row->plane + 1;
    if (plane >= m->planes) {
        st->outcome = ROW_DONE;
        return true;
    }
    if (!sleep_for(row->sleep, &row->slept, st->deadline, control)
        || !work_for(row->work, row, control))
        return false;
    row->slept = row->done = 0.0;
    if (clock_wall() >= st->deadline) {
        st->outcome = ROW_TIMED_OUT;
        snprintf(st->reason, sizeof st->reason, "timed out before plane %ld", plane);
        return true;
    }
    if (plane == row->fail_at) {
        st->outcome = ROW_FAILED;
        snprintf(st->reason, sizeof st->reason,
                 "failed at plane %ld as fail_at asks, code %.17g", plane, row->code);
        return true;
    }
    record_step(st, plane);
    atomic_fetch_add_explicit(&control->steps_done, 1, memory_order_relaxed);
    row->plane = plane;
    st->plane = plane;
    st->progress = (double)plane;
    st->plane_ready = true;
    return true;
}

static int probe_advance(struct model *m, struct run_control *control, struct row_status *st)
{
    for (int r = 0; r < m->capacity; r++)
        if (st[r].outcome == ROW_RUNNING && !st[r].plane_ready
            && !advance_row(m, &m->row[r], control, &st[r]))
            return 0;
    return 0;
}

/* A row's numbers to the device and back. */
static int probe_fetch(const struct model *m, int row, double *data)
{
    const size_t bytes = (size_t)m->size * sizeof *data;
    double *const there = m->there + row * m->size;
    TRY(m->apart->ops->upload(m->apart, there, m->here, bytes));
    return data != NULL ? m->apart->ops->download(m->apart, data, there, bytes) : 0;
}

static int probe_plane(struct model *m, int row, struct plane_buffers *out)
{
    const struct probe_row *r = &m->row[row];
    out->observable[0] = r->code;
    double *const data = m->apart != NULL ? m->here : out->array[0];
    for (long i = 0; data != NULL && i < m->size; i++)
        data[i] = 1e6 * r->code + 1e3 * (double)r->plane + (double)i;
    return m->apart != NULL ? probe_fetch(m, row, out->array[0]) : 0;
}

static int write_state(long plane, struct state_out *out)
{
    const struct probe_state state = {PROBE_STATE_TAG, plane};
    out->length = sizeof state;
    if (out->capacity < sizeof state)
        FAIL(ERR_ARGUMENT, "probe state needs %zu bytes; %zu given", sizeof state,
             out->capacity);
    memcpy(out->bytes, &state, sizeof state);
    return 0;
}

static int probe_state(struct model *m, int row, struct state_out *out)
{
    return write_state(m->row[row].plane, out);
}

static int probe_from_plane(const struct params *point, long plane,
                            const struct plane_buffers *in, struct state_out *out)
{
    (void)point;
    (void)in;
    return write_state(plane, out);
}

const struct model_ops probe_ops = {.abi = {MODEL_ABI_VERSION, sizeof(struct model_ops)},
                                    .info = &probe_info,
                                    .layout = probe_layout,
                                    .axis = probe_axis,
                                    .create = probe_create,
                                    .load = probe_load,
                                    .advance = probe_advance,
                                    .plane = probe_plane,
                                    .state = probe_state,
                                    .from_plane = probe_from_plane,
                                    .destroy = probe_destroy};
