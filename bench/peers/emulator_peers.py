#!/usr/bin/env python3
"""Times three emulators on one algorithm, tiled_plain.cu, whole grids on one core, and writes their ratios as JSON.

    emulator_peers.py --bench build/bench/bench/emulator_bench --tinygrad CHECKOUT --out bench/results/emulator_peers.json

CHECKOUT holds test/mockgpu/nv/emu.py (tinygrad's PTX emulator, numpy); --oclgrind names Oclgrind's oclgrind-kernel.
Nothing is downloaded. Times are processor time, so that other work on the machine counts little: the median of three (of
the largest grid one), ours of five. What only starts a program up (Oclgrind's compiler, PTX's parser) is measured apart
and taken off. Needs nvcc and numpy.
"""
import argparse
import ctypes
import datetime
import importlib.util
import json
import mmap
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / "tiled_plain.cu"
HEAD_DIM, BLOCK_M, THREADS, SCALE = 64, 32, 128, 0.125
# Peer, query rows, keys, repetitions. numpy's cost per instruction falls with the number of threads that it runs at
# once, so a large grid is tinygrad's best case: 4,096 rows are the whole grid of B1 H8 S512.
CASES = (("tinygrad", 128, 128, 3), ("oclgrind", 128, 128, 3), ("tinygrad", 4096, 512, 1))


def tensors(rows, keys):
    random = np.random.default_rng(1)
    return [random.standard_normal((count, HEAD_DIM)).astype(np.float16) for count in (rows, keys, keys)]


def check(name, rows, keys, output):
    q, k, v = (x.astype(np.float64) for x in tensors(rows, keys))
    s = q @ k.T * SCALE
    p = np.exp(s - s.max(axis=1, keepdims=True))
    expected = p / p.sum(axis=1, keepdims=True) @ v
    worst = np.abs(output.astype(np.float64) - expected).max()
    if not worst < 2e-3:
        sys.exit(f"{name} computed something else: the largest error is {worst}")
    return float(worst)


