#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""bench/precision: what it measures is right, its results are those of the baseline, and bench/compare sees on
them what the rules forbid. Times are not judged: the machine of a test does other things."""
import copy
import importlib.machinery
import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys

import numpy as np

SOURCE = os.environ["SCANFARM_SOURCE"]
BUILD = os.environ["SCANFARM_BUILD"]
BENCH = os.path.join(SOURCE, "bench")
BASELINE = os.path.join(BENCH, "baselines", "precision.json")
sys.path[:0] = [os.path.join(SOURCE, "tests", "runner"), BENCH]

from near import norm_below, rounding
import checks  # noqa: E402
import ladders  # noqa: E402

SET = ["he-rdw-band", "he-rdw-trapezoid", "ar-blue-shift", "long-window", "supercontinuum", "soliton-4"]


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def save(name, value):
    with open(name, "w", encoding="utf-8") as file:
        json.dump(value, file)
    return name


def script():
    """bench/precision as a module."""
    loader = importlib.machinery.SourceFileLoader("precision", os.path.join(BENCH, "precision"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("precision", loader))
    loader.exec_module(module)
    return module


def measure(name, *words, **environment):
    subprocess.run([sys.executable, os.path.join(BENCH, "precision"), BUILD, "--smoke", "-o", name, *words],
                   check=True, env=dict(os.environ, **environment))
    return load(name)


def smoke():
    """Results of the whole set, made once."""
    return load("smoke.json") if os.path.exists("smoke.json") else measure("smoke.json", "--picture", "smoke.png")


def baseline_of(result):
    """The stored baseline, of the settings of `result` alone."""
    keys = {(case["case"], case["rtol"]) for case in result["cases"]}
    stored = load(BASELINE)
    return dict(stored, cases=[case for case in stored["cases"] if (case["case"], case["rtol"]) in keys])


def compare(old, new, *words):
    """(exit code, what it said)"""
    done = subprocess.run([sys.executable, os.path.join(BENCH, "compare"), save("old.json", old), save("new.json", new),
                           *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def with_rounds(result):
    """As many rounds as are asked for, spread by 1 %."""
    wanted = copy.deepcopy(result)
    for case in wanted["cases"]:
        case["time_s"] = [min(case["time_s"]) * factor for factor in (1, 1, 1.01, 1.01, 1.02)]
    return wanted


def changed(result, at=3, **factors):
    """The results with factors on the numbers of one case."""
    wanted = copy.deepcopy(result)
    case = wanted["cases"][at]
    for key, factor in factors.items():
        case[key] = [factor * x for x in case[key]] if isinstance(case[key], list) else factor * case[key]
    return wanted


def the_whole_set_is_measured_and_what_is_not_there_is_named():
    result = smoke()
    assert list(ladders.SCANS) == SET
    assert [(c["case"], c["rtol"]) for c in result["cases"]] == [
        (f"{name}/{planes}", rtol) for name in SET for planes in ("last", "every") for rtol in (1e-4, 1e-5)]
    assert len(result["absent"]) == 4 and result["threads"] == 1, result["absent"]
    for key in ("revision", "compiler", "flags", "libraries", "kernels", "machine"):
        assert result[key], key
    # The machine is told by its processor, not by its name.
    assert set(result["machine"]) == {"cpu", "cores", "load"} and "host" not in json.dumps(result)


def errors_fall_and_work_grows_with_the_tolerance():
    for case in smoke()["cases"]:
        assert 0 < case["error"] < 0.2 and case["rhs_calls"] == 1 + 6 * (case["steps"] + case["rejected"]), case
        assert all(t > 0 and math.isfinite(t) for t in case["time_s"] + case["fixed_s"] + case["load_s"]), case
    for loose, tight in zip(smoke()["cases"][::2], smoke()["cases"][1::2]):
        assert tight["error"] < loose["error"] / 5 and tight["rhs_calls"] > 1.2 * loose["rhs_calls"], (loose, tight)


def more_planes_take_more_steps():
    """A step ends at each plane, so there are more of them."""
    calls = {(c["case"], c["rtol"]): c["rhs_calls"] for c in smoke()["cases"]}
    for name in SET:
        assert calls[f"{name}/every", 1e-5] > calls[f"{name}/last", 1e-5], calls


def the_picture_is_drawn():
    smoke()
    if shutil.which("gnuplot") is not None:
        with open("smoke.png", "rb") as file:
            assert file.read(8) == b"\x89PNG\r\n\x1a\n"


def the_baseline_is_kept():
    code, said = compare(baseline_of(smoke()), smoke(), "--numbers-only")
    assert code == 0, said


def the_baseline_is_a_converged_falling_ladder():
    stored = load(BASELINE)
    assert stored["note"] and stored["revision"] and stored["rounds"] >= 5
    assert os.path.getsize(BASELINE) < 64 * 1024
    for about in stored["references"].values():
        assert about["rtol"] == 1e-10
    for name in SET:
        for planes in ("last", "every"):
            rows = [case for case in stored["cases"] if case["case"] == f"{name}/{planes}"]
            assert [row["rtol"] for row in rows] == [1e-4, 1e-5, 1e-6, 1e-7], rows
            assert all(b["error"] < a["error"] / 5 for a, b in zip(rows, rows[1:])), rows
            assert stored["references"][f"{name}/{planes}"]["change"] < 0.1 * rows[-1]["error"], rows


def equal_results_are_kept():
    result = with_rounds(smoke())
    code, said = compare(result, result)
    assert code == 0, said


def a_doubled_error_is_refused():
    result = with_rounds(smoke())
    code, said = compare(result, changed(result, error=2.02))
    assert code == 1 and "error 2.02 times as large" in said, said
    # Fewer calls for the larger error: work at equal error is not what breaks.
    assert compare(result, changed(result, error=1.98, rhs_calls=0.9))[0] == 0


def an_error_that_is_no_number_is_refused():
    result = with_rounds(smoke())
    code, said = compare(result, changed(result, error=math.nan))
    assert code == 1 and "error nan" in said, said


def a_tenth_more_work_is_refused():
    result = with_rounds(smoke())
    code, said = compare(result, changed(result, rhs_calls=1.11))
    assert code == 1 and "1.110 times the right-hand sides" in said, said
    assert compare(result, changed(result, rhs_calls=1.09))[0] == 0


def a_slower_time_is_refused():
    result = with_rounds(smoke())
    code, said = compare(result, changed(result, time_s=1.04))
    assert code == 1 and "1.040 times as slow" in said, said
    assert compare(result, changed(result, time_s=1.02))[0] == 0
    assert compare(result, changed(result, time_s=1.04), "--numbers-only")[0] == 0


def times_of_another_processor_are_refused():
    old, new = with_rounds(smoke()), with_rounds(smoke())
    new["machine"] = dict(new["machine"], cpu="another")
    code, said = compare(old, new)
    assert code == 1 and "beside another" in said, said
    assert compare(old, new, "--numbers-only")[0] == 0


def a_solution_that_moved_is_refused():
    """The errors are as before: each build is measured against itself."""
    old, new = with_rounds(smoke()), with_rounds(smoke())
    about = new["references"]["supercontinuum/last"]
    about["projections"] = [[1.01 * x, 1.01 * y] for x, y in about["projections"]]
    code, said = compare(old, new)
    assert code == 1 and "the solution itself moved by 0.0" in said, said
    about["numbers"] += 1
    code, said = compare(old, new)
    assert code == 2 and "not the same problem" in said, said


def wrong_arithmetic_is_seen_through_the_whole_chain():
    """A thousandth of a step's last slope too much, as the program can be told to make it."""
    version = subprocess.run([os.environ["SCANFARM"], "--version"], capture_output=True, text=True, check=True)
    if "FARM_FAULT" not in version.stdout:
        print("     this build makes no faults on purpose")
        return
    wrong = measure("wrong.json", "--only", "he-rdw-band", FARM_FAULT="wrong@kernels")
    code, said = compare(baseline_of(wrong), wrong, "--numbers-only")
    assert code == 1 and "the solution itself moved" in said, said


