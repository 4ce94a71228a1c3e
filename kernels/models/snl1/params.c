/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>

#include "kernels/base/status.h"
#include "kernels/models/snl1/snl1_model.h"

#define ROW_OFF 1e-5 /* of a frequency in a file from the chain's */

static const char *const packages[] = {"st2", "st4", "st6", "wam", NULL};
static const char *const arithmetics[] = {"parity", "fast", NULL};

static const struct data_field fields[] = {
    {"action", "m^3 s rad^-1", "Action density N(k, theta): points, frequencies, directions", 3,
     false},
    {"group_velocity", "m s^-1", "Points, frequencies", 2, false},
    {"relative_depth", "1", "Mean wavenumber times depth: points", 1, false},
    {"frequency", "Hz", "When it is there, it must be the grid's", 1, true},
    {NULL, NULL, NULL, 0, false}};
static const struct data_info sea_data = {.fields = fields};

#define REAL(n, u, f, low, high, fl, text)                                                     \
    {                                                                                          \
        .name = (n), .kind = PARAM_REAL, .unit = (u), .fallback = (f), .minimum = (low),       \
        .maximum = (high), .flags = (fl), .doc = (text)                                        \
    }
#define WHOLE(n, f, low, high, fl, text)                                                       \
    {                                                                                          \
        .name = (n), .kind = PARAM_INT, .unit = "1", .fallback = (f), .minimum = (low),        \
        .maximum = (high), .flags = (fl), .doc = (text)                                        \
    }
#define GRID   (PARAM_STRUCTURAL | PARAM_GRID)
#define TABLES PARAM_STRUCTURAL
#define OPEN   PARAM_OPEN

static const struct param_info params[] = {
    WHOLE("grid.frequencies", "32", 1, SNL1_ROWS_MAX, GRID, "Rows of the spectrum, nk"),
    WHOLE("grid.directions", "36", 1, SNL1_NTH_MAX, GRID, "Directions of the full circle, nth"),
    REAL("grid.ratio", "1", "1.1", 1.00001, 16, GRID, "Ratio of neighbouring frequencies, xfr"),
    REAL("grid.first", "Hz", "0.0373", 0, 1000, GRID | OPEN, "First frequency, fr1"),
    {.name = "package",
     .kind = PARAM_CHOICE,
     .unit = "1",
     .fallback = "st4",
     .minimum = 0,
     .maximum = 3,
     .flags = TABLES,
     .choices = packages,
     .doc = "Physics package whose constant is taken: st2 1.00e7, st4 2.50e7, st6 3.00e7, wam "
            "2.78e7"},
    REAL("quadruplet.strength", "1", "auto", 0, 1e30, TABLES | PARAM_NONE,
         "NLPROP; auto: that of the package"),
    REAL("quadruplet.lambda", "1", "0.25", 0, 0.5, TABLES | OPEN,
         "Shape of the quadruplet, below 0.5"),
    WHOLE("quadruplet.iqtype", "1", -1e6, 1e6, TABLES,
          "IQTYPE; below 0 another method is meant, which is refused"),
    REAL("depth.scale", "1", "0.75", -1e30, 1e30, TABLES, "KDCONV, factor of the mean depth"),
    REAL("depth.least", "1", "0.5", 0, 1e30, TABLES | OPEN, "KDMIN, least relative depth"),
    REAL("depth.c1", "1", "5.5", -1e30, 1e30, TABLES, "SNLCS1 of the depth factor"),
    REAL("depth.c2", "1", "0.833", -1e30, 1e30, TABLES, "SNLCS2 of the depth factor"),
    REAL("depth.c3", "1", "-1.25", -1e30, 1e30, TABLES, "SNLCS3 of the depth factor"),
    REAL("tail.power", "1", "5", -100, 100, TABLES,
         "The frequency spectrum falls with this power beyond the last row"),
    {.name = "arithmetic",
     .kind = PARAM_CHOICE,
     .unit = "1",
     .fallback = "parity",
     .minimum = 0,
     .maximum = 1,
     .flags = TABLES,
     .choices = arithmetics,
     .doc = "parity: the bits of WAVEWATCH III; fast: within 4e-6 of the largest value"},
    WHOLE("sea.points", "1", 1, 1000000, GRID, "Sea points of a member"),
    {.name = "sea.file",
     .kind = PARAM_DATA,
     .unit = "1",
     .data = &sea_data,
     .flags = PARAM_NONE,
     .doc = "Sea states of an HDF5 or NetCDF-4 file, in place of those that are made"},
    WHOLE("sea.block", "0", 0, 1e12, 0,
          "Which points of the file: from block times sea.points on"),
    REAL("sea.depth", "m", "50", 0, 1e6, OPEN, "Depth of the water"),
    REAL("sea.height", "m", "3", 0, 1e30, 0, "Significant height of the wind sea"),
    REAL("sea.peak", "Hz", "0.1", 0, 1000, OPEN, "Peak frequency of the wind sea"),
    REAL("sea.gamma", "1", "3.3", 1, 100, 0, "Peak enhancement of the wind sea"),
    REAL("sea.spread", "1", "10", 0, 1000, 0, "s of the wind sea's cos^2s(theta/2)"),
    REAL("sea.direction", "rad", "0", -1000, 1000, 0, "Direction of the wind sea"),
    REAL("sea.turn", "rad", "0", -1000, 1000, 0,
         "Turn of both directions from one sea point to the next"),
    REAL("swell.height", "m", "0", 0, 1e30, 0, "Significant height of the swell; 0: none"),
    REAL("swell.peak", "Hz", "0.06", 0, 1000, OPEN, "Peak frequency of the swell"),
    REAL("swell.gamma", "1", "3.3", 1, 100, 0, "Peak enhancement of the swell"),
    REAL("swell.spread", "1", "25", 0, 1000, 0, "s of the swell's cos^2s(theta/2)"),
    REAL("swell.direction", "rad", "0", -1000, 1000, 0, "Direction of the swell"),
    REAL("noise.share", "1", "0", 0, 1, 0,
         "Share of each bin that is drawn, with the exponential scatter of a random sea"),
    WHOLE("noise.seed", "0", 0, 1e15, 0, "Seed of the draw"),
};

