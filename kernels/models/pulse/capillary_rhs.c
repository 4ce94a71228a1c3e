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

/* 1 - x/(e^x - 1): its series to x^6 below a quarter, where the next term is 1e-10 of it. */
static double lost_early(double x)
{
    const double s = x * x;
    if (fabs(x) < 0.25)
        return x * (0.5 - x * (1.0 / 12.0 - s * (1.0 / 720.0 - s / 30240.0)));
    return 1.0 - x / expm1(x);
}

/* Energy that L takes over a step. A bin with the loss x = -2 Re int L loses, of A at the start
 * and B at the end, 1 - exp(-x) of A and what is due of B - A exp(-x), which the nonlinear
 * terms have brought evenly along the step:
 *
 *   A (1 - e^-x) + (B - A e^-x) (x/(1 - e^-x) - 1) = x B + (1 - x/(e^x - 1)) (A - B),
 *
 * exact for a linear field however long the step, the trapezoidal rule where the loss is small.
 */
static double step_loss(const struct capillary_row *r, long bins)
{
    const struct real_grid *const grid = &r->point.grid;
    const double *const way = r->way[r->end];
    double sum = 0.0;
    for (long k = grid->first; k < grid->last; k++) {
        double x = 0.0;
        for (int j = 0; j < r->medium.terms; j++)
            x -= 2.0 * way[j] * r->lr[j * bins + k];
        const double end = r->square[STATE_NEXT][k];
        sum += x * end + lost_early(x) * (r->square[STATE_NOW][k] - end);
    }
    return 4.0 * grid->window * sum;
}

static void swap_squares(struct capillary_row *r)
{
    double *const kept = r->square[STATE_NOW];
    r->square[STATE_NOW] = r->square[STATE_NEXT];
    r->square[STATE_NEXT] = kept;
}

/* Nothing gives energy: a field with more than it began with is an artefact of grid or step. */
static void check_energy(const struct capillary_row *r, struct row_status *st)
{
    if (r->held <= r->entry * (1.0 + bound(BOUND_energy_gain)))
        return;
    st->outcome = ROW_FAILED;
    snprintf(st->reason, sizeof st->reason,
             "field energy is %.6g J at z = %.9g m, of %.6g J at the input, and nothing gives "
             "energy: longer window tapers, a wider window or band, or a smaller rtol",
             r->held, st->progress, r->entry);
}

void capillary_accepted(void *model, long row, double h, double square, struct row_status *st)
{
    struct model *const m = model;
    struct capillary_row *const r = &m->row[row];
    for (int i = 0; i < CAPILLARY_PATHS; i++) {
        r->path[i] += h * rate_mean(r->now[i], r->next[i]);
        r->now[i] = r->next[i];
    }
    r->path[PATH_ABSORBED] += step_loss(r, m->bins);
    swap_squares(r);
    r->held = 4.0 * r->point.grid.window * square;
    check_energy(r, st);
    r->fresh = true;
}

double capillary_area_share(const struct capillary_row *row, const struct capillary_place *at)
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

int capillary_execute(struct model *m, const struct fft *plan, void *in, long ld_in, void *out,
                      long ld_out)
{
    const struct fft_rows rows = {in, ld_in, out, ld_out, 0, 1, NULL};
    return m->be->ops->fft_execute(m->be, plan, &rows);
}

static void keep_squares(struct capillary_row *r, enum capillary_end end)
{
    const struct real_grid *const grid = &r->point.grid;
    double *const square = r->square[end];
    double held = 0.0;
#pragma omp simd reduction(+ : held)
    for (long k = grid->first; k < grid->last; k++) {
        square[k] = cplx_abs2(r->spectrum[k]);
        held += square[k];
    }
    r->held = 4.0 * grid->window * held;
}

int capillary_keep(struct model *m, struct capillary_row *r, struct step_place place,
                   const cplx *spectrum)
{
    const bool end = place.stage == STEP_END;
    TRY(m->be->ops->download(m->be, r->spectrum, spectrum, (size_t)m->bins * sizeof(cplx)));
    if (end)
        r->end = place.index;
    keep_squares(r, end ? STATE_NEXT : STATE_NOW);
    return 0;
}

