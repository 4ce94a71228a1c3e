#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a run ends: signals, readers that go away, results nobody takes, disks that are full.

Whatever happens: the right exit code, one line that says why, and an end of the attempt in the file.
Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from checks import run_checks
import farm
from farm import ENDLESS, SCANFARM, SLOW, SLOWER, begun, command, environment, finish, run, start, states, wait_until, write

MODES = ([], ["-n", "2"])
FIBRE = """scan: b
model: gnlse
parameters:
  length: 2 mm
  wavelength: 835 nm
  betas: [-11.83 ps^2/km]
  gamma: 0.11 W^-1 m^-1
  pulse: {shape: sech, duration: 50 fs, peak_power: 10 kW}
  grid: {points: 128, window: 1 ps}
save: {planes: 3}
"""


def attempt(path):
    """Exit code, reason and end of the newest attempt; None: there is none."""
    with h5py.File(path) as file:
        group = file["provenance/attempt"]
        row = int(np.argmax(group["number"][...]))
        if group["number"][row] == 0:
            return None
        text = [group[name][row].decode().rstrip("\0") for name in ("reason", "end")]
        return int(group["exit_code"][row]), *text


def last_record(folder):
    with open(os.path.join(folder, "out.h5.journal")) as file:
        return json.loads(file.read().splitlines()[-1])


def errors(err):
    """Lines that are neither information nor a warning of ours, in either form of our lines."""
    plain = [line for line in err.splitlines() if not line.startswith("scanfarm: warning")]
    return [line for line in plain if " info " not in line and " warn " not in line
            and " done, " not in line and " members (" not in line
            and "is now" not in line and "limits the estimated" not in line]


def every_signal_stops_in_order_and_ends_the_attempt():
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        for words in MODES:
            folder = write(ENDLESS)
            process = start(folder, *words)
            wait_until(lambda: begun(folder), "members done")
            everybody = farm.descendants(process.pid)
            process.send_signal(number)
            code, _, err = finish(process)
            assert code == 75 and "left" in err, (number, words, code, err)
            assert farm.gone(everybody)
            assert "Forwarding signal" not in err, err
            record = last_record(folder)
            assert (record["record"], record["code"]) == ("end", 75), record
            code, reason, end = attempt(os.path.join(folder, "out.h5"))
            assert code == 75 and "left" in reason and end, (code, reason, end)


def a_killed_run_is_not_called_running():
    for words in MODES:
        folder = write(SLOW.replace("10 ms", "100 ms"))
        path = os.path.join(folder, "out.h5")

        def status(*more):
            r = subprocess.run([SCANFARM, "status", path, *more], capture_output=True, text=True)
            assert r.returncode == 0, r.stderr
            return json.loads(r.stdout)["files"][0] if more else r.stdout

        process = start(folder, *words)
        wait_until(lambda: begun(folder, 1), "members done")
        assert status("--json")["running"] and ", runs" in status()
        everybody = [process.pid, *farm.descendants(process.pid)]
        farm.kill_all(everybody)
        process.communicate()
        wait_until(lambda: farm.gone(everybody), "nobody")
        report = status("--json")
        assert not report["running"] and report["no_writer_since"].endswith("Z"), report
        assert "no writer since " + report["no_writer_since"] in status()
        # on another host only heartbeats tell
        with open(path + ".lease", "w") as file:
            file.write("scanfarm lease 1\ncounter: 00000000000000000001\nend: ---\nrun: x\njob: \nrestart: 0\n"
                       "process: 1 1 0123456789abcdef elsewhere\n")
        assert status("--json")["running"]
        os.remove(path + ".lease")
        assert run(folder, *words, "--set", "sleep=0 s", "--fresh")[0] == 0
        report = status("--json")
        assert not report["running"] and "no_writer_since" not in report, report


