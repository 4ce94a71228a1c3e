#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Model capillary fed from files: tables and planes of earlier runs on one and several ranks, two legs against the
whole way; and, of both models of pulses, keys that would be ignored beside a file, and noise that would be added twice.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import json
import os

import h5py
import numpy as np

from checks import run_checks
from farm import command, content, run, same, write
from near import near, rounding

PLAIN = ("--fft-rigour", "estimate")  # the same plans in every start, made at once
GAS = """scan: gas
model: capillary
parameters:
  gas: Ar
  core_radius: 125 um
  length: 20 cm
  pressure: 200 mbar
  plasma: none
  INPUT
  grid: {wavelengths: [200 nm, 3 um], window: 150 fs}
save: {planes: 3}
"""
PULSE = GAS.replace("INPUT", "pulse: {shape: gauss, duration: 10 fs, energy: 60 uJ, wavelength: 800 nm}")
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
SHAPE = FIBRE.replace("INPUT", "pulse: {shape: gauss, duration: 100 fs, peak_power: 2 kW}")
NOISE = "ensemble: {realisations: 2, seed: 5, noise: one_photon}\n"
HBAR = 1.054571817e-34
# of each model: text without an input, with a pulse, what stands beside `input`, energy of a bin over |a|^2 and T
MODELS = {"capillary": (GAS, PULSE, "pulse: {wavelength: 800 nm}", 4), "gnlse": (FIBRE, SHAPE, None, 1)}


def leg(text, beside, source):
    lines = f"input: {source}" + (f"\n  {beside}" if beside else "")
    return text.replace("INPUT", lines)


def with_table(text, name="pulse.txt"):
    folder = write(text)
    t = np.arange(-60, 60.1, 0.25)
    with open(os.path.join(folder, name), "w") as file:
        file.write("time [fs] intensity\n" + "\n".join(f"{x:g} {np.exp(-4 * np.log(2) * (x / 10) ** 2):.12e}" for x in t) + "\n")
    return folder


def read(folder, name, member=0, plane=-1):
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        return file["plane/" + name][member, plane]


