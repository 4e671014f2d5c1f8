"""What docs/model.md says of the fifth, the sixth and the seventh draw is what their recordings hold; the model's sets are modelled again with nothing left out."""
import json
import os
import pathlib
import shlex
import stat
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
RESULTS, SETS = TREE / "bench" / "results", TREE / "tests" / "data" / "model"
sys.path.insert(0, str(TREE / "bench"))

import model_bars  # noqa: E402
import model_first  # noqa: E402
import model_inside  # noqa: E402

# What `validate --again` writes: a row it cannot model, and half of each time for the others.
FAKE = """#!{python}
import json, os, sys
data = json.load(open(sys.argv[sys.argv.index("--again") + 1]))
for one in data["sets"]:
    one["nvrtc"] = os.environ.get("FAKE_NVRTC", "13.0")
    gone, one["rows"] = one["rows"][0], one["rows"][1:]
    one["refused"] = one.get("refused", []) + [{{**{{k: gone[k] for k in ("problem", "kernel", "config")}}, "reason": "not modelled"}}]
    for row in one["rows"]:
        row.update(modelled=row["us"] / 2, bound="barriers", terms={{"issue": 1}})
json.dump(data, open(sys.argv[sys.argv.index("--out") + 1], "w"))
"""


def page():
    return " ".join((TREE / "docs" / "model.md").read_text().split())


def recording():
    return json.loads((RESULTS / "model_fifth_h200.json").read_text())


class LaterDraws(unittest.TestCase):
    def searches_of(self, draw, random):
        """Those of the draw that were searched, all of them whole, and every group of its random configs; the page has its figures."""
        searches = json.loads((RESULTS / f"model_{draw}_h200.json").read_text())["searches"]
        searched = [one for one in searches if any(row["first"] for row in one["rows"])]
        self.assertTrue(all(model_first.whole(one) for one in searched))
        [said] = [part for part in page().split("On a ") if part.startswith(f"{draw} draw (")]
        self.assertIn(f"{random} random configs of {len(searched)} searches", said)
        self.assertEqual(max(row["random"] for one in searched for row in one["rows"]), random)
        groups = [[row for row in one["rows"] if row["random"]] for one in searched]
        ranks = sorted(model_bars.rank_correlation(rows) for rows in groups if len(rows) > 3)
        self.assertIn(f"The mean rank correlation is {sum(ranks) / len(ranks):.3f}; the median of the {len(ranks)} groups is "
                      f"{model_bars.quantile(ranks, 0.5):.2f}.", said)
        masked = [abs(row["modelled"] / row["us"] - 1) for one in searches for row in one["rows"]
                  if row["random"] and "D=128" in one["problem"] and "causal=none" not in one["problem"]]
        self.assertIn(f"Under a mask with D=128 it was {model_bars.quantile(masked, 0.5):.1%} off in the median.".replace("%", " %"), said)
        own = {one["problem"] for one in searches}
        known = {row["problem"] for file in SETS.glob("h*_*.json") if draw not in file.name
                 for one in json.loads(file.read_text()).get("sets", []) for row in one["rows"]}
        known |= {row["problem"] for row in model_bars.h100_draw(that_day=True)}
        known |= {one["problem"] for file in RESULTS.glob("model_*_h200.json") if draw not in file.name
                  for one in json.loads(file.read_text()).get("searches", [])}
        self.assertEqual(known & own, set(), "no other draw has its problems")
        return searched, ranks, masked

    def test_the_page_has_the_sixths_figures(self):
        self.searches_of("sixth", 20)

    def test_the_seventh_is_as_close_as_was_wanted(self):
        searched, ranks, masked = self.searches_of("seventh", 40)
        errors = [abs(row["modelled"] / row["us"] - 1) for one in searched for row in one["rows"] if row["random"]]
        self.assertLessEqual(model_bars.quantile(errors, 0.5), 0.07)
        self.assertLessEqual(model_bars.quantile(errors, 0.9), 0.20)
        self.assertLessEqual(model_bars.quantile(masked, 0.5), 0.12)
        self.assertGreaterEqual(sum(ranks) / len(ranks), model_bars.WANTED_RANK)
        for one in searched:
            fastest = min(row["us"] for row in one["rows"])
            self.assertLessEqual(min(row["us"] for row in one["rows"] if row["first"]), (1 + model_first.CLOSE) * fastest, (one["kernel"], one["problem"]))
        of_kernel = {kernel: {one["problem"] for one in searched if one["kernel"] == kernel} for kernel in {one["kernel"] for one in searched}}
        self.assertEqual({kernel: len(problems) for kernel, problems in of_kernel.items()},
                         {"minimal": 6, "tiled": 6, "scalar": 6, "wmma": 6, "mma": 6, "cute": 4}, "cute has D=64 only")

    def test_the_sevenths_rows_with_terms_are_the_ones_that_were_timed(self):
        [one] = json.loads((SETS / "h200_seventh.json").read_text())["sets"]
        timed = {model_bars.key_of(row): row["us"] for row in model_bars.drawn_rows(RESULTS / "model_seventh_h200.json")}
        self.assertEqual({model_bars.key_of(row): row["us"] for row in one["rows"]}, timed)


