#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What scanfarm diff calls equal, and by what; distances and statistics against numpy's.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import json
import os
import shutil
import sys

import h5py
import numpy as np

from checks import run_checks
from farm import CODES, command, run, write
from near import near, rounding

PULSE = """scan: pulse
model: gnlse
parameters:
  length: 2 mm
  wavelength: 835 nm
  betas: [-11.83 ps^2/km, 0.081 ps^3/km]
  gamma: 0.11 W^-1 m^-1
  raman: {model: blow_wood, tau1: 12.2 fs, tau2: 32 fs, fraction: 0.18}
  pulse: {shape: sech, duration: 50 fs, peak_power: 4 kW}
  grid: {points: 512, window: 4 ps}
axes: [{gamma: [0.10 W^-1 m^-1, 0.11 W^-1 m^-1, 0.12 W^-1 m^-1]}]
stepper: {rtol: 1e-6}
save: {planes: 3}
"""
LOOSE = PULSE.replace("1e-6", "1e-4")
JUDGED = "envelope: {tolerance: 1e-6, safety: 2}\n"
# The noise of twelve shots is amplified enough to be seen, and little enough to be Gaussian.
SHOTS = """scan: shots
model: gnlse
parameters:
  length: 5 mm
  wavelength: 835 nm
  betas: [-11.83 ps^2/km]
  gamma: 0.11 W^-1 m^-1
  raman: none
  pulse: {shape: sech, duration: 50 fs, peak_power: 4 kW}
  grid: {points: 512, window: 4 ps}
axes: [{gamma: [0.10 W^-1 m^-1, 0.11 W^-1 m^-1]}]
ensemble: {realisations: 12, seed: 1, noise: one_photon}
save: {planes: 3, field: true, observables: all}
"""
GAS = """scan: gas
model: capillary
parameters:
  gas: H2
  core_radius: 100 um
  length: 20 cm
  pressure: 1 bar
  kerr: {third_harmonic: false}
  plasma: none
  raman: on
  pulse: {shape: gauss, energy: 50 uJ, duration: 30 fs, wavelength: 800 nm}
  grid: {wavelengths: [300 nm, 3 um], window: 1 ps}
  bands: {uv: [300 nm, 380 nm]}
save: {planes: 3, field: true, observables: all}
"""
ONCE = {}


def made(text, *words):
    """A file of a scan, to be copied."""
    if (text, words) not in ONCE:
        folder = write(text)
        code, _, err = run(folder, *words)
        assert code in (0, 1), err
        ONCE[text, words] = os.path.join(folder, "out.h5")
    return ONCE[text, words]


def copy(path, name="copy.h5"):
    shutil.copy(path, name)
    return h5py.File(name, "r+")


def diff(a, b, *words):
    """Exit code and the parsed JSON."""
    r = command(".", "diff", "--json", *words, a, b)
    result = json.loads(r.stdout)
    assert r.returncode == (0 if result["equal"] else 1), r
    return result


def pairs(result):
    return {name: found["pairs"] for name, found in result["classes"].items() if found["pairs"]}


def distances(a, b, left, right):
    """||c - r||/||r|| of the fields of two members, plane by plane."""
    with h5py.File(a) as x, h5py.File(b) as y:
        c, r = x["plane/field"][left], y["plane/field"][right]
    return np.linalg.norm(c - r, axis=1) / np.linalg.norm(r, axis=1)


def a_scan_made_twice_is_equal():
    """Bit for bit where no transform is planned anew; measured plans of two processes may round differently."""
    for text, members in ((PULSE, 3), (CODES, 30), (SHOTS, 24)):
        other = os.path.join(write(text), "out.h5")
        assert run(os.path.dirname(other))[0] == 0
        result = diff(made(text), other)
        assert result["equal"] and sum(pairs(result).values()) == members and result["only"] == [0, 0], result
        assert set(pairs(result)) <= ({"equal"} if text is CODES else {"equal", "matched"}), result
        assert result["points"] == [], result


