"""A file of `attnscope validate` from another GPU becomes a set, and its architecture gets bars of its own, with nothing edited."""
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "bench"))

import model_bars  # noqa: E402
import model_validated  # noqa: E402

READ = ("assets/devices", "assets/model", "bench", "docs", "tests/data/model")


def made_up(rows=80):
    """An L4 that takes 1.2 times what is modelled; some configs take 1.1 or 1.3 times."""
    terms = ({"issue": 1.0}, {"issue": 0.5, "FP32": 0.5})
    timed = [{"problem": f"B=1,H=1,S={64 * (1 + at // 20)},D=64,causal=none", "kernel": ("scalar", "mma")[at % 2], "config": f"A={at}", "code_hash": "",
              "modelled": 100.0 + at, "us": (100.0 + at) * (1.1, 1.2, 1.2, 1.3)[at // 4 % 4], "bound": "issue slots", "terms": terms[at // 2 % 2]} for at in range(rows)]
    return {"attnscope_validation": 1, "sets": [{"device": "NVIDIA L4", "arch": 89, "model": "emulated:l4", "date": "2026-12-01", "driver": "570",
                                                  "nvrtc": "12.8", "app": "0.1.0", "how": "attnscope validate", "rows": timed}]}


def recorded():
    return json.loads((TREE / "assets" / "model" / "bars.json").read_text())


def of_h200():
    return recorded()["architectures"]["90"]


class Validated(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def sets(self, rows=80):
        (self.path / "l4_validate.json").write_text(json.dumps(made_up(rows)))
        (self.path / "other.json").write_text("not one of them")
        return model_validated.sets_of(model_validated.files(self.path))

    def test_its_architecture_gets_bars_from_its_rows(self):
        bars = model_validated.bars_by_architecture(of_h200(), self.sets())
        self.assertEqual((list(bars), bars[90]), ([90, 89], of_h200()))
        self.assertEqual(bars[89]["rows"], 80)
        self.assertEqual(bars[89]["bounds"], {"issue slots": [1.0, 1.3]}, "four of five, and the modelled time itself")
        self.assertIn("NVIDIA L4", bars[89]["from"])
        for factor in (bars[89]["other_kernels"], *(factor for _, factor in bars[89]["one_kernel"][::2])):
            self.assertGreater(factor, 1)
            self.assertLess(math.log(factor), math.log(1.3 / 1.1) + 1e-3)

    def test_a_class_without_pairs_keeps_the_assumed_bar(self):
        bars = model_validated.bars_by_architecture(of_h200(), self.sets())
        [[most, factor]] = [one for one in of_h200()["one_kernel"] if one[0] == 0.2]
        self.assertEqual(bars[89]["one_kernel"][1], [most, round(factor**1.5, 3)], "terms differ by 0 or by half")

    def test_a_few_rows_change_no_bar(self):
        self.assertEqual(list(model_validated.bars_by_architecture(of_h200(), self.sets(rows=49))), [90])

    def test_times_from_counters_are_left_out(self):
        sets = self.sets()
        for row in sets[0]["rows"][::2]:
            row["terms"] = {}
        self.assertEqual(list(model_validated.bars_by_architecture(of_h200(), sets)), [90], "40 of 80 are simulated")

    def test_bars_and_pages_take_it_by_its_name(self):
        for folder in READ:
            shutil.copytree(TREE / folder, self.path / "tree" / folder, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(TREE / "README.md", self.path / "tree")
        tree = self.path / "tree"
        script = [sys.executable, "-B", tree / "bench" / "model_bars.py"]
        said = lambda *more: subprocess.run([*script, *more], capture_output=True, text=True, timeout=120)
        self.assertEqual(said("--check").returncode, 0)
        (tree / "tests" / "data" / "model" / "l4_validate.json").write_text(json.dumps(made_up()))
        self.assertIn("is not what the rows say", said("--check").stderr)
        done = said()
        self.assertEqual(done.returncode, 0, done.stderr)
        bars = json.loads((tree / "assets" / "model" / "bars.json").read_text())
        self.assertEqual(set(bars["architectures"]), {"90", "89"})
        self.assertEqual(bars["architectures"]["90"], of_h200())
        self.assertIn("| NVIDIA L4 | sm_89 | 80 | 16.7 % |", (tree / "docs" / "model.md").read_text())
        self.assertIn("NVIDIA L4, 80 configs", (tree / "docs" / "images" / "model_scatter.svg").read_text())
        readme = (tree / "README.md").read_text()
        self.assertIn("On an L4 80 are 16.7 % off.", readme)
        self.assertNotIn("On an L4 nothing was measured", readme)
        self.assertEqual(said("--check").returncode, 0)


if __name__ == "__main__":
    unittest.main()
