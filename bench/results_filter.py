#!/usr/bin/env python3
"""How long `attnscope results` takes for a filter over many trials: runs of two sweeps, again and again, with other times and days.

    bench/results_filter.py PROGRAM [TRIALS [REPEATS]]
"""
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

PROBLEMS = ("B=1,H=1,S=32,D=64", "B=1,H=1,S=48,D=64")
DAY = 86400
FILTERS = (("--set", "THREADS=128"), ("--problem", "S=48"), ("--problem", "S=48", "--set", "THREADS=128", "--fastest"),
           ("--since", "2024-11-01"), ("--verdict", "wrong"))


def call(program, home, *words):
    begun = time.monotonic()
    done = subprocess.run([program, *words], env=dict(os.environ, ATTNSCOPE_HOME=str(home)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{words}: {done.stderr}")
    return (time.monotonic() - begun) * 1000, done.stdout


def fill(store, trials):
    with sqlite3.connect(store) as database:
        there = database.execute("SELECT hash, app, json FROM observation ORDER BY id").fetchall()

        def rows():
            for at in range(trials - len(there)):
                one, app, text = there[at % len(there)]
                run = json.loads(text)
                run["timing"]["us"]["p50"] += at / trials
                yield one, DAY * 20000.0 + 60 * at, app, json.dumps(run)
        database.executemany("INSERT INTO observation(hash, finished_at, app, json) VALUES (?, ?, ?, ?)", rows())


def main():
    program = sys.argv[1]
    trials, repeats = (int(text) for text in (sys.argv[2:] + ["100000", "15"][len(sys.argv) - 2:]))
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        for problem in PROBLEMS:
            call(program, home, "sweep", "--kernel", "minimal", "--problem", problem, "--device", "emulated:l4", "--no-watch")
        fill(home / "data" / "results.sqlite", trials)
        print(f"{trials:,} trials, {(home / 'data' / 'results.sqlite').stat().st_size / 1e6:,.0f} MB; wall ms of a call, {repeats} calls each")
        idle = statistics.median(call(program, home, "--version")[0] for _ in range(repeats))
        print(f"  {'--version (the program starts and ends)':<63}{idle:8.1f}")
        for words in FILTERS:
            call(program, home, "results", "--limit", "20", *words)
            took = [call(program, home, "results", "--limit", "20", *words) for _ in range(repeats)]
            times = sorted(ms for ms, _ in took)
            print(f"  results --limit 20 {' '.join(words):<44}{statistics.median(times):8.1f}  ({times[0]:.1f} to {times[-1]:.1f}; {took[0][1].count(chr(10))} lines)")


if __name__ == "__main__":
    main()
