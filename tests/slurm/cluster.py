# SPDX-License-Identifier: GPL-3.0-or-later
"""A Slurm of one machine for the time of a test, and what tests ask of it."""
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

PATIENCE = float(os.environ.get("CK_TIMEOUT_MULTIPLIER", "4"))
SOURCE = os.environ["SCANFARM_SOURCE"]
SCANFARM = os.environ["SCANFARM"]
TOOL = os.path.join(SOURCE, "slurm", "local-cluster")
NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel")
# A preempted job bears that name until it has left its nodes and waits again.
LIVE = ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "REQUEUED", "STOPPED", "PREEMPTED")
# the pretended nodes of one machine must not share memory; jobs of root need Open MPI's leave
SURROUNDINGS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def missing():
    """The first program that is not here, None: all are."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return next((name for name in NEEDED if shutil.which(name, path=path) is None), None)


class Cluster:
    def __init__(self, *options, **environment):
        self.work = tempfile.mkdtemp(prefix="scanfarm-slurm-", dir="/tmp")
        self.env = dict(os.environ, SLURM_CONF=os.path.join(self.work, "slurm.conf"), **SURROUNDINGS, **environment)
        for name in ("SCANFARM_PROFILE", "SLURM_JOB_ID"):
            self.env.pop(name, None)
        # a test that is killed leaves no cluster behind
        self.guard = subprocess.Popen(
            ["sh", "-c", 'read nothing; "$0" stop "$1" >/dev/null 2>&1; rm -rf "$1"', TOOL, self.work],
            stdin=subprocess.PIPE, start_new_session=True)
        self.lock = threading.Lock()
        self.asked, self.rows = 0, []
        subprocess.run([TOOL, "start", self.work, *options], env=self.env, check=True, stdout=subprocess.DEVNULL)

    def stop(self):
        self.guard.stdin.close()
        self.guard.wait()

    def call(self, *words, cwd=None, limit=120):
        return subprocess.run(words, cwd=cwd, env=self.env, capture_output=True, text=True, timeout=limit * PATIENCE)

    def must(self, *words, **more):
        answer = self.call(*words, **more)
        assert answer.returncode == 0, (words, answer.returncode, answer.stdout, answer.stderr)
        return answer.stdout

    def submit(self, folder, *words, scan="scan.yaml"):
        """The ids that `scanfarm submit` got, by kind."""
        out = self.must(SCANFARM, "submit", scan, *words, cwd=folder)
        name = out.split("scanfarm status ")[1].split(" tells how")[0]
        ids = {}
        with open(name) as file:
            for line in file:
                if line.startswith("job: "):
                    kind, job = line.split()[1:3]
                    ids.setdefault(kind, []).append(int(job))
        return ids

    def tasks(self, jobs):
        """[(array or job id, task, state, reason)] of jobs: one question a half second, whoever asks."""
        with self.lock:
            if time.time() - self.asked > 0.5:
                out = self.must("squeue", "--noheader", "--array", "--states=all", "--format=%F|%K|%T|%r")
                self.rows = [line.split("|") for line in out.splitlines()]
                self.asked = time.time()
            rows = self.rows
        return [(int(job), task, state, reason) for job, task, state, reason in rows if int(job) in jobs]

    def states(self, jobs):
        return sorted(state for _, _, state, _ in self.tasks(jobs))

    def wait(self, what, ready, limit=150):
        """Until ready() gives something true."""
        end = time.time() + limit * PATIENCE
        while True:
            found = ready()
            if found:
                return found
            assert time.time() < end, f"not within {limit * PATIENCE:.0f} s: {what}\n{self.must('squeue')}"
            time.sleep(0.2)

    def have_ended(self, jobs):
        rows = self.tasks(jobs)
        return {row[0] for row in rows} == set(jobs) and not any(row[2] in LIVE for row in rows)

    def wait_end(self, jobs, limit=150):
        """Until no job of these is left; the states they ended in."""
        self.wait(f"end of {jobs}", lambda: self.have_ended(jobs), limit)
        return self.states(jobs)

    def hurry(self, job):
        """A requeued job waits 8 s instead of minutes: one that starts in the second in which its last processes leave
        the node fails there at once (exit code 1, not a line of output); that is why Slurm lets it wait."""
        self.wait(f"{job} to be requeued", lambda: int(self.show(job)["Restarts"]) >= 1)
        self.wait(f"{job} to have left its node", lambda: self.show(job)["JobState"] != "COMPLETING")
        if self.show(job)["JobState"] == "PENDING":
            self.call("scontrol", "update", f"JobId={job}", "StartTime=now+8")

    def show(self, job):
        out = self.must("scontrol", "show", "job", str(job))
        return dict(word.split("=", 1) for word in out.split() if "=" in word)


def log_of(folder):
    """All that the jobs of a folder have written."""
    text = ""
    for name in sorted(os.listdir(folder)):
        if name.endswith(".out"):
            with open(os.path.join(folder, name), errors="replace") as file:
                text += f"[{name}]\n{file.read()}"
    return text


def run_all(checks, cluster_of):
    """Checks side by side, each told as it ends. @return exit code"""
    chosen = [check for check in checks if not sys.argv[1:] or any(word in check.__name__ for word in sys.argv[1:])]
    failed = []

    def make(check):
        begin = time.time()
        try:
            check(cluster_of(check))
            print(f"ok   {check.__name__} ({time.time() - begin:.1f} s)", flush=True)
        except Exception as error:  # the others are worth their answers
            failed.append(check.__name__)
            print(f"FAIL {check.__name__} ({time.time() - begin:.1f} s): {type(error).__name__}: {error}", flush=True)

    threads = [threading.Thread(target=make, args=(check,)) for check in chosen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not chosen else 0
