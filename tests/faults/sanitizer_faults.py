#!/usr/bin/env python3
"""Runs compute-sanitizer over planted faults, beside what `attnscope check` says of them.

sanitizer_faults.py run OUT.json [--every N] [--jobs N]        on a machine with a GPU, nvcc and compute-sanitizer
sanitizer_faults.py table OUT.json OURS.txt > TABLE.txt        OURS.txt: what planted_faults.py recorded

Of the faults of planted/faults.txt it takes every kind, and of each kind every Nth. Each is compiled by nvcc with its
lines, runs with the inputs that sanitizer_main.h gives it, and is looked at by memcheck, racecheck, initcheck and
synccheck, each in its own process. The sound kernels are looked at too.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import planted_faults

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
KEPT = 6000  # characters of an answer


def buffers_of(text):
    """Of each pointer that the kernel gets: its name, its type and its role."""
    signature = re.search(r"__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?\w+\s*\(([^)]*)\)", text).group(1)
    body = text[text.index("__global__"):text.index("int main")]
    made = []
    for parameter in signature.split(","):
        found = re.match(r"\s*(const\s+)?([\w ]+?)\s*\*\s*(?:__restrict__\s*)?(\w+)\s*$", parameter)
        if not found:
            continue
        constant, kind, name = found.groups()
        added = re.search(rf"atomic\w+\(&?{name}\b|\*{name} \+=|\b{name}\[[^\]]*\] \+=|= .*\b{name}\[i\];", body)
        made.append((name, kind, "in" if constant else "inout" if added else "out"))
    return made


def runnable(text):
    """The file with a main that copies its outputs back; no line moves."""
    begin = text.index("int main")
    main = text[begin:].replace("return 0;", "return planted::finish();")
    end = main.rindex("}")
    return text[:begin] + main[:end] + " return planted::finish(); }" + main[end + 1:]


def sampled(every):
    """(kernel, fault or None): the sound kernels, and of each kind of fault every Nth."""
    kernels = planted_faults.read(planted_faults.PLANTED / "faults.txt", pathlib.Path("."))
    cases, seen = [], collections.Counter()
    for kernel in kernels:
        cases.append((kernel, None))
        for fault in kernel.faults:
            if seen[fault.name] % every == 0:
                cases.append((kernel, fault))
            seen[fault.name] += 1
    return cases


def done(words, seconds):
    try:
        ended = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=seconds, errors="replace")
    except subprocess.TimeoutExpired:
        return None, f"not done after {seconds} s"
    return ended.returncode, ended.stdout + ended.stderr


def looked_at(case, folder, options):
    kernel, fault = case
    text = fault.text if fault else kernel.text
    place = pathlib.Path(tempfile.mkdtemp(dir=folder))
    source, program = place / "kernel.cu", place / "kernel"
    source.write_text(runnable(text))
    listed = ", ".join(f'{{"{n}", "{t}", planted::Role::{r}}}' for n, t, r in buffers_of(text))
    (place / "buffers.h").write_text(f"#define PLANTED_BUFFERS {listed}\n")
    row = {"kernel": kernel.name, "fault": fault.name if fault else None, "line": fault.line if fault else None,
           "expected": [[rule, lines] for rule, lines in fault.expected] if fault else [], "answers": {}}
    status, said = done([options.nvcc, "-std=c++17", "-O3", "-lineinfo", "-w", f"-arch=sm_{options.arch}",
                         "-include", place / "buffers.h", "-include", HERE / "sanitizer_main.h", source, "-o", program], 120)
    if status != 0:
        row["answers"] = {tool: {"status": status, "said": "does not compile: " + said[-KEPT:]} for tool in TOOLS}
        return row
    for tool in TOOLS:
        words = [options.sanitizer, "--tool", tool, "--print-limit", "20"]
        if tool == "racecheck":
            words += ["--racecheck-report", "all"]
        if tool == "initcheck":
            words += options.initcheck
        status, said = done([*words, program], options.seconds)
        row["answers"][tool] = {"status": status, "said": said.replace(str(place), "")[:KEPT]}
    print(f"{kernel.name}: {fault.name if fault else 'sound'}", flush=True)
    return row


def run(options):
    helped = done([options.sanitizer, "--help"], 60)[1]
    options.initcheck = ["--initcheck-address-space", "all"] if "--initcheck-address-space" in helped else []
    version = done([options.sanitizer, "--version"], 60)[1]
    gpu = done(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], 60)[1]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda case: looked_at(case, folder, options), sampled(options.every)))
    options.out.write_text(json.dumps({"sanitizer": version, "gpu": gpu, "initcheck": options.initcheck, "rows": rows}))


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("run")
    one.add_argument("out", type=pathlib.Path)
    one.add_argument("--every", type=int, default=3)
    one.add_argument("--jobs", type=int, default=12)
    one.add_argument("--seconds", type=int, default=25)
    one.add_argument("--arch", type=int, default=90)
    one.add_argument("--nvcc", default="nvcc")
    one.add_argument("--sanitizer", default="compute-sanitizer")
    one.set_defaults(do=run)
    options = parser.parse_args()
    return options.do(options)


if __name__ == "__main__":
    sys.exit(main())
