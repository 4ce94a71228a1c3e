#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run shows of itself: `status` with workers and --watch, `log` of a member, on live and dead files.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import json
import os
import signal
import subprocess
import sys
import time

from checks import run_checks
from farm import ENDLESS, SCANFARM, SLOW, command, finish, run, start, states, wait_until, workers_of, write

LONG = SLOW.replace("sleep: 10 ms", "sleep: 250 ms").replace("to: 39, points: 40", "to: 19, points: 20")
LIVE = ENDLESS.replace("sleep: 10 ms", "sleep: 250 ms")
FAILS = "scan: fails\nmodel: probe\nparameters: {sleep: 100 ms}\naxes: [{fail_at: [-1, 1, -1]}]\nsave: {planes: 3}\n"


def look(folder, *words):
    r = command(folder, "status", "out.h5", "--json", *words)
    assert r.returncode == 0, r.stderr
    return json.loads(r.stdout)["files"][0]


def log(folder, member):
    r = command(folder, "log", "out.h5", str(member), "--json")
    assert r.returncode == 0, r.stderr
    return json.loads(r.stdout)


def events(folder, member):
    return [record["event"] for record in log(folder, member)["records"]]


def fingerprint(folder):
    return {name: (os.stat(os.path.join(folder, name)).st_mtime_ns, os.stat(os.path.join(folder, name)).st_size)
            for name in os.listdir(folder)}


def a_live_run_shows_its_workers_and_their_members():
    folder = write(LIVE)
    process = start(folder, "-n", "2")
    told = lambda: [w for w in look(folder).get("worker_list", []) if w.get("ended", 0) > 0]
    wait_until(lambda: os.path.exists(os.path.join(folder, "out.h5")) and len(told()) == 2, "both workers told of")
    pids = workers_of(process.pid)
    looks = []

    def members_shown():  # between two members a worker is without one: such a look says nothing of the others
        looks.append(look(folder))
        return any(w["running"] for w in looks[-1]["worker_list"]) or not looks[-1]["running"]

    wait_until(members_shown, "a look that shows members")
    r = looks[-1]
    assert r["running"] and r["states"]["pending"] > 0, r
    workers = r["worker_list"]
    assert [w["rank"] for w in workers] == [1, 2] and [w["pid"] for w in workers] == pids, (workers, pids)
    assert all(w["state"] == "ready" and w["host"] and w["tasks"] <= 2 and w["steps"] > 0 for w in workers), workers
    running = [m for w in workers for m in w["running"]]
    assert running and len(set(running)) == len(running) and len(running) <= 4, workers
    writer = r["writer"]
    assert writer["pid"] == process.pid and writer["host"] == workers[0]["host"] and writer["processes"] >= 1, writer
    text = command(folder, "status", "out.h5").stdout
    assert f"written   by process {process.pid} on {writer['host']}" in text, text
    assert f"worker    1 on {workers[0]['host']}, process {pids[0]}: ready" in text, text
    process.terminate()
    code, _, err = finish(process)
    assert code == 75, err
    r = look(folder)
    assert not r["running"] and all(w["state"] == "left" and w["running"] == [] for w in r["worker_list"]), r
    assert "worker  " not in command(folder, "status", "out.h5").stdout


def one_process_is_its_own_worker():
    folder = write(LIVE)
    process = start(folder)
    wait_until(lambda: os.path.exists(os.path.join(folder, "out.h5")) and look(folder).get("worker_list"), "the worker")
    workers = look(folder)["worker_list"]
    assert len(workers) == 1 and workers[0]["rank"] == 0 and workers[0]["pid"] == process.pid, (workers, process.pid)
    process.terminate()
    assert finish(process)[0] == 75


def looking_touches_nothing():
    for how in ("dead", "done"):
        folder = write(LIVE if how == "dead" else SLOW)
        if how == "dead":
            process = start(folder)
            wait_until(lambda: os.path.exists(os.path.join(folder, "out.h5")) and (states(folder) == 2).any(), "a member done")
            process.kill()
            process.communicate()
        else:
            assert run(folder)[0] == 0
        before = fingerprint(folder)
        r = look(folder)
        assert not r["running"] and (how == "done") == r["complete"], r
        assert command(folder, "status", "out.h5", "--watch=0.1").returncode == 0
        assert command(folder, "log", "out.h5", "0").returncode == 0
        assert fingerprint(folder) == before, how


