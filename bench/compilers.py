#!/usr/bin/env python3
"""What nvcc and NVRTC of one version make of the same kernels: warp instructions, registers and spills.

compilers.py PROGRAM --sources DIR [--device emulated:l4] [--out bench/results/compilers.json]

The program's own kernels with their default config, then the reports'. DIR holds their git repository, OWNER+NAME, fetched by
the reader; nothing of it is committed here. Their files are taken from the commits that published_sources.py names, with
their macros as knobs. Each kernel is compiled twice from the same text and run twice by the emulator, which counts.
$ATTNSCOPE_NVRTC and $ATTNSCOPE_NVCC choose the two compilers; a recording is only made of equal major and minor versions.
"""
import argparse
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile

from published_sources import LIGHT, PHASE4, PHASE5, REPORTS, put_asked, write

ATTENTION, GEMM = "B=1,H=8,S=512,D=64", None
OWN = [("minimal", ATTENTION), ("tiled", ATTENTION), ("scalar", ATTENTION), ("wmma", ATTENTION), ("mma", ATTENTION), ("cute", ATTENTION),
       ("gemm_simt", GEMM), ("gemm_tensorop", GEMM)]
OF_REPORTS = [(PHASE4, {}), (PHASE4, {"NUM_WARPS": 8}), (LIGHT, {}), (PHASE5, {})]

arguments = argparse.ArgumentParser()
arguments.add_argument("program")
arguments.add_argument("--sources", required=True)
arguments.add_argument("--device", default="emulated:l4")
arguments.add_argument("--out", default="bench/results/compilers.json")


def run(options, *words):
    return subprocess.run([options.program, *words], capture_output=True, text=True, timeout=1200)


def counted(options, words):
    """{compiler: figures} of the same kernel, or why one of them gives none."""
    figures = {}
    for compiler in ("nvrtc", "nvcc"):
        done = run(options, "run", *words, "--device", options.device, "--option", f"compiler={compiler}", "--no-watch", "--json")
        seen = json.loads(done.stdout) if done.stdout.strip() else {}
        if not seen.get("counters"):
            said = (seen.get("failure") or {}).get("message") or (done.stderr.strip().splitlines() or ["no answer"])[0]
            return {"refused": f"{compiler}: {said}"}
        variant = seen["variant"]
        figures[compiler] = {"by": variant["compiler"], "warp_instructions": seen["counters"]["instructions"]["total"],
                             "registers": variant["registers"], "spilled": variant["spill_bytes"], "code": variant["code_hash"]}
    return figures


def own(options, kernel, problem):
    words = ["--kernel", kernel] + (["--problem", problem] if problem else [])
    return {"kernel": kernel, "problem": problem} | counted(options, words)


def of_reports(options, source, knobs):
    with tempfile.TemporaryDirectory() as folder:
        put_asked(pathlib.Path(folder), options.sources, source)
        words = ["--kernels", folder, "--kernel", "asked", "--problem", ATTENTION]
        for knob, value in knobs.items():
            words += ["--set", f"{knob}={value}"]
        return {"repository": REPORTS.replace("+", "/"), "commit": source["commit"], "file": source["file"], "kernel": source["entry"],
                "knobs": knobs, "problem": ATTENTION} | counted(options, words)


def main():
    options = arguments.parse_args()
    rows = [own(options, *one) for one in OWN] + [of_reports(options, *one) for one in OF_REPORTS]
    versions = {row[compiler]["by"] for row in rows for compiler in ("nvrtc", "nvcc") if compiler in row}
    if len({tuple(version.split()[1].split(".")[:2]) for version in versions}) != 1:
        sys.exit(f"compilers.py: {', '.join(sorted(versions))} are not of one version; set $ATTNSCOPE_NVRTC")
    head = {"command": f"bench/compilers.py PROGRAM --sources DIR --device {options.device}", "date": datetime.date.today().isoformat(),
            "compilers": sorted(versions)}
    write(pathlib.Path(options.out), head, {"kernels": rows})


if __name__ == "__main__":
    main()