class FifthDraw(unittest.TestCase):
    def test_its_whole_searches_are_counted_and_the_cut_one_is_none(self):
        searches = [one for one in recording()["searches"] if any(row["first"] for row in one["rows"])]
        whole = [one for one in searches if model_first.whole(one)]
        [cut] = [one for one in searches if not model_first.whole(one)]
        self.assertIn(f"24 random configs of {len(whole)} searches", page())
        self.assertIn("cute", {one["kernel"] for one in whole})
        self.assertEqual((len(cut["rows"]), sum(row["random"] > 0 for row in cut["rows"])), (5, 3), "the first five, three of them random ones")
        [line] = [line for line in model_first.summary(RESULTS / "model_fifth_h200.json") if line.startswith("| all |")]
        self.assertEqual(line.split("|")[5].strip(), str(len(whole)))

    def test_no_other_draw_has_its_problems(self):
        [drawn] = json.loads((SETS / "h200_fifth.json").read_text())["sets"]
        earlier = [json.loads((SETS / name).read_text())["sets"] for name in ("h200_grid.json", "h200_fourth.json", "h100_validate.json")]
        known = {row["problem"] for sets in earlier for one in sets for row in one["rows"]}
        known |= {row["problem"] for row in model_bars.h100_draw(that_day=True)}
        self.assertEqual(known & {row["problem"] for row in drawn["rows"]}, set())

    def test_the_recorded_command_names_the_draw(self):
        data = recording()
        words = shlex.split(data["command"])
        of = lambda option: [words[i + 1] for i, word in enumerate(words) if word == option]
        self.assertEqual(of("--seed"), [str(data["seed"])])
        self.assertEqual(max(one["pool"] for one in data["searches"]), int(of("--pool")[0]))
        self.assertEqual(max(row["random"] for one in data["searches"] for row in one["rows"]), int(of("--random")[0]))
        problems = of("--problem")
        searched = list(dict.fromkeys(one["problem"] for one in data["searches"] if any(row["first"] for row in one["rows"])))
        others = list(dict.fromkeys(one["problem"] for one in data["searches"] if one["problem"] not in searched))
        self.assertEqual(problems, [*searched, "SIXTH", *others])
        self.assertIn(f"up to {model_first.ROWS} each of {len(others)} other problems".replace("4", "four").replace("6", "six"), page())
        self.assertEqual(problems[:model_first.SEARCHED], [*searched, "SIXTH"])

    def test_no_row_is_left_out_and_one_that_is_would_be_named(self):
        [drawn] = json.loads((SETS / "h200_fifth.json").read_text())["sets"]
        rows, recorded = drawn["rows"], RESULTS / "model_fifth_h200.json"
        self.assertEqual(model_bars.left_out(rows, recorded), [])
        bars = {"bounds": {"barriers": [0.99, 1.01]}, "other_bounds": [0.5, 2]}
        self.assertEqual(model_inside.without(rows, [], bars), ["All rows of the draw are among these."])
        gone = next(row for row in rows if row["kernel"] == "tiled")
        missing = model_bars.left_out([row for row in rows if row is not gone], recorded)
        self.assertEqual([model_bars.key_of(row) for row in missing], [model_bars.key_of(gone)])
        near = [{"us": 100, "modelled": 100, "bound": "barriers"}, {"us": 120, "modelled": 100, "bound": "barriers"}]
        far = [{"us": 150, "modelled": 100, "kernel": "tiled"}, {"us": 300, "modelled": 100, "kernel": "mma"}]
        [said] = model_inside.without(near, far, bars)
        for words in ("2 rows of the draw are not among these", "1 of `tiled` and 1 of `mma`", "1 of them lie outside the bar of any bound",
                      "with all 4 rows, 25.0 % to 50.0 % lie inside."):
            self.assertIn(words, said)


