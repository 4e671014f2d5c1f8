"""The model beside a simple baseline: instructions / issue rate. bench/model_bars.py puts this table into docs/model.md.

The recordings have no instruction counts, but each row has the share of its modelled time that is the term `issue`: the clocks of the SM
that ends last in which its schedulers issue, shared evenly by those that have a warp. So share x modelled time is what that SM's
instructions take at one a clock for each such scheduler.
"""
import collections

from model_bars import percent, quantile, rank_correlation

TERM = "issue"
FEWEST = 4  # configs of one kernel and problem, for a rank correlation


def baseline(rows):
    """The same rows, modelled by the baseline."""
    return [{**row, "modelled": row["modelled"] * row["terms"][TERM]} for row in rows]


def scaled(rows):
    """Multiplied by the one factor that suits these rows best: the median of measured / modelled."""
    factor = quantile([r["us"] / r["modelled"] for r in rows], 0.5)
    return factor, [{**row, "modelled": row["modelled"] * factor} for row in rows]


def errors(rows):
    found = [abs(r["modelled"] / r["us"] - 1) for r in rows]
    return f"{percent(sum(found) / len(found))}, {percent(quantile(found, 0.5))}, {percent(quantile(found, 0.9))}"


def mean_rank(rows):
    """Of the groups of one kernel and problem, by configs. A baseline that does not vary in a group says nothing of its order: 0."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["kernel"], row["problem"]].append(row)
    groups = [g for g in groups.values() if len(g) >= FEWEST]
    ranked = [(rank_correlation(g) if len({r["modelled"] for r in g}) > 1 else 0, len(g)) for g in groups]
    return sum(c * n for c, n in ranked) / sum(n for _, n in ranked)


def table(sets):
    """`sets`: (name, rows with terms)."""
    lines = ["| set | configs | model: error, mean, median and 90th percentile | baseline | baseline times one factor | the factor | rank correlation, mean by configs: model | baseline |",
             "| --- " * 8 + "|"]
    for name, rows in sets:
        simple = baseline(rows)
        factor, fitted = scaled(simple)
        lines.append(f"| {name} | {len(rows)} | {errors(rows)} | {errors(simple)} | {errors(fitted)} | {factor:.2f} | {mean_rank(rows):.2f} | {mean_rank(simple):.2f} |")
    return lines
