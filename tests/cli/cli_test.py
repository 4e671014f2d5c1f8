"""The command line: what it prints, where it prints it, and what it exits with."""
import array
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

import jsonschema
from kept_cache import keep_compiled

PROGRAM = os.environ["ATTNSCOPE"]
TREE = pathlib.Path(os.environ["ATTNSCOPE_TREE"])
MUTANTS = TREE / "tests" / "mutants"
SMALL = "B=1,H=1,S=64,D=64"


class Cli(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.home.name)
        keep_compiled(self.path / "home")

    def tearDown(self):
        self.home.cleanup()

    def call(self, *args, **more):
        environment = dict(os.environ, ATTNSCOPE_HOME=str(self.path / "home"), **more)
        return subprocess.run([PROGRAM, *map(str, args)], env=environment, capture_output=True, text=True, timeout=560)

    def run_json(self, *args, expect=0):
        done = self.call("run", "--json", *args)
        self.assertEqual(done.returncode, expect, done.stderr)
        observation = json.loads(done.stdout)  # stdout holds only the result
        jsonschema.validate(observation, json.loads((TREE / "docs" / "observation.schema.json").read_text()))
        return observation

    def refused(self, status, *args, names):
        done = self.call(*args)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        for name in names:
            self.assertIn(name, done.stderr)
        return done

    def preset(self, text, name="mine.json"):
        file = self.path / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def changed_preset(self, change):
        preset = json.loads((TREE / "presets" / "tiled.json").read_text())
        change(preset)
        return self.preset(json.dumps(preset))

    def test_a_right_config_exits_0_and_fits_the_schema(self):
        o = self.run_json("--problem", SMALL)
        self.assertEqual(o["verdict"]["state"], "correct")
        self.assertEqual(o["variant"]["static_shared_bytes"], 36896)
        self.assertEqual(o["timing"]["kind"], "modelled")
        self.assertEqual(o["counters"]["kind"], "counted")
        self.assertEqual(o["counters"]["emulated_ctas"], o["counters"]["total_ctas"])
        self.assertIsNone(o["failure"])

    def holds(self, now, old, where):
        """Whether `now` contains everything of `old`; it may have more."""
        if isinstance(old, dict):
            for key, value in old.items():
                self.assertIn(key, now, where)
                self.holds(now[key], value, f"{where}/{key}")
        elif isinstance(old, list):
            for at, value in enumerate(old):
                name = value.get("id", value.get("name", value.get("title"))) if isinstance(value, dict) else None
                same = [other for other in now if isinstance(other, dict) and
                        other.get("id", other.get("name", other.get("title"))) == name]
                self.assertTrue(same if name else at < len(now), f"{where}: {name or at}")
                self.holds(same[0] if name else now[at], value, f"{where}/{name or at}")
        elif "/values/" not in where:  # a value that gets a label later becomes an object
            self.assertEqual(type(now), type(old), where)

    def test_json_has_every_key_that_0_1_0_printed(self):
        for command in ("kernels", "devices", "presets"):
            old = json.loads((TREE / "tests/data/written_by_0.1.0" / f"{command}.json").read_text())
            done = self.call(command, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.holds(json.loads(done.stdout), old, command)

    def test_text_for_a_person_says_each_figures_kind(self):
        done = self.call("run", "--problem", SMALL)
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ("modelled", "counted", "verdict", "36,896 B"):
            self.assertIn(word, done.stdout)

    def recorded(self, name, us):
        """An observation as a GPU would record it: two rounds that differ by their placement, around `us`."""
        o = self.run_json("--problem", SMALL)
        rounds = [[us * (1 + 1e-4 * ((7 * r + i) % 5 - 2)) for i in range(12)] for r in range(10)]
        o["timing"].update(kind="measured", samples=120, us={"p10": us, "p50": us, "p90": us}, interval=[us, us])
        o["timing"]["sampling"] = {"rounds": rounds, "stopped": "stable", "dropped": 0, "empty_us": None, "power_w": 70,
                                   "power_limit_w": 72, "temperature_c": 60, "reasons": ["power cap"]}
        jsonschema.validate(o, json.loads((TREE / "docs" / "observation.schema.json").read_text()))
        return self.preset(json.dumps(o), name)

    def test_recorded_timings_are_compared_with_their_interval(self):
        a, b = self.recorded("a.json", 500), self.recorded("b.json", 510)
        done = self.call("compare", a, b, "--recorded")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("B is 2.00 % slower: A/B 0.98", done.stdout)
        self.assertIn("B is 1.96 % faster: A/B 1.02", self.call("compare", b, a, "--recorded").stdout)
        compared = json.loads(self.call("compare", b, a, "--recorded", "--json").stdout)
        self.assertFalse(compared["tie"])
        self.assertLess(compared["interval"][0], 1.02)
        self.assertGreater(compared["interval"][1], 1.02)
        self.assertIn("cannot be told apart:", self.call("compare", a, a, "--recorded").stdout)
        for one, other, status in [(a, b, 1), (b, a, 0), (a, a, 0)]:
            gate = self.call("compare", one, other, "--recorded", "--fail-if-slower")
            self.assertEqual(gate.returncode, status, gate.stdout)

    def test_what_was_never_timed_is_not_compared(self):
        tiled = TREE / "presets" / "tiled.json"
        self.refused(2, "compare", tiled, tiled, "--recorded", names=["holds no recorded samples"])
        self.refused(2, "compare", tiled, self.path / "nothing.json", names=["nothing.json"])

    def test_modelled_times_are_compared_with_the_bar_of_their_ratio(self):
        one = self.run_json("--problem", SMALL, "--kernel", "tiled")
        other = self.run_json("--problem", SMALL, "--kernel", "minimal")
        a, b = self.preset(json.dumps(one), "a.json"), self.preset(json.dumps(other), "b.json")
        ratio = one["timing"]["us"]["p50"] / other["timing"]["us"]["p50"]
        for more in ([], ["--recorded"]):
            compared = json.loads(self.call("compare", a, b, "--json", *more).stdout)
            self.assertEqual(compared["kind"], "modelled")
            self.assertAlmostEqual(compared["ratio"], ratio, 6)
            low, high = compared["interval"]
            self.assertLess(low, ratio)
            self.assertGreater(high, ratio)
            self.assertEqual(compared["tie"], low <= 1 <= high)
        self.assertIn("cannot be told apart: A/B 1.00000", self.call("compare", a, a).stdout)
        one["timing"]["us"] = {"p10": 1, "p50": 1, "p90": 1}
        fast = self.preset(json.dumps(one), "fast.json")
        self.assertRegex(self.call("compare", fast, b, "--recorded").stdout, r"B is [\d.]+ % slower: .* error bar .*, modelled")

    def test_a_run_of_another_text_is_not_timed_again(self):
        folder = self.path / "mine"
        folder.mkdir()
        for end in (".json", ".cu"):
            text = (TREE / "kernels" / ("01_minimal" + end)).read_text()
            (folder / ("mine" + end)).write_text(text.replace('"id": "minimal"', '"id": "mine"').replace("01_minimal.cu", "mine.cu"))
        own = ("--kernels", folder)
        run = lambda: json.dumps(self.run_json("--problem", SMALL, "--kernel", "mine", *own))
        before = self.preset(run(), "before.json")
        code = next(folder.glob("*.cu"))
        code.write_text(code.read_text() + "\n// edited\n")
        after = self.preset(run(), "after.json")
        self.refused(2, "compare", *own, "--fail-if-slower", before, after, names=["before.json", "mine", "edited", "--recorded"])
        self.assertEqual(self.call("compare", *own, "--recorded", before, after).returncode, 0)

    def test_unlike_runs_are_not_compared(self):
        a = self.recorded("a.json", 500)
        changes = {
            "another problem": lambda o: o["experiment"]["problem"].update(seq_q=4096, seq_k=4096),
            "another device": lambda o: o["versions"].update(gpu="NVIDIA L4"),
            "another cache policy": lambda o: o["experiment"]["measure"].update(cache="cold"),
        }
        for words, change in changes.items():
            o = json.loads(a.read_text())
            change(o)
            b = self.preset(json.dumps(o), "b.json")
            done = self.refused(2, "compare", a, b, "--recorded", names=["not comparable", words])
            self.assertEqual(done.stdout, "")
        o = json.loads(a.read_text())
        o["experiment"]["config"]["knobs"]["NUM_WARPS"] = 8
        self.assertEqual(self.call("compare", a, self.preset(json.dumps(o), "b.json"), "--recorded").returncode, 0)

    def test_a_wrong_config_exits_1(self):
        o = self.run_json("--problem", "B=1,H=1,S=200,D=64", "--set", "NUM_WARPS=6", expect=1)
        self.assertEqual(o["verdict"]["state"], "wrong")
        self.assertIsNotNone(o["verdict"]["first_bad"])

    RACE = ("--problem", SMALL, "--set", "SYNC_POLICY=0")

    def test_a_race_is_the_headline_whatever_the_output(self):
        o = self.run_json(*self.RACE, expect=1)
        self.assertEqual(o["verdict"]["state"], "correct")
        self.assertIn("race.shared", [f["rule"] for f in o["watch"]["findings"] if f["severity"] == "error"])
        done = self.call("run", *self.RACE)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^verdict +race; the output itself is correct$")
        self.assertEqual(self.call("run", *self.RACE, "--watch").returncode, 1)  # the default

    def test_what_was_not_watched_says_so(self):
        done = self.call("run", *self.RACE, "--no-watch")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^watch +none: races, .* were not looked for")
        self.assertIsNone(self.run_json(*self.RACE, "--no-watch")["watch"])
        self.refused(2, "run", "--watch", "--no-watch", names=["--watch"])

    def test_a_compared_run_with_a_race_says_so_and_exits_1(self):
        a, b = self.recorded("a.json", 500), self.recorded("b.json", 510)
        racy = json.loads(b.read_text())
        racy["watch"] = self.run_json(*self.RACE, expect=1)["watch"]
        b.write_text(json.dumps(racy))
        done = self.call("compare", a, b, "--recorded")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^A .*, correct$")
        self.assertRegex(done.stdout, r"(?m)^B .*, race$")
        self.assertEqual(json.loads(self.call("compare", a, b, "--recorded", "--json").stdout)["b"]["headline"], "race")

    def test_m64_static_is_refused_and_dynamic_runs(self):
        o = self.run_json("--problem", SMALL, "--set", "BLOCK_M=64", expect=3)
        text = o["failure"]["message"] + o["failure"]["hint"]
        for figure in ("57,376", "49,152", "dynamic"):
            self.assertIn(figure, text)
        o = self.run_json("--problem", SMALL, "--set", "BLOCK_M=64", "--set", "SHARED=dynamic")
        self.assertEqual(o["variant"]["dynamic_shared_bytes"], 57376)

    def scanned(self, *args, expect=0):
        done = self.call("scan", "--json", "--problem", SMALL, *args)
        self.assertEqual(done.returncode, expect, done.stderr)
        return json.loads(done.stdout)["knobs"]

    def test_a_scan_runs_every_value_of_a_knob(self):
        [warps] = self.scanned("--knob", "NUM_WARPS")
        self.assertEqual([v["value"] for v in warps["values"]], [1, 2, 4, 6, 8])
        self.assertEqual([v["value"] for v in warps["values"] if v["current"]], [4])
        schema = json.loads((TREE / "docs" / "observation.schema.json").read_text())
        for value in warps["values"]:
            jsonschema.validate(value["observation"], schema)
            knobs = value["observation"]["experiment"]["config"]["knobs"]
            self.assertEqual((knobs["NUM_WARPS"], knobs["BLOCK_M"]), (value["value"], 32))
            self.assertEqual(value["kind"], "modelled")
            single = self.run_json("--no-watch", "--problem", SMALL, "--set", f"NUM_WARPS={value['value']}", expect=value["state"] == "faulty")
            self.assertEqual(single["timing"]["us"], value["observation"]["timing"]["us"])
        six = warps["values"][3]
        self.assertIn("does not divide", six["warnings"][0])
        best = [v for v in warps["values"] if v["fastest"]]
        self.assertEqual(len(best), 1)
        self.assertEqual(best[0]["us"], min(v["us"] for v in warps["values"] if v["state"] == "timed" and not v["warnings"]))

    def test_a_scan_says_why_a_value_is_refused_and_times_equal_code_once(self):
        rows, vector = self.scanned("--knob", "VEC_WIDTH", "--knob", "BLOCK_M")
        self.assertEqual((rows["knob"], vector["knob"]), ("BLOCK_M", "VEC_WIDTH"))
        refused = rows["values"][-1]
        self.assertEqual(refused["state"], "refused")
        self.assertIn("57,376", refused["reason"])
        self.assertIn("SHARED", refused["hint"])
        four, eight = vector["values"][2:]
        self.assertEqual(eight["same_code_as"], "VEC_WIDTH=4")
        self.assertEqual(eight["us"], four["us"])
        self.assertIsNone(eight["observation"])
        text = self.call("scan", "--problem", SMALL, "--knob", "VEC_WIDTH").stdout
        self.assertRegex(text, r"(?m)^\* 4 .* us modelled +current +correct")
        self.assertRegex(text, r"(?m)^  8 .* the machine code of VEC_WIDTH=4, timed once$")
        self.assertIn("Not watched", text)

    def test_a_cooperative_launch_waits_for_its_grid(self):
        folder = str(TREE / "tests" / "kernels" / "cooperative")
        o = self.run_json("--no-watch", "--kernels", folder, "--kernel", "heat")
        self.assertEqual((o["verdict"]["state"], o["verdict"]["against"], o["verdict"]["max_abs"]), ("correct", "heat_of_one_cta", 0))
        flags = self.run_json("--no-watch", "--kernels", folder, "--kernel", "flags")  # no word is read twice in a row
        self.assertEqual((flags["verdict"]["state"], flags["verdict"]["against"]), ("correct", "flags_of_all"))
        self.refused(3, "run", "--kernels", folder, "--kernel", "heat", "--problem", "n=30000,steps=6,ctas=100000",
                     names=["holds 696", "Set ctas to 696 or less"])

    def test_a_large_scans_values_run_a_sample_with_the_time_of_the_whole(self):
        done = self.call("scan", "--json", "--problem", "B=1,H=8,S=256,D=64", "--knob", "BLOCK_M")
        [rows] = json.loads(done.stdout)["knobs"]
        checked = {v["value"]: v["observation"]["verdict"] for v in rows["values"] if v["observation"]}
        self.assertEqual({value: verdict["state"] for value, verdict in checked.items()}, dict.fromkeys((16, 32, 48), "correct"))
        self.assertLess(checked[32]["rows_checked"], 2048)
        self.assertEqual(checked[48]["rows_checked"], 2048)  # 48 does not divide 256, so a CTA has no equal part of the rows
        for value in rows["values"][:3]:
            whole = self.run_json("--no-watch", "--problem", "B=1,H=8,S=256,D=64", "--set", f"BLOCK_M={value['value']}")
            self.assertEqual(whole["verdict"]["rows_checked"], 2048)
            self.assertEqual(whole["timing"]["us"], value["observation"]["timing"]["us"])
        text = self.call("scan", "--problem", "B=1,H=8,S=256,D=64", "--knob", "BLOCK_M").stdout
        least = min(verdict["rows_checked"] for verdict in checked.values())
        self.assertIn(f"a sample of their CTAs: at least {least:,} of 2,048 rows checked", text)

    def test_a_scan_watches_where_it_is_asked_to(self):
        [sync] = self.scanned("--knob", "SYNC_POLICY", "--watch")
        self.assertEqual([v["state"] for v in sync["values"]], ["faulty", "faulty", "timed"])
        self.assertEqual(sync["values"][0]["verdict"], "race")

    def test_what_a_scan_cannot_do_has_the_exit_status_of_run(self):
        self.refused(2, "scan", "--knob", "NUM_WARP", names=["NUM_WARP", "Did you mean NUM_WARPS?"])
        self.refused(3, "scan", "--device", "emulated:nothing", "--knob", "NUM_WARPS", names=["emulated:nothing"])
        [rows] = self.scanned("--set", "BLOCK_N=64", "--set", "BLOCK_M=64", "--knob", "NUM_WARPS", expect=3)
        self.assertEqual({v["state"] for v in rows["values"]}, {"refused"})
        [rows] = self.scanned("--set", "SYNC_POLICY=none", "--knob", "SWIZZLE_XOR", "--watch", expect=1)
        self.assertEqual({v["state"] for v in rows["values"]}, {"faulty"})

    def test_the_same_code_has_one_hash(self):
        codes = {self.run_json("--problem", SMALL, "--set", f"VEC_WIDTH={w}")["variant"]["code_hash"] for w in (4, 8)}
        self.assertEqual(len(codes), 1)

    def test_explain_says_what_to_try_or_what_to_change(self):
        done = self.call("explain", "--kernel", "tiled", "--problem", "B=1,H=8,S=128,D=64")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"banks\.conflicts(?s:.*?)next +attnscope run .*SWIZZLE_XOR=1")
        self.assertRegex(done.stdout, r"tensor\.unused(?s:.*?)next +change 02_tiled\.cu:\d+; no knob is known to do it")

    def test_explain_reads_files_of_other_programs(self):
        call = {"routine": "cublasGemmEx", "transa": "N", "transb": "T", "m": 512, "n": 512, "k": 64, "lda": 512, "ldc": 512}
        illegal = self.call("explain", "--gemm", self.preset(json.dumps(call | {"ldb": 64}), "call.json"))
        self.assertEqual(illegal.returncode, 1, illegal.stderr)
        self.assertIn("call.argument", illegal.stdout)
        legal = self.call("explain", "--gemm", self.preset(json.dumps(call | {"ldb": 512}), "call.json"))
        self.assertEqual((legal.returncode, legal.stdout.strip()), (0, "Nothing is wrong."))
        csv = '"Kernel Name","Metric Name","Metric Value"\n"f","sm__pipe_tensor","n/a"\n'
        absent = self.call("explain", "--ncu", self.preset(csv, "ncu.csv"))
        self.assertEqual(absent.returncode, 0, absent.stderr)
        self.assertIn("metric.absent", absent.stdout)
        resources = {"device": "emulated:l4", "threads": 128, "registers": 64, "static_shared": 40960, "ctas": 128}
        told = self.call("explain", "--resources", self.preset(json.dumps(resources), "resources.json"))
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertRegex(told.stdout, r"^CTAs on an SM +2 \(shared memory limits them\)(?s:.*)occupancy\.low(?s:.*)grid\.tail")
        too_many = self.preset(json.dumps(resources | {"threads": 2048}), "resources.json")
        self.assertEqual(self.call("explain", "--resources", too_many).returncode, 1)
        self.refused(2, "explain", "--resources", self.preset('{"device": "l4"}', "few.json"), names=["few.json"])

    def test_explain_names_a_barrier_that_can_go_and_a_run_does_not_look_for_one(self):
        smooth = ("--kernel", "smooth", "--kernels", TREE / "tests" / "kernels" / "planted")
        done = self.call("explain", *smooth, "--watch")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"wait\.needless(?s:.*?)no barrier in line 19\.(?s:.*?)next +change smooth\.cu:19;")
        self.assertNotIn("needless", self.run_json(*smooth)["watch"])

    def test_explain_says_whether_two_runs_can_be_compared(self):
        def explained(*runs, changed=None):
            files = [TREE / "tests" / "data" / "explain" / f"{run}.json" for run in runs]
            if changed:
                second = json.loads(files[1].read_text())
                second["timing"].update(changed)
                files[1] = self.preset(json.dumps(second), "second.json")
            done = self.call("explain", "--runs", *files)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

        self.assertRegex(explained("tiled_839", "library_47"), r"times\.unlike(?s:.*)839\.4 us measured and 47 us reported")
        same_way = {"kind": "measured", "interval": [46.9, 47.1]}
        self.assertEqual(explained("tiled_839", "library_47", changed=same_way).strip(), "Nothing is wrong.")
        self.assertIn("times.tie", explained("scalar_1028", "scalar_1137"))
        self.assertIn("times.tie", explained("scalar_1028", "scalar_1137", changed={"interval": [1136, 1138]}))
        self.assertEqual(explained("tiled_839", "scalar_1137", changed={"interval": [1136, 1138]}).strip(), "Nothing is wrong.")
        self.refused(2, "explain", "--runs", self.preset("{}", "a.json"), self.preset("{}", "b.json"), names=["a.json"])
        self.refused(2, "explain", "--runs", self.preset("{}", "a.json"), names=["--runs"])

    def test_counters_are_a_gpus(self):
        small = ("counters", "--kernel", "minimal", "--problem", "B=1,H=1,S=32,D=64")
        self.refused(3, *small, "--device", "emulated:l4", names=["emulated:l4 has no hardware counters", "--device"])
        self.refused(3, *small, "--device", "cuda:7", names=["there is no device cuda:7"])
        wished = self.changed_preset(lambda p: p.update(device="cuda:7"))
        self.refused(3, "counters", "--preset", wished, names=["there is no device cuda:7"])

    def test_disasm_prints_code_by_instruction_and_by_line(self):
        done = self.call("disasm", "--kernel", "tiled", "--problem", SMALL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("EXIT", done.stdout)
        self.assertRegex(done.stdout, r"LDS.*02_tiled\.cu:\d+")
        self.assertRegex(done.stdout, r"Counted over all \d+ CTAs")
        hot = self.call("disasm", "--kernel", "tiled", "--problem", SMALL, "--by-line", "--hot", "bank conflicts")
        self.assertEqual(hot.returncode, 0, hot.stderr)
        self.assertIn("dot +=", hot.stdout.splitlines()[1], "the score loop reads the same banks")
        self.refused(2, "disasm", "--kernel", "tiled", "--hot", "nothing", names=["nothing"])
        line = (TREE / "kernels/02_tiled.cu").read_text().split("S_tile[score_at(row, key)] = first_key")[0].count("\n") + 1
        self.assertIn(f"disasm --kernel tiled --banks {line} ", (TREE / "README.md").read_text())
        banks = self.call("disasm", "--kernel", "tiled", "--problem", SMALL, "--banks", str(line))
        self.assertEqual(banks.returncode, 0, banks.stderr)
        self.assertRegex(banks.stdout, r"STS.* store of 4 B a lane, rows of 256 B")
        self.assertRegex(banks.stdout, r"32 wavefronts for 1 +4 wavefronts for 1 +4 wavefronts for 1")
        self.refused(2, "disasm", "--kernel", "tiled", "--problem", SMALL, "--banks", "1", names=["02_tiled.cu:1", str(line)])
        line = (TREE / "kernels/05_mma.cu").read_text().split(' : "r"(a[0])')[0].count("\n") + 1
        for text in ("README.md", "docs/explaining.md"):
            self.assertIn(f"disasm --kernel mma --fragments {line} ", (TREE / text).read_text())
        held = self.call("disasm", "--kernel", "mma", "--problem", SMALL, "--fragments", str(line), "--lane", "9")
        self.assertEqual(held.returncode, 0, held.stderr)
        self.assertRegex(held.stdout, r"HMMA\.16816\.F32 .* more at this line")
        self.assertRegex(held.stdout, r"Lane 9 holds of A: R\d+ \(2, 2\) \(2, 3\) ")
        self.refused(2, "disasm", "--kernel", "mma", "--problem", SMALL, "--fragments", "1", names=["05_mma.cu:1", str(line)])

    def test_timeline_shows_ctas_and_warps_as_modelled(self):
        small = ("timeline", "--kernel", "tiled", "--problem", SMALL)
        done = self.call(*small)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("modelled", done.stdout.splitlines()[0])
        self.assertRegex(done.stdout, r"SM 0 of 58 \(emulated:l4\): 1 CTA, ")
        self.assertRegex(done.stdout, r"\n +0 +0 +0  [#trsmb.]+")
        done = self.call(*small, "--sm", "1", "--from", "100", "--to", "164", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        made = json.loads(done.stdout)
        self.assertEqual((made["sm"], made["from"], made["kind"]), (1, 100, "modelled"))
        self.assertEqual(len(made["ctas"]), made["total_ctas"])
        for warp in made["warps"]:
            self.assertLessEqual(max(map(sum, zip(*warp["shares"].values()))), 1.001)
        self.refused(2, *small, "--sm", "58", names=["has no SM 58"])
        self.refused(2, *small, "--from", "100", "--to", "101", names=["--to"])

    def test_disasm_of_what_the_compiler_refuses_says_why(self):
        self.refused(3, "disasm", "--kernel", "tiled", "--problem", SMALL, "--set", "BLOCK_M=64", names=["57,376"])

    def test_disasm_says_what_a_knob_changed(self):
        preset = TREE / "presets" / "tiled.json"
        done = self.call("disasm", "--kernel", "tiled", "--set", "SWIZZLE_XOR=1", "--problem", SMALL, "--against", preset)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("source: 3 removed, 3 added", done.stdout)
        self.assertRegex(done.stdout, r"SASS: \d+ removed, \d+ added")
        same = self.call("disasm", "--preset", preset, "--problem", SMALL, "--against", preset)
        self.assertIn("SASS: 0 removed, 0 added", same.stdout)

    def test_other_devices_run_their_own_code(self):
        for device, arch in (("emulated:a100", 80), ("emulated:h200", 90)):
            o = self.run_json("--problem", SMALL, "--device", device)
            self.assertEqual(o["variant"]["arch"], arch)
            self.assertEqual(o["device"], device)

    def test_no_such_device_exits_3(self):
        self.refused(3, "run", "--device", "emulated:nothing", "--problem", SMALL, names=["emulated:nothing"])

    def test_bad_options_exit_2(self):
        window = [("surprise.json",)] if os.environ["ATTNSCOPE_HAS_UI"] == "ON" else []  # a build without a window cannot open one
        for args in (*window, ("run", "--set", "NUM_WARPS=3"), ("run", "--set", "NUM_WARPS=32 -DX"), ("run", "--set", "WARPS=4"),
                     ("run", "--set", "NUM_WARPS"), ("run", "--problem", "S=0"), ("run", "--problem", "D=48"), ("run", "--kernel", "none"),
                     ("run", "--kernels", "/nowhere"), ("run", "--deadline", "0"), ("run", "--surprise")):
            done = self.call(*args)
            self.assertEqual(done.returncode, 2, f"{args}: {done.stderr}")
            self.assertNotEqual(done.stderr, "", args)

    def test_presets_ship_and_load(self):
        listed = json.loads(self.call("presets", "--json").stdout)
        self.assertGreaterEqual(len(listed), 9)
        o = self.run_json("--preset", TREE / "presets" / "minimal.json", "--problem", SMALL)
        self.assertEqual(o["experiment"]["kernel"]["id"], "minimal")

    def test_a_preset_with_an_unknown_knob_exits_2(self):
        file = self.changed_preset(lambda p: p["knobs"].update(WARPS=4))
        self.refused(2, "run", "--preset", file, names=["mine.json", "WARPS"])

    def test_a_preset_out_of_range_exits_2(self):
        file = self.changed_preset(lambda p: p["knobs"].update(NUM_WARPS=5))
        self.refused(2, "run", "--preset", file, names=["mine.json", "NUM_WARPS"])

    def test_a_preset_that_carries_a_flag_exits_2(self):
        file = self.changed_preset(lambda p: p["knobs"].update(NUM_WARPS="32 -DX"))
        self.refused(2, "run", "--preset", file, names=["mine.json", "NUM_WARPS"])

    def test_a_preset_of_random_bytes_exits_2(self):
        self.refused(2, "run", "--preset", self.preset(os.urandom(5000)), names=["mine.json"])

    def test_a_preset_of_100_mb_exits_2(self):
        file = self.path / "huge.json"
        with open(file, "wb") as out:
            out.truncate(100 << 20)
        self.refused(2, "run", "--preset", file, names=["huge.json"])

    def test_a_kernel_that_loops_for_ever_exits_4(self):
        o = self.run_json("--kernels", MUTANTS / "endless", "--kernel", "endless", "--problem", SMALL, "--deadline", "1500", expect=4)
        self.assertEqual(o["failure"]["stage"], "deadline")
        self.assertIn("endless", o["failure"]["message"])

    def test_a_kernel_that_does_not_compile_exits_3(self):
        o = self.run_json("--kernels", MUTANTS / "does_not_compile", "--kernel", "does_not_compile", "--problem", SMALL, expect=3)
        self.assertIn("does_not_compile.cu:7", o["failure"]["message"])

    def test_a_kernel_that_reads_outside_exits_4(self):
        o = self.run_json("--kernels", MUTANTS / "illegal_address", "--kernel", "illegal_address", "--problem", SMALL, expect=4)
        self.assertIn("illegal_address.cu:7", o["failure"]["message"])

    def test_a_manifest_with_a_wrong_expression_exits_2(self):
        self.refused(2, "run", "--kernels", MUTANTS / "wrong_expression", "--kernel", "wrong_expression",
                     names=["wrong_expression.json", "grid"])

    def test_a_mistyped_kernel_is_named_first_whatever_else_is_broken(self):
        (self.path / "k").mkdir()
        (self.path / "k" / "broken_tild.json").write_text("{")
        done = self.refused(2, "run", "--kernels", self.path / "k", "--kernel", "tild", names=["Did you mean tiled?", "broken_tild.json"])
        self.assertIn('there is no kernel "tild"', done.stderr.splitlines()[0])
        done = self.refused(2, "run", "--kernels", self.path / "k", "--kernel", "broken_tild", names=[])
        self.assertIn("broken_tild.json", done.stderr.splitlines()[0])
        for command in (("bench", "--kernel", "tild"), ("best", "--kernel", "tild")):
            self.refused(2, *command, "--device", "emulated:l4", names=['there is no kernel "tild"', "Did you mean tiled?"])

    def test_a_byte_order_mark_is_no_fault(self):
        mark = b"\xef\xbb\xbf"
        folder = self.path / "k"
        folder.mkdir()
        source = b"#include <cuda_fp16.h>\n__global__ void scale(const float* x, float* y, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 2 * x[i];\n}\nint main() { int n = 256; scale<<<1, 256>>>(0, 0, n); }\n"
        (folder / "scale.cu").write_bytes(mark + source)
        done = self.call("import", folder / "scale.cu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the block: 256", done.stdout)
        (folder / "scale.json").write_bytes(mark + (folder / "scale.json").read_bytes())
        preset = self.preset(mark + json.dumps({"attnscope_preset": 1, "kernel": "scale", "problem": {"kind": "custom", "sizes": {"n": 256}}}).encode())
        done = self.call("run", "--kernels", folder, "--preset", preset)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_title_carries_no_code_into_what_export_writes(self):
        folder = self.path / "k"
        folder.mkdir()
        manifest = json.loads((TREE / "kernels" / "02_tiled.json").read_text())
        shutil.copy(TREE / "kernels" / "02_tiled.cu", folder)
        manifest["title"] = 'x """; open("canary", "w"); """ \\'
        (folder / "02_tiled.json").write_text(json.dumps(manifest))
        listed = self.call("kernels", "--kernels", folder)
        self.assertIn("is taken by", listed.stderr)  # the shipped one stays
        manifest["id"] = "evil"
        (folder / "evil.json").write_text(json.dumps(manifest))
        done = self.call("export", "--kernels", folder, "--kernel", "evil", "--device", "emulated:l4", "--out", self.path / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        (self.path / "out" / "torch.py").write_text("float16 = 0\n")
        ran = subprocess.run([sys.executable, "-c", "import launch; print(launch.__doc__)"], cwd=self.path / "out", capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn(manifest["title"], ran.stdout)
        self.assertFalse((self.path / "out" / "canary").exists())
        manifest["title"] = "two\nlines"
        (folder / "evil.json").write_text(json.dumps(manifest))
        self.refused(2, "export", "--kernels", folder, "--kernel", "evil", "--out", self.path / "out", names=["evil.json/title", "one line"])

    def test_a_truncated_cache_is_remade(self):
        shutil.rmtree(self.path / "home")  # a cache of its own
        self.run_json("--problem", SMALL)
        files = [f for f in (self.path / "home").rglob("*") if f.is_file() and f.stat().st_size > 2000]
        self.assertTrue(files)
        for file in files:
            os.truncate(file, 1000)
        o = self.run_json("--problem", SMALL)
        self.assertFalse(o["variant"]["cached"])
        self.assertEqual(o["verdict"]["state"], "correct")

    def test_lists_are_json(self):
        kernels = json.loads(self.call("kernels", "--json").stdout)
        self.assertEqual([k["id"] for k in kernels][:2], ["minimal", "tiled"])
        devices = json.loads(self.call("devices", "--json").stdout)
        self.assertIn("emulated:l4", [d["id"] for d in devices])

    def test_a_devices_figures_are_printed_with_their_sources(self):
        text = self.call("devices", "--spec", "emulated:l4").stdout
        spec = json.loads(self.call("devices", "--spec", "emulated:l4", "--json").stdout)
        self.assertEqual(spec["id"], "emulated:l4")
        lines = {line.split()[0]: line for line in text.splitlines()}
        self.assertIn(spec["sources"]["sms"], lines["sms"])
        for rate in spec["rates"]:
            self.assertIn(spec["sources"]["rates/" + rate], lines["rates/" + rate])
        self.refused(2, "devices", "--spec", "emulated:nothing", names=["emulated:nothing", "emulated:l4"])

    def test_every_rate_that_the_model_reads_is_printed(self):
        header = (TREE / "app" / "model" / "rates.h").read_text()
        names = set(re.findall(r'Rate k\w+\{"(\w+)"', header)) | set(re.findall(r'const char\* k\w+ = "(\w+)"', header))
        self.assertTrue({"launch_us", "read_window", "mma_16816", "ahead_third"} <= names)
        devices = {d["id"]: d for d in json.loads(self.call("devices", "--json").stdout)}
        for file in sorted((TREE / "assets" / "devices").glob("*.json")):
            own, given = json.loads(file.read_text()), devices["emulated:" + file.stem]
            lines = {line.split()[0]: line.split(None, 2)[1:] for line in self.call("devices", "--spec", own["id"]).stdout.splitlines()}
            for name in sorted(names):
                value, source = lines["rates/" + name]
                self.assertEqual(source, given["sources"]["rates/" + name], (own["id"], name))
                self.assertEqual(source.startswith("assumed: "), name not in own["rates"] or own["sources"]["rates/" + name].startswith("assumed: "), (own["id"], name))
                self.assertEqual(value, "none" if name not in given["rates"] else json.dumps(given["rates"][name]), (own["id"], name))
                if name in own["rates"]:
                    self.assertEqual(given["rates"][name], own["rates"][name])
        self.assertEqual(devices["emulated:l4"]["rates"]["launch_us"], 0.6)

    def test_a_device_of_ones_own_runs(self):
        spec = json.loads(self.call("devices", "--spec", "emulated:l4", "--json").stdout)
        spec["id"], spec["name"], spec["sms"] = "emulated:half", "Half an L4", 29
        folder = self.path / "home" / "config" / "devices"
        folder.mkdir(parents=True)
        (folder / "half.json").write_text(json.dumps(spec))
        try:
            self.assertEqual(self.run_json("--problem", SMALL, "--device", "emulated:half")["device"], "emulated:half")
            # Under another file's name it is refused, and the list says so.
            (folder / "half.json").rename(folder / "third.json")
            listed = self.refused(2, "devices", names=["third.json/id", "emulated:third"])
            self.assertIn("emulated:l4", listed.stdout)
            self.assertNotIn("emulated:half", listed.stdout)
            self.assertIn("third.json/id", self.call("devices", "--spec", "emulated:l4").stderr)
        finally:
            for file in folder.iterdir():
                file.unlink()
            folder.rmdir()

    def ssh(self, body='exec "$@"'):
        """A stand-in for ssh: it drops the host's name and runs the rest here."""
        file = self.path / "ssh"
        file.write_text(f"#!/bin/sh\nshift\n{body}\n")
        file.chmod(0o755)
        return file

    def test_a_worker_behind_a_noisy_ssh(self):
        ssh = self.ssh('echo "Last login: today"; head -c 60000 /dev/zero | tr "\\0" "~"; echo; exec "$@"')
        o = self.run_json("--worker", f"{ssh} me@l4box {PROGRAM} worker", "--problem", SMALL)
        self.assertEqual(o["device"], "l4box/emulated:l4")
        self.assertEqual(o["verdict"]["state"], "correct")

    def test_a_worker_that_the_settings_name(self):
        data = self.path / "home" / "data"
        data.mkdir(parents=True)
        (data / "settings.json").write_text(json.dumps({"workers": {"l4box": f"{self.ssh()} l4box {PROGRAM} worker",
                                                                    "gone": f"{self.ssh()} gone sh -c 'echo no route >&2; exit 255'"}}))
        o = self.run_json("--device", "l4box/emulated:h200", "--problem", SMALL)
        self.assertEqual(o["device"], "l4box/emulated:h200")
        listed = json.loads(self.call("devices", "--worker", "l4box", "--json").stdout)
        self.assertIn("l4box/emulated:a100", [d["id"] for d in listed])
        self.refused(3, "run", "--worker", "gone", "--problem", SMALL, names=["worker gone is not available", "no route"])
        self.refused(2, "run", "--worker", "l5box", names=["l5box", "gone, l4box"])
        doctor = {item["name"]: item for item in json.loads(self.call("doctor", "--json").stdout)}
        self.assertEqual(doctor["worker l4box"]["state"], "found")
        self.assertEqual(doctor["worker gone"]["state"], "missing")
        self.assertIn("no route", doctor["worker gone"]["what"])

    def test_doctor_says_what_each_lack_costs(self):
        done = self.call("doctor")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for item in ("NVRTC", "nvdisasm", "driver", "cache", "worker local"):
            self.assertIn(item, done.stdout)
        for item in json.loads(self.call("doctor", "--json").stdout):
            if item["state"] == "missing":
                self.assertTrue(item["cost"] and item["get"], item)

    def test_doctor_says_which_walls_stand(self):
        item = {item["name"]: item for item in json.loads(self.call("doctor", "--json").stdout)}["confinement"]
        if item["state"] == "found":
            self.assertIn("landlock", item["what"])
            self.assertIn("no network", item["what"])
        off = {i["name"]: i for i in json.loads(self.call("doctor", "--json", ATTNSCOPE_CONFINE="off").stdout)}["confinement"]
        self.assertEqual((off["state"], off["get"]), ("missing", "Unset it."))

    def test_a_kernel_cannot_show_a_file_of_the_machine(self):
        secret = self.path / "secret.h"
        secret.write_text("int SECRET_WORD = unknown;\n")
        kernels = self.path / "kernels"
        kernels.mkdir()
        (kernels / "k.cu").write_text(f'#include "{secret}"\n__global__ void k(float* x, int n) {{ x[0] = n; }}\n')
        imported = self.call("import", str(kernels / "k.cu"))
        self.assertNotIn("SECRET_WORD", (kernels / "k.cu").read_text() + imported.stdout + imported.stderr)
        for confine in ("", "off"):
            done = self.call("run", "--kernels", str(kernels), "--kernel", "k", ATTNSCOPE_CONFINE=confine)
            self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
            self.assertIn("is outside of what a kernel may include", done.stderr)
            self.assertNotIn("SECRET_WORD", done.stdout + done.stderr)

    def test_doctor_of_a_driver_that_nothing_serves_is_one_sentence(self):
        fake = os.environ.get("ATTNSCOPE_FAKE_LIBCUDA")
        if not fake or not os.path.exists(fake):
            self.skipTest("built without the fake driver")
        done = self.call("doctor", "--json", ATTNSCOPE_LIBCUDA=fake, ATTNSCOPE_NO_TOOLKIT="1", HOME=str(self.path), XDG_CACHE_HOME="")
        self.assertEqual(done.returncode, 3, done.stdout)
        items = {item["name"]: item for item in json.loads(done.stdout)}
        self.assertIn("CUDA 12.8, cuda:0 Fake GPU 100 sm_89", items["driver"]["what"])
        self.assertIn("The driver is for CUDA 12.8 and needs NVRTC 12", items["NVRTC"]["what"])
        self.assertIn("attnscope fetch", items["NVRTC"]["get"])

    def test_the_drivers_version_picks_the_compiler(self):
        fake = os.environ.get("ATTNSCOPE_FAKE_LIBCUDA", "")
        if not os.path.exists(fake):
            self.skipTest("built without the fake driver")
        for driver, nvrtc in (("12080", "12.8"), ("13000", "13.0")):
            done = self.call("run", "--json", "--device", "emulated:l4", "--problem", SMALL, ATTNSCOPE_LIBCUDA=fake.replace("12080", driver))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["versions"]["nvrtc"], nvrtc)

    def test_fetch_without_python_says_what_to_do(self):
        done = self.call("fetch", PATH="/nowhere")
        self.assertEqual(done.returncode, 3)
        self.assertIn("python3", done.stderr)
        self.assertIn("attnscope fetch", done.stderr)

    def index_with(self, unit, name):
        """An index with one package that has that file, its pin as the only one of the unit: (environment, pins, wheel)."""
        share, bin_dir, index = (self.path / name for name in ("share", "bin", "index"))
        for folder in (share / "assets", share / "kernels", bin_dir, index):
            folder.mkdir(parents=True)
        (self.path / "home" / "cache").unlink()  # what is fetched is this test's own
        wheel = index / "small-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(f"small/bin/{name}", "#!/bin/sh\n")
        shutil.copy(TREE / "assets" / "fetch.py", share / "assets")
        pins = share / "assets" / "packages.txt"
        pins.write_text(f"[{unit}]\nsmall 1.0 {hashlib.sha256(wheel.read_bytes()).hexdigest()} small/bin/** -> bin\n")
        pip = bin_dir / "python3"  # copies instead of downloading; everything else behaves as Python does
        pip.write_text(f"""#!/bin/sh
[ "$2" = pip ] || exec {sys.executable} "$@"
[ "$3" = download ] || exit 0
while [ "$1" != --dest ]; do shift; done
cp {wheel} "$2"
""")
        pip.chmod(0o755)
        return {"PATH": f"{bin_dir}:/usr/bin:/bin", "ATTNSCOPE_RESOURCES": str(share)}, pins, wheel

    def test_fetch_takes_what_is_pinned_by_the_users_own_pip(self):
        where, pins, wheel = self.index_with("cuda/bin", "nvdisasm")
        pins.write_text(pins.read_text().replace("-> bin", "-> ."))
        done = self.call("fetch", "cuda/bin", **where)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.access(self.path / "home/cache/cuda/bin/nvdisasm", os.X_OK))
        pins.write_text(pins.read_text().replace("1.0 ", "1.1 "))
        wheel.write_bytes(b"something else")
        self.assertEqual(self.call("fetch", "cuda/bin", **where).returncode, 3)
        self.assertTrue((self.path / "home/cache/cuda/bin/nvdisasm").exists(), "what was there stands")

    def test_fetch_nvcc_says_its_terms_and_what_it_needs(self):
        where, _, _ = self.index_with("cuda/nvcc", "nvcc")
        for has_host in (True, False):
            gxx = self.path / "bin" / "g++"
            gxx.write_text("#!/bin/sh\nexit " + ("0" if has_host else "1") + "\n")
            gxx.chmod(0o755)
            done = self.call("fetch", "nvcc", **where)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("CUDA Toolkit End User License Agreement", done.stderr)
            self.assertIn("A driver for CUDA 12 cannot run what it compiles", done.stderr)
            self.assertEqual("apt install g++" in done.stderr, not has_host, done.stderr)
        self.assertTrue(os.access(self.path / "home/cache/cuda/nvcc/bin/nvcc", os.X_OK))

    def test_without_an_nvcc_its_option_is_refused_and_nvrtcs_runs(self):
        nowhere = {"ATTNSCOPE_NVCC": str(self.path / "nowhere" / "nvcc")}
        done = self.call("run", "--json", "--device", "emulated:l4", "--problem", SMALL, "--option", "compiler=nvcc", **nowhere)
        self.assertEqual(done.returncode, 3, done.stdout)
        failure = json.loads(done.stdout)["failure"]
        self.assertEqual(failure["stage"], "compile")
        self.assertIn("nowhere/nvcc", failure["message"])
        done = self.call("run", "--json", "--device", "emulated:l4", "--problem", SMALL, "--option", "compiler=clang", **nowhere)
        self.assertEqual(done.returncode, 2)
        self.assertIn("nvrtc, nvcc", done.stderr)
        done = self.call("run", "--device", "emulated:l4", "--problem", SMALL, **nowhere)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"compiled +sm_89 by NVRTC 1[23]\.\d+, ")
        self.assertIn("compiler nvrtc", done.stdout)

    # ---- import: a .cu written for nvcc ----
    def plain(self, name, folder="mine"):
        """A kernel of tests/kernels/plain in its own folder."""
        file = self.path / folder / f"{name}.cu"
        file.parent.mkdir(exist_ok=True)
        shutil.copy(TREE / "tests" / "kernels" / "plain" / file.name, file)
        return file

    def test_import_writes_a_manifest_that_runs(self):
        file = self.plain("saxpy")
        done = self.call("import", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        for said in ("n is 4096 in the host code", "the grid: ceil_div(n, BLOCK)", "a is 2 at the launch", "unchecked"):
            self.assertIn(said, done.stdout)
        command = shlex.split(done.stdout.strip().splitlines()[-1].removeprefix("Run it: attnscope run "))
        observation = self.run_json(*command, "--set", "BLOCK=64")  # as requested, with one knob changed
        self.assertEqual(observation["verdict"]["state"], "unchecked")
        self.assertEqual(observation["occupancy"]["total_ctas"], 4096 // 64)
        text = self.call("run", *command).stdout
        self.assertIn("unchecked: The kernel's manifest declares no reference.", text)
        self.assertNotIn("Frobenius", text)  # no error to report

    def test_import_says_that_a_kernel_does_not_run_yet(self):
        launch = "int main() { float* y; cudaMalloc(&y, 256); k<<<2, 32>>>(y); }\n"
        for name, source, reasons in (
                ("syntax", "__global__ void k(float* y) { y[0] = nothing; }\n", ['identifier "nothing" is undefined']),
                ("header", '#include "not_here.h"\n__global__ void k(float* y) { y[0] = of_header(); }\n', ["not_here.h"]),
                ("far", "__global__ void k(float* y) { y[threadIdx.x + 64] = 1; }\n", ["past the end of y", "far.cu:1"]),
                ("steps", "__global__ void a(float* y) { y[threadIdx.x + 64] = 1; }\n"
                 "__global__ void b(const float* y, float* z) { z[threadIdx.x] = y[threadIdx.x]; }\n"
                 "int main() { float *y, *z; cudaMalloc(&y, 256); cudaMalloc(&z, 256); a<<<1, 64>>>(y); b<<<1, 64>>>(y, z); }\n",
                 ["steps, launch 1, a: ", "past the end of y"]),
                ("uneven", "__global__ void k(float* y) { if (threadIdx.x < 8) asm volatile(\"bar.sync 1, 64;\"); y[0] = 1; }\n", ["deadlock"])):
            file = self.path / f"{name}.cu"
            file.write_text(source + ("" if "main" in source else launch))
            for _ in range(2):  # the second time from what is kept
                done = self.call("import", file, "--replace")
                self.assertEqual(done.returncode, 0, done.stderr)  # the manifest is written
                self.assertTrue(file.with_suffix(".json").exists())
                self.assertNotIn("Run it: ", done.stdout)
                end = done.stdout.split("\nIt does not run yet: ")[1]
                for reason in reasons:
                    self.assertIn(reason, end)
                self.assertIn(f"\nOnce that is mended: attnscope run --kernels {self.path} --kernel {name}", end)

    def test_kernels_whose_atomics_meet_take_as_long_as_on_a_gpu(self):
        recorded = {kernel: (float(measured), float(modelled)) for kernel, measured, modelled in re.findall(
            r"^(\w+) +(\d+\.\d+) +(\d+\.\d+) +\d+\.\d+ +\d+\.\d+$", (TREE / "bench" / "results" / "atomics_h200.txt").read_text(), re.MULTILINE)}
        ratios = {kernel: modelled / measured for kernel, (measured, modelled) in recorded.items()}
        page = (TREE / "docs" / "model.md").read_text()
        said = page[page.index("Of four kernels that nothing was fitted to"):].split("\n", 1)[0]
        self.assertIn(f"a histogram in global memory takes {ratios.pop('hist_global'):.2f} times as long", said)  # too long to run here
        self.assertIn(f"within {100 * max(abs(ratio - 1) for ratio in ratios.values()):.1f} % of an H200", said)
        self.assertEqual(len(ratios), 3)
        for kernel in ratios:
            self.call("import", TREE / "tests" / "gpu" / "atomic_kernels" / f"{kernel}.cu", "--out", self.path / "atomics")
            run = self.call("run", "--kernels", self.path / "atomics", "--kernel", kernel, "--device", "emulated:h200", "--no-watch", "--json")
            timing = json.loads(run.stdout)["timing"]
            self.assertEqual((timing["bound"], kernel), ("atomics", kernel))
            self.assertAlmostEqual(timing["us"]["p50"] / recorded[kernel][1], 1, delta=0.02, msg=kernel)

    def test_the_command_behind_an_import_can_be_pasted(self):
        folder = self.path / "o'ut dir"
        done = self.call("import", self.plain("saxpy"), "--out", folder)
        words = shlex.split(done.stdout.strip().splitlines()[-1].removeprefix("Run it: "))
        self.assertEqual(words, ["attnscope", "run", "--kernels", str(folder), "--kernel", "saxpy"])

    def test_import_takes_what_main_launches_as_a_program(self):
        source = (TREE / "tests/data/programs/softmax3.cu").read_text()
        source = source.replace('extern "C" ', "") + """
int main() {
  const int rows = 6, columns = 200;
  float *h = (float*)malloc(rows * columns * 4), *x, *y, *most, *sums;
  cudaMalloc(&x, rows * columns * sizeof(float));
  cudaMalloc(&y, rows * columns * sizeof(float));
  cudaMalloc(&most, rows * sizeof(float));
  cudaMalloc(&sums, rows * sizeof(float));
  cudaMemcpy(x, h, rows * columns * sizeof(float), cudaMemcpyHostToDevice);
  row_max<<<rows, THREADS>>>(x, most, columns);
  cudaMemset(sums, 0, rows * sizeof(float));
  dim3 grid((columns + THREADS - 1) / THREADS, rows);
  exp_sum<<<grid, THREADS>>>(x, most, y, sums, columns);
  normalise<<<grid, THREADS>>>(y, sums, columns);
  cudaMemcpy(h, y, rows * columns * sizeof(float), cudaMemcpyDeviceToHost);
}
"""
        file = self.path / "p" / "soft.cu"
        file.parent.mkdir()
        file.write_text(source)
        done = self.call("import", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        for said in ("main launches 3 kernels in order: row_max, exp_sum, normalise", "most is a workspace", "y is an output",
                     f"exp_sum ({file.name}:"):
            self.assertIn(said, done.stdout)
        guessed = done.stdout.split("Guessed, to be corrected in the manifest:\n")[1].splitlines()
        self.assertEqual(guessed[0].strip(), "the knobs' other values: keep those that the kernel takes")
        self.assertFalse(guessed[1].startswith("  "), guessed)
        manifest = file.with_suffix(".json")
        said = json.loads(manifest.read_text())
        self.assertEqual([step.get("entry", "memset") for step in said["launches"]], ["row_max", "memset", "exp_sum", "normalise"])
        said["reference"] = {"kind": "softmax", "inputs": ["x"], "output": "y"}
        manifest.write_text(json.dumps(said))
        observation = self.run_json(file)  # the manifest beside it counts
        self.assertEqual(observation["verdict"]["state"], "correct", observation["verdict"])
        self.assertEqual(len(observation["launches"]), 4)
        one = self.call("import", file, "--entry", "row_max")  # one kernel beside the program
        self.assertIn("soft_row_max.json", one.stdout, one.stderr)
        self.assertIn("--function", one.stdout)
        file.write_text(source.replace("  row_max<<<", "  for (int i = 0; i < 2; ++i) row_max<<<"))
        self.refused(2, "run", file, "--function", "main", names=["the launch of row_max is in a loop", "soft.cu:", "--entry NAME"])
        self.refused(2, "run", file, "--function", "main", "--entry", "row_max", names=["--function"])

    def test_import_makes_guessed_buffers_as_long_as_a_run_needs(self):
        folder = self.path / "k"
        folder.mkdir()
        file = folder / "spread.cu"
        file.write_text("__global__ void spread(const float* x, float* y, int rows) {\n"
                        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                        "  for (int k = 0; k < 3; ++k) y[3 * i + k] = x[i] + k;\n}\n")
        done = self.call("import", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('y has ["rows","4"] elements: a run went past the end of half as many', done.stdout)
        self.assertIn('x has ["rows"] elements', done.stdout.split("Guessed")[1])
        self.assertEqual(self.run_json("--kernels", folder, "--kernel", "spread")["verdict"]["state"], "unchecked")
        (folder / "spread.json").unlink()
        self.assertRegex(self.call("check", file).stdout, r"probed +y has")
        # With a guessed launch it may pass any end: a length that makes the manifest too large is not taken.
        far = self.path / "far.cu"
        far.write_text("__global__ void far(const float* A, float* C, int M, int N, int K) {\n"
                       "  const int row = blockIdx.x * 32 + threadIdx.x / 32, column = threadIdx.x % 32;\n"
                       "  C[row * N + column] += A[row * K + column];\n}\n")
        done = self.call("import", far)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Run it: ", done.stdout)
        # With its launch the lengths are counted.
        launched = self.path / "launched.cu"
        launched.write_text(file.read_text().replace("float* y", "float* y, float* z").replace("+ k;", "+ k, z[k] = 1;") +
                            "void run(float* x, float* y, float* z, int rows) { spread<<<rows / 64, 64>>>(x, y, z, rows); }\n")
        done = self.call("import", launched)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('y has ["rows","3"] elements, as 3 runs at different sizes access', done.stdout)
        buffers = {one["name"]: one for one in json.loads((self.path / "launched.json").read_text())["buffers"]}
        self.assertEqual([buffers[name]["shape"] for name in "xyz"], [["rows"], ["rows", "3"], ["3"]])
        self.assertTrue(all(one["counted"] for one in buffers.values()), buffers)
        # What the host code allocates is no guess: past its end is a fault of the kernel.
        file.write_text(file.read_text() + "int main() { float *a, *b; cudaMalloc(&a, 4 * 256); cudaMalloc(&b, 4 * 256);\n"
                        "  spread<<<1, 256>>>(a, b, 256); }\n")
        done = self.call("check", file)
        self.assertNotIn("probed", done.stdout)
        self.assertIn(f"{file}:3: error: ", done.stdout)

    def test_import_reads_a_structs_members(self):
        folder = self.path / "k"
        (folder / ".git").mkdir(parents=True)
        (folder / "include").mkdir()
        (folder / "include" / "rows.h").write_text(
            "#pragma once\nstruct Rows { char mode; const float* in; float* out; unsigned rows, width; double scale; };\n"
            "void run(Rows rows);\n")
        (folder / "src").mkdir()
        file = folder / "src" / "rows.cu"
        file.write_text('#include "rows.h"\n#define OFFER(F) static const bool offered_##F = Offers::add(&F);\n'
                        "__global__ void scaled(Rows r) {\n"
                        "  const unsigned i = threadIdx.x;\n"
                        "  if (i < r.width) r.out[blockIdx.x * r.width + i] = r.scale * r.in[blockIdx.x * r.width + i];\n}\n"
                        "void run(Rows rows) { scaled<<<rows.rows, 64>>>(rows); }\nOFFER(run)\n")
        (folder / "main.cu").write_text('#include "rows.h"\nint main() {\n  Rows r; r.rows = 8; r.width = 48; r.scale = 0.5;\n'
                                        "  run(r);\n}\n")
        done = self.call("import", file, "--out", self.path / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        for said in ("r_rows is 8 in the host code", "r_scale is 0.5 at the launch", "the grid: r_rows x 1 x 1 CTAs",
                     'r_in has ["r_rows","r_width"] elements, as'):
            self.assertIn(said, done.stdout)
        observation = self.run_json("--kernels", self.path / "out", "--kernel", "rows", "--problem", "r_rows=3,r_width=40")
        self.assertEqual(observation["verdict"]["state"], "unchecked")
        self.assertEqual(observation["occupancy"]["total_ctas"], 3)
        # Without a repository nothing is taken from elsewhere, and the refusal says where the header is.
        (folder / ".git").rmdir()
        done = self.call("import", file, "--out", self.path / "of_the_file")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("r is a Rows, which cannot be passed: no file that was read declares it", done.stderr)
        self.assertIn(f"--include {folder / 'include'} has it", done.stderr)
        self.assertEqual(self.call("import", file, "--include", folder / "include", "--out", self.path / "of_the_file").returncode, 0)

    # A smaller problem, or a longer buffer, would hide what is the kernel's own fault.
    def test_import_hides_no_fault_behind_its_guesses(self):
        uneven = self.path / "uneven.cu"
        uneven.write_text("__global__ void uneven(const float* x, float* y, int n) {\n"
                          "  __shared__ float tile[64];\n"
                          "  const int row = blockIdx.x * 64 + threadIdx.x;\n"
                          "  float sum = 0;\n"
                          "  for (int first = 0; first < n; first += 64) {\n"
                          "    tile[threadIdx.x] = first + threadIdx.x < n ? x[first + threadIdx.x] : 0;\n"
                          "    __syncthreads();\n"
                          "    for (int i = 0; i < 64; ++i) sum += tile[i];\n"
                          "    if (row < n) __syncthreads();\n  }\n"
                          "  if (row < n) y[row] = sum;\n}\n"
                          "int main() { int n = 100; float *x, *y; cudaMalloc(&x, 4 * n); cudaMalloc(&y, 4 * n);\n"
                          "  uneven<<<(n + 63) / 64, 64>>>(x, y, n); }\n")
        done = self.call("check", uneven)
        self.assertIn("deadlocks", done.stderr + done.stdout)
        self.assertIn("uneven.cu:9", done.stderr + done.stdout)
        far = self.path / "far.cu"
        far.write_text("__global__ void far(const int* x, int* y, int n) {\n"
                       "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                       "  if (i < n) y[i] = x[i * i * 1000];\n}\n")
        done = self.call("check", far)
        self.assertIn(f"{far}:3: error: ", done.stdout)

    def test_an_imported_kernel_with_a_reference_is_judged(self):
        file = self.plain("saxpy")
        self.assertEqual(self.call("import", file).returncode, 0)
        manifest = file.with_suffix(".json")
        said = json.loads(manifest.read_text())
        said["sizes"]["n"] = 3001
        said["args"][1]["value"] = 2.5
        said["buffers"][1]["init"] = "iota"
        said["reference"] = {"kind": "saxpy", "inputs": ["x", "y"], "output": "y", "value": 2.5}
        manifest.write_text(json.dumps(said))
        mine = ("--kernels", file.parent, "--kernel", "saxpy")
        self.assertEqual(self.run_json(*mine)["verdict"]["state"], "correct")
        self.assertEqual(self.run_json(*mine, "--problem", "n=70")["occupancy"]["total_ctas"], 1)
        file.write_text(file.read_text().replace("a * x[i] + y[i]", "a * x[i] - y[i]"))
        observation = self.run_json(*mine, expect=1)
        self.assertEqual(observation["verdict"]["state"], "wrong")
        self.assertIn("y[1]", observation["verdict"]["reason"])

    def test_what_a_kernel_prints_is_shown(self):
        file = self.plain("printf_assert")
        self.assertEqual(self.call("import", file).returncode, 0)
        mine = ("--kernels", file.parent, "--kernel", "printf_assert")
        self.assertRegex(self.run_json(*mine)["printed"]["lines"][0], r"^thread 3 of \d+: +\S+ end$")
        self.assertRegex(self.call("run", *mine).stdout, r"printed +thread 3 of \d+: +\S+ end\n")
        file.write_text(file.read_text().replace("i < 1024", "i < 32"))
        done = self.call("run", *mine)
        self.assertIn("n > 0 && i < 32 (printf_assert.cu:5, ", done.stderr)  # the kernel's own file
        self.assertIn("printed", done.stdout)

    def test_import_guesses_what_a_template_is_of_and_says_so(self):
        file = self.plain("vector_add")
        source = file.read_text().replace("vector_add<double><<<4, 96>>>", "vector_add<T><<<4, 96>>>")
        source = source.replace("vector_add<T><<<4, 96>>>(da, db, dc, a.size());", "")
        file.write_text(source.replace("typename T", "typename T, int N"))
        done = self.call("import", file, "--out", self.path / "number")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the template's arguments: <float, 4>, since no launch says them", done.stdout.split("Guessed")[1])
        file.write_text(source.replace("typename T", "typename T, int N, void (*F)()"))
        self.refused(2, "import", file, names=["is a template", "--entry \"vector_add<float, 4"])
        file.write_text(source)
        done = self.call("import", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the template's arguments: <float>", done.stdout)
        observation = self.run_json("--kernels", file.parent, "--kernel", "vector_add")
        self.assertEqual(observation["variant"]["arch"], 89)

    def test_import_never_writes_over_a_file(self):
        file = self.plain("collatz")
        elsewhere = self.path / "elsewhere"
        self.assertEqual(self.call("import", file, "--out", elsewhere).returncode, 0)
        self.assertEqual((elsewhere / "collatz.cu").read_text(), file.read_text())
        (elsewhere / "collatz.json").write_text("mine")
        self.refused(2, "import", file, "--out", elsewhere, names=["collatz.json already exists", "--replace"])
        self.assertEqual((elsewhere / "collatz.json").read_text(), "mine")
        self.assertEqual(self.call("import", file, "--out", elsewhere, "--replace").returncode, 0)
        self.assertEqual(json.loads((elsewhere / "collatz.json").read_text())["entry"], "collatz")

    def test_the_window_shows_an_imported_kernel(self):
        if os.environ["ATTNSCOPE_HAS_UI"] != "ON":
            self.skipTest("built without the window")
        kernels = self.path / "home" / "config" / "kernels"  # the user's own folder, which needs no --kernels
        self.assertEqual(self.call("import", self.plain("saxpy"), "--out", kernels).returncode, 0)
        preset = self.preset(json.dumps({
            "attnscope_preset": 1, "title": "Saxpy", "group": "Mine", "note": "", "kernel": "saxpy",
            "knobs": {"BLOCK": 256}, "options": {"fast_math": False, "fmad": True, "maxrregcount": 0},
            "problem": {"kind": "custom", "sizes": {"n": 3000}, "distribution": "normal", "seed": 0},
            "device": "emulated:l4", "view": {}}))
        done = self.call("shot", self.path / "window.png", "--preset", preset, "--size", "1280x720")
        self.assertEqual(done.returncode, 0, done.stderr)  # a failed run gives a picture too; the next line checks it
        self.run_json("--preset", preset)
        elsewhere = self.path / "elsewhere"
        self.assertEqual(self.call("import", self.plain("saxpy"), "--out", elsewhere).returncode, 0)
        os.rename(kernels, self.path / "gone")
        self.refused(2, "shot", self.path / "window.png", "--preset", preset, names=["saxpy"])
        done = self.call("shot", self.path / "window.png", "--preset", preset, "--kernels", elsewhere)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.call("shot", self.path / "window.png", "--kernel", "saxpy", "--kernels", elsewhere)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.refused(2, "shot", self.path / "window.png", "--kernel", "none", names=["no kernel"])

    # ---- machine code as the kernel ----
    SAXPY = ("--grid", "ceil_div(n, 128)", "--block", "128", "--args", "n=300, 2.5:f32, x:in:f32:n, y:inout:f32:n:ones")

    def machine_code(self, device="emulated:l4"):
        """saxpy's cubin, as export writes it."""
        self.call("import", self.plain("saxpy"))
        out = self.path / "out"
        done = self.call("export", "--kernels", self.path / "mine", "--kernel", "saxpy", "--device", device, "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        [cubin] = out.glob("*.cubin")
        return cubin

    def fatbinary(self, entries, flags=0x11, packed=0):
        """As nvcc's fatbinary writes it: (architecture, code) for each entry."""
        body = b"".join(struct.pack("<HHIQIIHHIIIQQQ", 2, 0x101, 64, len(code), packed, 0, 8, 1, arch, 0, 0, flags, 0, 0) + code
                        for arch, code in entries)
        return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body

    def test_machine_code_runs_as_it_is(self):
        cubin = self.machine_code()
        source = self.run_json("--kernels", self.path / "mine", "--kernel", "saxpy", "--problem", "n=300")
        for bytes_ in (cubin.read_bytes(), self.fatbinary([(75, cubin.read_bytes()), (89, cubin.read_bytes())])):
            file = self.path / "saxpy.bin"
            file.write_bytes(bytes_)
            o = self.run_json(file, "--entry", "saxpy", *self.SAXPY)
            self.assertEqual(o["variant"]["code_hash"], source["variant"]["code_hash"])
            self.assertEqual(o["counters"], source["counters"])
            self.assertEqual(o["watch"]["findings"], [])
        text = self.call("run", file, "--entry", "saxpy", *self.SAXPY).stdout
        self.assertRegex(text, "machine code +sm_89, as the file holds it")
        self.assertNotIn("fast math", text)
        short = [*self.SAXPY[:-1], "n=300, 2.5:f32, x:in:f32:200, y:inout:f32:n"]
        done = self.call("check", file, *short)
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertRegex(done.stdout, "saxpy.cu:[0-9]+ accesses 4 bytes .* past the end of x")
        self.assertEqual(self.call("import", file, *self.SAXPY, "--out", self.path / "kept").returncode, 0)
        manifest = json.loads((self.path / "kept" / "saxpy.json").read_text())
        self.assertEqual(manifest["cubin"], "saxpy.bin")
        manifest["reference"] = {"kind": "saxpy", "inputs": ["x", "y"], "output": "y", "value": 2.5}
        (self.path / "kept" / "saxpy.json").write_text(json.dumps(manifest))
        o = self.run_json("--kernels", self.path / "kept", "--kernel", "saxpy")
        self.assertEqual(o["verdict"]["state"], "correct")
        disasm = self.call("disasm", "--kernels", self.path / "kept", "--kernel", "saxpy")
        self.assertIn("FFMA", disasm.stdout, disasm.stderr)
        self.refused(2, "export", "--kernels", self.path / "kept", "--kernel", "saxpy", "--out", self.path / "no",
                     names=["machine code already"])

    def test_machine_code_of_a_triton_cache_has_its_launch(self):
        cubin = self.machine_code()
        folder = self.path / "triton"
        folder.mkdir()
        shutil.copy(cubin, folder / "add_kernel.cubin")
        (folder / "add_kernel.json").write_text(json.dumps({"name": "_Z5saxpyifPKfPf", "num_warps": 4, "shared": 0, "hash": "x"}))
        o = self.run_json(folder / "add_kernel.cubin", "--grid", "3", *self.SAXPY[-2:])
        self.assertEqual((o["counters"]["total_ctas"], o["verdict"]["state"]), (3, "unchecked"))
        (folder / "add_kernel.json").write_text(json.dumps({"name": "saxpy", "num_warps": 4000}))
        self.refused(2, "run", folder / "add_kernel.cubin", "--grid", "3", names=["add_kernel.json/num_warps"])

    def test_machine_code_that_cannot_run_is_refused_with_the_way_on(self):
        cubin = self.machine_code()
        self.refused(2, "run", cubin, "--grid", "3", "--block", "128", names=["does not say what its parameters are", "4, 4, 8, 8 bytes", "--args"])
        self.refused(2, "run", cubin, *self.SAXPY[2:], names=["--grid", "how it is launched"])
        self.refused(2, "run", cubin, *self.SAXPY[:2], *self.SAXPY[4:], names=["--block"])
        self.refused(2, "run", cubin, *self.SAXPY, "--entry", "saxpi", names=["no kernel \"saxpi\"", "_Z5saxpyifPKfPf"])
        self.refused(2, "run", cubin, *self.SAXPY, "--device", "emulated:h200", names=["machine code for sm_89, and the device is sm_90"])
        for wrong, said in [("n=300", "names 1 parameter, and it has 4"), ("n=x, 1:f32, x:in:f32:n, y:inout:f32:n", "not NAME=SIZE"),
                            ("n=3, 1:f64, x:in:f32:n, y:inout:f32:n", "has 8 bytes, and parameter 1 has 4"),
                            ("x:in:f32:3, 1:f32, z:in:f32:3, y:inout:f32:3", "has 8 bytes, and parameter 0 has 4"),
                            ("n=3, 1:f99, x:in:f32:n, y:inout:f32:n", "\"f99\" is not a type"), ("a,b,c,d", "is not NAME=SIZE, VALUE:TYPE")]:
            self.refused(2, "run", cubin, *self.SAXPY[:4], "--args", wrong, names=[said])
        packed = self.path / "packed.fatbin"
        packed.write_bytes(self.fatbinary([(89, b"x" * 64)], flags=0x8011, packed=40))
        self.refused(3, "run", packed, *self.SAXPY, names=["compressed", "cuobjdump"])
        self.refused(2, "run", self.plain("saxpy", "fresh"), *self.SAXPY, names=["are for a file of machine code"])

    def test_a_constant_variable_has_the_contents_that_the_manifest_gives(self):
        kernel = {"id": "conv", "title": "conv", "source": "conv.cu", "entry": "conv", "problem": "custom", "sizes": {"n": 64},
                  "buffers": [{"name": "x", "role": "in", "dtype": "f32", "shape": ["n"]},
                              {"name": "w", "role": "in", "dtype": "f32", "shape": ["n"], "init": "iota", "symbol": "weights"},
                              {"name": "y", "role": "out", "dtype": "f32", "shape": ["n"]}],
                  "launch": {"grid": [1, 1, 1], "block": ["n", 1, 1]}, "args": ["x", "y"],
                  "reference": {"kind": "mul", "inputs": ["x", "w"], "output": "y"}}
        folder = self.path / "mine"
        folder.mkdir()
        (folder / "conv.cu").write_text("__constant__ float weights[64];\nextern \"C\" __global__ void conv(const float* x, float* y) {\n"
                                        "  y[threadIdx.x] = x[threadIdx.x] * weights[threadIdx.x];\n}\n")
        asked = ("--kernels", folder, "--kernel", "conv")
        (folder / "conv.json").write_text(json.dumps(kernel))
        self.assertEqual(self.run_json(*asked)["verdict"]["state"], "correct")
        kernel["buffers"][1]["init"] = "random"
        (folder / "conv.json").write_text(json.dumps(kernel))
        self.assertEqual(self.run_json(*asked)["verdict"]["state"], "correct")
        self.assertIn("weights has 256 B, and its buffer in the manifest 240 B",
                      self.refused(2, "run", *asked, "--problem", "n=60", names=["weights"]).stderr)
        for change, said in [({"symbol": "weight"}, "has no variable weight"), ({"role": "inout"}, "only for the role in")]:
            (folder / "conv.json").write_text(json.dumps(dict(kernel, buffers=[kernel["buffers"][0], dict(kernel["buffers"][1], **change),
                                                                              kernel["buffers"][2]])))
            self.refused(2, "run", *asked, names=[said])
        (folder / "conv.json").write_text(json.dumps(dict(kernel, args=["x", "w", "y"])))
        self.refused(2, "run", *asked, names=["is the variable weights's contents and no parameter"])

    # ---- kernels that are not attention, beside those that are ----
    def test_two_files_are_compared(self):
        file = self.plain("saxpy")
        slow = self.path / "slow.cu"
        slow.write_text(file.read_text().replace("saxpy", "slow").replace("a * x[i] + y[i]", "sinf(cosf(a * x[i] + y[i]))"))
        done = self.call("compare", file, slow, "--device", "emulated:l4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "A  saxpy on emulated:l4, custom n=4096")
        self.assertRegex(done.stdout, "B is [0-9.]+ % slower|cannot be told apart")
        smaller = self.call("compare", file, slow, "--device", "emulated:l4", "--problem", "n=300")
        self.assertIn("n=300", smaller.stdout, smaller.stderr)
        self.refused(2, "compare", file, names=["needs two files"])
        self.refused(2, "compare", file, "--recorded", names=["needs two files"])
        self.refused(2, "compare", file, slow, "--recorded", names=["holds no recorded samples"])
        self.refused(2, "compare", file, self.path / "none.cu", names=["none.cu"])
        self.refused(2, "compare", TREE / "presets" / "tiled.json", slow, "--problem", "n=3", names=["--problem is for .cu files"])

    def test_an_exported_kernel_carries_its_problem(self):
        self.call("import", self.plain("saxpy"))
        out, manifest = self.path / "out", self.path / "mine" / "saxpy.json"
        asked = ("export", "--kernels", self.path / "mine", "--kernel", "saxpy", "--device", "emulated:l4", "--out", out)
        self.assertEqual(self.call(*asked).returncode, 0)
        self.assertEqual((out / "data" / "x.bin").stat().st_size, 4096 * 4)
        self.assertIn("nothing was checked", (out / "launch.cpp").read_text())
        declared = json.loads(manifest.read_text())
        declared["reference"] = {"kind": "saxpy", "inputs": ["x", "y"], "output": "y", "value": 2}
        manifest.write_text(json.dumps(declared))
        self.assertEqual(self.call(*asked).returncode, 0)
        x, y = (array.array("f", (out / "data" / f"{name}.bin").read_bytes()) for name in "xy")
        expected = array.array("d", (out / "data" / "y.expected.bin").read_bytes())
        self.assertEqual([2 * a + b for a, b in zip(x, y)], list(expected))
        launch = (out / "launch.cpp").read_text()
        self.assertRegex(launch, r"(?s)kLaunches\{\s+\{\"saxpy_sm89.cubin\", .*?, 0, false, \{\s+\{0, 16, 0, 0\},\s+\{0, 0, 0, 64\},\s+\{0, 0, 0, 0, 0, 0, 0, 0\},")  # n, 2.0f, x
        self.assertIn('"data/y.expected.bin", to_doubles<float>', launch)
        self.assertNotRegex(launch + (out / "README.md").read_text() + (out / "launch.py").read_text(), r"@[A-Z_:]+@")
        compile((out / "launch.py").read_text(), "launch.py", "exec")
        self.assertNotIn("ATTN_T", next(out.glob("*.cu")).read_text())
        self.refused(2, *asked, "--problem", "n=100000000", names=["256 MB"])

    def racy(self, name="racy.cu", barrier=""):
        file = self.path / name
        file.write_text("__global__ void racy(float* x, float* y) {\n  __shared__ float s[64];\n  s[threadIdx.x] = x[threadIdx.x];\n"
                        f"  {barrier}\n  y[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];\n}}\n"
                        "int main() { float *x, *y; cudaMalloc(&x, 64 * 4); cudaMalloc(&y, 20 * 64 * 4); racy<<<20, 64>>>(x, y); }\n")
        return file

    def test_check_names_a_race_at_its_line_and_wants_the_whole_grid(self):
        file, report = self.racy(), self.path / "report.sarif"
        done = self.call("check", file, "--sarif", report)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn(f"{file}:3: error: Race", done.stdout)
        self.assertIn("[race.shared, racecheck]", done.stdout)
        self.assertIn("all 20 CTAs", done.stdout)
        log = json.loads(report.read_text())
        self.assertEqual(log["version"], "2.1.0")
        place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        self.assertEqual(place["region"]["startLine"], 3)
        self.assertTrue(place["artifactLocation"]["uri"].endswith("racy.cu"))
        sound = self.racy("sound.cu", "__syncthreads();")
        done = self.call("check", sound)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("result         clean", done.stdout)
        observation = json.loads(self.call("check", sound, "--json").stdout)
        jsonschema.validate(observation, json.loads((TREE / "docs" / "observation.schema.json").read_text()))
        self.assertEqual((observation["watch"]["ctas"], observation["watch"]["total_ctas"]), (20, 20))
        done = self.call("check", sound, "--watch=sample")
        self.assertEqual(done.returncode, 1, "a part of the grid is not clean")
        self.assertIn("8 of 20 CTAs", done.stdout)
        self.assertEqual(list(self.path.glob("*.json")), [], "it writes no manifest")

    def test_check_sees_a_fault_of_a_cta_that_a_sample_leaves_out(self):
        file = self.racy("late für 1.2 %s.cu", "if (blockIdx.x != 9) __syncthreads();")
        self.assertEqual(self.call("check", file, "--watch=sample").stdout.count("error:"), 0)
        done = self.call("check", file)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"{file}:3: error: Race", done.stdout)
        self.assertIn(f"{file}:5: error: ", done.stdout)  # the sample's outputs say nothing of this CTA

    def test_check_takes_the_manifest_beside_the_file_and_says_what_was_guessed(self):
        file = self.plain("saxpy")
        self.assertRegex(self.call("check", file).stdout, "guessed +")
        with self.watch_file(file, "--runs", "1") as process:
            self.assertRegex(process.stdout.read(), "run 1: .*\n(probed +.*\n)*guessed +")
        self.assertEqual(self.call("import", file, "--out", self.path).returncode, 0)
        copy = self.path / "saxpy.cu"
        manifest = json.loads((self.path / "saxpy.json").read_text())
        manifest["sizes"]["n"] = 300
        (self.path / "saxpy.json").write_text(json.dumps(manifest))
        done = self.call("check", copy)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("n=300", done.stdout)
        self.assertNotIn("guessed", done.stdout)
        named_like_a_shipped_one = self.path / "tiled.cu"
        named_like_a_shipped_one.write_text(self.racy("x.cu").read_text())
        self.assertIn("tiled.cu:3: error: Race", self.call("check", named_like_a_shipped_one).stdout)

    def test_check_names_the_lines_that_a_person_has(self):
        header = self.path / "swap.h"
        header.write_text("#pragma once\n__device__ float swap(float* s) {\n  return s[63 - threadIdx.x];\n}\n")
        file = self.path / "pasted.cu"
        file.write_text('#include "swap.h"\n__global__ void k(float* x, float* y) {\n  __shared__ float s[64];\n'
                        "  s[threadIdx.x] = x[threadIdx.x];\n  y[threadIdx.x] = swap(s);\n}\n"
                        "int main() { float *x, *y; cudaMalloc(&x, 256); cudaMalloc(&y, 256); k<<<1, 64>>>(x, y); }\n")
        done = self.call("check", file)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"{file}:4: error: Race: LDS at swap.h:3, inlined at pasted.cu:5", done.stdout)
        self.assertIn(f"{header}:3: error: ", done.stdout)
        self.assertNotIn("whole_", done.stdout)
        # The same lines in every tool that runs what import wrote.
        self.assertEqual(self.call("import", file, "--out", self.path / "in").returncode, 0)
        asked = ("--kernels", self.path / "in", "--kernel", "pasted")
        self.assertIn("LDS at swap.h:3, inlined at pasted.cu:5", self.call("run", *asked).stdout)
        self.assertRegex(self.call("explain", *asked).stdout, r"(swap\.h:3|pasted\.cu:[45])")
        self.assertRegex(self.call("disasm", *asked).stdout, r"LDS .* swap\.h:3 < pasted\.cu:5")
        lines = self.call("disasm", *asked, "--by-line").stdout
        self.assertRegex(lines, r"(?s)pasted\.cu\n.*\n +4 .*s\[threadIdx\.x\] = x.*\n +5 .*swap\(s\)")
        self.assertRegex(lines, r"(?s)swap\.h\n +3 .*return s\[63")
        header.write_text(header.read_text().replace("63", "sixty"))
        self.assertIn(f"{header}:3: error: swap.h:3: identifier", self.call("check", file).stdout)

    def test_check_names_an_access_out_of_bounds_and_a_compile_error(self):
        file = self.path / "out.cu"
        file.write_text("__global__ void out(float* y) {\n  y[threadIdx.x + 1] = 1;\n}\n"
                        "int main() { float* y; cudaMalloc(&y, 256); out<<<1, 64>>>(y); }\n")
        done = self.call("check", file)
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        self.assertIn(f"{file}:2: error:", done.stdout)
        self.assertIn("memcheck", done.stdout)
        file.write_text("__global__ void out(float* y) {\n  y[0] = z;\n}\n")
        done = self.call("check", file)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn(f"{file}:2: error:", done.stdout)
        self.refused(2, "check", self.path / "gone.cu", names=["gone.cu"])
        self.refused(2, "check", file, "--kernel", "tiled", names=["Name one of them"])

    def test_check_takes_a_kernel_of_the_catalog(self):
        done = self.call("check", "--kernel", "tiled", "--problem", SMALL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("verdict        correct", done.stdout)

    def test_run_watches_every_cta_if_asked(self):
        file = self.racy("sound.cu", "__syncthreads();")
        self.assertEqual(self.call("import", file).returncode, 0)
        run = ("--kernels", self.path, "--kernel", "sound")
        self.assertEqual(self.run_json(*run)["watch"]["ctas"], 8)
        self.assertEqual(self.run_json(*run, "--watch=all")["watch"]["ctas"], 20)
        self.refused(2, "run", *run, "--watch=some", names=["--watch"])

    def watch_file(self, *args):
        environment = dict(os.environ, ATTNSCOPE_HOME=str(self.path / "home"))
        return subprocess.Popen([PROGRAM, "watch-file", *map(str, args)], env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def test_watch_file_says_what_a_save_changed(self):
        file = self.racy()
        with self.watch_file(file, "--runs", "2") as process:
            self.assertRegex(process.stdout.readline(), "^run 1: race, .* us modelled, [1-9] findings?$")
            self.racy(barrier="__syncthreads();")
            rest = process.stdout.read()
            self.assertEqual(process.wait(timeout=120), 0, rest)
        first, rest = rest.split("run 2: unchecked")
        self.assertIn(f"{file}:3: error: Race", first)
        self.assertIn("verdict: race -> unchecked", rest)
        self.assertIn(f"gone: {file}:3: error: Race", rest)
        self.assertRegex(rest, "latency, median: .* -> ")

    def test_watch_file_ends_by_ctrl_c_with_the_last_runs_status(self):
        with self.watch_file(self.racy()) as process:
            process.stdout.readline()
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
            self.assertEqual(process.wait(timeout=60), 1, rest)

    def test_watch_file_goes_on_after_a_compile_error(self):
        file = self.racy(barrier="oops;")
        with self.watch_file(file, "--runs", "2") as process:
            self.assertIn("run 1: failed", process.stdout.readline())
            self.racy(barrier="__syncthreads();")
            rest = process.stdout.read()
            self.assertEqual(process.wait(timeout=120), 0, rest)
        self.assertIn("gone: ", rest)

    def test_a_picture_of_an_impossible_size_is_refused(self):
        if os.environ["ATTNSCOPE_HAS_UI"] != "ON":
            self.skipTest("built without the window")
        for size in ("319x720", "1280x8193", "1280", "x720", "1280x720x2"):
            self.refused(2, "shot", self.path / "window.png", "--size", size, names=["--size " + size, "WIDTHxHEIGHT"])

    def test_a_picture_of_a_lesson_that_there_is_not_is_refused(self):
        if os.environ["ATTNSCOPE_HAS_UI"] != "ON":
            self.skipTest("built without the window")
        file = self.path / "step.png"
        self.refused(2, "shot", file, "--lesson", "no_such", names=["no lesson no_such", "04_idle_warps"])
        self.refused(2, "shot", file, "--lesson", "04_idle_warps", "--step", "9", names=["no step 9", "3 steps"])
        self.refused(2, "shot", file, "--lesson", "04_idle_warps", "--step", "2", "--answer", "7", names=["no answer 7"])
        self.assertFalse(file.exists())
        done = self.call("shot", file, "--lesson", "04_idle_warps", "--step", "2", "--answer", "2", "--size", "1024x640")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(file.exists())

    def film(self, *acts):
        return self.preset(json.dumps({"hold": 0.2, "acts": list(acts)}), "film.json")

    def test_a_film_shows_a_knob_being_turned(self):
        if os.environ["ATTNSCOPE_HAS_UI"] != "ON":
            self.skipTest("built without the window")
        file = self.path / "film.png"
        script = self.film({"turn": "NUM_WARPS=8", "hold": 0.7}, {"turn": "BLOCK_M=64", "hold": 0.7}, {"panel": "Source"})
        done = self.call("shot", file, "--steps", script, "--kernel", "tiled", "--problem", "S=128", "--size", "1280x720")
        self.assertEqual(done.returncode, 0, done.stderr)
        data = file.read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        at = data.index(b"acTL") + 4
        self.assertGreater(int.from_bytes(data[at:at + 4], "big"), 24)  # the pointer's two ways alone are 24
        self.assertEqual(data.count(b"fcTL"), int.from_bytes(data[at:at + 4], "big"))

    def test_a_film_of_what_the_window_cannot_do_is_refused(self):
        if os.environ["ATTNSCOPE_HAS_UI"] != "ON":
            self.skipTest("built without the window")
        file = self.path / "film.png"
        for act, names in (({"turn": "WARPS=8"}, ["act 1", "WARPS"]), ({"turn": "NUM_WARPS=7"}, ["act 1", "7"]),
                           ({"panel": "Sauce"}, ["act 1", "Sauce"]), ({"action": "Fly"}, ["act 1", "Fly"]),
                           ({"action": "Quit"}, ["act 1", "There is no window to close"])):
            self.refused(2, "shot", file, "--steps", self.film(act), "--kernel", "tiled", "--problem", "S=64", names=names)
        self.refused(2, "shot", file, "--steps", "no_such", names=["no lesson no_such"])
        self.refused(2, "shot", file, "--steps", self.path / "gone.json", names=["gone.json"])
        self.assertFalse(file.exists())

    def test_an_assertion_names_its_line_and_thread(self):
        file = self.path / "asserts.cu"
        file.write_text("#include <assert.h>\n__global__ void asserts(int* p) {\n  assert(threadIdx.x != 40);\n"
                        "  p[threadIdx.x] = 1;\n}\nint main() { asserts<<<1, 64>>>(nullptr); }\n")
        self.assertEqual(self.call("import", file).returncode, 0)
        self.refused(4, "run", "--kernels", self.path, "--kernel", "asserts",
                     names=["asserts.cu:3", "threadIdx.x != 40", "thread 40"])

    def test_a_kernel_that_only_prints_runs(self):
        file = self.path / "prints.cu"
        file.write_text('#include <stdio.h>\n__global__ void prints(int n) { if (threadIdx.x == 0) printf("n is %d\\n", n); }\n'
                        "int main() { prints<<<1, 32>>>(7); }\n")
        self.assertEqual(self.call("import", file).returncode, 0)
        o = self.run_json("--kernels", self.path, "--kernel", "prints")
        self.assertEqual((o["printed"]["lines"], o["verdict"]["state"]), (["n is 7"], "unchecked"))

    def test_import_refuses_what_is_no_kernel(self):
        file = self.path / "no.cu"
        for text, name in ((b"int main() {}", "has no kernel"), (b"__global__ void k(int* p) {} // \xff", "is not UTF-8"),
                           (b"__global__ void k(cudaTextureObject_t t, int* p) {}", "parameter t is a cudaTextureObject_t")):
            file.write_bytes(text)
            self.refused(2, "import", file, names=[name])
        self.refused(2, "import", self.path / "gone.cu", names=["gone.cu"])

    def lesson(self, change):
        lesson = json.loads((TREE / "assets" / "lessons" / "03_the_same_code.json").read_text())
        change(lesson)
        return self.preset(json.dumps(lesson), "mine.json")

    def test_a_lesson_that_claims_something_false_exits_1(self):
        def claim(lesson):
            lesson["steps"][1]["claims"] = ["A.timing.us.p50 > B.timing.us.p50"]
        done = self.refused(1, "lesson", "check", self.lesson(claim), names=["mine, step 2", "does not hold"])
        self.assertIn("1 fault", done.stdout)

    def test_a_lesson_with_a_misspelt_key_exits_2(self):
        self.refused(2, "lesson", "check", self.lesson(lambda lesson: lesson.update(titel="")), names=["titel"])
        self.refused(2, "lesson", "check", self.path / "none.json", names=["none.json"])

    def test_a_lesson_fails_when_its_kernel_loses_the_effect(self):
        lesson = (TREE / "assets" / "lessons" / "07_bank_conflicts.json").read_text()
        mine = self.preset(lesson.replace('"kernel": "tiled"', '"kernel": "mine"'))
        kernels = self.path / "kernels"
        kernels.mkdir()
        shutil.copy(TREE / "kernels" / "02_tiled.cu", kernels)
        manifest = json.loads((TREE / "kernels" / "02_tiled.json").read_text())
        manifest["id"] = "mine"
        for swizzle, status in [(0, 0), (1, 1)]:
            for knob in manifest["knobs"]:
                if knob["name"] == "SWIZZLE_XOR":
                    knob["default"] = swizzle
            (kernels / "mine.json").write_text(json.dumps(manifest))
            done = self.call("lesson", "check", mine, "--kernels", kernels)
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertIn("mine, step 1", done.stderr)
        self.assertIn("banks.conflicts", done.stderr)

    def test_the_lessons_hold(self):
        done = self.call("lesson", "check", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        checked = json.loads(done.stdout)
        self.assertGreaterEqual(len(checked), 12)
        self.assertTrue(all(one["claims"] >= 5 and not one["faults"] for one in checked), checked)
        listed = json.loads(self.call("lesson", "list", "--json").stdout)
        self.assertEqual([one["id"] for one in checked], [one["id"] for one in listed])
        self.assertEqual({question for one in listed for question in one["questions"]}, set(range(1, 17)))

    def test_doctor_lists_the_opcode_forms(self):
        done = self.call("doctor", "--isa")
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in (r"Opcode forms that the emulator executes: [0-9]+\.", r"sm_90 +[0-9]+ +- ", r"sm_80 +- +[0-9]+ ",
                     r"FFMA R,R,R,R +recorded, bit-equal \(sm_80, sm_89, sm_90\)"):
            self.assertRegex(done.stdout, line)

    def test_help_and_version_everywhere(self):
        for command in ([], ["run"], ["check"], ["watch-file"], ["kernels"], ["devices"], ["presets"], ["shot"], ["worker"], ["doctor"], ["fetch"]):
            done = self.call(*command, "--help")
            self.assertEqual(done.returncode, 0, command)
            self.assertIn("attnscope" if not command else command[0], done.stdout)
            self.assertEqual(self.call(*command, "--version").returncode, 0, command)

    def test_every_compile_option_is_in_the_help(self):
        schema = json.loads((TREE / "docs" / "observation.schema.json").read_text())
        options = schema["properties"]["experiment"]["properties"]["config"]["properties"]["options"]["properties"]
        self.assertIn("compiler", options)
        for command in ("run", "sweep", "disasm"):
            text = " ".join(self.call(command, "--help").stdout.split())
            said = text.split("--option NAME=VALUE", 1)[1].split("(may be repeated)", 1)[0]
            for option in options:
                self.assertIn(option, said, command)

    def test_a_picture_is_of_the_size_asked(self):
        if os.environ["ATTNSCOPE_HAS_UI"] != "ON":
            self.skipTest("built without the window")
        file = self.path / "window.png"
        done = self.call("shot", file, "--size", "1280x720")
        self.assertEqual(done.returncode, 0, done.stderr)
        head = file.read_bytes()[:24]
        self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual((int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")), (1280, 720))

    def test_what_the_docs_say_of_an_sms_clocks_is_recorded(self):
        recorded = (TREE / "bench" / "results" / "timeline_h200.txt").read_text()
        said = " ".join((TREE / "docs" / "model.md").read_text().split("`bench/results/timeline_h200.txt`", 1)[1].split("\n\n", 1)[0].split())
        rows = [row.rsplit(None, 11) for row in re.findall(r"^(?:minimal|tiled|scalar|wmma|mma) .*$", recorded, re.MULTILINE)]
        self.assertEqual(len(rows), 15)
        off = [100 * (float(row[4]) / float(row[5]) - 1) for row in rows if row[5] != "-"]
        self.assertIn(f"{-min(off):.1f} % below to {max(off):.1f} % above", said)
        self.assertIn(f"begin within {max(int(row[6]) for row in rows)} clocks", said)
        ctas, warps, fit = max((int(row[7]), int(row[8]), int(row[9])) for row in rows if row[0].startswith("minimal"))
        self.assertIn(f"up to {ctas} CTAs have begun and not ended on an SM that {fit} fit on, but never more than {warps} warps", said)
        [apart] = re.findall(r"^mma, .* clocks \((.*) % apart\)$", recorded, re.MULTILINE)
        self.assertIn(f"five launches of `mma` agree within {apart} %", said)

    def test_what_the_docs_say_of_the_windows_frames_is_recorded(self):
        recorded = (TREE / "bench" / "results" / "window_long.txt").read_text()
        said = " ".join((TREE / "docs" / "window.md").read_text().split())
        [(p99, slowest)] = re.findall(r"^  rasterising left out .* (\d\.\d\d)  \(.*\) +(\d\.\d\d)$", recorded, re.MULTILINE)
        self.assertIn(f"99 % of its frames are made within {p99} ms of CPU time, the slowest in {slowest} ms", said)
        [(p99, slowest)] = re.findall(r"^  making a frame, ms .* (\d\.\d\d) +(\d+\.\d) ", recorded, re.MULTILINE)
        self.assertIn(f"By the wall 99 % take at most {p99} ms, the slowest {slowest} ms", said)
        grows = re.findall(r"^ +(softpipe|llvmpipe)? +(?:\d+)? +(private|live) +(.*?) +\+(\d\.\d) %$", recorded, re.MULTILINE)
        self.assertEqual([kind for _, kind, _, _ in grows], ["private", "live"] * 3)
        for _, _, row, percent in grows:
            second, tenth = (float(row.split()[at]) for at in (2, 10))
            self.assertAlmostEqual(100 * (tenth / second - 1), float(percent), delta=0.15)  # the row's figures are rounded
        private, live = ([float(percent) for _, kind, _, percent in grows if kind == wanted] for wanted in ("private", "live"))
        self.assertIn(f"From the second minute to the tenth its private memory grows by {private[0]} %", said)
        self.assertIn(f"what is live grows by at most {max(live[1:])} %, and private memory by up to {max(private)} %", said)
        rest = re.findall(r"^  at rest .* (\d\.\d\d) %", recorded, re.MULTILINE)
        self.assertIn(f"At rest it takes {rest[0]} % of a core", said)

    def test_what_the_docs_say_of_long_code_is_recorded(self):
        recorded = (TREE / "bench" / "results" / "window_code.txt").read_text()
        said = " ".join((TREE / "docs" / "window.md").read_text().split())
        rows = re.findall(r"^  (\w+).* (\d+) +(\d\.\d\d) +(\d\.\d\d) +(\d\.\d\d)$", recorded, re.MULTILINE)
        p99 = {row[0]: row[3] for row in rows}
        self.assertEqual(set(p99), {"scrolled", "pointed", "searched", "chosen"})
        self.assertTrue(all(float(ms) <= 4 for ms in p99.values()), p99)
        [instructions] = re.findall(r"a kernel of ([\d,]+) instructions", recorded)
        [arrives] = re.findall(r"^  now: .* (\d+\.\d\d)$", recorded, re.MULTILINE)
        self.assertLessEqual(float(arrives), 4)
        self.assertGreaterEqual(int(instructions.replace(",", "")), 20000)
        self.assertIn(f"The SASS of {instructions} instructions takes {p99['scrolled']} ms a frame while it is scrolled (99 %), {p99['pointed']} ms under "
                      f"the pointer, {p99['searched']} ms while it is searched and {p99['chosen']} ms while instructions are chosen, and at most "
                      f"{arrives} ms when it arrives", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
