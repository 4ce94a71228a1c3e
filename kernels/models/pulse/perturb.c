/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/perturb.h"

#include <math.h>

#include "kernels/base/mem.h"
#include "kernels/base/rng.h"
#include "kernels/base/status.h"
#include "kernels/models/pulse/constants.h"

#define SHIFTS    32          /* modulations to each side */
#define COMPONENT 0x67726f77U /* of the stream: no noise is drawn from it */

static long index_of(const struct perturb_bins *bins, long place)
{
    return (bins->first + place) % bins->n;
}

static double norm_of(const struct perturb_bins *bins, const cplx *values)
{
    double sum = 0.0;
    for (long q = 0; q < bins->count; q++) {
        const cplx v = values != NULL ? values[q] : bins->a[index_of(bins, q)];
        sum += v.r * v.r + v.i * v.i;
    }
    return sqrt(sum);
}

/* The field times exp(i Omega t), Omega of `shift` bins, with the phase of the seed. */
static void add_shifted(const struct perturb_bins *bins, const struct seed *seed, long shift,
                        cplx *out)
{
    const struct rng_stream stream = {.seed = seed->ensemble_seed,
                                      .point_key = seed->point_key,
                                      .realisation = seed->realisation,
                                      .component = COMPONENT};
    const uint64_t key = shift < 0 ? 2 * (uint64_t)-shift - 1 : 2 * (uint64_t)shift;
    double x[2];
    rng_uniform2(&stream, key, x);
    const cplx factor = cplx_make(cos(2.0 * PULSE_PI * x[0]), sin(2.0 * PULSE_PI * x[0]));
    const long begin = shift > 0 ? shift : 0;
    const long end = shift < 0 ? bins->count + shift : bins->count;
    for (long q = begin; q < end; q++)
        out[q] = cplx_add(out[q], cplx_mul(factor, bins->a[index_of(bins, q - shift)]));
}

int pulse_perturb(const struct perturb_bins *bins, const struct seed *seed)
{
    const long quarter = bins->count / 4;
    const double most = (double)quarter;
    const double size = seed->perturbation > 0.0 ? norm_of(bins, NULL) : 0.0;
    cplx *more = NULL;
    long before = 0;
    if (!(size > 0.0))
        return 0;
    TRY(MEM_NEW(bins->count, &more));
    add_shifted(bins, seed, 0, more);
    for (int i = 0; i < SHIFTS; i++) {
        const long shift = lround(pow(most, (double)i / (SHIFTS - 1)));
        if (shift > before && shift < bins->count) {
            add_shifted(bins, seed, shift, more);
            add_shifted(bins, seed, -shift, more);
        }
        before = shift;
    }
    const double scale = seed->perturbation * size / norm_of(bins, more);
    for (long q = 0; q < bins->count; q++) {
        cplx *const v = &bins->a[index_of(bins, q)];
        *v = cplx_add(*v, cplx_make(scale * more[q].r, scale * more[q].i));
    }
    mem_free(more);
    return 0;
}
