#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the commands promise on the command line: exit codes, one-line errors, JSON that parses, plans
of huge scans at once. Names of the checks are sentences; the right values are counted by hand."""
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from near import near

EXE = os.environ["SCANFARM"]
failures = []


def check(sentence, ok, detail=""):
    print(("ok   " if ok else "FAIL ") + sentence + ("" if ok else "  (" + str(detail)[:300] + ")"), flush=True)
    if not ok:
        failures.append(sentence)


def sf(*arguments, env=None, **more):
    return subprocess.run([EXE, *arguments], capture_output=True, text=True, timeout=100,
                          env=dict(os.environ, **(env or {})), **more)


def one_line(r):
    return len(r.stderr.strip().splitlines()) == 1 and r.stderr.startswith("scanfarm: ")


def refuses(sentence, r, code, *words):
    ok = r.returncode == code and one_line(r) and all(w in r.stderr for w in words)
    check(sentence, ok, f"exit {r.returncode}, stderr {r.stderr!r}")


def write(name, text):
    with open(name, "w") as f:
        f.write(text)
    return name


PROBE = """scan: codes
model: probe
parameters: {size: 4}
axes:
  - a: [0, 1]
  - b: {from: 0, to: 2, points: 3}
  - c: {from: 0, to: 4, step: 1}
save: {planes: 3, field: true, observables: all}
"""

FIBRE = """scan: fibre
model: gnlse
parameters:
  length: 15 cm
  wavelength: 835 nm
  betas: [-11.830 ps^2/km, 8.1038e-2 ps^3/km]
  gamma: 0.11 W^-1 m^-1
  raman: {model: blow_wood, tau1: 12.2 fs, tau2: 32 fs, fraction: 0.18}
  pulse: {shape: sech, duration: 50 fs, peak_power: 10 kW}
  grid: {points: 4096, window: 12.5 ps}
axes:
  - pulse.duration: [50 fs, 100 fs]
  - stepper.rtol: [1e-6, 1e-4]
