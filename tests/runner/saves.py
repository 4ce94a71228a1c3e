#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `save:` leaves out is not in the file, costs nothing in `plan`, and changes nothing of the rest: the last plane, some
planes, observables only, spectra in single precision."""
import json
import os
import sys

import h5py
import numpy as np

from farm import command, run, write
from near import near, norm_below

FIBRE = """scan: saves
model: gnlse
parameters:
  length: 4 mm
  wavelength: 835 nm
  betas: [-11.83 ps^2/km]
  gamma: 0.11 W^-1 m^-1
  raman: none
  pulse: {shape: sech, duration: 50 fs, peak_power: 10 kW}
  grid: {points: 4096, window: 6 ps}
axes: [{gamma: [0.1 W^-1 m^-1, 0.105 W^-1 m^-1, 0.11 W^-1 m^-1, 0.115 W^-1 m^-1]}]
stepper: {rtol: 1e-9}
store: {history: 0}
save: """
N, MEMBERS = 4096, 4


def made(save):
    """Planned bytes, the file's sizes, and what is under /plane."""
    folder = write(FIBRE + save + "\n")
    plan = json.loads(command(folder, "plan", "scan.yaml", "--json").stdout)["file"]
    code, _, err = run(folder, "--fft-rigour", "estimate")
    assert code == 0, err
    path = os.path.join(folder, "out.h5")
    info = os.stat(path)
    with h5py.File(path) as file:
        planes = {name: file["plane/" + name][...] for name in file["plane"]}
        reduced = {name: file["plane/" + name].attrs.get("reduced", "") for name in planes}
        rest = sum(0 if name.startswith(("plane/", "resume/")) else d.nbytes for name, d in everything(file))
    return plan, info, planes, reduced, rest


def everything(file):
    found = []
    file.visititems(lambda name, item: found.append((name, item)) if isinstance(item, h5py.Dataset) else None)
    return found


def main():
    full = made("{planes: 5, field: true, observables: all}")
    field = full[2]["field"]
    assert field.shape == (MEMBERS, 5, N)
    sizes = {}
    for save, planes in (("{planes: 5, field: true, observables: all}", 5), ("{planes: last, field: true, observables: all}", 1),
                         ("{planes: [1 mm, 4 mm], field: true, observables: all}", 2),
                         ("{planes: 5, field: float32, observables: all}", 5),
                         ("{planes: 5, field: false, observables: [energy, peak_power]}", 5)):
        plan, info, found, reduced, rest = made(save)
        sizes[save] = plan
        # apparent: the file's length; data: what its planes and rows hold, the disk no more than that and the rest
        assert near(info.st_size, plan["apparent_bytes"], rtol=0.1, faulty=1.2 * plan["apparent_bytes"], fault="a fifth more"), (save, plan, info.st_size)
        stored = sum(values.nbytes for values in found.values())
        assert stored <= plan["data_bytes"] <= stored + rest, (save, plan, stored, rest)
        assert 512 * info.st_blocks <= plan["data_bytes"] + rest + 65536 * (len(found) + 60), (save, info.st_blocks)
        assert all(values.shape[:2] == (MEMBERS, planes) for values in found.values()), save
        if "false" in save:
            assert set(found) == {"z", "energy", "peak_power", "checksum"}, set(found)
        elif "float32" in save:
            assert found["field"].dtype == np.complex64 and "2^-24" in reduced["field"]
            for part in (np.real, np.imag):
                assert near(part(found["field"]).astype(float), part(field), rtol=2.0**-24, atol=2.0**-149,
                            faulty=part(field) * (1 + 2.0**-23), fault="a bit of binary32 less")
            assert np.array_equal(found["energy"], full[2]["energy"])  # of the field, before it is narrowed
        elif planes == 5:
            assert found["field"].tobytes() == field.tobytes()
        else:
            # other planes to land on are other steps: equal within what the tolerance leaves
            last = found["field"][:, -1]
            assert norm_below(np.linalg.norm(last - field[:, -1]) / np.linalg.norm(field[:, -1]), 1e-6), save
            assert found["z"][0, -1] == 4e-3 and (planes == 1 or found["z"][0, 0] == 1e-3)
    data = [plan["data_bytes"] for plan in sizes.values()]
    planes_of = [round((d - data[4]) / (16 * N * MEMBERS), 1) for d in data]
    assert planes_of == [5.0, 1.0, 2.0, 2.5, 0.0], planes_of
    print("what is saved is what is asked for and what is planned")
    return 0


if __name__ == "__main__":
    sys.exit(main())
