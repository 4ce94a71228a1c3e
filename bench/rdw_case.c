/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench/rdw_case.h"

#include <math.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"

#define PI       3.14159265358979323846
#define DT       5e-17
#define LENGTH   1.5
#define RADIUS   125e-6
#define LAMBDA   800e-9
#define ENERGY   275e-6
#define DURATION 7.5e-15
#define HE11     2.404825557695773
#define WALL     1.45
#define WARM     (PULSE_ZERO_C / 293.15) /* density at the run's temperature over that at 0 C */
#define AREA     (1.49716891 * RADIUS * RADIUS)
#define P_IN     0.8 /* bar */
#define P_OUT    0.0

/* Of the worst case: too little to change a figure, V/m and fraction. */
#define NO_FIELD  1e-3
#define NO_PLASMA 1e-30

/* Edges of the band, rad/s: 0 below a and above d, 1 from b to c. */
struct band {
    double a, b, c, d;
};

static struct band band_of(void)
{
    const double low = 2.0 * PI * PULSE_C / 4e-6;
    const double high = 2.0 * PI * PULSE_C / 90e-9;
    return (struct band){0.5 * low, low, high, 1.1 * high};
}

static double band_at(const struct band *b, double w)
{
    if (w <= b->a || w >= b->d)
        return 0.0;
    const double rise = w < b->b ? sin(0.5 * PI * (w - b->a) / (b->b - b->a)) : 1.0;
    const double fall = w > b->c ? cos(0.5 * PI * (w - b->c) / (b->d - b->c)) : 1.0;
    return rise * rise * fall * fall;
}

static double window_at(long i, long n)
{
    const double x = fmin((double)i, (double)(n - i)) / (double)n;
    const double s = x < 0.1 ? sin(0.5 * PI * x / 0.1) : 1.0;
    return s * s;
}

/* chi of helium at 1 bar and 0 C, and -(omega/2) its derivative over omega: the Sellmeier terms
 * of gas.def, x the wavelength in um. */
static void helium(double w, double *chi, double *slope)
{
    static const double terms[3][2] = {{2.16463842e-5, -6.80769781e-4},
                                       {2.10561127e-7, 5.13251289e-3},
                                       {4.75092720e-5, 3.18621354e-3}};
    const double x = 2.0 * PI * PULSE_C / w * 1e6;
    *chi = 0.0;
    *slope = 0.0;
    for (int i = 0; i < 3; i++) {
        const double d = x * x - terms[i][1];
        *chi += terms[i][0] * x * x / d;
        *slope += terms[i][0] * terms[i][1] * x * x / (d * d);
    }
}

/* L = guide dz + gas int p dz, p in bar; the frame follows the pulse. */
static void linear_at(double w, double *li, double *lr, long bins, long k)
{
    const double w0 = 2.0 * PI * PULSE_C / LAMBDA;
    const double nu = (WALL * WALL + 1.0) / (2.0 * sqrt(WALL * WALL - 1.0));
    const double guide0 = PULSE_C * HE11 * HE11 / (2.0 * w0 * w0 * RADIUS * RADIUS);
    double chi0;
    double slope0;
    double chi;
    double slope;
    helium(w0, &chi0, &slope0);
    helium(w, &chi, &slope);
    const double gas0 = WARM * (chi0 + 2.0 * slope0) / (2.0 * PULSE_C);
    li[k] = PULSE_C * HE11 * HE11 / (2.0 * w * RADIUS * RADIUS) + guide0 * w;
    lr[k] = -nu * HE11 * HE11 * PULSE_C * PULSE_C / (RADIUS * RADIUS * RADIUS * w * w);
    li[bins + k] = -(w * WARM * chi / (2.0 * PULSE_C) - gas0 * w);
    lr[bins + k] = 0.0;
}

static double pressure_at(double z)
{
    return sqrt(fmax(0.0, P_IN * P_IN + z / LENGTH * (P_OUT * P_OUT - P_IN * P_IN)));
}

/* The integral of p over a step is 2/3 dz (a^2 + a b + b^2)/(a + b). */
static int path(void *model, long row, double z, const double *dz, int count,
                double (*out)[STEP_TERMS])
{
    struct rdw *r = model;
    const double a = pressure_at(z);
    (void)row;
    for (int i = 0; i < count; i++) {
        const double b = pressure_at(z + dz[i]);
        r->pressure[i] = b;
        out[i][0] = dz[i];
        out[i][1] = a + b > 0.0 ? 2.0 / 3.0 * dz[i] * (a * a + a * b + b * b) / (a + b) : 0.0;
    }
    return 0;
}

