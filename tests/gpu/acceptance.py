#!/usr/bin/env python3
"""Measures on a GPU how far attnscope's own timings can be trusted, and writes what it found as JSON.

  acceptance.py ATTNSCOPE TREE OUT.json [PACK [truths]]

ATTNSCOPE is the program, TREE the source tree. Parts: an endless kernel leaves the GPU; the same config in separate runs;
a config against itself and against a copy made 2 % slower. With PACK (what `pack_cubins kernels PACK` wrote on this machine):
hot timings against Nsight Compute's duration and the driver's activity records, cold ones against torch's flushed do_bench of
the same machine code. `truths`: only that part runs again; the others stay in OUT.json as they are.
"""
import csv
import ctypes
import datetime
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 20


def call(program, *args, ok=(0,)):
    done = subprocess.run([program, *map(str, args)], capture_output=True, text=True, timeout=120)
    if done.returncode not in ok:
        raise SystemExit(f"{args}: {done.returncode}\n{done.stderr}")
    return done


class Configs:
    """Presets made from the shipped ones."""

    def __init__(self, tree, folder):
        self.tree, self.folder = tree, folder

    def preset(self, name, kernel="tiled", knobs=None, problem=None, cache="hot"):
        preset = json.loads((self.tree / "presets" / f"{kernel}.json").read_text())
        preset["knobs"].update(knobs or {})
        preset["problem"].update(problem or {})
        preset["device"] = "cuda:0"
        preset["measure"] = {"cache": cache}
        file = self.folder / f"{name}.json"
        file.write_text(json.dumps(preset))
        return file

    def slower(self, percent, us, clock_mhz):
        """A copy of tiled in which every CTA first waits for that share of its time (one wave: each CTA runs as long as the grid)."""
        folder = self.folder / "slower"
        folder.mkdir(exist_ok=True)
        source = (self.tree / "kernels" / "02_tiled.cu").read_text()
        clocks = int(percent / 100 * us * clock_mhz)
        wait = f"{{ const long long begun = clock64(); while (clock64() - begun < {clocks}) {{ }} }}\n"
        at = source.index("{", source.index("attention_tiled(")) + 1
        (folder / "tiled_slower.cu").write_text(source[:at] + wait + source[at:])
        manifest = json.loads((self.tree / "kernels" / "02_tiled.json").read_text())
        manifest.update(id="tiled_slower", source="tiled_slower.cu")
        (folder / "tiled_slower.json").write_text(json.dumps(manifest))
        preset = json.loads((self.folder / "tiled.json").read_text())
        preset["kernel"] = "tiled_slower"
        file = self.folder / "tiled_slower_preset.json"
        file.write_text(json.dumps(preset))
        return folder, file


def executors():
    """Process ids of executors, without zombies: a zombie has released its GPU."""
    found = set()
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            words = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
            state = pathlib.Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if b"--executor" in words and state != "Z":
            found.add(int(entry))
    return found


def wait_for(condition, seconds=20):
    begun = time.monotonic()
    while not condition():
        if time.monotonic() - begun > seconds:
            raise SystemExit("waited in vain")
        time.sleep(0.005)
    return time.monotonic() - begun


def gpu_busy():
    """Whether a kernel ran through all of the driver's last sampling period (a sixth of a second to one)."""
    text = subprocess.run(["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"], capture_output=True,
                          text=True).stdout
    return int(text.split()[0]) >= 90


