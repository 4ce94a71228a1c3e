#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reading commands on files that the program wrote: a live file, several grids, ensembles reduced again."""
import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np
from near import rounding

EXE = os.environ["SCANFARM"]
failures = []

PROBE = """scan: codes
model: probe
parameters: {size: 4, sleep: 50 ms}
axes:
  - a: [0, 1]
  - b: {from: 0, to: 2, points: 3}
  - c: {from: 0, to: 4, step: 1}
save: {planes: 3, field: true, observables: all}
"""

GRIDS = """scan: grids
model: gnlse
parameters:
  length: 2 cm
  betas: [-11.830 ps^2/km]
  gamma: 0.11 W^-1 m^-1
  pulse: {shape: sech, duration: 50 fs, peak_power: 1 kW}
  grid: {points: 256, window: 2 ps}
axes:
  - wavelength: [800 nm, 900 nm]
  - grid.points: [256, 512]
ensemble: {realisations: 4, seed: 1, noise: one_photon}
save: {planes: [0 m, 0.5 cm, 2 cm], field: true, observables: [energy]}
"""


def check(sentence, ok, detail=""):
    print(("ok   " if ok else "FAIL ") + sentence + ("" if ok else "  (" + str(detail)[:300] + ")"), flush=True)
    if not ok:
        failures.append(sentence)


def sf(*arguments):
    return subprocess.run([EXE, *arguments], capture_output=True, text=True, timeout=100)


def live_status():
    open("codes.yaml", "w").write(PROBE)
    run = subprocess.Popen([EXE, "run", "codes.yaml"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    saved, bad, looks = [], [], 0
    while run.poll() is None:
        if os.path.exists("codes.h5"):
            r = sf("status", "--json", "codes.h5")
            looks += 1
            if r.returncode == 0:
                saved.append(json.loads(r.stdout)["files"][0]["planes_saved"])
            else:
                bad.append(r.stderr)
    check("status of a live file never fails", looks > 0 and not bad, (looks, bad))
    check("saved planes only become more", saved == sorted(saved) and run.returncode == 0, saved)
    d = json.loads(sf("status", "--json", "codes.h5").stdout)["files"][0]
    check("in the end all 30 members are done", d["states"]["done"] == 30 and d["complete"] and not d["running"] and d["planes_saved"] == 90, d)
    r = sf("plot", "codes.h5", "-w", "observable", "--observable", "code", "--axis", "b", "-o", "code.svg")
    check("an observable of the probe is drawn", r.returncode == 0 and os.path.getsize("code.svg") > 3000, r.stderr)
    r = sf("plot", "codes.h5", "-o", "never.png")
    check("a model without spectra has no evolution: exit 2", r.returncode == 2 and "no field over omega" in r.stderr, r.stderr)


def several_grids():
    open("grids.yaml", "w").write(GRIDS)
    r = sf("run", "grids.yaml")
    check("the scan over grids ran", r.returncode == 0, r.stderr[-200:])
    for point in range(4):
        for kind in ("evolution", "spectrum", "coherence"):
            name = f"{kind}{point}.svg"
            r = sf("plot", "grids.h5", "-w", kind, "-p", str(point), "-o", name)
            check(f"{kind} of point {point} on its own grid", r.returncode == 0 and "wavelength (nm)" in open(name).read(), r.stderr)
    with h5py.File("grids.h5") as h:
        a = h["plane/field"][0, 0, :256]  # the first member lives on the small grid
        omega = h["omega"][0, :256]
    window = 2 * np.pi / (np.sort(omega)[1] - np.sort(omega)[0])
    density = np.abs(a) ** 2 * window ** 2 / (2 * np.pi) * omega ** 2 / (2 * np.pi * 299792458.0) * 1e-9
    sf("plot", "grids.h5", "-w", "spectrum", "-m", "0", "-k", "0", "-o", "first.svg")
    check("0 dB is the largest energy per nm of that grid", f"0 = {density[omega > 0].max() * 1e12:.3g} pJ/nm" in open("first.svg").read())
    r = sf("plot", "grids.h5", "-w", "coherence", "-p", "0", "-p", "3", "-o", "both.svg")
    check("points on different grids share a picture", r.returncode == 0 and "wavelength = 900 nm, grid.points = 512: overall" in open("both.svg").read(), r.stderr)


def reduce_again():
    with h5py.File("grids.h5", "r+") as h:
        before = {k: h["ensemble"][k][...] for k in h["ensemble"]}
        h["ensemble/mean_spectrum"][1] = 0
        h["ensemble/coherence"][1] = 7
        h["ensemble/reduced"][1] = 0
    r = sf("plot", "grids.h5", "-w", "coherence", "-p", "1", "-o", "never.png")
    check("a point that is not reduced is not drawn", r.returncode == 2 and "not reduced" in r.stderr, r.stderr)
    r = sf("reduce", "grids.h5", "--point", "1")
    check("reduce tells members and coherence of the point", r.returncode == 0 and r.stdout.startswith("point 1: 4 members, coherence "), r.stdout + r.stderr)
    with h5py.File("grids.h5") as h:
        same = [k for k in before if not np.array_equal(h["ensemble"][k][...], before[k], equal_nan=True)]
        fields = h["plane/field"][4:8, 2]
        mean = (np.abs(fields) ** 2).mean(axis=0)
        stored = h["ensemble/mean_spectrum"][1, 2]
    check("reduce writes what the run wrote, bit for bit", not same, same)
    check("the mean spectrum is the mean of |a|^2", rounding(stored[:512], mean[:512]), np.abs(stored[:512] / mean[:512] - 1).max())
    r = sf("reduce", "grids.h5")
    check("reduce without --point does all", r.returncode == 0 and len(r.stdout.splitlines()) == 4, r.stdout + r.stderr)
    r = sf("reduce", "grids.h5", "-p", "4")
    check("a point that does not exist: exit 2", r.returncode == 2 and "0 to 3" in r.stderr, r.stderr)
    r = sf("reduce", "codes.h5")
    check("a file without ensemble: exit 2", r.returncode == 2 and "no ensemble" in r.stderr, r.stderr)


with tempfile.TemporaryDirectory(dir=".") as folder:
    os.chdir(folder)
    live_status()
    several_grids()
    reduce_again()
    os.chdir("..")
print(f"{len(failures)} failed")
sys.exit(1 if failures else 0)
