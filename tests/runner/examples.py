#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The example scans, shortened, and the same fields on 1 to 4 ranks within a rounding bound."""
import glob
import os
import subprocess
import sys

import h5py
import numpy as np

SCANFARM = os.environ["SCANFARM"]
EXAMPLES = os.path.join(os.environ["SCANFARM_SOURCE"], "scans", "examples")
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
# What makes each example a matter of seconds, and how many members are left.
SHORT = {
    "capillary-blue-shift": (["length=1 cm", "grid.window=200 fs", "save.planes=2"], 4),
    "capillary-convergence": (["length=1 cm", "save.planes=2"], 10),
    "capillary-measured": (["length=1 cm", "grid.window=200 fs", "save.planes=2"], 3),
    "capillary-envelope": (["length=10 cm", "grid.window=2 ps", "save.planes=2"], 4),
    "capillary-raman": (["length=1 cm", "grid.window=300 fs", "save.planes=2"], 4),
    "capillary-rdw": (["length=2 cm", "grid.window=300 fs", "save.planes=2", "axis.pulse.energy=[240 uJ, 340 uJ]"], 6),
    "capillary-soliton": (["length=2 cm", "save.planes=2"], 5),
    "coherence-until": (["length=1 mm", "ensemble.max=20"], 80),
    "convergence-rtol": (["length=2 mm"], 7),
    "dudley-coherence": (["length=1 mm", "ensemble.realisations=2"], 48),
    "measured-pulse": (["length=1 cm", "save.planes=3"], 3),
    "modulation-instability": (["length=5 cm", "ensemble.realisations=2"], 6),
    "probe-codes": ([], 30),
    "soliton-fission": (["length=2 mm"], 1),
    "tolerance-decoherence": (["length=2 mm", "ensemble.realisations=2"], 4),
    "waves-depth": ([], 36),
}
# Planes so close that each step is one plane long: a fixed schedule of eight steps. The error of
# a step is far below the loose tolerance, so none is rejected.
SCHEDULE = """scan: schedule
model: gnlse
parameters:
  length: 0.8 mm
  wavelength: 835 nm
  betas: [-11.830 ps^2/km, 8.1038e-2 ps^3/km]
  gamma: 0.11 W^-1 m^-1
  self_steepening: true
  raman: {model: blow_wood, tau1: 12.2 fs, tau2: 32 fs, fraction: 0.18}
  pulse: {shape: sech, duration: 50 fs, peak_power: 10 kW}
  grid: {points: 2048, window: 6 ps}
ensemble: {realisations: 4, seed: 3, noise: one_photon, common: true}
stepper: {rtol: 0.01, first_step: 0.1 mm}
save: {planes: 9, field: true, observables: all}
"""
results = []


def check(sentence, ok, detail=""):
    results.append(bool(ok))
    print(("ok   " if ok else "FAIL ") + sentence + (f"  ({detail})" if detail else ""), flush=True)


def run(scan, output, *words):
    r = subprocess.run([SCANFARM, "run", scan, "-o", output, "--fresh", *words], env=ENV, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    return r.returncode, r.stderr.strip()[-200:]


def examples():
    names = sorted(os.path.basename(f)[:-5] for f in glob.glob(os.path.join(EXAMPLES, "*.yaml")))
    check("every example is listed here", names == sorted(SHORT), " ".join(names))
    for name in names:
        settings, members = SHORT.get(name, ([], -1))
        words = [w for s in settings for w in ("--set", s)]
        code, err = run(os.path.join(EXAMPLES, name + ".yaml"), name + ".h5", *words)
        check(f"example {name} runs", code == 0, err if code else "")
        with h5py.File(name + ".h5") as file:
            state, saved = file["member/state"][...], file["member/n_saved"][...]
            check(f"example {name}: {members} members, all done and complete",
                  len(state) == members and (state == 2).all() and file["complete"][()] == 1
                  and (saved == file.attrs["planes"]).all())


def schedule(workers, gamma="0.11"):
    with open("schedule.yaml", "w") as file:
        file.write(SCHEDULE.replace("gamma: 0.11", "gamma: " + gamma))
    code, err = run("schedule.yaml", "schedule.h5", *(["-n", str(workers)] if workers else []))
    check(f"eight fixed steps, workers: {workers or 'in one process'}", code == 0, err if code else "")
    with h5py.File("schedule.h5") as file:
        steps = (file["member/steps"][...] == 8).all() and (file["member/rejected"][...] == 0).all()
        check("  exactly eight steps, none rejected", steps)
        return file["plane/field"][...], file["step/h"][:, :8]


def fields_on_any_ranks():
    reference, lengths = schedule(None)
    eps = np.finfo(float).eps
    peak = np.abs(reference[:, -1]).max()
    for workers in (1, 2, 3, 4):
        field, h = schedule(workers)
        error = np.abs(field - reference).max() / peak
        check("  the same step lengths, bit for bit", np.array_equal(h, lengths))
        check("  fields within 128 eps of the peak", np.isfinite(error) and error <= 128 * eps,
              f"{error / eps:.2f} eps")
    field, _ = schedule(1, gamma="0.110000000011")
    error = np.abs(field - reference).max() / peak
    check("  a gamma changed by 1e-10 is seen", error > 128 * eps, f"{error / eps:.0f} eps")


examples()
fields_on_any_ranks()
print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
sys.exit(0 if all(results) else 1)
