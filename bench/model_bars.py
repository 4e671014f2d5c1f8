"""How far measured times are from modelled ones: the model's bars, and the tables of docs/model.md.

    python3 -B bench/model_bars.py [--check | --again build/release/attnscope]

Reads h200_grid.json (three draws of random configs, timed on a GPU and modelled), h200_fourth.json, h200_fifth.json and h200_seventh.json (three
more) and every *_validate.json (the same by `attnscope validate` on other GPUs: h100_validate.json) in tests/data/model, and
bench/results/h100_unseen.json (a draw on an H100). It writes assets/model/bars.json, docs/images/model_scatter.svg and what stands between "<!-- grid NAME -->" and
"<!-- end of grid -->" in docs/model.md and README.md. The bars of sm_90 come from the fourth draw and that of the H100, the largest
two; those of another architecture from what `validate` recorded there (bench/model_validated.py). The model was built on the first two draws and is closer to them. The fourth led to a change of the model too; after the H100's the
model was not changed. The seventh draw tells what the bars are worth. --check changes nothing and fails where a file is not what the rows
say. --again first lets that program model the rows of all these files anew (`attnscope validate --again`), with those of a draw's recording
that were left out before; ATTNSCOPE_NVRTC names an NVRTC of the release that the files name, since only a config with the machine code
that was timed is modelled. (The H100's draw has no codes: its rows only need that release.)
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import model_scatter

ROOT = pathlib.Path(__file__).resolve().parents[1]
SETS = [ROOT / "tests/data/model" / name for name in ("h200_grid.json", "h200_fourth.json", "h200_fifth.json", "h200_seventh.json", "h100_validate.json")]
H100_DRAW = ROOT / "bench/results/h100_unseen.json"
DRAWN = {name: ROOT / "bench/results" / recording for name, recording in (
    ("h200_fourth.json", "model_first_h200.json"), ("h200_fifth.json", "model_fifth_h200.json"), ("h200_seventh.json", "model_seventh_h200.json"))}
UNSEEN = "h200_seventh.json"  # the draw that tells what the bars are worth
AGAIN = ("modelled us again", "bound again")  # columns that --again adds to the H100's draw
ARCH = 90  # of both GPUs
INSIDE = 0.8  # of the measured times
INSIDE_PAIRS = 0.9  # of the measured ratios, so that one in twenty is beyond the bar on either side: what is called faster is so
FEWEST = 10  # rows for a bar of one bound
UNLIKE = (0.1, 0.2, 1)  # classes of pairs: how unlike their terms are
COUNTERS = 5  # in either direction, without a path; the largest error of such times
OTHER_ARCHITECTURE = 1.5  # in either direction; assumed, as nothing was measured there
OTHER_ARCHITECTURE_PAIRS = 1.5  # times the logarithm of a pair's bar; assumed too
WANTED_RANK = 0.95
CORES = len(os.sched_getaffinity(0))


def key_of(row):
    return row["problem"], row["kernel"], row["config"]


def h100_draw(that_day=False):
    """Bounds and times; terms are not recorded. Modelled times are the latest ones, or those of the day of the draw."""
    rows = []
    for problem, kernel, config, us, modelled, _, _, bound, *again in json.loads(H100_DRAW.read_text())["rows"]:
        if again and not that_day:
            modelled, bound = again
        if modelled:
            rows.append({"problem": problem, "kernel": kernel, "config": config, "us": us, "modelled": modelled, "bound": bound})
    return rows


def drawn_rows(recording):
    """The random configs of a draw, with the times of the model of that day."""
    return [{"problem": one["problem"], "kernel": one["kernel"], "config": r["config"], "us": r["us"], "modelled": r["modelled"]}
            for one in json.loads(recording.read_text())["searches"] for r in one["rows"] if r["random"]]


def left_out(rows, recording):
    """Rows of the draw's recording that are not among these."""
    known = {key_of(r) for r in rows}
    return [r for r in drawn_rows(recording) if key_of(r) not in known]