class Again(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.program = self.path / "program"
        self.program.write_text(FAKE.format(python=sys.executable))
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)
        self.addCleanup(setattr, model_bars, "CORES", model_bars.CORES)
        model_bars.CORES = 1  # the program refuses one row of each call

    def test_rows_that_were_left_out_are_modelled_the_next_time(self):
        file = self.path / "h200_fifth.json"
        data = json.loads((SETS / "h200_fifth.json").read_text())
        [one] = data["sets"]
        slow = [row for row in one["rows"] if row["kernel"] == "minimal"]
        one["rows"] = [row for row in one["rows"] if row not in slow]
        one["refused"] = [{**{key: row[key] for key in ("problem", "kernel", "config")}, "reason": "not modelled"} for row in slow]
        file.write_text(json.dumps(data))
        model_bars.model_again(self.program, file)
        [again] = json.loads(file.read_text())["sets"]
        drawn = model_bars.drawn_rows(RESULTS / "model_fifth_h200.json")
        self.assertEqual(len(again["rows"]), len(drawn) - 1)
        self.assertEqual(len(again["refused"]), 1, "the one that this time was not modelled")

    def test_the_h100s_rows_are_modelled_again_beside_those_of_that_day(self):
        file = self.path / "draw.json"
        before = json.loads(model_bars.H100_DRAW.read_text())
        file.write_text(model_bars.H100_DRAW.read_text())
        self.assertEqual(model_bars.draw_text(before), file.read_text(), "it is written as it was")
        for _ in range(2):
            model_bars.draw_again(self.program, file)
        after = json.loads(file.read_text())
        kept = len(before["columns"]) - (len(model_bars.AGAIN) if before["columns"][-1] == model_bars.AGAIN[-1] else 0)
        self.assertEqual(after["columns"], before["columns"][:kept] + list(model_bars.AGAIN))
        self.assertEqual([row[:kept] for row in after["rows"]], [row[:kept] for row in before["rows"]])
        self.assertEqual(after["rows"][0][kept:], [None, "not modelled"])
        self.assertEqual(after["rows"][1][kept:], [round(after["rows"][1][3] / 2, 4), "barriers"])
        day, draw = model_bars.h100_draw(that_day=True), model_bars.H100_DRAW
        self.addCleanup(setattr, model_bars, "H100_DRAW", draw)
        model_bars.H100_DRAW = file
        self.assertEqual(model_bars.h100_draw(that_day=True), day)
        self.assertEqual(len(model_bars.h100_draw()), len(day) - 1)
        self.assertEqual({row["bound"] for row in model_bars.h100_draw()}, {"barriers"})


    def test_the_h100s_rows_need_the_compiler_that_made_their_code(self):
        file = self.path / "draw.json"
        file.write_text(model_bars.H100_DRAW.read_text())
        os.environ["FAKE_NVRTC"] = "12.8"
        self.addCleanup(os.environ.pop, "FAKE_NVRTC")
        with self.assertRaises(SystemExit) as said:
            model_bars.draw_again(self.program, file)
        self.assertIn("set ATTNSCOPE_NVRTC", str(said.exception))
        self.assertEqual(file.read_text(), model_bars.H100_DRAW.read_text(), "nothing is written")


if __name__ == "__main__":
    unittest.main()
