#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ensembles that stop themselves: where they stop against the looks made anew from the stored fields, and that it is the
same for any number of workers, after deaths, stops, reuse and collecting.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import json
import math
import os
import signal

import h5py
import numpy as np
import scipy.stats

from checks import run_checks
from farm import command, finish, run, start, wait_until, write
from near import near, rounding

PENDING, DONE, FAILED, NOT_NEEDED = 0, 2, 3, 6
REACHED, ALL = 1, 2
LIGHT = 299792458.0

# Noise alone, all but: a spectrum whose bins scatter by as much as they are.
HEAD = """scan: adaptive
model: gnlse
parameters:
  length: 1 cm
  wavelength: 835 nm
  betas: [-11.830 ps^2/km]
  gamma: 0.11 W^-1 m^-1
  pulse: {shape: sech, duration: 100 fs, peak_power: 1 W}
  grid: {points: 64, window: 2 ps}
axes:
  - pulse.peak_power: [0.3 mW, 1 uW, 10 mW]
stepper: {rtol: 1e-3}
save: {planes: last}
store: {history: 0, sync: never}
"""
NOISY = HEAD + """ensemble:
  until: {quantity: mean_spectrum, error: 12 %, band: [820 nm, 850 nm]}
  min: 10
  max: 200
  seed: 3
  noise: half_photon_gaussian
"""
COHERENT = HEAD + "ensemble: {until: {quantity: g12, error: 4 %}, min: 12, max: 100, seed: 5}\n"
NUMBER = HEAD + "ensemble: {until: {quantity: peak_power, error: 0.5 %}, min: 16, max: 64, seed: 1}\n"
ESTIMATE = ["--fft-rigour", "estimate"]  # one algorithm, so one set of bits


def looks_of(least, most):
    counts = [least]
    while counts[-1] < most:
        counts.append(min(2 * counts[-1], most))
    return counts


def widening(freedom, looks):
    return scipy.stats.t.isf(0.025 / looks, freedom) / 1.959963984540054


def coherence(e):
    """Mean of |g12| over pairs, weighted with the power."""
    power = (np.abs(e) ** 2).sum(axis=0)
    pairs = np.abs(np.abs(e.sum(axis=0)) ** 2 - power) / (len(e) - 1)
    return pairs.sum() / power.sum()


def error_of(values, quantity):
    n = len(values)
    if quantity == "g12":
        out = np.array([coherence(np.delete(values, i, axis=0)) for i in range(n)])
        return math.sqrt((n - 1) / n * ((out - out.mean()) ** 2).sum())
    x = np.abs(values) ** 2 if quantity == "mean_spectrum" else values[:, None]
    return math.sqrt((x.var(axis=0, ddof=1) / n).sum()) / np.linalg.norm(x.mean(axis=0))


def stop_of(values, done, quantity, wanted, least, most):
    """(realisations, error) at the stop; NaN for what is not done."""
    counts = looks_of(least, most)
    for count in counts:
        taken = values[:count][done[:count]]
        error = error_of(taken, quantity) * widening(len(taken) - 1, len(counts))
        if error <= wanted:
            break
    return count, error


def found(folder, name="out.h5"):
    with h5py.File(os.path.join(folder, name)) as file:
        rows = {key: file["ensemble"][key][...] for key in file["ensemble"]}
        rows["state"] = file["member/state"][...].reshape(len(rows["n"]), -1)
        rows["complete"] = int(file["complete"][()])
    return rows


