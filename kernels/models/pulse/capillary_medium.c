/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/capillary_medium.h"

#include <math.h>
#include <stddef.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/constants.h"

/* Densities between those of the terms, and bins at most, at which they are checked. */
#define CHECKS     9
#define CHECK_BINS 256

/* -ln(w) of a window in units of the absorption length, at most. */
#define ABSORBER_CAP 40.0

static struct guide_place place_at(const struct capillary_medium *m, double rho)
{
    return (struct guide_place){rho, m->gradient.radius.value[0]};
}

/* L without the absorber at a frequency and density, `slope` X'(omega0). */
static cplx linear_at(const struct capillary_medium *m, const struct guide_bin *bin, double rho,
                      double slope)
{
    const double w = bin->omega.c[0].r;
    const double excess = guide_excess(&m->guide, bin, place_at(m, rho)).c[0].r;
    const double alpha = guide_alpha(&m->guide, bin, place_at(m, rho));
    return cplx_make(-0.5 * alpha, slope * w - w / PULSE_C * excess);
}

/* X'(omega0) at a density. */
static double frame_slope(const struct capillary_medium *m, double rho)
{
    struct guide_bin bin;
    guide_bin_load(&m->guide, m->omega0, 1, &bin);
    const struct taylor excess = guide_excess(&m->guide, &bin, place_at(m, rho));
    return (excess.c[0].r + m->omega0 * excess.c[1].r) / PULSE_C;
}

/* Density number i of n that the terms are made of: the ends of a line from no gas, else the
 * Chebyshev nodes between the densities of the guide. */
static double node(const struct capillary_medium *m, int i, int n)
{
    if (n <= 2 && !m->guide.full)
        return i == 0 ? m->high : 0.0;
    const double x = cos(PULSE_PI * (i + 0.5) / n);
    return 0.5 * (m->low + m->high) + 0.5 * (m->high - m->low) * x;
}

/* Coefficients of (rho/scale)^j of the polynomial through values at the nodes: divided
 * differences, then Horner's scheme on the coefficients. */
static void interpolate(const struct capillary_medium *m, const double *values,
                        double *coefficient)
{
    const int n = m->terms;
    double x[CAPILLARY_TERMS] = {0.0};
    double d[CAPILLARY_TERMS] = {0.0};
    for (int i = 0; i < n; i++) {
        x[i] = node(m, i, n) / m->scale;
        d[i] = values[i];
        coefficient[i] = 0.0;
    }
    for (int level = 1; level < n; level++)
        for (int i = n - 1; i >= level; i--)
            d[i] = (d[i] - d[i - 1]) / (x[i] - x[i - level]);
    for (int i = n - 1; i >= 0; i--) {
        for (int j = n - 1; j > 0; j--)
            coefficient[j] = coefficient[j - 1] - x[i] * coefficient[j];
        coefficient[0] = d[i] - x[i] * coefficient[0];
    }
}

/* All terms of a bin, without the absorber. */
static void bin_terms(const struct capillary_medium *m, const struct guide_bin *bin, double *li,
                      double *lr)
{
    double imaginary[CAPILLARY_TERMS];
    double real[CAPILLARY_TERMS];
    for (int i = 0; i < m->terms; i++) {
        const cplx l = linear_at(m, bin, node(m, i, m->terms), m->slope[i]);
        imaginary[i] = l.i;
        real[i] = l.r;
    }
    interpolate(m, imaginary, li);
    interpolate(m, real, lr);
}

double capillary_absorber(double window)
{
    return window > 0.0 ? fmin(-log(window), ABSORBER_CAP) : ABSORBER_CAP;
}

void capillary_medium_linear(const struct capillary_medium *medium, long k, double *li,
                             double *lr)
{
    struct guide_bin bin;
    guide_bin_load(&medium->guide, real_grid_omega(&medium->grid, k), 0, &bin);
    bin_terms(medium, &bin, li, lr);
    const double window = real_grid_spectral(&medium->grid, k);
    if (medium->edge > 0.0)
        lr[0] -= medium->edge * capillary_absorber(window);
}

static double polynomial(const double *coefficient, int n, double x)
{
    double sum = 0.0;
    for (int j = n; j-- > 0;)
        sum = sum * x + coefficient[j];
    return sum;
}

/* Largest error of the terms over the whole length, over the band and densities in between. */
static double terms_error(const struct capillary_medium *m)
{
    double slope[CHECKS];
    double rho[CHECKS];
    double worst = 0.0;
    for (int i = 0; i < CHECKS; i++) {
        rho[i] = m->low + (m->high - m->low) * i / (CHECKS - 1);
        slope[i] = frame_slope(m, rho[i]);
    }
    const long stride = (m->grid.last - m->grid.first) / CHECK_BINS + 1;
    for (long i = m->grid.first; i < m->grid.last + stride - 1; i += stride) {
        const long k = i < m->grid.last ? i : m->grid.last - 1;
        struct guide_bin bin;
        double li[CAPILLARY_TERMS];
        double lr[CAPILLARY_TERMS];
        guide_bin_load(&m->guide, real_grid_omega(&m->grid, k), 0, &bin);
        bin_terms(m, &bin, li, lr);
        for (int c = 0; c < CHECKS; c++) {
            const cplx want = linear_at(m, &bin, rho[c], slope[c]);
            const double x = rho[c] / m->scale;
            worst = fmax(worst, fabs(polynomial(li, m->terms, x) - want.i));
            worst = fmax(worst, fabs(polynomial(lr, m->terms, x) - want.r));
        }
    }
    return worst * m->length;
}