ensemble: {realisations: 5, seed: 1, noise: one_photon}
save: {planes: 11, field: true, observables: all}
"""


def program():
    r = sf("--version")
    check("--version names library, compiler, revision and instruction set",
          r.returncode == 0 and all(w in r.stdout for w in ("fftw", "HDF5", "MPI", "compiler", "revision", "x86-64")), r.stdout)
    for arguments in (["--help"], ["help"], ["help", "plan"]):
        r = sf(*arguments)
        check(" ".join(arguments) + " prints usage to stdout", r.returncode == 0 and "Usage: scanfarm" in r.stdout and not r.stderr, r.stderr)
    for name in ("run", "plan", "status", "verify", "diff", "reduce", "plot", "models", "describe", "init", "tune"):
        r = sf(name, "--help")
        check(f"{name} --help prints its own usage", r.returncode == 0 and f"Usage: scanfarm {name}" in r.stdout, r.stdout[:80] + r.stderr)
        check(f"--help lists {name}", re.search(rf"^  {name} ", sf("--help").stdout, re.M) is not None)
    r = sf()
    check("without a command the usage goes to stderr and the exit code is 2", r.returncode == 2 and "Usage" in r.stderr and not r.stdout)
    refuses("an unknown command is refused", sf("frobnicate"), 2, "frobnicate")
    refuses("a misspelt command is corrected", sf("statsu"), 2, "'status'")
    refuses("an unknown global option is refused", sf("--frobnicate"), 2, "--frobnicate")
    for name in ("doctor", "export"):
        refuses(f"{name} is refused by name", sf(name), 2, name, "not in this version")


def option_errors():
    write("codes.yaml", PROBE)
    refuses("an unknown option offers the nearest", sf("plan", "--jsno", "codes.yaml"), 2, "--json")
    refuses("an unknown short option is refused", sf("plan", "-q", "codes.yaml"), 2, "-q")
    refuses("an option without its argument says what it wants", sf("plan", "codes.yaml", "--set"), 2, "KEY=VALUE")
    refuses("a missing argument shows the usage", sf("plan"), 2, "SCAN.yaml")
    refuses("an argument too many is named", sf("plan", "codes.yaml", "second.yaml"), 2, "second.yaml")
    refuses("a number is checked", sf("reduce", "--point", "two", "x.h5"), 2, "--point 'two'")
    r = sf("plan", "codes.yaml", "--json", "--no-measure")
    check("options may follow arguments", r.returncode == 0 and r.stdout.startswith("{"), r.stderr)
    r = sf("plan", "--js", "codes.yaml")
    check("an unambiguous beginning of an option is enough", r.returncode == 0 and r.stdout.startswith("{"), r.stderr)
    with open("/dev/full", "w") as full:
        r = subprocess.run([EXE, "models"], stdout=full, stderr=subprocess.PIPE, text=True)
    check("results that reach a full disk are an error: exit 3, one line", r.returncode == 3 and one_line(r), r.stderr)


def contract(models):
    """`describe --contract`: the model's rows of `describe`, and the rows of bounds.def."""
    with open(os.path.join(os.environ["SCANFARM_SOURCE"], "kernels/contract/bounds.def"), encoding="utf-8") as stream:
        stored = dict(re.findall(r"^BOUND\((\w+), ([^,]+),", stream.read(), re.M))
    for model in models:
        d = json.loads(sf("describe", model, "--contract", "--json").stdout)
        all_of = json.loads(sf("describe", model, "--json").stdout)
        check(f"describe {model} --contract has the rows of describe", d["contract"] == all_of["bounds"] != [])
        written = {b["name"]: b["value"] for b in d["bounds"]}
        wanted = {name: float.fromhex(v) if "x" in v else float(v) for name, v in stored.items()}
        check(f"describe {model} --contract has every row of bounds.def", written == wanted, written)
        text = sf("describe", model, "--contract").stdout
        check(f"describe {model} --contract gives every number its source", all(b["source"] in text and b["unit"] in text for b in d["bounds"]), text[:300])
        check(f"describe {model} --contract gives every rule", all(b["rule"] in text and b["source"] in text for b in d["contract"]), text[:300])


def models():
    r = sf("models")
    check("models lists gnlse, capillary and probe",
          r.returncode == 0 and {l.split()[0] for l in r.stdout.splitlines()} >= {"gnlse", "capillary", "probe"})
    names = {m["name"] for m in json.loads(sf("models", "--json").stdout)["models"]}
    check("models --json parses", names >= {"gnlse", "capillary", "probe"}, names)
    r = sf("describe", "gnlse")
    wanted = ("pulse.duration", "betas", "gamma", "stepper.rtol", "energy", "photon_number", "numerics")
    check("describe shows parameters, observables and contract", r.returncode == 0 and all(w in r.stdout for w in wanted), r.stdout[:200])
    d = json.loads(sf("describe", "gnlse", "--json").stdout)
    check("describe --json parses and names the model", "gnlse" in json.dumps(d))
    contract(names)
    refuses("describe of a misspelt model offers the nearest", sf("describe", "gnlsee"), 2, "'gnlse'")
    for model in names:
        r = sf("init", model)
        check(f"init {model} writes a scan file that plan accepts",
              r.returncode == 0 and sf("plan", write(f"init-{model}.yaml", r.stdout), "--no-measure").returncode == 0)
    r = sf("init", "probe", "-o", "made.yaml")
    check("init -o writes the file and names it", r.returncode == 0 and r.stdout.strip() == "made.yaml" and os.path.getsize("made.yaml") > 100)
    before = open("made.yaml").read()
    refuses("init replaces no file", sf("init", "probe", "-o", "made.yaml"), 2, "exists")
    check("the file that was there is untouched", open("made.yaml").read() == before)
    refuses("init into a missing folder is refused", sf("init", "probe", "-o", "nowhere/x.yaml"), 3, "nowhere/x.yaml")


