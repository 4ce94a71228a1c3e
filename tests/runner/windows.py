#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Members with noise are judged where their dynamics do not amplify too much (class N), and a member on the edge between
accepting and rejecting a step keeps its verdict.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import json
import os
import sys

import h5py
import numpy as np

from checks import run_checks
from envelope import DONE, FAILED, OUTSIDE, UNJUDGED, WITHIN, contract, judged, text_of
from farm import command, run, write
from near import near

CLASS_T, CLASS_N = 2, 3
# A continuous wave in anomalous dispersion: small modulations grow as exp(2 gamma P z) in power where they grow most.
BETA2, GAMMA, POWER, WINDOW, POINTS = -20e-27, 0.02, 1000.0, 20e-12, 512
WAVE = f"""scan: wave
model: gnlse
parameters:
  length: 0.4 m
  wavelength: 1550 nm
  betas: [{BETA2!r} s^2/m]
  gamma: {GAMMA!r} W^-1 m^-1
  raman: none
  self_steepening: false
  pulse: {{shape: cw, peak_power: {POWER!r} W}}
  grid: {{points: {POINTS}, window: {WINDOW!r} s}}
ensemble: {{realisations: 20, seed: 3}}
save: {{planes: 9}}
"""
# Noise decides where this pulse breaks up.
BREAKUP = """scan: breakup
model: gnlse
parameters:
  length: 4 cm
  wavelength: 835 nm
  betas: [-11.83 ps^2/km, 8.1038e-2 ps^3/km, -9.5205e-5 ps^4/km]
  gamma: 0.11 W^-1 m^-1
  pulse: {shape: sech, duration: 150 fs, peak_power: 5 kW}
  grid: {points: 1024, window: 3 ps}
stepper: {rtol: 1e-5}
ensemble: {realisations: 2, seed: 3}
save: {planes: 9}
"""
NONE = "1e9"  # a limit that no gain reaches: the whole length is judged


def file_of(folder, name="out.h5"):
    return h5py.File(os.path.join(folder, name))


