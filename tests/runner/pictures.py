#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures that say what they show: texts have room at every size, ticks differ, names stand on the axes of choices
and lists, what is held fixed is said, and nothing is drawn from nothing. On made files and on runs of the program."""
import os
import re
import subprocess
import sys
import tempfile

import h5py
import numpy as np

import made_file
from svg_text import boxes, faults, svg_texts
from near import near

EXE = os.environ["SCANFARM"]
failures = []

FIBRE = """model: gnlse
parameters:
  length: 2 cm
  wavelength: 835 nm
  betas: [-11.830 ps^2/km]
  gamma: 0.11 W^-1 m^-1
  pulse: {duration: 50 fs, peak_power: 1 kW}
  grid: {points: 64, window: 1 ps}
"""
NAMES = "scan: names\n" + FIBRE + """axes:
  - pulse.shape: [sech, gauss]
  - self_steepening: [true, false]
  - betas: [[-11.830 ps^2/km], [-11.830 ps^2/km, 0.081 ps^3/km, 1e-4 ps^4/km], [5 ps^2/km]]
save: {planes: 3, field: true, observables: all}
"""
OTHER = "scan: other\n" + FIBRE + """axes:
  - pulse.shape: [gauss, sech]
save: {planes: 3, field: true, observables: all}
"""
LENGTHS = "scan: lengths\n" + FIBRE + """axes:
  - length: [1 mm, 5 mm]
save: {planes: 3, field: true, observables: all}
"""
# A Gaussian of 10 uJ and 50 fs in next to no gas.
REAL = """scan: real
model: capillary
parameters:
  gas: He
  core_radius: 125 um
  length: 1 mm
  pressure: 1 mbar
  plasma: none
  pulse: {shape: gauss, duration: 50 fs, energy: 10 uJ, wavelength: 800 nm}
  grid: {wavelengths: [400 nm, 2 um], window: 2 ps}
save: {planes: 3, field: true, observables: all}
"""


# Verdicts of both kinds over two axes, one of them a choice; two fifths are not judged.
JUDGED = "scan: judged\n" + FIBRE.replace("peak_power: 1 kW", "peak_power: 3 kW").replace("64, window: 1 ps", "128, window: 2 ps") + """axes:
  - pulse.shape: [sech, gauss]
  - stepper.rtol: {from: 1e-3, to: 1e-7, points: 5, spacing: log}
