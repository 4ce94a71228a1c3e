#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs on a Slurm of one machine: from submit to picture, time limits, ends of every kind. The checks run side by
side, for most of their time is waiting.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import glob
import json
import os
import signal
import subprocess
import sys

import h5py
import numpy as np

from cluster import SCANFARM, Cluster, log_of, missing, run_all

CODES = """scan: codes
model: probe
parameters: {size: 4}
axes: [{a: [0, 1]}, {b: [0, 1, 2]}, {c: [0, 1, 2, 3, 4]}]
save: {planes: 3, field: true, observables: all}
store: {history: 0}
"""
# 20 members of a second each, 0.2 s from plane to plane
SLOW = """scan: slow
model: probe
parameters: {size: 64, sleep: 200 ms}
axes: [{a: {from: 0, to: 19, points: 20}}]
save: {planes: 5, field: true, observables: all}
store: {history: 0, checkpoint: 500 ms}
"""
FAILS = "scan: fails\nmodel: probe\naxes: [{a: [0, 1, 2, 3]}, {fail_at: [-1, 1]}]\nsave: {planes: 3}\n"
DONE = 2


def write(name, text=CODES):
    folder = os.path.abspath(name)
    os.makedirs(folder)
    with open(os.path.join(folder, "scan.yaml"), "w") as file:
        file.write(text)
    return folder


def rows_of(path):
    """All that the values of a result are: planes, observables, and what tells how far they are."""
    with h5py.File(path) as file:
        rows = {"plane/" + name: file["plane"][name][...] for name in file["plane"]}
        for name in ("n_saved", "state"):
            rows["member/" + name] = file["member"][name][...]
        return rows, file["member/attempts"][...], int(file["complete"][()])