class LowMemory:
    """ctypes, except that new buffers are below 2 GB. tinygrad's emulator gives shared memory host addresses, and the PTX of
    nvcc holds addresses of shared memory in 32 bits."""

    def __getattr__(self, name):
        return getattr(ctypes, name)

    def create_string_buffer(self, init):
        size = init if isinstance(init, int) else len(init) + 1
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40  # MAP_32BIT
        address = libc.mmap(None, max(size, 1), mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
        if address in (None, ctypes.c_void_p(-1).value):
            sys.exit("there is no memory below 2 GB")
        buffer = (ctypes.c_char * size).from_address(address)
        if not isinstance(init, int):
            ctypes.memmove(address, init, len(init))
        return buffer


def of_tinygrad(checkout, rows, keys, repeats):
    """Seconds of tinygrad's PTX emulator, per call of ptx_run."""
    path = pathlib.Path(checkout) / "test/mockgpu/nv/emu.py"
    spec = importlib.util.spec_from_file_location("emu", path)
    emu = importlib.util.module_from_spec(spec)
    sys.modules["emu"] = emu
    spec.loader.exec_module(emu)
    emu.ctypes = LowMemory()
    with tempfile.TemporaryDirectory() as folder:
        ptx = pathlib.Path(folder) / "k.ptx"
        subprocess.run(["nvcc", "-ptx", "-O3", "-arch=sm_89", "-o", ptx, SOURCE], check=True)
        source = ctypes.create_string_buffer(ptx.read_bytes())
    arrays = [np.ascontiguousarray(x) for x in tensors(rows, keys)]
    output = np.zeros((rows, HEAD_DIM), np.float16)
    scale = int(np.float32(SCALE).view(np.uint32))
    arguments = [x.ctypes.data for x in (*arrays, output)] + [scale]
    emu.parse_ptx(source.value.decode())  # kept, as in later launches
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        emu.ptx_run(source, 6, arguments + [keys], THREADS, 1, 1, rows // BLOCK_M, 1, 1, 0)
        times.append(time.process_time() - begin)
    return times, check("tinygrad", rows, keys, output)


def simulation(folder, rows, keys, seen):
    """A file for oclgrind-kernel: what it launches, and every argument. The kernel walks `seen` of the keys."""
    lines = [SOURCE.name, "tiled_plain", f"{rows // BLOCK_M * THREADS} 1 1", f"{THREADS} 1 1"]
    for tensor in tensors(rows, keys):
        words = tensor.view(np.uint16).ravel()
        lines += [f"<size={2 * words.size} ushort>", " ".join(map(str, words))]
    lines += [f"<size={2 * rows * HEAD_DIM} ushort fill=0 dump>", "<size=4 float>", str(SCALE), "<size=4 int>", str(seen)]
    path = pathlib.Path(folder) / "k.sim"
    path.write_text("\n".join(lines) + "\n")
    (pathlib.Path(folder) / SOURCE.name).write_text(SOURCE.read_text())
    return path


def of_oclgrind(program, rows, keys, repeats):
    """Seconds of oclgrind-kernel on one thread, minus those of a launch without work."""
    def seconds(path):
        begin = os.times()
        done = subprocess.run([program, "--num-threads", "1", path.name], cwd=path.parent, check=True,
                              stdout=subprocess.PIPE, text=True)
        end = os.times()
        return end.children_user + end.children_system - begin.children_user - begin.children_system, done.stdout

    with tempfile.TemporaryDirectory() as folder:
        idle = statistics.median(seconds(simulation(folder, rows, keys, 0))[0] for _ in range(repeats))
        path = simulation(folder, rows, keys, keys)
        times, text = [], ""
        for _ in range(repeats):
            taken, text = seconds(path)
            times.append(taken - idle)
    words = [int(x) for x in re.findall(r"^\s*\S+\[\d+\] = (\d+)", text, re.M)]
    output = np.array(words, np.uint16).view(np.float16).reshape(rows, HEAD_DIM)
    return times, check("Oclgrind", rows, keys, output)


def of_ours(bench, rows, keys):
    """Seconds of a whole grid, with counting on and already decoded."""
    done = subprocess.run([bench, f"--benchmark_filter=^tiled_plain/rows:{rows}/keys:{keys}/", "--benchmark_repetitions=5",
                           "--benchmark_min_time=0.02", "--benchmark_format=json"],
                          check=True, stdout=subprocess.PIPE, text=True)
    return [x["cpu_time"] / 1e3 for x in json.loads(done.stdout)["benchmarks"] if x["run_type"] == "iteration"]


def cpu():
    return re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())[1]


def first_line(*command):
    lines = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout.split("\n")
    return next(line.strip() for line in lines if line.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bench", required=True)
    parser.add_argument("--tinygrad", required=True)
    parser.add_argument("--tinygrad-version", default="", help="the version of the checkout, for the report")
    parser.add_argument("--oclgrind", default="oclgrind-kernel")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    runs = []
    for peer, rows, keys, repeats in CASES:
        run_peer, place = (of_tinygrad, options.tinygrad) if peer == "tinygrad" else (of_oclgrind, options.oclgrind)
        times, worst = run_peer(place, rows, keys, repeats)
        ours = of_ours(options.bench, rows, keys)
        run = {"peer": peer, "rows": rows, "keys": keys, "ctas": rows // BLOCK_M, "peer_seconds": statistics.median(times),
               "peer_samples": times, "peer_max_error": worst, "our_seconds": statistics.median(ours), "our_samples": ours}
        run["ratio"] = run["peer_seconds"] / run["our_seconds"]
        runs.append(run)
        print(f"{peer}, {rows} rows, {keys} keys: {run['peer_seconds']:.3f} s, ours {run['our_seconds']:.6f} s, "
              f"{run['ratio']:.0f} times", flush=True)
    pathlib.Path(options.out).write_text(json.dumps({
        "kind": "measured", "date": datetime.date.today().isoformat(), "cpu": cpu(), "load": os.getloadavg()[0],
        "unit": "seconds of processor time a whole grid, one core, median",
        "algorithm": "bench/peers/tiled_plain.cu: one head, head_dim 64, BLOCK_M 32, BLOCK_N 64, 4 warps",
        "versions": {"tinygrad": options.tinygrad_version, "numpy": np.__version__, "python": sys.version.split()[0],
                     "oclgrind": first_line(options.oclgrind, "--version"),
                     "nvcc": re.search(r"V[\d.]+", subprocess.run(["nvcc", "--version"], stdout=subprocess.PIPE, text=True).stdout)[0]},
        "command": "bench/peers/emulator_peers.py --bench … --tinygrad … --out …", "runs": runs}, indent=2) + "\n")


if __name__ == "__main__":
    main()
