"""How well the model orders the configs of one kernel and problem, and what limits it: bench/results/model_ranks.txt.

    python3 -B bench/model_ranks.py [--check]

Reads the random configs of the fourth, fifth and seventh draw and of the H100's (bench/model_bars.py), and those of `cute` that were drawn after
the fourth. --check changes nothing and fails where the file is not what the rows say.
"""
import argparse
import collections
import json
import math
import random
import statistics
import sys

from model_bars import H100_DRAW, ROOT, WANTED_RANK, drawn_rows, h100_draw, quantile, rank_correlation

OUT = ROOT / "bench/results/model_ranks.txt"
FEWEST = 20  # configs of a group
NOISY = 200  # draws of noise
APART = 1.15  # times the group's median of measured / modelled
KNOB = 4  # configs that have a knob's value, so that their median says something


def rows_of(name):
    [one] = json.loads((ROOT / "tests/data/model" / name).read_text())["sets"]
    return one["rows"]


def recorded_noise():
    """The widest spread of a config's samples: half of what lies between the 10th and 90th percentile, as a standard deviation."""
    rows = json.loads((ROOT / "tests/data/model/h200_times.json").read_text())["rows"]
    spreads = [math.log(row["p90"] / row["p10"]) / 2.563 for row in rows]
    return statistics.median(spreads), max(spreads), len(spreads)


def allowed(rows, noise):
    """The mean rank correlation of the measured times with the same times and that much noise."""
    chance = random.Random(1)
    found = []
    for _ in range(NOISY):
        found.append(rank_correlation([{"us": r["us"], "modelled": r["us"] * math.exp(chance.gauss(0, noise))} for r in rows]))
    return statistics.mean(found)


def errors_by_knob(rows, middle):
    """The knob's value whose configs are furthest from the group's median of measured / modelled, and how far."""
    of_value = collections.defaultdict(list)
    for row in rows:
        for value in row["config"].split():
            of_value[value].append(math.log(row["us"] / row["modelled"]) - middle)
    medians = {value: quantile(errors, 0.5) for value, errors in of_value.items() if KNOB <= len(errors) <= len(rows) - KNOB}
    value = max(sorted(medians), key=lambda v: abs(medians[v]))
    return f"{value}: {math.exp(medians[value]):.2f}"


def group_line(kernel, problem, rows, noise):
    ratios = [math.log(r["us"] / r["modelled"]) for r in rows]
    middle = quantile(ratios, 0.5)
    close = [r for r in rows if r["us"] / r["modelled"] < APART * math.exp(middle)]
    times = [r["us"] for r in rows]
    return (f"| {kernel} | {problem} | {len(rows)} | {max(times) / min(times):.1f} | {quantile(times, 0.9) / quantile(times, 0.1):.1f} | "
            f"{rank_correlation(rows):.3f} | {allowed(rows, noise):.3f} | {statistics.pstdev(ratios):.3f} | {len(rows) - len(close)} | "
            f"{rank_correlation(close):.3f} | {errors_by_knob(rows, middle)} |")


def tables():
    typical, widest, number = recorded_noise()
    sets = [("H200, fourth draw, and cute by itself", rows_of("h200_fourth.json") + drawn_rows(ROOT / "bench/results/model_first_cute_h200.json")),
            ("H200, fifth draw", rows_of("h200_fifth.json")), ("H200, seventh draw", rows_of("h200_seventh.json")),
            (f"H100, random draw ({H100_DRAW.name})", h100_draw())]
    lines = ["How well the model orders the configs of one kernel and problem, and what limits it. By bench/model_ranks.py, from the recorded draws.",
             f"Groups of at least {FEWEST} random configs. \"Most\": the rank correlation of the measured times with themselves and noise of {100 * widest:.2f} % (standard",
             f"deviation), the widest spread of the samples of {number} configs on an H200 (tests/data/model/h200_times.json; the median is {100 * typical:.2f} %). \"Error\": standard",
             f"deviation of the logarithm of measured / modelled. \"Late\": configs that take over {APART} times what the group's median of measured / modelled says, and the rank",
             "correlation without them. Last, the knob's value whose configs' median of measured / modelled is furthest from the group's, and by which factor."]
    for name, rows in sets:
        groups = collections.defaultdict(list)
        for row in rows:
            groups[row["kernel"], row["problem"]].append(row)
        large = {key: group for key, group in sorted(groups.items()) if len(group) >= FEWEST}
        found = [rank_correlation(group) for group in large.values()]
        lines += ["", f"{name}: {len(large)} groups, rank correlation {statistics.mean(found):.3f} in the mean, {sum(c >= WANTED_RANK for c in found)} of {WANTED_RANK} or more.",
                  "| kernel | problem | configs | longest / shortest | 90th / 10th percentile | rank correlation | most | error | late | without them | knob |",
                  "| --- " * 11 + "|"]
        lines += [group_line(*key, group, widest) for key, group in large.items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    made = tables()
    if not options.check:
        OUT.write_text(made)
    elif OUT.read_text() != made:
        sys.exit(f"{OUT.relative_to(ROOT)} is not what the rows say: run bench/model_ranks.py")


if __name__ == "__main__":
    main()
