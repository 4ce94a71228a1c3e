#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Workers on devices that are pretended: which device each gets, how many members at a time, refusals. The command is
scanfarm_emu; the environment says what there is (tests/emu/machine.h). Results are held to those of a run on the CPU,
numbers of rows to a count by hand.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import json
import os
import re
import signal
import subprocess
import sys

PLAIN = os.environ["SCANFARM"]
os.environ["SCANFARM"] = os.path.join(os.environ["SCANFARM_BUILD"], "tests", "scanfarm_emu")
sys.path.insert(0, os.path.join(os.environ["SCANFARM_SOURCE"], "tests", "runner"))

import h5py  # noqa: E402
import numpy as np  # noqa: E402

import farm  # noqa: E402
from checks import run_checks  # noqa: E402
from farm import command, content, environment, finish, run, same, start, write  # noqa: E402

EMU = ("--backend", "emu")
CODES = farm.CODES  # 30 members
LARGE = """scan: large
model: probe
parameters: {size: 1000000}
axes: [{a: {from: 0, to: 23, points: 24}}]
save: {planes: last, field: false}
"""
# Long enough that a worker finds members left that comes late on a busy machine; `LASTING`: that a stop finds some.
SLEEPING = """scan: sleeping
model: probe
parameters: {sleep: 20 ms}
axes: [{a: {from: 0, to: 47, points: 48}}]
save: {planes: 6}
"""
LASTING = SLEEPING.replace("to: 47, points: 48", "to: 23, points: 24").replace("planes: 6", "planes: 20")
right_of = {}


def bus(number):
    return f"0000:{0xe0 + number:02x}:00.0"


def right(text):
    """Planes of the CPU."""
    if text not in right_of:
        folder = write(text)
        code, _, err = run(folder, "--backend", "cpu")
        assert code == 0, err
        right_of[text] = content(folder)
    return right_of[text]


def on_devices(folder):
    """Device and rank of each member."""
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        return [text.decode() for text in file["member/device"][...]], file["member/rank"][...]


def layout_of(folder):
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        text = file["provenance/layout"][()]
    return text.decode() if isinstance(text, bytes) else str(text)


def ranks_of(err):
    """{rank: bus id} of the log."""
    return {int(rank): found for rank, found in re.findall(r"rank (\d+) on .*emulated device, PCI (\S+)", err)}


def rows_of(err):
    return [int(rows) for rows in re.findall(r"(\d+) members? at a time: ", err)]


def each_worker_takes_a_device_of_its_own():
    folder = write(SLEEPING)
    code, _, err = run(folder, *EMU, "-n", "3", "--rows", "4", env={"EMU_DEVICES": "4"})
    assert code == 0, err
    assert ranks_of(err) == {1: bus(0), 2: bus(1), 3: bus(2)} and "share device" not in err, err
    devices, ranks = on_devices(folder)
    for rank, number in ((1, 0), (2, 1), (3, 2)):
        told = {device for device, by in zip(devices, ranks) if by == rank}
        assert told == {f"emulated device, PCI {bus(number)}"}, (rank, told)
        assert f"rank {rank}: " in layout_of(folder) and bus(number) in layout_of(folder), layout_of(folder)
    assert same(content(folder), right(SLEEPING.replace("20 ms", "0 s")))


def one_process_takes_the_first_and_says_what_the_others_need():
    folder = write(CODES)
    code, _, err = run(folder, *EMU, env={"EMU_DEVICES": "2"})
    assert code == 0 and "one process computes on one device: `run -n 2` uses all 2" in err, err
    assert set(on_devices(folder)[0]) == {f"emulated device, PCI {bus(0)}"} and same(content(folder), right(CODES))
    assert rows_of(err) == [30], err


def what_is_hidden_is_not_used():
    folder = write(CODES)
    code, _, err = run(folder, *EMU, "-n", "2", env={"EMU_DEVICES": "4", "EMU_VISIBLE_DEVICES": "2,1"})
    assert code == 0 and ranks_of(err) == {1: bus(2), 2: bus(1)}, err
    folder = write(CODES)  # Slurm's word for the devices of a step, of which nobody hides the others
    code, _, err = run(folder, *EMU, env={"EMU_DEVICES": "4", "SLURM_STEP_GPUS": "3"})
    assert code == 0 and set(on_devices(folder)[0]) == {f"emulated device, PCI {bus(3)}"}, err


