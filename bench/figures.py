# SPDX-License-Identifier: GPL-3.0-or-later
"""What the bench scripts share: the machine in words, MPI runs, results, pictures."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMP_NUM_THREADS="1")


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown"


def machine(scanfarm):
    """No host name: figures are for publication."""
    version = subprocess.run([scanfarm, "--version"], capture_output=True, text=True, check=False,
                             env=ENVIRONMENT)
    return {"cpu": cpu_model(), "cores": len(os.sched_getaffinity(0)),
            "kernel": os.uname().release, "load": os.getloadavg()[0],
            "version": version.stdout.strip().splitlines()}


def fail(text):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {text}")


def mpirun(ranks, program, *words, limit=600):
    """The JSON object that rank 0 of an MPI program prints."""
    command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), program, *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT,
                              timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        fail(f"{' '.join(command)} took more than {limit} s")
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        fail(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return json.loads(lines[-1])


def write(path, result):
    text = json.dumps(result, indent=1) + "\n"
    if path is None:
        sys.stdout.write(text)
        return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def judge(result, name, figure, bound, least=False):
    """Add a line of the target table."""
    met = figure >= bound if least else figure <= bound
    result.setdefault("targets", []).append(
        {"name": name, "figure": figure, "least" if least else "most": bound, "met": met})


def note(result, name, figure):
    """A figure without a target."""
    result.setdefault("notes", []).append({"name": name, "figure": figure})


def say(result):
    for row in result.get("notes", []):
        print(f"     {row['name']}: {row['figure']:.4g}", file=sys.stderr)
    for row in result.get("targets", []):
        bound = f">= {row['least']:g}" if "least" in row else f"<= {row['most']:g}"
        print(f"{'ok  ' if row['met'] else 'MISS'} {row['name']}: {row['figure']:.4g} ({bound})",
              file=sys.stderr)


def plot(path, tables, script):
    """Draw with gnuplot: {name: rows of numbers} become the files `NAME` of the script."""
    if shutil.which("gnuplot") is None:
        print("no picture: gnuplot is missing (Debian: gnuplot-nox)", file=sys.stderr)
        return
    terminal = {"svg": "svg size 1100,420", "pdf": "pdfcairo size 11in,4.2in"}
    kind = terminal.get(path.rsplit(".", 1)[-1], "pngcairo size 1100,420")
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in tables.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                for row in rows:
                    file.write(" ".join(format(value, ".9g") for value in row) + "\n")
        text = f"set terminal {kind}\nset output '{os.path.abspath(path)}'\nset grid\n{script}"
        done = subprocess.run(["gnuplot"], input=text, text=True, capture_output=True, cwd=folder,
                              check=False)
    if done.returncode != 0:
        fail(f"gnuplot: {done.stderr.strip()}")