def check_stops(folder, quantity, wanted, least, most, band=None):
    """The rows against the looks made anew."""
    rows = found(folder)
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        omega = file["omega"][...]
        data = file["plane/field" if quantity in ("g12", "mean_spectrum") else "plane/" + quantity][:, -1]
    data = data.reshape(len(rows["n"]), most, *data.shape[1:])
    if band:
        wave = 2 * np.pi * LIGHT / omega
        data = data[:, :, (wave >= band[0]) & (wave <= band[1])]
        assert data.shape[2] > 2
    for p, state in enumerate(rows["state"]):
        count, error = stop_of(data[p], state == DONE, quantity, wanted, least, most)
        assert rows["realisations"][p] == count, (p, rows["realisations"], count)
        assert near(rows["until_error"][p], error, rtol=1e-6, faulty=error * 1.00001, fault="1e-5 more"), (p, rows["until_error"][p], error)
        assert rows["stopped"][p] == (REACHED if error <= wanted else ALL)
        assert rows["n"][p] == (state[:count] == DONE).sum() and rows["reduced"][p] == 1
        assert (state[count:] == NOT_NEEDED).all(), (p, count, state)
        assert looks_of(least, most)[rows["looks"][p] - 1] == count
    assert rows["complete"] == 1
    return rows


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[key], b[key], equal_nan=True) if a[key].dtype.kind == "f"
                                        else np.array_equal(a[key], b[key]) for key in a if key != "complete")


MADE = []


def reference():
    """A run in one process that nothing disturbed."""
    if not MADE:
        folder = write(NOISY)
        code, _, err = run(folder, *ESTIMATE)
        assert code == 0, err
        MADE.append(folder)
    return MADE[0]


def spectra_stop_where_their_fields_say():
    folder = reference()
    rows = check_stops(folder, "mean_spectrum", 0.12, 10, 200, (820e-9, 850e-9))
    assert len(set(rows["realisations"])) > 1, rows["realisations"]
    assert (rows["until_error"] <= 0.12)[rows["realisations"] < 200].all()
    # mean_spectrum is that of the members that count
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        field = file["plane/field"][:, 0]
    for p, count in enumerate(rows["realisations"]):
        power = (np.abs(field[200 * p:200 * p + count]) ** 2).mean(axis=0)
        assert rounding(rows["mean_spectrum"][p, 0], power)


def coherence_and_observables_stop_too():
    folder = write(COHERENT)
    code, _, err = run(folder)
    assert code == 0, err
    rows = check_stops(folder, "g12", 0.04, 12, 100)
    assert rows["realisations"][-1] < 100 and "where g12 is known to 4 %" in err, (rows, err)
    folder = write(NUMBER)
    code, _, err = run(folder, "-n", "2")
    assert code == 0, err
    rows = check_stops(folder, "peak_power", 0.005, 16, 64)
    assert ALL in rows["stopped"] and "with all 64 realisations" in err, (rows["stopped"], err)


def the_same_members_count_for_any_number_of_workers():
    want = found(reference())
    for words in (["-n", "1"], ["-n", "2"], ["-n", "4"], ["-n", "2", "--chunk-time", "0"]):
        folder = write(NOISY)
        code, _, err = run(folder, *ESTIMATE, *words)
        assert code == 0, err
        assert same(want, found(folder)), words


def the_same_members_count_after_kills():
    """Of the process at once, then between two looks, in a look and after it."""
    want = found(reference())
    last = int(np.argmax(want["realisations"]))
    for fault in ("kill@member.done,member=12", f"kill@member.start,member={200 * last + 25}",
                  f"kill@look.row,member={200 * last}", f"kill@look.done,member={200 * last}"):
        folder = write(NOISY)
        code, _, _ = run(folder, *ESTIMATE, env={"FARM_FAULT": fault})
        assert code == -signal.SIGKILL, (fault, code)
        assert found(folder)["complete"] == 0, fault
        code, _, err = run(folder, *ESTIMATE)
        assert code == 0, (fault, err)
        assert same(want, found(folder)), fault
        check_stops(folder, "mean_spectrum", 0.12, 10, 200, (820e-9, 850e-9))


def the_death_of_a_worker_changes_nothing():
    want = found(reference())
    folder = write(NOISY)
    once = os.path.join(os.path.abspath(folder), "died")
    code, _, err = run(folder, *ESTIMATE, "-n", "2", env={"FARM_FAULT": f"kill@look.row,once={once}"})
    assert code == 0 and os.path.exists(once), err
    assert same(want, found(folder))


