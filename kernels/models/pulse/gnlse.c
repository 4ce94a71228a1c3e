/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/gnlse.h"

#include <math.h>
#include <string.h>

#include "kernels/backend.h"
#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/dispersion_table.h"
#include "kernels/models/pulse/earlier.h"
#include "kernels/models/pulse/gnlse_info.h"
#include "kernels/models/pulse/gnlse_notes.h"
#include "kernels/models/pulse/gnlse_params.h"
#include "kernels/models/pulse/grid.h"
#include "kernels/models/pulse/input.h"
#include "kernels/models/pulse/linear.h"
#include "kernels/models/pulse/measured.h"
#include "kernels/models/pulse/noise.h"
#include "kernels/models/pulse/observables.h"
#include "kernels/models/pulse/perturb.h"
#include "kernels/models/pulse/plane_fetch.h"
#include "kernels/models/pulse/raman_silica.h"
#include "kernels/numeric/host_fft.h"
#include "kernels/step/rk45.h"

/* What a plane is made from. */
enum gnlse_piece { PIECE_SPECTRUM, PIECE_SAMPLES, GNLSE_PIECES };

enum gnlse_axis { AXIS_OMEGA, AXIS_OMEGA_RELATIVE, AXIS_T, GNLSE_AXES };

/* Host memory of load and plane, made once. */
struct gnlse_host {
    cplx *spectrum;    /* [n] */
    cplx *further;     /* [n] a further pulse */
    cplx *samples;     /* [n] */
    cplx *pre;         /* [n] */
    double *li;        /* [n] */
    double *lr;        /* [n] */
    double *real;      /* [n] */
    double *positions; /* [planes] */
};

/* Rows on the backend, beside the stepper's. */
struct gnlse_rows {
    cplx *samples;       /* [rows][ld] A(t) */
    double *power;       /* [rows][ld_real] |A|^2, then the response; Raman only */
    cplx *half;          /* [rows][ld_half] its spectrum; Raman only */
    cplx *transfer;      /* [rows][ld_half]; Raman only */
    double *edge;        /* [rows][ld_real] temporal absorber; absorber only */
    cplx *lost;          /* [rows][ld] edge A; absorber only */
    cplx *lost_spectrum; /* [rows][ld]; absorber only */
    cplx *pre; /* [rows][ld] prefactor, when the stepper's is only the mask; absorber only */
};

struct model {
    struct backend *be;
    int capacity;
    long n;
    long planes;
    bool raman;
    double raman_scale; /* of the vibrations of silica, 1/s */
    bool absorber;
    long ld, ld_real, ld_half;
    struct fft *forward, *backward, *real_forward, *real_backward;
    struct host_fft *input; /* of load: the same bits in every process */
    struct gnlse_rows rows;
    struct gnlse_host host;
    struct gnlse_point *point; /* [capacity] */
    struct stepper *stepper;
    struct plane_fetch *planes_out; /* NULL where the host reaches the rows */
};

/* As on a device, which has a copy of the plane that leaves. */
static size_t gnlse_row_bytes(const struct gnlse_point *point)
{
    const size_t full = (size_t)backend_stride(point->n, sizeof(cplx)) * sizeof(cplx);
    const size_t real = (size_t)backend_stride(point->n, sizeof(double)) * sizeof(double);
    const size_t half = (size_t)backend_stride(point->n / 2 + 1, sizeof(cplx)) * sizeof(cplx);
    return sizeof(struct gnlse_point) + full + GNLSE_PIECES * full
           + (point->raman ? real + 2 * half : 0) + (point->absorber ? real + 3 * full : 0);
}

/* The dispersion table of a point, when its file was read. */
static int make_table(struct gnlse_point *point, struct dispersion_table **out)
{
    *out = NULL;
    if (point->dispersion == NULL || point->dispersion->arrays == 0)
        return 0;
    TRY(dispersion_table_create(point->dispersion, point->omega0, out));
    point->table = *out;
    return 0;
}

