/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>

#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/models/snl1/snl1_model.h"

static const char *const packages[] = {"st2", "st4", "st6", "wam", NULL};
static const char *const arithmetics[] = {"parity", "fast", NULL};

static const struct data_field fields[] = {
    {"action", "m^3 s rad^-1", "Action density N(k, theta): points, frequencies, directions", 3,
     false},
    {"group_velocity", "m s^-1", "Points, frequencies", 2, false},
    {"relative_depth", "1", "Mean wavenumber times depth: points", 1, false},
    {"frequency", "Hz", "When it is there, it must be the grid's", 1, true},
    {NULL, NULL, NULL, 0, false}};
/* What makes a sea state, and what selects in the file. */
static const char *const made[] = {
    "sea.depth",     "sea.height",      "sea.peak",     "sea.gamma",  "sea.spread",
    "sea.direction", "sea.turn",        "swell.height", "swell.peak", "swell.gamma",
    "swell.spread",  "swell.direction", "noise.share",  "noise.seed", NULL};
static const char *const blocks[] = {"sea.block", NULL};
static const struct data_info sea_data = {.fields = fields, .replaces = made, .serves = blocks};

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
    WHOLE("sea.block", NULL, 0, 1e12, 0,
          "Which points of the file: from block times sea.points on; 0 when not given"),
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
    {"input_bytes", "1",
     "Bytes read out of sea.file for this member, each once; 0: it is in memory"},
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
    .single_plane = true,
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
        if (!(fabs(there->real[i] - own) <= bound(BOUND_frequency_row) * own))
            FAIL(ERR_ARGUMENT,
                 "sea.file: frequency %d is %.7g Hz; grid.first and grid.ratio give %.7g Hz",
                 (int)i + 1, there->real[i], own);
    }
    return 0;
}

/* Bytes of an array's first `there` points that are read where they lie. */
static double bytes_in_place(const struct data_array *array, long npts, long there)
{
    if (array->place.path == NULL)
        return 0.0;
    const long count = data_count(array) / npts * there;
    return (double)count * (double)sizeof(float);
}

/* Arrays that fit to each other and to the grid; a set known by its hash alone passes. */
static int read_file(const struct params *p, struct snl1_point *out)
{
    out->file = params_data(p, "sea.file");
    out->there = out->points;
    const long block = params_is_set(p, "sea.block") ? params_int(p, "sea.block") : 0;
    out->first = block * out->points;
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
        FAIL(ERR_ARGUMENT, "sea.block %ld begins at point %ld; the file has %ld points", block,
             out->first, npts);
    out->there = npts - out->first < out->points ? npts - out->first : out->points;
    out->input_bytes = bytes_in_place(action, npts, out->there)
                       + bytes_in_place(cg, npts, out->there)
                       + bytes_in_place(depth, npts, out->there);
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

/* Numbers of the points that the file has; `rest` for those that it lacks. */
static int fill_array(const struct snl1_point *point, const char *name, long each, float rest,
                      float *out)
{
    const long there = point->there * each;
    TRY(data_read(data_find(point->file, name), point->first * each, there, out));
    for (long i = there; i < point->points * each; i++)
        out[i] = rest;
    return 0;
}

int snl1_fill(const struct snl1_point *point, const float *sig, float *a, float *cg,
              float *kdmean)
{
    const struct snl1_config *const c = &point->config;
    const struct snl1_grid grid = {c->nk, c->nth, (double)c->xfr, sig};
    struct snl1_sea sea = point->sea;
    if (point->file != NULL) {
        TRY(fill_array(point, "action", (long)c->nk * c->nth, 0.0f, a));
        TRY(fill_array(point, "group_velocity", c->nk, 1.0f, cg));
        return fill_array(point, "relative_depth", 1, 1.0f, kdmean);
    }
    for (long p = 0; p < point->points; p++) {
        sea.point = (uint32_t)p;
        snl1_sea_fill(&grid, &sea, a + p * c->nk * c->nth, cg + p * c->nk, kdmean + p);
        sea.sea.direction += point->turn;
        sea.swell.direction += point->turn;
    }
    return 0;
}

/* Sums */

/* Sums over a row: of the terms and of their sizes, times 1, cos and sin of the direction. */
struct row_sums {
    double sum[3];
    double size[3];
};

static struct row_sums sum_row(const float *s, long nth, const double (*unit)[2])
{
    struct row_sums r = {0};
    for (long t = 0; t < nth; t++) {
        const double term = (double)s[t];
        const double east = term * unit[t][0];
        const double north = term * unit[t][1];
        r.sum[0] += term;
        r.sum[1] += east;
        r.sum[2] += north;
        r.size[0] += fabs(term);
        r.size[1] += fabs(east);
        r.size[2] += fabs(north);
    }
    return r;
}

static double ratio_of(double sum, double size)
{
    return size > 0.0 ? fabs(sum) / size : 0.0;
}

static void find_extremes(const float *s, const float *d, long count, struct snl1_sums *out)
{
    float source = 0.0f;
    float lowest = d[0];
    float highest = d[0];
    for (long i = 0; i < count; i++) {
        const float size = fabsf(s[i]);
        source = size > source ? size : source;
        lowest = d[i] < lowest ? d[i] : lowest;
        highest = d[i] > highest ? d[i] : highest;
    }
    out->source = (double)source;
    out->lowest = (double)lowest;
    out->highest = (double)highest;
}

void snl1_sum(const struct snl1_grid *grid, const double (*unit)[2],
              const struct snl1_result *result, struct snl1_sums *out)
{
    const double two_pi = 2.0 * acos(-1.0);
    double sum[4] = {0};
    double size[4] = {0};
    *out = (struct snl1_sums){.height = snl1_sea_height(grid, result->a, result->cg)};
    find_extremes(result->s, result->d, (long)grid->nk * grid->nth, out);
    for (int32_t f = 0; f < grid->nk; f++) {
        const double sigma = (double)grid->sig[f];
        const double per_action = two_pi * sigma / (double)result->cg[f];
        const double factor[4] = {per_action, per_action * sigma, per_action * sigma * sigma,
                                  per_action * sigma * sigma};
        const struct row_sums row = sum_row(result->s + f * (long)grid->nth, grid->nth, unit);
        static const int of[4] = {0, 0, 1, 2};
        for (int k = 0; k < 4; k++) {
            sum[k] += factor[k] * row.sum[of[k]];
            size[k] += factor[k] * row.size[of[k]];
        }
    }
    out->action = ratio_of(sum[0], size[0]);
    out->energy = ratio_of(sum[1], size[1]);
    out->momentum = fmax(ratio_of(sum[2], size[2]), ratio_of(sum[3], size[3]));
}