def plan_of_small_scans():
    p = json.loads(sf("plan", "--json", write("codes.yaml", PROBE)).stdout)
    check("plan counts members, points and axes",
          (p["members"], p["points"], p["realisations"], p["planes"]) == (30, 30, 1, 3)
          and [a["length"] for a in p["axes"]] == [2, 3, 5], p)
    check("every point of a small scan is looked at", p["all_points"] and p["points_looked_at"] == 30)
    # 30 members x 3 planes: 4 doubles, 1 observable, progress, checksum of 8 bytes each
    check("the file holds at least the planes", p["file"]["data_bytes"] >= 30 * 3 * (4 + 3) * 8 and p["file"]["apparent_bytes"] >= p["file"]["data_bytes"], p["file"])
    p = json.loads(sf("plan", "--json", write("fibre.yaml", FIBRE)).stdout)
    check("plan of an ensemble multiplies realisations", (p["members"], p["points"], p["realisations"]) == (20, 4, 5))
    check("planes of 4096 complex numbers are in the size",
          20 * 11 * 4096 * 16 <= p["file"]["data_bytes"] < 1.5 * 20 * 11 * 4096 * 16 + 4 * 11 * 4096 * 8 * 6, p["file"])
    check("plan tells both tolerances", (p["tolerance"]["rtol_low"], p["tolerance"]["rtol_high"]) == (1e-6, 1e-4), p["tolerance"])
    check("plan predicts transforms and their time", p["transforms"]["total"] > 1e4 and p["transforms"]["core_seconds_least"] > 0, p["transforms"])
    check("… those of 4096 points", p["transforms"]["length"] == 4096, p["transforms"])
    gas = ["plan", os.path.join(os.environ["SCANFARM_SOURCE"], "scans", "examples", "capillary-convergence.yaml"), "--no-measure"]
    p = json.loads(sf(*gas, "--json").stdout)
    check("… and of a real field complex ones of half its samples, of the largest grid", p["transforms"]["length"] == 8192, p["transforms"])
    text = sf(*gas).stdout
    check("the sanity report has counts as whole numbers", re.search(r"^ +fine samples +8192 … 16384$", text, re.M), text)
    check("… and says what the transforms leave out", re.search(r"^ +time of the plasma column over transforms +0\.\d+$", text, re.M), text)
    p = json.loads(sf("plan", "--json", "fibre.yaml").stdout)
    notes = {n["name"]: n for n in p["notes"]}
    # T0 = 50 fs/(2 ln(1 + sqrt 2)); N = sqrt(gamma P0 T0^2/|beta2|) = 8.649; at 100 fs twice that
    n = notes.get("soliton number", {"low": 0, "high": 0})
    check("the sanity report has the soliton number of both pulses", 
          near(n["low"], 8.649, atol=0.01, faulty=8.649 * 1.005 ** 0.5, fault="a peak power of 1.005 of it")
          and near(n["high"], 17.299, atol=0.02, faulty=17.299 * 1.005 ** 0.5, fault="a peak power of 1.005 of it"), n)
    r = sf("plan", "fibre.yaml")
    check("the text has members, tolerance, sanity report and bytes",
          r.returncode == 0 and all(w in r.stdout for w in ("20 = 4 points x 5", "not the error of the result", "Sanity report", "MB")), r.stdout)
    r = sf("plan", "fibre.yaml", "--set", "grid.points=64", "--json")
    warned = [n for n in json.loads(r.stdout)["notes"] if n["warning"]] if r.returncode == 0 else []
    check("a grid that is too coarse is warned of", len(warned) > 0, r.stderr)
    r = sf("plan", "fibre.yaml", "--set", "envelope.reference=tighter", "--set", "envelope.tolerance=1e-4", "--set", "envelope.sample=5 %")
    check("an envelope is explained", r.returncode == 0 and "5 % of the members are judged against their own run at stepper.rtol / 10" in r.stdout and "field_l2 may differ by 4 x 0.0001" in r.stdout, r.stderr + r.stdout)
    r = sf("plan", "fibre.yaml", "--set", "envelope.tolerance=1e-4", "--set", "envelope.sample=1000")
    check("a sample larger than the scan is the scan", "20 of 20 members judged against" in r.stdout, r.stderr + r.stdout)
    refuses("a worker above the memory limit is refused at plan time", sf("plan", "fibre.yaml", "--set", "resources.memory=10 kB"), 2, "memory")
    refuses("--set of an unknown key is refused", sf("plan", "fibre.yaml", "--set", "gama=1"), 2, "gama")


