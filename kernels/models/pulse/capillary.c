/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/capillary.h"

#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/capillary_info.h"
#include "kernels/models/pulse/capillary_model.h"
#include "kernels/models/pulse/capillary_notes.h"
#include "kernels/models/pulse/capillary_observe.h"
#include "kernels/models/pulse/grid.h"
#include "kernels/models/pulse/half_power.h"

enum capillary_axis { AXIS_OMEGA, AXIS_T, AXIS_PATH, CAPILLARY_AXES };
enum capillary_array { ARRAY_FIELD, ARRAY_PATH, CAPILLARY_ARRAYS };

enum rate_evaluation capillary_rate_evaluation(const struct capillary_point *point, int species)
{
    if (point->rate_table != NULL)
        return RESPONSE_RATE_FIELD;
    return point->rate[species].kind == RATE_PPT ? RESPONSE_RATE_CHANNEL : RESPONSE_RATE_ADK;
}

struct response_setup capillary_response_setup(const struct capillary_point *point,
                                               struct backend *be, int capacity)
{
    struct response_setup setup = {
        .backend = be,
        .n = point->grid.fine,
        .columns = capacity * CAPILLARY_NODES,
        .components = CAPILLARY_COMPONENTS,
        .rule = point->rule,
        .species = point->species,
        .third_harmonic = point->third_harmonic,
        .extra = point->raman,
        .envelope = point->envelope,
        .positions = CAPILLARY_POSITIONS,
        .scalars = {CAPILLARY_GROUPS,
                    {[GROUP_LEAN] = 1,
                     [GROUP_MIX] = 1,
                     [GROUP_WEIGHTS] = SPECTRAL_MIX,
                     [GROUP_WAY] = STEP_TERMS}},
        .sums = {CAPILLARY_SUMS, {[SUM_SQUARES] = 2, [SUM_EDGE] = 1, [SUM_LOSS] = 1}}};
    for (int i = 0; i < point->species; i++)
        setup.rate[i] = capillary_rate_evaluation(point, i);
    return setup;
}

int capillary_terms_most(const struct capillary_point *point)
{
    const bool taper = point->radius.count > 1;
    if (point->full && taper && point->pressure.count > 1)
        return CAPILLARY_TERMS;
    return point->full || taper || point->index_table != NULL ? CAPILLARY_FEW : 2;
}

/* Bins of the argument of N. */
static long spectrum_bins(const struct capillary_point *point)
{
    return point->envelope ? point->grid.fine : point->grid.fine / 2 + 1;
}

/* Whether a plane of such a point may need half a transform only. */
static bool reads_half(const struct capillary_point *point)
{
    return !point->envelope && half_power_sizes(point->grid.fine, point->grid.coarse);
}

/* The response as on a device, where each row has scratch of its own; a CPU's threads have what
 * one row has. */
static size_t response_bytes(const struct capillary_point *point)
{
    struct backend there = {.threads = 1, .apart = true};
    const struct response_setup setup = capillary_response_setup(point, &there, 1);
    return CAPILLARY_NODES * (response_column_bytes(&setup) + response_scratch_bytes(&setup));
}

/* The last line is the plane that leaves a device. */
static size_t row_bytes(const struct capillary_point *point)
{
    const struct real_grid *const g = &point->grid;
    const size_t bins = (size_t)real_grid_bins(g);
    const size_t fine = (size_t)g->fine;
    const size_t terms = (size_t)capillary_terms_most(point);
    const size_t samples = point->envelope ? 2 * fine : fine;
    const size_t edge = point->envelope ? 7 * fine : 4 * fine + 8;
    const size_t extra = (point->third_harmonic || point->envelope ? 0 : 2 * fine + 2)
                         + (point->time_length > 0.0 ? edge : 0)
                         + (point->raman ? 4 * fine + 8 * (fine + 1) : 0);
    return sizeof(struct capillary_row) + response_bytes(point)
           + CAPILLARY_MODES
                 * stepper_row_bytes(real_grid_bins(g), spectrum_bins(point), (int)terms)
           + (2 * samples + bins * (terms + 1) + extra) * sizeof(double)
           + ((size_t)stepper_split_stride((long)bins) + bins + 2 * fine) * sizeof(double);
}

