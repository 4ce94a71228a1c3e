#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many files of one scan into one: scanfarm collect.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import ctypes
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import h5py
import numpy as np

import checksum
from checks import run_checks
from farm import CODES, LIMIT, NOISE, SCANFARM, command, environment, run, wait_until, write
from near import norm_below

PLAIN = ("--fft-rigour", "estimate")  # the same transforms, and so the same bits, in every run
FAILS = "scan: fails\nmodel: probe\naxes: [{a: {from: 0, to: 9, points: 10}}, {fail_at: [-1, 1]}]\nsave: {planes: 3}\n"
WANT = [10000 * a + 100 * b + c for a in range(2) for b in range(3) for c in range(5)]
ONCE = {}  # files made once: they are only read


def made(text, shards):
    """A folder with the shards of a scan and, as whole.h5, the scan in one; to be copied by parts."""
    if (text, shards) not in ONCE:
        folder = write(text)
        for k in range(1, shards + 1):
            r = command(folder, "run", "scan.yaml", "-o", "x.h5", "-q", "--shard", f"{k}/{shards}", *PLAIN)
            assert r.returncode in (0, 1), r.stderr
        r = command(folder, "run", "scan.yaml", "-o", "whole.h5", "-q", *PLAIN)
        assert r.returncode in (0, 1), r.stderr
        ONCE[text, shards] = folder
    return ONCE[text, shards]


def shards(text, count):
    """A folder with copies of the shards; their names in order."""
    folder = write(text)
    names = sorted(os.path.basename(path) for path in glob.glob(os.path.join(made(text, count), "x.shard-*.h5")))
    for name in names:
        shutil.copy(os.path.join(made(text, count), name), folder)
    return folder, names


def at(folder, name="out.h5"):
    return os.path.join(folder, name)


def collect(folder, *words, out="out.h5", stdin=None, limit=100):
    r = subprocess.run([SCANFARM, "collect", "-o", out, "--json", *words], cwd=folder, capture_output=True, text=True,
                       input=stdin, timeout=limit, env=environment(None))
    return r.returncode, json.loads(r.stdout) if r.stdout else None, r.stderr


def content(path, groups=("plane", "member")):
    """Datasets by name; planes that do not count are zeros."""
    with h5py.File(path) as file:
        found = {f"{g}/{n}": file[g][n][...] for g in groups if g in file for n in file[g]
                 if isinstance(file[g][n], h5py.Dataset)}
        for member, saved in enumerate(file["member/n_saved"][...]):
            for name in found:
                if name.startswith("plane/"):
                    found[name][member, saved:] = 0
    return found


# what a second computation of the same members has otherwise
OWN = {"wall_s", "cpu_s", "rank", "host", "attempts"}


def same(first, second, but=OWN):
    a, b = content(first, ("plane", "member", "ensemble")), content(second, ("plane", "member", "ensemble"))
    assert a.keys() == b.keys(), a.keys() ^ b.keys()
    for name in a:
        if name.split("/")[1] not in but:
            assert a[name].tobytes() == b[name].tobytes(), name


def settle(folder):
    """Files younger than two seconds are read again: make these older."""
    old = time.time() - 100
    for path in glob.glob(os.path.join(folder, "*.h5")):
        if "out" not in os.path.basename(path):
            os.utime(path, (old, old))


def kinds(report):
    return sorted(problem["kind"] for problem in report["problems"])


def shuffled_shards_stand_at_their_indices():
    for seed in range(3):
        folder, names = shards(CODES, 7)
        random.Random(seed).shuffle(names)
        for i, name in enumerate(names):  # the names say nothing either
            os.rename(at(folder, name), at(folder, f"file-{i}.h5"))
        code, report, err = collect(folder, *[f"file-{i}.h5" for i in range(7)])
        assert code == 0 and report["done"] == 30 and report["taken"] == 30 and report["duplicates"] == 0, (report, err)
        with h5py.File(at(folder)) as file:
            assert list(file["plane/code"][:, -1]) == WANT
            assert [tuple(p) for p in file["member/point"][...]] == [(a, b, c) for a in range(2) for b in range(3) for c in range(5)]
            assert list(file["member_id"][...]) == list(range(30)) and "shard" not in file.attrs
        same(at(folder), at(made(CODES, 7), "whole.h5"))
        assert not os.path.exists(at(folder, "out.h5.collecting")) and not os.path.exists(at(folder, "out.h5.lease"))
        assert command(folder, "verify", "out.h5").returncode == 0
        events = [r["event"] for r in json.loads(command(folder, "log", "out.h5", "17", "--json").stdout)["records"]]
        assert events == ["collected"], events
        code, _, err = run(folder)  # nothing is left to do
        assert code == 0 and "nothing to do" in err, err


