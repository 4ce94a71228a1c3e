#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""run --self-check: workers compare their arithmetic with the baseline's; what a wrong one computed since its last good
check is computed again by others. Needs a build with SCANFARM_FAULTS. The right values are those of a run without
faults and without checks.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import json
import os
import re
import signal

import h5py
import numpy as np

from checks import run_checks
from farm import command, content, finish, run, same, start, wait_until, write
from near import near

PLAIN = ("--fft-rigour", "estimate")  # the same plans in every start, made at once
FIBRE = """scan: fibre
model: gnlse
parameters:
  length: 1 cm
  wavelength: 835 nm
  betas: [-11.83 ps^2/km, 8.1e-2 ps^3/km]
  gamma: 0.11 W^-1 m^-1
  raman: blow_wood
  self_steepening: true
  pulse: {shape: sech, duration: 50 fs}
  grid: {points: 1024, window: 4 ps}
axes: [{pulse.peak_power: {from: 5 kW, to: 10 kW, points: POINTS}}]
save: {planes: 3}
"""
GAS = """scan: gas
model: capillary
parameters:
  gas: Ar
  core_radius: 125 um
  length: 2 cm
  pressure: {from: 0 bar, to: 1 bar}
  pulse: {shape: gauss, duration: 10 fs, wavelength: 800 nm}
  grid: {wavelengths: [200 nm, 3 um], window: 150 fs}
axes: [{pulse.energy: [50 uJ, 100 uJ]}]
save: {planes: 3}
"""
# Absorbers within a tenth of a step: steps that the tolerance alone bounds are not stable, and the noise of rounding grows
# until it is as large as the tolerance
STIFF = GAS.replace("  pressure: {from: 0 bar, to: 1 bar}\n", "  pressure: 20 mbar\n  absorber: {time: 1 mm, spectral: 1 mm}\n").replace(
    "save:", "stepper: {max_steps: 200}\nsave:")
NOISY = "ensemble: {realisations: 4, seed: 5, noise: one_photon}\n"
right_of = {}


def scan(points, more=""):
    return FIBRE.replace("POINTS", str(points)) + more


def right(text):
    """The planes without faults and checks."""
    if text not in right_of:
        folder = write(text)
        code, _, err = run(folder, *PLAIN)
        assert code == 0, err
        right_of[text] = folder
    return right_of[text]


def wrong(order):
    return {"FARM_FAULT": "wrong@kernels," + order}


def wrong_once(folder, member, point="kernels"):
    """The first worker that computes this member, whichever it is, is wrong from then on."""
    return {"FARM_FAULT": f"wrong@{point},member={member},once={os.path.abspath(folder)}/struck"}


def columns(folder, *names):
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        return [file["member/" + name][...] for name in names]


def journal(folder, kind, **wanted):
    with open(os.path.join(folder, "out.h5.journal")) as file:
        records = [json.loads(line) for line in file if line.startswith("{") and line.rstrip().endswith("}")]
    return [r for r in records if r["record"] == kind and all(r.get(key) == value for key, value in wanted.items())]


def withdrawn(folder):
    return {m for r in journal(folder, "member", state="withdrawn") for m in range(r["first"], r["last"] + 1)}


def failed_rank(folder):
    """The one worker that failed its self-check."""
    found = journal(folder, "worker", event="self-check failed")
    assert len(found) == 1, found
    return found[0]["rank"]


def figures(text):
    """Observed and allowed difference of a verdict."""
    found = re.search(r"field after (\d) steps: largest difference (\S+) of the peak, bound ([0-9.e-]+)", text)
    assert found, text
    return int(found[1]), float(found[2]), float(found[3])


def right_workers_pass_within_the_ladder_and_change_nothing():
    for text in (scan(8), GAS):
        folder = write(text)
        code, _, err = run(folder, *PLAIN, "-n", "2", "--self-check=2")
        assert code == 0, err
        passed = [figures(line) for line in err.splitlines() if "passes its self-check" in line]
        assert 1 <= len(passed) <= 2, err  # a worker that got nothing has nothing to check
        for steps, observed, bound in passed:
            assert 1 < steps <= 8 and observed <= bound and near(bound, 128 * 2.0 ** -52, atol=1e-16, faulty=127 * 2.0 ** -52, fault="127 of 128"), (steps, observed, bound)
        assert not withdrawn(folder) and same(content(folder), content(right(text)))
        assert "ready" not in command(folder, "status", "out.h5").stdout, "a worker that passed is nothing to show"


