"""What docs/model.md says of an H200's last CTAs and of its fifth draw is what the recordings hold."""
import json
import pathlib
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]


def page():
    return " ".join((TREE / "docs" / "model.md").read_text().split())


class LateCtas(unittest.TestCase):
    def test_the_delays_are_those_of_the_first_two_kernels(self):
        rows = [line.split() for line in (TREE / "bench" / "results" / "late_ctas_h200.txt").read_text().splitlines() if line.startswith("scalar ")]
        delays = [[int(figure) for figure in row[6:11]] for row in rows]  # least, 5 %, median, 95 %, most
        (least, _, _, most, _), (other_least, _, _, other_most, _) = delays[:2]
        self.assertIn(f"its next CTA {least:,} to {most:,} clocks later in 95 of 100 cases for one kernel and {other_least:,} to {other_most:,} for another", page())

    def test_the_sms_of_a_recorded_grid_get_four_to_eight_ctas(self):
        grids = {}
        for line in (TREE / "tests" / "data" / "gpu" / "h200_placing.jsonl").read_text().splitlines():
            one = json.loads(line)
            if one["what"] == "places" and one["threads"] == 64 and one["grid"] == 660:
                grids[one["resident"]] = one
        few, all_at_once = grids[4], grids[32]
        self.assertEqual(all_at_once["sms_by_ctas"], {"5": 132})
        spread = few["sms_by_ctas"]
        self.assertIn(f"{spread['4']} SMs got four and {spread['8']} got eight, which took {few['us']:.0f} us", page())
        self.assertIn(f"each SM got five, which took {all_at_once['us']:.0f} us", page())


class FifthDraw(unittest.TestCase):
    def test_its_searches_and_rows_are_counted(self):
        searches = [one for one in json.loads((TREE / "bench" / "results" / "model_fifth_h200.json").read_text())["searches"]
                    if any(row["first"] for row in one["rows"])]
        self.assertIn(f"24 random configs of {len(searches)} searches", page())
        self.assertIn("cute", {one["kernel"] for one in searches})
        [drawn] = json.loads((TREE / "tests" / "data" / "model" / "h200_fifth.json").read_text())["sets"]
        self.assertIn(f"; {len(drawn['refused'])} slow ones were not modelled again", page())
        earlier = [json.loads((TREE / "tests" / "data" / "model" / name).read_text())["sets"] for name in ("h200_grid.json", "h200_fourth.json", "h100_validate.json")]
        known = {row["problem"] for sets in earlier for one in sets for row in one["rows"]}
        known |= {row[0] for row in json.loads((TREE / "bench" / "results" / "h100_unseen.json").read_text())["rows"]}
        self.assertEqual(known & {row["problem"] for row in drawn["rows"]}, set(), "no other draw has these problems")


if __name__ == "__main__":
    unittest.main()
