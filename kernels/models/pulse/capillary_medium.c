/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/capillary_medium.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/constants.h"

/* Stretches between two kinks at whose ends the terms are checked: in all, and at least for
 * each pair of kinks. */
#define STRETCHES       64
#define STRETCHES_LEAST 4
#define KINKS           (2 * GRADIENT_POINTS + 2)
#define PLACES          (KINKS * STRETCHES_LEAST + STRETCHES)

/* Largest (u/(k a))^2 of the carrier: from 1 on the mode is cut off. */
#define GRAZING_LIMIT 0.5

/* Sets of terms that are tried. */
#define CHOICES 7

/* -ln(w) of a window in units of the absorption length, at most. */
#define ABSORBER_CAP 40.0

/* Places along a guide, and L of one bin at each. */
struct survey {
    int count;
    struct guide_place at[PLACES];
    double slope[PLACES];
    double li[PLACES];
    double lr[PLACES];
};

static struct guide_place mean_place(const struct capillary_medium *m)
{
    return (struct guide_place){m->mean, m->radius};
}

/* Power loss, 1/m, without its limit. */
static double raw_alpha(const struct capillary_medium *m, const struct guide_bin *bin,
                        struct guide_place at)
{
    return m->guide.loss * 2.0 * bin->omega.c[0].r / PULSE_C
           * guide_excess_value(&m->guide, bin, at).i;
}

/* Share of its loss that a bin has everywhere, so that it stays below the limit of a guide
 * where it is largest: in the thinnest gas and the narrowest place. */
static double loss_share(const struct capillary_medium *m, const struct guide_bin *bin)
{
    const struct guide_place worst = {m->low, m->narrow};
    const double alpha = m->guide.loss > 0.0 ? raw_alpha(m, bin, worst) : 0.0;
    if (!(alpha > 0.0))
        return 0.0;
    return alpha > GUIDE_ALPHA_MAX ? GUIDE_ALPHA_MAX / alpha : 1.0;
}

/* L without the absorber at a frequency and place, `slope` X'(omega0) there. */
static cplx linear_at(const struct capillary_medium *m, const struct guide_bin *bin,
                      struct guide_place at, double slope, double share)
{
    const double w = bin->omega.c[0].r;
    const cplx excess = guide_excess_value(&m->guide, bin, at);
    const double alpha = m->guide.loss * 2.0 * w / PULSE_C * excess.i * share;
    return cplx_make(-0.5 * alpha, slope * w - w / PULSE_C * excess.r);
}

/* X'(omega0) at a place. */
static double frame_slope(const struct capillary_medium *m, struct guide_place at)
{
    struct guide_bin bin;
    guide_bin_load(&m->guide, m->omega0, 1, &bin);
    const struct taylor excess = guide_excess(&m->guide, &bin, at);
    return (excess.c[0].r + m->omega0 * excess.c[1].r) / PULSE_C;
}

/* All terms of a bin of a table. */
static void table_terms(const struct capillary_medium *m, double omega, double *li, double *lr)
{
    for (int j = 0; j < m->terms; j++) {
        const double excess = band_table_read(&m->index, j, omega, 0).c[0].r;
        li[j] = m->slope[j] * omega - omega / PULSE_C * excess;
        lr[j] = 0.0;
    }
}

/* All terms of a bin, without what is the same everywhere. */
static void bin_terms(const struct capillary_medium *m, const struct guide_bin *bin, double *li,
                      double *lr)
{
    if (m->index.columns > 0) {
        table_terms(m, bin->omega.c[0].r, li, lr);
        return;
    }
    double imaginary[CAPILLARY_TERMS] = {0.0};
    double real[CAPILLARY_TERMS] = {0.0};
    const double share = loss_share(m, bin);
    for (int i = 0; i < m->terms; i++) {
        const cplx l = linear_at(m, bin, m->set.node[i], m->slope[i], share);
        imaginary[i] = l.i;
        real[i] = l.r;
    }
    term_set_coefficients(&m->set, imaginary, li);
    term_set_coefficients(&m->set, real, lr);
}

double capillary_absorber(double window)
{
    return window > 0.0 ? fmin(-log(window), ABSORBER_CAP) : ABSORBER_CAP;
}

