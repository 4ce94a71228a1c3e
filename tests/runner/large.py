#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plane of more than 2 GB: single writes and reads of that size may be silently wrong, so it goes in pieces. Written by
the program, checked by its checksum after a death, read by h5py. Skipped where memory or disk are too small."""
import os
import shutil
import signal
import sys

import h5py
import numpy as np

from farm import finish, start, states, write

SIZE = 300_000_000  # numbers of 8 bytes
SCAN = f"""scan: large
model: probe
parameters: {{size: {SIZE}, a: 3}}
save: {{planes: last}}
store: {{history: 0}}
"""
NEEDED_MEMORY, NEEDED_DISK = 10e9, 6e9
LIMIT = 400  # s of a run: a busy disk may take 20 MB/s


def available_memory():
    with open("/proc/meminfo") as file:
        return 1024 * int(next(line.split()[1] for line in file if line.startswith("MemAvailable")))


def main():
    memory, disk = available_memory(), shutil.disk_usage(".").free
    if memory < NEEDED_MEMORY or disk < NEEDED_DISK:
        print(f"skipped: {memory:.3g} bytes of memory and {disk:.3g} of disk are free")
        return 77
    folder = write(SCAN)
    path = os.path.join(folder, "out.h5")
    try:
        code, _, err = finish(start(folder, env={"FARM_FAULT": "kill@plane.done"}), LIMIT)
        assert code in (0, -signal.SIGKILL), err
        if code != 0:  # a build with faults: the next run checks what counts
            code, _, err = finish(start(folder), LIMIT)
            assert code == 0 and "1 plane of 1 member checked, no damage" in err, err
        assert (states(folder) == 2).all()
        with h5py.File(path) as file:
            data = file["plane/data"]
            assert data.nbytes > 2**31, data.nbytes
            for first in range(0, SIZE, 10_000_000):
                part = data[0, 0, first:first + 10_000_000]
                assert np.array_equal(part, 3e10 + np.arange(first, first + len(part))), first
    finally:
        shutil.rmtree(folder)
    print("a plane of 2.4 GB comes back as it was written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
