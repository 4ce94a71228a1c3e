# SPDX-License-Identifier: GPL-3.0-or-later
"""What bench/stage and bench/rdw share: settings in turns, each a fresh process; medians; bars."""
import argparse
import json
import statistics
import subprocess
import sys

import figures

PARTS = ("fft", "stage", "response", "norm")


def run_once(program, words):
    done = subprocess.run([program, *words, "--json"], capture_output=True, text=True,
                          env=figures.ENVIRONMENT, check=False)
    if done.returncode != 0:
        figures.fail(f"{program} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout)


def measure(program, settings, rounds, words):
    runs = {name: [] for name in settings}
    for _ in range(rounds):
        for name, own in settings.items():
            runs[name].append(run_once(program, own + words))
    return runs


def summary(runs):
    ratios = [run["ratio"] for run in runs]
    keys = ["ratio", "total_us", "floor_us", *(f"{part}_us" for part in PARTS)]
    medians = {key: statistics.median(run[key] for run in runs) for key in keys}
    return dict(medians, lowest=min(ratios), highest=max(ratios))


def draw(path, result):
    bars = []
    for i, row in enumerate(result["settings"]):
        sums = row["summary"]
        parts = [sums[f"{part}_us"] for part in PARTS]
        bars.append([i, *parts, sums["ratio"], sums["lowest"], sums["highest"], sums["floor_us"]])
    ticks = ", ".join(f"'{row['name']}' {i}" for i, row in enumerate(result["settings"]))
    figures.plot(path, {"bars": bars}, f"""
set multiplot layout 1,2
set xtics ({ticks}) rotate by -15
set xrange [-0.6:{len(bars) - 0.4}]
set yrange [0:*]
set boxwidth 0.6
set rmargin 10
set style fill solid 0.7
set ylabel 'us a right-hand side'
plot 'bars' using 1:($2+$3+$4+$5) with boxes title 'norm', \\
     '' using 1:($2+$3+$4) with boxes title 'response', \\
     '' using 1:($2+$3) with boxes title 'stage', \\
     '' using 1:2 with boxes title 'transforms', \\
     '' using 1:9 with points pointtype 7 linecolor 'black' title 'floor'
set ylabel 'total / FFT floor'
set yrange [1:*]
plot 'bars' using 1:6:7:8 with yerrorbars pointtype 7 title 'median, lowest, highest'
""")


def read_options(text):
    parser = argparse.ArgumentParser(description=text,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("-o", "--output", help="results; default: stdout")
    parser.add_argument("--picture", help="file ending in .png, .svg or .pdf")
    parser.add_argument("--rounds", type=int, default=5, help="processes a setting; default: 5")
    parser.add_argument("--smoke", action="store_true", help="seconds, figures mean nothing")
    words = sys.argv[1:]
    rest = words[words.index("--") + 1:] if "--" in words else []
    options = parser.parse_args(words[:len(words) - len(rest) - ("--" in words)])
    if options.rounds < 1:
        parser.error("--rounds: a number from 1 on is accepted")
    return options, rest
