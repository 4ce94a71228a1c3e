#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Devices that fail while members are on them: who computes the members then, what is said, what is left in the file. The
devices are pretended (tests/emu/machine.h), results are held to those of runs whose devices do not fail.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["SCANFARM_SOURCE"], "tests", "runner"))
from checks import run_checks  # noqa: E402
from farm import environment, states  # noqa: E402
from scan import EMU, FIBRE, PLAIN, column, equal, on_device  # noqa: E402

MEMBERS, PLANES = 12, 4
DONE, QUARANTINED = 2, 5
SCAN = FIBRE.replace("LENGTH", "4 mm") + f"""axes: [{{pulse.peak_power: {{from: 1 kW, to: 9 kW, points: {MEMBERS}}}}}]
save: {{planes: {PLANES}, observables: all}}
store: {{checkpoint: 1 ms, sync: never}}
"""
ROWS = ("--rows", "2")  # of every batch, so that all have the same bits
kept = {}


def sound(folder):
    """Whether all members are done, with all planes, and have the bits of the undisturbed run."""
    return (states(folder) == DONE).all() and (column(folder, "member/n_saved") == PLANES).all() and equal(folder, right())


def right():
    """The folder of a run that nothing disturbed."""
    if not kept:
        kept["right"] = on_device(SCAN, *ROWS)[0]
    return kept["right"]


def bus(number):
    return f"0000:{0xe0 + number:02x}:00.0"


def fails(*orders, **more):
    """An environment: "1:300" has device 1 fail at its 300th piece of work."""
    return {"EMU_DEVICES": "3", "EMU_FAILS": ",".join(orders), **more}


def complaints(err):
    return [line for line in err.splitlines() if re.search(r"Z (warn|error) |scanfarm: warning| has failed|PMIX", line)
            and "share core" not in line]


def told(line, rank, device):
    """Whether a line names rank, host, device, PCI bus id and what failed."""
    return re.search(rf"rank {rank} on \S+: emulated device, PCI {bus(device)} has failed: emu: .* failed: unspecified launch "
                     r"failure; \d+ tasks? of it go(es)? back to the queue$", line)


def records(folder, kind):
    with open(os.path.join(folder, "out.h5.journal")) as file:
        found = [json.loads(line) for line in file.read().splitlines() if line]
    return [record for record in found if record["record"] == kind]


def members_of(folder, state):
    """Members by the records of the journal that say so, each as often as it is in one."""
    found = []
    for record in records(folder, "member"):
        if record["state"] == state:
            found += range(record["first"], record["last"] + 1)
    return sorted(found)


def events(folder):
    return [(record["rank"], record["event"]) for record in records(folder, "worker") if record["event"] == "device failed"]


def the_other_device_takes_over_whenever_it_fails():
    """From the first piece of work on, heard of at once or by the next wait."""
    for work in ("1", "300w", "701"):
        folder, err = on_device(SCAN, "-n", "2", *ROWS, env=fails("1:" + work))
        lines = complaints(err)
        assert len(lines) == 1 and told(lines[0], 2, 1), (work, err)
        assert sound(folder), work
        assert members_of(folder, "done") == list(range(MEMBERS)), (work, records(folder, "member"))
        assert events(folder) == [(2, "device failed")], (work, records(folder, "worker"))
        lost = members_of(folder, "lost")
        assert 1 <= len(lost) <= 4, (work, lost)
        devices = column(folder, "member/device")
        assert all(bus(0) in devices[member].decode() for member in lost), (work, lost, devices)


def what_was_committed_before_is_kept():
    """Member 3 breaks its device behind its second plane: it goes on elsewhere, from there, as its second try."""
    folder, err = on_device(SCAN, "-n", "2", *ROWS, env=fails(FARM_FAULT="break@step,member=3,plane=1,once=" + os.path.abspath("broken")))
    assert len(complaints(err)) == 1 and "has failed" in err, err
    assert sound(folder) and column(folder, "member/attempts")[3] == 2, column(folder, "member/attempts")
    assert 3 in members_of(folder, "lost")