def ordinary_files_of_parts_of_a_scan_are_collected():
    folder = write(CODES)
    for name, only in (("one.h5", "0-11"), ("two.h5", "9-20"), ("three.h5", "29")):
        assert command(folder, "run", "scan.yaml", "-o", name, "--only", only, "-q").returncode == 0
    code, report, _ = collect(folder, "one.h5", "two.h5", "three.h5")
    assert code == 1 and report["done"] == 22 and report["duplicates"] == 3 and report["conflicts"] == 0, report
    assert report["missing_ranges"] == [{"first": 21, "last": 28}], report
    code, _, err = run(folder)  # the rest
    assert code == 0 and "30 of 30 members done" in err, err
    same(at(folder), at(made(CODES, 7), "whole.h5"))


def what_is_missing_is_told_with_its_shard():
    folder, names = shards(CODES, 16)
    r = command(folder, "collect", "-o", "out.h5", *[n for n in names if "shard-03" not in n and "shard-16" not in n])
    assert r.returncode == 1 and "(shard 3/16)" in r.stdout and "(shard 16/16)" in r.stdout, r.stdout
    assert r.stdout.count("missing: ") == 2, r.stdout


def bad_files_are_named_and_left_out():
    folder, names = shards(CODES, 4)
    other, foreign = shards(CODES.replace("[0, 1]", "[0, 2]"), 4)
    shutil.copy(at(other, foreign[1]), at(folder, "foreign.h5"))
    with open(at(folder, names[1]), "r+b") as file:
        file.truncate(os.path.getsize(at(folder, names[1])) // 2)
    with open(at(folder, "text.h5"), "w") as file:
        file.write("no HDF5\n")
    with h5py.File(at(folder, names[2]), "r+") as file:
        file["plane/data"][3, 1, 2] += 1
        victim = int(file.attrs["first_member"]) + 3
    os.mkfifo(at(folder, "pipe.h5"))  # nobody will ever write into it
    listed = [names[3], "text.h5", "pipe.h5", names[1], "absent.h5", names[0], "foreign.h5", names[2]]
    r = command(folder, "collect", "-o", "out.h5", *listed)
    lines = r.stdout.splitlines()
    assert r.returncode == 1, r.stdout + r.stderr
    for words in (("unreadable", names[1], "truncated"), ("unreadable", "text.h5", "not an HDF5 file"), ("unreadable", "absent.h5"),
                  ("unreadable", "pipe.h5", "no regular file"), ("foreign", "foreign.h5", "axis", "there"), ("damaged", names[2], f"member {victim}", "plane 1")):
        found = [line for line in lines if all(word in line for word in words)]
        assert len(found) == 1, (words, r.stdout)
    code, report, _ = collect(folder, *listed)
    assert code == 1 and report["unreadable"] == 4 and report["foreign"] == 1 and report["damaged"] == 1, report
    assert kinds(report) == ["damaged", "foreign"] + 4 * ["unreadable"], report
    with h5py.File(at(folder, names[1].replace("-2-", "-1-"))) as file:
        first = int(file.attrs["members"])
    with h5py.File(at(made(CODES, 4), names[1])) as file:
        lost = set(range(first, first + int(file.attrs["members"]))) | {victim}
    with h5py.File(at(folder)) as file:
        state = file["member/state"][...]
        # of the damaged one nothing is left, not even what was read before the damage was seen
        assert np.isnan(file["plane/data"][victim, :2]).all() and np.isnan(file["plane/code"][victim, :2]).all()
    assert set(np.flatnonzero(state == 0)) == lost and (state[sorted(set(range(30)) - lost)] == 2).all()
    code, _, err = run(folder, *PLAIN)
    assert code == 0, err
    same(at(folder), at(made(CODES, 4), "whole.h5"))


def no_readable_file_makes_no_result():
    folder = write(CODES)
    with open(at(folder, "text.h5"), "w") as file:
        file.write("no HDF5\n")
    r = command(folder, "collect", "-o", "out.h5", "text.h5", "absent.h5")
    assert r.returncode == 1 and "text.h5" in r.stderr and "absent.h5" in r.stderr, r.stderr
    assert sorted(os.listdir(folder)) == ["scan.yaml", "text.h5"]


def another_result_is_told_with_both_files():
    folder, names = shards(CODES, 4)
    shutil.copy(at(folder, names[1]), at(folder, "other.h5"))
    with h5py.File(at(folder, "other.h5"), "r+") as file:
        first = int(file.attrs["first_member"])
        for row in (2, 3, 5):
            file["plane/data"][row, 0, 0] += 1
            for plane in range(3):
                file["plane/checksum"][row, plane] = checksum.checksum(file, row, plane, first + row)
    code, report, _ = collect(folder, *names, "other.h5")
    assert code == 1 and report["conflicts"] == 3 and report["done"] == 30, report
    told = [(p["kind"], p["first"], p["last"]) for p in report["problems"]]
    assert told == [("conflict", first + 2, first + 3), ("conflict", first + 5, first + 5)], report
    assert all("other.h5" in p["text"] and names[1] in p["text"] for p in report["problems"]), report
    same(at(folder), at(made(CODES, 4), "whole.h5"))  # the first stays
    code, report, _ = collect(folder, *names, "other.h5")  # told again
    assert code == 1 and report["conflicts"] == 3, report
    code, report, _ = collect(folder, *names)  # … but not without that file
    assert code == 0 and report["conflicts"] == 0, report


def done_stands_above_failed_and_that_above_pending():
    folder, names = shards(FAILS, 2)
    shutil.copy(at(folder, names[0]), at(folder, "earlier.h5"))
    with h5py.File(at(folder, "earlier.h5"), "r+") as file:
        file["member/state"][0], file["member/n_saved"][0] = 3, 1  # done in the other one
        file["member/reason"][0] = b"a bad day"
        file["member/state"][1], file["member/n_saved"][1] = 0, 0  # failed in the other one
        file["member/state"][2], file["member/n_saved"][2] = 0, 2  # done in the other one
    reports = []
    for order in (["earlier.h5", *names], [*names, "earlier.h5"]):
        for path in glob.glob(at(folder, "out.h5*")):
            os.unlink(path)
        code, report, _ = collect(folder, *order)
        assert code == 1 and report["done"] == 10 and report["failed"] == 10 and report["missing"] == 0, report
        assert report["conflicts"] == 0 and len(report["failures"]) == 10, report
        same(at(folder), at(made(FAILS, 2), "whole.h5"))
        reports.append(report)
    assert reports[0]["failures"] == reports[1]["failures"]
    with h5py.File(at(folder)) as file:
        assert int(file["member/n_saved"][1]) == 1
        assert np.isnan(file["plane/code"][1, 1:]).all() and not np.isnan(file["plane/code"][1, 0])
    code, report, _ = collect(folder, "earlier.h5", out="alone.h5")
    assert code == 1 and report["failed"] == 1 + 4 and report["begun"] == 1, report
    assert any("a bad day" == f["reason"] for f in report["failures"]), report


def of_failed_members_the_later_try_counts():
    folder, names = shards(FAILS, 2)
    shutil.copy(at(folder, names[0]), at(folder, "later.h5"))
    with h5py.File(at(folder, "later.h5"), "r+") as file:
        assert file["member/state"][1] == 3
        file["member/attempts"][1] += 1
        file["member/reason"][1] = b"a later day"
    for order in (["later.h5", *names], [*names, "later.h5"]):
        for path in glob.glob(at(folder, "out.h5*")):
            os.unlink(path)
        code, report, _ = collect(folder, *order)
        assert code == 1 and report["failed"] == 10 and report["conflicts"] == 0, report
        with h5py.File(at(folder)) as file:
            assert file["member/reason"][1].rstrip(b"\0") == b"a later day", order
    shutil.copy(at(folder, "later.h5"), at(folder, names[0]))  # a shard that was tried again after it was collected
    for path in glob.glob(at(folder, "out.h5*")):
        os.unlink(path)
    collect(folder, *names)
    with h5py.File(at(folder, names[0]), "r+") as file:
        file["member/attempts"][1] += 1
        file["member/reason"][1] = b"the last day"
    collect(folder, *names)
    with h5py.File(at(folder)) as file:
        assert file["member/reason"][1].rstrip(b"\0") == b"the last day"


def what_is_damaged_takes_the_place_of_nothing():
    folder, names = shards(CODES, 2)
    shutil.copy(at(folder, names[0]), at(folder, "begun.h5"))
    with h5py.File(at(folder, "begun.h5"), "r+") as file:
        file["member/state"][3], file["member/n_saved"][3] = 0, 2
    with h5py.File(at(folder, names[0]), "r+") as file:
        file["plane/data"][3, 2, 2] += 1
    code, report, _ = collect(folder, "begun.h5", *names)
    assert code == 1 and report["damaged"] == 1 and report["begun"] == 1, report
    with h5py.File(at(folder)) as file:
        assert file["member/n_saved"][3] == 2 and np.isfinite(file["plane/data"][3, :2]).all()
    assert run(folder, *PLAIN)[0] == 0
    same(at(folder), at(made(CODES, 2), "whole.h5"))


def of_unfinished_members_the_one_with_more_planes_counts():
    folder, names = shards(NOISE, 2)
    for name, planes in (("few.h5", 1), ("none.h5", 0)):
        shutil.copy(at(folder, names[0]), at(folder, name))
        with h5py.File(at(folder, name), "r+") as file:
            file["member/state"][1], file["member/n_saved"][1] = 0, planes
    code, report, _ = collect(folder, "none.h5", "few.h5", "none.h5", names[1])
    assert code == 1 and report["begun"] == 1 and report["missing"] == 1, report
    with h5py.File(at(folder)) as file, h5py.File(at(made(NOISE, 2), "whole.h5")) as whole:
        assert list(file["member/n_saved"][...]) == [2, 1, *[2] * 8]
        assert file["plane/field"][1, 0].tobytes() == whole["plane/field"][1, 0].tobytes()
        assert list(file["ensemble/n"][...]) == [4, 5]
    code, _, err = run(folder, *PLAIN)  # goes on from the plane
    assert code == 0 and "10 of 10" in err, err
    with h5py.File(at(folder)) as file, h5py.File(at(made(NOISE, 2), "whole.h5")) as whole:
        assert list(file["ensemble/n"][...]) == [5, 5] and int(file["complete"][()]) == 1
        right = whole["plane/field"][1, 1]
        assert norm_below(np.abs(file["plane/field"][1, 1] - right).max() / np.abs(right).max(), 1e-4)


def ensembles_are_those_of_the_scan_in_one():
    folder, names = shards(NOISE, 3)
    code, report, _ = collect(folder, names[1])
    assert code == 1 and report["reduced"] >= 1, report
    code, report, _ = collect(folder, *reversed(names))
    assert code == 0 and report["done"] == 10, report
    same(at(folder), at(made(NOISE, 3), "whole.h5"))
    assert int(content(at(folder), ("ensemble",))["ensemble/reduced"].sum()) == 2
    r = command(folder, "plot", "out.h5", "-w", "coherence", "-p", "1", "-o", "c.svg")
    assert r.returncode in (0, 3), r.stderr
    assert "10 done" in command(folder, "status", "out.h5").stdout


def members_go_where_their_identity_says():
    """A file whose rows stand in another order, with checksums to match."""
    folder = write(CODES)
    shutil.copy(at(made(CODES, 7), "whole.h5"), at(folder, "mixed.h5"))
    order = list(range(30))
    random.Random(5).shuffle(order)
    with h5py.File(at(folder, "mixed.h5"), "r+") as file:
        for group in ("member", "member/param", "plane"):
            for data in file[group].values():
                if isinstance(data, h5py.Dataset):
                    data[...] = data[...][order]
        for row in range(30):
            checksum.seal(file, row)
    code, report, _ = collect(folder, "mixed.h5")
    assert code == 0 and report["taken"] == 30, report
    same(at(folder), at(made(CODES, 7), "whole.h5"), but=set())
    shutil.copy(at(made(CODES, 7), "whole.h5"), at(folder, "straight.h5"))
    code, report, _ = collect(folder, "mixed.h5", "straight.h5")
    assert code == 0 and report["conflicts"] == 0, report
    with h5py.File(at(folder, "mixed.h5"), "r+") as file:
        file["member/identity"][4] = [1, 2]
    code, report, _ = collect(folder, "mixed.h5", "straight.h5", out="third.h5")
    assert code == 1 and kinds(report) == ["unreadable"] and report["done"] == 30, report
    assert "member 4 has identity" in report["problems"][0]["text"], report


def what_verify_calls_broken_is_not_taken():
    def replace(name, kind):
        def change(file):
            values = file[name][...]
            del file[name]
            file.create_dataset(name, data=values.astype(kind))
        return change

    def set_row(name, row, value):
        def change(file):
            file[name][row] = value
        return change

    def cut(name):
        def change(file):
            del file[name]
        return change

    source, names = shards(CODES, 4)
    with h5py.File(at(source, names[2])) as file:
        first, count = int(file.attrs["first_member"]), int(file.attrs["members"])
    for number, (change, words) in enumerate((
            (set_row("member/seed", 1, [5, 0]), f"member {first + 1}: its seed"),
            (set_row("member/seed", 1, [0, 1]), f"member {first + 1}: its seed"),
            (set_row("member_id", 2, 0), f"row of member {first + 2}: member_id is 0"),
            (set_row("member/grid", 3, 1), f"member {first + 3}: grid 1"),
            (set_row("member/param/b", 0, 7.5), f"member {first}: b is 7.5"),
            (set_row("member/point", 2, [1, 2, 3]), f"member {first + 2} has identity"),
            (set_row("member/identity", 4, [1, 2]), f"member {first + 4} has identity"),
            (replace("plane/checksum", "f8"), "plane/checksum"), (replace("member/seed", "i4"), "member/seed"),
            (cut("member/param/a"), "member/param/a is absent"))):
        for order in ((0, 1, 2, 3), (2, 0, 1, 3)):  # beside files that it is a twin of, and before them
            folder = write(CODES)
            for name in names:
                shutil.copy(at(source, name), folder)
            with h5py.File(at(folder, names[2]), "r+") as file:
                change(file)
            assert command(folder, "verify", names[2]).returncode == 1, number
            code, report, _ = collect(folder, *[names[k] for k in order])
            assert code == 1 and kinds(report) == ["unreadable"] and report["done"] == 30 - count, (number, report)
            assert words in report["problems"][0]["text"] and names[2] in report["problems"][0]["text"], (number, report)
            assert report["missing_ranges"] == [{"first": first, "last": first + count - 1, "first_shard": 3, "last_shard": 3}], report
        shutil.copy(at(source, names[2]), folder)  # whole again
        code, report, _ = collect(folder, *names)
        assert code == 0 and report["done"] == 30, (number, report)


def of_a_submission_only_its_own_scan_is_taken():
    folder, names = shards(CODES, 4)
    changed = CODES.replace("[0, 1]", "[0, 2]")
    plan = command(made(changed, 4), "plan", "scan.yaml", "--no-measure", "--json")
    here = os.path.abspath(folder)
    with open(at(folder, "x.submission"), "w") as file:
        file.write(f"scanfarm submission 1\nscan: {here}/scan.yaml\nresult: {here}/x.h5\nshards: 4\nscript: {here}/x.sbatch\n"
                   f"submitted: 2026-01-01T00:00:00.000Z\nconfiguration: {json.loads(plan.stdout)['configuration']}\n")
    r = command(folder, "collect", "x.submission")  # all shards are of the scan before it was changed
    assert r.returncode == 4 and "another configuration than the scan that was submitted" in r.stderr, r
    assert not os.path.exists(at(folder, "x.h5"))
    for name in names[1:]:
        shutil.copy(os.path.join(made(changed, 4), name), folder)
    r = command(folder, "collect", "x.submission")
    assert r.returncode == 1 and f"foreign: {here}/{names[0]} holds another configuration" in r.stdout, r.stdout + r.stderr
    assert "missing: members 0 to" in r.stdout and "(shard 1/4)" in r.stdout, r.stdout
    with h5py.File(at(folder, "x.h5")) as file:
        assert list(file["a_values"][...]) == [0, 2]
    shutil.copy(os.path.join(made(CODES, 4), "whole.h5"), at(folder, "x.h5"))  # the result of the scan before
    for path in glob.glob(at(folder, "x.h5.*")):
        os.unlink(path)
    r = command(folder, "collect", "x.submission")
    assert r.returncode == 4 and f"{here}/x.h5 holds another configuration" in r.stderr, r


def names_come_from_lists_folders_and_submissions():
    folder, names = shards(CODES, 4)
    os.makedirs(at(folder, "in a folder"))
    for name in names:
        os.rename(at(folder, name), at(folder, os.path.join("in a folder", name)))
    paths = [os.path.join("in a folder", name) for name in names]
    ways = (dict(words=["in a folder"]), dict(words=["--files-from", "-"], stdin="\n".join(paths) + "\n\n"),
            dict(words=["--files-from", "names"]), dict(words=[paths[0], "in a folder", "--files-from", "names"]))
    with open(at(folder, "names"), "w") as file:
        file.write("\n".join(paths))
    for i, way in enumerate(ways):
        code, report, err = collect(folder, *way["words"], out=f"out{i}.h5", stdin=way.get("stdin"))
        assert code == 0 and report["files"] == 4 and report["done"] == 30, (way, report, err)
        same(at(folder, f"out{i}.h5"), at(made(CODES, 4), "whole.h5"))
    here = os.path.abspath(folder)
    with open(at(folder, "x.submission"), "w") as file:
        file.write(f"scanfarm submission 1\nscan: {here}/scan.yaml\nresult: {here}/in a folder/x.h5\nshards: 4\n"
                   f"script: {here}/x.sbatch\nsubmitted: 2026-01-01T00:00:00.000Z\njob: run 1234 1-4\n")
    r = command(folder, "collect", "x.submission")
    assert r.returncode == 0 and "30 of 30 members done" in r.stdout, r.stdout + r.stderr
    same(at(folder, "in a folder/x.h5"), at(made(CODES, 4), "whole.h5"))
    code, report, _ = collect(folder, "in a folder", out="in a folder/x.h5")  # the result lies among its shards
    assert code == 0 and report["files"] == 4, report
    for words, part in ((["in a folder"], "-o OUT.h5"), (["-o", "o.h5"], "needs"), (["-o", "o.h5", "--files-from", "no"], "--files-from no")):
        r = command(folder, "collect", *words)
        assert r.returncode == 2 and part in r.stderr and len(r.stderr.splitlines()) == 1, (words, r.stderr)


def other_results_and_those_in_use_are_refused():
    folder, names = shards(CODES, 4)
    other, foreign = shards(CODES.replace("[0, 1]", "[0, 2]"), 4)
    shutil.copy(at(made(CODES.replace("[0, 1]", "[0, 2]"), 4), "whole.h5"), at(folder))
    before = content(at(folder))
    r = command(folder, "collect", "-o", "out.h5", *names)
    assert r.returncode == 4 and "another configuration" in r.stderr and "axis" in r.stderr, (r.returncode, r.stderr)
    after = content(at(folder))
    assert all(before[name].tobytes() == after[name].tobytes() for name in before)
    r = command(folder, "collect", "-o", names[0], *names[1:])
    assert r.returncode == 2 and "shard 1/4" in r.stderr, (r.returncode, r.stderr)
    slow = write(CODES.replace("{size: 4}", "{size: 4, sleep: 200 ms}"))
    process = subprocess.Popen([SCANFARM, "run", "scan.yaml", "-o", "out.h5", "-q"], cwd=slow, env=environment(None))
    wait_until(lambda: os.path.exists(at(slow)), "the file of the other run")
    shutil.copy(at(folder, names[0]), slow)
    r = command(slow, "collect", "-o", "out.h5", names[0])
    process.kill()
    process.wait()
    assert r.returncode == 4 and "in use" in r.stderr or "writes" in r.stderr, (r.returncode, r.stderr)


def finished_files_are_not_read_again_and_changed_ones_are():
    folder, names = shards(CODES, 4)
    settle(folder)
    code, report, _ = collect(folder, *names[:3])
    assert code == 1 and report["unchanged"] == 0, report
    code, report, _ = collect(folder, *names[:3])
    assert code == 1 and report["unchanged"] == 3 and report["taken"] == 30 - report["missing"], report
    with h5py.File(at(folder, names[0]), "r+") as file:  # computed once more, with other bits
        file["plane/data"][0, 0, 0] += 1
        checksum.seal(file, 0)
    os.utime(at(folder, names[0]), (time.time() - 50,) * 2)
    code, report, _ = collect(folder, *names)
    assert code == 0 and report["unchanged"] == 2 and report["conflicts"] == 0 and report["duplicates"] == 0 and report["taken"] == 30, report
    with h5py.File(at(folder)) as file, h5py.File(at(folder, names[0])) as shard:
        assert file["plane/data"][0].tobytes() == shard["plane/data"][0].tobytes()
    assert command(folder, "verify", "out.h5").returncode == 0


def many(folder, names, count):
    """So many names of the same few files, in a list."""
    listed = []
    for i in range(count):
        name = f"link-{i}.h5"
        os.link(at(folder, names[i % len(names)]), at(folder, name))
        listed.append(name)
    with open(at(folder, "names"), "w") as file:
        file.writelines(name + "\n" for name in listed)


def a_killed_collect_goes_on():
    folder, names = shards(CODES.replace("size: 4", "size: 512"), 30)
    text = CODES.replace("size: 4", "size: 512")
    rng = random.Random(17)
    for _ in range(8):
        for path in glob.glob(at(folder, "out.h5*")):
            os.unlink(path)
        settle(folder)
        kills = 0
        while True:
            process = subprocess.Popen([SCANFARM, "collect", "-o", "out.h5", "--json", *names], cwd=folder, env=environment(None),
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            try:  # any moment must do
                out, _ = process.communicate(timeout=rng.uniform(0.02, 0.3) if kills < 4 else None)
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
        report = json.loads(out)
        assert process.returncode == 0 and report["done"] == 30 and report["files"] == 30, report
        # killed after its last act, the removal of the log, all is there already
        assert (report["taken"], report["duplicates"]) in ((30, 0), (0, 30)) and report["conflicts"] == 0, report
        same(at(folder), at(made(text, 30), "whole.h5"))
        assert command(folder, "verify", "out.h5").returncode == 0


def what_was_finished_before_a_kill_is_not_read_again():
    folder, names = shards(CODES, 4)
    many(folder, names, 8000)
    settle(folder)
    process = subprocess.Popen([SCANFARM, "collect", "-q", "-o", "out.h5", "--files-from", "names"], cwd=folder, env=environment(None),
                               stdout=subprocess.DEVNULL)

    def committed():
        if process.poll() is not None:
            return True
        with open(at(folder, "out.h5.collecting")) as file:
            return "commit\n" in file.read()
    wait_until(committed, "the first files are finished")
    process.kill()
    if process.wait() == 0:
        print("     (it was faster than the first commit: not checked)")
        return
    with open(at(folder, "out.h5.collecting")) as file:
        finished = file.read().rpartition("commit\n")[0].count("\nend ")
    code, report, _ = collect(folder, "--files-from", "names")
    assert code == 0 and report["files"] == 8000 and report["unchanged"] == finished, (report, finished)
    assert 0 < finished < 8000, finished
    assert report["done"] == 30 and report["taken"] == 30 and report["conflicts"] == 0, report


def a_stopped_collect_ends_in_order_and_goes_on():
    folder, names = shards(CODES, 4)
    many(folder, names, 4000)
    settle(folder)
    process = subprocess.Popen([SCANFARM, "collect", "-o", "out.h5", "--files-from", "names"], cwd=folder, env=environment(None),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: os.path.exists(at(folder, "out.h5.collecting")), "collect begins")
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 75 and "SIGTERM" in err, (process.returncode, out, err)
    assert not os.path.exists(at(folder, "out.h5.lease"))
    with open(at(folder, "out.h5.journal")) as file:
        assert '"code":75' in file.read()
    code, report, _ = collect(folder, "--files-from", "names")
    assert code == 0 and report["files"] == 4000 and report["done"] == 30 and report["conflicts"] == 0, report


def peak(folder, count, out):
    """Peak RSS of a collect of the first `count` names, bytes."""
    with open(at(folder, "names")) as file:
        some = file.readlines()[:count]
    with open(at(folder, f"names{count}"), "w") as file:
        file.writelines(some)
    calm = {"ASAN_OPTIONS": "quarantine_size_mb=0:thread_local_quarantine_size_kb=0"}  # of a build with it: freed is freed
    process = subprocess.Popen([SCANFARM, "collect", "-q", "-o", out, "--files-from", f"names{count}"], cwd=folder, env=environment(calm),
                               stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return 1024 * usage.ru_maxrss


def memory_does_not_grow_with_the_files():
    folder, names = shards(CODES, 4)
    many(folder, names, 2000)
    few, lots = peak(folder, 200, "few.h5"), peak(folder, 2000, "lots.h5")
    assert lots - few < 2e6, (few, lots)


def a_full_disk_ends_it_and_the_same_command_goes_on():
    text = CODES.replace("size: 4", "size: 4096")
    folder, names = shards(text, 4)
    libc = ctypes.CDLL(None, use_errno=True)
    os.makedirs(at(folder, "small"))
    if libc.mount(b"tmpfs", os.fsencode(at(folder, "small")), b"tmpfs", 0, b"size=1500k") != 0:
        return  # not root
    try:
        r = command(folder, "collect", "-o", "small/out.h5", *names)
        assert r.returncode == 3 and "small/out.h5" in r.stderr and "free" in r.stderr, (r.returncode, r.stderr)
        r = command(folder, "collect", "-o", "small/out.h5", "--no-space-check", *names)
        assert r.returncode == 3 and "small/out.h5" in r.stderr and "No space left" in r.stderr, (r.returncode, r.stderr)
        assert libc.mount(None, os.fsencode(at(folder, "small")), None, 32, b"size=20m") == 0, ctypes.get_errno()  # 32: remount
        r = command(folder, "collect", "-o", "small/out.h5", "--no-space-check", *names)
        assert r.returncode == 0, (r.returncode, r.stdout, r.stderr)
        same(at(folder, "small/out.h5"), at(made(text, 4), "whole.h5"))
    finally:
        libc.umount2(os.fsencode(at(folder, "small")), 2)


def compressed_files_have_the_same_values():
    for text, count in ((NOISE, 3), (FAILS, 2)):
        folder, names = shards(text, count)
        code, _, _ = collect(folder, *names)
        code_z, report, _ = collect(folder, *names, "--compress", "6", out="z.h5")
        assert code == code_z and sorted(os.listdir(folder)) == sorted(
            ["out.h5", "out.h5.journal", "scan.yaml", "z.h5", "z.h5.journal", *names, *(["out.h5.collecting"] if code else [])]), os.listdir(folder)
        same(at(folder, "z.h5"), at(folder))
        with h5py.File(at(folder, "z.h5")) as file:
            arrays = [d for d in file["plane"].values() if d.attrs["kind"] == "array"]
            assert arrays and all(d.compression == "gzip" and d.shuffle for d in arrays)
            assert file.attrs["compression"] == "shuffle, deflate 6"
        assert command(folder, "verify", "z.h5").returncode == 0
        assert command(folder, "status", "z.h5").returncode == 0
        for words in (("run", "scan.yaml", "-o", "z.h5"), *([("reduce", "z.h5")] if text == NOISE else [])):
            r = command(folder, *words)
            assert r.returncode == 4 and "compressed" in r.stderr and "collect -o" in r.stderr, (words, r.returncode, r.stderr)
        code_p, _, _ = collect(folder, "z.h5", out="plain.h5")
        assert code_p == code
        same(at(folder, "plain.h5"), at(folder))
        r = command(folder, "run", "scan.yaml", "-o", "plain.h5")
        assert r.returncode == (1 if text == FAILS else 0) and "nothing to do" in r.stderr, r.stderr


def a_compressed_result_takes_more():
    folder, names = shards(CODES, 4)
    code, report, _ = collect(folder, *names[:2], "--compress", "1")
    assert code == 1 and report["done"] > 0, report
    with h5py.File(at(folder)) as file:
        missing = np.flatnonzero(file["member/state"][...] == 0)
        assert np.isnan(file["plane/data"][missing]).all() and np.isnan(file["plane/code"][missing]).all()
        assert (file["plane/checksum"][missing] == 0).all()
    code, report, _ = collect(folder, *names, "--compress", "1")
    assert code == 0 and report["done"] == 30, report
    same(at(folder), at(made(CODES, 4), "whole.h5"))
    code, report, _ = collect(folder, *names)  # without the option it can be written again
    assert code == 0, report
    code, _, err = run(folder)
    assert code == 0 and "nothing to do" in err, err


if __name__ == "__main__":
    sys.exit(run_checks(globals(), but=("made",)))
