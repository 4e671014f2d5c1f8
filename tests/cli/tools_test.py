"""bench, best, export, and PyTorch as a device: the program's products for other tools."""
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock
import xml.etree.ElementTree

import jsonschema
from kept_cache import keep_compiled

PROGRAM = os.environ["ATTNSCOPE"]
TREE = pathlib.Path(os.environ["ATTNSCOPE_TREE"])
SMALL = "B=1,H=1,S=64,D=64"
FAKE_TORCH = str(TREE / "tests" / "support" / "fake_torch")
sys.path.insert(0, str(TREE / "assets" / "torch_worker"))
sys.dont_write_bytecode = True


def nvcc():
    return shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


def nvrtc_beside(compiler):
    """The NVRTC of that nvcc's toolkit, or of the package of its version; None if there is neither."""
    said = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
    version = said.split("release ")[1].split(",")[0]
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    roots = [pathlib.Path(compiler).resolve().parents[1], cache / "attnscope" / "cuda" / version]
    for root in roots:
        for folder in ("lib64", "lib"):
            for file in sorted((root / folder).glob("libnvrtc.so.*")):
                return file
    return None


class Tools(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.home.name)
        keep_compiled(self.path / "home")

    def tearDown(self):
        self.home.cleanup()

    def call(self, *args, expect=0, **more):
        environment = dict(os.environ, ATTNSCOPE_HOME=str(self.path / "home"), **more)
        done = subprocess.run([PROGRAM, *map(str, args)], env=environment, capture_output=True, text=True, timeout=560)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def torch(self, *args, expect=0, **more):
        more.setdefault("PYTHONPATH", FAKE_TORCH)
        return self.call(*args, expect=expect, ATTNSCOPE_PYTHON=sys.executable, **more)

    # ---- bench ----
    def test_bench_on_an_emulated_device_is_modelled_and_says_so(self):
        done = self.call("bench", "--device", "emulated:l4", "--problem", SMALL, "--kernel", "minimal", "--kernel",
                         "scalar:BLOCK_M=64", "--kernel", "tiled:BLOCK_M=64", "--peer", "tiled", "--json")
        report = json.loads(done.stdout)
        labels = [e["label"] for e in report["entries"]]
        self.assertEqual(labels, ["minimal", "scalar BLOCK_M=64", "tiled BLOCK_M=64", "tiled"])
        cells = dict(zip(labels, report["rows"][0]["cells"]))
        self.assertEqual(cells["minimal"]["kind"], "modelled")
        self.assertIsNone(cells["minimal"]["interval"])
        self.assertEqual(cells["minimal"]["verdict"], "correct")
        ratio = cells["minimal"]["ratios"][0]
        self.assertAlmostEqual(ratio["ratio"], cells["tiled"]["us"]["p50"] / cells["minimal"]["us"]["p50"])
        self.assertIsNone(ratio["interval"])
        self.assertEqual(cells["tiled BLOCK_M=64"]["state"], "not applicable")
        self.assertIn("57,376 B", cells["tiled BLOCK_M=64"]["reason"])

        file = self.path / "report.json"
        file.write_text(done.stdout)
        svg, markdown = self.path / "b.svg", self.path / "b.md"
        table = self.call("bench", "--from", file).stdout
        self.assertIn("modelled for NVIDIA L4", table)
        self.call("bench", "--from", file, "--svg", svg, "--markdown", markdown)
        self.assertEqual(self.call("bench", "--from", file, "--markdown").stdout.strip(), markdown.read_text().strip())
        xml.etree.ElementTree.parse(svg)
        self.assertIn("not applicable", svg.read_text())

    def test_bench_goes_on_after_it_was_killed(self):
        args = ["bench", "--device", "torch/cuda:0", "--kernel", "torch:BACKEND=flash", "--peer", "torch:BACKEND=math",
                "--problem", "B=1,H=1,S=8,D=32", "--quick", "--json"]
        environment = dict(os.environ, ATTNSCOPE_HOME=str(self.path / "home"), PYTHONPATH=FAKE_TORCH,
                           ATTNSCOPE_PYTHON=sys.executable)
        begun = subprocess.Popen([PROGRAM, *args], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        states = self.path / "home" / "data" / "bench"
        try:
            while begun.poll() is None:
                if states.is_dir() and any(json.loads(f.read_text())["passes"][0] >= 3 for f in states.glob("*.json")):
                    break
        finally:
            begun.kill()
            begun.communicate()
        self.assertTrue(list(states.glob("*.json")), "it ended before it could be killed")
        done = self.torch(*args)
        self.assertIn("continues after", done.stderr)
        cells = json.loads(done.stdout)["rows"][0]["cells"]
        self.assertEqual(cells[0]["kind"], "measured")
        self.assertAlmostEqual(cells[0]["ratios"][0]["ratio"], 6.0, delta=0.01)
        self.assertFalse(cells[0]["ratios"][0]["tie"])
        self.assertFalse(list(states.glob("*.json")), "a whole run leaves no state")

    def test_bench_ends_within_its_time_and_says_what_it_did_not_reach(self):
        done = self.call("bench", "--device", "emulated:l4", "--kernel", "minimal", "--problem", SMALL, "--within", "0.000001",
                         "--json")
        self.assertIn("continues from there", done.stderr)
        cell = json.loads(done.stdout)["rows"][0]["cells"][0]
        self.assertEqual(cell["state"], "not applicable")
        self.assertIn("ended before", cell["reason"])

    def test_bench_tells_its_progress_by_row_in_a_log_and_over_itself_on_a_terminal(self):
        args = ["bench", "--device", "emulated:l4", "--kernel", "minimal", "--kernel", "scalar", "--problem", SMALL,
                "--problem", "B=1,H=2,S=64,D=64", "--json"]
        lines = self.call(*args).stderr.splitlines()
        self.assertEqual([line.split(":")[0] for line in lines], ["attnscope bench"] * 2, lines)
        self.assertRegex(lines[0], r"^attnscope bench: 1 of 4  B1 H1 S64 D64, hot: minimal$")
        self.assertRegex(lines[1], r"^attnscope bench: 3 of 4  B1 H2 S64 D64, hot: minimal, \d+ s left$")
        ours, theirs = os.openpty()
        environment = dict(os.environ, ATTNSCOPE_HOME=str(self.path / "home"))
        begun = subprocess.Popen([PROGRAM, *args], env=environment, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        said = b""
        try:
            while chunk := os.read(ours, 4096):
                said += chunk
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        self.assertEqual(begun.wait(), 0)
        shown = said.decode().split("\r\x1b[K")
        self.assertEqual(shown[0], "")
        self.assertRegex(shown[1], r"^1 of 4  B1 H1 S64 D64, hot: minimal$")
        self.assertRegex(shown[2], r"^2 of 4  B1 H1 S64 D64, hot: scalar, \d+ s left$")
        self.assertEqual(len(shown), 6, said)
        self.assertEqual(shown[-1], "", "the last line is cleared")

    def test_bench_refuses_what_it_does_not_know(self):
        self.assertIn("no kernel \"nope\"", self.call("bench", "--kernel", "nope", "--device", "emulated:l4", expect=2).stderr)
        self.assertIn("TYLE", self.call("bench", "--kernel", "tiled:TYLE=3", "--device", "emulated:l4", expect=2).stderr)
        self.assertIn("twice", self.call("bench", "--kernel", "tiled", "--kernel", "tiled", "--device", "emulated:l4", expect=2).stderr)
        file = self.path / "r.json"
        file.write_text('{"attnscope_bench": 1}')
        self.assertIn("r.json", self.call("bench", "--from", file, expect=2).stderr)

    def test_the_readmes_ladders_are_those_of_their_reports(self):
        script = [sys.executable, "-B", TREE / "bench" / "readme_ladder.py", "--program", PROGRAM]
        environment = dict(os.environ, ATTNSCOPE_HOME=str(self.path / "home"))
        done = subprocess.run([*script, "--check"], env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        edited = self.path / "README.md"  # a figure changed by hand is found and corrected
        original = (TREE / "README.md").read_text()
        at = original.index("\n| minimal |", original.index("<!-- ladder "))
        digit = next(i for i in range(at, len(original)) if original[i] in "12345678")
        edited.write_text(original[:digit] + "9" + original[digit + 1:])
        done = subprocess.run([*script, "--readme", edited, "--check"], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        subprocess.run([*script, "--readme", edited], env=environment, check=True)
        self.assertEqual(edited.read_text(), original)

    # ---- best ----
    def test_best_says_kind_and_source(self):
        done = self.call("best", "--problem", "B=1,H=8,S=512,D=64", "--device", "emulated:l4", "--json",
                         "--preset", self.path / "best.json")
        table = json.loads(done.stdout)
        times = [e["us"] for e in table["entries"]]
        self.assertEqual(times, sorted(times))
        for entry in table["entries"]:
            self.assertIn(entry["kind"], ("measured", "modelled"))
            self.assertIn("tuned", entry["source"])
            self.assertIsInstance(entry["same_kernel"], bool)
        preset = json.loads((self.path / "best.json").read_text())
        self.assertEqual(preset["kernel"], table["entries"][0]["kernel"]["id"])
        self.call("run", "--preset", self.path / "best.json", "--problem", SMALL)  # the kernel still has that config
        text = self.call("best", "--problem", "B=1,H=8,S=512,D=64", "--device", "emulated:l4").stdout
        self.assertIn("modelled", text)
        self.assertIn("assets/tuned/l4.json", text)
        lines = [line for line in text.splitlines() if " us " in line]
        apart = ["cannot be told apart" not in line for line in lines]
        self.assertTrue(apart[0], "the first from itself")
        self.assertEqual(apart[1:], sorted(apart[1:]), "only those near the first cannot")
        self.assertTrue(apart[-1], f"{times[-1]} us is far from {times[0]}")

    # ---- validate ----
    def test_validate_needs_a_gpu_and_a_model_of_it(self):
        out = self.path / "v.json"
        said = self.call("validate", "--out", out, "--device", "emulated:l4", expect=2).stderr
        self.assertIn("nothing to validate against", said)
        self.assertIn("v.json", self.call("validate", "--out", self.path / "none" / "v.json", expect=2).stderr)
        out.write_text('{"attnscope_validation": 9, "sets": []}')
        self.assertIn("attnscope_validation", self.call("validate", "--out", out, "--device", "emulated:l4", expect=2).stderr)

    def test_validate_again_models_what_was_timed_with_this_build(self):
        problem = "B=1,H=1,S=64,D=64,causal=none"
        now = json.loads(self.call("run", "--kernel", "minimal", "--set", "THREADS=64", "--problem", problem, "--device",
                                   "emulated:l4", "--json").stdout)
        rows = [{"problem": problem, "kernel": kernel, "config": "THREADS=64", "code_hash": code, "us": 12.5, "modelled": 1,
                 "bound": "DRAM bandwidth", "terms": {"tail": 1}}
                for kernel, code in (("minimal", now["variant"]["code_hash"]), ("minimal", "0" * 32), ("gone", ""))]
        old, new = self.path / "timed.json", self.path / "again.json"
        old.write_text(json.dumps({"attnscope_validation": 1, "sets": [
            {"device": "NVIDIA L4", "arch": 89, "model": "emulated:l4", "date": "2026-11-01", "driver": "d", "rows": rows}]}))
        before = old.read_text()
        page = self.call("validate", "--again", old, "--out", new).stdout
        self.assertEqual(old.read_text(), before)
        [of] = json.loads(new.read_text())["sets"]
        [row] = of["rows"]
        self.assertAlmostEqual(row["modelled"], now["timing"]["us"]["p50"], delta=1e-3)
        self.assertEqual((row["us"], row["bound"]), (12.5, now["timing"]["bound"]))
        self.assertNotEqual(row["terms"], {"tail": 1})
        self.assertAlmostEqual(sum(row["terms"].values()), 1, delta=0.02)
        other, gone = (one["reason"] for one in of["refused"])
        self.assertIn("12.5", other, "the time is kept")
        self.assertIn("other machine code", other)
        self.assertIn('"gone"', gone)
        self.assertIn("other machine code", page)
        self.assertEqual((of["device"], of["date"], of["driver"]), ("NVIDIA L4", "2026-11-01", "d"))
        self.call("validate", "--again", old, "--out", new, "--quick", expect=2)

    def test_the_models_bars_and_tables_are_those_of_the_recorded_grid(self):
        script = [sys.executable, "-B", TREE / "bench" / "model_bars.py", "--check"]
        done = subprocess.run(script, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_sets_of_others_are_skipped_with_a_reason_where_they_are_not(self):
        for script in ("kernel_tuner_caches.py", "l4_rows.py", "sm89_rows.py"):
            for more in ([], [str(self.path)]):
                done = subprocess.run([sys.executable, "-B", TREE / "bench" / script, *more], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 77, done.stderr)
                self.assertIn("skipped: no checkout of", done.stderr)

    def test_published_rows_are_modelled_from_a_checkout(self):
        """A repository with one of our kernels, whose first lines are a header of the project."""
        sys.path.insert(0, str(TREE / "bench"))
        import l4_rows

        text, (checkout, rows) = (TREE / "kernels" / "01_minimal.cu").read_text(), (self.path / "project", self.path / "rows.txt")
        at = text.index("extern \"C\"")
        (checkout / "kernels" / "detail").mkdir(parents=True)
        (checkout / "kernels" / "detail" / "first.cuh").write_text("#pragma once\n" + text[:at])
        (checkout / "kernels" / "minimal.cu").write_text('#include "detail/first.cuh"\n#include "detail/first.cuh"\n' + text[at:])
        git = ["git", "-C", str(checkout), "-c", "user.name=a", "-c", "user.email=a@example.org"]
        for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "A kernel"]):
            subprocess.run(git + command, check=True, capture_output=True)
        commit = subprocess.run(git + ["rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
        shutil.rmtree(checkout / "kernels")  # the commit is read
        problem = "B=1,H=1,S=64,D=64,causal=none"
        manifest = {**json.loads((TREE / "kernels" / "01_minimal.json").read_text()), "id": "ours", "source": "ours.cu"}
        ours = types.SimpleNamespace(manifest=lambda name: manifest)
        run = json.loads(self.call("run", "--kernel", "minimal", "--problem", problem, "--device", "emulated:l4", "--json").stdout)
        us = run["timing"]["us"]["p50"]
        lines = [f"| ours | kernels/minimal.cu@{commit} | {problem} | {2 * us} | 1.0 | {2 * us} | 1.00 |"]
        said, status = self.rows_said(l4_rows, ours, checkout, rows, lines)
        self.assertEqual(status, 0, said)
        self.assertIn(f"| {2 * us:.1f} | {us:.1f} | 0.50 | {2 * us:.1f} |", said)
        self.assertIn("Mean error: 50.0 % over 1 of 1 rows, 0.0 % by what they have recorded; 1 of them changed.", said)
        lines.append(f"| ours | kernels/none.cu@{commit} | {problem} | 1.0 | 1.0 | 1.0 | 1.00 |")
        said, status = self.rows_said(l4_rows, ours, checkout, rows, lines)
        self.assertEqual(status, 1, said)
        self.assertIn(f"refused: the checkout has no kernels/none.cu at {commit}", said)
        self.assertIn("over 1 of 2 rows", said)

    def rows_said(self, l4_rows, ours, checkout, rows, lines):
        rows.write_text("\n".join(["| kernel | file at commit |", *lines]) + "\n")
        said, status = io.StringIO(), 0
        with unittest.mock.patch.dict(l4_rows.KERNELS, {"ours": ours}), contextlib.redirect_stdout(said):
            try:
                l4_rows.main([str(checkout), "--program", PROGRAM, "--rows", str(rows)])
            except SystemExit as ended:
                status = ended.code
        return said.getvalue(), status

    def test_best_searches_for_an_untuned_problem_once(self):
        args = ["best", "--problem", "B=1,H=1,S=77,D=64", "--device", "emulated:l4", "--kernel", "minimal", "--json"]
        first = self.call(*args)
        self.assertIn("after 3 configs", first.stderr)
        [entry] = json.loads(first.stdout)["entries"]
        self.assertEqual((entry["kind"], entry["source"]), ("modelled", "history"))
        default = json.loads(self.call("run", *args[1:-1], "--json").stdout)
        self.assertLessEqual(entry["us"], default["timing"]["us"]["p50"])
        second = self.call(*args)
        self.assertEqual((second.stdout, second.stderr), (first.stdout, ""), "the second one only answers")
        bench = json.loads(self.call("bench", *args[1:-1], "--quick", "--json").stdout)
        self.assertEqual(bench["rows"][0]["cells"][0]["knobs"], entry["config"]["knobs"])
        self.assertIn("after 1 configs", self.call(*args, "--budget", "1").stderr)
        self.assertIn("S", self.call("best", "--problem", "S=0", "--device", "emulated:l4", expect=2).stderr)

    def test_bench_says_where_a_config_was_not_tuned_for_its_problem(self):
        args = ["bench", "--device", "emulated:l4", "--kernel", "tiled", "--kernel", "mma:STAGES=1", "--quick"]
        text = self.call(*args, "--problem", "B=1,H=1,S=64,D=64").stdout
        self.assertRegex(text, r"\n  tiled: the config tuned for B1 H8 S512 D64, the nearest tuned problem; `attnscope best --problem B=1,H=1,S=64,D=64")
        [row] = json.loads(self.call(*args, "--problem", "B=1,H=1,S=64,D=64", "--json").stdout)["rows"]
        tiled, mma = row["cells"]
        self.assertEqual((tiled["config_from"], tiled["tuned_for"]["seq_q"], mma["config_from"]), ("nearest", 512, "named"))
        tables = json.loads((TREE / "assets" / "tuned" / "l4.json").read_text())["entries"]
        [near] = [one for one in tables if one["kernel"]["id"] == "tiled" and one["problem"] == tiled["tuned_for"]]
        self.assertEqual(tiled["knobs"], near["config"]["knobs"])
        other = self.call(*args, "--problem", "B=1,H=1,S=64,D=128").stdout
        self.assertIn("tiled: the default config: no tuned config fits this problem on this device; `attnscope best", other)
        self.assertNotIn("attnscope best", self.call(*args, "--problem", "B=1,H=1,S=64,D=128", "--defaults").stdout)
        self.assertNotIn("attnscope best", self.call(*args, "--problem", "B=1,H=8,S=512,D=64").stdout)

    def test_an_interrupted_search_for_the_best_goes_on(self):
        args = ["best", "--problem", "B=1,H=1,S=32,D=64", "--device", "emulated:l4", "--kernel", "tiled", "--budget", "12"]
        environment = dict(os.environ, ATTNSCOPE_HOME=str(self.path / "home"))
        search = subprocess.Popen([PROGRAM, *args], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while search.poll() is None and len(self.kept()) < 3:
            time.sleep(0.01)
        search.send_signal(signal.SIGINT)
        search.communicate()
        before = self.kept()
        self.assertGreaterEqual(len(before), 3)
        self.assertEqual(self.ended(), [False], "it is not done")
        done = self.call(*args[:-2])
        self.assertIn("tiled: ", done.stderr)
        self.assertEqual(self.kept()[:len(before)], before)
        self.assertEqual(self.ended(), [True])
        self.assertEqual(self.call(*args[:-2]).stderr, "")

    def ended(self):
        """Of each search that has begun, whether it has ended."""
        return ["\nended " in mark.read_text() for mark in (self.path / "home" / "data" / "searches").iterdir()]

    def test_a_run_of_some_config_does_not_answer_for_the_best(self):
        problem = ["--problem", "B=1,H=2,S=80,D=64", "--device", "emulated:l4"]
        one = json.loads(self.call("sweep", "--kernel", "tiled", "--budget", "1", *problem, "--json").stdout)
        args = ["best", "--kernel", "tiled", "--kernel", "minimal", *problem]
        first = self.call(*args, "--json")
        self.assertRegex(first.stderr, r"tiled: .* after (?!1 )\d+ configs")
        self.assertRegex(first.stderr, r"minimal: .* after (?!1 )\d+ configs")
        found = {one["kernel"]["id"]: one for one in json.loads(first.stdout)["entries"]}
        self.assertEqual(set(found), {"tiled", "minimal"})
        self.assertLess(found["tiled"]["us"], one["correct"][0]["us"])
        self.assertEqual(self.call(*args).stderr, "", "the second one only answers")

    def test_the_status_of_best_without_a_correct_config_is_its_configs(self):
        none = {"ATTNSCOPE_NVRTC": "/nowhere/libnvrtc.so"}
        args = ["--problem", "B=1,H=1,S=77,D=64", "--device", "emulated:l4", "--kernel", "minimal"]
        sweep = self.call("sweep", *args, expect=3, **none)
        best = self.call("best", *args, expect=3, **none)
        self.assertIn("no config that was tried is correct", best.stderr)
        self.assertIn("/nowhere", sweep.stdout + sweep.stderr)
        self.assertIn("/nowhere", best.stderr)
        self.call("best", "--tune", self.path / "tables", *args, expect=3, **none)
        self.assertIn("after 3 configs", self.call("best", *args).stderr)  # it is no answer for ever
        args[1] = "B=1,H=1,S=77,D=32"  # which no config supports, so none is tried
        self.call("best", *args, expect=2)

    def test_a_narrow_search_for_the_best_is_no_answer_later_and_loses_no_config(self):
        args = ["best", "--problem", "B=1,H=1,S=77,D=64", "--device", "emulated:l4", "--kernel", "minimal", "--json"]
        self.assertIn("after 1 configs", self.call(*args, "--budget", "1").stderr)
        wide = self.call(*args)
        self.assertIn("after 3 configs", wide.stderr)
        [best] = json.loads(wide.stdout)["entries"]
        self.assertIn("after 1 configs", self.call(*args, "--budget", "1").stderr)
        after = self.call(*args)
        self.assertEqual((after.stderr, json.loads(after.stdout)["entries"]), ("", [best]))
        [table] = (self.path / "home" / "data" / "tuned").iterdir()
        [kept] = json.loads(table.read_text())["entries"]
        self.assertEqual((kept["config"], kept["us"]), (best["config"], best["us"]))

    def test_a_search_starts_from_the_tables_of_other_devices_where_its_own_has_none(self):
        problem = "B=1,H=8,S=77,D=64"
        entries = json.loads((TREE / "assets" / "tuned" / "h200.json").read_text())["entries"]
        [nearest] = [e["config"]["knobs"] for e in entries if e["kernel"]["id"] == "mma" and e["problem"]["causal"] == "none"
                     and [e["problem"][size] for size in ("batch", "heads", "seq_q", "head_dim")] == [1, 8, 512, 64]]
        self.call("best", "--problem", problem, "--device", "emulated:h100", "--kernel", "mma", "--budget", "2")
        ran = [json.loads(line)["observation"]["experiment"]["config"]["knobs"] for line in self.call("results", "--json").stdout.splitlines()]
        self.assertIn(nearest, ran)

    def kept(self):
        try:
            database = sqlite3.connect(f"file:{self.path / 'home' / 'data' / 'results.sqlite'}?mode=ro", uri=True)
            rows = [row[0] for row in database.execute("SELECT hash FROM observation ORDER BY id")]
            database.close()
            return rows
        except sqlite3.OperationalError:  # it is not there, or just being made
            return []

    def test_tuning_finds_a_better_config_than_the_default_and_best_reads_it(self):
        args = ["--device", "emulated:l4", "--kernel", "minimal", "--problem", "B=1,H=1,S=48,D=64"]
        self.call("best", "--tune", self.path / "tables", *args)
        table = json.loads((self.path / "tables" / "l4.json").read_text())
        entry = table["entries"][0]
        self.assertEqual((table["device"], entry["kind"], entry["verdict"]), ("NVIDIA L4", "modelled", "correct"))
        default = json.loads(self.call("run", *args, "--json").stdout)
        self.assertLessEqual(entry["us"], default["timing"]["us"]["p50"])

    def test_only_a_named_config_is_tuned_and_bench_takes_it(self):
        args = ["--device", "emulated:l4", "--problem", "B=1,H=1,S=48,D=64"]
        said = self.call("best", "--tune", self.path / "tables", "--config", "minimal:THREADS=256", *args).stderr
        self.assertIn("after 1 configs: THREADS=256", said)
        self.assertEqual(len(said.splitlines()), 1, said)
        for tuned, threads in ((["--tuned", self.path / "tables"], 256), (["--tuned", self.path / "tables", "--defaults"], 128)):
            report = json.loads(self.call("bench", "--kernel", "minimal", *args, *tuned, "--json").stdout)
            self.assertEqual(report["rows"][0]["cells"][0]["knobs"]["THREADS"], threads)
        self.assertIn("no kernel \"nope\"", self.call("best", "--tune", self.path, "--config", "nope:A=1", *args, expect=2).stderr)

    def test_a_race_is_never_the_best(self):
        folder = self.path / "kernels"
        folder.mkdir()
        text = (TREE / "kernels/02_tiled.cu").read_text()
        (folder / "racy.cu").write_text(text)
        manifest = json.loads((TREE / "kernels/02_tiled.json").read_text())
        manifest.update(id="racy", source="racy.cu", warns=[])  # it does not warn about itself
        (folder / "racy.json").write_text(json.dumps(manifest))
        configs = [f"racy:SYNC_POLICY={policy}" for policy in (0, 2, 5)]
        args = ["--kernels", folder, "--device", "emulated:l4", "--problem", "B=1,H=1,S=64,D=64"]
        for config in configs:
            args += ["--config", config]
        said = self.call("best", "--tune", self.path / "tables", *args).stderr
        self.assertIn("after 3 configs", said)
        table = json.loads((self.path / "tables" / "l4.json").read_text())
        self.assertEqual([e["config"]["knobs"]["SYNC_POLICY"] for e in table["entries"]], [5])
        said = self.call("best", "--tune", self.path / "none", *args[:-2], expect=1).stderr
        self.assertIn("race: ", said)

    def test_a_kernel_without_a_right_config_does_not_end_a_tuning(self):
        folder = self.path / "kernels"
        folder.mkdir()
        for name in ("01_minimal.cu", "01_minimal.json", "02_tiled.cu", "02_tiled.json"):
            (folder / name).write_text((TREE / "kernels" / name).read_text())
        args = ["--kernels", folder, "--device", "emulated:l4", "--problem", "B=1,H=1,S=64,D=64", "--config", "tiled:SYNC_POLICY=0"]
        done = self.call("best", "--tune", self.path / "tables", *args, "--config", "minimal:THREADS=128")
        self.assertIn("attnscope best: ", done.stderr)
        table = json.loads((self.path / "tables" / "l4.json").read_text())
        self.assertEqual([e["kernel"]["id"] for e in table["entries"]], ["minimal"])
        self.assertEqual(done.stdout, f"{self.path / 'tables' / 'l4.json'}\n")
        self.assertEqual(self.call("best", "--tune", self.path / "none", *args, expect=2).stdout, "")

    # ---- export ----
    def export(self, *args, **more):
        out = self.path / "out"
        self.call("export", "--device", "emulated:h200", "--out", out, *args, **more)
        return out

    def kernel_code(self, cubin, symbol=None):
        """The bytes of .text.<kernel>, read from the ELF."""
        data = cubin.read_bytes()
        offset, = struct.unpack_from("<Q", data, 0x28)
        size, count, names = struct.unpack_from("<HHH", data, 0x3A)
        sections = [struct.unpack_from("<IIQQQQ", data, offset + i * size) for i in range(count)]
        strings = sections[names][4]
        found = {}
        for name, _, _, _, at, length in sections:
            text = data[strings + name:data.index(b"\0", strings + name)].decode()
            if text.startswith(".text."):
                found[text[6:]] = data[at:at + length]
        return found

    def compiled(self, folder, *words):
        """The machine code that nvcc produces with these arguments."""
        out = folder / "nvcc.cubin"
        subprocess.run([nvcc(), "-arch=sm_90", "-cubin", "-o", out.name, *words], cwd=folder, check=True)
        return self.kernel_code(out)

    def test_an_exported_source_compiles_to_the_same_machine_code(self):
        library = nvcc() and nvrtc_beside(nvcc())
        if not library:
            self.skipTest("no nvcc with an NVRTC of its version: install the CUDA toolkit, or run ./dev setup")
        knobs = {"BLOCK_M": 64, "BLOCK_N": 32, "SHARED": 1}
        settings = [word for name, value in knobs.items() for word in ("--set", f"{name}={value}")]
        out = self.export("--kernel", "tiled", *settings, ATTNSCOPE_NVRTC=str(library))
        path = os.environ["PATH"] + os.pathsep + str(pathlib.Path(nvcc()).parent)
        subprocess.run(["sh", "build.sh"], cwd=out, check=True, env=dict(os.environ, PATH=path))
        by_nvcc, shipped = self.kernel_code(out / "tiled_sm90.nvcc.cubin"), self.kernel_code(out / "tiled_sm90.cubin")
        self.assertEqual(by_nvcc.keys(), shipped.keys())
        for code in (*by_nvcc.values(), *shipped.values()):
            self.assertGreater(len(code), 1000)
        # The rung itself with the same compiler: export writes exactly the rung with these knobs.
        rung = TREE / "kernels" / "02_tiled.cu"
        macros = dict(knobs, NUM_WARPS=4, VEC_WIDTH=4, SYNC_POLICY=5, SWIZZLE_XOR=0, REDUCE_WARP=1, SO_TYPE=0, HEAD_DIM=64, CAUSAL=0,
                      DTYPE=0, ATTN_T="half")
        self.assertEqual(by_nvcc, self.compiled(out, "-std=c++17", "-use_fast_math", str(rung),
                                                *(f"-D{name}={value}" for name, value in macros.items())))
        # The PTX compiles to exactly that cubin.
        self.assertEqual(shipped, self.compiled(out, "tiled_sm90.ptx"))

    def test_the_exported_cpp_launcher_compiles(self):
        header = next((p for p in ("/usr/local/cuda/include", "/usr/include") if pathlib.Path(p, "cuda.h").exists()), None)
        if not header:
            self.skipTest("no cuda.h: install the CUDA toolkit")
        out = self.export("--kernel", "tiled")
        subprocess.run(["g++", "-std=c++17", "-Wall", "-Werror", "-c", "launch.cpp", "-isystem", header, "-o", "launch.o"],
                       cwd=out, check=True)

    def launcher(self, out):
        sys.path.insert(0, FAKE_TORCH)
        spec = importlib.util.spec_from_file_location("launch", out / "launch.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def test_the_exported_python_launcher_validates_its_tensors(self):
        launch = self.launcher(self.export("--kernel", "tiled", "--set", "BLOCK_M=48", "--set", "NUM_WARPS=6"))
        torch = launch.torch
        self.assertEqual(launch.grid(2, 8, 8, 100, 100), (3, 8, 2))
        gpu = torch.device("cuda:0")

        def tensor(*shape, dtype=torch.float16, place=gpu, **more):
            return torch.Tensor(bytes(2 * 64), dtype, shape, place, **more)

        q = tensor(1, 2, 5, 64)
        launch.validate(q, q, q)
        for words, error, bad in (("torch.bfloat16", TypeError, tensor(1, 2, 5, 64, dtype=torch.bfloat16)),
                                  ("cpu", ValueError, tensor(1, 2, 5, 64, place=torch.device("cpu"))),
                                  ("[batch, heads, rows, 64]", ValueError, tensor(1, 2, 5, 32)),
                                  ("contiguous", ValueError, tensor(1, 2, 5, 64, contiguous=False)),
                                  ("aligned", ValueError, tensor(1, 2, 5, 64, offset=1)),
                                  ("empty", ValueError, tensor(1, 2, 0, 64)),
                                  ("heads", ValueError, tensor(1, 1, 5, 64)),
                                  ("batch", ValueError, tensor(2, 2, 5, 64)),
                                  ("not a tensor", TypeError, [1.0])):
            with self.assertRaises(error) as raised:
                launch.validate(q, bad, bad)
            self.assertIn(words, str(raised.exception))
        with self.assertRaises(ValueError) as raised:
            launch.validate(q, q, q, out=tensor(1, 2, 6, 64))
        self.assertIn("out has the shape", str(raised.exception))

    def recorded(self, out):
        """The launcher over a driver that only notes its calls, and these."""
        launch, launched = self.launcher(out), []
        stream = types.SimpleNamespace(cuda_stream=7)
        launch.torch.cuda.current_stream = lambda *_: stream
        launch.torch.cuda.device = lambda _: launch.torch.no_grad()

        class Driver:
            def __getattr__(self, name):
                return lambda *args: launched.append((name, args)) or 0

        launch.driver = Driver
        return launch, launched

    def test_an_exported_program_launches_its_steps_in_order(self):
        for name, steps in (("softmax3", ["cuLaunchKernel", "cuMemsetD8Async", "cuLaunchKernel", "cuLaunchKernel"]),
                            ("split_k", ["cuLaunchKernel", "cuLaunchKernel", "cuMemcpyDtoDAsync_v2"])):
            out = self.export("--kernels", TREE / "tests" / "data" / "programs", "--kernel", name)
            launch, launched = self.recorded(out)
            torch = launch.torch
            tensors = [torch.Tensor(bytes(4), dtype, shape, torch.device("cuda:0")) for _, _, dtype, shape, _ in launch.BUFFERS]
            launch.launch(*tensors)
            called = [(function, args) for function, args in launched if "Module" not in function and "Attribute" not in function]
            self.assertEqual([function for function, _ in called], steps)
            self.assertEqual([cubin for cubin, *_ in launch.LAUNCHES], sorted({cubin for cubin, *_ in launch.LAUNCHES}))
            self.assertTrue(all((out / cubin).exists() for cubin, *_ in launch.LAUNCHES))
            cpp = (out / "launch.cpp").read_text()
            self.assertNotRegex(cpp + (out / "launch.py").read_text() + (out / "README.md").read_text(), r"@[A-Z_:]+@")
            if name == "softmax3":  # six rows; the memset is of `sums`, which has no contents before
                self.assertEqual(called[0][1][1:4], (6, 1, 1))
                self.assertEqual(called[1][1][0].value, tensors[3].data_ptr())
                self.assertEqual((called[1][1][1], called[1][1][2].value), (0, 24))
                self.assertFalse((out / "data" / "sums.bin").exists())
                self.assertIn("{Step::memset, 3, 0, 0}", cpp)
            else:
                self.assertEqual([arg.value for arg in called[2][1][:3]], [tensors[4].data_ptr(), tensors[3].data_ptr(), 4 * 20 * 24])
                self.assertIn("{Step::copy, 4, 3, 0}", cpp)
            shutil.rmtree(out)

    def test_the_exported_python_launcher_launches_what_the_manifest_says(self):
        launch, launched = self.recorded(self.export("--kernel", "scalar"))
        torch = launch.torch
        q = torch.Tensor(bytes(2 * 2 * 100 * 64), torch.float16, (1, 2, 100, 64), torch.device("cuda:0"))
        launch.attention(q, q, q)
        self.assertEqual([name for name, _ in launched],
                         ["cuModuleLoadData", "cuModuleGetFunction", "cuFuncSetAttribute", "cuLaunchKernel"])
        self.assertEqual(launched[0][1][1], (self.path / "out" / "scalar_sm90.cubin").read_bytes())
        args = launched[3][1]
        observed = json.loads(self.call("run", "--kernel", "scalar", "--device", "emulated:h200", "--problem",
                                        "B=1,H=2,S=100,D=64", "--json").stdout)
        self.assertEqual(args[1] * args[2] * args[3], observed["occupancy"]["total_ctas"])
        self.assertEqual(args[7], observed["variant"]["dynamic_shared_bytes"])
        self.assertEqual(args[8].value, 7)

    # ---- PyTorch ----
    def test_torch_is_a_device_of_the_session(self):
        args = ("run", "--kernel", "torch", "--set", "BACKEND=efficient", "--device", "torch/cuda:0", "--problem")
        done = self.torch(*args, "B=1,H=2,S=12,D=32,causal=true", "--json")
        o = json.loads(done.stdout)
        jsonschema.validate(o, json.loads((TREE / "docs" / "observation.schema.json").read_text()))
        self.assertEqual(o["verdict"]["state"], "correct", o["verdict"])
        self.assertEqual(o["verdict"]["rows_checked"], 24)
        self.assertEqual(o["timing"]["kind"], "measured")
        self.assertAlmostEqual(o["timing"]["us"]["p50"], 20.0, delta=0.01)
        self.assertGreaterEqual(len(o["timing"]["sampling"]["rounds"]), 10)
        self.assertIsNone(o["counters"])
        self.assertIn("PyTorch 2.11.0", o["versions"]["driver"])
        self.assertEqual(o["versions"]["gpu"], "NVIDIA Fake")

    def test_torchs_limits_are_the_drivers(self):
        asks = ("import json, torch, torch_worker as worker\n"
                "print(json.dumps(worker.Worker(torch, '', None, None, None).device(0)))")
        paths = os.pathsep.join([FAKE_TORCH, str(TREE / "assets" / "torch_worker")])
        said = subprocess.run([sys.executable, "-c", asks], env=dict(os.environ, PYTHONPATH=paths), capture_output=True,
                              text=True, check=True, timeout=60).stdout
        spec = json.loads(said)
        known = json.loads((TREE / "assets" / "devices" / "h200.json").read_text())
        for limit in ("sms", "shared_static_block", "shared_optin_block", "shared_sm", "shared_reserved_block", "warps_sm",
                      "ctas_sm", "registers_sm", "registers_block"):
            self.assertEqual(spec[limit], known[limit], limit)
        self.assertEqual(spec["l2_mb"], 1)

    def test_torch_is_held_to_the_same_verdict(self):
        done = self.torch("run", "--kernel", "torch", "--device", "torch/cuda:0", "--problem", "B=1,H=2,S=12,D=32",
                          expect=1, FAKE_TORCH_WRONG="1")
        self.assertIn("wrong", done.stdout)

    def test_torch_times_a_cold_call_and_grouped_heads(self):
        preset = json.loads((TREE / "presets" / "tiled.json").read_text())
        del preset["invite"]  # a knob of tiled
        preset.update(kernel="torch", knobs={"BACKEND": "math"}, device="torch/cuda:0", measure={"cache": "cold"})
        preset["problem"].update(heads=4, kv_heads=2, seq_q=6, seq_k=9, head_dim=32)
        file = self.path / "cold.json"
        file.write_text(json.dumps(preset))
        o = json.loads(self.torch("run", "--preset", file, "--device", "torch/cuda:0", "--json").stdout)
        self.assertEqual((o["verdict"]["state"], o["timing"]["cache"]), ("correct", "cold"))
        self.assertAlmostEqual(o["timing"]["us"]["p50"], 60.0, delta=0.01)

    def test_a_backend_that_cannot_do_it_says_why_in_pytorchs_words(self):
        done = self.torch("run", "--kernel", "torch", "--set", "BACKEND=cudnn", "--device", "torch/cuda:0", "--problem",
                          "B=1,H=1,S=8,D=32", expect=2)
        self.assertIn("No available kernel", done.stderr)
        self.assertIn("runtime disabled", done.stderr)

    def test_without_torch_or_a_gpu_it_says_what_to_install(self):
        args = ("run", "--kernel", "torch", "--device", "torch/cuda:0", "--problem", "B=1,H=1,S=8,D=32")
        empty = self.path / "empty" / "torch"
        empty.mkdir(parents=True)
        (empty / "__init__.py").write_text("raise ImportError('not here')")
        self.assertIn("pip install torch", self.torch(*args, expect=3, PYTHONPATH=str(empty.parent)).stderr)
        self.assertIn("sees no NVIDIA GPU", self.torch(*args, expect=3, FAKE_TORCH_NO_GPU="1").stderr)

    def test_a_device_runs_only_what_it_has(self):
        done = self.call("run", "--kernel", "torch", "--device", "emulated:l4", "--problem", "B=1,H=1,S=8,D=32", expect=3)
        self.assertIn("pip install torch", done.stderr)
        done = self.torch("run", "--kernel", "tiled", "--device", "torch/cuda:0", "--problem", SMALL, expect=3)
        self.assertIn("CUDA source", done.stderr)

    def test_torch_that_hangs_is_ended(self):
        done = self.torch("run", "--kernel", "torch", "--device", "torch/cuda:0", "--problem", "B=1,H=1,S=8,D=32",
                          "--deadline", "700", expect=4, FAKE_TORCH_HANG="1")
        self.assertIn("no progress", done.stderr)

    def test_the_workers_messagepack_and_statistics(self):
        import sampling
        import wire
        for value in (None, True, 0, 127, 128, 255, 1 << 40, -1, -40000, 1.5, "", "ü" * 40, "x" * 70000, b"", b"\0" * 300,
                      [], list(range(20)), {"a": [1, {"b": None}]}, {str(i): i for i in range(20)}):
            self.assertEqual(wire.unpack(wire.pack(value)), value)
        for bad in (b"", b"\xc1", b"\xd9\x05ab", b"\x01\x02", b"\xa2\xff\xff", b"\x91" * 100,
                    b"\xdd\x00\x10\x00\x00" + b"\xc0" * (1 << 20)):
            with self.assertRaises(ValueError):
                wire.unpack(bad)
        rounds = [[100 + r + 0.01 * i for i in range(12)] for r in range(10)]
        (p10, p50, p90), (low, high) = sampling.figures(rounds)
        self.assertTrue(p10 < low < p50 < high < p90)
        again = [[us * 3 for us in r] for r in rounds]
        self.assertAlmostEqual(sampling.figures(again)[1][0], 3 * low)
        for got, wanted in zip(sampling.figures([[5.0] * 3] * 2)[1], (4.99875, 5.00125)):
            self.assertAlmostEqual(got, wanted)


if __name__ == "__main__":
    unittest.main()
