/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/device_case.h"

#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"

#define PI      3.14159265358979323846
#define DT      5e-17
#define STEP    4e-3
#define DENSITY (0.4e5 / (PULSE_KB * 293.15)) /* 1/m^3 */
#define GAMMA3  (4.0 * 3.43e-28 / PULSE_AMAGAT)
#define STAGE   (DEVICE_STAGES + 1)

/* Pieces of the block of scalars, in this order. */
enum piece {
    PIECE_HB,
    PIECE_CH = PIECE_HB + DEVICE_STAGES,
    PIECE_LAST_HB = PIECE_CH + DEVICE_STAGES,
    PIECE_LAST_HE,
    PIECE_E7,
    PIECE_FIELD,
    PIECES = PIECE_FIELD + 3 * STAGE
};

_Static_assert(PIECES <= DEVICE_PIECES, "all pieces have a place");

/* Of a stage: what the column reads, or what the Kerr pass reads. */
static enum piece piece_of(int stage, int which)
{
    return (enum piece)(PIECE_FIELD + 3 * stage + which);
}

static const double *scalars_of(const struct device_run *run, enum piece which)
{
    return run->scalars + run->piece[which].at;
}

static long piece_width(int which)
{
    if (which < DEVICE_STAGES)
        return which == 0 ? 1 : STAGE_SLOPES;
    if (which == PIECE_LAST_HB || which == PIECE_LAST_HE)
        return STEP_LAST_SLOPES;
    if (which >= PIECE_FIELD && (which - PIECE_FIELD) % 3 == 0)
        return COLUMN_SCALARS;
    return 1;
}

/* Number k of a piece, of a step of length h. */
static double piece_value(int which, long k, double h)
{
    static const int last[STEP_LAST_SLOPES] = {0, 2, 3, 4, 5};
    static const double column[COLUMN_SCALARS] = {[COLUMN_SCALE] = 1.0,
                                                  [COLUMN_KERR] = DENSITY * PULSE_EPS0 * GAMMA3,
                                                  [COLUMN_DENSITY] = DENSITY,
                                                  [COLUMN_DT] = DT,
                                                  [COLUMN_MOBILITY] =
                                                      PULSE_E * PULSE_E / PULSE_ME,
                                                  [COLUMN_POTENTIAL] = 24.587 * PULSE_E};
    if (which < PIECE_CH)
        return h * tableau_a[which - PIECE_HB][k];
    if (which < PIECE_LAST_HB)
        return h * tableau_c[which - PIECE_CH];
    if (which == PIECE_LAST_HB)
        return h * tableau_b[last[k]];
    if (which == PIECE_LAST_HE)
        return h * tableau_e[last[k]];
    if (which == PIECE_E7)
        return h * tableau_e[DEVICE_STAGES + 1];
    const int part = (which - PIECE_FIELD) % 3;
    return part == 0 ? column[k] : part == 1 ? 1.0 : column[COLUMN_KERR];
}

static int make_scalars(struct device_run *run)
{
    const long rows = run->c.rows;
    for (int i = 0; i < PIECES; i++) {
        run->piece[i].at = run->scalars_count;
        run->piece[i].width = piece_width(i);
        run->scalars_count += backend_stride(rows * run->piece[i].width, sizeof(double));
    }
    TRY(MEM_NEW(run->scalars_count, &run->scalars_here));
    for (int i = 0; i < PIECES; i++)
        for (long r = 0; r < rows; r++)
            for (long k = 0; k < run->piece[i].width; k++)
                run->scalars_here[run->piece[i].at + r * run->piece[i].width + k] =
                    piece_value(i, k, STEP * (1.0 + 0.01 * (double)(r % 8)));
    for (long r = 0; r < rows && run->c.wrong; r++)
        run->scalars_here[run->piece[PIECE_LAST_HB].at + (r + 1) * STEP_LAST_SLOPES - 1] *=
            1.001;
    return run->be->ops->alloc(run->be, run->scalars_count, sizeof(double),
                               (void **)&run->scalars);
}

