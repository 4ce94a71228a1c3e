/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/status.h"
#include "kernels/contract/bounds.h"
#include "kernels/models/pulse/atomic.h"
#include "kernels/models/pulse/capillary_model.h"

int capillary_transforms(const struct capillary_point *point)
{
    return 2 + (point->third_harmonic || point->envelope ? 0 : 1) + (point->raman ? 2 : 0)
           + (point->time_length > 0.0 ? 1 : 0);
}

int capillary_path(void *model, long row, double z, const double *dz, int count,
                   double (*out)[STEP_TERMS])
{
    struct model *const m = model;
    struct capillary_row *const r = &m->row[row];
    if (count > CAPILLARY_POSITIONS)
        FAIL(ERR_BUG, "capillary: %d positions of a step; at most %d are kept", count,
             CAPILLARY_POSITIONS);
    capillary_medium_path(&r->medium, z, dz, count, r->at, out);
    r->count = count;
    for (int i = 0; i < count; i++)
        memcpy(r->way[i], out[i], (size_t)r->medium.terms * sizeof out[i][0]);
    return 0;
}

/* Mean of a rate between its values at the ends of a step: the logarithmic mean, exact where it
 * decays or grows exponentially, (b - a)/ln(b/a) = m x/atanh(x) with x = (b - a)/(b + a). */
static double rate_mean(double a, double b)
{
    const double middle = 0.5 * (a + b);
    if (!(a > 0.0 && b > 0.0))
        return middle;
    const double x = (b - a) / (b + a);
    if (fabs(x) < 1e-4)
        return middle * (1.0 - x * x / 3.0);
    return fabs(x) < 0.5 ? middle * x / atanh(x) : (b - a) / (log(b) - log(a));
}

/* Nothing gives energy: a field with more than it began with is an artefact of grid or step. */
static void check_energy(const struct capillary_row *r, double held, struct row_status *st)
{
    if (held <= r->entry * (1.0 + bound(BOUND_energy_gain)))
        return;
    st->outcome = ROW_FAILED;
    snprintf(st->reason, sizeof st->reason,
             "field energy is %.6g J at z = %.9g m, of %.6g J at the input, and nothing gives "
             "energy: longer window tapers, a wider window or band, or a smaller rtol",
             held, st->progress, r->entry);
}

void capillary_accepted(void *model, long row, double h, double square, struct row_status *st)
{
    struct model *const m = model;
    struct capillary_row *const r = &m->row[row];
    for (int i = 0; i < CAPILLARY_PATHS; i++) {
        r->path[i] += h * rate_mean(r->now[i], r->next[i]);
        r->now[i] = r->next[i];
    }
    r->path[PATH_ABSORBED] += r->lost;
    check_energy(r, 4.0 * r->point.grid.window * square, st);
    r->fresh = true;
}

/* Aeff at the mean radius over that at a place. */
static double area_share(const struct capillary_row *row, const struct capillary_place *at)
{
    const double share = row->medium.radius / at->at.radius;
    return share * share;
}

struct response_factors capillary_factors(const struct capillary_row *row,
                                          const struct capillary_place *at)
{
    const struct capillary_point *const p = &row->point;
    const double drift = capillary_medium_drift(&row->medium, at, p->vacuum);
    return (struct response_factors){
        .scale = row->field_scale * (row->medium.radius / at->at.radius),
        .kerr = p->kerr ? drift * at->at.rho * PULSE_EPS0 * p->gas.gamma3 : 0.0,
        .density = drift * at->at.rho};
}

int capillary_execute(struct model *m, const struct fft *plan,
                      const struct capillary_rows *rows)
{
    const struct fft_rows all = {.in = rows->in,
                                 .ld_in = rows->ld_in,
                                 .out = rows->out,
                                 .ld_out = rows->ld_out,
                                 .rows = rows->rows};
    return m->be->ops->fft_execute(m->be, plan, &all);
}