static const struct observable_info observables[] = {
    {"points", "1", "Sea points computed"},
    {"negative_points", "1", "Of these, with a negative value in the spectrum"},
    {"nonfinite_points", "1", "Of these, whose results are not all finite; left out below"},
    {"height", "m", "Significant wave height, mean over the points"},
    {"source_max", "m^3 rad^-1", "Largest |S|"},
    {"diagonal_min", "s^-1", "Least D"},
    {"diagonal_max", "s^-1", "Largest D"},
    {"action_balance", "1",
     "|sum| over sum of sizes of the action term, largest of the points"},
    {"energy_balance", "1", "The same of energy"},
    {"momentum_balance", "1", "The same of momentum"},
};

static const struct bound_info bounds[] = {
    {"source", CONTRACT_P, "bits", "arithmetic parity: equal, bit for bit, NaN as NaN",
     "WAVEWATCH III 7.14, W3SNL1"},
    {"diagonal", CONTRACT_P, "bits", "arithmetic parity: equal, bit for bit, NaN as NaN",
     "WAVEWATCH III 7.14, W3SNL1"},
    {"source, fast", CONTRACT_R, "largest value of a point",
     "4e-6 max|S|, 4e-6 max|D|, for lambda >= 0.1; tiny and overflowing spectra apart",
     "kernels/contract/bounds.def, snl1_fast"},
    {"point independence", CONTRACT_P, "bits",
     "no point depends on its block, threads, ranks or vector width of one kernel",
     "docs/models/snl1.md"},
    {"rotation, mirror, powers of two", CONTRACT_P, "bits",
     "a turned or mirrored spectrum has a turned or mirrored term; 2^n A has 8^n S, 4^n D",
     "docs/models/snl1.md"},
    {"action_balance, energy_balance", CONTRACT_R, "sum of sizes",
     "2e-6 where nothing leaves the grid", "kernels/contract/bounds.def, snl1_conserved"},
    {"momentum_balance", CONTRACT_R, "sum of sizes", "5e-3 where nothing leaves the grid",
     "kernels/contract/bounds.def, snl1_momentum"},
};

