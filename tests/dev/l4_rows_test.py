"""What docs/model.md says of published L4 times is what the rows of their recording add up to."""
import pathlib
import re
import sys
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "bench"))

import l4_rows  # noqa: E402


def rows():
    """Kernel, reported, before and modelled us, and modelled / reported, of each row."""
    found = []
    for line in (TREE / "bench/results/model_l4_rows.txt").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 7 and re.fullmatch(r"[\d.]+", cells[3]):
            found.append((cells[0], cells[1], *map(float, cells[3:])))
    return found


def error(some, column):
    return 100 * sum(abs(row[column] / row[2] - 1) for row in some) / len(some)


class L4Rows(unittest.TestCase):
    def test_each_row_has_its_ratio(self):
        self.assertEqual(len(rows()), 23)
        for kernel, _, reported, _, modelled, ratio in rows():
            self.assertAlmostEqual(modelled / reported, ratio, delta=0.0051, msg=kernel)

    def test_the_means_are_those_of_the_rows(self):
        recorded = " ".join((TREE / "bench/results/model_l4_rows.txt").read_text().split())
        page = " ".join((TREE / "docs/model.md").read_text().split())
        stacks = [row for row in rows() if row[0].startswith("v2b")]
        others = [row for row in rows() if not row[0].startswith("v2b")]
        all_rows = f"{error(rows(), 4):.1f} %"
        self.assertIn(f"Mean error: {all_rows} over all 23 rows, {error(rows(), 3):.1f} % before", recorded)
        self.assertIn(f"are {error(stacks, 4):.1f} % off ({error(stacks, 3):.1f} % before)", recorded)
        self.assertIn(f"the other {len(others)} {error(others, 4):.1f} %", recorded)
        sources = {row[1] for row in rows()}
        self.assertIn(f"For 23 published times of an L4, from {len(sources)} public sources, the model is {all_rows} off", page)
        self.assertLessEqual(error(rows(), 4), 9)

    def test_the_loader_has_a_manifest_for_each_row_and_says_what_the_record_says(self):
        loaded = l4_rows.read_rows(l4_rows.ROWS)
        self.assertEqual([(row.kernel, row.reported, row.recorded) for row in loaded], [(row[0], row[2], row[4]) for row in rows()])
        for row in loaded:
            manifest = l4_rows.KERNELS[row.kernel].manifest(row.kernel)
            self.assertIn(f"D={manifest['supports']['head_dim'][0]},", row.problem)
            self.assertIn(row.problem.split("causal=")[1], manifest["supports"]["causal"])
        said = l4_rows.closing([(row, row.recorded) for row in loaded])
        self.assertEqual(said, f"Mean error: {error(rows(), 4):.1f} % over 23 of 23 rows, {error(rows(), 4):.1f} % by what they have recorded; 0 of them changed.")

    def test_what_is_refused_or_changed_is_counted(self):
        row = l4_rows.Row("k", "f.cu", "c", "B=1", 100.0, 100.0)
        self.assertEqual(l4_rows.closing([(row, 110.0), (row, 100.05), (row, "why")]),
                         "Mean error: 5.0 % over 2 of 3 rows, 0.0 % by what they have recorded; 1 of them changed.")
        self.assertEqual(l4_rows.closing([(row, "why")]), "None of 1 rows was modelled.")
        self.assertIn("refused: why", l4_rows.line(row, "why"))


if __name__ == "__main__":
    unittest.main()