/* Add what is the same everywhere to Re L: the first of the powers is 1, those of a table have
 * the sum 1. */
static void add_constant(const struct capillary_medium *m, double rate, double *lr)
{
    const int terms = m->index.columns > 0 ? m->terms : 1;
    for (int j = 0; j < terms; j++)
        lr[j] += rate;
}

/* Power loss out of a table, 1/m. */
static double table_loss(const struct capillary_medium *m, double omega)
{
    if (m->loss.columns == 0)
        return 0.0;
    const double alpha = m->loss_factor * band_table_read(&m->loss, 0, omega, 0).c[0].r;
    return fmin(fmax(alpha, 0.0), GUIDE_ALPHA_MAX);
}

void capillary_medium_linear(const struct capillary_medium *medium, long k, double *li,
                             double *lr)
{
    struct guide_bin bin;
    const double omega = real_grid_omega(&medium->grid, k);
    guide_bin_load(&medium->guide, omega, 0, &bin);
    bin_terms(medium, &bin, li, lr);
    add_constant(medium, -0.5 * table_loss(medium, omega), lr);
    const double window = real_grid_spectral(&medium->grid, k);
    if (medium->edge > 0.0)
        add_constant(medium, -medium->edge * capillary_absorber(window), lr);
}

static int by_position(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Ends of the guide and the points between them where pressure or radius has a kink. */
static int find_kinks(const struct capillary_medium *m, double *kink)
{
    const struct gradient_points *const laws[] = {&m->gradient.pressure, &m->gradient.radius};
    int count = 2;
    kink[0] = 0.0;
    kink[1] = m->length;
    for (int l = 0; l < 2; l++)
        for (int i = 0; i < laws[l]->count; i++)
            if (laws[l]->z[i] > 0.0 && laws[l]->z[i] < m->length)
                kink[count++] = laws[l]->z[i];
    qsort(kink, (size_t)count, sizeof *kink, by_position);
    return count;
}

/* Places from kink to kink, close together towards both, as the density may go as the root of
 * the distance. */
static void survey_places(const struct capillary_medium *m, struct survey *out)
{
    double kink[KINKS];
    const int kinks = find_kinks(m, kink);
    const int fair = STRETCHES / (kinks - 1);
    const int each = fair > STRETCHES_LEAST ? fair : STRETCHES_LEAST;
    out->count = 0;
    for (int i = 0; i + 1 < kinks; i++)
        for (int k = 0; k < each; k++) {
            const double along = 0.5 * (1.0 - cos(PULSE_PI * k / each));
            const double z = kink[i] + along * (kink[i + 1] - kink[i]);
            out->at[out->count++] = capillary_medium_place(m, z).at;
        }
    out->at[out->count++] = capillary_medium_place(m, m->length).at;
    for (int i = 0; i < out->count; i++)
        out->slope[i] = frame_slope(m, out->at[i]);
}

/* Largest error of terms for the bin that the survey holds, 1/m. */
static double bin_error(const struct term_set *set, const struct survey *survey,
                        double (*weight)[CAPILLARY_TERMS])
{
    double imaginary[CAPILLARY_TERMS] = {0.0};
    double real[CAPILLARY_TERMS] = {0.0};
    double li[CAPILLARY_TERMS];
    double lr[CAPILLARY_TERMS];
    double worst = 0.0;
    for (int j = 0; j < set->choice.count; j++) {
        imaginary[j] = survey->li[set->place[j]];
        real[j] = survey->lr[set->place[j]];
    }
    term_set_coefficients(set, imaginary, li);
    term_set_coefficients(set, real, lr);
    for (int i = 0; i < survey->count; i++) {
        double phase = -survey->li[i];
        double loss = -survey->lr[i];
        for (int j = 0; j < set->choice.count; j++) {
            phase += weight[i][j] * li[j];
            loss += weight[i][j] * lr[j];
        }
        worst = fmax(worst, fmax(fabs(phase), fabs(loss)));
    }
    return worst;
}

/* Weights of the terms of the sets at the places of a survey. */
typedef double survey_weights[PLACES][CAPILLARY_TERMS];

/* Largest errors of several sets of terms over the whole length, all bins and places. */
static void find_errors(const struct capillary_medium *m, struct survey *survey,
                        const struct term_set *set, int sets, survey_weights *weight,
                        double *error)
{
    for (int s = 0; s < sets; s++) {
        error[s] = 0.0;
        for (int i = 0; i < survey->count; i++)
            term_set_weights(&set[s], survey->at[i], weight[s][i]);
    }
    for (long k = m->grid.first; k < m->grid.last; k++) {
        struct guide_bin bin;
        guide_bin_load(&m->guide, real_grid_omega(&m->grid, k), 0, &bin);
        const double share = loss_share(m, &bin);
        for (int i = 0; i < survey->count; i++) {
            const cplx l = linear_at(m, &bin, survey->at[i], survey->slope[i], share);
            survey->li[i] = l.i;
            survey->lr[i] = l.r;
        }
        for (int s = 0; s < sets; s++)
            error[s] = fmax(error[s], m->length * bin_error(&set[s], survey, weight[s]));
    }
}

static void use_terms(struct capillary_medium *m, const struct term_set *set)
{
    m->set = *set;
    m->terms = set->choice.count;
    for (int i = 0; i < m->terms; i++)
        m->slope[i] = frame_slope(m, set->node[i]);
}

static struct term_set empty_set(const struct capillary_medium *m, struct term_choice choice)
{
    return (struct term_set){
        .choice = choice, .rho = m->high > 0.0 ? m->high : 1.0, .radius = m->narrow};
}

/* The reduced form is linear in density, radius^-2 and radius^-3: values without gas and in a
 * wide guide give the coefficients. Alike of a guide that is the same everywhere. */
static int linear_terms(struct capillary_medium *m, bool gradient, bool taper)
{
    static const struct term_choice choices[2][2] = {
        {{1, {TERM_ONE}}, {3, {TERM_ONE, TERM_A2, TERM_A3}}},
        {{2, {TERM_ONE, TERM_RHO}}, {4, {TERM_ONE, TERM_RHO, TERM_A2, TERM_A3}}}};
    const struct guide_place base = {gradient ? 0.0 : m->mean,
                                     taper ? (double)INFINITY : m->radius};
    struct term_set set = empty_set(m, choices[gradient][taper]);
    for (int i = 0; i < set.choice.count; i++) {
        set.node[i] = base;
        if (set.choice.function[i] == TERM_RHO)
            set.node[i].rho = m->high;
        if (set.choice.function[i] == TERM_A2)
            set.node[i].radius = m->narrow;
        if (set.choice.function[i] == TERM_A3)
            set.node[i].radius = 0.5 * m->narrow;
    }
    if (!term_set_solve(&set))
        FAIL(ERR_BUG, "capillary: the terms of the reduced form are not independent");
    use_terms(m, &set);
    return 0;
}

/* As few terms as hold the full form. */
static int full_terms(struct capillary_medium *m, bool gradient, bool taper)
{
    static const struct term_choice choices[3][CHOICES] = {
        {{2, {TERM_ONE, TERM_RHO}},
         {3, {TERM_ONE, TERM_RHO, TERM_RHO2}},
         {4, {TERM_ONE, TERM_RHO, TERM_RHO2, TERM_RHO3}}},
        {{2, {TERM_ONE, TERM_A2}},
         {3, {TERM_ONE, TERM_A2, TERM_A3}},
         {4, {TERM_ONE, TERM_A2, TERM_A3, TERM_A4}}},
        {{3, {TERM_ONE, TERM_RHO, TERM_A2}},
         {4, {TERM_ONE, TERM_RHO, TERM_RHO2, TERM_A2}},
         {4, {TERM_ONE, TERM_RHO, TERM_A2, TERM_A3}},
         {5, {TERM_ONE, TERM_RHO, TERM_A2, TERM_A3, TERM_RHO_A2}},
         {6, {TERM_ONE, TERM_RHO, TERM_A2, TERM_RHO2, TERM_A3, TERM_RHO_A2}},
         {7, {TERM_ONE, TERM_RHO, TERM_A2, TERM_RHO2, TERM_A3, TERM_RHO_A2, TERM_A4}},
         {8,
          {TERM_ONE, TERM_RHO, TERM_A2, TERM_RHO2, TERM_A3, TERM_RHO_A2, TERM_A4, TERM_RHO3}}}};
    const struct term_choice *const choice = choices[gradient && taper ? 2 : taper ? 1 : 0];
    struct survey survey;
    struct term_set set[CHOICES];
    double error[CHOICES];
    survey_weights *weight;
    int sets = 0;
    survey_places(m, &survey);
    for (int s = 0; s < CHOICES && choice[s].count > 0; s++) {
        set[sets] = empty_set(m, choice[s]);
        sets += term_set_choose(&set[sets], survey.at, survey.count);
    }
    TRY(MEM_NEW(CHOICES, &weight));
    find_errors(m, &survey, set, sets, weight, error);
    mem_free(weight);
    double best = (double)INFINITY;
    for (int s = 0; s < sets; s++) {
        best = fmin(best, error[s]);
        if (error[s] > CAPILLARY_PHASE_ERROR)
            continue;
        use_terms(m, &set[s]);
        m->error = error[s];
        return 0;
    }
    FAIL(
        ERR_UNSUPPORTED,
        "guide.model: the full form along this %s is held to %g rad by its terms, %g are asked "
        "for; use marcatili_reduced or a shorter band",
        gradient && taper ? "gradient and taper"
        : taper           ? "taper"
                          : "gradient",
        best, CAPILLARY_PHASE_ERROR);
}

/* A term for each column. */
static int table_choose(struct capillary_medium *m)
{
    m->terms = m->index.columns;
    for (int j = 0; j < m->terms; j++) {
        const struct taylor excess = band_table_read(&m->index, j, m->omega0, 1);
        m->slope[j] = (excess.c[0].r + m->omega0 * excess.c[1].r) / PULSE_C;
    }
    return 0;
}

static int choose_terms(struct capillary_medium *m, bool gradient, bool taper)
{
    if (m->index.columns > 0)
        return table_choose(m);
    if (m->guide.full && (gradient || taper))
        return full_terms(m, gradient, taper);
    return linear_terms(m, gradient, taper);
}

/* The least, the largest and the mean values along the guide. */
static void find_range(struct capillary_medium *m, const struct mode *mode)
{
    double kink[KINKS];
    const int kinks = find_kinks(m, kink);
    const struct guide_place start = capillary_medium_place(m, 0.0).at;
    m->low = m->high = start.rho;
    m->narrow = m->wide = m->radius = start.radius;
    for (int i = 1; i < kinks; i++) {
        const struct guide_place at = capillary_medium_place(m, kink[i]).at;
        m->low = fmin(m->low, at.rho);
        m->high = fmax(m->high, at.rho);
        m->narrow = fmin(m->narrow, at.radius);
        m->wide = fmax(m->wide, at.radius);
    }
    struct gradient_values whole;
    gradient_read(&m->gradient, 0.0, &m->length, 1, &whole);
    m->mean = m->gradient.pressure.count == 1 ? m->high : whole.rho_dz[0] / m->length;
    if (m->narrow != m->wide)
        m->radius = sqrt(m->length / whole.inverse_square_dz);
    m->area = mode_area(mode, m->radius);
}

/* Mean density, radius and weights; the mean over the length of a table's columns. */
static void find_middle(struct capillary_medium *m)
{
    double integral[1][STEP_TERMS];
    capillary_medium_path(m, 0.0, &m->length, 1, &m->middle, integral);
    m->middle.at = mean_place(m);
    if (m->index.columns == 0)
        term_set_weights(&m->set, m->middle.at, m->middle.weight);
    for (int j = 0; j < m->index.columns; j++)
        m->middle.weight[j] = integral[0][j] / m->length;
}

static int check_loss(const struct capillary_medium *m)
{
    if (m->guide.loss == 0.0)
        return 0;
    if (!(guide_excess(&m->guide, &m->pump, mean_place(m)).c[0].i > 0.0))
        FAIL(ERR_ARGUMENT, "guide.loss: this wall gives the mode no loss at the carrier; use "
                           "loss: false or another wall");
    return 0;
}

/* Whether the guide's formulas, for grazing incidence on the wall, hold at all. */
static int check_guides(const struct capillary_medium *m)
{
    const double grazing = capillary_medium_grazing(m);
    if (!(grazing <= GRAZING_LIMIT))
        FAIL(ERR_ARGUMENT,
             "core_radius: %g m does not guide the carrier in this mode: (u/(k a))^2 is %.3g, "
             "at most %g is accepted",
             m->narrow, grazing, GRAZING_LIMIT);
    return 0;
}

static bool is_read(const struct data_set *set)
{
    return set != NULL && set->arrays > 0;
}

int capillary_medium_data_check(const struct capillary_point *point)
{
    const struct data_set *const sets[] = {point->index_table,       point->loss_table,
                                           point->rate_table,        point->earlier,
                                           point->pulse[0].measured, point->pulse[1].measured,
                                           point->pulse[2].measured, point->step.steps};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        if (sets[i] != NULL && !is_read(sets[i]))
            FAIL(ERR_BUG, "the data with hash %s were not read", sets[i]->hash);
    return 0;
}

/* Tables in place of the guide's own index and loss. */
static int load_tables(const struct capillary_point *point, struct capillary_medium *m)
{
    const double low = real_grid_omega(&m->grid, m->grid.first);
    const double high = real_grid_omega(&m->grid, m->grid.last - 1);
    m->column = point->index_z;
    m->loss_factor = point->loss;
    if (is_read(point->index_table)) {
        TRY(band_table_create(point->index_table, "guide.table", 1.0, &m->index));
        TRY(band_table_check(&m->index, "guide.table", low, high));
        if (m->index.columns != m->column.count)
            FAIL(ERR_ARGUMENT,
                 "guide.table_z: %d positions for the %d columns of guide.table; as many are "
                 "needed",
                 m->column.count, m->index.columns);
    }
    if (!is_read(point->loss_table))
        return 0;
    TRY(band_table_create(point->loss_table, "guide.loss_table", 0.0, &m->loss));
    return band_table_check(&m->loss, "guide.loss_table", low, high);
}

static int load_guide(const struct capillary_point *point, struct capillary_medium *m)
{
    const double turn = 2.0 * PULSE_PI * PULSE_C;
    const struct real_grid *const grid = &m->grid;
    const bool own = point->index_table == NULL && point->loss_table == NULL;
    TRY(glass_init(&m->wall, point->wall, point->wall_index));
    if (point->index_table == NULL)
        TRY(glass_check_band(&m->wall, turn / real_grid_omega(grid, grid->last - 1),
                             turn / real_grid_omega(grid, grid->first)));
    m->guide = (struct guide){.mode = point->mode,
                              .full = point->full,
                              .loss = own ? point->loss : 0.0,
                              .wall = &m->wall,
                              .gas = &m->gas};
    guide_bin_load(&m->guide, m->omega0, 0, &m->pump);
    return 0;
}

int capillary_medium_init(const struct capillary_point *point, struct capillary_medium *out)
{
    struct gradient_points radius = point->radius;
    struct gradient_points pressure = point->pressure;
    *out = (struct capillary_medium){.gas = point->gas,
                                     .grid = point->grid,
                                     .omega0 = point->omega0,
                                     .length = point->length,
                                     .edge = point->edge_length > 0.0 ? 1.0 / point->edge_length
                                                                      : 0.0};
    if (point->uniform)
        pressure.count = 1;
    if (!point->tapered)
        radius.count = 1;
    TRY(load_guide(point, out));
    TRY(load_tables(point, out));
    TRY(gradient_init(&out->gradient, &pressure, &radius, &out->gas));
    find_range(out, &point->mode);
    TRY(point->index_table == NULL ? check_guides(out) : 0);
    TRY(check_loss(out));
    TRY(choose_terms(out, !point->uniform, point->tapered));
    find_middle(out);
    if (point->raman)
        TRY(raman_mix_init(&point->delayed, out->low, out->high, point->grid.window,
                           &out->raman));
    return 0;
}

void capillary_medium_clear(struct capillary_medium *medium)
{
    glass_clear(&medium->wall);
    gradient_clear(&medium->gradient);
    band_table_clear(&medium->index);
    band_table_clear(&medium->loss);
    *medium = (struct capillary_medium){0};
}

/* Weights of the columns of a table at a position: linear between two, constant beyond. */
static void column_weights(const struct gradient_points *column, double z, double *weight)
{
    for (int j = 0; j < column->count; j++)
        weight[j] = 0.0;
    int next = 0;
    while (next < column->count && column->z[next] <= z)
        next++;
    const int last = next > 0 ? next - 1 : 0;
    const double share = next == 0 || next == column->count
                             ? 0.0
                             : (z - column->z[last]) / (column->z[next] - column->z[last]);
    weight[last] = 1.0 - share;
    if (share > 0.0)
        weight[next] = share;
}

/* Their integrals, as direct increments: trapezoids from position to position. */
static void column_integrals(const struct gradient_points *column, double z, double dz,
                             double *integrals)
{
    double from[CAPILLARY_TERMS];
    double to[CAPILLARY_TERMS];
    double left = dz;
    int next = 0;
    column_weights(column, z, from);
    while (next < column->count && column->z[next] <= z)
        next++;
    for (int j = 0; j < column->count; j++)
        integrals[j] = 0.0;
    while (left > 0.0) {
        const bool reaches = next < column->count && left >= column->z[next] - z;
        const double piece = reaches ? column->z[next] - z : left;
        z = reaches ? column->z[next++] : z + piece;
        column_weights(column, z, to);
        for (int j = 0; j < column->count; j++) {
            integrals[j] += 0.5 * piece * (from[j] + to[j]);
            from[j] = to[j];
        }
        left -= piece;
    }
}

static struct capillary_place place_of(const struct capillary_medium *m,
                                       const struct gradient_values *v, double z)
{
    struct capillary_place at = {{v->rho, v->radius}, {0.0}};
    if (m->index.columns > 0)
        column_weights(&m->column, z, at.weight);
    else
        term_set_weights(&m->set, at.at, at.weight);
    return at;
}

void capillary_medium_path(const struct capillary_medium *medium, double anchor,
                           const double *dz, int n, struct capillary_place *at,
                           double (*out)[STEP_TERMS])
{
    for (int i = 0; i < n; i++) {
        struct gradient_values v;
        gradient_read(&medium->gradient, anchor, &dz[i], 1, &v);
        at[i] = place_of(medium, &v, anchor + dz[i]);
        if (medium->index.columns > 1)
            column_integrals(&medium->column, anchor, dz[i], out[i]);
        else if (medium->index.columns == 1)
            out[i][0] = dz[i];
        else
            term_set_integrals(&medium->set, &v, dz[i], out[i]);
    }
}

struct capillary_place capillary_medium_place(const struct capillary_medium *medium, double z)
{
    const double nothing = 0.0;
    struct gradient_values v;
    gradient_read(&medium->gradient, z, &nothing, 1, &v);
    return place_of(medium, &v, z);
}

double capillary_medium_grazing(const struct capillary_medium *medium)
{
    const double x = medium->guide.mode.u * PULSE_C / (medium->omega0 * medium->narrow);
    return x * x;
}

double capillary_medium_loss(const struct capillary_medium *medium, double omega)
{
    const struct guide_place worst = {medium->low, medium->narrow};
    struct guide_bin bin;
    if (medium->loss.columns > 0)
        return medium->loss_factor * band_table_read(&medium->loss, 0, omega, 0).c[0].r;
    if (medium->index.columns > 0 || medium->guide.loss == 0.0)
        return 0.0;
    guide_bin_load(&medium->guide, omega, 0, &bin);
    return raw_alpha(medium, &bin, worst);
}

double capillary_medium_transmission(const struct capillary_medium *medium)
{
    double li[CAPILLARY_TERMS] = {0.0};
    double lr[CAPILLARY_TERMS] = {0.0};
    double integral[1][STEP_TERMS] = {{0.0}};
    struct capillary_place end;
    double sum = 0.0;
    bin_terms(medium, &medium->pump, li, lr);
    add_constant(medium, -0.5 * table_loss(medium, medium->omega0), lr);
    capillary_medium_path(medium, 0.0, &medium->length, 1, &end, integral);
    for (int j = 0; j < medium->terms; j++)
        sum += lr[j] * integral[0][j];
    return exp(2.0 * sum);
}
