/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/noise.h"

#include <math.h>

#include "kernels/base/rng.h"
#include "kernels/models/pulse/constants.h"
#include "kernels/models/pulse/grid.h"

/* 0, -1, 1, -2, 2 … to 0, 1, 2, 3, 4 …: a bin keeps its numbers when n changes. */
static uint64_t bin_key(long bin)
{
    return bin >= 0 ? 2 * (uint64_t)bin : 2 * (uint64_t)(-bin) - 1;
}

static cplx noise_value(enum noise_kind kind, const struct rng_stream *stream, uint64_t key,
                        double power)
{
    double x[2];
    if (kind == NOISE_ONE_PHOTON) {
        rng_uniform2(stream, key, x);
        const double phase = 2.0 * PULSE_PI * x[0];
        return cplx_make(sqrt(power) * cos(phase), sqrt(power) * sin(phase));
    }
    rng_normal2(stream, key, x);
    return cplx_make(sqrt(power / 4.0) * x[0], sqrt(power / 4.0) * x[1]);
}

cplx pulse_noise_bin(const struct seed *seed, long bin, double photon)
{
    const struct rng_stream stream = {.seed = seed->ensemble_seed,
                                      .point_key = seed->point_key,
                                      .realisation = seed->realisation,
                                      .component = 0};
    return noise_value(seed->noise, &stream, bin_key(bin), photon);
}

void pulse_noise_add(const struct pulse_spectrum *spectrum, const struct seed *seed)
{
    if (seed->noise == NOISE_NONE)
        return;
    for (long k = 0; k < spectrum->n; k++) {
        const long bin = pulse_bin(k, spectrum->n);
        const double omega = spectrum->omega0 + 2.0 * PULSE_PI / spectrum->window * (double)bin;
        if (!(omega > 0.0))
            continue;
        const double frequency = seed->noise == NOISE_DIRECT ? spectrum->omega0 : omega;
        const double photon = PULSE_HBAR * frequency / spectrum->window;
        spectrum->a[k] = cplx_add(spectrum->a[k], pulse_noise_bin(seed, bin, photon));
    }
}