/* The largest square, in lanes of their own: one chain of maxima would take longer. */
static double largest_square(const double *x, long n)
{
    double top[8] = {0.0};
    double largest = 0.0;
    const long whole = n - n % 8;
    for (long j = 0; j < whole; j += 8)
#pragma omp simd
        for (int i = 0; i < 8; i++) {
            const double square = x[j + i] * x[j + i];
            top[i] = square > top[i] ? square : top[i];
        }
    for (int i = 0; i < 8; i++)
        largest = top[i] > largest ? top[i] : largest;
    for (long j = whole; j < n; j++)
        largest = x[j] * x[j] > largest ? x[j] * x[j] : largest;
    return largest;
}

/* gamma max A^2, the phase that the strongest field gains a metre; and the energy that the
 * absorber in time takes, 2 alpha of 2 A^2 dt a sample. */
static int sample_rates(struct model *m, struct capillary_row *r,
                        const struct capillary_place *at, const double *samples, double *rates)
{
    TRY(m->be->ops->download(m->be, r->samples, samples, (size_t)m->fine * sizeof(double)));
    const double top = largest_square(r->samples, m->fine);
    rates[PATH_B] = r->b_rate * at->at.rho * capillary_area_share(r, at) * top;
    double sum = 0.0;
    const long edge = m->edge ? m->fine : 0;
#pragma omp simd reduction(+ : sum)
    for (long j = 0; j < edge; j++)
        sum += r->alpha[j] * r->samples[j] * r->samples[j];
    rates[PATH_ABSORBED] = 4.0 * r->point.grid.window / (double)m->fine * sum;
    return 0;
}

/* Spectrum of what the edges of the window absorb: a part of the right-hand side, so that it is
 * under error control. */
static int edge_loss(struct model *m, long row, struct row_status *st)
{
    const double *const scalars = m->scalars + row * CAPILLARY_SCALARS;
    double *const lost = m->lost + row * m->ld_real;
    const struct response_kerr_args args = {.field = m->samples + row * m->ld_real,
                                            .extra = m->ones,
                                            .window = m->rate_edge + row * m->ld_real,
                                            .scale = scalars + SCALAR_ONE,
                                            .kerr = scalars + SCALAR_ZERO,
                                            .out = lost,
                                            .ld = m->ld_real};
    TRY(m->be->kernels->response_kerr_extra[0](m->be, &args, 0, 1, m->fine));
    st->passes++;
    st->transforms++;
    return capillary_execute(m, m->forward, lost, m->ld_real, m->lost_spectrum + row * m->ld,
                             m->ld);
}

int capillary_edge_add(struct model *m, long row, cplx *spectrum, struct row_status *st)
{
    const struct spectral_add_args args = {m->factor + row * m->ld,
                                           spectrum,
                                           m->lost_spectrum + row * m->ld,
                                           spectrum,
                                           m->ld,
                                           NULL};
    st->passes++;
    return m->be->kernels->spectral_add(m->be, &args, 0, 1, m->bins);
}

/* The analytic signal's imaginary part: -i times the spectrum, back. */
static int quadrature(struct model *m, long row, const cplx *spectrum, struct row_status *st)
{
    struct backend *const be = m->be;
    cplx *const turned = m->turned + row * m->ld;
    const struct spectral_scale_args turn = {m->quarter, spectrum, turned, m->ld, NULL};
    TRY(be->kernels->spectral_scale(be, &turn, 0, 1, m->spectrum));
    st->passes++;
    st->transforms++;
    return capillary_execute(m, m->backward, turned, m->ld, m->quadrature + row * m->ld_real,
                             m->ld_real);
}

/* The spectrum of what drives the delayed response times the transfer function of a place. */
static int raman_filter(struct model *m, long row, const struct capillary_place *at, cplx *half)
{
    struct backend *const be = m->be;
    const struct capillary_row *const r = &m->row[row];
    const cplx *part[RAMAN_MIX_MAX] = {NULL};
    double weight[RAMAN_MIX_MAX - 1];
    for (int k = 0; k < r->raman.count; k++)
        part[k] = m->transfer[k] + row * m->ld_half;
    if (r->point.uniform && !r->point.tapered) {
        const struct spectral_scale_args filter = {part[0], half, half, m->ld_half, NULL};
        return be->kernels->spectral_scale(be, &filter, 0, 1, m->fine + 1);
    }
    double *const scalars = m->scalars + row * CAPILLARY_SCALARS + SCALAR_MIX;
    const double scale =
        capillary_medium_drift(&r->medium, at, r->point.vacuum) * capillary_area_share(r, at);
    raman_mix_weights(&r->raman, at->at.rho, weight);
    const double values[1 + SPECTRAL_MIX] = {scale, weight[0], weight[1]};
    TRY(be->ops->upload(be, scalars, values, sizeof values));
    const struct spectral_mix_args mix = {.scale = scalars,
                                          .weight = scalars + 1,
                                          .first = part[0],
                                          .second = part[1],
                                          .third = part[2],
                                          .in = half,
                                          .out = half,
                                          .ld = m->ld_half};
    return be->kernels->spectral_mix[r->raman.count - 1](be, &mix, 0, 1, m->fine + 1);
}