def looking_does_not_disturb_a_run_that_starts():
    folder = write(SLOW.replace("10 ms", "0 s"))
    path = os.path.join(folder, "out.h5")
    assert run(folder)[0] == 0
    look = "while :; do %s status out.h5; done" % SCANFARM
    with subprocess.Popen(["sh", "-c", look], cwd=folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as looking:
        try:
            for _ in range(5):
                code, _, err = run(folder, "--fresh")
                assert code == 0, err
        finally:
            looking.kill()
    assert attempt(path)[0] == 0


def refusals_and_idle_runs_are_one_line():
    for words in MODES:
        folder = write(FIBRE)  # with a sanity warning and a tolerance to speak of
        code, _, err = run(folder, *words)
        assert code == 0 and "warning: samples per pulse" in err and "not the error of" in err, err
        for more, want, text in (([], 0, "nothing to do: 1 of 1 member done"),
                                 (["--set", "gamma=0.2"], 4, "another configuration"),
                                 (["--set", "grid.points=17"], 2, "grid.points"),
                                 (["--backend", "gpu"], 2, "not in this version")):
            code, _, err = run(folder, *words, *more)
            assert code == want and text in err and len(err.splitlines()) == 1, (more, code, err)


LOSSES = """scan: losses
model: probe
axes: [{sleep: [0 s, 2 s, 0 s]}, {fail_at: [-1, 1]}]
save: {planes: 3}
limits: {timeout: 300 ms}
"""


def members_that_time_out_are_counted_apart():
    for words in MODES:
        folder = write(LOSSES)
        code, out, err = run(folder, "--json", *words)
        assert code == 1 and "2 of 6 members done, 2 failed, 2 timed out" in err, err
        assert "member 2 timed out before plane" in err and "timed out: timed out" not in err, err
        result = json.loads(out)
        assert [result[key] for key in ("done", "failed", "timed_out")] == [2, 2, 2], out
        assert attempt(os.path.join(folder, "out.h5"))[1] == "2 failed and 2 timed out of 6 members"
        for told in (command(folder, "status", "out.h5"), command(folder, "log", "out.h5", "2"), command(folder, "collect", "-o", "c.h5", "out.h5")):
            assert "member 2" in told.stdout and "before plane" in told.stdout and "timed out: timed out" not in told.stdout, told
        code, _, err = run(folder, *words)
        assert code == 1 and len(err.splitlines()) == 1 and "2 failed, 2 timed out" in err, err


def quiet_keeps_the_warnings():
    for words in MODES:
        code, out, err = run(write(LOSSES), "-q", *words)
        lines = err.splitlines()
        assert code == 1 and out == "" and len(lines) == 4, (code, out, err)
        assert all("warning: member" in line for line in lines), err
        code, out, err = run(write(FIBRE), "-q", *words)
        assert (code, out, err) == (0, "", ""), (code, out, err)


def tries_of_a_member_are_counted():
    folder = write("scan: tries\nmodel: probe\nparameters: {sleep: 150 ms}\nsave: {planes: 30}\n")
    path = os.path.join(folder, "out.h5")

    def saved():
        with h5py.File(path) as file:
            return int(file["member/n_saved"][0])

    for _ in range(2):
        before = saved() if os.path.exists(path) else 0
        process = start(folder)
        # each try goes on from the plane that the one before it saved last
        wait_until(lambda: saved() >= before + 2, "saved planes")
        process.kill()
        process.communicate()
    assert run(folder)[0] == 0
    with h5py.File(path) as file:
        assert int(file["member/attempts"][0]) == 3
    folder = write(FIBRE)
    assert run(folder)[0] == 0
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        assert int(file["member/attempts"][0]) == 1


def nohup_keeps_its_promise():
    for words in MODES:
        folder = write(SLOWER)
        process = start(folder, *words, before=("sh", "-c", 'trap "" HUP; exec "$@"', "sh"))
        wait_until(lambda: begun(folder), "members done")
        process.send_signal(signal.SIGHUP)
        assert process.poll() is None, "it ended too early to tell"
        code, _, err = finish(process)
        assert code == 0 and (states(folder) == 2).all(), (code, err)


def readers_that_go_away_stop_nothing():
    for words in MODES:
        folder = write(SLOWER)
        process = start(folder, *words)
        wait_until(lambda: begun(folder), "members done")
        process.stderr.close()
        process.stdout.close()
        assert process.poll() is None, "it ended too early to tell"
        assert process.wait(farm.LIMIT) == 0, words
        assert (states(folder) == 2).all()
        assert attempt(os.path.join(folder, "out.h5"))[0] == 0


def results_that_nobody_takes_are_an_error_and_harm_no_file():
    for words in MODES:
        for how in ("full", "closed"):
            folder = write(SLOW)
            command = [SCANFARM, "run", "scan.yaml", "-o", "out.h5", "--json", *words]
            shell = 'exec "$@" ' + (">/dev/full" if how == "full" else ">&-")
            r = subprocess.run(["sh", "-c", shell, "sh", *command], cwd=folder, text=True,
                               env=environment({}), stderr=subprocess.PIPE, timeout=farm.LIMIT)
            assert r.returncode == 3 and r.stderr.count("cannot write the results") == 1, (
                words, how, r.returncode, r.stderr)
            assert (states(folder) == 2).all()
            # nothing but HDF5 in the file: it is read whole
            with h5py.File(os.path.join(folder, "out.h5")) as file:
                assert (file["plane/data"][...] != 0).any()
            with open(os.path.join(folder, "out.h5"), "rb") as file:
                assert b"pending_before" not in file.read()


def json_is_one_object_in_every_mode():
    for words in MODES:
        folder = write(SLOW)
        for _ in range(2):  # the second time there is nothing to do
            code, out, err = run(folder, "--json", *words)
            assert code == 0, err
            result = json.loads(out)
            assert (result["members"], result["done"], result["exit_code"]) == (40, 40, 0), out


def mount(folder, size):
    """A small file system, in a mount namespace of our own; False where that is not allowed."""
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, f"size={size}k".encode()) == 0


