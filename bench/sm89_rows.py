"""How far off the model is on published times of GEMM and attention kernels on four sm_89 GPUs.

    python3 -B bench/sm89_rows.py SOURCES --program build/release/attnscope --out bench/results/model_sm89.json
    python3 -B bench/sm89_rows.py SOURCES --program build/release/attnscope --judge
    python3 -B bench/sm89_rows.py --report

SOURCES is a folder that holds a clone of each repository as OWNER+NAME (bare or not); without one, nothing runs, and the reason is said
(exit status 77). bench/results/model_sm89.json has the rows: repository, commit, the file that reports the time, kernel, device, sizes and
time. bench/sm89_sources.py has the manifest of each kernel. A kernel is loaded from its commit into a folder that is removed afterwards,
with its project's headers pasted in, and modelled for the emulated device, one CTA of it in the emulator. Nothing of the repositories is
kept but figures. --judge models nothing: each kernel runs whole at small sizes and its output is compared with an fp64 reference, which
tells whether its manifest is right. The exit status is 1 if a row is refused or an output is wrong.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import functools
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

from l4_rows import has_history, pasted
from model_bars import ROOT, percent, quantile, rank_correlation
from sm89_sources import KERNELS

SKIPPED = 77
ROWS = ROOT / "bench/results/model_sm89.json"
CTAS = 1  # that the emulator runs of a grid: all of one do the same, and four give the same times
APART = 0.05  # of two reported times whose order counts
FEWEST = 4  # kernels of one problem for a rank correlation
MEMORY = ("global_load", "global_store", "shared_load", "shared_store", "local_load", "local_store", "atomic")
FIGURES = {"nvrtc": ("modelled_us", "bound", "registers", "ctas", "ctas_per_sm", "memory_instructions_cta", "terms", "refused"),
           "nvcc": ("nvcc_us", "nvcc_refused")}
REFUSED = {"nvrtc": "refused", "nvcc": "nvcc_refused"}


def checkout_of(sources, repository):
    """None if the folder holds none."""
    folder = sources / repository.replace("/", "+")
    return next((place for place in (folder / "repo", folder) if has_history(place)), None)


def ctas_of(kernel, sizes):
    names = {"ceil_div": lambda a, b: -(-a // b), **sizes}
    return math.prod(part if isinstance(part, int) else eval(part, {"__builtins__": {}}, names) for part in kernel.grid)


def run(program, source, kernel, preset, judged=False):
    """What the program prints of one run, or the reason why there is nothing."""
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "kernels").mkdir()
        (work / "kernels/published.cu").write_text(source)
        (work / "kernels/published.json").write_text(json.dumps(kernel.manifest("published", judged)))
        (work / "preset.json").write_text(json.dumps({"attnscope_preset": 1, "title": "x", "kernel": "published", "problem": {"kind": "custom"}, **preset}))
        command = [program, "run", "--kernels", work / "kernels", "--preset", work / "preset.json", "--no-watch", "--json", "--deadline", "600000"]
        # A history of its own: nothing of these runs stays.
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "XDG_DATA_HOME": str(work / "history")})
    if not done.stdout.strip():
        return " ".join(done.stderr.split())[:300]
    seen = json.loads(done.stdout)
    return seen["failure"]["message"][:300] if seen.get("failure") else seen


def with_source(sources, repository, commit, kernel):
    checkout = checkout_of(sources, repository)
    if checkout is None:
        return None, f"no checkout of https://github.com/{repository}"
    text = pasted(checkout, commit, kernel.file, kernel.include)
    return text, text or f"the checkout has no {kernel.file} at {commit[:7]}"


def for_nvcc(text, kernel):
    """A template goes by its own name, and a kernel that names it instantiates it: the program does not find one whose parameters repeat a type."""
    name = kernel.entry.split("<")[0]
    if name == kernel.entry:
        return text, kernel
    mark = f"\ntemplate <auto> __global__ void as_published() {{}}\ntemplate __global__ void as_published<&{kernel.entry}>();\n"
    return text + mark, dataclasses.replace(kernel, entry=name)


def model(program, sources, row, compiler):
    """The row's new figures."""
    kernel = KERNELS[row["repository"]].get(row["kernel"])
    if kernel is None:
        return {REFUSED[compiler]: f"{row['kernel']} has no manifest here"}
    text, said = with_source(sources, row["repository"], row["commit"], kernel)
    if text is None:
        return {REFUSED[compiler]: said}
    kernel = dataclasses.replace(kernel, sizes=row["sizes"])
    if compiler == "nvcc":
        text, kernel = for_nvcc(text, kernel)
    seen = run(program, text, kernel, {"device": f"emulated:{row['device']}", "options": {**kernel.options, "compiler": compiler},
                                       "measure": {"sampled_share": min(1.0, CTAS / ctas_of(kernel, row["sizes"]))}})
    if isinstance(seen, str):
        return {REFUSED[compiler]: seen}
    timing = seen["timing"]
    if compiler == "nvcc":
        return {"nvcc_us": round(timing["us"]["p50"], 2)}
    main = (seen.get("launches") or [seen])[-1]
    terms = (main["timing"].get("terms") or {"list": []})["list"]
    counted = main["counters"]
    return {"modelled_us": round(timing["us"]["p50"], 2), "bound": main["timing"]["bound"], "registers": main["variant"]["registers"],
            "ctas": counted["total_ctas"], "ctas_per_sm": main["occupancy"]["ctas_per_sm"],
            "memory_instructions_cta": round(sum(counted["instructions"].get(name, 0) for name in MEMORY) / counted["emulated_ctas"]),
            "terms": {term["kind"]: round(term["us"] / main["timing"]["us"]["p50"], 3) for term in terms}}


