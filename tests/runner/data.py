#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters of kind data: tables and planes of earlier runs as a user gives them, what the file and `plan` say of
them, what a changed file does, and each mistake with its line and exit code 2.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import json
import os
import shutil
import signal

import h5py
import numpy as np

from checks import run_checks
from farm import begun, command, content, descendants, finish, kill_all, run, same, start, wait_until, write
from near import near

PI = np.pi
PLAIN = ("--fft-rigour", "estimate")  # the same plans in every start
FIBRE = """scan: fibre
model: gnlse
parameters:
  length: 2 cm
  wavelength: 835 nm
  betas: [-11.83 ps^2/km, 8.1e-2 ps^3/km]
  gamma: 0.11 W^-1 m^-1
  raman: blow_wood
  INPUT
  grid: {points: 1024, window: 4 ps}
save: {planes: 3}
"""
TABLE = FIBRE.replace("INPUT", "pulse: {file: pulse.txt, peak_power: 2 kW}")
SHAPE = FIBRE.replace("INPUT", "pulse: {shape: gauss, duration: 100 fs, peak_power: 2 kW}")


def gauss(t):
    return np.exp(-4 * np.log(2) * (t / 100) ** 2)


def pulse_lines(step=2.0):
    t = np.arange(-400, 400.5, step)
    return ["# an autocorrelator's idea of a pulse", "time [fs] intensity phase [rad]"] + [f"{x:g} {y:.9e} 0" for x, y in zip(t, gauss(t))]


def table_folder(text=TABLE, lines=None):
    folder = write(text)
    with open(os.path.join(folder, "pulse.txt"), "w") as file:
        file.write("\n".join(lines or pulse_lines()) + "\n")
    return folder


def field(folder, member=0, plane=-1, name="out.h5"):
    with h5py.File(os.path.join(folder, name)) as file:
        return file["plane/field"][member, plane]