static size_t shared_bytes(const struct capillary_point *point)
{
    const size_t bins = (size_t)real_grid_bins(&point->grid);
    const size_t fine = (size_t)point->grid.fine;
    struct backend alone = {.threads = 1}; /* a worker's, as far as a layout knows */
    const struct response_setup setup = capillary_response_setup(point, &alone, 1);
    return sizeof(struct model) + response_shared_bytes(&setup)
           + (point->envelope ? capillary_envelope_bytes(point) : 0)
           + (3 * fine + 4 * (size_t)spectrum_bins(point)
              + (6 + 2 * (size_t)capillary_terms_most(point)) * bins)
                 * sizeof(double);
}

static void describe_shapes(const struct capillary_point *point, struct plane_layout *out)
{
    out->progress_name = "z";
    out->progress_unit = "m";
    out->progress_doc = "Position along the capillary";
    out->span = point->length;
    out->axes = CAPILLARY_AXES;
    out->axis[AXIS_OMEGA] =
        (struct layout_axis){"omega", "rad s^-1", "Angular frequency, 2 pi k/T",
                             real_grid_bins(&point->grid), AXIS_OMEGA};
    out->axis[AXIS_T] = (struct layout_axis){
        "t", "s", "Time of the coarse samples, in the frame of the carrier's group velocity",
        point->grid.coarse, AXIS_T};
    out->axis[AXIS_PATH] = (struct layout_axis){
        "integral", "1", "Number of an integral along the way", CAPILLARY_PATHS, AXIS_PATH};
    out->arrays = CAPILLARY_ARRAYS;
    out->array[ARRAY_FIELD] = (struct layout_array){
        "field",      "W^0.5", "Spectral amplitude a = rfft(A)/n of the real field",
        ELEMENT_C128, true,    1,
        {AXIS_OMEGA}};
    out->array[ARRAY_PATH] = (struct layout_array){
        "path",
        "1",
        "Integrals so far: ionisation_loss [J], absorbed [J], b_integral [rad]; to go on from",
        ELEMENT_F64,
        true,
        1,
        {AXIS_PATH}};
    out->observables = CAPILLARY_OBSERVABLES;
}

static int layout_medium(const struct capillary_point *point, struct capillary_medium *medium,
                         struct plane_layout *out)
{
    TRY(capillary_medium_init(point, medium));
    TRY(capillary_check_field(point, medium));
    const double rhs = capillary_predicted_rhs(point, medium, out->planes);
    const double n = (double)point->grid.fine * (point->envelope ? 2.0 : 1.0); /* numbers */
    out->transforms = rhs * capillary_transforms(point);
    out->transform_length = point->envelope ? point->grid.fine : point->grid.fine / 2;
    out->work = rhs * capillary_predicted_cost(point) * n * log2(n);
    return capillary_notes(point, medium, out);
}

static int capillary_layout(const struct params *params, struct plane_layout *out)
{
    struct capillary_point point;
    struct capillary_medium medium = {0};
    TRY(capillary_point_read(params, &point));
    const long planes = params->planes.kind == PLANES_LAST ? 1 : params->planes.count;
    if (planes < 1)
        FAIL(ERR_ARGUMENT, "save.planes: %ld planes; at least one is needed", planes);
    TRY(capillary_planes_check(&params->planes, &point));
    *out = (struct plane_layout){
        .planes = planes,
        .state_bytes = stepper_state_bytes(CAPILLARY_MODES * real_grid_bins(&point.grid))
                       + capillary_tail_bytes(),
        .shared_bytes = shared_bytes(&point),
        .row_bytes = row_bytes(&point)};
    describe_shapes(&point, out);
    const int rc = layout_medium(&point, &medium, out);
    capillary_medium_clear(&medium);
    if (rc == 0)
        capillary_notes_unused(params, &point, out);
    return rc;
}

