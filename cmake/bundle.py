"""Packs the program and everything that it needs on another Linux into one archive, attnscope-<version>-x86_64.tar.gz.

    python3 cmake/bundle.py --program build/release/attnscope --cache ~/.cache/attnscope --out build

Contents: bin/attnscope; lib/attnscope with the less common libraries; share/attnscope with kernels, presets, assets and
shaders; NVRTC and the headers that NVIDIA's terms name as distributable (NOTICE quotes them); and the compiled variants and
decoded programs of the shipped presets, so that they run without nvdisasm and without the headers that may not be shipped.
The program itself makes these.
"""
import argparse
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARED = ["assets", "kernels", "presets", "shaders"]
# Attachment A of NVIDIA's CUDA Toolkit EULA names libnvrtc.so, libnvrtc-builtins.so, cuda_fp16.h and cuda_fp16.hpp.
# cuda_fp16.h includes nv/target, which is libcu++'s: Apache 2.0 with the LLVM exception.
NVIDIA_FILES = ["lib/libnvrtc.so.*", "lib/libnvrtc-builtins.so.*", "include/cuda_fp16.h", "include/cuda_fp16.hpp",
                "include/nv/target", "include/nv/detail/*"]
# Libraries that every Linux has that can run the program.
OF_THE_SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2",
                 "libstdc++.so.6", "libgcc_s.so.1"}
OLDEST_GLIBC = (2, 36)
SMALL = {"attention": "H=1,S=64", "gemm": "B=1,M=64,N=64"}  # a preset's code does not depend on these sizes


def say(text):
    print(f"{pathlib.Path(sys.argv[0]).stem}: {text}", file=sys.stderr, flush=True)


def stop(text):
    say(text)
    sys.exit(1)


def output_of(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **more).stdout