def two_builds_take_turns_and_have_results_of_their_own():
    new = measure("new.json", "--only", "ar-blue-shift", "--old", BUILD, "--old-output", "other.json")
    old = load("other.json")
    assert [c["rhs_calls"] for c in old["cases"]] == [c["rhs_calls"] for c in new["cases"]] and len(old["cases"]) == 4
    assert compare(old, new, "--numbers-only")[0] == 0
    assert old["cases"][0]["time_s"] != new["cases"][0]["time_s"]


def distances_are_relative_and_what_has_none_is_refused():
    module = script()
    field = np.array([3, 4j, 0])
    assert rounding(module.distance(field + np.array([0, 0, 0.05]), field), 0.01)
    nan, infinite = np.full(3, np.nan), np.full(3, np.inf)
    for bad, reference in ((field, 0 * field), (nan, field), (field[:2], field), (field, infinite)):
        try:
            module.distance(bad, reference)
        except SystemExit:
            continue
        raise AssertionError((bad, reference))


def projections_tell_distances():
    """Of random differences, of one number alone, of a flipped sign; to a factor of 2."""
    module = script()
    rng = np.random.default_rng(1)
    field = rng.normal(size=(3, 5000)) + 1j * rng.normal(size=(3, 5000))
    size = np.linalg.norm(field)
    bumps = [1e-6 * rng.normal(size=field.shape) for _ in range(20)] + [-2 * field]
    alone = np.zeros_like(field)
    alone[1, 7] = 1e-4j
    for bump in [*bumps, alone]:
        seen = [complex(*a) - complex(*b) for a, b in zip(module.projections(field + bump), module.projections(field))]
        ratio = math.sqrt(sum(abs(x) ** 2 for x in seen) / len(seen)) / np.linalg.norm(bump)
        assert 0.5 < ratio < 2, ratio
    assert np.linalg.norm(alone) / size < 1e-6


