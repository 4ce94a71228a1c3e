#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A scan in shards: the same members with the same values, killed and resumed, chosen and reused, and what the
commands say of them.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import glob
import json
import os
import resource
import shutil
import signal
import stat
import sys
import time
from types import SimpleNamespace

import h5py
import numpy as np

from checks import run_checks
from farm import CODES, NOISE, SLOW, command, descendants, finish, kill_all, run, start, wait_until, write
from near import near

PLAIN = ("--fft-rigour", "estimate")  # the same transforms, and so the same bits, in every run
# 20 members: those with fail_at 1 have odd ids
FAILS = "scan: fails\nmodel: probe\naxes: [{a: {from: 0, to: 9, points: 10}}, {fail_at: [-1, 1]}]\nsave: {planes: 3}\n"
DONE, FAILED = 2, 3


def shard_file(folder, k, n, stem="out"):
    return os.path.join(folder, f"{stem}.shard-{k:0{len(str(n))}d}-of-{n}.h5")


def base(path):
    return os.path.basename(path)


def part_of(path):
    """All of a file that a comparison needs."""
    part = SimpleNamespace()
    with h5py.File(path) as file:
        part.shard = str(file.attrs.get("shard", ""))
        part.first = int(file.attrs.get("first_member", 0))
        part.of_scan = int(file.attrs.get("members_of_scan", file.attrs["members"]))
        part.ids = file["member_id"][...]
        part.rows = {f"{group}/{name}": file[group][name][...] for group in ("member", "plane")
                     for name in file[group] if isinstance(file[group][name], h5py.Dataset)}
        part.groups = set(file)
        part.complete = int(file["complete"][()])
    return part


def state_of(part, member):
    return int(part.rows["member/state"][member - part.first])


def whole_of(text, *words):
    folder = write(text)
    code, _, err = run(folder, *words)
    assert code == 0, err
    return folder, part_of(os.path.join(folder, "out.h5"))


def compare(part, whole, names=None):
    """The rows of a shard are those of the whole scan, bit for bit."""
    last = part.first + len(part.ids)
    for name in names or [n for n in part.rows if n.startswith("plane/")] + [
            "member/identity", "member/seed", "member/grid", "member/state", "member/n_saved", "member/steps"]:
        assert part.rows[name].tobytes() == whole.rows[name][part.first:last].tobytes(), (part.shard, name)


def cover(parts):
    """Side by side, all members of the scan once."""
    parts = sorted(parts, key=lambda part: part.first)
    ids = np.concatenate([part.ids for part in parts])
    assert (ids == np.arange(parts[0].of_scan)).all()
    for part in parts:
        assert len(part.ids) > 0 and part.ids[0] == part.first, part.shard


def shards_have_the_values_of_the_whole_scan():
    for text, shards, words in ((CODES, 4, ()), (NOISE, 3, PLAIN)):
        _, whole = whole_of(text, *words)
        folder, parts = write(text), []
        for k in range(1, shards + 1):
            # one process, and workers
            code, _, err = run(folder, "--shard", f"{k}/{shards}", *words, *(() if k % 2 else ("-n", "2")))
            assert code == 0, err
            parts.append(part_of(shard_file(folder, k, shards)))
            assert parts[-1].shard == f"{k}/{shards}" and parts[-1].complete == 1
            assert parts[-1].of_scan == len(whole.ids) and "ensemble" not in parts[-1].groups
            compare(parts[-1], whole)
        cover(parts)
        assert not os.path.exists(os.path.join(folder, "out.h5"))
        assert whole.shard == "" and ("ensemble" in whole.groups) == (text == NOISE)


