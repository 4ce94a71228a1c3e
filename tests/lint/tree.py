# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lint scripts share: the files of the tree, C text without comments, objects."""
import json
import os
import re
import shlex
import subprocess
import sys

SKIPPED_FOLDERS = {".git", "build", "__pycache__"}
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def files(root, *suffixes):
    """Paths from the root of all tracked and of all new, not ignored files with these endings."""
    git = subprocess.run(["git", "-C", root, "ls-files", "-coz", "--exclude-standard"],
                         capture_output=True, text=True)
    top = subprocess.run(["git", "-C", root, "rev-parse", "--show-toplevel"],
                         capture_output=True, text=True).stdout.strip()
    if git.returncode == 0 and os.path.realpath(top) == os.path.realpath(root):
        names = [name for name in git.stdout.split("\0") if name]
    else:  # a source archive
        names = []
        for folder, below, here in os.walk(root):
            below[:] = [name for name in below if name not in SKIPPED_FOLDERS]
            names += [os.path.relpath(os.path.join(folder, name), root) for name in here]
    wanted = [name for name in names if not suffixes or name.endswith(suffixes)]
    return sorted(name for name in set(wanted) if os.path.isfile(os.path.join(root, name)))


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8", errors="replace") as stream:
        return stream.read()


def without_comments(text, keep_strings=False):
    """C text with comments (and the inside of strings) blanked; line numbers stay."""
    def blank(match):
        token = match.group()
        if token[0] == "/":
            return re.sub(r"[^\n]", " ", token)
        return token if keep_strings else token[0] + token[0]
    return TOKEN.sub(blank, text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def compile_entries(build):
    """(source from the root or absolute, object, words of the command, folder) of each C unit."""
    path = os.path.join(build, "compile_commands.json")
    if not os.path.exists(path):
        sys.exit(f"{path}: missing; configure the build first")
    for entry in json.load(open(path, encoding="utf-8")):
        words = entry.get("arguments") or shlex.split(entry["command"])
        output = entry.get("output") or words[words.index("-o") + 1]
        yield (os.path.normpath(os.path.join(entry["directory"], entry["file"])),
               os.path.join(entry["directory"], output), words, entry["directory"])


STRICT = ("kernels/contract/compare.c",)


def is_strict(source, root):
    name = os.path.relpath(source, root)
    return name in STRICT or "_strict." in os.path.basename(name) or "strict" in name.split(os.sep)[:-1]


LEVELS = ("x86-64-v3", "x86-64-v4")


def level(words):
    """The instruction set that a unit is built for, None for the baseline."""
    return next((name for name in LEVELS if "-march=" + name in words), None)


def functions(obj):
    """{symbol: its disassembled lines} of an object file."""
    if not os.path.exists(obj):
        sys.exit(f"{obj}: not built; build everything first (cmake --build)")
    out = subprocess.run(["objdump", "-d", "--no-show-raw-insn", obj],
                         capture_output=True, text=True, check=True).stdout
    found, current = {}, None
    for line in out.splitlines():
        start = re.match(r"[0-9a-f]+ <(.+)>:$", line)
        if start:
            current = found.setdefault(start.group(1), [])
        elif current is not None and "\t" in line:
            current.append(line.split("\t", 1)[1])
    return found


FUSED = re.compile(r"\bvfn?m(?:add|sub)\w*")


def fused(lines):
    return [line for line in lines if FUSED.match(line)]


def finish(name, problems, summary):
    """Print the problems or the summary line, and end with the exit code."""
    for problem in problems:
        print(problem)
    if problems:
        print(f"lint {name}: {len(problems)} problem(s)")
        sys.exit(1)
    print(f"lint {name}: {summary}")
    sys.exit(0)