static int capillary_axis(const struct params *params, int axis, double *values)
{
    struct capillary_point point;
    TRY(capillary_point_read(params, &point));
    if (axis < 0 || axis >= CAPILLARY_AXES)
        FAIL(ERR_BUG, "capillary has no axis %d", axis);
    if (axis == AXIS_T) {
        pulse_grid_time(values, point.grid.coarse, point.grid.window);
        return 0;
    }
    const long count = axis == AXIS_OMEGA ? real_grid_bins(&point.grid) : CAPILLARY_PATHS;
    for (long i = 0; i < count; i++)
        values[i] = axis == AXIS_OMEGA ? real_grid_omega(&point.grid, i) : (double)i;
    return 0;
}

/* Bins where the spectral window is zero. */
static int capillary_zeros(const struct params *params, int array, uint8_t *zero)
{
    struct capillary_point point;
    TRY(capillary_point_read(params, &point));
    for (long k = 0; array == ARRAY_FIELD && k < real_grid_bins(&point.grid); k++)
        zero[k] = k < point.grid.first || k >= point.grid.last ? 1 : 0;
    return 0;
}

static void destroy_row(struct capillary_row *row)
{
    capillary_medium_clear(&row->medium);
    mem_free(row->positions);
}

static void destroy_rows(struct model *m)
{
    for (int r = 0; r < m->capacity && m->row != NULL; r++)
        destroy_row(&m->row[r]);
    for (int i = 0; i < m->capacity * m->species && m->rate != NULL; i++)
        rate_table_destroy(m->rate[i].table);
    mem_free(m->row);
    mem_free(m->rate);
}

static void capillary_destroy(struct model *m)
{
    if (m == NULL)
        return;
    struct backend *const be = m->be;
    stepper_destroy(m->stepper);
    plane_fetch_destroy(m->leaving);
    response_destroy(m->response);
    capillary_envelope_destroy(m);
    destroy_rows(m);
    void *const rows[] = {m->tilt,        m->loss,          m->scalars,   m->rate_edge,
                          m->lost,        m->lost_spectrum, m->factor,    m->samples,
                          m->quadrature,  m->turned,        m->square,    m->delayed,
                          m->half,        m->signal[0],     m->signal[1], m->transfer[0],
                          m->transfer[1], m->transfer[2],   m->reply};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        be->ops->release(be, rows[i]);
    struct fft *const plans[] = {m->forward, m->backward, m->long_forward, m->long_backward,
                                 m->half_backward};
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++)
        be->ops->fft_destroy(be, plans[i]);
    void *const host[] = {m->field, m->pre,    m->scratch, m->li,
                          m->lr,    m->window, m->doubled, m->state};
    for (size_t i = 0; i < sizeof host / sizeof host[0]; i++)
        mem_free(host[i]);
    host_fft_destroy(m->input);
    mem_free(m);
}

static int create_host(struct model *m)
{
    TRY(MEM_NEW(m->bins, &m->field));
    TRY(MEM_NEW(m->bins, &m->pre));
    TRY(MEM_NEW(m->fine, &m->scratch));
    TRY(MEM_NEW(m->terms * m->bins, &m->li));
    TRY(MEM_NEW(m->terms * m->bins, &m->lr));
    TRY(MEM_NEW(m->fine, &m->window));
    TRY(MEM_NEW(m->capacity * m->species, &m->rate));
    TRY(MEM_NEW(m->capacity, &m->row));
    for (int r = 0; r < m->capacity; r++)
        TRY(MEM_NEW(m->planes, &m->row[r].positions));
    return host_fft_create(m->fine, &m->input);
}

static int create_long_rows(struct model *m)
{
    struct backend *const be = m->be;
    const long n = m->capacity;
    TRY(MEM_NEW(2 * m->fine + 2, &m->doubled));
    TRY(be->ops->alloc(be, n * m->ld_long, sizeof(double), (void **)&m->square));
    TRY(be->ops->alloc(be, n * m->ld_long, sizeof(double), (void **)&m->delayed));
    TRY(be->ops->alloc(be, n * m->ld_half, sizeof(cplx), (void **)&m->half));
    for (int k = 0; k < RAMAN_MIX_MAX; k++)
        TRY(be->ops->alloc(be, n * m->ld_half, sizeof(cplx), (void **)&m->transfer[k]));
    TRY(be->ops->fft_create(be, FFT_R2C, 2 * m->fine, &m->long_forward));
    return be->ops->fft_create(be, FFT_C2R, 2 * m->fine, &m->long_backward);
}