def plan_shows_the_shards_that_run_computes():
    folder = write(CODES)
    code = command(folder, "plan", "scan.yaml", "--no-measure", "--shards", "4", "--json")
    assert code.returncode == 0, code.stderr
    plan = json.loads(code.stdout)
    assert [s["shard"] for s in plan["shards"]] == [1, 2, 3, 4]
    assert sum(s["count"] for s in plan["shards"]) == 30 and near(sum(s["share"] for s in plan["shards"]), 1, atol=1e-9, faulty=1 - 1e-8, fault="1e-8 of the work in no shard")
    # [3 planes][4 doubles], `x`, `code`, the checksum: of one plane
    assert plan["memory"]["plane_bytes"] == 7 * 8 and plan["memory"]["state_bytes"] > 0
    for shard in plan["shards"]:
        assert run(folder, "--shard", f"{shard['shard']}/4", "--only", "0")[0] == 0
        part = part_of(shard_file(folder, shard["shard"], 4))
        assert (part.first, len(part.ids)) == (shard["first"], shard["count"])
        assert os.path.getsize(shard_file(folder, shard["shard"], 4)) < 1.5 * plan["shard_file_bytes_most"]
    text = command(folder, "plan", "scan.yaml", "--no-measure", "--shards", "4").stdout
    first = plan["shards"][1]["first"]
    assert f"members {first} to {first + plan['shards'][1]['count'] - 1}" in text and "Shards       4" in text, text
    assert "shards" not in json.loads(command(folder, "plan", "scan.yaml", "--no-measure", "--json").stdout)
    alone = write("scan: alone\nmodel: probe\naxes: [{a: [0, 1, 2, 3]}]\n")
    text = command(alone, "plan", "scan.yaml", "--no-measure", "--shards", "4").stdout
    assert "Shards       4, of 1 member and 25 % of the cost" in text and "1          member 0: 1, 25 %" in text, text
    many = write("scan: many\nmodel: probe\naxes: [{a: {from: 0, to: 999, points: 1000}}]\n")
    text = command(many, "plan", "scan.yaml", "--no-measure", "--shards", "500").stdout
    assert "Shards       500" in text and len(text.splitlines()) < 30, text


def what_is_no_shard_is_refused():
    folder = write(CODES)
    for value, text in (("5/4", "K from 1 to N"), ("0/4", "K from 1 to N"), ("x", "K/N is wanted"), ("3", "K/N is wanted"),
                        ("2/31", "31 shards of a scan of 30 members: 1 to 30")):
        code, _, err = run(folder, "--shard", value)
        assert code == 2 and text in err and len(err.splitlines()) == 1, (value, code, err)
    for words, text in ((("--shards", "31"), "1 to 30"), (("--shards", "0"), "shards")):
        done = command(folder, "plan", "scan.yaml", "--no-measure", *words)
        assert done.returncode == 2 and text in done.stderr, done.stderr
    assert not glob.glob(os.path.join(folder, "*.h5*"))


def the_file_of_another_shard_is_refused_with_both():
    folder = write(CODES)
    assert run(folder, "--shard", "1/3")[0] == 0
    first = shard_file(folder, 1, 3)
    shutil.copy(first, shard_file(folder, 2, 3))
    code, _, err = run(folder, "--shard", "2/3")
    assert code == 4 and "shard 1/3 (members 0 to " in err and "shard 2/3 (members " in err, (code, err)
    shutil.copy(first, os.path.join(folder, "out.h5"))
    code, _, err = run(folder)
    assert code == 4 and "shard 1/3" in err and "the whole scan (members 0 to 29)" in err, (code, err)
    os.remove(os.path.join(folder, "out.h5"))
    assert run(folder, "--shard", "1/1")[0] == 0  # that is the whole scan
    shutil.copy(os.path.join(folder, "out.h5"), first)
    code, _, err = run(folder, "--shard", "1/3")
    assert code == 4 and "the whole scan" in err, (code, err)
    alone = write("scan: alone\nmodel: probe\naxes: [{a: [0, 1, 2, 3]}]\n")
    assert run(alone, "--shard", "1/4")[0] == 0
    shutil.copy(shard_file(alone, 1, 4), shard_file(alone, 2, 4))
    code, _, err = run(alone, "--shard", "2/4")
    assert code == 4 and "shard 1/4 (member 0); here it is shard 2/4 (member 1) (--fresh moves it aside" in err, (code, err)


