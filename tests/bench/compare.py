#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""bench/compare on made-up results: a deliberate slowdown is seen, noise is not."""
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "runner"))

from near import rounding

COMPARE = os.path.join(os.environ["SCANFARM_SOURCE"], "bench", "compare")
NAME = "dudley/8192/raman"
WORK = {1e-5: (9790, 3e-3), 1e-6: (17610, 5e-4)}  # right-hand sides, error


def results(seed, time=1.0, error=1.0, work=1.0, rounds=7, floors=True):
    """A machine whose speed moves by up to 1.9, seen by the floor too; runs differ by 2 %, and
    now and then one is disturbed."""
    rng = random.Random(seed)
    cases = []
    for rtol, (calls, base) in WORK.items():
        case = {"case": NAME, "rtol": rtol, "error": base * error,
                "rhs_calls": round(calls * work), "time_s": [], "floor_s": []}
        for _ in range(rounds):
            machine = rng.uniform(1, 1.9) if floors else 1.0
            noise = abs(rng.gauss(0, 0.02)) + (rng.random() < 0.1) * rng.uniform(0.1, 0.9)
            floor = 80e-6 * calls * machine * (1 + abs(rng.gauss(0, 0.005)))
            case["floor_s"].append(floor)
            case["time_s"].append(120e-6 * calls * work * machine * time * (1 + noise))
        if not floors:
            del case["floor_s"]
        cases.append(case)
    return {"cases": cases}


def write(name, value):
    with open(name, "w", encoding="utf-8") as file:
        json.dump(value, file)
    return name


def compare(*words):
    done = subprocess.run([sys.executable, COMPARE, *words, "--json"], capture_output=True,
                          text=True, check=False)
    return done.returncode, json.loads(done.stdout) if done.returncode < 2 else done.stderr


def code(old, new, *words):
    return compare(write("old.json", old), write("new.json", new), *words)[0]


def share(count, **change):
    """How many of `count` pairs of runs are not kept."""
    return sum(code(results(2 * s), results(2 * s + 1, **change)) == 1 for s in range(count))


def a_slowdown_of_an_extra_pass_is_seen():
    assert share(30, time=1.15) == 30


def noise_is_not_seen():
    assert share(60) <= 1


def it_is_seen_without_a_floor_on_a_steady_machine():
    assert code(results(1, floors=False), results(2, floors=False)) == 0
    assert code(results(1, floors=False), results(2, floors=False, time=1.15)) == 1


def an_error_beyond_twice_the_old_one_is_refused():
    assert code(results(1), results(2, error=1.9, work=0.85)) == 0
    assert code(results(1), results(2, error=2.1, work=0.8)) == 1


def more_work_at_equal_error_is_refused():
    assert code(results(1), results(2, work=1.08, time=1 / 1.08)) == 0
    assert code(results(1), results(2, work=1.12, time=1 / 1.12)) == 1


def fewer_calls_that_only_buy_more_error_are_refused():
    """The old curve: 3e-3 at 9790, 5e-4 at 17610. 5e-4 * 1.8 costs the old one 14 860 calls."""
    old, new = results(1), results(2)
    new["cases"][1].update(error=9e-4, rhs_calls=16500)
    code_, judged = compare(write("old.json", old), write("new.json", new))
    assert code_ == 1
    exponent = (17610 / 9790) ** (1 / 1.791759469228055)  # a factor e of error; ln 6 in all
    expected = 16500 / (17610 / exponent ** 0.5877866649021191)  # ln 1.8
    assert rounding(judged["cases"][1]["work_ratio"], expected), judged


def a_target_must_be_faster_than_the_noise():
    assert code(results(1), results(2), "--target", NAME) == 1
    assert code(results(1), results(2, time=0.8), "--target", NAME) == 0
    assert code(results(1), results(2), "--target", "other") == 2


def results_without_errors_need_a_word():
    old, new = results(1), results(2)
    for case in old["cases"] + new["cases"]:
        del case["error"]
    assert code(old, new) == 1
    assert code(old, new, "--speed-only") == 0


def times_can_be_left_out_but_not_asked_for_as_well():
    slower = results(2, time=1.5, rounds=1)
    assert code(results(1), slower) == 1 and code(results(1), slower, "--numbers-only") == 0
    assert code(results(1), results(2, error=2.1), "--numbers-only") == 1
    for words in (("--target", NAME), ("--speed-only",), ("--picture", "a.png")):
        assert code(results(1), slower, "--numbers-only", *words) == 2


def a_missing_case_and_few_rounds_are_refused():
    new = results(2)
    del new["cases"][1]
    assert code(results(1), new) == 1
    assert code(results(1), results(2, rounds=4)) == 1


def damaged_results_are_a_usage_error():
    with open("bad.json", "w", encoding="utf-8") as file:
        file.write('{"cases": [')
    assert compare("bad.json", write("new.json", results(1)))[0] == 2
    assert compare("absent.json", "new.json")[0] == 2


def program(name, total, floor):
    """What bench_stage prints; it notes the order of the starts, and moves by 1 %."""
    with open(name, "w", encoding="utf-8") as file:
        file.write(f"""#!{sys.executable}
import json, sys
assert sys.argv[1:] == ["--rtol", "1e-6", "--json"], sys.argv
open("order", "a").write("{name} ")
turn = open("order").read().count("{name}") % 3
print(json.dumps({{"case": "dudley", "n": 8192, "raman": True, "rtol": 1e-6, "rhs_calls": 17610,
                  "error": 5e-4, "total_us": {total} * (1 + 0.01 * turn), "floor_us": {floor}}}))
""")
    os.chmod(name, 0o755)


def run_programs(old, new):
    """(exit code, output) of OLD and NEW, each (total, floor), in turns."""
    if os.path.exists("order"):
        os.unlink("order")
    program("old", *old)
    program("new", *new)
    words = ("--rounds", "5", "--", "--rtol", "1e-6")
    done = subprocess.run([sys.executable, COMPARE, "--run", "./old", "./new", *words],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def what_slows_the_floor_too_is_seen_by_the_clock():
    """Unaligned buffers: run and floor alike are slower."""
    assert run_programs((120.0, 80.0), (240.0, 160.0))[0] == 1
    assert "2.000 times as slow by the clock" in run_programs((120.0, 80.0), (240.0, 160.0))[1]
    assert run_programs((120.0, 80.0), (120.0, 80.0))[0] == 0


def programs_run_in_turns_with_the_words_given():
    code_, said = run_programs((120.0, 80.0), (138.0, 80.0))
    assert code_ == 1 and "1.150 times as slow" in said, said
    with open("order", encoding="utf-8") as file:
        assert file.read().split() == ["old", "new", "new", "old"] * 2 + ["old", "new"]


def main():
    tests = [value for name, value in globals().items()
             if callable(value) and value.__module__ == __name__
             and name not in ("results", "write", "compare", "code", "share", "program",
                                  "run_programs", "main")]
    failed = 0
    for test in tests:
        try:
            test()
            print("ok  ", test.__name__)
        except AssertionError as error:
            failed += 1
            print("FAIL", test.__name__, error)
    return 1 if failed else 0


sys.exit(main())
