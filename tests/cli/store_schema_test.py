"""docs/store.md and the schemas beside it say what the store and the commands hold."""
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import tempfile
import unittest

import jsonschema
from kept_cache import keep_compiled

PROGRAM = os.environ["ATTNSCOPE"]
DOCS = pathlib.Path(os.environ["ATTNSCOPE_TREE"]) / "docs"
SPACE = {"knobs": {"BLOCK_M": [16, 64], "SYNC_POLICY": ["none", "cta"], "VEC_WIDTH": [4, 8]}, "options": {"maxrregcount": [0, 16]}}


def schema(name):
    return json.loads((DOCS / name).read_text())


def validator(name):
    """With the other schemas within reach of its references."""
    one = schema(name)
    jsonschema.Draft202012Validator.check_schema(one)
    base = DOCS.as_uri() + "/"
    return jsonschema.Draft202012Validator(one, resolver=jsonschema.RefResolver(base + name, one, {base + other: schema(other) for other in ("observation.schema.json", "sweep.schema.json")}))


class StoreSchema(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.path = pathlib.Path(home.name)
        keep_compiled(self.path / "home")

    def call(self, *words):
        done = subprocess.run([PROGRAM, *map(str, words)], env=dict(os.environ, ATTNSCOPE_HOME=str(self.path / "home")), capture_output=True, text=True, timeout=560)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def holds(self, name, value):
        found = [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in validator(name).iter_errors(value)]
        self.assertEqual(found, [], name)

    def test_the_store_and_what_the_commands_print_are_documented(self):
        said = (DOCS / "store.md").read_text()
        (self.path / "space.json").write_text(json.dumps(SPACE))
        board = json.loads(self.call("sweep", "--json", "--device", "emulated:l4", "--problem", "B=1,H=1,S=64,D=64", "--space", self.path / "space.json"))
        self.assertTrue(board["correct"] and board["rejected"] and board["command"])
        self.holds("sweep.schema.json", board)
        lines = [json.loads(line) for line in self.call("results", "--json", "--limit", "0").splitlines()]
        boards = json.loads(self.call("results", "--leaderboard", "--pairs", "--json"))
        self.assertTrue(boards[0]["leaders"] and boards[0]["records"])
        self.holds("leaderboard.schema.json", boards)
        for line in lines:
            self.holds("results.schema.json", line)
        columns = self.call("results", "--csv").splitlines()[0]
        self.assertIn(f"has the columns `{columns}`", said)
        # The schemas refuse what is not there.
        for name, value in (("sweep.schema.json", {**board, "more": 1}), ("sweep.schema.json", {**board, "correct": [{**board["correct"][0], "us": -1}]}),
                            ("leaderboard.schema.json", [{**boards[0], "leaders": [{}]}]), ("results.schema.json", {"finished_at": 1}),
                            ("results.schema.json", {**lines[0], "observation": {**lines[0]["observation"], "more": 1}})):
            self.assertFalse(validator(name).is_valid(value), name)
        # The tables, as SQLite has them.
        base = sqlite3.connect(self.path / "home" / "data" / "results.sqlite")
        self.addCleanup(base.close)
        made = [sql + ";" for sql, in base.execute("SELECT sql FROM sqlite_master WHERE type IN ('table', 'index') AND sql IS NOT NULL")]
        self.assertEqual(set(made), set(re.search(r"```sql\n(.*?)\n```", said, re.DOTALL)[1].splitlines()))
        self.assertIn(f"`PRAGMA user_version` {base.execute('PRAGMA user_version').fetchone()[0]}.", said)
        rows = base.execute("SELECT id, hash, finished_at, app, json FROM observation ORDER BY id DESC").fetchall()
        self.assertEqual(len(rows), len(lines))
        for (at, hash_, ended, app, text), line in zip(rows, lines):
            observation = json.loads(text)
            self.assertEqual((hash_, ended, app), (observation["experiment"]["hash"], line["finished_at"], observation["versions"]["app"]))
            self.assertEqual(observation, line["observation"])
            for column, path in re.findall(r"^\| `(\w+)` \| `\$\.([\w.]+)` \|$", said, re.MULTILINE):
                kept, value = base.execute(f"SELECT {column} FROM observation_key WHERE id = ?", (at,)).fetchone()[0], observation
                for step in path.split("."):
                    value = (value or {}).get(step)
                self.assertEqual(json.loads(kept) if isinstance(value, dict) else kept, value, column)
        self.assertEqual(len(re.findall(r"^\| `(\w+)` \| `\$\.", said, re.MULTILINE)) + 2, len(base.execute("SELECT * FROM pragma_table_info('observation_key')").fetchall()))


if __name__ == "__main__":
    unittest.main()
