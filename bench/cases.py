# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases: what bench/compare judges. {"case", "rtol", "error", "rhs_calls", "time_s": [a round
each], "floor_s": [the FFT floor beside each round]}; all but the name and the times may be missing.
Beside the cases of a file "machine": {"cpu"} says where its times were taken, and "references":
{case: {"numbers", "norm", "projections"}} from what its errors are distances.
"""
import json


class Refused(Exception):
    pass


def kind_of(record):
    """What is computed: by bench_rdw the rule of the plasma and how it runs, else Raman or not."""
    if "rule" not in record:
        return "raman" if record["raman"] else "kerr"
    words = [record["rule"], record["isa"], "table" if record["table"] else "formula"]
    return "/".join([*words, "no-skip"] if record["no_skip"] else words)


def from_stage(record):
    """One object of bench_stage or bench_rdw as a case of one round."""
    if "total_us" not in record or "rhs_calls" not in record:
        raise Refused(f"no case: {json.dumps(record)[:80]}")
    name = f"{record['case']}/{record['n']}/{kind_of(record)}"
    calls = record["rhs_calls"]
    return {"case": name, "rtol": record["rtol"], "error": record.get("error"),
            "rhs_calls": calls, "time_s": [1e-6 * record["total_us"] * calls],
            "floor_s": [1e-6 * record["floor_us"] * calls]}


def objects(text):
    """All JSON values of a text, one after the other."""
    decoder = json.JSONDecoder()
    at = 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        yield from value if isinstance(value, list) else [value]


def merge(results):
    """{(case, rtol): case}: rounds of the same case are put one after the other."""
    merged = {}
    for result in results:
        for case in result["cases"] if "cases" in result else [from_stage(result)]:
            key = (case["case"], case.get("rtol"))
            if key not in merged:
                merged[key] = dict(case, time_s=list(case["time_s"]),
                                   floor_s=list(case.get("floor_s") or []),
                                   cpu=result.get("machine", {}).get("cpu"),
                                   reference=result.get("references", {}).get(case["case"]))
                continue
            merged[key]["time_s"] += case["time_s"]
            merged[key]["floor_s"] += case.get("floor_s") or []
    if not merged:
        raise Refused("no cases")
    return merged