def slurms_numbers_of_the_node_are_not_those_of_the_runtime():
    """Device 5 of the node where two are shown: which one is meant is not known. One is shown: it is that one, and the run says so."""
    for words in ((), ("-n", "2")):
        refused((*EMU, *words), {"EMU_DEVICES": "2", "SLURM_STEP_GPUS": "5"}, "SLURM_STEP_GPUS is '5'")
        folder = write(CODES)
        code, _, err = run(folder, *EMU, *words, env={"EMU_DEVICES": "1", "SLURM_STEP_GPUS": "5"})
        assert code == 0 and err.count("SLURM_STEP_GPUS is '5'") == 1 and "all of them are taken" in err, err
        assert set(on_devices(folder)[0]) == {f"emulated device, PCI {bus(0)}"}


def two_ranks_on_one_device_are_named():
    folder = write(CODES)
    code, _, err = run(folder, *EMU, "-n", "3", env={"EMU_DEVICES": "2"})
    told = re.findall(rf"warn .*: ranks (\d) and (\d) share device {bus(0)} of ", err)
    pairs = [set(pair) for pair in told]
    assert code == 0 and pairs == [{"1", "3"}] and err.count("share device") == 1, err
    assert err.count("a share of 1/2") == 2, err
    folder = write(CODES)
    code, _, err = run(folder, *EMU, "-n", "3", env={"EMU_DEVICES": "2", "CUDA_MPS_PIPE_DIRECTORY": "/tmp/mps"})
    assert code == 0 and "share device" not in err, err


def refused(words, env, text, program=None):
    """One line with the text, exit code 3, no member computed."""
    folder = write(CODES)
    done = subprocess.run([program or os.environ["SCANFARM"], "run", "scan.yaml", "-o", "out.h5", *words], cwd=folder,
                          capture_output=True, text=True, timeout=farm.LIMIT, env=environment(env))
    lines = [line for line in done.stderr.splitlines() if "members done, " not in line]
    assert done.returncode == 3 and len(lines) == 1 and text in lines[0], (words, env, done.returncode, done.stderr)
    path = os.path.join(folder, "out.h5")
    assert not os.path.exists(path) or not any(farm.states(folder))


def a_device_that_is_not_there_is_refused_in_one_line():
    none = "backend 'emu': there is no device for it here"
    for words in ((), ("-n", "3")):
        refused((*EMU, *words), {"EMU_DEVICES": "0"}, none)
    refused(EMU, {"EMU_VISIBLE_DEVICES": "9"}, "EMU_VISIBLE_DEVICES is '9'")


def by_hand_too():
    folder = write(CODES)
    words = ["mpirun", "--oversubscribe", "-n", "4", os.environ["SCANFARM"], "run", "scan.yaml", "-o", "out.h5"]
    for more, code, text in (((*EMU,), 3, "there is no device for it here"), (("--backend", "gpu"), 2, "not in this version")):
        done = subprocess.run([*words, *more], cwd=folder, capture_output=True, text=True, timeout=farm.LIMIT,
                              env=environment({"EMU_DEVICES": "0"}))
        own = [line for line in done.stderr.splitlines() if "scanfarm: " in line or "error" in line]
        assert done.returncode == code and len(own) == 1 and text in own[0], (done.returncode, done.stderr)


def auto_takes_the_cpu_and_says_so_once():
    for words in ((), ("-n", "3")):
        folder = write(CODES)
        code, _, err = run(folder, *words, env={"EMU_DEVICES": "0"})
        assert code == 0 and err.count("backend auto takes the CPU: auto passes emu over") == 1, err
        assert "PCI" not in " ".join(on_devices(folder)[0]) and same(content(folder), right(CODES))


def auto_takes_a_device_where_there_is_one():
    folder = write(CODES)
    code, _, err = run(folder)
    assert code == 0 and set(on_devices(folder)[0]) == {f"emulated device, PCI {bus(0)}"}, err


GPU = "resources: {worker: gpu}\n"


