"""A sweep that is killed at random moments, its worker or an executor that is, and a disk that fills up: the store opens, no
trial is lost that was reported done, none is there twice, and the sweep's result is that of one that nothing befell.

    sweep_kill_test.py PROGRAM TREE [MOMENTS [SEED [--by-python]]]    --by-python: through the command that the wheel installs
"""
import collections
import ctypes
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from kill_test import PATIENCE, Place, Trouble, wait_for

FULL_ROOM = 64 << 20  # bytes of the data folder where a disk may fill up
SPACE = {"knobs": {"BLOCK_M": [16, 32, 48], "BLOCK_N": [32, 64], "SWIZZLE_XOR": [0, 1], "REDUCE_WARP": ["serial", "warp"]}}
FEW = {"knobs": {"BLOCK_M": [16, 32], "SWIZZLE_XOR": [0, 1], "REDUCE_WARP": ["serial", "warp"]}}  # for a look within seconds
MANY = 50  # moments
PROBLEM = "B=1,H=1,S=96,D=64"


class SweepPlace(Place):
    """A home with a sweep that takes a second or two, and its right result."""

    def __init__(self, program, tree, folder, space):
        super().__init__(program, tree, "", folder)
        self.environment["ATTNSCOPE_NOTES"] = "json"
        self.space = pathlib.Path(folder) / "space.json"
        self.space.write_text(json.dumps(space))
        self.store = self.home / "data" / "results.sqlite"
        self.filler = self.home / "data" / "filler"
        self.can_fill = False
        self.trials = 0
        self.right = None
        self.command = [program]

    def by_python(self, tree):
        """The wheel's command becomes the program that ATTNSCOPE_PROGRAM names."""
        self.command = [sys.executable, "-B", "-m", "attnscope"]
        self.environment.update(ATTNSCOPE_PROGRAM=self.program, PYTHONPATH=str(tree / "assets" / "python"))

    def words(self):
        return [*self.command, "sweep", "--json", "--device", "emulated:l4", "--kernel", "tiled", "--problem", PROBLEM, "--space", str(self.space), "--no-watch"]

    def mount_small_data(self):
        """The data folder becomes a disk of its own, where this machine allows that: only this process and its children see it."""
        libc = ctypes.CDLL(None, use_errno=True)
        new_namespace, private = 0x00020000, 1 << 18 | 1 << 14  # CLONE_NEWNS; MS_PRIVATE | MS_REC
        data = self.home / "data"
        data.mkdir(parents=True, exist_ok=True)
        if libc.unshare(new_namespace) != 0 or libc.mount(None, b"/", None, private, None) != 0:
            return
        self.can_fill = libc.mount(b"none", bytes(data), b"tmpfs", 0, f"size={FULL_ROOM}".encode()) == 0

    def unmount(self):
        if self.can_fill:
            ctypes.CDLL(None).umount2(bytes(self.home / "data"), 2)  # MNT_DETACH

    def fresh(self):
        for file in (self.home / "data").iterdir():
            file.unlink()

    def rows(self):
        """{hash: how often it stands there with a result of its own, or 0}; the database is whole. What a lost worker left of a
        trial, perhaps with a time, has a failure and runs again."""
        if not self.store.exists():
            return collections.Counter()
        database = sqlite3.connect(self.store, timeout=PATIENCE)
        try:
            said = database.execute("PRAGMA integrity_check").fetchall()
            if said != [("ok",)]:
                raise Trouble(f"the database: {said}")
            there = database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'observation'").fetchone()[0]
            rows = collections.Counter()
            for one, failed in database.execute("SELECT hash, json_extract(json, '$.failure') FROM observation") if there else []:
                rows[one] += failed is None
            return rows
        finally:
            database.close()

    def check_store(self, least, what):
        strange = [file.name for file in (self.home / "data").iterdir() if ".damaged-" in file.name]
        if strange:
            raise Trouble(f"{what}: moved aside: {strange}")
        rows = self.rows()
        twice = [one for one, count in rows.items() if count > 1]
        if twice:
            raise Trouble(f"{what}: {len(twice)} trials stand there twice")
        if len(rows) < least:
            raise Trouble(f"{what}: {least} trials were reported done, {len(rows)} are there")
        return rows

    def check_result(self, text, what):
        board = json.loads(text)
        for row in board["correct"]:
            row.pop("watched")
        got = [board["tried"], board["correct"], board["rejected"]]
        if self.right is None:
            self.right, self.trials = got, board["tried"]
        elif got != self.right:
            raise Trouble(f"{what}: the result is another one")


