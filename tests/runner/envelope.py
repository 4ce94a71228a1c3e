#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Members judged by the envelope of their scan: verdicts against errors that are known otherwise, and that they survive
deaths, shards and reuse.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import json
import math
import os
import signal
import sys

import h5py
import numpy as np

from checks import run_checks
from farm import command, descendants, finish, run, start, wait_until, write
from near import near, rounding

DONE, FAILED, QUARANTINED = 2, 3, 5
UNJUDGED, WITHIN, OUTSIDE = 0, 1, 2

# A fundamental soliton keeps its shape: the error of its field is known without another run.
BETA2, GAMMA, DURATION = -0.01, 0.1, 0.1e-12
WIDTH = DURATION / (2 * math.acosh(math.sqrt(2)))  # of sech; DURATION is that of the power at half its height
POWER = abs(BETA2) * 1e-24 / (GAMMA * WIDTH ** 2)
SOLITON = f"""scan: soliton
model: gnlse
parameters:
  length: 1 m
  wavelength: 835 nm
  betas: [{BETA2} ps^2/m]
  gamma: {GAMMA} W^-1 m^-1
  raman: none
  self_steepening: false
  pulse: {{shape: sech, duration: 0.1 ps, peak_power: {POWER!r} W}}
  grid: {{points: 512, window: 4 ps}}
axes: [{{stepper.rtol: {{from: 1e-4, to: 1e-9, points: 11, spacing: log}}}}]
save: {{planes: 3}}
"""
# Members that differ in what they cost and where they stand; most are within.
MANY = """scan: many
model: gnlse
parameters:
  length: 2 mm
  wavelength: 835 nm
  betas: [-11.83 ps^2/km]
  gamma: 0.11 W^-1 m^-1
  pulse: {shape: sech, duration: 50 fs, peak_power: 1 kW}
  grid: {points: 256, window: 2 ps}
axes:
  - pulse.peak_power: {from: 1 kW, to: 6 kW, points: 6}
  - stepper.rtol: [1e-3, 1e-6]
  - gamma: [0.10 W^-1 m^-1, 0.11 W^-1 m^-1]
save: {planes: 3}
store: {history: 0}
"""

# Shards of it are files of one shape.
EQUAL = MANY[:MANY.index("axes:")] + """axes: [{stepper.rtol: [1e-3]}]
ensemble: {realisations: 24, seed: 2}
save: {planes: 3}
"""


def contract(folder, name="out.h5"):
    """Columns of /member/contract, and what else tells of the members."""
    with h5py.File(os.path.join(folder, name)) as file:
        columns = {key: file["member/contract"][key][...] for key in file["member/contract"]}
        columns["state"] = file["member/state"][...]
        columns["identity"] = [tuple(row) for row in file["member/identity"][...]]
        columns["complete"] = int(file["complete"][()])
    return columns


def text_of(value):
    return bytes(value).rstrip(b"\0").decode()


def soliton_errors(folder):
    """Errors of the field at each plane of each member, against the soliton itself."""
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        field, z, t = file["plane/field"][...], file["plane/z"][0], file["t"][...]
    exact = [np.fft.fft(np.sqrt(POWER) / np.cosh(t / WIDTH) * np.exp(-0.5j * GAMMA * POWER * at)) / len(t) for at in z]
    return np.array([[np.linalg.norm(field[m, k] - exact[k]) / np.linalg.norm(exact[k]) for k in range(len(z))]
                     for m in range(len(field))])


def journal(folder):
    with open(os.path.join(folder, "out.h5.journal")) as file:
        return [json.loads(line) for line in file if line.strip()]


def judged(text, tolerance, **keys):
    """A scan with an envelope."""
    more = "".join(f", {key}: {value}" for key, value in keys.items())
    return text + f"envelope: {{tolerance: {tolerance}{more}}}\n"