const struct model_info snl1_info = {
    .name = "snl1",
    .doc =
        "Nonlinear source term of ocean waves (discrete interaction approximation) for blocks "
        "of sea points",
    .numerics_version = 1,
    .convention = "WAVEWATCH III: action N(k, theta), directions fastest",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .observables = observables,
    .observable_count = sizeof observables / sizeof observables[0],
    .bounds = bounds,
    .bound_count = sizeof bounds / sizeof bounds[0]};

/* Reading */

static float real(const struct params *p, const char *name)
{
    return (float)params_real(p, name);
}

static void read_config(const struct params *p, struct snl1_config *c)
{
    (void)snl1_defaults((int)params_int(p, "package"), c);
    c->nk = (int32_t)params_int(p, "grid.frequencies");
    c->nth = (int32_t)params_int(p, "grid.directions");
    c->xfr = real(p, "grid.ratio");
    c->fr1 = real(p, "grid.first");
    c->lam = real(p, "quadruplet.lambda");
    c->kdcon = real(p, "depth.scale");
    c->kdmin = real(p, "depth.least");
    c->snls1 = real(p, "depth.c1");
    c->snls2 = real(p, "depth.c2");
    c->snls3 = real(p, "depth.c3");
    c->fachf = real(p, "tail.power");
    c->iqtype = (int32_t)params_real(p, "quadruplet.iqtype");
    if (params_is_set(p, "quadruplet.strength"))
        c->nlprop = real(p, "quadruplet.strength");
}

static struct snl1_system read_system(const struct params *p, const char *group)
{
    double value[5];
    static const char *const keys[5] = {"height", "peak", "gamma", "spread", "direction"};
    for (int i = 0; i < 5; i++) {
        char name[48];
        snprintf(name, sizeof name, "%s.%s", group, keys[i]);
        value[i] = params_real(p, name);
    }
    return (struct snl1_system){value[0], value[1], value[2], value[3], value[4]};
}

static int check_length(const struct data_array *array, int dim, long length, const char *what)
{
    if (array->length[dim] != length)
        FAIL(ERR_ARGUMENT, "sea.file: %s has %ld %s; %ld are wanted", array->name,
             array->length[dim], what, length);
    return 0;
}

static int check_frequencies(const struct snl1_config *c, const struct data_array *there)
{
    float sig[SNL1_ROWS_MAX];
    if (there == NULL)
        return 0;
    TRY(check_length(there, 0, c->nk, "frequencies"));
    snl1_frequencies(c, c->nk, sig);
    for (int32_t i = 0; i < c->nk; i++) {
        const double own = (double)sig[i] / (2.0 * acos(-1.0));
        if (!(fabs(there->real[i] - own) <= ROW_OFF * own))
            FAIL(ERR_ARGUMENT,
                 "sea.file: frequency %d is %.7g Hz; grid.first and grid.ratio give %.7g Hz",
                 (int)i + 1, there->real[i], own);
    }
    return 0;
}

/* Arrays that fit to each other and to the grid; a set known by its hash alone passes. */
static int read_file(const struct params *p, struct snl1_point *out)
{
    out->file = params_data(p, "sea.file");
    out->there = out->points;
    out->first = params_int(p, "sea.block") * out->points;
    if (out->file == NULL || out->file->arrays == 0)
        return 0;
    const struct data_array *const action = data_find(out->file, "action");
    const struct data_array *const cg = data_find(out->file, "group_velocity");
    const struct data_array *const depth = data_find(out->file, "relative_depth");
    const long npts = action->length[0];
    TRY(check_length(action, 1, out->config.nk, "frequencies"));
    TRY(check_length(action, 2, out->config.nth, "directions"));
    TRY(check_length(cg, 0, npts, "points"));
    TRY(check_length(cg, 1, out->config.nk, "frequencies"));
    TRY(check_length(depth, 0, npts, "points"));
    TRY(check_frequencies(&out->config, data_find(out->file, "frequency")));
    if (out->first >= npts)
        FAIL(ERR_ARGUMENT, "sea.block %ld begins at point %ld; the file has %ld points",
             params_int(p, "sea.block"), out->first, npts);
    out->there = npts - out->first < out->points ? npts - out->first : out->points;
    return 0;
}

