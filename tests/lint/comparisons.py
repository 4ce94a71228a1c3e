# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lints of tolerances share: numbers and comparisons in C text without comments."""
import os
import re

import tree

NUMBER = (r"(?<![\w.])(?:0[xX][\da-fA-F.]+[pP][-+]?\d+|(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|"
          r"\d+[eE][-+]?\d+)[fFlL]?(?![\w.])")
EPSILON = r"(?<!\w)(?:FLT|DBL|LDBL)_EPSILON(?!\w)"
SIZE = re.compile(r"(?<!\w)(?:fabs[fl]?|hypot[fl]?|cabs[fl]?|cplx_abs2?)\s*\(")
RELATION = re.compile(r"(?<![-<>])(?:<=|>=|<|>)(?![<>=])")
END = re.compile(r"&&|\|\||[;?:,{}]")
NAMED = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+({NUMBER})[ \t]*$|"
                   rf"^(?:static )?const (?:float|(?:long )?double) (\w+) = ({NUMBER});", re.M)
SMALL = 1e-9


def value(text):
    text = text.rstrip("fFlL")
    return float.fromhex(text) if "x" in text.lower() else float(text)


def literals(text):
    """Tolerance-like numbers in a text."""
    found = [m.group() for m in re.finditer(NUMBER, text) if 0.0 < value(m.group()) < 1.0]
    return found + re.findall(EPSILON, text)


def closing(text, start):
    """Behind the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i + 1
    return len(text)


def operand(text, start):
    """From `start` to where the operand of a comparison ends."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth < 0 or (depth == 0 and END.match(text, i)):
            return text[start:i]
    return text[start:]


def operand_before(text, end):
    depth = 0
    for i in range(end - 1, -1, -1):
        depth += (text[i] == ")") - (text[i] == "(")
        if depth < 0 or (depth == 0 and (END.match(text, i) or text[i] in "=&|")):
            return text[i + 1:end]
    return text[:end]


def spelt_out(text):
    """The text with the numbers of its macros and constants in their places; lines stay."""
    numbers = {m[1] or m[3]: m[2] or m[4] for m in NAMED.finditer(text)}
    numbers = {name: number for name, number in numbers.items() if 0.0 < value(number) < 1.0}
    if not numbers:
        return text
    places = re.compile(rf"(?<![\w.])(?<!define )({'|'.join(map(re.escape, numbers))})(?!\w)(?! = )")
    return places.sub(lambda m: numbers[m[1]], text)


def compared(text):
    for relation in RELATION.finditer(text):
        left, right = operand_before(text, relation.start()), operand(text, relation.end())
        for side, other in ((left, right), (right, left)):
            numbers = literals(side)
            if SIZE.search(other) and numbers:
                yield relation.start(), f"a modulus is compared with {numbers[0]}"
            first = re.match(rf"\s*({NUMBER})\s*(\*|$)", side)
            if first and 0.0 < value(first.group(1)) <= SMALL:
                yield relation.start(), f"a comparison with {first.group(1)}"


def allowances(root, path):
    """{(file, text of the line): the line} of a list FILE|TEXT OF THE LINE|REASON"""
    if not os.path.exists(os.path.join(root, path)):
        return {}
    lines = [line for line in tree.read(root, path).splitlines()
             if line.strip() and not line.startswith("#")]
    return {tuple(line.split("|")[:2]): line for line in lines}
