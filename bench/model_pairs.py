"""What the model's paired bars say of two configs. bench/model_bars.py puts these tables into docs/model.md."""
import collections
import math
import random

from model_bars import logs, pairs, percent, unlike

CLEAR, CLEARER = math.log(1.1), math.log(1.15)  # two times that differ by more should be told apart
SEED = 14  # of the draw of pairs
DRAWN, ONE_KNOB = 200, 100  # pairs of the draw, and those of them that differ in one knob


def knobs_apart(a, b):
    return sum(x != y for x, y in zip(a["config"].split(), b["config"].split()))


def called(bars, a, b):
    """Whether the bar of the two calls one of them faster."""
    factor = bars["other_kernels"]
    if a["kernel"] == b["kernel"]:
        factor = next(f for most, f in bars["one_kernel"] if unlike(a, b) <= most)
    return abs(logs(a, b)[0]) > math.log(factor)


def right(a, b):
    modelled, measured = logs(a, b)
    return modelled * measured > 0


def apart(chosen, least):
    return [pair for pair in chosen if abs(logs(*pair)[1]) > least]


def share(bars, chosen):
    """Of the pairs that are called; None of no pairs."""
    return sum(called(bars, *pair) for pair in chosen) / len(chosen) if chosen else None


def share_right(bars, chosen):
    some = [pair for pair in chosen if called(bars, *pair)]
    return sum(right(*pair) for pair in some) / len(some) if some else None


def cell(value):
    return "" if value is None else percent(value)


def table(rows, bars):
    kinds = collections.OrderedDict((name, []) for name in ("of one kernel", "of one kernel, one knob apart", "of one kernel, two knobs apart", "of two kernels"))
    for a, b in pairs(rows):
        if a["kernel"] != b["kernel"]:
            kinds["of two kernels"].append((a, b))
            continue
        kinds["of one kernel"].append((a, b))
        if (knobs := knobs_apart(a, b)) <= 2:
            kinds[f"of one kernel, {('one knob', 'two knobs')[knobs - 1]} apart"].append((a, b))
    lines = ["| pairs | number | called faster or slower | of those right | called, of those over 10 % apart | over 15 % apart |", "| --- " * 6 + "|"]
    for name, chosen in kinds.items():
        shares = (share(bars, chosen), share_right(bars, chosen), share(bars, apart(chosen, CLEAR)), share(bars, apart(chosen, CLEARER)))
        lines.append(f"| {name} | {len(chosen)} | {' | '.join(map(cell, shares))} |")
    return lines


def drawn(rows):
    """Random pairs of one kernel and problem, always the same ones of the same rows: those one knob apart, and others."""
    one, others = [], []
    for a, b in pairs(sorted(rows, key=lambda r: (r["problem"], r["kernel"], r["config"]))):
        if a["kernel"] == b["kernel"]:
            (one if knobs_apart(a, b) == 1 else others).append((a, b))
    chance = random.Random(SEED)
    return chance.sample(one, ONE_KNOB), chance.sample(others, DRAWN - ONE_KNOB)


def figures(rows, bars):
    """Of the draw: the share of the called pairs that are right, and those called of the pairs over 10 % apart and of the
    one-knob pairs over 15 % apart."""
    one, others = drawn(rows)
    return share_right(bars, one + others), share(bars, apart(one + others, CLEAR)), share(bars, apart(one, CLEARER))


def drawn_table(rows, bars):
    one, others = drawn(rows)
    number = sum(called(bars, *pair) for pair in one + others)
    return ["| random pairs of one kernel | one knob apart | called faster or slower | of those right | called, of those over 10 % apart | called, of those one knob and over 15 % apart |",
            "| --- " * 6 + "|",
            f"| {len(one + others)} | {len(one)} | {number} | {' | '.join(map(percent, figures(rows, bars)))} of {len(apart(one, CLEARER))} |"]
