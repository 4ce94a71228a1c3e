#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""tune: wisdom is made, kept, listed, cleared; every run finds it; a cache that is damaged, foreign or cannot
be written costs one warning. Whether a plan was searched for is read from the run's own words (-v), not timed."""
import glob
import json
import os
import subprocess
import sys
import tempfile

import h5py

EXE = os.environ["SCANFARM"]
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
SEARCHED = "no wisdom for a transform"
failures = []

SCAN = """scan: fibre
model: gnlse
parameters:
  length: 1 mm
  wavelength: 835 nm
  betas: [-11.830 ps^2/km]
  gamma: 0.11 W^-1 m^-1
  raman: RAMAN
  pulse: {shape: sech, duration: 100 fs, peak_power: 100 W}
  grid: {points: 256, window: 4 ps}
axes: [{grid.points: [256, 512]}]
save: {planes: 2, field: true, observables: all}
"""


def check(sentence, ok, detail=""):
    print(("ok   " if ok else "FAIL ") + sentence + ("" if ok else "  (" + str(detail)[:400] + ")"), flush=True)
    if not ok:
        failures.append(sentence)


def sf(*arguments, cache="cache", **env):
    merged = dict(os.environ, XDG_CACHE_HOME=os.path.abspath(cache), **ROOT)
    merged.update(env)
    merged = {key: value for key, value in merged.items() if value is not None}
    return subprocess.run([EXE, *arguments], capture_output=True, text=True, timeout=100, env=merged)


def warnings(r):
    return [line for line in r.stderr.splitlines() if "warn" in line and "wisdom" in line]


def run(name, *arguments, **more):
    """A fresh run that says much; its result and the wisdom that its file has stored."""
    for path in glob.glob(name + ".h5*"):
        os.remove(path)
    r = sf("run", "scan.yaml", "-v", "-o", name + ".h5", *arguments, **more)
    with h5py.File(name + ".h5") as file:
        return r, file["provenance/wisdom"][()].decode()


def cached_lines(length):
    """FFTW's own lines of the cache file of a length: one a plan or a part of one. Solver, flags, signature."""
    (path,) = glob.glob(f"cache/scanfarm/*-{length}.wisdom")
    return [line for line in open(path).read().split("(fftw-", 1)[1].splitlines()[1:] if line.strip() != ")"]


def made_and_used():
    open("scan.yaml", "w").write(SCAN.replace("RAMAN", "{model: blow_wood, tau1: 12.2 fs, tau2: 32 fs, fraction: 0.18}"))
    r, _ = run("before")
    check("without wisdom every transform of both grids is planned", r.returncode == 0 and r.stderr.count(SEARCHED) == 8, r.stderr)
    r = sf("tune", "scan.yaml", "--rigour", "measure", "--json")
    d = json.loads(r.stdout)
    wanted = sorted((n, kind) for n in (256, 512) for kind in ("complex, forward", "complex, backward", "real to complex", "complex to real"))
    check("tune takes the transforms of all grids of a scan", sorted((t["points"], t["transform"]) for t in d["transforms"]) == wanted, r.stdout + r.stderr)
    check("… tells each one's time before and after", all(t["seconds_before"] > 0 and t["seconds_after"] > 0 and not t["known"] for t in d["transforms"]), d)
    check("… and keeps one file a length", len(glob.glob("cache/scanfarm/*.wisdom")) == 2 and len(glob.glob("cache/scanfarm/*")) == 2, glob.glob("cache/scanfarm/*"))
    again = json.loads(sf("tune", "scan.yaml", "--rigour", "measure", "--json").stdout)
    check("a second call finds all of them", all(t["known"] for t in again["transforms"]), again)
    for words in ([], ["-n", "2"]):
        r, stored = run("after", *words)
        check(f"a run plans nothing any more {words}", r.returncode == 0 and SEARCHED not in r.stderr and not warnings(r), r.stderr)
        # a part that both lengths have comes from one of the files: its signature is there once
        signatures = [line.split("#x0 ")[1] for n in (256, 512) for line in cached_lines(n)]
        check("… and its file has stored the text", len(signatures) > 4 and all(s in stored for s in signatures), stored)
    r, _ = run("patient", "--fft-rigour", "patient")
    check("wisdom of less rigour than asked for does not do", r.stderr.count(SEARCHED) == 8, r.stderr)


def scans_of_other_kinds():
    open("scan.yaml", "w").write(SCAN.replace("RAMAN", "none"))
    d = json.loads(sf("tune", "scan.yaml", "--rigour", "measure", "--set", "grid.window=3 ps", "--json", cache="other").stdout)
    check("only the transforms that the models use are tuned", {t["transform"] for t in d["transforms"]} == {"complex, forward", "complex, backward"}, d)
    open("probe.yaml", "w").write("scan: p\nmodel: probe\n")
    r = sf("tune", "probe.yaml", cache="other")
    check("a scan without transforms has nothing to tune", r.returncode == 0 and "nothing to tune" in r.stderr, r.stderr)
    r = sf("tune", "--size", "16,24", "-n", "16", "--rigour", "patient", cache="other")
    rows = [line for line in r.stdout.splitlines() if "complex" in line]
    check("lengths may be given, each once", r.returncode == 0 and len(rows) == 8 and "kept in" in r.stdout, r.stdout + r.stderr)