def output_names_the_result_or_the_shard_itself():
    folder = write(CODES)
    assert run(folder, "--shard", "1/3", "-o", "it's a \"name\".h5")[0] == 0
    assert os.path.exists(shard_file(folder, 1, 3, "it's a \"name\""))
    code, _, err = run(folder, "--shard", "1/3", "-o", base(shard_file(folder, 1, 3, "it's a \"name\"")))
    assert code == 0 and "nothing to do" in err, err
    assert len(glob.glob(os.path.join(folder, "*.h5"))) == 1
    done = command(folder, "run", "scan.yaml", "--shard", "3/3")
    assert done.returncode == 0 and os.path.exists(shard_file(folder, 3, 3, "codes")), done.stderr


def done_in(path):
    with h5py.File(path) as file:
        return int((file["member/state"][...] == DONE).sum())


def a_shard_that_was_killed_or_stopped_goes_on():
    text = SLOW.replace("10 ms", "100 ms")
    _, whole = whole_of(text, "-n", "4")
    for words in ((), ("-n", "2")):
        folder = write(text)
        path = shard_file(folder, 2, 2)
        for blow in ("kill", "stop"):
            process = start(folder, "--shard", "2/2", *words)
            known = done_in(path) if os.path.exists(path) else 0
            wait_until(lambda: done_in(path) > known + 1, "members done")
            if blow == "kill":
                kill_all([process.pid, *descendants(process.pid)])
                process.communicate()
            else:
                process.send_signal(signal.SIGTERM)
                code, _, err = finish(process)
                assert code == 75, err
            assert done_in(path) < 20
        code, _, err = run(folder, "--shard", "2/2", *words)
        assert code == 0 and "20 of 20 members of shard 2/2 done" in err, err
        part = part_of(path)
        assert part.first == 20 and (part.rows["member/attempts"] <= 3).all()
        compare(part, whole, [name for name in part.rows if name.startswith("plane/")])
        assert not os.path.exists(shard_file(folder, 1, 2))


def members_are_chosen_tried_again_and_reused_by_their_ids():
    folder = write(FAILS)
    whole = write(FAILS)
    assert run(whole)[0] == 1
    path = shard_file(folder, 2, 2)
    code, out, err = run(folder, "--shard", "2/2", "--only", "3,11-13,18", "--json")
    part = part_of(path)
    assert code == 1 and [m for m in range(10, 20) if state_of(part, m) != 0] == [11, 12, 13, 18], err
    answer = json.loads(out)
    assert (answer["shard"], answer["first_member"], answer["members_of_scan"], answer["members"]) == ("2/2", 10, 20, 10)
    code, _, err = run(folder, "--shard", "2/2", "--only", "3")
    assert code == 0 and "none of the selected members is in shard 2/2" in err, err
    assert run(folder, "--shard", "2/2", "--retry-failed", "--only", "13", "-n", "2")[0] == 1
    part = part_of(path)
    assert list(part.rows["member/attempts"][:4]) == [0, 1, 1, 2]
    code, _, err = run(folder, "--shard", "2/2", "--reuse", os.path.abspath(os.path.join(whole, "out.h5")))
    assert code == 1 and "3 members taken over" in err, err  # 10, 14, 16: 12 and 18 are there, the others failed
    code, _, err = run(folder, "--shard", "2/2", "--fresh", "--only", "10")
    assert code == 0 and "is now" in err and state_of(part_of(path), 10) == DONE, err
    code, _, err = run(folder, "--reuse", base(path))
    assert code == 1 and "1 member taken over" in err, err