static int gnlse_layout(const struct params *params, struct plane_layout *out)
{
    struct gnlse_point point;
    TRY(gnlse_point_read(params, &point));
    const long planes = params->planes.kind == PLANES_LAST ? 1 : params->planes.count;
    if (planes < 1)
        FAIL(ERR_ARGUMENT, "save.planes: %ld planes; at least one is needed", planes);
    TRY(gnlse_planes_check(&params->planes, &point));
    const double rhs = gnlse_predicted_rhs(&point);
    const double n = (double)point.n;
    *out = (struct plane_layout){
        .progress_name = "z",
        .progress_unit = "m",
        .progress_doc = "Position along the fibre",
        .span = point.length,
        .planes = planes,
        .axes = GNLSE_AXES,
        .axis =
            {[AXIS_OMEGA] = {"omega", "rad s^-1", "Absolute angular frequency, FFT order",
                             point.n, AXIS_OMEGA},
             [AXIS_OMEGA_RELATIVE] = {"Omega", "rad s^-1",
                                      "Angular frequency relative to the reference, FFT order",
                                      point.n, AXIS_OMEGA},
             [AXIS_T] = {"t", "s", "Time in the frame of the reference's group velocity",
                         point.n, AXIS_OMEGA}},
        .arrays = 1,
        .array = {{"field",
                   "W^0.5",
                   "Spectral amplitude a = fft(A)/n",
                   ELEMENT_C128,
                   true,
                   1,
                   {AXIS_OMEGA}}},
        .observables = PULSE_OBSERVABLES,
        .transforms = rhs * gnlse_transforms(&point),
        .transform_length = point.n,
        .work = rhs * gnlse_transforms(&point) * n * log2(n),
        .state_bytes = stepper_state_bytes(point.n),
        .shared_bytes = sizeof(struct model) + (size_t)point.n * (4 * sizeof(cplx) + 24),
        .row_bytes = stepper_row_bytes(point.n, 0, 1) + gnlse_row_bytes(&point)};
    layout_add_plan(out, FFT_C2C_FORWARD, point.n);
    layout_add_plan(out, FFT_C2C_BACKWARD, point.n);
    if (point.raman) {
        layout_add_plan(out, FFT_R2C, point.n);
        layout_add_plan(out, FFT_C2R, point.n);
    }
    struct dispersion_table *table = NULL;
    TRY(make_table(&point, &table));
    gnlse_notes(&point, out);
    dispersion_table_destroy(table);
    return 0;
}

static int gnlse_axis(const struct params *params, int axis, double *values)
{
    struct gnlse_point point;
    TRY(gnlse_point_read(params, &point));
    if (axis < 0 || axis >= GNLSE_AXES)
        FAIL(ERR_BUG, "gnlse has no axis %d", axis);
    if (axis == AXIS_T) {
        pulse_grid_time(values, point.n, point.window);
        return 0;
    }
    pulse_grid_omega(values, point.n, point.window);
    for (long k = 0; axis == AXIS_OMEGA && k < point.n; k++)
        values[k] += point.omega0;
    return 0;
}

/* Bins that the absorber of the spectrum masks. */
static int gnlse_zeros(const struct params *params, int array, uint8_t *zero)
{
    struct gnlse_point point;
    TRY(gnlse_point_read(params, &point));
    if (array != 0)
        FAIL(ERR_BUG, "gnlse has no array %d", array);
    for (long k = 0; k < point.n; k++)
        zero[k] = pulse_linear_masked(&point, k) ? 1 : 0;
    return 0;
}

static int execute(struct model *m, const struct fft *plan, const struct fft_rows *rows)
{
    return m->be->ops->fft_execute(m->be, plan, rows);
}

/* What the rows of a call have had. */
static void count_work(const struct step_call *call, int transforms, int passes)
{
    for (long i = 0; i < call->rows; i++)
        if (step_call_has(call, i)) {
            call->st[i].transforms += transforms;
            call->st[i].passes += passes;
        }
}

