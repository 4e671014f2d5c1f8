#!/usr/bin/env python3
"""Runs compute-sanitizer over planted faults, beside what `attnscope check` says of them.

sanitizer_faults.py run OUT.json [--every N] [--jobs N]        on a machine with a GPU, nvcc and compute-sanitizer
sanitizer_faults.py table OUT.json OURS.txt --date DATE > TABLE.txt        OURS.txt: what planted_faults.py recorded

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


def recorded_answers(path):
    """What planted_faults.py wrote of each fault, by kernel, name and line; faults that share these in their order."""
    answers = collections.defaultdict(list)
    for row in path.read_text().splitlines():
        found = re.match(r"(\w+(?: only)?)\s+(.+): ([^:]+?)(?:, line (\d+))?$", row)
        if found and not row.startswith(" "):
            answer, kernel, fault, line = found.groups()
            answers[kernel, None if fault == "sound" else fault, int(line) if line else None].append(answer)
    return answers


def judged(row, tool):
    """Whether a tool names the fault's lines: all of one alternative that the fault's author expects."""
    said = row["answers"][tool]["said"]
    if "not done after" in said:
        return "no end"
    if not re.search(r"^========= (?!COMPUTE|ERROR SUMMARY: 0 |RACECHECK SUMMARY: 0 |\s)\S", said, re.M):
        return "silent"
    lines = {int(line) for line in re.findall(r"kernel\.cu:(\d+)", said)}
    if any(wanted and set(wanted) <= lines for _, wanted in row["expected"]):
        return "named"
    return "elsewhere" if lines else "no line"


def table(options):
    read = json.loads(options.answers.read_text())
    ours, taken = recorded_answers(options.ours), collections.Counter()
    order = {}
    for kernel in planted_faults.read(planted_faults.PLANTED / "faults.txt", pathlib.Path(".")):
        for fault in kernel.faults:
            key = kernel.name, fault.name, fault.line
            order[kernel.name, fault.name, fault.line, fault.text] = ours[key][taken[key]]
            taken[key] += 1
    rows, sums = [], {}
    texts = {(k.name, f.name if f else None, f.line if f else None): f for k, f in sampled(options.every)}
    for row in read["rows"]:
        fault = texts[row["kernel"], row["fault"], row["line"]]
        own = order[row["kernel"], row["fault"], row["line"], fault.text] if fault else ours[row["kernel"], None, None][0]
        answers = {tool: judged(row, tool) for tool in TOOLS}
        named = [tool for tool in TOOLS if answers[tool] == "named"]
        loud = [f"{tool} {answer}" for tool, answer in answers.items() if answer not in ("silent", "named")]
        theirs = ", ".join([*named, *loud]) or "silent"
        what = f"{row['fault']}, line {row['line']}" if fault else "sound"
        rows.append(f"{own:<11} {'named' if named else 'heard' if loud else 'silent':<7} {row['kernel']}: {what} | {theirs}")
        tally = sums.setdefault(row["fault"] or "sound", collections.Counter())
        tally["all"] += 1
        tally["ours"] += own in ("named", "warned") if fault else own == "silent"
        tally["theirs"] += bool(named) if fault else theirs == "silent"
        tally["heard"] += bool(fault) and not named and bool(loud)
    total = {key: sum(tally[key] for name, tally in sums.items() if name != "sound") for key in ("all", "ours", "theirs", "heard")}
    print("Planted faults: what `attnscope check` and compute-sanitizer say of the same (tests/faults/sanitizer_faults.py).")
    version = re.search(r"Version (\S+)", read["sanitizer"]).group(1)
    print(f"{options.date}. {read['gpu'].strip()}; compute-sanitizer {version}; the first 20 reports of each tool; attnscope's answers: "
          f"{options.ours.name}, no GPU.\n")
    print(f"{total['all']} faults: attnscope names {total['ours']} with their lines, compute-sanitizer {total['theirs']}, and reports of "
          f"{total['heard']} more something else: another line, none, or no end. {sums['sound']['all']} sound kernels: silent on "
          f"{sums['sound']['ours']} and {sums['sound']['theirs']}.\n")
    for name, tally in sorted(sums.items()):
        print(f"{name}: {tally['all']}, named by attnscope {tally['ours']}, by compute-sanitizer {tally['theirs']}" if name != "sound"
              else f"sound: {tally['all']}, silent {tally['ours']} and {tally['theirs']}")
    print("\nattnscope, compute-sanitizer, fault | the tools that say so (silent: none of the four)")
    print("\n".join(rows))


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
    two = commands.add_parser("table")
    two.add_argument("answers", type=pathlib.Path)
    two.add_argument("ours", type=pathlib.Path)
    two.add_argument("--every", type=int, default=3)
    two.add_argument("--date", required=True)
    two.set_defaults(do=table)
    options = parser.parse_args()
    return options.do(options)


if __name__ == "__main__":
    sys.exit(main())
