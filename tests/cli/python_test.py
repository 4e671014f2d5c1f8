"""The Python package over the program: typed values, errors, progress, and the worked notebook. Nothing is installed."""
import contextlib
import dataclasses
import html.parser
import io
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tarfile
import tempfile
import unittest
import unittest.mock

from kept_cache import keep_compiled

ROOT = pathlib.Path(os.environ["ATTNSCOPE_TREE"])
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "assets" / "python"))
os.environ["ATTNSCOPE_PROGRAM"] = os.environ["ATTNSCOPE"]

import attnscope  # noqa: E402
from attnscope import decode, table, values  # noqa: E402

SMALL = {"problem": "B=1,H=1,S=64,D=64", "device": "emulated:l4"}


class Python(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        os.environ["ATTNSCOPE_HOME"] = str(self.folder / "home")
        keep_compiled(self.folder / "home")

    def program(self, script):
        """A program in the place of attnscope."""
        path = self.folder / "program"
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
        before = os.environ["ATTNSCOPE_PROGRAM"]
        os.environ["ATTNSCOPE_PROGRAM"] = str(path)
        self.addCleanup(os.environ.__setitem__, "ATTNSCOPE_PROGRAM", before)

    def refusal(self, function, *words, **more):
        with self.assertRaises(attnscope.AttnscopeError) as caught:
            function(*words, **more)
        return caught.exception

    def test_python_has_the_schemas_types(self):
        done = subprocess.run([sys.executable, "-B", str(ROOT / "cmake" / "python_types.py"), "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_python_runs_compares_and_explains(self):
        a = attnscope.run("tiled", **SMALL)
        self.assertEqual((a.timing.kind, a.correct, a.sound), ("modelled", True, True))
        self.assertEqual(a.us, a.json["timing"]["us"]["p50"])
        self.assertEqual(a.experiment.config.knobs["NUM_WARPS"], 4)
        b = attnscope.run("tiled", knobs={"NUM_WARPS": 8, "SYNC_POLICY": "warp"}, watch=True, problem={"B": 1, "H": 1, "S": 64, "D": 64}, device="emulated:l4")
        self.assertEqual(b.experiment.problem, a.experiment.problem)
        self.assertTrue(any(one.severity == "error" for one in b.watch.findings), "a race")
        self.assertFalse(b.sound)
        a.save(self.folder / "a.json")
        self.assertEqual(attnscope.read(self.folder / "a.json"), a)
        same = attnscope.compare(a, self.folder / "a.json")
        self.assertEqual((same.tie, same.faster, same.ratio), (True, None, 1.0))
        told = attnscope.compare(a, b)
        self.assertEqual(told.faster, None if told.tie else "b" if told.ratio > 1 else "a")
        self.assertAlmostEqual(told.ratio, a.us / b.us, places=6)
        why = attnscope.explain("tiled", **SMALL)
        self.assertTrue(why.findings)
        self.assertAlmostEqual(sum(term.us for term in why.timing.terms.list), why.us, delta=0.01 * why.us)
        # A refusal of a run has what came of it; one of the command line has none.
        late = self.refusal(attnscope.run, "tiled", knobs={"BLOCK_M": 64}, **SMALL)
        self.assertEqual((late.stage, late.observation.experiment.config.knobs["BLOCK_M"]), ("limits", 64))
        self.assertIn("57376", str(late).replace(",", ""))
        early = self.refusal(attnscope.run, "tile", **SMALL)
        self.assertEqual((early.stage, early.status, early.observation), ("input", 2, None))
        self.assertIn("tiled", early.hint)
        self.assertEqual(self.refusal(attnscope.run, "tiled", deadline_ms=-1, **SMALL).status, 2)
        self.assertEqual(self.refusal(attnscope.compare, a, self.folder / "none.json").stage, "input")

    def test_python_scans_sweeps_and_lists(self):
        seen = []
        scan = attnscope.scan("minimal", knob="THREADS", progress=lambda *told: seen.append(told), **SMALL)
        self.assertEqual([one.knob for one in scan.knobs], ["THREADS"])
        values_of = scan.knobs[0].values
        self.assertEqual(sum(one.fastest for one in values_of), 1)
        self.assertTrue(all(one.observation.json for one in values_of if one.observation))
        self.assertTrue(any(of == len(values_of) and "THREADS" in text for _, of, text in seen), seen)
        seen.clear()
        sweep = attnscope.sweep("tiled", space={"NUM_WARPS": [4, 8], "SYNC_POLICY": ["warp", "cta"]}, seed=1, strategy="random",
                                progress=lambda *told: seen.append(told), **SMALL)
        self.assertEqual((sweep.configs, sweep.tried, len(sweep.correct), len(sweep.rejected)), (4, 2, 2, 2))
        self.assertEqual({one.why for one in sweep.rejected}, {"warning"})
        self.assertEqual(sweep.best.us, min(one.us for one in sweep.correct))
        self.assertTrue(any(of == 2 for _, of, _ in seen), seen)
        again = attnscope.sweep("tiled", space={"knobs": {"NUM_WARPS": [4, 8], "SYNC_POLICY": ["cta"]}}, progress=False, **SMALL)
        self.assertEqual([one.hash for one in again.correct], [one.hash for one in sweep.correct])
        stored = attnscope.results(kernel="tiled", fastest=True)
        self.assertEqual(stored[0].observation.us, sweep.best.us)
        self.assertLessEqual(len(attnscope.results(limit=1)), 1)
        labelled = attnscope.results(kernel="tiled", knobs={"SYNC_POLICY": "cta"})
        numbered = attnscope.results(kernel="tiled", knobs={"SYNC_POLICY": 5})
        self.assertEqual([one.observation.experiment.hash for one in labelled], [one.observation.experiment.hash for one in numbered])
        self.assertTrue(labelled)
        rows = sweep.rows()
        self.assertEqual({row["SYNC_POLICY"] for row in rows}, {one.knobs["SYNC_POLICY"] for one in sweep.correct})
        # As pandas has them: a row each, numbers as numbers, a column for each knob and figure.
        frame = sweep.frame()
        self.assertEqual([list(row) for row in frame.to_numpy()], [list(row.values()) for row in rows])
        self.assertEqual(list(frame.columns), list(rows[0]))
        self.assertEqual(str(frame["us"].dtype), "float64")
        self.assertEqual(frame.loc[frame["us"].idxmin(), "NUM_WARPS"], sweep.best.knobs["NUM_WARPS"])
        for table_ in (scan, stored, stored[0].observation):
            self.assertEqual(len(table_.frame()), len(table_.rows()))
            self.assertGreater(len(table_.frame().columns), 1)
        with unittest.mock.patch.dict(sys.modules, {"pandas": None}):
            self.assertRaises(ImportError, sweep.frame)
        self.assertEqual(self.refusal(attnscope.sweep, "tiled", space={"NO_KNOB": [1]}, **SMALL).status, 2)
        self.assertIn("emulated:l4", [one["id"] for one in attnscope.devices()])
        self.assertIn("tiled", [one["id"] for one in attnscope.kernels()])

    def test_python_runs_machine_code_as_it_is(self):
        with tarfile.open(ROOT / "tests" / "data" / "emulator" / "watched_rungs.tar.xz") as packed:
            code = {name: packed.extractfile(f"light{name}_sm89.cubin").read() for name in (0, 5)}  # by nvcc
        launch = {"device": "emulated:l4", "grid": (2, 1, 1), "block": 256, "entry": "attention_tiled",
                  "args": [*(f"{name}:in:f16:4096" for name in "qkv"), "o:out:f16:4096", "0.125:f32", "batch=1", "heads=1", "seq_q=64", "seq_k=64"]}
        path = self.folder / "light5.cubin"
        path.write_bytes(code[5])
        sound, again = attnscope.run(code=code[5], **launch), attnscope.run(code=path, **{**launch, "args": ", ".join(launch["args"])}, shared=0)
        self.assertEqual((sound.verdict.state, sound.counters.total_ctas), ("unchecked", 2), "it has no reference")
        self.assertFalse(any(one.severity == "error" for one in sound.watch.findings))
        self.assertEqual((again.variant.code_hash, again.counters, again.us), (sound.variant.code_hash, sound.counters, sound.us))
        racy = attnscope.run(code=code[0], **launch)
        self.assertTrue(any(one.severity == "error" for one in racy.watch.findings), "a race")
        for wrong, said in (({"args": None}, "--args"), ({"grid": None}, "--grid"), ({"entry": "other"}, "no kernel \"other\""), ({"device": "emulated:h200"}, "sm_89")):
            refused = self.refusal(attnscope.run, code=code[5], **{**launch, **wrong})
            self.assertIn(said, refused.message + refused.hint)
        self.assertEqual(self.refusal(attnscope.run, code=b"no machine code", **launch).status, 2)

    def test_python_passes_options_and_workers_on(self):
        run = attnscope.run("minimal", options={"maxrregcount": 32, "fast_math": False}, **SMALL)
        self.assertEqual((run.experiment.config.options.maxrregcount, run.experiment.config.options.fast_math), (32, False))
        asked = self.folder / "asked"
        self.program(f"printf '%s\\n' \"$@\" >{asked}; exit 2")
        options = ["--option=maxrregcount=64", "--option=fmad=on"]
        for function in (attnscope.run, attnscope.explain, attnscope.scan, attnscope.sweep):
            self.refusal(function, "tiled", options={"maxrregcount": 64, "fmad": True}, worker=["one worker", "two"])
            words = asked.read_text().splitlines()
            self.assertEqual([word for word in words if word.startswith("--option")], options)
            self.assertEqual([word for word in words if word.startswith("--worker")], ["--worker=one worker", "--worker=two"])
        self.refusal(attnscope.sweep, "tiled", worker="one", slurm="--gres=gpu:1", workers=3)
        self.assertLessEqual({"--worker=one", "--slurm=--gres=gpu:1", "--workers=3"}, set(asked.read_text().splitlines()))

    def test_python_sweeps_on_several_workers(self):
        worker = shlex.join([os.environ["ATTNSCOPE"], "worker"])
        sweep = attnscope.sweep("tiled", space={"NUM_WARPS": [4, 8], "SYNC_POLICY": ["cta"]}, worker=[worker, worker], **SMALL)
        self.assertEqual((sweep.tried, len(sweep.correct)), (2, 2))

    def test_python_shows_text_from_outside_as_text(self):
        hostile = "<script>alert(1)</script>&\"'"
        shown = table.html_table([{hostile: hostile, "us": 1.5}, {"us": None}], hostile)

        class Reader(html.parser.HTMLParser):
            tags, text = [], []

            def handle_starttag(self, tag, attributes):
                Reader.tags.append((tag, attributes))

            def handle_data(self, data):
                Reader.text.append(data)

        Reader().feed(shown)
        self.assertLessEqual({tag for tag, _ in Reader.tags}, {"table", "caption", "thead", "tbody", "tr", "th", "td"})
        self.assertEqual([attributes for _, attributes in Reader.tags if attributes], [])
        self.assertEqual(Reader.text.count(hostile), 3)

    def test_python_refuses_what_is_not_the_programs_result(self):
        good = {"lines": ["a"], "more": 1}
        kind = attnscope.observation_types.Printed
        self.assertEqual(decode.read(kind, good), kind(lines=["a"], more=1))
        for bad in ({"lines": ["a"]}, {**good, "extra": 1}, {"lines": "a", "more": 1}, {"lines": [1], "more": 1},
                    {"lines": [], "more": "1"}, {"lines": [], "more": True}, {"lines": [], "more": 1.5}, [], None):
            self.assertEqual(self.refusal(decode.read, kind, bad).stage, "protocol", bad)
        first = attnscope.observation_types.FirstBad
        self.assertEqual(decode.read(first, {"batch": 0, "column": 0, "expected": "inf", "got": 2, "head": 0, "row": 0}).expected, float("inf"))
        for frozen in (kind, values.Sweep):
            self.assertTrue(dataclasses.is_dataclass(frozen))
        for script, stage in (("echo no JSON", "protocol"), ("exit 0", "protocol"), ("echo '[]'", "protocol"), ("echo '{}'", "protocol"),
                              ("kill -9 $$", "crash"), ("echo oops >&2; exit 127", "crash"), ("echo '[1' >&2; exit 2", "input"),
                              ("printf '\\377\\376' >&2; exit 3", "crash"), ("echo '{\"failure\": {}}' >&2; exit 2", "input")):
            self.program(script)
            self.assertEqual(self.refusal(attnscope.run, "tiled").stage, stage, script)
        self.program("echo '{\"failure\": {\"stage\": \"compile\", \"message\": \"m\", \"hint\": \"h\"}}' >&2; exit 3")
        told = self.refusal(attnscope.run, "tiled")
        self.assertEqual((told.stage, told.message, told.hint, told.status), ("compile", "m", "h", 3))
        # So much on stderr that a pipe is full before stdout ends.
        self.program("head -c 300000 /dev/zero | tr '\\0' 'x' >&2; echo '[]'")
        self.assertEqual(attnscope.devices(), [])
        os.environ["ATTNSCOPE_PROGRAM"] = str(self.folder / "nowhere")
        self.assertIn("ATTNSCOPE_PROGRAM", self.refusal(attnscope.devices).hint)
        (self.folder / "text").write_text("no JSON")
        self.assertEqual(self.refusal(attnscope.read, self.folder / "text").stage, "input")

    def test_the_python_notebook_runs(self):
        notebook = json.loads((ROOT / "docs" / "python.ipynb").read_text())
        self.assertEqual((notebook["nbformat"], notebook["nbformat_minor"]), (4, 4))
        names, said = {}, io.StringIO()
        with contextlib.redirect_stdout(said):
            for number, cell in enumerate(notebook["cells"]):
                self.assertIn(cell["cell_type"], ("code", "markdown"))
                if cell["cell_type"] != "code":
                    continue
                self.assertEqual(cell["outputs"], [], "outputs are not kept: they would go stale")
                exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
        self.assertEqual(names["after"].experiment.config.knobs["NUM_WARPS"], 8)
        self.assertEqual(names["sweep"].tried + len([one for one in names["sweep"].rejected if one.why in ("restriction", "limit", "warning")]), 8)
        self.assertIn("limits", said.getvalue())
        self.assertTrue(len(names["stored"]))
        for name in ("before", "comparison", "scan", "sweep", "stored"):
            self.assertTrue(names[name]._repr_html_().startswith("<table>"))


if __name__ == "__main__":
    unittest.main()