int capillary_transform(struct model *m, const struct fft *plan, void *in, long ld_in,
                        void *out, long ld_out)
{
    return capillary_execute(m, plan, &(struct capillary_rows){in, ld_in, out, ld_out, 1});
}

static bool mixes(const struct capillary_row *r)
{
    return !r->point.uniform || r->point.tapered;
}

/* The scalars of a row at a position, on the host. Where nothing changes along the way the
 * transfer function holds all of the delayed response's scale. */
static void keep_scalars(struct model *m, long row, int position)
{
    const struct capillary_row *const r = &m->row[row];
    const struct capillary_place *const at = &r->at[position];
    const struct response_factors factors = capillary_factors(r, at);
    double *const way = response_scalars(m->response, position, GROUP_WAY, row);
    double *const weight = response_scalars(m->response, position, GROUP_WEIGHTS, row);
    double *const mix = response_scalars(m->response, position, GROUP_MIX, row);
    response_factors(m->response, position, row, &factors);
    *response_scalars(m->response, position, GROUP_LEAN, row) =
        r->leans ? capillary_medium_lean(&r->medium, at) : 0.0;
    for (int j = 0; j < STEP_TERMS; j++)
        way[j] = j < r->medium.terms ? r->way[position][j] : 0.0;
    if (!m->raman)
        return;
    *mix = 1.0;
    memset(weight, 0, (RAMAN_MIX_MAX - 1) * sizeof *weight);
    if (!mixes(r))
        return;
    *mix = capillary_medium_drift(&r->medium, at, r->point.vacuum) * area_share(r, at);
    raman_mix_weights(&r->raman, at->at.rho, weight);
}

static int keep_positions(const struct capillary_call *c)
{
    int most = 0;
    for (long i = 0; i < c->rows; i++) {
        const struct capillary_row *const r = &c->m->row[c->row + i];
        for (int p = 0; p < r->count && step_call_has(c->step, i); p++)
            keep_scalars(c->m, c->row + i, p);
        if (step_call_has(c->step, i) && r->count > most)
            most = r->count;
    }
    return response_upload(c->m->response, most, c->row, c->rows);
}

int capillary_begin(struct model *m, const struct step_call *step, struct capillary_call *out)
{
    *out = (struct capillary_call){
        .m = m,
        .step = step,
        .row = step->row,
        .rows = step->rows,
        .active = step->active,
        .state = step->stage == 0 || step->stage == STEP_END,
        .none = true,
    };
    for (long i = 0; i < step->rows; i++) {
        const bool on = step_call_has(step, i);
        /* That of an end: when the trial is accepted. */
        m->row[step->row + i].fresh = on && step->stage == 0;
        if (on && !out->none && step->place[i].index != out->position)
            FAIL(ERR_BUG, "capillary: rows of a call at positions %d and %d", out->position,
                 step->place[i].index);
        out->position = on ? step->place[i].index : out->position;
        out->none = out->none && !on;
    }
    return step->stage <= 1 && !out->none ? keep_positions(out) : 0;
}

void capillary_count(const struct capillary_call *c, int transforms, int passes)
{
    for (long i = 0; i < c->rows; i++)
        if (step_call_has(c->step, i)) {
            c->step->st[i].transforms += transforms;
            c->step->st[i].passes += passes;
        }
}

static const double *scalars_of(const struct capillary_call *c, enum capillary_group group)
{
    return response_scalars_there(c->m->response, c->position, (int)group, c->row);
}

static double *sums_of(const struct capillary_call *c, enum capillary_sum sum)
{
    return response_sums_there(c->m->response, (int)sum, c->row);
}

/* Whether one of the rows has a property. */
static bool has(const struct capillary_call *c, bool (*is)(const struct capillary_row *r))
{
    for (long i = 0; i < c->rows; i++)
        if (step_call_has(c->step, i) && is(&c->m->row[c->row + i]))
            return true;
    return false;
}

static bool is_lossy(const struct capillary_row *r)
{
    return r->lossy;
}