def verdicts_are_those_of_the_closed_form():
    folder = write(judged(SOLITON, "2e-6", safety=4, sample="all"))
    code, _, err = run(folder)
    c, exact = contract(folder), soliton_errors(folder)
    true = exact.max(axis=1)
    assert true[0] > 1e-4 and true[-1] < 1e-7, true  # both verdicts are there
    assert rounding(c["bound"], 8e-6), c["bound"]
    clear = np.abs(np.log(true / 8e-6)) > math.log(1.5)
    assert clear.sum() >= 10, true
    want = np.where(true <= 8e-6, WITHIN, OUTSIDE)
    assert (c["verdict"] == want)[clear].all(), (c["verdict"], true)
    assert (true <= 4 * c["observed"]).all(), true / c["observed"]
    # to what the factor of ten in rtol leaves of the reference's own error
    assert near(c["observed"], true, rtol=0.3, faulty=2 ** 0.5 * true, fault="a reference as inaccurate as the member"), c["observed"] / true
    assert near(c["error"][:, 1:], exact[:, 1:], rtol=0.3, faulty=2 ** 0.5 * exact[:, 1:], fault="a reference as inaccurate as the member"), c["error"] / exact
    assert rounding(c["margin"], c["observed"] / 8e-6)
    assert (c["class"] == 2).all() and (c["outcome"] == DONE).all() and (c["state"] == DONE).all()
    assert c["complete"] == 1 and code == 1, (code, err)
    assert text_of(c["norm"][0]) == "field_l2" and "rtol / 10" in text_of(c["reference"][0])
    assert "0 to 1 m" in text_of(c["window"][0]), c["window"][0]
    outside = [m for m in range(len(true)) if c["verdict"][m] == OUTSIDE]
    r = command(folder, "status", "out.h5")
    assert all(f"member {m} outside the envelope: field_l2 is" in r.stdout for m in outside), r.stdout
    assert f"11 chosen: {11 - len(outside)} within, {len(outside)} outside" in r.stdout, r.stdout
    told = json.loads(command(folder, "status", "--json", "out.h5").stdout)["files"][0]["envelope"]
    assert told["outside"] == len(outside) and [m["member"] for m in told["members"]] == outside, told
    words = [(x["first"], x["state"]) for x in journal(folder) if x["record"] == "member"]
    assert all((m, "outside") in words for m in outside), words
    assert all(f"member {m} is outside the envelope" in err for m in outside), err
    code, _, err = run(folder)  # there is nothing left to do, and the verdicts stay
    assert code == 1 and "nothing to do" in err, err


def other_norms_measure_what_they_say():
    for norm, tolerance in (("spectrum_l2", "1e-6"), ("energy", "1e-9"), ("observable peak_power", "1e-6")):
        folder = write(judged(SOLITON, tolerance, norm=norm, planes="last"))
        run(folder)
        c = contract(folder)
        with h5py.File(os.path.join(folder, "out.h5")) as file:
            p, e, peak = abs(file["plane/field"][...]) ** 2, file["plane/energy"][...], file["plane/peak_power"][...]
        # the last member is a thousand times and more better than the first ones
        true = {"spectrum_l2": [np.linalg.norm(p[m, 2] - p[10, 2]) / np.linalg.norm(p[10, 2]) for m in range(4)],
                "energy": abs(e[:4, 2] / e[10, 2] - 1),
                "observable peak_power": abs(peak[:4, 2] / peak[10, 2] - 1)}[norm]
        assert np.isnan(c["error"][:, :2]).all() and np.isfinite(c["error"][:, 2]).all(), c["error"]
        assert near(c["observed"][:4], true, rtol=0.4, atol=1e-13, faulty=2 * np.array(true), fault="errors twice as large"), (norm, c["observed"][:4], true)


def steps_that_the_planes_bound_are_no_excuse():
    """Where a tenfold tighter tolerance takes the very same steps the reference has to be tighter still."""
    for text in (MANY, MANY.replace("{history: 0}", "{history: 64}")):
        judge_coarse_steps(text)


