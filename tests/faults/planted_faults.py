"""Plants faults in sound kernels and counts those that `attnscope check` names, with their lines.

planted_faults.py PROGRAM [--faults FILE …] [--sources DIR] [--only KERNEL …] [--one-of KIND …] [--out FILE]
                  [--jobs N]

A list of faults (planted/faults.txt says how one is written) names kernels beside it, or third-party ones as
[OWNER/NAME PATH ENTRY]: DIR holds their git repositories as OWNER+NAME, fetched by the reader. --one-of takes one
fault of that kind, each in another kernel. Every kernel is checked as it is, and once with each of its faults, in a
folder that is thrown away. The exit status is 0 if every sound kernel is silent and every fault is named that is not
declared arithmetic.
"""
import argparse
import concurrent.futures
import dataclasses
import datetime
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

PLACE = r"[\w./]+:\d+(?:(?:, inlined at|, \d+ calls? below) [\w./]+:\d+)*"
PLANTED = pathlib.Path(__file__).resolve().parent / "planted"


@dataclasses.dataclass
class Fault:
    name: str
    line: int
    text: str  # with the fault
    expected: list  # (rule, lines): any of them; one line, or those of both sides of a race


@dataclasses.dataclass
class Kernel:
    name: str
    text: str
    entry: str = ""
    reference: str = ""
    problem: str = ""
    launch: str = ""  # where the file says none
    outputs: list = dataclasses.field(default_factory=list)  # that import takes for inout
    faults: list = dataclasses.field(default_factory=list)


def source_of(folder, path):
    for place in (folder / "repo", folder):
        if place.is_dir():
            for repository in (place, *place.glob("*")):
                shown = subprocess.run(["git", "-C", repository, "show", f"HEAD:{path}"], capture_output=True)
                if shown.returncode == 0:
                    return shown.stdout.decode(errors="replace")
    sys.exit(f"planted_faults.py: {folder} has no {path}")


def line_of(mark, lines):
    """A mark is the end of a line, //@mark, or the line's number."""
    if mark.isdigit():
        return int(mark)
    for number, line in enumerate(lines, 1):
        if line.rstrip().endswith("//@" + mark):
            return number
    raise ValueError(f"no line is marked {mark}")


def read(path, sources):
    kernels = []
    for number, row in enumerate(path.read_text().splitlines(), 1):
        try:
            if not row or row.startswith("#"):
                continue
            if row.startswith("["):
                words = shlex.split(row[1:-1])
                if "/" not in words[0]:
                    kernels.append(Kernel(words[0], (path.parent / (words[0] + ".cu")).read_text()))
                else:
                    text = source_of(sources / words[0].replace("/", "+"), words[1])
                    kernels.append(Kernel(" ".join(words), text, *words[2:]))
                lines = kernels[-1].text.splitlines()
                continue
            parts = [part.strip() for part in row.split(" | ")]
            if parts[0] == "reference":
                kernels[-1].reference = parts[1]
                continue
            if parts[0] == "problem":
                kernels[-1].problem = parts[1]
                continue
            if parts[0] == "launch":
                kernels[-1].launch = parts[1]
                continue
            if parts[0] == "outputs":
                kernels[-1].outputs = parts[1].split()
                continue
            name, mark, edit, said = parts
            before, after = edit.split("=>", 1)
            before, after = before.strip(), after.strip()
            line = line_of(mark, lines)
            old = lines[line - 1]
            if before not in old:
                raise ValueError(f"line {line} has no {before!r}")
            new = (old.replace(before, after, 1) if before else after + " " + old).replace("\\n", "\n")
            edited = [*lines[: line - 1], *new.split("\n"), *lines[line:]]
            expected = []
            for one in said.split(";"):
                rule, *marks = one.split()
                expected.append((rule, [line_of(m, edited) for m in marks]))
            kernels[-1].faults.append(Fault(name, line, "\n".join(edited) + "\n", expected))
        except (ValueError, IndexError) as wrong:
            sys.exit(f"{path}:{number}: {wrong}")
    return kernels


def sampled(kernels, kinds):
    """One fault of each kind, each in another kernel as far as there are enough."""
    chosen = []
    for kind in kinds:
        having = [k for k in kernels if any(fault.name == kind for fault in k.faults)]
        if not having:
            sys.exit(f"planted_faults.py: no fault is a {kind}")
        kernel = next((k for k in having if k.name not in {c.name for c in chosen}), having[0])
        faults = [fault for fault in kernel.faults if fault.name == kind][:1]
        chosen.append(dataclasses.replace(kernel, faults=faults))
    return chosen


