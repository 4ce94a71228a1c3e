#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scans of gnlse and capillary on the emulated device, in batches, against the same scans on the CPU: by their envelopes where
steps are chosen, by the ladder where they are given; cut short, beside members that fail, checked, in other orders.

With batches of one size the device's results have the same bits however they came about: neighbours, workers, resumes
and the order of threads leave no trace. (Transforms of another number of rows may be another plan of the library.)
Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import os
import re
import signal
import sys

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.environ["SCANFARM_SOURCE"], "tests", "runner"))
import farm  # noqa: E402
from checks import run_checks  # noqa: E402
from farm import command, content, run, same, states, write  # noqa: E402
from near import near  # noqa: E402

CPU = os.environ["SCANFARM"]
EMU = os.path.join(os.environ["SCANFARM_BUILD"], "tests", "scanfarm_emu")
EPS = 2.0 ** -52
LADDER = 128  # eps of the peak, for eight steps at most (docs/contracts.md)
PLAIN = ("--fft-rigour", "estimate")  # the same plans in every start
BATCH = ("--rows", "2")
MEMBERS = 5
# powers so different that each member has steps of its own
POWERS = "[1 kW, 9 kW, 3 kW, 5 kW, 7 kW]"
FIBRE = """scan: fibre
model: gnlse
parameters:
  length: LENGTH
  wavelength: 835 nm
  betas: [-11.83 ps^2/km, 8.1e-2 ps^3/km]
  gamma: 0.11 W^-1 m^-1
  loss: 1 dB/m
  raman: blow_wood
  self_steepening: true
  pulse: {shape: sech, duration: 40 fs}
  grid: {points: 128, window: 0.6 ps}
"""
SCAN = FIBRE.replace("LENGTH", "4 mm") + f"axes: [{{pulse.peak_power: {POWERS}}}]\nsave: {{planes: 3, observables: all}}\n"
JUDGED = SCAN + "envelope: {tolerance: 1e-5}\nstepper: {rtol: 1e-7}\n"
GUIDES = """scan: guides
model: capillary
parameters:
  core_radius: 100 um
  plasma: {rate: adk, rule: RULE}
  pulse: {shape: gauss, duration: 10 fs, wavelength: 800 nm}
  grid: {wavelengths: [400 nm, 2 um], window: 100 fs}
axes:
  - zip:
      gas.name: [Ar, He, Ar, Ne]
      length: [4 cm, 2 cm, 3 cm, 6 cm]
      pressure.from: [0.2 bar, 2 bar, 0.3 bar, 1 bar]
      pressure.to: [0 bar, 2 bar, 0.3 bar, 0.5 bar]
      pulse.energy: [20 uJ, 60 uJ, 150 uJ, 90 uJ]
save: {planes: 3}
stepper: {rtol: 1e-7}
store: {checkpoint: 1 ms, sync: never}
"""
kept = {}


def on_device(text, *words, env=None, code=0):
    """A run on the device; its folder, and what it said."""
    farm.SCANFARM = EMU
    folder = text if os.path.isdir(text) else write(text)
    found, _, err = run(folder, *PLAIN, "--backend", "emu", *words, env=env)
    assert found == code, (found, err)
    return folder, err


def on_cpu(text, *words, env=None, code=0):
    farm.SCANFARM = CPU
    folder = text if os.path.isdir(text) else write(text)
    found, _, err = run(folder, *PLAIN, *words, env=env)
    assert found == code, (found, err)
    return folder


def whole(text, *words):
    """The folder of an undisturbed run on the device in batches, made once."""
    if (text, words) not in kept:
        kept[text, words] = on_device(text, *BATCH, *words)[0]
    return kept[text, words]


def column(folder, name):
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        return file[name][...]


def counters(folder):
    return {name: column(folder, "member/" + name) for name in ("steps", "rejected", "rhs_calls", "transforms")}


def equal(first, second):
    """Whether two files hold the same planes and counters, bit for bit."""
    a, b = counters(first), counters(second)
    return same(content(first), content(second)) and all((a[name] == b[name]).all() for name in a)


def exit_of_diff(first, second, *words):
    return command(".", "diff", os.path.join(first, "out.h5"), os.path.join(second, "out.h5"), *words)


def a_scan_is_that_of_the_cpu_within_the_envelopes():
    """Adaptive steps, class T: each against its own run at a tighter tolerance, the two by the sum of their bounds."""
    device, cpu = whole(JUDGED), on_cpu(JUDGED)
    assert "emulated" in str(column(device, "member/device")[0]), column(device, "member/device")
    kernel = str(column(device, "member/kernel_id")[0])  # the library of its own transforms, not of the CPU's
    assert kernel.startswith("b'emu ") and kernel.rstrip("\\x0'").endswith("; FFTW"), kernel
    for folder in (device, cpu):
        assert (column(folder, "member/contract/verdict") == column(cpu, "member/contract/verdict")).all()
        observed, bound = column(folder, "member/contract/observed"), column(folder, "member/contract/bound")
        assert (observed > 0).all() and (observed <= bound).all(), (observed, bound)
    assert len(set(column(device, "member/steps"))) > 2, "the members make the same steps: nothing is told apart"
    r = exit_of_diff(device, cpu)
    assert r.returncode == 0, r.stdout + r.stderr
    coarse = on_cpu(SCAN + "stepper: {rtol: 1e-3}\n")  # the same members, however their steps are chosen
    assert exit_of_diff(device, coarse, "--tolerance", "1e-5").returncode == 1, "results of coarse steps are not told apart"