save: {planes: 3, field: true, observables: all}
envelope: {tolerance: 1e-5}
"""


def check(sentence, ok, detail=""):
    print(("ok   " if ok else "FAIL ") + sentence + ("" if ok else "  (" + str(detail)[:400] + ")"), flush=True)
    if not ok:
        failures.append(sentence)


def sf(*arguments):
    return subprocess.run([EXE, *arguments], capture_output=True, text=True, timeout=100)


def draws(sentence, name, *arguments):
    r = sf("plot", *arguments, "-o", name)
    check(sentence, r.returncode == 0 and not r.stderr, r.stderr + r.stdout)
    return svg_texts(name) if r.returncode == 0 else []


def refuses(sentence, arguments, *words):
    r = sf("plot", *arguments, "-o", "never.png")
    one_line = len(r.stderr.strip().splitlines()) == 1 and r.stderr.startswith("scanfarm: ")
    check(sentence, r.returncode == 2 and one_line and all(w in r.stderr for w in words) and not os.path.exists("never.png"),
          f"exit {r.returncode}, stderr {r.stderr!r}")


def run(name, text):
    open(name + ".yaml", "w").write(text)
    r = sf("run", name + ".yaml", "-q")
    check(f"the scan {name} ran", r.returncode == 0, r.stderr)


def sizes():
    made_file.make("made.h5")
    kinds = {"evolution": {"wavelength (nm)", "time (ps)", "z (cm)", "dB", "-40", "0"},
             "spectrum": {"wavelength (nm)"},
             "coherence": {"wavelength (nm)", "pure noise"},
             "observable": {"pulse.duration (fs)", "energy (nJ)"},
             "steps": {"z (cm)"}}
    for size in ("480x320", "600x400", "640x400", "1100x700", "2000x1200"):
        for kind, wanted in kinds.items():
            more = ["--observable", "energy"] if kind == "observable" else []
            t = draws(f"{kind} at {size}", "size.svg", "made.h5", "-w", kind, "--size", size, *more)
            check("… with all its labels", wanted <= set(t), (wanted - set(t), t))
            check("… none of them cut or on another", not faults("size.svg"), faults("size.svg"))
    t = draws("a narrow evolution with long values", "long.svg", "names.h5", "-m", "7", "--size", "480x320")
    check("… breaks its title instead of cutting it", not faults("long.svg") and not any("…" in x and "betas" not in x for x in t), (faults("long.svg"), t))
    check("a range of 100 dB has ticks that keep apart", draws("deep evolution", "deep.svg", "made.h5", "--log-range", "100", "--size", "480x320") and not faults("deep.svg"),
          faults("deep.svg"))
    refuses("a size without room for labels is refused with the least", ["made.h5", "--size", "479x320"], "480x320")


def spectra_of_points():
    """Points 0 and 3 of the scan `names` differ in one of three axes."""
    t = draws("spectra of two points", "points.svg", "names.h5", "-w", "spectrum", "-p", "0", "-p", "3")
    check("… say in the title what they share", any("pulse.shape = sech" in x and "betas = [-11.830 ps^2/km]" in x and "true" not in x for x in t), t)
    check("… and in the legend what tells them apart", {"self_steepening = true", "self_steepening = false"} <= set(t), t)
    t = draws("spectra of seven points", "seven.svg", "names.h5", "-w", "spectrum", *(x for p in range(7) for x in ("-p", str(p))))
    levels = [b for b in boxes("seven.svg") if re.fullmatch(r"-?\d+", b[0]) and b[3] < 80]
    check("… have no ticks above 0 dB, where the legend is", levels and max(int(b[0]) for b in levels) == 0, levels)


def panels():
    """Limits at which ticks stand at the right end of the left panel and at the left end of the right one: their labels reach beyond these."""
    draws("an evolution with ticks where its panels meet", "end.svg", "real.h5", "--x-range", "400:1200", "--log-range", "400")
    line = sorted((b for b in boxes("end.svg") if re.fullmatch(r"-?[.\d]+", b[0])), key=lambda b: b[4])
    line = sorted((b for b in line if b[4] > line[-1][4] - 2), key=lambda b: b[1])
    font = (line[0][4] - line[0][2]) / 0.95
    room = min(right[1] - left[3] for left, right in zip(line, line[1:]))
    check("… keeps its labels apart from those of the next panel", {"1200", "-1.0"} <= {b[0] for b in line} and room > 0.5 * font, (room / font, line))


def ticks():
    """The same observable once far from 0 compared with what it varies by, in several degrees."""
    for digits in (2, 4, 6, 9, 13):
        made_file.make("near.h5", with_field=False)
        with h5py.File("near.h5", "r+") as h:
            steps = np.arange(made_file.PLANES) * 10.0 ** -digits
            h["plane/energy"][...] = 1 + steps
            h["plane/energy"].attrs["units"] = "1"
        t = draws(f"values that differ in digit {digits}", "near.svg", "near.h5", "-w", "observable", "--observable", "energy", "--axis", "z", "-m", "0")
        left = [b for b in boxes("near.svg") if re.fullmatch(r"[-+.\de]+", b[0])]
        lowest = max(b[4] for b in left)  # those of x stand in one line below all others
        left = [b for b in left if b[4] < lowest - 1]
        shown = [b[0] for b in left]
        check("… have different tick labels", len(shown) >= 3 and len(set(map(float, shown))) == len(shown), shown)
        heights = sorted((float(b[0]), -(b[2] + b[4]) / 2) for b in left)
        per_tick = np.diff([y for _, y in heights]) / np.diff([v for v, _ in heights])
        check("… that are equally far apart as numbers", near(per_tick, per_tick[0], rtol=0.02, faulty=1.05 * per_tick[0], fault="a tick off by a twentieth"), heights)
        offset = [x for x in t if x.startswith("energy")]
        check("… and an offset in the label where digits no longer do", (offset == ["energy − 1"]) == (digits > 5), offset)


def names():
    t = draws("a choice on the axis", "choice.svg", "names.h5", "-w", "observable", "--observable", "energy")
    check("… shows its names", {"sech", "gauss"} <= set(t), t)
    check("… and says where the other axes are held", "other axes: self_steepening = true, betas = [-11.830 ps^2/km] (point 0)" in t, t)
    curve = open("choice.svg").read()
    check("… as points without a line between", "gpPt" in curve and not re.search(r"stroke='rgb\(\s*0, 114, 178\)'[^>]*d='M[^']*L", curve))
    t = draws("a boolean", "boolean.svg", "names.h5", "-w", "observable", "--observable", "energy", "--axis", "self_steepening")
    check("… shows true and false", {"true", "false"} <= set(t), t)
    t = draws("a list, the others held at a point asked for", "list.svg", "names.h5", "-w", "observable", "--observable", "energy", "--axis", "betas", "-p", "9")
    check("… shows the lists, long ones with their index", {"[-11.830 ps^2/km]", "[5 ps^2/km]"} <= set(t) and any(x.startswith("1: [-11.830") and x.endswith("…") for x in t), t)
    check("… and the point", "other axes: pulse.shape = gauss, self_steepening = false (point 9)" in t, t)
    t = draws("an axis over z", "z.svg", "names.h5", "-w", "observable", "--observable", "energy", "--axis", "z", "-p", "11")
    check("… says which point", "pulse.shape = gauss, self_steepening = false, betas = [5 ps^2/km] (point 11)" in t, t)
    t = draws("two files whose choices stand in another order", "order.svg", "names.h5", "other.h5", "-w", "observable", "--observable", "energy", "--axis", "pulse.shape")
    check("… share each name's place", t.count("sech") == 1 and t.count("gauss") == 1, t)
    t = draws("a spectrum of a member", "member.svg", "names.h5", "-w", "spectrum", "-m", "9")
    check("… has names in its title", any("pulse.shape = gauss, self_steepening = false" in x for x in t), t)


def places():
    t = draws("an observable over lengths", "lengths.svg", "lengths.h5", "-w", "observable", "--observable", "energy")
    check("… says that planes are at different z", "lengths at the last plane, z = 1 mm to 5 mm" in t, t)
    t = draws("… at the first plane", "first.svg", "lengths.h5", "-w", "observable", "--observable", "energy", "-k", "0")
    check("… names its z", "lengths at z = 0 m" in t, t)
    t = draws("spectra of files that end at different z", "files.svg", "made.h5", "lengths.h5", "other.h5", "-w", "spectrum")
    check("… have a title of what is common", "Spectra" in t, t)
    check("… and entries with values, z and what each is", {"made, pulse.duration = 50 fs, z = 15 cm: mean of 8 shots", "lengths, length = 1 mm, z = 1 mm: member 0",
                                                            "other, pulse.shape = gauss, z = 2 cm: member 0"} <= set(t), t)
    t = draws("spectra of files that end at the same z", "same.svg", "names.h5", "other.h5", "-w", "spectrum", "-m", "0")
    check("… name it once", "Spectra at z = 2 cm" in t and not any("z = " in x and "Spectra" not in x for x in t), t)
    t = draws("steps of files", "steps.svg", "made.h5", "lengths.h5", "-w", "steps")
    check("… tell each file's member", any(x.startswith("lengths: member 0, ") for x in t) and not any(x.startswith("made, steps") for x in t), t)


def nothing():
    for kind in ("evolution", "spectrum", "coherence"):
        refuses(f"{kind}: a range beyond the spectrum", ["made.h5", "-w", kind, "--x-range", "100:200"], "nothing to draw", "100:200", "nm")
    made_file.make("dark.h5")
    with h5py.File("dark.h5", "r+") as h:
        h["plane/field"][...] = 0
        h["ensemble/mean_spectrum"][...] = 0
    for kind in ("evolution", "spectrum", "coherence"):
        refuses(f"{kind} without any power", ["dark.h5", "-w", kind], "nothing to draw", "no power")
    with h5py.File("dark.h5", "r+") as h:
        h["plane/energy"][...] = np.nan
    refuses("an observable without a value", ["dark.h5", "-w", "observable", "--observable", "energy"], "nothing to draw", "energy")
    made_file.make("failed.h5", state={m: 3 for m in range(8, 16)})
    for kind in ("evolution", "spectrum", "coherence", "steps"):
        refuses(f"{kind} of a point without a member that is done", ["failed.h5", "-w", kind, "-p", "1"], "point 1", "done")
    made_file.make("first.h5", state={8: 3})
    t = draws("the first done member stands for its point", "done.svg", "first.h5", "-p", "1")
    check("… not the failed one", any("member 9" in x for x in t), t)
    t = draws("a failed member is drawn when it is asked for", "asked.svg", "failed.h5", "-m", "8", "-p", "1")
    check("… by its name", any("member 8" in x for x in t), t)


def real_fields():
    """Peak power E/(t sqrt(pi/ln 16)) and peak spectral density of a Gaussian."""
    t = draws("a real field is drawn over z", "real.svg", "real.h5")
    line = " ".join(t)
    power = re.search(r"power \(dB, 0 = ([\d.]+) MW\)", line)
    density = re.search(r"energy per wavelength \(dB, 0 = ([\d.]+) nJ/nm\)", line)
    want = 1e-5 / (50e-15 * np.sqrt(np.pi / np.log(16))) / 1e6
    check("… with its peak power", power and near(float(power[1]), want, rtol=0.01, faulty=1.02 * want, fault="a fiftieth more"), (line, want))
    per_omega = 1e-5 * 2 * np.sqrt(np.log(2) / np.pi) / (4 * np.log(2) / 50e-15)
    want = per_omega * 2 * np.pi * 299792458.0 / 800e-9**2
    check("… with its spectral energy", density and near(float(density[1]), want, rtol=0.01, faulty=1.02 * want, fault="a fiftieth more"), (line, want))
    draws("and its spectrum alone", "alone.svg", "real.h5", "-w", "spectrum")


def contradictions():
    for kind in ("evolution", "spectrum", "coherence", "steps"):
        refuses(f"{kind}: a point beyond the last is named as a point", ["made.h5", "-w", kind, "-p", "3"], "point 3 does not exist", "0 to 2")
    refuses("observable: a point beyond the last", ["made.h5", "-w", "observable", "--observable", "energy", "-p", "3"], "point 3 does not exist", "0 to 2")
    refuses("a member of another point", ["made.h5", "-m", "3", "-p", "1"], "member 3", "point 0", "point 1")
    refuses("coherence of one member", ["made.h5", "-w", "coherence", "-m", "3"], "--point")
    refuses("an observable of one member over a scan axis", ["made.h5", "-w", "observable", "--observable", "energy", "-m", "3"], "--axis z")
    refuses("eight files", ["made.h5"] * 8, "at most 7 files", "8")
    refuses("an unknown axis, with the axes", ["names.h5", "-w", "observable", "--observable", "energy", "--axis", "b"], "'b'", "betas, pulse.shape, self_steepening and z")
    refuses("an unknown observable, with the observables", ["made.h5", "-w", "observable", "--observable", "enrgy"], "enrgy", "energy", "coherence")
    values = [1e-9 * (1 + 0.01 * 3) * (1 - 0.1 * k) for k in range(made_file.PLANES)]  # of member 3, as made
    t = draws("an observable of one member over z", "one.svg", "made.h5", "-w", "observable", "--observable", "energy", "--axis", "z", "-m", "3")
    check("… says so", any("member 3" in x for x in t), (values, t))


def contracts():
    """The errors of the envelope beside a result: maps over two axes, curves over one."""
    for name, text in (("judged", JUDGED), ("half", JUDGED.replace("1e-5}", "1e-5, sample: 60 %}").replace("scan: judged", "scan: half")),
                       ("line", JUDGED.replace("  - pulse.shape: [sech, gauss]\n", "").replace("scan: judged", "scan: line"))):
        open(name + ".yaml", "w").write(text)
        r = sf("run", name + ".yaml", "-q")
        check(f"the scan {name} ran, with members outside", r.returncode == 1, r.stderr)
    for name, words in (("judged", ("energy (", "log10(margin)", "× out", "stepper.rtol", "pulse.shape", "sech", "gauss")),
                        ("half", ("grey: none",)), ("line", ("margin", "stepper.rtol", "1e-07", "energy ("))):
        for wide in ("480x320", "700x500", "1100x700"):
            t = draws(f"the contract of {name} at {wide}", "contract.svg", name + ".h5", "--contract", "--size", wide)
            check("… says what it shows", all(any(w in x for x in t) for w in words + (f"{name} at z = 2 cm, margin in field_l2",)), t)
            check("… and its texts have room", not faults("contract.svg"), faults("contract.svg"))
        with h5py.File(name + ".h5") as file:
            outside = int((file["member/contract/verdict"][...] == 2).sum())
        drawing = open("contract.svg").read()
        marks = len(re.findall(r"<use xlink:href='#gpPt1'", drawing))
        check(f"{name}: {outside} points are marked as outside", outside > 0 and marks == outside, (marks, outside))
    refuses("a contract without verdicts", ["names.h5", "--contract"], "no verdicts", "envelope")
    refuses("a contract of two files", ["judged.h5", "half.h5", "--contract"], "one file")
    refuses("a contract of a member", ["judged.h5", "--contract", "-m", "1"], "--member")


with tempfile.TemporaryDirectory(dir=".") as folder:
    os.chdir(folder)
    run("names", NAMES)
    run("other", OTHER)
    run("lengths", LENGTHS)
    run("real", REAL)
    for part in (sizes, spectra_of_points, panels, ticks, names, places, nothing, real_fields, contradictions, contracts):
        part()
    os.chdir("..")
print(f"{len(failures)} failed")
sys.exit(1 if failures else 0)