def quantile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    low = int(at)
    return values[low] + (at - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def bar_of(errors):
    """Leaves out as many of the ratios below as above, but holds the modelled time itself."""
    rest = (1 - INSIDE) / 2
    return [round(math.exp(end), 3) for end in (min(0, quantile(errors, rest)), max(0, quantile(errors, 1 - rest)))]


def unlike(a, b):
    # Rounded, because a set's order differs between runs.
    return round(sum(abs(a["terms"].get(k, 0) - b["terms"].get(k, 0)) for k in {*a["terms"], *b["terms"]}) / 2, 6)


def pairs(rows):
    by_problem = collections.defaultdict(list)
    for row in rows:
        by_problem[row["problem"]].append(row)
    for group in by_problem.values():
        yield from itertools.combinations(group, 2)


def logs(a, b):
    return math.log(b["modelled"] / a["modelled"]), math.log(b["us"] / a["us"])


def pair_error(chosen, instead):
    """`instead`: what is taken for too few pairs."""
    if instead is not None and len(chosen) < FEWEST:
        return instead
    return round(math.exp(quantile([abs(m - t) for m, t in (logs(a, b) for a, b in chosen)], INSIDE_PAIRS)), 3)


def bars_of_times(rows):
    by_bound = collections.defaultdict(list)
    for row in rows:
        by_bound[row["bound"]].append(math.log(row["us"] / row["modelled"]))
    return {"bounds": {bound: bar_of(errors) for bound, errors in sorted(by_bound.items()) if len(errors) >= FEWEST},
            "other_bounds": bar_of([e for errors in by_bound.values() for e in errors])}


def bars_of(rows, with_terms, come_from, instead=None):
    """Of a time from all rows; of two from those with terms, or as in `instead` for a class of too few pairs."""
    one = [(a, b) for a, b in pairs(with_terms) if a["kernel"] == b["kernel"]]
    others = [(a, b) for a, b in pairs(with_terms) if a["kernel"] != b["kernel"]]
    classes, least = [], 0
    for at, most in enumerate(UNLIKE):
        classes.append([most, pair_error([p for p in one if least <= unlike(*p) <= most], instead and instead["one_kernel"][at][1])])
        least = most
    return {"from": come_from, "rows": len(rows), **bars_of_times(rows), "one_kernel": classes,
            "other_kernels": pair_error(others, instead and instead["other_kernels"])}


def bars_file(by_architecture):
    """bars.json. Where an architecture has none, those of "arch" are taken, wider."""
    return {"arch": ARCH, "counters": [round(1 / COUNTERS, 3), COUNTERS], "other_architecture": OTHER_ARCHITECTURE,
            "other_architecture_pairs": OTHER_ARCHITECTURE_PAIRS, "architectures": {str(arch): bars for arch, bars in by_architecture.items()}}


def bar_in(bars, row):
    return bars["bounds"].get(row["bound"], bars["other_bounds"])


def ratio_inside(bar, row):
    return bar[0] <= row["us"] / row["modelled"] <= bar[1]


def inside(bars, row):
    return ratio_inside(bar_in(bars, row), row)


def share_inside(bars, rows):
    return sum(inside(bars, r) for r in rows) / len(rows)


def widths(rows, bars):
    """The median width of the bars, and the narrowest one range that holds as many of these rows as a bar should; logarithms."""
    errors = sorted(math.log(r["us"] / r["modelled"]) for r in rows)
    within = math.ceil(INSIDE * len(errors)) - 1
    narrowest = min(b - a for a, b in zip(errors, errors[within:]))
    return quantile([math.log(high / low) for low, high in (bar_in(bars, r) for r in rows)], 0.5), narrowest


def percent(value):
    return f"{100 * value:.1f} %"


def table(rows, bars, key):
    lines = [f"| {key} | configs | median error | 90th percentile | measured / modelled, median | inside the bar |", "| --- | --- | --- | --- | --- | --- |"]
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row[key]].append(row)
    for name, group in [("all", rows), *sorted(groups.items(), key=lambda g: -len(g[1]))]:
        errors = [abs(r["modelled"] / r["us"] - 1) for r in group]
        ratio = quantile([r["us"] / r["modelled"] for r in group], 0.5)
        lines.append(f"| {name} | {len(group)} | {percent(quantile(errors, 0.5))} | {percent(quantile(errors, 0.9))} | {ratio:.2f} | {percent(share_inside(bars, group))} |")
    return lines