def a_stop_on_request_is_resumed():
    want = found(reference())
    folder = write(NOISY)
    process = start(folder, *ESTIMATE, "-n", "2", env={"FARM_FAULT": "slow=0.05@member.start"})
    wait_until(lambda: (found(folder)["state"] == DONE).sum() >= 15, "members done")
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    assert code == 75, (code, err)
    told = json.loads(command(folder, "status", "--json", "out.h5").stdout)["files"][0]
    # which points were through when the stop came is a matter of time
    left, needed = told["until"]["open"], told["states"]["not_needed"]
    assert 1 <= left <= 3 and (needed == 0) == (left == 3) and told["states"]["pending"] > 0 and not told["complete"], told
    code, _, err = run(folder, *ESTIMATE)
    assert code == 0 and same(want, found(folder)), err


def failed_members_count_as_looked_at():
    """A look waits for members that have ended, whatever became of them; the rows say that they are biased."""
    folder = write(NOISY.replace("save:", "limits: {attempts: 1}\nsave:"))
    code, _, err = run(folder, *ESTIMATE, "-n", "4", env={"FARM_FAULT": "kill@step,member=4"})
    rows = check_stops(folder, "mean_spectrum", 0.12, 10, 200, (820e-9, 850e-9))
    assert code == 1 and rows["state"][0, 4] == 5 and rows["n_failed"][0] == 1 and rows["biased"][0] == 1, err
    assert rows["n"][0] == rows["realisations"][0] - 1
    # computed again, it may change the stop: the point is open until it has ended
    code, _, err = run(folder, *ESTIMATE, "--retry-failed")
    assert code == 0, err
    assert same(found(reference()), found(folder))


def idle_again():
    folder = reference()
    before = found(folder)
    code, _, err = run(folder, *ESTIMATE)
    assert code == 0 and "nothing to do" in err, err
    assert same(before, found(folder))


def tools_agree():
    """plan, status, the journal, verify, reduce and collect tell the same."""
    folder, rows = reference(), found(reference())
    plan = json.loads(command(folder, "plan", "--json", "scan.yaml").stdout)
    assert plan["members"] == 600 and plan["until"]["looks"] == [10, 20, 40, 80, 160, 200], plan["until"]
    text = command(folder, "plan", "scan.yaml").stdout
    assert "up to 600 = 3 points" in text and "looks after 10, 20, 40, 80, 160, 200 realisations: 30 to 600" in text, text
    told = json.loads(command(folder, "status", "--json", "out.h5").stdout)["files"][0]
    until = told["until"]
    assert until["open"] == 0 and until["reached"] == (rows["stopped"] == REACHED).sum(), until
    assert until["realisations"] == rows["realisations"].sum() == told["states"]["done"], until
    assert near(until["error_high"], rows["until_error"].max(), rtol=1e-6, faulty=1.00001 * rows["until_error"].max(), fault="1e-5 more"), until
    assert told["states"]["not_needed"] == 600 - rows["realisations"].sum() and told["complete"]
    text = command(folder, "status", "out.h5").stdout
    assert f"mean_spectrum is known to 12 %: {until['reached']} of 3 points stopped there" in text, text
    with open(os.path.join(folder, "out.h5.journal")) as file:
        stops = [json.loads(line) for line in file if '"record":"stop"' in line]
    assert sorted((s["point"], s["realisations"]) for s in stops) == list(enumerate(rows["realisations"])), stops
    result = command(folder, "verify", "out.h5")
    assert result.returncode == 0 and "stops      3 checked, 0 broken" in result.stdout, result.stdout
    result = command(folder, "reduce", "out.h5")
    assert result.returncode == 0 and f"stopped after {rows['realisations'][0]} realisations" in result.stdout, result
    assert same(rows, found(folder))
    result = command(folder, "collect", "-o", "all.h5", "out.h5")
    assert result.returncode == 0, result.stderr
    assert same(rows, found(folder, "all.h5"))
    assert command(folder, "verify", "all.h5").returncode == 0


