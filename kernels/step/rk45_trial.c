/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "kernels/base/status.h"
#include "kernels/step/rk45_row.h"

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

/* N writes the bins that no pass covers, too; in its argument they are zero, as they are in the
 * prefactor. */
static int clear_gap(struct stepper *s, const struct step_row *row)
{
    struct backend *be = s->setup.backend;
    const struct step_span gap = row->gap;
    const struct spectral_join_args args = {
        .in = row->slot[PREFACTOR] + gap.begin, .out = row->spectrum + gap.begin, .ld = s->ld};
    return gap.end > gap.begin
               ? be->kernels->spectral_join(be, &args, 0, 1, gap.end - gap.begin)
               : 0;
}

static int evaluate(struct stepper *s, long r, struct row_status *st)
{
    TRY(clear_gap(s, &s->row[r]));
    st->rhs_calls++;
    return s->setup.system.nonlinear(s->setup.system.model, r, s->row[r].spectrum, st);
}

static int scalars_upload(struct stepper *s, const struct step_row *row, double h)
{
    struct trial_scalars v = {.e7 = h * weight_e[RK45_STAGES + 1],
                              .rtol = row->control.rtol,
                              .atol = row->control.atol};
    for (int i = 0; i < RK45_STAGES; i++) {
        v.ch[i] = stage_c[i] * h;
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

int step_join(struct stepper *s, long r, enum step_slot slot)
{
    struct backend *be = s->setup.backend;
    const struct step_row *row = &s->row[r];
    const struct spectral_join_args args = {row->slot[slot], row->spectrum, s->ld, s->ld_spec,
                                            NULL};
    return be->kernels->spectral_join(be, &args, 0, 1, s->setup.n);
}

int step_split(struct stepper *s, long r, enum step_slot slot)
{
    struct backend *be = s->setup.backend;
    const struct step_row *row = &s->row[r];
    const struct spectral_split_args args = {row->spectrum, row->slot[slot], s->ld, s->ld_spec,
                                             NULL};
    return be->kernels->spectral_split(be, &args, 0, 1, s->setup.n);
}

/* N vanishes in the bins that no pass covers. */
static void sums_read(const struct step_row *row, const double *sums, struct trial_result *out)
{
    double top = 0.0;
    double bins = 0.0;
    out->e2 = out->new2 = 0.0;
    for (int p = 0; p < row->spans; p++) {
        const double *sum = sums + p * STEP_SUMS;
        out->new2 += sum[SUM_STATE];
        out->e2 += sum[SUM_ERROR];
        bins += sum[SUM_BINS];
        top = sum[SUM_TOP] <= top ? top : sum[SUM_TOP]; /* a NaN stays */
    }
    out->bins = bins;
    out->top = top;
}

static int sums_download(struct stepper *s, const struct step_row *row,
                         struct trial_result *out)
{
    struct backend *be = s->setup.backend;
    double sums[STEP_SPANS * STEP_SUMS];
    TRY(be->ops->download(be, sums, row->sums, sizeof sums));
    sums_read(row, sums, out);
    return 0;
}

/* Once at the start of a row; later it is the last slope of the step before. */
int step_first_slope(struct stepper *s, long r, struct row_status *st, double *norm)
{
    struct backend *be = s->setup.backend;
    struct step_row *row = &s->row[r];
    TRY(step_join(s, r, STATE));
    TRY(evaluate(s, r, st));
    for (int p = 0; p < row->spans; p++) {
        const struct step_span span = row->span[p];
        const struct step_open_args args = {.pre = row->slot[PREFACTOR] + span.begin,
                                            .spec = row->spectrum + span.begin,
                                            .k = row->slot[K1] + span.begin,
                                            .out = row->sums + p * STEP_SUMS + SUM_ERROR,
                                            .ld = s->ld};
        TRY(be->kernels->step_open(be, &args, 0, 1, span.end - span.begin));
    }
    st->passes += 2;
    struct trial_result sums;
    TRY(sums_download(s, row, &sums));
    *norm = sqrt(sums.e2);
    row->have_slope = true;
    return 0;
}

/* The argument of N at the first c. */
static int trial_entry(struct stepper *s, struct step_row *row)
{
    struct backend *be = s->setup.backend;
    const struct kernel_table *run = be->kernels;
    for (int p = 0; p < row->spans; p++) {
        const struct step_span span = row->span[p];
        const struct stage_entry_args args = {.y = row->slot[STATE] + span.begin,
                                              .k = row->slot[K1] + span.begin,
                                              .hb = row->scalars->hb[0],
                                              .ch = &row->scalars->ch[0],
                                              .li = row->li + span.begin,
                                              .lr = row->loss ? row->lr + span.begin : NULL,
                                              .factor = row->slot[FACTOR] + span.begin,
                                              .out = row->spectrum + span.begin,
                                              .ld = s->ld};
        TRY((row->loss ? run->stage_entry_loss : run->stage_entry)(be, &args, 0, 1,
                                                                   span.end - span.begin));
    }
    return 0;
}

/* Slope i + 1 out of N at c_i, and the argument of N at c_{i+1}; i = 1 … 4. */
static int trial_turn(struct stepper *s, struct step_row *row, int i)
{
    struct backend *be = s->setup.backend;
    const struct kernel_table *run = be->kernels;
    for (int p = 0; p < row->spans; p++) {
        const struct step_span span = row->span[p];
        struct stage_turn_args args = {.y = row->slot[STATE] + span.begin,
                                       .hb = row->scalars->hb[i],
                                       .ch = &row->scalars->ch[i],
                                       .ch_end = &row->scalars->ch[i - 1],
                                       .li = row->li + span.begin,
                                       .lr = row->loss ? row->lr + span.begin : NULL,
                                       .pre = row->slot[PREFACTOR] + span.begin,
                                       .spec = row->spectrum + span.begin,
                                       .factor = row->slot[FACTOR] + span.begin,
                                       .slope = row->slot[K1 + i] + span.begin,
                                       .out = row->spectrum + span.begin,
                                       .ld = s->ld};
        for (int j = 0; j < i; j++)
            args.k[j] = row->slot[K1 + j] + span.begin;
        TRY((row->loss ? run->stage_turn_loss[i] : run->stage_turn[i])(be, &args, 0, 1,
                                                                       span.end - span.begin));
    }
    return 0;
}

/* The new state into K3 and the argument of N, the partial error into K2. */
static int trial_last(struct stepper *s, struct step_row *row)
{
    struct backend *be = s->setup.backend;
    const struct kernel_table *run = be->kernels;
    for (int p = 0; p < row->spans; p++) {
        const struct step_span span = row->span[p];
        struct step_last_args args = {.y = row->slot[STATE] + span.begin,
                                      .hb = row->scalars->last_hb,
                                      .he = row->scalars->last_he,
                                      .ch = &row->scalars->ch[RK45_STAGES - 1],
                                      .lr = row->loss ? row->lr + span.begin : NULL,
                                      .pre = row->slot[PREFACTOR] + span.begin,
                                      .factor = row->slot[FACTOR] + span.begin,
                                      .spec = row->spectrum + span.begin,
                                      .state = row->slot[K3] + span.begin,
                                      .part = row->slot[K2] + span.begin,
                                      .next = row->spectrum + span.begin,
                                      .out = row->sums + p * STEP_SUMS + SUM_STATE,
                                      .ld = s->ld};
        for (int j = 0; j < STEP_LAST_SLOPES - 1; j++)
            args.k[j] = row->slot[last_slot[j]] + span.begin;
        TRY((row->loss ? run->step_last_loss : run->step_last)(be, &args, 0, 1,
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
                                             .out = row->sums + p * STEP_SUMS + SUM_ERROR,
                                             .ld = s->ld};
        TRY(be->kernels->step_close(be, &args, 0, 1, span.end - span.begin));
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
                                           .out = row->sums + p * STEP_SUMS + SUM_BINS,
                                           .ld = s->ld};
        TRY(be->kernels->step_bin(be, &args, 0, 1, span.end - span.begin));
    }
    return 0;
}

/* Error over tolerance in the row's norm. */
static double trial_error(const struct stepper *s, const struct step_row *row,
                          const struct trial_result *sums)
{
    switch (row->control.norm) {
    case STEP_NORM_RMS:
        return sqrt(sums->bins / (double)s->setup.n);
    case STEP_NORM_MAX:
        return sqrt(sums->top);
    case STEP_NORM_L2:
        break;
    }
    return step_error_l2(&row->control, sums->e2, row->y2, sums->new2);
}

int step_trial(struct stepper *s, long r, double h, struct row_status *st,
               struct trial_result *out)
{
    struct step_row *row = &s->row[r];
    TRY(scalars_upload(s, row, h));
    TRY(trial_entry(s, row));
    TRY(evaluate(s, r, st));
    for (int i = 1; i < RK45_STAGES; i++) {
        TRY(trial_turn(s, row, i));
        TRY(evaluate(s, r, st));
    }
    TRY(trial_last(s, row));
    TRY(evaluate(s, r, st));
    TRY(trial_close(s, row));
    st->passes += RK45_TRIAL_PASSES;
    if (row->control.norm != STEP_NORM_L2) {
        TRY(trial_bins(s, row));
        st->passes++;
    }
    TRY(sums_download(s, row, out));
    out->err = trial_error(s, row, out);
    return 0;
}