def ranks(values):
    ordered = sorted(values)
    return [ordered.index(v) + (ordered.count(v) - 1) / 2 for v in values]


def rank_correlation(rows):
    """Spearman's, of measured and modelled times."""
    a, b = (ranks([r[key] for r in rows]) for key in ("us", "modelled"))
    mean = (len(rows) - 1) / 2
    spread = math.sqrt(sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b))
    return sum((x - mean) * (y - mean) for x, y in zip(a, b)) / spread


def rank_table(sets):
    """The table, and a sentence about the sets below WANTED_RANK."""
    lines = ["| set | kernels' problems with 4 configs or more | rank correlation, mean by configs | of 0.95 or more | lowest |", "| --- | --- | --- | --- | --- |"]
    below = []
    for name, rows in sets:
        groups = collections.defaultdict(list)
        for row in rows:
            groups[row["kernel"], row["problem"]].append(row)
        found = sorted(((rank_correlation(g), len(g), key) for key, g in groups.items() if len(g) >= 4))
        mean = sum(c * n for c, n, _ in found) / sum(n for _, n, _ in found)
        low, configs, (kernel, problem) = found[0]
        lines.append(f"| {name} | {len(found)} | {mean:.2f} | {sum(c >= WANTED_RANK for c, _, _ in found)} | {low:.2f}, {kernel} {problem}, {configs} configs |")
        if round(mean, 2) < WANTED_RANK:
            below.append(f"{name}: {mean:.2f}")
    return lines, [f"Of the mean rank correlation {WANTED_RANK} is wanted. Below it: {'; '.join(below) or 'none'}."]


def warp_table(rows):
    groups = collections.defaultdict(list)
    for row in rows:
        if found := re.search(r"NUM_WARPS=(\d+)", row["config"]):
            warps = int(found[1])
            groups["1 or 2" if warps <= 2 else "3 or 4" if warps <= 4 else "6 or 8"].append(row["us"] / row["modelled"])
    lines = ["| warps of a CTA | configs | measured / modelled, median | 90th percentile |", "| --- | --- | --- | --- |"]
    for name, ratios in sorted(groups.items()):
        lines.append(f"| {name} | {len(ratios)} | {quantile(ratios, 0.5):.2f} | {quantile(ratios, 0.9):.2f} |")
    return lines


def summary(drawn, pair_lines, on_an_l4):
    """Errors are of the model of the day of the draw: nothing had been made from these rows then."""
    errors = [abs(r["modelled"] / r["us"] - 1) for r in drawn]
    right = pair_lines[2].split("|")[4].strip()
    h100 = h100_draw(that_day=True)
    elsewhere = quantile([abs(r["modelled"] / r["us"] - 1) for r in h100], 0.5)
    return [f"On an H200, {len(drawn):,} random configs that neither model nor bars had seen are {percent(quantile(errors, 0.5))} off in the",
            f"median and {percent(quantile(errors, 0.9))} at the 90th percentile; of two configs of one kernel that it calls faster or slower, {right}",
            f"were. On an H100 {len(h100):,} that the model had not seen are {percent(elsewhere)} off in the median. {on_an_l4[0]}",
            on_an_l4[1]]


def as_text(data):
    """A line for each row. Bars are left out: bars.json says them."""
    sets = []
    for one in data["sets"]:
        for row in one["rows"]:
            row.pop("bar", None)
            row["modelled"] = round(row["modelled"], 4)
            row["terms"] = {name: round(share, 3) for name, share in row["terms"].items() if round(share, 3) > 0}
        lists = {key: ",\n".join("   " + json.dumps(row) for row in one.pop(key, [])) for key in ("rows", "refused")}
        head = json.dumps(one, indent=1)[:-2].replace("\n", "\n ")
        sets.append(head + "".join(f',\n  "{key}": [\n{text}\n  ]' for key, text in lists.items() if text) + "\n }")
    return '{\n "attnscope_validation": %d,\n "sets": [\n %s\n ]\n}\n' % (data["attnscope_validation"], ",\n ".join(sets))


