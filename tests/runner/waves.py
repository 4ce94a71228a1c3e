#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Model snl1 as a user runs it: sea states of a file have the reference's bits whatever blocks, ranks and threads they
go through; made ones have the shape that was asked for; each mistake has its line and exit code.

The reference: tests/data/README.md, snl1. Without arguments all checks are made; an argument chooses those whose
names contain it.
"""
import os
import subprocess

import h5py
import numpy as np

from checks import run_checks
from farm import command, content, run, same, write
from near import near, norm_below

DATA = os.path.join(os.environ["SCANFARM_SOURCE"], "tests/data/snl1")
B1 = "grid: {frequencies: 32, directions: 36, first: 0.0373 Hz}"
FILE = """scan: waves
model: snl1
parameters:
  GRID
  sea: {file: sea.h5, points: POINTS}
axes:
  - sea.block: {from: 0, to: LAST, step: 1}
save: {planes: last, field: true, observables: all}
"""
MADE = """scan: made
model: snl1
parameters:
  grid: {frequencies: 30, directions: 24, first: 0.04 Hz}
  sea: {points: 3, turn: 30 deg, height: 2.5 m, peak: 0.1 Hz, gamma: 3.3, spread: 6, direction: 60 deg, depth: 30 m}
  EXTRA
save: {planes: last, field: true, observables: all}
"""
G = 9.806


def words(name):
    return np.fromfile(os.path.join(DATA, "B1", name), "<f4")


def hashes(rows):
    """FNV-1a over 32-bit words, as tests/data/README.md has it."""
    bits = np.ascontiguousarray(rows, "<f4").view("<u4").copy()
    bits[np.isnan(rows)] = 0x7fc00000
    hashed = np.full(len(bits), 0xcbf29ce484222325, np.uint64)
    with np.errstate(over="ignore"):
        for word in bits.T:
            hashed = (hashed ^ word.astype(np.uint64)) * np.uint64(0x100000001b3)
    return hashed


def right():
    s, d = np.fromfile(os.path.join(DATA, "B1", "results.u64"), "<u8").reshape(2, -1)
    return s, d


def sea_file(folder, change=None, **arrays):
    """The reference spectra as a wave model might write them; `change` may spoil the open file."""
    made = dict(action=words("a.f32").reshape(-1, 32, 36), group_velocity=words("cg.f32").reshape(-1, 32),
                relative_depth=words("kdmean.f32"))
    made.update(arrays)
    with h5py.File(os.path.join(folder, "sea.h5"), "w") as file:
        for name, values in made.items():
            file.create_dataset(name, data=values)
        if change:
            change(file)


def folder_of(points, text=FILE, grid=B1, **arrays):
    last = -(-56 // points) - 1
    folder = write(text.replace("GRID", grid).replace("POINTS", str(points)).replace("LAST", str(last)))
    sea_file(folder, **arrays)
    return folder


def results(folder):
    planes = content(folder)
    return [planes[name].reshape(-1, 32 * 36).astype("<f4") for name in ("source", "diagonal")] + [planes]


def has_reference(folder):
    s, d, planes = results(folder)
    there = planes["flags"].reshape(-1) != 8
    want = right()
    assert there.sum() == 56, there.sum()
    assert (hashes(s[there]) == want[0]).all() and (hashes(d[there]) == want[1]).all()
    assert np.isnan(s[~there]).all() and np.isnan(d[~there]).all()
    return planes


def a_file_gives_the_bits_of_the_reference_in_blocks_of_any_size():
    for points in (5, 16, 17, 1000):
        folder = folder_of(points)
        code, _, err = run(folder)
        assert code == 0, err
        planes = has_reference(folder)
        assert planes["points"].sum() == 56
        assert planes["negative_points"].sum() >= 1 and planes["nonfinite_points"].sum() == 1
        flags = planes["flags"].reshape(-1)[:56]
        spectra = words("a.f32").reshape(56, -1)
        assert ((flags.astype(int) & 1 == 1) == (spectra < 0).any(1)).all()
        assert [int(i) for i in np.nonzero(flags.astype(int) & 2)[0]] == [40], "the spectrum times 1e20"
    assert command(folder, "verify", "out.h5").returncode == 0


def sums(s, cg):
    """|sum| over sum of sizes of S_E times 1, sigma, sigma^2 cos and sigma^2 sin, of each point."""
    sigma = 2 * np.pi * 0.0373 * 1.1 ** np.arange(32)
    theta = 2 * np.pi * np.arange(36) / 36
    s_e = s.reshape(-1, 32, 36).astype(float) * (2 * np.pi * sigma / cg.astype(float))[:, :, None]
    with np.errstate(invalid="ignore"):
        terms = [s_e, s_e * sigma[:, None], s_e * np.outer(sigma ** 2, np.cos(theta)), s_e * np.outer(sigma ** 2, np.sin(theta))]
        return np.array([abs(t.sum((1, 2))) / np.maximum(abs(t).sum((1, 2)), 1e-300) for t in terms])


def the_stored_balances_are_those_of_the_stored_terms():
    for arithmetic in ("parity", "fast"):
        folder = folder_of(5, FILE.replace("GRID", f"arithmetic: {arithmetic}\n  GRID"))
        assert run(folder)[0] == 0
        s, _, planes = results(folder)
        balance = sums(s[:56], words("cg.f32").reshape(-1, 32))
        finite = [i for i in range(56) if not 34 <= i <= 40]
        for row, name in enumerate(("point_action_balance", "point_energy_balance")):
            got = planes[name].reshape(-1)[:56]
            # the frequencies are a chain of 32 products in binary32
            assert np.isnan(got[40]) and norm_below(abs(got - balance[row])[finite].max(), 1e-6), (name, abs(got - balance[row]).max())
        momentum = planes["momentum_balance"].reshape(-1)
        want = balance[2:, 55].max(), balance[2:, :5].max()
        assert near([momentum[-1], momentum[0]], want, atol=1e-6, faulty=[want[0] + 1e-5, want[1]], fault="1e-5 more")
        # point 55 has compact support and is alone in the last block
        action, energy = (planes[name].reshape(-1)[55] for name in ("point_action_balance", "point_energy_balance"))
        assert 0 < action <= 2e-6 and 0 < energy <= 2e-6 and 0 < momentum[-1] <= 5e-3, (action, energy, momentum[-1])
        assert planes["action_balance"].reshape(-1)[-1] == action and planes["energy_balance"].reshape(-1)[-1] == energy


def a_file_gives_the_bits_of_the_reference_on_any_ranks_and_threads():
    first = None
    for ranks in (1, 2, 3, 4):
        folder = folder_of(7)
        code, _, err = run(folder, "-n", str(ranks))
        assert code == 0, err
        has_reference(folder)
        first = first or content(folder)
        assert same(first, content(folder)), ranks
    for threads in range(1, 9):
        folder = folder_of(1000)
        code, _, err = run(folder, "--threads", str(threads))
        assert code == 0, err
        has_reference(folder)


def every_instruction_set_gives_the_bits_of_the_reference():
    done = 0
    for isa in ("x86-64", "x86-64-v3", "x86-64-v4"):
        folder = folder_of(56)
        code, _, err = run(folder, "--isa", isa)
        if code == 0:
            has_reference(folder)
            done += 1
        else:
            assert "lacks" in err or "not in this program" in err, err
    assert done >= 1


def the_file_says_which_kernel_made_which_member():
    text = FILE.replace("GRID", B1).replace("POINTS", "56").replace("LAST", "0").replace(
        "axes:", "axes:\n  - arithmetic: [parity, fast]")
    for words_ in ((), ("-n", "1")):
        folder = write(text)
        sea_file(folder)
        code, _, err = run(folder, "--isa", "x86-64", *words_)
        assert code == 0, err
        with h5py.File(os.path.join(folder, "out.h5")) as file:
            kernels = [name.decode() for name in file["member/kernel_id"][...]]
        assert kernels == ["cpu x86-64; snl1-parity/x86-64", "cpu x86-64; snl1-fast/x86-64"], kernels
        s = results(folder)[0]
        assert (hashes(s[:56]) == right()[0]).all() and not (hashes(s[56:]) == right()[0]).all()


def fast_is_within_its_bound_and_not_the_same():
    parity, fast = folder_of(56), folder_of(56, FILE.replace("GRID", "arithmetic: fast\n  GRID"))
    assert run(parity)[0] == 0 and run(fast)[0] == 0
    for a, b in zip(results(parity)[:2], results(fast)[:2]):
        a, b = a.astype(float), b.astype(float)
        plain = [i for i in range(56) if not 34 <= i <= 40 and abs(a[i]).max() > 0]
        worst = max(abs(a[i] - b[i]).max() / abs(a[i]).max() for i in plain)
        assert 0 < worst <= 4e-6, worst


def a_netcdf4_file_is_read_with_its_units():
    def change(file):
        file.attrs["_NCProperties"] = "version=2,netcdf=4.9.0,hdf5=1.10.8"
        del file["group_velocity"], file["action"]
        speed = file.create_dataset("group_velocity", data=words("cg.f32").reshape(-1, 32).astype(">f4"), chunks=(8, 32),
                                    compression="gzip", shuffle=True)
        speed.attrs["units"] = np.bytes_("m/s")
        action = file.create_dataset("action", data=words("a.f32").reshape(-1, 32, 36).astype(">f4"), chunks=(8, 32, 36),
                                     compression="gzip")
        action.attrs["units"] = "m3 s rad-1"
        file["frequency"] = 0.0373 * 1.1 ** np.arange(32)
        file["frequency"].attrs["units"] = "s-1"
    folder = folder_of(56, change=change)
    code, _, err = run(folder)
    assert code == 0, err
    has_reference(folder)
    folder = folder_of(56, change=lambda file: file["group_velocity"].attrs.__setitem__("units", "km s-1"))
    assert run(folder)[0] == 0
    assert not (hashes(results(folder)[0]) == right()[0]).all(), "km/s were taken for m/s"


def large(folder, times=20):
    """The reference spectra again and again, 1120 points: more than what is held in memory."""
    with h5py.File(os.path.join(folder, "sea.h5"), "w") as file:
        file["action"] = np.tile(words("a.f32").reshape(-1, 32, 36), (times, 1, 1))
        file["group_velocity"] = np.tile(words("cg.f32").reshape(-1, 32), (times, 1))
        file["relative_depth"] = np.tile(words("kdmean.f32"), times)


def a_large_file_is_read_where_it_lies_each_byte_once():
    text = FILE.replace("GRID", B1).replace("POINTS", "300").replace("LAST", "3")
    first = None
    for words_ in ((), ("-n", "1"), ("-n", "3")):
        folder = write(text)
        large(folder)
        code, _, err = run(folder, *words_)
        assert code == 0, err
        s, d, planes = results(folder)
        assert (hashes(s[:1120]) == np.tile(right()[0], 20)).all() and (hashes(d[:1120]) == np.tile(right()[1], 20)).all()
        assert np.isnan(s[1120:]).all() and planes["points"].sum() == 1120
        assert planes["input_bytes"].sum() == 4 * 1120 * 32 * 36, planes["input_bytes"]
        first = first or content(folder)
        assert same(first, content(folder)), words_
    with h5py.File(os.path.join(folder, "sea.h5"), "r+") as file:
        file["action"][700, 3, 5] += 1
    code, _, err = run(folder)
    assert code == 4, (code, err)


def a_run_takes_no_byte_of_a_large_file_more_than_twice():
    """Once for the hash and once for the result: what the system says that the process has read."""
    if not os.path.exists("/proc/self/io"):
        return  # this system does not count
    text = FILE.replace("GRID", B1).replace("POINTS", "560").replace("LAST", "39")
    taken = []
    for times in (20, 220):
        folder = write(text.replace("to: 39", f"to: {times // 10 - 1}").replace("field: true", "field: false"))
        large(folder, times)
        program = subprocess.Popen([os.environ["SCANFARM"], "run", "scan.yaml", "-o", "out.h5"], cwd=folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)
        with open(f"/proc/{program.pid}/io") as file:
            counts = dict(line.split(": ") for line in file.read().splitlines())
        assert program.wait() == 0
        taken.append(int(counts["rchar"]))
    # the smaller arrays of 220 times 56 points stay in memory and are read once
    more = 200 * 56 * 4
    action, rest = more * 32 * 36, more * (32 + 1)
    assert near(taken[1] - taken[0], 2 * action + rest, atol=0.01 * action, faulty=2 * action, fault="smaller arrays not counted"), (taken, action, rest)


def numbers_that_stand_for_others_are_refused_and_those_for_none_are_none():
    def pack(name, value):
        return lambda file: file["action"].attrs.__setitem__(name, value)
    for name, value in (("scale_factor", 1e-3), ("add_offset", np.float32([2])), ("scale_factor", "0.1")):
        refused(folder_of(56, change=pack(name, value)), 2, "action is packed", name, "ncpdq")

    def plain(file):
        for name in ("action", "group_velocity"):
            file[name].attrs["scale_factor"], file[name].attrs["add_offset"] = np.float32([1]), 0
    folder = folder_of(56, change=plain)
    assert run(folder)[0] == 0
    has_reference(folder)
    fill = np.float32(9.96921e36)  # NetCDF's own
    for times in (1, 20):
        folder = folder_of(56) if times == 1 else write(FILE.replace("GRID", B1).replace("POINTS", "1120").replace("LAST", "0"))
        if times > 1:
            large(folder)
        with h5py.File(os.path.join(folder, "sea.h5"), "r+") as file:
            file["action"][3], file["relative_depth"][5] = fill, -999
            file["action"].attrs["_FillValue"] = np.array([fill])
            file["relative_depth"].attrs["missing_value"] = -999.0
        code, _, err = run(folder)
        assert code == 0, err
        s, _, planes = results(folder)
        flags = planes["flags"].reshape(-1).astype(int)
        assert flags[3] == 6 and flags[5] == 4, flags[:8]
        assert np.isnan(s[3]).all() and np.isnan(planes["action"].reshape(-1, 32 * 36)[3]).all()
        others = [i for i in range(56 * times) if i not in (3, 5)]
        assert (hashes(s)[others] == np.tile(right()[0], times)[others]).all()


def what_a_file_stands_for_is_not_given_beside_it_and_its_block_not_without_it():
    for key in ("depth: 10 m", "height: 1 m", "peak: 0.1 Hz", "gamma: 2", "spread: 3", "direction: 0 deg", "turn: 1 deg"):
        text = FILE.replace("sea: {file", f"sea: {{{key}, file")
        refused(folder_of(56, text), 2, f"sea.{key.split(':')[0]} and sea.file are both given")
    refused(folder_of(56, FILE.replace("GRID", "swell: {height: 1 m}\n  GRID")), 2, "swell.height and sea.file")
    refused(folder_of(56, FILE.replace("GRID", "noise: {share: 0.5}\n  GRID")), 2, "noise.share and sea.file")
    refused(folder_of(56, FILE.replace("axes:", "axes:\n  - sea.depth: [10 m, 20 m]")), 2, "sea.depth and sea.file")
    refused(write(MADE.replace("EXTRA", "").replace("save:", "axes:\n  - sea.block: [0, 1]\nsave:")), 2,
            "sea.block has no effect without sea.file")


def a_large_file_that_is_not_plain_is_refused_by_name():
    folder = write(FILE.replace("GRID", B1).replace("POINTS", "300").replace("LAST", "0"))
    with h5py.File(os.path.join(folder, "sea.h5"), "w") as file:
        file.create_dataset("action", (7400, 32, 36), "<f4", chunks=(100, 32, 36), compression="gzip")
        file["group_velocity"], file["relative_depth"] = np.ones((7400, 32)), np.ones(7400)
    refused(folder, 2, "action is larger than 64 MB", "neither compressed nor chunked")
    large(folder)
    with h5py.File(os.path.join(folder, "sea.h5"), "r+") as file:
        file["action"].attrs["units"] = "km^3 s rad^-1"
    refused(folder, 2, "action", "not converted")


def refused(folder, code, *parts):
    r = command(folder, "plan", "scan.yaml", "--no-measure")
    assert r.returncode == code, (r.returncode, r.stderr)
    for part in parts:
        assert part in r.stderr, (part, r.stderr)


def a_classic_netcdf_file_is_refused_by_name():
    for kind in (1, 2, 5):
        folder = folder_of(56)
        with open(os.path.join(folder, "sea.h5"), "wb") as file:
            file.write(b"CDF" + bytes([kind]) + bytes(40))
        refused(folder, 2, "sea.h5", "classic NetCDF", "NetCDF-4")
    with open(os.path.join(folder, "sea.h5"), "wb") as file:
        file.write(b"no such format")
    refused(folder, 2, "no HDF5 or NetCDF-4")


def what_does_not_fit_is_refused_by_name():
    a, cg = words("a.f32").reshape(-1, 32, 36), words("cg.f32").reshape(-1, 32)
    refused(folder_of(56, change=lambda file: file.__delitem__("relative_depth")), 2, "relative_depth is missing")
    refused(folder_of(56, action=a.reshape(-1, 36, 32)), 2, "action has 36 frequencies; 32")
    refused(folder_of(56, action=a.reshape(-1, 32 * 36)), 2, "2 dimensions; 3 are wanted")
    refused(folder_of(56, group_velocity=cg[:50]), 2, "group_velocity has 50 points; 56")
    refused(folder_of(56, relative_depth=np.array([b"deep"] * 56)), 2, "relative_depth holds no numbers")
    refused(folder_of(56, frequency=0.0373 * 1.1 ** np.arange(-1, 31)), 2, "frequency 1", "grid.first")
    refused(folder_of(56, change=lambda file: file["action"].attrs.__setitem__("units", "kg")), 2, "action", "kg")
    refused(folder_of(56, FILE.replace("LAST", "3")), 2, "sea.block", "56 points")
    made = MADE.replace("EXTRA", "")
    refused(write(made.replace("planes: last", "planes: 3")), 2, "planes")
    refused(write(made.replace("directions: 24", "directions: 0")), 2, "grid.directions")
    refused(write(MADE.replace("EXTRA", "quadruplet: {iqtype: -2}")), 2, "yaml:6:16: quadruplet.iqtype: IQTYPE -2")
    refused(write(MADE.replace("EXTRA", "quadruplet: {lambda: 0.5}")), 2, "yaml:6:16: quadruplet.lambda: lam 0.5")
    refused(write(made.replace("first: 0.04 Hz", "first: 0.04 Hz, ratio: 16, frequencies: 40").replace("frequencies: 30, ", "")), 2, "yaml:4:3: grid: fr1")
    refused(write(MADE.replace("EXTRA", "quadruplet: {lambda: -0.2}")), 2, "quadruplet.lambda")
    refused(write(MADE.replace("EXTRA", "arithmetic: exact")), 2, "parity, fast")


def a_point_without_a_speed_fails_its_member_alone():
    cg = words("cg.f32").reshape(-1, 32).copy()
    cg[20, 3] = 0.0
    folder = folder_of(8, group_velocity=cg)
    assert run(folder)[0] == 1
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        assert list(file["member/state"][...]) == [2, 2, 3, 2, 2, 2, 2], file["member/state"][...]
        s = file["plane/source"][0:1, -1].reshape(-1, 32 * 36).astype("<f4")
    assert (hashes(s) == right()[0][:8]).all()
    cg = np.tile(words("cg.f32").reshape(-1, 32), (20, 1))
    cg[[500, 700], 3] = 0.0
    folder = write(FILE.replace("GRID", B1).replace("POINTS", "1120").replace("LAST", "0"))
    large(folder)
    with h5py.File(os.path.join(folder, "sea.h5"), "r+") as file:
        file["group_velocity"][...] = cg
    for threads in ("1", "3"):
        code, _, err = run(folder, "--threads", threads, "--fresh")
        assert code == 1 and "point 501, frequency 4" in command(folder, "log", "out.h5", "0").stdout, (code, err)


def wavenumber(sigma, depth):
    low, high = np.zeros_like(sigma), 10 * sigma ** 2 / G + 10 * sigma / np.sqrt(G * depth)
    for _ in range(200):
        middle = 0.5 * (low + high)
        below = G * middle * np.tanh(np.minimum(middle * depth, 300)) < sigma ** 2
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)


def a_made_sea_has_the_shape_that_was_asked_for():
    folder = write(MADE.replace("EXTRA", ""))
    assert run(folder)[0] == 0
    planes = content(folder)
    f, theta, depth = 0.04 * 1.1 ** np.arange(30), 2 * np.pi * np.arange(24) / 24, 30.0
    sigma = 2 * np.pi * f
    k = wavenumber(sigma, depth)
    step = k * 1e-4
    cg = (np.sqrt(G * (k + step) * np.tanh((k + step) * depth)) - np.sqrt(G * (k - step) * np.tanh((k - step) * depth))) / (2 * step)
    width = np.where(f <= 0.1, 0.07, 0.09)
    shape = f ** -5.0 * np.exp(-1.25 * (f / 0.1) ** -4.0) * 3.3 ** np.exp(-0.5 * ((f / 0.1 - 1) / width) ** 2)
    df = f * (1.1 - 1 / 1.1) / 2
    for p in range(3):
        e = np.outer(shape, np.cos((theta - np.radians(60 + 30 * p)) / 2) ** 12)
        e *= 2.5 ** 2 / 16 / ((e.sum(1) * 2 * np.pi / 24 * df).sum())
        a = e * (cg / (2 * np.pi * sigma))[:, None]
        got = planes["action"][0, -1, p]
        # the grid is a chain of 30 products in binary32, 6e-8 each, and the peak's flank has a slope of some 15
        assert norm_below(abs(got - a).max() / a.max(), 3e-5), abs(got - a).max() / a.max()
    assert near(planes["height"][0, -1], 2.5, atol=1e-5, faulty=2.5001, fault="0.1 mm more")
    assert near(planes["point_height"][0, -1], 2.5, atol=1e-5, faulty=2.5001, fault="0.1 mm more")
    assert 0 < planes["action_balance"][0, -1] < 0.01 and planes["source_max"][0, -1] > 0
    assert planes["diagonal_min"][0, -1] < 0


def noise_and_swell_are_scanned():
    text = MADE.replace("EXTRA", "noise: {share: 0.7}\n  swell: {peak: 0.05 Hz, direction: 200 deg}").replace(
        "save:", "axes:\n  - noise.seed: [1, 2]\n  - swell.height: [0 m, 2 m]\nsave:")
    folder, again = write(text), write(text)
    assert run(folder)[0] == 0 and run(again, "-n", "2")[0] == 0
    assert same(content(folder), content(again))
    action, height = content(folder)["action"][:, -1], content(folder)["point_height"][:, -1]
    assert not np.array_equal(action[0], action[2]), "another seed, the same sea"
    assert not np.array_equal(action[0, 0], np.roll(action[0, 1], -2, 1)), "each point has its own draw"
    both = np.hypot(2.5, 2.0)
    assert near(height[0], 2.5, atol=0.5, faulty=both, fault="with the swell"), height
    assert near(height[1], both, atol=0.5, faulty=2.5, fault="without the swell"), height
    assert (content(folder)["nonfinite_points"] == 0).all()


if __name__ == "__main__":
    raise SystemExit(run_checks(globals(), but=("right",)))
