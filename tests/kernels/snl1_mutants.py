#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""snl1_mutants: each likely mistake in the source term of waves, made on purpose, must fail the reference spectra.

A mistake is a change of text in one file of kernels/models/snl1, which must fit exactly once (or as often as told). The
changed file is compiled with the flags of its unit for the baseline and linked in front of the library with snl1_check,
which counts the points and tables that are wrong. Arguments choose mistakes whose names contain one of them.
"""
import json
import os
import platform
import re
import shlex
import subprocess
import sys

SOURCE, BUILD = os.environ["SCANFARM_SOURCE"], os.environ["SCANFARM_BUILD"]
FOLDER = "kernels/models/snl1"
CHECK = ("tests/kernels/snl1_check.c", "tests/kernels/snl1_case.c")
TABLES, PARITY = "strict/tables.c", "parity.inc"
GATHER = [(f"SNL1_{a}, SNL1_{b}", f"SNL1_{b}, SNL1_{a}") for a, b in
          (("DN_P1", "UP_P1"), ("DN_P", "UP_P"), ("UP_M1", "DN_M1"), ("UP_M", "DN_M"))]
PAIR = "((row)[(long)c[one] * SNL1_PRODUCTS + (u)] + (row)[(long)c[two] * SNL1_PRODUCTS + (v)])"
APART = [("w[%d] * PAIR(%s, %s, %s, SA1, SA2)" % (j, row, one, two),
          "w[%d] * %s[(long)c[%s] * SNL1_PRODUCTS + SA1] + w[%d] * %s[(long)c[%s] * SNL1_PRODUCTS + SA2]"
          % (j, row, one, j, row, two))
         for j, (row, one, two) in enumerate((("p1", "SNL1_DN_P1", "SNL1_UP_P1"), ("p1", "SNL1_DN_P", "SNL1_UP_P"),
                                              ("p0", "SNL1_DN_P1", "SNL1_UP_P1"), ("p0", "SNL1_DN_P", "SNL1_UP_P")))]
# name: file, [(old, new)], flags besides the unit's, groups in which it must be seen
ALL = "A1 B1 C1 D1 E1 G1"
MISTAKES = {
    "f^11 by x^3 x^8": (TABLES, [("return x5 * x6;", "(void)x6; return x3 * ((x2 * x2) * (x2 * x2)); "),
                                 ("const float x5 = x2 * x3;", "")], [], ALL),
    "f^11 in binary64": (TABLES, [("return x5 * x6;", "(void)x5; (void)x6; return (float)pow((double)x, 11.0);")], [], ALL),
    "f^11 by powf": (TABLES, [("return x5 * x6;", "(void)x5; (void)x6; return powf(x, 11.0f);")], [], ALL),
    "conversion multiplied first": (PARITY, [("(tpiinv / n->sig[f - 1]) * lanes_load(b->cg, n->nk, b->points, f - 1)",
                                              "(tpiinv * lanes_load(b->cg, n->nk, b->points, f - 1)) / n->sig[f - 1]")], [], ALL),
    "reciprocal of the conversion": (PARITY, [("at + t) / con;", "at + t) * (1.0f / con);"), ("v[i] / con;", "v[i] * (1.0f / con);")],
                                     [], ALL),
    "product of partners ordered otherwise": (PARITY, [("(ep1 * em1) * dal3", "ep1 * (em1 * dal3)"),
                                                       ("(ep2 * em2) * dal3", "ep2 * (em2 * dal3)")], [], ALL),
    "strength multiplied last": (PARITY, [("const vec strong = ca * e;", "const vec strong = strength * (n->af11[f - 1] * e);")],
                                 [], ALL),
    "pairs not summed first": (PARITY, APART, [], ALL),
    "quadruplets swapped in the gather": (PARITY, GATHER, [], ALL),
    "no tail": (PARITY, [("before[t] * n->fachfe", "before[t] * 0.0f")], [], ALL),
    "tail by a power, not a chain": (PARITY, [("before[t] * n->fachfe", "spectrum_row(n, p, n->nk)[t] * powf(n->fachfe, (float)(f - n->nk))"),
                                              ("const vec *const before = spectrum_row(n, p, f - 1);", "")], [], ALL),
    "tail with the power of the action": (TABLES, [("powf(config->xfr, -config->fachf)", "powf(config->xfr, -config->fachf - 2.0f)")],
                                          [], ALL),
    "no least relative depth": (PARITY, [("relative > n->kdmin ? relative : n->kdmin", "relative")], [], ALL),
    "no depth factor": (PARITY, [("return n->snlc1 * (1.0f + ((n->snls1 / x) * (1.0f - n->snls2 * x)) * expf(x2));",
                                  "(void)x2; return n->snlc1;")], [], ALL),
    "frequencies off by one row": (TABLES, [("for (int i = 0; i < count; i++) {\n        s = s * config->xfr;\n        sig[i] = s;",
                                             "for (int i = 0; i < count; i++) {\n        sig[i] = s;\n        s = s * config->xfr;")], [], ALL),
    "low rows clamped to the first": ("block.inc", [("(size_t)(f > 0 ? f : 0)", "(size_t)(f > 0 ? f : 1)")], [], ALL),
    "low rows of centres clamped": ("block.inc", [("f > 0 ? 1 + f % p->slots : 0", "1 + (f > 0 ? f : 1) % p->slots")], [], ALL),
    "third constant by (1 - lam^2)^4": (TABLES, [("out->dal[2] = (2.0f * out->dal[0]) * out->dal[1];",
                                                  "out->dal[2] = 2.0f / power4(1.0f - c->lam * c->lam);")], [], "G1"),
    "negative values clipped": (PARITY, [("row[t + i] = v[i] / con;",
                                          "row[t + i] = (vec){v[i][0] < 0.0f ? 0.0f : v[i][0], v[i][1] < 0.0f ? 0.0f : v[i][1], "
                                          "v[i][2] < 0.0f ? 0.0f : v[i][2], v[i][3] < 0.0f ? 0.0f : v[i][3]} / con;")], [], "A1 B1 C1 D1 E1 G1"),
    "tail frequencies by a power": (TABLES, [("x = x * xfr;\n        af11[f] = power11(x);",
                                              "af11[f] = power11(x * powf(xfr, (float)(f - n->nk + 1)));")], [], "A1 D1 E1"),
    "fused operations": (PARITY, [], ["-march=x86-64-v3", "-ffp-contract=fast"], ALL),
    "unsafe mathematics": (PARITY, [], ["-ffast-math"], ALL),
    "sub-normals flushed": (PARITY, [("const struct snl1_numbers *const n = &tables->n;\n    const struct parts p",
                                      "__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);\n    const struct snl1_numbers *const n "
                                      "= &tables->n;\n    const struct parts p")], [], ALL),
    "weights of near and far rows swapped": (TABLES, [("n->wthp * n->wfrp;", "n->wthp * wfrp1;"), ("n->wthp * wfrp1;", "n->wthp * n->wfrp;")],
                                             [], ALL),
    "the large angle on the + side": (TABLES, [("derive_directions(delth4, dth, &out->ithp", "derive_directions(delth3, dth, &out->ithp"),
                                               ("derive_directions(delth3, dth, &out->ithm", "derive_directions(delth4, dth, &out->ithm")], [], ALL),
    "minus row rounded downwards": (TABLES, [("out->ifrm = (int32_t)down;", "out->ifrm = (int32_t)floorf(down);")], [], ALL),
    "conversion inside of the sum": (PARITY, [("p->s[t] = con * s;", "p->s[t] = s;"),
                                              ("vec s = -2.0f * (centre[SA1] + centre[SA2]);", "vec s = con * -2.0f * (centre[SA1] + centre[SA2]);"),
                                              ("const float *const w = n->awg;\n    const float *const q", "const vec w[8] = {con * n->awg[0], con * "
                                               "n->awg[1], con * n->awg[2], con * n->awg[3], con * n->awg[4], con * n->awg[5], con * n->awg[6], con * n->awg[7]};\n"
                                               "    const float *const q")], [], ALL),
}


def units():
    """{file: words of its compiler call without input and output} of the baseline units."""
    with open(os.path.join(BUILD, "compile_commands.json")) as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        name = os.path.relpath(entry["file"], SOURCE)
        words = shlex.split(entry["command"])
        if "-march=" in entry["command"] or "lint" in entry["command"]:
            continue
        words = [w for w in words if not w.startswith("-W") and not w.endswith("ccache")]
        found[name] = words[:words.index("-o")]
    return found


def changed(name, changes):
    """The text of a file with the changes; each must fit."""
    with open(os.path.join(SOURCE, FOLDER, name)) as file:
        text = file.read()
    marks = []
    for i, (old, new) in enumerate(changes):
        pattern = r"\s+".join(re.escape(part) for part in old.split())
        if not re.search(pattern, text):
            raise ValueError(f"'{old}' is not in {name}")
        mark = f"@{i}@"
        text = re.sub(pattern, mark, text)
        marks.append((mark, new))
    for mark, new in marks:
        text = text.replace(mark, new)
    return text


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def compile_unit(words, root, name, out, extra):
    """The changed copy's folder is searched first, so that it stands in for the tree's file."""
    words = [words[0], f"-I{root}", *words[1:], *extra, "-w", "-o", out, "-c", os.path.join(root, FOLDER, name)]
    subprocess.run(words, check=True, cwd=BUILD)


def build(number, mistake, known, checks):
    name, changes, extra, _ = mistake
    root = os.path.abspath(str(number))
    write(os.path.join(root, FOLDER, name), changed(name, changes))
    unit = TABLES if name == TABLES else "strict/parity.c"
    if unit != name:
        with open(os.path.join(SOURCE, FOLDER, unit)) as file:
            write(os.path.join(root, FOLDER, unit), file.read())
    if name == "block.inc":
        write(os.path.join(root, FOLDER, PARITY), changed(PARITY, []))
    compile_unit(known[os.path.join(FOLDER, unit)], root, unit, os.path.join(root, "unit.o"), extra)
    program = os.path.join(root, "check")
    libraries = [os.path.join(BUILD, "kernels", f"lib{lib}.a") for lib in ("scanfarm_snl1", "scanfarm_base")]
    compiler = known[os.path.join(FOLDER, unit)][0]
    subprocess.run([compiler, "-o", program, os.path.join(root, "unit.o"), *checks, *libraries, "-lpthread", "-lm"], check=True)
    return program


def points_wrong(program):
    run = subprocess.run([program, os.path.join(SOURCE, "tests/data/snl1")], capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1):
        raise ValueError(f"ended with {run.returncode}: {run.stderr}")
    rows = [line.split() for line in run.stdout.splitlines()]
    return {row[0]: (int(row[2]), int(row[4])) for row in rows}


def main():
    if platform.machine() != "x86_64":
        print("skipped: some of the mistakes are flags and registers of x86-64")
        return 77
    known = units()
    checks = []
    for name in CHECK:
        checks.append(os.path.abspath(os.path.basename(name) + ".o"))
        subprocess.run([*known[name], "-o", checks[-1], "-c", os.path.join(SOURCE, name)], check=True, cwd=BUILD)
    chosen = {name: m for name, m in MISTAKES.items() if not sys.argv[1:] or any(word in name for word in sys.argv[1:])}
    sound = points_wrong(build("unchanged", (PARITY, [], [], ""), known, checks))
    bad = [f"unchanged: {sound}"] if any(t or p for t, p in sound.values()) or len(sound) != 6 else []
    for number, (name, mistake) in enumerate(chosen.items()):
        wrong = points_wrong(build(number, mistake, known, checks))
        missed = [group for group in mistake[3].split() if wrong[group][1] == 0]
        print(f"{'MISSED' if missed else 'caught'} {name}: wrong points " + ", ".join(f"{g} {p}" for g, (_, p) in wrong.items()), flush=True)
        bad += [f"{name} is not seen in {', '.join(missed)}"] if missed else []
    print("\n".join(bad) or f"{len(chosen)} mistakes, all caught")
    return 1 if bad else 0


sys.exit(main())