static bool is_leaning(const struct capillary_row *r)
{
    return r->leans;
}

/* Rows [i, i + rows) of the call, which lie one behind the other in the stepper. */
static int loss_of(const struct capillary_call *c, long i, long rows)
{
    struct model *const m = c->m;
    struct balance_loss_args args = {.next = c->step->spectrum + i * c->step->ld,
                                     .path = scalars_of(c, GROUP_WAY) + i * STEP_TERMS,
                                     .out = sums_of(c, SUM_LOSS) + i,
                                     .ld_spec = c->step->ld,
                                     .ld_real = m->terms * m->ld_tilt,
                                     .active = c->active != NULL ? c->active + i : NULL};
    args.state = stepper_split(m->stepper, c->row + i, &args.ld);
    for (int j = 0; j < STEP_TERMS; j++) /* the integral of a term that is not there is 0 */
        args.loss[j] =
            m->loss + ((c->row + i) * m->terms + (j < m->terms ? j : 0)) * m->ld_tilt;
    return (m->terms > STAGE_FEW
                ? m->be->kernels->balance_loss_all
                : m->be->kernels->balance_loss)(m->be, &args, 0, rows, m->bins);
}

int capillary_step_loss(const struct capillary_call *c)
{
    if (c->step->stage != STEP_END || !has(c, is_lossy))
        return 0;
    const long together = c->m->be->apart ? c->rows : 1;
    for (long i = 0; i < c->rows; i += together)
        TRY(loss_of(c, i, together));
    return 0;
}

/* gamma max A^2, the phase that the strongest field gains a metre; the energy that the absorber
 * in time takes, 2 alpha of 2 A^2 dt a sample, whose kernel has -alpha/n; and what ionisation
 * does. Of an envelope 4 |u|^2 is max A^2, and its mean twice that of A^2. */
static void take_rates(struct model *m, long row, const struct capillary_place *at,
                       double *rates)
{
    struct capillary_row *const r = &m->row[row];
    const double share = area_share(r, at);
    const double waves = m->is_envelope ? 2.0 : 1.0;
    const double top = response_sums(m->response, SUM_SQUARES, row)[1];
    response_seen(m->response, row, &r->report);
    rates[PATH_B] = r->b_rate * at->at.rho * share * (waves * waves) * top;
    rates[PATH_ABSORBED] = m->edge ? -4.0 * waves * r->point.grid.window
                                         * response_sums(m->response, SUM_EDGE, row)[0]
                                   : 0.0;
    rates[PATH_IONISATION] = at->at.rho * r->medium.area / share * r->report.work;
}

int capillary_gather(void *model, const struct step_call *call)
{
    struct model *const m = model;
    TRY(response_gather(m->response, call->row, call->rows));
    for (long i = 0; i < call->rows; i++) {
        struct capillary_row *const r = &m->row[call->row + i];
        if (!step_call_has(call, i))
            continue;
        take_rates(m, call->row + i, &r->at[call->place[i].index],
                   call->stage == 0 ? r->now : r->next);
        r->lost = call->stage == STEP_END && r->lossy
                      ? 4.0 * r->point.grid.window
                            * response_sums(m->response, SUM_LOSS, call->row + i)[0]
                      : 0.0;
    }
    return 0;
}

/* Sum of the squares of the samples, and the largest. */
static int look_at_samples(const struct capillary_call *c)
{
    struct model *const m = c->m;
    const struct balance_square_args args = {.field = m->samples + c->row * m->ld_real,
                                             .out = sums_of(c, SUM_SQUARES),
                                             .ld = m->ld_real,
                                             .active = c->active};
    return m->be->kernels->balance_square(m->be, &args, 0, c->rows, m->fine);
}

/* Spectrum of what the edges of the window absorb: a part of the right-hand side, so that it is
 * under error control. */
