#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole runs of the farm: workers, stops, deaths, resumes, bad surroundings.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import datetime
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import h5py
import numpy as np
from checks import run_checks
from near import near

SCANFARM = os.environ["SCANFARM"]
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
LIMIT = 180  # s that any one run may take: 15 on an idle machine

CODES = """scan: codes
model: probe
parameters: {size: 4}
axes:
  - a: [0, 1]
  - b: {from: 0, to: 2, points: 3}
  - c: {from: 0, to: 4, step: 1}
save: {planes: 3, field: true, observables: all}
store: {history: 0}
"""
SLOW = """scan: slow
model: probe
parameters: {size: 8, sleep: 10 ms}
axes: [{a: {from: 0, to: 39, points: 40}}]
save: {planes: 3}
store: {history: 0}
"""
# Minutes of it, for runs that are looked at and cut short: no look comes too late, on a busy machine either. And what is
# long enough where they are made whole afterwards.
ENDLESS = SLOW.replace("to: 39, points: 40", "to: 3999, points: 4000")
SLOWER = SLOW.replace("10 ms", "40 ms")
FAILS = "scan: fails\nmodel: probe\naxes: [{fail_at: [-1, 1, -1]}]\nsave: {planes: 3}\n"
NOISE = """scan: noise
model: gnlse
parameters:
  length: 1 mm
  wavelength: 835 nm
  betas: [-0.01 ps^2/m]
  gamma: 0.1 W^-1 m^-1
  raman: none
  pulse: {shape: sech, duration: 0.1 ps, peak_power: 100 W}
  grid: {points: 512, window: 8 ps}
axes: [{gamma: [0.1 W^-1 m^-1, 0.11 W^-1 m^-1]}]
ensemble: {realisations: 5, seed: 11, noise: one_photon}
save: {planes: 2, field: true, observables: all}
store: {history: 16}
"""
GUIDED = """scan: guided
model: gnlse
parameters:
  length: 6 cm
  wavelength: 835 nm
  betas: [-11.83 ps^2/km, 8.1038e-2 ps^3/km]
  gamma: 0.11 W^-1 m^-1
  raman: {model: blow_wood, tau1: 12.2 fs, tau2: 32 fs, fraction: 0.18}
  pulse: {shape: sech, duration: 50 fs, peak_power: 10 kW}
  grid: {points: 2048, window: 6 ps}
axes: [{gamma: [0.1 W^-1 m^-1, 0.105 W^-1 m^-1, 0.11 W^-1 m^-1, 0.115 W^-1 m^-1]}]
save: {planes: 3, field: true, observables: all}
store: {history: 0}
"""
counter = 0


def write(text, name="scan.yaml"):
    global counter
    counter += 1
    folder = f"{counter:03d}"
    os.makedirs(folder)
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)
    return folder


def environment(extra):
    merged = dict(os.environ, OMP_NUM_THREADS="1", **ROOT)
    merged.update(extra or {})
    return {key: value for key, value in merged.items() if value is not None}


def start(folder, *words, env=None, before=()):
    return subprocess.Popen([*before, SCANFARM, "run", "scan.yaml", "-o", "out.h5", *words],
                            cwd=folder, env=environment(env), text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process, limit=LIMIT):
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"no end within {limit} s")
    return process.returncode, out, err


def run(folder, *words, env=None, before=()):
    return finish(start(folder, *words, env=env, before=before))


def command(folder, *words):
    return subprocess.run([SCANFARM, *words], cwd=folder, capture_output=True, text=True)


def states(folder):
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        return file["member/state"][...]


def content(folder):
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        return {name: file["plane/" + name][...] for name in file["plane"]}


def same(first, second):
    return first.keys() == second.keys() and all(
        first[key].tobytes() == second[key].tobytes() for key in first)


def descendants(pid):
    """All processes below this one, itself left out."""
    parents = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as file:
                text = file.read()
        except OSError:
            continue
        fields = text[text.rindex(")") + 2:].split()
        if fields[0] != "Z":
            parents[int(text.split(" ", 1)[0])] = int(fields[1])
    found, front = [], [pid]
    while front:
        front = [child for child, parent in parents.items() if parent in front]
        found += front
    return found