def part_again(program, one):
    """A set's rows by a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        timed, out = pathlib.Path(folder) / "timed.json", pathlib.Path(folder) / "again.json"
        timed.write_text(json.dumps({"attnscope_validation": 1, "sets": [one]}))
        subprocess.run([program, "validate", "--again", str(timed), "--out", str(out)], check=True, stdout=subprocess.DEVNULL)
        [made] = json.loads(out.read_text())["sets"]
    return made


def validate_again(program, data):
    """The sets with every row modelled again, in the order that they have; parts of a set run side by side, one for each core."""
    sets = []
    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        for one in data["sets"]:
            at = {key_of(r): n for n, r in enumerate([*one["rows"], *one.get("refused", [])])}
            parts = [{**one, "rows": one["rows"][n::CORES], "refused": one.get("refused", []) if n == 0 else []} for n in range(min(CORES, len(one["rows"])))]
            made = list(pool.map(lambda part: part_again(program, part), parts))
            whole = {**made[0], **{key: sorted((r for m in made for r in m.get(key, [])), key=lambda r: at[key_of(r)]) for key in ("rows", "refused")}}
            for gone in whole["refused"]:
                print(f"{one['device']}: left out: {' '.join(key_of(gone))}: {gone['reason']}", file=sys.stderr)
            sets.append(whole)
    return {**data, "sets": sets}


def model_again(program, file):
    data = json.loads(file.read_text())
    if file.name in DRAWN:
        [one] = data["sets"]
        missing = left_out(one["rows"], DRAWN[file.name])
        one["rows"] += missing
        again = {key_of(r) for r in missing}
        one["refused"] = [r for r in one.get("refused", []) if key_of(r) not in again]
    file.write_text(as_text(validate_again(program, data)))


def draw_text(data):
    """As the H100's draw is written: a line for each row."""
    head = [f'"about": {json.dumps(data["about"])}', f'"columns": {json.dumps(data["columns"])}']
    return "{\n" + ",\n".join([*head, '"rows": [\n' + ",\n".join(map(json.dumps, data["rows"])) + "\n]"]) + "}\n"


