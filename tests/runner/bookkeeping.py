#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What contracts cost a scan that has no envelope, counted: nothing is judged, allocated, sent or stored for them.

SCANFARM_COUNTED is the command with counters (tests/runner/counted.c). Without arguments all checks are made; an
argument chooses those whose names contain it.
"""
import collections
import glob
import os
import sys

import h5py

import farm
from checks import run_checks
from farm import write

farm.SCANFARM = os.environ["SCANFARM_COUNTED"]
SCAN = """scan: counted
model: gnlse
parameters:
  length: 1 mm
  wavelength: 835 nm
  betas: [-0.01 ps^2/m]
  raman: none
  pulse: {shape: sech, duration: 0.1 ps, peak_power: 100 W}
  grid: {points: 2048, window: 8 ps}
axes: [{gamma: {from: 0.1 W^-1 m^-1, to: 0.2 W^-1 m^-1, points: MEMBERS}}]
save: {planes: 2, field: true}
store: {history: 0}
"""
JUDGED = "envelope: {tolerance: 1e-3, sample: all}\n"
FEW, MANY = 20, 120
# What a run without an envelope enters of the files that judge for each member or report: each asks whether there is
# something to judge, and returns. The rest is entered when a run or a file is opened and closed.
GATES = {"worker_drop_judgment": 1, "verdict_forget": 1, "dispatch_judge_ready": 1, "worker_commit_judgments": 1,
         "verdict_commit": 1, "dispatch_judge_share": 1, "dispatch_judge_text": 1,
         "dispatch_return": 1}  # the last one: the way back of a task of any kind
# Columns of member/contract that each file has: which rule a member is under, and the place of a verdict.
COLUMNS = {"class": 1, "norm": 80, "window": 80, "bound": 8, "observed": 8, "margin": 8, "verdict": 1}


def counts(folder):
    """{(what, function): number} over all processes of a run."""
    found = collections.Counter()
    files = glob.glob(os.path.join(folder, "counts.*"))
    assert files, "no process left its counts"
    for path in files:
        with open(path) as file:
            for line in file:
                what, name, number = line.split()
                found[what, name] += int(number)
    assert found["lost", "-"] == 0
    return found


def made(members, more="", words=()):
    """(counts, its file) of a run."""
    folder = write(SCAN.replace("MEMBERS", str(members)) + more)
    env = {"SCANFARM_COUNTS": os.path.abspath(os.path.join(folder, "counts"))}
    code, _, err = farm.run(folder, *words, env=env)
    assert code == 0, err
    return counts(folder), os.path.join(folder, "out.h5")


def each_member(few, many):
    """{what: number a member}, from the counts of two runs."""
    return {key: (many[key] - few[key]) / (MANY - FEW) for key in set(few) | set(many)}


def faults(few, many):
    """What a run without an envelope must not do."""
    for (what, name), number in sorted(each_member(few, many).items()):
        if what == "call" and number > GATES.get(name, 0):
            yield f"{name} is called {number:g} times a member"
        if what in ("allocations", "judgments") and number > 0:
            yield f"{number:g} {what} a member"
    for what in ("allocations", "judgments"):
        if many[what, "-"]:
            yield f"{many[what, '-']} {what}"


def nothing_is_done_for_contracts_without_an_envelope():
    for words in ((), ("-n", "2")):
        few, many = made(FEW, words=words)[0], made(MANY, words=words)[0]
        assert many["call", "worker_drop_judgment"] >= MANY, many  # the counters count
        assert not list(faults(few, many)), list(faults(few, many))
        rate = {name: number for (what, name), number in each_member(few, many).items() if number and what == "call"}
        print(words, "calls a member:", rate)
        # a task given and a task reported at the most
        assert each_member(few, many)["messages", "-"] <= 2, many
        assert (many["messages", "-"] > 0) == (words != ()), many


def an_envelope_is_seen_by_the_same_counts():
    few, many = made(FEW, JUDGED)[0], made(MANY, JUDGED)[0]
    seen = "\n".join(faults(few, many))
    for words in ("worker_start_judgment is called", "verdict_put is called", "static is called", "allocations a member",
                  "judgments a member"):
        assert words in seen, (words, seen)


def bytes_for_contracts_are_those_of_the_members_classes():
    """186 bytes a member where a worker writes nothing, below 0.5 % of two planes of 2048 points."""
    _, path = made(FEW)
    with h5py.File(path) as file:
        group, data = file["member/contract"], file["plane/field"].id.get_storage_size()
        assert {name: column.dtype.itemsize for name, column in group.items()} == COLUMNS, dict(group)
        stored = sum(column.id.get_storage_size() for column in group.values())
        assert stored == FEW * sum(COLUMNS.values()) and stored < 0.005 * data, (stored, data)
        assert not any(column.size and column[...].tobytes() != FEW * column[:1].tobytes() for column in group.values())
    with h5py.File(made(FEW, JUDGED)[1]) as file:
        assert set(COLUMNS) < set(file["member/contract"]), dict(file["member/contract"])


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