def endless(program, tree):
    """Seconds from the deadline, or from the client's death, until no executor is left and the GPU is idle."""
    folder = tree / "tests" / "mutants" / "endless"
    args = ["run", "--kernel", "endless", "--kernels", str(folder), "--device"]
    begun = time.monotonic()
    done = subprocess.run([program, *args, "cuda:0"], capture_output=True, text=True)
    ended = time.monotonic() - begun
    figures = {"exit_status": done.returncode, "message": done.stderr.strip().splitlines()[0],
               "seconds_until_the_program_ended": ended, "executors_left": len(executors()),
               "seconds_more_until_the_gpu_was_idle": wait_for(lambda: not gpu_busy())}
    for name, worker in (("client_killed", None), ("client_killed_behind_a_pipe", f"sh -c 'exec {program} worker'")):
        where = ["cuda:0"] if worker is None else ["far/cuda:0", "--worker", f"far={worker}"]
        client = subprocess.Popen([program, *args, *where, "--deadline", "60000"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        time.sleep(2.5)  # it is looping by now
        busy = gpu_busy()
        before = executors()
        client.send_signal(signal.SIGKILL)
        seconds = wait_for(lambda: not executors() & before)
        idle = seconds + wait_for(lambda: not gpu_busy())
        client.wait()
        figures[name] = {"executors": len(before), "gpu_busy_before": busy, "seconds_until_they_were_gone": seconds,
                         "seconds_until_the_gpu_was_idle": idle}
    return figures


def repeatability(program, preset, runs=RUNS):
    timings = [json.loads(call(program, "run", "--preset", preset, "--json").stdout)["timing"] for _ in range(runs)]
    pooled = statistics.median(us for t in timings for one in t["sampling"]["rounds"] for us in one)
    inside = sum(t["interval"][0] <= pooled <= t["interval"][1] for t in timings)
    return {"runs": runs, "intervals_that_contain_the_pooled_median": inside, "pooled_median_us": pooled,
            "p50_us": [t["us"]["p50"] for t in timings], "interval_us": [t["interval"] for t in timings],
            "rounds_us": [t["sampling"]["rounds"] for t in timings], "dropped": sum(t["sampling"]["dropped"] for t in timings),
            "clock_mhz": statistics.median(t["clock_mhz"] for t in timings),
            "power_w": max(t["sampling"]["power_w"] for t in timings),
            "reasons": sorted({r for t in timings for r in t["sampling"]["reasons"]})}


def comparisons(program, a, b, runs, kernels=()):
    found = []
    for _ in range(runs):
        args = ["compare", a, b, "--json", "--blocks", "10"]
        for folder in kernels:
            args += ["--kernels", folder]
        found.append(json.loads(call(program, *args).stdout))
    return {"runs": runs, "ties": sum(c["tie"] for c in found), "ratios": [c["ratio"] for c in found],
            "intervals": [c["interval"] for c in found], "blocks": found[0]["blocks"]}


# ---- against other instruments ----

TRUTH = [("minimal", "case00", {}, 128), ("minimal", "case00", {}, 256), ("minimal", "case00", {}, 512),
         ("tiled", "case05", {}, 64), ("tiled", "case05", {}, 512), ("tiled", "case06", {"NUM_WARPS": 8}, 512),
         ("tiled", "case08", {"SWIZZLE_XOR": 1}, 512), ("tiled", "case09", {"BLOCK_M": 16}, 128),
         ("scalar", "case32", {}, 512), ("scalar", "case32", {}, 1024), ("scalar", "case32", {}, 4096)]
HEADS, DIM = 8, 64


class Launcher:
    """Launches a cubin of PACK through the driver API, with its own buffers."""

    def __init__(self, pack):
        self.pack = pack
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.check(self.cuda.cuInit(0))
        context = ctypes.c_void_p()
        self.check(self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
        self.check(self.cuda.cuCtxSetCurrent(context))
        self.lines = {line.split()[0]: line.split() for line in (pack / "cases.txt").read_text().splitlines() if line.strip()}
        self.keep = []

    def check(self, code):
        if code != 0:
            raise SystemExit(f"CUDA error {code}")

    def prepare(self, name, kernel, knobs, seq):
        line = self.lines[name]
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.cuda.cuModuleLoad(ctypes.byref(module), str(self.pack / line[1]).encode()))
        self.check(self.cuda.cuModuleGetFunction(ctypes.byref(function), module, line[2].encode()))
        tensors = []
        for _ in range(4):
            at = ctypes.c_uint64()
            bytes_ = HEADS * seq * DIM * 2
            self.check(self.cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(bytes_)))
            self.check(self.cuda.cuMemsetD8_v2(at, ctypes.c_ubyte(0x2c), ctypes.c_size_t(bytes_)))
            tensors.append(at)
        values = [*tensors, ctypes.c_float(0.125)] + [ctypes.c_int(v) for v in (1, HEADS, seq, seq)]
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.pointer(v), ctypes.c_void_p) for v in values])
        self.keep.append((values, pointers))
        rows = 1 if kernel == "minimal" else knobs.get("BLOCK_M", 32)
        shared = 4 * seq if kernel == "minimal" else int(line[9])
        self.check(self.cuda.cuFuncSetAttribute(function, 8, shared))  # MAX_DYNAMIC_SHARED_SIZE_BYTES
        grid = ((seq + rows - 1) // rows, HEADS, 1)

        def launch(stream=0):
            self.check(self.cuda.cuLaunchKernel(function, *grid, int(line[6]), 1, 1, shared, ctypes.c_void_p(stream), pointers,
                                                None))
        return launch

    def synchronise(self):
        self.check(self.cuda.cuCtxSynchronize())


def launch_only(pack):
    """What Nsight Compute profiles: each kernel ten times."""
    launcher = Launcher(pack)
    for kernel, name, knobs, seq in TRUTH:
        launch = launcher.prepare(name, kernel, knobs, seq)
        for _ in range(10):
            launch()
        launcher.synchronise()


def nsight(pack, clock_control):
    args = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--cache-control", "none", "--clock-control", clock_control,
            "--metrics", "gpu__time_duration.sum,gpc__cycles_elapsed.max", sys.executable, __file__, "--launch-only", str(pack)]
    done = subprocess.run(args, capture_output=True, text=True, timeout=300)
    rows = [row for row in csv.reader(done.stdout.splitlines()) if len(row) > 5]
    if not rows:
        return None, (done.stdout + done.stderr)[-400:]
    column = {name: i for i, name in enumerate(rows[0])}
    number = lambda row, name: float(row[column[name]].replace(",", ""))
    data = [(number(row, "gpu__time_duration.sum") / 1e3, number(row, "gpc__cycles_elapsed.max")) for row in rows[2:]]
    medians = []
    for i in range(len(TRUTH)):
        ten = data[10 * i + 2:10 * i + 10]
        medians.append({"us": statistics.median(us for us, _ in ten), "cycles": statistics.median(c for _, c in ten)})
    return medians, None