static int send_scalars(struct device_run *run)
{
    const struct backend_ops *const ops = run->be->ops;
    if (!run->c.each)
        return ops->upload(run->be, run->scalars, run->scalars_here,
                           (size_t)run->scalars_count * sizeof(double));
    for (int i = 0; i < PIECES; i++) {
        const struct device_piece *const p = &run->piece[i];
        const size_t bytes = (size_t)(run->c.rows * p->width) * sizeof(double);
        TRY(ops->upload(run->be, run->scalars + p->at, run->scalars_here + p->at, bytes));
    }
    return 0;
}

/* Whether there is a plasma. */
static bool has_plasma(const struct device_run *run)
{
    return run->c.rule != DEVICE_KERR;
}

static int make_memory(struct device_run *run)
{
    struct backend *const be = run->be;
    const struct backend_ops *const ops = be->ops;
    const long rows = run->c.rows;
    for (int s = 0; s < DEVICE_SLOTS; s++)
        TRY(ops->alloc(be, rows * 2 * run->ld, sizeof(double), (void **)&run->slot[s]));
    TRY(ops->alloc(be, rows * run->ld, sizeof(double), (void **)&run->li));
    TRY(ops->alloc(be, rows * run->ld, sizeof(double), (void **)&run->lr));
    TRY(ops->alloc(be, rows * run->ld_spec, sizeof(cplx), (void **)&run->spectrum));
    TRY(ops->alloc(be, rows * run->ld_real, sizeof(double), (void **)&run->samples));
    TRY(ops->alloc(be, rows * run->ld_real, sizeof(double), (void **)&run->window));
    TRY(ops->alloc(be, rows * run->ld_real, sizeof(double), (void **)&run->spare));
    TRY(ops->alloc(be, rows * (2 + COLUMN_SUMS), sizeof(double), (void **)&run->sums));
    TRY(ops->alloc(be, rows * (COLUMN_SIDE_MAX + 1), sizeof(double), (void **)&run->taps));
    TRY(ops->alloc(be, rows, sizeof *run->rate, (void **)&run->rate));
    if (has_plasma(run))
        TRY(ops->alloc(be, 3 * rows * run->ld_pad, sizeof(double), (void **)&run->scratch));
    TRY(MEM_NEW(rows * (2 + COLUMN_SUMS), &run->sums_here));
    TRY(ops->fft_create(be, FFT_C2R, run->c.points, &run->backward));
    TRY(ops->fft_create(be, FFT_R2C, run->c.points, &run->forward));
    return make_scalars(run);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the kernel writes out */
static int kerr(struct device_run *run, int stage, double *out)
{
    const struct response_kerr_args args = {.field = run->samples,
                                            .window = run->window,
                                            .scale = scalars_of(run, piece_of(stage, 1)),
                                            .kerr = scalars_of(run, piece_of(stage, 2)),
                                            .out = out,
                                            .ld = run->ld_real};
    return run->be->kernels->response_kerr[0](run->be, &args, 0, run->c.rows, run->c.points);
}

static int respond(struct device_run *run, int stage, double *out)
{
    struct backend *const be = run->be;
    const long rows = run->c.rows;
    const long n = run->c.points;
    if (!has_plasma(run))
        return kerr(run, stage, out);
    double *const w = run->scratch + COLUMN_PAD;
    const struct column_args args = {.field = run->samples,
                                     .window = run->window,
                                     .rate = run->rate,
                                     .scalars = scalars_of(run, piece_of(stage, 0)),
                                     .taps = run->taps,
                                     .w = w,
                                     .integrand = w + rows * run->ld_pad,
                                     .loss = w + 2 * rows * run->ld_pad,
                                     .out = out,
                                     .sums = run->sums + 2 * rows,
                                     .components = 1,
                                     .side = run->side,
                                     .ld = run->ld_real,
                                     .ld_pad = run->ld_pad};
    if (be->ops->device != NULL)
        return be->ops->device->column(be, COLUMN_BY_ADK, &args, 0, rows, n);
    if (run->side == 0)
        return be->kernels->column_trapezoid_adk(be, &args, 0, rows, n);
    TRY(be->kernels->column_exposure_adk(be, &args, 0, rows, n));
    TRY(be->kernels->column_current(be, &args, 0, rows, n));
    return be->kernels->column_polarise(be, &args, 0, rows, n);
}

static int to_samples(struct device_run *run)
{
    const struct fft_rows rows = {run->spectrum, run->ld_spec, run->samples, run->ld_real, 0,
                                  run->c.rows,   NULL};
    return run->be->ops->fft_execute(run->be, run->backward, &rows);
}

static int to_spectra(struct device_run *run)
{
    const struct fft_rows rows = {run->samples, run->ld_real, run->spectrum, run->ld_spec, 0,
                                  run->c.rows,  NULL};
    return run->be->ops->fft_execute(run->be, run->forward, &rows);
}

static int evaluate(struct device_run *run, int stage)
{
    TRY(to_samples(run));
    TRY(respond(run, stage, run->samples));
    return to_spectra(run);
}

static struct k_zeros zeros_of(const struct device_run *run)
{
    return (struct k_zeros){.before = 0, .after = run->c.points / 2 + 1 - run->bins};
}

static int pass_entry(struct device_run *run)
{
    const struct stage_entry_args args = {.y = run->slot[SLOT_Y],
                                          .k = run->slot[SLOT_K1],
                                          .hb = scalars_of(run, PIECE_HB),
                                          .ch = scalars_of(run, PIECE_CH),
                                          .li = run->li,
                                          .lr = run->lr,
                                          .factor = run->slot[SLOT_F],
                                          .out = run->spectrum,
                                          .zeros = zeros_of(run),
                                          .ld = run->ld,
                                          .ld_spec = run->ld_spec};
    return run->be->kernels->stage_entry_loss(run->be, &args, 0, run->c.rows, run->bins);
}

static int pass_turn(struct device_run *run, int i)
{
    struct stage_turn_args args = {.y = run->slot[SLOT_Y],
                                   .hb = scalars_of(run, (enum piece)(PIECE_HB + i)),
                                   .ch = scalars_of(run, (enum piece)(PIECE_CH + i)),
                                   .li = run->li,
                                   .lr = run->lr,
                                   .pre = run->slot[SLOT_PRE],
                                   .spec = run->spectrum,
                                   .factor = run->slot[SLOT_F],
                                   .slope = run->slot[SLOT_K1 + i],
                                   .out = run->spectrum,
                                   .zeros = zeros_of(run),
                                   .ld = run->ld,
                                   .ld_spec = run->ld_spec};
    for (int j = 0; j < i; j++)
        args.k[j] = run->slot[SLOT_K1 + j];
    return run->be->kernels->stage_turn_loss[i](run->be, &args, 0, run->c.rows, run->bins);
}

/* The new state into K3, the partial error into K2. */
static int pass_last(struct device_run *run)
{
    const struct step_last_args args = {
        .y = run->slot[SLOT_Y],
        .k = {run->slot[SLOT_K1], run->slot[SLOT_K3], run->slot[SLOT_K4], run->slot[SLOT_K5]},
        .hb = scalars_of(run, PIECE_LAST_HB),
        .he = scalars_of(run, PIECE_LAST_HE),
        .ch = scalars_of(run, (enum piece)(PIECE_CH + DEVICE_STAGES - 1)),
        .lr = run->lr,
        .pre = run->slot[SLOT_PRE],
        .factor = run->slot[SLOT_F],
        .spec = run->spectrum,
        .state = run->slot[SLOT_K3],
        .part = run->slot[SLOT_K2],
        .next = run->spectrum,
        .out = run->sums,
        .zeros = zeros_of(run),
        .ld = run->ld,
        .ld_spec = run->ld_spec};
    return run->be->kernels->step_last_loss(run->be, &args, 0, run->c.rows, run->bins);
}

static int pass_close(struct device_run *run)
{
    const struct step_close_args args = {.pre = run->slot[SLOT_PRE],
                                         .part = run->slot[SLOT_K2],
                                         .spec = run->spectrum,
                                         .k = run->slot[SLOT_K4],
                                         .last = scalars_of(run, PIECE_E7),
                                         .out = run->sums + run->c.rows,
                                         .ld = run->ld,
                                         .ld_spec = run->ld_spec};
    return run->be->kernels->step_close(run->be, &args, 0, run->c.rows, run->bins);
}

static int work(struct device_run *run)
{
    TRY(pass_entry(run));
    TRY(evaluate(run, 0));
    for (int i = 1; i < DEVICE_STAGES; i++) {
        TRY(pass_turn(run, i));
        TRY(evaluate(run, i));
    }
    TRY(pass_last(run));
    TRY(evaluate(run, DEVICE_STAGES));
    return pass_close(run);
}

/* The trial is taken: its state and slope change places with the old ones. */
static void take(struct device_run *run)
{
    static const int pairs[2][2] = {{SLOT_Y, SLOT_K3}, {SLOT_K1, SLOT_K4}};
    for (int i = 0; i < 2; i++) {
        double *const kept = run->slot[pairs[i][0]];
        run->slot[pairs[i][0]] = run->slot[pairs[i][1]];
        run->slot[pairs[i][1]] = kept;
    }
    run->odd = !run->odd;
}

/* Launches with the states where they lie now, and where they lie after the next trial. */
static int record(struct device_run *run)
{
    const struct device_ops *const device = run->be->ops->device;
    if (device == NULL)
        FAIL(ERR_UNSUPPORTED, "backend '%s' records nothing", run->be->ops->name);
    TRY(work(run)); /* plans of the batch are made outside */
    for (int i = 0; i < 2; i++) {
        TRY(device->record(run->be));
        const int rc = work(run);
        const int end = device->recorded(run->be, &run->recording[run->odd]);
        if (rc != 0 || end != 0)
            return rc != 0 ? rc : end;
        take(run);
    }
    return 0;
}

/* The states as the argument of N. */
static int join_states(struct device_run *run)
{
    const struct spectral_join_args join = {.in = run->slot[SLOT_Y],
                                            .out = run->spectrum,
                                            .zeros = zeros_of(run),
                                            .ld = run->ld,
                                            .ld_spec = run->ld_spec};
    return run->be->kernels->spectral_join(run->be, &join, 0, run->c.rows, run->bins);
}

int device_evaluate(struct device_run *run)
{
    TRY(join_states(run));
    return evaluate(run, 0);
}

int device_samples(struct device_run *run)
{
    TRY(join_states(run));
    return to_samples(run);
}

static int first_slopes(struct device_run *run)
{
    const struct step_open_args args = {.pre = run->slot[SLOT_PRE],
                                        .spec = run->spectrum,
                                        .k = run->slot[SLOT_K1],
                                        .out = run->sums,
                                        .ld = run->ld,
                                        .ld_spec = run->ld_spec};
    TRY(send_scalars(run));
    TRY(device_evaluate(run));
    return run->be->kernels->step_open(run->be, &args, 0, run->c.rows, run->bins);
}

static size_t states_bytes(const struct device_run *run)
{
    return (size_t)(run->c.rows * 2 * run->ld) * sizeof(double);
}

static int make_planes(struct device_run *run)
{
    if (run->c.planes == PLANES_FETCH)
        return run->be->ops->fetch_create(run->be, states_bytes(run), &run->fetch);
    if (run->c.planes == PLANES_DOWNLOAD)
        return MEM_NEW(run->c.rows * 2 * run->ld, &run->states_here);
    return 0;
}

static int fill(struct device_run *run)
{
    TRY(make_memory(run));
    TRY(device_load(run));
    TRY(first_slopes(run));
    TRY(make_planes(run));
    return run->c.recorded ? record(run) : 0;
}

int device_create(const struct device_case *c, struct backend *be, struct device_run *out)
{
    const long n = c->points;
    *out = (struct device_run){.c = *c, .be = be};
    if (c->rows < 1 || n < 256)
        FAIL(ERR_ARGUMENT, "a batch of %ld rows of %ld samples: at least 1 of 256", c->rows, n);
    const double top = 1.1 * 2.0 * PI * PULSE_C / 90e-9;
    out->bins = (long)ceil(top * (double)n * DT / (2.0 * PI));
    out->ld = backend_stride(out->bins, sizeof(double));
    out->ld_spec = backend_stride(n / 2 + 1, sizeof(cplx));
    out->ld_real = backend_stride(n, sizeof(double));
    out->ld_pad = backend_stride(n + 2 * COLUMN_PAD, sizeof(double));
    const int rc = fill(out);
    if (rc != 0)
        device_clear(out);
    return rc;
}

void device_clear(struct device_run *run)
{
    struct backend *const be = run->be;
    const struct backend_ops *const ops = be->ops;
    void *const memory[] = {run->li,     run->lr,      run->spectrum, run->samples,
                            run->window, run->spare,   run->scratch,  run->taps,
                            run->rate,   run->scalars, run->sums};
    for (int i = 0; i < 2 && ops->device != NULL; i++)
        ops->device->forget(be, run->recording[i]);
    for (int s = 0; s < DEVICE_SLOTS; s++)
        ops->release(be, run->slot[s]);
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        ops->release(be, memory[i]);
    ops->fft_destroy(be, run->forward);
    ops->fft_destroy(be, run->backward);
    mem_free(run->scalars_here);
    mem_free(run->sums_here);
    mem_free(run->states_here);
    ops->fetch_destroy(be, run->fetch);
    *run = (struct device_run){.be = be};
}

static int fetch_sums(struct device_run *run)
{
    const long count = run->c.rows * (has_plasma(run) ? 2 + COLUMN_SUMS : 2);
    return run->be->ops->download(run->be, run->sums_here, run->sums,
                                  (size_t)count * sizeof(double));
}

/* The fetch of the last trial ends when that of this one begins. */
static int save_planes(struct device_run *run)
{
    const struct backend_ops *const ops = run->be->ops;
    const void *data;
    if (run->c.planes == PLANES_DOWNLOAD)
        return ops->download(run->be, run->states_here, run->slot[SLOT_Y], states_bytes(run));
    if (run->c.planes == PLANES_STAY)
        return 0;
    if (run->fetching)
        TRY(ops->fetch_end(run->be, run->fetch, &data));
    run->fetching = true;
    return ops->fetch_begin(run->be, run->fetch, run->slot[SLOT_Y], states_bytes(run));
}

int device_trial(struct device_run *run)
{
    TRY(send_scalars(run));
    if (run->c.recorded)
        TRY(run->be->ops->device->replay(run->be, run->recording[run->odd]));
    else
        TRY(work(run));
    TRY(fetch_sums(run));
    take(run);
    return save_planes(run);
}

int device_copies(struct device_run *run)
{
    TRY(send_scalars(run));
    return fetch_sums(run);
}

int device_floor(struct device_run *run)
{
    for (int i = 0; i < STAGE; i++) {
        TRY(to_samples(run));
        TRY(to_spectra(run));
    }
    return 0;
}

int device_passes(struct device_run *run)
{
    TRY(pass_entry(run));
    for (int i = 1; i < DEVICE_STAGES; i++)
        TRY(pass_turn(run, i));
    TRY(pass_last(run));
    return pass_close(run);
}

int device_response(struct device_run *run)
{
    for (int i = 0; i < STAGE; i++)
        TRY(respond(run, i, run->spare));
    return 0;
}

double device_passes_bytes(const struct device_run *run)
{
    const double zeros = 16.0 * (double)(DEVICE_STAGES + 1) * (double)zeros_of(run).after;
    double bin = 32.0 + 16.0 + 32.0;                         /* entry */
    for (int i = 1; i < DEVICE_STAGES; i++)                  /* y and slopes, L, pre, spec */
        bin += 16.0 * (1.0 + i) + 16.0 + 32.0 + 32.0 + 32.0; /* factor, slope and out */
    bin += 80.0 + 8.0 + 48.0 + 48.0;                         /* last */
    bin += 48.0 + 16.0;                                      /* close */
    return (double)run->c.rows * (bin * (double)run->bins + zeros);
}

double device_response_bytes(const struct device_run *run)
{
    const double kerr_sample = 24.0; /* field, window, out */
    /* Rates, exposure and drive; current; response. */
    const double plasma_sample = 40.0 + 24.0 + 32.0;
    return (double)STAGE * (double)run->c.rows * (double)run->c.points
           * (has_plasma(run) ? plasma_sample : kerr_sample);
}

int device_states(struct device_run *run, double *out)
{
    const size_t bytes = (size_t)run->bins * sizeof(double);
    for (long r = 0; r < 2 * run->c.rows; r++)
        TRY(run->be->ops->download(run->be, out + r * run->bins,
                                   run->slot[SLOT_Y] + r * run->ld, bytes));
    return 0;
}

int device_spectra(struct device_run *run, double *out)
{
    const size_t bytes = (size_t)run->bins * sizeof(cplx);
    for (long r = 0; r < run->c.rows; r++)
        TRY(run->be->ops->download(run->be, out + 2 * r * run->bins,
                                   run->spectrum + r * run->ld_spec, bytes));
    return 0;
}
