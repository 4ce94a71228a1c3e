# SPDX-License-Identifier: GPL-3.0-or-later
"""What cuda_objects and hip_objects share: tools, disassemblies, and a program that asks for the device."""
import os
import re
import shutil
import subprocess
import sys

SOURCE, BUILD = os.environ["SCANFARM_SOURCE"], os.environ["SCANFARM_BUILD"]
FLAGS = ["-std=c++17", "-O2", "-D_GNU_SOURCE", f"-I{SOURCE}"]
LIBRARIES = [f"{BUILD}/kernels/lib{name}.a" for name in ("sf_kernels", "scanfarm_snl1", "scanfarm_base")]
THIRD = ["-lfftw3", "-lgsl", "-lgslcblas", "-lm", "-lpthread"]
MAIN = """
#include <stdio.h>
#include "kernels/backend/gpu.h"
#include "kernels/base/status.h"
int main(void)
{
    const struct backend_options options = {.apart = true, .threads = 1};
    struct backend *be = NULL;
    const int rc = NAME_backend_create(&options, &be);
    if (rc == 0)
        printf("made on %s\\n", be->device);
    backend_destroy(be);
    return status_exit_code(rc);
}
"""


def find(name, homes):
    """A tool on the PATH or in the bin folder of one of the homes, None when there is none."""
    folders = [os.environ["PATH"]] + [f"{home}/bin" for home in homes if home]
    found = shutil.which(name, path=os.pathsep.join(folders))
    return found and os.path.realpath(found)


def skip(what):
    print(f"skipped: {what}")
    sys.exit(77)


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}\nfailed with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def entries(text, start, end):
    """{mangled name: lines} of a disassembly."""
    found, name = {}, None
    for line in text.splitlines():
        begin = re.search(start, line)
        if begin:
            name = begin[1]
            found[name] = []
        elif name is not None:
            found[name].append(line)
            if re.search(end, line):
                name = None
    return found


def missing(kernels):
    """Strict kernels of which there is no entry among the mangled names."""
    with open(f"{SOURCE}/kernels/strict.def", encoding="utf-8") as stream:
        names = re.findall(r"^KERNEL\w*\((\w+),", stream.read(), re.M)
    lost = [name for name in names if not any(f"gpu_{name}" in kernel for kernel in kernels)]
    return [f"strict kernels without an entry: {lost}"] if lost or not names else []


def asked(cc, name, *link):
    """Links a program that makes the backend; what is wrong with its answer."""
    with open("main.c", "w", encoding="utf-8") as stream:
        stream.write(MAIN.replace("NAME", name))
    run(cc, "-std=c17", "-D_GNU_SOURCE", f"-I{SOURCE}", "-c", "main.c", "-o", "main.o")
    run(*link, "-o", "main")
    done = subprocess.run(["./main"], capture_output=True, text=True)
    print(f"exit code {done.returncode}: {(done.stdout + done.stderr).strip()}")
    if done.returncode == 0:
        return [] if "made on" in done.stdout else ["made on nothing"]
    line = f"backend '{name}': there is no device for it here"
    ok = done.returncode == 3 and done.stderr.count("\n") == 1 and line in done.stderr
    return [] if ok else [f"not refused in one line with exit code 3: {done.stderr}"]


def finish(problems):
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)
