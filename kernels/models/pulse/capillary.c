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

/* As on a device, which has a copy of the plane that leaves. */
static size_t row_bytes(const struct capillary_point *point)
{
    size_t pieces[PLANE_PIECES];
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
           + plane_fetch_bytes(capillary_pieces(point, pieces), pieces)
           + CAPILLARY_MODES
                 * stepper_row_bytes(real_grid_bins(g), spectrum_bins(point), (int)terms)
           + (2 * samples + bins * (terms + 1) + extra) * sizeof(double);
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
              + (5 + 2 * (size_t)capillary_terms_most(point)) * bins)
                 * sizeof(double);
}

/* On a device. */
static void describe_plans(const struct capillary_point *point, struct plane_layout *out)
{
    const long fine = point->grid.fine;
    layout_add_plan(out, point->envelope ? FFT_C2C_FORWARD : FFT_R2C, fine);
    layout_add_plan(out, point->envelope ? FFT_C2C_BACKWARD : FFT_C2R, fine);
    if (!point->raman)
        return;
    layout_add_plan(out, FFT_R2C, 2 * fine);
    layout_add_plan(out, FFT_C2R, 2 * fine);
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
    describe_plans(&point, out);
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
    stepper_destroy(m->stepper); /* first: a trial may be under way in the rows */
    plane_fetch_destroy(m->planes_out);
    response_destroy(m->response);
    capillary_envelope_destroy(m);
    destroy_rows(m);
    void *const rows[] = {m->tilt,        m->loss,          m->scalars, m->rate_edge,
                          m->lost,        m->lost_spectrum, m->factor,  m->samples,
                          m->quadrature,  m->turned,        m->square,  m->delayed,
                          m->half,        m->work,          m->over,    m->transfer[0],
                          m->transfer[1], m->transfer[2],   m->reply};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        be->ops->release(be, rows[i]);
    struct fft *const plans[] = {m->forward, m->backward, m->long_forward, m->long_backward,
                                 m->half_backward};
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++)
        be->ops->fft_destroy(be, plans[i]);
    void *const host[] = {m->field, m->pre, m->scratch, m->li, m->lr, m->window, m->doubled};
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
    const struct fft_shape there = {FFT_R2C, 2 * m->fine, n, m->ld_long, m->ld_half};
    const struct fft_shape back = {FFT_C2R, 2 * m->fine, n, m->ld_half, m->ld_long};
    TRY(backend_fft_create(be, &there, &m->long_forward));
    return backend_fft_create(be, &back, &m->long_backward);
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
    const struct fft_shape forward = {FFT_R2C, m->fine, m->capacity, m->ld_real, m->ld};
    const struct fft_shape backward = {FFT_C2R, m->fine, m->capacity, m->ld, m->ld_real};
    TRY(backend_fft_create(be, &forward, &m->forward));
    TRY(backend_fft_create(be, &backward, &m->backward));
    /* A device has the whole transform for little, and each reading of samples costs it much.
     */
    if (reads_half(point) && !be->apart)
        TRY(be->ops->fft_create(be, FFT_C2R, m->fine / 2, &m->half_backward));
    return m->third_harmonic ? 0 : create_quadrature(m);
}

/* What the passes of a plane need where they are launched when it is asked for: their room,
 * their numbers, the table of 1/k. */
static int create_passes(struct model *m)
{
    double *const over = m->window;
    TRY(m->be->ops->alloc(m->be, m->ld, sizeof(cplx), (void **)&m->work));
    TRY(m->be->ops->alloc(m->be, CAPILLARY_SCALARS, sizeof(double), (void **)&m->scalars));
    for (long k = 0; k < m->bins; k++)
        over[k] = k > 0 ? 1.0 / (double)k : 0.0;
    TRY(m->be->ops->alloc(m->be, m->ld_tilt, sizeof(double), (void **)&m->over));
    return m->be->ops->upload(m->be, m->over, over, (size_t)m->bins * sizeof *over);
}

static int create_rows(struct model *m, const struct capillary_point *point)
{
    struct backend *const be = m->be;
    TRY(m->is_envelope ? capillary_envelope_create(m, point) : create_samples(m, point));
    if (!be->apart)
        TRY(create_passes(m));
    TRY(be->ops->alloc(be, m->capacity * m->ld_tilt, sizeof(double), (void **)&m->tilt));
    TRY(be->ops->alloc(be, (long)m->capacity * m->terms * m->ld_tilt, sizeof(double),
                       (void **)&m->loss));
    if (m->edge)
        TRY(create_edge(m));
    return m->raman ? create_long_rows(m) : 0;
}

static int create_fetches(struct model *m, const struct capillary_point *point)
{
    size_t bytes[PLANE_PIECES];
    const int pieces = capillary_pieces(point, bytes);
    return m->be->apart ? plane_fetch_create(m->be, m->capacity, pieces, bytes, &m->planes_out)
                        : 0;
}

static int create_parts(struct model *m, const struct capillary_point *point)
{
    TRY(create_fetches(m, point));
    TRY(create_host(m));
    TRY(create_rows(m, point));
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
                   .accepted = capillary_accepted,
                   .settled = capillary_settled}};
    return stepper_create(&setup, &m->stepper);
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
            TRY(plane_fetch_clear(m->planes_out, r)); /* it leaves the plane */
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
