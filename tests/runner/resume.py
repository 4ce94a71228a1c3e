#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs that are cut short inside a member and go on: with the bits of a run that was not, wherever death came, on any
number of workers, and from less when checkpoints or planes are damaged.

Needs a build with SCANFARM_FAULTS for most checks. Without arguments all are made; an argument chooses those whose
names contain it.
"""
import os
import shutil
import signal
import sys
import time

import h5py
import numpy as np

from checks import run_checks
from farm import content, descendants, finish, gone, kill_all, run, same, start, states, wait_until, write
from near import norm_below

# planes 0 … 4; some hundred steps between two of them
FIBRE = """scan: fibre
model: gnlse
parameters:
  length: 8 cm
  wavelength: 835 nm
  betas: [-11.83 ps^2/km, 8.1038e-2 ps^3/km]
  gamma: 0.11 W^-1 m^-1
  loss: 1 dB/m
  raman: {model: blow_wood, tau1: 12.2 fs, tau2: 32 fs, fraction: 0.18}
  pulse: {shape: sech, duration: 50 fs, peak_power: 10 kW}
  grid: {points: 1024, window: 6 ps}
axes: [{gamma: [0.1 W^-1 m^-1, 0.105 W^-1 m^-1, 0.11 W^-1 m^-1]}]
ensemble: {realisations: 1, seed: 3, noise: one_photon}
save: {planes: 5, field: true, observables: all}
store: {checkpoint: 2 ms, sync: never}
"""
# some seconds of the same
LONG = FIBRE.replace("points: 1024", "points: 2048") + "stepper: {rtol: 1e-9}\n"
MEMBERS, PLANES = 3, 5
PLAIN = ("--fft-rigour", "estimate")  # the same plans in every start
COUNTS = ("steps", "rejected", "rhs_calls", "transforms", "history_truncated", "n_saved", "state")
kept = {}


def faults_are_built_in():
    """Whether FARM_FAULT is listened to."""
    if "faults" not in kept:
        folder = write("scan: p\nmodel: probe\nsave: {planes: 2}\n")
        kept["faults"] = run(folder, env={"FARM_FAULT": "kill@member.start"})[0] == -signal.SIGKILL
    return kept["faults"]


def counters(folder):
    """All that a member's row and history say of its steps."""
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        rows = {name: file["member/" + name][...] for name in COUNTS}
        if "step" in file:
            n = file["step/n_steps"][...]
            for name in set(file["step"]) - {"n_steps"}:
                rows[name] = np.concatenate([file["step/" + name][m, :k] for m, k in enumerate(n)])
            rows["n_steps"] = n
    return rows


def column(folder, name):
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        return file["member/" + name][...]


def reference(text):
    """The uninterrupted run: content and counters."""
    if text not in kept:
        folder = write(text)
        code, _, err = run(folder, *PLAIN)
        assert code == 0, err
        kept[text] = content(folder), counters(folder)
    return kept[text]


def expect_same(folder, text, what):
    planes, rows = reference(text)
    assert same(planes, content(folder)), what
    assert same(rows, counters(folder)), (what, {k: (rows[k], counters(folder)[k]) for k in COUNTS})


def counted_are_right(folder, text, what):
    """Every plane that the file counts has the bits of the uninterrupted run."""
    planes, _ = reference(text)
    found = content(folder)
    for member, n in enumerate(column(folder, "n_saved")):
        for name, values in planes.items():
            assert found[name][member, :n].tobytes() == values[member, :n].tobytes(), (what, member, n, name)


def cut(text, order, *words):
    """A run that dies where it is told to."""
    folder = write(text)
    code, _, err = run(folder, *PLAIN, *words, env={"FARM_FAULT": order})
    assert code in ((-signal.SIGKILL,) if not words else (0, 3)), (order, code, err)
    return folder


def wait_for_planes(process, folder, count):
    """Until a member has so many; a run that has ended by then says why."""
    def there():
        return process.poll() is not None or column(folder, "n_saved").max() >= count
    wait_until(there, f"planes of {folder}", 120)
    assert process.poll() is None, process.communicate()


def go_on(folder, *words, code=0):
    got, _, err = run(folder, *PLAIN, *words)
    assert got == code, (got, err)
    return err


def a_stopped_member_goes_on_with_the_same_bits():
    for words in ((), ("-n", "2")):
        folder = write(LONG)
        process = start(folder, *PLAIN, *words)
        wait_for_planes(process, folder, 2)
        process.send_signal(signal.SIGTERM)
        code, _, err = finish(process)
        assert code == 75, err
        assert (states(folder) == 0).any()
        counted_are_right(folder, LONG, words)
        go_on(folder, *words)
        expect_same(folder, LONG, words)
        tries = column(folder, "attempts")
        assert tries.max() == 2, tries


