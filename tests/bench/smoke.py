#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""smoke.py collect|farm|peers|rdw|stage|store: the bench runs, and its results have the parts that docs name.

Times are not judged: the machine of a test does other things.
"""
import json
import math
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "runner"))

from near import near

SOURCE = os.environ["SCANFARM_SOURCE"]
BUILD = os.environ["SCANFARM_BUILD"]


def positive(*values):
    for value in values:
        assert isinstance(value, (int, float)) and math.isfinite(value) and value > 0, value


def check_run(run, members):
    assert run["members"] == members, run
    positive(run["seconds"], run["members_per_s"], run["controller_rss_bytes"])
    for kind in ("answer", "wait_with_reserve", "wait_without_reserve"):
        sample = run[kind]
        if sample["samples"] > 0:
            assert 0 <= sample["median_s"] <= sample["p99_s"] <= sample["max_s"], sample
    for share in (run["controller_cpu_share"], run["worker_cpu_share"]["mean"]):
        assert 0 < share < 2, run


def check_farm(result):
    assert [row["workers"] for row in result["empty"]] == [1, 2]
    for row in result["empty"]:
        for kind in ("without_store", "with_store_sync_never", "with_store_sync_member"):
            check_run(row[kind], 2000)
            assert row[kind]["stores"] == (kind != "without_store")
            assert row[kind]["answer"]["samples"] > 0
    for row in result["efficiency"]:
        assert 0 < row["efficiency"] <= 1, row  # nobody sleeps faster than time
    check_run(result["idle"], 4)
    # 250 ms asleep a member: nothing is given in reserve, each member is waited for.
    assert result["idle"]["wait_without_reserve"]["samples"] == 2
    assert result["idle"]["wait_with_reserve"]["samples"] == 0
    check_run(result["rss"], 5000)
    assert result["plan"]["members"] == 10**9
    positive(*result["plan"]["seconds"])


def check_store(result):
    assert [run["workers"] for run in result["runs"]] == [1, 2]
    for run in result["runs"]:
        assert [p["plane_bytes"] for p in run["planes"]] == [4096, 65536, 1048576]
        for planes in run["planes"]:
            assert len(planes["raw_s"]) == len(planes["store_s"]) == 2
            positive(*planes["raw_s"], *planes["store_s"])
        assert [made["members"] for made in run["create"]] == [1000, 1000]


def check_collect(result):
    assert (result["few"]["shards"], result["all"]["shards"]) == (100, 300), result
    for name in ("few", "all", "again"):
        positive(result[name]["seconds"], result[name]["shards_per_s"], result[name]["rss_bytes"])
    assert result["all"]["report"]["taken"] == 300 and result["again"]["report"]["unchanged"] == 100, result


def check_stage(result):
    assert [row["name"] for row in result["settings"]] == ["Raman", "no Raman"]
    for row, transforms in zip(result["settings"], (4, 2)):
        assert len(row["runs"]) == 2
        for run in row["runs"]:
            positive(run["total_us"], run["floor_us"], run["ratio"], run["rhs_calls"])
            assert run["transforms_per_rhs"] == transforms, run  # the design's count
            assert "error" not in run, run  # the reference is of 8192 points
        sums = row["summary"]
        assert sums["lowest"] <= sums["ratio"] <= sums["highest"], sums


def check_rdw(result):
    rules = ["none", "trapezoid", "band"]
    assert [row["runs"][0]["rule"] for row in result["settings"]] == rules, result
    for row in result["settings"]:
        assert len(row["runs"]) == 2
        for run in row["runs"]:
            positive(run["total_us"], run["floor_us"], run["ratio"], run["rhs_calls"])
            assert run["transforms_per_rhs"] == 2 and not run["no_skip"], run
            assert (run["ionised"] > 0) == (run["rule"] != "none"), run
    assert [row["runs"][0]["planes"] for row in result["model"]] == [201, 1] * 3, result["model"]
    for row in result["model"]:
        for run in row["runs"]:
            parts = [run[key] for key in ("create_s", "load_s", "kernels_s", "host_s", "output_s")]
            positive(*parts, run["plane_us"])
            assert near(sum(parts), run["total_s"], rtol=1e-3, faulty=1.003 * run["total_s"], fault="3e-3 of the time counted twice"), run
            assert (run["observables"]["ionised_fraction"] > 0) == (run["rule"] != "none"), run
    names = [case["case"] for case in result["cases"]]
    assert len(set(names)) == 3 and all(f"/{rule}/" in name for rule, name in zip(rules, names)), names


def check_peers(result):
    assert [row["name"][:8] for row in result["programs"]] == ["scanfarm", "PyNLO, r"]
    positive(*(row["cpu_s"] for row in result["programs"]))
    # rtol 1e-3 is far off, and the reference must say so; 1e-5 has 3e-3 of it.
    assert 3e-3 < result["stage"]["error"] < 2, result["stage"]


def check_comparable():
    """bench/compare reads the results; one round is too few to keep anything."""
    done = subprocess.run([sys.executable, os.path.join(SOURCE, "bench", "compare"), "out.json",
                           "out.json", "--speed-only", "--json", "--picture", "compare.png"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1, done
    rows = json.loads(done.stdout)["cases"]
    assert rows and all(row["time_ratio"] == 1 for row in rows), rows


def check_common(result):
    assert result["machine"]["cpu"] and result["machine"]["cores"] > 0
    assert os.uname().nodename not in (result["machine"]["cpu"], *result["machine"]["version"])
    for row in result.get("targets", []) + result.get("notes", []):
        assert {"name", "figure"} <= set(row), row


def check_picture(path):
    if shutil.which("gnuplot") is not None:
        with open(path, "rb") as file:
            assert file.read(8) == b"\x89PNG\r\n\x1a\n"


def main(name):
    for path in ("out.png", "compare.png"):
        if os.path.exists(path):
            os.unlink(path)
    subject = os.path.join(BUILD, "bench", "bench_stage") if name == "peers" else BUILD
    subprocess.run([sys.executable, os.path.join(SOURCE, "bench", name), subject, "--smoke", "-o",
                    "out.json", "--picture", "out.png"], check=True)
    with open("out.json", encoding="utf-8") as file:
        result = json.load(file)
    globals()[f"check_{name}"](result)
    if name == "collect":  # no picture, and nothing for bench/compare
        return check_common(result)
    check_picture("out.png")
    if name != "peers":
        check_common(result)
        check_comparable()
        check_picture("compare.png")


main(sys.argv[1])