def the_file_comes_first():
    """A resumed run keeps the plans that its file has stored."""
    open("scan.yaml", "w").write(SCAN.replace("RAMAN", "none"))
    r, stored = run("kept", cache="empty")
    with h5py.File("kept.h5", "r+") as file:
        file["member/state"][1] = 0
        file["complete"][...] = 0
    for path in glob.glob("kept.h5.wisdom*"):
        os.remove(path)
    sf("tune", "scan.yaml", cache="later")
    r = sf("run", "scan.yaml", "-v", "-o", "kept.h5", cache="later")
    with h5py.File("kept.h5") as file:
        now = file["provenance/wisdom"][()].decode()
    check("a resumed run uses the file's wisdom, not a better one made since",
          r.returncode == 0 and SEARCHED not in r.stderr and sorted(now.split("\n")) == sorted(stored.split("\n")), r.stderr + now)


def damaged_and_foreign():
    path = sorted(glob.glob("cache/scanfarm/*-256.wisdom"))[0]
    good = open(path).read()
    open("scan.yaml", "w").write(SCAN.replace("RAMAN", "none").replace("[256, 512]", "[256]"))
    for kind, text in (("cut", good[: len(good) // 2]), ("empty", ""), ("changed", good.replace("#x", "#y", 3)),
                       ("another CPU's", good.replace("\ncpu ", "\ncpu another ", 1))):
        open(path, "w").write(text)
        for words in ([], ["-n", "2"]):
            r, _ = run("damaged", *words)
            check(f"a cache file that is {kind} costs one warning with its name {words}",
                  r.returncode == 0 and len(warnings(r)) == 1 and path.split("/")[-1] in warnings(r)[0] and SEARCHED in r.stderr, r.stderr)
    r = sf("tune", "--size", "256", "--rigour", "measure")
    check("tune replaces such a file", r.returncode == 0 and open(path).read() != text and len(cached_lines(256)) > 0, r.stderr)
    r, _ = run("damaged")
    check("… and runs use it again", not warnings(r) and SEARCHED not in r.stderr, r.stderr)


def surroundings():
    for env in ({"XDG_CACHE_HOME": "/dev/null"}, {"XDG_CACHE_HOME": None, "HOME": "/dev/null"}, {"XDG_CACHE_HOME": "relative"}):
        r = sf("tune", "--size", "8", "--rigour", "measure", **env)
        lines = r.stderr.splitlines()
        check(f"a cache that cannot be written costs one warning: {env}",
              r.returncode == 0 and len(lines) == 1 and "not kept" in lines[0] and r.stdout.count("complex") == 4 and "kept in" not in r.stdout, r.stderr)
    r, _ = run("home", XDG_CACHE_HOME=None, HOME=None)
    check("a run without HOME goes on", r.returncode == 0, r.stderr)
    r, _ = run("home", XDG_CACHE_HOME="relative")
    check("a run with a cache of no use goes on after one warning",
          r.returncode == 0 and len([line for line in r.stderr.splitlines() if "XDG_CACHE_HOME=relative" in line]) == 1, r.stderr)


def list_and_clear():
    r = sf("tune", "--list")
    check("--list has lengths, transforms and rigour", r.returncode == 0 and "256 points" in r.stdout and "complex, forward: measure" in r.stdout, r.stdout + r.stderr)
    other = sorted(glob.glob("cache/scanfarm/*-512.wisdom"))[0]
    os.rename(other, "cache/scanfarm/x.wisdom")
    open("cache/scanfarm/y.wisdom", "w").write("hello")
    open("cache/scanfarm/z.txt", "w").write("mine")
    d = json.loads(sf("tune", "--list", "--json").stdout)
    check("--list --json tells a damaged file", [f["damaged"] for f in d["files"]] == [False, False, True], d)
    check("… and the rigour of each transform", d["files"][0]["transforms"]["complex, forward"] == "measure", d)
    r = sf("tune", "--clear")
    check("--clear removes wisdom and nothing else", r.returncode == 0 and "3 files" in r.stdout and os.listdir("cache/scanfarm") == ["z.txt"], r.stdout + r.stderr)
    r = sf("tune", "--list")
    check("--list of an empty cache says so", r.returncode == 0 and "no wisdom" in r.stdout, r.stdout)
    r = sf("tune", "--clear", cache="never")
    check("--clear of no folder is no error", r.returncode == 0 and "0 files" in r.stdout, r.stdout + r.stderr)


def command_line():
    for arguments, word in (([], "--size"), (["--list", "--clear"], "--clear"), (["--list", "--size", "8"], "--list"),
                            (["--size", "8,"], "--size 8,"), (["--size", "1"], "from 2"), (["--size", "eight"], "eight"),
                            (["--size", "99999999999999"], "99999999999999"), (["--rigour", "lazy", "--size", "8"], "patient"),
                            (["nowhere.yaml"], "nowhere.yaml"), (["a.yaml", "b.yaml"], "b.yaml")):
        r = sf("tune", *arguments)
        check("tune " + " ".join(arguments) + ": exit 2, one line", r.returncode == 2 and len(r.stderr.strip().splitlines()) == 1 and word in r.stderr, r.stderr)


with tempfile.TemporaryDirectory(dir=".") as folder:
    os.chdir(folder)
    for part in (made_and_used, scans_of_other_kinds, the_file_comes_first, damaged_and_foreign, surroundings, list_and_clear, command_line):
        part()
    os.chdir("..")
print(f"{len(failures)} failed")
sys.exit(1 if failures else 0)
