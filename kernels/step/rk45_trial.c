/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "kernels/base/status.h"
#include "kernels/step/rk45_row.h"

_Static_assert(STEP_TERMS == STAGE_TERMS, "the exponents have all terms");
_Static_assert(STEP_END == RK45_STAGES + 1, "the last stage of a trial");

/* Of the slopes that the last stage takes; the sixth is the new one. */
static const int last_slot[STEP_LAST_SLOPES - 1] = {K1, K3, K4, K5};
static const int last_weight[STEP_LAST_SLOPES] = {0, 2, 3, 4, 5};

/* The call of N for the rows that are on, at their position number `at`. */
static struct step_call call_of(struct stepper *s, const struct step_team *team, int at,
                                int stage, struct row_status *st)
{
    const bool path = s->setup.system.path != NULL;
    for (long r = team->first; r < team->first + team->rows; r++) {
        const double dz = stage == 0 ? 0.0 : s->trial[r].path.dz[at];
        s->place[r] =
            (struct step_place){.z = s->row[r].z + dz, .index = path ? at : -1, .stage = stage};
    }
    return (struct step_call){.row = team->first,
                              .rows = team->rows,
                              .group = s->setup.group,
                              .stage = stage,
                              .on = team->joint ? team->on : NULL,
                              .active = step_mask_of(s, team, MASK_ACTIVE),
                              .place = s->place + team->first,
                              .spectrum = team->spectrum,
                              .ld = s->ld_spec,
                              .st = st + team->first};
}

/* N of a stage at one of the positions of the rows' last paths, `at`, 0 before the first step.
 */
static int evaluate(struct stepper *s, const struct step_team *team, int at, int stage,
                    struct row_status *st)
{
    const struct step_system *system = &s->setup.system;
    const struct step_call call = call_of(s, team, at, stage, st);
    for (long i = 0; i < team->rows; i++)
        call.st[i].rhs_calls += team->on[i] ? 1 : 0;
    return system->nonlinear(system->model, &call);
}

/* What the model left of the last evaluation; the stepper's own sums are on their way. */
static int gather(struct stepper *s, const struct step_team *team, int at, int stage,
                  struct row_status *st)
{
    const struct step_system *system = &s->setup.system;
    if (system->gather == NULL)
        return 0;
    const struct step_call call = call_of(s, team, at, stage, st);
    return system->gather(system->model, &call);
}

