# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of a script: its functions without arguments, each told with its time. Words on the command line choose
those whose names contain one of them."""
import sys
import time


def checks_of(names, but=()):
    """The checks among a script's globals()."""
    return [value for key, value in names.items()
            if callable(value) and getattr(value, "__module__", "") == "__main__"
            and value.__code__.co_argcount == 0 and key not in ("main", *but)]


def chosen_of(checks):
    return [check for check in checks if not sys.argv[1:] or any(word in check.__name__ for word in sys.argv[1:])]


def passes(check):
    """Make one check: the others are worth their answers whatever becomes of it."""
    begin = time.time()
    try:
        check()
    except Exception as error:
        print(f"FAIL {check.__name__} ({time.time() - begin:.1f} s): {type(error).__name__}: {error}", flush=True)
        return False
    print(f"ok   {check.__name__} ({time.time() - begin:.1f} s)", flush=True)
    return True


def verdict(results):
    """Say how many passed. The exit code."""
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1


def run_checks(names, but=()):
    return verdict([passes(check) for check in chosen_of(checks_of(names, but))])
