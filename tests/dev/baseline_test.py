"""The simple baseline that docs/model.md puts beside the model: instructions / issue rate, from the rows' term `issue`."""
import json
import pathlib
import re
import sys
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "bench"))

import model_bars  # noqa: E402
import model_baseline  # noqa: E402

PROBLEM = "B=1,H=1,S=64,D=64,causal=none"


def row(us, modelled, issue):
    return {"kernel": "k", "problem": PROBLEM, "us": us, "modelled": modelled, "terms": {"issue": issue, "barriers": 1 - issue}}


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


class Baseline(unittest.TestCase):
    def test_it_is_the_share_of_the_term_issue(self):
        [one] = model_baseline.baseline([row(10, 8, 0.25)])
        self.assertEqual(one["modelled"], 2)

    def test_errors_the_factor_and_the_order_are_of_the_rows(self):
        # The model is exact; the baseline has half of each time and the reverse order of the last two.
        rows = [row(10, 10, 0.5), row(20, 20, 0.5), row(30, 30, 0.5), row(40, 40, 0.5), row(100, 100, 0.1)]
        [name, configs, model, simple, fitted, factor, rank, simple_rank] = cells(model_baseline.table([("a", rows)])[2])
        self.assertEqual((name, configs, model, factor, rank), ("a", "5", "0.0 %, 0.0 %, 0.0 %", "2.00", "1.00"))
        self.assertEqual(simple, "58.0 %, 50.0 %, 74.0 %")
        self.assertEqual(fitted, "16.0 %, 0.0 %, 48.0 %")
        self.assertLess(float(simple_rank), 0.7)

    def test_a_baseline_that_is_the_same_for_all_has_no_order(self):
        rows = [row(10 * at, 10 * at, 1 / at) for at in range(1, 6)]
        self.assertEqual(cells(model_baseline.table([("a", rows)])[2])[-2:], ["1.00", "0.00"])

    def test_the_page_has_the_recorded_sets_and_every_address(self):
        page = (TREE / "docs" / "model.md").read_text()
        shown = re.search(r"<!-- grid baseline -->\n(.*?)\n<!-- end of grid -->", page, re.DOTALL)[1].splitlines()
        _, (fourth,), (fifth,), (seventh,), others = (json.loads(file.read_text())["sets"] for file in model_bars.SETS)
        sets = [("H200, fourth draw", fourth["rows"]), ("H200, fifth draw", fifth["rows"]), ("H200, seventh draw", seventh["rows"]), ("H100", [r for one in others for r in one["rows"]])]
        self.assertEqual(shown[-len(sets):], model_baseline.table(sets)[2:])
        for address in ("github.com/accel-sim", "arxiv.org/abs/2503.20481", "github.com/FlashGPU-Sim"):
            self.assertIn(address, page)


if __name__ == "__main__":
    unittest.main()
