#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Model capillary with its guide out of files: index at one and at two positions, loss, ionisation rate, a taper, as
a scan file gives them, against the formulas that the files were made from.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import os

import h5py
import numpy as np

from checks import run_checks
from farm import command, run, write
from near import near, norm_below

C = 299792458.0
U = 2.404825557695773
GAS = """scan: gas
model: capillary
parameters:
  gas: He
  RADIUS
  length: 30 cm
  pressure: 0 bar
  guide: GUIDE
  plasma: none
  pulse: {duration: 10 fs, energy: 50 uJ, wavelength: 800 nm}
  grid: {wavelengths: [300 nm, 2 um], window: 200 fs}
stepper: {rtol: 1e-8}
save: {planes: 2, field: true}
"""


def folder_of(guide, radius="core_radius: 100 um", **tables):
    folder = write(GAS.replace("GUIDE", guide).replace("RADIUS", radius))
    for name, lines in tables.items():
        with open(os.path.join(folder, name + ".txt"), "w") as file:
            file.write("\n".join(lines) + "\n")
    return folder


def end_of(folder):
    code, _, err = run(folder)
    assert code == 0, err
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        return file["omega"][...], file["plane/field"][0]


def index_of(omega, radius):
    return 1 - (U * C / (omega * radius)) ** 2 / 2


def index_lines(*radii, longest=4.2):
    # wavelengths are close together where the index bends
    wavelength = np.linspace(0.26, longest, 800)
    names = " ".join(f"index{k if k > 1 else ''}" for k in range(1, len(radii) + 1))
    rows = (" ".join([f"{x:.17g}"] + [f"{index_of(2 * np.pi * C / (x * 1e-6), a):.17g}" for a in radii]) for x in wavelength)
    return [f"wavelength [um] {names}", *rows]


def distance(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(b)


def a_table_of_the_index_is_its_guide():
    _, table = end_of(folder_of("{table: index.txt}", index=index_lines(100e-6)))
    _, formula = end_of(folder_of("{loss: false}"))
    assert distance(table[-1], table[0]) > 0.1
    assert norm_below(distance(table[-1], formula[-1]), 1e-5), distance(table[-1], formula[-1])


def two_columns_are_linear_between_their_positions():
    omega, two = end_of(folder_of("{table: index.txt, table_z: [0 cm, 30 cm]}", index=index_lines(100e-6, 80e-6)))
    # the mean of both indices all along: that of one radius
    mean = np.sqrt(2 / (100e-6 ** -2 + 80e-6 ** -2))
    _, one = end_of(folder_of("{loss: false}", f"core_radius: {mean!r} m"))
    assert norm_below(distance(two[-1], one[-1]), 1e-5), distance(two[-1], one[-1])
    assert len(omega) == two.shape[1]


def a_taper_is_the_guide_of_its_mean_inverse_square():
    _, taper = end_of(folder_of("{loss: false}", "core_radius: {z: [0 cm, 30 cm], radius: [100 um, 81 um]}"))
    _, mean = end_of(folder_of("{loss: false}", "core_radius: 90 um"))
    # a dilute gas has no Kerr effect: only int a^-2 dz = L/(a b) counts
    assert norm_below(distance(taper[-1], mean[-1]), 1e-9), distance(taper[-1], mean[-1])


def a_table_of_the_loss_damps_by_it():
    loss = ["frequency [THz] loss [1/m]"] + [f"{f} {0.5 + 0.001 * f}" for f in range(50, 1205, 5)]
    omega, field = end_of(folder_of("{loss_table: loss.txt, loss_factor: 2}", loss=loss))
    lit = np.abs(field[0]) > 1e-6 * np.abs(field[0]).max()
    want, high = (np.exp(-0.3 * 2 * (0.5 + 0.001 * w / (2e12 * np.pi))) for w in (omega, omega * (1 + 1e-7)))
    assert near((np.abs(field[1][lit]) / np.abs(field[0][lit])) ** 2, want[lit], rtol=1e-9, faulty=high[lit], fault="frequencies higher by 1e-7")


def a_table_of_the_rate_is_taken():
    rate = ["field [GV/m] rate [1/fs]"] + [f"{e} {1e-3 * (e / 10) ** 8}" for e in range(1, 100, 4)]
    folder = folder_of("{loss: false}", rate=rate)
    path = os.path.join(folder, "scan.yaml")
    with open(path) as file:
        text = file.read().replace("plasma: none", "plasma: {table: rate.txt}").replace("pressure: 0 bar", "pressure: 1 mbar")
    with open(path, "w") as file:
        file.write(text)
    code, _, err = run(folder)
    assert code == 0, err
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        assert 0 < file["plane/ionised_fraction"][0, 0] < 1


def what_does_not_fit_is_refused():
    cases = [
        (folder_of("{table: index.txt}", index=index_lines(100e-6, longest=3.0)), "guide.table: the table holds", "4"),
        (folder_of("{table: index.txt}", index=index_lines(100e-6, 80e-6)), "guide.table_z", "as many are needed"),
        (folder_of("{loss_table: loss.txt}", loss=["wavelength [um] loss [dB]", "1 1"]), "loss", "unit of m^-1"),
        (folder_of("{table: none.txt}"), "guide.table", "none.txt"),
    ]
    for folder, *words in cases:
        r = command(folder, "plan", "scan.yaml", "--no-measure")
        lines = r.stderr.strip().splitlines()
        assert r.returncode == 2 and len(lines) == 1, (r.returncode, r.stderr)
        for word in words:
            assert word in lines[0], (word, lines[0])


if __name__ == "__main__":
    raise SystemExit(run_checks(globals(), but=("run", "write", "command", "run_checks", "folder_of", "end_of", "index_of", "index_lines", "distance")))
