/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/real_grid.h"

#include <math.h>

#include "kernels/base/status.h"
#include "kernels/models/pulse/constants.h"
#include "kernels/models/pulse/grid.h"

/* Sizes that are chosen are multiples of this. */
#define STEP 32
/* Share of the window at each side that tapers. */
#define PLANCK_SHARE 0.05
#define SIN2_SHARE   0.1

static double omega_at(double wavelength)
{
    return 2.0 * PULSE_PI * PULSE_C / wavelength;
}

/* Rising half of a taper, x from 0 to 1. */
static double rise(enum taper_kind kind, double x)
{
    if (x >= 1.0)
        return 1.0;
    if (x <= 0.0)
        return 0.0;
    if (kind == TAPER_SIN2) {
        const double s = sin(0.5 * PULSE_PI * x);
        return s * s;
    }
    return pulse_planck(1.0 - x, 1.0);
}

long real_grid_bins(const struct real_grid *grid)
{
    return grid->coarse / 2 + 1;
}

double real_grid_omega(const struct real_grid *grid, long k)
{
    return 2.0 * PULSE_PI / grid->window * (double)k;
}

double real_grid_time(const struct real_grid *grid, long j)
{
    const long middle = grid->fine / 2;
    return grid->window / (double)grid->fine * (double)(j - middle);
}

double real_grid_spectral(const struct real_grid *grid, long k)
{
    /* The last bin of the coarse samples has no phase. */
    if (k < 1 || 2 * k >= grid->coarse)
        return 0.0;
    if (grid->spectral == TAPER_NONE)
        return 1.0;
    const double w = real_grid_omega(grid, k);
    const double red = omega_at(grid->longest);
    const double blue = omega_at(grid->shortest);
    if (w < red)
        return rise(grid->spectral, (w - 0.5 * red) / (0.5 * red));
    return rise(grid->spectral,
                (REAL_GRID_GUARD * blue - w) / ((REAL_GRID_GUARD - 1.0) * blue));
}

/* Share of the window that tapers at each side. */
static double taper_share(const struct real_grid *grid)
{
    return grid->time == TAPER_SIN2 ? SIN2_SHARE : PLANCK_SHARE;
}

double real_grid_taper(const struct real_grid *grid)
{
    return grid->time == TAPER_NONE ? 0.0 : taper_share(grid) * grid->window;
}

double real_grid_temporal(const struct real_grid *grid, long j)
{
    if (grid->time == TAPER_NONE)
        return 1.0;
    const double x = (double)j / (double)grid->fine;
    return rise(grid->time, fmin(x, 1.0 - x) / taper_share(grid));
}

static int check_limits(const struct real_grid *g)
{
    if (!(g->shortest > 0.0 && g->shortest < g->longest && isfinite(g->longest)))
        FAIL(ERR_ARGUMENT,
             "grid.wavelengths: %g m to %g m; two wavelengths are needed, the shortest and the "
             "longest",
             g->shortest, g->longest);
    if (!(g->window > 0.0 && isfinite(g->window)))
        FAIL(ERR_ARGUMENT, "grid.window: %g s; it must be positive", g->window);
    const double red = 0.5 * PULSE_C / g->longest * g->window;
    if (!(red >= 1.0))
        FAIL(ERR_ARGUMENT,
             "grid.window: %g s does not resolve the band's red limit, %g m and its taper; at "
             "least %g s are needed",
             g->window, g->longest, g->window / red);
    return 0;
}

/* The smallest size of at least `needed` that is a product of 2, 3, 5 and 7. */
static int choose_size(double needed, long *out)
{
    if (!(needed <= PULSE_GRID_MAX))
        FAIL(ERR_ARGUMENT,
             "grid: %g samples are needed for this window and band; at most %d are supported",
             needed, PULSE_GRID_MAX);
    long n = ((long)ceil(needed) + STEP - 1) / STEP * STEP;
    while (!pulse_grid_smooth(n))
        n += STEP;
    *out = n;
    return 0;
}

static int check_size(const char *name, long n, double needed)
{
    if (n < PULSE_GRID_MIN || n > PULSE_GRID_MAX || n % 2 != 0 || !pulse_grid_smooth(n))
        FAIL(ERR_ARGUMENT, "%s: %ld is not an even 2^a 3^b 5^c 7^d between %d and %d", name, n,
             PULSE_GRID_MIN, PULSE_GRID_MAX);
    if (!((double)n >= needed)) {
        long enough = 0;
        TRY(choose_size(needed, &enough));
        FAIL(ERR_ARGUMENT,
             "%s: %ld samples do not hold the band of grid.wavelengths in this window; at "
             "least %g are needed, %ld would do",
             name, n, needed, enough);
    }
    return 0;
}

/* Where the spectral window is not 0; there is a coarse size. */
static void find_active(struct real_grid *grid)
{
    grid->first = 1;
    while (real_grid_spectral(grid, grid->first) == 0.0)
        grid->first++;
    grid->last = grid->coarse / 2;
    while (real_grid_spectral(grid, grid->last - 1) == 0.0)
        grid->last--;
}

/* Complex samples: as many as the state has bins are needed. */
static int complete_envelope(struct real_grid *grid)
{
    const double bins = (double)real_grid_bins(grid);
    find_active(grid);
    const double wanted = (double)(REAL_GRID_ENVELOPE * (grid->last - grid->first));
    if (grid->fine == 0)
        TRY(choose_size(fmax(wanted, bins), &grid->fine));
    return check_size("grid.fine", grid->fine, bins);
}

int real_grid_complete(struct real_grid *grid, double theta)
{
    TRY(check_limits(grid));
    const double periods = grid->window * PULSE_C / grid->shortest;
    const double band = 2.0 * REAL_GRID_GUARD * periods; /* Nyquist of the guarded band */
    const double rule = theta > 0.0 ? 2.0 * PULSE_PI * REAL_GRID_GUARD * periods / theta : 0.0;
    if (grid->coarse == 0)
        TRY(choose_size(band, &grid->coarse));
    TRY(check_size("grid.coarse", grid->coarse, band));
    if (grid->envelope)
        return complete_envelope(grid);
    if (grid->fine == 0)
        TRY(choose_size(fmax(fmax(REAL_GRID_SAMPLES * periods, rule), (double)grid->coarse),
                        &grid->fine));
    TRY(check_size("grid.fine", grid->fine, fmax(band, rule)));
    if (grid->coarse > grid->fine)
        FAIL(ERR_ARGUMENT, "grid.coarse: %ld samples are more than grid.fine, %ld",
             grid->coarse, grid->fine);
    find_active(grid);
    return 0;
}