def judge_coarse_steps(text):
    folder = write(judged(text, "1e-5"))
    code, _, err = run(folder)
    best = write(MANY.replace("[1e-3, 1e-6]", "[1e-11]"))
    run(best)
    c = contract(folder)
    with h5py.File(os.path.join(folder, "out.h5")) as a, h5py.File(os.path.join(best, "out.h5")) as b:
        x, y, steps = a["plane/field"][...], b["plane/field"][...], a["member/steps"][...]
    true = np.array([max(np.linalg.norm(x[m, k] - y[n, k]) / np.linalg.norm(y[n, k]) for k in range(3))
                     for m in range(24) for n in [m // 4 * 2 + m % 2]])
    assert (steps == 2).sum() >= 4 and any("bounds few steps" in text_of(t) for t in c["reference"]), (steps, c["reference"])
    assert (true > 1e-12).all() and near(c["observed"], true, rtol=0.5, faulty=2 * true, fault="errors twice as large"), (text[-14:], c["observed"] / true, steps)
    assert code == 1 and set(c["verdict"]) == {WITHIN, OUTSIDE}, c["verdict"]


def verdicts_of_sixty_members_agree_with_the_true_errors():
    """In 95 % at least, wherever the bound lies among the errors, and none too good by more than the safety factor."""
    text = MANY[:MANY.index("axes:")].replace("length: 2 mm", "length: 5 mm").replace("256, window: 2 ps", "512, window: 5 ps")
    powers = "axes:\n  - pulse.peak_power: {from: 0.5 kW, to: 5 kW, points: 10}\n"
    rest = "save: {planes: 6}\n"
    folder = write(judged(text + powers + "  - stepper.rtol: {from: 1e-3, to: 1e-8, points: 6, spacing: log}\n" + rest, "1e-6"))
    run(folder)
    best = write(text + powers + "  - stepper.rtol: [1e-11]\n" + rest)
    run(best)
    c = contract(folder)
    with h5py.File(os.path.join(folder, "out.h5")) as a, h5py.File(os.path.join(best, "out.h5")) as b:
        x, y = a["plane/field"][...], b["plane/field"][...]
    true = np.array([max(np.linalg.norm(x[m, k] - y[m // 6, k]) / np.linalg.norm(y[m // 6, k]) for k in range(6))
                     for m in range(60)])
    assert ((true <= 4e-6) == (c["verdict"] == WITHIN)).mean() >= 0.95, (true, c["observed"])
    bounds = np.geomspace(true.min(), true.max(), 200)
    assert np.mean([(true <= bound) == (c["observed"] <= bound) for bound in bounds]) >= 0.95
    assert (true <= 4 * c["observed"]).all(), (true / c["observed"]).max()


def all_within_is_a_complete_run():
    folder = write(judged(SOLITON, "1e-2"))
    code, _, err = run(folder)
    c = contract(folder)
    assert code == 0 and (c["verdict"] == WITHIN).all() and c["complete"] == 1, (code, err)
    end = [x for x in journal(folder) if x["record"] == "end"][-1]
    assert end["text"] == "all 11 members done, 11 judged and within the envelope", end


def the_sample_depends_on_the_members_alone():
    found = []
    turned = MANY.replace("  - gamma: [0.10 W^-1 m^-1, 0.11 W^-1 m^-1]\n", "").replace(
        "axes:\n", "axes:\n  - gamma: [0.11 W^-1 m^-1, 0.10 W^-1 m^-1]\n")
    for text, words in ((MANY, ()), (MANY, ("-n", "2")), (MANY, ("-n", "3")), (turned, ("-n", "2"))):
        folder = write(judged(text, "1e-3", sample="20 %"))
        run(folder, *words)
        c = contract(folder)
        assert c["chosen"].sum() == 5, c["chosen"]  # 24 members: the next whole number
        assert (c["verdict"] != UNJUDGED).sum() == 5 and c["complete"] == 1
        found.append({c["identity"][m]: (c["verdict"][m], c["observed"][m]) for m in np.flatnonzero(c["chosen"])})
    for other in found[1:]:
        assert set(other) == set(found[0])
        assert all(other[key][0] == found[0][key][0] and near(other[key][1], found[0][key][1], rtol=1e-6, faulty=1.00001 * found[0][key][1], fault="1e-5 more")
                   for key in other), (found[0], other)
    for sample, chosen in (("3", None), ("{points: [0, 5]}", {0, 5})):
        folder = write(judged(MANY, "1e-3", sample=sample))
        run(folder)
        members = set(np.flatnonzero(contract(folder)["chosen"]))
        assert members == chosen if chosen else len(members) == 3, members


def a_sample_of_five_per_cent_adds_less_than_thirty_to_the_work():
    """Counted in right-hand sides, which no other program on the machine changes: also where references are repeated."""
    for text in (MANY, MANY.replace("{history: 0}", "{history: 64}"), MANY.replace("2 mm", "1 cm")):
        folder = write(judged(text.replace("points: 6", "points: 40"), "1e-2", sample="5 %"))
        run(folder)
        c = contract(folder)
        with h5py.File(os.path.join(folder, "out.h5")) as file:
            own = file["member/rhs_calls"][...]
        assert len(own) == 160 and (c["outcome"] == DONE).sum() == c["chosen"].sum() == 8, c["outcome"]
        share = c["rhs_calls"].sum() / own.sum()
        assert 0.05 < share < 0.3, (text[-16:], share)


def the_fields_of_a_capillary_are_judged():
    """A model that stores sums along its path beside the field, which are zero at the start."""
    text = """scan: guide
model: capillary
parameters:
  gas: He
  core_radius: 125 um
  length: 2 cm
  pressure: 1 bar
  pulse: {shape: gauss, duration: 10 fs, energy: 200 uJ, wavelength: 800 nm}
  grid: {wavelengths: [150 nm, 4 um], window: 200 fs}
axes: [{stepper.rtol: [1e-3, 1e-5, 1e-10]}]
save: {planes: 2}
"""
    folder = write(judged(text, "1e-6", safety=1))
    code, _, err = run(folder)
    c = contract(folder)
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        field = file["plane/field"][:, 1]
    true = [np.linalg.norm(field[m] - field[2]) / np.linalg.norm(field[2]) for m in (0, 1)]
    assert near(c["observed"][:2], true, rtol=0.5, faulty=2 * np.array(true), fault="errors twice as large") and (c["error"][:, 0] == 0).all(), (c["observed"], true)
    assert (c["verdict"] == [WITHIN if e <= 1e-6 else OUTSIDE for e in c["observed"]]).all(), c["verdict"]


def realisations_are_judged_with_their_own_noise():
    text = MANY.replace("axes:", "ensemble: {realisations: 3, seed: 5}\naxes:").replace("[1e-3, 1e-6]", "[1e-7]")
    folder = write(judged(text.replace("points: 6", "points: 2"), "1e-6"))
    code, _, err = run(folder, "-n", "2")
    c = contract(folder)
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        field, reduced = file["plane/field"][:, 2], file["ensemble/reduced"][...]
    # other noise would be an error far beyond the bound
    assert np.linalg.norm(field[1] - field[0]) / np.linalg.norm(field[0]) > 1e-4
    assert code == 0 and len(c["verdict"]) == 12 and (c["verdict"] == WITHIN).all(), (code, err, c["observed"])
    assert reduced.all()


def a_killed_run_goes_on_judging():
    for point in ("judge.start", "judge.outcome", "judge.done"):
        folder = write(judged(MANY, "1e-5"))
        code, _, _ = run(folder, env={"FARM_FAULT": f"kill@{point},member=7"})
        c = contract(folder)
        assert code == -signal.SIGKILL and (c["state"] == DONE).all() and c["complete"] == 0, (point, code)
        waiting = int((c["outcome"] == 0).sum())
        assert 0 < waiting < 24, (point, waiting)
        r = command(folder, "status", "out.h5")
        assert f"{waiting} not judged yet" in r.stdout, r.stdout
        code, _, err = run(folder)
        d = contract(folder)
        assert code == 1 and d["complete"] == 1 and (d["verdict"] != UNJUDGED).all(), err
        before = c["outcome"] == DONE
        assert (c["wall_s"] == d["wall_s"])[before].all(), "judged twice"
        assert d["attempts"][7] == (1 if point == "judge.done" else 2), d["attempts"]


def workers_that_die_while_they_judge_are_replaced():
    folder = write(judged(MANY, "1e-5"))
    once = os.path.join(os.path.abspath(folder), "once")
    code, _, err = run(folder, "-n", "2", env={"FARM_FAULT": f"kill@judge.start,member=3,once={once}"})
    c = contract(folder)
    assert code == 1 and (c["verdict"] != UNJUDGED).all() and c["complete"] == 1, err
    folder = write(judged(MANY, "1e-5"))
    code, _, err = run(folder, "-n", "4", env={"FARM_FAULT": "kill@judge.start,member=3"})
    c = contract(folder)
    assert code == 1 and c["complete"] == 1, (code, err)
    assert c["outcome"][3] == QUARANTINED and c["verdict"][3] == UNJUDGED and c["state"][3] == DONE, c["outcome"]
    assert (np.delete(c["verdict"], 3) != UNJUDGED).all()
    assert "ended 2 workers" in text_of(c["reason"][3])
    assert "member 3 without a verdict: ended 2 workers" in command(folder, "status", "out.h5").stdout
    code, _, err = run(folder, "--retry-failed")
    c = contract(folder)
    assert (c["verdict"] != UNJUDGED).all() and "1 member is judged again" in err, err


def all_done(folder):
    try:
        return (contract(folder)["state"] == DONE).all()
    except KeyError:  # the file is being made
        return False


def a_stopped_run_goes_on_judging():
    folder = write(judged(SOLITON.replace("to: 1e-9, points: 11", "to: 1e-12, points: 2"), "1e-2"))
    process = start(folder, "-n", "1")
    wait_until(lambda: all_done(folder), "members done")
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    c = contract(folder)
    if code == 75:
        assert (c["outcome"] == 0).any() and c["complete"] == 0 and "judgment" in err, err
    code, _, err = run(folder)
    assert code == 0 and (contract(folder)["verdict"] == WITHIN).all(), err


def a_judgment_that_fails_says_why():
    folder = write(judged(SOLITON.replace("axes:", "stepper: {max_steps: 55}\naxes:").replace(
        "{from: 1e-4, to: 1e-9, points: 11, spacing: log}", "[1e-4, 1e-7]"), "1e-2"))
    code, _, err = run(folder)
    c = contract(folder)
    bad = np.flatnonzero(c["outcome"] == FAILED)
    assert code == 1 and len(bad) == 1 and (c["state"] == DONE).all(), (c["outcome"], c["rhs_calls"], err)
    assert c["verdict"][bad[0]] == UNJUDGED and c["complete"] == 1
    assert "the reference run" in text_of(c["reason"][bad[0]]) and "55" in text_of(c["reason"][bad[0]])
    assert f"member {bad[0]} has no verdict: the reference run" in err, err
    assert run(folder)[0] == 1


def a_stored_reference_is_found_by_what_the_members_are():
    folder = write(MANY.replace("[1e-3, 1e-6]", "[1e-11]").replace("scan: many", "scan: best"), "ref.yaml")
    assert command(folder, "run", "ref.yaml", "-o", "ref.h5").returncode == 0
    for words in ((), ("-n", "2")):
        with open(os.path.join(folder, "scan.yaml"), "w") as file:
            file.write(judged(MANY, "1e-4", reference="stored ref.h5"))
        code, _, err = run(folder, *words, "--fresh")
        c = contract(folder)
        with h5py.File(os.path.join(folder, "out.h5")) as a, h5py.File(os.path.join(folder, "ref.h5")) as b:
            x, y = a["plane/field"][...], b["plane/field"][...]
        for m in range(24):
            there = m // 4 * 2 + m % 2  # the axis of rtol is gone
            want = max(np.linalg.norm(x[m, k] - y[there, k]) / np.linalg.norm(y[there, k]) for k in range(3))
            assert rounding(c["observed"][m], want), (m, c["observed"][m], want)
            assert c["verdict"][m] == (WITHIN if want <= 4e-4 else OUTSIDE)
        assert code == 1 and c["complete"] == 1 and text_of(c["reference"][0]) == "stored ref.h5", err
    for change, words in (({"256": "512"}, "grid.points"), ({"to: 6 kW": "to: 7 kW"}, "pulse.peak_power"),
                          ({"planes: 3}": "planes: 4}"}, "no plane at z")):
        text = MANY
        for key, value in change.items():
            text = text.replace(key, value)
        with open(os.path.join(folder, "scan.yaml"), "w") as file:
            file.write(judged(text, "1e-4", reference="stored ref.h5"))
        r = command(folder, "run", "scan.yaml", "-o", "other.h5")
        assert r.returncode == 2 and words in r.stderr and "ref.h5" in r.stderr, (change, r.stderr)
        assert not os.path.exists(os.path.join(folder, "other.h5")), change
    with open(os.path.join(folder, "scan.yaml"), "w") as file:
        file.write(judged(MANY, "1e-4", reference="stored none.h5"))
    r = command(folder, "run", "scan.yaml", "-o", "other.h5")
    assert r.returncode == 2 and "there is no file none.h5" in r.stderr, r.stderr


def a_reference_must_be_tighter_than_what_it_judges():
    folder = write(MANY.replace("[1e-3, 1e-6]", "[1e-5]").replace("store: {history: 0}\n", ""), "own.yaml")
    assert command(folder, "run", "own.yaml", "-o", "own.h5").returncode == 0
    with open(os.path.join(folder, "own.yaml")) as file:
        text = file.read()
    with open(os.path.join(folder, "replay.yaml"), "w") as file:  # the steps of each member once more
        axes = "  - zip:\n      pulse.peak_power: [1 kW, 2 kW, 3 kW, 4 kW, 5 kW, 6 kW]\n      stepper.schedule.member: [0, 2, 4, 6, 8, 10]\n"
        file.write(text[:text.index("axes:")].replace("0.11 W^-1 m^-1", "0.10 W^-1 m^-1") + "axes:\n" + axes + text[text.index("save:"):]
                   + "stepper: {method: fixed, schedule: {from: own.h5}}\n")
    r = command(folder, "run", "replay.yaml", "-o", "replay.h5")
    assert r.returncode == 0, r.stderr

    def judge(rtol, reference, result="out.h5"):
        scan = judged(text.replace("[1e-5]", f"[{rtol}]"), "1e-4", reference=f"stored {reference}")
        if reference == "replay.h5":
            scan = scan.replace("[0.10 W^-1 m^-1, 0.11 W^-1 m^-1]", "[0.10 W^-1 m^-1]")
        with open(os.path.join(folder, "scan.yaml"), "w") as file:
            file.write(scan)
        return [command(folder, *words) for words in (("plan", "scan.yaml"), ("run", "scan.yaml", "-o", result))]
    for rtol, reference, words in (("1e-5", "own.h5", "has stepper.rtol 1e-05, member 0 of the scan 1e-05; a reference must be tighter"),
                                   ("1e-6", "own.h5", "has stepper.rtol 1e-05, member 0 of the scan 1e-06"),
                                   ("1e-3", "replay.h5", "is a replay, whose error nothing controls"),
                                   ("1e-3", "none.h5", "there is no file none.h5"),
                                   ("1e-3", "own.yaml", "envelope.reference: own.yaml is not an HDF5 file")):
        for r in judge(rtol, reference):
            assert r.returncode in (2, 4) and words in r.stderr, (rtol, reference, r)
    r = judge("1e-3", "own.h5", "own.h5")[1]
    assert r.returncode == 2 and "own.h5 is the result file itself" in r.stderr, r
    assert not os.path.exists(os.path.join(folder, "out.h5"))
    plan, r = judge("1e-3", "own.h5")
    assert plan.returncode == 0 and r.returncode in (0, 1), r
    c = contract(folder)
    bare = c["verdict"] == UNJUDGED  # where two planes bound the steps, of both
    assert (~bare).sum() >= 6 and all("took" in text_of(t) for t in c["reason"][bare]), (c["verdict"], c["reason"])
    assert {text_of(t) for t in c["reference"]} == {"stored own.h5"}, c["reference"]
    with h5py.File(os.path.join(folder, "own.h5"), "r+") as file:  # as an earlier program computed it
        ours = int(file.attrs["numerics_version"])
        file.attrs["numerics_version"] = ours + 1
    said = f"own.h5 holds numerics version {ours + 1} of model gnlse, this program computes {ours}"
    for r in judge("1e-3", "own.h5"):
        assert r.returncode in (2, 4) and said in r.stderr, r


def of_several_references_the_tightest_counts():
    folder = write(MANY.replace("[1e-3, 1e-6]", "[1e-4, 1e-11, 1e-5]").replace("scan: many", "scan: best"), "ref.yaml")
    assert command(folder, "run", "ref.yaml", "-o", "ref.h5").returncode == 0
    with open(os.path.join(folder, "scan.yaml"), "w") as file:
        file.write(judged(MANY.replace("[1e-3, 1e-6]", "[1e-3]"), "1e-4", reference="stored ref.h5"))
    run(folder)
    c = contract(folder)
    with h5py.File(os.path.join(folder, "out.h5")) as a, h5py.File(os.path.join(folder, "ref.h5")) as b:
        x, y = a["plane/field"][...], b["plane/field"][...]
    for m in range(12):
        there = m // 2 * 6 + 2 + m % 2  # axes: power, rtol, gamma
        want = max(np.linalg.norm(x[m, k] - y[there, k]) / np.linalg.norm(y[there, k]) for k in range(3))
        assert rounding(c["observed"][m], want), (m, c["observed"][m], want)


def a_stored_reference_of_the_same_steps_gives_no_verdict():
    """Where planes, not the tolerance, bound the steps a tighter one takes the same: its distance, 0, is no error."""
    dense = MANY.replace("from: 1 kW", "from: 4 kW").replace("planes: 3", "planes: 101").replace("store: {history: 0}\n", "")
    folder = write(dense.replace("[1e-3, 1e-6]", "[1e-4]"), "ref.yaml")
    assert command(folder, "run", "ref.yaml", "-o", "ref.h5").returncode == 0
    for history in ("", "store: {history: 0}\n"):
        with open(os.path.join(folder, "scan.yaml"), "w") as file:
            file.write(judged(dense.replace("[1e-3, 1e-6]", "[1e-3]"), "1e-9", reference="stored ref.h5") + history)
        code, _, err = run(folder, "--fresh")
        c = contract(folder)
        with h5py.File(os.path.join(folder, "out.h5")) as a, h5py.File(os.path.join(folder, "ref.h5")) as b:
            assert (a["member/steps"][...] == 100).all() and (b["member/steps"][...] == 100).all()
        assert code == 1 and (c["outcome"] == FAILED).all() and (c["verdict"] == UNJUDGED).all(), (c["verdict"], err)
        assert "took 100 steps, the member 100" in text_of(c["reason"][0]), c["reason"][0]


def a_smaller_sample_is_no_forgery():
    """A smaller sample needs no work; what it leaves out is no forgery, and with the scan file verify knows it."""
    folder = write(judged(MANY, "1e-2"))
    assert run(folder)[0] == 0
    def checks(*words):
        r = command(folder, "verify", "--json", "out.h5", *words)
        return json.loads(r.stdout)["files"][0]["checks"]["verdicts"]
    assert checks()["broken"] == 0 and checks("--scan", "scan.yaml")["broken"] == 0
    with open(os.path.join(folder, "scan.yaml"), "w") as file:
        file.write(judged(MANY, "1e-2", sample="5"))
    assert run(folder)[0] == 0 and contract(folder)["chosen"].sum() == 5
    assert checks()["broken"] == 0 and "--scan" in checks()["skipped"], checks()
    assert checks("--scan", "scan.yaml")["broken"] == 0
    with open(os.path.join(folder, "more.yaml"), "w") as file:
        file.write(judged(MANY, "1e-2", sample="{points: [0, 1, 2, 3, 4, 5, 6]}"))
    found = checks("--scan", "more.yaml")
    chosen = contract(folder)["chosen"]
    assert found["broken"] == int((chosen[:7] == 0).sum() + (chosen[7:] == 1).sum()) > 0, (found, chosen)
    with open(os.path.join(folder, "other.yaml"), "w") as file:
        file.write(judged(MANY.replace("to: 6 kW", "to: 7 kW"), "1e-2"))
    r = command(folder, "verify", "out.h5", "--scan", "other.yaml")
    assert r.returncode == 4 and "--scan wants the file's own scan" in r.stderr and "peak_power" in r.stderr, r


def what_cannot_be_judged_is_refused():
    probe = "scan: p\nmodel: probe\nsave: {planes: 2}\n"
    for text, words in (
            (judged(MANY.replace("save: {planes: 3}", "save: {planes: 3, field: false}"), "1e-3"), "save.field keeps none"),
            (judged(MANY.replace("{planes: 3}", "{planes: 3, observables: [energy]}"), "1e-3", norm="observable fwhm_t"),
             "save.observables keeps it not"),
            (MANY + "envelope: {sample: all}\n", "tolerance is missing"),
            (judged(probe, "1e-3"), "no stepper.rtol"),
            (judged(probe, "1e-3", reference="stored x.h5", norm="energy"), "no observable energy"),
            (judged(MANY, "1e-5", planes="4"), "no plane is saved at z"),
            (judged(MANY, "1e-5", safety="0.5"), "at least 1"),
            (judged(MANY, "0.25"), "nothing but zeros is 1"),
            (judged(MANY, "0.01", safety="100"), "safety times tolerance is 1;"),
            (judged(MANY, "1e-5", planes="[0 m]"), "z = 0 alone is judged"),
            (judged(MANY, "1e-5", sample="{points: [24]}"), "points are 0 to 23")):
        folder = write(text)
        for words_of in (("plan", "scan.yaml"), ("run", "scan.yaml", "-o", "out.h5")):
            r = command(folder, *words_of)
            assert r.returncode == 2 and words in r.stderr and "scan.yaml:" in r.stderr, (words, r.returncode, r.stderr)
        assert not os.path.exists(os.path.join(folder, "out.h5"))


def verdicts_come_along_with_members_that_are_used_again():
    folder = write(judged(MANY, "1e-5", sample="50 %"))
    run(folder)
    old = contract(folder)
    os.rename(os.path.join(folder, "out.h5"), os.path.join(folder, "old.h5"))
    code, _, err = run(folder, "--reuse", "old.h5")
    new = contract(folder)
    assert code == 1 and (new["verdict"] == old["verdict"]).all() and new["complete"] == 1, err
    assert (new["wall_s"] == old["wall_s"]).all() and "nothing to do" in err, "judged again"
    os.remove(os.path.join(folder, "out.h5"))
    with open(os.path.join(folder, "scan.yaml"), "w") as file:
        file.write(judged(MANY, "1e-12", sample="50 %"))
    code, _, err = run(folder, "--reuse", "old.h5", "-n", "2")
    other = contract(folder)
    chosen = other["chosen"] == 1
    assert (chosen == (old["chosen"] == 1)).all() and (other["envelope"] != old["envelope"])[chosen].all()
    assert (other["verdict"][chosen] == OUTSIDE).all() and (other["attempts"][chosen] == 2).all(), other["verdict"]
    # and in the same file: what another envelope found is forgotten, what it chose too
    with open(os.path.join(folder, "scan.yaml"), "w") as file:
        file.write(judged(MANY, "1e-2", sample="all"))
    code, _, err = run(folder, env={"FARM_FAULT": "kill@judge.start"})
    assert code == -signal.SIGKILL and contract(folder)["complete"] == 0, (code, err)
    code, _, err = run(folder)
    c = contract(folder)
    assert code == 0 and (c["verdict"] == WITHIN).all() and (c["chosen"] == 1).all(), (code, err)


def a_file_made_without_an_envelope_is_refused_with_advice():
    folder = write(MANY)
    run(folder)
    with open(os.path.join(folder, "scan.yaml"), "a") as file:
        file.write("envelope: {tolerance: 1e-2}\n")
    code, _, err = run(folder)
    assert code == 4 and "no room for verdicts" in err and "--reuse" in err, err
    r = command(folder, "run", "scan.yaml", "-o", "new.h5", "--reuse", "out.h5")
    c = contract(folder, "new.h5")
    assert r.returncode == 0 and (c["verdict"] == WITHIN).all() and "24 members taken over" in r.stderr, r.stderr


def shards_judge_what_the_whole_scan_would():
    for text in (MANY, EQUAL):
        judge_shards(text)


def judge_shards(text):
    whole = write(judged(text, "1e-5", sample="8"))
    run(whole)
    want = contract(whole)
    folder = write(judged(text, "1e-5", sample="8"))
    for k in (1, 2, 3):
        run(folder, "--shard", f"{k}/3")
    r = command(folder, "status", *sorted(f for f in os.listdir(folder) if f.endswith("-of-3.h5")))
    assert "8 chosen" in r.stdout, r.stdout
    # what was collected before it was judged gets its verdict later
    shard = os.path.join(folder, "out.shard-1-of-3.h5")
    with h5py.File(shard, "r+") as file:
        kept = file["member/contract/outcome"][...], file["member/contract/verdict"][...]
        file["member/contract/outcome"][...] = 0
        file["member/contract/verdict"][...] = 0
    files = sorted(f for f in os.listdir(folder) if f.endswith("-of-3.h5"))
    r = command(folder, "collect", *files, "-o", "out.h5")
    c = contract(folder)
    assert r.returncode == 1 and c["complete"] == 0 and "not judged yet" in r.stdout + r.stderr, (r.stdout, r.stderr)
    with h5py.File(shard, "r+") as file:
        file["member/contract/outcome"][...], file["member/contract/verdict"][...] = kept
    os.utime(shard)
    r = command(folder, "collect", *files, "-o", "out.h5")
    c = contract(folder)
    assert (c["chosen"] == want["chosen"]).all() and (c["verdict"] == want["verdict"]).all(), (c["verdict"], want["verdict"])
    assert c["complete"] == 1 and near(c["observed"][c["chosen"] == 1], want["observed"][want["chosen"] == 1], rtol=1e-6,
                                      faulty=1.00001 * want["observed"][want["chosen"] == 1], fault="1e-5 more")
    outside = OUTSIDE in want["verdict"]
    assert r.returncode == outside and ("outside the envelope" in r.stdout + r.stderr) == outside, r.stdout + r.stderr
    r = command(folder, "verify", "out.h5")
    assert r.returncode == 0, r.stdout + r.stderr


def rows_of_a_worker_judge_side_by_side():
    one, two = write(judged(MANY, "1e-5")), write(judged(MANY, "1e-5"))
    run(one)
    code, _, err = run(two, "-t", "2")
    a, b = contract(one), contract(two)
    assert code == 1 and b["complete"] == 1 and (a["verdict"] == b["verdict"]).all(), err
    assert near(a["observed"], b["observed"], rtol=1e-6, atol=1e-14, faulty=1.00001 * b["observed"], fault="1e-5 more")
    words = command(two, "log", "out.h5", str(np.flatnonzero(b["verdict"] == OUTSIDE)[0])).stdout
    assert words.count("outside") == 1 and "field_l2 is" in words, words
    r = command(two, "collect", "out.h5", "-o", "packed.h5", "--compress", "3")
    packed = contract(two, "packed.h5")
    assert r.returncode == 1 and (packed["verdict"] == b["verdict"]).all() and packed["complete"] == 1, r.stderr
    assert np.array_equal(packed["error"], b["error"], equal_nan=True)
    assert "6 outside" in command(two, "status", "packed.h5").stdout


def only_the_members_that_are_chosen_by_hand_are_judged():
    folder = write(judged(MANY, "1e-2"))
    code, _, err = run(folder, "--only", "4-7")
    c = contract(folder)
    assert code == 0 and list(np.flatnonzero(c["verdict"])) == [4, 5, 6, 7] and c["complete"] == 0, (code, err)
    code, _, err = run(folder)
    assert code == 0 and (contract(folder)["verdict"] == WITHIN).all(), err


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