static int create_edge(struct model *m)
{
    struct backend *const be = m->be;
    const long n = m->capacity;
    TRY(be->ops->alloc(be, n * m->ld_real, sizeof(double), (void **)&m->rate_edge));
    TRY(be->ops->alloc(be, n * m->ld, sizeof(cplx), (void **)&m->lost_spectrum));
    TRY(be->ops->alloc(be, n * m->ld, sizeof(cplx), (void **)&m->factor));
    if (m->is_envelope)
        return 0;
    return be->ops->alloc(be, n * m->ld_real, sizeof(double), (void **)&m->lost);
}

static int create_quadrature(struct model *m)
{
    struct backend *const be = m->be;
    TRY(be->ops->alloc(be, m->capacity * m->ld_real, sizeof(double), (void **)&m->quadrature));
    return be->ops->alloc(be, m->capacity * m->ld, sizeof(cplx), (void **)&m->turned);
}

/* Samples of the real field. */
static int create_samples(struct model *m, const struct capillary_point *point)
{
    struct backend *const be = m->be;
    const long count = m->capacity * m->ld_real;
    TRY(be->ops->alloc(be, count, sizeof(double), (void **)&m->samples));
    TRY(be->ops->alloc(be, count, sizeof(double), (void **)&m->reply));
    TRY(be->ops->fft_create(be, FFT_R2C, m->fine, &m->forward));
    TRY(be->ops->fft_create(be, FFT_C2R, m->fine, &m->backward));
    /* A device has the whole transform for little, and each reading of samples costs it much.
     */
    if (reads_half(point) && !be->apart)
        TRY(be->ops->fft_create(be, FFT_C2R, m->fine / 2, &m->half_backward));
    return m->third_harmonic ? 0 : create_quadrature(m);
}

static int create_rows(struct model *m, const struct capillary_point *point)
{
    struct backend *const be = m->be;
    TRY(m->is_envelope ? capillary_envelope_create(m, point) : create_samples(m, point));
    for (int i = 0; i < 2; i++)
        TRY(be->ops->alloc(be, m->ld, sizeof(cplx), (void **)&m->signal[i]));
    TRY(be->ops->alloc(be, m->capacity * m->ld_tilt, sizeof(double), (void **)&m->tilt));
    TRY(be->ops->alloc(be, (long)m->capacity * m->terms * m->ld_tilt, sizeof(double),
                       (void **)&m->loss));
    TRY(be->ops->alloc(be, CAPILLARY_SCALARS, sizeof(double), (void **)&m->scalars));
    if (m->edge)
        TRY(create_edge(m));
    return m->raman ? create_long_rows(m) : 0;
}

/* The imaginary part of the analytic signal of a real field into m->signal[1], on all fine
 * samples or, with `half`, on every second one: -i times the spectrum, back. */
static int find_quadrature(struct model *m, int row, bool half)
{
    struct backend *const be = m->be;
    const long bins = (half ? m->fine / 2 : m->fine) / 2 + 1;
    const long n = bins < m->bins ? bins : m->bins; /* what is above is zero */
    struct spectral_join_args turn = {
        .out = m->signal[0], .zeros = {0, bins - n}, .ld_spec = m->ld};
    turn.in = stepper_split(m->stepper, row, &turn.ld);
    TRY(be->kernels->spectral_quarter(be, &turn, 0, 1, n));
    return capillary_transform(m, half ? m->half_backward : m->backward, m->signal[0], m->ld,
                               m->signal[1], m->ld_real);
}

/* The samples of a real field, where no right-hand side has left them: before the first step.
 */
