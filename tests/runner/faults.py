#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fault table of docs/reliability.md, a row a check: what is injected, what becomes of the members, the exit
code, and that nothing takes for ever. Needs a build with SCANFARM_FAULTS; most checks wait for limits of the program
and are made side by side. Without arguments all are made; an argument chooses those whose names contain it."""
import concurrent.futures
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import h5py
import numpy as np

import farm
from checks import checks_of, chosen_of, passes, verdict
from farm import SCANFARM, descendants, finish, gone, start, states, wait_until, workers_of

PATIENCE = float(os.environ.get("CK_TIMEOUT_MULTIPLIER", "4"))
folders = itertools.count(1)
lock = threading.Lock()

# 24 members of 5 planes, 75 ms each; `code` of each member is known
SLOW = """scan: slow
model: probe
parameters: {sleep: 15 ms, size: 32}
axes: [{a: [0, 1, 2, 3]}, {b: [0, 1, 2, 3, 4, 5]}]
save: {planes: 5, field: true, observables: all}
store: {history: 0}
"""
# 300 ms each: seconds in which to find and kill a rank, on a busy machine too
LIVE = SLOW.replace("15 ms", "60 ms")
# one member that computes for minutes between its first and its last plane
FIBRE = """scan: fibre
model: gnlse
parameters:
  length: 100 m
  wavelength: 835 nm
  betas: [-11.83 ps^2/km, 8.1038e-2 ps^3/km]
  gamma: 0.11 W^-1 m^-1
  pulse: {shape: sech, duration: 50 fs, peak_power: 10 kW}
  grid: {points: 8192, window: 12 ps}