def journal_log_and_status_speak_ids_of_the_scan():
    folder = write(FAILS)
    path = shard_file(folder, 2, 2)
    assert run(folder, "--shard", "2/2", "-n", "1")[0] == 1
    with open(path + ".journal") as file:
        records = [json.loads(line) for line in file.read().split("\n") if line.strip()]
    members = [r for r in records if "first" in r]
    assert members and min(r["first"] for r in members) == 10 and max(r.get("last", r["first"]) for r in members) == 19
    done = command(folder, "status", base(path), "--json")
    report = json.loads(done.stdout)["files"][0]
    assert (report["shard"], report["first_member"], report["members_of_scan"], report["members"]) == ("2/2", 10, 20, 10)
    assert [f["member"] for f in report["failures"]] == [11, 13, 15, 17, 19]
    text = command(folder, "status", base(path)).stdout
    assert "shard     2/2, members 10 to 19 of 20" in text and "member 11 (point 11, realisation 0) failed" in text, text
    assert "failed" in command(folder, "log", base(path), "17").stdout
    done = command(folder, "log", base(path), "9")
    assert done.returncode == 2 and "10 to 19" in done.stderr, done.stderr


def pictures_are_of_single_members_and_points_are_not_reduced():
    folder = write(NOISE)
    path = shard_file(folder, 2, 2)
    assert run(folder, "--shard", "2/2", *PLAIN)[0] == 0
    for words, text in ((("plot", "--what", "spectrum"), "collect"), (("plot", "--what", "coherence", "--member", "6"), "collect"),
                        (("plot", "--what", "spectrum", "--member", "2"), "members are 5 to 9"), (("reduce",), "collect")):
        done = command(folder, *words, base(path))
        assert done.returncode == 2 and text in done.stderr and len(done.stderr.splitlines()) == 1, (words, done.stderr)
    if shutil.which("gnuplot"):
        for words in (("--what", "spectrum", "--member", "6"), ("--what", "timing"), ("--what", "steps", "--member", "9")):
            done = command(folder, "plot", *words, base(path), "-o", "p.svg")
            assert done.returncode == 0 and os.path.getsize(os.path.join(folder, "p.svg")) > 1000, (words, done.stderr)


def status_sums_up_the_shards_of_a_scan():
    folder = write(FAILS)
    for k in (1, 3):
        assert run(folder, "--shard", f"{k}/3")[0] == 1
    names = [base(shard_file(folder, k, 3)) for k in (3, 1)]
    done = command(folder, "status", *names, "--json")
    answer = json.loads(done.stdout)
    assert done.returncode == 0 and len(answer["files"]) == 2 and len(answer["scans"]) == 1
    scan = answer["scans"][0]
    counts = {k: v for k, v in scan["shards_by_state"].items() if v}
    assert counts == {"ended_with_failures": 2, "not_given": 1} and (scan["members"], scan["shards"]) == (20, 3)
    read = sum(s.get("members", 0) for s in scan["shard_list"])
    assert scan["states"]["done"] + scan["states"]["failed"] == read and scan["members_without_file"] == 20 - read
    members = [f["member"] for f in scan["failures"]]
    assert members == sorted(members) and len(members) == scan["states"]["failed"] <= 10
    text = command(folder, "status", *names).stdout
    assert text.startswith("scan fails, model probe, in 3 shards\n") and "3: 2 ended with failures, 1 not given" in text, text
    # one that cannot be read does not hide the others
    with open(os.path.join(folder, "broken.h5"), "w") as file:
        file.write("nothing")
    done = command(folder, "status", "broken.h5", *names)
    assert done.returncode == 4 and "2 ended with failures" in done.stdout, (done.returncode, done.stdout)


def submission(folder, jobs, shards=3, configuration=None):
    path = os.path.abspath(folder)
    with open(os.path.join(folder, "out.submission"), "w") as file:
        file.write(f"scanfarm submission 1\nscan: {path}/scan.yaml\nresult: {path}/out.h5\nshards: {shards}\n"
                   f"script: {path}/out.sbatch\nsubmitted: 2026-11-30T03:30:00.000Z\n"
                   + (f"configuration: {configuration}\n" if configuration else "") + "".join(f"job: {j}\n" for j in jobs))


