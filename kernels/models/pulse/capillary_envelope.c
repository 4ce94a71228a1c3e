/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The envelope variant: the same state, linear operator, prefactor and observables as of the
 * real field, the bins a_k; only the response is computed on complex samples
 *
 *   u_j = sum_k a_k exp(+2 pi i j k/n), half the analytic signal,
 *
 * with n below twice the highest frequency. They are those of the envelope about any carrier,
 * as the response of |u|^2 u and u (h * |u|^2) does not know it (physics.md §1.2, §4).
 */
#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/capillary_model.h"
#include "kernels/models/pulse/constants.h"

/* Samples of the delayed response for each of the field, so that it is sampled as finely as for
 * a real field: a vibration may have few samples of the field a period. */
static long oversampling(const struct real_grid *grid)
{
    const double wanted = REAL_GRID_SAMPLES * grid->window * PULSE_C / grid->shortest;
    return (long)ceil(wanted / (double)grid->fine);
}

size_t capillary_envelope_bytes(const struct capillary_point *point)
{
    const size_t over = (size_t)(oversampling(&point->grid) * point->grid.fine);
    return point->raman ? over * (2 * sizeof(double) + 6 * sizeof(cplx)) : 0;
}

static int create_delay(struct model *m, const struct capillary_point *point)
{
    struct capillary_envelope *const e = &m->envelope;
    e->over = oversampling(&point->grid);
    const long n = e->over * m->fine;
    TRY(MEM_NEW(n, &e->part));
    TRY(MEM_NEW(n, &e->response));
    TRY(MEM_NEW(2 * n, &e->transfer));
    return host_fft_create(2 * n, &e->fft);
}

int capillary_envelope_create(struct model *m, const struct capillary_point *point)
{
    struct backend *const be = m->be;
    const long count = m->capacity * m->ld;
    TRY(be->ops->alloc(be, count, sizeof(cplx), (void **)&m->envelope.samples));
    TRY(be->ops->fft_create(be, FFT_C2C_FORWARD, m->fine, &m->forward));
    TRY(be->ops->fft_create(be, FFT_C2C_BACKWARD, m->fine, &m->backward));
    for (int r = 0; r < m->capacity; r++)
        TRY(MEM_NEW(m->fine, &m->row[r].envelope));
    if (m->edge)
        TRY(be->ops->alloc(be, count, sizeof(cplx), (void **)&m->envelope.lost));
    return m->raman ? create_delay(m, point) : 0;
}

void capillary_envelope_destroy(struct model *m)
{
    struct capillary_envelope *const e = &m->envelope;
    m->be->ops->release(m->be, e->samples);
    m->be->ops->release(m->be, e->lost);
    mem_free(e->part);
    mem_free(e->response);
    mem_free(e->transfer);
    host_fft_destroy(e->fft);
}

int capillary_envelope_transfer(struct model *m, int row, int k, double scale)
{
    const struct capillary_envelope *const e = &m->envelope;
    const struct capillary_row *const r = &m->row[row];
    const long n = e->over * m->fine;
    TRY(raman_mix_sample(&r->raman, k, r->point.grid.window / (double)n, n, e->part,
                         e->response));
    memset(e->transfer, 0, 2 * (size_t)n * sizeof *e->transfer);
    /* |E_an|^2/2 = 2 |u|^2 */
    for (long j = 0; j < n; j++)
        e->transfer[j] = cplx_make(2.0 * scale * e->response[j], 0.0);
    TRY(host_fft_execute(e->fft, true, e->transfer));
    /* The field's samples cannot tell the highest bin from its negative: a real factor. */
    e->transfer[m->fine].i = 0.0;
    return m->be->ops->upload(m->be, m->transfer[k] + row * m->ld_half, e->transfer,
                              (size_t)(m->fine + 1) * sizeof(cplx));
}