int capillary_delay(struct model *m, long row, const struct capillary_place *at,
                    struct row_status *st)
{
    cplx *const half = m->half + row * m->ld_half;
    TRY(capillary_execute(m, m->long_forward, m->square + row * m->ld_long, m->ld_long, half,
                          m->ld_half));
    TRY(raman_filter(m, row, at, half));
    st->passes++;
    st->transforms += 2;
    return capillary_execute(m, m->long_backward, half, m->ld_half,
                             m->delayed + row * m->ld_long, m->ld_long);
}

/* rho (h * E^2) into `delayed`. */
static int delayed_response(struct model *m, long row, const struct capillary_place *at,
                            const struct response_rows *rows, struct row_status *st)
{
    struct backend *const be = m->be;
    const struct raman_square_args drive = {rows->samples, rows->quadrature,
                                            m->square + row * m->ld_long, m->ld_real, NULL};
    TRY(be->kernels->raman_square[m->third_harmonic ? 0 : 1](be, &drive, 0, 1, m->fine));
    st->passes++;
    return capillary_delay(m, row, at, st);
}

int capillary_lean(struct model *m, long row, const struct capillary_place *at, cplx *spectrum,
                   struct row_status *st)
{
    struct backend *const be = m->be;
    double *const scalar = m->scalars + row * CAPILLARY_SCALARS + SCALAR_LEAN;
    const double value = capillary_medium_lean(&m->row[row].medium, at);
    TRY(be->ops->upload(be, scalar, &value, sizeof value));
    const struct spectral_lean_args args = {.in = spectrum,
                                            .tilt = m->tilt + row * m->ld_tilt,
                                            .lean = scalar,
                                            .out = spectrum,
                                            .ld = m->ld,
                                            .ld_real = m->ld_tilt};
    st->passes++;
    return be->kernels->spectral_lean(be, &args, 0, 1, m->bins);
}

static int evaluate(void *model, long row, struct step_place place, cplx *spectrum,
                    struct row_status *st)
{
    struct model *const m = model;
    struct capillary_row *const r = &m->row[row];
    const struct capillary_place *const at = &r->at[place.index];
    const bool state = place.stage == 0 || place.stage == STEP_END;
    double *const rates = place.stage == 0 ? r->now : r->next;
    double *const samples = m->samples + row * m->ld_real;
    const struct response_factors factors = capillary_factors(r, at);
    /* A plane reads the samples of a state. */
    double *const out = state && m->reply != NULL ? m->reply + row * m->ld_real : samples;
    struct response_rows rows = {.samples = samples, .out = out, .ld = m->ld_real};
    r->fresh = place.stage == 0; /* that of an end: when the trial is accepted */
    if (state)
        TRY(capillary_keep(m, r, place, spectrum));
    if (!m->third_harmonic) {
        TRY(quadrature(m, row, spectrum, st));
        rows.quadrature = m->quadrature + row * m->ld_real;
    }
    TRY(capillary_execute(m, m->backward, spectrum, m->ld, samples, m->ld_real));
    if (state)
        TRY(sample_rates(m, r, at, samples, rates));
    if (m->edge)
        TRY(edge_loss(m, row, st));
    if (m->raman) {
        TRY(delayed_response(m, row, at, &rows, st));
        rows.extra = m->delayed + row * m->ld_long;
    }
    TRY(response_apply(m->response, row, &factors, &rows, st));
    if (state) {
        TRY(response_report(m->response, row, &r->report));
        rates[PATH_IONISATION] =
            at->at.rho * r->medium.area / capillary_area_share(r, at) * r->report.work;
    }
    TRY(capillary_execute(m, m->forward, out, m->ld_real, spectrum, m->ld));
    st->transforms += 2;
    if (r->leans)
        TRY(capillary_lean(m, row, at, spectrum, st));
    return m->edge ? capillary_edge_add(m, row, spectrum, st) : 0;
}

int capillary_nonlinear(void *model, const struct step_call *call)
{
    return step_call_each(call, model, evaluate);
}