def squeue(folder, script):
    """A folder with a squeue of our own, to be put in front of the PATH."""
    os.makedirs(os.path.join(folder, "bin"), exist_ok=True)
    path = os.path.join(folder, "bin", "squeue")
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + script)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return os.path.abspath(os.path.join(folder, "bin"))


def with_path(folder, where, *words):
    before = os.environ["PATH"]
    os.environ["PATH"] = where
    try:
        return command(folder, "status", *words)
    finally:
        os.environ["PATH"] = before


def row(job, task, state, reason="None", since="N/A", restarts=0):
    return f"printf '%-20s%-20s%-20s%-44s%-28s%-12s\\n' {job} {task} {state} {reason} {since} {restarts}\n"


def a_submission_shows_its_jobs_and_its_shards():
    folder = write(FAILS)
    assert run(folder, "--shard", "1/3")[0] == 1
    submission(folder, ("run 1234 1-3", "collect 1235 -"))
    there = squeue(folder, row(1234, 2, "RUNNING", since="2026-11-30T03:58:21", restarts=2)
                   + row(1234, 3, "PENDING", "JobHeldUser") + row(1235, "N/A", "PENDING", "Dependency")) + ":" + os.environ["PATH"]
    done = with_path(folder, there, "out.submission")
    text = done.stdout
    assert done.returncode == 0, done.stderr
    assert "run 1234, shards 1 to 3: 1 running since 2026-11-30T03:58:21Z, 1 held (JobHeldUser), 1 not in the queue any more; requeued 2 times" in text, text
    assert "collect 1235: 1 pending (Dependency)" in text and "3: 1 ended with failures, 2 not begun" in text, text
    assert "shard 2   not begun; job 1234 running since" in text, text
    answer = json.loads(with_path(folder, there, "out.submission", "--json").stdout)["submissions"][0]
    assert answer["queue_answers"] and answer["jobs"][0]["held"] == 1 and answer["jobs"][0]["left_the_queue"] == 1
    assert {k: v for k, v in answer["state"]["shards_by_state"].items() if v} == {"ended_with_failures": 1, "not_begun": 2}
    assert answer["state"]["shard_list"][2]["job"]["phase"] == "held"