def reference(folder):
    """The same scan in one process, without a batch system."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("SLURM")}
    subprocess.run([SCANFARM, "run", "scan.yaml", "-o", "reference.h5", "--quiet", "--set", "sleep=0 s"], cwd=folder,
                   env=env, check=True, timeout=300)
    return rows_of(os.path.join(folder, "reference.h5"))[0]


def assert_right(folder, name):
    """A result has the bits of the reference, and is complete."""
    rows, attempts, complete = rows_of(os.path.join(folder, name))
    right = reference(folder)
    assert complete == 1 and (rows["member/state"] == DONE).all(), (name, rows["member/state"], log_of(folder))
    for key, values in right.items():
        if key != "plane/checksum":  # of a plane with its member's identity, which holds `sleep`
            assert rows[key].tobytes() == values.tobytes(), (name, key)
    return attempts


def assert_in(texts, log):
    for text in texts:
        assert text in log, f"{text!r} is not in:\n{log}"


def one_job_of_four_ranks_by_srun_with_a_picture(cluster):
    folder = write("it's \"one\" $HOME é")
    ids = cluster.submit(folder, "--workers-per-node", "3", "--launcher", "srun", "--time", "10", "--plot",
                         "observable:code", "-o", "100% of 'it' %j.h5")
    assert cluster.wait_end(ids["run"]) == ["COMPLETED"], log_of(folder)
    assert cluster.wait_end(ids["plot"]) == ["COMPLETED"], log_of(folder)
    assert_in(["srun starts the ranks (pmix)", "rank 3 on ", "30 of 30 members done"], log_of(folder))
    assert_right(folder, "100% of 'it' %j.h5")
    picture = os.path.join(folder, "100% of 'it' %j-observable-code.png")
    assert os.path.getsize(picture) > 1000, picture
    assert os.path.exists(os.path.join(folder, f"100% of 'it' %j.{ids['run'][0]}.out")), os.listdir(folder)


def one_job_of_four_ranks_by_mpirun(cluster):
    folder = write("mpirun one")
    ids = cluster.submit(folder, "--workers-per-node", "3", "--launcher", "mpirun")
    assert cluster.wait_end(ids["run"]) == ["COMPLETED"], log_of(folder)
    assert_in(["mpirun starts the ranks", "rank 3 on "], log_of(folder))
    assert_right(folder, "codes.h5")


def six_shards_in_two_arrays_by_mpirun_collected_and_drawn(cluster):
    folder = write("six")  # the cluster's arrays end at index 4
    ids = cluster.submit(folder, "--shards", "6", "--launcher", "mpirun", "--max-running", "4", "--plot",
                         "observable:code", "--retry")
    assert len(ids["run"]) == 2, ids
    assert cluster.wait_end(ids["run"]) == ["COMPLETED"] * 6, log_of(folder)
    assert cluster.wait_end(ids["collect"] + ids["plot"]) == ["COMPLETED"] * 2, log_of(folder)
    assert len(glob.glob(os.path.join(glob.escape(folder), "codes.shard-*-of-6.h5"))) == 6
    if len(os.sched_getaffinity(0)) > 1:  # each job would bind itself to the first core
        assert_in(["workers are not bound"], log_of(folder))
    assert "share core" not in log_of(folder), log_of(folder)
    assert_right(folder, "codes.h5")
    assert os.path.getsize(os.path.join(folder, "codes-observable-code.png")) > 1000
    with h5py.File(os.path.join(folder, "codes.h5")) as file:
        codes = file["plane/code"][:, -1]
    expected = [10000 * a + 100 * b + c for a in range(2) for b in range(3) for c in range(5)]
    assert codes.ravel().tolist() == expected, codes
    told = json.loads(cluster.must(SCANFARM, "status", "codes.submission", "--json", cwd=folder))
    assert told["submissions"][0]["shards"] == 6, told
    kinds = [(job["kind"], job["not_needed"]) for job in told["submissions"][0]["jobs"]]
    assert kinds == [("run", False)] * 2 + [("retry", True)] * 2 + [("collect", False), ("plot", False)], told
    with open(os.path.join(folder, "scan.yaml"), "a") as file:
        file.write("ensemble: {realisations: 2, seed: 1}\n")
    again = cluster.call(SCANFARM, "submit", "scan.yaml", "--shards", "6", cwd=folder)
    assert again.returncode == 4 and "codes.h5 holds another configuration: ensemble" in again.stderr, again


def a_failed_shard_is_retried_and_what_is_there_is_collected(cluster):
    folder = write("fails", FAILS)
    ids = cluster.submit(folder, "--shards", "4", "--retry")  # ranks by what the site has
    assert cluster.wait_end(ids["run"]) == ["FAILED"] * 4, log_of(folder)
    assert cluster.wait_end(ids["retry"]) == ["FAILED"] * 4, log_of(folder)
    assert cluster.wait_end(ids["collect"]) == ["FAILED"], log_of(folder)
    assert_in(["--retry-failed: 1 member is computed again", "fail_at"], log_of(folder))
    assert cluster.show(ids["collect"][0])["ExitCode"] == "1:0", log_of(folder)
    told = cluster.must(SCANFARM, "status", "fails.submission", cwd=folder)
    assert_in(["4: 4 ended with failures", f"retry job {ids['retry'][0]} ended (FAILED)",
               f"fails.{ids['retry'][0]}_1.out: ", f"fails.collect.{ids['collect'][0]}.out: "], told)
    rows, attempts, _ = rows_of(os.path.join(folder, "fails.h5"))
    assert (rows["member/state"] == DONE).tolist() == [True, False] * 4, rows["member/state"]
    assert attempts.tolist() == [1, 2] * 4, attempts


def a_short_time_limit_is_no_end(cluster):
    folder = write("limit", SLOW.replace("20}", "45}").replace("to: 19", "to: 44"))
    ids = cluster.submit(folder, "--time", "1", "--workers-per-node", "1")
    assert cluster.wait_end(ids["run"], 500) == ["COMPLETED"], log_of(folder)
    restarts = int(cluster.show(ids["run"][0])["Restarts"])
    assert restarts >= 1
    assert_in(["requeued, restart 1 of at most 20", "it may start again in 20 seconds", "45 of 45 members done"],
              log_of(folder))
    assert "TIME LIMIT" not in log_of(folder)
    attempts = assert_right(folder, "slow.h5")
    again = int((attempts - 1).sum())  # one worker has one member in progress when it stops
    assert 0 <= again <= restarts and attempts.max() <= 2, (restarts, attempts)


def a_cancelled_job_stays_cancelled_and_submitting_again_goes_on(cluster):
    folder = write("cancel", SLOW)
    ids = cluster.submit(folder, "--time", "10")
    result = os.path.join(folder, "slow.h5")
    cluster.wait("a member done", lambda: done_of(result) >= 1)
    out = cluster.must(SCANFARM, "cancel", "slow.submission", cwd=folder)
    assert f"cancelled: run job {ids['run'][0]} (1 running)" in out, out
    assert cluster.wait_end(ids["run"]) == ["CANCELLED"], log_of(folder)
    log = log_of(folder)
    assert_in(["Slurm ends this job: stopping in order", "whoever ended this job decides"], log)
    assert "requeued" not in log, log
    kept = done_of(result)
    assert 1 <= kept < 20
    told = cluster.must(SCANFARM, "status", "slow.submission", cwd=folder)
    assert "CANCELLED" in told and f"{kept} done" in told, told
    assert "nothing of" in cluster.must(SCANFARM, "cancel", "slow.submission", cwd=folder)
    ids = cluster.submit(folder, "--time", "10")
    assert cluster.wait_end(ids["run"]) == ["COMPLETED"], log_of(folder)
    attempts = assert_right(folder, "slow.h5")
    assert int((attempts - 1).sum()) <= 1, attempts


def done_of(path):
    try:
        with h5py.File(path) as file:
            return int((file["member/state"][...] == DONE).sum())
    except OSError:
        return 0


def a_job_that_somebody_requeues_goes_on(cluster):
    folder = write("requeue", SLOW)
    ids = cluster.submit(folder, "--time", "10", "--launcher", "mpirun")
    cluster.wait("a member done", lambda: done_of(os.path.join(folder, "slow.h5")) >= 1)
    again = cluster.call(SCANFARM, "submit", "scan.yaml", cwd=folder)
    assert again.returncode == 4 and f"job {ids['run'][0]} is in the queue" in again.stderr, again
    cluster.must("scontrol", "requeue", str(ids["run"][0]))
    cluster.hurry(ids["run"][0])
    assert cluster.wait_end(ids["run"]) == ["COMPLETED"], log_of(folder)
    assert int(cluster.show(ids["run"][0])["Restarts"]) == 1
    assert int((assert_right(folder, "slow.h5") - 1).sum()) <= 1


def a_step_whose_slurmd_dies_is_started_again(cluster):
    folder = write("step", SLOW)
    ids = cluster.submit(folder, "--time", "10", "--launcher", "srun")
    cluster.wait("a member done", lambda: done_of(os.path.join(folder, "slow.h5")) >= 1)
    os.kill(step_process(cluster, ids["run"][0]), signal.SIGKILL)
    assert cluster.wait_end(ids["run"]) == ["COMPLETED"], log_of(folder)
    assert_in(["starting the farm again, 1 of 2", "20 of 20 members done"], log_of(folder))
    assert int((assert_right(folder, "slow.h5") - 1).sum()) <= 1


def processes():
    """(pid, words of the command line) of all processes."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    yield int(name), file.read().decode(errors="replace")
            except OSError:
                continue


