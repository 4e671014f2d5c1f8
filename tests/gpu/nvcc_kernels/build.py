#!/usr/bin/env python3
"""Compiles the kernels of kernels.txt with nvcc, for counting them.

build.py --sources DIR --out DIR [--nvcc nvcc] [--arch 90]

DIR of the sources holds git repositories as OWNER+NAME, cloned by the reader. The folder of results gets a cubin for each
source and kernels.json: of each kernel its source, cubin, symbol, launch and arguments. Nothing of it is kept here.
"""
import argparse
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

LIST = pathlib.Path(__file__).resolve().with_name("kernels.txt")


def sources_of(path):
    """One for each [OWNER/NAME COMMIT PATH]."""
    made = []
    for number, row in enumerate(path.read_text().splitlines(), 1):
        if not row or row.startswith("#"):
            continue
        if row.startswith("["):
            repository, commit, file = row[1:-1].split(" ", 2)
            made.append({"repository": repository, "commit": commit, "path": file, "instances": [], "includes": [],
                         "defines": [], "until": None, "kernels": []})
            continue
        key, *words = [word.strip() for word in row.split(" | ")]
        if key == "until":
            made[-1]["until"] = int(words[0])
        elif key == "kernel" and len(words) == 5:
            made[-1]["kernels"].append(dict(zip(["name", "grid", "block", "shared", "args"], words)))
        elif key in ("instance", "include", "define"):
            made[-1][key + "s"].append(words[0])
        else:
            sys.exit(f"{path}:{number}: {row} is not understood")
    return made


def git_folder(sources, repository):
    folder = sources / repository.replace("/", "+")
    for place in (folder / "repo", folder):
        if place.is_dir():
            return place
    sys.exit(f"build.py: {folder} is not there: clone https://github.com/{repository}")


def checked_out(source, sources, folder):
    """The headers and sources of the commit, in a folder of their own."""
    git = ["git", "-C", git_folder(sources, source["repository"])]
    names = subprocess.run([*git, "ls-tree", "-r", "--name-only", source["commit"]], check=True, capture_output=True, text=True)
    folders = [str(pathlib.PurePosixPath(source["path"]).parent), *source["includes"]]
    for name in names.stdout.splitlines():
        if not name.endswith((".cu", ".cuh", ".h", ".hpp")) or not any(name.startswith(f + "/") or f == "." for f in folders):
            continue
        shown = subprocess.run([*git, "show", f"{source['commit']}:{name}"], capture_output=True)
        if shown.returncode == 0:
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(shown.stdout)


def text_of(source, file):
    lines = file.read_text(errors="replace").splitlines()
    if source["until"]:
        torch = re.compile(r"\s*#\s*include\s*<torch/")  # which brings the standard's types with it
        lines = ["#include <cstdint>" if torch.match(line) else line for line in lines[:source["until"]]]
    for number, instance in enumerate(source["instances"]):
        lines.append(f"void* instance_{number}() {{ return reinterpret_cast<void*>(&{instance}); }}")
    return "\n".join(lines) + "\n"


def kernels_in(cubin):
    """The symbols of an ELF file's .text sections."""
    shoff, = struct.unpack_from("<Q", cubin, 40)
    shentsize, shnum, shstrndx = struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQ", cubin, shoff + i * shentsize) for i in range(shnum)]
    names = headers[shstrndx][4]
    found = []
    for header in headers:
        start = names + header[0]
        name = cubin[start:cubin.index(b"\0", start)].decode()
        if name.startswith(".text."):
            found.append(name[len(".text."):])
    return found


def symbol_of(kernel, symbols):
    """The one whose plain name it is, or that has it as a part."""
    name = kernel["name"]
    exact = [one for one in symbols if re.match(rf"_Z{len(name)}{re.escape(name)}(?![A-Za-z0-9_]*_Z)", one)]
    found = exact or [one for one in symbols if name in one]
    if len(found) != 1:
        sys.exit(f"build.py: {name} names {len(found)} of {symbols}")
    return found[0]


def with_contents(args):
    """Inputs get contents that any program can make: 0, 1, 2, …, or ones where 16 bits would not hold them."""
    def one(word):
        fields = word.split(":")
        contents = "ones" if len(fields) > 2 and fields[2] in ("f16", "bf16") else "iota"
        return ":".join([*fields, contents]) if len(fields) == 4 and fields[1] == "in" else word
    return ", ".join(one(word.strip()) for word in args.split(","))


def compiled(source, given, number):
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        checked_out(source, given.sources, folder)
        file = folder / source["path"]
        made = file.with_name("counted.cu")
        made.write_text(text_of(source, file))
        cubin = given.out / f"{number:02}_{re.sub(r'[^A-Za-z0-9]+', '_', file.stem)}.cubin"
        words = [given.nvcc, "-cubin", f"-arch=sm_{given.arch}", "-O3", "-std=c++17", "-w", "-I", file.parent]
        for include in source["includes"]:
            words += ["-I", folder / include]
        done = subprocess.run([*words, *(f"-D{one}" for one in source["defines"]), made, "-o", cubin], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{source['path']}: does not compile\n{done.stderr[-2000:]}", file=sys.stderr)
            return []
    symbols = kernels_in(cubin.read_bytes())
    where = {key: source[key] for key in ("repository", "commit", "path")}
    return [{**where, "cubin": cubin.name, "symbol": symbol_of(kernel, symbols), **kernel,
             "args": with_contents(kernel["args"])} for kernel in source["kernels"]]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--sources", type=pathlib.Path, required=True)
    options.add_argument("--out", type=pathlib.Path, required=True)
    options.add_argument("--nvcc", default="nvcc")
    options.add_argument("--arch", type=int, default=90)
    options.add_argument("--only")
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    kernels = []
    for number, source in enumerate(sources_of(LIST)):
        if given.only and given.only not in source["path"]:
            continue
        kernels += compiled(source, given, number)
        print(f"{source['repository']} {source['path']}: {len(source['kernels'])}", flush=True)
    (given.out / "kernels.json").write_text(json.dumps(kernels, indent=1))
    print(f"{len(kernels)} kernels")


main()
