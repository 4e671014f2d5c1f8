"""SIGKILL at random moments of the window, a supervisor or an executor. After each kill: no process is left behind, the
database is undamaged, nothing was moved aside, and what is left continues or starts again.

    kill_test.py PROGRAM TREE [KILLS [SEED]]
"""
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

PATIENCE = 60.0  # seconds for what takes at most one on an idle machine
# Files in the data folder. Next to an open database are its write-ahead log and the lock of its opening.
KNOWN = {"journal.json", "settings.json", "results.sqlite", "results.sqlite-wal", "results.sqlite-shm",
         "results.sqlite.opening"}


class Trouble(Exception):
    pass


def wait_for(what, holds):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = holds()
        if found:
            return found
        time.sleep(0.01)
    raise Trouble(f"never came: {what}")


class Place:
    """Its own home, which identifies its processes wherever they are."""

    def __init__(self, program, tree, display, folder):
        self.program, self.display = program, display
        self.home = pathlib.Path(folder) / "home"
        self.presets = self.small_presets(tree, pathlib.Path(folder))
        self.marker = b"ATTNSCOPE_HOME=" + str(self.home).encode() + b"\0"
        self.environment = dict(os.environ, ATTNSCOPE_HOME=str(self.home), DISPLAY=display)
        self.window = None

    @staticmethod
    def small_presets(tree, folder):
        """Runs of a few milliseconds with several problems and configs: cold caches and new results again and again."""
        presets = []
        for name in ("minimal", "tiled"):
            preset = json.loads((tree / "presets" / f"{name}.json").read_text())
            for size in (32, 48, 64, 96, 128):
                preset["problem"].update(heads=1, kv_heads=1, seq_q=size, seq_k=size)
                presets.append(folder / f"{name}_{size}.json")
                presets[-1].write_text(json.dumps(preset))
        return presets

    def processes(self):
        """{pid: argv} of everything that lives under this home."""
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if self.marker in (entry / "environ").read_bytes():
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                pass  # it has ended
        return found

    def pids(self, kind):
        executors, supervisors = [], []
        for pid, argv in self.processes().items():
            if b"--executor" in argv:
                executors.append(pid)
            elif b"worker" in argv:
                supervisors.append(pid)
        return {"window": [self.window.pid], "supervisor": supervisors, "executor": executors}[kind]

    def open_window(self, random_source):
        argv = [self.program, str(random_source.choice(self.presets))]
        self.window = subprocess.Popen(argv, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def close_window(self):
        if self.window:
            self.window.kill()
            self.window.wait()
            self.window = None

    def check_nothing_is_left(self):
        wait_for(f"the end of {self.processes()}", lambda: not self.processes())

    def check_data(self):
        data = self.home / "data"
        strange = [f.name for f in data.iterdir() if f.is_file() and f.name not in KNOWN and ".tmp." not in f.name
                   and not f.name.endswith(".lock")] if data.is_dir() else []
        if strange:
            raise Trouble(f"moved aside: {strange}")
        for name in ("journal.json", "settings.json"):
            if (data / name).exists():
                json.loads((data / name).read_text())
        if not (data / "results.sqlite").exists():
            return 0
        with sqlite3.connect(data / "results.sqlite") as database:
            said = database.execute("PRAGMA integrity_check").fetchall()
            if said != [("ok",)]:
                raise Trouble(f"the database: {said}")
            tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            kept = sum(database.execute(f"SELECT count(*) FROM \"{table}\"").fetchone()[0] for table in tables)
        database.close()
        return kept

    def check_a_run(self):
        done = subprocess.run([self.program, "run", "--json", "--problem", "B=1,H=1,S=64,D=64", "--kernel", "minimal"],
                              env=self.environment, capture_output=True, text=True, timeout=4 * PATIENCE)
        if done.returncode != 0 or json.loads(done.stdout)["verdict"]["state"] != "correct":
            raise Trouble(f"a run after it: status {done.returncode}: {done.stderr}")


def kill_again_and_again(place, kills, source):
    count = {"window": 0, "supervisor": 0, "executor": 0}
    kept = 0
    for number in range(kills):
        if place.window is None:
            place.open_window(source)
        kind = source.choice(sorted(count))
        moment = source.uniform(0, 0.9)
        # A starting process is killed at any moment of its start; the test waits for one that is not there yet.
        if kind != "window":
            wait_for(f"a {kind}", lambda: place.pids(kind))
            moment *= 0.3
        time.sleep(moment)
        if place.window.poll() is not None:
            raise Trouble(f"kill {number}: the window ended by itself with {place.window.returncode}")
        there = sorted(place.pids(kind))
        if not there:  # it is starting again
            continue
        os.kill(source.choice(there), signal.SIGKILL)
        count[kind] += 1
        if kind != "window":
            continue
        place.window.wait()
        place.window = None
        place.check_nothing_is_left()
        now = place.check_data()
        if now < kept:
            raise Trouble(f"kill {number}: {kept} rows were kept, {now} are left")
        kept = now
        if count["window"] % 10 == 1:
            place.check_a_run()
    if place.window:  # it survived the last kill and works again
        wait_for("an executor", lambda: place.pids("executor"))
        place.close_window()
        place.check_nothing_is_left()
    kept = place.check_data()
    place.check_a_run()
    return count, kept


def main():
    program, tree = sys.argv[1], pathlib.Path(sys.argv[2])
    kills = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    told, tell = os.pipe()
    display = subprocess.Popen(["Xvfb", "-displayfd", str(tell), "-screen", "0", "800x600x24", "+extension", "GLX"],
                               pass_fds=[tell], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        name = ":" + os.read(told, 32).decode().strip()
        with tempfile.TemporaryDirectory() as folder:
            place = Place(program, tree, name, folder)
            begin = time.monotonic()
            try:
                count, kept = kill_again_and_again(place, kills, random.Random(seed))
            finally:
                place.close_window()
            print(f"{sum(count.values())} kills ({', '.join(f'{n} {kind}' for kind, n in count.items())}) with seed {seed} "
                  f"in {time.monotonic() - begin:.0f} s: nothing left behind, the database whole, {kept} rows kept")
            if sum(count.values()) < 0.8 * kills or min(count.values()) == 0:
                raise Trouble("too few of them hit a process")
    finally:
        display.kill()
        display.wait()


if __name__ == "__main__":
    main()