def step_process(cluster, job):
    """slurmstepd of the job's first step on this cluster; another cluster may have a job of this number."""
    for pid, words in processes():
        if words.startswith(f"slurmstepd: [{job}.0]"):
            with open(f"/proc/{pid}/environ", "rb") as file:
                if f"SLURM_CONF={cluster.env['SLURM_CONF']}".encode() in file.read().split(b"\0"):
                    return pid
    raise AssertionError(f"no slurmstepd of job {job}")


def a_held_job_waits_and_says_so(cluster):
    folder = write("held")
    ids = cluster.submit(folder, "--shards", "2", "--no-collect", "--sbatch-option", "--begin=now+1hour")
    for job in ids["run"]:
        cluster.must("scontrol", "hold", str(job))
    cluster.wait("the hold", lambda: "JobHeld" in str(cluster.tasks(ids["run"])))
    told = cluster.must(SCANFARM, "status", "codes.submission", cwd=folder)
    assert "held" in told, told
    for job in ids["run"]:
        cluster.must("scontrol", "release", str(job))
        cluster.must("scontrol", "update", f"JobId={job}", "StartTime=now")
    assert cluster.wait_end(ids["run"]) == ["COMPLETED"] * 2, log_of(folder)
    cluster.must(SCANFARM, "collect", "codes.submission", cwd=folder)
    assert_right(folder, "codes.h5")


def a_container_runs_mpirun_inside(cluster):
    """The image is one of our own making: a program that puts words aside and runs scanfarm."""
    folder = write("container")
    with open(os.path.join(folder, "image.sif"), "w") as file:
        file.write("an image\n")
    with open(os.path.join(folder, "apptainer"), "w") as file:
        file.write('#!/bin/bash\necho "apptainer: $*" >&2\nwhile [ "$1" != scanfarm ]; do shift; done\nshift\n'
                   f'export PATH=/usr/bin:/bin\nexec {SCANFARM} "$@"\n')
    os.chmod(os.path.join(folder, "apptainer"), 0o755)
    with open(os.path.join(folder, "site"), "w") as file:
        file.write(f"setup = export PATH='{folder}':$PATH\n")
    ids = cluster.submit(folder, "--container", "image.sif", "--launcher", "mpirun", "--time", "10", "--profile", "site")
    assert cluster.wait_end(ids["run"]) == ["COMPLETED"], log_of(folder)
    assert_in([f"apptainer: exec --bind {folder} --bind {folder} {folder}/image.sif scanfarm run", "mpirun starts"],
              log_of(folder))
    assert "the end of job" not in log_of(folder)  # it is known inside
    assert_right(folder, "codes.h5")