def told(folder, rows, *words):
    """What status says of a submission whose jobs are so."""
    there = squeue(folder, "".join(rows)) + ":" + os.environ["PATH"]
    done = with_path(folder, there, "out.submission", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["submissions"][0] if "--json" in words else done.stdout


def a_shard_is_told_of_by_the_job_that_is_nearest_to_it():
    folder = write(FAILS)
    submission(folder, ("run 1234 1-3", "retry 1235 1-3"))
    waits = [row(1235, k, "PENDING", "Dependency") for k in (1, 2, 3)]
    text = told(folder, [row(1234, 1, "COMPLETED"), row(1234, 2, "RUNNING", since="2026-11-30T03:58:21"),
                         row(1234, 3, "PENDING", "Priority"), *waits])
    for k, words in ((1, "job 1234 ended (COMPLETED)"), (2, "job 1234 running since 2026-11-30T03:58:21Z"),
                     (3, "job 1234 pending (Priority)")):
        assert f"shard {k}   not begun; {words}\n" in text, (k, text)
    text = told(folder, [row(1234, 1, "FAILED"), row(1234, 2, "FAILED"), row(1234, 3, "COMPLETED"),
                         row(1235, 1, "FAILED"), row(1235, 2, "PENDING", "Priority"), row(1235, 3, "RUNNING")])
    for k, words in ((1, "retry job 1235 ended (FAILED)"), (2, "retry job 1235 pending (Priority)"), (3, "retry job 1235 running")):
        assert f"shard {k}   not begun; {words}" in text, (k, text)
    never = [row(1235, k, "CANCELLED", "DependencyNeverSatisfied") for k in (1, 2, 3)]
    other = [row(1235, k, "CANCELLED", "Dependency") for k in (1, 2, 3)]
    rows = [row(1234, k, "COMPLETED") for k in (1, 2, 3)] + never
    for some in (rows, rows[:3] + other):  # where Slurm gives no reason the run tells
        text = told(folder, some)
        assert "retry 1235, shards 1 to 3: not needed" in text and "CANCELLED" not in text, text
        assert text.count("; job 1234 ended (COMPLETED)") == 3, text
    assert "not needed" in told(folder, never)  # the run has been forgotten
    jobs = told(folder, rows, "--json")["jobs"]
    assert [job["not_needed"] for job in jobs] == [False, True] and jobs[0]["ended_as"] == {"COMPLETED": 3}, jobs
    # cancelled by somebody, run and retry: that is another thing
    text = told(folder, [row(1234, k, "CANCELLED") for k in (1, 2, 3)] + other)
    assert "not needed" not in text and "retry 1235, shards 1 to 3: 3 ended (CANCELLED)" in text, text
    assert text.count("not begun; job 1234 ended (CANCELLED)\n") == 3 and "log" not in text, text


def times_are_utc_and_starts_to_come_are_told():
    folder = write(FAILS)
    submission(folder, ("run 1234 1-3",))
    os.environ["TZ"] = "EST5"
    try:
        text = told(folder, [row(1234, 1, "PENDING", "BeginTime", since="2026-11-30T23:30:00", restarts=1),
                             row(1234, 2, "RUNNING", since="2026-11-30T03:58:21"), row(1234, 3, "PENDING")])
    finally:
        del os.environ["TZ"]
    assert "shard 1   not begun; job 1234 pending (BeginTime), may start 2026-12-01T04:30:00Z, requeued 1 time" in text, text
    assert "1 running since 2026-11-30T08:58:21Z, 2 pending (BeginTime), may start 2026-12-01T04:30:00Z" in text, text
    assert "shard 3   not begun; job 1234 pending\n" in text and "None" not in text, text


def a_preempted_job_waits_and_endings_are_counted():
    folder = write(FAILS)
    submission(folder, ("run 1234 1-3",))
    rows = [row(1234, 1, "PREEMPTED"), row(1234, 2, "FAILED", "NonZeroExitCode"), row(1234, 3, "TIMEOUT", "TimeLimit")]
    text = told(folder, rows)
    assert "1 pending (PREEMPTED), 2 ended (1 FAILED, 1 TIMEOUT)" in text, text
    job = told(folder, rows, "--json")["jobs"][0]
    assert job["pending"] == 1 and job["ended"] == 2 and job["ended_as"] == {"FAILED": 1, "TIMEOUT": 1}, job


def the_reason_of_a_job_that_failed_stands_in_its_log():
    folder = write(FAILS)
    here = os.path.abspath(folder)
    submission(folder, ("run 1234 1-2", "run 1235 3-3", "collect 1236 -"))
    with open(os.path.join(folder, "out.1234_2.out"), "w") as file:
        file.write(20000 * "x" + "\nmodule: command not found\n\n")
    with open(os.path.join(folder, "out.collect.1236.out"), "w") as file:
        file.write("out of luck\n")
    rows = [row(1234, 1, "COMPLETED"), row(1234, 2, "FAILED"), row(1235, 1, "FAILED"), row(1236, "N/A", "FAILED")]
    text = told(folder, rows)
    assert f"job 1234 ended (FAILED)\n            log {here}/out.1234_2.out: module: command not found\n" in text, text
    assert f"job 1235 ended (FAILED)\n            log {here}/out.1235_1.out: it wrote no log\n" in text, text
    assert f"collect 1236: 1 ended (FAILED)\n            log {here}/out.collect.1236.out: out of luck\n" in text, text
    assert text.count("  log ") == 3, text
    answer = told(folder, rows, "--json")
    assert answer["jobs"][2]["last_line"] == "out of luck" and "log" not in answer["jobs"][0], answer
    assert [shard.get("job", {}).get("last_line") for shard in answer["state"]["shard_list"]] == [None, "module: command not found", ""]
    # of one job, and of a shard whose members are all done
    submission(folder, ("run 77 1-1",), shards=1)
    with open(os.path.join(folder, "out.77.out"), "w") as file:
        file.write("no such partition\n")
    text = told(folder, [row(77, "N/A", "FAILED")])
    assert f"log {here}/out.77.out: no such partition" in text and "has not begun" in text, text
    done = write(CODES)
    assert run(done, "--shard", "1/2")[0] == 0
    submission(done, ("run 5 1-2",), shards=2)
    with open(os.path.join(done, "out.5_1.out"), "w") as file:
        file.write("another configuration\n")
    text = told(done, [row(5, 1, "FAILED"), row(5, 2, "PENDING")])
    assert "2: 1 complete, 1 not begun" in text and "out.5_1.out: another configuration" in text, text


def files_of_another_scan_than_the_submitted_one_are_told():
    folder = write(CODES)
    plan = json.loads(command(folder, "plan", "scan.yaml", "--no-measure", "--json").stdout)
    other = write(CODES.replace("[0, 1]", "[0, 2]"))
    for k in (1, 2):
        assert run(folder, "--shard", f"{k}/3")[0] == 0
    assert run(other, "--shard", "3/3")[0] == 0 and run(other)[0] == 0
    shutil.copy(shard_file(other, 3, 3), folder)
    shutil.copy(os.path.join(other, "out.h5"), folder)
    none = squeue(folder, "exit 0\n") + ":" + os.environ["PATH"]
    submission(folder, (), configuration=plan["configuration"])
    done = with_path(folder, none, "out.submission")
    assert done.returncode == 4 and "shard-3-of-3.h5 holds another configuration" in done.stderr, done
    assert "3: 2 complete, 1 foreign" in done.stdout and "shard 3   foreign" in done.stdout, done.stdout
    assert "out.h5 is of another configuration" in done.stdout, done.stdout
    answer = json.loads(with_path(folder, none, "out.submission", "--json").stdout)["submissions"][0]
    assert answer["foreign_result"] and answer["state"]["shards_by_state"]["foreign"] == 1, answer
    submission(folder, (), shards=1, configuration=plan["configuration"])
    done = with_path(folder, none, "out.submission")
    assert done.returncode == 4 and "out.h5 is of another configuration" in done.stdout and "30 done" not in done.stdout, done
    # what changes no result changes no configuration
    with open(os.path.join(folder, "scan.yaml"), "a") as file:
        file.write("resources: {worker: {threads: 2}}\n# a word\n")
    again = json.loads(command(folder, "plan", "scan.yaml", "--no-measure", "--json").stdout)
    assert again["configuration"] == plan["configuration"]


def what_the_queue_does_not_say_is_unknown():
    folder = write(FAILS)
    submission(folder, ("run 1234 1-3",))
    path = os.environ["PATH"]
    gone = squeue(folder, "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1\n") + ":" + path
    done = with_path(folder, gone, "out.submission")
    assert done.returncode == 0 and "3 not in the queue any more" in done.stdout and "no job of it is in the queue" in done.stdout, done.stdout
    assert "done" not in done.stdout and "3 not begun" in done.stdout, done.stdout
    down = squeue(folder, "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1\n") + ":" + path
    done = with_path(folder, down, "out.submission")
    assert done.returncode == 0 and "run 1234, shards 1 to 3: unknown" in done.stdout, done.stdout
    assert "does not answer" in done.stdout and "Unable to contact slurm controller" in done.stdout, done.stdout
    assert "not in the queue" not in done.stdout and "no job of it" not in done.stdout, done.stdout
    done = with_path(folder, "/nowhere", "out.submission")
    assert done.returncode == 0 and "unknown" in done.stdout and "not on the PATH" in done.stdout, done.stdout
    answer = json.loads(with_path(folder, "/nowhere", "out.submission", "--json").stdout)["submissions"][0]
    assert not answer["queue_answers"] and "pending" not in answer["jobs"][0]
    with open(os.path.join(folder, "out.submission"), "a") as file:
        file.write("job: walk 7 -\n")
    done = command(folder, "status", "out.submission")
    assert done.returncode == 2 and "out.submission" in done.stderr, (done.returncode, done.stderr)


def a_submission_that_is_not_there_is_told_as_one():
    folder = write(FAILS)
    for words in (("status", "nope.submission"), ("collect", "nope.submission"), ("cancel", "nope.submission")):
        done = command(folder, *words)
        assert done.returncode == 2 and done.stderr == "scanfarm: cannot read nope.submission: No such file or directory\n", done


def a_queue_that_hangs_is_not_waited_for():
    folder = write(FAILS)
    submission(folder, ("run 1234 1-3",))
    hangs = squeue(folder, "exec sleep 300\n") + ":" + os.environ["PATH"]
    begin = time.time()
    done = with_path(folder, hangs, "out.submission")
    assert done.returncode == 0 and "longer than 10 s" in done.stdout and "unknown" in done.stdout, done.stdout
    assert time.time() - begin < 120


def one_job_is_shown_with_the_result_itself():
    folder = write(FAILS)
    submission(folder, ("run 77 1-1",), shards=1)
    there = squeue(folder, row(77, "N/A", "PENDING", "Resources")) + ":" + os.environ["PATH"]
    text = with_path(folder, there, "out.submission").stdout
    assert "run 77: 1 pending (Resources)" in text and "has not begun" in text, text
    assert run(folder)[0] == 1
    text = with_path(folder, there, "out.submission").stdout
    assert "20: 10 done, 10 failed" in text and "  shard" not in text, text
    answer = json.loads(with_path(folder, there, "out.submission", "--json").stdout)["submissions"][0]
    assert answer["file"]["states"]["failed"] == 10


def watching_a_submission_ends_with_its_last_job():
    folder = write(FAILS)
    submission(folder, ("run 77 1-1",), shards=1)
    there = squeue(folder, f"test -e {os.path.abspath(folder)}/left && exit 0\ntouch {os.path.abspath(folder)}/left\n"
                   + row(77, "N/A", "PENDING", "Priority")) + ":" + os.environ["PATH"]
    text = with_path(folder, there, "out.submission", "--watch=0.1").stdout
    assert text.count("run 77: 1 pending (Priority)") == 1 and text.rstrip().count("1 not in the queue any more") == 1, text


def a_shard_of_a_billion_members_needs_no_more_than_its_own():
    folder = write("scan: huge\nmodel: probe\nparameters: {size: 1}\naxes:\n  - a: {from: 0, to: 999, step: 1}\n"
                   "  - b: {from: 0, to: 999, step: 1}\n  - c: {from: 0, to: 999, step: 1}\nsave: {planes: last}\n")
    code, _, err = run(folder, "--shard", "500000/1000000")
    assert code == 0 and "1000 of 1000 members of shard 500000/1000000 done" in err, err
    part = part_of(shard_file(folder, 500000, 1000000))
    assert part.first == 499999000 and part.of_scan == 10**9
    a, b, c = part.ids // 10**6, part.ids // 1000 % 1000, part.ids % 1000
    assert (part.rows["plane/code"][:, 0] == 10000 * a + 100 * b + c).all()
    assert os.path.getsize(shard_file(folder, 500000, 1000000)) < 16e6
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1e6  # kB; 8 bytes for each member were 8 GB


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
