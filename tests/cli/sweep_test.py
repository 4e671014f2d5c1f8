"""attnscope sweep: what it tries, what it rejects and why, who wins, and what a second one need not run."""
import collections
import json
import os
import pathlib
import re
import shlex
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

from kept_cache import keep_compiled

PROGRAM = os.environ["ATTNSCOPE"]
TREE = pathlib.Path(os.environ["ATTNSCOPE_TREE"])
SMALL = "B=1,H=1,S=64,D=64"
# 24 configs of the reports' space: 12 do not fit, 8 are warned of, 4 are sound, of which two have one machine code.
REPORTS = {"BLOCK_M": [16, 64], "NUM_WARPS": [2, 6], "VEC_WIDTH": [2, 4, 8], "SYNC_POLICY": ["none", "cta"]}


class Sweep(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.home.name)
        keep_compiled(self.path / "home")
        self.environment = dict(os.environ, ATTNSCOPE_HOME=str(self.path / "home"))

    def tearDown(self):
        self.home.cleanup()

    def call(self, *args, expect=0):
        done = subprocess.run([PROGRAM, *map(str, args)], env=self.environment, capture_output=True, text=True, timeout=560)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def space(self, knobs, name="space.json", **more):
        file = self.path / name
        file.write_text(knobs if isinstance(knobs, str) else json.dumps({"knobs": knobs, **more}))
        return file

    def sweep(self, knobs, *args, expect=0, problem=SMALL):
        done = self.call("sweep", "--json", "--device", "emulated:l4", "--problem", problem, "--space", self.space(knobs), *args, expect=expect)
        return json.loads(done.stdout)

    def own_tiled(self):
        """A copy of tiled that warns of nothing."""
        folder = self.path / "own"
        folder.mkdir()
        (folder / "02_tiled.cu").write_text((TREE / "kernels" / "02_tiled.cu").read_text())
        manifest = json.loads((TREE / "kernels" / "02_tiled.json").read_text())
        manifest.update(id="own", warns=[])
        (folder / "own.json").write_text(json.dumps(manifest))
        return ["--kernels", folder, "--kernel", "own"]

    def rows(self):
        database = sqlite3.connect(self.path / "home" / "data" / "results.sqlite")
        found = database.execute("SELECT hash FROM observation ORDER BY id").fetchall()
        database.close()
        return [row[0] for row in found]

    def test_a_pause_in_the_terminal_costs_no_config(self):
        """As Ctrl-Z and fg: they stop and continue the foreground process group, the local worker's supervisor with it."""
        deadline_ms = 10_000  # a config takes a tenth of a second
        space = self.space({"NUM_WARPS": [1, 2, 4, 8], "VEC_WIDTH": [1, 2, 4, 8]})
        args = ["sweep", "--json", "--no-watch", "--device", "emulated:l4", "--problem", "B=1,H=1,S=256,D=64", "--space", str(space)]
        self.call(*args)  # so that nothing is compiled within the deadline
        for file in (self.path / "home" / "data").glob("results.sqlite*"):
            file.unlink()
        sweep = subprocess.Popen([PROGRAM, *args, "--deadline", str(deadline_ms)], env=self.environment, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, preexec_fn=lambda: os.setpgid(0, 0))

        def end():
            if sweep.poll() is None:
                os.killpg(sweep.pid, signal.SIGKILL)
                sweep.communicate()
        self.addCleanup(end)

        def group():
            """The state of each of its processes, by id."""
            found = {}
            for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
                try:
                    words = stat.read_text().rsplit(")", 1)[1].split()
                except OSError:  # it ended just now
                    continue
                if int(words[2]) == sweep.pid:
                    found[int(stat.parent.name)] = words[0]
            return found

        kept = self.path / "home" / "data" / "results.sqlite"
        for most in (1, 4):
            while sweep.poll() is None and (not kept.exists() or len(self.rows_so_far()) < most):
                time.sleep(0.01)
            self.assertIsNone(sweep.poll(), "it must still run when it is paused")
            os.killpg(sweep.pid, signal.SIGTSTP)
            until = time.monotonic() + 30
            while not set(states := group()).issubset(at for at, state in states.items() if state in "TZ") and time.monotonic() < until:
                time.sleep(0.05)
            self.assertGreater(list(states.values()).count("T"), 1, "the worker's supervisor too")
            self.assertLessEqual(set(states.values()), {"T", "Z"}, states)
            before = len(self.rows_so_far())
            time.sleep(1.1 * deadline_ms / 1000)
            self.assertEqual(len(self.rows_so_far()), before)
            os.killpg(sweep.pid, signal.SIGCONT)
        out, said = sweep.communicate(timeout=500)
        self.assertEqual(sweep.returncode, 0, out + said)
        board = json.loads(out)
        self.assertEqual({one["why"] for one in board["rejected"]} - {"restriction", "limit", "warning"}, set(), said)
        self.assertEqual(len(board["correct"]) + len(board["rejected"]), 16)
        self.assertNotIn("silent", said)
        hashes = self.rows()
        self.assertEqual(len(hashes), len(set(hashes)), "each config ran once")

    def rows_so_far(self):
        try:
            return self.rows()
        except sqlite3.OperationalError:  # it is just being made
            return []

    def test_every_config_is_ranked_or_rejected_with_its_reason(self):
        board = self.sweep(REPORTS)
        correct, rejected = board["correct"], board["rejected"]
        self.assertEqual((board["configs"], board["tried"], board["known"]), (24, 3, 0))
        self.assertEqual(len(correct) + len(rejected), 24)
        self.assertEqual(len({row["config"] for row in correct + rejected}), 24)
        for one in rejected:
            knobs = dict(word.split("=") for word in one["config"].split())
            if knobs["BLOCK_M"] == "64":
                self.assertEqual(one["why"], "limit")
                self.assertRegex(one["reason"], r"asks 57,\d+ B of static shared memory")
            elif knobs["NUM_WARPS"] == "6":
                self.assertEqual(one["why"], "warning")
                self.assertIn("does not divide", one["reason"])
            else:
                self.assertEqual((one["why"], knobs["SYNC_POLICY"]), ("warning", "none"))
                self.assertIn("a race", one["reason"])
        self.assertEqual(sorted(row["knobs"]["VEC_WIDTH"] for row in correct), [2, 4, 8])
        [eight] = [row for row in correct if row["knobs"]["VEC_WIDTH"] == 8]
        [four] = [row for row in correct if row["knobs"]["VEC_WIDTH"] == 4]
        self.assertEqual((eight["same_code_as"], eight["us"]), (four["config"], four["us"]))
        self.assertIsNone(four["same_code_as"])

    def test_the_first_is_the_fastest_and_its_command_runs_it(self):
        board = self.sweep({"BLOCK_M": [16, 48], "SWIZZLE_XOR": [0, 1]})
        rows = board["correct"]
        self.assertEqual([row["us"] for row in rows], sorted(row["us"] for row in rows))
        self.assertEqual([row["fastest"] for row in rows], [True, False, False, False])
        self.assertFalse(rows[-1]["tie"], "48 rows without a swizzle are far slower")
        self.assertTrue(all(row["watched"] for row in rows if row["fastest"] or row["tie"]))
        words = shlex.split(board["command"])
        self.assertEqual(words[:2], ["attnscope", "run"])
        again = json.loads(self.call(*words[1:], "--json").stdout)
        self.assertEqual(again["experiment"]["config"]["knobs"], rows[0]["knobs"])
        self.assertEqual(again["timing"]["us"]["p50"], rows[0]["us"])
        self.assertEqual(again["experiment"]["hash"], rows[0]["hash"])

    def test_the_table_counts_reasons_and_lists_them_when_asked(self):
        arguments = ["sweep", "--device", "emulated:l4", "--problem", SMALL, "--space", self.space(REPORTS)]
        text = self.call(*arguments).stdout
        self.assertIn("3 of 24 configs were tried", text)
        self.assertRegex(text, r"(?m)^ +1 .* us modelled +correct ")
        self.assertRegex(text, r"(?m)^ +6  limit: asks 57,\d+ B of static shared memory")
        self.assertRegex(text, r"(?m)^21 rejected:$")
        self.assertIn("timed once", text)
        self.assertRegex(text, r"(?m)^  attnscope run --kernel tiled ")
        everything = self.call(*arguments, "--all").stdout
        self.assertEqual(len([line for line in everything.splitlines() if line.startswith("  BLOCK_M=64 ")]), 12)

    def test_what_is_known_is_not_run_again(self):
        first = self.sweep(REPORTS)
        stored = self.rows()
        second = self.sweep(REPORTS)
        self.assertEqual(self.rows(), stored, "nothing ran")
        self.assertEqual(second["known"], 2, "one of the three has the machine code of another")
        self.assertEqual(second["correct"], first["correct"])
        self.assertEqual(self.sweep(REPORTS, "--fresh")["known"], 0)
        self.assertGreater(len(self.rows()), len(stored))
        # Another problem is another experiment.
        self.assertEqual(self.sweep(REPORTS, problem="B=1,H=1,S=32,D=64")["known"], 0)

    def test_a_killed_sweep_goes_on_at_the_next_config(self):
        knobs = {"BLOCK_M": [16, 32, 48], "VEC_WIDTH": [1, 4], "SWIZZLE_XOR": [0, 1]}
        arguments = ["sweep", "--device", "emulated:l4", "--problem", SMALL, "--no-watch", "--json", "--space", self.space(knobs)]
        sweep = subprocess.Popen([PROGRAM, *map(str, arguments)], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        database = self.path / "home" / "data" / "results.sqlite"
        while sweep.poll() is None and not (database.exists() and self.counted() >= 3):
            time.sleep(0.01)
        sweep.send_signal(signal.SIGKILL)
        sweep.communicate()
        before = self.rows()
        self.assertGreaterEqual(len(before), 3)
        board = json.loads(self.call(*arguments).stdout)
        self.assertEqual(board["known"], len(before))
        after = self.rows()
        self.assertEqual(after[:len(before)], before)
        self.assertEqual(len(set(after)), len(after), "no config ran twice")
        self.assertEqual(len(board["correct"]), 12)

    def counted(self):
        try:
            return len(self.rows())
        except sqlite3.OperationalError:  # it is just being made
            return 0

    def test_a_race_that_no_manifest_knows_of_cannot_win(self):
        kernel = self.own_tiled()
        knobs = {"SYNC_POLICY": ["none", "cta"], "NUM_WARPS": [8]}
        board = self.sweep(knobs, *kernel)
        self.assertEqual([row["knobs"]["SYNC_POLICY"] for row in board["correct"]], [5])
        [racy] = board["rejected"]
        self.assertEqual(racy["why"], "race")
        self.assertIn("SYNC_POLICY=none", racy["config"])
        self.assertTrue(racy["reason"])
        unwatched = self.sweep(knobs, *kernel, "--no-watch", "--fresh")
        self.assertEqual(len(unwatched["correct"]), 2)
        self.assertFalse(any(row["watched"] for row in unwatched["correct"]))

    def test_where_nothing_is_correct_the_status_is_1(self):
        board = self.sweep({"NUM_WARPS": [6], "VEC_WIDTH": [2, 4]}, *self.own_tiled(), problem="B=1,H=1,S=200,D=64", expect=1)
        self.assertEqual(board["correct"], [])
        self.assertIsNone(board["command"])
        self.assertEqual([one["why"] for one in board["rejected"]], ["wrong", "wrong"])

    def test_a_budget_and_a_seed_choose(self):
        knobs = {"BLOCK_M": [16, 32, 48], "VEC_WIDTH": [1, 2, 4], "SWIZZLE_XOR": [0, 1]}

        def tried(*more):
            board = self.sweep(knobs, "--budget", "4", "--no-watch", *more)
            self.assertEqual((board["tried"], len(board["correct"])), (4, 4))
            return sorted(row["config"] for row in board["correct"])

        self.assertEqual(tried("--strategy", "random", "--seed", "1"), tried("--strategy", "random", "--seed", "1"))
        self.assertNotEqual(tried("--strategy", "random", "--seed", "1"), tried("--strategy", "random", "--seed", "2"))
        self.assertEqual(len({config.split()[0] for config in tried()}), 1, "exhaustive: in order")
        held = ("BLOCK_M=32 BLOCK_N=64 NUM_WARPS=4 VEC_WIDTH=4 SYNC_POLICY=cta SWIZZLE_XOR=0 REDUCE_WARP=warp SHARED=static "
                "SO_TYPE=f32")
        self.assertIn(held, tried("--strategy", "evolutionary"), "what the options hold is of generation 0")
        self.assertIn(held, tried("--strategy", "local"), "and where a local search starts")

    def test_fragments_are_clocked_and_seed_the_evolution(self):
        micro = ["micro", "--fragment", "micro_copy", "--device", "emulated:l4", "--problem", "D=64", "--set", "BLOCK_N=64", "--set", "NUM_WARPS=4",
                 "--set", "ASYNC=registers"]
        evolve = ["sweep", "--json", "--kernel", "tiled", "--device", "emulated:l4", "--problem", SMALL, "--no-watch", "--strategy", "evolutionary",
                  "--budget", "2", "--space", self.space({"VEC_WIDTH": [1, 2, 4, 8], "SWIZZLE_XOR": [0, 1]})]
        self.assertIn("generation 0 is random", self.call(*evolve).stderr)
        clocked = json.loads(self.call(*micro, "--json").stdout)
        self.assertEqual((clocked["device"], clocked["problem"]["head_dim"], len(clocked["fragments"])), ("emulated:l4", 64, 1))
        fragment = clocked["fragments"][0]
        self.assertEqual((fragment["fragment"], fragment["known"], fragment["rejected"]), ("micro_copy", 0, []))
        rows = fragment["rows"]
        self.assertEqual(sorted(row["knobs"]["VEC_WIDTH"] for row in rows), [1, 2, 4, 8])
        self.assertEqual(rows, sorted(rows, key=lambda row: row["cycles_per_1000"]), "the fewest clocks first")
        self.assertEqual(rows[0]["knobs"]["VEC_WIDTH"], 8, "the widest copy")
        for row in rows:
            self.assertEqual((row["cycles"]["kind"], row["cycles"]["ctas"]), ("modelled", 1))
            self.assertLess(row["cycles"]["low"], row["cycles"]["median"])
            self.assertAlmostEqual(row["cycles_per_1000"], 1000 * row["cycles"]["median"] / (64 * 64))
            self.assertGreater(row["counted"]["instructions"], 0)
        again = self.call(*micro, "--csv")
        self.assertEqual(again.stdout.splitlines()[0].split(",")[:4], ["fragment", "device", "knobs", "cycles"])
        self.assertEqual(len(again.stdout.strip().splitlines()), 5)
        table = self.call(*micro, "--top", "1").stdout
        self.assertIn("4 of them known from earlier runs", table)
        self.assertRegex(table, r"   1 +[0-9.]+ modelled .* instructions counted .*VEC_WIDTH=8")
        self.assertIn("and 3 more: --top 0", table)
        seeded = self.call(*evolve)
        self.assertIn("generation 0 starts from the microbenchmark's", seeded.stderr)
        tried = sorted(row["config"].split("VEC_WIDTH=")[1].split()[0] for row in json.loads(seeded.stdout)["correct"])
        self.assertEqual(tried, ["4", "8"], "the held config and the one whose copy takes the fewest clocks")
        for args, words in ((["--fragment", "nothing"], "no microbenchmark is called"), (["--set", "NOTHING=1"], "NOTHING"), (["--set", "VEC_WIDTH=3"], "VEC_WIDTH"),
                            (["--fragment", "micro_copy", "--problem", "D=80"], "no fragment is a part of")):
            self.assertIn(words, self.call("micro", "--device", "emulated:l4", *args, expect=2).stderr)

    def test_a_model_ranks_and_the_device_decides(self):
        knobs = {"BLOCK_M": [16, 32], "VEC_WIDTH": [1, 4], "SWIZZLE_XOR": [0, 1]}
        guided = self.sweep(knobs, "--strategy", "model-guided", "--model", "emulated:a100", "--budget", "4")
        self.assertEqual((guided["strategy"], guided["model"], guided["tried"]), ("model-guided", "emulated:a100", 4))
        whole = self.sweep(knobs)
        self.assertEqual(guided["correct"][0]["config"], whole["correct"][0]["config"])
        self.assertEqual(guided["experiment"]["device"], "emulated:l4")
        done = self.call("sweep", "--json", "--device", "emulated:l4", "--problem", SMALL, "--space", self.space(knobs), "--strategy", "model-guided")
        self.assertIn("is modelled itself", done.stderr)
        self.assertEqual(json.loads(done.stdout)["strategy"], "exhaustive")
        done = self.call("sweep", "--json", "--device", "emulated:l4", "--problem", SMALL, "--space", self.space(knobs), "--strategy", "halving")
        self.assertIn("are modelled and do not vary", done.stderr)
        halved = json.loads(done.stdout)
        self.assertEqual((halved["strategy"], halved["correct"]), ("exhaustive", whole["correct"]))

    def test_a_t4_file_holds_every_config_and_is_replayed(self):
        file, cache = self.path / "t4.json", self.path / "cache.json"
        knobs = {"BLOCK_M": [16, 32, 48, 64], "VEC_WIDTH": [1, 4], "SWIZZLE_XOR": [0, 1]}
        board = self.sweep(knobs, "--no-watch", "--t4", file, "--kernel-tuner-cache", cache, "--model", "emulated:a100")
        self.assertEqual((board["strategy"], board["model"]), ("exhaustive", "emulated:a100"))
        t4 = json.loads(file.read_text())
        self.assertEqual(t4["schema_version"], "1.0.0")
        self.assertEqual(len(t4["results"]), 16)
        for one in t4["results"]:
            self.assertEqual(set(one["configuration"]), set(knobs))
            self.assertEqual(one["invalidity"], "constraints" if one["configuration"]["BLOCK_M"] == 64 else "correct")
        self.assertAlmostEqual(min(one["measurements"][0]["value"] for one in t4["results"] if one["measurements"]),
                               board["correct"][0]["us"] / 1000)
        replayed = json.loads(self.call("sweep", "--replay", file, "--repeats", "20", "--json").stdout)
        self.assertEqual((replayed["configs"], replayed["valid"], replayed["repeats"]), (16, 12, 20))
        self.assertAlmostEqual(replayed["best_ms"], board["correct"][0]["us"] / 1000)
        self.assertEqual(set(replayed["scores"]), {"evolutionary", "local", "learning", "random", "model-guided"})
        self.assertIsNone(replayed["scores"]["model-guided"]["seconds"], "what its ranking took is not recorded")
        self.assertGreater(replayed["seconds"], 0)
        low, high = replayed["scores"]["local"]["seconds"]["interval"]
        self.assertLess(low, high)
        self.assertGreater(replayed["scores"]["model-guided"]["mean"], 0.5, "the A100 ranks them much as the L4 does")
        modelled = [{m["name"] for m in one["measurements"]} for one in t4["results"] if one["invalidity"] == "correct"]
        self.assertEqual(modelled, [{"time", "modelled_time"}] * 12)
        self.assertIn("20 repeats", self.call("sweep", "--replay", file, "--repeats", "20").stdout)
        self.assertIn("results", self.call("sweep", "--replay", self.space(knobs), expect=2).stderr)
        for option in ("--t4", "--kernel-tuner-cache"):
            self.assertIn("nowhere", self.call("sweep", option, self.path / "nowhere" / "file.json", expect=2).stderr)
        # The same as a cache file of Kernel Tuner: every key that it and its dashboard read, and the same scores.
        head = json.loads(cache.read_text())
        self.assertEqual(set(head), {"device_name", "kernel_name", "problem_size", "tune_params_keys", "tune_params", "objective", "cache"})
        self.assertEqual((head["kernel_name"], head["device_name"], head["objective"]), ("tiled", "NVIDIA L4 (emulated:l4)", "time"))
        self.assertEqual({key: set(values) for key, values in head["tune_params"].items()}, {key: set(values) for key, values in knobs.items()})
        for key, entry in head["cache"].items():
            self.assertEqual(key, ",".join(str(entry[knob]) for knob in head["tune_params_keys"]))
            self.assertLessEqual({"time", "times", "compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"}, set(entry))
        self.assertEqual(len(head["cache"]), 16)
        self.assertEqual(sum(entry["time"] == "InvalidConfig" for entry in head["cache"].values()), 4)
        self.assertTrue(cache.read_text().endswith("}\n}\n"))
        self.assertEqual(json.loads(self.call("sweep", "--replay", cache, "--repeats", "20", "--json").stdout), replayed)
        head["cache"][key]["time"] = "soon"
        cache.write_text(json.dumps(head))
        self.assertIn(f"cache.json/cache/{key}/time: ", self.call("sweep", "--replay", cache, expect=2).stderr)

    def test_the_scores_in_the_docs_are_the_recorded_ones(self):
        for begins, name, count in (("On the two A100 spaces", "replay_a100.txt", 10), ("In seconds, as those files", "replay_a100.txt", 4),
                                    ("On devices that played no part", "replay_unseen.txt", 8),
                                    ("`learning` had its settings chosen", "replay_learning.txt", 24),
                                    ("`model-guided` was scored on", "replay_tuners.txt", 12)):
            recorded = (TREE / "bench" / "results" / name).read_text()
            said = (TREE / "docs" / "sweeping.md").read_text().split(begins, 1)[1].split("\n\n", 1)[0]
            numbers = re.findall(r"\d\.\d{3}", said)
            self.assertEqual(len(numbers), count)
            for number in numbers:
                self.assertIn(f" {number} (", recorded)

    def test_what_is_said_of_model_guided_beside_other_tuners_is_recorded(self):
        recorded = (TREE / "bench" / "results" / "replay_tuners.txt").read_text()
        spaces = re.findall(r"^(\w+), H200: (\d+) configs; .*\n.*\n((?:  .*\n)+)", recorded, re.MULTILINE)
        self.assertEqual([(name, int(configs)) for name, configs, _ in spaces], [("tiled", 160), ("scalar", 224), ("wmma", 320), ("mma", 784)])
        means = []
        for name, configs, rows in spaces:
            file = json.loads((TREE / "bench" / "results" / f"t4_h200_{name}.json").read_text())["results"]
            self.assertEqual(len(file), int(configs))
            for one in file:
                self.assertEqual([m["name"] for m in one["measurements"]], ["time", "modelled_time", "modelling_time"])
            first, *others = rows.strip("\n").split("\n")
            self.assertTrue(first.startswith("  model-guided "), first)
            interval = r"\((-?\d\.\d{3}) to (-?\d\.\d{3})\)"
            lows = [float(low) for low, _ in re.findall(interval, first)]
            self.assertEqual(len(lows), 2)
            self.assertGreaterEqual(len(others), 7)
            for row in others:
                for low, (_, high) in zip(lows, re.findall(interval, row)):
                    self.assertLess(float(high), low, row)
            means.append(re.search(r" (\d\.\d) % ", first)[1])
        said = " ".join((TREE / "docs" / "sweeping.md").read_text().split())
        self.assertIn(f"first 10 configs is {means[0]}, {means[1]}, {means[2]} and {means[3]} % slower than the best of all", said)

    def test_what_is_said_of_model_guided_on_two_recorded_spaces_is_recorded(self):
        recorded = (TREE / "bench" / "results" / "replay_tuners.txt").read_text()
        said = " ".join((TREE / "docs" / "sweeping.md").read_text().split())
        interval = r"\((-?\d\.\d{3}) to (-?\d\.\d{3})\)"
        reached, guided, beside_it = {}, {}, {}
        for name in ("dedispersion", "convolution"):
            first, *others = re.search(rf"^{name}, A100: .*\n((?:  .*\n)+)", recorded, re.MULTILINE)[1].strip("\n").split("\n")
            self.assertTrue(first.startswith("  model-guided "), first)
            guided[name] = re.fullmatch(rf"  model-guided +(?P<repeats>\d+)  (?P<mean>\S+) {interval} +\S+ {interval} +(?P<ten>\d+\.\d) %  .*", first)
            beside_it[name] = {tuner: (repeats, mean) for tuner, repeats, mean in
                               re.findall(r"^  (\w+) +(\d+)  (\S+) \(", "\n".join(others), re.MULTILINE)}
            lows = [float(low) for low, _ in re.findall(interval, first)]
            beside = {row.split()[0]: [float(high) for _, high in re.findall(interval, row)] for row in others if row[2] != " "}
            self.assertEqual(set(beside), {"hybrid_vndx", "adaptive_tabu_greywolf", "bayes_opt", "pyatf"})
            self.assertEqual(len(lows), 2)
            reached[name] = [{tuner for tuner, highs in beside.items() if highs[at] >= low} for at, low in enumerate(lows)]  # by evaluations, by seconds
        self.assertEqual(reached, {"convolution": [set(), set()], "dedispersion": [set(), set()]})
        self.assertIn("On both it is better than every other tuner but `learning` over evaluations and over seconds, with no interval of another that reaches its own", said)
        dedispersion, convolution = guided["dedispersion"], guided["convolution"]
        self.assertIn(f"it scores {dedispersion['mean']} with the dedispersion ({dedispersion['repeats']} repeats) and "
                      f"{convolution['mean']} with the convolution ({convolution['repeats']} repeats)", said)
        self.assertIn(f"the best of the first 10 configs is {dedispersion['ten']} % and {convolution['ten']} % slower than the best", said)
        (repeats, mean), (more, other) = (beside_it[name]["hybrid_vndx"] for name in ("dedispersion", "convolution"))
        self.assertIn(f"`hybrid_vndx` run again with {repeats} and {more} repeats, which score {mean} and {other})", said)

    def test_what_is_said_of_learning_with_the_process_is_recorded(self):
        without, recorded = ((TREE / "bench" / "results" / name).read_text() for name in ("replay_learning.txt", "replay_tuners.txt"))
        more, alike = set(), set()
        for name in ("tiled", "scalar", "wmma", "mma"):
            _, high = re.search(rf"^{name}, H200.*?  \S+ \((\S+) to (\S+)\)", without, re.MULTILINE).groups()
            low = re.search(rf"^{name}, H200: .*\n(?:  .*\n)*?  learning +100  \S+ \((\S+) to", recorded, re.MULTILINE)[1]
            (more if float(low) > float(high) else alike).add(name)
        self.assertEqual((more, alike), ({"mma"}, {"tiled", "scalar", "wmma"}))
        said = " ".join((TREE / "docs" / "sweeping.md").read_text().split())
        self.assertIn("it scores more on `mma` as the H200 timed it", said)
        self.assertIn("on the H200's other three the scores with and without it cannot be told apart", said)

    def test_a_recorded_space_of_ours_is_replayed(self):
        file = TREE / "bench" / "results" / "t4_h200_tiled.json"
        on = lambda cores: json.loads(self.call("sweep", "--replay", file, "--repeats", "4", "--cores", cores, "--json").stdout)
        replayed = on("16")
        guided = replayed["scores"]["model-guided"]
        self.assertEqual((replayed["configs"], replayed["valid"], replayed["cores"], len(guided["short_of_best_after_10"])), (160, 160, 16, 4))
        self.assertGreater(guided["mean"], replayed["scores"]["learning"]["mean"])
        self.assertLess(on("1")["scores"]["model-guided"]["seconds"]["mean"], guided["seconds"]["mean"], "the device waits longer for the model")

    def test_what_the_docs_say_of_filters_is_recorded(self):
        recorded = (TREE / "bench" / "results" / "results_filter.txt").read_text()
        # Wall time after the last change, with the least and the most in brackets, then the CPU time of both programs.
        took = sorted(re.findall(r"^  results .*\) +(\d+\.\d) +\(.*\) +CPU .*$", recorded, re.MULTILINE), key=float)
        self.assertEqual(len(took), 5)
        said = " ".join((TREE / "docs" / "sweeping.md").read_text().split())
        self.assertIn(f"answers a filter within {took[0]} to {took[-1]} ms, the program's start with it", said)

    def test_what_the_docs_say_of_a_gpu_is_recorded(self):
        recorded = (TREE / "bench" / "results" / "kernel_tuner_h200.txt").read_text()
        said = (TREE / "docs" / "sweeping.md").read_text()
        table = said.split("A full table against Kernel Tuner", 1)[1].split("\n\n", 1)[0]
        seconds = re.findall(r"(\d+\.\d) s", table) + re.findall(r"seven rounds in (\d+\.\d) s", said) + re.findall(r"269 configs took (\d+\.\d) s", said)
        self.assertEqual(len(seconds), 6)
        for number in seconds:
            self.assertRegex(recorded, rf" {number} s[ ,]")
        brush = re.search(r"brush \(.*\) +(\d\.\d)$", (TREE / "bench" / "results" / "results_filter.txt").read_text(), re.MULTILINE)[1]
        self.assertIn(f"answers a brush within {brush} ms of CPU time", said)

    def test_what_the_docs_say_of_two_gpus_is_recorded(self):
        recorded = (TREE / "bench" / "results" / "sweep_two_gpus_h200.txt").read_text()
        trials = {gpus: int(count) / float(seconds) for gpus, count, seconds in re.findall(r"^(\d) +(\d+) +(\d+\.\d+) s", recorded, re.MULTILINE)}
        said = (TREE / "docs" / "sweeping.md").read_text()
        self.assertIn(f"Two H200s run {trials['2'] / trials['1']:.2f} times as many trials a minute as one", said)

    def test_what_the_docs_say_of_best_is_recorded(self):
        results = TREE / "bench" / "results"
        drawn = {name: json.loads((results / f"best_{name}.json").read_text())["problems"] for name in ("h200", "more_h200", "second_h200", "third_h200")}
        behind = {name: sorted(100 * (one["best"]["us"] / one["sweep"]["us"] - 1) for one in problems) for name, problems in drawn.items()}
        problems, before = drawn["third_h200"], behind["second_h200"]
        seconds = [one["best"]["seconds"] for one in problems]
        flash = [one["times_as_fast_as_flash"]["ratio"] for one in problems]
        self.assertEqual((len(problems), {one["sweep"]["correct"] for one in problems}), (12, {46, 76}))
        said = " ".join((TREE / "docs" / "benching.md").read_text().split("On an H200, `best --kernel mma`", 1)[1].split("\n\n", 1)[0].split())
        self.assertIn(f"in {min(seconds):.0f} to {max(seconds):.0f} s each", said)
        self.assertIn(f"within {behind['third_h200'][-1]:.1f} % of", said)
        self.assertIn(f"within {behind['third_h200'][-2]:.1f} % for eleven of the twelve", said)
        self.assertIn(f"{min(flash):.2f} to {max(flash):.2f} times as fast", said)
        self.assertIn(f"ten of twelve other problems were then within {before[9]:.1f} %", said)
        self.assertIn(f"with D = 128 {before[10]:.0f} % behind", said)
        self.assertEqual(round(before[10]), round(before[11]))
        self.assertIn(f"all {sum(len(drawn[name]) for name in ('h200', 'more_h200', 'second_h200'))} problems that were swept before", said)

    def test_the_table_has_the_fastest_configs_of_earlier_draws(self):
        kept = {}
        for entry in json.loads((TREE / "assets" / "tuned" / "h200.json").read_text())["entries"]:
            if entry["kernel"]["id"] == "mma" and entry["kind"] == "measured":
                p = entry["problem"]
                kept[f"B={p['batch']},H={p['heads']},S={p['seq_q']},D={p['head_dim']}" + (",causal=top_left" if p["causal"] == "top_left" else "")] = entry
        for name in ("h200", "more_h200", "second_h200"):
            for one in json.loads((TREE / "bench" / "results" / f"best_{name}.json").read_text())["problems"]:
                fastest = min(one["best"], one["sweep"], key=lambda found: found["us"])
                self.assertEqual((kept[one["problem"]]["us"], kept[one["problem"]]["config"]["knobs"]), (fastest["us"], fastest["knobs"]), one["problem"])

    def test_the_reports_whole_space_is_swept_once(self):
        knobs = {"BLOCK_M": [16, 32, 48, 64], "NUM_WARPS": [2, 4, 6, 8], "VEC_WIDTH": [1, 2, 4, 8], "SYNC_POLICY": ["none", "warp", "cta"],
                 "REDUCE_WARP": ["serial", "warp"], "SWIZZLE_XOR": [0, 1]}
        board = self.sweep(knobs, problem="B=1,H=1,S=128,D=64")
        self.assertEqual((board["configs"], board["tried"], board["known"], len(board["correct"])), (768, 160, 0, 160))
        self.assertEqual(len({one["config"] for one in board["correct"] + board["rejected"]}), 768)
        self.assertEqual(collections.Counter(one["why"] for one in board["rejected"]), {"limit": 192, "warning": 416})
        for one in board["rejected"]:
            of = dict(word.split("=") for word in one["config"].split())
            racy, uneven = of["SYNC_POLICY"] != "cta", int(of["BLOCK_M"]) % int(of["NUM_WARPS"]) != 0
            said = "static shared memory" if one["why"] == "limit" else "a race" if racy else "does not divide"
            self.assertIn(said, one["reason"], one["config"])
            self.assertTrue(of["BLOCK_M"] == "64" if one["why"] == "limit" else racy or uneven, one["config"])
        # Equal machine code is timed once, and has the time of the config that was.
        times = {row["config"]: row["us"] for row in board["correct"]}
        once = [row for row in board["correct"] if row["same_code_as"]]
        self.assertEqual(len(once), 40)
        self.assertEqual([row["us"] for row in once], [times[row["same_code_as"]] for row in once])
        self.assertEqual(len(self.rows()), 120 + len({row["hash"] for row in board["correct"] if row["watched"]}), "a row a timed config, and those watched")
        # Again from the store: nothing runs.
        stored = self.rows()
        again = self.sweep(knobs, problem="B=1,H=1,S=128,D=64")
        self.assertEqual((again["correct"], again["rejected"], again["tried"]), (board["correct"], board["rejected"], 160))
        self.assertEqual(again["known"], 120, "the others have the code of one of these")
        self.assertEqual(self.rows(), stored)

    def test_compile_options_are_axes_too(self):
        file, t4 = self.space({"NUM_WARPS": [8]}, options={"fast_math": [False, True], "maxrregcount": [0, 32]}), self.path / "t4.json"
        arguments = ["--device", "emulated:l4", "--problem", SMALL]
        board = json.loads(self.call("sweep", "--json", "--no-watch", "--space", file, "--t4", t4, *arguments).stdout)
        self.assertEqual((board["configs"], board["tried"]), (4, 4))
        self.assertEqual(board["space"], json.loads(file.read_text()))
        self.assertEqual({(row["options"]["maxrregcount"], row["options"]["fast_math"]) for row in board["correct"]},
                         {(0, True), (0, False), (32, True), (32, False)})
        self.assertEqual(len({row["config"] for row in board["correct"]}), 4)
        self.assertEqual({tuple(sorted(one["configuration"])) for one in json.loads(t4.read_text())["results"]},
                         {("NUM_WARPS", "fast_math", "maxrregcount")})
        limited = next(row for row in board["correct"] if row["options"] == {"compiler": "nvrtc", "fast_math": False, "fmad": True, "launch_bounds": 0, "maxrregcount": 32})
        self.assertIn("fast_math=off maxrregcount=32", limited["config"])
        run = json.loads(self.call("run", "--json", "--kernel", "tiled", "--set", "NUM_WARPS=8", "--option", "maxrregcount=32",
                                   "--option", "fast_math=off", *arguments).stdout)
        self.assertEqual({"compiler": "nvrtc", "launch_bounds": 0, **run["experiment"]["config"]["options"]}, limited["options"], "a table has every option")
        self.assertEqual(run["timing"]["us"]["p50"], limited["us"], "its own time, or that of equal machine code")
        # A held option stays; the command of the first one says it.
        held = json.loads(self.call("sweep", "--json", "--no-watch", "--space", self.space({"NUM_WARPS": [8]}),
                                    "--option", "maxrregcount=32", *arguments).stdout)
        self.assertIn("--option maxrregcount=32", held["command"])
        for option, said in (("maxrregcount=5", "0 for no limit, or 16 to 255"), ("maxregcount=64", "Did you mean maxrregcount?"),
                             ("fmad=maybe", "neither on nor off"), ("fmad", "NAME=VALUE")):
            self.assertIn(said, self.call("run", "--option", option, expect=2).stderr)
        for options, said in (({"maxrregcount": [64, 64]}, "64 stands there twice"), ({"launch": [1]}, "no compile option launch"),
                              ({"fast_math": []}, "at least one value"), ([], "must be an object of options")):
            self.assertIn(said, self.call("sweep", "--space", self.space({}, options=options), *arguments, expect=2).stderr)

    def test_what_is_not_swept_says_why(self):
        for knobs, names in [({"NUM_WARP": [4]}, ["NUM_WARP", "Did you mean NUM_WARPS?"]),
                             ({"NUM_WARPS": [5]}, ["NUM_WARPS", "is not a value of NUM_WARPS"]),
                             ({"NUM_WARPS": []}, ["NUM_WARPS", "at least one value"]),
                             ({"BLOCK_M": [64]}, ["none of the 1 configs", "57,376"]),
                             ({"SYNC_POLICY": ["none", "warp"]}, ["none of the 2 configs", "a race"]),
                             ({}, ["no knob is left"]),
                             ("{", ["space.json"])]:
            done = self.call("sweep", "--device", "emulated:l4", "--problem", SMALL, "--space", self.space(knobs), expect=2)
            self.assertEqual(done.stdout, "")
            for name in names:
                self.assertIn(name, done.stderr)
        self.assertIn("not there.json", self.call("sweep", "--space", self.path / "not there.json", expect=2).stderr)
        self.assertIn("annealing", self.call("sweep", "--strategy", "annealing", expect=2).stderr)
        self.assertIn("emulated:nothing", self.call("sweep", "--device", "emulated:nothing", expect=3).stderr)


if __name__ == "__main__":
    unittest.main()