/* Adds to the passes of the rows that are on. */
static void count_passes(const struct step_team *team, int passes, struct row_status *st)
{
    for (long i = 0; i < team->rows; i++)
        st[team->first + i].passes += team->on[i] ? passes : 0;
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

int step_path(struct stepper *s, long r, double h, struct row_status *st, double *limit)
{
    struct trial_path *const out = &s->trial[r].path;
    out->h = h;
    for (int i = 0; i < RK45_STAGES; i++)
        out->dz[i] = tableau_c[i] * h;
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

/* Number i of a team's scalars, `width` to a row. */
static double *scalars_of(const struct step_team *team, int scalar, long i, int width)
{
    return step_scalars_at(team, team->block, scalar) + i * width;
}

/* Weights of the slopes in turn k, 1 … 4. */
static int turn_scalar(int k)
{
    return SCALAR_HB + (k - 1) * STAGE_SLOPES;
}

/* Integrals of the terms that a row has; 0 of those that its team has besides. */
static void scalars_path(const struct step_team *team, const struct step_row *row, long i,
                         const struct trial_path *path)
{
    for (int k = 0; k < RK45_STAGES; k++) {
        double *const to = scalars_of(team, SCALAR_PATH + k * STEP_TERMS, i, STEP_TERMS);
        for (int j = 0; j < STEP_TERMS; j++)
            to[j] = j < row->terms ? path->integral[k][j] : 0.0;
        const bool inlined = team->terms <= STEP_INLINE_TERMS;
        *scalars_of(team, SCALAR_CH + k, i, 1) = inlined ? to[0] : 1.0;
        *scalars_of(team, SCALAR_CH2 + k, i, 1) = team->terms == 2 ? to[1] : 0.0;
    }
}

/* Scalars of row i of a team. */
static void scalars_fill(const struct stepper *s, const struct step_team *team, long i)
{
    const struct step_row *row = &s->row[team->first + i];
    const struct trial_path *path = &s->trial[team->first + i].path;
    scalars_path(team, row, i, path);
    *scalars_of(team, SCALAR_ENTRY, i, 1) = path->h * tableau_a[0][0];
    for (int k = 1; k < RK45_STAGES; k++) {
        double *const to = scalars_of(team, turn_scalar(k), i, STAGE_SLOPES);
        for (int j = 0; j <= k; j++)
            to[j] = path->h * tableau_a[k][j];
    }
    double *const hb = scalars_of(team, SCALAR_LAST_HB, i, STEP_LAST_SLOPES);
    double *const he = scalars_of(team, SCALAR_LAST_HE, i, STEP_LAST_SLOPES);
    for (int j = 0; j < STEP_LAST_SLOPES; j++) {
        hb[j] = path->h * tableau_b[last_weight[j]];
        he[j] = path->h * tableau_e[last_weight[j]];
    }
    *scalars_of(team, SCALAR_E7, i, 1) = path->h * tableau_e[RK45_STAGES + 1];
    *scalars_of(team, SCALAR_RTOL, i, 1) = row->control.rtol;
    *scalars_of(team, SCALAR_ATOL, i, 1) = row->control.atol;
}

/* All that a trial needs, in one copy; then what the one before left to take over. */
static int trial_begin(struct stepper *s, struct step_team *team)
{
    for (long i = 0; i < team->rows; i++)
        if (team->on[i])
            scalars_fill(s, team, i);
    TRY(step_send_trial(s, team));
    return step_take(s, team, true);
}

/* Where a scalar of all rows lies on the backend. */
static const double *scalar(const struct step_team *team, int which)
{
    return step_scalars_at(team, team->scalars, which);
}

/* Zeros on both sides of a span that the pass over it writes: the gap that ends at its start,
 * and for the last span the one behind it. */
static struct k_zeros span_zeros(const struct step_team *team, int p)
{
    struct k_zeros zeros = {0, 0};
    for (int g = 0; g < team->gaps; g++) {
        const long length = team->gap[g].end - team->gap[g].begin;
        if (team->gap[g].end == team->span[p].begin)
            zeros.before = length;
        else if (p == team->spans - 1 && team->gap[g].begin == team->span[p].end)
            zeros.after = length;
    }
    return zeros;
}

/* States of a team: rows of its launches. */
static long team_states(const struct stepper *s, const struct step_team *team)
{
    return team->rows * s->setup.group;
}

/* Where a pass over a span puts its sums. */
static double *span_sums(const struct stepper *s, const struct step_team *team, int p,
                         enum step_sum kind)
{
    return team->sums + (p * STEP_SUMS + (int)kind) * team_states(s, team);
}

/* Adds those of a span of row i, of all its states. */
static void sums_add(const struct stepper *s, const struct step_team *team, int p, long i,
                     struct trial_result *out)
{
    const long states = team_states(s, team);
    const double *const sums = team->found + p * STEP_SUMS * states;
    for (long g = i * s->setup.group; g < (i + 1) * s->setup.group; g++) {
        out->new2 += sums[SUM_STATE * states + g];
        out->e2 += sums[SUM_ERROR * states + g];
        const double *const bin = sums + SUM_BINS * states + 2 * g;
        out->bins += bin[0];
        out->top = bin[1] <= out->top ? out->top : bin[1]; /* a NaN stays */
    }
}

/* The sums of all rows; N vanishes in the bins that no pass covers. */
static int sums_download(struct stepper *s, const struct step_team *team)
{
    struct backend *be = s->setup.backend;
    const long count = team->spans * STEP_SUMS * team_states(s, team);
    TRY(be->ops->download(be, team->found, team->sums, (size_t)count * sizeof(double)));
    for (long i = 0; i < team->rows; i++) {
        struct trial_result *const out = &s->trial[team->first + i].result;
        out->e2 = out->new2 = out->bins = out->top = 0.0;
        for (int p = 0; team->on[i] && p < team->spans; p++)
            sums_add(s, team, p, i, out);
    }
    return 0;
}

/* The states as the argument of N. */
static int states_join(struct stepper *s, const struct step_team *team)
{
    struct backend *be = s->setup.backend;
    const struct spectral_join_args args = {.in = team->slot[STATE],
                                            .out = team->spectrum,
                                            .zeros = {0, s->setup.spectrum - s->setup.n},
                                            .ld = s->ld,
                                            .ld_spec = s->ld_spec,
                                            .active = step_mask_of(s, team, MASK_ACTIVE)};
    return be->kernels->spectral_join(be, &args, 0, team_states(s, team), s->setup.n);
}

static int slopes_open(struct stepper *s, const struct step_team *team)
{
    struct backend *be = s->setup.backend;
    for (int p = 0; p < team->spans; p++) {
        const struct step_span span = team->span[p];
        const struct step_open_args args = {.pre = team->slot[PREFACTOR] + span.begin,
                                            .spec = team->spectrum + span.begin,
                                            .k = team->slot[K1] + span.begin,
                                            .out = span_sums(s, team, p, SUM_ERROR),
                                            .ld = s->ld,
                                            .ld_spec = s->ld_spec,
                                            .active = step_mask_of(s, team, MASK_ACTIVE)};
        TRY(be->kernels->step_open(be, &args, 0, team_states(s, team), span.end - span.begin));
    }
    return 0;
}

/* Once at the start of a row; later it is the last slope of the step before. */
int step_first_slopes(struct stepper *s, struct step_team *team, struct row_status *st)
{
    const double here = 0.0;
    double integral[1][STEP_TERMS] = {{0.0}};
    for (long i = 0; i < team->rows; i++)
        if (team->on[i])
            TRY(path_read(s, team->first + i, &here, 1, &st[team->first + i], integral));
    TRY(step_send_mask(s, team));
    TRY(states_join(s, team));
    TRY(evaluate(s, team, 0, 0, st));
    TRY(slopes_open(s, team));
    count_passes(team, 2, st);
    TRY(gather(s, team, 0, 0, st));
    TRY(sums_download(s, team));
    for (long i = 0; i < team->rows; i++)
        if (team->on[i])
            s->row[team->first + i].have_slope = true;
    return 0;
}

/* The exponents up to position i as rows, where a pass has too many terms. */
static int trial_exponents(struct stepper *s, const struct step_team *team, int i)
{
    struct backend *be = s->setup.backend;
    for (int p = 0; team->terms > STEP_INLINE_TERMS && p < team->spans; p++) {
        const struct step_span span = team->span[p];
        struct stage_exponent_args args = {.path = scalar(team, SCALAR_PATH + i * STEP_TERMS),
                                           .phase = team->phase + span.begin,
                                           .loss = team->lossy ? team->loss + span.begin : NULL,
                                           .ld = s->ld,
                                           .group = s->setup.group,
                                           .active = step_mask_of(s, team, MASK_ACTIVE)};
        for (int j = 0; j < STEP_TERMS; j++) {
            const int term = j < team->terms ? j : 0; /* path[i][j] is 0 beyond */
            args.li[j] = team->li[term] + span.begin;
            args.lr[j] = team->lossy ? team->lr[term] + span.begin : NULL;
        }
        TRY((team->terms > STAGE_FEW ? be->kernels->stage_exponent_all
                                     : be->kernels->stage_exponent)(
            be, &args, 0, team_states(s, team), span.end - span.begin));
    }
    return 0;
}

/* Rows of the exponent's factors, for a pass over a span. */
struct exponent_rows {
    const double *li, *li2, *lr, *lr2;
};

static struct exponent_rows exponent_rows(const struct step_team *team, long begin)
{
    struct exponent_rows e = {NULL, NULL, NULL, NULL};
    const bool inlined = team->terms <= STEP_INLINE_TERMS;
    e.li = (inlined ? team->li[0] : team->phase) + begin;
    e.li2 = team->terms == 2 ? team->li[1] + begin : NULL;
    if (team->lossy) {
        e.lr = (inlined ? team->lr[0] : team->loss) + begin;
        e.lr2 = team->terms == 2 ? team->lr[1] + begin : NULL;
    }
    return e;
}

/* Which kernels: without loss, with one, with a small one. */
static int loss_kind(const struct step_team *team, bool mild)
{
    return !team->lossy ? 0 : mild ? 2 : 1;
}

/* The argument of N at the first c. */
static int trial_entry(struct stepper *s, const struct step_team *team, bool mild)
{
    struct backend *be = s->setup.backend;
    const struct kernel_table *run = be->kernels;
    TRY(trial_exponents(s, team, 0));
    for (int p = 0; p < team->spans; p++) {
        const struct step_span span = team->span[p];
        const struct exponent_rows e = exponent_rows(team, span.begin);
        const struct stage_entry_args args = {.y = team->slot[STATE] + span.begin,
                                              .k = team->slot[K1] + span.begin,
                                              .hb = scalar(team, SCALAR_ENTRY),
                                              .ch = scalar(team, SCALAR_CH),
                                              .ch2 = scalar(team, SCALAR_CH2),
                                              .li = e.li,
                                              .li2 = e.li2,
                                              .lr = e.lr,
                                              .lr2 = e.lr2,
                                              .factor = team->slot[FACTOR] + span.begin,
                                              .out = team->spectrum + span.begin,
                                              .zeros = span_zeros(team, p),
                                              .ld = s->ld,
                                              .ld_spec = s->ld_spec,
                                              .group = s->setup.group,
                                              .active = step_mask_of(s, team, MASK_ACTIVE)};
        int (*const of[3][2])(struct backend *, const struct stage_entry_args *, long, long,
                              long) = {{run->stage_entry, run->stage_entry_two},
                                       {run->stage_entry_loss, run->stage_entry_loss_two},
                                       {run->stage_entry_mild, run->stage_entry_mild_two}};
        TRY(of[loss_kind(team, mild)][team->terms == 2](be, &args, 0, team_states(s, team),
                                                        span.end - span.begin));
    }
    return 0;
}

/* Slope i + 1 out of N at c_i, and the argument of N at c_{i+1}; i = 1 … 4. */
static int trial_turn(struct stepper *s, const struct step_team *team, int i, bool mild)
{
    struct backend *be = s->setup.backend;
    const struct kernel_table *run = be->kernels;
    TRY(trial_exponents(s, team, i));
    for (int p = 0; p < team->spans; p++) {
        const struct step_span span = team->span[p];
        const struct exponent_rows e = exponent_rows(team, span.begin);
        struct stage_turn_args args = {.y = team->slot[STATE] + span.begin,
                                       .hb = scalar(team, turn_scalar(i)),
                                       .ch = scalar(team, SCALAR_CH + i),
                                       .ch2 = scalar(team, SCALAR_CH2 + i),
                                       .li = e.li,
                                       .li2 = e.li2,
                                       .lr = e.lr,
                                       .lr2 = e.lr2,
                                       .pre = team->slot[PREFACTOR] + span.begin,
                                       .spec = team->spectrum + span.begin,
                                       .factor = team->slot[FACTOR] + span.begin,
                                       .slope = team->slot[K1 + i] + span.begin,
                                       .out = team->spectrum + span.begin,
                                       .zeros = span_zeros(team, p),
                                       .ld = s->ld,
                                       .ld_spec = s->ld_spec,
                                       .group = s->setup.group,
                                       .active = step_mask_of(s, team, MASK_ACTIVE)};
        for (int j = 0; j < i; j++)
            args.k[j] = team->slot[K1 + j] + span.begin;
        int (*const of[3][2])(struct backend *, const struct stage_turn_args *, long, long,
                              long) = {{run->stage_turn[i], run->stage_turn_two[i]},
                                       {run->stage_turn_loss[i], run->stage_turn_loss_two[i]},
                                       {run->stage_turn_mild[i], run->stage_turn_mild_two[i]}};
        TRY(of[loss_kind(team, mild)][team->terms == 2](be, &args, 0, team_states(s, team),
                                                        span.end - span.begin));
    }
    return 0;
}

/* The new state into K3 and the argument of N, the partial error into K2. */
static int trial_last(struct stepper *s, const struct step_team *team, bool mild)
{
    struct backend *be = s->setup.backend;
    const struct kernel_table *run = be->kernels;
    for (int p = 0; p < team->spans; p++) {
        const struct step_span span = team->span[p];
        const struct exponent_rows e = exponent_rows(team, span.begin);
        struct step_last_args args = {.y = team->slot[STATE] + span.begin,
                                      .hb = scalar(team, SCALAR_LAST_HB),
                                      .he = scalar(team, SCALAR_LAST_HE),
                                      .ch = scalar(team, SCALAR_CH + RK45_STAGES - 1),
                                      .ch2 = scalar(team, SCALAR_CH2 + RK45_STAGES - 1),
                                      .lr = e.lr,
                                      .lr2 = e.lr2,
                                      .pre = team->slot[PREFACTOR] + span.begin,
                                      .factor = team->slot[FACTOR] + span.begin,
                                      .spec = team->spectrum + span.begin,
                                      .state = team->slot[K3] + span.begin,
                                      .part = team->slot[K2] + span.begin,
                                      .next = team->spectrum + span.begin,
                                      .zeros = span_zeros(team, p),
                                      .out = span_sums(s, team, p, SUM_STATE),
                                      .ld = s->ld,
                                      .ld_spec = s->ld_spec,
                                      .group = s->setup.group,
                                      .active = step_mask_of(s, team, MASK_ACTIVE)};
        for (int j = 0; j < STEP_LAST_SLOPES - 1; j++)
            args.k[j] = team->slot[last_slot[j]] + span.begin;
        int (*const of[3][2])(struct backend *, const struct step_last_args *, long, long,
                              long) = {{run->step_last, run->step_last},
                                       {run->step_last_loss, run->step_last_loss_two},
                                       {run->step_last_mild, run->step_last_mild_two}};
        TRY(of[loss_kind(team, mild)][team->terms == 2](be, &args, 0, team_states(s, team),
                                                        span.end - span.begin));
    }
    return 0;
}

/* The slope of the new state into K4, and the error. */
static int trial_close(struct stepper *s, const struct step_team *team)
{
    struct backend *be = s->setup.backend;
    for (int p = 0; p < team->spans; p++) {
        const struct step_span span = team->span[p];
        const struct step_close_args args = {.pre = team->slot[PREFACTOR] + span.begin,
                                             .part = team->slot[K2] + span.begin,
                                             .spec = team->spectrum + span.begin,
                                             .k = team->slot[K4] + span.begin,
                                             .last = scalar(team, SCALAR_E7),
                                             .out = span_sums(s, team, p, SUM_ERROR),
                                             .ld = s->ld,
                                             .ld_spec = s->ld_spec,
                                             .group = s->setup.group,
                                             .active = step_mask_of(s, team, MASK_ACTIVE)};
        TRY(be->kernels->step_close(be, &args, 0, team_states(s, team), span.end - span.begin));
    }
    return 0;
}

/* The sums of the norms that look at single bins. */
static int trial_bins(struct stepper *s, const struct step_team *team)
{
    struct backend *be = s->setup.backend;
    for (int p = 0; p < team->spans; p++) {
        const struct step_span span = team->span[p];
        const struct step_bin_args args = {.part = team->slot[K2] + span.begin,
                                           .k = team->slot[K4] + span.begin,
                                           .y = team->slot[STATE] + span.begin,
                                           .state = team->slot[K3] + span.begin,
                                           .last = scalar(team, SCALAR_E7),
                                           .rtol = scalar(team, SCALAR_RTOL),
                                           .atol = scalar(team, SCALAR_ATOL),
                                           .out = span_sums(s, team, p, SUM_BINS),
                                           .ld = s->ld,
                                           .group = s->setup.group,
                                           .active = step_mask_of(s, team, MASK_ACTIVE)};
        TRY(be->kernels->step_bin(be, &args, 0, team_states(s, team), span.end - span.begin));
    }
    return 0;
}

/* The passes of a trial, with N between them. */
static int trial_passes(struct stepper *s, const struct step_team *team, struct row_status *st)
{
    const bool mild = !team->joint && s->trial[team->first].path.mild;
    TRY(trial_entry(s, team, mild));
    TRY(evaluate(s, team, 0, 1, st));
    for (int i = 1; i < RK45_STAGES; i++) {
        TRY(trial_turn(s, team, i, mild));
        TRY(evaluate(s, team, i, i + 1, st));
    }
    TRY(trial_last(s, team, mild));
    /* The last two slopes stand at the end of the step. */
    TRY(evaluate(s, team, RK45_STAGES - 1, STEP_END, st));
    TRY(trial_close(s, team));
    count_passes(team, RK45_TRIAL_PASSES, st);
    if (team->terms > STEP_INLINE_TERMS)
        count_passes(team, RK45_PHASE_PASSES, st);
    return 0;
}

/* Whether a row's norm looks at single bins. */
static bool wants_bins(const struct stepper *s, long r)
{
    return s->row[r].control.norm != STEP_NORM_L2;
}

/* The sums of such norms, if a row of the trial has one. */
static int trial_norms(struct stepper *s, const struct step_team *team, struct row_status *st)
{
    bool any = false;
    for (long i = 0; i < team->rows; i++)
        if (team->on[i] && wants_bins(s, team->first + i)) {
            any = true;
            st[team->first + i].passes++;
        }
    return any ? trial_bins(s, team) : 0;
}

/* Error over tolerance in the row's norm. */
static double trial_error(const struct stepper *s, long r)
{
    const struct step_row *row = &s->row[r];
    const struct trial_result *sums = &s->trial[r].result;
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

int step_trial_launch(struct stepper *s, struct step_team *team, struct row_status *st)
{
    TRY(trial_begin(s, team));
    TRY(trial_passes(s, team, st));
    return trial_norms(s, team, st);
}

int step_trial_finish(struct stepper *s, struct step_team *team, struct row_status *st)
{
    TRY(gather(s, team, RK45_STAGES - 1, STEP_END, st));
    TRY(sums_download(s, team));
    for (long i = 0; i < team->rows; i++)
        if (team->on[i])
            s->trial[team->first + i].result.err = trial_error(s, team->first + i);
    return 0;
}