def a_wrong_worker_is_parked_and_its_members_are_computed_again():
    text = scan(40)
    folder = write(text)
    code, _, err = run(folder, *PLAIN, "-n", "3", "--self-check=3", env=wrong_once(folder, 20))
    assert code == 0, err
    _, observed, bound = figures(next(line for line in err.splitlines() if "fails its self-check" in line))
    assert observed > bound, err
    assert same(content(folder), content(right(text))), "wrong results are left"
    rank, attempts, state = columns(folder, "rank", "attempts", "state")
    bad, again = failed_rank(folder), withdrawn(folder)
    assert 20 in again and (state == 2).all(), (again, state)
    assert all(rank[m] != bad for m in again), (rank, again)
    assert (attempts[rank == bad] == 1).all(), "what it computed before its last good check stays"
    assert all(attempts[m] == 1 or m in again and attempts[m] == 2 for m in range(40)), (attempts, again)
    assert (attempts == 2).any(), (attempts, again)
    assert all("largest difference" in r["reason"] for r in journal(folder, "member", state="withdrawn"))
    shown = command(folder, "status", "out.h5").stdout
    assert "self-check failed" in shown and "40 done" in shown, shown


def a_worker_that_begins_to_flush_is_parked():
    """Numbers below 1e-308 become zero, as a library with -ffast-math has them that is loaded on the way: no field tells."""
    text = scan(40)
    folder = write(text)
    order = {"FARM_FAULT": f"flush@step,member=20,once={os.path.abspath(folder)}/struck"}
    code, _, err = run(folder, *PLAIN, "-n", "3", "--self-check=3", env=order)
    assert code == 0, err
    assert "flushed to zero" in next(line for line in err.splitlines() if "fails its self-check" in line), err
    rank, state = columns(folder, "rank", "state")
    bad, again = failed_rank(folder), withdrawn(folder)
    assert 20 in again and (state == 2).all() and all(rank[m] != bad for m in again), (again, rank)
    assert same(content(folder), content(right(text)))
    folder = write(text)
    code, _, err = run(folder, *PLAIN, "--self-check=3", env={"FARM_FAULT": "flush@step,member=20"})
    assert code == 3 and "flushed to zero" in err, (code, err)


def without_checks_the_same_fault_goes_unseen():
    text = scan(40)
    folder = write(text)
    code, _, err = run(folder, *PLAIN, "-n", "3", env=wrong_once(folder, 20))
    assert code == 0, err
    a, b = content(folder)["field"], content(right(text))["field"]
    worse = np.abs(a - b).max(axis=(1, 2)) / np.abs(b).max()
    assert worse.max() > 1e-6, f"the fault does nothing: {worse.max()}"  # a thousandth of one slope of seven a step


def the_last_members_are_checked_before_the_run_ends():
    text = scan(12)
    folder = write(text)
    code, _, err = run(folder, *PLAIN, "-n", "2", "--self-check=1000", env=wrong_once(folder, 10))
    assert code == 0, err
    bad = failed_rank(folder)
    assert f"rank {bad}" in next(line for line in err.splitlines() if "fails its self-check" in line), err
    rank, = columns(folder, "rank")
    assert 10 in withdrawn(folder) and (rank != bad).all(), rank
    assert same(content(folder), content(right(text)))


def one_process_that_fails_ends_with_the_figures_and_code_3():
    text = scan(12)
    folder = write(text)
    code, _, err = run(folder, *PLAIN, "--self-check=3", env=wrong("member=4"))
    assert code == 3, (code, err)
    _, observed, bound = figures(next(line for line in err.splitlines() if "the self-check fails: " in line))
    assert observed > bound
    state, saved = columns(folder, "state", "n_saved")
    assert list(state[:3]) == [2, 2, 2] and (state[3:] == 0).all() and (saved[3:] == 0).all(), (state, saved)
    assert withdrawn(folder) >= {3, 4, 5}
    end = journal(folder, "end")[-1]
    assert end["code"] == 3 and "self-check fails: field" in end["text"], end
    assert "exit code 3: the self-check fails" in command(folder, "status", "out.h5").stdout
    code, _, err = run(folder, *PLAIN)  # the same command, on a machine that computes rightly
    assert code == 0, err
    assert same(content(folder), content(right(text)))


def where_rounding_grows_the_steps_are_shortened():
    folder = write(STIFF)
    code, _, err = run(folder, *PLAIN, "--self-check=1")
    passed = [figures(line) for line in err.splitlines() if "the self-check passes: " in line]
    assert "self-check fails" not in err and passed and all(observed <= bound for _, observed, bound in passed), (code, err)
    code, _, err = run(write(STIFF), *PLAIN, "--self-check=1", env=wrong("member=0"))  # and see a fault as well
    _, observed, bound = figures(next(line for line in err.splitlines() if "the self-check fails: " in line))
    assert code == 3 and observed > bound, (code, err)


def a_farm_of_nothing_but_wrong_workers_ends_with_code_3():
    text = scan(12)
    folder = write(text)
    code, _, err = run(folder, *PLAIN, "-n", "2", "--self-check=2", env=wrong("hit=2"))
    assert code == 3 and "the self-check fails in every worker" in err, (code, err)
    state, saved = columns(folder, "state", "n_saved")
    assert ((state == 2) | (saved == 0)).all(), (state, saved)
    assert run(folder, *PLAIN)[0] == 0 and same(content(folder), content(right(text)))