save: {planes: 2, field: true}
"""
CODES = [10000 * a + 100 * b for a in range(4) for b in range(6)]


def write(text):
    with lock:
        folder = f"{next(folders):03d}"
    os.makedirs(folder)
    with open(os.path.join(folder, "scan.yaml"), "w") as file:
        file.write(text)
    return folder


def fault(order):
    return {"FARM_FAULT": order}


def once(folder):
    return "once=" + os.path.abspath(os.path.join(folder, "once"))


def whole(folder):
    """Every member done and right."""
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        assert (file["member/state"][...] == 2).all(), file["member/state"][...]
        assert (file["member/n_saved"][...] == 5).all(), file["member/n_saved"][...]
        assert np.array_equal(file["plane/code"][:, -1], CODES), file["plane/code"][:, -1]


def again(folder, *words, code=0):
    got, _, err = finish(start(folder, *words), 60 * PATIENCE)
    assert got == code, (got, err)


def journal(folder):
    with open(os.path.join(folder, "out.h5.journal")) as file:
        return [json.loads(line) for line in file.read().splitlines() if line]


def events(folder, name):
    return [r for r in journal(folder) if r["record"] == "worker" and r["event"] == name]


def started(folder, *words, env=None):
    process = start(folder, *words, env=env)
    wait_until(lambda: farm.begun(folder, 2), "members done", 60 * PATIENCE)
    return process


def a_killed_worker_is_replaced_by_the_others():
    for number in (signal.SIGKILL, signal.SIGSEGV):
        folder = write(LIVE)
        process = started(folder, "-n", "3")
        os.kill(workers_of(process.pid)[1], number)
        code, _, err = finish(process, 60 * PATIENCE)
        assert code == 0 and "died" in err, (code, err)
        whole(folder)
        assert len(events(folder, "dead")) == 1


def a_worker_killed_at_any_point_of_a_commit_costs_nothing():
    for point in ("plane.data", "plane.mid", "plane.checksum", "plane.commit", "plane.done", "member.state",
                  "member.start", "write"):
        folder = write(SLOW)
        where = "" if point.startswith("member") else ",plane=2"
        process = start(folder, "-n", "2", env=fault(f"kill@{point},member=7{where},{once(folder)}"))
        code, _, err = finish(process, 60 * PATIENCE)
        assert code == 0 and "died" in err, (point, code, err)
        whole(folder)


def a_stopped_worker_is_ended_and_replaced():
    folder = write(LIVE)
    process = started(folder, "-n", "2")
    victim = workers_of(process.pid)[0]
    os.kill(victim, signal.SIGSTOP)
    code, _, err = finish(process, 90 * PATIENCE)
    assert code == 0 and "has not been heard of" in err and gone([victim]), (code, err)
    whole(folder)


def a_worker_stopped_between_check_and_write_never_writes():
    folder = write(SLOW)
    process = start(folder, "-n", "2", env=fault(f"stop@write,member=7,plane=2,{once(folder)}"))
    code, _, err = finish(process, 90 * PATIENCE)
    assert code == 0 and "died" in err, (code, err)
    whole(folder)


def a_mute_worker_is_ended_and_replaced():
    folder = write(SLOW.replace("15 ms", "7 s").replace("[0, 1, 2, 3]", "[0]").replace("[0, 1, 2, 3, 4, 5]", "[0, 1]"))
    code, _, err = finish(start(folder, "-n", "2", env=fault("mute@heartbeat,rank=1")), 150 * PATIENCE)
    assert code == 0 and "rank 1" in err and "has not been heard of" in err, (code, err)
    assert (states(folder) == 2).all()


def a_slow_worker_is_left_alone():
    folder = write(SLOW)
    code, _, err = finish(start(folder, "-n", "2", env=fault("slow=0.1@step,rank=1")), 60 * PATIENCE)
    assert code == 0 and "died" not in err, (code, err)
    whole(folder)


def another_worker_confirms_a_death_that_the_controller_cannot_see():
    folder = write(LIVE)
    process = started(folder, "-n", "3", env=fault("mute@machine,rank=0"))
    os.kill(workers_of(process.pid)[1], signal.SIGKILL)
    code, _, err = finish(process, 60 * PATIENCE)
    assert code == 0 and "died" in err, (code, err)
    whole(folder)


def another_worker_ends_a_stopped_one():
    folder = write(LIVE)
    process = started(folder, "-n", "3", env=fault("mute@machine,rank=0"))
    victim = workers_of(process.pid)[1]
    os.kill(victim, signal.SIGSTOP)
    code, _, err = finish(process, 90 * PATIENCE)
    assert code == 0 and "died" in err and gone([victim]), (code, err)
    whole(folder)


def a_helper_that_dies_is_replaced_by_another():
    folder = write(LIVE)
    process = started(folder, "-n", "4", env=fault(f"mute@machine,rank=0;kill@fence,{once(folder)}"))
    os.kill(workers_of(process.pid)[1], signal.SIGKILL)
    code, _, err = finish(process, 120 * PATIENCE)
    assert code == 0 and err.count("died") == 2, (code, err)
    whole(folder)


def without_a_confirmation_members_wait_for_the_next_run():
    folder = write(LIVE)
    process = started(folder, "-n", "1", env=fault("mute@machine,rank=0"))
    os.kill(workers_of(process.pid)[0], signal.SIGKILL)
    code, _, err = finish(process, 120 * PATIENCE)
    assert code in (3, 75) and "nobody there can say" in err, (code, err)
    again(folder, "-n", "2")
    whole(folder)


def a_member_that_kills_its_workers_is_quarantined():
    for action in ("kill", "segv"):
        folder = write(SLOW)
        code, _, err = finish(start(folder, "-n", "4", env=fault(f"{action}@member.start,member=7")), 60 * PATIENCE)
        assert code == 1, (code, err)
        state = list(states(folder))
        assert state.pop(7) == 5 and set(state) == {2}, state
        with h5py.File(os.path.join(folder, "out.h5")) as file:
            reason = file["member/reason"][7].decode().rstrip("\0")
        assert "died" in reason, reason
        again(folder, "-n", "2", code=1)  # kept as it is
        assert states(folder)[7] == 5


def when_all_workers_die_the_run_ends_and_goes_on_later():
    folder = write(LIVE)
    process = started(folder, "-n", "2")
    farm.kill_all(workers_of(process.pid))
    code, _, err = finish(process, 60 * PATIENCE)
    assert code == 3 and "no worker is left" in err, (code, err)
    again(folder, "-n", "2")
    whole(folder)


def relaunched_after_all_workers_or_the_controller_died():
    for victim in ("workers", "controller", "mpirun"):
        folder = write(SLOW.replace("15 ms", "40 ms"))
        process = started(folder, "-n", "2", "--relaunch", "1")
        ranks = workers_of(process.pid)
        everybody = descendants(process.pid)
        starter = [p for p in everybody if os.path.basename(os.readlink(f"/proc/{p}/exe")) != "scanfarm"]
        controller = [p for p in everybody if p not in ranks and p not in starter]
        farm.kill_all({"workers": ranks, "controller": controller, "mpirun": starter[:1]}[victim])
        code, _, err = finish(process, 120 * PATIENCE)
        assert code == 0 and "again" in err, (victim, code, err)
        whole(folder)
        begins = [r for r in journal(folder) if r["record"] == "begin"]
        assert len(begins) == 2, begins


def a_stopped_controller_ends_the_workers():
    folder = write(SLOW.replace("15 ms", "1 s"))
    process = started(folder, "-n", "2")
    ranks = workers_of(process.pid)
    everybody = descendants(process.pid)
    starter = [p for p in everybody if os.path.basename(os.readlink(f"/proc/{p}/exe")) != "scanfarm"]
    controller = [p for p in everybody if p not in ranks and p not in starter]
    os.kill(controller[0], signal.SIGSTOP)
    wait_until(lambda: gone(ranks), "workers end", 120 * PATIENCE)
    before = states(folder)
    os.kill(controller[0], signal.SIGCONT)
    code, _, err = finish(process, 60 * PATIENCE)
    assert code in (3, 75), (code, err)
    assert (states(folder) == before).all()
    with open(os.path.join(folder, "scan.yaml"), "w") as file:
        file.write(SLOW.replace("15 ms", "1 s"))
    again(folder, "-n", "8")
    whole(folder)


def a_rank_that_never_says_ready_is_named():
    folder = write(SLOW)
    code, _, err = finish(start(folder, "-n", "3", env=fault("mute@ready,rank=2")), 150 * PATIENCE)
    assert code == 0 and "rank 2" in err, (code, err)
    whole(folder)


def a_rank_that_dies_as_soon_as_it_is_born_ends_the_others():
    """At once, so that nobody has seen all ranks side by side: a program of the test's own in mpirun's place gives
    each of them a shell, which is killed in one."""
    for victim in ("0", "1"):
        folder = write(SLOW)
        place = os.path.abspath(os.path.join(folder, "bin"))
        os.makedirs(place)
        shell = f'if [ "$OMPI_COMM_WORLD_RANK" = {victim} ]; then kill -9 $$; fi; exec "$@"'
        with open(os.path.join(place, "mpirun"), "w") as file:
            file.write(f"""#!/bin/sh