def plan_of_huge_scans():
    def huge(n):
        return PROBE.replace("[0, 1]", f"{{from: 0, to: {n - 1}, points: {n}}}")
    for n, members in ((1_000_000, 15_000_000), (70_000_000, 1_050_000_000)):
        start = time.monotonic()
        r = sf("plan", "--json", write("huge.yaml", huge(n)))
        seconds = time.monotonic() - start
        check(f"a plan of {members} members takes less than 2 s", r.returncode == 0 and seconds < 2 and json.loads(r.stdout)["members"] == members, f"{seconds:.2f} s {r.stderr}")
    text = PROBE.replace("[0, 1]", "{from: 0, to: 9999999, points: 10000000}").replace("points: 3", "points: 100000").replace("c: {from: 0, to: 4, step: 1}", "c: [7]")
    p = sf("plan", "--json", write("huge.yaml", text))
    check("10^12 members are planned, not run", p.returncode == 0 and json.loads(p.stdout)["members"] == 10**12 and not os.path.exists("codes.h5"), p.stderr)
    grids = FIBRE.replace("- stepper.rtol: [1e-6, 1e-4]", "- wavelength: {from: 800 nm, to: 900 nm, points: 3000000}\n  - grid.points: [1024, 8192, 2048]")
    start = time.monotonic()
    p = sf("plan", "--json", write("grids.yaml", grids))
    seconds = time.monotonic() - start
    ok = p.returncode == 0 and seconds < 2
    lengths = [d["length"] for a in json.loads(p.stdout)["arrays"] for d in a["dimensions"]] if ok else []
    check("the largest of 9 million grids is found without visiting all", lengths == [8192], f"{seconds:.2f} s {lengths} {p.stderr}")


def bad_scan_files():
    refuses("no scan file: exit 2", sf("plan", "/no-such-folder/scan.yaml"), 2, "/no-such-folder/scan.yaml")
    os.makedirs("folder.yaml", exist_ok=True)
    refuses("a directory for a scan file: exit 2", sf("plan", "folder.yaml"), 2, "folder.yaml")
    refuses("an empty scan file: exit 2", sf("plan", write("empty.yaml", "")), 2, "empty.yaml")
    with open("binary.yaml", "wb") as f:
        f.write(bytes(range(256)) * 8)
    refuses("a binary scan file: exit 2", sf("plan", "binary.yaml"), 2, "binary.yaml")
    refuses("tabs in YAML: exit 2 with position", sf("plan", write("tabs.yaml", "scan: x\nmodel: probe\nsave:\n\tplanes: 2\n")), 2, "tabs.yaml:4:")
    with open("large.yaml", "w") as f:
        f.write("# " + "x" * 1022 + "\n")
        f.truncate(100_000_000)
    refuses("100 MB of YAML: exit 2", sf("plan", "large.yaml"), 2, "large.yaml")
    start = time.monotonic()
    r = sf("plan", write("deep.yaml", "scan: " + "[" * 200_000))
    refuses("200 kB of '[': exit 2", r, 2, "deep.yaml")
    check("… at once", time.monotonic() - start < 2)
    bomb = "scan: x\nmodel: probe\na: &a [x, x]\nb: [*a, *a]\n"
    refuses("an alias bomb: exit 2 with position", sf("plan", write("bomb.yaml", bomb)), 2, "bomb.yaml:3:")
    refuses("a duplicate key: exit 2 with position", sf("plan", write("twice.yaml", PROBE + "save: {planes: 2}\n")), 2, "twice.yaml:9:")
    refuses("an unknown model: exit 2, nearest offered", sf("plan", write("model.yaml", PROBE.replace("probe", "prob"))), 2, "probe")
    refuses("a unit that does not fit: exit 2", sf("plan", write("unit.yaml", FIBRE.replace("15 cm", "15 kg"))), 2, "unit.yaml:4:")
    refuses("a negative length: exit 2", sf("plan", write("negative.yaml", FIBRE.replace("15 cm", "-15 cm"))), 2, "negative.yaml:4:")
    for points in ("0", str(2**40)):
        refuses(f"a grid of {points} points: exit 2", sf("plan", write("grid.yaml", FIBRE.replace("points: 4096", "points: " + points))), 2, "points")


