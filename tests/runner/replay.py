#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replays: the stored steps of a member executed again, by both models of pulses.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import json
import os
import shutil

import h5py
import numpy as np

from checks import run_checks
from farm import command, run, write
from near import near, norm_below, rounding

PLAIN = ("--fft-rigour", "estimate")  # the same plans in every start, made at once
EPS = 2.0 ** -52
LADDER = 128  # eps of the peak, for eight steps at most (docs/contracts.md)
FIBRE = """scan: fibre
model: gnlse
parameters:
  length: LENGTH
  wavelength: 835 nm
  betas: [-11.83 ps^2/km, 8.1e-2 ps^3/km]
  gamma: 0.11 W^-1 m^-1
  raman: blow_wood
  pulse: {shape: sech, duration: 50 fs, peak_power: 10 kW}
  grid: {points: 1024, window: 4 ps}
"""
GAS = """scan: gas
model: capillary
parameters:
  gas: Ar
  core_radius: 125 um
  length: LENGTH
  pressure: {from: 0 bar, to: 1 bar}
  pulse: {shape: gauss, duration: 10 fs, energy: 100 uJ, wavelength: 800 nm}
  grid: {wavelengths: [200 nm, 3 um], window: 150 fs}
"""
FIRST = "save: {planes: 3}\nstepper: {first_step: FIRST}\naxes: [{pulse.duration: [11 fs, 10 fs]}]\n"
# of each model: its text, a length of at most eight steps and one of many, a first step that is too long
MODELS = {"gnlse": (FIBRE.replace("50 fs", "10 fs"), "0.2 mm", "5 mm", "LENGTH"), "capillary": (GAS, "1 cm", "20 cm", "LENGTH")}


def steps(folder, member=0):
    """z and h of the accepted steps, and the counters."""
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        count = file["step/n_steps"][member]
        accepted = file["step/accepted"][member, :count] == 1
        return (file["step/z"][member, :count][accepted], file["step/h"][member, :count][accepted],
                {name: int(file["member/" + name][member]) for name in ("steps", "rejected", "rhs_calls")})


def fields(folder, member=0):
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        return file["plane/z"][member], file["plane/field"][member]


def original(text, length, first, *words):
    folder = write(text.replace("LENGTH", length) + FIRST.replace("FIRST", first).replace("LENGTH", length))
    code, _, err = run(folder, *PLAIN, *words)
    assert code == 0, err
    return folder


def replay(text, length, source, planes="planes: 3", member=1, more=""):
    method = f"method: fixed, schedule: {{from: ../{source}/out.h5, member: {member}}}{more}"
    return write(text.replace("LENGTH", length) + f"save: {{{planes}}}\nstepper: {{{method}}}\n")


def done(folder, *words):
    code, _, err = run(folder, *PLAIN, *words)
    assert code == 0, err
    return folder


def refused(folder, *parts):
    r = command(folder, "plan", "scan.yaml")
    assert r.returncode == 2, f"exit code {r.returncode}, not 2: {r.stderr!r}"
    for part in parts:
        assert part in r.stderr, f"{part!r} is not in {r.stderr!r}"


def exactly_the_accepted_steps_are_executed_and_counted():
    for model, (text, _, length, first) in MODELS.items():
        source = original(text, length, first)
        z, h, counts = steps(source, 1)
        assert counts["rejected"] > 0, f"{model}: nothing to leave out"
        for planes in ("planes: 3", "planes: last"):  # planes that are not saved again are ends of steps all the same
            again = done(replay(text, length, source, planes))
            z2, h2, counts2 = steps(again)
            assert z.tobytes() == z2.tobytes() and h.tobytes() == h2.tobytes(), model
            assert counts2 == {"steps": len(z), "rejected": 0, "rhs_calls": 1 + 6 * len(z)}, (model, counts2)


def a_replay_on_the_same_build_is_within_the_ladder_and_sees_a_part_in_1e9():
    for model, (text, length, _, first) in MODELS.items():
        source = original(text, length, first)
        places, a = fields(source, 1)
        count = len(steps(source, 1)[0])
        assert 1 < count <= 8, (model, count)
        again = done(replay(text, length, source))
        places2, b = fields(again)
        assert places.tobytes() == places2.tobytes()
        peak = np.abs(a).max()
        assert peak > 0 and np.abs(a - b).max() <= LADDER * EPS * peak, (model, np.abs(a - b).max() / peak / EPS)
        other = done(replay(text.replace("duration: 10 fs", "duration: 10.00000001 fs"), length, source))
        assert np.abs(a - fields(other)[1]).max() > LADDER * EPS * peak, f"{model}: a perturbation of 1e-9 is not seen"


