#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that read result files, on files made with h5py: status and its refusals, and pictures with the
right numbers in their labels (computed here from the definition of the stored spectra)."""
import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib

import h5py
import numpy as np

import made_file
from svg_text import svg_texts

EXE = os.environ["SCANFARM"]
failures = []


def check(sentence, ok, detail=""):
    print(("ok   " if ok else "FAIL ") + sentence + ("" if ok else "  (" + str(detail)[:300] + ")"), flush=True)
    if not ok:
        failures.append(sentence)


def sf(*arguments, env=None):
    return subprocess.run([EXE, *arguments], capture_output=True, text=True, timeout=100, env=dict(os.environ, **(env or {})))


def refuses(sentence, r, code, *words):
    one_line = len(r.stderr.strip().splitlines()) == 1 and r.stderr.startswith("scanfarm: ")
    check(sentence, r.returncode == code and one_line and all(w in r.stderr for w in words), f"exit {r.returncode}, stderr {r.stderr!r}")


def status():
    made_file.make("made.h5", state={3: 3, 9: 4, 10: 0, 11: 0})
    r = sf("status", "made.h5")
    check("status counts members by state", r.returncode == 0 and "20 done" in r.stdout and "1 failed" in r.stdout and "1 timed out" in r.stdout and "2 pending" in r.stdout, r.stdout)
    check("status gives the reason of a failure with its point", "member 3 (point 0, realisation 3) failed: energy is not finite at z = 0.03 m" in r.stdout, r.stdout)
    d = json.loads(sf("status", "made.h5", "--json").stdout)["files"][0]
    # 20 whole members of 5 planes and 2 planes of the failed one
    check("status --json parses and counts planes", (d["members"], d["states"]["done"], d["planes_saved"], d["planes"]) == (24, 20, 102, 120), d)
    check("the failures are listed", [f["member"] for f in d["failures"]] == [3, 9] and d["failures"][1]["state"] == "timed out", d["failures"])
    check("the attempt is told", len(d["attempts"]) == 1 and d["attempts"][0]["exit_code"] == 0, d["attempts"])
    before = os.stat("made.h5").st_mtime_ns
    sf("status", "made.h5")
    check("status leaves the file untouched", os.stat("made.h5").st_mtime_ns == before)
    made_file.make("whole.h5")
    r = sf("status", "whole.h5", "missing.h5", "made.h5")
    check("a missing file does not hide the others", r.returncode == 2 and "whole.h5:" in r.stdout and "made.h5:" in r.stdout and len(r.stderr.splitlines()) == 1, r.stderr)
    many = {m: 3 for m in range(15)}
    made_file.make("many.h5", state=many)
    r = sf("status", "many.h5")
    check("only the first ten reasons are shown", r.stdout.count("failed: ") == 10 and "5 more" in r.stdout, r.stdout)


def bad_files():
    with h5py.File("foreign.h5", "w") as h:
        h["x"] = np.arange(3)
    open("text.h5", "w").write("this is no HDF5 file\n")
    open("empty.h5", "w").close()
    made_file.make("newer.h5", version=2)
    data = open("made.h5", "rb").read()
    open("truncated.h5", "wb").write(data[: len(data) // 2])
    os.makedirs("folder.h5", exist_ok=True)
    for command in (["status"], ["reduce"], ["plot", "--what", "steps", "-o", "x.png"]):
        for name, code, word in (("missing.h5", 2, "missing.h5"), ("folder.h5", 2, "directory"), ("foreign.h5", 4, "foreign.h5"), ("text.h5", 4, "not an HDF5 file"),
                                 ("empty.h5", 4, "empty.h5"), ("newer.h5", 4, "version 2"), ("truncated.h5", 4, "truncated")):
            before = os.path.exists(name) and os.path.isfile(name) and open(name, "rb").read()
            refuses(f"{command[0]} of {name}: exit {code}, one line", sf(*command, name), code, word)
            after = os.path.exists(name) and os.path.isfile(name) and open(name, "rb").read()
            check("… and it is untouched", before == after)
    check("no picture is left", not os.path.exists("x.png"))


def png_colours(path):
    """(width, height, number of colours) of an 8-bit PNG without interlacing."""
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, idat, head = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            head = struct.unpack(">IIBBBBB", data[at + 8:at + 8 + length])
        if kind == b"IDAT":
            idat += data[at + 8:at + 8 + length]
        at += 12 + length
    width, height, depth, colour, _, _, interlace = head
    raw = zlib.decompress(idat)
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    stride = width * channels * depth // 8
    assert interlace == 0 and len(raw) == height * (stride + 1)
    previous, colours = np.zeros(stride, np.uint8), set()
    for row in range(height):
        kind, line = raw[row * (stride + 1)], bytearray(raw[row * (stride + 1) + 1:(row + 1) * (stride + 1)])
        unfilter(kind, line, previous, channels)
        previous = np.frombuffer(bytes(line), np.uint8)
        if row % 7 == 0:
            colours.update(map(bytes, previous.reshape(-1, channels)))
    return width, height, len(colours)


def unfilter(kind, line, up, bpp):
    for i in range(len(line)):
        a = line[i - bpp] if i >= bpp else 0
        b = int(up[i])
        c = int(up[i - bpp]) if i >= bpp else 0
        p = a + b - c
        paeth = a if abs(p - a) <= abs(p - b) and abs(p - a) <= abs(p - c) else b if abs(p - b) <= abs(p - c) else c
        line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[kind]) % 256


def picture(sentence, name, *arguments):
    r = sf("plot", *arguments, "-o", name)
    check(sentence, r.returncode == 0 and r.stdout.strip() == name and not r.stderr, r.stderr + r.stdout)
    return r.returncode == 0


def three_figures(value):
    return f"{value:.3g}"


def labels():
    if picture("the evolution map is drawn as SVG", "evolution.svg", "whole.h5"):
        t = svg_texts("evolution.svg")
        check("its axes carry names and units", {"wavelength (nm)", "z (cm)", "time (ps)"} <= set(t), t)
        check("its title names scan, member and values", any("made" in x and "member 0" in x and "pulse.duration = 50 fs" in x for x in t), t)
        # the pulse is sqrt(10 kW) sech(t/T) with a phase: its peak power is 10 kW at every plane
        check("0 dB of the temporal map is the peak power", "power (dB, 0 = 10 kW)" in t, t)
        check("the maps are images inside the SVG", open("evolution.svg").read().count("data:image/png") == 2)
    # energy per wavelength: |a|^2 T^2/(2 pi) * omega^2/(2 pi c), per nm
    a, w = made_file.field(0, 2, 3), made_file.omega()
    density = np.abs(a) ** 2 * made_file.WINDOW ** 2 / (2 * np.pi) * w ** 2 / (2 * np.pi * made_file.C) * 1e-9
    if picture("a member's spectrum is drawn", "spectrum.svg", "whole.h5", "--what", "spectrum", "--member", "2", "--plane", "3"):
        wanted = f"energy per wavelength (dB, 0 = {three_figures(density.max() * 1e12)} pJ/nm)"
        check("0 dB is the largest energy per nm", wanted in svg_texts("spectrum.svg"), (wanted, svg_texts("spectrum.svg")))
    if picture("… against frequency", "frequency.svg", "whole.h5", "-w", "spectrum", "-m", "2", "-k", "3", "--x", "frequency"):
        per_thz = np.abs(a).max() ** 2 * made_file.WINDOW ** 2 * 1e12
        t = svg_texts("frequency.svg")
        check("per THz the Jacobian is 2 pi", f"energy per frequency (dB, 0 = {three_figures(per_thz * 1e12)} pJ/THz)" in t and "frequency (THz)" in t, (per_thz, t))
    if picture("… against angular frequency", "omega.svg", "whole.h5", "-w", "spectrum", "-m", "2", "--x", "omega"):
        check("its axis is in rad/fs", "angular frequency (rad/fs)" in svg_texts("omega.svg"), svg_texts("omega.svg"))


def ensembles():
    made_file.make("tight.h5", "tight", spread=0.2)
    made_file.make("loose.h5", "loose", spread=2.0)
    if picture("the coherence of two files is drawn into one picture", "coherence.svg", "tight.h5", "loose.h5", "--what", "coherence"):
        t = svg_texts("coherence.svg")
        for scan, spread in (("tight", 0.2), ("loose", 2.0)):
            fields = np.array([made_file.field(0, r, made_file.PLANES - 1, spread) for r in range(made_file.SHOTS)])
            want = f"{scan}: overall {made_file.ensemble(fields)[3]:.3f} ± 0.010, 8 shots"
            check(f"the legend has the overall coherence of {scan}", want in t, (want, t))
        check("its axes are named", "coherence |g12|" in t and "wavelength (nm)" in t, t)
    if picture("labels replace the scans' names", "labels.svg", "tight.h5", "loose.h5", "-w", "coherence", "--label", "rtol 1e-6", "--label", "rtol 1e-3"):
        check("… in the legend", any(x.startswith("rtol 1e-3: overall") for x in svg_texts("labels.svg")), svg_texts("labels.svg"))
    if picture("the mean spectrum is drawn with its shots", "mean.svg", "tight.h5", "--what", "spectrum"):
        check("the legend counts the shots", {"8 single shots", "tight: mean of 8 shots"} <= set(svg_texts("mean.svg")), svg_texts("mean.svg"))
    if picture("an observable is drawn against a scan axis", "observable.svg", "whole.h5", "-w", "observable", "--observable", "energy", "--axis", "pulse.duration"):
        check("… with units on both axes", {"pulse.duration (fs)", "energy (nJ)"} <= set(svg_texts("observable.svg")), svg_texts("observable.svg"))
    if picture("… and against z", "over_z.svg", "whole.h5", "-w", "observable", "--observable", "energy", "--axis", "z"):
        check("… in cm", "z (cm)" in svg_texts("over_z.svg"), svg_texts("over_z.svg"))
    picture("an ensemble observable is drawn against a scan axis", "overall.svg", "tight.h5", "loose.h5", "-w", "observable", "--observable", "coherence")
    if picture("the step history is drawn", "steps.svg", "whole.h5", "--what", "steps"):
        t = svg_texts("steps.svg")
        check("… with the numbers of accepted and rejected steps", "made: 19 accepted" in t and "1 rejected" in t, t)


def formats():
    if picture("a PNG is drawn", "evolution.png", "whole.h5", "--size", "800x500"):
        width, height, colours = png_colours("evolution.png")
        check("the PNG has the size asked for and many colours", (width, height) == (800, 500) and colours > 60, (width, height, colours))
    if picture("a PDF is drawn", "evolution.pdf", "whole.h5"):
        data = open("evolution.pdf", "rb").read()
        check("the PDF is whole", data.startswith(b"%PDF") and b"%%EOF" in data[-32:] and len(data) > 5000, len(data))
    r = sf("plot", "whole.h5", "--what", "steps")
    check("without -o the picture stands beside the file", r.returncode == 0 and os.path.getsize("whole-steps.png") > 2000, r.stderr)


def hostile():
    name = "o'ne \"two\" `x` $(y).svg"
    text = "it's \"50 %\"; `touch pwned` $(touch pwned) \\n <b> & {/*2 a_b}"
    if picture("odd names and labels are text, nothing else", name, "whole.h5", "-w", "steps", "--label", text):
        check("the label is shown as it was given", any(x.startswith(text) for x in svg_texts(name)), svg_texts(name))
    check("nothing was executed", not os.path.exists("pwned"))
    leftovers = [x for x in os.listdir("temporary") if x.startswith("scanfarm-plot-")]
    check("no temporary folder is left", not leftovers, leftovers)


def refusals():
    made_file.make("nofield.h5", with_field=False)
    made_file.make("raw.h5", reduced=False)
    plot = lambda *a, **more: sf("plot", *a, "-o", "never.png", **more)
    refuses("no field saved: exit 2", plot("nofield.h5"), 2, "no field")
    refuses("no ensemble: exit 2", plot("nofield.h5", "-w", "coherence"), 2, "no ensemble")
    refuses("a point that is not reduced: exit 2", plot("raw.h5", "-w", "coherence"), 2, "not reduced")
    refuses("an unknown observable: exit 2", plot("whole.h5", "-w", "observable", "--observable", "enrgy"), 2, "enrgy")
    refuses("an unknown axis: exit 2", plot("whole.h5", "-w", "observable", "--observable", "energy", "--axis", "b"), 2, "'b'")
    refuses("a member beyond the last: exit 2", plot("whole.h5", "-m", "24"), 2, "0 to 23")
    refuses("a plane beyond the last: exit 2", plot("whole.h5", "-w", "spectrum", "-m", "0", "-k", "5"), 2, "0 to 4")
    refuses("an unknown kind: exit 2", plot("whole.h5", "-w", "spektrum"), 2, "evolution, spectrum")
    refuses("a name without a known ending: exit 2", sf("plot", "whole.h5", "-o", "x.gif"), 2, ".png, .svg or .pdf")
    refuses("a folder that is not there: exit 3", sf("plot", "whole.h5", "-o", "nowhere/x.png"), 3, "nowhere")
    os.makedirs("bin", exist_ok=True)
    refuses("gnuplot missing: exit 3, one line", plot("whole.h5", env={"PATH": os.path.abspath("bin")}), 3, "gnuplot is not on the PATH")
    with open("bin/gnuplot", "w") as f:
        f.write("#!/bin/sh\necho '\"-\" line 3: something is wrong' >&2\nexit 1\n")
    os.chmod("bin/gnuplot", 0o755)
    refuses("a gnuplot that fails: exit 3, its words in one line", plot("whole.h5", env={"PATH": os.path.abspath("bin")}), 3, "something is wrong")
    refuses("a temporary folder that is not there: exit 3", plot("whole.h5", env={"TMPDIR": "/no-such-folder"}), 3, "TMPDIR")
    check("no picture is left behind", not os.path.exists("never.png"))


with tempfile.TemporaryDirectory(dir=".") as folder:
    os.chdir(folder)
    os.mkdir("temporary")  # of its own: other tests draw pictures at the same time
    os.environ["TMPDIR"] = os.path.abspath("temporary")
    for part in (status, bad_files, labels, ensembles, formats, hostile, refusals):
        part()
    os.chdir("..")
print(f"{len(failures)} failed")
sys.exit(1 if failures else 0)
