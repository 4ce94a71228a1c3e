# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders with a scan, and programs of our own in the place of Slurm's."""
import os
import shlex
import subprocess

SCANFARM = os.environ["SCANFARM"]
SCAN = "scan: codes\nmodel: probe\naxes: [{a: [0, 1]}, {b: [0, 1, 2]}, {c: [0, 1, 2, 3, 4]}]\nsave: {planes: 2}\n"
FAKES = {
    "sbatch": 'for w in "$@"; do printf "%s\\037" "$w"; done >>calls; echo >>calls\n'
              '[ ! -e refuse ] || { cat refuse >&2; exit 1; }\n'
              'n=$(wc -l <calls); echo $((1000 + n))',
    "scontrol": 'echo "Configuration data as of now"; echo "KillWait                = 30 sec"; '
                'echo "MaxArraySize            = ${FAKE_ARRAY:-1001}"',
    "squeue": '[ ! -e squeue_fails ] || { cat squeue_fails >&2; exit 1; }\n[ ! -e queue ] || cat queue',
    "scancel": 'for w in "$@"; do printf "%s\\037" "$w"; done >>cancels; echo >>cancels',
}
counter = 0


class Place:
    """A folder with a scan and the programs."""

    def __init__(self, scan=SCAN, name="scan.yaml", folder=None):
        global counter
        counter += 1
        self.top = os.path.abspath(f"{counter:03d}")
        self.folder = os.path.join(self.top, folder) if folder else self.top
        self.bin = os.path.join(self.top, "bin")
        os.makedirs(self.folder)
        os.makedirs(self.bin)
        self.name = name
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(scan)
        for program, text in FAKES.items():
            path = os.path.join(self.bin, program)
            with open(path, "w") as file:
                file.write("#!/bin/bash\n" + text + "\n")
            os.chmod(path, 0o755)

    def call(self, *words, path=None, **more):
        env = dict(os.environ, PATH=path or f"{self.bin}:/usr/bin:/bin", **more)
        env.pop("SCANFARM_PROFILE", None)
        return subprocess.run([SCANFARM, *words], cwd=self.folder, env=env, capture_output=True, text=True, timeout=120)

    def submit(self, *words, **more):
        return self.call("submit", self.name, *words, **more)

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def put(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def calls(self, name="calls"):
        if not os.path.exists(self.path(name)):
            return []
        return [line.split("\x1f")[:-1] for line in self.read(name).splitlines()]

    def files(self):
        return sorted(os.listdir(self.folder))


def settings(script):
    """The #SBATCH lines as sbatch reads them: words with quotes and backslashes."""
    found = []
    for line in script.splitlines():
        if line.startswith("#SBATCH "):
            found += shlex.split(line[8:])
        elif line and not line.startswith("#"):
            break
    return found


def line(job, task, state, reason="None"):
    """As squeue writes its columns."""
    return f"{job:<20}{task:<20}{state:<20}{reason:<44}{'N/A':<28}{0:<12}\n"


def fails(answer, code, *texts):
    assert answer.returncode == code, (answer.returncode, answer.stdout, answer.stderr)
    for text in texts:
        assert text in answer.stderr, (text, answer.stderr)


def works(answer):
    assert answer.returncode == 0, (answer.returncode, answer.stdout, answer.stderr)
    return answer.stdout