def worker_gpu_takes_a_device_and_its_share_of_cores():
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        return
    folder = write(CODES + GPU)
    code, _, err = run(folder, "-n", "2", env={"EMU_DEVICES": "2"})
    assert code == 0 and ranks_of(err) == {1: bus(0), 2: bus(1)} and "share core" not in err, err
    masks = re.findall(r"rank \d on \S+ cores? ([0-9,-]+), emulated", err)
    assert len(set(masks)) == 2, err
    for words, env, program, text in (((), {"EMU_DEVICES": "0"}, None, "resources.worker: gpu needs a device"),
                                      (("--backend", "cpu"), {}, None, "--backend cpu forbids it"),
                                      ((), {}, PLAIN, "the CPU alone")):
        folder = write(CODES + GPU)
        done = subprocess.run([program or os.environ["SCANFARM"], "run", "scan.yaml", "-o", "out.h5", "-n", "2", *words],
                              cwd=folder, capture_output=True, text=True, timeout=farm.LIMIT, env=environment(env))
        lines = [line for line in done.stderr.splitlines() if "members done, " not in line]
        assert done.returncode == 3 and len(lines) == 1 and text in lines[0], (done.returncode, done.stderr)


def rows_come_from_free_memory():
    """A row is a million doubles and less than 100 bytes. The backend keeps 2^20 doubles and 32768 counters for itself,
    8.52 MB; a sixteenth of 100 MB is kept: (100 - 8.52 - 6.25) / 8 = 10.65."""
    for more, words, wanted, bound in (("", (), 10, "its memory"), ("", ("--rows", "3"), 3, "--rows"),
                                       ("resources: {memory: 30 MB}\n", (), 3, "resources.memory"),
                                       ("", ("--only", "0-2"), 3, "the members there are")):
        folder = write(LARGE + more)
        code, _, err = run(folder, *EMU, *words, env={"EMU_MEMORY": "100000000"})
        assert code == 0 and rows_of(err) == [wanted], err
        assert re.search(rf"91.5 MB of 100 MB free, 6.25 MB kept; tables \S+ B \+ {wanted} rows of 8 MB = \S+ MB, by {bound}", err), err
    out = subprocess.run([os.environ["SCANFARM"], "plan", "scan.yaml"], cwd=folder, capture_output=True, text=True,
                         env=environment({"EMU_MEMORY": "100000000"}))  # nothing is taken yet: 93.75 / 8
    assert out.returncode == 0 and re.search(r"Device +emulated device, PCI \S+, as though nobody used it: 100 MB of 100 MB free, "
                                             r"6.25 MB kept; tables \S+ B \+ 11 rows of 8 MB", out.stdout), out.stdout


def waves(points, window, powers, more):
    return f"""scan: waves
model: gnlse
parameters:
  length: 1 mm
  wavelength: 835 nm
  betas: [-11.83 ps^2/km]
  gamma: 0.1 W^-1 m^-1
  pulse: {{shape: sech, duration: 50 fs}}
  grid: {{points: {points}, window: {window}}}
axes: [{{pulse.peak_power: {powers}}}]
{more}
"""


WAVES = waves(1024, "4 ps", "{from: 1 W, to: 120 W, points: 120}", "save: {planes: last}")


def a_row_is_for_a_member_and_not_for_a_reduction():
    """Four points of two realisations of which one is left: what waits is that member, and the sums of four points."""
    text = waves(64, "1 ps", "[1 W, 2 W, 3 W, 4 W]", "ensemble: {realisations: 2, noise: one_photon, seed: 1}\nsave: {planes: 2}")
    for words in ((), ("-n", "1")):
        folder = write(text)
        code, _, err = run(folder, *EMU, "--only", "1-7", "--no-reduce")
        assert code == 0 and rows_of(err) == [7], err
        code, _, err = run(folder, *EMU, *words)
        assert code == 0 and rows_of(err) == [1] and "4/4 points reduced" in err, err


def kinds_of_model_objects_share_the_memory():
    """Two objects are kept: (85.2 / 2) / 8 = 5 of the larger rows, 10 of the smaller."""
    text = LARGE.replace("parameters: {size: 1000000}\n", "").replace("axes: [", "axes: [{size: [500000, 1000000, 900000]}, ").replace("23, points: 24", "9, points: 10")
    folder = write(text)
    code, _, err = run(folder, *EMU, "-v", env={"EMU_MEMORY": "100000000"})
    assert code == 0, err
    batches = [int(rows) for rows in re.findall(r"a batch on .*; tables \S+ B \+ (\d+) rows?", err)]
    assert len(batches) >= 3 and max(batches) == 10 and 5 in batches, (batches, err)