def a_member_that_breaks_each_device_fails_with_the_second():
    folder, err = on_device(SCAN, "-n", "3", *ROWS, env=fails(FARM_FAULT="break@step,member=3"), code=1)
    lines = [line for line in complaints(err) if "has failed" in line and "quarantined" not in line]
    assert len(lines) == 2 and all("unspecified launch failure" in line for line in lines), err
    ranks = [int(re.search(r"rank (\d)", line).group(1)) for line in lines]
    assert len(set(ranks)) == 2 and sorted(events(folder)) == sorted((rank, "device failed") for rank in ranks), (ranks, events(folder))
    wanted = [QUARANTINED if member == 3 else DONE for member in range(MEMBERS)]
    assert list(states(folder)) == wanted, states(folder)
    reason = column(folder, "member/reason")[3].decode()
    assert re.match(rf"ended 2 workers, the last: rank {ranks[1]} on \S+: emulated device, PCI {bus(ranks[1] - 1)} has failed: ", reason), reason
    field, whole = column(folder, "plane/field"), column(right(), "plane/field")
    others = [member for member in range(MEMBERS) if member != 3]
    assert field[others].tobytes() == whole[others].tobytes()


def when_all_fail_the_run_ends_and_the_next_one_completes_it():
    for words, orders in ((("-n", "2"), ("0:700", "1:500w")), (("-n", "1"), ("0:1500",))):
        folder, err = on_device(SCAN, *words, *ROWS, env=fails(*orders), code=3)
        lines = complaints(err)
        assert sum("has failed: emu" in line for line in lines) == len(orders), err
        assert err.count("no worker is left: the last one's device has failed; the same command continues") >= 1, err
        assert sum("no worker is left" in line for line in lines) <= 1 and len(lines) <= len(orders) + 1, err
        done = states(folder) == DONE
        assert not states(folder)[~done].any() and not done.all(), states(folder)
        assert done.any() or len(orders) == 2, (orders, states(folder))
        end = records(folder, "end")[-1]
        assert end["code"] == 3 and "no worker is left" in end["text"], end
        on_device(folder, *words, *ROWS)
        assert sound(folder), (words, orders)


def ranks_by_hand_end_together():
    """mpirun without recovery ends all when one rank goes before the others."""
    folder = right() + "-by-hand"
    os.makedirs(folder)
    with open(os.path.join(folder, "scan.yaml"), "w") as file:
        file.write(SCAN)
    words = ["mpirun", "--oversubscribe", "-n", "3", EMU, "run", "scan.yaml", "-o", "out.h5", *PLAIN, "--backend", "emu", *ROWS]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60, env=environment(fails("0:300")))
    assert done.returncode == 0 and sum("has failed" in line for line in done.stderr.splitlines()) == 1, done
    assert sound(folder) and events(folder) == [(1, "device failed")]


def a_process_alone_keeps_what_it_computed():
    for work in ("1", "1500"):
        folder, err = on_device(SCAN, *ROWS, env=fails("0:" + work), code=3)
        lines = complaints(err)
        assert len(lines) == 1 and re.search(rf"emulated device, PCI {bus(0)} has failed: emu: .*unspecified launch failure; the same command continues", lines[0]), err
        done = states(folder) == DONE
        assert not states(folder)[~done].any() and done.any() == (work != "1"), states(folder)
        assert events(folder) == [(0, "device failed")]
        before = column(folder, "plane/field")[done].tobytes()
        on_device(folder, *ROWS)
        assert sound(folder) and column(folder, "plane/field")[done].tobytes() == before
        assert members_of(folder, "done") == list(range(MEMBERS))


def a_farm_whose_devices_fail_is_started_again_when_told_to():
    folder, err = on_device(SCAN, "-n", "1", *ROWS, "--relaunch", "9", env=fails("0:2000"))
    assert err.count("Z error ") == err.count("no worker is left") >= 1, err
    # the last batch may have had one row: its bits are those of another plan
    assert (states(folder) == DONE).all() and (column(folder, "member/n_saved") == PLANES).all(), err


if __name__ == "__main__":
    sys.exit(run_checks(globals(), but=("right", "fails")))
