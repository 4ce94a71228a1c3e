# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts of an SVG picture by gnuplot, and the boxes they fill."""
import html
import re

WIDTH, ASCENT, DESCENT = 0.58, 0.75, 0.2  # of the font's size; DejaVu Sans, mean of mixed text

GROUP = re.compile(r'<g transform="translate\(([-\d.]+),([-\d.]+)\)( rotate\((\d+)\))?"[^>]*font-size="([\d.]+)"\s*'
                   r'text-anchor="(\w+)">\s*<text[^>]*>(.*?)</text>', re.S)


def plain(text):
    return html.unescape(re.sub(r"<[^>]+>", "", text)).strip()


def svg_texts(path):
    text = open(path, encoding="utf-8").read()
    return [plain(p) for p in re.findall(r"<text[^>]*>(.*?)</text>", text, re.S)]


def size(path):
    head = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', open(path, encoding="utf-8").read())
    return float(head.group(1)), float(head.group(2))


def boxes(path):
    """[(text, left, top, right, bottom)] of every text that is not empty."""
    found = []
    for x, y, _, turn, font, anchor, text in GROUP.findall(open(path, encoding="utf-8").read()):
        text, x, y, font = plain(text), float(x), float(y), float(font)
        length = WIDTH * font * len(text)
        before = {"start": 0, "middle": length / 2, "end": length}[anchor]
        if not text:
            continue
        if turn == "270":  # read from below
            found.append((text, x - ASCENT * font, y - length + before, x + DESCENT * font, y + before))
        elif not turn:
            found.append((text, x - before, y - ASCENT * font, x - before + length, y + DESCENT * font))
    return found


def faults(path):
    """Texts that leave the picture or run into each other."""
    wide, high = size(path)
    all_boxes = boxes(path)
    bad = [b[0] + " leaves the picture" for b in all_boxes if b[1] < -1 or b[2] < -1 or b[3] > wide + 1 or b[4] > high + 1]
    for i, a in enumerate(all_boxes):
        for b in all_boxes[:i]:
            if min(a[3], b[3]) - max(a[1], b[1]) > 1 and min(a[4], b[4]) - max(a[2], b[2]) > 1:
                bad.append(f"{a[0]} runs into {b[0]}")
    return bad
