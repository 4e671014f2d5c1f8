"""What the model's bars are worth on configs from which they were not made: their width, and what they say of pairs."""
import json
import math
import pathlib
import sys
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "bench"))

import model_bars  # noqa: E402
import model_pairs  # noqa: E402


def bars():
    return json.loads((TREE / "assets" / "model" / "bars.json").read_text())["architectures"]["90"]


def unseen():
    [drawn] = json.loads((TREE / "tests" / "data" / "model" / model_bars.UNSEEN).read_text())["sets"]
    return drawn["rows"]


def row(modelled, us, config="A=1 B=1", kernel="k"):
    return {"problem": "P", "kernel": kernel, "config": config, "us": us, "modelled": modelled, "terms": {"issue": 1.0}}


class Bars(unittest.TestCase):
    def test_they_hold_four_of_five_and_are_narrow(self):
        width, narrowest = model_bars.widths(unseen(), bars())
        self.assertLessEqual(width, 1.2 * narrowest)
        self.assertGreaterEqual(model_bars.share_inside(bars(), unseen()), 0.75)
        self.assertLessEqual(model_bars.share_inside(bars(), unseen()), 0.85)


class Pairs(unittest.TestCase):
    MADE = {"one_kernel": [[0.1, 1.1], [1, 1.2]], "other_kernels": 1.3}

    def test_the_drawn_ones_are_called_and_rightly(self):
        right, clear, one_knob = model_pairs.figures(unseen(), bars())
        self.assertGreaterEqual(right, 0.95)
        self.assertGreaterEqual(clear, 0.70)
        self.assertGreaterEqual(one_knob, 0.50)

    def test_half_of_the_draw_is_one_knob_apart_and_it_is_always_the_same(self):
        one, others = model_pairs.drawn(unseen())
        self.assertEqual({model_pairs.knobs_apart(*pair) for pair in one}, {1})
        self.assertGreaterEqual(min(model_pairs.knobs_apart(*pair) for pair in others), 2)
        names = [sorted(map(model_bars.key_of, pair)) for pair in one + others]
        self.assertEqual((len(one), len(names)), (100, 200))
        self.assertEqual(len({str(name) for name in names}), 200)
        again = model_pairs.drawn(list(reversed(unseen())))
        self.assertEqual([sorted(map(model_bars.key_of, pair)) for pair in sum(again, [])], names)
        for a, b in one + others:
            self.assertEqual((a["kernel"], a["problem"]), (b["kernel"], b["problem"]))

    def test_what_is_called_wrongly_lowers_the_share(self):
        base = row(100, 100)
        faster, wrong, unclear = row(80, 80), row(80, 120), row(95, 70)
        self.assertEqual(model_pairs.share_right(self.MADE, [(base, faster), (base, wrong), (base, unclear)]), 0.5)
        self.assertEqual(model_pairs.share(self.MADE, [(base, faster), (base, unclear)]), 0.5)
        self.assertIsNone(model_pairs.share_right(self.MADE, [(base, unclear)]))
        self.assertFalse(model_pairs.called(self.MADE, base, row(80, 80, kernel="other")))

    def test_apart_is_by_the_ratio_of_the_times(self):
        pair = lambda us: (row(100, 100), row(100, us))
        self.assertEqual([len(model_pairs.apart([pair(us)], model_pairs.CLEAR)) for us in (109.9, 110.1, 91, 90.8)], [0, 1, 0, 1])
        self.assertAlmostEqual(math.exp(model_pairs.CLEARER), 1.15)


if __name__ == "__main__":
    unittest.main()