def told(a, b):
    """Exit code of diff, its classes with pairs, and what is farthest apart."""
    r = command(".", "diff", "--json", a, b)
    assert r.returncode in (0, 1), r
    found = json.loads(r.stdout)
    return r.returncode, {name: c for name, c in found["classes"].items() if c["pairs"]}, found["worst"]


def diff_holds_files_of_the_same_steps_to_rounding():
    """Replays by any instructions and their original are one discrete computation: 16 eps of the peak a step."""
    for model, (text, length, _, first) in MODELS.items():
        source = original(text, length, first)
        count = len(steps(source, 1)[0])
        again, baseline = done(replay(text, length, source)), done(replay(text, length, source), "--isa", "x86-64")
        names = [os.path.join(folder, "out.h5") for folder in (source, again, baseline)]
        for a, b in ((0, 1), (1, 0), (0, 2), (1, 2)):
            code, classes, worst = told(names[a], names[b])
            assert code == 0 and set(classes) <= {"equal", "matched"}, (model, a, b, classes, worst)
        assert set(told(names[1], names[2])[1]) == {"matched"} or "x86-64;" in kernel(again), model
        shutil.copy(names[2], "changed.h5")
        with h5py.File("changed.h5", "r+") as file:
            plane = file["plane/field"][0, 2]
            bin_ = int(np.abs(plane).argmax())
            file["plane/field"][0, 2, bin_] *= 1 + 1e-9
        code, classes, worst = told("changed.h5", names[1])
        assert code == 1 and classes["matched"]["outside"] == 1 and worst[0]["class"] == "R", (model, classes)
        assert worst[0]["what"] == "field" and worst[0]["planes"] == [2, 2] and worst[0]["index"] == bin_, worst
        peak = np.abs(plane).max() * (1 + 1e-9)
        assert rounding(worst[0]["allowed"], 16 * EPS * count * peak), (worst, count, peak)
        assert set(told(names[0], "changed.h5")[1]) == {"matched"}, model
        shutil.copy(names[0], "moved.h5")  # one step begins a bit elsewhere: nothing says how far they may be apart
        with h5py.File("moved.h5", "r+") as file:
            k = np.flatnonzero(file["step/accepted"][1])[1]
            file["step/z"][1, k] = np.nextafter(file["step/z"][1, k], 1)
        assert set(told("moved.h5", "changed.h5")[1]) == {"unbounded"}, model


def kernel(folder):
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        return file["member/kernel_id"][0].decode()


def a_replay_at_full_length_is_as_accurate_as_its_original():
    text, _, length, first = MODELS["gnlse"]
    source = original(text, length, first)
    tight = done(write(text.replace("LENGTH", length) + "save: {planes: last}\nstepper: {rtol: 1e-11}\n"))
    again = done(replay(text, length, source))
    right = fields(tight)[1][-1]
    error = [np.linalg.norm(fields(f, m)[1][-1] - right) / np.linalg.norm(right) for f, m in ((source, 1), (again, 0))]
    assert 0 < error[0] < 1e-3 and near(error[1], error[0], rtol=1e-3, faulty=1.003 * error[0], fault="an error larger by 3e-3"), error


def a_replay_is_judged_by_steps_of_its_own():
    """Its own steps once more would be itself, and any error within any bound."""
    for model, (text, _, length, first) in MODELS.items():
        source = original(text, length, first)
        tight = done(write(text.replace("LENGTH", length) + "save: {planes: last}\nstepper: {rtol: 1e-11, first_step: 0.01 mm}\n"))
        right = fields(tight)[1][-1]
        for times, verdict, code in ((0.1, 2, 1), (1.0, 1, 0)):
            folder = replay(text, length, source, "planes: last", more=", first_step: 0.01 mm")
            error = np.linalg.norm(fields(source, 1)[1][-1] - right) / np.linalg.norm(right)
            with open(os.path.join(folder, "scan.yaml"), "a") as file:
                file.write(f"envelope: {{tolerance: {times * error!r}}}\n")
            got, _, err = run(folder, *PLAIN)
            with h5py.File(os.path.join(folder, "out.h5")) as file:
                column = {name: file["member/contract"][name][0] for name in ("verdict", "observed", "rhs_calls")}
            assert got == code and column["verdict"] == verdict and 0.5 * error < column["observed"] < 1.5 * error, (model, error, column, err)
            assert column["rhs_calls"] > 1, column
        r = command(folder, "verify", "out.h5", "--recompute", "1", "--scan", "scan.yaml")
        assert r.returncode == 0, r.stdout
        with h5py.File(os.path.join(folder, "out.h5"), "r+") as file:
            file["member/rhs_calls"][0] += 6
        r = command(folder, "verify", "out.h5")
        assert r.returncode == 1 and "right-hand sides" in r.stdout, r.stdout


