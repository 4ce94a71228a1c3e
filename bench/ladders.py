# SPDX-License-Identifier: GPL-3.0-or-later
"""The work-precision set: scans of one member without tolerance and planes, which bench/precision adds.

Windows are short: a ladder of tolerances takes a second or two. Rates are ADK's, since PPT's jumps at
channel closings hide the order of the method. `planes`: what "every plane" is; the few steps of some
cases would all end at planes if there were more.
"""

RDW = """scan: {name}
model: capillary
parameters:
  gas: He
  core_radius: 125 um
  length: 1.5 m
  pressure: {{from: 0.8 bar, to: 0 bar}}
  guide: {{wall: silica_table}}
  plasma: {{rate: adk, occupancy: 1, rule: {rule}}}
  pulse: {{shape: gauss, duration: 7.5 fs, energy: 275 uJ, wavelength: 800 nm}}
  grid: {{wavelengths: [90 nm, 4 um], window: 409.6 fs, coarse: 4096, fine: 8192}}
  windows: {{time: sin2}}
"""
BLUE_SHIFT = """scan: blue-shift
model: capillary
parameters:
  gas: Ar
  core_radius: 125 um
  length: 50 cm
  pressure: 40 mbar
  guide: {wall: silica_table}
  plasma: {rate: adk, rule: band}
  pulse: {shape: gauss, duration: 30 fs, energy: 700 uJ, wavelength: 800 nm}
  grid: {wavelengths: [150 nm, 3 um], window: 300 fs}
  windows: {time: sin2}
"""
LONG_WINDOW = """scan: long-window
model: capillary
parameters:
  gas: Ar
  core_radius: 125 um
  length: 20 cm
  pressure: 100 mbar
  guide: {wall: silica_table}
  plasma: {rate: adk, rule: band}
  pulse: {shape: gauss, duration: 100 fs, energy: 2 mJ, wavelength: 800 nm}
  grid: {wavelengths: [200 nm, 4 um], window: 6553.6 fs, coarse: 32768, fine: 65536}
  windows: {time: sin2}
"""
SUPERCONTINUUM = """scan: supercontinuum
model: gnlse
parameters:
  length: 2.5 cm
  wavelength: 835 nm
  betas: [-11.830 ps^2/km, 8.1038e-2 ps^3/km, -9.5205e-5 ps^4/km, 2.0737e-7 ps^5/km,
          -5.3943e-10 ps^6/km, 1.3486e-12 ps^7/km, -2.5495e-15 ps^8/km, 3.0524e-18 ps^9/km,
          -1.7140e-21 ps^10/km]
  gamma: 0.11 W^-1 m^-1
  self_steepening: true
  raman: {model: blow_wood, tau1: 12.2 fs, tau2: 32 fs, fraction: 0.18}
  pulse: {shape: sech, duration: 50 fs, peak_power: 10 kW}
  grid: {points: 8192, window: 12.5 ps}
"""
# With T0 = duration / (2 ln(1 + sqrt 2)) = 56.730 fs: N^2 = gamma P T0^2 / |beta2| = 16, and the length is
# one period, pi T0^2 / (2 |beta2|), after which |A(t)| is that of the input.
SOLITON = """scan: soliton-4
model: gnlse
parameters:
  length: 0.5055217232621277 m
  wavelength: 1550 nm
  betas: [-10 ps^2/km]
  gamma: 0.1 W^-1 m^-1
  self_steepening: false
  raman: {model: none}
  pulse: {shape: sech, duration: 100 fs, peak_power: 497.1644159332453 W}
  grid: {points: 2048, window: 4 ps}
"""

SCANS = {
    "he-rdw-band": {"text": RDW.format(name="rdw-band", rule="band"), "planes": 51},
    "he-rdw-trapezoid": {"text": RDW.format(name="rdw-trapezoid", rule="trapezoid"), "planes": 51},
    "ar-blue-shift": {"text": BLUE_SHIFT, "planes": 11},
    "long-window": {"text": LONG_WINDOW, "planes": 11},
    "supercontinuum": {"text": SUPERCONTINUUM, "planes": 51},
    "soliton-4": {"text": SOLITON, "planes": 51},
}
ABSENT = {
    "four modes of helium": "models have one mode",
    "long-window column on 49 nodes": "the one mode takes its column on one node",
    "general modal, two polarisations": "fields are scalar",
    "radial filament": "no model of free space",
}
RUNGS = (1e-4, 1e-5, 1e-6, 1e-7)
REFERENCE = 1e-10