static int find_samples(struct model *m, int row)
{
    cplx *field;
    TRY(stepper_field(m->stepper, row, &field));
    return capillary_transform(m, m->backward, field, m->ld, m->samples + row * m->ld_real,
                               m->ld_real);
}

/* Where the imaginary part of the analytic signal lies. Without third harmonic that of the
 * right-hand side is it. */
static int place_quadrature(struct model *m, int row, const double **out)
{
    const bool known = m->row[row].fresh && !m->third_harmonic;
    if (!known)
        TRY(find_quadrature(m, row, false));
    *out = known ? m->quadrature + row * m->ld_real : (double *)m->signal[1];
    return 0;
}

/* The power |A_analytic|^2 of a real field into m->window. */
static int make_power(struct model *m, int row, const struct capillary_seen *seen)
{
    struct backend *const be = m->be;
    const size_t bytes = (size_t)m->fine * sizeof(double);
    double *const power = m->window;
    const double *samples = seen->piece[PIECE_SAMPLES];
    const double *quadrature = seen->piece[PIECE_QUADRATURE];
    if (!seen->here) {
        TRY(place_quadrature(m, row, &quadrature));
        TRY(be->ops->download(be, power, quadrature, bytes));
        TRY(be->ops->download(be, m->scratch, m->samples + row * m->ld_real, bytes));
        samples = (const double *)m->scratch;
        quadrature = power;
    }
    for (long j = 0; j < m->fine; j++)
        power[j] = samples[j] * samples[j] + quadrature[j] * quadrature[j];
    return 0;
}

/* What follows from the power. The samples of a state that a step led to are those of the
 * right-hand side there. */
static int observe_power(struct model *m, int row, const struct capillary_seen *seen,
                         double *values)
{
    const struct capillary_row *const r = &m->row[row];
    const bool known = r->fresh && !m->third_harmonic;
    if (!m->is_envelope && !r->fresh && !seen->here)
        TRY(find_samples(m, row));
    if (!known && m->half_backward != NULL && half_power_fits(&r->point.grid)) {
        struct half_power h = {.be = m->be,
                               .samples = m->samples + row * m->ld_real,
                               .quadrature = (double *)m->signal[1],
                               .work = (double *)m->signal[0],
                               .blocks = m->window};
        TRY(find_quadrature(m, row, true));
        TRY(half_power_init(&r->point.grid, &h));
        return half_power_observe(&r->point, &h, values);
    }
    TRY(m->is_envelope ? capillary_envelope_power(m, row, seen) : make_power(m, row, seen));
    capillary_observe_power(&r->point, m->window, values);
    return 0;
}

/* The chirp, by angles between neighbouring bins on the backend. */
static int observe_chirp(struct model *m, int row, const struct capillary_pairs *pairs,
                         double *values)
{
    struct backend *const be = m->be;
    const struct real_grid *const grid = &m->row[row].point.grid;
    double *const size = (double *)m->signal[1];
    double *const out = (double *)m->signal[0];
    double sums[CAPILLARY_LINE] = {0.0};
    long ld;
    const double *const state = stepper_split(m->stepper, row, &ld);
    const double mean = values[CAPILLARY_OMEGA_MEAN] / real_grid_omega(grid, 1);
    const double numbers[CAPILLARY_SCALARS] = {
        [SCALAR_SHIFT] = (double)pairs->from + 0.5 - mean, [SCALAR_LEAST] = pairs->least};
    const struct spectral_turn_args turn = {.in = state + pairs->from,
                                            .next = state + pairs->from + 1,
                                            .size = size,
                                            .angle = size + m->ld,
                                            .ld = ld,
                                            .ld_real = m->ld};
    const struct spectral_line_args weight = {.size = size,
                                              .angle = size + m->ld,
                                              .shift = m->scalars + SCALAR_SHIFT,
                                              .least = m->scalars + SCALAR_LEAST,
                                              .out = out,
                                              .ld = m->ld};
    struct spectral_line_args moment = weight;
    moment.out = out + LINE_SLOPE;
    if (pairs->count > 0) {
        TRY(be->ops->upload(be, m->scalars, numbers, sizeof numbers));
        TRY(be->kernels->spectral_turn(be, &turn, 0, 1, pairs->count));
        TRY(be->kernels->spectral_weight(be, &weight, 0, 1, pairs->count));
        TRY(be->kernels->spectral_moment(be, &moment, 0, 1, pairs->count));
        TRY(be->ops->download(be, sums, out, sizeof sums));
    }
    values[CAPILLARY_CHIRP] = capillary_observe_chirp(grid, sums);
    return 0;
}