def what_is_found_after_reading_has_its_place():
    """Line and column counted by hand in FIBRE and in what is put behind it (line 15)."""
    cases = [
        ("a grid of 17 points", FIBRE.replace("points: 4096", "points: 17"), "10:10", "grid.points"),
        ("energy and peak power", FIBRE.replace("10 kW}", "10 kW, energy: 1 nJ}"), "9:41", "exactly one"),
        ("neither energy nor peak power", FIBRE.replace(", peak_power: 10 kW}", "}"), "9:3", "exactly one"),
        ("a grid without points", FIBRE.replace("points: 4096, ", ""), "10:3", "grid.wavelengths"),
        ("planes beyond the length", FIBRE.replace("planes: 11", "planes: [0 m, 1 m]"), "15:8", "0.15 m"),
        ("a fixed step", FIBRE + "stepper: {method: fixed}\n", "16:11", "rk45"),
        ("too little memory", FIBRE + "resources: {memory: 10 kB}\n", "16:13", "10 kB"),
        ("one point of an axis", FIBRE.replace("stepper.rtol: [1e-6, 1e-4]", "grid.points: [1024, 17]"), "13:5", "point 1 ("),
        ("one point of a zip", FIBRE.replace("stepper.rtol: [1e-6, 1e-4]", "zip: {stepper.rtol: [1e-6, 1e-5], grid.points: [1024, 17]}"), "13:39",
         "grid.points = 17"),
    ]
    for name, text, place, word in cases:
        file = write("place.yaml", text)
        for command in ("plan", "run"):
            refuses(f"{name}: {command} says {place}", sf(command, file), 2, f"scanfarm: place.yaml:{place}: ", word)
    refuses("a value of --set is named as such", sf("plan", write("place.yaml", FIBRE), "--set", "grid.points=17"), 2, "scanfarm: --set 'grid.points=17': ")
    file = write("gpu.yaml", FIBRE + "resources: {worker: gpu}\n")
    if sf("--version").stdout.count("backend  ") == 1:
        for words in ([], ["-n", "2"]):
            refuses("a worker on a device, and no backend for one", sf("run", file, *words), 3, "resources.worker: gpu", "the CPU alone")
        r = sf("plan", file)
        check("plan says so too", r.returncode == 0 and "would refuse this scan: resources.worker: gpu" in r.stdout, r.stdout)
    check("nothing was made", not os.path.exists("fibre.h5"))


GAS = """scan: gas
model: capillary
parameters:
  gas: He
  core_radius: 125 um
  length: 10 cm
  pressure: 1 bar
  guide: {wall: silica_table}
  pulse: {duration: 10 fs, energy: 50 uJ, wavelength: 800 nm}
  grid: {wavelengths: [200 nm, 3 um], window: 200 fs}
"""


