/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "kernels/base/status.h"
#include "kernels/step/rk45_row.h"

_Static_assert(STEP_TERMS == STAGE_TERMS, "the exponents have all terms");
_Static_assert(STEP_END == RK45_STAGES + 1, "the last stage of a trial");

/* Of the slopes that the last stage takes; the sixth is the new one. */
static const int last_slot[STEP_LAST_SLOPES - 1] = {K1, K3, K4, K5};
static const int last_weight[STEP_LAST_SLOPES] = {0, 2, 3, 4, 5};

static const double stage_c[RK45_STAGES] = {
#define TABLEAU_STAGE(i, c, a1, a2, a3, a4, a5) [(i)-1] = (c),
#define TABLEAU_LAST(j, b, e)
#include "kernels/step/tableau.def"
#undef TABLEAU_STAGE
};

static const double stage_a[RK45_STAGES][RK45_STAGES] = {
#define TABLEAU_STAGE(i, c, a1, a2, a3, a4, a5) [(i)-1] = {a1, a2, a3, a4, a5},
#include "kernels/step/tableau.def"
#undef TABLEAU_STAGE
#undef TABLEAU_LAST
};

#define TABLEAU_STAGE(i, c, a1, a2, a3, a4, a5)
static const double weight_b[RK45_STAGES + 2] = {
#define TABLEAU_LAST(j, b, e) [(j)-1] = (b),
#include "kernels/step/tableau.def"
#undef TABLEAU_LAST
};

static const double weight_e[RK45_STAGES + 2] = {
#define TABLEAU_LAST(j, b, e) [(j)-1] = (e),
#include "kernels/step/tableau.def"
#undef TABLEAU_LAST
};
#undef TABLEAU_STAGE

/* N of a stage at one of the positions of the row's last path, `at`, 0 before the first step.
 */
static int evaluate(struct stepper *s, long r, double dz, int at, int stage,
                    struct row_status *st)
{
    const struct step_system *system = &s->setup.system;
    const struct step_place place = {
        .z = s->row[r].z + dz, .index = system->path != NULL ? at : -1, .stage = stage};
    const struct step_call call = {.row = r,
                                   .rows = 1,
                                   .group = s->setup.group,
                                   .stage = stage,
                                   .place = &place,
                                   .spectrum = s->row[r].spectrum,
                                   .ld = s->ld_spec,
                                   .st = st};
    st->rhs_calls++;
    TRY(system->nonlinear(system->model, &call));
    const bool last = stage == 0 || stage == STEP_END;
    return last && system->gather != NULL ? system->gather(system->model, &call) : 0;
}

static int path_read(struct stepper *s, long r, const double *dz, int count,
                     struct row_status *st, double (*out)[STEP_TERMS])
{
    const struct step_system *system = &s->setup.system;
    if (system->path != NULL) {
        st->bundles++;
        return system->path(system->model, r, s->row[r].z, dz, count, out);
    }
    for (int i = 0; i < count; i++)
        out[i][0] = dz[i];
    return 0;
}

/* The largest exponents up to a position: bounds of the terms, added. */
struct exponent_bound {
    double loss, phase;
};

static struct exponent_bound bound_of_path(const struct step_row *row, const double *integral)
{
    struct exponent_bound b = {0.0, 0.0};
    for (int j = 0; j < row->terms; j++) {
        b.loss += row->most_loss[j] * fabs(integral[j]);
        b.phase += row->most_phase[j] * fabs(integral[j]);
    }
    return b;
}

int step_path(struct stepper *s, long r, double h, struct row_status *st,
              struct trial_path *out, double *limit)
{
    out->h = h;
    for (int i = 0; i < RK45_STAGES; i++)
        out->dz[i] = stage_c[i] * h;
    TRY(path_read(s, r, out->dz, RK45_STAGES, st, out->integral));
    *limit = 0.0;
    out->mild = true;
    for (int i = 0; i < RK45_STAGES && !isnan(*limit); i++) {
        const struct exponent_bound b = bound_of_path(&s->row[r], out->integral[i]);
        const double excess = b.loss / STEP_LOSS_LIMIT + b.phase / STEP_PHASE_LIMIT;
        *limit = excess <= *limit ? *limit : excess; /* a NaN stays */
        /* The bound and the exponents are rounded, each by a few units. */
        out->mild = out->mild && b.loss <= VMATH_MILD * (1.0 - 1e-12);
    }
    return 0;
}