/* The row's state on the host: real parts, and behind them the imaginary ones. */
static int find_state(struct model *m, int row, const struct capillary_seen *seen,
                      const double **real, const double **imaginary)
{
    long ld;
    const double *const split = stepper_split(m->stepper, row, &ld);
    *real = seen->here ? seen->piece[PIECE_STATE] : m->state;
    *imaginary = *real + ld;
    return seen->here ? 0
                      : m->be->ops->download(m->be, m->state, split,
                                             (size_t)(ld + m->bins) * sizeof(double));
}

static void join(const double *restrict real, const double *restrict imaginary, long n,
                 cplx *restrict out)
{
#pragma omp simd
    for (long k = 0; k < n; k++)
        out[k] = cplx_make(real[k], imaginary[k]);
}

/* What follows from the spectrum, and the spectrum itself where it is wanted; `pairs` receives
 * those of the chirp. */
static int observe_spectrum(struct model *m, int row, const struct capillary_seen *seen,
                            struct plane_buffers *out, struct capillary_pairs *pairs)
{
    const struct capillary_row *const r = &m->row[row];
    const double *real;
    const double *imaginary;
    cplx *const field = out->array[ARRAY_FIELD];
    TRY(find_state(m, row, seen, &real, &imaginary));
    if (field != NULL)
        join(real, imaginary, m->bins, field);
    capillary_observe_powers(&r->point, real, imaginary, m->window);
    capillary_observe_spectrum(&r->point, m->window, out->observable, pairs);
    return 0;
}

static struct capillary_place place_of_plane(const struct model *m, int row)
{
    const struct capillary_row *const r = &m->row[row];
    return capillary_medium_place(&r->medium, r->positions[stepper_plane(m->stepper, row)]);
}

/* Plasma after the pulse, by the column that the steps use, where no step led to the state. */
static int find_plasma(struct model *m, int row, const struct capillary_place *at)
{
    struct row_status apart = {0};
    struct capillary_row *const r = &m->row[row];
    const struct response_factors factors = capillary_factors(r, at);
    /* The plasma needs the field alone; what else there is of the response is not read. */
    const struct response_rows rows = {
        .samples = m->samples + row * m->ld_real,
        .out = m->reply + row * m->ld_real,
        .ld = m->ld_real,
        .quadrature = m->third_harmonic ? NULL : m->quadrature + row * m->ld_real,
        .extra = m->raman ? m->delayed + row * m->ld_long : NULL,
        .ld_extra = m->ld_long};
    TRY(response_apply(m->response, row, &factors, &rows, &apart));
    return response_report(m->response, row, &r->report);
}

/* Of a state that a step led to, what the plasma has seen there. */
static void observe_plasma(const struct model *m, int row, const struct capillary_place *at,
                           double *values)
{
    const struct response_report *const report = &m->row[row].report;
    values[CAPILLARY_IONISED_FRACTION] = report->electrons;
    values[CAPILLARY_ELECTRON_DENSITY] = report->electrons * at->at.rho;
    values[CAPILLARY_SATURATED] = (double)report->saturated;
    values[CAPILLARY_UNDERSHOOT] = (double)report->undershoot;
}

