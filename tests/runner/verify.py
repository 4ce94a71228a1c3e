#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What scanfarm verify finds, and that it finds nothing where nothing is wrong.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import json
import os
import shutil
import signal
import sys

import h5py
import numpy as np

from checks import run_checks
from checksum import seal
from data import table_folder
from farm import CODES, ENDLESS, GUIDED, NOISE, begun, command, finish, run, start, wait_until, write
from near import near, rounding

STEPS = CODES.replace("store: {history: 0}\n", "")
FAILS = "scan: fails\nmodel: probe\naxes: [{a: [0, 1]}, {fail_at: [-1, 1]}]\nsave: {planes: 3}\n"
# A pulse whose steps, spectrum and verdicts are kept whole.
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
axes: [{stepper.rtol: [1e-5, 1e-6]}, {gamma: [0.10 W^-1 m^-1, 0.11 W^-1 m^-1]}]
save: {planes: 3}
"""
JUDGED = PULSE + "envelope: {tolerance: 2.5e-7}\n"
MASKED = PULSE.replace("  grid:", "  absorber: {edge: 0.1, length: 1 mm}\n  grid:")
ONCE = {}


def made(text, *words):
    """A file of a scan, to be copied."""
    if (text, words) not in ONCE:
        folder = write(text)
        code, _, err = run(folder, *words)
        assert code in (0, 1), err
        name = next(n for n in os.listdir(folder) if n.endswith(".h5"))
        ONCE[text, words] = os.path.join(folder, name)
    return ONCE[text, words]


def verify(path):
    r = command(".", "verify", "--json", path)
    result = json.loads(r.stdout)["files"][0]
    assert r.returncode == (1 if result["broken"] else 0), r
    return result


def broken(path):
    """Broken things by kind, with what is said of them."""
    checks = verify(path)["checks"]
    return {kind: check["findings"] for kind, check in checks.items() if check["broken"]}


def copy(path):
    shutil.copy(path, "copy.h5")
    return h5py.File("copy.h5", "r+")


def files_of_runs_are_whole():
    for text in (STEPS, NOISE, GUIDED, FAILS):
        result = verify(made(text))
        checks = result["checks"]
        assert result["broken"] == 0, result
        with h5py.File(made(text)) as file:
            saved = int(file["member/n_saved"][...].sum())
            members = int(file.attrs["members"])
        assert checks["planes"]["checked"] == saved and checks["identities"]["checked"] == members, result
        assert checks["layout"]["checked"] > 50 and checks["shard"]["checked"] == 0, result
        if text in (STEPS, FAILS):
            assert checks["steps"]["checked"] == members, result
    assert "skipped" in verify(made(GUIDED))["checks"]["steps"]  # it keeps no history


def a_history_that_was_cut_is_a_part_of_the_sum():
    checks = verify(made(GUIDED.replace("history: 0", "history: 2")))["checks"]
    assert checks["steps"] == {"class": "P", "checked": 4, "broken": 0, "findings": []}, checks
    cut = GUIDED.replace("history: 0", "history: 2")
    with h5py.File(made(cut)) as file:
        assert (file["step/n_steps"][...] == 2).all() and (file["member/history_truncated"][...] == 1).all()
    found_as(cut, change_of("member/steps", 1, 1), "steps", "member 1", "right-hand sides")
    found_as(cut, put("step/n_steps", 2, 3), "steps", "member 2", "keeps 3 of 2")
    def forget(file):  # a history that is said to be cut excuses no counter
        for name in ("steps", "rejected", "rhs_calls", "transforms"):
            file["member"][name][3] = 0
    found_as(cut, forget, "steps", "member 3", "its history has")
    checks = verify(made(GUIDED.replace("history: 0", "history: 4000")))["checks"]
    assert checks["steps"]["checked"] == 4 and checks["steps"]["broken"] == 0, checks


def files_of_shards_are_whole():
    result = verify(made(CODES, "--shard", "2/4"))
    assert result["broken"] == 0 and result["checks"]["shard"]["checked"] == 1, result


def files_of_runs_that_were_cut_short_are_whole():
    folder = write(ENDLESS)
    process = start(folder)
    wait_until(lambda: begun(folder), "some members")
    process.send_signal(signal.SIGTERM)
    assert finish(process)[0] == 75
    path = os.path.join(folder, "out.h5")
    with h5py.File(path) as file:
        assert (file["member/state"][...] == 0).any()
    assert verify(path)["broken"] == 0
    process = start(folder)
    process.kill()
    process.communicate()
    assert verify(path)["broken"] == 0


def every_change_is_found_under_its_kind():
    def set_row(name, row, value):
        def change(file):
            file[name][row] = value
        return change

    def add(name, row, value):
        def change(file):
            file[name][row] = file[name][row] + value
        return change

    def cut(name):
        def change(file):
            del file[name]
        return change

    for text, change, kind, words in (
            (STEPS, add("plane/data", (7, 1, 2), 1), "planes", ("member 7", "plane 1")),
            (STEPS, add("plane/code", (8, 2), 1), "planes", ("member 8", "plane 2")),
            (STEPS, add("plane/checksum", (9, 0), 1), "planes", ("member 9", "plane 0")),
            (STEPS, set_row("member/state", 3, 9), "states", ("member 3", "state 9")),
            (STEPS, set_row("member/n_saved", 4, 2), "states", ("member 4", "2 of 3 planes")),
            (FAILS, set_row("member/reason", 1, b""), "states", ("member 1", "without a reason")),
            (STEPS, set_row("member/identity", 5, [1, 2]), "identities", ("member 5", "0000000000000001")),
            (STEPS, add("member/point", (6, 1), 1), "points", ("member 6", "axis 1")),
            (STEPS, add("member/param/c", 10, 1e-9), "points", ("member 10", "c is")),
            (STEPS, add("member_id", 11, 5), "points", ("member 11", "member_id is 16")),
            (NOISE, add("member/seed", (3, 1), 1), "points", ("member 3", "seed")),
            (NOISE, add("member/n_omega", 2, -1), "points", ("member 2", "511")),
            (STEPS, add("member/steps", 12, 1), "steps", ("member 12",)),
            (STEPS, set_row("step/accepted", (13, 0), 0), "steps", ("member 13",)),
            (STEPS, cut("member/contract/margin"), "layout", ("member/contract/margin", "absent")),
            (STEPS, cut("member/identity"), "format", ("no member/identity",))):
        with copy(made(text)) as file:
            change(file)
        found = broken("copy.h5")
        assert list(found) == [kind], (kind, words, found)
        assert len(found[kind]) == 1 and all(word in found[kind][0] for word in words), (words, found)


def the_worst_are_told_and_the_others_counted():
    with copy(made(STEPS)) as file:
        file["plane/data"][...] = 1e9
    result = verify("copy.h5")
    assert result["checks"]["planes"]["broken"] == 90 and len(result["checks"]["planes"]["findings"]) == 10, result
    r = command(".", "verify", "copy.h5", made(STEPS))
    assert r.returncode == 1 and "and 80 more" in r.stdout and "copy.h5: broken" in r.stdout, r.stdout
    assert f"{made(STEPS)}: nothing is broken" in r.stdout, r.stdout


def a_word_complete_that_is_not_true_is_found():
    found_as(STEPS, lambda file: file["complete"].__setitem__((), 7), "states", "complete is 7")
    with copy(made(STEPS)) as file:
        file["member/state"][0] = 0
    found = broken("copy.h5")
    assert list(found) == ["states"] and "complete" in found["states"][0], found


def a_shard_with_other_members_is_found():
    with copy(made(CODES, "--shard", "2/4")) as file:
        file.attrs["first_member"] = np.int64(file.attrs["first_member"] + 1)
        file["member_id"][...] += 1
    found = broken("copy.h5")
    assert "shard" in found and "shard 2/4" in found["shard"][0] and "identities" in found and "planes" in found, found


def results_of_another_numerics_version_say_so():
    with copy(made(STEPS)) as file:
        file.attrs["numerics_version"] = np.int64(file.attrs["numerics_version"] + 1)
    checks = verify("copy.h5")["checks"]
    assert "numerics version" in checks["identities"]["skipped"] and checks["planes"]["checked"] == 90, checks


def change_of(name, at, by):
    """A change that adds to one number."""
    def change(file):
        file[name][at] = file[name][at] + by
    return change


def put(name, at, value):
    def change(file):
        file[name][at] = value
    return change


def swap(name, i, j):
    def change(file):
        values = file[name][...]
        values[[i, j]] = values[[j, i]]
        file[name][...] = values
    return change


def found_as(text, change, kind, *words):
    """A change is found once, under its kind alone, and said with these words."""
    with copy(made(text)) as file:
        change(file)
    found = broken("copy.h5")
    assert list(found) == [kind], (kind, words, found)
    assert len(found[kind]) == 1 and all(word in found[kind][0] for word in words), (words, found)


def counters_follow_from_the_steps_and_from_each_other():
    with h5py.File(made(PULSE)) as file:
        steps = file["member/steps"][...] + file["member/rejected"][...]
        assert (file["member/rhs_calls"][...] == 1 + 6 * steps).all() and (file["member/history_truncated"][...] == 0).all()
        assert (file["member/steps"][...] >= 5).all()
    found_as(PULSE, change_of("member/rhs_calls", 2, 1), "steps", "member 2", "right-hand sides")
    found_as(PULSE, change_of("member/transforms", 1, 1), "steps", "member 1", "transforms")
    found_as(PULSE, change_of("step/h", (3, 2), 1e-12), "steps", "member 3", "step 3 begins at")
    found_as(PULSE, put("step/error", (0, 1), 1.5), "steps", "member 0", "step 1", "accepted with an error of 1.5")


def scales_and_planes_stand_where_the_configuration_says():
    assert verify(made(PULSE))["checks"]["axes"]["checked"] > 3 * 512
    found_as(PULSE, swap("omega", 3, 4), "axes", "omega", "value 3")
    found_as(PULSE, change_of("t", 7, 1e-18), "axes", "scale t", "value 7")
    found_as(PULSE, change_of("gamma_values", 1, 1e-17), "axes", "gamma_values", "value 1")
    def move(file):
        file["plane/z"][2, 1] *= 1 + 1e-14
        seal(file, 2)
    found_as(PULSE, move, "axes", "plane 1 of member 2")


def indices_count_and_labels_are_those_of_the_configuration():
    for name in ("point_id", "realisation", "plane_index", "worker_id", "step_index"):
        found_as(PULSE, change_of(name, 0, 1), "axes", f"scale {name}: value 0 is 1, it should be 0")
    def label(name, attribute, value):
        def change(file):
            (file[name] if name else file).attrs[attribute] = value
        return change
    for name, attribute, value in (("plane/energy", "units", "kg"), ("omega", "units", "Hz"), ("member/param/gamma", "units", "1"),
                                   ("plane/energy", "kind", "array"), ("plane/energy", "index", np.int64(1)),
                                   ("plane/field", "index", np.int64(1)), ("", "model", "capillary"), ("", "scan", "other")):
        with copy(made(PULSE)) as file:
            label(name, attribute, value)(file)
        assert f"{attribute} of {name or 'the file'} is '{value}'" in broken("copy.h5")["layout"][0], (name, attribute)
    with copy(made(PULSE)) as file:  # dimensions that are swapped in name
        file["plane/field"].dims[1].label = "omega"
    assert "a dimension of plane/field" in broken("copy.h5")["layout"][0]


def masked_bins_are_exactly_zero():
    assert verify(made(MASKED))["checks"]["zeros"]["checked"] == 12
    with h5py.File(made(MASKED)) as file:
        zero = np.flatnonzero((file["plane/field"][...] == 0).all(axis=(0, 1)))
    assert list(zero) == [256], zero  # the outermost bin, where the taper ends
    def leak(file):
        file["plane/field"][1, 2, 256] = 1e-300
        seal(file, 1)
    found_as(MASKED, leak, "zeros", "plane 2 of member 1", "element 256")


def a_forged_verdict_is_seen():
    with h5py.File(made(JUDGED)) as file:
        verdict, error = file["member/contract/verdict"][...], file["member/contract/error"][...]
        assert set(verdict) == {1, 2}, verdict
        bad, good = int(np.flatnonzero(verdict == 2)[0]), int(np.flatnonzero(verdict == 1)[0])
        worst = int(error[bad].argmax())
    result = verify(made(JUDGED))
    assert result["broken"] == 0 and result["checks"]["verdicts"]["checked"] == 4, result
    first = result["worst"][0]
    assert first["kind"] == "verdicts" and first["what"] == "field_l2" and first["margin"] > 1, first
    assert rounding(first["observed"], error.max()) and rounding(first["allowed"], 1e-6)
    c = "member/contract/"
    found_as(JUDGED, put(c + "verdict", bad, 1), "verdicts", f"member {bad}", "the verdict is within", "is outside")
    found_as(JUDGED, put(c + "verdict", good, 0), "verdicts", f"member {good}", "unjudged")
    found_as(JUDGED, put(c + "bound", bad, 1.0), "verdicts", f"member {bad}", "bound 1,")
    found_as(JUDGED, put(c + "margin", bad, 0.5), "verdicts", f"member {bad}", "margin 0.5")
    found_as(JUDGED, put(c + "observed", bad, 1e-9), "verdicts", f"member {bad}", "observed")
    found_as(JUDGED, put(c + "error", (bad, worst), 1e-9), "verdicts", f"member {bad}", "its errors and the envelope")
    found_as(JUDGED, put(c + "error", (bad, worst), np.nan), "verdicts", f"plane {worst} of member {bad}", "no error")
    found_as(JUDGED, change_of(c + "envelope", good, 2), "verdicts" , "another envelope") if good else None
    found_as(JUDGED, put(c + "chosen", bad, 2), "verdicts", f"member {bad} has 2 in chosen")
    def forget(file):
        file[c + "chosen"][bad] = file[c + "outcome"][bad] = 0
    found_as(JUDGED, forget, "verdicts", f"member {bad} is not chosen")
    def fail(file):
        file[c + "outcome"][bad], file[c + "verdict"][bad], file[c + "reason"][bad] = 3, 0, b""
    found_as(JUDGED, fail, "verdicts", f"member {bad} ended without a verdict and without a reason")
    found_as(JUDGED, put(c + "reason", bad, b""), "verdicts", f"member {bad} is outside and does not say")
    def leave_out(file):  # as a smaller sample does, which needs no run
        file[c + "chosen"][bad] = 0
    with copy(made(JUDGED)) as file:
        leave_out(file)
    assert "--scan" in verify("copy.h5")["checks"]["verdicts"]["skipped"] and not broken("copy.h5")
    with open("judged.yaml", "w") as file:
        file.write(JUDGED)
    found = again("copy.h5", "--scan", "judged.yaml")["checks"]["verdicts"]
    assert found["broken"] == 1 and f"member {bad} is not chosen" in found["findings"][0], found
    found_as(JUDGED, put(c + "class", bad, 1), "verdicts", "class")
    found_as(JUDGED, put(c + "outcome", bad, 0), "verdicts", "1 chosen member")
    # all of it together is still no verdict of the stored errors
    def forge(file):
        for name, value in (("verdict", 1), ("margin", 0.5), ("observed", 5e-7)):
            file[c + name][bad] = value
    found_as(JUDGED, forge, "verdicts", f"member {bad}")


def rows_of_the_ensemble_follow_from_the_planes():
    assert verify(made(NOISE))["checks"]["ensemble"]["checked"] > 30
    with h5py.File(made(NOISE)) as file:
        peak = int(file["ensemble/mean_spectrum"][1, 1].argmax())
        values = {name: file["ensemble"][name][1, 1] for name in ("mean_spectrum", "std_spectrum", "g12", "g12_error")}
    for name, by in (("mean_spectrum", 1e-13 * values["mean_spectrum"][peak]),
                     ("std_spectrum", 1e-13 * values["mean_spectrum"][peak]), ("g12", 1e-12),
                     ("g12_error", 1e-5 * np.nanmax(values["g12_error"])), ("snr", 1.0)):
        found_as(NOISE, change_of("ensemble/" + name, (1, 1, peak), by), "ensemble", name, "point 1, plane 1", f"index {peak}")
    found_as(NOISE, change_of("ensemble/coherence", (0, 1), -1e-3), "ensemble", "coherence of point 0")
    found_as(NOISE, change_of("ensemble/n", 1, -1), "ensemble", "ensemble/n of point 1")
    found_as(NOISE, change_of("ensemble/peak_power_histogram", (0, 0, 3), 1), "ensemble", "histogram")


def again(path, *words):
    """A file with members computed again: its answer, the parsed JSON."""
    r = command(".", "verify", "--json", *words, path)
    result = json.loads(r.stdout)["files"][0]
    assert r.returncode == (1 if result["broken"] else 0), r
    return result


def written_by(text, honest=PULSE):
    """The file of the honest scan as a broken program would have written it: planes, checksums, steps and counters are
    those of another scan, and nothing stored contradicts them."""
    with copy(made(honest)) as file, h5py.File(made(text)) as other:
        for group in ("plane", "step"):
            for name in file[group]:
                file[group][name][...] = other[group][name][...]
        for name in ("steps", "rejected", "rhs_calls", "transforms"):
            file["member"][name][...] = other["member"][name][...]


def members_computed_again_are_those_of_the_file():
    for text, members in ((PULSE, 4), (STEPS, 30), (NOISE, 10), (MASKED, 4)):
        result = again(made(text), "--recompute", "1000")
        checks = result["checks"]
        assert result["broken"] == 0 and checks["matched"]["checked"] == members, result
        assert sum(v["again_within"] for v in result["axes"][0]["values"]) == members, result["axes"]
    result = again(made(STEPS), "--recompute", "5")
    assert result["checks"]["matched"]["checked"] == 5 and result == again(made(STEPS), "--recompute", "5"), result
    result = again(made(PULSE), "--members", "1,3")
    assert [v["again_within"] for v in result["axes"][1]["values"]] == [0, 2], result["axes"]
    with h5py.File(made(FAILS)) as file:
        done = int((file["member/state"][...] == 2).sum())
    assert again(made(FAILS), "--recompute", "9")["checks"]["matched"]["checked"] == done
    assert command(".", "verify", "--members", "99", made(PULSE)).returncode == 2


BROKEN = {
    "a dropped term": PULSE.replace("  pulse:", "  self_steepening: false\n  pulse:"),
    "a wrong sign": PULSE.replace("0.081 ps", "-0.081 ps"),
    "a stale table": PULSE.replace("tau1: 12.2 fs", "tau1: 12.3 fs"),
    "a typo in a tolerance": PULSE.replace("[1e-5, 1e-6]", "[1e-5, 1e-3]"),
}


def a_broken_kernel_is_seen_by_computing_again():
    for what, text in BROKEN.items():
        written_by(text)
        assert verify("copy.h5")["broken"] == 0, what  # nothing that is stored contradicts it
        result = again("copy.h5", "--recompute", "4")
        assert list(k for k, v in result["checks"].items() if v["broken"]) == ["matched"], (what, result["checks"])
        assert result["checks"]["matched"]["broken"] >= 2, (what, result["checks"]["matched"])


def a_broken_kernel_of_another_program_is_outside_the_envelope():
    allowed = 4 * 2 * 2.5e-7  # safety (E + E)
    for what, text in BROKEN.items():
        written_by(text + JUDGED[len(PULSE):], JUDGED)
        with h5py.File("copy.h5", "r+") as file, h5py.File(made(text)) as other, h5py.File(made(PULSE)) as honest:
            file.attrs["git_revision"] = "0" * 40
            for name in ("verdict", "bound", "observed", "margin", "error"):
                file["member/contract"][name][...] = h5py.File(made(JUDGED))["member/contract"][name][...]
            a, b = other["plane/field"][...], honest["plane/field"][...]
        off = np.linalg.norm(a - b, axis=2) / np.linalg.norm(b, axis=2)
        result = again("copy.h5", "--recompute", "4")
        checks = result["checks"]
        assert "revision" in checks["matched"]["skipped"] and checks["adaptive"]["checked"] == 4, (what, checks)
        assert checks["adaptive"]["broken"] == (off.max(axis=1) > allowed).sum() >= 1, (what, off, checks["adaptive"])
        worst = next(w for w in result["worst"] if w["kind"] == "adaptive")
        m = int(off.max(axis=1).argmax())
        assert worst["member"] == m and worst["plane"] == off[m].argmax(), (what, worst, off)
        assert near(worst["observed"], off.max(), rtol=1e-6, faulty=1.00001 * off.max(), fault="1e-5 more") and rounding(worst["allowed"], allowed)
        assert 0 <= worst["index"] < 512, worst


def a_program_whose_kernels_are_wrong_is_caught_otherwise():
    """Its own file agrees with itself; a right program finds it by rounding, a right reference by the envelope."""
    wrong = {"FARM_FAULT": "wrong@kernels"}  # a thousandth of each step's last slope
    folder = write(PULSE)
    code, _, err = run(folder, env=wrong)
    assert code == 0, err
    path = os.path.join(folder, "out.h5")
    assert verify(path)["broken"] == 0
    checks = again(path, "--recompute", "4")["checks"]
    assert checks["matched"]["checked"] == checks["matched"]["broken"] == 4, checks["matched"]
    text = PULSE.replace("1e-5, 1e-6", "1e-6")
    best = write(text.replace("1e-6", "1e-10"))
    assert run(best)[0] == 0
    for env, code, verdict in ((None, 0, 1), (wrong, 1, 2)):
        folder = write(text + f"envelope: {{tolerance: 1e-6, reference: stored ../{best}/out.h5}}\n")
        got, _, err = run(folder, env=env)
        with h5py.File(os.path.join(folder, "out.h5")) as file:
            verdicts, observed = file["member/contract/verdict"][...], file["member/contract/observed"][...]
        assert got == code and (verdicts == verdict).all(), (env, verdicts, observed, err)


def transforms_of_a_right_hand_side_are_counted_again():
    with copy(made(PULSE)) as file:
        file["member/transforms"][1] *= 2
    assert verify("copy.h5")["broken"] == 0  # a multiple of its right-hand sides
    checks = again("copy.h5", "--members", "0,1")["checks"]
    assert checks["steps"]["broken"] == 1 and "member 1" in checks["steps"]["findings"][0], checks["steps"]
    assert "transforms" in checks["steps"]["findings"][0] and checks["matched"]["broken"] == 0, checks


def other_steps_that_the_tolerance_accepts_are_no_fault():
    """Rounding can turn the acceptance of a step, and all behind it are others. Played by steps that begin otherwise;
    no envelope bounds the difference, so the stored steps are made again."""
    forked = PULSE + "stepper: {first_step: 0.03 mm}\n"
    written_by(forked)
    with h5py.File("copy.h5") as file, h5py.File(made(PULSE)) as honest:
        assert (file["member/steps"][...] != honest["member/steps"][...]).all()
        assert np.abs(file["plane/field"][...] - honest["plane/field"][...]).max() > 1e-9 * np.abs(honest["plane/field"][...]).max()
    checks = again("copy.h5", "--recompute", "4")["checks"]
    assert checks["matched"]["checked"] == 4 and checks["matched"]["broken"] == 0, checks
    # one plane of it by 1e-9, and steps that no tolerance of this scan accepts
    with h5py.File("copy.h5", "r+") as file:
        file["plane/field"][2, 2] *= 1 + 1e-9
        seal(file, 2)
    found = again("copy.h5", "--recompute", "4")["checks"]["matched"]
    assert found["broken"] == 1 and "member 2, plane 2, field" in found["findings"][0], found
    written_by(PULSE.replace("[1e-5, 1e-6]", "[1e-4, 1e-5]"))
    found = again("copy.h5", "--recompute", "4")["checks"]["matched"]
    assert found["broken"] == 4 and all("tolerances" in text for text in found["findings"]), found
    # without the steps nothing can be said, and that is said
    bare = PULSE + "store: {history: 0}\n"
    with copy(made(bare)) as file, h5py.File(made(forked)) as other:
        for name in file["plane"]:
            file["plane"][name][...] = other["plane"][name][...]
        for name in ("steps", "rejected", "rhs_calls", "transforms"):
            file["member"][name][...] = other["member"][name][...]
    result = again("copy.h5", "--recompute", "4")
    assert result["broken"] == 0 and "--tolerance" in result["checks"]["adaptive"]["skipped"], result["checks"]


def small_errors_are_rounding_no_more():
    def scale(file):
        file["plane/field"][2, 2] *= 1 + 1e-9
    def flush(file):  # the weakest bin as though small numbers were zero
        field = file["plane/field"][2, 2]
        field[np.abs(field).argmin()] = 0
        file["plane/field"][2, 2] = field
    def rounding(file):
        file["plane/field"][2, 2] *= 1 + 4e-16
    for change, seen in ((scale, True), (flush, True), (rounding, False)):
        with copy(made(PULSE)) as file:
            change(file)
            seal(file, 2)
        assert verify("copy.h5")["broken"] == 0
        checks = again("copy.h5", "--members", "2")["checks"]["matched"]
        assert checks["broken"] == seen and checks["checked"] == 1, (change, checks)
        assert not seen or "member 2, plane 2, field, index" in checks["findings"][0], checks


def without_an_envelope_another_program_needs_a_tolerance():
    with copy(made(PULSE)) as file:
        file.attrs["git_revision"] = "0" * 40
    checks = again("copy.h5", "--recompute", "2")["checks"]
    assert checks["adaptive"]["checked"] == 0 and "--tolerance" in checks["adaptive"]["skipped"], checks
    checks = again("copy.h5", "--recompute", "2", "--tolerance", "1e-9")["checks"]
    assert checks["adaptive"]["checked"] == 2 and checks["adaptive"]["broken"] == 0, checks
    r = command(".", "verify", "--recompute", "2", "--tolerance", "0.5", "copy.h5")
    assert r.returncode == 2 and "1e-300 to 0.49" in r.stderr, r
    with h5py.File("copy.h5", "r+") as file:
        file["plane/field"][1, 1] *= 1 + 3e-9
        seal(file, 1)
    checks = again("copy.h5", "--members", "1", "--tolerance", "1e-9")["checks"]
    assert checks["adaptive"]["broken"] == 1 and "3e-09 from the one computed here, 2e-09 allowed" in checks["adaptive"]["findings"][0], checks


def members_with_data_files_need_their_scan_file():
    folder = table_folder()
    assert run(folder)[0] == 0
    path, scan = os.path.join(folder, "out.h5"), os.path.join(folder, "scan.yaml")
    assert "--scan" in again(path, "--recompute", "1")["checks"]["matched"]["skipped"]
    checks = again(path, "--recompute", "1", "--scan", scan)["checks"]
    assert checks["matched"]["checked"] == 1 and checks["matched"]["broken"] == 0, checks
    other = os.path.join(write(PULSE), "scan.yaml")
    r = command(".", "verify", "--recompute", "1", "--scan", other, path)
    assert r.returncode == 4 and "--scan wants the file's own scan" in r.stderr, r


def the_table_tells_by_axis_and_by_class():
    r = command(".", "verify", "--recompute", "4", made(JUDGED))
    lines = r.stdout.splitlines()
    classes = [line.split()[0] for line in lines[1:16]]
    assert classes == ["P"] * 11 + ["R"] + ["T"] * 2 + ["N"], lines
    by = lines.index("  by stepper.rtol")
    with h5py.File(made(JUDGED)) as file:
        margin = file["member/contract/margin"][...]
    rows = [line.split() for line in lines[by + 2:by + 4]]
    assert rows[0][:6] == ["1e-05", "2", "2", "2", "0/2", "2/2"] and rows[1][:6] == ["1e-06", "2", "2", "2", "2/2", "2/2"], rows
    assert near([float(row[6]) for row in rows], [margin[:2].max(), margin[2:].max()], rtol=0.01,
                faulty=[1.02 * margin[:2].max(), 1.02 * margin[2:].max()], fault="a fiftieth more"), (rows, margin)
    assert "  by gamma" in lines and "  nearest to their bounds" in lines, lines


def verdicts_of_a_later_envelope_are_taken_as_stored():
    folder = write(JUDGED)
    assert run(folder)[0] == 1
    with open(os.path.join(folder, "scan.yaml"), "w") as file:
        file.write(JUDGED.replace("2.5e-7", "1e-5"))
    assert run(folder)[0] == 0
    path, scan = os.path.join(folder, "out.h5"), os.path.join(folder, "scan.yaml")
    checks = verify(path)["checks"]["verdicts"]
    assert checks["broken"] == 0 and checks["checked"] == 4 and "another envelope" in checks["skipped"], checks
    checks = again(path, "--scan", scan)["checks"]["verdicts"]
    assert checks["broken"] == 0 and checks["checked"] == 4 and "skipped" not in checks, checks
    with h5py.File(path, "r+") as file:
        file["member/contract/observed"][0] /= 2
    assert verify(path)["checks"]["verdicts"]["broken"] == 1


def rows_of_fewer_members_are_stale_while_members_wait():
    with copy(made(NOISE)) as file:
        file["member/state"][9] = 0
        file["complete"][()] = 0
    checks = verify("copy.h5")["checks"]["ensemble"]
    assert checks["broken"] == 0 and checks["checked"] == verify(made(NOISE))["checks"]["ensemble"]["checked"] // 2, checks
    with h5py.File("copy.h5", "r+") as file:
        file["complete"][()] = 1
    assert {"states", "ensemble"} <= set(broken("copy.h5"))


def what_is_no_result_file_is_broken_and_what_is_absent_is_an_error():
    with open("text.h5", "w") as file:
        file.write("no HDF5\n")
    assert list(broken("text.h5")) == ["format"]
    shutil.copy(made(STEPS), "cut.h5")
    os.truncate("cut.h5", os.path.getsize("cut.h5") // 2)
    found = broken("cut.h5")
    assert list(found) == ["format"] and "truncated" in found["format"][0], found
    r = command(".", "verify", "absent.h5", made(STEPS))
    assert r.returncode == 2 and "absent.h5" in r.stderr and "nothing is broken" in r.stdout, r
    assert command(".", "verify").returncode == 2


if __name__ == "__main__":
    sys.exit(run_checks(globals(), but=("made",)))