/* gamma max |A|^2, and what the absorber in time takes of 4 |u|^2 dt a sample, 2 alpha. */
static int sample_rates(struct model *m, struct capillary_row *r,
                        const struct capillary_place *at, const cplx *samples, double *rates)
{
    double top = 0.0;
    double sum = 0.0;
    const cplx *const u = r->envelope;
    const long edge = m->edge ? m->fine : 0;
    TRY(m->be->ops->download(m->be, r->envelope, samples, (size_t)m->fine * sizeof *samples));
#pragma omp simd reduction(max : top)
    for (long j = 0; j < m->fine; j++) {
        const double square = cplx_abs2(u[j]);
        top = square > top ? square : top;
    }
#pragma omp simd reduction(+ : sum)
    for (long j = 0; j < edge; j++)
        sum += r->alpha[j] * cplx_abs2(u[j]);
    rates[PATH_B] = r->b_rate * at->at.rho * capillary_area_share(r, at) * 4.0 * top;
    rates[PATH_ABSORBED] = 8.0 * r->point.grid.window / (double)m->fine * sum;
    return 0;
}

/* Spectrum of what the edges of the window absorb, as of the real field. */
static int edge_loss(struct model *m, long row, const cplx *samples, struct row_status *st)
{
    cplx *const lost = m->envelope.lost + row * m->ld;
    const struct kerr_apply_args args = {
        samples, m->rate_edge + row * m->ld_real, lost, m->ld, m->ld_real, NULL};
    TRY(m->be->kernels->kerr_apply(m->be, &args, 0, 1, m->fine));
    st->passes++;
    st->transforms++;
    return capillary_execute(m, m->forward, lost, m->ld, m->lost_spectrum + row * m->ld, m->ld);
}

/* rho (h * |E|^2/2) into `delayed`. */
static int delayed_response(struct model *m, long row, const struct capillary_place *at,
                            const cplx *samples, struct row_status *st)
{
    const struct kerr_power_args drive = {samples, m->square + row * m->ld_long, m->ld,
                                          m->ld_long, NULL};
    TRY(m->be->kernels->kerr_power(m->be, &drive, 0, 1, m->fine));
    st->passes++;
    return capillary_delay(m, row, at, st);
}

static int evaluate(void *model, long row, struct step_place place, cplx *spectrum,
                    struct row_status *st)
{
    struct model *const m = model;
    struct capillary_row *const r = &m->row[row];
    const struct capillary_place *const at = &r->at[place.index];
    const bool state = place.stage == 0 || place.stage == STEP_END;
    double *const rates = place.stage == 0 ? r->now : r->next;
    cplx *const samples = m->envelope.samples + row * m->ld;
    const struct response_factors factors = capillary_factors(r, at);
    struct response_rows rows = {.envelope = samples, .ld = m->ld};
    r->fresh = place.stage == 0;
    TRY(capillary_execute(m, m->backward, spectrum, m->ld, samples, m->ld));
    if (state) {
        TRY(capillary_keep(m, r, place, spectrum));
        TRY(sample_rates(m, r, at, samples, rates));
    }
    if (m->edge)
        TRY(edge_loss(m, row, samples, st));
    if (m->raman) {
        TRY(delayed_response(m, row, at, samples, st));
        rows.extra = m->delayed + row * m->ld_long;
    }
    TRY(response_apply(m->response, row, &factors, &rows, st));
    TRY(capillary_execute(m, m->forward, samples, m->ld, spectrum, m->ld));
    st->transforms += 2;
    if (r->leans)
        TRY(capillary_lean(m, row, at, spectrum, st));
    return m->edge ? capillary_edge_add(m, row, spectrum, st) : 0;
}

int capillary_envelope_nonlinear(void *model, const struct step_call *call)
{
    return step_call_each(call, model, evaluate);
}

int capillary_envelope_power(struct model *m, int row, const cplx *spectrum)
{
    struct backend *const be = m->be;
    const struct capillary_row *const r = &m->row[row];
    const long first = r->point.grid.first;
    const size_t active = (size_t)(r->point.grid.last - first) * sizeof(cplx);
    if (!r->fresh) { /* before the first step */
        memset(m->scratch, 0, (size_t)m->fine * sizeof(cplx));
        memcpy(m->scratch + first, spectrum + first, active);
        TRY(be->ops->upload(be, m->signal[0], m->scratch, (size_t)m->fine * sizeof(cplx)));
        TRY(capillary_execute(m, m->backward, m->signal[0], m->ld, m->signal[1], m->ld));
        TRY(be->ops->download(be, r->envelope, m->signal[1], (size_t)m->fine * sizeof(cplx)));
    }
    for (long j = 0; j < m->fine; j++)
        m->window[j] = 4.0 * cplx_abs2(r->envelope[j]);
    return 0;
}
