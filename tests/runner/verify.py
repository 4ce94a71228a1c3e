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
from farm import CODES, GUIDED, NOISE, SLOW, begun, command, finish, run, start, wait_until, write

STEPS = CODES.replace("store: {history: 0}\n", "")
FAILS = "scan: fails\nmodel: probe\naxes: [{a: [0, 1]}, {fail_at: [-1, 1]}]\nsave: {planes: 3}\n"
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


def a_history_that_was_cut_is_not_summed():
    checks = verify(made(GUIDED.replace("history: 0", "history: 2")))["checks"]
    assert checks["steps"] == {"class": "P", "checked": 0, "broken": 0, "findings": []}, checks
    checks = verify(made(GUIDED.replace("history: 0", "history: 4000")))["checks"]
    assert checks["steps"]["checked"] == 4 and checks["steps"]["broken"] == 0, checks


def files_of_shards_are_whole():
    result = verify(made(CODES, "--shard", "2/4"))
    assert result["broken"] == 0 and result["checks"]["shard"]["checked"] == 1, result


def files_of_runs_that_were_cut_short_are_whole():
    folder = write(SLOW)
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