static int scalars_upload(struct stepper *s, const struct step_row *row,
                          const struct trial_path *path)
{
    const double h = path->h;
    const bool inlined = row->terms <= STEP_INLINE_TERMS;
    struct trial_scalars v = {.e7 = h * weight_e[RK45_STAGES + 1],
                              .rtol = row->control.rtol,
                              .atol = row->control.atol};
    for (int i = 0; i < RK45_STAGES; i++) {
        v.ch[i] = inlined ? path->integral[i][0] : 1.0;
        v.ch2[i] = row->terms == 2 ? path->integral[i][1] : 0.0;
        for (int j = 0; j < row->terms; j++)
            v.path[i][j] = path->integral[i][j];
        for (int j = 0; j <= i; j++)
            v.hb[i][j] = h * stage_a[i][j];
    }
    for (int j = 0; j < STEP_LAST_SLOPES; j++) {
        v.last_hb[j] = h * weight_b[last_weight[j]];
        v.last_he[j] = h * weight_e[last_weight[j]];
    }
    struct backend *be = s->setup.backend;
    return be->ops->upload(be, row->scalars, &v, sizeof v);
}

/* Zeros on both sides of a span that the pass over it writes: the gap that ends at its start,
 * and for the last span the one behind it. */
static struct k_zeros span_zeros(const struct step_row *row, int p)
{
    struct k_zeros zeros = {0, 0};
    for (int g = 0; g < row->gaps; g++) {
        const long length = row->gap[g].end - row->gap[g].begin;
        if (row->gap[g].end == row->span[p].begin)
            zeros.before = length;
        else if (p == row->spans - 1 && row->gap[g].begin == row->span[p].end)
            zeros.after = length;
    }
    return zeros;
}

int step_join(struct stepper *s, long r, enum step_slot slot)
{
    struct backend *be = s->setup.backend;
    const struct step_row *row = &s->row[r];
    const struct spectral_join_args args = {.in = row->slot[slot],
                                            .out = row->spectrum,
                                            .zeros = {0, s->setup.spectrum - s->setup.n},
                                            .ld = s->ld,
                                            .ld_spec = s->ld_spec};
    return be->kernels->spectral_join(be, &args, 0, s->setup.group, s->setup.n);
}

int step_split(struct stepper *s, long r, enum step_slot slot)
{
    struct backend *be = s->setup.backend;
    const struct step_row *row = &s->row[r];
    const struct spectral_split_args args = {row->spectrum, row->slot[slot], s->ld, s->ld_spec,
                                             NULL};
    return be->kernels->spectral_split(be, &args, 0, s->setup.group, s->setup.n);
}

long step_bins(const struct stepper *s)
{
    return s->setup.group * s->setup.n;
}

int step_upload(struct stepper *s, long r, const cplx *from)
{
    struct backend *be = s->setup.backend;
    const long n = s->setup.n;
    for (long g = 0; g < s->setup.group; g++)
        TRY(be->ops->upload(be, s->row[r].spectrum + g * s->ld_spec, from + g * n,
                            (size_t)n * sizeof(cplx)));
    return 0;
}

int step_download(struct stepper *s, long r, cplx *to)
{
    struct backend *be = s->setup.backend;
    const long n = s->setup.n;
    for (long g = 0; g < s->setup.group; g++)
        TRY(be->ops->download(be, to + g * n, s->row[r].spectrum + g * s->ld_spec,
                              (size_t)n * sizeof(cplx)));
    return 0;
}

/* Where a pass over a span puts its sums. */
static double *span_sums(const struct stepper *s, const struct step_row *row, int p,
                         enum step_sum kind)
{
    return row->sums + (p * STEP_SUMS + (int)kind) * s->setup.group;
}

/* Adds those of a span's [group] states. */
static void sums_add(const double *sums, long group, struct trial_result *out)
{
    for (long g = 0; g < group; g++) {
        out->new2 += sums[SUM_STATE * group + g];
        out->e2 += sums[SUM_ERROR * group + g];
        const double *const bin = sums + SUM_BINS * group + 2 * g;
        out->bins += bin[0];
        out->top = bin[1] <= out->top ? out->top : bin[1]; /* a NaN stays */
    }
}