static int evaluate(void *model, long row, struct step_place place, cplx *spectrum,
                    struct row_status *st)
{
    struct rdw *r = model;
    (void)row;
    const double rho = 1e5 * r->pressure[place.index] / (PULSE_KB * 293.15);
    const double gamma3 = 4.0 * 3.43e-28 / PULSE_AMAGAT;
    const struct response_factors factors = {
        .scale = 1.0, .kerr = rho * PULSE_EPS0 * gamma3, .density = rho};
    const struct response_rows rows = {.samples = r->samples, .ld = r->ld_real};
    const long ld = backend_stride(r->c.points / 2 + 1, sizeof(cplx));
    const struct fft_rows there = {spectrum, ld, r->samples, r->ld_real, 0, 1, NULL};
    TRY(r->be->ops->fft_execute(r->be, r->backward, &there));
    TRY(response_apply(r->response, 0, &factors, &rows, st));
    const struct fft_rows back = {r->samples, r->ld_real, spectrum, ld, 0, 1, NULL};
    TRY(r->be->ops->fft_execute(r->be, r->forward, &back));
    st->transforms += 2;
    return 0;
}

static int nonlinear(void *model, const struct step_call *call)
{
    return step_call_each(call, model, evaluate);
}

static int create_response(struct rdw *r)
{
    const struct rate_request request = {
        .kind = RATE_ADK, .gas = GAS_HE, .occupancy = 1.0, .adk_floor = 700.0};
    const struct rate_limits limits = {.least = 1e-7, .tolerance = (double)INFINITY};
    const struct response_setup setup = {
        .backend = r->be,
        .n = r->c.points,
        .columns = 1,
        .components = 1,
        .rule = r->c.rule,
        .species = 1,
        .rate = {r->c.table ? RESPONSE_RATE_FIELD : RESPONSE_RATE_ADK},
        .third_harmonic = true};
    TRY(ionisation_init(&r->adk, &request));
    TRY(rate_table_create(&r->adk, RATE_BY_FIELD, &limits, &r->table));
    TRY(response_create(&setup, &r->response));
    if (r->c.no_skip)
        r->adk.threshold = NO_FIELD;
    double *window;
    TRY(MEM_NEW(r->c.points, &window));
    for (long i = 0; i < r->c.points; i++)
        window[i] = window_at(i, r->c.points);
    struct response_column column = {.window = window,
                                     .dt = DT,
                                     .preionised = r->c.no_skip ? NO_PLASMA : 0.0,
                                     .species = {{.share = 1.0,
                                                  .potential = r->adk.potential * PULSE_HARTREE,
                                                  .table = r->table,
                                                  .adk = &r->adk}}};
    int rc = taps_band(4, 0.4 * PI, &column.taps);
    if (rc == 0)
        rc = response_load(r->response, 0, &column);
    mem_free(window);
    return rc;
}

static int create_rest(struct rdw *r)
{
    const long n = r->c.points;
    const struct backend_ops *ops = r->be->ops;
    const struct band band = band_of();
    r->ld_real = backend_stride(n, sizeof(double));
    r->bins = (long)ceil(band.d * (double)n * DT / (2.0 * PI));
    const struct stepper_setup setup = {
        .backend = r->be,
        .rows = 1,
        .n = r->bins,
        .planes = 1,
        .system = {.model = r, .nonlinear = nonlinear, .transforms = 2, .path = path},
        .spectrum = n / 2 + 1,
        .terms = 2};
    TRY(ops->fft_create(r->be, FFT_C2R, n, &r->backward));
    TRY(ops->fft_create(r->be, FFT_R2C, n, &r->forward));
    TRY(ops->alloc(r->be, r->ld_real, sizeof(double), (void **)&r->samples));
    TRY(MEM_NEW(r->bins, &r->omega));
    for (long k = 0; k < r->bins; k++)
        r->omega[k] = 2.0 * PI * (double)k / ((double)n * DT);
    TRY(create_response(r));
    return stepper_create(&setup, &r->stepper);
}