def replays_of_workers_and_one_process_agree_and_know_their_schedule():
    text, _, length, first = MODELS["gnlse"]
    source = original(text, length, first)
    body = text.replace("LENGTH", length) + "save: {planes: 3}\n"
    body += f"stepper: {{method: fixed, schedule: {{from: ../{source}/out.h5}}}}\n"
    body += "axes: [{zip: {pulse.duration: [11 fs, 10 fs], stepper.schedule.member: [0, 1]}}]\n"
    folder = write(body)
    done(folder, "-n", "2")
    for member in (0, 1):
        assert steps(folder, member)[0].tobytes() == steps(source, member)[0].tobytes(), member
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        form = file["config_canonical"][()].decode()
        identities = {row.tobytes() for row in file["member/identity"][...]}
    assert "steps of member 1: z [" in form and len(identities) == 2, form
    code, _, err = run(folder, *PLAIN)  # the file is whole: nothing is left, the data are read from the file again
    assert code == 0, err
    shutil.copy(os.path.join(source, "out.h5"), "elsewhere.h5")  # what counts is the content
    other = done(write(body.replace(f"../{source}/out.h5", "../elsewhere.h5")))
    with h5py.File(os.path.join(other, "out.h5")) as file:
        assert identities == {row.tobytes() for row in file["member/identity"][...]}


def what_does_not_fit_is_refused_by_name():
    text, _, length, first = MODELS["gnlse"]
    source = original(text, length, first)
    line = "scan.yaml:"
    ends = np.append(steps(source, 1)[0], 0.005)
    near = f"{ends[ends < 0.001234][-1]:.15g} m and {ends[ends > 0.001234][0]:.15g} m"
    refused(replay(text, length, source, "planes: [1.234 mm, 5 mm]"), line, "save.planes: no step of stepper.schedule ends at plane 0", "z = 0.001234 m; the nearest end at " + near)
    refused(replay(text, "4 mm", source), line, "stepper.schedule: the steps end at z = 0.005 m, beyond the length of 0.004 m")
    refused(replay(text, "6 mm", source, "planes: last"), line, "the steps end at z = 0.005 m, before saved plane 0 at 0.006 m")
    refused(replay(text, length, source, member=2), line, "stepper.schedule.from", "member 2 does not exist; the members are 0 to 1")
    refused(replay(text, length, source, more=", max_steps: 3"), "stepper.max_steps: 3, but stepper.schedule has")
    refused(replay(text, length, "nowhere"), line, "stepper.schedule.from", "../nowhere/out.h5")
    body = text.replace("LENGTH", length)
    refused(write(body + "stepper: {method: fixed}\n"), line, "stepper.method: fixed executes the steps of an earlier run")
    refused(write(body + f"stepper: {{schedule: {{from: ../{source}/out.h5}}}}\n"), line, "only method fixed executes stored steps")
    refused(write(body + "stepper: {method: fixed, schedule: {member: 1}}\n"), line, "stepper.schedule.member has no effect without stepper.schedule.from")
    refused(replay(GAS, "5 mm", source), line, "holds results of model gnlse; those of model capillary are wanted")


def histories_that_are_not_whole_are_refused_by_name():
    text, _, length, first = MODELS["gnlse"]
    for history, why in ((5, "the step history of member 1 is truncated: 5 steps are kept"), (0, "keeps no step history")):
        folder = write(text.replace("LENGTH", length) + FIRST.replace("FIRST", first).replace("LENGTH", length) + f"store: {{history: {history}}}\n")
        done(folder)
        refused(replay(text, length, folder), "scan.yaml:", "stepper.schedule.from", why, "store: {history: N}")
    failed = write(text.replace("LENGTH", length) + "stepper: {max_steps: 4}\naxes: [{pulse.duration: [11 fs, 10 fs]}]\n")
    assert run(failed, *PLAIN)[0] == 1
    refused(replay(text, length, failed), "scan.yaml:", "member 1 is not done, its steps are not all known")


def a_replay_goes_on_after_a_kill_with_the_step_that_comes_next():
    text, _, length, first = MODELS["gnlse"]
    source = original(text, length, first)
    folder = replay(text, length, source)
    code = run(folder, *PLAIN, env={"FARM_FAULT": "kill@plane.done,member=0,plane=1"})[0]
    assert code != 0
    done(folder)
    z, h, _ = steps(source, 1)
    z2, h2, counts = steps(folder)
    assert 0 < len(z2) < len(z) and z2.tobytes() == z[-len(z2):].tobytes() and h2.tobytes() == h[-len(h2):].tobytes(), counts
    a, b = fields(source, 1)[1], fields(folder)[1]
    assert norm_below(np.linalg.norm(a[-1] - b[-1]) / np.linalg.norm(a[-1]), 1e-9)  # rounding of the whole length


if __name__ == "__main__":
    raise SystemExit(run_checks(globals()))