/* The sums of a row; N vanishes in the bins that no pass covers. */
static int sums_download(struct stepper *s, const struct step_row *row,
                         struct trial_result *out)
{
    struct backend *be = s->setup.backend;
    const long group = s->setup.group;
    const long count = STEP_SUMS * group; /* of a span */
    double sums[STEP_SPANS * STEP_SUMS * STEP_GROUP];
    TRY(be->ops->download(be, sums, row->sums, (size_t)(row->spans * count) * sizeof sums[0]));
    out->e2 = out->new2 = out->bins = out->top = 0.0;
    for (int p = 0; p < row->spans; p++)
        sums_add(sums + p * count, group, out);
    return 0;
}

/* Once at the start of a row; later it is the last slope of the step before. */
int step_first_slope(struct stepper *s, long r, struct row_status *st, double *norm)
{
    struct backend *be = s->setup.backend;
    struct step_row *row = &s->row[r];
    const double here = 0.0;
    double integral[1][STEP_TERMS] = {{0.0}};
    TRY(path_read(s, r, &here, 1, st, integral));
    TRY(step_join(s, r, STATE));
    TRY(evaluate(s, r, here, 0, 0, st));
    for (int p = 0; p < row->spans; p++) {
        const struct step_span span = row->span[p];
        const struct step_open_args args = {.pre = row->slot[PREFACTOR] + span.begin,
                                            .spec = row->spectrum + span.begin,
                                            .k = row->slot[K1] + span.begin,
                                            .out = span_sums(s, row, p, SUM_ERROR),
                                            .ld = s->ld,
                                            .ld_spec = s->ld_spec};
        TRY(be->kernels->step_open(be, &args, 0, s->setup.group, span.end - span.begin));
    }
    st->passes += 2;
    struct trial_result sums;
    TRY(sums_download(s, row, &sums));
    *norm = sqrt(sums.e2);
    row->have_slope = true;
    return 0;
}

/* The exponents up to position i as rows, where a pass has too many terms. */
static int trial_exponents(struct stepper *s, struct step_row *row, int i)
{
    struct backend *be = s->setup.backend;
    for (int p = 0; row->terms > STEP_INLINE_TERMS && p < row->spans; p++) {
        const struct step_span span = row->span[p];
        struct stage_exponent_args args = {.path = row->scalars->path[i],
                                           .phase = row->phase + span.begin,
                                           .loss = row->lossy ? row->loss[i % 2] + span.begin
                                                              : NULL,
                                           .ld = s->ld,
                                           .group = s->setup.group};
        for (int j = 0; j < STEP_TERMS; j++) {
            const int term = j < row->terms ? j : 0; /* path[i][j] is 0 beyond */
            args.li[j] = row->li[term] + span.begin;
            args.lr[j] = row->lossy ? row->lr[term] + span.begin : NULL;
        }
        TRY((row->terms > STAGE_FEW ? be->kernels->stage_exponent_all
                                    : be->kernels->stage_exponent)(be, &args, 0, s->setup.group,
                                                                   span.end - span.begin));
    }
    return 0;
}

/* Rows of the exponent's factors at position i, for a pass over a span. */
struct exponent_rows {
    const double *li, *li2, *lr, *lr2, *lr_end;
};

static struct exponent_rows exponent_rows(const struct step_row *row, long begin, int i)
{
    struct exponent_rows e = {NULL, NULL, NULL, NULL, NULL};
    const bool inlined = row->terms <= STEP_INLINE_TERMS;
    e.li = (inlined ? row->li[0] : row->phase) + begin;
    e.li2 = row->terms == 2 ? row->li[1] + begin : NULL;
    if (row->lossy) {
        e.lr = (inlined ? row->lr[0] : row->loss[i % 2]) + begin;
        e.lr2 = row->terms == 2 ? row->lr[1] + begin : NULL;
        e.lr_end = (inlined ? row->lr[0] : row->loss[(i + 1) % 2]) + begin;
    }
    return e;
}

/* Which kernels: without loss, with one, with a small one. */
static int loss_kind(const struct step_row *row, bool mild)
{
    return !row->lossy ? 0 : mild ? 2 : 1;
}