def reductions_of_withdrawn_members_are_made_again():
    text = scan(4, NOISY)
    folder = write(text)
    code, _, err = run(folder, *PLAIN, "-n", "2", "--self-check=7", env=wrong_once(folder, 9))
    assert code == 0 and 9 in withdrawn(folder), err
    with h5py.File(os.path.join(folder, "out.h5")) as file, h5py.File(os.path.join(right(text), "out.h5")) as other:
        assert (file["ensemble/n"][...] == 4).all() and (file["ensemble/reduced"][...] == 1).all()
        for name in ("mean_spectrum", "g12", "coherence"):
            assert file["ensemble/" + name][...].tobytes() == other["ensemble/" + name][...].tobytes(), name


def verdicts_of_a_wrong_worker_are_found_again():
    text = scan(16, "envelope: {reference: tighter, tolerance: 1e-3, sample: all}\n")
    expected = columns(right(text), "contract/verdict", "contract/observed")
    assert (expected[0] == 1).all(), expected
    for point in ("kernels", "judge.kernels"):
        folder = write(text)
        code, _, err = run(folder, *PLAIN, "-n", "2", "--self-check=3", env=wrong_once(folder, 9, point))
        assert code == 0, err
        failed_rank(folder)
        assert same(content(folder), content(right(text))), "wrong results are left"
        found = columns(folder, "contract/verdict", "contract/observed")
        assert (found[0] == expected[0]).all() and found[1].tobytes() == expected[1].tobytes(), (found, expected)
    forgotten = {m for r in journal(folder, "member", state="verdict withdrawn") for m in range(r["first"], r["last"] + 1)}
    assert 9 in forgotten, (forgotten, err)


def a_controller_that_is_killed_while_it_takes_back_leaves_nothing_wrong():
    text = scan(40)
    folder = write(text)
    # rank 1 is slow, so that the wrong one has members to take back
    order = wrong("rank=2,hit=1")["FARM_FAULT"] + ";slow=0.05@step,rank=1;kill@withdraw,rank=0,hit=2"
    code, _, err = run(folder, *PLAIN, "-n", "2", "--self-check=8", env={"FARM_FAULT": order})
    assert code == 3 and len(withdrawn(folder)) > 1, (code, err)
    assert not journal(folder, "worker", event="self-check failed")
    code, _, err = run(folder, *PLAIN, "-n", "2")
    assert code == 0 and "results of a worker that failed its self-check were taken back" in err, err
    assert same(content(folder), content(right(text))), "wrong results are left"


def a_wrong_worker_that_dies_before_its_verdict_is_read_costs_nobody_else():
    text = scan(24)
    folder = write(text)
    order = "kill@step,rank=1,hit=6"
    code, _, err = run(folder, *PLAIN, "-n", "2", "--self-check=50", env={"FARM_FAULT": order})
    assert code == 0, err  # its unconfirmed members keep nobody waiting
    assert same(content(folder), content(right(text)))


def a_stop_confirms_what_has_been_computed():
    """Rank 2 is wrong from its first step on, and both are so slow that much is left when each has ended a member."""
    text = scan(100)
    folder = write(text)
    order = wrong("rank=2,hit=1")["FARM_FAULT"] + ";slow=0.1@step"
    process = start(folder, *PLAIN, "-n", "2", "--self-check=1000", env={"FARM_FAULT": order})
    wrong_ones = set()

    def both_have_ended_some():
        rank, state = columns(folder, "rank", "state")
        wrong_ones.update(np.flatnonzero((rank == 2) & (state == 2)))
        return process.poll() is not None or wrong_ones and ((rank == 1) & (state == 2)).any()

    wait_until(both_have_ended_some, "members of both")
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    assert code == 75 and "fails its self-check" in err and failed_rank(folder) == 2, (code, err)
    rank, state = columns(folder, "rank", "state")
    assert wrong_ones and wrong_ones <= withdrawn(folder), (wrong_ones, withdrawn(folder))
    done = state == 2
    assert (rank[done] != 2).all() and done.any(), (rank, state)
    a, b = content(folder)["field"][done], content(right(text))["field"][done]
    assert a.tobytes() == b.tobytes(), "wrong results are left"


def models_without_a_stepper_are_refused():
    folder = write("scan: probe\nmodel: probe\nparameters: {size: 4}\n")
    code, _, err = run(folder, "--self-check")
    assert code == 2 and "--self-check: model probe has no stepper" in err, (code, err)
    code, _, err = run(folder, "--self-check=0")
    assert code == 2 and "self-check" in err, (code, err)


if __name__ == "__main__":
    raise SystemExit(run_checks(globals()))