POINTS = ["plane.data", "plane.mid", "plane.checksum", "plane.commit", "plane.done", "resume.first", "resume.second",
          "resume.done", "step"]


def wherever_death_comes_the_next_run_has_the_same_bits():
    if not faults_are_built_in():
        return print("     (no faults in this build: not checked)")
    for point in POINTS:
        # the third of its kind in member 1: after its first checkpoint, before its end
        folder = cut(FIBRE, f"kill@{point},member=1,hit=3")
        counted_are_right(folder, FIBRE, point)
        assert states(folder)[1] == 0, point
        go_on(folder)
        expect_same(folder, FIBRE, point)
        assert column(folder, "attempts")[1] == 2, (point, column(folder, "attempts"))
    folder = cut(FIBRE, "kill@member.state,member=1")
    counted_are_right(folder, FIBRE, "member.state")
    go_on(folder)
    expect_same(folder, FIBRE, "member.state")


def many_deaths_of_one_member_add_up_to_the_same_bits():
    if not faults_are_built_in():
        return
    folder = cut(FIBRE, "kill@step,member=0,hit=4")
    for turn in range(4):
        code, _, err = run(folder, *PLAIN, env={"FARM_FAULT": "kill@step,member=0,hit=4"})
        assert code == -signal.SIGKILL, (turn, err)
        counted_are_right(folder, FIBRE, turn)
    go_on(folder)
    expect_same(folder, FIBRE, "five deaths")
    assert column(folder, "attempts").tolist() == [6, 1, 1], column(folder, "attempts")


def a_death_of_all_ranks_is_continued_on_any_number_of_workers():
    for words in ((), ("-n", "1"), ("-n", "3"), ("-n", "2", "--threads", "2")):
        folder = write(LONG)
        process = start(folder, *PLAIN, "-n", "2")
        wait_for_planes(process, folder, 2)
        everybody = [process.pid, *descendants(process.pid)]
        kill_all(everybody)
        process.communicate()
        wait_until(lambda: gone(everybody), "all dead")
        counted_are_right(folder, LONG, words)
        go_on(folder, *words)
        if "--threads" not in words:  # the same bits are for the same number of threads
            expect_same(folder, LONG, words)
        assert column(folder, "attempts").max() == 2, column(folder, "attempts")


def members_of_a_dead_worker_go_on_in_the_same_run():
    if not faults_are_built_in():
        return
    for point, most in (("step,rank=1,hit=20", 2), ("member.done,rank=1", 1)):
        folder = write(LONG)
        once = os.path.abspath(os.path.join(folder, "once"))
        code, _, err = run(folder, *PLAIN, "-n", "2", env={"FARM_FAULT": f"kill@{point},once={once}"})
        assert code == 0 and os.path.exists(once), (point, code, err)
        expect_same(folder, LONG, point)
        # from its checkpoint; or it had ended, and only the word of it was lost
        assert column(folder, "attempts").max() == most, (point, column(folder, "attempts"))


def checkpoints(path):
    """[(offset in the file, bytes, member, seq)] of all halves that hold one."""
    with h5py.File(path) as file:
        slot = file["resume/slot"]
        base, size = slot.id.get_offset(), slot.shape[2]
        halves = [(base + (2 * s + h) * size, size, slot[s, h, :32].tobytes())
                  for s in range(slot.shape[0]) for h in range(2)]
    return [(at, size, int(np.frombuffer(head[8:16], "<i8")[0]), int(np.frombuffer(head[16:24], "<u8")[0]))
            for at, size, head in halves if any(head)]


def spoil(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 1]))