def too_much_for_the_device_is_tried_with_half_once():
    """The device claims 100 MB and has 60: 10 rows do not go in, 5 do. With 40 MB neither do 5, and no member is to blame."""
    folder = write(LARGE)
    code, _, err = run(folder, *EMU, env={"EMU_MEMORY": "60000000", "EMU_CLAIMS": "100000000"})
    assert code == 0 and err.count("trying half") == 1 and "a batch of 10 rows" in err, err
    assert (farm.states(folder) == farm.states(folder)[0]).all()
    for words in ((), ("-n", "2")):
        folder = write(LARGE)
        code, _, err = run(folder, *EMU, *words, "--rows", "10", env={"EMU_MEMORY": "40000000", "EMU_CLAIMS": "100000000", "EMU_DEVICES": "2"})
        assert code == 3 and "no room for a batch of 5 rows" in err and "40000000 bytes" in err, err
        assert not farm.states(folder).any(), farm.states(folder)
    folder = write(LARGE)
    code, _, err = run(folder, *EMU, env={"EMU_MEMORY": "17000000"})
    assert code == 3 and "a batch of one member needs 8 MB (8000" in err, err
    assert not farm.states(folder).any()


OWN = 8520192  # of the backend: 2^20 doubles and 32768 counters, with 256 bytes behind each


def planned(folder, env):
    out = subprocess.run([os.environ["SCANFARM"], "plan", "scan.yaml", "--json", "--no-measure"], cwd=folder,
                         capture_output=True, text=True, env=environment(env))
    assert out.returncode == 0, out.stderr
    return json.loads(out.stdout)["memory"]


def area(rows, work):
    """Work areas of both plans of WAVES, of which each has one for a row alone and one for all."""
    return 2 * (rows + (1 if rows > 1 else 0)) * work * 1024 * 16


def rows_with_transforms(memory, work, budget):
    rows = 120
    while memory["shared_bytes"] + rows * memory["row_bytes"] + area(rows, work) > budget:
        rows -= 1
    return rows


def taken_of(err):
    """(taken, counted) of each batch, MB."""
    found = re.findall(r"a batch of \d+ rows? on .* took (\S+) (\S?B), of (\S+) (\S?B) that were counted", err)
    scale = {"B": 1e-6, "kB": 1e-3, "MB": 1, "GB": 1e3}
    return [(float(a) * scale[ua], float(b) * scale[ub]) for a, ua, b, ub in found]


def work_areas_of_transforms_are_counted():
    """None, and two and sixteen times a row of samples a plan: fewer rows, and what a batch takes stays within what
    was counted but for what is watched behind allocations."""
    total, seen = 32000000, []
    for work in (0, 2, 16):
        env = {"EMU_MEMORY": str(total), "EMU_WORK": str(work)}
        folder = write(WAVES)
        memory = planned(folder, env)
        there = rows_with_transforms(memory, work, total - total / 16)
        assert (memory["device_rows"], memory["device_transform_bytes"]) == (there, area(there, work)), (memory, there)
        rows = rows_with_transforms(memory, work, total - OWN - total / 16)
        code, _, err = run(folder, *EMU, "-v", env=env)
        assert code == 0 and rows_of(err) == [rows] and "trying half" not in err, (rows, err)
        assert (" + transforms " in err) == (work > 0), err
        (taken, counted), = taken_of(err)
        assert taken <= counted + 0.01 * rows, (taken, counted)
        assert taken >= 0.7 * counted, (taken, counted)
        seen.append(rows)
    assert 120 > seen[0] > 1.2 * seen[1] and seen[1] > 2 * seen[2] > 20, seen


def a_plan_that_does_not_go_in_is_tried_with_half():
    """Transforms take 2 MB a row of which the device has half as much as it claims: one of the two plans fails."""
    for memory, code, text in (("120000000", 0, "no plan for "), ("70000000", 3, "no room for a batch of ")):
        folder = write(WAVES)
        got, _, err = run(folder, *EMU, env={"EMU_WORK": "64", "EMU_MEMORY": memory, "EMU_CLAIMS": "200000000"})
        assert got == code and err.count("trying half") == 1 and text in err and "transforms of length 1024: out of memory" in err, err
        assert len(set(farm.states(folder))) == 1 and farm.states(folder).any() == (code == 0), farm.states(folder)


def a_row_whose_transforms_do_not_go_in_is_refused():
    """Two plans of 1024 times 16 kB beside what fits otherwise."""
    for words in ((), ("-n", "2")):
        folder = write(WAVES)
        env = {"EMU_MEMORY": "40000000", "EMU_WORK": "1024", "EMU_DEVICES": "2"}
        code, _, err = run(folder, *EMU, *words, env=env)
        lines = [line for line in err.splitlines() if "a batch of one member needs 33." in line]
        assert code == 3 and len(lines) == 1 and not farm.states(folder).any(), err


