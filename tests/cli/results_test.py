"""attnscope results: stored results listed, filtered, exported and merged."""
import copy
import csv
import io
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

from kept_cache import keep_compiled

PROGRAM = os.environ["ATTNSCOPE"]
# Of the first versions: rows of theirs are found too.
SCHEMA = """CREATE TABLE observation(id INTEGER PRIMARY KEY, hash TEXT NOT NULL, finished_at REAL NOT NULL, app TEXT NOT NULL,
json TEXT NOT NULL); CREATE INDEX observation_of_hash ON observation(hash); PRAGMA user_version=1;"""
DAY = 86400
FIRST = 1_700_000_000  # 2023-11-14 22:13:20


class Results(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        keep_compiled(cls.path / "home")
        cls.one = json.loads(cls.call("run", "--kernel", "tiled", "--device", "emulated:l4", "--problem", "B=1,H=1,S=64,D=64",
                                      "--no-watch", "--json").stdout)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def call(cls, *args):
        return subprocess.run([PROGRAM, *map(str, args)], env={**os.environ, "ATTNSCOPE_HOME": str(cls.path / "home")},
                              capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=560)

    def good(self, *args):
        done = self.call(*args)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def variant(self, us, warps=4, seq=64, **more):
        """The observation with other figures; as another program wrote it, it may hold any text."""
        one = copy.deepcopy(self.one)
        one["experiment"]["config"]["knobs"]["NUM_WARPS"] = warps
        one["experiment"]["problem"].update(seq_q=seq, seq_k=seq)
        one["timing"]["us"]["p50"] = us
        one["experiment"].update(more.pop("experiment", {}))
        one.update(more)
        return one

    def store(self, name, rows):
        path = self.path / name
        path.unlink(missing_ok=True)
        base = sqlite3.connect(path)
        base.executescript(SCHEMA)
        for day, row in rows:
            base.execute("INSERT INTO observation(hash, finished_at, app, json) VALUES (?, ?, '0.1.0', ?)",
                         (row["experiment"]["hash"], FIRST + day * DAY, json.dumps(row)))
        base.commit()
        base.close()
        return path

    def times(self, *args):
        return [json.loads(line)["observation"]["timing"]["us"]["p50"]
                for line in self.good("results", "--json", *args).stdout.splitlines()]

    def test_without_a_store_the_options_hold(self):
        self.assertFalse((self.path / "home" / "data" / "results.sqlite").exists())
        done = self.good("results")
        self.assertIn("No result is stored yet", done.stderr)
        self.assertEqual(done.stdout, "No stored result matches.\n")
        self.assertEqual(json.loads(self.good("results", "--leaderboard", "--json").stdout), [])
        self.assertTrue(self.good("results", "--csv").stdout.startswith("finished"))
        for bad in (["--verdict", "foo"], ["--since", "x"], ["--set", "X"]):
            self.assertEqual(self.call("results", *bad).returncode, 2, bad)

    def test_rows_are_listed_filtered_and_sorted(self):
        wrong = copy.deepcopy(self.one["verdict"])
        wrong["state"] = "wrong"
        path = self.store("filtered.sqlite", [
            (0, self.variant(40)), (1, self.variant(10, warps=8)), (2, self.variant(30, seq=128)),
            (3, self.variant(20, warps=8, verdict=wrong)),
            (4, self.variant(50, experiment={"kernel": {**self.one["experiment"]["kernel"], "id": "mine"}}))])
        self.assertEqual(self.times("--store", path), [50, 20, 30, 10, 40])
        self.assertEqual(self.times("--store", path, "--fastest"), [10, 20, 30, 40, 50])
        self.assertEqual(self.times("--store", path, "--fastest", "--limit", 2), [10, 20])
        self.assertEqual(self.times("--store", path, "--set", "NUM_WARPS=8"), [20, 10])
        self.assertEqual(self.times("--store", path, "--set", "NUM_WARPS=8", "--verdict", "correct"), [10])
        self.assertEqual(self.times("--store", path, "--problem", "S=128"), [30])
        self.assertEqual(self.times("--store", path, "--problem", "S=64,D=64,causal=none"), [50, 20, 10, 40])
        self.assertEqual(self.times("--store", path, "--problem", "S=65"), [])
        self.assertEqual(self.times("--store", path, "--kernel", "mine"), [50])
        self.assertEqual(self.times("--store", path, "--since", "2023-11-18"), [50])
        self.assertEqual(self.times("--store", path, "--device", "emulated:l4", "--kernel", "mine"), [50])
        self.assertEqual(self.times("--store", path, "--device", "emulated:a100"), [])
        text = self.good("results", "--store", path, "--fastest", "--limit", 1)
        self.assertRegex(text.stdout, r"^2023-11-15 22:13  tiled +10\.00 us modelled  correct +emulated:l4 +B1 H1 S64 D64 .*NUM_WARPS=8")
        self.assertIn("1 of 5 results; --limit 0 lists all", text.stderr)
        self.assertIn("No stored result", self.good("results", "--store", path, "--kernel", "none").stdout)

    def test_a_knob_is_filtered_by_its_label(self):
        def synced(us, value, kernel="tiled"):
            row = self.variant(us, experiment={"kernel": {**self.one["experiment"]["kernel"], "id": kernel}})
            row["experiment"]["config"]["knobs"]["SYNC_POLICY"] = value
            return row
        path = self.store("labels.sqlite", [(0, synced(10, 5)), (1, synced(20, 2)), (2, synced(30, 5, "unknown"))])
        for more in ([], ["--kernel", "tiled"]):
            self.assertEqual(self.times("--store", path, "--set", "SYNC_POLICY=cta", *more), [10])
        self.assertEqual(self.times("--store", path, "--set", "SYNC_POLICY=5"), [30, 10])
        for bad, more in (("SYNC_POLICY=none_such", []), ("SYNC_POLICY=none_such", ["--kernel", "tiled"]), ("SYNC_POLICY=", [])):
            done = self.call("results", "--store", path, "--set", bad, *more)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn("SYNC_POLICY", done.stderr)

    def test_configs_that_differ_in_a_compile_option_look_different(self):
        def with_options(us, **options):
            row = self.variant(us, experiment={"hash": f"{us:032d}"})
            row["experiment"]["config"]["options"].update(options)
            return row
        path = self.store("options.sqlite", [(0, with_options(10)), (1, with_options(20, maxrregcount=64)),
                                             (2, with_options(30, fast_math=False, launch_bounds=2)), (3, with_options(40, compiler="nvcc"))])
        for wanted, times in (("maxrregcount=64", [20]), ("maxrregcount=32", []), ("maxrregcount=0", [40, 30, 10]), ("fast_math=off", [30]),
                              ("launch_bounds=2", [30]), ("launch_bounds=0", [40, 20, 10]), ("compiler=nvcc", [40]), ("compiler=nvrtc", [30, 20, 10])):
            self.assertEqual(self.times("--store", path, "--option", wanted), times, wanted)
        self.assertEqual(self.times("--store", path, "--option", "fast_math=off", "--option", "launch_bounds=2"), [30])
        said = ["", "maxrregcount=64", "fast_math=off launch_bounds=2", "compiler=nvcc"]
        lines = self.good("results", "--store", path, "--fastest").stdout.splitlines()
        for words, line in zip(said[1:], lines[1:]):
            self.assertTrue(line.endswith(" " + words), line)
        self.assertNotIn("maxrregcount", lines[0])
        rows = csv.DictReader(io.StringIO(self.good("results", "--store", path, "--fastest", "--csv").stdout))
        self.assertEqual([row["options"] for row in rows], [words.replace(" ", ";") for words in said])
        [board] = json.loads(self.good("results", "--store", path, "--leaderboard", "--json").stdout)
        usual = {"fast_math": True, "fmad": True, "maxrregcount": 0, "launch_bounds": 0, "compiler": "nvrtc"}
        self.assertEqual([row["options"] for row in board["leaders"]],
                         [usual, {**usual, "maxrregcount": 64}, {**usual, "fast_math": False, "launch_bounds": 2}, {**usual, "compiler": "nvcc"}])
        text = self.good("results", "--store", path, "--leaderboard").stdout
        for words in said[1:]:
            self.assertIn(f" {words}  (not watched)", text)

    def test_agreement_with_another_kernel_is_not_listed_as_correct(self):
        agrees = {**self.one["verdict"], "against": "naive"}
        path = self.store("agrees.sqlite", [(0, self.variant(40)), (1, self.variant(10, warps=8, verdict=agrees))])
        self.assertEqual(self.times("--store", path, "--verdict", "correct"), [40])
        self.assertEqual(self.times("--store", path, "--verdict", "agrees"), [10])
        self.assertRegex(self.good("results", "--store", path).stdout, r"10\.00 us modelled +agrees ")

    def test_a_leaderboard_ranks_what_is_correct_with_ties_records_and_commands(self):
        wrong = copy.deepcopy(self.one["verdict"])
        wrong["state"] = "wrong"
        gone = {"kernel": {**self.one["experiment"]["kernel"], "id": "gone"}}
        path = self.store("board.sqlite", [
            (0, self.variant(400)), (1, self.variant(200, warps=2)), (2, self.variant(5, warps=1, verdict=wrong)),
            (3, self.variant(900, experiment=gone)), (4, self.variant(1e-6, warps=8)), (5, self.variant(30, seq=128))])
        boards = json.loads(self.good("results", "--store", path, "--leaderboard", "--json").stdout)
        self.assertEqual([board["problem"]["seq_q"] for board in boards], [64, 128])
        board = boards[0]
        self.assertEqual([row["us"] for row in board["leaders"]], [200, 400, 900])
        self.assertEqual([row["rank"] for row in board["leaders"]], [1, 2, 3])
        first, second, last = board["leaders"]
        self.assertIn("--set NUM_WARPS=2", first["command"])
        self.assertAlmostEqual(second["ratio"], 2)
        self.assertIsNone(last["command"])
        self.assertIn("gone is not here", last["no_command"])
        self.assertEqual({row["why"] for row in board["unranked"]}, {"wrong", "impossible"})
        self.assertEqual([row["us"] for row in board["records"]], [400, 200])
        self.assertGreater(board["floor_us"], 1e-6)
        text = self.good("results", "--store", path, "--leaderboard").stdout
        for said in ["nothing takes less than", "not ranked: 1 wrong", "data sheet", "records:", "attnscope run --kernel tiled",
                     "  (not watched)"]:
            self.assertIn(said, text)
        first_row, second_row = text.split("\n")[1], text.split("\n")[3]
        self.assertRegex(first_row, r"^   1 +200\.00 us [0-9.]+ to [0-9.]+ +\S+  +[0-9]+ regs +[0-9]+ KB  2023-11-15  tiled .*  \(not watched\)$")
        self.assertRegex(second_row, r"^   2 +400\.00 us [0-9.]+ to [0-9.]+ +2\.00 x \([0-9.]+ to [0-9.]+\) .*  \(not watched\)$")
        self.assertNotIn("beats", first)
        paired = json.loads(self.good("results", "--store", path, "--leaderboard", "--pairs", "--json").stdout)[0]["leaders"]
        self.assertEqual([[one["leader"] for one in row["beats"]] for row in paired], [[1, 2], [2], []])
        beaten = paired[1]["beats"][0]
        self.assertAlmostEqual(beaten["ratio"], 900 / 400)
        self.assertLess(beaten["ratio_interval"][0], beaten["ratio"])
        self.assertLess(beaten["ratio"], beaten["ratio_interval"][1])
        self.assertGreater(beaten["ratio_interval"][0], 1)
        self.assertEqual(beaten["hash"], paired[2]["hash"])
        text = self.good("results", "--store", path, "--leaderboard", "--pairs").stdout
        self.assertRegex(text, r"rows counted from the top:\n    1 beats 2 by 2\.00 x \([0-9.]+ to [0-9.]+\), 3 by 4\.50 x \([^)]*\)\n    2 beats 3 by 2\.25 x ")
        limited = json.loads(self.good("results", "--store", path, "--leaderboard", "--json", "--limit", 1).stdout)
        self.assertEqual(len(limited[0]["leaders"]), 1)
        many = self.store("many.sqlite", [
            (i, self.variant(100 + i, experiment={"kernel": {**self.one["experiment"]["kernel"], "id": f"gone{i}"}}))
            for i in range(21)])
        self.assertEqual(self.good("results", "--store", many, "--leaderboard").stdout.count("is not here"), 20)
        all_of_them = json.loads(self.good("results", "--store", many, "--leaderboard", "--json").stdout)
        self.assertEqual(len(all_of_them[0]["leaders"]), 21)
        # The command of a row runs that experiment.
        again = json.loads(self.good(*(first["command"].split()[1:]), "--no-watch", "--json").stdout)
        self.assertEqual(again["experiment"]["config"]["knobs"], {**self.one["experiment"]["config"]["knobs"], "NUM_WARPS": 2})

    def test_the_csv_is_read_back(self):
        failed = copy.deepcopy(self.one)
        failed.update(timing=None, verdict=None, counters=None, occupancy=None, variant=None, tflops=None,
                      failure={"stage": "compile", "message": "no", "hint": ""})
        hostile = self.variant(7, experiment={"kernel": {**self.one["experiment"]["kernel"], "id": "=1+2,\"x\"\n"}})
        path = self.store("csv.sqlite", [(0, failed), (1, hostile)])
        text = self.good("results", "--store", path, "--csv").stdout
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(len(rows), 2)
        self.assertEqual(rows[0]["kernel"].rstrip(), "'=1+2,\"x\"")
        self.assertEqual((rows[0]["us"], rows[0]["kind"], rows[0]["result"]), ("7", "modelled", "correct"))
        self.assertEqual(rows[0]["registers"], str(self.one["variant"]["registers"]))
        self.assertIn("NUM_WARPS=4", rows[0]["config"].split(";"))
        self.assertEqual((rows[1]["us"], rows[1]["result"]), ("", "compile failed"))
        self.assertTrue(all(None not in row and None not in row.values() for row in rows), "every row has every column")

    def test_another_files_rows_are_merged_once(self):
        ours = self.store("ours.sqlite", [(0, self.variant(1)), (1, self.variant(2))])
        theirs = self.store("theirs.sqlite", [(0, self.variant(1)), (5, self.variant(3))])
        before = theirs.read_bytes()
        self.assertIn("1 result added, 1 was here already", self.good("results", "--store", ours, "--merge", theirs).stdout)
        self.assertIn("0 results added, 2 were here already", self.good("results", "--store", ours, "--merge", theirs).stdout)
        self.assertEqual(self.times("--store", ours), [3, 2, 1])
        self.assertEqual(theirs.read_bytes(), before)
        home = self.path / "home"
        self.assertIn("2 results added", self.good("results", "--merge", theirs).stdout)
        self.assertEqual(self.times(), [3, 1])
        self.assertTrue(home.exists())

    def test_damaged_rows_are_said_and_hide_no_other(self):
        path = self.store("damaged.sqlite", [(0, self.variant(1)), (1, self.variant(2))])
        base = sqlite3.connect(path)
        base.execute("UPDATE observation SET json = '{}' WHERE id = 1")
        base.commit()
        base.close()
        done = self.good("results", "--store", path)
        self.assertEqual(len(done.stdout.splitlines()), 1)
        self.assertIn("1 could not be read", done.stderr)
        ranked = self.good("results", "--store", path, "--leaderboard")
        self.assertIn("2.00 us", ranked.stdout)
        self.assertIn("1 could not be read", ranked.stderr)

    def test_bad_input_is_refused(self):
        path = self.store("some.sqlite", [(0, self.variant(1))])
        text = self.path / "text.sqlite"
        text.write_text("x" * 5000)
        for names, *args in [
                (["--since", "yesterday", "2026-11-22"], "--since", "yesterday"),
                (["2023-02-30"], "--since", "2023-02-30"),
                (["--set", "NUM_WARPS=many", "whole number"], "--set", "NUM_WARPS=many"),
                (["--verdict", "perhaps", "unchecked"], "--verdict", "perhaps"),
                (["nothing", "maxrregcount"], "--option", "nothing=1"),
                (["maxrregcount"], "--option", "maxrregcount=many"),
                (["--problem/Q"], "--problem", "Q=3"),
                (["no such file"], "--merge", self.path / "missing"),
                ([str(text), "not a database"], "--merge", text),
                (["--limit"], "--limit", "-1"),
                (["--csv", "--json"], "--csv", "--json"),
                (["--csv", "--leaderboard"], "--leaderboard", "--csv"),
                (["--verdict", "--leaderboard"], "--leaderboard", "--verdict", "correct"),
                (["--fastest", "--leaderboard"], "--leaderboard", "--fastest"), (["--pairs", "--leaderboard"], "--pairs")]:
            done = self.call("results", "--store", path, *args)
            self.assertEqual(done.returncode, 2, f"{args}: {done.stdout} {done.stderr}")
            for name in names:
                self.assertIn(name, done.stderr)
        folder, fifo, short = self.path / "folder", self.path / "fifo", self.path / "short.sqlite"
        folder.mkdir()
        os.mkfifo(fifo)
        short.write_text("")
        # No file that a person names is moved, made or written, unless it is a results file.
        before = sorted(self.path.iterdir())
        for named in (text, folder, fifo, short, "/dev/null"):
            for args in (["--store", named], ["--store", named, "--merge", path], ["--store", path, "--merge", named]):
                done = self.call("results", *args)
                self.assertEqual(done.returncode, 2, f"{args}: {done.stdout} {done.stderr}")
                self.assertIn(str(named), done.stderr)
        self.assertEqual(sorted(self.path.iterdir()), before)
        done = self.call("results", "--store", self.path / "missing")
        self.assertEqual(done.returncode, 2)
        self.assertFalse((self.path / "missing").exists())
        self.assertEqual(text.read_text(), "x" * 5000)


if __name__ == "__main__":
    unittest.main()