def copy_tracked(folder, to):
    """The folder's files: those that git tracks, or all of them outside a checkout."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "--", folder], capture_output=True, text=True)
    names = [name for name in listed.stdout.split("\0") if name] if listed.returncode == 0 else []
    for name in names or [str(p.relative_to(ROOT)) for p in (ROOT / folder).rglob("*") if p.is_file()]:
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def check_needs(binaries, carried):
    """Refuses a binary that needs an uncommon library, and returns the oldest glibc that it runs with."""
    newest = (2, 0)
    for binary in binaries:
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", binary)):
            if name not in OF_THE_SYSTEM | carried:
                stop(f"{binary.name} needs {name}, which is neither carried nor part of every system.")
        for version in re.findall(r"GLIBC_([0-9]+)\.([0-9]+)", output_of("readelf", "-V", binary)):
            newest = max(newest, tuple(map(int, version)))
    return newest


def place_program(program, top):
    """The stripped program, the libraries that it carries and its data, laid out as it expects them below `top`. Says the
    oldest glibc that it runs with, as (2, 36)."""
    (top / "bin").mkdir(parents=True)
    (top / "lib" / "attnscope").mkdir(parents=True)
    shutil.copy2(program, top / "bin" / "attnscope")
    for library in (program.parent / "lib").glob("lib*.so*"):
        shutil.copy2(library, top / "lib" / "attnscope" / library.name)
    binaries = [top / "bin" / "attnscope", *(top / "lib" / "attnscope").iterdir()]
    subprocess.run(["strip", "--strip-unneeded", *map(str, binaries)], check=True)
    for folder in SHARED:
        copy_tracked(folder, top / "share" / "attnscope")
    return check_needs(binaries, {path.name for path in binaries[1:]})


def place_desktop_entry(share):
    """Where a desktop looks, once share/ is in XDG_DATA_DIRS or both files are linked below ~/.local/share."""
    for name, folder in {"attnscope.desktop": "applications", "attnscope.svg": "icons/hicolor/scalable/apps"}.items():
        (share / folder).mkdir(parents=True)
        shutil.copy2(ROOT / "assets" / "desktop" / name, share / folder / name)


def place_cuda(cache, versions, share):
    for version in versions:
        source = cache / "cuda" / version
        found = [path for pattern in NVIDIA_FILES for path in source.glob(pattern) if path.is_file()]
        if not any(path.parent.name == "lib" for path in found):
            stop(f"{source} holds no NVRTC: run ./dev setup.")
        for path in found:
            to = share / "cuda" / version / path.relative_to(source)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to)


class Programs:
    """Runs presets of the unpacked bundle and keeps their compiled variants and decoded programs."""

    def __init__(self, top, fetched):
        self.top, self.fetched = top, fetched
        assets = top / "share" / "attnscope" / "assets"
        self.programs, self.variants = assets / "programs", assets / "variants"
        self.programs.mkdir(parents=True)
        self.variants.mkdir()

    def run(self, home, cuda, *words):
        nvrtc = next((self.fetched / cuda / "lib").glob("libnvrtc.so.*"))  # the headers beside it are complete
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "ATTNSCOPE_HOME": str(home), "ATTNSCOPE_NO_TOOLKIT": "1",
                       "ATTNSCOPE_NVRTC": str(nvrtc), "ATTNSCOPE_NVDISASM": str(self.fetched / "bin" / "nvdisasm"),
                       "ATTNSCOPE_CUTLASS": str(self.fetched / "cutlass" / "include"), "LC_ALL": "C.UTF-8"}
        return subprocess.run([str(self.top / "bin" / "attnscope"), *words], env=environment, capture_output=True, text=True)

    def one_device_an_architecture(self, home, cuda):
        devices = {}
        for device in json.loads(self.run(home, cuda, "devices", "--json").stdout):
            if device["emulated"]:
                devices.setdefault(device["arch"], device["id"])
        return list(devices.values())

    def make(self, cuda, presets, devices):
        refused = []
        with tempfile.TemporaryDirectory() as home:
            for device in devices or self.one_device_an_architecture(home, cuda):
                for preset in presets:
                    small = SMALL[json.loads(preset.read_text())["problem"]["kind"]]
                    done = self.run(home, cuda, "run", "--preset", str(preset), "--device", device, "--problem", small, "--json")
                    if done.returncode not in (0, 1):
                        refused.append((preset.name, device, (done.stderr.strip().splitlines() or ["no reason given"])[0]))
            # From the cache: <code>-<lines>.sass ships by code only, <request>-<headers>.variant by request only.
            for kind, to in (("sass", self.programs), ("variant", self.variants)):
                for file in pathlib.Path(home, "cache", to.name).glob(f"*.{kind}"):
                    shutil.copyfile(file, to / f"{file.name.split('-')[0]}.{kind}")
        return refused


def pack(folder, archive, level):
    """Sorted, without owner and with one time: the same content packs to the same bytes."""
    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = 0
        return entry

    with open(archive, "wb") as raw, gzip.GzipFile("", "wb", level, raw, 0) as packed, \
            tarfile.open(fileobj=packed, mode="w") as tar:
        for path in sorted(folder.rglob("*")):
            tar.add(path, path.relative_to(folder.parent), recursive=False, filter=plain)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=pathlib.Path, required=True, help="the built program; its libraries are in lib/ beside it")
    parser.add_argument("--cache", type=pathlib.Path, required=True, help="the folder where ./dev keeps what it fetched")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the archive")
    parser.add_argument("--cuda", action="append", help="pack only this NVRTC (may be repeated); otherwise 12.8 and 13.0")
    parser.add_argument("--preset", action="append", help="decode only this preset (may be repeated); otherwise all")
    parser.add_argument("--device", action="append", help="decode only for this device (may be repeated); otherwise one of each architecture")
    parser.add_argument("--level", type=int, default=9, help="compression level")
    options = parser.parse_args()
    cuda = options.cuda or ["12.8", "13.0"]

    version = output_of(options.program, "--version").split()[-1]
    name = f"attnscope-{version}-x86_64"
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.out, prefix=".bundle.") as making:
        top = pathlib.Path(making, name)
        share = top / "share" / "attnscope"
        glibc = place_program(options.program, top)
        for text in ("LICENSE", "NOTICE", "README.md"):
            shutil.copy2(ROOT / text, top / text)
        place_desktop_entry(top / "share")
        place_cuda(options.cache, cuda, share)

        programs = Programs(top, options.cache / "cuda")
        presets = [path for path in sorted((share / "presets").glob("**/*.json"))
                   if not options.preset or path.name in options.preset]
        refused = {}
        for each in cuda:
            for preset, device, why in programs.make(each, presets, options.device):
                refused.setdefault((preset, why), []).append(f"{device} by NVRTC {each}")
        for (preset, why), where in refused.items():
            say(f"no program of {preset} on {', '.join(where)}: {why}")
        kept = list(programs.programs.iterdir())
        if not kept:
            stop("no preset ran, so that there is no decoded program to hand on.")
        archive = options.out / f"{name}.tar.gz"
        pack(top, archive.with_suffix(".making"), options.level)
        packed_programs = sum(len(gzip.compress(file.read_bytes(), 6)) for file in [*kept, *programs.variants.iterdir()])
        archive.with_suffix(".making").rename(archive)
    say(f"{len(kept)} variants and decoded programs of {len(presets)} presets, {packed_programs / 1e6:.2f} MB of the archive")
    say(f"needs glibc {glibc[0]}.{glibc[1]} or newer" + (", newer than the 2.36 it should: build on Debian 12"
                                                        if glibc > OLDEST_GLIBC else ""))
    say(f"wrote {archive}, {archive.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
