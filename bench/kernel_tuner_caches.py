"""How far off the model is on kernels that Kernel Tuner timed on an A100 (AutoTuningAssociation/benchmark_hub on GitHub).

    python3 -B bench/kernel_tuner_caches.py HUB SOURCES --program build/release/attnscope --count 300 --seed 1 --out a100.json
    python3 -B bench/kernel_tuner_caches.py --report a100.json

HUB is a checkout of that repository, whose cachefiles hold the times, and SOURCES one of MiloLurati/AutoTuning_AMD_vs_Nvidia_GPUs,
whose cache_scripts hold the kernels that were timed (the hub's own convolution came later and lacks use_shmem). Without them nothing
runs, and the reason is said (exit status 77). The kernels get a manifest here, which stands for what their Python files do on the host:
macros, grid, buffers, a filter in constant memory, a table of delays (by a kernel that goes before). Random configs of each recording
are then modelled for the A100 that was timed, a few CTAs of each in the emulator, and compared with the recorded times. Nothing of the
two is kept but the figures. A run that was interrupted goes on.

The A100's clock was not held. Idle it runs at its base clock and rises to its boost clock after some 150 ms of work: the later times of
long runs of the convolution are shorter than the earlier ones by nearly as much. Most of its runs are over before, and some begin while
the clock is still up. Only those that ran at the base clock are drawn (at_base_clock).
"""
import argparse
import concurrent.futures
import datetime
import gzip
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from model_bars import percent, quantile, rank_correlation

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77
CTAS = 4  # that the emulator runs of a grid
FIRST = 10
BASE_CLOCK = 765  # of an NVIDIA A100-PCIE-40GB, MHz: NVIDIA A100 PCIe product brief
DRAM_GBS = 1555  # of the same
RAISES_MS, RAISED_MS = 80, 2000  # work that may raise the clock, and how long after it the clock may still be up
SPLIT = {"convolution": [("use_shmem", 6), ("read_only", 4)]}  # parameters and their places in a config's key: each value also gets a line


def read_cache(file):
    return json.loads(gzip.decompress(file.read_bytes()))


def knobs_of(cache):
    return [{"name": name.upper(), "values": sorted(set(values)), "default": values[0], "doc": f"The tuner's {name}."}
            for name, values in cache["tune_params"].items()]


def macros(cache):
    return "".join(f"#define {name} {name.upper()}\n" for name in cache["tune_params"])


def at_base_clock(runs):
    """Keys of the runs that certainly ran at the clock of an idle GPU: no run of RAISES_MS and more ended less than RAISED_MS before they
    began, and their own times show no rise. The first time of a run is its warm-up."""
    runs = sorted(((datetime.datetime.fromisoformat(run["timestamp"]).timestamp() * 1e3, sum(run["times"]), key, run["times"][1:])
                   for key, run in runs.items() if isinstance(run["time"], float)))
    raised_until = 0.0
    base = []
    for end, work, key, times in runs:
        if end - work >= raised_until and max(times) < 1.25 * min(times):
            base.append(key)
        if work >= RAISES_MS:
            raised_until = end + RAISED_MS
    return base


def device(clock):
    """The A100 that was timed: an A100's spec with the memory of the PCIe board and, where given, another clock. What DRAM takes beyond
    the second level is as many nanoseconds at any clock."""
    spec = json.loads((ROOT / "assets/devices/a100.json").read_text())
    spec |= {"id": f"emulated:a100-pcie-{clock or spec['clock_mhz']}", "dram_gbs": DRAM_GBS}
    spec["sources"]["dram_gbs"] = "NVIDIA A100 data sheet: 40 GB HBM2 of the PCIe board"
    if clock:
        rates = spec["rates"]
        rates["latency_dram"] = rates["latency_l2"] + (rates["latency_dram"] - rates["latency_l2"]) * clock / spec["clock_mhz"]
        spec["clock_mhz"] = clock
        spec["sources"]["clock_mhz"] = "NVIDIA A100 PCIe product brief: base clock"
    return spec


def convolution(sources, cache):
    source = macros(cache) + '#line 1 "convolution.cu"\n' + (sources / "convolution/convolution.cu").read_text()
    manifest = {
        "id": "convolution", "title": "Kernel Tuner's convolution", "source": "convolution.cu", "entry": "convolution_kernel", "problem": "custom",
        "knobs": knobs_of(cache), "sizes": {"w": 4096, "h": 4096},
        "buffers": [{"name": "output", "role": "out", "dtype": "f32", "shape": ["h", "w"]},
                    # The last CTAs read up to a tile of rows past the image, which the GPU's allocations hold.
                    {"name": "input", "role": "in", "dtype": "f32", "shape": ["h + 14 + 64", "w + 14"]},
                    {"name": "filter", "role": "in", "dtype": "f32", "shape": [225]},
                    {"name": "weights", "role": "in", "dtype": "f32", "shape": [33 * 33], "symbol": "d_filter"}],
        "launch": {"grid": ["ceil_div(w, BLOCK_SIZE_X * TILE_SIZE_X)", "ceil_div(h, BLOCK_SIZE_Y * TILE_SIZE_Y)", 1],
                   "block": ["BLOCK_SIZE_X", "BLOCK_SIZE_Y", 1]},
        "args": ["output", "input", "filter"], "reference": "none"}
    return manifest, {"convolution.cu": source}, 4096, 4096