def wave_gain(z):
    """Rms over the phases of a modulated wave, linearised: a = sqrt(P) (1 + e), e' = i (beta2/2 W^2 e + g P (e + e*))."""
    shifts = {round((POINTS // 4) ** (i / 31)) for i in range(32)}
    gain = [(1 + (1 + (2 * GAMMA * POWER * at) ** 2)) / 2 for at in z]  # of the wave itself: the nonlinear phase
    for k in shifts:
        curve, rate = BETA2 / 2 * (2 * np.pi * k / WINDOW) ** 2, GAMMA * POWER
        values, vectors = np.linalg.eig(1j * np.array([[curve + rate, rate], [-rate, -curve - rate]]))
        for i, at in enumerate(z):
            grown = vectors @ np.diag(np.exp(values * at)) @ np.linalg.inv(vectors)
            gain[i] += np.sum(abs(grown) ** 2)  # both sidebands, of equal size and any phase
    return np.sqrt(np.array(gain) / (1 + 2 * len(shifts)))


def gains_are_those_of_modulation_instability():
    folder = write(judged(WAVE, "1e-4", gain="1e4"))
    code, _, err = run(folder)
    c = contract(folder)
    with file_of(folder) as file:
        z = file["plane/z"][0]
    seen = np.sqrt(np.mean(c["gain"] ** 2, axis=0))
    want = wave_gain(z)
    assert want[-1] > 300 and near(seen, want, rtol=0.12, faulty=wave_gain(1.05 * z), fault="a fibre longer by a twentieth"), (seen, want)
    slope = np.log(seen[-1] / seen[-2]) * 2 / (z[-1] - z[-2])
    assert near(slope, 2 * GAMMA * POWER, rtol=0.12, faulty=2 * GAMMA * 1.2 * POWER, fault="a power larger by a fifth"), slope  # bins beside the largest gain grow a little less
    assert code == 0 and (c["class"] == CLASS_N).all() and (c["planes_beyond"] == 0).all(), (code, err)
    assert (c["window_end"] == z[-1]).all() and text_of(c["window"][0]).startswith("whole run, z 0 to 0.4 m; gain"), c["window"][0]
    # the same scan with the default limit: each window ends before the first gain above 100
    short = write(judged(WAVE, "1e-4"))
    code, _, err = run(short)
    d = contract(short)
    last = [np.flatnonzero(row > 100)[0] - 1 for row in c["gain"]]
    assert (d["window_end"] == z[last]).all() and (d["planes_beyond"] == 8 - np.array(last)).all(), (d["window_end"], z[last])
    assert len(set(last)) > 1, last
    for m, k in enumerate(last):
        assert near(d["gain"][m, :k + 2], c["gain"][m, :k + 2], rtol=1e-3, faulty=1.003 * c["gain"][m, :k + 2], fault="3e-3 more") and np.isnan(d["gain"][m, k + 2:]).all()
        assert np.isfinite(d["error"][m, :k + 1]).all() and np.isnan(d["error"][m, k + 1:]).all(), d["error"][m]
        assert "then above 100 (tangent)" in text_of(d["window"][m]), d["window"][m]


def a_breakup_is_judged_before_it_amplifies():
    folder = write(judged(BREAKUP, "1e-4", gain=NONE))
    code, _, err = run(folder)
    whole = contract(folder)
    assert code == 1 and (whole["verdict"] == OUTSIDE).all() and (whole["planes_beyond"] == 0).all(), (code, whole["observed"])
    short = write(judged(BREAKUP, "1e-4"))
    code, _, err = run(short)
    c = contract(short)
    assert code == 0 and (c["verdict"] == WITHIN).all() and c["complete"] == 1, (code, err)
    best = write(BREAKUP.replace("1e-5", "1e-10"))
    run(best)
    with file_of(short) as a, file_of(best) as b:
        x, y, z = a["plane/field"][...], b["plane/field"][...], a["plane/z"][0]
    for m in range(2):
        last = np.flatnonzero(whole["gain"][m] > 100)[0] - 1
        assert 1 <= last < 7 and c["window_end"][m] == z[last] and c["planes_beyond"][m] == 8 - last, (last, c["window_end"])
        right = whole["error"][m, :last + 1]
        assert near(c["error"][m, :last + 1], right, rtol=1e-6, faulty=1.00001 * right, fault="1e-5 more")
        true = [np.linalg.norm(x[m, k] - y[m, k]) / np.linalg.norm(y[m, k]) for k in range(9)]
        assert near(c["observed"][m], max(true[:last + 1]), rtol=0.3, faulty=2 ** 0.5 * max(true[:last + 1]), fault="a reference as inaccurate as the member"), (c["observed"][m], true)
        assert max(true) > 4e-4 > true[last], true  # no error of the judgment: so far two runs are apart
    r = command(short, "status", "out.h5")
    assert "of 2 with noise 2 on a short window" in r.stdout and f"ends at {min(c['window_end']):.4g}" in r.stdout, r.stdout
    told = json.loads(command(short, "status", "--json", "out.h5").stdout)["files"][0]["envelope"]
    assert told["class_n"] == 2 and told["short_window"] == 2, told
    assert told["window_end"] == [min(c["window_end"]), max(c["window_end"])], told
    r = command(short, "verify", "out.h5")
    assert r.returncode == 0, r.stdout
    other = write(judged(BREAKUP.replace("1e-5", "3e-6"), "1e-4"))  # other steps: apart at the end, together in the windows
    run(other)
    r = command(short, "diff", "out.h5", os.path.join("..", other, "out.h5"))
    assert r.returncode == 0 and "2 pairs, 0 outside" in r.stdout, r.stdout
    for column, index, value, words in (("window_end", 1, z[5], "its gains and the envelope give"),
                                        ("gain", (0, 1), 101, "its gains and the envelope give"),
                                        ("class", 0, CLASS_T, "has another class than N")):
        with h5py.File(os.path.join(short, "out.h5"), "r+") as file:
            data = file["member/contract"][column]
            kept = data[index]
            data[index] = value
        r = command(short, "verify", "out.h5")
        with h5py.File(os.path.join(short, "out.h5"), "r+") as file:
            file["member/contract"][column][index] = kept
        assert r.returncode == 1 and words in r.stdout, (column, r.stdout)


def a_wrong_kernel_is_found_within_the_window():
    text = BREAKUP.replace("1e-5", "1e-7").replace("4 cm", "2 cm")
    folder = write(judged(text, "1e-6"))
    code, _, err = run(folder)
    right = contract(folder)
    assert code == 0 and (right["verdict"] == WITHIN).all() and (right["planes_beyond"] > 0).all(), (code, err)
    once = os.path.join(os.path.abspath(folder), "once")
    code, _, err = run(folder, "--fresh", env={"FARM_FAULT": f"wrong@judge.kernels,member=1,once={once}"})
    c = contract(folder)
    assert os.path.exists(once) and code == 1 and c["verdict"][1] == OUTSIDE, (code, err, c["observed"])
    assert (c["window_end"] == right["window_end"]).all() and c["margin"][1] > 10, (c["window_end"], c["margin"])
    assert "member 1 outside the envelope: field_l2 is" in command(folder, "status", "out.h5").stdout


def computing_again_compares_within_the_window():
    """The last member goes wrong where it is not judged any more: another program that finds other planes there breaks nothing."""
    for gain, broken in (("100", False), (NONE, True)):
        folder = write(judged(BREAKUP.replace("1e-5", "1e-7"), "1e-5", gain=gain))
        code, _, _ = run(folder, env={"FARM_FAULT": "wrong@kernels,member=1,plane=5;kill@judge.start"})
        assert code < 0, code
        run(folder)
        c = contract(folder)
        assert (c["outcome"] == DONE).all() and (c["verdict"][1] == OUTSIDE) == broken, (c["verdict"], c["observed"])
        with h5py.File(os.path.join(folder, "out.h5"), "r+") as file:
            file.attrs["git_revision"] = "0" * 40
        r = command(folder, "verify", "out.h5", "--recompute", "2")
        assert "T adaptive   2 checked" in r.stdout, r.stdout
        assert (r.returncode == 1) == broken and ("from the one computed here" in r.stdout) == broken, r.stdout
    # nobody has measured how far an unjudged member goes
    folder = write(judged(BREAKUP, "1e-4", sample="1"))
    run(folder)
    with h5py.File(os.path.join(folder, "out.h5"), "r+") as file:
        file.attrs["git_revision"] = "0" * 40
        other = int(np.flatnonzero(file["member/contract/chosen"][...] == 0)[0])
    r = command(folder, "verify", "out.h5", "--members", str(other))
    assert r.returncode == 0 and "have no window whose gain is known" in r.stdout, r.stdout


def a_first_plane_beyond_the_limit_is_not_judged():
    for planes in ("2", "last"):
        folder = write(judged(BREAKUP.replace("planes: 9", f"planes: {planes}"), "0.1"))
        code, _, err = run(folder)
        c = contract(folder)
        assert code == 1 and (c["verdict"] == UNJUDGED).all() and (c["outcome"] == FAILED).all(), (code, err)
        assert (c["state"] == DONE).all() and c["complete"] == 1 and (c["planes_beyond"] == 1).all(), c["planes_beyond"]
        assert "the dynamics amplify too much" in text_of(c["reason"][0]) and "at z = 0.04 m" in text_of(c["reason"][0]), c["reason"]
        r = command(folder, "status", "out.h5")
        assert "2 without a verdict" in r.stdout and "above envelope.gain 100" in r.stdout, r.stdout
        r = command(folder, "verify", "out.h5")
        assert r.returncode == 0, r.stdout


def what_does_not_amplify_is_judged_over_its_length():
    """Members without noise as ever, whatever they amplify; and a soliton with noise."""
    quiet = BREAKUP.replace("ensemble: {realisations: 2, seed: 3}\n", "")
    found = []
    for keys in ({}, {"gain": "50"}, {"gain": "none"}):
        folder = write(judged(quiet, "1e-4", **keys))
        run(folder)
        c = contract(folder)
        assert c["class"][0] == CLASS_T and "gain" not in c and "window_end" not in c, list(c)
        assert text_of(c["window"][0]) == "whole run, z 0 to 0.04 m" and np.isfinite(c["error"]).all(), c["window"]
        found.append((c["envelope"][0], c["observed"][0]))
        assert "window" not in command(folder, "status", "out.h5").stdout
    assert len({key for key, _ in found}) == 1, found
    soliton = BREAKUP.replace("150 fs", "50 fs").replace("5 kW", "133 W").replace(", 8.1038e-2 ps^3/km, -9.5205e-5 ps^4/km", "")
    for keys in ({}, {"gain": "none"}):
        folder = write(judged(soliton, "1e-4", **keys))
        code, _, err = run(folder)
        c = contract(folder)
        assert code == 0 and (c["class"] == (CLASS_T if keys else CLASS_N)).all(), (code, err, c["class"])
        assert np.isfinite(c["error"]).all() and text_of(c["window"][0]).startswith("whole run, z 0 to 0.04 m"), c["window"]
        if not keys:
            assert (c["planes_beyond"] == 0).all() and (c["gain"] < 20).all(), c["gain"]


def a_guide_measures_its_gains_too():
    text = """scan: guide
model: capillary
parameters:
  gas: Ar
  core_radius: 125 um
  length: 4 cm
  pressure: 1 bar
  pulse: {shape: gauss, duration: 20 fs, energy: 50 uJ, wavelength: 800 nm}
  grid: {wavelengths: [300 nm, 4 um], window: 200 fs}
stepper: {rtol: 1e-5}
ensemble: {realisations: 2, seed: 7}
save: {planes: 3}
"""
    for norm in ("field_l2", "observable energy"):
        folder = write(judged(text, "1e-3", norm=norm))
        code, _, err = run(folder)
        c = contract(folder)
        assert code == 0 and (c["class"] == CLASS_N).all() and (c["planes_beyond"] == 0).all(), (code, err, c["gain"])
        if norm == "field_l2":
            assert near(c["gain"][:, 0], 1, rtol=1e-6, faulty=1.00001, fault="1e-5 more") and (c["gain"] < 30).all(), c["gain"]
        else:  # twice the part of the perturbation that is in phase with the field, at most; losses take the same share of it
            assert (c["gain"] <= 2.001).all() and near(c["gain"], c["gain"][:, :1], rtol=0.1, faulty=1.2 * c["gain"][:, :1], fault="a fifth more"), c["gain"]


def a_stored_reference_has_the_same_windows():
    best = write(BREAKUP.replace("1e-5", "1e-9"), "ref.yaml")
    assert command(best, "run", "ref.yaml", "-o", "ref.h5").returncode == 0
    with open(os.path.join(best, "scan.yaml"), "w") as file:
        file.write(judged(BREAKUP, "1e-4", reference="stored ref.h5"))
    code, _, err = run(best)
    c = contract(best)
    assert code == 0 and (c["verdict"] == WITHIN).all() and (c["class"] == CLASS_N).all(), (code, err)
    own = write(judged(BREAKUP, "1e-4"))
    run(own)
    d = contract(own)
    assert (c["window_end"] == d["window_end"]).all() and (c["rhs_calls"] > 0).all(), (c["window_end"], d["window_end"])
    assert near(c["observed"], d["observed"], rtol=0.2, faulty=2 ** 0.5 * d["observed"], fault="a reference as inaccurate as the member"), (c["observed"], d["observed"])


def files_without_room_for_gains_are_told_apart():
    folder = write(judged(BREAKUP, "1e-4", gain="none"))
    assert run(folder)[0] == 1
    assert command(folder, "verify", "out.h5").returncode == 0
    with open(os.path.join(folder, "scan.yaml"), "w") as file:
        file.write(judged(BREAKUP, "1e-4"))
    code, _, err = run(folder)
    assert code == 4 and "no room for gains" in err and "--reuse" in err, (code, err)
    os.rename(os.path.join(folder, "out.h5"), os.path.join(folder, "old.h5"))
    code, _, err = run(folder, "--reuse", "old.h5")
    c = contract(folder)
    assert code == 0 and "2 members taken over" in err and (c["planes_beyond"] > 0).all(), (code, err)
    os.rename(os.path.join(folder, "out.h5"), os.path.join(folder, "old.h5"))
    code, _, err = run(folder, "--reuse", "old.h5")
    again = contract(folder)
    assert code == 0 and (again["window_end"] == c["window_end"]).all(), (code, err)
    assert np.array_equal(again["gain"], c["gain"], equal_nan=True) and (again["wall_s"] == c["wall_s"]).all(), "judged again"
    r = command(folder, "collect", "out.h5", "-o", "packed.h5", "--compress", "3")
    packed = contract(folder, "packed.h5")
    assert r.returncode == 0 and np.array_equal(packed["gain"], c["gain"], equal_nan=True), r.stderr
    assert command(folder, "verify", "packed.h5").returncode == 0


# The first step is tried with a length whose estimated error is 1 but for rounding.
EDGE = """scan: edge
model: gnlse
parameters:
  length: 4 mm
  wavelength: 835 nm
  betas: [-11.83 ps^2/km]
  gamma: 0.11 W^-1 m^-1
  pulse: {shape: sech, duration: 50 fs, peak_power: 5 kW}
  grid: {points: 256, window: 2 ps}
axes: [{pulse.peak_power: [POWERS]}]
stepper: {rtol: 1e-6, first_step: STEP m}
save: {planes: 2}
"""


def edge(step, powers, more=""):
    return EDGE.replace("STEP", repr(float(step))).replace("POWERS", ", ".join(f"{p!r} W" for p in powers)) + more


def a_fork_of_the_steps_changes_no_verdict():
    """Input powers that differ in their last bits: some reject the first step and some accept it."""
    powers = [5000.0]
    for _ in range(15):
        powers.append(float(np.nextafter(powers[-1], np.inf)))
    step = 2e-4
    for _ in range(20):  # the error goes with a power of the step: towards where it is 1 in the middle
        folder = write(edge(step, powers, "envelope: {tolerance: 1e-5}\n"))
        code, _, err = run(folder)
        c = contract(folder)
        with file_of(folder) as file:
            error, first = file["step/error"][:, 0], file["step/accepted"][:, 0]
            steps, rejected = file["member/steps"][...], file["member/rejected"][...]
            field, at = file["plane/field"][:, 1], file["step/z"][:, 1]
        if 2 <= first.sum() <= 14:
            break
        step *= np.median(error) ** -0.2
    assert near(error, 1, atol=1e-9, faulty=1 + 1e-8, fault="far more than a rounding") and steps[0] > 4, error  # rounding alone
    forks = [m for m in range(15) if first[m] != first[m + 1]]
    assert forks, ("no neighbours are on different sides", step, error)
    for m in forks:
        apart = np.linalg.norm(field[m] - field[m + 1]) / np.linalg.norm(field[m])
        assert (steps[m], rejected[m]) != (steps[m + 1], rejected[m + 1]) and at[m] != at[m + 1], (steps, rejected)
        assert apart > 1e-10, apart  # far more than a bit of the power: the steps did it
        assert apart <= c["observed"][m] + c["observed"][m + 1], (apart, c["observed"])
    assert code == 0 and (c["verdict"] == WITHIN).all() and c["complete"] == 1, (code, err, c["observed"])


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