static int edge_loss(const struct capillary_call *c)
{
    struct model *const m = c->m;
    double *const lost = m->lost + c->row * m->ld_real;
    const struct balance_edge_args args = {.field = m->samples + c->row * m->ld_real,
                                           .rate = m->rate_edge + c->row * m->ld_real,
                                           .lost = lost,
                                           .out = sums_of(c, SUM_EDGE),
                                           .ld = m->ld_real,
                                           .active = c->active};
    const struct capillary_rows rows = {lost, m->ld_real, m->lost_spectrum + c->row * m->ld,
                                        m->ld, c->rows};
    TRY(m->be->kernels->balance_edge(m->be, &args, 0, c->rows, m->fine));
    capillary_count(c, 1, 1);
    return capillary_execute(m, m->forward, &rows);
}

static int edge_add(const struct capillary_call *c)
{
    struct model *const m = c->m;
    const struct spectral_add_args args = {.pre = m->factor + c->row * m->ld,
                                           .in = c->step->spectrum,
                                           .add = m->lost_spectrum + c->row * m->ld,
                                           .out = c->step->spectrum,
                                           .ld = m->ld,
                                           .active = c->active};
    capillary_count(c, 0, 1);
    return m->be->kernels->spectral_add(m->be, &args, 0, c->rows, m->bins);
}

/* The analytic signal's imaginary part: -i times the spectrum, back. */
static int quadrature(const struct capillary_call *c)
{
    struct model *const m = c->m;
    cplx *const turned = m->turned + c->row * m->ld;
    const struct spectral_late_args turn = {
        .in = c->step->spectrum, .out = turned, .ld = m->ld, .active = c->active};
    const struct capillary_rows rows = {turned, m->ld, m->quadrature + c->row * m->ld_real,
                                        m->ld_real, c->rows};
    TRY(m->be->kernels->spectral_late(m->be, &turn, 0, c->rows, m->spectrum));
    capillary_count(c, 1, 1);
    return capillary_execute(m, m->backward, &rows);
}

/* Functions that the mix of one of the rows has, at most. */
static int mix_count(const struct capillary_call *c)
{
    int most = 1;
    for (long i = 0; i < c->rows; i++)
        if (step_call_has(c->step, i) && c->m->row[c->row + i].raman.count > most)
            most = c->m->row[c->row + i].raman.count;
    return most;
}

/* The spectrum of what drives the delayed response times the transfer function of a place. A
 * function that a row lacks has the weight 0. On a device all rows are mixed, so that no row's
 * bits hang on its neighbours'. */
static int raman_filter(const struct capillary_call *c, cplx *half)
{
    struct model *const m = c->m;
    const cplx *part[RAMAN_MIX_MAX];
    for (int k = 0; k < RAMAN_MIX_MAX; k++)
        part[k] = m->transfer[k] + c->row * m->ld_half;
    if (!m->be->apart && !has(c, mixes)) {
        const struct spectral_scale_args filter = {
            .pre = part[0], .in = half, .out = half, .ld = m->ld_half, .active = c->active};
        return m->be->kernels->spectral_scale(m->be, &filter, 0, c->rows, m->fine + 1);
    }
    const struct spectral_mix_args mix = {.scale = scalars_of(c, GROUP_MIX),
                                          .weight = scalars_of(c, GROUP_WEIGHTS),
                                          .first = part[0],
                                          .second = part[1],
                                          .third = part[2],
                                          .in = half,
                                          .out = half,
                                          .ld = m->ld_half,
                                          .active = c->active};
    return m->be->kernels->spectral_mix[mix_count(c) - 1](m->be, &mix, 0, c->rows, m->fine + 1);
}

int capillary_delay(const struct capillary_call *c)
{
    struct model *const m = c->m;
    cplx *const half = m->half + c->row * m->ld_half;
    const struct capillary_rows there = {m->square + c->row * m->ld_long, m->ld_long, half,
                                         m->ld_half, c->rows};
    const struct capillary_rows back = {half, m->ld_half, m->delayed + c->row * m->ld_long,
                                        m->ld_long, c->rows};
    TRY(capillary_execute(m, m->long_forward, &there));
    TRY(raman_filter(c, half));
    capillary_count(c, 2, 1);
    return capillary_execute(m, m->long_backward, &back);
}

