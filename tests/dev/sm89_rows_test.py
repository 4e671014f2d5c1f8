"""What is said of published times of sm_89 GPUs is what the rows of their recording add up to."""
import json
import pathlib
import sys
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "bench"))

import sm89_rows  # noqa: E402

DATA = json.loads(sm89_rows.ROWS.read_text())
ROWS = DATA["rows"]
COUNTED = [row for row in ROWS if sm89_rows.counts(row)]
RECORD = " ".join((TREE / "bench/results/model_sm89.txt").read_text().split())


def span(figures):
    return f"{min(figures):.2f} to {max(figures):.2f}"


def share(rows, us="modelled_us"):
    return span([sm89_rows.ratio(row, us) for row in rows])


def of(repository, *kernels, rows=None):
    return [row for row in rows or COUNTED if row["repository"].endswith(repository) and row["kernel"] in kernels]


class Sm89Rows(unittest.TestCase):
    def test_each_row_has_a_manifest_with_its_sizes_and_a_device(self):
        for row in ROWS:
            kernel = sm89_rows.KERNELS[row["repository"]][row["kernel"]]
            self.assertEqual(set(kernel.sizes), set(row["sizes"]), row["kernel"])
            self.assertEqual(sm89_rows.device(row["device"])["id"], f"emulated:{row['device']}")
            self.assertRegex(row["commit"], "^[0-9a-f]{40}$")
        for row in COUNTED:
            kernel = sm89_rows.KERNELS[row["repository"]][row["kernel"]]
            self.assertEqual(sm89_rows.ctas_of(kernel, row["sizes"]), row["ctas"], row["kernel"])

    def test_every_row_has_both_times_or_is_left_out_for_a_reason(self):
        for row in ROWS:
            self.assertNotEqual("left_out" in row, "modelled_us" in row and "nvcc_us" in row, row)

    def test_the_page_names_the_causes_with_the_rows_figures(self):
        page = " ".join((TREE / "docs/model.md").read_text().split())
        one_load = [*of("cuda-learn", "naive", "tiled"), *of("Fast-CUDA-Kernels", "coalesced", "blocking"), *of("cuda-grind", "coalesced_f32", "block_tiling_f32")]
        large = [row for row in one_load if row["sizes"]["m"] >= 1024]
        units = [sm89_rows.load_store_us(row) / row["reported_us"] for row in large]
        said = f"{len(large)} rows of 1,024 and more, {share(large)} of the reported time; what 16 lanes need is {span(units)} of it"
        self.assertIn(said, page)
        self.assertIn(said, RECORD)
        halves = of("LeetCUDA", "share_qkv_stage2")
        self.assertIn(f"modelled at {' and '.join(f'{sm89_rows.ratio(row):.2f}' for row in halves)} times the reported time", page)
        self.assertIn(f"Another {len(COUNTED)} published times, of four other sm_89 GPUs and from five repositories", page)
        self.assertEqual((len({row["device"] for row in COUNTED}), len({row["repository"] for row in COUNTED})), (4, 5))
        [tiled] = of("Fast-CUDA-Kernels", "blocktiling")
        compiled = f"{sm89_rows.ratio(tiled):.2f} with NVRTC's code and {sm89_rows.ratio(tiled, 'nvcc_us'):.2f} with nvcc's"
        self.assertIn(f"modelled at {compiled}", page)
        self.assertIn(compiled, RECORD)

    def test_the_record_says_what_the_rows_say(self):
        fp32 = of("LeetCUDA", "t8x8sk", "t8x8bcf", "t8x8dbuf")
        self.assertIn(f"its {len(fp32)} FP32 rows are {share(fp32)} of the reported time", RECORD)
        table = sm89_rows.by_device(ROWS)
        for line in [*table, *sm89_rows.by_source(ROWS), *map(sm89_rows.line, ROWS)]:
            self.assertIn(" ".join(line.split()), RECORD)

    def test_pairs_and_ranks_count_within_a_problem_and_a_repository(self):
        row = lambda kernel, us, modelled, size=1, repository="a/b": {"repository": repository, "device": "l20", "kernel": kernel, "sizes": {"m": size},
                                                                      "reported_us": us, "modelled_us": modelled}
        rows = [row("a", 10, 1), row("b", 10.4, 3), row("c", 12, 2), row("d", 1, 9, size=2), row("e", 1, 8, repository="c/d")]
        pairs, right, ranks = sm89_rows.order(rows)
        self.assertEqual((pairs, right, ranks), (2, 1, None), "a and b are within 5 %; the others have no pair")
        pairs, right, ranks = sm89_rows.order([*rows, row("f", 20, 4)])
        self.assertEqual((pairs, right), (5, 4))
        self.assertAlmostEqual(ranks, 0.8)

    def test_a_row_without_a_time_says_why(self):
        row = {"repository": "a/b", "kernel": "k", "device": "l20", "sizes": {"m": 1}, "reported_us": 1.0}
        self.assertTrue(sm89_rows.line({**row, "refused": "x"}).endswith("| refused: x |"))
        self.assertTrue(sm89_rows.line({**row, "left_out": "y"}).endswith("| y |"))
        self.assertTrue(sm89_rows.line(row).endswith("| not modelled yet |"))

    def test_without_a_checkout_there_is_none(self):
        self.assertIsNone(sm89_rows.checkout_of(TREE / "no such folder", "a/b"))


if __name__ == "__main__":
    unittest.main()