def judge(program, sources, commits):
    """A line for each kernel and whether all are right."""
    right = True
    for repository, commit in commits.items():
        for name, kernel in KERNELS[repository].items():
            text, said = with_source(sources, repository, commit, kernel)
            seen = said if text is None else run(program, text, kernel, {"device": "emulated:rtx4090"}, judged=True)
            verdict = seen if isinstance(seen, str) else seen["verdict"]["state"]
            right &= verdict == ("wrong" if kernel.flaw else "correct")
            print(f"{repository} {name}: {verdict}{f', as published: {kernel.flaw}' if kernel.flaw else ''}", flush=True)
    return right


def ratio(row, us="modelled_us"):
    return row[us] / row["reported_us"]


def counts(row, us="modelled_us"):
    """Whether the row is one of those that the figures are about."""
    return us in row and "left_out" not in row


@functools.cache
def device(name):
    return json.loads((ROOT / f"assets/devices/{name}.json").read_text())


def load_store_us(row):
    """What the SM with the most CTAs needs for its memory instructions if 32 lanes take 32 / lsu clocks. The model has no such limit."""
    spec = device(row["device"])
    clocks = math.ceil(row["ctas"] / spec["sms"]) * row["memory_instructions_cta"] * 32 / spec["rates"]["lsu"]
    return clocks / spec["clock_mhz"]


def groups_of(rows, us):
    """Kernels of one repository at one problem on one device."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["repository"], row["device"], json.dumps(row["sizes"])].append({"us": row["reported_us"], "modelled": row[us]})
    return list(groups.values())


def order(rows, us="modelled_us"):
    """Pairs of one group that are apart, how many of them the model orders rightly, and the mean rank correlation of groups that are large enough."""
    pairs = right = 0
    ranked = []
    for group in groups_of(rows, us):
        for a, b in itertools.combinations(group, 2):
            if max(a["us"], b["us"]) > (1 + APART) * min(a["us"], b["us"]):
                pairs += 1
                right += (a["us"] < b["us"]) == (a["modelled"] < b["modelled"])
        if len(group) >= FEWEST:
            ranked.append(rank_correlation(group))
    return pairs, right, sum(ranked) / len(ranked) if ranked else None


def table(groups, name):
    """Of (name, rows, the time that is compared)."""
    lines = [f"| {name} | rows | mean error | median | 90th percentile | modelled / reported, median | pairs over 5 % apart | ordered rightly | rank correlation |",
             "| --- " * 9 + "|"]
    for of, rows, us in groups:
        some = [row for row in rows if counts(row, us)]
        if not some:
            continue
        errors = [abs(ratio(row, us) - 1) for row in some]
        pairs, right, ranks = order(some, us)
        lines.append(f"| {of} | {len(some)} | {percent(sum(errors) / len(errors))} | {percent(quantile(errors, 0.5))} | {percent(quantile(errors, 0.9))} | "
                     f"{quantile([ratio(row, us) for row in some], 0.5):.2f} | {pairs} | {percent(right / pairs) if pairs else ''} | {'' if ranks is None else f'{ranks:.2f}'} |")
    return lines


def parts(rows, key, us="modelled_us"):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return [(name, some, us) for name, some in sorted(groups.items())]


def by_device(rows):
    """By device with NVRTC's code, and all with the code of nvcc, which compiled what was timed."""
    return table([("all, by NVRTC", rows, "modelled_us"), ("all, by nvcc", rows, "nvcc_us"),
                  *parts(rows, lambda row: device(row["device"])["name"].removeprefix("NVIDIA "), "nvcc_us")], "device")