def distance(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(b)


def refused(folder, *parts, words=("plan",)):
    r = command(folder, *words, "scan.yaml")
    lines = r.stderr.strip().splitlines()
    assert r.returncode == 2, f"exit code {r.returncode}, not 2: {r.stderr!r}"
    assert len(lines) == 1, f"not one line: {r.stderr!r}"
    for part in parts:
        assert part in lines[0], f"{part!r} is not in {lines[0]!r}"


def done(folder, *words):
    code, _, err = run(folder, *words, *PLAIN)
    assert code == 0, err
    return err


def a_table_gives_the_result_of_its_formula_on_every_rank():
    text = GAS.replace("INPUT", "pulse: {file: pulse.txt, energy: 60 uJ, wavelength: 800 nm}") + "axes: [{pressure: [100 mbar, 200 mbar, 300 mbar]}]\n"
    alone, farm, formula = with_table(text.replace("  pressure: 200 mbar\n", "")), with_table(text.replace("  pressure: 200 mbar\n", "")), write(PULSE)
    done(alone)
    done(farm, "-n", "3")
    done(formula)
    assert same(content(alone), content(farm))
    # rows are 0.25 fs apart: 5/384 h^4 12 (2 ln 2/width^2)^2 of the peak; the way multiplies it by little
    bound = 5 / 384 * 0.25 ** 4 * 12 * (2 * np.log(2) / 10 ** 2) ** 2
    first, last = distance(read(alone, "field", 1, 0), read(formula, "field", 0, 0)), distance(read(alone, "field", 1), read(formula, "field"))
    assert first < bound and last < 20 * bound, (first, last, bound)
    assert command(alone, "verify", "out.h5").returncode == 0
    text = command(alone, "plan", "scan.yaml", "--no-measure").stdout
    assert "duration of the table" in text and "pulse.file = pulse.txt: time [481] s, intensity [481] 1" in text, text


def two_legs_are_the_whole_way():
    whole, tight = write(PULSE), write(PULSE + "stepper: {rtol: 1e-10}\n")
    done(whole)
    done(tight)
    second = write(leg(GAS, "pulse: {wavelength: 800 nm}", f"{{from: ../{whole}/out.h5, plane: 1}}").replace("20 cm", "10 cm").replace("planes: 3", "planes: 2"))
    done(second, "-n", "1")
    assert read(second, "field", 0, 0).tobytes() == read(whole, "field", 0, 1).tobytes(), "the state is not taken as it is"
    error, apart = distance(read(whole, "field"), read(tight, "field")), distance(read(second, "field"), read(whole, "field"))
    assert 0 < apart < 2 * error, (apart, error)
    assert read(second, "z", 0, 0) == 0 and rounding(read(second, "z"), 0.1, rtol=1e-14)
    for name in ("b_integral", "absorbed"):
        assert read(second, name, 0, 0) == 0, f"{name} does not begin anew"
        sum_, total = read(whole, name, 0, 1) + read(second, name), read(whole, name)
        assert near(sum_, total, rtol=1e-3, faulty=1.003 * total, fault="3e-3 of it counted twice"), (name, sum_, total)
    assert command(second, "verify", "out.h5").returncode == 0


def members_and_windows_of_a_run_are_taken():
    earlier = write(PULSE + "axes: [{pulse.energy: [20 uJ, 40 uJ, 60 uJ]}]\n")
    done(earlier)
    text = leg(GAS, "pulse: {wavelength: 800 nm}", f"{{from: ../{earlier}/out.h5}}").replace("20 cm", "1 cm") + "axes: [{input.member: [2, 0, 1]}]\n"
    folder = write(text)
    done(folder, "-n", "3")
    for member, taken in enumerate((2, 0, 1)):
        assert read(folder, "field", member, 0).tobytes() == read(earlier, "field", taken).tobytes(), member
    wide = write(text.replace("window: 150 fs", "window: 300 fs"))
    done(wide)
    energy = read(earlier, "energy", 2)
    assert near(read(wide, "energy", 0, 0), energy, rtol=1e-9, faulty=energy * (1 + 1e-8), fault="1e-8 more")
    refused(write(text.replace("window: 150 fs", "window: 151 fs")), "scan.yaml:", "input.from: the plane has a window of 1.5e-13 s", "accepted: the same, or one that holds", "say 1.5")
    refused(write(text.replace("[200 nm, 3 um]", "[900 nm, 3 um]").replace("800 nm", "1000 nm")), "its band", "accepted: at most 0.001")


def several_pulses_are_a_list():
    one, two = "duration: 10 fs, energy: 60 uJ, wavelength: 800 nm", "duration: 12 fs, energy: 5 uJ, wavelength: 400 nm, phases: {delay: 40 fs}"
    short = GAS.replace("20 cm", "1 cm").replace("planes: 3", "planes: 2")
    listed, named = (write(short.replace("INPUT", x)) for x in (f"pulse: [{{{one}}}, {{{two}}}]", f"pulse: {{{one}}}\n  pulse2: {{{two}}}"))
    done(listed, "-n", "1")
    done(named)
    assert read(listed, "field").tobytes() == read(named, "field").tobytes()
    energy = read(listed, "energy", 0, 0)  # the two hardly overlap
    assert near(energy, 65e-6, rtol=1e-6, faulty=65.0003e-6, fault="0.3 nJ more"), energy
    text = command(".", "describe", "capillary").stdout
    assert "time/intensity/phase" in text and "array plane/field" in text and "pulse3.phases.delay" in text, text


def planes_of_another_model_are_refused_by_name():
    fibre = write(SHAPE)
    done(fibre)
    refused(write(leg(GAS, "pulse: {wavelength: 800 nm}", f"../{fibre}/out.h5")), "scan.yaml:9:", "input.from", "holds results of model gnlse; those of model capillary are wanted")


def keys_beside_a_file_are_not_ignored():
    for model, (text, pulse, beside, _) in MODELS.items():
        carrier = ", wavelength: 800 nm" if beside else ""
        table = text.replace("INPUT", f"pulse: {{file: pulse.txt, energy: 1 nJ{carrier}, shape: gauss}}")
        both = ("pulse.shape and pulse.file are both given", "leave one of them out")
        for words in (("plan",), ("run",), ("run", "-n", "1")):
            refused(with_table(table), "scan.yaml:9:", *both, words=words)
        bare = table.replace(", shape: gauss", "")
        refused(with_table(bare + "axes: [{pulse.shape: [gauss, sech]}]\n"), "scan.yaml:12:", *both)
        refused(with_table(bare), *both, words=("plan", "--set", "pulse.shape=sech"))
        assert command(with_table(bare), "plan", "scan.yaml", "--no-measure").returncode == 0, model
        scanned = bare.replace("file: pulse.txt, ", "shape: sech, ") + "axes: [{pulse.file: [pulse.txt]}]\n"
        refused(with_table(scanned), "scan.yaml:9:", *both)
        further = text.replace("INPUT", f"pulse: [{{file: pulse.txt, energy: 1 nJ{carrier}}}, {{file: pulse.txt, energy: 1 nJ, shape: gauss}}]")
        refused(with_table(further), "scan.yaml:9:", "pulse2.shape and pulse2.file are both given")
        refused(with_table(text.replace("INPUT", f"pulse: {{shape: gauss, duration: 10 fs, energy: 1 nJ{carrier}, columns: [time, intensity]}}")), "scan.yaml:9:", "pulse.columns has no effect without pulse.file")
        refused(write(pulse.replace("  grid", "  input: {member: 0}\n  grid")), "scan.yaml:10:", "input.member has no effect without input.from")
        refused(write(pulse.replace("  grid", "  input: {from: a.h5}\n  grid")), "pulse.shape and input.from are both given")
        done(with_table(bare))  # a stored configuration states the default of the shape


def noise_is_not_added_twice_unnoticed():
    for model, (text, pulse, beside, share) in MODELS.items():
        short = [x.replace("20 cm", "1 cm").replace("2 cm", "1 mm").replace("planes: 3", "planes: 2") for x in (text, pulse)]
        first, quiet = write(short[1] + NOISE), write(short[1])
        done(first)
        done(quiet)
        noisy, clean = leg(short[0], beside, f"{{from: ../{first}/out.h5, member: 1}}"), leg(short[0], beside, f"../{quiet}/out.h5")
        wish = "leave the section ensemble out, or say ensemble: {onto_noise: true}"
        for words in (("plan",), ("run", "-n", "1")):
            refused(write(noisy + NOISE), "scan.yaml:9:", "carry noise already", wish, words=words)
        plain, added = write(noisy), write(clean + NOISE)
        done(plain)
        assert "carries noise already" not in done(added), "noise onto a plane without any is what was asked for"
        assert read(plain, "field", 0, 0).tobytes() == read(first, "field", 1).tobytes()
        assert "noise [1] 1" in command(plain, "plan", "scan.yaml", "--no-measure").stdout, "plan does not say that the plane has noise"
        # the fact goes on from run to run
        refused(write(leg(short[0], beside, f"../{plain}/out.h5") + NOISE), "carry noise already", wish)
        wanted = write(noisy + NOISE.replace("}", ", onto_noise: true}"))
        assert "carries noise already" in done(wanted, "-n", "2"), "the run does not warn"
        report = json.loads(command(wanted, "plan", "scan.yaml", "--no-measure", "--json").stdout)
        assert any("carries noise already" in str(note) for note in report.get("notes", report.get("sanity", []))), list(report)
        with h5py.File(os.path.join(wanted, "out.h5")) as file:
            assert "ensemble.onto_noise: true" in file["config_canonical"][()].decode()
            omega, window = file["omega"][...], (150e-15 if model == "capillary" else 4e-12)
        one = np.abs(read(wanted, "field", 1, 0) - read(first, "field", 1)) ** 2 * share * window / (HBAR * np.maximum(omega, 1))
        photons = one[one > 0]
        assert len(photons) > 50 and near(photons, 1, rtol=1e-4, faulty=1.001, fault="a photon larger by a thousandth"), (photons.min(), photons.max())


if __name__ == "__main__":
    raise SystemExit(run_checks(globals(), but=("run", "write", "command", "content", "same")))