/* R(t) in `power`: |A|^2, its spectrum, the filter with the instantaneous part in it, back. */
static int raman_response(struct model *m, const struct step_call *call)
{
    struct backend *be = m->be;
    const unsigned char *active = call->active;
    cplx *samples = m->rows.samples + call->row * m->ld;
    double *power = m->rows.power + call->row * m->ld_real;
    cplx *half = m->rows.half + call->row * m->ld_half;
    const struct kerr_power_args intensity = {samples, power, m->ld, m->ld_real, active};
    TRY(be->kernels->kerr_power(be, &intensity, 0, call->rows, m->n));
    const struct fft_rows there = {power, m->ld_real, half, m->ld_half, 0, call->rows, NULL};
    TRY(execute(m, m->real_forward, &there));
    const struct spectral_scale_args filter = {m->rows.transfer + call->row * m->ld_half, half,
                                               half, m->ld_half, active};
    TRY(be->kernels->spectral_scale(be, &filter, 0, call->rows, m->n / 2 + 1));
    const struct fft_rows back = {half, m->ld_half, power, m->ld_real, 0, call->rows, NULL};
    TRY(execute(m, m->real_backward, &back));
    const struct kerr_apply_args apply = {samples, power, samples, m->ld, m->ld_real, active};
    TRY(be->kernels->kerr_apply(be, &apply, 0, call->rows, m->n));
    count_work(call, 2, 3);
    return 0;
}

static int kerr_response(struct model *m, const struct step_call *call)
{
    cplx *samples = m->rows.samples + call->row * m->ld;
    const struct kerr_instant_args args = {samples, samples, m->ld, call->active};
    TRY(m->be->kernels->kerr_instant(m->be, &args, 0, call->rows, m->n));
    count_work(call, 0, 1);
    return 0;
}

/* Spectrum of what the edges of the window absorb: a part of the right-hand side, so that it is
 * under error control and the last slope stays the first of the next step. */
static int edge_loss(struct model *m, const struct step_call *call)
{
    const long at = call->row * m->ld;
    const struct kerr_apply_args args = {
        m->rows.samples + at, m->rows.edge + call->row * m->ld_real,
        m->rows.lost + at,    m->ld,
        m->ld_real,           call->active};
    TRY(m->be->kernels->kerr_apply(m->be, &args, 0, call->rows, m->n));
    const struct fft_rows rows = {args.out,   m->ld, m->rows.lost_spectrum + at, m->ld, 0,
                                  call->rows, NULL};
    TRY(execute(m, m->forward, &rows));
    count_work(call, 1, 1);
    return 0;
}

/* pre N + lost: with an absorber the stepper's prefactor is the mask alone. */
static int edge_add(struct model *m, const struct step_call *call)
{
    const long at = call->row * m->ld;
    const struct spectral_add_args args = {
        m->rows.pre + at, call->spectrum, m->rows.lost_spectrum + at,
        call->spectrum,   m->ld,          call->active};
    TRY(m->be->kernels->spectral_add(m->be, &args, 0, call->rows, m->n));
    count_work(call, 0, 1);
    return 0;
}

/* One launch of each kernel for all rows of the call; transforms go over the masked rows too,
 * whose spectra and scratch are free. The fibre is the same everywhere. */
static int gnlse_nonlinear(void *model, const struct step_call *call)
{
    struct model *m = model;
    cplx *samples = m->rows.samples + call->row * m->ld;
    const struct fft_rows there = {call->spectrum, call->ld, samples, m->ld, 0,
                                   call->rows,     NULL};
    TRY(execute(m, m->backward, &there));
    if (m->absorber)
        TRY(edge_loss(m, call));
    TRY(m->raman ? raman_response(m, call) : kerr_response(m, call));
    const struct fft_rows back = {samples,    m->ld, call->spectrum, call->ld, 0,
                                  call->rows, NULL};
    TRY(execute(m, m->forward, &back));
    count_work(call, 2, 0);
    return m->absorber ? edge_add(m, call) : 0;
}