def activity_us(launch):
    """The kernel's own time by the driver's activity records (CUPTI), which is what Nsight Systems shows: median of 40."""
    import torch
    from torch.profiler import ProfilerActivity, profile
    stream = torch.cuda.current_stream().cuda_stream
    for _ in range(20):
        launch(stream)
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        for _ in range(40):
            launch(stream)
        torch.cuda.synchronize()
    return statistics.median(event.time_range.elapsed_us() for event in profiler.events()
                             if event.device_type == torch.autograd.DeviceType.CUDA)


def truths(program, configs, pack):
    import torch
    import triton
    from triton.testing import do_bench
    launcher = Launcher(pack)
    hashes = {case["name"]: case["code_hash"] for case in json.loads((pack / "cases.json").read_text())}
    found = []
    for kernel, name, knobs, seq in TRUTH:
        row = {"kernel": kernel, "knobs": knobs, "problem": f"B1 H{HEADS} S{seq} D{DIM}"}
        for cache in ("hot", "cold"):
            preset = configs.preset(f"{kernel}_{cache}", kernel, knobs, {"seq_q": seq, "seq_k": seq}, cache)
            o = json.loads(call(program, "run", "--preset", preset, "--json").stdout)
            assert o["verdict"]["state"] == "correct"
            assert o["variant"]["code_hash"] == hashes[name], "another machine code than the pack's"
            row[f"{cache}_us"] = o["timing"]["us"]["p50"]
            row[f"{cache}_interval_us"] = o["timing"]["interval"]
            row["clock_mhz"] = o["timing"]["clock_mhz"]
            if cache == "cold":
                row["empty_us"] = o["timing"]["sampling"]["empty_us"]
        launch = launcher.prepare(name, kernel, knobs, seq)
        stream = torch.cuda.current_stream().cuda_stream
        row["do_bench_us"] = 1e3 * do_bench(lambda: launch(stream), warmup=50, rep=300, return_mode="median")
        row["cold_to_do_bench"] = row["cold_us"] / row["do_bench_us"]
        row["activity_us"] = activity_us(launch)
        row["hot_to_activity"] = row["hot_us"] / row["activity_us"]
        found.append(row)
    notes = {"torch": torch.__version__, "triton": triton.__version__}
    for clocks in ("none", "base"):
        medians, trouble = nsight(pack, clocks)
        if medians is None:
            notes[f"nsight_{clocks}"] = trouble
            continue
        for row, one in zip(found, medians):
            row[f"nsight_{clocks}_us"], row[f"nsight_{clocks}_cycles"] = one["us"], one["cycles"]
            if clocks == "none":
                row["hot_to_nsight"] = row["hot_us"] / one["us"]
            else:
                row["hot_to_nsight_base_cycles"] = row["hot_us"] * row["clock_mhz"] / one["cycles"]
    return {"versions": notes, "cases": found}


