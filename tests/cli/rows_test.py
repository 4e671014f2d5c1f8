"""Published times of others, modelled from a checkout of their repository: bench/sm89_rows.py with a repository made here."""
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

PROGRAM = os.environ["ATTNSCOPE"]
TREE = pathlib.Path(os.environ["ATTNSCOPE_TREE"])
sys.dont_write_bytecode = True
sys.path.insert(0, str(TREE / "bench"))

import sm89_rows  # noqa: E402
import sm89_sources  # noqa: E402

HEADER = "#pragma once\ntemplate <int N>\n__device__ float twice(float x) { return N * x / (N / 2); }\n"
SOURCE = """#include "parts.cuh"
#include <iostream>
template <typename T, int TILE>
__global__ void product(const T* a, const T* b, T* c, int m, int n, int k) {
  const int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
  T sum = 0;
  for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = twice<4>(sum) / 2;
}
int main() { std::cout << "host code"; }
"""


class Rows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        project = self.path / "me+project"
        (project / "src").mkdir(parents=True)
        (project / "include").mkdir()
        (project / "include/parts.cuh").write_text(HEADER)
        (project / "src/product.cu").write_text(SOURCE)
        git = ["git", "-C", str(project), "-c", "user.name=a", "-c", "user.email=a@example.org"]
        for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "A kernel"]):
            subprocess.run(git + command, check=True, capture_output=True)
        self.commit = subprocess.run(git + ["rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
        (project / "src/product.cu").write_text("")  # the commit is read
        product = lambda grid: sm89_sources.gemm("src/product.cu", "product<float, 16>", [16, 16], grid, ["A", "B", "C", "m", "n", "k"], include=("include",),
                                                 judged_at=(32, 48, 64))
        self.kernels = {"me/project": {"right": product([sm89_sources.up("n", 16), sm89_sources.up("m", 16)])}}
        self.transposed = product([sm89_sources.up("m", 16), sm89_sources.up("n", 16)])

    def said(self, *words, rows=None):
        """What the loader prints of the rows, and its exit status."""
        rows = rows or [self.row("right")]
        (self.path / "rows.json").write_text(json.dumps({"about": "x", "rows": rows}))
        out, status = io.StringIO(), 0
        with unittest.mock.patch.dict(sm89_rows.KERNELS, self.kernels, clear=True), contextlib.redirect_stdout(out):
            try:
                sm89_rows.main([str(self.path), "--program", PROGRAM, "--rows", str(self.path / "rows.json"), *words])
            except SystemExit as ended:
                status = ended.code
        return out.getvalue(), status

    def row(self, kernel, **more):
        return {"repository": "me/project", "commit": self.commit, "table": "README.md", "kernel": kernel, "device": "l20",
                "sizes": {"m": 256, "n": 128, "k": 64}, "reported_us": 10.0, **more}

    def test_a_published_row_is_modelled_from_a_checkout(self):
        out = self.path / "out.json"
        said, status = self.said("--out", str(out))
        self.assertEqual(status, 0, said)
        data = json.loads(out.read_text())
        self.assertEqual(data["about"], "x")
        [row] = data["rows"]
        self.assertEqual((row["ctas"], row["reported_us"]), (128, 10.0))
        # Of a warp for each of 64 terms two loads, and one store.
        self.assertEqual(row["memory_instructions_cta"], 8 * (2 * 64 + 1))
        # Two CTAs on the busiest of 92 SMs; the device's 16 lanes take a warp's instruction in two clocks of 2,520 MHz.
        self.assertAlmostEqual(sm89_rows.load_store_us(row), 2 * 8 * 129 * 2 / 2520, places=6)
        self.assertGreater(row["modelled_us"], 0)
        self.assertIn(f"| project right | l20 | m=256,n=128,k=64 | 10.0 | {row['modelled_us']:.1f} |", said)
        changed = {**row, "modelled_us": 1.0, "bound": "x", "nvcc_us": 2.0}
        self.said("--out", str(out), rows=[changed])
        self.assertEqual(json.loads(out.read_text())["rows"], [{**row, "nvcc_us": 2.0}], "modelled again, and what nvcc made is kept")

    def test_what_cannot_be_modelled_says_why(self):
        rows = [self.row("right"), self.row("none"), self.row("right", commit="f" * 40)]
        said, status = self.said(rows=rows)
        self.assertEqual(status, 1, said)
        self.assertIn("refused: none has no manifest here", said)
        self.assertIn("refused: the checkout has no src/product.cu at fffffff", said)
        self.assertIn("| all, by NVRTC | 1 |", said)

    def test_a_kernel_is_judged_before_it_is_believed(self):
        said, status = self.said("--judge")
        self.assertEqual((said, status), ("me/project right: correct\n", 0))
        self.kernels["me/project"]["transposed"] = self.transposed
        said, status = self.said("--judge")
        self.assertEqual(status, 1, said)
        self.assertIn("me/project right: correct", said)
        self.assertNotIn("transposed: correct", said)


if __name__ == "__main__":
    unittest.main()