static int capillary_plane(struct model *m, int row, struct plane_buffers *out)
{
    struct capillary_row *const r = &m->row[row];
    const struct capillary_place at = place_of_plane(m, row);
    struct capillary_pairs pairs;
    struct capillary_seen seen = {.here = false};
    TRY(plane_fetch_wait(m->leaving, row, seen.piece, &seen.here));
    TRY(observe_spectrum(m, row, &seen, out, &pairs));
    TRY(observe_power(m, row, &seen, out->observable));
    if (m->rule != PLASMA_NONE && !r->fresh && !seen.here)
        TRY(find_plasma(m, row, &at));
    observe_plasma(m, row, &at, out->observable);
    /* Last: it comes behind a trial that is under way. */
    TRY(observe_chirp(m, row, &pairs, out->observable));
    out->observable[CAPILLARY_DENSITY] = at.at.rho;
    out->observable[CAPILLARY_IONISATION_LOSS] = r->path[PATH_IONISATION];
    out->observable[CAPILLARY_ABSORBED] = r->path[PATH_ABSORBED];
    out->observable[CAPILLARY_B_INTEGRAL] = r->path[PATH_B];
    if (out->array[ARRAY_PATH] != NULL)
        memcpy(out->array[ARRAY_PATH], r->path, sizeof r->path);
    return 0;
}

/* A row that stands on a plane: all but its chirp leaves. The plasma before the first step is
 * waited for, once a member. */
static int leave(struct model *m, int row)
{
    struct capillary_row *const r = &m->row[row];
    const double *quadrature;
    long ld;
    const double *const split = stepper_split(m->stepper, row, &ld);
    TRY(plane_fetch_clear(m->leaving, row));
    TRY(plane_fetch_take(m->leaving, row, PIECE_STATE, split));
    if (m->is_envelope) {
        if (!r->fresh)
            TRY(capillary_envelope_samples(m, row));
        TRY(plane_fetch_take(m->leaving, row, PIECE_SAMPLES,
                             m->envelope.samples + row * m->ld));
    } else {
        if (!r->fresh)
            TRY(find_samples(m, row));
        TRY(place_quadrature(m, row, &quadrature));
        TRY(plane_fetch_take(m->leaving, row, PIECE_SAMPLES, m->samples + row * m->ld_real));
        TRY(plane_fetch_take(m->leaving, row, PIECE_QUADRATURE, quadrature));
    }
    if (m->rule == PLASMA_NONE || r->fresh)
        return 0;
    const struct capillary_place at = place_of_plane(m, row);
    return find_plasma(m, row, &at);
}

static int capillary_settled(void *model, long row, long rows, const bool *on)
{
    for (long r = row; r < row + rows; r++)
        if (on[r - row])
            TRY(leave(model, (int)r));
    return 0;
}

/* The pieces of a plane that leave. */
static int create_leaving(struct model *m)
{
    const size_t size = m->is_envelope ? sizeof(cplx) : sizeof(double);
    const size_t samples = (size_t)m->fine * size;
    const size_t bytes[CAPILLARY_PIECES] = {
        [PIECE_STATE] = (size_t)(stepper_split_stride(m->bins) + m->bins) * sizeof(double),
        [PIECE_SAMPLES] = samples,
        [PIECE_QUADRATURE] = samples};
    const int pieces = m->is_envelope ? PIECE_QUADRATURE : CAPILLARY_PIECES;
    return m->be->apart ? plane_fetch_create(m->be, m->capacity, pieces, bytes, &m->leaving)
                        : 0;
}

static int create_parts(struct model *m, const struct capillary_point *point)
{
    TRY(create_host(m));
    TRY(create_rows(m, point));
    TRY(create_leaving(m));
    const struct response_setup response = capillary_response_setup(point, m->be, m->capacity);
    TRY(response_create(&response, &m->response));
    const struct stepper_setup setup = {
        .backend = m->be,
        .rows = m->capacity,
        .n = m->bins,
        .planes = m->planes,
        .spectrum = m->spectrum,
        .terms = m->terms,
        .group = CAPILLARY_MODES,
        .system = {.model = m,
                   .nonlinear =
                       m->is_envelope ? capillary_envelope_nonlinear : capillary_nonlinear,
                   .transforms = capillary_transforms(point),
                   .path = capillary_path,
                   .gather = capillary_gather,
                   .settled = capillary_settled,
                   .accepted = capillary_accepted}};
    long ld;
    TRY(stepper_create(&setup, &m->stepper));
    (void)stepper_split(m->stepper, 0, &ld);
    return MEM_NEW(2 * ld, &m->state);
}

