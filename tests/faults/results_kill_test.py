"""`results --merge` and `report` that are killed at random moments: the store opens with no row twice, every file of a report is
whole or not there, and the same command again gives what it gives when nothing befell it.

    results_kill_test.py PROGRAM TREE [MOMENTS [SEED]]
"""
import collections
import contextlib
import json
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

from kill_test import PATIENCE, Place, Trouble

ROWS = 600  # of the store that is merged
SCHEMA = """CREATE TABLE observation(id INTEGER PRIMARY KEY, hash TEXT NOT NULL, finished_at REAL NOT NULL, app TEXT NOT NULL,
json TEXT NOT NULL); CREATE INDEX observation_of_hash ON observation(hash); PRAGMA user_version=1;"""
SHAPE = "{name: %s, batch_size: 1, num_heads: 1, seq_len: %d, head_dim: 64}"
WHOLE = {".json": "}\n", ".html": "</html>\n", ".svg": "</svg>\n", ".csv": "\n", ".md": "\n"}  # how each file ends


class Killed(Place):
    def __init__(self, program, tree, folder):
        super().__init__(program, tree, "", folder)
        self.folder = pathlib.Path(folder)
        self.store = self.home / "data" / "results.sqlite"
        self.other = self.folder / "other.sqlite"
        self.out = self.folder / "out"
        observation = json.loads((tree / "tests/data/observations/m32_w4.json").read_text())
        with contextlib.closing(sqlite3.connect(self.other)) as base:
            base.executescript(SCHEMA)
            base.executemany("INSERT INTO observation(hash, finished_at, app, json) VALUES (?, ?, '0.1.0', ?)",
                             (self.row(observation, at) for at in range(ROWS)))
            base.commit()
        config = self.folder / "rbk_config.yaml"
        config.write_text(f"shapes: [{SHAPE % ('small', 64)}, {SHAPE % ('more', 96)}]\nrunners: [minimal, tiled]\nbaseline: minimal\n")
        self.commands = {"merge": ["results", "--merge", str(self.other)],
                         "report": ["report", str(config), "--out", str(self.out), "--device", "emulated:l4", "--defaults", "--quick"]}
        self.reset = {"merge": lambda: self.remove(self.home / "data"), "report": lambda: self.remove(self.out, self.home / "data")}
        self.right = {}

    @staticmethod
    def row(observation, at):
        observation["experiment"]["hash"] = f"{at:016x}"
        return observation["experiment"]["hash"], 1.7e9 + at, json.dumps(observation)

    @staticmethod
    def remove(*folders):
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)

    def start(self, kind):
        return subprocess.Popen([self.program, *self.commands[kind]], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, kind):
        process = self.start(kind)
        out, err = process.communicate(timeout=4 * PATIENCE)
        if process.returncode != 0:
            raise Trouble(f"{kind}: status {process.returncode}: {out}{err}")

    def rows(self):
        """How often each row is there; the database is whole."""
        if not self.store.exists():
            return collections.Counter()
        with contextlib.closing(sqlite3.connect(self.store, timeout=PATIENCE)) as base:
            said = base.execute("PRAGMA integrity_check").fetchall()
            if said != [("ok",)]:
                raise Trouble(f"the database: {said}")
            if not base.execute("SELECT count(*) FROM sqlite_master WHERE name = 'observation'").fetchone()[0]:
                return collections.Counter()
            return collections.Counter(base.execute("SELECT hash, finished_at FROM observation"))

    def check_files(self):
        for file in self.out.iterdir() if self.out.is_dir() else []:
            if ".tmp." in file.name:
                continue  # what a killed writer leaves beside the file
            text = file.read_text()
            if not text.endswith(WHOLE[file.suffix]):
                raise Trouble(f"{file.name} is cut off: {text[-40:]!r}")
            if file.suffix == ".json":
                json.loads(text)

    def check_after(self, kind, what):
        data = self.home / "data"
        strange = [file.name for file in (data.iterdir() if data.is_dir() else []) if ".damaged-" in file.name]
        if strange:
            raise Trouble(f"{what}: moved aside: {strange}")
        if kind == "merge" and any(count > 1 for count in self.rows().values()):
            raise Trouble(f"{what}: rows stand there twice")
        self.check_files()

    def result(self, kind):
        if kind == "merge":
            return self.rows()
        report = json.loads((self.out / "rbk_report.json").read_text())
        return sorted((one["kernel_name"], one["shape"]["name"], one["p50_latency_ms"], one["verdict"]) for one in report["results"])


def strike(place, kind, source, seconds):
    """True: it was still running."""
    process = place.start(kind)
    try:
        process.wait(timeout=source.uniform(0, seconds))
    except subprocess.TimeoutExpired:
        pass
    struck = process.poll() is None
    process.kill()
    process.communicate()
    place.check_nothing_is_left()
    return struck


def main():
    program, tree = sys.argv[1], pathlib.Path(sys.argv[2])
    moments = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    source = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    with tempfile.TemporaryDirectory() as folder:
        place = Killed(program, tree, folder)
        seconds, right, count = {}, {}, collections.Counter()
        for kind in place.commands:
            place.run(kind)  # also fills the caches
            right[kind] = place.result(kind)
            place.reset[kind]()
            begun = time.monotonic()
            place.run(kind)
            seconds[kind] = time.monotonic() - begun
            place.reset[kind]()
        if len(right["merge"]) != ROWS or len(right["report"]) != 4:
            raise Trouble(f"undisturbed: {len(right['merge'])} rows, {len(right['report'])} times")
        for number in range(moments):
            kind = sorted(place.commands)[number % 2]
            what = f"moment {number} ({kind})"
            count[kind] += strike(place, kind, source, seconds[kind])
            place.check_after(kind, what)
            place.run(kind)
            place.check_after(kind, what + ", again")
            if place.result(kind) != right[kind]:
                raise Trouble(f"{what}: the result is another one")
            place.reset[kind]()
        print(f"{moments} moments ({', '.join(f'{n} {kind}' for kind, n in sorted(count.items()))} hit): nothing was lost, there twice or cut off")


if __name__ == "__main__":
    main()