/* The argument of N at the first c. */
static int trial_entry(struct stepper *s, struct step_row *row, bool mild)
{
    struct backend *be = s->setup.backend;
    const struct kernel_table *run = be->kernels;
    TRY(trial_exponents(s, row, 0));
    for (int p = 0; p < row->spans; p++) {
        const struct step_span span = row->span[p];
        const struct exponent_rows e = exponent_rows(row, span.begin, 0);
        const struct stage_entry_args args = {.y = row->slot[STATE] + span.begin,
                                              .k = row->slot[K1] + span.begin,
                                              .hb = row->scalars->hb[0],
                                              .ch = &row->scalars->ch[0],
                                              .ch2 = &row->scalars->ch2[0],
                                              .li = e.li,
                                              .li2 = e.li2,
                                              .lr = e.lr,
                                              .lr2 = e.lr2,
                                              .factor = row->slot[FACTOR] + span.begin,
                                              .out = row->spectrum + span.begin,
                                              .zeros = span_zeros(row, p),
                                              .ld = s->ld,
                                              .ld_spec = s->ld_spec,
                                              .group = s->setup.group};
        int (*const of[3][2])(struct backend *, const struct stage_entry_args *, long, long,
                              long) = {{run->stage_entry, run->stage_entry_two},
                                       {run->stage_entry_loss, run->stage_entry_loss_two},
                                       {run->stage_entry_mild, run->stage_entry_mild_two}};
        TRY(of[loss_kind(row, mild)][row->terms == 2](be, &args, 0, s->setup.group,
                                                      span.end - span.begin));
    }
    return 0;
}

/* Slope i + 1 out of N at c_i, and the argument of N at c_{i+1}; i = 1 … 4. */
static int trial_turn(struct stepper *s, struct step_row *row, int i, bool mild)
{
    struct backend *be = s->setup.backend;
    const struct kernel_table *run = be->kernels;
    TRY(trial_exponents(s, row, i));
    for (int p = 0; p < row->spans; p++) {
        const struct step_span span = row->span[p];
        const struct exponent_rows e = exponent_rows(row, span.begin, i);
        struct stage_turn_args args = {.y = row->slot[STATE] + span.begin,
                                       .hb = row->scalars->hb[i],
                                       .ch = &row->scalars->ch[i],
                                       .ch2 = &row->scalars->ch2[i],
                                       .ch_end = &row->scalars->ch[i - 1],
                                       .ch2_end = &row->scalars->ch2[i - 1],
                                       .li = e.li,
                                       .li2 = e.li2,
                                       .lr = e.lr,
                                       .lr2 = e.lr2,
                                       .lr_end = e.lr_end,
                                       .pre = row->slot[PREFACTOR] + span.begin,
                                       .spec = row->spectrum + span.begin,
                                       .factor = row->slot[FACTOR] + span.begin,
                                       .slope = row->slot[K1 + i] + span.begin,
                                       .out = row->spectrum + span.begin,
                                       .zeros = span_zeros(row, p),
                                       .ld = s->ld,
                                       .ld_spec = s->ld_spec,
                                       .group = s->setup.group};
        for (int j = 0; j < i; j++)
            args.k[j] = row->slot[K1 + j] + span.begin;
        int (*const of[3][2])(struct backend *, const struct stage_turn_args *, long, long,
                              long) = {{run->stage_turn[i], run->stage_turn_two[i]},
                                       {run->stage_turn_loss[i], run->stage_turn_loss_two[i]},
                                       {run->stage_turn_mild[i], run->stage_turn_mild_two[i]}};
        TRY(of[loss_kind(row, mild)][row->terms == 2](be, &args, 0, s->setup.group,
                                                      span.end - span.begin));
    }
    return 0;
}

/* The new state into K3 and the argument of N, the partial error into K2. */
static int trial_last(struct stepper *s, struct step_row *row, bool mild)
{
    struct backend *be = s->setup.backend;
    const struct kernel_table *run = be->kernels;
    for (int p = 0; p < row->spans; p++) {
        const struct step_span span = row->span[p];
        const struct exponent_rows e = exponent_rows(row, span.begin, RK45_STAGES - 1);
        struct step_last_args args = {.y = row->slot[STATE] + span.begin,
                                      .hb = row->scalars->last_hb,
                                      .he = row->scalars->last_he,
                                      .ch = &row->scalars->ch[RK45_STAGES - 1],
                                      .ch2 = &row->scalars->ch2[RK45_STAGES - 1],
                                      .lr = e.lr,
                                      .lr2 = e.lr2,
                                      .pre = row->slot[PREFACTOR] + span.begin,
                                      .factor = row->slot[FACTOR] + span.begin,
                                      .spec = row->spectrum + span.begin,
                                      .state = row->slot[K3] + span.begin,
                                      .part = row->slot[K2] + span.begin,
                                      .next = row->spectrum + span.begin,
                                      .zeros = span_zeros(row, p),
                                      .out = span_sums(s, row, p, SUM_STATE),
                                      .ld = s->ld,
                                      .ld_spec = s->ld_spec,
                                      .group = s->setup.group};
        for (int j = 0; j < STEP_LAST_SLOPES - 1; j++)
            args.k[j] = row->slot[last_slot[j]] + span.begin;
        int (*const of[3][2])(struct backend *, const struct step_last_args *, long, long,
                              long) = {{run->step_last, run->step_last},
                                       {run->step_last_loss, run->step_last_loss_two},
                                       {run->step_last_mild, run->step_last_mild_two}};
        TRY(of[loss_kind(row, mild)][row->terms == 2](be, &args, 0, s->setup.group,
                                                      span.end - span.begin));
    }
    return 0;
}