def draw_again(program, file):
    """Two columns more, or new ones: the modelled time and its bound; null and the reason where there is no time. The others stay."""
    data = json.loads(file.read_text())
    kept = len(data["columns"]) - (len(AGAIN) if data["columns"][-len(AGAIN):] == list(AGAIN) else 0)
    rows = [dict(zip(("problem", "kernel", "config", "us", "modelled"), r)) for r in data["rows"]]
    nvrtc = re.search(r"NVRTC (\d+\.\d+)", data["about"])[1]
    [made] = validate_again(program, {"attnscope_validation": 1, "sets": [
        {"device": "NVIDIA H100 80GB HBM3", "arch": ARCH, "model": "emulated:h100", "nvrtc": nvrtc, "rows": rows}]})["sets"]
    if made["nvrtc"] != nvrtc:
        sys.exit(f"{file.name} was timed with NVRTC {nvrtc}'s code, and this program has NVRTC {made['nvrtc']}: set ATTNSCOPE_NVRTC")
    found = {key_of(r): [round(r["modelled"], 4), r["bound"]] for r in made["rows"]} | {key_of(r): [None, r["reason"]] for r in made.get("refused", [])}
    data["columns"] = data["columns"][:kept] + list(AGAIN)
    data["rows"] = [r[:kept] + found[tuple(r[:3])] for r in data["rows"]]
    file.write_text(draw_text(data))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true")
    what.add_argument("--again", metavar="PROGRAM")
    options = parser.parse_args()
    import model_validated  # which takes its figures from here

    if options.again:
        for file in dict.fromkeys([*SETS, *model_validated.files()]):
            model_again(options.again, file)
        draw_again(options.again, H100_DRAW)
    grid, (fourth,), (fifth,), (seventh,), others = (json.loads(file.read_text())["sets"] for file in SETS)
    rows = [r for one in grid for r in one["rows"]]
    elsewhere = [r for one in others for r in one["rows"]]
    unseen = seventh["rows"]
    bars = bars_of(fourth["rows"] + h100_draw(), fourth["rows"],
                   "tests/data/model/h200_fourth.json and bench/results/h100_unseen.json, by bench/model_bars.py")
    validated = model_validated.sets_of(model_validated.files())
    by_architecture = model_validated.bars_by_architecture(bars, validated)
    import model_pairs  # this one, too

    tables = {"bound": table(rows, bars, "bound"), "kernel": table(rows, bars, "kernel"), "problem": table(rows, bars, "problem"),
              "pairs": model_pairs.table(rows, bars), "draw": table(grid[-1]["rows"], bars, "kernel")}
    sets = dict([*zip(("H200, first draw", "H200, second draw", "H200, third draw", "H200, fourth draw", "H200, fifth draw",
                       "H200, seventh draw"), (one["rows"] for one in [*grid, fourth, fifth, seventh])), ("H100", elsewhere), ("H100, random draw", h100_draw())])
    tables["ranks"], tables["ranks_below"] = rank_table(sets.items())
    every = rows + fourth["rows"] + fifth["rows"] + unseen
    tables["warps"] = warp_table(every)
    import model_baseline  # which takes its figures from here
    import model_inside  # and this one, too

    tables["inside"] = model_inside.by_set(sets, bars)
    tables["inside_groups"] = model_inside.by_group(sets, bars)
    drawn = drawn_rows(DRAWN[UNSEEN])
    tables["left_out"] = model_inside.without(unseen, left_out(unseen, DRAWN[UNSEEN]), bars)
    tables["misordered"] = model_inside.misordered(sets)
    elsewhere_too = elsewhere + h100_draw()
    tables["scatter"] = model_scatter.caption(every + elsewhere_too)
    width, narrowest = widths(unseen, bars)
    for name, key in (("unseen", "bound"), ("unseen_kernel", "kernel"), ("unseen_problem", "problem")):
        tables[name] = table(unseen, bars, key)
    tables["unseen_pairs"] = model_pairs.table(unseen, bars)
    tables["drawn_pairs"] = model_pairs.drawn_table(unseen, bars)
    tables["width"] = [f"On these {len(unseen):,} rows the bars' median log width is {width:.3f}, {width / narrowest:.2f} times the narrowest range that holds 80 % of "
                       f"them ({narrowest:.3f})."]
    tables["validated"] = model_validated.table(by_architecture, validated)
    tables["h100"] = table(elsewhere, bars, "bound")
    import model_first  # this one

    tables["first"] = model_first.summary(ROOT / "bench/results/model_first_h200.json")
    import kernel_tuner_caches  # and this one

    tables["a100"] = kernel_tuner_caches.report(json.loads((ROOT / "bench/results/model_a100_caches.json").read_text()))
    import sm89_rows  # and this one, too

    tables["sm89"] = sm89_rows.by_device(json.loads(sm89_rows.ROWS.read_text())["rows"])
    for draw in ("fifth", "sixth", "seventh"):
        tables[f"first_{draw}"] = model_first.summary(ROOT / f"bench/results/model_{draw}_h200.json")
    tables["baseline"] = model_baseline.table((name, one) for name, one in sets.items() if all("terms" in r for r in one))
    tables["summary"] = summary(drawn, tables["unseen_pairs"], model_validated.on_an_l4(validated))
    made = {ROOT / "assets/model/bars.json": json.dumps(bars_file(by_architecture), indent=1) + "\n",
            ROOT / "docs/images/model_scatter.svg": model_scatter.svg([
                (f"NVIDIA H200, {len(every)} configs", every),
                (f"NVIDIA H100, {len(elsewhere_too)} configs", elsewhere_too),
                *((f"{one['device']}, {len(one['rows'])} configs", one["rows"]) for one in validated if one["arch"] != ARCH)])}
    for file in (ROOT / "docs/model.md", ROOT / "README.md"):
        made[file] = re.sub(r"(<!-- grid (\w+) -->\n).*?(<!-- end of grid -->)",
                            lambda m: m[1] + "\n".join(tables[m[2]]) + "\n" + m[3], file.read_text(), flags=re.DOTALL)
    for file, should in made.items():
        if not options.check:
            file.write_text(should)
        elif not file.exists() or file.read_text() != should:
            sys.exit(f"{file.relative_to(ROOT)} is not what the rows say: run bench/model_bars.py")


if __name__ == "__main__":
    main()
