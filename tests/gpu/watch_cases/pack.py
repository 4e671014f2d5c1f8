#!/usr/bin/env python3
"""Compiles the watch cases (tests/data/watch/*.cu) and packs sources, cubins and disassembly, for tests without a compiler.

    tests/gpu/watch_cases/pack.py            needs nvcc and nvdisasm (PATH, or NVCC and NVDISASM)
"""
import io
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[3]
CASES = TREE / "tests" / "data" / "watch"
ARCHITECTURES = (80, 89, 90)
DISASSEMBLERS = ("nvdisasm", str(pathlib.Path.home() / ".cache/attnscope/cuda/bin/nvdisasm"))


def tool(name: str, *places: str) -> str:
    for place in (os.environ.get(name.upper()), *places):
        if place and shutil.which(place):
            return place
    raise SystemExit(f"{name} was not found: set {name.upper()}")


def add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(f"watch/{name}")
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))


def main() -> None:
    nvcc = tool("nvcc", "nvcc", "/usr/local/cuda/bin/nvcc")
    nvdisasm = tool("nvdisasm", *DISASSEMBLERS)
    with tempfile.TemporaryDirectory() as folder, tarfile.open(CASES / "cases.tar.xz", "w:xz") as archive:
        for source in sorted(CASES.glob("*.cu")):
            add(archive, source.name, source.read_bytes())
            for arch in ARCHITECTURES:
                cubin = pathlib.Path(folder) / f"{source.stem}_sm{arch}.cubin"
                subprocess.run([nvcc, f"-arch=sm_{arch}", "-lineinfo", "-cubin", "-o", cubin, source.name], check=True,
                               cwd=CASES)
                text = subprocess.run([nvdisasm, "-c", "-hex", "-gi", cubin], check=True, capture_output=True).stdout
                add(archive, cubin.name, cubin.read_bytes())
                add(archive, cubin.stem + ".txt", text.replace(str(CASES).encode() + b"/", b""))
    print(f"{CASES / 'cases.tar.xz'}: {(CASES / 'cases.tar.xz').stat().st_size} bytes")


if __name__ == "__main__":
    main()
