#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Members of one result file taken over by another: run --reuse.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import json
import os
import shutil
import sys

import h5py
import numpy as np

from checks import run_checks
from farm import NOISE, command, run, start, states, wait_until, write

MODES = ([], ["-n", "2"])
SMALL = """scan: small
model: probe
parameters: {size: 4}
axes:
  - a: [0, 1]
  - c: {from: 0, to: 3, points: 4}
save: {planes: 3, field: true, observables: all}
"""
LARGE = SMALL.replace("[0, 1]", "[2, 1, 0]").replace("to: 3, points: 4", "to: 5, points: 6").replace("scan: small", "scan: large")
GRIDS = """scan: grids
model: gnlse
parameters:
  length: 2 mm
  wavelength: 835 nm
  betas: [-11.83 ps^2/km]
  gamma: 0.11 W^-1 m^-1
  pulse: {shape: sech, duration: 50 fs, peak_power: 10 kW}
  grid: {points: 128, window: 1 ps}
axes: [{grid.points: [128, 256]}]
save: {planes: 3}
store: {history: 64}
"""
EXACT = ["wall_s", "cpu_s", "rank", "host", "device", "kernel_id", "steps", "rejected", "rhs_calls", "transforms", "attempts", "identity"]


def old(text, name="old.yaml"):
    """A folder with old.h5, finished, and the scan that is to use it not yet written."""
    folder = write(text)
    os.rename(os.path.join(folder, "scan.yaml"), os.path.join(folder, name))
    r = command(folder, "run", name, "-o", "old.h5")
    assert r.returncode in (0, 1), r.stderr
    return folder


def put(folder, text):
    with open(os.path.join(folder, "scan.yaml"), "w") as file:
        file.write(text)


def open_h5(folder, name):
    return h5py.File(os.path.join(folder, name))


def taken(err):
    line = next(line for line in err.splitlines() if "taken over from" in line)
    return int(line.split("--reuse: ")[1].split()[0])


def compare_members(folder, pairs):
    """Every dataset of a member but its number is the same bits in both files."""
    with open_h5(folder, "old.h5") as a, open_h5(folder, "out.h5") as b:
        for m, n in pairs:
            for name in EXACT:
                assert a["member/" + name][m].tobytes() == b["member/" + name][n].tobytes(), (m, n, name)
            for name in a["plane"]:
                if name != "checksum":
                    x, y = a["plane/" + name][m], b["plane/" + name][n]
                    y = y[tuple(slice(0, k) for k in x.shape)]
                    assert x.tobytes() == np.ascontiguousarray(y).tobytes(), (m, n, name)
            if "step" in a and "step" in b:
                k = int(b["step/n_steps"][n])
                assert k == min(int(a["step/n_steps"][m]), b["step/h"].shape[1]), (m, n, k)
                for name in ("h", "z", "error", "order", "accepted"):
                    if name in b["step"]:
                        assert a["step/" + name][m, :k].tobytes() == b["step/" + name][n, :k].tobytes(), (m, n, name)


def same_identity(folder):
    with open_h5(folder, "old.h5") as a, open_h5(folder, "out.h5") as b:
        there = {row.tobytes(): i for i, row in enumerate(a["member/identity"][...])}
        return [(there[row.tobytes()], i) for i, row in enumerate(b["member/identity"][...]) if row.tobytes() in there]


def members_of_a_smaller_scan_are_taken_over_by_identity():
    fresh = write(LARGE)
    assert run(fresh)[0] == 0
    for words in MODES:
        folder = old(SMALL)
        before = os.stat(os.path.join(folder, "old.h5")).st_mtime_ns
        put(folder, LARGE)
        code, out, err = run(folder, "--reuse", "old.h5", "--json", *words)
        result = json.loads(out)
        assert code == 0 and taken(err) == 8 and result["pending_before"] == 10 and result["done"] == 18, (out, err)
        pairs = same_identity(folder)
        assert len(pairs) == 8 and any(m != n for m, n in pairs), pairs
        compare_members(folder, pairs)
        with open_h5(folder, "out.h5") as b, open_h5(fresh, "out.h5") as c:
            for name in ("plane/data", "plane/code", "plane/checksum"):
                assert b[name][...].tobytes() == c[name][...].tobytes(), name
        assert os.stat(os.path.join(folder, "old.h5")).st_mtime_ns == before
        events = [r["event"] for r in json.loads(command(folder, "log", "out.h5", str(pairs[0][1]), "--json").stdout)["records"]]
        assert events == ["reused"], events
        assert '"record":"reuse"' in open(os.path.join(folder, "out.h5.journal")).read()


