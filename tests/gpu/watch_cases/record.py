#!/usr/bin/env python3
"""Runs the watch cases (tests/data/watch) under compute-sanitizer's four tools, and keeps their reports.

    record.py run OUT [SANITIZER]     on a machine with a GPU of compute capability 9.0: raw logs and about.json into OUT;
                                      SANITIZER: the program, if not the one on PATH
    record.py pack OUT > tests/data/watch/sanitizer.json     anywhere: the logs as one small file

The cubins are those of cases.tar.xz, the ones that the emulator's test runs. Cases that would hang a GPU are left out;
those that end in a fault run only under memcheck.
"""
import concurrent.futures
import datetime
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE.parents[1] / "data" / "watch"
TOOLS = {
    "memcheck": ["--destroy-on-device-error", "kernel"],
    "racecheck": ["--racecheck-report", "analysis", "--print-level", "info", "--racecheck-detect-level", "info"],
    "initcheck": ["--initcheck-address-space", "all"],
    "synccheck": [],
}
AT_ONCE = 12  # checkers that run side by side
LONGEST_S = 40


def cases():
    """(file, kernel, grid, block, dynamic, filled, expected result), in the order of the files."""
    found = []
    for path in sorted(CASES.glob("*.cu")):
        lines = path.read_text().splitlines()
        for head, kernel in zip(lines, lines[1:]):
            if not head.startswith("//@ "):
                continue
            launch, _, expected = head[4:].partition(" : ")
            values = dict(word.split("=") for word in launch.split())
            name = re.search(r"void (\w+)\(", kernel).group(1)
            found.append((path.stem, name, int(values.get("grid", 1)), int(values["block"]),
                          int(values.get("dynamic", 0)), int(values.get("filled", 1)), expected))
    return found


def runs_under(tool: str, expected: str) -> bool:
    if expected.startswith("failure deadline"):
        return False
    return tool == "memcheck" or not expected.startswith("failure")


def check(sanitizer: str, tool: str, options: list, stem: str, chosen: list, folder: pathlib.Path, out: pathlib.Path):
    """Runs all of a file's cases under one tool; after a launch that ended the process's context it starts a new process."""
    todo = folder / f"{tool}_{stem}.txt"
    todo.write_text("".join(" ".join(map(str, case[:6])) + "\n" for case in chosen))
    log, start = "", 0
    while start < len(chosen):
        command = [sanitizer, "--tool", tool, "--print-limit", "0", "--show-backtrace", "device", *options,
                   str(folder / "run_cases"), str(folder / "watch"), str(todo), str(start)]
        errors = out / f"{tool}_{stem}.err"
        with open(errors, "w+") as said:
            try:
                log += subprocess.run(command, stdout=subprocess.PIPE, stderr=said, text=True, timeout=LONGEST_S).stdout
            except subprocess.TimeoutExpired as late:
                log += (late.stdout or b"").decode() + f"no end within {LONGEST_S} s\n"
            said.seek(0)
            progress = said.read()
        begun = len(re.findall(r"^case ", progress, re.M))
        log += progress
        if begun == 0:
            break
        start += begun
    errors.unlink(missing_ok=True)
    (out / f"{tool}_{stem}.log").write_text(log)


def run(out: pathlib.Path, sanitizer: str) -> None:
    out.mkdir(parents=True, exist_ok=True)
    known = subprocess.run([sanitizer, "--help"], capture_output=True, text=True).stdout
    tools = {}
    for tool, options in TOOLS.items():
        kept = []
        for option, value in zip(options[::2], options[1::2]):
            if option in known:
                kept += [option, value]
        tools[tool] = kept
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with tarfile.open(CASES / "cases.tar.xz") as archive:
            archive.extractall(folder)
        cuda = pathlib.Path(shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc").resolve().parents[1]
        subprocess.run(["g++", "-O1", "-std=c++20", HERE / "run_cases.cpp", f"-I{cuda}/include", "-o",
                        folder / "run_cases", f"-L{cuda}/lib64/stubs", "-lcuda"], check=True)
        jobs = []
        for tool, options in tools.items():
            for stem in sorted({case[0] for case in cases()}):
                chosen = [case for case in cases() if case[0] == stem and runs_under(tool, case[6])]
                if chosen:
                    jobs.append((sanitizer, tool, options, stem, chosen, folder, out))
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for job in [pool.submit(check, *job) for job in jobs]:
                job.result()
    version = subprocess.run([sanitizer, "--version"], capture_output=True, text=True).stdout
    machine = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                             capture_output=True, text=True).stdout.strip()
    about = {"command": "tests/gpu/watch_cases/record.py run",
             "options": {tool: " ".join(options) for tool, options in tools.items()},
             "sanitizer": re.search(r"Version (.*)", version).group(1), "machine": machine,
             "date": datetime.date.today().isoformat(),
             "cases": {tool: [f"{case[0]}.{case[1]}" for case in cases() if runs_under(tool, case[6])] for tool in tools}}
    (out / "about.json").write_text(json.dumps(about, indent=1) + "\n")


PLACE = re.compile(r"at ([^+]*)\+0x[0-9a-f]+ in ([\w.]+):(\d+)|Frame: ([^+]*)\+0x[0-9a-f]+ in ([\w.]+):(\d+)")


def places(text: str):
    """(function without its parameters, file, line) of every named place."""
    for one in PLACE.finditer(text):
        name, file, line = (part for part in one.groups() if part is not None)
        yield name.split("(")[0].strip(), file, int(line)


def pack(out: pathlib.Path) -> None:
    about = json.loads((out / "about.json").read_text())
    kernels = {case[1]: f"{case[0]}.{case[1]}" for case in cases()}
    said = {}
    for tool in TOOLS:
        for path in sorted(out.glob(f"{tool}_*.log")):
            stem = path.stem.split("_", 1)[1]
            for record in re.split(r"^========= *\n", path.read_text(), flags=re.M):
                head = re.search(r"^=+ (?:(Error|Warning|Info): )?(Race reported|Invalid|Misaligned|Uninitialized|Barrier error)",
                                 record, re.M)
                if not head:
                    continue
                where = list(places(record))
                case = next((kernels[name] for name, _, _ in where if name in kernels), None)
                if case is None:
                    raise SystemExit(f"{path.name}: whose is this?\n{record}")
                lines = [line for _, file, line in where if file == f"{stem}.cu"]
                if head.group(2) == "Race reported":  # two sides; other named places are their callers
                    lines = lines[:2]
                else:
                    lines = lines[:1]
                word = {"tool": tool, "level": (head.group(1) or "Error").lower(), "lines": sorted(lines)}
                if word not in said.setdefault(case, []):
                    said[case].append(word)
    judged = about.pop("cases")
    names = [f"{case[0]}.{case[1]}" for case in cases()]
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(said.get(name, []))}" for name in names
                      if any(name in judged[tool] for tool in TOOLS))
    print("{\n" + f' "about": {json.dumps(about)},\n "said": {{\n{rows}\n }}\n' + "}")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "pack":
        pack(pathlib.Path(sys.argv[2]))
        sys.exit(0)
    if len(sys.argv) in (3, 4) and sys.argv[1] == "run":
        run(pathlib.Path(sys.argv[2]), sys.argv[3] if len(sys.argv) == 4 else "compute-sanitizer")
    else:
        raise SystemExit(__doc__)
