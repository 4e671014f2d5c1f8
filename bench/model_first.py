"""Is the fastest config among the first that the model names? Random configs of every kernel, modelled and timed in one run.

    python3 -B bench/model_first.py run --program build/release/attnscope --seed 5 --out drawn.json [--within 540]
    python3 -B bench/model_first.py report drawn.json
    python3 -B bench/model_first.py rows drawn.json --out fresh.json      # for `attnscope validate --again`

`run` draws POOL configs of each kernel for each of the first six problems, and a few for six more. The emulated device says what each
takes, on all cores but two. Then the GPU times the FIRST that are fastest by that, and the RANDOM that were drawn first, with
`attnscope bench --quick`, so in turn. What is not there when the time is over is left out, and counted. `--device emulated:...` tries
it without a GPU: the times are then modelled too.

`report` says, for each kernel and problem, how far the fastest of the model's first ones is from the fastest of all that were timed,
and how well the model orders the random ones. `rows` writes the random ones that came first as a validation set.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time

from model_bars import ROOT, percent, quantile, rank_correlation

# The first six are searched; of all twelve some rows are drawn.
PROBLEMS = ["B=1,H=8,S=512,D=64,causal=none", "B=2,H=8,S=1024,D=128,causal=top_left", "B=2,H=16,S=1024,D=64,causal=top_left",
            "B=1,H=16,S=768,D=128,causal=none", "B=4,H=8,S=600,D=64,causal=none", "B=1,H=8,S=1536,D=64,causal=bottom_right",
            "B=1,H=24,S=2048,D=128,causal=top_left", "B=4,H=4,S=1000,D=128,causal=bottom_right", "B=16,H=8,S=384,D=64,causal=none",
            "B=1,H=4,S=3072,D=64,causal=none", "B=3,H=16,S=1280,D=64,causal=top_left", "B=1,H=20,S=333,D=128,causal=none"]
SEARCHED = 6
POOL, FIRST, RANDOM = 64, 20, 40  # of these, --pool and --random set other numbers
ROWS = 4  # of each kernel and problem in a validation set
CHUNK = 10  # configs that one process models
SPARE_CORES = 2  # for the GPU's process
AT_ONCE = 100  # that one process times
SECONDS_A_CONFIG = 0.18  # that its timing should take, beside the process's start
SECONDS_A_START = 10
CLOSE = 0.05


def sizes_of(problem):
    named = dict(part.split("=") for part in problem.split(","))
    causal = ["none", "top_left", "bottom_right"].index(named["causal"])
    return {"batch": int(named["B"]), "heads": int(named["H"]), "kv_heads": int(named["H"]), "seq_q": int(named["S"]),
            "seq_k": int(named["S"]), "head_dim": int(named["D"]), "causal": causal, "dtype_bytes": 2}


def holds(expression, names):
    """An expression of a manifest. Those here need no more than Python's own words."""
    text = re.sub(r"!(?!=)", " not ", expression.replace("&&", " and ").replace("||", " or "))
    return bool(eval(text, {"__builtins__": {}, "min": min, "max": max, "ceil_div": lambda a, b: -(-a // b)}, names))


def values_of(knob):
    return [(v["label"], v["value"]) if isinstance(v, dict) else (str(v), v) for v in knob["values"]]


def draw(kernel, problem, count, chance):
    """Configs that the manifest allows and does not warn of, in random order."""
    names, drawn = sizes_of(problem), []
    if names["head_dim"] not in kernel["supports"]["head_dim"]:
        return []
    choices = list(itertools.product(*(values_of(knob) for knob in kernel["knobs"])))
    chance.shuffle(choices)
    for choice in choices:
        of = {**names, **{knob["name"]: value for knob, (_, value) in zip(kernel["knobs"], choice)}}
        allowed = all(holds(one["expr"], of) for one in kernel.get("requires", []))
        if allowed and not any(holds(one["expr"], of) for one in kernel.get("warns", [])):
            drawn.append(" ".join(f"{knob['name']}={text}" for knob, (text, _) in zip(kernel["knobs"], choice)))
        if len(drawn) == count:
            break
    return drawn


def draws(kernels, problems, pool, chance, most=len(PROBLEMS)):
    """Place, problem and each kernel's configs. The short lists come first: the cores model the long ones meanwhile."""
    for at, problem in sorted(enumerate(problems), key=lambda one: one[0] < SEARCHED)[:most]:
        yield at, problem, {k["id"]: draw(k, problem, pool if at < SEARCHED else ROWS, chance) for k in kernels}


def manifests(folder):
    """Of the attention kernels that are sources, in the ladder's order."""
    read = [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]
    return [one for one in read if one.get("problem", "attention") == "attention" and "source" in one]


class Run:
    def __init__(self, options):
        self.options = options
        self.end = time.monotonic() + options.within
        self.work = pathlib.Path(tempfile.mkdtemp())
        self.versions = {}
        self.log_lock = threading.Lock()

    def left(self):
        return self.end - time.monotonic()

    def say(self, text):
        with self.log_lock:
            print(f"{self.options.within - self.left():5.0f} s  {text}", file=sys.stderr, flush=True)

    def bench(self, device, problem, entries, cores, home, within):
        """Times of entries ("mma:BLOCK_M=64,..."), and why the others have none. Processes share machine code, not results."""
        out = self.work / f"{home}.json"
        command = ["taskset", "-c", ",".join(map(str, cores)), self.options.program, "bench", "--quick", "--cache", "hot", "--fresh",
                   "--device", device, "--problem", problem, "--within", f"{max(1, within):.0f}", "--json", str(out)]
        if not device.startswith("emulated"):
            command += ["--peer", entries[0]]  # else PyTorch's would be timed too
        for entry in entries:
            command += ["--kernel", entry]
        environment = {k: v for k, v in os.environ.items() if k != "ATTNSCOPE_HOME"}
        environment["XDG_DATA_HOME"] = str(self.work / home)
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=max(1, within) + 30)
        except subprocess.TimeoutExpired:
            return {}, {}
        if not out.exists():
            self.say(f"{problem}: {done.stderr.strip()[-300:]}")
            return {}, {}
        report = json.loads(out.read_text())
        self.versions[device] = report["versions"]
        times, reasons = {}, {}
        for entry, cell in zip(entries, report["rows"][0]["cells"]):
            if cell["state"] == "timed" and cell["verdict"] == "correct":
                times[entry] = cell["us"]["p50"]
            elif cell.get("reason"):
                reasons[entry] = cell["reason"]
        return times, reasons

    def go(self):
        options = self.options
        cores = sorted(os.sched_getaffinity(0))
        workers = cores[:max(1, len(cores) - SPARE_CORES)]
        spare = cores[-SPARE_CORES:]
        chance = random.Random(options.seed)
        kernels = [k for k in manifests(options.manifests) if k["id"] in options.kernels or not options.kernels]
        free_cores = list(workers)
        core_lock = threading.Lock()

        def model(problem, entries, home):
            if self.left() < options.within * 0.25:
                return {}, {}
            with core_lock:
                core = free_cores.pop()
            try:
                return self.bench(options.model, problem, entries, [core], home, self.left())
            finally:
                with core_lock:
                    free_cores.append(core)

        pool = concurrent.futures.ThreadPoolExecutor(len(workers))
        waiting = []
        for at, problem, configs in draws(kernels, options.problem or PROBLEMS, options.pool, chance, options.problems):
            drawn = {kernel: [f"{kernel}:{c.replace(' ', ',')}" for c in of_kernel] for kernel, of_kernel in configs.items()}
            every = [e for of_kernel in drawn.values() for e in of_kernel]
            chunks = [every[i:i + CHUNK] for i in range(0, len(every), CHUNK)]
            jobs = [pool.submit(model, problem, chunk, f"model_{at}_{i}") for i, chunk in enumerate(chunks)]
            waiting.append((at, problem, drawn, jobs))
        found = []
        for at, problem, drawn, jobs in waiting:
            modelled, refused = {}, {}
            for job in jobs:
                times, reasons = job.result()
                modelled.update(times)
                refused.update(reasons)
            self.say(f"{problem}: {len(modelled)} of {sum(map(len, drawn.values()))} modelled, {len(refused)} refused")
            for reason, times in collections.Counter(r[:100] for r in refused.values()).most_common(2):
                self.say(f"  {times} times: {reason}")
            chosen = {}
            for kernel, entries in drawn.items():
                known = [e for e in entries if e in modelled]
                first = sorted(known, key=modelled.get)[:FIRST] if at < SEARCHED else []
                chosen[kernel] = (known, first, known[:options.random])
            asked = list(dict.fromkeys(e for _, first, drawn_first in chosen.values() for e in [*first, *drawn_first]))
            timed = {}
            for i in range(0, len(asked), AT_ONCE):
                part = asked[i:i + AT_ONCE]
                within = min(SECONDS_A_START + options.seconds * len(part), self.left() - 5)
                if within > SECONDS_A_START / 2:
                    timed.update(self.bench(options.device, problem, part, spare, f"time_{at}_{i}", within)[0])
            self.say(f"{problem}: {len(timed)} of {len(asked)} timed")
            for kernel, (known, first, drawn_first) in chosen.items():
                rows = [{"config": e.split(":", 1)[1].replace(",", " "), "modelled": round(modelled[e], 4), "us": round(timed[e], 4),
                         "first": first.index(e) + 1 if e in first else 0, "random": drawn_first.index(e) + 1 if e in drawn_first else 0}
                        for e in known if e in timed]
                if rows:
                    found.append({"problem": problem, "kernel": kernel, "pool": len(known), "rows": rows})
            self.write(found)
        pool.shutdown(wait=False, cancel_futures=True)
        self.write(found)

    def write(self, found):
        versions = self.versions.get(self.options.device, {})
        head = {"seed": self.options.seed, "device": self.options.device, "model": self.options.model, "versions": versions,
                "date": time.strftime("%Y-%m-%d", time.gmtime()), "command": shlex.join(["bench/model_first.py", *sys.argv[1:]])}
        lines = ",\n".join("  " + json.dumps(one) for one in found)
        self.options.out.write_text(json.dumps(head, indent=1)[:-2] + f',\n "searches": [\n{lines}\n ]\n}}\n')


def place_of_best(rows):
    """Of the fastest that was timed, in the model's order."""
    ordered = sorted(rows, key=lambda r: r["modelled"])
    return ordered.index(min(ordered, key=lambda r: r["us"])) + 1


def whole(search):
    """Whether all of the model's first configs were timed: where the time was over before, the search says nothing."""
    return {r["first"] for r in search["rows"]} >= set(range(1, min(FIRST, search["pool"]) + 1))


def summary(file):
    """A table by kernel, for docs/model.md."""
    lines = ["| kernel | random configs | median error | 90th percentile | searches | rank correlation, mean | fastest of the first 20: beyond the fastest, at most | place of the fastest in the model's order |",
             "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    data = json.loads(file.read_text())["searches"]
    for kernel in ["all", *dict.fromkeys(one["kernel"] for one in data)]:
        of = [one for one in data if kernel in ("all", one["kernel"])]
        drawn = [r for one in of for r in one["rows"] if r["random"]]
        errors = [abs(r["modelled"] / r["us"] - 1) for r in drawn]
        searched = [one["rows"] for one in of if any(r["first"] for r in one["rows"]) and whole(one)]
        beyond = max(min(r["us"] for r in rows if r["first"]) / min(r["us"] for r in rows) - 1 for rows in searched)
        ranks = [rank_correlation(some) for rows in searched if len(some := [r for r in rows if r["random"]]) > 3]
        places = sorted(place_of_best(rows) for rows in searched)
        rank = f"{sum(ranks) / len(ranks):.2f}" if ranks else ""
        lines.append(f"| {kernel} | {len(drawn)} | {percent(quantile(errors, 0.5))} | {percent(quantile(errors, 0.9))} | {len(searched)} | {rank} | "
                     f"{percent(beyond)} | {places[0]} to {places[-1]}, median {quantile(places, 0.5):.0f} |")
    return lines


def report(file):
    """Lines of text; the last says how many searches came close."""
    data = json.loads(file.read_text())
    lines = ["| kernel | problem | of a pool of | first | random | best of the first, us | best of all, us | further | place of the best | rank correlation, random |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    close = searches = 0
    for one in data["searches"]:
        first = [r["us"] for r in one["rows"] if r["first"]]
        if not first:
            continue
        best, drawn = min(r["us"] for r in one["rows"]), [r for r in one["rows"] if r["random"]]
        searches += whole(one)
        close += whole(one) and min(first) <= (1 + CLOSE) * best
        order = f"{rank_correlation(drawn):.2f}" if len(drawn) > 3 else ""
        lines.append(f"| {one['kernel']} | {one['problem']} | {one['pool']} | {len(first)} | {len(drawn)} | {min(first):.2f} | {best:.2f} | "
                     f"{percent(min(first) / best - 1)} | {place_of_best(one['rows'])} | {order} |")
    drawn = [r for one in data["searches"] for r in one["rows"] if r["random"]]
    if not drawn:
        return lines
    errors = [abs(r["modelled"] / r["us"] - 1) for r in drawn]
    lines += ["", f"{close} of {searches} searches: the best of the first lies within {percent(CLOSE)} of the best of all.",
              f"{len(drawn)} random configs: median error {percent(quantile(errors, 0.5))}, 90th percentile {percent(quantile(errors, 0.9))}."]
    return lines


def rows(file, out):
    data = json.loads(file.read_text())
    versions = data["versions"]
    drawn = [{"problem": one["problem"], "kernel": one["kernel"], "config": r["config"], "us": r["us"], "modelled": r["modelled"]}
             for one in data["searches"] for r in sorted(one["rows"], key=lambda r: r["random"]) if 0 < r["random"] <= ROWS]
    made = {"device": versions["gpu"], "arch": 90, "model": data["model"], "date": data["date"], "driver": versions["driver"].split(",")[0],
            "nvrtc": versions["nvrtc"], "app": versions["app"], "how": "attnscope bench --quick, hot; random configs of a seed that nobody had used",
            "rows": drawn, "refused": []}
    out.write_text(json.dumps({"attnscope_validation": 1, "sets": [made]}, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_subparsers(dest="what", required=True)
    runs = what.add_parser("run")
    runs.add_argument("--program", required=True)
    runs.add_argument("--seed", type=int, required=True)
    runs.add_argument("--out", type=pathlib.Path, required=True)
    runs.add_argument("--within", type=float, default=540, help="seconds")
    runs.add_argument("--device", default="cuda:0")
    runs.add_argument("--model", default="emulated:h200")
    runs.add_argument("--pool", type=int, default=POOL)
    runs.add_argument("--seconds", type=float, default=SECONDS_A_CONFIG, help="that the timing of a config may take")
    runs.add_argument("--random", type=int, default=RANDOM, help="how many of the pool are timed whatever the model says")
    runs.add_argument("--problem", action="append", default=[], help="instead of those of the list; the first six are searched")
    runs.add_argument("--problems", type=int, default=len(PROBLEMS), help="only so many")
    runs.add_argument("--manifests", type=pathlib.Path, default=ROOT / "kernels", help="the program's kernels")
    runs.add_argument("--kernel", dest="kernels", action="append", default=[], help="only this one")
    for name in ("report", "rows"):
        one = what.add_parser(name)
        one.add_argument("file", type=pathlib.Path)
        if name == "rows":
            one.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    if options.what == "run":
        Run(options).go()
    elif options.what == "report":
        print("\n".join(report(options.file)))
    else:
        rows(options.file, options.out)


if __name__ == "__main__":
    main()
