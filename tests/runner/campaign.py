#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A campaign of kills: SIGKILL to a random rank, to mpirun, to the launcher or to all at a random moment, a look at
the file, the same command again, until the scan is done.

usage: campaign.py [TRIALS [SEED]]     default: 20 trials, a seed of the day

Counted: files that did not open, counted planes that differ from those of an undisturbed run, members that were lost,
members that were begun more than once. All but the last must be 0."""
import concurrent.futures
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import h5py

from farm import SCANFARM, descendants, environment, gone, wait_until, workers_of

PATIENCE = float(os.environ.get("CK_TIMEOUT_MULTIPLIER", "4"))
ATTEMPTS = 12
SCAN = """scan: campaign
model: probe
parameters: {sleep: 6 ms, size: 4096}
axes: [{a: [0, 1, 2, 3]}, {b: [0, 1, 2, 3, 4, 5]}]
save: {planes: 6, field: true, observables: all}
store: {history: 64, checkpoint: 20 ms, sync: SYNC}
"""
VICTIMS = ("worker", "worker", "controller", "mpirun", "launcher", "all")


def start(folder, workers):
    """Its words go to a file: ranks that a killed launcher leaves in MPI_Init would hold a pipe for minutes."""
    with open(os.path.join(folder, "words"), "w") as words:
        return subprocess.Popen([SCANFARM, "run", "scan.yaml", "-o", "out.h5", "-n", str(workers)], cwd=folder,
                                env=environment(None), stdin=subprocess.DEVNULL, stdout=words, stderr=words)


def prepare(folder, sync):
    os.makedirs(folder)
    with open(os.path.join(folder, "scan.yaml"), "w") as file:
        file.write(SCAN.replace("SYNC", sync))


def planes(folder):
    """n_saved, and the bytes of every plane of every member."""
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        saved = file["member/n_saved"][...]
        state = file["member/state"][...]
        arrays = [file["plane/" + name][...] for name in sorted(file["plane"])]
        tries = file["member/attempts"][...]
    return saved, state, arrays, tries


def wrong_planes(saved, arrays, right):
    wrong = 0
    for member, count in enumerate(saved):
        for plane in range(int(count)):
            wrong += any(a[member, plane].tobytes() != b[member, plane].tobytes() for a, b in zip(arrays, right))
    return wrong


def victims_of(process, kind, dice):
    ranks = workers_of(process.pid)
    below = descendants(process.pid)
    starter = [p for p in below if os.path.basename(os.readlink(f"/proc/{p}/exe")) != os.path.basename(SCANFARM)]
    controller = [p for p in below if p not in ranks and p not in starter]
    return {"worker": [dice.choice(ranks)] if ranks else [], "controller": controller[:1], "mpirun": starter[:1],
            "launcher": [process.pid], "all": [process.pid, *below]}[kind]


def killed(pid):
    """Kill it; whether it was there: of several some may be gone by the death of others."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def kill_once(process, folder, dice):
    """Wait until the file is there, then a random time, then kill. The kind of the victim; None: it was too late."""
    path = os.path.join(folder, "out.h5")
    wait_until(lambda: os.path.exists(path) or process.poll() is not None, "the file", 60 * PATIENCE)
    time.sleep(dice.uniform(0, 1.6))  # the moment is what is drawn
    kind = dice.choice(VICTIMS)
    if process.poll() is not None:
        return None, []
    try:
        everybody = descendants(process.pid)
        victims = victims_of(process, kind, dice)
    except OSError:
        return None, []
    return (kind if sum(killed(pid) for pid in victims) > 0 else None), [process.pid, *everybody]


def trial(arguments):
    folder, seed, right = arguments
    dice = random.Random(seed)
    result = {"kills": 0, "looks": 0, "unreadable": 0, "wrong": 0, "lost": 0, "again": 0, "kinds": []}
    prepare(folder, dice.choice(("member", "never")))
    for attempt in range(ATTEMPTS):
        began = time.time()
        process = start(folder, dice.choice((1, 2, 3)))
        last = attempt >= 2
        kind, everybody = (None, []) if last else kill_once(process, folder, dice)
        try:
            process.wait(timeout=120 * PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{folder}, seed {seed}: {kind} killed, and no end") from None
        # ranks of a dead launcher may go on for a moment: the next run must cope with that by itself
        if kind not in ("launcher", "mpirun", "all"):
            wait_until(lambda: gone(everybody), "nobody left", 60 * PATIENCE)
        if os.environ.get("CAMPAIGN_VERBOSE"):
            print(f"{folder} attempt {attempt}: {kind}, code {process.returncode}, {time.time() - began:.1f} s",
                  flush=True)
        result["kills"] += kind is not None
        result["kinds"].append(kind)
        result["looks"] += 1
        try:
            saved, state, arrays, tries = planes(folder)
        except OSError:
            result["unreadable"] += 1
            continue
        result["wrong"] += wrong_planes(saved, arrays, right)
        if process.returncode == 0 and (state == 2).all():
            break
        with open(os.path.join(folder, "words")) as words:
            assert process.returncode in (0, 3, 4, 75, -9), (folder, seed, kind, process.returncode, words.read())
    result["lost"] = int((state != 2).sum())
    result["again"] = int((tries > 1).sum())
    return result


def main():
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time()) // 86400
    begin = time.time()
    with tempfile.TemporaryDirectory(prefix="campaign-", dir=".") as folder:
        os.chdir(folder)
        prepare("right", "member")
        process = start("right", 2)
        assert process.wait(60 * PATIENCE) == 0, "the undisturbed run"
        right = planes("right")[2]
        jobs = [(f"{i:04d}", 1000 * seed + i, right) for i in range(trials)]
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            results = list(pool.map(trial, jobs))
        os.chdir("..")
    total = {key: sum(r[key] for r in results) for key in ("kills", "looks", "unreadable", "wrong", "lost", "again")}
    kinds = [kind for r in results for kind in r["kinds"] if kind]
    print(f"trials {trials}, seed {seed}, {time.time() - begin:.0f} s")
    print("kills " + str(total["kills"]) + ": " + ", ".join(f"{kinds.count(k)} {k}" for k in dict.fromkeys(VICTIMS)))
    print(f"looks into the file {total['looks']}, that did not open {total['unreadable']}")
    print(f"counted planes that were wrong {total['wrong']}")
    print(f"members lost {total['lost']} of {24 * trials}, begun more than once {total['again']}")
    bad = total["unreadable"] + total["wrong"] + total["lost"]
    return 0 if bad == 0 and total["kills"] >= trials // 2 else 1


if __name__ == "__main__":
    sys.exit(main())