def what_a_capillary_cannot_do():
    check("a capillary is planned", sf("plan", write("gas.yaml", GAS), "--no-measure").returncode == 0)
    plan = sf("plan", write("gas.yaml", GAS.replace("gas: He", "gas: {He: 0.9, N2O: 0.1}") + "  density: ideal\n"), "--no-measure")
    check("a mixture is planned", plan.returncode == 0 and "gases that ionise differently" in plan.stdout)
    plan = sf("plan", write("gas.yaml", GAS.replace("gas: He", "gas: Air")), "--no-measure")
    check("the lines that air lacks are named", plan.returncode == 0 and "lines of O2" in plan.stdout + plan.stderr)
    for word in ("time", "spectral"):
        plan = sf("plan", write("gas.yaml", GAS + f"  absorber: {{{word}: 1 m}}\n"), "--no-measure")
        check(f"one absorber alone is planned: {word}", plan.returncode == 0, plan.stderr)
    taper = GAS.replace("radius: 125 um", "radius: {z: [0 cm, 10 cm], radius: [125 um, 100 um]}")
    check("a taper is planned", sf("plan", write("gas.yaml", taper), "--no-measure").returncode == 0)
    axis = GAS.replace("  pressure: 1 bar\n", "") + "axes:\n  - pressure: [1 bar, 2 bar]\n"
    check("its pressure is an axis", sf("plan", write("gas.yaml", axis), "--no-measure").returncode == 0)
    cases = [
        ("a taper that goes back", GAS.replace("radius: 125 um", "radius: {z: [1 m, 0 m], radius: [1 um, 2 um]}"), "core_radius.z", "ascend"),
        ("a taper of one radius", GAS.replace("radius: 125 um", "radius: {z: [0 m, 1 m], radius: [1 um]}"), "core_radius", "as many of both"),
        ("an envelope", GAS + "  envelope: true\n", "11:", "envelope", "not in this version"),
        ("a pulse from a file that is not there", GAS.replace("duration: 10 fs", "file: pulse.txt"), "9:", "pulse.file", "No such file"),
        ("an earlier plane that is not there", GAS.replace("duration: 10 fs, energy: 50 uJ, ", "") + "  input: {from: a.h5}\n", "11:", "input.from", "a.h5"),
        ("a radius of 0", GAS.replace("125 um", "0 um"), "5:", "core_radius"),
        ("an energy of 0", GAS.replace("50 uJ", "0 uJ"), "9:", "pulse.energy"),
        ("Raman of a mixture of atoms", GAS.replace("gas: He", "gas: {He: 0.5, Ar: 0.5}") + "  raman: on\n", "raman", "no gas of this mixture"),
        ("Raman of helium", GAS + "  raman: on\n", "raman", "He"),
        ("a pressure beyond the equation of state", GAS.replace("1 bar", "1e6 bar"), "equation of state of He"),
        ("a band beyond a resonance", GAS.replace("[200 nm", "[70 nm"), "resonance"),
        ("a window shorter than the pulse", GAS.replace("10 fs", "100 fs"), "grid.window", "too short"),
        ("a field above the table", GAS.replace("50 uJ", "50 mJ"), "barrier suppression"),
        ("loss from a wall without any", GAS.replace("silica_table", "{index: 0.5}"), "guide.loss"),
        ("plasma of an envelope", GAS + "  field: envelope\n  kerr: {third_harmonic: false}\n", "field", "plasma: none"),
        ("a third harmonic of an envelope", GAS + "  field: envelope\n  plasma: none\n", "field", "{third_harmonic: false}"),
        ("an unknown gas", GAS.replace("He", "Hg"), "gas.name"),
    ]
    for name, text, *words in cases:
        refuses(f"{name} is refused by name", sf("plan", write("gas.yaml", text)), 2, *words)