# get_shifts() of dedispersion.py; its time unit and down sampling cancel to 1 / sampling_time.
SHIFTS = """
extern "C" __global__ void make_shifts(float* shifts) {
  const int channel = blockIdx.x * blockDim.x + threadIdx.x;
  const double f = 1425.0 + channel * 0.1953125, most = 1425.0 + (nr_channels - 1) * 0.1953125;
  if (channel < nr_channels) shifts[channel] = channel == nr_channels - 1 ? 0.0f : float(4148.808 * (1 / (f * f) - 1 / (most * most)) / 0.00004096);
}
"""


def dedispersion(sources, cache):
    folder = sources / "dedisp"
    source = macros(cache) + (folder / "dedispersion.cu").read_text().replace('#include "dedispersion.h"', (folder / "dedispersion.h").read_text()) + SHIFTS
    manifest = {
        "id": "dedispersion", "title": "Kernel Tuner's dedispersion", "source": "dedispersion.cu", "problem": "custom",
        "knobs": knobs_of(cache), "sizes": {"samples": 25000, "dms": 2048},
        "buffers": [{"name": "input", "role": "in", "dtype": "u8", "shape": [1536, "samples + 650"], "init": {"random": [0, 255]}},
                    {"name": "output", "role": "out", "dtype": "f32", "shape": ["dms", "samples"]},
                    {"name": "shifts", "role": "workspace", "dtype": "f32", "shape": [1536]}],
        "launches": [{"entry": "make_shifts", "grid": [12, 1, 1], "block": [128, 1, 1], "args": ["shifts"]},
                     {"entry": "dedispersion_kernel",
                      "grid": ["ceil_div(samples, BLOCK_SIZE_X * TILE_SIZE_X)", "ceil_div(dms, BLOCK_SIZE_Y * TILE_SIZE_Y)", 1],
                      "block": ["BLOCK_SIZE_X", "BLOCK_SIZE_Y", 1], "args": ["input", "output", "shifts"]}],
        "reference": "none"}
    return manifest, {"dedispersion.cu": source}, 25000, 2048


SETS = {"convolution": (convolution, "convolution_milo", BASE_CLOCK), "dedispersion": (dedispersion, "dedispersion_milo", None)}