/* The slope of the new state into K4, and the error. */
static int trial_close(struct stepper *s, struct step_row *row)
{
    struct backend *be = s->setup.backend;
    for (int p = 0; p < row->spans; p++) {
        const struct step_span span = row->span[p];
        const struct step_close_args args = {.pre = row->slot[PREFACTOR] + span.begin,
                                             .part = row->slot[K2] + span.begin,
                                             .spec = row->spectrum + span.begin,
                                             .k = row->slot[K4] + span.begin,
                                             .last = &row->scalars->e7,
                                             .out = span_sums(s, row, p, SUM_ERROR),
                                             .ld = s->ld,
                                             .ld_spec = s->ld_spec,
                                             .group = s->setup.group};
        TRY(be->kernels->step_close(be, &args, 0, s->setup.group, span.end - span.begin));
    }
    return 0;
}

/* The sums of the norms that look at single bins. */
static int trial_bins(struct stepper *s, struct step_row *row)
{
    struct backend *be = s->setup.backend;
    for (int p = 0; p < row->spans; p++) {
        const struct step_span span = row->span[p];
        const struct step_bin_args args = {.part = row->slot[K2] + span.begin,
                                           .k = row->slot[K4] + span.begin,
                                           .y = row->slot[STATE] + span.begin,
                                           .state = row->slot[K3] + span.begin,
                                           .last = &row->scalars->e7,
                                           .rtol = &row->scalars->rtol,
                                           .atol = &row->scalars->atol,
                                           .out = span_sums(s, row, p, SUM_BINS),
                                           .ld = s->ld,
                                           .group = s->setup.group};
        TRY(be->kernels->step_bin(be, &args, 0, s->setup.group, span.end - span.begin));
    }
    return 0;
}

/* Error over tolerance in the row's norm. */
static double trial_error(const struct stepper *s, const struct step_row *row,
                          const struct trial_result *sums)
{
    switch (row->control.norm) {
    case STEP_NORM_RMS:
        return sqrt(sums->bins / (double)step_bins(s));
    case STEP_NORM_MAX:
        return sqrt(sums->top);
    case STEP_NORM_L2:
        break;
    }
    return step_error_l2(&row->control, sums->e2, row->y2, sums->new2);
}

int step_trial(struct stepper *s, long r, const struct trial_path *path, struct row_status *st,
               struct trial_result *out)
{
    struct step_row *row = &s->row[r];
    TRY(scalars_upload(s, row, path));
    TRY(trial_entry(s, row, path->mild));
    TRY(evaluate(s, r, path->dz[0], 0, 1, st));
    for (int i = 1; i < RK45_STAGES; i++) {
        TRY(trial_turn(s, row, i, path->mild));
        TRY(evaluate(s, r, path->dz[i], i, i + 1, st));
    }
    TRY(trial_last(s, row, path->mild));
    /* The last two slopes stand at the end of the step. */
    TRY(evaluate(s, r, path->dz[RK45_STAGES - 1], RK45_STAGES - 1, STEP_END, st));
    TRY(trial_close(s, row));
    st->passes += RK45_TRIAL_PASSES;
    if (row->terms > STEP_INLINE_TERMS)
        st->passes += RK45_PHASE_PASSES;
    if (row->control.norm != STEP_NORM_L2) {
        TRY(trial_bins(s, row));
        st->passes++;
    }
    TRY(sums_download(s, row, out));
    out->err = trial_error(s, row, out);
    return 0;
}
