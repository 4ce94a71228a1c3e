/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/raman_gas.h"

#include <math.h>
#include <stddef.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/grid.h"

/* Share of the window that ends a sampled response. */
#define TAPER 0.3

/* See raman_gas.def. */
struct width {
    double constant, diffusional, collisional;
    double tau;
};

struct rotation {
    enum gas gas;
    double b, d;
    double odd, even;
    double anisotropy;
    struct width width;
};

struct vibration {
    enum gas gas;
    double omega;
    double slope;
    double mass;
    struct width width;
};

#define RAMAN_ROTATION(id, b, d, odd, even, anisotropy, ...)                                   \
    {GAS_##id, b, d, odd, even, anisotropy, __VA_ARGS__},
#define RAMAN_VIBRATION(...)
static const struct rotation rotations[] = {
#include "kernels/models/pulse/raman_gas.def"
};
#undef RAMAN_ROTATION
#undef RAMAN_VIBRATION

#define RAMAN_ROTATION(...)
#define RAMAN_VIBRATION(id, omega, slope, mass, ...)                                           \
    {GAS_##id, omega, slope, mass, __VA_ARGS__},
static const struct vibration vibrations[] = {
#include "kernels/models/pulse/raman_gas.def"
};
#undef RAMAN_ROTATION
#undef RAMAN_VIBRATION

#define ROTATIONS  ((int)(sizeof rotations / sizeof rotations[0]))
#define VIBRATIONS ((int)(sizeof vibrations / sizeof vibrations[0]))

static const struct rotation *find_rotation(enum gas gas)
{
    for (int i = 0; i < ROTATIONS; i++)
        if (rotations[i].gas == gas)
            return &rotations[i];
    return NULL;
}

static const struct vibration *find_vibration(enum gas gas)
{
    for (int i = 0; i < VIBRATIONS; i++)
        if (vibrations[i].gas == gas)
            return &vibrations[i];
    return NULL;
}

bool raman_gas_has(enum gas gas)
{
    return find_rotation(gas) != NULL || find_vibration(gas) != NULL;
}

/* Decay time of the amplitude. */
static double decay_time(const struct width *w, double rho)
{
    const double amagat = rho / PULSE_AMAGAT;
    if (w->tau > 0.0)
        return w->tau;
    return 1.0 / (PULSE_PI * (w->constant + w->diffusional / amagat + w->collisional * amagat));
}

/* Square of the factor from polarisability volumes to C m^2/V. */
static double volume_square(void)
{
    const double factor = 4.0 * PULSE_PI * PULSE_EPS0;
    return factor * factor;
}

static double level_energy(const struct rotation *r, int j)
{
    const double jj = j * (j + 1.0);
    return 2.0 * PULSE_PI * PULSE_HBAR * PULSE_C * (r->b * jj - r->d * jj * jj);
}

/* Shares of the molecules in the levels of rotation; @return the number of levels: as long as
 * their energies rise. */
static int populate(const struct rotation *r, double temperature, double *share)
{
    int levels = 0;
    double sum = 0.0;
    for (int j = 0; j <= RAMAN_J_MAX; j++) {
        const double energy = level_energy(r, j);
        if (j > 0 && energy <= level_energy(r, j - 1))
            break;
        share[j] = (j % 2 == 1 ? r->odd : r->even) * (2.0 * j + 1.0)
                   * exp(-energy / (PULSE_KB * temperature));
        sum += share[j];
        levels++;
    }
    for (int j = 0; j < levels; j++)
        share[j] /= sum;
    return levels;
}

/* physics.md §4: K_J of the transitions from J to J + 2. */
static void add_rotation(const struct rotation *r, double temperature, double rho,
                         struct raman_lines *out)
{
    double share[RAMAN_J_MAX + 1];
    const int levels = populate(r, temperature, share);
    const double scale =
        volume_square() * (2.0 / 15.0) * r->anisotropy * r->anisotropy / PULSE_HBAR;
    for (int j = 0; j + 2 < levels; j++) {
        const double inversion = share[j + 2] / (2.0 * j + 5.0) - share[j] / (2.0 * j + 1.0);
        out->line[out->count++] =
            (struct raman_line){-scale * (j + 1.0) * (j + 2.0) / (2.0 * j + 3.0) * inversion,
                                (level_energy(r, j + 2) - level_energy(r, j)) / PULSE_HBAR,
                                decay_time(&r->width, rho)};
    }
}

static void add_vibration(const struct vibration *v, double rho, struct raman_lines *out)
{
    out->line[out->count++] =
        (struct raman_line){volume_square() * v->slope * v->slope / (4.0 * v->mass * v->omega),
                            v->omega, decay_time(&v->width, rho)};
}

int raman_gas_lines(enum gas gas, double temperature, double rho, struct raman_lines *out)
{
    const struct rotation *const r = find_rotation(gas);
    const struct vibration *const v = find_vibration(gas);
    const char *const name = gas_info(gas)->name;
    *out = (struct raman_lines){0};
    if (gas == GAS_O2)
        FAIL(ERR_UNSUPPORTED, "raman: the linewidths of %s are not known here; use raman: none",
             name);
    if (r == NULL && v == NULL)
        FAIL(ERR_UNSUPPORTED, "raman: %s has no Raman response; use raman: none or auto", name);
    if (!(temperature > 0.0) || !(rho >= 0.0))
        FAIL(ERR_ARGUMENT,
             "raman: temperature %g K, density %g 1/m^3; the first must be positive, the "
             "second not negative",
             temperature, rho);
    if (rho == 0.0)
        return 0;
    if (r != NULL)
        add_rotation(r, temperature, rho, out);
    if (v != NULL)
        add_vibration(v, rho, out);
    return 0;
}

double raman_lines_response(const struct raman_lines *lines, double t)
{
    double sum = 0.0;
    for (int i = 0; i < lines->count && t >= 0.0; i++) {
        const struct raman_line *const k = &lines->line[i];
        sum += k->strength * sin(k->omega * t) * exp(-t / k->tau);
    }
    return sum;
}

cplx raman_lines_transfer(const struct raman_lines *lines, double omega)
{
    cplx sum = cplx_make(0.0, 0.0);
    for (int i = 0; i < lines->count; i++) {
        const struct raman_line *const k = &lines->line[i];
        /* K Omega/(Omega^2 + (1/tau + i omega)^2) */
        const cplx below =
            cplx_make((k->omega - omega) * (k->omega + omega) + 1.0 / (k->tau * k->tau),
                      2.0 * omega / k->tau);
        const double scale = k->strength * k->omega / cplx_abs2(below);
        sum = cplx_add(sum, cplx_make(scale * below.r, -scale * below.i));
    }
    return sum;
}

/* dh/dt at 0 from above. */
static double first_slope(const struct raman_lines *lines)
{
    double sum = 0.0;
    for (int i = 0; i < lines->count; i++)
        sum += lines->line[i].strength * lines->line[i].omega;
    return sum;
}

void raman_lines_sample(const struct raman_lines *lines, double dt, long n, double *h)
{
    h[0] = dt * (dt / 12.0) * first_slope(lines);
    for (long j = 1; j < n; j++)
        h[j] = dt * raman_lines_response(lines, dt * (double)j)
               * pulse_planck((double)j / (double)n, TAPER);
}
