"""What is said of how the model orders configs is what the recorded draws show."""
import math
import pathlib
import re
import statistics
import sys
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "bench"))

import model_ranks  # noqa: E402

SMS = 132
PROBLEM = "B=1,H=1,S=64,D=64,causal=none"


def group(late):
    """20 configs in the model's order; the first `late` take three times as long."""
    return [{"us": 10.0 * (1 + at) * (3 if at < late else 1), "modelled": 10.0 * (1 + at), "config": f"A={at % 2} B={int(at < late)}"} for at in range(20)]


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


class Ranks(unittest.TestCase):
    def test_the_record_is_what_the_rows_say(self):
        self.assertEqual(model_ranks.OUT.read_text(), model_ranks.tables())

    def test_late_configs_lower_the_order_and_noise_hardly(self):
        *_, correlation, most, _, late, without, knob = cells(model_ranks.group_line("k", PROBLEM, group(4), 0.01))
        self.assertLess(float(correlation), 0.95)
        self.assertGreater(float(most), 0.99)
        self.assertEqual((late, without, knob), ("4", "1.000", "B=1: 3.00"))
        self.assertLess(model_ranks.allowed(group(0), 1.0), 0.9)

    def test_the_page_has_its_figures(self):
        page = " ".join((TREE / "docs" / "model.md").read_text().split())
        sets = [[cells(line) for line in part.splitlines() if re.match(r"\| \w+ \| B=", line)] for part in model_ranks.OUT.read_text().split("\n\n")[1:]]
        fourth, fifth, seventh, _ = sets
        self.assertIn(f"would allow {min(float(row[6]) for rows in sets for row in rows)} and more", page)
        lowest = [(f"{min(float(row[9]) for row in rows):.2f}", f"{min(float(row[5]) for row in rows):.2f}") for rows in (fourth, fifth, seventh)]
        self.assertIn(f"the lowest correlation of any group is {lowest[0][0]} without them and {lowest[0][1]} with them on the fourth draw, "
                      f"{lowest[1][0]} and {lowest[1][1]} on the fifth, and {lowest[2][0]} and {lowest[2][1]} on the seventh.", page)


class LastCtas(unittest.TestCase):
    TEXT = (TREE / "bench" / "results" / "last_ctas.txt").read_text()
    FACTOR = re.compile(r"([\d.]+) √")

    def off_by(self, rows, number_of):
        """Median and 90th percentile of measured / modelled or its inverse, as the table has them; `number_of` the row's busiest SM's CTAs."""
        off = sorted(abs(math.log(row["us"] / self.at(row["by"], number_of(row)))) for row in rows)
        return [f"{100 * (math.exp(one) - 1):.1f} %" for one in (statistics.median(off), off[int(0.9 * len(off))])]

    @staticmethod
    def at(by, number):
        """The modelled time of that many CTAs, between those that were modelled."""
        known = sorted(by)
        after = next((one for one in known if one >= number), known[-1])
        before = max((one for one in known if one <= number), default=after)
        return by[before] if before == after else by[before] + (by[after] - by[before]) * (number - before) / (after - before)

    def test_the_table_is_what_its_rows_give_and_the_model_has_its_factor(self):
        rows = []
        for line in self.TEXT.splitlines():
            cells = line.split(" | ")
            if len(cells) == 9 and cells[4].isdigit():
                warps, places, ctas = map(int, cells[4:7])
                waves = ctas // (places * SMS)
                rows.append({"warps": warps, "places": places, "whole": waves * places, "even": -(-ctas // SMS), "left": ctas / SMS - waves * places,
                             "us": float(cells[7]), "by": {int(n): float(us) for n, us in (one.split(":") for one in cells[8].split())}})
        self.assertIn(f"of which {len(rows)} have one to three whole waves", self.TEXT)

        def of_factor(factor):
            return lambda row: max(row["even"], row["whole"] + min(row["places"], round(factor * math.sqrt(row["left"] / row["warps"]))))

        table = dict([one.strip() for one in line.split("|")[1:-1]][:1] + [[one.strip() for one in line.split("|")[2:4]]]
                     for line in self.TEXT.splitlines() if line.startswith("| ") and "%" in line)
        self.assertEqual(table["its even share"], self.off_by(rows, lambda row: row["even"]))
        self.assertEqual(table["all its places"], self.off_by(rows, lambda row: row["whole"] + row["places"]))
        factors = [float(match[1]) for name in table if (match := self.FACTOR.match(name))]
        self.assertIn(4, factors)
        for factor in factors:
            self.assertEqual(table[f"{factor:g} √(x / w)"], self.off_by(rows, of_factor(factor)), factor)
        [factor] = re.findall(r"kOfTheFirstSm = ([\d.]+);", (TREE / "app" / "model" / "latency.cpp").read_text())
        page = " ".join((TREE / "docs" / "model.md").read_text().split())
        self.assertIn(f"The model has {factor}:", self.TEXT)
        self.assertIn(f"gets {factor}·√(x / warps of a CTA)", page)
        self.assertIn(f"of {len(rows)} recorded grids", page)
        (even, of_even), (so, of_so) = table["its even share"], table[f"{factor} √(x / w)"]
        self.assertIn(f"with an even share they are off by {even} in the median and {of_even} at the 90th percentile, so by {so[:-2]} and {of_so}", page)


if __name__ == "__main__":
    unittest.main()