def given_steps(scan, folder):
    """The scan with the steps of a stored run of it."""
    axes = "axes: [{zip: {pulse.peak_power: %s, stepper.schedule.member: [0, 1, 2, 3, 4]}}]\n" % POWERS
    own = f"axes: [{{pulse.peak_power: {POWERS}}}]\n"
    assert own in scan and "stepper:" not in scan
    return scan.replace(own, axes) + f"stepper: {{method: fixed, schedule: {{from: ../{os.path.basename(folder)}/out.h5}}}}\n"


def given_steps_are_those_of_the_cpu_within_the_ladder():
    """The stored steps of five members, executed in batches, each row with lengths of its own: class R."""
    short = SCAN.replace("4 mm", "0.4 mm") + "stepper: {rtol: 1e-6}\n"
    source = on_cpu(short)
    count = column(source, "member/steps")
    assert (count > 1).all() and (count <= 8).all() and len(set(count)) > 1, count
    again = given_steps(short.replace("stepper: {rtol: 1e-6}\n", ""), source)
    device = on_device(again, *BATCH)[0]
    assert (column(device, "member/steps") == count).all() and not column(device, "member/rejected").any()
    a, b = column(source, "plane/field"), column(device, "plane/field")
    peak = np.abs(a).max(axis=2, keepdims=True)
    assert (np.abs(a - b) <= LADDER * EPS * peak).all(), (np.abs(a - b) / peak).max() / EPS
    r = exit_of_diff(device, source)  # the same by diff, to 16 eps of the peak a step
    assert r.returncode == 0 and re.search(r"R within rounding +5 pairs, 0 outside", r.stdout), r.stdout + r.stderr
    moved = on_device(again.replace("40 fs", "40.0000004 fs"), *BATCH)[0]
    assert (np.abs(a - column(moved, "plane/field")) > LADDER * EPS * peak).any(axis=2)[:, 1:].all(), "1e-8 of the pulse is not seen"


def any_number_of_workers_gives_the_same_bits_and_of_rows_the_same_results():
    for workers in ("1", "2"):
        assert equal(on_device(SCAN, *BATCH, "-n", workers)[0], whole(SCAN)), workers
    for rows in ("1", "3"):
        folder, err = on_device(SCAN, "--rows", rows)
        assert f"{rows} member" in err and "by --rows" in err, err
        r = exit_of_diff(folder, whole(SCAN), "--tolerance", "1e-5")
        assert r.returncode == 0, r.stdout + r.stderr


def guides_of_a_batch_are_those_of_the_cpu():
    """Gases, lengths and pressures of their own in one batch; the same when the CPU goes on where the device was killed."""
    text = GUIDES.replace("RULE", "band")
    cpu, (device, _) = on_cpu(text), on_device(text)
    assert len(set(column(device, "member/steps"))) > 2, "the members make the same steps: nothing is told apart"
    assert exit_of_diff(device, cpu, "--tolerance", "1e-9").returncode == 0
    coarse = on_cpu(text.replace("1e-7", "1e-3"))
    assert exit_of_diff(device, coarse, "--tolerance", "1e-9").returncode == 1, "results of coarse steps are not told apart"
    text = same_steps(text, cpu)
    killed, _ = on_device(text, env={"FARM_FAULT": "kill@step,member=1,hit=2"}, code=-signal.SIGKILL)
    goes_on(killed, on_cpu, on_cpu(text))


def a_device_goes_on_where_the_cpu_was_killed():
    text = GUIDES.replace("RULE", "trapezoid")
    text = same_steps(text, on_cpu(text))
    killed = on_cpu(text, "-t", "2", env={"FARM_FAULT": "kill@step,member=0,hit=3"}, code=-signal.SIGKILL)
    goes_on(killed, on_device, on_cpu(text))


def same_steps(text, folder):
    """From its last plane, where no checkpoint came after it, a member goes on by steps that it chooses anew: those of
    an earlier run, given, are the same from wherever it goes on."""
    zipped = "      pulse.energy:"
    assert zipped in text and "{rtol: 1e-7}" in text
    return text.replace(zipped, "      stepper.schedule.member: [0, 1, 2, 3]\n" + zipped).replace(
        "{rtol: 1e-7}", f"{{method: fixed, schedule: {{from: ../{os.path.basename(folder)}/out.h5}}}}")