static void use_terms(struct capillary_medium *m, int terms)
{
    m->terms = terms;
    for (int i = 0; i < terms; i++)
        m->slope[i] = frame_slope(m, node(m, i, terms));
}

/* As few terms as hold L. */
static int choose_terms(struct capillary_medium *m, bool uniform)
{
    use_terms(m, uniform ? 1 : 2);
    if (uniform || !m->guide.full)
        return 0;
    m->error = terms_error(m);
    while (m->error > CAPILLARY_PHASE_ERROR && m->terms < CAPILLARY_TERMS) {
        use_terms(m, m->terms + 1);
        m->error = terms_error(m);
    }
    if (m->error > CAPILLARY_PHASE_ERROR)
        FAIL(ERR_UNSUPPORTED,
             "guide.model: the full form along this gradient is held to %g rad by %d terms, %g "
             "are asked for; use marcatili_reduced or a shorter band",
             m->error, m->terms, CAPILLARY_PHASE_ERROR);
    return 0;
}

/* The least, the largest and the mean density along the guide. */
static void find_densities(struct capillary_medium *m)
{
    const struct gradient_points *const p = &m->gradient.pressure;
    m->low = m->high = capillary_medium_density(m, p->z[0]);
    for (int i = 1; i < p->count; i++) {
        const double rho = capillary_medium_density(m, p->z[i]);
        m->low = fmin(m->low, rho);
        m->high = fmax(m->high, rho);
    }
    struct gradient_values whole;
    gradient_read(&m->gradient, 0.0, &m->length, 1, &whole);
    m->mean = p->count == 1 ? m->high : whole.rho_dz[0] / m->length;
    m->scale = m->high > 0.0 ? m->high : 1.0;
}

static int check_loss(const struct capillary_medium *m)
{
    if (m->guide.loss == 0.0)
        return 0;
    if (!(guide_excess(&m->guide, &m->pump, place_at(m, m->mean)).c[0].i > 0.0))
        FAIL(ERR_ARGUMENT, "guide.loss: this wall gives the mode no loss at the carrier; use "
                           "loss: false or another wall");
    return 0;
}

int capillary_medium_init(const struct capillary_point *point, struct capillary_medium *out)
{
    const struct gradient_points radius = {1, {0.0}, {point->radius}};
    const struct real_grid *const grid = &point->grid;
    *out = (struct capillary_medium){.gas = point->gas,
                                     .grid = *grid,
                                     .omega0 = point->pulse.omega0,
                                     .length = point->length,
                                     .edge = point->edge_length > 0.0 ? 1.0 / point->edge_length
                                                                      : 0.0};
    TRY(glass_init(&out->wall, point->wall, point->wall_index));
    const double turn = 2.0 * PULSE_PI * PULSE_C;
    TRY(glass_check_band(&out->wall, turn / real_grid_omega(grid, grid->last - 1),
                         turn / real_grid_omega(grid, grid->first)));
    struct gradient_points pressure = point->pressure;
    if (point->uniform)
        pressure.count = 1;
    TRY(gradient_init(&out->gradient, &pressure, &radius, &out->gas));
    out->guide = (struct guide){.mode = point->mode,
                                .full = point->full,
                                .loss = point->loss,
                                .wall = &out->wall,
                                .gas = &out->gas};
    guide_bin_load(&out->guide, out->omega0, 0, &out->pump);
    out->area = mode_area(&point->mode, point->radius);
    find_densities(out);
    TRY(check_loss(out));
    TRY(choose_terms(out, point->uniform));
    return 0;
}

void capillary_medium_clear(struct capillary_medium *medium)
{
    glass_clear(&medium->wall);
    gradient_clear(&medium->gradient);
    *medium = (struct capillary_medium){0};
}

void capillary_medium_path(const struct capillary_medium *medium, double anchor,
                           const double *dz, int n, double *rho, double (*out)[STEP_TERMS])
{
    for (int i = 0; i < n; i++) {
        struct gradient_values v;
        gradient_read(&medium->gradient, anchor, &dz[i], 1, &v);
        rho[i] = v.rho;
        out[i][0] = dz[i];
        double scale = 1.0;
        for (int j = 1; j < medium->terms; j++) {
            scale /= medium->scale;
            out[i][j] = scale * v.rho_dz[j - 1];
        }
    }
}

double capillary_medium_density(const struct capillary_medium *medium, double z)
{
    const double nothing = 0.0;
    struct gradient_values v;
    gradient_read(&medium->gradient, z, &nothing, 1, &v);
    return v.rho;
}

double capillary_medium_index(const struct capillary_medium *medium, double omega, double rho)
{
    struct guide_bin bin;
    guide_bin_load(&medium->guide, omega, 0, &bin);
    return 1.0 + guide_excess(&medium->guide, &bin, place_at(medium, rho)).c[0].r;
}

double capillary_medium_prefactor(const struct capillary_medium *medium, long k, bool vacuum)
{
    const double w = real_grid_omega(&medium->grid, k);
    const double index = vacuum ? 1.0 : capillary_medium_index(medium, w, medium->mean);
    return w * real_grid_spectral(&medium->grid, k) / index;
}

double capillary_medium_tilt(const struct capillary_medium *medium, long k)
{
    const double omega = real_grid_omega(&medium->grid, k);
    const double low = capillary_medium_index(medium, omega, medium->low);
    const double high = capillary_medium_index(medium, omega, medium->high);
    const double mean = capillary_medium_index(medium, omega, medium->mean);
    const double span = (medium->high - medium->low) / medium->scale;
    return span > 0.0 ? (high - low) / span / mean : 0.0;
}
