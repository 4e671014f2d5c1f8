"""What the model's bars hold, draw by draw and group by group. bench/model_bars.py puts these tables into docs/model.md."""
import collections
import re

from model_bars import FEWEST, bar_in, bars_of_times, inside, logs, pairs, percent, quantile, share_inside

LEARNED = {"H200, first draw", "H200, second draw", "H200, fourth draw"}  # the model was changed after these, by what they showed
ONE_NUMBER = {"H200, fifth draw", "H100, random draw"}  # one of its numbers was chosen by these too (bench/results/last_ctas.txt)
BARS = ("H200, fourth draw", "H100, random draw")  # the bars come from both
GROUPED = ("H200, fourth draw", "H100, random draw", "H200, fifth draw", "H200, seventh draw")
MISORDERED = ("H200, fourth draw", "H200, fifth draw", "H200, seventh draw")
APART = 0.05  # measured times that differ by less may be the same


def ratio(row):
    return row["us"] / row["modelled"]


def by_set(sets, bars):
    of_one_draw = [bars_of_times(sets[name]) for name in BARS]
    lines = ["| set | the model learned from it | the bars come from it | configs | inside the bars | below | above | "
             + " | ".join(f"inside bars made only from: {name}" for name in BARS) + " |", "| --- " * (7 + len(BARS)) + "|"]
    for name, rows in sets.items():
        below = sum(ratio(r) < bar_in(bars, r)[0] for r in rows) / len(rows)
        above = sum(ratio(r) > bar_in(bars, r)[1] for r in rows) / len(rows)
        shares = " | ".join(percent(share_inside(one, rows)) for one in of_one_draw)
        lines.append(f"| {name} | {'yes' if name in LEARNED else 'one number' if name in ONE_NUMBER else 'no'} | {'yes' if name in BARS else 'no'} | {len(rows)} | "
                     f"{percent(share_inside(bars, rows))} | {percent(below)} | {percent(above)} | {shares} |")
    return lines


def groups_of(row):
    yield "all"
    yield f"bound: {row['bound']}"
    yield f"kernel: {row['kernel']}"
    yield "without a mask" if row["problem"].endswith("causal=none") else "with a mask"
    yield "D=" + re.search(r"\bD=(\d+)", row["problem"])[1]


def by_group(sets, bars):
    """Groups that have rows enough in one of the draws, the largest first."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for name in GROUPED:
        for row in sets[name]:
            for group in groups_of(row):
                found[group][name].append(row)
    lines = ["| group | " + " | ".join(GROUPED) + " |", "| --- " * (1 + len(GROUPED)) + "|"]
    order = sorted(found.items(), key=lambda one: (one[0] != "all", one[0].split(":")[0], -sum(map(len, one[1].values()))))
    for group, of in order:
        if max(map(len, of.values())) >= FEWEST:
            cells = (f"{percent(share_inside(bars, of[name]))} of {len(of[name])}" if of[name] else "" for name in GROUPED)
            lines.append(f"| {group} | " + " | ".join(cells) + " |")
    return lines


def without(rows, missing, bars):
    """What rows without a bound would do to the share: none of them inside, or all that some bound's bar holds."""
    if not missing:
        return ["All rows of the draw are among these."]
    most = [*bars["bounds"].values(), bars["other_bounds"]]
    may = sum(any(low <= ratio(r) <= high for low, high in most) for r in missing)
    held, total = sum(inside(bars, r) for r in rows), len(rows) + len(missing)
    kernels = collections.Counter(r["kernel"] for r in missing)
    errors = [abs(r["modelled"] / r["us"] - 1) for r in missing]
    counts = " and ".join(f"{count} of `{kernel}`" for kernel, count in kernels.most_common())
    return [f"{len(missing)} rows of the draw are not among these: they were not modelled again with bounds. They are "
            f"{counts}; by the model of that day they are {percent(quantile(errors, 0.5))} off in the median and "
            f"{percent(quantile(errors, 0.9))} at the 90th percentile, measured / modelled {quantile([ratio(r) for r in missing], 0.5):.2f} in the median. "
            f"{len(missing) - may} of them lie outside the bar of any bound; with all {total} rows, {percent(held / total)} to {percent((held + may) / total)} lie inside."]


def warps(row):
    found = re.search(r"NUM_WARPS=(\d+)", row["config"])
    return int(found[1]) if found else None


def misordered(sets):
    """Pairs of one kernel and problem, by whether CTAs of one or two warps are among them."""
    lines = ["| set | pairs of one kernel over 5 % apart | ordered wrongly | with CTAs of one or two warps | ordered wrongly | without | ordered wrongly |",
             "| --- " * 7 + "|"]
    for name in MISORDERED:
        wrong, number = collections.Counter(), collections.Counter()
        for a, b in pairs(sets[name]):
            modelled, measured = logs(a, b)
            if a["kernel"] != b["kernel"] or not (warps(a) and warps(b)) or abs(measured) <= APART:
                continue
            few = min(warps(a), warps(b)) <= 2
            number[few] += 1
            wrong[few] += modelled * measured < 0
        cells = ((sum(wrong.values()), sum(number.values())), (wrong[True], number[True]), (wrong[False], number[False]))
        lines.append(f"| {name} | " + " | ".join(f"{of} | {percent(some / of)}" for some, of in cells) + " |")
    return lines
