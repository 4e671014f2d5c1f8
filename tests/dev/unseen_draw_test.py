"""What docs/model.md says of the draw after which the model was not changed is what its recording holds."""
import json
import pathlib
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]


def at(sorted_values, share):
    return sorted_values[min(len(sorted_values) - 1, int(share * len(sorted_values)))]


class UnseenDraw(unittest.TestCase):
    def test_the_page_has_the_recorded_figures(self):
        rows = json.loads((TREE / "bench" / "results" / "h100_unseen.json").read_text())["rows"]
        errors = sorted(abs(modelled / measured - 1) for _, _, _, measured, modelled, *_ in rows)
        masked = sorted(abs(row[4] / row[3] - 1) for row in rows if "D=128" in row[0] and "causal=none" not in row[0])
        inside = sum(low <= measured <= high for _, _, _, measured, _, low, high, *_ in rows) / len(rows)
        page = " ".join((TREE / "docs" / "model.md").read_text().split())
        self.assertEqual(len({row[0] for row in rows}), 12)
        self.assertIn(f"an H100 timed {len(rows):,} random configs of twelve problems", page)
        self.assertIn(f"The model is {at(errors, .5):.1%} off in the median and {at(errors, .9):.1%} at the 90th percentile, "
                      f"under a mask with D=128 {at(masked, .5):.1%} in the median; {inside:.1%} of the measured times".replace("%", " %"), page)
        self.assertIn(f"of the H100's draw {inside:.1%} lay inside, as many below the bars as above".replace("%", " %"), page)
        below, above = (sum(row) / len(rows) for row in ((r[3] < r[5] for r in rows), (r[3] > r[6] for r in rows)))
        self.assertAlmostEqual(below, above, delta=0.01)


if __name__ == "__main__":
    unittest.main()