def a_farm_fills_its_batches_and_refills_them():
    """48 members in batches of 16 of two workers: every member once, with the bits of the CPU, with one task a message."""
    folder = write(SLEEPING)
    code, _, err = run(folder, *EMU, "-n", "2", "--rows", "16", "--chunk-time", "0", env={"EMU_DEVICES": "2"})
    assert code == 0 and rows_of(err) == [16, 16] and same(content(folder), right(SLEEPING.replace("20 ms", "0 s"))), err
    ranks = on_devices(folder)[1]
    assert {1, 2} == set(ranks) and min(np.sum(ranks == 1), np.sum(ranks == 2)) >= 16, ranks


def a_stopped_batch_goes_on_where_it_was():
    """24 rows at once are stopped in order; their checkpoints come back one a message, more than a worker's ring held."""
    folder = write(LASTING)

    def begun():
        with h5py.File(os.path.join(folder, "out.h5")) as file:
            saved = file["member/n_saved"][...]
        return int(np.sum((saved > 0) & (saved < 20)))

    process = start(folder, *EMU, "-n", "1", "--rows", "24")
    farm.wait_until(lambda: process.poll() is not None or begun() > 8, "rows with planes")
    process.send_signal(signal.SIGTERM)
    code, _, err = finish(process)
    assert code == 75, err
    assert begun() > 8, begun()
    code, _, err = run(folder, *EMU, "-n", "1", "--rows", "24")
    assert code == 0 and same(content(folder), right(LASTING.replace("20 ms", "0 s"))), err


XML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003" allowed_cpuset="0x00000003" nodeset="0x00000003" complete_nodeset="0x00000003" allowed_nodeset="0x00000003" gp_index="1">
    PACKAGES
  </object>
</topology>
"""
PACKAGE = """<object type="Package" os_index="{i}" cpuset="{set}" complete_cpuset="{set}" nodeset="{set}" complete_nodeset="{set}" gp_index="{g}2">
      <object type="NUMANode" os_index="{i}" cpuset="{set}" complete_cpuset="{set}" nodeset="{set}" complete_nodeset="{set}" gp_index="{g}3" local_memory="1000000000"/>
      <object type="Core" os_index="{i}" cpuset="{set}" complete_cpuset="{set}" nodeset="{set}" complete_nodeset="{set}" gp_index="{g}4">
        <object type="PU" os_index="{i}" cpuset="{set}" complete_cpuset="{set}" nodeset="{set}" complete_nodeset="{set}" gp_index="{g}5"/>
      </object>
      <object type="Bridge" gp_index="{g}6" bridge_type="0-1" depth="0" bridge_pci="0000:[{bus}-{bus}]">
        <object type="PCIDev" gp_index="{g}7" pci_busid="0000:{bus}:00.0" pci_type="0302 [10de:2330] [10de:16c1] a1" pci_link_speed="32.000000"/>
      </object>
    </object>"""


def a_device_beside_the_cores_comes_first():
    """Two packages of one core; the second device stands beside the first. What hwloc reads is this file."""
    if not {0, 1} <= os.sched_getaffinity(0):
        return
    packages = "\n".join(PACKAGE.format(i=i, g=i + 1, set=f"0x0000000{i + 1}", bus=f"{0xe1 - i:02x}") for i in range(2))
    folder = write(CODES)
    with open(os.path.join(folder, "machine.xml"), "w") as file:
        file.write(XML.replace("PACKAGES", packages))
    env = {"EMU_DEVICES": "2", "HWLOC_XMLFILE": os.path.abspath(os.path.join(folder, "machine.xml")), "HWLOC_THISSYSTEM": "1"}
    code, _, err = run(folder, *EMU, "-n", "2", env=env)
    assert code == 0 and ranks_of(err) == {1: bus(1), 2: bus(0)}, err
    folder = write(CODES + GPU)  # devices by number, cores beside them
    code, _, err = run(folder, *EMU, "-n", "2", env=env)
    assert code == 0 and re.search(rf"rank 1 on \S+ core 1, emulated device, PCI {bus(0)}", err) \
        and re.search(rf"rank 2 on \S+ core 0, emulated device, PCI {bus(1)}", err), err


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
