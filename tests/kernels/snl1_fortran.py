#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""snl1_fortran PROGRAM: the Fortran example gives the reference's bits and refuses what it must."""
import os
import subprocess
import sys

import numpy as np

GROUP = os.path.join(os.environ["SCANFARM_SOURCE"], "tests/data/snl1/B1")


def hashes(name):
    rows = np.fromfile(name, "<f4").reshape(56, -1)
    bits = rows.view("<u4").copy()
    bits[np.isnan(rows)] = 0x7fc00000
    hashed = np.full(len(bits), 0xcbf29ce484222325, np.uint64)
    with np.errstate(over="ignore"):
        for word in bits.T:
            hashed = (hashed ^ word.astype(np.uint64)) * np.uint64(0x100000001b3)
    return hashed


run = subprocess.run([sys.argv[1], GROUP, "56"], capture_output=True, text=True, check=False)
assert run.returncode == 0, run.stderr
kernel, speed, shapes, negative = run.stdout.splitlines()
assert kernel.startswith("snl1-parity/"), kernel
assert "point 2, frequency 3" in speed and "another number of points" in shapes, run.stdout
spectra = np.fromfile(os.path.join(GROUP, "a.f32"), "<f4").reshape(56, -1)
assert negative == f"points with a negative value: {(spectra < 0).any(1).sum()}", negative
s, d = np.fromfile(os.path.join(GROUP, "results.u64"), "<u8").reshape(2, -1)
assert (hashes("s.f32") == s).all() and (hashes("d.f32") == d).all()