/* rho (h * E^2) into `delayed`. */
static int delayed_response(const struct capillary_call *c, const struct response_rows *rows)
{
    struct model *const m = c->m;
    const struct raman_square_args drive = {.field = rows->samples,
                                            .quadrature = rows->quadrature,
                                            .out = m->square + c->row * m->ld_long,
                                            .ld = m->ld_real,
                                            .ld_out = m->ld_long,
                                            .active = c->active};
    TRY(m->be->kernels->raman_square[m->third_harmonic ? 0 : 1](m->be, &drive, 0, c->rows,
                                                                m->fine));
    capillary_count(c, 0, 1);
    return capillary_delay(c);
}

static int lean(const struct capillary_call *c)
{
    struct model *const m = c->m;
    const struct spectral_lean_args args = {.in = c->step->spectrum,
                                            .tilt = m->tilt + c->row * m->ld_tilt,
                                            .lean = scalars_of(c, GROUP_LEAN),
                                            .out = c->step->spectrum,
                                            .ld = m->ld,
                                            .ld_real = m->ld_tilt,
                                            .active = c->active};
    capillary_count(c, 0, 1);
    return m->be->kernels->spectral_lean(m->be, &args, 0, c->rows, m->bins);
}

/* What follows the response in the bins: the prefactor at the place in place of that in the
 * middle; and pre N + lost, where with the absorber in time the stepper's prefactor is the mask
 * alone. */
static int finish_bins(const struct capillary_call *c)
{
    if (has(c, is_leaning))
        TRY(lean(c));
    return c->m->edge ? edge_add(c) : 0;
}

int capillary_respond(const struct capillary_call *c, const struct response_rows *rows)
{
    struct model *const m = c->m;
    struct response_rows all = *rows;
    void *const out = m->is_envelope ? (void *)rows->envelope_out : rows->out;
    const struct capillary_rows forward = {out, rows->ld, c->step->spectrum, m->ld, c->rows};
    int passes;
    if (m->raman) {
        all.extra = m->delayed + c->row * m->ld_long;
        all.ld_extra = m->ld_long;
    }
    TRY(response_run(m->response, c->position, c->row, c->rows, &all, &passes));
    TRY(capillary_execute(m, m->forward, &forward));
    capillary_count(c, 2, passes);
    return finish_bins(c);
}

/* What a plane or the end of a step reads of a state, from the argument of N to its samples. */
static int samples_of(const struct capillary_call *c)
{
    struct model *const m = c->m;
    const struct capillary_rows back = {c->step->spectrum, m->ld,
                                        m->samples + c->row * m->ld_real, m->ld_real, c->rows};
    TRY(capillary_step_loss(c));
    if (!m->third_harmonic)
        TRY(quadrature(c));
    TRY(capillary_execute(m, m->backward, &back));
    return c->state ? look_at_samples(c) : 0;
}

static int evaluate(const struct capillary_call *c)
{
    struct model *const m = c->m;
    double *const samples = m->samples + c->row * m->ld_real;
    double *const out = c->state ? m->reply + c->row * m->ld_real : samples;
    TRY(samples_of(c));
    struct response_rows rows = {
        .samples = samples, .out = out, .ld = m->ld_real, .active = c->active};
    if (!m->third_harmonic)
        rows.quadrature = m->quadrature + c->row * m->ld_real;
    if (m->edge)
        TRY(edge_loss(c));
    if (m->raman)
        TRY(delayed_response(c, &rows));
    return capillary_respond(c, &rows);
}

int capillary_nonlinear(void *model, const struct step_call *call)
{
    struct capillary_call c;
    TRY(capillary_begin(model, call, &c));
    return c.none ? 0 : evaluate(&c);
}