def surroundings_of_a_scan_file():
    os.mkfifo("pipe.yaml")
    for command in ("plan", "run"):
        refuses(f"{command} of a FIFO does not wait", sf(command, "pipe.yaml"), 2, "pipe.yaml", "a regular file is wanted")
        r = subprocess.run([EXE, command, "/dev/stdin"], input=PROBE, capture_output=True, text=True, timeout=20)
        refuses(f"{command} of a pipe is refused", r, 2, "/dev/stdin", "a regular file is wanted")
    with open("bom.yaml", "wb") as f:
        f.write(b"\xef\xbb\xbf" + PROBE.encode())
    check("a byte order mark is accepted", sf("plan", "bom.yaml").returncode == 0)
    r = sf("plan", write("escape.yaml", 'scan: "a\\e[31m\\a"\nmodel: probe\n'))
    refuses("an escape sequence does not reach the terminal", r, 2, "a\\x1b[31m\\x07")
    check("… nor any other control character", not any(ord(c) < 32 and c != "\n" for c in r.stderr), r.stderr)
    version = sf("--version").stdout
    for name in ("gpu", "cuda", "hip"):
        for words in ([], ["-n", "2"]):
            if f"backend        {name}:" not in version:
                code, text = (2, "not in this version") if name == "gpu" else (3, "built without it")
                refuses(f"--backend {name} is refused by name", sf("run", "bom.yaml", "--backend", name, *words), code, name, text, "cpu")
            elif f"{name}: does not run here" in version:
                r = sf("run", "bom.yaml", "--fresh", "--backend", name, *words)
                check(f"--backend {name} without a device is refused once", r.returncode == 3 and r.stderr.count("there is no device for it here") == 1, r.stderr)
                r = sf("run", "bom.yaml", "--fresh", *words)
                check("auto takes the CPU then", r.returncode == 0, r.stderr)
                check("… and says so", words or f"auto passes {name} over" in r.stderr, r.stderr)


def words_that_are_almost_right():
    write("codes.yaml", PROBE)
    refuses("an ambiguous beginning names the options", sf("run", "--re", "codes.yaml"), 2, "ambiguous", "reserve", "retry-failed")
    refuses("an empty number is shown as such", sf("run", "--workers=", "codes.yaml"), 2, "--workers ''")
    refuses("--rank-of is the launcher's own", sf("run", "--rank-of=x", "codes.yaml"), 2, "--rank-of", "-n")
    refuses("neither points nor step", sf("plan", write("neither.yaml", PROBE.replace(", points: 3", ""))), 2, "neither points nor step is given")
    refuses("both points and step", sf("plan", write("both.yaml", PROBE.replace("points: 3", "points: 3, step: 1"))), 2, "both points and step are given")
    other = FIBRE.replace("model: blow_wood", "model: lorentz")
    refuses("the list of a choice has none too", sf("plan", write("other.yaml", other)), 2, "unknown choice 'lorentz'; accepted: blow_wood, hollenbeck_cantrell, none")
    text = sf("describe", "gnlse").stdout
    check("describe says auto where auto is meant", "or auto; default auto" in text, text[-3000:])
    check("describe says what fixed is for", "fixed: its formulas on the steps of stepper.schedule" in " ".join(text.split()), text[-3000:])