static void gnlse_destroy(struct model *m)
{
    if (m == NULL)
        return;
    struct backend *be = m->be;
    stepper_destroy(m->stepper); /* first: a trial may be under way in the rows */
    plane_fetch_destroy(m->planes_out);
    void *const rows[] = {m->rows.samples,       m->rows.power, m->rows.half,
                          m->rows.transfer,      m->rows.edge,  m->rows.lost,
                          m->rows.lost_spectrum, m->rows.pre};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        be->ops->release(be, rows[i]);
    struct fft *const plans[] = {m->forward, m->backward, m->real_forward, m->real_backward};
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++)
        be->ops->fft_destroy(be, plans[i]);
    void *const host[] = {m->host.spectrum,  m->host.samples, m->host.pre,
                          m->host.li,        m->host.lr,      m->host.real,
                          m->host.positions, m->host.further, m->point};
    for (size_t i = 0; i < sizeof host / sizeof host[0]; i++)
        mem_free(host[i]);
    host_fft_destroy(m->input);
    mem_free(m);
}

static int create_host(struct model *m)
{
    TRY(MEM_NEW(m->n, &m->host.spectrum));
    TRY(MEM_NEW(m->n, &m->host.further));
    TRY(MEM_NEW(m->n, &m->host.samples));
    TRY(MEM_NEW(m->n, &m->host.pre));
    TRY(MEM_NEW(m->n, &m->host.li));
    TRY(MEM_NEW(m->n, &m->host.lr));
    TRY(MEM_NEW(m->n, &m->host.real));
    TRY(MEM_NEW(m->planes, &m->host.positions));
    return MEM_NEW(m->capacity, &m->point);
}

static int rows_alloc(struct model *m, long ld, size_t size, void *out)
{
    return m->be->ops->alloc(m->be, m->capacity * ld, size, out);
}

static int create_rows(struct model *m)
{
    struct gnlse_rows *rows = &m->rows;
    TRY(rows_alloc(m, m->ld, sizeof(cplx), &rows->samples));
    if (m->raman) {
        TRY(rows_alloc(m, m->ld_real, sizeof(double), &rows->power));
        TRY(rows_alloc(m, m->ld_half, sizeof(cplx), &rows->half));
        TRY(rows_alloc(m, m->ld_half, sizeof(cplx), &rows->transfer));
    }
    if (m->absorber) {
        TRY(rows_alloc(m, m->ld_real, sizeof(double), &rows->edge));
        TRY(rows_alloc(m, m->ld, sizeof(cplx), &rows->lost));
        TRY(rows_alloc(m, m->ld, sizeof(cplx), &rows->lost_spectrum));
        TRY(rows_alloc(m, m->ld, sizeof(cplx), &rows->pre));
    }
    return 0;
}

static int create_plan(struct model *m, enum fft_kind kind, long ld_in, long ld_out,
                       struct fft **out)
{
    const struct fft_shape shape = {kind, m->n, m->capacity, ld_in, ld_out};
    return backend_fft_create(m->be, &shape, out);
}

static int create_plans(struct model *m)
{
    TRY(create_plan(m, FFT_C2C_FORWARD, m->ld, m->ld, &m->forward));
    TRY(create_plan(m, FFT_C2C_BACKWARD, m->ld, m->ld, &m->backward));
    if (!m->raman)
        return 0;
    TRY(create_plan(m, FFT_R2C, m->ld_real, m->ld_half, &m->real_forward));
    return create_plan(m, FFT_C2R, m->ld_half, m->ld_real, &m->real_backward);
}

/* The state of a row into the stepper's spectrum and, transformed, into `samples`. */
static int find_samples(struct model *m, long row, cplx **spectrum)
{
    TRY(stepper_field(m->stepper, row, spectrum));
    const struct fft_rows rows = {*spectrum, m->ld, m->rows.samples + row * m->ld, m->ld, 0,
                                  1,         NULL};
    return execute(m, m->backward, &rows);
}

/* Rows stand on planes: they leave before the other rows go on, whose trial spoils the scratch.
 */
static int gnlse_settled(void *model, long row, long rows, const bool *on)
{
    struct model *m = model;
    for (long r = row; r < row + rows; r++) {
        cplx *spectrum;
        if (!on[r - row])
            continue;
        TRY(plane_fetch_clear(m->planes_out, r));
        TRY(find_samples(m, r, &spectrum));
        TRY(plane_fetch_take(m->planes_out, r, PIECE_SPECTRUM, spectrum));
        TRY(plane_fetch_take(m->planes_out, r, PIECE_SAMPLES, m->rows.samples + r * m->ld));
    }
    return 0;
}