def a_collected_part_goes_on():
    """A file of which members are missing is collected, then run to its end."""
    want = found(reference())
    folder = write(NOISY)
    code, _, _ = run(folder, *ESTIMATE, env={"FARM_FAULT": "kill@member.start,member=225"})
    assert code == -signal.SIGKILL
    result = command(folder, "collect", "-o", "all.h5", "out.h5")
    assert result.returncode == 1, result
    os.replace(os.path.join(folder, "all.h5"), os.path.join(folder, "out.h5"))
    code, _, err = run(folder, *ESTIMATE)
    assert code == 0 and same(want, found(folder)), err


def a_longer_ensemble_is_reused_and_what_is_beyond_the_stop_does_not_count():
    folder = write(HEAD + "ensemble: {realisations: 60, seed: 3, noise: half_photon_gaussian}\n")
    code, _, err = run(folder, *ESTIMATE)
    assert code == 0, err
    os.rename(os.path.join(folder, "out.h5"), os.path.join(folder, "old.h5"))
    with open(os.path.join(folder, "scan.yaml"), "w") as file:
        file.write(NOISY)
    code, _, err = run(folder, *ESTIMATE, "--reuse", "old.h5")
    assert code == 0, err
    want, rows = found(reference()), found(folder)
    for key in ("stopped", "realisations", "looks", "until_error", "n", "mean_spectrum"):
        assert np.array_equal(want[key], rows[key], equal_nan=True), key
    assert (rows["state"][:, :60] == DONE).all() and rows["complete"] == 1
    assert (rows["realisations"] < 60).any()  # some do not count


def the_point_with_the_largest_error_comes_first():
    """With one worker, after the first looks members come in the order of the errors."""
    folder = write(NOISY)
    code, _, err = run(folder, *ESTIMATE)
    assert code == 0, err
    with open(os.path.join(folder, "out.h5.journal")) as file:
        records = [json.loads(line) for line in file if line.strip()]
    assert [r for r in records if r["record"] == "stop"], records
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        field, omega = file["plane/field"][:, 0], file["omega"][...]
    wave = 2 * np.pi * LIGHT / omega
    field = field.reshape(3, 200, -1)[:, :, (wave >= 820e-9) & (wave <= 850e-9)]
    errors = [error_of(f[:10], "mean_spectrum") for f in field]
    first = next(r for r in records if r["record"] == "member" and r["first"] % 200 >= 10 and r["state"] != "not_needed")
    assert first["first"] // 200 == int(np.argmax(errors)), (first, errors)


def refusals_name_the_key():
    for words, text in ((["--no-reduce"], "leave out --no-reduce"), (["--only", "1"], "leave out --only"),
                        (["--shard", "1/2"], "a scan in shards cannot decide it")):
        folder = write(NOISY)
        code, _, err = run(folder, *words)
        assert code == 2 and text in err and "scan.yaml:" in err and not os.path.exists(os.path.join(folder, "out.h5")), err
    for change, text in (("[820 nm, 850 nm]", "[1 mm, 2 mm]"),):
        folder = write(NOISY.replace(change, text))
        result = command(folder, "plan", "scan.yaml")
        assert result.returncode == 2 and "the grid of point 0 has no frequency in it" in result.stderr, result
    folder = write(NOISY)
    result = command(folder, "plan", "--shards", "3", "scan.yaml")
    assert result.returncode == 2 and "a scan in shards" in result.stderr, result
    # another rule is another configuration
    folder = reference()
    code, _, err = run(folder, "--set", "ensemble.max=300")
    assert code == 4 and "ensemble.max" in err, err


if __name__ == "__main__":
    raise SystemExit(run_checks(globals(), but=("reference",)))