def a_list_is_no_choice():
    """Each choice of each model, given several at once: one line with what it is and what is accepted."""
    bad = []
    count = 0
    for model in ("gnlse", "capillary", "snl1", "probe"):
        for p in json.loads(sf("describe", model, "--json").stdout)["parameters"]:
            if p["kind"] != "choice" or any("/" in c for c in p["choices"]):
                continue
            count += 1
            several = f"[{', '.join(p['choices'][:2])}]"
            section, name = ("stepper", p["name"][8:]) if p["name"].startswith("stepper.") else ("parameters", p["name"])
            r = sf("plan", write("several.yaml", f"scan: x\nmodel: {model}\n{section}: {{{name}: {several}}}\n"))
            words = (p["name"] + ":", "a list stands here", "axes: - " + p["name"], p["doc"], *p["choices"])
            if r.returncode != 2 or not all(w in r.stderr for w in words) or r.stderr.count("\n") != 1:
                bad.append((model, p["name"], r.stderr))
    check(f"a list in place of each of {count} choices is refused by name, with what is accepted", count > 20 and not bad, bad[:2])
    kinds = {"real": ("1", "one number is wanted"), "int": ("1", "one number is wanted"), "data": ("a.h5", "one file is wanted"),
             "bool": ("true", "one value, true or false, is wanted")}
    bad, count = [], 0
    for model in ("gnlse", "capillary", "snl1", "probe"):
        for p in json.loads(sf("describe", model, "--json").stdout)["parameters"]:
            if p["kind"] not in kinds:
                continue
            count += 1
            value, wanted = kinds[p["kind"]]
            section, name = ("stepper", p["name"][8:]) if p["name"].startswith("stepper.") else ("parameters", p["name"])
            r = sf("plan", write("several.yaml", f"scan: x\nmodel: {model}\n{section}: {{{name}: [{value}, {value}]}}\n"))
            words = (p["name"] + ": a list stands here", wanted, "axes: - " + p["name"])
            if r.returncode != 2 or not all(w in r.stderr for w in words) or r.stderr.count("\n") != 1:
                bad.append((model, p["name"], r.stderr))
    check(f"a list in place of each of {count} numbers, switches and files is refused, with the axis that was meant", count > 80 and not bad,
          bad[:2])
    for several in ("[HE11, HE12]", "[HE11]"):
        text = GAS.replace("silica_table}", f"silica_table, mode: {several}}}")
        refuses(f"mode: {several} is refused by name", sf("plan", write("modes.yaml", text)), 2, "guide.mode: a list stands here", "several at once are not propagated", "accepted: HE11, HE12")
    axis = GAS + "axes:\n  - guide.mode: [HE11, HE12]\n"
    check("an axis of modes is accepted", sf("plan", write("modes.yaml", axis), "--no-measure").returncode == 0)


def options_of_the_page_are_those_of_the_command():
    """First cells of the tables in docs/commands.md, section by section."""
    page = os.path.join(os.environ["SCANFARM_SOURCE"], "docs", "commands.md")
    with open(page, encoding="utf-8") as f:
        sections = re.split(r"^## ", f.read(), flags=re.M)[1:]
    seen = 0
    for section in sections:
        names, _, body = section.partition("\n")
        cells = re.findall(r"^\| (`-[^|]*)", body, re.M)
        words = {word for cell in cells for word in re.findall(r"--[a-z][a-z-]+", cell)}
        helped = "".join(sf(name.strip(), "--help").stdout for name in names.split(",")) if words else ""
        unknown = words - set(re.findall(r"--[a-z][a-z-]+", helped))
        check(f"the page's options of {names} are there", not unknown, unknown)
        seen += len(words)
    check("the page has tables of options", seen > 50, seen)


def a_full_disk_gets_no_half_example():
    libc = ctypes.CDLL(None, use_errno=True)
    os.mkdir("full")
    if libc.mount(b"tmpfs", b"full", b"tmpfs", 0, b"size=4k") != 0:
        print("     (no file system can be mounted here: not checked)")
        return
    try:
        with open("full/rest", "wb") as f:
            f.write(bytes(4096))
        refuses("init on a full disk is an error of the disk", sf("init", "gnlse", "-o", "full/x.yaml"), 3, "full/x.yaml", "No space left")
        check("init on a full disk leaves nothing", os.listdir("full") == ["rest"], os.listdir("full"))
        refuses("a disk that is too small: need and room in readable units", sf("run", "codes.yaml", "-o", "full/x.h5"), 3, " MB, full has 0 bytes free")
    finally:
        libc.umount2(b"full", 2)


with tempfile.TemporaryDirectory(dir=".") as folder:
    os.chdir(folder)
    for part in (program, option_errors, models, plan_of_small_scans, plan_of_huge_scans, bad_scan_files,
                 what_is_found_after_reading_has_its_place, what_a_capillary_cannot_do, surroundings_of_a_scan_file,
                 words_that_are_almost_right, a_list_is_no_choice, options_of_the_page_are_those_of_the_command,
                 a_full_disk_gets_no_half_example):
        part()
    os.chdir("..")
print(f"{len(failures)} failed")
sys.exit(1 if failures else 0)
