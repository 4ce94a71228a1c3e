#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which members a run computes: --only, --retry-failed.

Without arguments all checks are made; an argument chooses those whose names contain it.
"""
import json
import os
import sys
import time

import h5py
import numpy as np

from checks import run_checks
from farm import CODES, NOISE, SLOW, SLOWER, begun, content, finish, run, same, start, states, wait_until, write

MODES = ([], ["-n", "2"])


def column(folder, name):
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        return file["member/" + name][...]


def whole(text):
    folder = write(text)
    code, _, err = run(folder)
    assert code == 0, err
    return content(folder)


def only_computes_the_members_named_and_the_rest_later():
    want = whole(CODES)
    for words in MODES:
        folder = write(CODES)
        code, out, err = run(folder, "--only", "7,28-29,3,7", "--json", *words)
        assert code == 0 and json.loads(out)["text"] == "all 4 selected members done", (out, err)
        assert list(np.flatnonzero(states(folder) == 2)) == [3, 7, 28, 29]
        assert (np.delete(states(folder), [3, 7, 28, 29]) == 0).all()
        assert (column(folder, "n_saved") == np.where(states(folder) == 2, 3, 0)).all()
        with h5py.File(os.path.join(folder, "out.h5")) as file:
            assert file["complete"][()] == 0
        code, out, err = run(folder, "--only=3", "--json", *words)
        assert code == 0 and json.loads(out)["pending_before"] == 0 and "the selected member is done" in err, err
        code, out, err = run(folder, "--json", *words)
        assert code == 0 and json.loads(out)["pending_before"] == 26, (out, err)
        assert same(want, content(folder))
        assert (column(folder, "attempts") == 1).all()


def only_takes_a_list_from_a_file():
    folder = write(CODES)
    with open(os.path.join(folder, "ids.txt"), "w") as file:
        file.write("# the corners\n0\n29\n")
    assert run(folder, "--only", "@ids.txt", "-n", "2")[0] == 0
    assert list(np.flatnonzero(states(folder) == 2)) == [0, 29]


def what_only_names_must_be_members():
    for words in MODES:
        folder = write(CODES)
        for value, text in (("30", "0 to 29"), ("5-x", "'5-x'"), ("", "no member is named"), ("@no.txt", "no.txt: No such file"),
                            ("1," * 4000, "@FILE")):
            code, _, err = run(folder, "--only", value, *words)
            assert code == 2 and text in err and len(err.splitlines()) == 1, (value, code, err)
        assert not os.path.exists(os.path.join(folder, "out.h5"))


def a_point_is_reduced_when_its_last_member_was_chosen():
    folder, all_at_once = write(NOISE), write(NOISE)
    assert run(all_at_once)[0] == 0
    assert run(folder, "--only", "0-3,5-9")[0] == 0
    rows = {}
    for name in (folder, all_at_once):
        with h5py.File(os.path.join(name, "out.h5")) as file:
            rows[name] = file["ensemble/reduced"][...], file["ensemble/n"][...]
    assert list(rows[folder][0]) == [0, 1] and rows[folder][1][1] == 5
    assert run(folder, "--only", "4")[0] == 0
    with h5py.File(os.path.join(folder, "out.h5")) as file, h5py.File(os.path.join(all_at_once, "out.h5")) as other:
        assert list(file["ensemble/reduced"][...]) == [1, 1]
        assert file["plane/field"][:, 0].tobytes() == other["plane/field"][:, 0].tobytes()


def a_stopped_choice_goes_on_with_the_same_command():
    folder = write(SLOWER)
    process = start(folder, "--only", "0-19")
    wait_until(lambda: begun(folder), "members done")
    process.terminate()
    code, _, err = finish(process)
    assert code == 75 and "of 20 selected members left" in err, (code, err)
    assert run(folder, "--only", "0-19")[0] == 0
    assert (states(folder)[:20] == 2).all() and (states(folder)[20:] == 0).all()


TIMED = """scan: timed
model: probe
axes: [{sleep: [0 s, 400 ms, 0 s, 400 ms]}, {fail_at: [-1, 1]}]
save: {planes: 3}
limits: {timeout: 200 ms}
"""


def retry_computes_again_what_failed_and_nothing_else():
    for words in MODES:
        folder = write(TIMED)
        assert run(folder, *words)[0] == 1
        first = states(folder)
        assert list(first) == [2, 3, 4, 4, 2, 3, 4, 4], first
        before = content(folder)
        assert run(folder, *words)[0] == 1  # without the option nothing is computed
        assert (column(folder, "attempts") == 1).all()
        with open(os.path.join(folder, "scan.yaml"), "w") as file:
            file.write(TIMED.replace("200 ms", "30 s"))
        code, out, err = run(folder, "--retry-failed", "--json", *words)
        result = json.loads(out)
        assert code == 1 and result["pending_before"] == 6 and "6 members are computed again" in err, (out, err)
        assert list(states(folder)) == [2, 3, 2, 3, 2, 3, 2, 3]
        assert list(column(folder, "attempts")) == [1, 2, 2, 2, 1, 2, 2, 2]
        reasons = [text.rstrip(b"\0") for text in column(folder, "reason")]
        assert all((reason == b"") == (state == 2) for reason, state in zip(reasons, states(folder)))
        for name, values in content(folder).items():
            assert values[[0, 4]].tobytes() == before[name][[0, 4]].tobytes(), name
        with h5py.File(os.path.join(folder, "out.h5")) as file:
            assert file["complete"][()] == 1


def retry_of_a_choice_leaves_the_other_failures():
    folder = write(TIMED)
    assert run(folder)[0] == 1
    begin = time.time()
    code, _, err = run(folder, "--retry-failed", "--only", "0-1")
    assert code == 1 and "1 failed of 2 selected members" in open(os.path.join(folder, "out.h5.journal")).read(), err
    assert list(column(folder, "attempts")) == [1, 2, 1, 1, 1, 1, 1, 1]
    assert list(states(folder)) == [2, 3, 4, 4, 2, 3, 4, 4], (time.time() - begin, states(folder))


def retry_says_when_nothing_had_failed():
    folder = write(CODES)
    assert run(folder)[0] == 0
    code, _, err = run(folder, "--retry-failed")
    assert code == 0 and "no member has failed" in err and "nothing to do" in err, err


def a_killed_retry_is_gone_on_with():
    """What was to be tried again is pending, whoever comes next; nothing is half done."""
    folder = write(TIMED.replace("limits: {timeout: 200 ms}", "").replace("400 ms", "0 s"))
    assert run(folder)[0] == 1
    process = start(folder, "--retry-failed", "--set", "limits.timeout=100 s")
    process.kill()
    process.communicate()
    with h5py.File(os.path.join(folder, "out.h5")) as file:
        state, saved = file["member/state"][...], file["member/n_saved"][...]
    assert (saved[state == 2] == 3).all() and set(state[[0, 2, 4, 6]]) == {2}
    assert run(folder, "--retry-failed")[0] == 1
    assert list(states(folder)) == [2, 3] * 4


def what_is_given_twice_is_refused_and_not_dropped():
    folder = write(SLOW)
    for words, text in ((["--only", "0", "--only", "1"], "--only 0,1"), (["--reuse", "a.h5", "--reuse", "b.h5"], "--reuse")):
        code, _, err = run(folder, *words)
        assert code == 2 and text in err and "twice" in err and len(err.splitlines()) == 1, (words, code, err)
        assert not os.path.exists(os.path.join(folder, "out.h5"))


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