def an_ensemble_grows_by_seeds_and_its_points_are_reduced_anew():
    folder = old(NOISE)
    put(folder, NOISE.replace("realisations: 5", "realisations: 8"))
    code, _, err = run(folder, "--reuse", "old.h5")
    assert code == 0 and taken(err) == 10, err
    pairs = same_identity(folder)
    assert [n for _, n in pairs] == [0, 1, 2, 3, 4, 8, 9, 10, 11, 12], pairs
    compare_members(folder, pairs)
    with open_h5(folder, "out.h5") as b:
        assert list(b["ensemble/n"][...]) == [8, 8] and b["complete"][()] == 1


def all_members_there_means_nothing_is_computed():
    folder = old(SMALL)
    put(folder, SMALL.replace("scan: small", "scan: other").replace("[0, 1]", "[1]"))
    code, out, err = run(folder, "--reuse", "old.h5", "--json")
    assert code == 0 and taken(err) == 4 and json.loads(out)["pending_before"] == 0 and "nothing to do" in err, err
    with open_h5(folder, "out.h5") as b:
        assert b["complete"][()] == 1 and list(b["plane/code"][:, -1]) == [10000, 10001, 10002, 10003]
        assert b["provenance/build"][()] and b["provenance/libraries"][()] and b["provenance/attempt/software"][0]
    code, _, err = run(folder, "--reuse", "old.h5")  # nothing is pending: nothing is taken over
    assert code == 0 and taken(err) == 0, err
    r = command(folder, "diff", "old.h5", "out.h5", "--json")
    assert r.returncode == 0 and json.loads(r.stdout)["programs"] == "", r.stdout
    with open_h5(folder, "out.h5") as b:
        assert list(b["provenance/attempt/number"][:2]) == [1, 0]


def members_of_smaller_grids_fit_into_larger_ones():
    folder = old(GRIDS.replace("[128, 256]", "[128]"))
    put(folder, GRIDS)
    code, _, err = run(folder, "--reuse", "old.h5")
    assert code == 0 and taken(err) == 1, err
    with open_h5(folder, "old.h5") as a, open_h5(folder, "out.h5") as b:
        x, y = a["plane/field"][0], b["plane/field"][0]
        assert x.shape[1] == 128 and y.shape[1] == 256
        assert x.tobytes() == y[:, :128].tobytes() and np.isnan(y[:, 128:]).all()
        assert int(b["member/steps"][0]) == int(a["member/steps"][0])
    # the checksums of the new numbers are right: another reuse checks them
    os.rename(os.path.join(folder, "old.h5"), os.path.join(folder, "first.h5"))
    os.rename(os.path.join(folder, "out.h5"), os.path.join(folder, "old.h5"))
    put(folder, GRIDS.replace("[128, 256]", "[256, 128]"))
    code, _, err = run(folder, "--reuse", "old.h5")
    assert code == 0 and taken(err) == 2 and "damaged" not in err, err


def a_shorter_history_is_cut_and_says_so():
    folder = old(GRIDS.replace("[128, 256]", "[128]"))
    for history in (4, 0, 64):
        put(folder, GRIDS.replace("[128, 256]", "[128]").replace("scan: grids", "scan: g").replace("history: 64", f"history: {history}"))
        if os.path.exists(os.path.join(folder, "out.h5")):
            os.unlink(os.path.join(folder, "out.h5"))
        code, _, err = run(folder, "--reuse", "old.h5")
        assert code == 0 and taken(err) == 1, err
        compare_members(folder, [(0, 0)])
        with open_h5(folder, "out.h5") as b, open_h5(folder, "old.h5") as a:
            steps = int(a["member/steps"][0] + a["member/rejected"][0])
            assert steps > 4 and int(b["member/history_truncated"][0]) == (steps > history), (history, steps)