static int create_fetches(struct model *m)
{
    const size_t bytes = (size_t)m->n * sizeof(cplx);
    const size_t each[GNLSE_PIECES] = {bytes, bytes};
    return m->be->apart
               ? plane_fetch_create(m->be, m->capacity, GNLSE_PIECES, each, &m->planes_out)
               : 0;
}

static int create_parts(struct model *m, const struct gnlse_point *point)
{
    TRY(create_fetches(m));
    TRY(create_host(m));
    TRY(create_rows(m));
    TRY(create_plans(m));
    TRY(host_fft_create(m->n, &m->input));
    const struct stepper_setup setup = {.backend = m->be,
                                        .rows = m->capacity,
                                        .n = m->n,
                                        .planes = m->planes,
                                        .system = {.model = m,
                                                   .nonlinear = gnlse_nonlinear,
                                                   .transforms = gnlse_transforms(point),
                                                   .settled = gnlse_settled}};
    return stepper_create(&setup, &m->stepper);
}

static int gnlse_create(const struct params *params, struct backend *backend, int capacity,
                        struct model **out)
{
    *out = NULL;
    struct gnlse_point point;
    TRY(gnlse_point_read(params, &point));
    struct model *m;
    TRY(MEM_NEW(1, &m));
    m->be = backend;
    m->capacity = capacity;
    m->n = point.n;
    m->planes = params->planes.kind == PLANES_LAST ? 1 : params->planes.count;
    m->raman = point.raman;
    m->raman_scale = point.silica ? raman_silica_scale() : 0.0;
    m->absorber = point.absorber;
    m->ld = stepper_spectrum_stride(point.n); /* rows beside those of a call's spectra */
    m->ld_real = backend_stride(point.n, sizeof(double));
    m->ld_half = backend_stride(point.n / 2 + 1, sizeof(cplx));
    const int rc = create_parts(m, &point);
    if (rc != 0)
        gnlse_destroy(m);
    else
        *out = m;
    return rc;
}

static void scale_spectrum(cplx *a, long n, double factor)
{
    for (long k = 0; k < n; k++)
        a[k] = cplx_scale(factor, a[k]);
}

/* The spectrum of one pulse, not yet scaled where it is a table. */
static int make_spectrum(struct model *m, const struct gnlse_point *point,
                         const struct input_pulse *pulse, cplx *a)
{
    const struct measured_grid grid = {point->n, point->window, point->omega0};
    if (pulse->measured == NULL)
        pulse_input_shape(point, pulse, a);
    else
        TRY(measured_fill(pulse->measured, &grid, a));
    if (pulse->measured != NULL && measured_is_spectral(pulse->measured))
        return 0;
    TRY(host_fft_execute(m->input, true, a));
    scale_spectrum(a, m->n, 1.0 / (double)m->n);
    return 0;
}

/* A spectrum with its phases as strong as it is asked for. */
static int scale_pulse(struct model *m, const struct gnlse_point *point,
                       const struct input_pulse *pulse, cplx *a)
{
    if (pulse->by_energy) {
        scale_spectrum(a, m->n, pulse_input_energy_factor(point, pulse, a));
    } else if (pulse->measured != NULL || pulse->gdd != 0.0 || pulse->tod != 0.0) {
        memcpy(m->host.samples, a, (size_t)m->n * sizeof(cplx));
        TRY(host_fft_execute(m->input, false, m->host.samples));
        scale_spectrum(a, m->n, pulse_input_peak_factor(point, pulse, m->host.samples));
    }
    return 0;
}

static int make_pulse(struct model *m, const struct gnlse_point *point,
                      const struct input_pulse *pulse, cplx *a)
{
    TRY(make_spectrum(m, point, pulse, a));
    if (pulses_have_phase(pulse))
        pulse_input_phase(point, pulse, a);
    TRY(scale_pulse(m, point, pulse, a));
    if (pulse->detuning == 0.0)
        return 0;
    TRY(host_fft_execute(m->input, false, a));
    pulse_input_shift(point, pulse->detuning, a);
    TRY(host_fft_execute(m->input, true, a));
    scale_spectrum(a, m->n, 1.0 / (double)m->n);
    return 0;
}

