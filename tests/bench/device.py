#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""bench/device from end to end on the emulated device: every part runs, counts are the design's, what fails is told.
Times are not judged."""
import json
import os
import subprocess
import sys

SOURCE, BUILD = os.environ["SCANFARM_SOURCE"], os.environ["SCANFARM_BUILD"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "runner"))
import checks  # noqa: E402

PARTS = ["build", "about", "tests", "compare", "trials", "changes", "scans"]
kept = {}


def bench(*words, **environment):
    done = subprocess.run([sys.executable, os.path.join(SOURCE, "bench", "device"), "--backend", "emu", "--quick", "--build",
                           BUILD, "-o", "out.json", "--text", "out.txt", *words], capture_output=True, text=True,
                          env=dict(os.environ, **environment), check=False)
    assert "Traceback" not in done.stderr, done.stderr
    with open("out.json", encoding="utf-8") as file:
        result = json.load(file)
    with open("out.txt", encoding="utf-8") as file:
        return done.returncode, result, file.read()


def whole():
    if not kept:
        kept["code"], kept["result"], kept["text"] = bench()
    return kept


def it_comes_to_its_end():
    found = whole()
    assert found["code"] == 0 and found["result"]["failed"] == [], found
    assert list(found["result"]["parts"]) == PARTS
    for name, part in found["result"]["parts"].items():
        assert "late" not in part and "error" not in part and part["seconds"] >= 0, (name, part)
    assert "its times mean nothing" in found["text"] and "failed: nothing" in found["text"]
    assert os.uname().nodename not in json.dumps(found["result"])


def a_trial_makes_the_launches_of_the_design():
    """7 passes over the bins, 12 transforms, 6 responses in one launch each; scalars there and sums back in a copy each."""
    runs = whole()["result"]["parts"]["trials"]["runs"]
    assert [(run["rows"], run["rule"]) for run in runs] == [(rows, rule) for rows in (1, 3)
                                                           for rule in ("none", "trapezoid", "band")]
    for run in runs:
        tiles = run["rows"] == 1 and run["rule"] != "none"
        assert run["trial"]["launches"] == 7 + (36 if tiles else 6), run
        assert run["trial"]["transforms"] == 12 and run["trial"]["copies"] == 2, run
        assert run["floor"]["transforms"] == 12 and run["floor"]["launches"] == 0, run
        assert run["passes"]["launches"] == 7 and run["copies"]["copies"] == 2, run
        assert run["trial"]["up_bytes"] > 500 * run["rows"] and run["trial"]["down_bytes"] < 400 * run["rows"], run


def device_and_cpu_agree():
    runs = whole()["result"]["parts"]["compare"]["runs"]
    assert len(runs) == 6
    for run in runs:
        assert run["within"] and 0 < run["eight_steps"] <= 1 and run["way"] > 0.1, run


def every_change_is_tried_in_turns():
    runs = whole()["result"]["parts"]["changes"]["runs"]
    assert [run["change"] for run in runs] == ["form", "recorded", "copies", "block", "planes"]
    assert all(run["ratio"] > 0 for run in runs), runs


def suites_run_on_the_device():
    tests = whole()["result"]["parts"]["tests"]
    assert [tests[name]["result"] for name in ("test_schedule", "test_gnlse_counts")] == ["passed", "passed"], tests


def a_scan_runs_on_the_device():
    scans = whole()["result"]["parts"]["scans"]
    assert scans["device"]["seconds"] > 0 and scans["cpu"]["seconds"] > 0, scans


def a_part_without_time_is_named():
    code, result, text = bench("--seconds", "0.01")
    assert code == 1 and result["failed"], result
    assert "late" in text, text


def wrong_arithmetic_fails():
    """A thousandth of a step's last slope, on the CPU alone."""
    done = subprocess.run([os.path.join(BUILD, "tests", "bench_device_emu"), "--part", "compare", "--backend", "emu", "--rows",
                           "1", "--points", "512", "--wrong"], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and '"within": false' in done.stdout, done


def misspelt_words_are_refused():
    for words in (("--rule", "bend"), ("--column", "row"), ("--change", "forms", "--part", "change")):
        done = subprocess.run([os.path.join(BUILD, "tests", "bench_device_emu"), "--backend", "emu", "--points", "512", *words],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 2 and words[1] in done.stderr and "are accepted" in done.stderr, done


sys.exit(checks.run_checks(globals(), but=("bench", "whole")))