def bands_without_light_are_rounding():
    """The energies of dark bands and the peak of a spectrum there are rounding: other transforms, other digits."""
    text = GAS
    a, b = made(text, "--fft-rigour", "estimate"), made(text, "--fft-rigour", "measure")
    result = diff(a, b)
    assert result["equal"] and set(pairs(result)) <= {"equal", "matched"}, result
    with h5py.File(a) as file:
        assert 0 < file["plane/energy_uv"][0, -1] < 1e-20 * file["plane/energy"][0, -1], "the band is not dark"
    # what is more than rounding is found, in the dark too
    with copy(a) as file:
        file["plane/energy_uv"][0, -1] = 1e-16 * file["plane/energy"][0, -1]
    assert not diff(a, "copy.h5")["equal"]


def other_tolerances_are_matched_by_point_and_need_a_bound():
    a, b = made(PULSE), made(LOOSE)
    off = np.array([distances(a, b, m, m) for m in range(3)])
    result = diff(a, b)
    assert not result["equal"] and pairs(result) == {"unbounded": 3}, result
    worst = result["worst"]
    assert {tuple(w["members"]) for w in worst} == {(0, 0), (1, 1), (2, 2)} and all(w["allowed"] is None for w in worst)
    for w in worst:
        assert rounding(w["observed"], off[w["members"][0]].max()) and w["what"] == "field", (w, off)
    middle = np.sort(off.max(axis=1))[1]
    result = diff(a, b, "--tolerance", repr(float(middle * 1.0001)))
    assert not result["equal"] and result["classes"]["adaptive"] == {"class": "T", "pairs": 3, "outside": 1,
        "margin": result["classes"]["adaptive"]["margin"]}, result
    assert rounding(result["classes"]["adaptive"]["margin"], off.max() / (middle * 1.0001))
    assert result["worst"][0]["members"] == [int(off.max(axis=1).argmax())] * 2
    assert diff(a, b, "--tolerance", "0.1")["equal"]


def envelopes_add():
    a, b = made(PULSE + JUDGED), made(LOOSE + JUDGED.replace("1e-6, safety: 2", "1e-4, safety: 4"))
    off = np.array([distances(a, b, m, m) for m in range(3)])
    result = diff(a, b)
    assert pairs(result) == {"adaptive": 3}, result
    for w in result["worst"]:
        assert rounding(w["allowed"], 2e-6 + 4e-4), w
    assert result["equal"] == (off.max() <= 4.02e-4) and result["equal"], (off, result)
    with copy(b) as file:  # a term is missing: the phase of a bin
        file["plane/field"][1, 2] *= np.exp(1j * 1e-3)
    result = diff(a, "copy.h5")
    assert not result["equal"] and result["classes"]["adaptive"]["outside"] == 1, result
    assert result["worst"][0]["members"] == [1, 1] and result["worst"][0]["planes"] == [2, 2], result["worst"][0]


def one_program_is_held_to_rounding():
    a = made(PULSE)
    for factor, outside in ((1 + 4e-16, 0), (1 + 1e-9, 1)):
        with copy(a) as file:
            file["plane/field"][2, 1, 40] *= factor
        result = diff(a, "copy.h5")
        assert pairs(result) == {"equal": 2, "matched": 1} and result["classes"]["matched"]["outside"] == outside, result
        assert result["worst"][0]["planes"] == [1, 1] and result["worst"][0]["index"] == 40, result["worst"]
    with h5py.File("copy.h5", "r+") as file:
        file.attrs["git_revision"] = "0" * 40
    result = diff(a, "copy.h5")
    assert pairs(result) == {"equal": 2, "unbounded": 1} and "revisions" in result["programs"], result
    with h5py.File("copy.h5", "r+") as file:
        ours = int(file.attrs["numerics_version"])
        file.attrs["numerics_version"] = ours + 1
    result = diff(a, "copy.h5")
    said = f"numerics versions {ours} and {ours + 1}"
    assert pairs(result) == {"equal": 2, "unbounded": 1} and said in result["programs"], result


def members_are_found_wherever_they_stand():
    a = made(PULSE)
    other = PULSE.replace("[0.10 W^-1 m^-1, 0.11 W^-1 m^-1, 0.12 W^-1 m^-1]", "[0.13 W^-1 m^-1, 0.12 W^-1 m^-1, 0.10 W^-1 m^-1, 0.14 W^-1 m^-1]")
    result = diff(a, made(other))
    assert sum(pairs(result).values()) == 2 and set(pairs(result)) <= {"equal", "matched"}, result
    assert result["only"] == [1, 2] and result["equal"], result
    few = PULSE.replace("save: {planes: 3}", "save: {planes: 5}")  # planes at 0, 1/4, 1/2 …: three of them are there
    result = diff(a, made(few), "--tolerance", "1e-4")
    assert result["equal"] and pairs(result) == {"adaptive": 3}, result
    assert all(w["planes"] in ([1, 2], [2, 4]) for w in result["worst"]), result["worst"]