n=$#
while [ "$n" -gt 0 ]; do
    word=$1
    shift
    n=$((n - 1))
    case $word in
    */scanfarm) set -- "$@" sh -c '{shell}' sh "$word" ;;
    *) set -- "$@" "$word" ;;
    esac
done
exec {shutil.which("mpirun")} "$@"
""")
        os.chmod(os.path.join(place, "mpirun"), 0o755)
        begin = time.time()
        code, _, err = finish(start(folder, "-n", "2", env={"PATH": place + ":" + os.environ["PATH"]}), 60 * PATIENCE)
        assert code == 3 and "a rank died while the ranks began" in err, (victim, code, err)
        assert time.time() - begin < 20 * PATIENCE, (victim, time.time() - begin)
        again(folder, "-n", "2")
        whole(folder)


def storage_errors_end_the_run_with_path_and_errno():
    cases = {"enospc": "No space left", "eio": "Input/output error", "edquot": "quota exceeded",
             "erofs": "Read-only file system"}
    for (name, text), point, words in itertools.product(cases.items(), ("plane.data", "plane.commit", "member.state"),
                                                        ([], ["-n", "2"])):
        folder = write(SLOW.replace("15 ms", "1 ms"))
        code, _, err = finish(start(folder, *words, env=fault(f"{name}@{point},member=7")), 60 * PATIENCE)
        assert code == 3 and "out.h5" in err and text in err, (name, point, words, code, err)
        again(folder, *words)
        whole(folder)


def by_hand_a_death_ends_the_job_and_the_same_command_goes_on():
    folder = write(LIVE)
    process = start(folder, before=("mpirun", "--oversubscribe", "-n", "3"))
    wait_until(lambda: farm.begun(folder, 2), "members done", 60 * PATIENCE)
    victim = workers_of(process.pid)[0]
    killed = time.time()
    os.kill(victim, signal.SIGKILL)
    code, _, err = finish(process, 60 * PATIENCE)
    assert code != 0 and time.time() - killed < 15 * PATIENCE, (code, err)
    again(folder, "-n", "2")
    whole(folder)


def by_hand_with_recovery_the_others_go_on():
    folder = write(LIVE)
    process = start(folder, before=("mpirun", "--oversubscribe", "--enable-recovery", "-n", "3"))
    wait_until(lambda: farm.begun(folder, 2), "members done", 60 * PATIENCE)
    os.kill(workers_of(process.pid)[0], signal.SIGKILL)
    _, _, err = finish(process, 60 * PATIENCE)
    assert "died" in err, err
    whole(folder)


def two_runs_at_once_are_one():
    folder = write(LIVE)
    first = started(folder, "-n", "2")
    code, _, err = finish(start(folder, "-n", "2"), 30 * PATIENCE)
    assert code == 4 and "in use" in err and str(first.pid) in err, (code, err)
    assert finish(first, 60 * PATIENCE)[0] == 0
    whole(folder)


def a_killed_run_is_taken_over_at_once():
    folder = write(LIVE)
    process = started(folder, "-n", "2")
    farm.kill_all([process.pid, *descendants(process.pid)])
    process.communicate()
    begin = time.time()
    again(folder, "-n", "2")
    assert time.time() - begin < 60 * PATIENCE
    whole(folder)


def ranks_that_a_dead_launcher_left_are_ended():
    folder = write(SLOW.replace("15 ms", "100 ms"))
    process = started(folder, "-n", "2")
    everybody = descendants(process.pid)
    ranks = workers_of(process.pid)
    farm.kill_all(pid for pid in [process.pid, *everybody] if pid not in ranks)
    process.communicate()
    again(folder, "-n", "4")
    assert gone(ranks)
    whole(folder)


def a_stop_request_of_one_rank_stops_all():
    folder = write(LIVE)
    process = started(folder, "-n", "2")
    os.kill(workers_of(process.pid)[0], signal.SIGTERM)
    code, _, err = finish(process, 30 * PATIENCE)
    assert code == 75, (code, err)
    again(folder, "-n", "2")
    whole(folder)


def the_time_limit_stops_in_order():
    for words in ([], ["-n", "2"]):
        folder = write(SLOW.replace("15 ms", "2 s"))
        begin = time.time()
        code, _, err = finish(start(folder, *words, "--time-limit", "12 s"), 60 * PATIENCE)
        assert code == 75 and "time limit" in err, (words, code, err)
        assert time.time() - begin < 12 + 5 * PATIENCE
        assert (states(folder) == 0).any()


def the_time_limit_ends_a_member_within_a_step_with_a_checkpoint():
    for words in ([], ["-n", "1"]):
        folder = write(FIBRE)
        begin = time.time()
        code, _, err = finish(start(folder, *words, "--time-limit", "8 s"), 60 * PATIENCE)
        assert code == 75 and "time limit" in err, (words, code, err)
        assert time.time() - begin < 8 + 3 * PATIENCE
        with h5py.File(os.path.join(folder, "out.h5")) as file:
            assert file["member/n_saved"][0] == 1, "the first plane only"
            assert file["resume/slot"][...].any(), "a checkpoint"


def the_end_of_the_batch_job_stops_in_order():
    folder = write(SLOW.replace("15 ms", "2 s"))
    code, _, err = finish(start(folder, env={"SLURM_JOB_END_TIME": str(int(time.time()) + 12)}), 60 * PATIENCE)
    assert code == 75 and "time limit" in err, (code, err)
    again(folder, "-n", "12")
    whole(folder)


def a_last_word_that_is_missing_is_made_up_for():
    folder = write(SLOW.replace("15 ms", "0 s"))
    again(folder)
    with h5py.File(os.path.join(folder, "out.h5"), "r+") as file:
        file["complete"][...] = 0  # as a kill after the last member leaves it
    again(folder)
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        assert int(np.ravel(file["complete"][...])[0]) == 1


def what_is_no_lease_is_named_and_left_alone():
    for make in (lambda path: os.symlink("/nonexistent/x", path), os.mkdir):
        folder = write(SLOW)
        path = os.path.join(folder, "out.h5.lease")
        make(path)
        code, _, err = finish(start(folder), 20 * PATIENCE)
        assert code == 4 and "out.h5.lease" in err and len(err.splitlines()) == 1, (code, err)
        assert os.path.lexists(path)


def a_file_that_is_removed_ends_the_run():
    for words in ([], ["-n", "2"]):
        folder = write(SLOW.replace("15 ms", "600 ms"))
        process = started(folder, *words)
        os.remove(os.path.join(folder, "out.h5"))
        begin = time.time()
        code, _, err = finish(process, 60 * PATIENCE)
        assert code == 3 and "out.h5 was removed" in err, (words, code, err)
        assert time.time() - begin < 8 * PATIENCE  # all members would take 36 s in two workers


def a_journal_that_is_removed_costs_no_result():
    for words in ([], ["-n", "2"]):
        folder = write(SLOW.replace("15 ms", "30 ms"))
        process = started(folder, *words)
        os.remove(os.path.join(folder, "out.h5.journal"))
        code, _, err = finish(process, 60 * PATIENCE)
        assert code == 0, (words, code, err)
        whole(folder)
        with h5py.File(os.path.join(folder, "out.h5")) as file:
            assert int(np.ravel(file["complete"][...])[0]) == 1


def each_failed_member_has_its_own_reason_in_the_journal():
    for words in ([], ["-n", "2"]):
        folder = write("scan: f\nmodel: probe\naxes: [{fail_at: [0, 1, 2, 3, -1, 0, 1]}]\nsave: {planes: 5}\n")
        again(folder, *words, code=1)
        seen = {m: r["reason"] for r in journal(folder) if r["record"] == "member" and r.get("reason")
                for m in range(r["first"], r["last"] + 1) if r["state"] == "failed"}
        want = {0: 0, 1: 1, 2: 2, 3: 3, 5: 0, 6: 1}
        assert seen.keys() == want.keys(), seen
        for member, plane in want.items():
            assert f"plane {plane}" in seen[member], (member, seen)


def orders_that_say_nothing_are_refused():
    """They would leave a check without its fault."""
    for order, word in (("kill@step,count=2", "count=2"), ("kil@step", "kil"), ("kill,rank=1", "kill"), ("slow=0.1@step;x", "x")):
        code, _, err = finish(start(write(SLOW), env=fault(order)), 60 * PATIENCE)
        assert code == 2 and f"FARM_FAULT: '{word}' is no order" in err, (order, code, err)


# They wait for a minute each, so that the others find their time beside them.
LONGEST = (a_rank_that_never_says_ready_is_named, a_mute_worker_is_ended_and_replaced,
           a_stopped_controller_ends_the_workers, without_a_confirmation_members_wait_for_the_next_run)


def main():
    r = subprocess.run([SCANFARM, "--version"], capture_output=True, text=True)
    if "FARM_FAULT" not in r.stdout:
        print("skipped: this build has no faults to inject (SCANFARM_FAULTS)")
        return 77
    with tempfile.TemporaryDirectory(prefix="faults-", dir=".") as folder:
        os.chdir(folder)
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            checks = sorted(chosen_of(checks_of(globals())), key=lambda check: check not in LONGEST)
            results = list(pool.map(passes, checks))
        os.chdir("..")
    return verdict(results)


if __name__ == "__main__":
    sys.exit(main())
