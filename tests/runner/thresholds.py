#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Switching points: an option in place of a measured one, what a file keeps of them, and words that are none."""
import os
import re
import sys

import h5py

from checks import run_checks
from ends import FIBRE
from farm import command, run, states, write

MODES = ([], ["-n", "2"])


def measured(folder):
    """Name and value of each, as --version tells them."""
    text = command(folder, "--version").stdout
    return {name: int(value) for name, value in re.findall(r"(\w+) = (\d+): .*measured on", text)}


def stored(folder):
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        return file["provenance/thresholds"][()].decode().rstrip("\0").splitlines()


def a_file_keeps_the_thresholds_of_its_run():
    known = measured(".")
    assert {"column_shares", "threads_pointwise"} <= set(known), known
    for words in MODES:
        folder = write(FIBRE)
        assert run(folder, "--fft-rigour", "estimate", *words)[0] == 0
        assert stored(folder) == [f"{name} = {value}" for name, value in known.items()], stored(folder)


def an_option_takes_the_place_of_one():
    known = measured(".")
    for words in MODES:
        folder = write(FIBRE)
        given = ["--threshold", "column_shares=4096", "--threshold=threads_pointwise=12"]
        assert run(folder, "--fft-rigour", "estimate", *given, *words)[0] == 0
        want = dict(known, column_shares=4096, threads_pointwise=12)
        marked = [f"{name} = {value}" + (" (by --threshold)" if value != known[name] else "")
                  for name, value in want.items()]
        assert stored(folder) == marked, stored(folder)


def a_file_of_an_earlier_program_goes_on_without_them():
    folder = write(FIBRE)
    assert run(folder, "--fft-rigour", "estimate")[0] == 0
    with h5py.File(os.path.join(folder, "out.h5"), "r+") as file:
        del file["provenance/thresholds"]
        file["member/state"][...] = 0
        file["complete"][...] = 0
    code, _, err = run(folder, "--fft-rigour", "estimate")
    assert code == 0 and (states(folder) == 2).all(), err


def words_that_are_no_threshold_are_refused():
    folder = write(FIBRE)
    for text in ("column", "column_shares", "column_shares=", "column_shares=0", "column_shares=-4", "column_shares=4x",
                 "column_shares=1e3", "column_sharesx=4", "=4", "column_shares=99999999999999999999"):
        code, _, err = run(folder, "--threshold", text)
        assert code == 2 and "--threshold" in err and text in err, (text, code, err)
        assert not os.path.exists(os.path.join(folder, "out.h5")), text


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