def the_soliton_comes_back_after_a_period():
    """|A| is that of the input, sqrt(P) sech(t / T0): the scan is the soliton of order 4 that it says."""
    module = script()
    os.makedirs("soliton", exist_ok=True)
    spectrum = module.Build(BUILD, os.path.abspath("soliton"), "estimate").run("soliton-4", 1e-9, "last")["field"][-1]
    points, width = 2048, 100e-15 / (2 * math.log(1 + math.sqrt(2)))
    time = (np.arange(points) - points // 2) * 4e-12 / points
    field = points * np.fft.ifft(spectrum)
    peak = math.sqrt(16 * 10e-27 / 0.1) / width  # |beta2| = 10 ps^2/km, gamma = 0.1 W^-1 m^-1
    assert norm_below(np.max(np.abs(np.abs(field) - peak / np.cosh(time / width))) / peak, 1e-4)


def mistakes_are_told_before_anything_runs():
    os.makedirs("empty", exist_ok=True)
    cases = (("empty",), "empty: a build folder with scanfarm"), \
            ((BUILD, "--old", "none", "--old-output", "b.json"), "none: a build folder with scanfarm"), \
            ((BUILD, "-o", "none/a.json"), "none/a.json: cannot be written"), ((BUILD, "-o", "empty"), "empty: cannot be written"), \
            ((BUILD, "--old", BUILD, "--old-output", "none/b.json"), "none/b.json: cannot be written"), \
            ((BUILD, "--picture", "none/p.png"), "none/p.png: cannot be written")
    for words, text in cases:
        done = subprocess.run([sys.executable, os.path.join(BENCH, "precision"), *words], capture_output=True, text=True,
                              check=False, timeout=100)
        assert done.returncode == 2 and text in done.stderr and "Traceback" not in done.stderr, (words, done.stderr)


def main():
    return checks.run_checks(globals(), but=("load", "smoke", "script"))


sys.exit(main())
