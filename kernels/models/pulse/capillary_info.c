/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/models/pulse/capillary_info.h"

#include "kernels/models/pulse/capillary_observe.h"
#include "kernels/models/pulse/capillary_params.h"

static const struct observable_info observables[CAPILLARY_OBSERVABLES] = {
    [CAPILLARY_ENERGY] = {"energy", "J", "Pulse energy"},
    [CAPILLARY_PHOTON_NUMBER] = {"photon_number", "1", "Number of photons"},
    [CAPILLARY_PEAK_POWER] = {"peak_power", "W", "Highest power, of the analytic signal"},
    [CAPILLARY_FWHM_T] = {"fwhm_t", "s",
                          "Duration between the outermost half-maximum crossings of the power"},
    [CAPILLARY_T_PEAK] = {"t_peak", "s", "Time of the highest power"},
    [CAPILLARY_OMEGA_MEAN] = {"omega_mean", "rad s^-1", "Mean angular frequency of the energy"},
    [CAPILLARY_CHIRP] = {"chirp", "s^2",
                         "Slope of the group delay over the angular frequency, least squares"},
    [CAPILLARY_ENERGY_RDW] = {"energy_rdw", "J", "Energy in bands.rdw; 0 without it"},
    [CAPILLARY_ENERGY_UV] = {"energy_uv", "J", "Energy in bands.uv; 0 without it"},
    [CAPILLARY_ENERGY_VISIBLE] = {"energy_visible", "J",
                                  "Energy in bands.visible; 0 without it"},
    [CAPILLARY_ENERGY_INFRARED] = {"energy_infrared", "J",
                                   "Energy in bands.infrared; 0 without it"},
    [CAPILLARY_RDW_PEAK] =
        {"rdw_peak", "m",
         "Wavelength of the highest spectral peak in bands.rdw, without it below 0.6 of the "
         "carrier's; 0: none"},
    [CAPILLARY_ELECTRON_DENSITY] = {"electron_density", "m^-3",
                                    "Free electrons after the pulse, on the fine samples"},
    [CAPILLARY_IONISED_FRACTION] =
        {"ionised_fraction", "1", "Free electrons a particle of the whole gas after the pulse"},
    [CAPILLARY_IONISATION_LOSS] = {"ionisation_loss", "J",
                                   "Energy spent on ionisation on the way so far"},
    [CAPILLARY_ABSORBED] = {"absorbed", "J", "Energy lost to the wall and the absorber so far"},
    [CAPILLARY_B_INTEGRAL] =
        {"b_integral", "rad",
         "Nonlinear phase of the highest squared sample on the way so far: with N fine "
         "samples a period of a real field up to (pi/N)^2 too low"},
    [CAPILLARY_SATURATED] = {"saturated", "1",
                             "Samples of this plane whose field lies above the rate's range"},
    [CAPILLARY_UNDERSHOOT] = {"undershoot", "1",
                              "Samples of this plane whose filtered exposure was negative and "
                              "set to 0 (rule: band)"},
    [CAPILLARY_DENSITY] = {"density", "m^-3", "Particles of the gas at this plane"},
    [CAPILLARY_EDGE_T] = {"edge_t", "1",
                          "Share of the energy in the outer 5 % of each side of the window"},
    [CAPILLARY_EDGE_OMEGA] = {"edge_omega", "1",
                              "Share of the energy in the outer 5 % of each side of the band"},
};

static const struct bound_info bounds[] = {
    {"input", CONTRACT_P, "bits",
     "the input plane of a member depends on its parameters and seed alone", "numerics.md §1"},
    {"input.from", CONTRACT_P, "bits",
     "a plane of an earlier run with the same window is taken as it is stored",
     "numerics.md §1"},
    {"seed", CONTRACT_P, "bits",
     "random numbers depend on (ensemble seed, point key, realisation, bin) alone",
     "doi:10.1145/2063384.2063405"},
    {"schedule", CONTRACT_R, "peak magnitude of the spectrum",
     "same step lengths by other code, threads or batch: 16 eps a step, 128 eps for eight",
     "numerics.md §2"},
    {"field", CONTRACT_T, "l2 of the spectrum",
     "against a tighter tolerance at the same planes; no envelope is judged by default",
     "numerics.md §1"},
    {"energy", CONTRACT_T, "relative",
     "constant without loss, plasma and Raman, within the envelope of the field",
     "physics.md §10"},
    {"ionisation_loss", CONTRACT_T, "relative",
     "potential times electrons, within the envelope of the field", "physics.md §10"},
};

const struct model_info capillary_info = {
    .name = "capillary",
    .doc =
        "Carrier-resolved pulses in a gas-filled hollow capillary: Kerr effect, plasma, Raman",
    .numerics_version = 5,
    .convention =
        "fields go as exp(+i omega t): A(t_j) = a_0 + 2 Re sum_k a_k exp(+2 pi i j k / "
        "n), a = rfft(A)/n at omega_k = 2 pi k/T, index 0 is t = -T/2, no shift; "
        "|A_analytic|^2 is the power; propagation is exp(-i beta z), in the frame of "
        "the local group velocity of the carrier",
    .takes_noise = true,
    .on_devices = true,
    .progress_unit = "m",
    .params = capillary_params,
    .param_count = CAPILLARY_PARAM_COUNT,
    .observables = observables,
    .observable_count = CAPILLARY_OBSERVABLES,
    .bounds = bounds,
    .bound_count = sizeof bounds / sizeof bounds[0],
    /* Independent reference results, not made with scanfarm. */
    .tolerance_doc =
        "in a vacuum-ultraviolet dispersive wave of 275 uJ in helium along a gradient, rtol "
        "1e-5 "
        "and 1e-6 leave 1.3e-4 and 7e-6 of error in the field, 6e-6 and 1.2e-6 in the spectrum "
        "(L1; the reference program's own runs)"};