def compact(record):
    """JSON with its lists of numbers on one line each."""
    text = json.dumps(record, indent=1)
    return re.sub(r"\[[-+0-9.e,\s]+\]", lambda list_: "[" + ", ".join(list_.group()[1:-1].replace(",", " ").split()) + "]", text)


def versions():
    line = lambda *args: subprocess.run(args, capture_output=True, text=True).stdout.strip().splitlines()
    found = line("nvidia-smi", "--query-gpu=name,driver_version,clocks.max.sm,power.limit", "--format=csv,noheader")
    try:
        found += [text for text in line("ncu", "--version") if re.search(r"\d", text)][-1:]
    except OSError:
        pass
    return found


def main():
    if sys.argv[1] == "--launch-only":
        return launch_only(pathlib.Path(sys.argv[2]))
    program, tree, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    anew = {"what": "attnscope's measured timings held against each other and against other instruments, on a GPU",
            "made_by": "acceptance.py ATTNSCOPE TREE OUT.json PACK", "date": datetime.date.today().isoformat(),
            "versions": versions()}
    truths_alone = sys.argv[5:] == ["truths"]
    record = {**json.loads(out.read_text()), **anew} if truths_alone else anew

    def keep(name, value):
        record[name] = value
        out.write_text(compact(record) + "\n")

    with tempfile.TemporaryDirectory() as folder:
        configs = Configs(tree, pathlib.Path(folder))
        first = json.loads(call(program, "run", "--preset", configs.preset("first"), "--json").stdout)
        record["attnscope"] = first["versions"]
        if len(sys.argv) > 4:
            keep("truths", truths(program, configs, pathlib.Path(sys.argv[4])))
        if truths_alone:
            return
        keep("endless", endless(program, tree))
        keep("repeatability", {
            "tiled NUM_WARPS=8, hot": repeatability(program, configs.preset("w8", knobs={"NUM_WARPS": 8})),
            "tiled, cold": repeatability(program, configs.preset("cold", cache="cold")),
            "minimal S=128 H=1, hot": repeatability(program, configs.preset(
                "small", "minimal", problem={"seq_q": 128, "seq_k": 128, "heads": 1, "kv_heads": 1}))})
        tiled = configs.preset("tiled")
        keep("a_against_a", comparisons(program, tiled, tiled, RUNS))
        slower, preset = configs.slower(2, first["timing"]["us"]["p50"], first["timing"]["clock_mhz"])
        keep("a_against_2_percent_slower", comparisons(program, tiled, preset, 5, [slower]))


if __name__ == "__main__":
    main()
