"""What is said of how the model orders configs is what the recorded draws show."""
import pathlib
import re
import statistics
import sys
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "bench"))

import model_ranks  # noqa: E402

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
        fourth, fifth, _ = sets
        self.assertIn(f"would allow {min(float(row[6]) for rows in sets for row in rows)} and more", page)
        lowest = [(f"{min(float(row[9]) for row in rows):.2f}", f"{min(float(row[5]) for row in rows):.2f}") for rows in (fourth, fifth)]
        self.assertIn(f"the lowest correlation of any group is {lowest[0][0]} without them and {lowest[0][1]} with them on the fourth draw, and {lowest[1][0]} and {lowest[1][1]} on the fifth.", page)


class LastWave(unittest.TestCase):
    def test_the_model_has_the_recorded_share(self):
        rows = [line.split() for line in (TREE / "bench" / "results" / "last_wave_h200.txt").read_text().splitlines() if re.match(r" +\d+ +\d+ +\d+ +\d+ +[\d.]", line)]
        # Warps of a CTA, places; the gap of nine SMs in ten and how far apart all SMs are, in % of the clocks.
        shares = [float(gap) / float(apart) for warps, places, _, _, _, _, _, gap, _, apart, *_ in rows if int(warps) <= 4 and int(warps) * int(places) <= 16]
        self.assertEqual(len(shares), 48)
        [within] = re.findall(r"kEndsWithin = ([\d.]+);", (TREE / "app" / "model" / "latency.cpp").read_text())
        self.assertAlmostEqual(statistics.median(shares), float(within), delta=0.005)


if __name__ == "__main__":
    unittest.main()