def goes_on(killed, where, right):
    assert (states(killed) != 2).any(), "it died too late"
    where(killed)
    r = exit_of_diff(killed, right, "--tolerance", "1e-9")
    assert r.returncode == 0 and "4 members in both" in r.stdout, r.stdout + r.stderr


def any_order_of_blocks_and_threads_gives_the_same_bits():
    for seed in ("5", "6"):
        assert equal(on_device(SCAN, *BATCH, env={"EMU_SEED": seed})[0], whole(SCAN)), seed


def a_run_that_is_killed_goes_on_with_the_same_bits():
    steps = given_steps(SCAN, whole(SCAN))  # the same from a plane alone too
    text = steps + "store: {checkpoint: 2 ms, sync: never}\n"
    for order in ("step,member=3,hit=3", "plane.mid,member=1,plane=1"):
        folder, _ = on_device(text, *BATCH, env={"FARM_FAULT": "kill@" + order}, code=-signal.SIGKILL)
        assert (states(folder) != 2).any(), "it died too late"
        on_device(folder, *BATCH)
        assert equal(folder, whole(steps)), order


def a_member_that_diverges_leaves_the_others_alone():
    text = SCAN.replace("3 kW", "1e200 W")
    folder, err = on_device(text, *BATCH, code=1)
    assert "not finite" in err, err
    assert (states(folder) == 2).sum() == MEMBERS - 1, states(folder)
    others = [m for m in range(MEMBERS) if m != 2]
    a, b = column(folder, "plane/field")[others], column(whole(SCAN), "plane/field")[others]
    assert a.tobytes() == b.tobytes()


def a_file_of_the_device_is_sound_and_its_members_are_those_of_the_cpu():
    folder = whole(JUDGED)
    r = command(folder, "verify", "out.h5", "--recompute", "2", "--scan", "scan.yaml")
    assert r.returncode == 0, r.stdout + r.stderr
    assert re.search(r"recompute|again", r.stdout), r.stdout
    name = os.path.join(folder, "out.h5")
    broken = write(SCAN)
    with open(name, "rb") as file:
        text = bytearray(file.read())
    field = column(folder, "plane/field")[1, 2, 40:42].tobytes()
    at = text.find(field)
    assert at > 0
    text[at] ^= 1
    with open(os.path.join(broken, "out.h5"), "wb") as file:
        file.write(text)
    assert command(broken, "verify", "out.h5").returncode == 1, "a flipped bit is not seen"


def figures(text):
    found = re.search(r"field after (\d) steps: largest difference (\S+) of the peak, bound ([0-9.e-]+)", text)
    assert found, text
    return int(found[1]), float(found[2]), float(found[3])


def a_worker_tells_what_a_trial_step_took():
    """Of all rows of a batch at once. Its own kernels: 8 of the stepper and 6 times 3 of the right-hand
    side with its 4 transforms; what a plane and first slopes take comes on top."""
    said = r"rank (\d+): (\d+) trial steps of its batch, (\S+) launches and (\S+) copies each; " \
           r"waited (\S+) s for the device, host time (\S+) ms a trial step"
    for workers in ((), ("-n", "2", "-v")):
        folder, err = on_device(SCAN, *BATCH, *workers)
        lines = re.findall(said, err)
        assert sorted(line[0] for line in lines) == (["1", "2"] if workers else ["0"]), err
        rows = int((column(folder, "member/steps") + column(folder, "member/rejected")).sum())
        trials = sum(int(line[1]) for line in lines)
        assert rows / MEMBERS <= trials < rows, (rows, trials)
        for line in lines:
            launches, copies, waited, host = (float(word) for word in line[2:])
            assert 8 + 6 * (3 + 4) <= launches < 2 * 50 and 2 <= copies < 10, line
            assert waited >= 0 and 0 < host < 1000, line
    farm.SCANFARM = CPU
    code, _, err = run(write(SCAN), *PLAIN)
    assert code == 0 and "trial steps of its batch" not in err, err


def a_device_is_checked_against_the_cpu():
    folder, err = on_device(SCAN, *BATCH, "--self-check=2")
    steps, observed, bound = figures(next(line for line in err.splitlines() if "self-check passes" in line))
    assert 1 < steps <= 8 and 0 < observed <= bound and near(bound, LADDER * EPS, rtol=5e-3, faulty=(LADDER + 16) * EPS, fault="16 eps more"), (steps, observed, bound)
    assert equal(folder, whole(SCAN))


def a_device_that_is_wrong_fails_its_check():
    _, err = on_device(SCAN, *BATCH, "--self-check=2", env={"FARM_FAULT": "wrong@kernels,member=2"}, code=3)
    _, observed, bound = figures(next(line for line in err.splitlines() if "self-check fails" in line))
    assert observed > bound, err


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
