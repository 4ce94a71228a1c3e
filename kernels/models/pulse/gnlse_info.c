/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/gnlse_info.h"

#include "kernels/models/pulse/gnlse_params.h"
#include "kernels/models/pulse/observables.h"

static const struct observable_info gnlse_observables[PULSE_OBSERVABLES] = {
    [PULSE_ENERGY] = {"energy", "J", "Pulse energy"},
    [PULSE_PHOTON_NUMBER] = {"photon_number", "1", "Number of photons at positive frequencies"},
    [PULSE_PEAK_POWER] = {"peak_power", "W", "Highest instantaneous power"},
    [PULSE_FWHM_T] = {"fwhm_t", "s",
                      "Duration between the outermost half-maximum crossings of the power"},
    [PULSE_T_PEAK] = {"t_peak", "s", "Time of the highest power"},
    [PULSE_OMEGA_MEAN] = {"omega_mean", "rad s^-1", "Mean angular frequency of the energy"},
    [PULSE_WIDTH_20DB] = {"width_20db", "rad s^-1",
                          "Width between the outermost bins above -20 dB of the spectral peak"},
    [PULSE_EDGE_T] = {"edge_t", "1",
                      "Share of the energy in the outer 5 % of each side of the window"},
    [PULSE_EDGE_OMEGA] = {"edge_omega", "1",
                          "Share of the energy in the outer 5 % of each side of the band"},
};

static const struct bound_info gnlse_bounds[] = {
    {"input", CONTRACT_P, "bits",
     "the input plane of a member depends on its parameters and seed alone", "numerics.md §1"},
    {"seed", CONTRACT_P, "bits",
     "random numbers depend on (ensemble seed, point key, realisation, bin) alone",
     "doi:10.1145/2063384.2063405"},
    {"schedule", CONTRACT_R, "peak magnitude of the spectrum",
     "same step lengths by other code, threads or batch: 16 eps a step, 128 eps for eight",
     "numerics.md §2"},
    {"field", CONTRACT_T, "l2 of the spectrum",
     "against a tighter tolerance at the same planes; no envelope is judged by default",
     "numerics.md §1"},
    {"photon_number", CONTRACT_T, "relative",
     "constant without loss and absorber, within the envelope of the field",
     "Blow and Wood 1989"},
    {"energy", CONTRACT_T, "relative",
     "exp(-loss z) without steepening, Raman and absorber, within the envelope of the field",
     "physics.md §10"},
};

const struct model_info gnlse_info = {
    .name = "gnlse",
    .doc = "Generalised nonlinear Schroedinger equation for pulses in an optical fibre",
    .numerics_version = 2,
    .convention = "fields go as exp(+i omega t): A(t_j) = sum_k a_k exp(+2 pi i j k / n), "
                  "a = fft(A)/n, index 0 is t = -T/2, no shift; a positive beta2 multiplies by "
                  "exp(-i beta2/2 Omega^2 z); conjugate of the exp(-i omega t) literature",
    .takes_noise = true,
    .on_devices = true,
    .progress_unit = "m",
    .params = gnlse_params,
    .param_count = GNLSE_PARAM_COUNT,
    .observables = gnlse_observables,
    .observable_count = PULSE_OBSERVABLES,
    .bounds = gnlse_bounds,
    .bound_count = sizeof gnlse_bounds / sizeof gnlse_bounds[0],
    /* Independent reference results, not made with scanfarm. */
    .tolerance_doc =
        "in the supercontinuum of Dudley, Genty and Coen (Rev. Mod. Phys. 78, 1135) rtol 1e-5, "
        "1e-6 and 1e-7 leave 3e-3, 5e-4 and 1.4e-5 of error in the spectrum (L1); 1e-3 fakes "
        "decoherence (0.75 instead of 0.95 over 20 shots of the reference code)"};
