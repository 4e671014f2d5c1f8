#!/usr/bin/env python3
"""Measures the emulator's speeds in docs/emulator.md, and writes them as JSON.

    emulator_speed.py --build build/bench --out bench/results/emulator_speed.json

Rates are thread instructions a second of processor time, the best of the repetitions, so that other work on the machine
counts little; what a person waits for is wall time, likewise the best. The load average stands beside them: over about
0.5, wall times and rates on shared caches say too little.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess

ISAS = ("baseline", "avx2", "avx512")
# name: (benchmark, host threads)
GRIDS = {"tiled, BLOCK_M 32, 4 warps": "tiled_default", "tiled, BLOCK_M 16, 4 warps": "whole_grid/tiled_vector_sm89",
         "tiled, causal, swizzled, 2 warps": "whole_grid/tiled_swizzle_sm89", "minimal": "whole_grid/minimal_sm89"}


def benchmarks(program, pattern, repetitions):
    done = subprocess.run([program, f"--benchmark_filter={pattern}", f"--benchmark_repetitions={repetitions}",
                           "--benchmark_min_time=0.1", "--benchmark_format=json"],
                          check=True, stdout=subprocess.PIPE, text=True)
    runs = {}
    for run in json.loads(done.stdout)["benchmarks"]:
        if run["run_type"] == "iteration" and "error_occurred" not in run:
            runs.setdefault(run["name"].split("/process_time")[0].split("/iterations")[0], []).append(run)
    return runs


def best(runs, figure):
    return min(run[figure] for run in runs)


def grids(program, repetitions):
    rows = []
    for title, name in GRIDS.items():
        for key, runs in benchmarks(program, f"^{name}/[12]/[12]", repetitions).items():
            threads, isa = map(int, key.split("/")[-2:])
            rows.append({"kernel": title, "host_threads": threads, "host": ISAS[isa],
                         "g_thread_instructions_per_s_a_core": max(run["items_per_second"] for run in runs) / 1e9,
                         "grid_cpu_ms": best(runs, "cpu_time"), "grid_wall_ms": best(runs, "real_time")})
    return rows


def tensor(program, repetitions):
    return [{"kernel": "mma", "arch": int(re.search(r"arch:(\d+)", key)[1]), "host_threads": 2,
             "grid_cpu_ms": best(runs, "cpu_time"), "grid_wall_ms": best(runs, "real_time")}
            for key, runs in benchmarks(program, "^tensor_grid/arch:(80|89|90)/threads:2/", repetitions).items()]


def waits(program, repetitions):
    """From a request to its answers, through session, supervisor and executor, in wall milliseconds. session_bench
    repeats each one and gives only the spread, so the least of its medians stands for the best."""
    rows = {}
    for name in ("cold/first_counters", "cached/first_counters", "cached/complete", "large"):
        medians = []
        for _ in range(repetitions):
            done = subprocess.run([program, f"--benchmark_filter=^{name}", "--benchmark_format=json"], check=True,
                                  stdout=subprocess.PIPE, text=True)
            medians += [run["real_time"] for run in json.loads(done.stdout)["benchmarks"]
                        if run.get("aggregate_name") == "median"]
        rows[name] = min(medians)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    load = os.getloadavg()[0]
    emulator, session = options.build / "bench/emulator_bench", options.build / "bench/session_bench"
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())[1]
    report = {"kind": "measured", "date": datetime.date.today().isoformat(), "cpu": cpu, "cores": os.cpu_count(),
              "load_before": load, "shape": "B1 H8 S512 D64, counting on; large: mma, B4 H16 S4096 D128",
              "command": "bench/emulator_speed.py --build build/bench --out bench/results/emulator_speed.json",
              "statistic": f"best of {options.repetitions} (waits: least of 2 medians)",
              "grids": grids(emulator, options.repetitions) + tensor(emulator, options.repetitions),
              "waits_ms": waits(session, 2)}
    pathlib.Path(options.out).write_text(json.dumps(report, indent=2) + "\n")
    for row in report["grids"]:
        print(row)
    print(report["waits_ms"])


if __name__ == "__main__":
    main()
