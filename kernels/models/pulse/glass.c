/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/glass.h"

#include <math.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/numeric/spline.h"

#define GLASS_TERMS 4

/* n^2 = offset + sum of B/(1 - C s^2), s = 1/wavelength in 1/um. */
struct sellmeier {
    const char *name;
    double offset;
    double terms[GLASS_TERMS][2]; /* B, C in um^2 */
};

static const struct sellmeier formulas[] = {
    /* Malitson, J. Opt. Soc. Am. 55, 1205 (1965) */
    [GLASS_SILICA] = {"silica",
                      1.0,
                      {{0.6961663, 0.0684043 * 0.0684043},
                       {0.4079426, 0.1162414 * 0.1162414},
                       {0.8974794, 9.896161 * 9.896161}}},
    [GLASS_SILICA_TABLE] = {"silica_table", 0.0, {{0}}},
    /* Schott */
    [GLASS_BK7] = {"bk7",
                   1.0,
                   {{1.03961212, 0.00600069867},
                    {0.231792344, 0.0200179144},
                    {1.01046945, 103.560653}}},
    /* physics.md §2.2, as the next */
    [GLASS_CAF2] = {"caf2",
                    1.0,
                    {{0.443749998, 0.00178027854},
                     {0.444930066, 0.00788536061},
                     {0.150133991, 0.0124119491},
                     {8.85319946, 2752.28175}}},
    [GLASS_MGF2] = {"mgf2",
                    1.27620,
                    {{0.60967, 0.08636 * 0.08636},
                     {0.0080, 18.0 * 18.0},
                     {2.14973, 25.0 * 25.0}}},
    [GLASS_CONSTANT] = {"constant", 0.0, {{0}}},
};

/* Rows of the table. */
static const double silica[][3] = {
#define SILICA(ev, n, k) {ev, n, k},
#include "kernels/models/pulse/silica.def"
#undef SILICA
};
#define SILICA_ROWS ((long)(sizeof silica / sizeof silica[0]))

/* Wavelength of a photon of this energy, um. */
static double micrometres(double ev)
{
    return 1e6 * 2.0 * PULSE_PI * PULSE_C * PULSE_HBAR / (PULSE_E * ev);
}

static int load_silica(struct glass *glass)
{
    double *x = NULL;
    double *y = NULL;
    int rc = 0;
    TRY_OR(rc, done, MEM_NEW(SILICA_ROWS, &x));
    TRY_OR(rc, done, MEM_NEW(SILICA_ROWS, &y));
    for (long i = 0; i < SILICA_ROWS; i++) {
        x[i] = micrometres(silica[i][0]);
        y[i] = silica[i][1];
    }
    TRY_OR(rc, done, spline_create(x, y, SILICA_ROWS, &glass->n));
    for (long i = 0; i < SILICA_ROWS; i++)
        y[i] = silica[i][2];
    TRY_OR(rc, done, spline_create(x, y, SILICA_ROWS, &glass->k));
done:
    mem_free(x);
    mem_free(y);
    return rc;
}

int glass_init(struct glass *out, enum glass_kind kind, cplx constant)
{
    *out = (struct glass){.kind = kind, .constant = constant};
    if (kind == GLASS_SILICA_TABLE)
        return load_silica(out);
    if (kind == GLASS_CONSTANT
        && !(constant.r > 0.0 && constant.i >= 0.0 && isfinite(constant.r)
             && isfinite(constant.i) && (constant.r != 1.0 || constant.i != 0.0)))
        FAIL(ERR_ARGUMENT,
             "guide.wall: index %g + %gi; a positive real part other than 1 and an imaginary "
             "part >= 0 are needed",
             constant.r, constant.i);
    return 0;
}

void glass_clear(struct glass *glass)
{
    spline_destroy(glass->n);
    spline_destroy(glass->k);
    *glass = (struct glass){0};
}

K_FN struct taylor sellmeier_index(const struct sellmeier *f, double omega, int order)
{
    const struct taylor s =
        taylor_scale(1e-6 / (2.0 * PULSE_PI * PULSE_C), taylor_variable(order, omega));
    const struct taylor s2 = taylor_mul(s, s);
    struct taylor sum = taylor_constant(order, cplx_make(f->offset, 0.0));
    for (int i = 0; i < GLASS_TERMS; i++) {
        const struct taylor below = taylor_shift(taylor_scale(-f->terms[i][1], s2), 1.0);
        sum = taylor_add(sum, taylor_scale(f->terms[i][0], taylor_inverse(below)));
    }
    return taylor_sqrt(sum);
}

static struct taylor table_index(const struct glass *glass, double omega, int order)
{
    const struct taylor wavelength = taylor_scale(
        1e6 * 2.0 * PULSE_PI * PULSE_C, taylor_inverse(taylor_variable(order, omega)));
    struct taylor n = spline_taylor(glass->n, wavelength);
    const struct taylor k = spline_taylor(glass->k, wavelength);
    for (int i = 0; i <= order && k.c[0].r > 0.0; i++)
        n.c[i].i = k.c[i].r;
    return n;
}

struct taylor glass_index(const struct glass *glass, double omega, int order)
{
    if (glass->kind == GLASS_CONSTANT)
        return taylor_constant(order, glass->constant);
    if (glass->kind == GLASS_SILICA_TABLE)
        return table_index(glass, omega, order);
    return TAYLOR_PLAIN(sellmeier_index, order, &formulas[glass->kind], omega);
}

/* Wavelengths between which the glass is known, m. */
static void band_limits(enum glass_kind kind, double *shortest, double *longest)
{
    *shortest = 0.0;
    *longest = (double)INFINITY;
    if (kind == GLASS_SILICA_TABLE) {
        *shortest = 1e-6 * micrometres(silica[0][0]);
        *longest = 1e-6 * micrometres(silica[SILICA_ROWS - 1][0]);
        return;
    }
    /* Poles of the electrons lie below a micrometre, those of the lattice above. */
    for (int i = 0; i < GLASS_TERMS; i++) {
        const double pole = 1e-6 * sqrt(formulas[kind].terms[i][1]);
        if (pole < 1e-6)
            *shortest = fmax(*shortest, pole);
        else
            *longest = fmin(*longest, pole);
    }
}

int glass_check_band(const struct glass *glass, double shortest, double longest)
{
    double low = 0.0;
    double high = 0.0;
    if (glass->kind == GLASS_CONSTANT)
        return 0;
    band_limits(glass->kind, &low, &high);
    if (!(shortest > low && longest < high))
        FAIL(
            ERR_ARGUMENT,
            "guide.wall: %s is known between its resonances at %g m and %g m, the band reaches "
            "from %g m to %g m; silica_table holds from 0.62 nm to 20 um",
            formulas[glass->kind].name, low, high, shortest, longest);
    return 0;
}
