"""What `attnscope validate` recorded on GPUs: every *_validate.json of tests/data/model. An architecture with rows enough gets bars of
its own from them, without a line to edit. bench/model_bars.py, which the figures come from, puts them into bars.json and docs/model.md."""
import json
import pathlib

from model_bars import ARCH, OTHER_ARCHITECTURE, OTHER_ARCHITECTURE_PAIRS, ROOT, bar_in, bars_of, percent, quantile, ratio_inside

FOLDER = ROOT / "tests/data/model"
FEWEST_ROWS = 50  # for an architecture's own bars
L4 = 89


def files(folder=FOLDER):
    return sorted(pathlib.Path(folder).glob("*_validate.json"))


def sets_of(some):
    return [one for file in some for one in json.loads(file.read_text())["sets"] if one["rows"]]


def simulated(rows):
    """Without terms there was no path: the bar of such times is another."""
    return [row for row in rows if row.get("terms")]


def assumed(bars):
    """Of an architecture on which nothing was measured, as model/bars_table.h has them."""
    wider = lambda bar: [bar[0] / OTHER_ARCHITECTURE, bar[1] * OTHER_ARCHITECTURE]
    return {"bounds": {bound: wider(bar) for bound, bar in bars["bounds"].items()}, "other_bounds": wider(bars["other_bounds"]),
            "one_kernel": [[most, round(factor**OTHER_ARCHITECTURE_PAIRS, 3)] for most, factor in bars["one_kernel"]],
            "other_kernels": round(bars["other_kernels"]**OTHER_ARCHITECTURE_PAIRS, 3)}


def bars_by_architecture(bars, sets):
    """`bars`: those of ARCH, which come from its draws. Where a class has too few pairs the assumed bar stays."""
    found = {ARCH: bars}
    for arch in sorted({one["arch"] for one in sets} - {ARCH}):
        of = [one for one in sets if one["arch"] == arch]
        rows = simulated([row for one in of for row in one["rows"]])
        if len(rows) >= FEWEST_ROWS:
            names = " and ".join(dict.fromkeys(one["device"] for one in of))
            found[arch] = bars_of(rows, rows, f"attnscope validate on {names}, by bench/model_bars.py", assumed(bars))
    return found


def table(bars, sets):
    """`bars`: by architecture."""
    lines = [f"| GPU | architecture | configs | median error | 90th percentile | inside the bars of sm_{ARCH}, elsewhere {OTHER_ARCHITECTURE} times as wide | bars of its own |",
             "| --- " * 7 + "|"]
    for one in sets:
        before = bars[ARCH] if one["arch"] == ARCH else assumed(bars[ARCH])
        errors = [abs(row["modelled"] / row["us"] - 1) for row in one["rows"]]
        rows = simulated(one["rows"])
        inside = percent(sum(ratio_inside(bar_in(before, row), row) for row in rows) / len(rows)) if rows else ""
        lines.append(f"| {one['device']} | sm_{one['arch']} | {len(errors)} | {percent(quantile(errors, 0.5))} | {percent(quantile(errors, 0.9))} | {inside} | "
                     f"{'yes' if one['arch'] in bars else 'no'} |")
    return lines


def on_an_l4(sets):
    """The end of the summary, in lines of its width."""
    errors = [abs(row["modelled"] / row["us"] - 1) for one in sets if one["arch"] == L4 and "L4" in one["device"].split() for row in one["rows"]]
    if errors:
        return f"On an L4 {len(errors):,} are {percent(quantile(errors, 0.5))} off.", "`attnscope validate` on another GPU says how far off the model is there."
    return "On an L4 nothing was measured: its bars are", "wider, and `attnscope validate` on one says how far off the model is."