/* The pulse, cut to the band, with its energy: amplitudes rfft(E)/n in V/m. */
static int make_field(struct rdw *r, cplx *field)
{
    const long n = r->c.points;
    const long ld = backend_stride(n / 2 + 1, sizeof(cplx));
    const double w0 = 2.0 * PI * PULSE_C / LAMBDA;
    const struct band band = band_of();
    cplx *spectrum;
    for (long i = 0; i < n; i++) {
        const double t = ((double)i - 0.5 * (double)n) * DT;
        r->samples[i] = exp(-2.0 * log(2.0) * (t / DURATION) * (t / DURATION)) * cos(w0 * t);
    }
    TRY(r->be->ops->alloc(r->be, ld, sizeof(cplx), (void **)&spectrum));
    const struct fft_rows rows = {r->samples, r->ld_real, spectrum, ld, 0, 1, NULL};
    const int rc = r->be->ops->fft_execute(r->be, r->forward, &rows);
    double sum = 0.0;
    for (long k = 0; k < r->bins; k++) {
        field[k] = cplx_scale(band_at(&band, r->omega[k]) / (double)n, spectrum[k]);
        sum += 2.0 * cplx_abs2(field[k]);
    }
    const double energy = PULSE_EPS0 * PULSE_C * AREA * sum * (double)n * DT;
    for (long k = 0; k < r->bins; k++)
        field[k] = cplx_scale(sqrt(ENERGY / energy), field[k]);
    r->be->ops->release(r->be, spectrum);
    return rc;
}

static int load(struct rdw *r, struct row_status *st)
{
    static const double end = LENGTH;
    const struct band band = band_of();
    const long bins = r->bins;
    double *l;
    cplx *c;
    int rc = 0;
    TRY(MEM_NEW(4 * bins, &l));
    TRY_OR(rc, done, MEM_NEW(2 * bins, &c));
    for (long k = 0; k < bins; k++) {
        const double w = r->omega[k];
        const double inside = band_at(&band, w);
        if (inside > 0.0)
            linear_at(w, l, l + 2 * bins, bins, k);
        c[bins + k] =
            cplx_make(0.0, -w / (2.0 * PULSE_EPS0 * PULSE_C) * inside / (double)r->c.points);
    }
    TRY_OR(rc, done, make_field(r, c));
    const struct step_member member = {
        .control = {.length = LENGTH, .rtol = r->c.rtol, .max_steps = 1000000},
        .positions = &end,
        .field = c,
        .li = l,
        .lr = l + 2 * bins,
        .pre = c + bins,
        .terms = 2};
    TRY_OR(rc, done, stepper_load(r->stepper, 0, &member, st));
done:
    mem_free(l);
    mem_free(c);
    return rc;
}

int rdw_create(const struct rdw_case *c, struct backend *be, struct rdw *out,
               struct row_status *st)
{
    *out = (struct rdw){.c = *c, .be = be};
    TRY(create_rest(out));
    return load(out, st);
}

void rdw_clear(struct rdw *rdw)
{
    if (rdw->be == NULL)
        return;
    stepper_destroy(rdw->stepper);
    response_destroy(rdw->response);
    rate_table_destroy(rdw->table);
    rdw->be->ops->fft_destroy(rdw->be, rdw->forward);
    rdw->be->ops->fft_destroy(rdw->be, rdw->backward);
    rdw->be->ops->release(rdw->be, rdw->samples);
    mem_free(rdw->omega);
}

int rdw_look(struct rdw *rdw, struct rdw_end *out)
{
    cplx *field;
    struct response_report report;
    double sum = 0.0;
    double low = 0.0;
    double most = 0.0;
    *out = (struct rdw_end){0};
    TRY(stepper_field(rdw->stepper, 0, &field));
    TRY(response_report(rdw->response, 0, &report));
    for (long k = 1; k < rdw->bins; k++) {
        const double power = cplx_abs2(field[k]);
        const double wavelength = 2.0 * PI * PULSE_C / rdw->omega[k];
        /* Per wavelength, as a spectrometer shows it. */
        const double density = power * rdw->omega[k] * rdw->omega[k];
        sum += 2.0 * power;
        if (wavelength >= 200e-9)
            continue;
        low += 2.0 * power;
        if (density > most)
            out->peak = wavelength;
        most = fmax(most, density);
    }
    out->energy = PULSE_EPS0 * PULSE_C * AREA * sum * (double)rdw->c.points * DT;
    out->dispersive = low / sum;
    out->ionised = report.electrons;
    return 0;
}