def a_watch_ends_with_the_run():
    folder = write(LONG)
    process = start(folder, "-n", "2")
    wait_until(lambda: os.path.exists(os.path.join(folder, "out.h5")) and look(folder)["running"], "the run")
    watch = subprocess.run([SCANFARM, "status", "out.h5", "--json", "--watch=0.2"], cwd=folder, text=True,
                           capture_output=True, timeout=60)
    code, _, err = finish(process)
    assert code == 0 and watch.returncode == 0, (err, watch.stderr)
    looks = [json.loads(line)["files"][0] for line in watch.stdout.splitlines()]
    assert len(looks) >= 3 and [r["running"] for r in looks] == [True] * (len(looks) - 1) + [False], len(looks)
    saved = [r["planes_saved"] for r in looks]
    assert saved == sorted(saved) and saved[0] < saved[-1] == 60, saved
    watch = command(folder, "status", "out.h5", "--watch")  # nothing runs: one look
    assert watch.returncode == 0 and watch.stdout.count("members   ") == 1, watch.stdout
    for wrong in ("0", "x", "-1"):
        r = command(folder, "status", "out.h5", f"--watch={wrong}")
        assert r.returncode == 2 and "--watch" in r.stderr, (wrong, r.stderr)


def a_watch_whose_reader_goes_away_ends_and_the_run_goes_on():
    folder = write(LIVE)
    process = start(folder)
    wait_until(lambda: os.path.exists(os.path.join(folder, "out.h5")) and look(folder)["running"], "the run")
    watch = subprocess.Popen([SCANFARM, "status", "out.h5", "--watch=0.1"], cwd=folder, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
    watch.stdout.readline()
    watch.stdout.close()
    assert watch.wait(30) != 0
    assert process.poll() is None
    process.terminate()
    assert finish(process)[0] == 75


def the_log_tells_the_life_of_a_member():
    folder = write(FAILS)
    assert run(folder, "-n", "2")[0] == 1
    assert events(folder, 0) == ["running", "done"], log(folder, 0)
    r = log(folder, 1)
    assert [x["event"] for x in r["records"]] == ["running", "failed"], r
    assert r["state"] == "failed" and r["records"][1]["reason"] == r["reason"] and "failed at plane 1" in r["reason"], r
    assert r["records"][0]["rank"] == r["rank"] and r["records"][0]["attempt"] == 1, r
    assert run(folder, "--retry-failed")[0] == 1
    r = log(folder, 1)
    assert [x["event"] for x in r["records"]] == ["running", "failed", "retried", "running", "failed"], r
    assert [x["attempt"] for x in r["records"]] == [1, 1, 0, 2, 2] and r["attempts"] == 2, r
    text = command(folder, "log", "out.h5", "1").stdout
    assert text.splitlines()[0].startswith("out.h5: member 1 (point 1, realisation 0) failed at plane 1"), text
    assert "attempt 1  given to rank" in text and "before     retried" in text and "attempt 2  begun" in text, text
    times = [x["time"] for x in r["records"]]
    assert times == sorted(times), times


def the_log_of_a_killed_run_says_who_had_it():
    folder = write(LONG)
    process = start(folder)
    wait_until(lambda: os.path.exists(os.path.join(folder, "out.h5")) and (states(folder) == 2).sum() >= 2, "members done")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    r = log(folder, 19)
    assert r["state"] == "pending" and r["records"] == [] and r["attempts"] == 0, r
    assert "no record" in command(folder, "log", "out.h5", "19").stdout
    assert run(folder, "-n", "2")[0] == 0
    assert events(folder, 0)[-1] == "done"
    assert events(folder, 19) == ["running", "done"]


def many_fast_members_make_a_small_journal():
    text = SLOW.replace("sleep: 10 ms", "sleep: 0 s").replace("to: 39, points: 40", "to: 19999, points: 20000")
    folder = write(text)
    begin = time.time()
    assert run(folder, "-n", "2")[0] == 0
    seconds = time.time() - begin
    size = os.path.getsize(os.path.join(folder, "out.h5.journal"))
    assert size < 20000 + 10000 * seconds, (size, seconds)
    assert events(folder, 12345)[-1] == "done", log(folder, 12345)


def torn_lines_do_not_confuse_the_readers():
    folder = write(FAILS)
    assert run(folder, "-n", "2")[0] == 1
    path = os.path.join(folder, "out.h5.journal")
    whole = open(path, "rb").read()
    want = look(folder)
    with open(path, "wb") as file:
        file.write(whole + b'\n{"record":"worker","rank":1,"event":"dead')
    assert look(folder)["worker_list"] == want["worker_list"]
    for cut in range(0, len(whole), 97):
        with open(path, "wb") as file:
            file.write(whole[:cut])
        look(folder)
        assert set(events(folder, 1)) <= {"running", "failed"}
    with open(path, "wb") as file:
        file.write(os.urandom(5000))
    assert "worker_list" not in look(folder)


def what_log_cannot_show_is_refused():
    folder = write(FAILS)
    assert run(folder)[0] == 1
    for words, code, text in ((["out.h5", "3"], 2, "0 to 2"), (["out.h5", "-1"], 2, "-1"), (["out.h5", "x"], 2, "'x'"),
                              (["out.h5"], 2, "FILE MEMBER"), (["no.h5", "0"], 2, "no.h5"), (["scan.yaml", "0"], 4, "scan.yaml")):
        r = command(folder, "log", *words)
        assert r.returncode == code and text in r.stderr and len(r.stderr.splitlines()) == 1, (words, r.returncode, r.stderr)


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
