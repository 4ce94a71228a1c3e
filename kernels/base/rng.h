/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KERNELS_BASE_RNG_H
#define KERNELS_BASE_RNG_H

#include <stdint.h>

/*
 * Counter-based random numbers: Philox4x32-10 (Salmon et al., SC'11,
 * doi:10.1145/2063384.2063405). The numbers depend on key and counter only: never on rank,
 * order, worker count or resume. Key = ensemble seed; counter = (point key, realisation,
 * component and bin) folded as below.
 */

/* Where a stream of numbers belongs. */
struct rng_stream {
    uint64_t seed;      /* ensemble.seed */
    uint64_t point_key; /* hash of the point's canonical parameters; 0: common random numbers */
    uint64_t realisation; /* index of the noise seed at the point */
    uint32_t component;   /* mode, polarisation or field component */
};

/** The raw generator: out = Philox4x32-10(key, counter). Known answers of Random123 apply. */
void rng_philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4]);

/**
 * Two independent uniform numbers in (0, 1] for one bin of a stream, 53 bits each.
 *
 * @param bin frequency or sample index, >= 0
 */
void rng_uniform2(const struct rng_stream *stream, uint64_t bin, double out[2]);

/** Two independent standard normal numbers for one bin of a stream (Box and Muller, 1958). */
void rng_normal2(const struct rng_stream *stream, uint64_t bin, double out[2]);

#endif