def what_it_is(row):
    return "attention" if "heads" in row["sizes"] else "GEMM"


def by_source(rows):
    return table(parts(rows, lambda row: f"{row['repository']}, {what_it_is(row)}, {row['device']}", "nvcc_us"), "source")


def problem(row):
    return ",".join(f"{name}={value}" for name, value in row["sizes"].items())


def line(row):
    start = f"| {row['repository'].split('/')[1]} {row['kernel']} | {row['device']} | {problem(row)} | {row['reported_us']:.1f} |"
    if "modelled_us" not in row:
        return f"{start} {row.get('left_out') or ('refused: ' + row['refused'] if 'refused' in row else 'not modelled yet')} |"
    nvcc = f"{row['nvcc_us']:.1f} | {ratio(row, 'nvcc_us'):.2f}" if "nvcc_us" in row else row.get("nvcc_refused", "") + " |"
    return (f"{start} {row['modelled_us']:.1f} | {ratio(row):.2f} | {nvcc} | {load_store_us(row) / row['reported_us']:.2f} | "
            f"{row['bound']} |")


def report(data):
    """By device, by source, and each row."""
    heading = ["| kernel | device | problem | reported us | by NVRTC us | / reported | by nvcc us | / reported | load/store units / reported | bound |",
               "| --- " * 10 + "|"]
    return [*by_device(data["rows"]), "", *by_source(data["rows"]), "", *heading, *map(line, data["rows"])]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", type=pathlib.Path, nargs="?")
    parser.add_argument("--program", default="build/release/attnscope")
    parser.add_argument("--rows", type=pathlib.Path, default=ROWS)
    parser.add_argument("--only", action="append", metavar="OWNER/NAME", help="the rows of this repository")
    parser.add_argument("--compiler", choices=("nvrtc", "nvcc"), default="nvrtc")
    parser.add_argument("--missing", action="store_true", help="only the rows that have no time yet")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, help="write the rows with their new times there")
    parser.add_argument("--judge", action="store_true", help="model nothing; say whether each kernel's output is right at small sizes")
    parser.add_argument("--report", action="store_true", help="model nothing; say what the file of rows holds")
    options = parser.parse_args(arguments)
    data = json.loads(options.rows.read_text())
    if options.report:
        print("\n".join(report(data)))
        return
    wanted = [row for row in data["rows"] if (not options.only or row["repository"] in options.only) and
              not (options.missing and FIGURES[options.compiler][0] in row) and "left_out" not in row]
    if options.sources is None or not any(checkout_of(options.sources, row["repository"]) for row in wanted):
        print("skipped: no checkout of " + ", ".join(sorted({f"https://github.com/{row['repository']}" for row in wanted})) + " was named", file=sys.stderr)
        sys.exit(SKIPPED)
    if options.judge:
        sys.exit(0 if judge(options.program, options.sources, {row["repository"]: row["commit"] for row in wanted}) else 1)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = {pool.submit(model, options.program, options.sources, row, options.compiler): row for row in wanted}
        for job in concurrent.futures.as_completed(jobs):
            row = jobs[job]
            for key in FIGURES[options.compiler]:
                row.pop(key, None)
            row.update(job.result())
            print(line(row), flush=True)
            if options.out:
                options.out.write_text(as_text(data))
    print("\n" + "\n".join(by_device(wanted)))
    if any(REFUSED[options.compiler] in row for row in wanted):
        sys.exit(1)


def as_text(data):
    """A line for each row."""
    head = json.dumps({key: value for key, value in data.items() if key != "rows"}, indent=1, ensure_ascii=False)[:-2]
    return head + ',\n "rows": [\n' + ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in data["rows"]) + "\n ]\n}\n"


if __name__ == "__main__":
    main()