int snl1_read(const struct params *p, struct snl1_point *out)
{
    *out = (struct snl1_point){.arithmetic = (int)params_int(p, "arithmetic"),
                               .points = params_int(p, "sea.points"),
                               .turn = params_real(p, "sea.turn"),
                               .sea = {.depth = params_real(p, "sea.depth"),
                                       .sea = read_system(p, "sea"),
                                       .swell = read_system(p, "swell"),
                                       .noise = params_real(p, "noise.share"),
                                       .seed = (uint64_t)params_real(p, "noise.seed")}};
    read_config(p, &out->config);
    return read_file(p, out);
}

/* Sea states */

static void fill_from_file(const struct snl1_point *point, float *a, float *cg, float *kdmean)
{
    const long nk = point->config.nk;
    const long nspec = nk * point->config.nth;
    const double *const action = data_find(point->file, "action")->real + point->first * nspec;
    const double *const speed =
        data_find(point->file, "group_velocity")->real + point->first * nk;
    const double *const depth = data_find(point->file, "relative_depth")->real + point->first;
    for (long i = 0; i < point->points * nspec; i++)
        a[i] = i < point->there * nspec ? (float)action[i] : 0.0f;
    for (long i = 0; i < point->points * nk; i++)
        cg[i] = i < point->there * nk ? (float)speed[i] : 1.0f;
    for (long i = 0; i < point->points; i++)
        kdmean[i] = i < point->there ? (float)depth[i] : 1.0f;
}

void snl1_fill(const struct snl1_point *point, const float *sig, float *a, float *cg,
               float *kdmean)
{
    const struct snl1_config *const c = &point->config;
    const struct snl1_grid grid = {c->nk, c->nth, (double)c->xfr, sig};
    struct snl1_sea sea = point->sea;
    if (point->file != NULL) {
        fill_from_file(point, a, cg, kdmean);
        return;
    }
    for (long p = 0; p < point->points; p++) {
        sea.point = (uint32_t)p;
        snl1_sea_fill(&grid, &sea, a + p * c->nk * c->nth, cg + p * c->nk, kdmean + p);
        sea.sea.direction += point->turn;
        sea.swell.direction += point->turn;
    }
}

/* Sums */

void snl1_sum(const struct snl1_grid *grid, const float *a, const float *cg, const float *s,
              const float *d, struct snl1_sums *out)
{
    enum { KINDS = 4 };
    const double two_pi = 2.0 * acos(-1.0);
    double sum[KINDS] = {0};
    double size[KINDS] = {0};
    *out = (struct snl1_sums){
        .height = snl1_sea_height(grid, a, cg), .lowest = INFINITY, .highest = -INFINITY};
    for (int32_t f = 0; f < grid->nk; f++) {
        const double sigma = (double)grid->sig[f];
        const double per_action = two_pi * sigma / (double)cg[f];
        for (int32_t t = 0; t < grid->nth; t++) {
            const long i = f * (long)grid->nth + t;
            const double theta = two_pi * t / grid->nth;
            const double term = (double)s[i] * per_action;
            const double terms[KINDS] = {term, term * sigma, term * sigma * sigma * cos(theta),
                                         term * sigma * sigma * sin(theta)};
            for (int k = 0; k < KINDS; k++) {
                sum[k] += terms[k];
                size[k] += fabs(terms[k]);
            }
            out->source = fmax(out->source, fabs((double)s[i]));
            out->lowest = fmin(out->lowest, (double)d[i]);
            out->highest = fmax(out->highest, (double)d[i]);
        }
    }
    double balance[KINDS];
    for (int k = 0; k < KINDS; k++)
        balance[k] = size[k] > 0.0 ? fabs(sum[k]) / size[k] : 0.0;
    out->action = balance[0];
    out->energy = balance[1];
    out->momentum = fmax(balance[2], balance[3]);
}