def check(program, kernel, text):
    """What is said of a text: (rule, places, severity, sentence) of each finding or failure; the verdict's state."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "kernel.cu")
        file.write_text(text)
        entry = ["--entry", kernel.entry] if kernel.entry else []

        def run(*words):
            return subprocess.run([program, *words], capture_output=True, text=True, timeout=300)

        if kernel.reference or kernel.outputs or kernel.launch:
            made = run("import", str(file), *entry)
            manifest = file.with_suffix(".json")
            if made.returncode != 0:
                return [("import", [], "error", made.stderr.strip())], "none"
            content = json.loads(manifest.read_text())
            if kernel.launch:
                content["launch"].update(json.loads(kernel.launch))
            if kernel.reference:
                content["reference"] = json.loads(kernel.reference)
            for buffer in content["buffers"]:
                if buffer["name"] in kernel.outputs:
                    buffer["role"] = "out"
                    buffer.pop("init", None)
            manifest.write_text(json.dumps(content))
            entry = []
        problem = ["--problem", kernel.problem] if kernel.problem else []
        done = run("check", str(file), *entry, *problem, "--json")
        try:
            o = json.loads(done.stdout)
        except ValueError:
            return [("refused", [], "error", (done.stderr + done.stdout).strip())], "none"
        said = []

        def places(sentence):  # a header's line counts where it is called
            return [set(map(int, re.findall(r"\bkernel\.cu:(\d+)", place))) for place in re.findall(PLACE, sentence)]

        if o["failure"]:
            message = o["failure"]["message"]
            kind = "deadlock" if o["failure"].get("kind") == "deadlock" else "misaligned" if "not a multiple of" in message else "outside"
            said.append((kind, places(message), "error", message))
        for finding in (o["watch"] or {}).get("findings", []):
            said.append((finding["rule"], places(finding["sentence"]), finding["severity"], finding["sentence"]))
        return said, (o["verdict"] or {}).get("state", "none")


def is_at(lines, places, rule):
    """Whether a finding's places are those lines: of a race both sides, of a deadlock one of the places that wait."""
    if rule == "deadlock":
        return any(lines[0] in place for place in places)
    if not lines or len(places) != len(lines):
        return len(lines) > 0 and len(places) == 1 and all(line in places[0] for line in lines)
    return any(all(line in place for line, place in zip(order, places)) for order in (lines, lines[::-1]))


def named(fault, said):
    """The first finding that the fault's author expects."""
    for rule, places, severity, sentence in said:
        if any(rule == r and is_at(lines, places, rule) for r, lines in fault.expected):
            return rule, places, severity, sentence
    return None


def judged(program, kernel, fault):
    said, state = check(program, kernel, fault.text if fault else kernel.text)
    if fault is None:
        told = [one for one in said if one[2] != "info"]
        return "silent" if not told and state != "wrong" else "false", said
    if ("arithmetic", []) in fault.expected:
        return "wrong" if state == "wrong" else "arithmetic", said
    found = named(fault, said)
    if found:
        return ("named" if found[2] == "error" else "warned"), said
    if state == "wrong" and not said:
        return "wrong only", said
    return ("other" if said else "missed"), said


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--faults", action="append", type=pathlib.Path)
    options.add_argument("--sources", type=pathlib.Path, default=pathlib.Path("."))
    options.add_argument("--only", action="append")
    options.add_argument("--one-of", action="append")
    options.add_argument("--out", type=pathlib.Path)
    options.add_argument("--jobs", type=int, default=2)
    given = options.parse_args()
    kernels = [k for path in given.faults or [PLANTED / "faults.txt"] for k in read(path, given.sources)]
    if given.only:
        kernels = [k for k in kernels if k.name in given.only]
    if given.one_of:
        kernels = sampled(kernels, given.one_of)
    cases = [(kernel, fault) for kernel in kernels for fault in [None, *kernel.faults]]
    if not cases:
        sys.exit("planted_faults.py: no kernel of that name")
    with tempfile.TemporaryDirectory() as home, concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        os.environ["ATTNSCOPE_HOME"] = home
        results = list(pool.map(lambda case: judged(given.program, *case), cases))

    rows, kinds, good = [], {}, True
    for (kernel, fault), (answer, said) in zip(cases, results):
        what = f"{fault.name}, line {fault.line}" if fault else "sound"
        rows.append(f"{answer:<11} {kernel.name}: {what}")
        tally = kinds.setdefault(fault.name if fault else "sound", {})
        tally[answer] = tally.get(answer, 0) + 1
        if answer in ("named", "warned", "silent", "wrong", "arithmetic"):
            continue
        good = False
        wanted = "; ".join(f"{r} {l}" for r, l in fault.expected) if fault else "silence"
        rows.append(f"            wanted {wanted}")
        rows += [f"            said {severity}: {sentence} [{rule}]" for rule, _, severity, sentence in said]
    sums = [f"{kind}: " + ", ".join(f"{n} {answer}" for answer, n in sorted(tally.items())) for kind, tally in sorted(kinds.items())]
    planted_count = sum(1 for _, fault in cases if fault)
    found = sum(1 for answer, _ in results if answer in ("named", "warned"))
    warned = sum(1 for answer, _ in results if answer == "warned")
    arithmetic = sum(1 for answer, _ in results if answer in ("wrong", "arithmetic"))
    head = (f"{len(kernels)} kernels, {planted_count} planted faults: {found} named with their lines, "
            f"{warned} of these as a warning, "
            f"{arithmetic} of arithmetic only, {planted_count - found - arithmetic} not named; "
            f"{sum(1 for answer, _ in results if answer == 'silent')} of {len(kernels)} sound ones silent")
    text = "\n".join([head, "", *sums, "", *rows]) + "\n"
    print(text, end="")
    if given.out:
        words = ["DIR" if word == str(given.sources) else word for word in sys.argv[2:]]
        shown = " ".join(["planted_faults.py PROGRAM", *words])
        date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
        given.out.write_text(f"Planted faults (tests/faults/planted_faults.py).\n{date}. Command: {shown}\n\n{text}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
