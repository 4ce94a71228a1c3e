/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one would write first: the arrays, tables and loops of the Fortran, in C. */
#include "bench/snl1_plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SA1, SA2, DA1C, DA1P, DA1M, DA2C, DA2P, DA2M, WORK };

struct plain {
    const struct snl1_numbers *n;
    int nspec, nspecx, nspecy;
    int32_t *ip, *im, *ic; /* 1-based */
    float *af11;           /* [nspecx] */
    float *con;            /* [nspec] */
    float *ue;             /* from address 1 - nth */
    float *work[WORK];     /* likewise */
};

struct plain *plain_create(const struct snl1 *handle)
{
    struct plain *const p = calloc(1, sizeof *p);
    p->n = snl1_numbers(handle);
    const int nth = p->n->nth;
    p->nspec = p->n->nk * nth;
    p->nspecx = p->n->nfrchg * nth;
    p->nspecy = p->n->nfrhgh * nth;
    p->ip = malloc(sizeof(int32_t) * 8 * (size_t)p->nspecx);
    p->im = malloc(sizeof(int32_t) * 8 * (size_t)p->nspecx);
    p->ic = malloc(sizeof(int32_t) * 16 * (size_t)p->nspec);
    snl1_addresses(handle, p->ip, p->im, p->ic);
    p->af11 = malloc(sizeof(float) * (size_t)p->nspecx);
    for (int q = 0; q < p->nspecx; q++)
        p->af11[q] = p->n->af11[q / nth];
    p->con = malloc(sizeof(float) * (size_t)p->nspec);
    p->ue = calloc((size_t)p->nspecy + (size_t)nth, sizeof(float));
    for (int i = 0; i < WORK; i++)
        p->work[i] = calloc((size_t)p->nspecx + (size_t)nth, sizeof(float));
    return p;
}

void plain_destroy(struct plain *p)
{
    free(p->ip);
    free(p->im);
    free(p->ic);
    free(p->af11);
    free(p->con);
    free(p->ue);
    for (int i = 0; i < WORK; i++)
        free(p->work[i]);
    free(p);
}

static float strength(const struct snl1_numbers *n, float kdmean)
{
    float x = n->kdmin;
    float x2 = -1.0e15f;
    if (n->kdcon * kdmean > x)
        x = n->kdcon * kdmean;
    if (n->snls3 * x > x2)
        x2 = n->snls3 * x;
    return n->snlc1 * (1.0f + ((n->snls1 / x) * (1.0f - n->snls2 * x)) * expf(x2));
}

static void spectrum(struct plain *p, const float *a, const float *cg)
{
    const struct snl1_numbers *const n = p->n;
    float *const ue = p->ue + n->nth - 1; /* address 1 is ue[1] */
    const float tpiinv = 1.0f / (2.0f * 3.141592653589793f);
    for (int f = 0; f < n->nk; f++) {
        const float con = (tpiinv / n->sig[f]) * cg[f];
        for (int t = 0; t < n->nth; t++) {
            const int q = f * n->nth + t;
            p->con[q] = con;
            ue[q + 1] = a[q] / con;
        }
    }
    for (int q = p->nspec + 1; q <= p->nspecy; q++)
        ue[q] = ue[q - n->nth] * n->fachfe;
}

static void interactions(struct plain *p, float cons)
{
    const struct snl1_numbers *const n = p->n;
    const float *const ue = p->ue + n->nth - 1;
    const float *const w = n->awg;
    const long x = p->nspecx;
    float *work[WORK];
    for (int i = 0; i < WORK; i++)
        work[i] = p->work[i] + n->nth - 1;
    const int32_t *const ip = p->ip;
    const int32_t *const im = p->im;
    for (int q = 0; q < p->nspecx; q++) {
        const float e = ue[q + 1];
        const float ep1 = ((w[0] * ue[ip[q]] + w[1] * ue[ip[x + q]]) + w[2] * ue[ip[2 * x + q]])
                          + w[3] * ue[ip[3 * x + q]];
        const float em1 = ((w[4] * ue[im[q]] + w[5] * ue[im[x + q]]) + w[6] * ue[im[2 * x + q]])
                          + w[7] * ue[im[3 * x + q]];
        const float ep2 =
            ((w[0] * ue[ip[4 * x + q]] + w[1] * ue[ip[5 * x + q]]) + w[2] * ue[ip[6 * x + q]])
            + w[3] * ue[ip[7 * x + q]];
        const float em2 =
            ((w[4] * ue[im[4 * x + q]] + w[5] * ue[im[5 * x + q]]) + w[6] * ue[im[6 * x + q]])
            + w[7] * ue[im[7 * x + q]];
        const float ca = cons * p->af11[q];
        const float factor = ca * e;
        const float sa1a = e * (ep1 * n->dal[0] + em1 * n->dal[1]);
        const float sa1b = sa1a - (ep1 * em1) * n->dal[2];
        const float sa2a = e * (ep2 * n->dal[0] + em2 * n->dal[1]);
        const float sa2b = sa2a - (ep2 * em2) * n->dal[2];
        work[SA1][q + 1] = factor * sa1b;
        work[SA2][q + 1] = factor * sa2b;
        work[DA1C][q + 1] = ca * (sa1a + sa1b);
        work[DA1P][q + 1] = factor * (n->dal[0] * e - n->dal[2] * em1);
        work[DA1M][q + 1] = factor * (n->dal[1] * e - n->dal[2] * ep1);
        work[DA2C][q + 1] = ca * (sa2a + sa2b);
        work[DA2P][q + 1] = factor * (n->dal[0] * e - n->dal[2] * em2);
        work[DA2M][q + 1] = factor * (n->dal[1] * e - n->dal[2] * ep2);
    }
}

static void gather(struct plain *p, float *s, float *d)
{
    const struct snl1_numbers *const n = p->n;
    const float *work[WORK];
    for (int i = 0; i < WORK; i++)
        work[i] = p->work[i] + n->nth - 1;
    for (int q = 0; q < p->nspec; q++) {
        float sum = -2.0f * (work[SA1][q + 1] + work[SA2][q + 1]);
        float diagonal = -2.0f * (work[DA1C][q + 1] + work[DA2C][q + 1]);
        const int32_t *ic = p->ic + q;
        for (int j = 0; j < 8; j++, ic += 2L * p->nspec) {
            const float *const one = work[j < 4 ? DA1P : DA1M];
            const float *const two = work[j < 4 ? DA2P : DA2M];
            sum = sum + n->awg[j] * (work[SA1][ic[0]] + work[SA2][ic[p->nspec]]);
            diagonal = diagonal + n->swg[j] * (one[ic[0]] + two[ic[p->nspec]]);
        }
        s[q] = p->con[q] * sum;
        d[q] = diagonal;
    }
}

void plain_point(struct plain *plain, const float *a, const float *cg, float kdmean, float *s,
                 float *d)
{
    spectrum(plain, a, cg);
    interactions(plain, strength(plain->n, kdmean));
    gather(plain, s, d);
}