def statistics(a, b, point, plane=2):
    with h5py.File(a) as x, h5py.File(b) as y:
        p, q = (np.abs(f["plane/field"][12 * point:12 * point + 12, plane]) ** 2 for f in (x, y))
    m, n = p.mean(axis=0), q.mean(axis=0)
    error = np.sqrt(p.var(axis=0, ddof=1) / 12 + q.var(axis=0, ddof=1) / 12)
    keep = np.maximum(m, n) >= 1e-6 * max(m.max(), n.max())
    return np.abs((m - n)[keep] / error[keep])


def independent_ensembles_agree_within_their_errors():
    a, b = made(SHOTS), made(SHOTS.replace("seed: 1", "seed: 2"))
    result = diff(a, b)
    assert result["pairs"] == 0 and result["only"] == [24, 24] and len(result["points"]) == 2, result
    for p in result["points"]:
        z = statistics(a, b, p["points"][0])
        assert p["points"][0] == p["points"][1] and p["planes"] == [2, 2] and p["bins"] == len(z), p
        assert near([p["chi2"], p["largest"]], [(z ** 2).mean(), z.max()], rtol=1e-6, faulty=[1.00001 * (z ** 2).mean(), z.max()], fault="1e-5 more"), p
        assert p["beyond_2"] == (z > 2).sum() and p["beyond_3"] == (z > 3).sum(), p
        assert rounding(p["expected"], 22 / 20), p
        # P(|t| > 2), 22 degrees of freedom: 0.0580 (tables)
        assert near(p["chance_2"], 0.0580 * len(z), rtol=0.01, faulty=0.0593 * len(z), fault="20 degrees of freedom"), p
    assert result["equal"] and result["points_outside"] == 0, result
    r = command(".", "diff", a, b)
    assert r.returncode == 0 and "2 points of independent noise, 0 outside" in r.stdout, r.stdout


def another_mean_is_seen():
    a, b = made(SHOTS), made(SHOTS.replace("seed: 1", "seed: 2"))
    other = made(SHOTS.replace("seed: 1", "seed: 2").replace("4 kW", "4.2 kW"))
    with copy(b) as file, h5py.File(other) as wrong:  # a program that gets the power of the pulse wrong
        for name in file["ensemble"]:
            file["ensemble"][name][1] = wrong["ensemble"][name][1]
    result = diff(a, "copy.h5")
    assert not result["equal"] and [p["outside"] for p in result["points"]] == [False, True], result
    assert result["points"][1]["beyond_3"] > 5 * result["points"][1]["chance_3"], result["points"][1]
    r = command(".", "diff", a, "copy.h5")
    assert r.returncode == 1 and " outside\n" in r.stdout, r.stdout


def few_realisations_are_not_compared():
    few = [made(SHOTS.replace("realisations: 12, seed: 1", f"realisations: 3, seed: {seed}")) for seed in (1, 2)]
    result = diff(*few)
    assert result["equal"] and all(not p["judged"] and "7 together" in p["reason"] for p in result["points"]), result


def what_cannot_be_compared_is_refused():
    r = command(".", "diff", made(PULSE), made(CODES))
    assert r.returncode == 2 and "model gnlse" in r.stderr and "probe" in r.stderr, r
    assert command(".", "diff", made(PULSE)).returncode == 2
    assert command(".", "diff", made(PULSE), "absent.h5").returncode == 2
    r = command(".", "diff", made(PULSE), made(PULSE.replace("4 kW", "3 kW")))
    assert r.returncode == 2 and "in common" in r.stderr, r
    r = command(".", "diff", made(PULSE), made(PULSE), "--tolerance", "1")
    assert r.returncode == 2 and "1e-300 to 0.99" in r.stderr, r
    with open("text.h5", "w") as file:
        file.write("no HDF5\n")
    assert command(".", "diff", made(PULSE), "text.h5").returncode == 4


if __name__ == "__main__":
    sys.exit(run_checks(globals(), but=("made",)))