class Sweep:
    """A sweep on its way, and what it reports."""

    def __init__(self, place):
        self.process = subprocess.Popen(place.words(), env=place.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.done, self.notes, self.text = 0, [], ""
        self.readers = [threading.Thread(target=self.listen), threading.Thread(target=self.take)]
        for reader in self.readers:
            reader.start()

    def listen(self):
        for line in self.process.stderr:
            try:
                said = json.loads(line)
            except ValueError:
                continue  # cut off by a kill
            if "progress" in said:
                self.done = max(self.done, said["progress"].get("done", 0))
            else:
                self.notes.append(line.strip())

    def take(self):
        self.text = self.process.stdout.read()

    def end(self):
        status = self.process.wait(timeout=PATIENCE)
        for reader in self.readers:
            reader.join(timeout=PATIENCE)
        return status


def fill(place):
    """Every free byte of the data folder's disk."""
    with open(place.filler, "wb", buffering=0) as file:
        block = b"\0" * 65536
        while block:
            try:
                file.write(block)
            except OSError:
                block = block[:len(block) // 2]


def befall(place, kind, source, seconds, number):
    """One moment. True: it struck while there was something to strike."""
    what = f"moment {number} ({kind})"
    sweep = Sweep(place)
    place.window = sweep.process  # whose worker and executors are meant
    try:
        moment = time.monotonic() + source.uniform(0, seconds)
        while time.monotonic() < moment and sweep.process.poll() is None:
            time.sleep(0.002)
        reported = sweep.done  # before the kill: later results may or may not be
        struck = sweep.process.poll() is None
        if kind == "sweep":
            sweep.process.kill()
        elif kind == "disk":
            fill(place)
        else:
            there = sorted(place.pids(kind)) if struck else []
            struck = bool(there)
            if struck:
                try:
                    os.kill(source.choice(there), signal.SIGKILL)
                except ProcessLookupError:
                    struck = False
        status = sweep.end()
    finally:
        sweep.process.kill()
        sweep.end()
    place.check_nothing_is_left()
    if place.filler.exists():
        place.filler.unlink()
    # Only a killed sweep has no status of its own. Other workers take over from a lost one, or the sweep says that all are lost.
    if kind != "sweep" and status not in (0, 3):
        raise Trouble(f"{what}: status {status}: {sweep.notes}")
    place.check_store(reported, what)
    return struck


def strike_again_and_again(place, moments, source):
    count = collections.Counter()
    kinds = ["sweep", "supervisor", "executor"] + (["disk"] if place.can_fill else [])
    begun = time.monotonic()
    whole = Sweep(place)  # also fills the caches
    if whole.end() != 0:
        raise Trouble(f"the undisturbed sweep: {whole.notes}")
    place.check_result(whole.text, "undisturbed")
    place.check_store(place.trials, "undisturbed")
    place.fresh()
    begun = time.monotonic()
    if Sweep(place).end() != 0:
        raise Trouble("the undisturbed sweep again")
    seconds = time.monotonic() - begun
    place.fresh()
    finished = 0
    for number in range(moments):
        kind = source.choice(kinds)
        count[kind] += befall(place, kind, source, seconds, number)
        if len(place.rows()) < place.trials and number + 1 < moments:
            continue  # the next one continues where this one was
        last = Sweep(place)
        if last.end() != 0:
            raise Trouble(f"after moment {number}: {last.notes}")
        place.check_result(last.text, f"after moment {number}")
        place.check_store(place.trials, f"after moment {number}")
        place.check_nothing_is_left()
        finished += 1
        place.fresh()
    return count, finished


def main():
    program, tree = sys.argv[1], pathlib.Path(sys.argv[2])
    moments = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    with tempfile.TemporaryDirectory() as folder:
        place = SweepPlace(program, tree, folder, SPACE if moments >= MANY else FEW)
        if "--by-python" in sys.argv:
            place.by_python(tree)
        place.mount_small_data()
        begin = time.monotonic()
        try:
            count, finished = strike_again_and_again(place, moments, random.Random(seed))
        finally:
            place.unmount()
        print(f"{moments} moments ({', '.join(f'{n} {kind}' for kind, n in sorted(count.items()))} hit) with seed {seed} in "
              f"{time.monotonic() - begin:.0f} s: the store opened each time, no trial was lost or there twice, and {finished} sweeps of "
              f"{place.trials} configs ended with the right result{'' if place.can_fill else '; no disk could be made to fill up here'}")
        if moments >= MANY and (sum(count.values()) < 0.6 * moments or min(count.values()) == 0):
            raise Trouble("too few of them hit anything")


if __name__ == "__main__":
    main()