/* A plane of another run, as strong as it is. */
static void make_earlier(const struct gnlse_point *point, cplx *a)
{
    const struct measured_grid grid = {point->n, point->window, point->omega0};
    earlier_fill(point->earlier, &grid, a);
    if (pulses_have_phase(&point->pulse[0]))
        pulse_input_phase(point, &point->pulse[0], a);
}

/* The input spectrum of a member into host.spectrum. */
static int make_input(struct model *m, const struct gnlse_point *point, const struct seed *seed)
{
    cplx *a = m->host.spectrum;
    if (point->earlier != NULL)
        make_earlier(point, a);
    else
        TRY(make_pulse(m, point, &point->pulse[0], a));
    for (int i = 1; i < point->pulses; i++) {
        TRY(make_pulse(m, point, &point->pulse[i], m->host.further));
        for (long k = 0; k < m->n; k++)
            a[k] = cplx_add(a[k], m->host.further[k]);
    }
    const struct pulse_spectrum spectrum = {a, m->n, point->window, point->omega0};
    pulse_noise_add(&spectrum, seed);
    const struct perturb_bins bins = {a, m->n, m->n - m->n / 2, m->n};
    TRY(pulse_perturb(&bins, seed));
    for (long k = 0; point->absorber && k < m->n; k++)
        if (pulse_linear_masked(point, k))
            a[k] = cplx_make(0.0, 0.0);
    return 0;
}

/* Response, absorber and prefactor tables of a member to its row. */
static int load_tables(struct model *m, int row, const struct gnlse_point *point)
{
    struct backend *be = m->be;
    const size_t n = (size_t)m->n;
    if (m->raman) {
        double *power = m->rows.power + row * m->ld_real;
        cplx *half = m->rows.half + row * m->ld_half;
        pulse_raman_samples(point, m->raman_scale, m->host.real);
        TRY(be->ops->upload(be, power, m->host.real, n * sizeof(double)));
        const struct fft_rows rows = {power, m->ld_real, half, m->ld_half, 0, 1, NULL};
        TRY(execute(m, m->real_forward, &rows));
        const size_t bytes = (n / 2 + 1) * sizeof(cplx);
        TRY(be->ops->download(be, m->host.samples, half, bytes));
        pulse_raman_transfer(point, m->host.samples);
        TRY(be->ops->upload(be, m->rows.transfer + row * m->ld_half, m->host.samples, bytes));
    }
    pulse_linear_phase(point, m->host.li);
    pulse_linear_loss(point, m->host.lr);
    pulse_linear_prefactor(point, m->host.pre);
    if (!m->absorber)
        return 0;
    TRY(be->ops->upload(be, m->rows.pre + row * m->ld, m->host.pre, n * sizeof(cplx)));
    pulse_linear_edge(point, m->host.real);
    TRY(be->ops->upload(be, m->rows.edge + row * m->ld_real, m->host.real, n * sizeof(double)));
    for (long k = 0; k < m->n; k++)
        m->host.pre[k] = cplx_make(pulse_linear_masked(point, k) ? 0.0 : 1.0, 0.0);
    return 0;
}

/* Why a point does not fit into this object, as a member's reason. */
static int read_member(struct model *m, const struct params *params, struct gnlse_point *point,
                       struct row_status *st)
{
    const struct status_saved saved = status_capture_save();
    status_capture(st->reason, sizeof st->reason);
    int rc = gnlse_point_read(params, point);
    if (rc == 0)
        rc = gnlse_planes_check(&params->planes, point);
    if (rc == 0)
        rc = gnlse_data_check(point);
    if (rc == 0
        && (point->n != m->n || point->raman != m->raman || point->absorber != m->absorber))
        rc = status_fail(ERR_BUG,
                         "a member of %ld points was given to an object of %ld points "
                         "or of another kind",
                         point->n, m->n);
    status_capture_restore(saved);
    return rc;
}

