/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/base/rng.h"

#include <math.h>

#include <Random123/philox.h>

void rng_philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4])
{
    const philox4x32_ctr_t c = {{counter[0], counter[1], counter[2], counter[3]}};
    const philox4x32_key_t k = {{key[0], key[1]}};
    const philox4x32_ctr_t r = philox4x32(c, k);
    for (int i = 0; i < 4; i++)
        out[i] = r.v[i];
}

/*
 * One stream has a 64-bit point key, a realisation, a component and a bin: more than the 128
 * bits of a counter. A first Philox call, keyed by the ensemble seed, turns (point key,
 * realisation) into the key of the second, whose counter is (bin, component).
 */
static void stream_block(const struct rng_stream *stream, uint64_t bin, uint32_t out[4])
{
    const uint32_t seed_key[2] = {(uint32_t)stream->seed, (uint32_t)(stream->seed >> 32)};
    const uint32_t where[4] = {(uint32_t)stream->point_key, (uint32_t)(stream->point_key >> 32),
                               (uint32_t)stream->realisation,
                               (uint32_t)(stream->realisation >> 32)};
    uint32_t key[4];
    rng_philox(seed_key, where, key);
    const uint32_t counter[4] = {(uint32_t)bin, (uint32_t)(bin >> 32), stream->component,
                                 key[2]};
    rng_philox(key, counter, out);
}

/* 53 random bits to (0, 1]: never 0, so that a logarithm of it is finite. */
static double unit_interval(uint32_t low, uint32_t high)
{
    const uint64_t bits = ((uint64_t)high << 32 | low) >> 11;
    return ((double)bits + 1.0) * 0x1p-53;
}

void rng_uniform2(const struct rng_stream *stream, uint64_t bin, double out[2])
{
    uint32_t r[4];
    stream_block(stream, bin, r);
    out[0] = unit_interval(r[0], r[1]);
    out[1] = unit_interval(r[2], r[3]);
}

void rng_normal2(const struct rng_stream *stream, uint64_t bin, double out[2])
{
    double u[2];
    rng_uniform2(stream, bin, u);
    const double radius = sqrt(-2.0 * log(u[0]));
    const double angle = 6.283185307179586477 * u[1];
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
}
