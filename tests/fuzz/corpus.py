#!/usr/bin/env python3
"""Seeds for libFuzzer: our own kernels' machine code.

    corpus.py OUT [INCLUDE]...     OUT/cubin: cubins of every rung in its default config and of tests/data, sm_80, sm_89,
                                   sm_90; OUT/decoder: pieces of their instructions, in the form of machine_code.h;
                                   OUT/decoder.dict: the words they are made of

Needs nvcc and nvdisasm in PATH, and CUTLASS' headers in an INCLUDE folder: a rung that does not compile without them is
left out and named.
"""
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ARCHITECTURES = {80: "8", 89: "L", 90: "H"}
LINES = 8  # per piece: few, so that a case is quick


def value_of(knob):
    for value in knob["values"]:
        if isinstance(value, dict) and value["label"] == knob["default"]:
            return value["value"]
    return knob["default"]


def compile_rung(manifest, arch, folder, includes):
    kernel = json.loads(manifest.read_text())
    if "source" not in kernel:
        return None  # a library's routine
    macros = {"HEAD_DIM": 64, "CAUSAL": 0, "DTYPE": 0, "ATTN_T": "half"}
    macros.update({knob["name"]: value_of(knob) for knob in kernel["knobs"]})
    out = folder / f"{kernel['id']}_sm{arch}.cubin"
    done = subprocess.run(["nvcc", "-cubin", "-std=c++17", f"-arch=sm_{arch}", "-lineinfo", "-o", out,
                           *(f"-I{include}" for include in includes), *(f"-D{name}={value}" for name, value in macros.items()),
                           manifest.parent / kernel["source"]],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(f"{kernel['id']} for sm_{arch} left out: {done.stderr.strip().splitlines()[0]}")
        return None
    return out


def pieces_of(listing, arch):
    """Runs of instructions with their encodings, labels and locations."""
    lines, pieces = [], []
    first = None
    for line in listing.splitlines():
        if line.startswith("//-----"):
            lines.append(None)  # another function
        elif match := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?)\s*/\* 0x([0-9a-f]{16}) \*/", line):
            first = match
        elif first and (match := re.match(r"\s*/\* 0x([0-9a-f]{16}) \*/", line)):
            lines.append(f"{first[2]}{match[1]} {first[1]}")
            first = None
        elif re.match(r"\.L_x_\d+:", line) or "//## File" in line:
            lines.append(line.strip())
    piece = []
    for line in [*lines, None]:
        if line is not None:
            piece.append(line)
        if piece and (line is None or len(piece) == LINES):
            named = set(re.findall(r"`\((\.L_x_\d+)\)", "\n".join(piece)))
            labels = [f"{label}:" for label in sorted(named) if f"{label}:" not in piece]
            pieces.append("\n".join([ARCHITECTURES[arch], *labels, *piece]) + "\n")
            piece = []
    return pieces


def main():
    out = pathlib.Path(sys.argv[1])
    for name in ("cubin", "decoder"):
        (out / name).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(compile_rung, manifest, arch, pathlib.Path(folder), sys.argv[2:])
                for manifest in sorted((ROOT / "kernels").glob("*.json")) for arch in ARCHITECTURES]
        cubins = [cubin for job in jobs if (cubin := job.result())]
        cubins += [*(ROOT / "tests/data").glob("compile/*.cubin"), *(ROOT / "tests/data").glob("emulator/*.cubin")]
        for cubin in cubins:
            (out / "cubin" / cubin.name).write_bytes(cubin.read_bytes())
            arch = int(re.search(r"sm_?(\d\d)", cubin.name)[1])
            listing = subprocess.run(["nvdisasm", "-c", "-hex", "-gi", cubin], check=True, stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, text=True).stdout
            for number, piece in enumerate(pieces_of(listing, arch)):
                (out / "decoder" / f"{cubin.stem}_{number:04}").write_text(piece)
    words = sorted({word for path in (out / "decoder").iterdir()
                    for line in path.read_text().splitlines() for word in re.findall(r"[A-Z][A-Z0-9_.]{2,}", line[33:])})
    (out / "decoder.dict").write_text("".join(f'"{word}"\n' for word in words))
    print(f"{len(cubins)} cubins, {len(list((out / 'decoder').iterdir()))} pieces, {len(words)} words")


if __name__ == "__main__":
    main()