def ranks_of(result):
    """{node: number of scanfarm's ranks} of a result file."""
    found = {}
    for pid, words in processes():
        if words.startswith(SCANFARM + "\0") and "--rank-of=" in words and result in words:
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    env = dict(pair.split(b"=", 1) for pair in file.read().split(b"\0") if b"=" in pair)
            except OSError:
                continue
            node = env.get(b"SLURM_NODEID")
            found[node] = found.get(node, 0) + 1
    return found


def each_of_two_nodes_gets_its_workers(cluster):
    for launcher in ("srun", "mpirun"):
        folder = write("nodes " + launcher, SLOW)
        ids = cluster.submit(folder, "--nodes", "2", "--workers-per-node", "2", "--launcher", launcher, "--time", "10")
        result = os.path.join(folder, "slow.h5")
        cluster.wait("a member done", lambda: done_of(result) >= 1)
        ranks = ranks_of(result)
        assert ranks == {b"0": 3, b"1": 2}, (launcher, ranks)  # the controller is one more on the first
        assert cluster.wait_end(ids["run"]) == ["COMPLETED"], log_of(folder)
        assert_right(folder, "slow.h5")
    a_preempted_job_goes_on(cluster)
    without_slurmctld_nothing_is_lost_and_all_is_said(cluster)


def a_preempted_job_goes_on(cluster):
    folder = write("preempted", SLOW)
    ids = cluster.submit(folder, "--partition", "spare", "--time", "10", "--launcher", "srun")
    cluster.wait("a member done", lambda: done_of(os.path.join(folder, "slow.h5")) >= 1)
    other = int(cluster.must("sbatch", "--parsable", "--exclusive", "--nodes=2", "--output=/dev/null", "--wrap", "true"))
    assert cluster.wait_end([other]) == ["COMPLETED"]
    cluster.hurry(ids["run"][0])
    assert cluster.wait_end(ids["run"]) == ["COMPLETED"], log_of(folder)
    restarts = int(cluster.show(ids["run"][0])["Restarts"])
    assert "starting the farm again" not in log_of(folder), log_of(folder)
    assert int((assert_right(folder, "slow.h5") - 1).sum()) <= restarts, log_of(folder)


def without_slurmctld_nothing_is_lost_and_all_is_said(cluster):
    folder = write("down")
    ids = cluster.submit(folder, "--time", "10")
    assert cluster.wait_end(ids["run"]) == ["COMPLETED"], log_of(folder)
    with open(os.path.join(cluster.work, "run", "slurmctld")) as file:
        os.kill(int(file.read()), signal.SIGKILL)
    told = cluster.must(SCANFARM, "status", "codes.submission", cwd=folder)
    assert "30 done" in told and "squeue" in told, told
    answer = cluster.call(SCANFARM, "submit", "scan.yaml", "-o", "new.h5", cwd=folder)
    assert answer.returncode == 3 and "Unable to contact slurm controller" in answer.stderr, answer
    assert os.access(os.path.join(folder, "new.sbatch"), os.X_OK)
    answer = cluster.call(SCANFARM, "cancel", "codes.submission", cwd=folder)
    assert answer.returncode == 3 and "nothing is cancelled" in answer.stderr, answer


CHECKS = (a_short_time_limit_is_no_end, one_job_of_four_ranks_by_srun_with_a_picture, one_job_of_four_ranks_by_mpirun,
          six_shards_in_two_arrays_by_mpirun_collected_and_drawn,
          a_failed_shard_is_retried_and_what_is_there_is_collected,
          a_cancelled_job_stays_cancelled_and_submitting_again_goes_on, a_job_that_somebody_requeues_goes_on,
          a_step_whose_slurmd_dies_is_started_again, a_held_job_waits_and_says_so, a_container_runs_mpirun_inside,
          each_of_two_nodes_gets_its_workers)


def main():
    name = missing()
    if name is not None:
        print(f"skipped: {name} is not here (Debian: slurmctld slurmd slurm-client munge)")
        return 77
    one = two = None
    try:
        one = Cluster("--cpus", "24", "--kill-wait", "5", "--max-array", "5")
        two = Cluster("--nodes", "2", "--cpus", "4", "--kill-wait", "5", OMPI_MCA_btl="tcp,self")
        return run_all(CHECKS, lambda check: two if check is each_of_two_nodes_gets_its_workers else one)
    finally:
        for cluster in (one, two):
            if cluster is not None:
                cluster.stop()


if __name__ == "__main__":
    sys.exit(main())