static int capillary_create(const struct params *params, struct backend *backend, int capacity,
                            struct model **out)
{
    *out = NULL;
    struct capillary_point point;
    TRY(capillary_point_read(params, &point));
    struct model *m;
    TRY(MEM_NEW(1, &m));
    m->be = backend;
    m->capacity = capacity;
    m->bins = real_grid_bins(&point.grid);
    m->fine = point.grid.fine;
    m->spectrum = spectrum_bins(&point);
    m->planes = params->planes.kind == PLANES_LAST ? 1 : params->planes.count;
    m->terms = capillary_terms_most(&point);
    m->rule = point.rule;
    m->species = point.species;
    for (int i = 0; i < m->species; i++)
        m->evaluation[i] = capillary_rate_evaluation(&point, i);
    m->third_harmonic = point.third_harmonic;
    m->raman = point.raman;
    m->edge = point.time_length > 0.0;
    m->is_envelope = point.envelope;
    m->ld = backend_stride(m->spectrum, sizeof(cplx));
    m->ld_tilt = backend_stride(m->bins, sizeof(double));
    m->ld_real = backend_stride(m->fine, sizeof(double));
    m->ld_long = backend_stride(2 * m->fine, sizeof(double));
    m->ld_half = backend_stride(m->fine + 1, sizeof(cplx));
    const int rc = create_parts(m, &point);
    if (rc != 0)
        capillary_destroy(m);
    else
        *out = m;
    return rc;
}

static int capillary_advance(struct model *m, struct run_control *control,
                             struct row_status *st)
{
    for (int r = 0; r < m->capacity; r++)
        if (!st[r].plane_ready)
            TRY(plane_fetch_clear(m->leaving, r)); /* it leaves the plane */
    return stepper_advance(m->stepper, control, st);
}

static int capillary_state(struct model *m, int row, struct state_out *out)
{
    const struct capillary_row *const r = &m->row[row];
    const size_t tail = capillary_tail_bytes();
    TRY(stepper_save(m->stepper, row, out));
    if (out->capacity < out->length + tail)
        FAIL(ERR_ARGUMENT, "state of a row needs %zu bytes; %zu are given", out->length + tail,
             out->capacity);
    capillary_tail_write(r->path, r->now, (char *)out->bytes + out->length);
    out->length += tail;
    return 0;
}

static int capillary_from_plane(const struct params *params, long plane,
                                const struct plane_buffers *in, struct state_out *out)
{
    struct capillary_point point;
    const size_t tail = capillary_tail_bytes();
    TRY(capillary_point_read(params, &point));
    if (in->array[ARRAY_FIELD] == NULL || in->array[ARRAY_PATH] == NULL)
        FAIL(ERR_ARGUMENT, "capillary continues from a stored field and its integrals only");
    const struct plane_layout layout = {.span = point.length};
    const double z = layout_plane_position(&layout, &params->planes, plane);
    TRY(stepper_state_at(real_grid_bins(&point.grid), plane, z, in->array[ARRAY_FIELD], out));
    if (out->capacity < out->length + tail)
        FAIL(ERR_ARGUMENT, "state of a row needs %zu bytes; %zu are given", out->length + tail,
             out->capacity);
    capillary_tail_write(in->array[ARRAY_PATH], NULL, (char *)out->bytes + out->length);
    out->length += tail;
    return 0;
}

void capillary_set_schedule(struct model *m, int row, const double *lengths, long count)
{
    stepper_set_schedule(m->stepper, row, lengths, count);
}

const struct model_ops capillary_ops = {.abi = {MODEL_ABI_VERSION, sizeof(struct model_ops)},
                                        .info = &capillary_info,
                                        .layout = capillary_layout,
                                        .axis = capillary_axis,
                                        .create = capillary_create,
                                        .load = capillary_load,
                                        .advance = capillary_advance,
                                        .plane = capillary_plane,
                                        .state = capillary_state,
                                        .from_plane = capillary_from_plane,
                                        .destroy = capillary_destroy,
                                        .zeros = capillary_zeros};