static int gnlse_load(struct model *m, int row, const struct params *params,
                      const struct seed *seed, const struct state_in *resume,
                      struct row_status *st)
{
    struct gnlse_point *point = &m->point[row];
    st->reason[0] = '\0';
    st->outcome = ROW_FAILED;
    TRY(plane_fetch_clear(m->planes_out, row));
    if (read_member(m, params, point, st) != 0)
        return 0;
    TRY(make_input(m, point, seed));
    struct dispersion_table *table = NULL;
    TRY(make_table(point, &table));
    const int rc = load_tables(m, row, point);
    dispersion_table_destroy(table);
    point->table = NULL;
    TRY(rc);
    struct plane_layout layout = {.span = point->length};
    for (long i = 0; i < m->planes; i++)
        m->host.positions[i] = layout_plane_position(&layout, &params->planes, i);
    const struct step_member member = {.control = point->step.control,
                                       .schedule = point->step.schedule,
                                       .positions = m->host.positions,
                                       .field = m->host.spectrum,
                                       .li = m->host.li,
                                       .lr = pulse_linear_has_loss(point) ? m->host.lr : NULL,
                                       .pre = m->host.pre};
    TRY(stepper_load(m->stepper, row, &member, st));
    return resume != NULL ? stepper_resume(m->stepper, row, resume, st) : 0;
}

static int gnlse_advance(struct model *m, struct run_control *control, struct row_status *st)
{
    for (int r = 0; r < m->capacity; r++)
        if (!st[r].plane_ready)
            TRY(plane_fetch_clear(m->planes_out, r)); /* it leaves the plane */
    return stepper_advance(m->stepper, control, st);
}

/* Spectrum and samples of a row's state to the host. */
static int read_state(struct model *m, int row, cplx *spectrum)
{
    struct backend *be = m->be;
    const size_t bytes = (size_t)m->n * sizeof(cplx);
    const void *data[GNLSE_PIECES];
    cplx *field;
    bool here;
    TRY(plane_fetch_wait(m->planes_out, row, data, &here));
    if (here) {
        memcpy(spectrum, data[PIECE_SPECTRUM], bytes);
        memcpy(m->host.samples, data[PIECE_SAMPLES], bytes);
        return 0;
    }
    TRY(find_samples(m, row, &field));
    TRY(be->ops->download(be, spectrum, field, bytes));
    return be->ops->download(be, m->host.samples, m->rows.samples + row * m->ld, bytes);
}

static int gnlse_plane(struct model *m, int row, struct plane_buffers *out)
{
    const struct gnlse_point *point = &m->point[row];
    cplx *spectrum = out->array[0] != NULL ? out->array[0] : m->host.spectrum;
    TRY(read_state(m, row, spectrum));
    const struct pulse_plane plane = {spectrum, m->host.samples, m->n, point->window,
                                      point->omega0};
    pulse_observe(&plane, out->observable);
    return 0;
}

static int gnlse_state(struct model *m, int row, struct state_out *out)
{
    return stepper_save(m->stepper, row, out);
}

static int gnlse_from_plane(const struct params *params, long plane,
                            const struct plane_buffers *in, struct state_out *out)
{
    struct gnlse_point point;
    TRY(gnlse_point_read(params, &point));
    if (in->array[0] == NULL)
        FAIL(ERR_ARGUMENT, "gnlse continues from a stored field only");
    const struct plane_layout layout = {.span = point.length};
    const double z = layout_plane_position(&layout, &params->planes, plane);
    return stepper_state_at(point.n, plane, z, in->array[0], out);
}

void gnlse_set_schedule(struct model *m, int row, const double *lengths, long count)
{
    stepper_set_schedule(m->stepper, row, lengths, count);
}

const struct model_ops gnlse_ops = {.abi = {MODEL_ABI_VERSION, sizeof(struct model_ops)},
                                    .info = &gnlse_info,
                                    .layout = gnlse_layout,
                                    .axis = gnlse_axis,
                                    .create = gnlse_create,
                                    .load = gnlse_load,
                                    .advance = gnlse_advance,
                                    .plane = gnlse_plane,
                                    .state = gnlse_state,
                                    .from_plane = gnlse_from_plane,
                                    .destroy = gnlse_destroy,
                                    .zeros = gnlse_zeros};