def kill_all(pids):
    """Some of them may be gone by the death of others."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def workers_of(pid):
    """Ranks above 0, by the rank that mpirun gave them."""
    ranks = {}
    for child in descendants(pid):
        try:
            with open(f"/proc/{child}/environ", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        for word in words:
            if word.startswith(b"OMPI_COMM_WORLD_RANK="):
                ranks[int(word.split(b"=")[1])] = child
    return [ranks[rank] for rank in sorted(ranks) if rank > 0]


def wait_until(condition, what, limit=LIMIT):
    end = time.time() + limit
    while time.time() < end:
        try:
            if condition():
                return
        except OSError:
            pass
        time.sleep(0.02)
    raise AssertionError(f"{what}: not within {limit} s")


def begun(folder, count=4):
    """Whether some members are done, some are not."""
    return 0 < (states(folder) == 2).sum() >= count


def gone(pids):
    def alive(pid):
        try:
            with open(f"/proc/{pid}/stat") as file:
                return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
        except OSError:
            return False
    return not any(alive(pid) for pid in pids)


def same_members_for_any_number_of_workers():
    folders = {}
    for workers in (None, 1, 2, 3, 4):
        folders[workers] = write(CODES)
        code, _, err = run(folders[workers], *(["-n", str(workers)] if workers else []))
        assert code == 0, err
    want = [10000 * a + 100 * b + c for a in range(2) for b in range(3) for c in range(5)]
    first = content(folders[None])
    assert np.array_equal(first["code"][:, -1], want)
    for workers in (1, 2, 3, 4):
        assert same(first, content(folders[workers])), workers
        assert (states(folders[workers]) == 2).all()


def noise_input_is_the_same_bits_for_any_workers_and_chunks():
    planes, seeds = [], []
    for words in ([], ["-n", "1"], ["-n", "2", "--chunk-time", "0"],
                  ["-n", "3", "--chunk-time", "10"], ["-n", "4"], ["-t", "2"]):
        folder = write(NOISE)
        code, _, err = run(folder, *words)
        assert code == 0, err
        with h5py.File(os.path.join(folder, "out.h5")) as file:
            planes.append(file["plane/field"][:, 0].tobytes())
            seeds.append(file["member/seed"][...].tobytes())
            assert (file["ensemble/n"][...] == 5).all()
            fields = file["plane/field"][:, 0]
    assert len(set(planes)) == 1 and len(set(seeds)) == 1
    assert len({row.tobytes() for row in fields}) == 10  # no two members alike


def a_killed_controller_or_mpirun_ends_the_job_too():
    for victim in ("mpirun", "controller"):
        folder = write(SLOWER)  # ranks outlive mpirun for a while
        process = start(folder, "-n", "2")
        wait_until(lambda: begun(folder), "members done")
        everybody = descendants(process.pid)
        ranks = workers_of(process.pid)
        starter = [p for p in everybody if os.path.basename(
            os.readlink(f"/proc/{p}/exe")) != os.path.basename(SCANFARM)]
        controller = [p for p in everybody if p not in ranks and p not in starter]
        os.kill(starter[0] if victim == "mpirun" else controller[0], signal.SIGKILL)
        code, _, err = finish(process)
        text = "killed by SIGKILL" if victim == "mpirun" else "the controller died"
        assert code == 3 and text in err, (victim, code, err)
        assert gone(everybody), victim
        assert run(folder)[0] == 0
        assert (states(folder) == 2).all()


def a_signal_stops_in_order_and_the_same_command_goes_on():
    """Other signals: ends.py."""
    whole = write(SLOWER)
    assert run(whole, "-n", "4")[0] == 0
    for words in ([], ["-n", "2"]):
        folder = write(SLOWER)
        process = start(folder, *words)
        wait_until(lambda: begun(folder), "members done")
        process.send_signal(signal.SIGINT)
        code, _, err = finish(process)
        assert code == 75 and "left" in err, (words, code, err)
        assert run(folder, *words)[0] == 0
        assert same(content(whole), content(folder))


def a_signal_before_the_farm_has_started_stops_it_too():
    journal = lambda folder: open(os.path.join(folder, "out.h5.journal")).read()
    moments = {"the file": lambda folder, process: os.path.exists(os.path.join(folder, "out.h5")),
               "a rank": lambda folder, process: len(workers_of(process.pid)) > 0,
               "all ranks": lambda folder, process: len(workers_of(process.pid)) == 2,
               "a worker that is ready": lambda folder, process: '"ready"' in journal(folder)}
    for what, there in moments.items():
        folder = write(ENDLESS)
        process = start(folder, "-n", "2")
        wait_until(lambda: there(folder, process), what)
        process.send_signal(signal.SIGINT)
        code, _, err = finish(process)
        assert code == 75, (what, code, err)


def a_signal_while_a_slow_launcher_starts_stops_the_ranks():
    folder = write(ENDLESS)
    late = os.path.abspath(os.path.join(folder, "late"))
    os.makedirs(late)
    path = os.path.join(late, "mpirun")
    with open(path, "w") as file:  # deaf until well after the last time that it is asked blindly
        file.write(f'#!/bin/sh\nsleep 3.2\nexec {shutil.which("mpirun")} "$@"\n')
    os.chmod(path, 0o755)
    process = start(folder, "-n", "2", env={"PATH": late + os.pathsep + os.environ["PATH"]})
    wait_until(lambda: os.path.exists(os.path.join(folder, "out.h5")), "the file")
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    assert code == 75, (code, err)


def a_second_interrupt_ends_at_once():
    folder = write(SLOW.replace("10 ms", "300 ms"))
    process = start(folder, "-n", "2")
    wait_until(lambda: begun(folder, 1), "members done")
    everybody = descendants(process.pid)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    # two signals sent at once may arrive as one
    try:
        process.wait(0.3)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    assert code in (130, 75), (code, err)
    assert gone(everybody)


def a_killed_launcher_leaves_no_rank_behind():
    folder = write(SLOWER)
    process = start(folder, "-n", "2")
    wait_until(lambda: begun(folder), "members done")
    everybody = descendants(process.pid)
    process.kill()
    process.communicate()
    wait_until(lambda: gone(everybody), "no rank")
    assert (states(folder) != 2).any(), "it was killed too late"
    assert run(folder, "-n", "2")[0] == 0
    assert (states(folder) == 2).all()


def a_second_run_computes_nothing():
    folder = write(CODES)
    assert run(folder, "-n", "2")[0] == 0
    before = content(folder)
    for words in ([], ["-n", "2"]):
        code, out, err = run(folder, "--json", *words)
        assert code == 0 and '"pending_before": 0' in out and "nothing to do" in err
    assert same(before, content(folder))


def another_configuration_is_refused_with_its_keys():
    folder = write(CODES)
    assert run(folder)[0] == 0
    for words in (["--set", "size=5"], ["-n", "2", "--set", "size=5"]):
        code, _, err = run(folder, *words)
        assert code == 4 and "size" in err and len(err.splitlines()) == 1, err
    code, _, err = run(folder, "--set", "size=5", "--fresh")
    assert code == 0 and "old-" in err, err
    assert len(glob.glob(os.path.join(folder, "out.h5.old-*"))) == 1


def a_file_in_use_is_refused():
    folder = write(ENDLESS)
    process = start(folder, "-n", "1")
    wait_until(lambda: begun(folder, 1), "members done")
    code, _, err = run(folder)
    assert code == 4 and str(process.pid) in err, (code, err)
    process.send_signal(signal.SIGTERM)
    assert finish(process)[0] == 75


def a_failing_member_is_data():
    for words in ([], ["-n", "2"], ["-t", "2"]):
        folder = write(FAILS)
        code, _, err = run(folder, *words)
        assert code == 1 and "member 1 failed" in err, err
        assert list(states(folder)) == [2, 3, 2]
        assert run(folder, *words)[0] == 1  # failed members are kept as they are


def a_member_that_the_model_refuses_is_named_before_anything_runs():
    folder = write("scan: s\nmodel: probe\nparameters: {size: 0}\n")
    code, _, err = run(folder, "-n", "2")
    assert code == 2 and "size" in err
    assert not glob.glob(os.path.join(folder, "out.h5*"))


def a_slow_member_times_out():
    folder = write("scan: s\nmodel: probe\naxes: [{sleep: [0 s, 30 s, 0 s]}]\nsave: last\n"
                   .replace("save: last", "save: {planes: last}")
                   + "limits: {timeout: 1 s}\n")
    for words in (["-n", "2"],):
        code, _, err = run(folder, *words)
        assert code == 1, err
        assert list(states(folder)) == [2, 4, 2]


def more_workers_than_members_stay_idle():
    folder = write(FAILS)
    code, _, err = run(folder, "-n", "5")
    assert code == 1 and "stay idle" in err, err
    assert "share core" in err or os.cpu_count() >= 5


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle_ranks_do_not_burn_cores():
    folder = write("scan: s\nmodel: probe\nparameters: {sleep: 60 s}\nsave: {planes: last}\n")
    process = start(folder, "-n", "3")
    wait_until(lambda: len(workers_of(process.pid)) == 3, "three workers")
    journal = os.path.join(folder, "out.h5.journal")
    wait_until(lambda: open(journal).read().count('"ready"') == 3, "ready workers")
    ranks = [p for p in descendants(process.pid)
             if os.readlink(f"/proc/{p}/exe") == os.path.realpath(SCANFARM)]
    assert len(ranks) == 4
    begin = time.time()
    before = [cpu_seconds(pid) for pid in ranks]
    time.sleep(2)  # the span that is measured
    span = time.time() - begin
    shares = [(cpu_seconds(pid) - then) / span for pid, then in zip(ranks, before)]
    process.terminate()
    assert finish(process)[0] == 75
    assert max(shares) < 0.1, shares


def bad_openmp_variables_are_named():
    for words in ([], ["-n", "2"]):
        folder = write(CODES)
        code, _, err = run(folder, *words, env={"OMP_NUM_THREADS": "abc"})
        assert code == 2 and "OMP_NUM_THREADS=abc" in err and len(err.splitlines()) == 1, err
        assert not glob.glob(os.path.join(folder, "out.h5*"))


def openmp_binding_does_not_take_cores_away():
    for value in ("true", "close", "spread"):
        folder = write(ENDLESS)
        process = start(folder, "-n", "1", "-t", "2", env={"OMP_PROC_BIND": value})
        wait_until(lambda: begun(folder, 1), "members done")
        allowed = set()
        for path in glob.glob(f"/proc/{workers_of(process.pid)[0]}/task/*"):
            allowed |= os.sched_getaffinity(int(os.path.basename(path)))
        process.terminate()
        code, _, err = finish(process)
        assert code == 75 and f"OMP_PROC_BIND={value} is not used" in err, err
        assert len(allowed) >= 2, (value, allowed)


def surroundings_that_cannot_work_are_named():
    folder = write(CODES)
    cases = [(["-n", "2"], {"PATH": "/no-such-folder"}, 3, "mpirun"),
             (["--shard", "3/2"], {}, 2, "K from 1 to N"),
             (["-n", "0"], {}, 2, "workers"),
             (["--isa", "z80"], {}, 2, "z80"),
             (["-o", "/no-such-folder/x.h5"], {}, 3, "No such file"),
             (["--backend", "abacus"], {}, 2, "abacus")]
    if os.geteuid() == 0:
        cases.append((["-n", "2"], {"OMPI_ALLOW_RUN_AS_ROOT": None}, 3,
                      "OMPI_ALLOW_RUN_AS_ROOT"))
    for words, env, want, text in cases:
        code, _, err = run(folder, *words, env=env)
        assert code == want and text in err and len(err.splitlines()) == 1, (words, code, err)
        assert not glob.glob(os.path.join(folder, "out.h5*")), words


def a_worker_that_needs_more_memory_than_allowed_is_refused():
    folder = write(NOISE + "resources: {memory: 10 kB}\n")
    code, _, err = run(folder, "-n", "2")
    assert code == 2 and "10 kB" in err and "resources.memory" in err, err
    assert not glob.glob(os.path.join(folder, "out.h5*"))


def by_hand_it_works_and_says_what_is_missing():
    mpirun = ("mpirun", "--oversubscribe", "-n", "3")
    folder = write(CODES)
    code, _, err = run(folder, before=mpirun)
    assert code == 0 and "by hand" in err, err
    assert (states(folder) == 2).all()
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        assert int(np.ravel(file["complete"][...])[0]) == 1
    folder = write(FAILS)
    assert run(folder, before=mpirun)[0] == 1
    code, _, err = run(folder, "-n", "2", before=mpirun)
    assert code == 2 and "leave out" in err
    assert run(write(CODES), before=("mpirun", "-n", "1"))[0] == 0


PARTS = ("load", "advance", "host", "output", "mpi", "idle")


def timings(folder):
    """Rows of /timing by rank: parts and total."""
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        group = file["timing"]
        ranks = np.flatnonzero(group["attempt"][...])
        return {int(rank): ({name: float(group[name][rank]) for name in PARTS},
                            float(group["total"][rank])) for rank in ranks}


def moment(text):
    return datetime.datetime.fromisoformat(text.rstrip("Z")).timestamp()


def lives(folder):
    """Seconds from READY to ACK of each rank as the controller saw them; of one process: from
    the beginning of the attempt to its end."""
    with open(os.path.join(folder, "out.h5.journal")) as file:
        lines = [json.loads(line) for line in file.read().splitlines() if line]
    seen = {(line["rank"], line["event"]): moment(line["time"]) for line in lines
            if line["record"] == "worker"}
    ranks = {rank for rank, event in seen if event == "ready"}
    if ranks:
        return {rank: seen[rank, "left"] - seen[rank, "ready"] for rank in ranks}
    times = [moment(line["time"]) for line in lines if line["record"] in ("begin", "end")]
    return {0: times[-1] - times[0]}


def timings_cover_the_workers_time():
    work = SLOW.replace("sleep: 10 ms", "work: 15")
    for text in (SLOW, work, GUIDED):
        for words in (["-n", "2"], []):
            folder = write(text)
            code, _, err = run(folder, "--fft-rigour", "estimate", *words)
            assert code == 0, err
            rows, walls = timings(folder), lives(folder)
            assert rows.keys() == walls.keys(), (rows, walls)
            for rank, (parts, total) in rows.items():
                assert min(parts.values()) >= 0, parts
                assert near(sum(parts.values()), total, rtol=1e-6, faulty=1.00001 * total, fault="1e-5 of the time counted twice"), (parts, total)
                # 30 ms: messages and journal on either side
                assert near(total, walls[rank], rtol=0.02, atol=0.03, faulty=0.95 * walls[rank] - 0.1, fault="a twentieth and 0.1 s uncounted"), (total, walls)
                assert words or parts["mpi"] == parts["idle"] == 0, parts


def kernels_take_the_most_of_a_computing_scan():
    for words in (["-n", "2"], [], ["-t", "2"]):
        folder = write(GUIDED)
        assert run(folder, "--fft-rigour", "estimate", *words)[0] == 0
        rows = timings(folder)
        # four members may fall to two workers as three and one: without the wait for the end
        share = (sum(p["advance"] for p, _ in rows.values())
                 / sum(total - p["idle"] for p, total in rows.values()))
        assert share > 0.6, (words, rows)


def idle_time_is_that_of_workers_without_members():
    folder = write("scan: s\nmodel: probe\nparameters: {sleep: 4 s}\n"
                   "save: {planes: last}\nstore: {history: 0}\n")
    assert run(folder, "-n", "3")[0] == 0
    rows = timings(folder)
    busy = [rank for rank, (parts, _) in rows.items() if parts["advance"] > 0]
    assert len(busy) == 1 and len(rows) == 3, rows
    for rank, (parts, total) in rows.items():
        name = "advance" if rank in busy else "idle"
        assert parts[name] > 0.85 * total, (rank, parts, total)
    words = command(folder, "status", "out.h5").stdout
    assert "time      3 workers" in words and "idle 6" in words, words
    drawn = command(folder, "plot", "out.h5", "-w", "timing", "-o", "t.svg")
    with open(os.path.join(folder, "t.svg")) as file:
        words = file.read()
    assert drawn.returncode == 0 and "kernels" in words and "worker (MPI rank)" in words, drawn


def a_file_without_timing_says_so():
    folder = write(FAILS)
    assert run(folder)[0] == 1
    before = json.loads(command(folder, "status", "--json", "out.h5").stdout)["files"][0]
    assert before["timing"]["workers"] == 1, before
    assert near(sum(before["timing"]["share"].values()), 1, atol=1e-9, faulty=1 - 1e-8, fault="1e-8 of the time uncounted"), before
    with h5py.File(os.path.join(folder, "out.h5"), "r+") as file:
        file["timing/attempt"][...] = 0
        del file["timing/mpi"]  # as files of earlier programs are
    after = json.loads(command(folder, "status", "--json", "out.h5").stdout)["files"][0]
    assert "timing" not in after, after
    drawn = command(folder, "plot", "out.h5", "-w", "timing", "-o", "t.svg")
    assert drawn.returncode == 2 and "timing" in drawn.stderr, drawn
    assert not os.path.exists(os.path.join(folder, "t.svg"))
    assert run(folder)[0] == 1  # nothing is left to do, and the file is accepted


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
