"""attnscope report: robust-kbench's config in, its reports and one page out."""
import csv
import io
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from kept_cache import keep_compiled

PROGRAM = os.environ["ATTNSCOPE"]
SHAPE = "{name: %s, batch_size: 1, num_heads: 1, seq_len: %d, head_dim: 64}"


class Report(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.path = pathlib.Path(home.name)
        keep_compiled(self.path / "home")
        self.environment = dict(os.environ, ATTNSCOPE_HOME=str(self.path / "home"))

    def call(self, *words, expect=0):
        done = subprocess.run([PROGRAM, "report", *map(str, words)], env=self.environment, cwd=self.path, capture_output=True, text=True, timeout=560)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def config(self, text, name="rbk_config.yaml"):
        file = self.path / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def test_a_grid_becomes_a_report_to_send(self):
        shapes = ", ".join(SHAPE % one for one in (("small", 64), ("twice", 128), ("again", 64)))
        file = self.config(f"shapes: [{shapes}]\nrunners: [tiled, mma, \"tiled:BLOCK_M=64\", sdpa]\nbaseline: tiled\n"
                           "gain: {speedup: 1.1, shapes: 2}\nwarmups: 20\niterations: 100\noutput_dir: made\n")
        done = self.call(file, "--device", "emulated:l4", "--defaults", "--require-gates", expect=1)
        said = done.stdout
        self.assertIn("PyTorch is not timed", done.stderr)
        self.assertIn("mma: 5 of 5 gates", said)
        self.assertIn("tiled BLOCK_M=64: ", said)
        folder = self.path / "made"
        self.assertEqual({path.name for path in folder.iterdir()},
                         {"rbk_report.json", "rbk_report.csv", "rbk_report.md", "rbk_report.html", "bench.svg", "bench.json"})
        report = json.loads((folder / "rbk_report.json").read_text())
        self.assertEqual(report["summary"]["total_shapes"], 3)
        of = {(one["kernel_name"], one["shape"]["name"]): one for one in report["results"]}
        self.assertEqual(set(of), {(kernel, shape) for kernel in ("tiled", "mma") for shape in ("small", "twice", "again")})
        one = of["mma", "small"]
        self.assertEqual(one["p50_latency_ms"], of["mma", "again"]["p50_latency_ms"], "a problem is timed once")
        self.assertEqual((one["kind"], one["verdict"], one["raw_latencies_ms"], one["ratio_to_sdpa"]), ("modelled", "correct", [], None))
        self.assertAlmostEqual(one["ratio_to_baseline"]["ratio"], of["tiled", "small"]["p50_latency_ms"] / one["p50_latency_ms"])
        self.assertTrue(all("57376" in left["reason"].replace(",", "") for left in report["not_timed"]))
        gates = {one["kernel_name"]: one for one in report["gates"]}
        self.assertTrue(gates["mma"]["passes"])
        self.assertEqual({gate["gate"] for gate in gates["tiled"]["gates"]}, {"compiles", "correct", "documented"})
        self.assertEqual([gate["passed"] for gate in gates["tiled BLOCK_M=64"]["gates"]], [False, None, None, None, True])
        rows = list(csv.DictReader(io.StringIO((folder / "rbk_report.csv").read_text())))
        self.assertEqual(len(rows), 6)
        self.assertAlmostEqual(float(rows[0]["p50_ms"]), report["results"][0]["p50_latency_ms"], places=4)
        page = (folder / "rbk_report.html").read_text().split("\n", 1)[1]
        tags = {node.tag.split("}")[-1] for node in xml.etree.ElementTree.fromstring(page).iter()}
        self.assertLessEqual({"svg", "table", "h1"}, tags)
        self.assertFalse({"script", "link", "img", "iframe", "object"} & tags)
        # The same benchmark again from its own file.
        again = subprocess.run([PROGRAM, "bench", "--from", folder / "bench.json", "--svg"], env=self.environment, capture_output=True, text=True)
        self.assertEqual(again.stdout.strip(), (folder / "bench.svg").read_text().strip())

    def test_what_is_no_config_is_refused_and_leaves_nothing(self):
        shape = SHAPE % ("a", 64)
        os.mkfifo(self.path / "fifo")
        os.mkdir(self.path / "folder")
        big = self.config(b"shapes: [" + b"x, " * 400000 + b"x]\n", "big.yaml")
        files = {"/dev/zero": "", self.path / "fifo": "", self.path / "folder": "", self.path / "none.yaml": "none.yaml", big: ""}
        for number, (text, why) in enumerate((
                ("", "holds nothing"), ("\0\0", ""), ("shapes: &a [*a]\n", "anchor"), (f"shapes: [{shape}]\nrunners: [no_such]\n", "no_such"),
                (f"shapes: [{shape}]\nrunners: [\"tiled:NO_KNOB=1\"]\n", "NO_KNOB"), (f"shapes: [{shape}]\nrunners: [sdpa]\n", "no kernel"),
                (f"shapes: [{shape}]\nrunners: [tiled, tiled]\n", "twice"),
                (f"shapes: [{shape}]\nrunners: [tiled]\nbaseline: minimal\n", "minimal"), ("shapes: 3\n", "shapes"), ("[" * 100000, ""))):
            files[self.config(text, f"{number}.yaml")] = why
        before = {path.name for path in self.path.iterdir()}
        for file, why in files.items():
            done = self.call(file, "--out", self.path / "out", "--device", "emulated:l4", expect=2)
            self.assertIn(why, done.stderr, file)
            self.assertEqual(done.stdout, "", file)
        made = {path.name for path in self.path.iterdir()} - before - {"home"}
        self.assertLessEqual(made, {"out"})
        self.assertFalse((self.path / "out").exists() and list((self.path / "out").iterdir()))
        good = self.config(f"shapes: [{shape}]\nrunners: [tiled]\n", "good.yaml")
        self.assertIn("no_folder", self.call(good, "--out", self.path / "no_folder" / "out", expect=2).stderr)


if __name__ == "__main__":
    unittest.main()
