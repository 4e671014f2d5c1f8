"""Draws docs/images/model_scatter.svg: modelled times against measured ones. bench/model_bars.py calls it with the recorded sets.

Above, both times on logarithmic axes, with the line where they are equal. Below, the same points as modelled / measured, where
an error of 10 % can be seen. A column for each GPU, a colour and a mark for each kernel. Plain SVG, the same text each time.
"""
import math

MARKS = {"minimal": ("#0072b2", "circle"), "tiled": ("#e69f00", "square"), "scalar": ("#009e73", "diamond"),
         "wmma": ("#cc79a7", "up"), "mma": ("#d55e00", "down"), "cute": ("#000000", "cross")}
WIDTH, LEFT, GAP, TOP = 400, 76, 84, 64  # pixels: of a panel, of the margins
TALL, LOW = 400, 200  # heights of the panels of times and of ratios
MOST = 1.5  # of the ratios' axis, and 1 / MOST below; what lies outside is drawn at the edge
SIZE = 3.2


def mark(kernel, x, y):
    colour, shape = MARKS[kernel]
    s = SIZE
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{s}" fill="none" stroke="{colour}"/>'
    corners = {"square": [(-s, -s), (s, -s), (s, s), (-s, s)], "diamond": [(0, -s - 1), (s + 1, 0), (0, s + 1), (-s - 1, 0)],
               "up": [(0, -s - 1), (s, s), (-s, s)], "down": [(0, s + 1), (s, -s), (-s, -s)]}
    if shape in corners:
        points = " ".join(f"{x + a:.1f},{y + b:.1f}" for a, b in corners[shape])
        return f'<polygon points="{points}" fill="none" stroke="{colour}"/>'
    return f'<path d="M{x - s:.1f},{y - s:.1f} l{2 * s},{2 * s} m0,{-2 * s} l{-2 * s},{2 * s}" stroke="{colour}"/>'


def text(x, y, words, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{words}</text>'


def line(x0, y0, x1, y1, colour="#dddddd", more=""):
    return f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{colour}"{more}/>'


def column(left, title, rows, low, high):
    """Both panels of one GPU; times from `low` to `high`, powers of ten in us."""
    below = TOP + TALL + 30
    across = lambda us: left + WIDTH * (math.log10(us) - low) / (high - low)
    up = lambda us: TOP + TALL * (1 - (math.log10(us) - low) / (high - low))
    ratio = lambda r: below + LOW / 2 * (1 - math.log(min(max(r, 1 / MOST), MOST)) / math.log(MOST))
    out = [text(left + WIDTH / 2, TOP - 10, title)]
    for power in range(low, high + 1):
        us = 10.0**power
        out += [line(across(us), TOP, across(us), TOP + TALL), line(left, up(us), left + WIDTH, up(us)),
                line(across(us), below, across(us), below + LOW), text(left - 6, up(us) + 4, f"{10**power:,}", "end"),
                text(across(us), below + LOW + 16, f"{10**power:,}")]
    for r in (1 / MOST, 0.8, 0.9, 1, 1.1, 1.25, MOST):
        out += [line(left, ratio(r), left + WIDTH, ratio(r), "#888888" if r == 1 else "#dddddd"),
                text(left - 6, ratio(r) + 4, f"{r:.2f}", "end")]
    out.append(line(left, TOP + TALL, left + WIDTH, TOP, "#888888"))
    for row in rows:
        x = across(row["us"])
        out += [mark(row["kernel"], x, up(row["modelled"])), mark(row["kernel"], x, ratio(row["modelled"] / row["us"]))]
    out.append(text(left + WIDTH / 2, below + LOW + 34, "measured, us"))
    for y, words in ((TOP + TALL / 2, "modelled, us"), (below + LOW / 2, "modelled / measured")):
        out.append(text(left - 56, y, words, more=f' transform="rotate(-90 {left - 56:.1f} {y:.1f})"'))
    return out


def svg(columns):
    """`columns`: a title and rows (kernel, us, modelled) for each GPU."""
    times = [row[key] for _, rows in columns for row in rows for key in ("us", "modelled")]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    width, height = LEFT + len(columns) * (WIDTH + GAP) - GAP + 30, TOP + TALL + 30 + LOW + 50
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>']
    for at, kernel in enumerate(MARKS):
        x = LEFT + 10 + 90 * at
        out += [mark(kernel, x, 20), text(x + 10, 24, kernel, "start")]
    for at, (title, rows) in enumerate(columns):
        out += column(LEFT + at * (WIDTH + GAP), title, rows, low, high)
    return "\n".join([*out, "</svg>"]) + "\n"


def caption(rows):
    """The picture in a page, with what it shows in words."""
    times = [row[key] for row in rows for key in ("us", "modelled")]
    close = sum(0.8 <= row["modelled"] / row["us"] <= 1.1 for row in rows) / len(rows)
    return [f"![Modelled times against measured ones, from {min(times):.0f} us to {max(times) / 1000:.0f} ms, close to the line where they are equal; below, "
            f"modelled / measured, {100 * close:.0f} % of them between 0.8 and 1.1](images/model_scatter.svg)"]