def a_damaged_member_is_computed_instead():
    folder = old(SMALL)
    with h5py.File(os.path.join(folder, "old.h5"), "r+") as a:
        a["plane/data"][3, 1, 2] += 1
    put(folder, SMALL)
    code, _, err = run(folder, "--reuse", "old.h5")
    assert code == 0 and taken(err) == 7 and "1 member is damaged" in err, err
    with open_h5(folder, "old.h5") as a, open_h5(folder, "out.h5") as b:
        good = a["plane/data"][...]
        good[3, 1, 2] -= 1
        assert b["plane/data"][...].tobytes() == good.tobytes()


def members_that_are_not_done_are_not_taken_over():
    folder = old(SMALL.replace("parameters: {size: 4}", "parameters: {size: 4}").replace("c: {from", "fail_at: [-1, 1]\n  - c: {from"))
    put(folder, open(os.path.join(folder, "old.yaml")).read())
    code, _, err = run(folder, "--reuse", "old.h5")
    assert code == 1 and taken(err) == 8, err
    with open_h5(folder, "old.h5") as a, open_h5(folder, "out.h5") as b:
        assert (a["member/state"][...] == b["member/state"][...]).all()


def what_saves_something_else_is_refused_by_name():
    folder = old(SMALL)
    fibre = GRIDS.replace("[128, 256]", "[128]")
    for text, words in ((SMALL.replace("planes: 3", "planes: 4"), ("save.planes", "3 there and 4 here")),
                        (SMALL.replace("field: true", "field: false"), ("plane/data", "the scan does not")),
                        (SMALL.replace("field: true", "field: float32"), ("plane/data", "another type")),
                        (fibre, ("model probe", "gnlse"))):
        put(folder, text)
        code, _, err = run(folder, "--reuse", "old.h5")
        assert code == 4 and len(err.splitlines()) == 1 and all(w in err for w in ("old.h5", *words)), (text, code, err)
        assert not os.path.exists(os.path.join(folder, "out.h5"))
    few = old(fibre.replace("save: {planes: 3}", "save: {planes: 3, observables: [energy]}"))
    put(few, fibre)
    code, _, err = run(few, "--reuse", "old.h5")
    assert code == 4 and "does not save plane/" in err, (code, err)
    put(folder, SMALL)
    for name, code in (("no.h5", 2), ("scan.yaml", 4)):
        got, _, err = run(folder, "--reuse", name)
        assert got == code and name in err and not os.path.exists(os.path.join(folder, "out.h5")), (name, got, err)
    shutil.copy(os.path.join(folder, "old.h5"), os.path.join(folder, "out.h5"))
    code, _, err = run(folder, "--reuse", "out.h5")
    assert code == 2 and "the result file itself" in err, (code, err)


def a_file_moved_aside_gives_what_it_has():
    folder = old(SMALL)
    os.rename(os.path.join(folder, "old.h5"), os.path.join(folder, "out.h5"))
    put(folder, LARGE)
    assert run(folder)[0] == 4
    code, _, err = run(folder, "--fresh", "--reuse", "out.h5")
    assert code == 0 and taken(err) == 8 and (states(folder) == 2).all(), err


def a_choice_takes_over_the_chosen():
    folder = old(SMALL)
    put(folder, SMALL)
    code, _, err = run(folder, "--reuse", "old.h5", "--only", "1,6")
    assert code == 0 and taken(err) == 2 and list(np.flatnonzero(states(folder) == 2)) == [1, 6], err


def a_killed_transfer_goes_on():
    big = SMALL.replace("to: 3, points: 4", "to: 1999, points: 2000").replace("size: 4", "size: 64")
    folder = old(big)
    put(folder, big)
    process = start(folder, "--reuse", "old.h5")
    wait_until(lambda: (states(folder) == 2).any(), "members taken over")
    process.kill()
    process.communicate()
    with open_h5(folder, "out.h5") as b:
        state, saved = b["member/state"][...], b["member/n_saved"][...]
        assert (state == 2).any() and (saved[state == 2] == 3).all()
    code, _, err = run(folder, "--reuse", "old.h5")
    assert code == 0, err
    with open_h5(folder, "old.h5") as a, open_h5(folder, "out.h5") as b:
        assert (b["member/state"][...] == 2).all()
        assert a["plane/data"][...].tobytes() == b["plane/data"][...].tobytes()
        assert a["plane/checksum"][...].tobytes() == b["plane/checksum"][...].tobytes()


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
