#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo, shortened: it runs to its end, its file is whole and verified, its pictures are where it says."""
import os
import re
import subprocess
import sys

import h5py
import numpy as np
from near import rounding

DEMO = os.path.join(os.environ["SCANFARM_SOURCE"], "runner", "demo")
SHORT = ("length=3 cm", "grid.window=200 fs", "save.planes=3", "plasma.rate=adk")
failures = []


def check(sentence, ok, detail=""):
    print(("ok   " if ok else "FAIL ") + sentence + ("" if ok else "  (" + str(detail)[-600:] + ")"), flush=True)
    if not ok:
        failures.append(sentence)


os.makedirs("build")
os.symlink(os.environ["SCANFARM"], "build/scanfarm")
r = subprocess.run([DEMO, "build", *(w for s in SHORT for w in ("--set", s))], capture_output=True, text=True, timeout=190,
                   env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"))
check("the demo ends well", r.returncode == 0, r.stdout + r.stderr)
check("… and its file is verified", "nothing is broken" in r.stdout, r.stdout)
with h5py.File("build/demo/rdw.h5") as file:
    check("… with all members done", file["complete"][()] == 1 and (file["member/state"][...] == 2).all())
    energy, pressure = file["member/param/pulse_energy"][...], file["member/param/pressure_from"][...]
# runner/demo draws members by their numbers and says in its comments and texts what they are.
check("… of which those drawn are what the demo says", rounding(energy[[2, 6, 12, 20]], [250e-6, 270e-6, 300e-6, 340e-6])
      and rounding(pressure[[2, 6, 12, 20]], [0.8e5] * 4), (energy, pressure))
listed = re.findall(r"^picture +(.*)$", r.stdout, re.M)
check("four pictures are listed", len(listed) == 4, listed)
for path in listed:
    with open(path, "rb") as file:
        head = file.read()
    check(f"… {os.path.basename(path)} is a picture", head[:8] == b"\x89PNG\r\n\x1a\n" and len(head) > 5000, len(head))
print(f"{len(failures)} failed")
sys.exit(1 if failures else 0)