class Caches:
    def __init__(self, options):
        self.options = options
        self.done = json.loads(options.out.read_text()) if options.out.exists() else {}
        self.work = pathlib.Path(tempfile.mkdtemp())
        self.commits = [subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
                        for folder in (options.hub, options.sources)]

    def model(self, kernel, device, sizes, run, knobs):
        """Modelled milliseconds and what says most about them, or why there are none."""
        ctas = math.ceil(sizes[0] / (run["block_size_x"] * run["tile_size_x"])) * math.ceil(sizes[1] / (run["block_size_y"] * run["tile_size_y"]))
        preset = {"attnscope_preset": 1, "title": "x", "kernel": kernel, "knobs": {name.upper(): run[name] for name in knobs},
                  "problem": {"kind": "custom"}, "device": device, "measure": {"sampled_share": min(1.0, CTAS / ctas)}}
        with tempfile.NamedTemporaryFile("w", suffix=".json", dir=self.work) as file:
            json.dump(preset, file)
            file.flush()
            command = [self.options.program, "run", "--kernels", str(self.work / "kernels"), "--preset", file.name, "--no-watch", "--json", "--deadline", "120000"]
            # A history of its own, since many run at once; the machine code that was compiled is shared.
            with tempfile.TemporaryDirectory(dir=self.work) as data:
                out, err = (tempfile.TemporaryFile("w+", dir=self.work) for _ in range(2))
                child = subprocess.Popen(command, stdout=out, stderr=err, env={**os.environ, "XDG_DATA_HOME": data, "XDG_CONFIG_HOME": str(self.work)})
                _, status, used = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
                out.seek(0), err.seek(0)
        printed = out.read()
        if not printed.strip():
            return {"refused": err.read().strip()[:300]}
        seen = json.loads(printed)
        if seen.get("failure"):
            return {"refused": seen["failure"]["message"][:300]}
        seen = (seen.get("launches") or [seen])[-1]  # the one that was timed
        timing = seen["timing"]
        return {"modelled": timing["us"]["p50"] / 1e3, "cpu_s": round(used.ru_utime + used.ru_stime, 2), "bound": timing["bound"],
                "terms": {t["kind"]: round(t["us"] / timing["us"]["p50"], 3) for t in (timing.get("terms") or {"list": []})["list"]},
                "registers": seen["variant"]["registers"], "ctas_per_sm": seen["occupancy"]["ctas_per_sm"]}

    def go(self):
        options = self.options
        (self.work / "kernels").mkdir()
        devices = self.work / "attnscope/devices"  # of one's own
        devices.mkdir(parents=True)
        for name in options.sets or SETS:
            make, folder, clock = SETS[name]
            cache = read_cache(options.hub / f"cachefiles/{folder}/A100.json.gz")
            manifest, files, *sizes = make(options.sources / "cache_scripts", cache)
            (self.work / "kernels" / f"{name}.json").write_text(json.dumps(manifest))
            for file, text in files.items():
                (self.work / "kernels" / file).write_text(text)
            knobs = [k["name"].lower() for k in manifest["knobs"]]
            spec = device(clock)
            (devices / f"{spec['id'].partition(':')[2]}.json").write_text(json.dumps(spec))
            valid = at_base_clock(cache["cache"]) if clock else [key for key, run in cache["cache"].items() if isinstance(run["time"], float)]
            random.Random(options.seed).shuffle(valid)
            of = self.done.setdefault(name, {"device": cache["device_name"], "clock_mhz": spec["clock_mhz"], "commits": self.commits, "valid": len(valid), "seed": options.seed, "rows": {}})
            left = [key for key in valid[:options.count] if key not in of["rows"]]
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                jobs = {pool.submit(self.model, name, spec["id"], sizes, cache["cache"][key], knobs): key for key in left}
                for at, job in enumerate(concurrent.futures.as_completed(jobs)):
                    key = jobs[job]
                    of["rows"][key] = {"measured": cache["cache"][key]["time"], **job.result()}
                    print(f"{name}: {at + 1} of {len(left)}", file=sys.stderr, end="\r", flush=True)
                    if at % 10 == 9 or at + 1 == len(left):
                        options.out.write_text(json.dumps(self.done, indent=1) + "\n")


def report(done):
    lines = ["| set | configs | median error | 90th percentile | modelled / measured, median | rank correlation | best of the first ten | refused |",
             "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    parts = []
    for name, of in done.items():
        parts.append((f"{name}, {of['device']}", of["rows"]))
        for parameter, at in SPLIT.get(name, []):
            for value in sorted({key.split(",")[at] for key in of["rows"]}):
                parts.append((f"of them {parameter}={value}", {key: r for key, r in of["rows"].items() if key.split(",")[at] == value}))
    for name, of_part in parts:
        rows = [{"us": r["measured"], "modelled": r["modelled"]} for r in of_part.values() if "modelled" in r]
        if len(rows) < 2:
            continue
        errors = [abs(r["modelled"] / r["us"] - 1) for r in rows]
        best = min(r["us"] for r in rows)
        first = min(r["us"] for r in sorted(rows, key=lambda r: r["modelled"])[:FIRST])
        ratio = quantile([r["modelled"] / r["us"] for r in rows], 0.5)
        lines.append(f"| {name} | {len(rows)} | {percent(quantile(errors, 0.5))} | {percent(quantile(errors, 0.9))} | {ratio:.2f} | "
                     f"{rank_correlation(rows):.3f} | {percent(first / best - 1)} from the sample's best | {len(of_part) - len(rows)} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hub", type=pathlib.Path, nargs="?")
    parser.add_argument("sources", type=pathlib.Path, nargs="?")
    parser.add_argument("--program", default="build/release/attnscope")
    parser.add_argument("--count", type=int, default=300, help="configs of each recording")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", dest="sets", action="append", choices=list(SETS), help="only this one")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("a100.json"))
    parser.add_argument("--report", type=pathlib.Path, metavar="FILE.json", help="model nothing; say what this file holds")
    options = parser.parse_args()
    if options.report:
        print("\n".join(report(json.loads(options.report.read_text()))))
        return
    for checkout, of, folder in ((options.hub, "AutoTuningAssociation/benchmark_hub", "cachefiles"),
                                 (options.sources, "MiloLurati/AutoTuning_AMD_vs_Nvidia_GPUs", "cache_scripts")):
        if checkout is None or not (checkout / folder).is_dir():
            print(f"skipped: no checkout of https://github.com/{of} was named", file=sys.stderr)
            sys.exit(SKIPPED)
    caches = Caches(options)
    caches.go()
    print("\n".join(report(caches.done)))


if __name__ == "__main__":
    main()
