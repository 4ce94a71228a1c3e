#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of ours in which something is missing or impossible: every command says so in one line.

Each dataset, group and attribute of a finished file is taken away in turn, and numbers are put in that
cannot be. No command may crash, go on silently with what is essential missing, or blame the disk.
"""
import os
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

EXE = os.environ["SCANFARM"]
failures = []

NOISE = """scan: noise
model: gnlse
parameters:
  length: 1 mm
  wavelength: 835 nm
  betas: [-0.01 ps^2/m]
  gamma: 0.1 W^-1 m^-1
  pulse: {shape: sech, duration: 0.1 ps, peak_power: 100 W}
  grid: {points: 64, window: 2 ps}
axes: [{gamma: [0.1 W^-1 m^-1, 0.11 W^-1 m^-1]}]
ensemble: {realisations: 3, seed: 11, noise: one_photon}
save: {planes: 2, field: true, observables: all}
store: {history: 16}
"""
COMMANDS = {"status": ["status", "--json", "x.h5"], "reduce": ["reduce", "x.h5"],
            "plot": ["plot", "x.h5", "-o", "x.svg"], "run": ["run", "scan.yaml", "-o", "x.h5"]}
# Without these nothing can be said about a file.
ESSENTIAL = ("complete", "member", "plane", "member/state", "member/n_saved", "member/reason", "member/identity", "member/seed",
             "plane/checksum", "plane/z", "provenance", "provenance/attempt", "provenance/attempt/number",
             "provenance/attempt/end")
NUMBERS = ("members", "points", "realisations", "planes", "grids")


def check(sentence, ok, detail=""):
    if not ok:
        print("FAIL " + sentence + "  (" + str(detail)[:400] + ")", flush=True)
        failures.append(sentence)


def sf(*arguments):
    return subprocess.run([EXE, *arguments], capture_output=True, text=True, timeout=100)


def try_all(what, essential, harm, commands=tuple(COMMANDS)):
    for name in commands:
        arguments = COMMANDS[name]
        shutil.copyfile("good.h5", "x.h5")
        with h5py.File("x.h5", "r+") as file:
            harm(file)
        r = sf(*arguments)
        errors = [line for line in r.stderr.splitlines() if not line.startswith("scanfarm: warning")]
        detail = f"exit {r.returncode}, stderr {r.stderr!r}"
        check(f"{what}: {name} ends in order", r.returncode in ((4,) if essential else (0, 2, 4)), detail)
        if r.returncode != 0:
            check(f"{what}: {name} says one line with the file", len(errors) == 1 and "x.h5" in errors[0], detail)
        if essential:
            check(f"{what}: {name} speaks of damage", "x.h5 is damaged: " in r.stderr, detail)
    print(f"tried {what}", flush=True)


def objects():
    names = []
    with h5py.File("good.h5") as file:
        file.visit(names.append)
    return names


def take_away():
    for name in objects():
        essential = name in ESSENTIAL
        try_all(f"without {name}", essential, lambda file: file.__delitem__(name),
                COMMANDS if essential or name.startswith(("plane", "ensemble")) else ("status", "run"))
    with h5py.File("good.h5") as file:
        attributes = [a for a in file.attrs if a not in ("format", "format_version")]
    for name in attributes:
        try_all(f"without attribute {name}", name in NUMBERS, lambda file: file.attrs.__delitem__(name))


def replace(name, data):
    def harm(file):
        del file[name]
        file[name] = data
    return harm


def put(name, index, value):
    def harm(file):
        file[name][index] = value
    return harm


def impossible():
    six = np.zeros(6)
    for name, data in (("member/n_saved", np.zeros((6, 2), np.int64)), ("member/n_saved", np.zeros(5, np.int64)),
                       ("member/n_saved", six), ("member/n_saved", np.int64(2)), ("member/state", np.zeros(7, np.uint8)),
                       ("member/state", np.zeros((6, 1), np.uint8)), ("member/state", np.zeros(6, np.int64)),
                       ("member/reason", six), ("member/steps", np.zeros(2, np.int64)), ("plane/checksum", np.zeros(6, np.uint64)),
                       ("plane/z", np.zeros((6, 3))), ("step/h", np.zeros((5, 16))), ("step/n_steps", np.int64(0)),
                       ("complete", np.zeros(0, np.uint8)), ("provenance/attempt/number", np.zeros(3, np.int64)),
                       ("provenance/attempt/end", np.zeros(64)), ("ensemble/reduced", np.zeros(3, np.uint8))):
        # the ensemble concerns those who read it, and is checked when the file is opened
        try_all(f"{name} of shape {np.shape(data)} {np.asarray(data).dtype}", name != "complete", replace(name, data))
    for value in (1, 8, 255):
        try_all(f"state {value}", True, put("member/state", 4, value), ("status", "reduce", "run"))
    for value in (-1, 3, 2**62):
        try_all(f"n_saved {value}", True, put("member/n_saved", 0, value), ("status", "plot", "run"))
        try_all(f"n_saved {value} elsewhere", False, put("member/n_saved", 4, value), ("reduce", "plot"))
    for name in NUMBERS:
        for value in (0, -1, 5, 2**62):
            try_all(f"attribute {name} = {value}", name != "grids" or value < 1, lambda file: file.attrs.__setitem__(name, np.int64(value)))


with tempfile.TemporaryDirectory(dir=".") as folder:
    os.chdir(folder)
    with open("scan.yaml", "w") as out:
        out.write(NOISE)
    made = sf("run", "scan.yaml", "-o", "good.h5")
    check("the good file is made", made.returncode == 0, made.stderr)
    for command in COMMANDS.values():
        shutil.copyfile("good.h5", "x.h5")
        check("the good file is good", sf(*command).returncode == 0)
    take_away()
    impossible()
    os.chdir("..")
print(f"{len(failures)} failed")
sys.exit(1 if failures else 0)