def unmount(folder):
    ctypes.CDLL(None).umount2(os.fsencode(folder), 2)


def full_disk_at(size, words, scan):
    with tempfile.TemporaryDirectory() as folder:
        if not mount(folder, size):
            return None
        try:
            path = os.path.join(folder, "x.h5")
            command = [SCANFARM, "run", scan, "--no-space-check", "-o", path, *words]
            r = subprocess.run(command, env=environment({}), text=True, capture_output=True,
                               timeout=farm.LIMIT)
            end = attempt(path) if os.path.exists(path) else None
            left = sorted(name for name in os.listdir(folder) if name.endswith(".new"))
            return r.returncode, r.stderr, end, left
        finally:
            unmount(folder)


def a_full_disk_is_named_with_its_path_wherever_it_strikes():
    scan = os.path.abspath(os.path.join(write(FIBRE), "scan.yaml"))
    codes = set()
    for size in (16, 64, 128, 240, 320, 344, 400, 520, 600, 620, 640, 4000):
        for words in MODES:
            answer = full_disk_at(size, words, scan)
            if answer is None:
                print("     (no file system can be mounted here: not checked)")
                return
            code, err, end, left = answer
            codes.add(code)
            assert code in (0, 3), (size, words, code, err)
            assert not left, left
            assert end is None or (end[0] == code and end[2]), (size, words, code, end, err)
            if code == 0:
                continue
            # Open MPI's file layer says a word of its own
            ours = [line for line in errors(err) if not line.startswith("mca_")]
            assert len(ours) == 1 and "x.h5" in ours[0] and "No space left" in ours[0], (
                size, words, err)
            assert ".new" not in err, err
            assert end is None or "No space left" in end[1], (size, words, end, err)
    assert codes == {0, 3}, codes


def a_journal_that_takes_no_more_ends_the_run_in_order():
    for words, room in [(words, room) for words in MODES for room in (0, 1200)]:
        folder = write(SLOW.replace("10 ms", "20 ms"))
        full = os.path.join(folder, "full")
        os.mkdir(full)
        if not mount(full, 8):
            print("     (no file system can be mounted here: not checked)")
            return
        try:
            # the journal lies on a disk of its own, which is full from the start, or soon
            os.symlink("full/journal", os.path.join(folder, "out.h5.journal"))
            with open(os.path.join(full, "journal"), "w") as file:
                file.write("\n" * (4096 - room))
            with open(os.path.join(full, "rest"), "wb") as file:
                file.write(bytes(4096))
            code, _, err = run(folder, *words, "--chunk-time", "0")
        finally:
            unmount(full)
        assert code == 3, (words, room, code, err)
        ours = errors(err)
        assert len(ours) == 1 and "out.h5.journal" in ours[0] and "No space left" in ours[0], err
        code, reason, end = attempt(os.path.join(folder, "out.h5"))
        assert code == 3 and "out.h5.journal" in reason and end, (code, reason, end)
        os.unlink(os.path.join(folder, "out.h5.journal"))
        assert run(folder, *words)[0] == 0
        assert (states(folder) == 2).all()


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
