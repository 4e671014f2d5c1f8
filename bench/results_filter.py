#!/usr/bin/env python3
"""How long `attnscope results` takes for a filter over many trials: runs of two sweeps, again and again, with other times and days.

    bench/results_filter.py PROGRAM [TRIALS [REPEATS]]
"""
import json
import os
import pathlib
import resource
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
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, *words], env=dict(os.environ, ATTNSCOPE_HOME=str(home)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{words}: {done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (time.monotonic() - begun) * 1000, cpu * 1000, done.stdout


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


def line(name, took):
    wall, cpu = sorted(one[0] for one in took), statistics.median(one[1] for one in took)
    return f"  {name:<61}{statistics.median(wall):8.1f}  ({wall[0]:.1f} to {wall[-1]:.1f})  {cpu:8.1f}  {took[0][2].count(chr(10))} lines"


def main():
    program = sys.argv[1]
    trials, repeats = (int(text) for text in (sys.argv[2:] + ["100000", "15"][len(sys.argv) - 2:]))
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        for problem in PROBLEMS:
            call(program, home, "sweep", "--kernel", "minimal", "--problem", problem, "--device", "emulated:l4", "--no-watch")
        fill(home / "data" / "results.sqlite", trials)
        print(f"{trials:,} trials, {(home / 'data' / 'results.sqlite').stat().st_size / 1e6:,.0f} MB; ms of a call, median of {repeats}")
        print(f"{'':<63}    wall  (least to most)      CPU")
        print(line("--version", [call(program, home, "--version") for _ in range(repeats)]))
        for words in FILTERS:
            words = ("results", "--limit", "20", *words)
            call(program, home, *words)
            print(line(" ".join(words), [call(program, home, *words) for _ in range(repeats)]))


if __name__ == "__main__":
    main()
