# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparisons within a tolerance, for scripts: tests/perturb/near.h in Python. Each shows in the same call that it would fail with a
fault, which is named, small, and worked out by the caller; it leaves a record in the file SCANFARM_PERTURB, which
tests/perturb/perturb reads."""
import os
import sys

import numpy as np

FAR = 100.0  # a fault is at most so many tolerances large, so that it says how much is still seen
ROUNDING = 1e-12  # the largest tolerance of a comparison where nothing but rounding differs

_RECORDS = os.environ.get("SCANFARM_PERTURB")
if _RECORDS and os.path.exists(_RECORDS):
    os.remove(_RECORDS)


def _off(value, want, allowed):
    """How far apart in tolerances, at the worst element; NaN on one side only counts as far."""
    value, want, allowed = np.broadcast_arrays(value, want, allowed)
    if not value.size:
        return 0.0
    apart = np.abs(value - want)
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.where(apart == 0, 0.0, apart / allowed)  # where nothing is allowed, equal
    return float(np.where(np.isnan(off), np.inf, off).max())


def _compare(got, want, allowed, faulty, fault, place):
    assert np.any(np.asarray(allowed) > 0) and np.all(np.isfinite(want)), (want, allowed)
    margin, moved = _off(got, want, allowed), min(_off(faulty, want, allowed), FAR * 1.001)
    assert moved > 1, f"{fault}: {faulty} is within {allowed} of {want}: the fault passes"
    assert moved <= FAR, f"{fault}: {faulty} is more than {FAR:g} tolerances away from {want}: name a smaller fault"
    if _RECORDS:
        with open(_RECORDS, "a", encoding="utf-8") as out:
            out.write(f"@{place.f_code.co_filename}:{place.f_lineno}|{moved:.3g}|{margin:.3g}|{fault}\n")
    return margin <= 1


def near(got, want, *, faulty, fault, rtol=0.0, atol=0.0):
    """Whether |got - want| <= atol + rtol |want| at each element; `faulty` is what would be got with `fault`."""
    want = np.asarray(want)
    return _compare(got, want, atol + rtol * np.abs(want), faulty, fault, sys._getframe(1))


def rounding(got, want, rtol=ROUNDING, scale=None):
    """The same where nothing but rounding differs, relative to `scale` (the wanted values): two tolerances more are
    seen."""
    assert rtol <= ROUNDING, f"{rtol} is no rounding"
    want = np.asarray(want)
    allowed = rtol * np.broadcast_to(np.abs(want if scale is None else scale), want.shape)
    return _compare(got, want, allowed, want + 2 * allowed, "two tolerances", sys._getframe(1))


def norm_below(error, limit):
    """Whether an error, the norm of a difference or the largest of many, is at most `limit`: a result that is off by
    limit and error together is seen whatever its direction."""
    assert error >= 0 and limit > 0, (error, limit)
    return _compare(error, 0.0, limit, np.nextafter(limit + error, np.inf) * (1 + 1e-15), "limit and error together",
                    sys._getframe(1))
