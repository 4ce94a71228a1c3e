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
    struct fft_shape shape = {FFT_C2C_FORWARD, m->fine, m->capacity, m->ld, m->ld};
    TRY(backend_fft_create(be, &shape, &m->forward));
    shape.kind = FFT_C2C_BACKWARD;
    TRY(backend_fft_create(be, &shape, &m->backward));
    TRY(be->ops->alloc(be, count, sizeof(cplx), (void **)&m->envelope.reply));
    if (m->edge)
        TRY(be->ops->alloc(be, count, sizeof(cplx), (void **)&m->envelope.lost));
    return m->raman ? create_delay(m, point) : 0;
}

void capillary_envelope_destroy(struct model *m)
{
    struct capillary_envelope *const e = &m->envelope;
    m->be->ops->release(m->be, e->samples);
    m->be->ops->release(m->be, e->reply);
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

/* Sum of |u|^2, and the largest. */
static int look_at_samples(const struct capillary_call *c)
{
    struct model *const m = c->m;
    const struct balance_power_args args = {
        .field = m->envelope.samples + c->row * m->ld,
        .out = response_sums_there(m->response, SUM_SQUARES, c->row),
        .ld = m->ld,
        .active = c->active};
    return m->be->kernels->balance_power(m->be, &args, 0, c->rows, m->fine);
}

/* Spectrum of what the edges of the window absorb, as of the real field. */
static int edge_loss(const struct capillary_call *c)
{
    struct model *const m = c->m;
    cplx *const lost = m->envelope.lost + c->row * m->ld;
    const struct balance_edge_wave_args args = {
        .field = m->envelope.samples + c->row * m->ld,
        .rate = m->rate_edge + c->row * m->ld_real,
        .lost = lost,
        .out = response_sums_there(m->response, SUM_EDGE, c->row),
        .ld = m->ld,
        .ld_real = m->ld_real,
        .active = c->active};
    const struct capillary_rows rows = {lost, m->ld, m->lost_spectrum + c->row * m->ld, m->ld,
                                        c->rows};
    TRY(m->be->kernels->balance_edge_wave(m->be, &args, 0, c->rows, m->fine));
    capillary_count(c, 1, 1);
    return capillary_execute(m, m->forward, &rows);
}

/* rho (h * |E|^2/2) into `delayed`. */
static int delayed_response(const struct capillary_call *c)
{
    struct model *const m = c->m;
    const struct kerr_power_args drive = {.a = m->envelope.samples + c->row * m->ld,
                                          .power = m->square + c->row * m->ld_long,
                                          .ld = m->ld,
                                          .ld_real = m->ld_long,
                                          .active = c->active};
    TRY(m->be->kernels->kerr_power(m->be, &drive, 0, c->rows, m->fine));
    capillary_count(c, 0, 1);
    return capillary_delay(c);
}

static int evaluate(const struct capillary_call *c)
{
    struct model *const m = c->m;
    cplx *const samples = m->envelope.samples + c->row * m->ld;
    cplx *const out = c->state ? m->envelope.reply + c->row * m->ld : samples;
    const struct capillary_rows back = {c->step->spectrum, m->ld, samples, m->ld, c->rows};
    const struct response_rows rows = {
        .envelope = samples, .envelope_out = out, .ld = m->ld, .active = c->active};
    TRY(capillary_step_loss(c));
    TRY(capillary_execute(m, m->backward, &back));
    if (c->state)
        TRY(look_at_samples(c));
    if (m->edge)
        TRY(edge_loss(c));
    if (m->raman)
        TRY(delayed_response(c));
    return capillary_respond(c, &rows);
}

int capillary_envelope_nonlinear(void *model, const struct step_call *call)
{
    struct capillary_call c;
    TRY(capillary_begin(model, call, &c));
    return c.none ? 0 : evaluate(&c);
}
