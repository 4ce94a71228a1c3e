#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Result files made with h5py from the pages of the format alone: readers are tested on files that
the program did not write. A frequency comb with known energies, coherences and observables."""
import h5py
import numpy as np

C = 299792458.0
N, PLANES, POINTS, SHOTS = 1024, 5, 3, 8
WINDOW = 4e-12
OMEGA0 = 2 * np.pi * C / 835e-9
SPREAD = 40e12  # rad/s, width of the spectrum at the last plane


def omega():
    return OMEGA0 + 2 * np.pi * np.fft.fftfreq(N, WINDOW / N)


def field(point, shot, plane, spread=1.0):
    """A pulse whose spectrum widens along z; the phases of the shots differ by `spread` rad."""
    rng = np.random.default_rng(1000 * point + shot)
    t = (np.arange(N) - N // 2) * WINDOW / N
    width = 50e-15 * (point + 1)
    a = np.sqrt(1e4) / np.cosh(t / width) * np.exp(1j * 8.0 * plane / (PLANES - 1) / np.cosh(t / width) ** 2)
    spectrum = np.fft.fft(a) / N
    phase = np.exp(1j * spread * plane / (PLANES - 1) * rng.standard_normal(N))
    return spectrum * phase + 1e-6 * np.exp(2j * np.pi * rng.random(N))


def ensemble(fields):
    """Mean, standard deviation, |g12| over pairs i != j and its weighted mean, from the definition."""
    m = len(fields)
    power = np.abs(fields) ** 2
    pairs = sum(np.conj(fields[i]) * fields[j] for i in range(m) for j in range(m) if i != j)
    mean = power.mean(axis=0)
    g = np.abs(pairs / (m * (m - 1))) / mean
    return mean, power.std(axis=0, ddof=1), g, (g * mean).sum() / mean.sum()


class Writer:
    def __init__(self, path):
        self.h = h5py.File(path, "w")

    def put(self, name, data, unit="1", dims=(), **attributes):
        d = self.h.create_dataset(name, data=data)
        d.attrs["units"], d.attrs["long_name"] = unit, name.split("/")[-1].replace("_", " ")
        for i, scale in enumerate(dims):
            d.dims[i].attach_scale(self.h[scale])
            d.dims[i].label = scale
        for key, value in attributes.items():
            d.attrs[key] = value
        return d

    def scale(self, name, data, unit="1", **attributes):
        self.put(name, data, unit, **attributes).make_scale(name)


def text(values, size):
    return np.array([v.encode() for v in values], dtype=f"S{size}")


def make(path, scan="made", spread=1.0, state=None, version=1, with_field=True, reduced=True):
    """A finished file: POINTS pulse durations, SHOTS shots each. state: {member: state}."""
    members = POINTS * SHOTS
    w = Writer(path)
    h = w.h
    h.attrs.update(dict(format="scanfarm", scan=scan, model="gnlse", convention="exp(+i omega t)",
                        created="2026-01-01T00:00:00.000Z", software="made by hand", version="0",
                        git_revision="unknown", sync="member"))
    for name, value in dict(format_version=version, git_dirty=0, numerics_version=1, members=members, points=POINTS,
                            realisations=SHOTS, grids=1, planes=PLANES).items():
        h.attrs[name] = np.int64(value)
    for name, length in dict(member_id=members, plane_index=PLANES, point_id=POINTS, realisation=SHOTS,
                             step_index=20, axis_index=1, grid_id=1, half=2, attempt_row=64).items():
        w.scale(name, np.arange(length))
    w.scale("omega", omega(), "rad s^-1")
    w.put("t", (np.arange(N) - N // 2) * WINDOW / N, "s", ["omega"])
    durations = 50e-15 * (1 + np.arange(POINTS))
    w.scale("pulse_duration_values", durations, "s", parameter="pulse.duration", axis="0",
            as_written="[50 fs, 100 fs, 150 fs]")
    w.put("complete", np.uint8(1))
    put_members(w, durations, state or {})
    put_planes(w, with_field, spread)
    if with_field:
        put_ensemble(w, spread, reduced)
    put_steps(w)
    put_attempts(w)
    h.close()


def put_members(w, durations, state):
    members = POINTS * SHOTS
    states = np.full(members, 2, np.uint8)
    saved = np.full(members, PLANES, np.int64)
    for member, value in state.items():
        states[member] = value
        saved[member] = 2 if value == 3 else 0
    reasons = ["energy is not finite at z = 0.03 m" if s == 3 else "" for s in states]
    column = ["member_id"]
    w.put("member/point", np.repeat(np.arange(POINTS), SHOTS)[:, None].astype(np.int32), "1", column + ["axis_index"])
    w.put("member/param/pulse_duration", np.repeat(durations, SHOTS), "s", column)
    w.put("member/identity", np.zeros((members, 2), np.uint64), "1", column + ["half"])
    w.put("member/seed", np.zeros((members, 2), np.uint64), "1", column + ["half"])
    w.put("member/n_saved", saved, "1", column)
    w.put("member/state", states, "1", column)
    w.put("member/reason", text(reasons, 240), "1", column)
    w.put("member/grid", np.zeros(members, np.int64), "1", column)
    for name in ("wall_s", "cpu_s"):
        w.put("member/" + name, np.ones(members), "s", column)
    for name in ("attempts", "rank"):
        w.put("member/" + name, np.ones(members, np.int32), "1", column)
    for name, size in dict(host=64, device=96, kernel_id=96).items():
        w.put("member/" + name, text(["made"] * members, size), "1", column)
    for name in ("steps", "rejected", "rhs_calls", "transforms"):
        w.put("member/" + name, np.ones(members, np.int64), "1", column)
    w.put("member/history_truncated", np.zeros(members, np.uint8), "1", column)
    w.put("member/n_omega", np.full(members, N, np.int64), "1", column)


def put_planes(w, with_field, spread):
    members = POINTS * SHOTS
    dims = ["member_id", "plane_index"]
    z = np.linspace(0, 0.15, PLANES)
    w.put("plane/z", np.tile(z, (members, 1)), "m", dims, kind="progress", index=np.int64(0))
    energy = np.array([[1e-9 * (m // SHOTS + 1) * (1 + 0.01 * (m % SHOTS)) * (1 - 0.1 * k) for k in range(PLANES)]
                       for m in range(members)])
    w.put("plane/energy", energy, "J", dims, kind="observable", index=np.int64(0))
    w.put("plane/checksum", np.zeros((members, PLANES), np.uint64), "1", dims, kind="checksum", index=np.int64(0))
    if with_field:
        data = np.array([[field(m // SHOTS, m % SHOTS, k, spread) for k in range(PLANES)] for m in range(members)])
        w.put("plane/field", data, "W^0.5", dims + ["omega"], kind="array", index=np.int64(0))


def put_ensemble(w, spread, reduced):
    shape = (POINTS, PLANES)
    mean, std, g12 = (np.zeros(shape + (N,)) for _ in range(3))
    coherence = np.zeros(shape)
    for p in range(POINTS):
        for k in range(PLANES):
            fields = np.array([field(p, r, k, spread) for r in range(SHOTS)])
            mean[p, k], std[p, k], g12[p, k], coherence[p, k] = ensemble(fields)
    dims = ["point_id", "plane_index"]
    for name, data in dict(mean_spectrum=mean, std_spectrum=std).items():
        w.put("ensemble/" + name, data, "W", dims + ["omega"])
    w.put("ensemble/g12", g12, "1", dims + ["omega"])
    w.put("ensemble/g12_error", 0.05 * np.ones_like(g12), "1", dims + ["omega"])
    w.put("ensemble/coherence", coherence, "1", dims)
    w.put("ensemble/coherence_error", np.full(shape, 0.01), "1", dims)
    w.put("ensemble/n", np.full(POINTS, SHOTS), "1", ["point_id"])
    w.put("ensemble/n_failed", np.zeros(POINTS, np.int64), "1", ["point_id"])
    w.put("ensemble/reduced", np.full(POINTS, 1 if reduced else 0, np.uint8), "1", ["point_id"])


def put_steps(w):
    members, kept = POINTS * SHOTS, 20
    dims = ["member_id", "step_index"]
    h = np.tile(0.15 / kept * (1 + 0.5 * np.sin(np.arange(kept))), (members, 1))
    accepted = np.ones((members, kept), np.uint8)
    accepted[:, 5] = 0
    w.put("step/z", np.cumsum(h, axis=1) - h, "m", dims)
    w.put("step/h", h, "m", dims)
    w.put("step/accepted", accepted, "1", dims)
    w.put("step/order", np.full((members, kept), 5, np.int32), "1", dims)
    w.put("step/error", np.full((members, kept), 0.5), "1", dims)
    w.put("step/n_steps", np.full(members, kept), "1", ["member_id"])


def put_attempts(w):
    rows, dims = 64, ["attempt_row"]
    number = np.zeros(rows, np.int64)
    number[0] = 1
    first = lambda value: [value] + [""] * (rows - 1)
    w.put("provenance/attempt/number", number, "1", dims)
    w.put("provenance/attempt/start", text(first("2026-01-01T00:00:00.000Z"), 32), "1", dims)
    w.put("provenance/attempt/end", text(first("2026-01-01T00:01:00.000Z"), 32), "1", dims)
    w.put("provenance/attempt/exit_code", np.zeros(rows, np.int32), "1", dims)
    w.put("provenance/attempt/reason", text(first("all members are done"), 240), "1", dims)


if __name__ == "__main__":
    import sys
    make(sys.argv[1], *sys.argv[2:3])
