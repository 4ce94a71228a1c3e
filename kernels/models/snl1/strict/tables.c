/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers and tables of the DIA (WAVEWATCH III 7.14, w3snl1md, INSNL1), without contraction.
 * Values come at run time only, so that the mathematical functions are those of the library
 * and not the compiler's.
 */
#include "kernels/models/snl1/tables.h"

#include <math.h>
#include <stdint.h>

#include "kernels/base/status.h"

#define SNL1_PI      3.141592653589793f
#define SNL1_GRAVITY 9.806f

static float two_pi(void)
{
    return 2.0f * SNL1_PI;
}

/* x^n by the run-time library's integer power: squares, then the reciprocal. */
static float power(float x, int32_t n)
{
    int32_t left = n < 0 ? -n : n;
    float y = left % 2 != 0 ? x : 1.0f;
    for (left /= 2; left > 0; left /= 2) {
        x = x * x;
        if (left % 2 != 0)
            y = y * x;
    }
    return n < 0 ? 1.0f / y : y;
}

/* x^11 as optimised builds of the Fortran multiply it. */
static float power11(float x)
{
    const float x2 = x * x;
    const float x3 = x * x2;
    const float x5 = x2 * x3;
    const float x6 = x3 * x3;
    return x5 * x6;
}

static float power4(float x)
{
    return (x * x) * (x * x);
}

static float frequency_before(const struct snl1_config *c)
{
    return (c->fr1 * two_pi()) / (c->xfr * c->xfr);
}

void snl1_frequencies(const struct snl1_config *config, int count, float *sig)
{
    if (config == NULL || sig == NULL)
        return;
    float s = frequency_before(config) * config->xfr; /* row 0 */
    for (int i = 0; i < count; i++) {
        s = s * config->xfr;
        sig[i] = s;
    }
}

/* Directions to a partner: whole ones and the weight of the far one. */
static void derive_directions(float angle, float dth, int32_t *whole, float *weight)
{
    const float c = fabsf(angle / dth);
    *whole = (int32_t)c;
    *weight = c - (float)*whole;
}

static int derive_angles(const struct snl1_config *c, struct snl1_numbers *out)
{
    const float a = 1.0f - c->lam;
    const float b = 1.0f + c->lam;
    const float m2 = a * a;
    const float p2 = b * b;
    const float dth = two_pi() / (float)c->nth;
    const float delth3 = acosf(((m2 * m2 + 4.0f) - p2 * p2) / (4.0f * m2));
    if (isnan(delth3))
        FAIL(ERR_ARGUMENT,
             "lam %.9g is too small: rounding makes the cosine of its quadruplet's angle "
             "greater than 1",
             (double)c->lam);
    const float delth4 = asinf(((-sinf(delth3)) * m2) / p2);
    out->dal[0] = 1.0f / power4(b);
    out->dal[1] = 1.0f / power4(a);
    out->dal[2] = (2.0f * out->dal[0]) * out->dal[1];
    derive_directions(delth4, dth, &out->ithp, &out->wthp);
    derive_directions(delth3, dth, &out->ithm, &out->wthm);
    return 0;
}

/* Rows to the partners; false when the spectrum with its tail would have too many. */
static int derive_rows(const struct snl1_config *c, struct snl1_numbers *out)
{
    const float a = 1.0f - c->lam;
    const float b = 1.0f + c->lam;
    const float step = logf(c->xfr);
    const float up = logf(b) / step;
    const float down = logf(a) / step;
    if (!(up - down < (float)(SNL1_ROWS_MAX - 4)))
        FAIL(ERR_ARGUMENT,
             "xfr %.9g: the partners lie %.0f rows apart; at most %d are accepted",
             (double)c->xfr, (double)(up - down), SNL1_ROWS_MAX - 4);
    out->ifrp = (int32_t)up;
    out->ifrm = (int32_t)down;
    const float near_up = power(c->xfr, out->ifrp);
    const float near_down = power(c->xfr, out->ifrm);
    out->wfrp = (b - near_up) / (power(c->xfr, out->ifrp + 1) - near_up);
    out->wfrm = (near_down - a) / (near_down - power(c->xfr, out->ifrm - 1));
    out->nfrchg = c->nk - (out->ifrm - 1);
    out->nfrhgh = c->nk + (out->ifrp + 1) - (out->ifrm - 1);
    if (out->nfrhgh > SNL1_ROWS_MAX)
        FAIL(ERR_ARGUMENT, "nk %d: with the tail there are %d rows; at most %d are accepted",
             (int)c->nk, (int)out->nfrhgh, SNL1_ROWS_MAX);
    return 0;
}

void snl1_derive_squares(struct snl1_numbers *n)
{
    for (int j = 0; j < SNL1_WEIGHTS; j++)
        n->swg[j] = n->awg[j] * n->awg[j];
}

static void derive_weights(struct snl1_numbers *n)
{
    const float wthp1 = 1.0f - n->wthp;
    const float wthm1 = 1.0f - n->wthm;
    const float wfrp1 = 1.0f - n->wfrp;
    const float wfrm1 = 1.0f - n->wfrm;
    n->awg[0] = n->wthp * n->wfrp;
    n->awg[1] = wthp1 * n->wfrp;
    n->awg[2] = n->wthp * wfrp1;
    n->awg[3] = wthp1 * wfrp1;
    n->awg[4] = n->wthm * n->wfrm;
    n->awg[5] = wthm1 * n->wfrm;
    n->awg[6] = n->wthm * wfrm1;
    n->awg[7] = wthm1 * wfrm1;
    snl1_derive_squares(n);
}

int snl1_derive(const struct snl1_config *config, struct snl1_numbers *out)
{
    *out = (struct snl1_numbers){.nk = config->nk,
                                 .nth = config->nth,
                                 .kdcon = config->kdcon,
                                 .kdmin = config->kdmin,
                                 .snls1 = config->snls1,
                                 .snls2 = config->snls2,
                                 .snls3 = config->snls3};
    TRY(derive_rows(config, out));
    TRY(derive_angles(config, out));
    derive_weights(out);
    out->snlc1 = config->nlprop / power4(SNL1_GRAVITY);
    out->fachfe = powf(config->xfr, -config->fachf);
    return 0;
}

void snl1_derive_af11(const struct snl1_numbers *n, float xfr, const float *sig, float *af11)
{
    const float tpiinv = 1.0f / two_pi();
    for (int32_t f = 0; f < n->nk; f++)
        af11[f] = power11(sig[f] * tpiinv);
    float x = sig[n->nk - 1] * tpiinv;
    for (int32_t f = n->nk; f < n->nfrchg; f++) {
        x = x * xfr;
        af11[f] = power11(x);
    }
}

int32_t snl1_turned(int32_t t, int32_t n, int32_t nth)
{
    const int32_t to = t + n;
    return to >= nth ? to - nth : to < 0 ? to + nth : to;
}