def a_damaged_checkpoint_gives_way_to_the_one_before_then_to_the_last_plane():
    if not faults_are_built_in():
        return
    for damaged in (1, 2):
        folder = cut(FIBRE, "kill@plane.done,member=0,plane=3")
        path = os.path.join(folder, "out.h5")
        halves = sorted((seq, at + size // 2) for at, size, member, seq in checkpoints(path) if member == 0)
        assert len(halves) == 2, halves
        for _, at in halves[-damaged:]:
            spoil(path, at)
        saved = column(folder, "n_saved")[0]
        go_on(folder)
        assert column(folder, "attempts")[0] == 2
        if damaged == 1:
            expect_same(folder, FIBRE, damaged)
            continue
        # from the last plane: other steps, the same field within what the tolerance leaves
        planes, rows = reference(FIBRE)
        found = content(folder)["field"]
        assert found[0, :saved].tobytes() == planes["field"][0, :saved].tobytes()
        error = np.linalg.norm(found[0, -1] - planes["field"][0, -1]) / np.linalg.norm(planes["field"][0, -1])
        assert 0 < error < 1e-3, error
        assert column(folder, "history_truncated")[0] == 1 and column(folder, "steps")[0] < rows["steps"][0]


def planes_that_are_damaged_count_no_more_and_are_computed_again():
    if not faults_are_built_in():
        return
    folder = cut(FIBRE, "kill@plane.done,member=1,plane=3")
    path = os.path.join(folder, "out.h5")
    with h5py.File(path) as file:
        field = file["plane/field"]
        row = field.id.get_offset() + np.arange(MEMBERS)[:, None] * field[0].nbytes + np.arange(PLANES) * field[0, 0].nbytes
    spoil(path, int(row[0, 2]))  # of a member that is done: it was never synced
    spoil(path, int(row[1, 0]))
    err = go_on(folder)
    assert "lost planes" in err and "1 of them count as done no more" in err, err
    planes, _ = reference(FIBRE)
    found = content(folder)["field"]
    assert (states(folder) == 2).all()
    assert found[1:].tobytes() == planes["field"][1:].tobytes()  # from its start, and never touched
    # one that goes on from its last plane; later planes amplify every difference
    assert norm_below(np.linalg.norm(found[0, 2] - planes["field"][0, 2]) / np.linalg.norm(planes["field"][0, 2]), 1e-4)
    assert column(folder, "attempts").tolist() == [2, 2, 1], column(folder, "attempts")
    assert found[0, :2].tobytes() == planes["field"][0, :2].tobytes()


def a_measured_plan_goes_on_with_the_plan_of_the_file():
    if not faults_are_built_in():
        return
    folder = write(FIBRE)
    code, _, err = run(folder, env={"FARM_FAULT": "kill@step,member=1,hit=6"})
    assert code == -signal.SIGKILL, err
    # the uninterrupted run, with the same wisdom
    whole = write(FIBRE)
    for name in os.listdir(folder):
        if name.startswith("out.h5.wisdom"):
            shutil.copy(os.path.join(folder, name), whole)
    assert run(whole)[0] == 0
    assert run(folder)[0] == 0
    assert same(content(whole), content(folder)) and same(counters(whole), counters(folder))


def what_is_saved_changes_nothing_about_going_on():
    if not faults_are_built_in():
        return
    for save in ("{planes: last, field: true}", "{planes: [2 cm, 8 cm], field: true}",
                 "{planes: 5, field: float32}", "{planes: 5, field: false, observables: [energy]}"):
        text = FIBRE.replace("{planes: 5, field: true, observables: all}", save)
        assert text != FIBRE
        folder = cut(text, "kill@step,member=1,hit=6")
        go_on(folder)
        expect_same(folder, text, save)
        # nothing saved, nothing known of the first try but by its checkpoint
        assert column(folder, "attempts").tolist() == [1, 2, 1], (save, column(folder, "attempts"))


def a_member_that_may_take_so_long_may_take_so_long_in_all_its_runs():
    text = ("scan: t\nmodel: probe\nparameters: {sleep: 200 ms}\nsave: {planes: 1000}\n"
            "limits: {timeout: 4 s}\nstore: {checkpoint: 50 ms}\n")
    folder = write(text)
    begin = time.time()
    process = start(folder)
    wait_for_planes(process, folder, 4)
    process.send_signal(signal.SIGTERM)
    assert finish(process)[0] == 75
    spent = time.time() - begin
    code, _, err = run(folder)
    assert code == 1 and states(folder)[0] == 4, err
    wall, saved = column(folder, "wall_s")[0], column(folder, "n_saved")[0]
    assert 4 <= wall < 4 + 2 * spent and saved <= 20, (wall, saved, spent)


def a_million_steps_are_counted_exactly_and_the_history_is_capped():
    text = ("scan: steps\nmodel: probe\nparameters: {size: 1}\nsave: {planes: 1000000, field: false}\n"
            "store: {history: 100, checkpoint: 20 ms, sync: never}\n")
    folder = write(text)
    if faults_are_built_in():
        code, _, err = run(folder, env={"FARM_FAULT": "kill@resume.first,hit=4"})
        assert code == -signal.SIGKILL, err
        assert 0 < column(folder, "n_saved")[0] < 1000000
    code, _, err = run(folder)
    assert code == 0, err
    rows = counters(folder)
    assert rows["steps"][0] == 1000000 and rows["history_truncated"][0] == 1
    assert rows["n_steps"][0] == 100 and np.array_equal(rows["x"], np.arange(100.0))
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        assert np.array_equal(file["plane/x"][0], np.arange(1e6))


if __name__ == "__main__":
    sys.exit(run_checks(globals(), but=("faults_are_built_in",)))