def distance(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(b)


def canonical(folder):
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        text = file["config_canonical"][()].decode()
    return dict(line.split(": ", 1) for line in text.splitlines())


def identities(folder):
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        return file["member/identity"][...].tobytes()


def edit(path, old, new):
    with open(path) as file:
        text = file.read()
    assert text.count(old) >= 1, f"{old!r} is not in {path}"
    with open(path, "w") as file:
        file.write(text.replace(old, new, 1))


def refused(folder, code, *parts, words=("plan",)):
    r = command(folder, *words, "scan.yaml")
    lines = r.stderr.strip().splitlines()
    assert r.returncode == code, f"exit code {r.returncode}, not {code}: {r.stderr!r}"
    assert len(lines) == 1, f"not one line: {r.stderr!r}"
    for part in parts:
        assert part in lines[0], f"{part!r} is not in {lines[0]!r}"


def a_table_gives_the_result_of_its_formula():
    folder, formula = table_folder(), write(SHAPE)
    assert run(folder)[0] == 0 and run(formula)[0] == 0
    # rows are 2 fs apart: 5/384 h^4 12 (2 ln 2/width^2)^2 of the peak; later planes multiply it by little
    bound = 5 / 384 * 2.0 ** 4 * 12 * (2 * np.log(2) / 100 ** 2) ** 2
    first, last = distance(field(folder, plane=0), field(formula, plane=0)), distance(field(folder), field(formula))
    assert first < bound and last < 10 * bound, (first, last, bound)
    assert command(folder, "verify", "out.h5").returncode == 0
    os.remove(os.path.join(folder, "pulse.txt"))
    assert command(folder, "verify", "out.h5").returncode == 0, "verify needs the table"
    assert command(folder, "status", "out.h5").returncode == 0


def every_rank_has_the_data():
    alone, farm = table_folder(), table_folder()
    assert run(alone, *PLAIN)[0] == 0
    code, _, err = run(farm, "-n", "2", *PLAIN)
    assert code == 0, err
    assert same(content(alone), content(farm))


def plan_and_file_tell_name_shape_and_hash():
    folder = table_folder()
    text = command(folder, "plan", "scan.yaml", "--no-measure").stdout
    known = json.loads(command(folder, "plan", "scan.yaml", "--no-measure", "--json").stdout)["inputs"]
    assert len(known) == 1 and known[0]["parameter"] == "pulse.file" and known[0]["file"] == "pulse.txt", known
    digest = known[0]["hash"]
    assert len(digest) == 32 and known[0]["bytes"] >= 3 * 8 * 401, known
    assert f"pulse.file = pulse.txt: time [401] s, intensity [401] 1, phase [401] rad; hash {digest}" in text, text
    assert run(folder)[0] == 0
    form = canonical(folder)
    assert form["parameters.pulse.file"] == digest, form
    assert form["inputs." + digest] == '"pulse.txt: time [401] s, intensity [401] 1, phase [401] rad"', form
    text = command(folder, "describe", "gnlse").stdout
    assert "time/intensity/phase" in text and "wavelength m" in text and "array plane/field" in text, text


def a_changed_number_is_another_scan():
    folder = table_folder()
    path = os.path.join(folder, "pulse.txt")
    assert run(folder)[0] == 0
    before = identities(folder)
    assert run(folder)[0] == 0, "the same data go on"
    with open(path) as file:
        line = file.read().splitlines()[300]
    changed = line[:-3] + str((int(line[-3]) + 1) % 10) + line[-2:]
    assert len(changed) == len(line) and sum(a != b for a, b in zip(line, changed)) == 1
    edit(path, line, changed)
    code, _, err = run(folder)
    assert code == 4 and "parameters.pulse.file is" in err and "there and" in err, (code, err)
    code, _, err = run(folder, "-n", "1")
    assert code == 4 and "parameters.pulse.file is" in err, (code, err)
    assert run(folder, "--fresh")[0] == 0
    assert identities(folder) != before, "the identity does not know the data"
    edit(path, changed, line)
    assert run(folder)[0] == 4
    assert run(folder, "--fresh")[0] == 0
    assert identities(folder) == before


def a_farm_that_is_started_again_gets_the_same_data_or_none():
    for changed in (False, True):
        folder = table_folder(TABLE.replace("2 cm", "20 cm") + "axes: [{gamma: {from: 0.1, to: 0.2, points: 12}}]\nstepper: {rtol: 1e-9}\n")
        process = start(folder, "-n", "1", "--relaunch", "1")
        wait_until(lambda: begun(folder, 2), "members begun")
        if changed:
            edit(os.path.join(folder, "pulse.txt"), "\n0 1.0", "\n0 1.1")
        kill_all([pid for pid in descendants(process.pid) if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "scanfarm"])
        code, _, err = finish(process)
        if changed:
            assert code == 4 and "again" in err and "parameters.pulse.file is" in err, (code, err)
        else:
            assert code == 0 and "again" in err, (code, err)


def comments_names_and_notation_change_nothing():
    folder = table_folder()
    assert run(folder)[0] == 0
    before = identities(folder)
    lines = [line.replace(" ", ", ") for line in pulse_lines()[2:]]
    os.makedirs(os.path.join(folder, "data"))
    with open(os.path.join(folder, "data", "other.csv"), "w") as file:
        file.write("\n".join(["time (fs), intensity, phase (rad)", *lines]))
    edit(os.path.join(folder, "scan.yaml"), "file: pulse.txt", "file: data/other.csv")
    assert run(folder)[0] == 0 and identities(folder) == before


def paths_are_relative_to_the_scan_file():
    folder = table_folder()
    r = command(".", "plan", f"{folder}/scan.yaml", "--no-measure")
    assert r.returncode == 0 and "pulse.txt" in r.stdout, r.stderr


def a_long_path_is_cut_between_characters():
    name = "x" + "ü" * 100 + ".txt"
    folder = table_folder(TABLE.replace("pulse.txt", name))
    os.rename(os.path.join(folder, "pulse.txt"), os.path.join(folder, name))
    code, _, err = run(folder, "-n", "1")
    assert code == 0, err
    assert command(folder, "verify", "out.h5").returncode == 0


def an_hdf5_table_is_the_text_table():
    folder, text = table_folder(TABLE.replace("pulse.txt", "pulse.h5")), table_folder()
    t = np.arange(-400, 400.5, 2.0)
    with h5py.File(os.path.join(folder, "pulse.h5"), "w") as file:
        for name, values, units in (("time", t, "fs"), ("intensity", np.array([float(f"{x:.9e}") for x in gauss(t)]), None), ("phase", 0 * t, "rad")):
            file[name] = values
            if units:
                file[name].attrs["units"] = units
        file["other"] = "not a column"
    assert run(folder)[0] == 0 and run(text)[0] == 0
    assert identities(folder) == identities(text)


def hdf5_tables_are_judged_by_dataset():
    def made(change):
        folder = table_folder(TABLE.replace("pulse.txt", "pulse.h5"))
        t = np.arange(-400, 400.5, 2.0)
        data = {"time": (t, "fs"), "intensity": (gauss(t), "1"), "phase": (0 * t, "rad")}
        change(data)
        with h5py.File(os.path.join(folder, "pulse.h5"), "w") as file:
            for name, (values, units) in data.items():
                file[name] = values
                if units:
                    file[name].attrs["units"] = units
        return folder
    t = np.arange(-400, 400.5, 2.0)
    bad = gauss(t)
    bad[7] = np.nan
    where = "scan.yaml:9:17: pulse.file: pulse.h5: "
    refused(made(lambda d: d.update(time=(t, None))), 2, where, "dataset time", "has no unit", "a unit of s")
    refused(made(lambda d: d.update(time=(t, "nm"))), 2, where, "dataset time", "a unit of s is wanted")
    refused(made(lambda d: d.update(time=(np.abs(t), "fs"))), 2, where, "dataset time, row 201", "2 follows 0")
    refused(made(lambda d: d.update(intensity=(bad, "1"))), 2, where, "dataset intensity, row 7", "finite")
    refused(made(lambda d: d.update(phase=(t[1:], "rad"))), 2, where, "dataset phase has 400 numbers, time has 401")
    refused(made(lambda d: d.update(phase=(np.array([t, t]), "rad"))), 2, where, "dataset phase has 2 dimensions")
    refused(made(lambda d: d.pop("intensity")), 2, where, "time, phase", "accepted", "time/intensity/phase")
    refused(made(lambda d: d.clear()), 2, where, "none", "time/intensity/phase")


def mistakes_in_a_table_are_told_with_file_and_line():
    where = "scan.yaml:9:17: pulse.file: pulse.txt"
    lines = pulse_lines()

    def with_line(number, text):
        return table_folder(lines=[*lines[:number - 1], text, *lines[number:]])
    refused(with_line(7, "-390 nan 0"), 2, where + ":7:6: ", "'nan' is not a finite number")
    refused(with_line(7, "-500 1 0"), 2, where + ":7:1: ", "column time", "-500 follows -394", "rise")
    refused(with_line(7, "-390 1"), 2, where + ":7:1: ", "2 numbers; the header names 3")
    refused(with_line(2, "time [fs] intensity phase [m]"), 2, where, "column phase", "a unit of rad is wanted")
    refused(with_line(2, "time [fs] power phase [rad]"), 2, where, "accepted", "time/intensity/phase")
    gone = table_folder()
    os.remove(os.path.join(gone, "pulse.txt"))
    for words in (("plan",), ("run",), ("run", "-n", "1")):
        refused(gone, 2, where, "No such file", "relative to the scan file", words=words)
    os.mkdir(os.path.join(gone, "pulse.txt"))
    refused(gone, 2, where, "a directory")
    refused(table_folder(TABLE.replace("peak_power: 2 kW", "columns: [time, imag], peak_power: 2 kW")), 2, "scan.yaml:9:37", "pulse.columns", "accepted: time/intensity")
    refused(table_folder(TABLE.replace("peak_power: 2 kW", "columns: [time, real, imag], peak_power: 2 kW")), 2, "time, intensity, phase; accepted")
    refused(table_folder(TABLE.replace("file: pulse.txt", "file: pulse.txt, duration: 50 fs")), 2, "pulse.duration belongs to a shape")


def damaged_and_foreign_files_are_refused():
    earlier = write(SHAPE)
    assert run(earlier)[0] == 0
    with open(os.path.join(earlier, "out.h5"), "rb") as file:
        data = file.read()
    probe = write("scan: p\nmodel: probe\nsave: {planes: 2}\n")
    assert run(probe)[0] == 0
    folder = write(FIBRE.replace("INPUT", "input: {from: earlier.h5, member: 0, plane: last}"))
    path = os.path.join(folder, "earlier.h5")
    where = "scan.yaml:9:17: input.from: "
    refused(folder, 2, where, "earlier.h5")
    for name, scan in (("earlier.h5", folder), ("pulse.txt", table_folder())):
        pipe = os.path.join(scan, name)
        if os.path.exists(pipe):
            os.remove(pipe)
        os.mkfifo(pipe)
        refused(scan, 2, name + ": is no")
        os.remove(pipe)
    with open(path, "w") as file:
        file.write("time [fs] intensity\n")
    refused(folder, 2, where, "is no HDF5 file")
    with open(path, "wb") as file:
        file.write(data[:len(data) // 2])
    refused(folder, 2, where, "truncated")
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(3)
    refused(folder, 2, where)
    shutil.copy(os.path.join(probe, "out.h5"), path)
    refused(folder, 2, where, "model probe", "model gnlse")
    with open(path, "wb") as file:
        file.write(data)
    with h5py.File(path, "r+") as file:
        file["plane/field"][0, 2, 5] = 1.0
    refused(folder, 2, where, "plane 2 of member 0 is damaged")
    table = table_folder()
    with open(os.path.join(table, "pulse.txt"), "wb") as file:
        file.write(data[:4096])
    refused(table, 2, "pulse.file: cannot open pulse.txt", "truncated")


def a_plane_that_does_not_exist_is_refused():
    earlier = write(SHAPE.replace("save: {planes: 3}", "save: {planes: 3, field: true}\naxes: [{gamma: [0.1, 0.11]}]"))
    assert run(earlier)[0] == 0
    lines = {"member: 2": ("member 2 does not exist", "0 to 1"), "member: 1, plane: 3": ("plane 3 of member 1 is not saved", "0 to 2, or last"), "member: -1": ("input.member", "out of range"), "plane: end": ("input.plane",)}
    for text, parts in lines.items():
        folder = write(FIBRE.replace("INPUT", f"input: {{from: ../{earlier}/out.h5, {text}}}"))
        refused(folder, 2, "scan.yaml:9:", *parts)
    folder = write(FIBRE.replace("INPUT", f"input: ../{earlier}/out.h5").replace("1024", "2048"))
    assert command(folder, "plan", "scan.yaml").returncode == 0, "the same window with more points"
    edit(os.path.join(folder, "scan.yaml"), "window: 4 ps", "window: 8 ps")
    refused(folder, 2, "input.from", "a window of 4e-12 s", "the scan 8e-12 s")
    bare = write(SHAPE.replace("planes: 3", "planes: 3, field: false"))
    assert run(bare)[0] == 0
    refused(write(FIBRE.replace("INPUT", f"input: ../{bare}/out.h5")), 2, "has no plane/field", "save: {field: true}")


def a_run_goes_on_where_another_ended():
    whole, tight = write(SHAPE), write(SHAPE + "stepper: {rtol: 1e-10}\n")
    assert run(whole)[0] == 0 and run(tight)[0] == 0
    folder = write(FIBRE.replace("INPUT", f"input: {{from: ../{whole}/out.h5, plane: 1}}").replace("2 cm", "1 cm").replace("planes: 3", "planes: 2"))
    code, _, err = run(folder, "-n", "1")
    assert code == 0, err
    assert field(folder, plane=0).tobytes() == field(whole, plane=1).tobytes()
    error, apart = distance(field(whole), field(tight)), distance(field(folder), field(whole))
    assert 0 < apart < 2 * error, (apart, error)


def members_of_a_run_can_be_scanned():
    earlier = write(SHAPE + "axes: [{gamma: {from: 0.1, to: 0.13, points: 4}}]\n")
    assert run(earlier)[0] == 0
    folder = write(FIBRE.replace("INPUT", f"input: {{from: ../{earlier}/out.h5}}") + "axes: [{input.member: {from: 3, to: 0, step: -1}}, {gamma: [0.1, 0.2]}]\n")
    code, _, err = run(folder, "-n", "2")
    assert code == 0, err
    for member in range(8):
        assert field(folder, member, 0).tobytes() == field(earlier, 3 - member // 2).tobytes(), member
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        rows = file["member/identity"][...]
        assert len(np.unique(rows, axis=0)) == 8
    assert command(folder, "verify", "out.h5").returncode == 0
    text = command(folder, "plan", "scan.yaml", "--no-measure").stdout
    assert "member 3, plane last" in text and "input.member" in text, text


def files_can_be_scanned_and_collected_without_them():
    folder = table_folder(TABLE.replace("file: pulse.txt, ", "") + "axes: [{pulse.file: [pulse.txt, longer.txt]}]\n")
    lines = pulse_lines()
    with open(os.path.join(folder, "longer.txt"), "w") as file:
        file.write("\n".join([lines[1].replace("fs", "ps"), *(f"{float(x.split()[0]) * 2e-3:g} {x.split()[1]} 0" for x in lines[2:])]))
    for shard in (1, 2):
        code, _, err = run(folder, "--shard", f"{shard}/2")
        assert code == 0, err
    for name in ("pulse.txt", "longer.txt"):
        os.remove(os.path.join(folder, name))
    parts = sorted(name for name in os.listdir(folder) if name.endswith(".h5"))
    assert len(parts) == 2, parts
    r = command(folder, "collect", *parts, "-o", "all.h5")
    assert r.returncode == 0, r.stderr
    with h5py.File(os.path.join(folder, "all.h5")) as file:
        widths = file["plane/fwhm_t"][:, 0]
    assert near(widths[:2], [100e-15, 200e-15], rtol=1e-2, faulty=[102e-15, 204e-15], fault="widths larger by a fiftieth"), widths


def a_large_set_is_refused_with_the_limit():
    folder = table_folder(TABLE.replace("pulse.txt", "pulse.h5"))
    n = (64 << 20) // 16 + 1
    with h5py.File(os.path.join(folder, "pulse.h5"), "w") as file:
        file["time"] = np.arange(n, dtype=float)
        file["time"].attrs["units"] = "fs"
        file["intensity"] = np.ones(n)
    refused(folder, 2, "pulse.file: pulse.h5", "64 MB, the limit")


def several_pulses_are_a_list():
    one = "shape: gauss, duration: 100 fs, peak_power: 2 kW"
    two = "shape: gauss, duration: 80 fs, energy: 4 pJ, wavelength: 900 nm, phases: {delay: 0.5 ps}"
    folder = table_folder(FIBRE.replace("INPUT", f"pulse: [{{{one}}}, {{{two}}}, {{file: pulse.txt, peak_power: 1 W, phases: {{delay: -0.5 ps}}}}]"))
    apart = table_folder(FIBRE.replace("INPUT", f"pulse: {{{one}}}\n  pulse2: {{{two}}}\n  pulse3: {{file: pulse.txt, peak_power: 1 W, phases: {{delay: -0.5 ps}}}}"))
    assert run(folder, *PLAIN)[0] == 0 and run(apart, *PLAIN)[0] == 0
    assert same(content(folder), content(apart)) and identities(folder) == identities(apart)
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        energy = file["plane/energy"][0, 0]
    area = np.sqrt(PI / (4 * np.log(2))) * 100e-15  # of a Gaussian's intensity; the three hardly overlap
    assert near(energy, 2e3 * area + 4e-12 + 1 * area, rtol=1e-4, faulty=2e3 * area + 4e-12, fault="without the third pulse"), energy
    refused(table_folder(FIBRE.replace("INPUT", f"pulse: [{{{one}}}, {{{two}}}, {{{two}}}, {{{two}}}]")), 2, "scan.yaml:9:", "pulse: 4 entries; accepted: at most 3")
    refused(table_folder(FIBRE.replace("INPUT", f"pulse: [{{{one}}}, {{energi: 1 nJ}}]")), 2, "energi", "did you mean 'energy'")


def a_wave_with_noise_has_a_photon_in_each_bin():
    text = FIBRE.replace("INPUT", "pulse: {shape: cw, peak_power: 3 W}").replace("planes: 3", "planes: 2") + "ensemble: {realisations: 2, seed: 5, noise: one_photon}\n"
    folder = write(text)
    assert run(folder)[0] == 0
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        a, omega, energy = file["plane/field"][1, 0], file["omega"][...], file["plane/energy"][1, 0]
    noise = np.delete(np.abs(a) ** 2 * 4e-12 / (1.054571817e-34 * omega), 0)  # photons a bin
    assert near(noise, 1, rtol=1e-6, faulty=1.00001, fault="a photon larger by 1e-5"), (noise.min(), noise.max())
    # the photon in the wave's own bin beats with it: 2 sqrt(hbar omega/T/P)
    beat = np.sqrt(1.054571817e-34 * omega[0] / 4e-12 / 3)
    assert near(energy, 3 * 4e-12, rtol=2.1 * beat, faulty=3 * 4e-12 * (1 + 2 * np.sqrt(2) * beat), fault="two photons in the bin"), energy
    text = command(folder, "plan", "scan.yaml", "--no-measure").stdout
    assert "gain of modulation instability" in text, text


def hollenbeck_and_cantrell_is_a_response():
    folder, other = write(SHAPE.replace("raman: blow_wood", "raman: hollenbeck_cantrell")), write(SHAPE)
    assert run(folder)[0] == 0 and run(other)[0] == 0
    assert 1e-4 < distance(field(folder), field(other)) < 0.5


if __name__ == "__main__":
    raise SystemExit(run_checks(globals(), but=("begun", "descendants", "finish", "start", "wait_until", "run", "write", "command", "content", "same")))
