"""Packs the program and its Python package into one wheel, attnscope-<version>-py3-none-manylinux_2_36_x86_64.whl.

    python3 cmake/wheel.py --program build/release/attnscope --out build

Contents, below attnscope/: the Python package (assets/python), bin/, lib/attnscope/ and share/attnscope/ as in a bundle. The
wheel holds none of NVIDIA's files: NVRTC, CUDA's headers and nvdisasm are NVIDIA's own wheels, which pip installs beside
it, and which the command finds there (assets/python/attnscope/program.py).
"""
import argparse
import base64
import hashlib
import pathlib
import shutil
import stat
import sys
import tempfile
import zipfile

from bundle import OLDEST_GLIBC, ROOT, copy_tracked, output_of, place_program, say, stop

TAG = "py3-none-manylinux_{}_{}_x86_64".format(*OLDEST_GLIBC)
# Ranges, so that they agree with the exact versions that a PyTorch in the same environment wants. CUDA 12 serves drivers
# of that generation and machines without one; its crt headers come with the compiler.
NEEDS = [
    "nvidia-cuda-nvrtc-cu12>=12.4,<13", "nvidia-cuda-runtime-cu12>=12.4,<13", "nvidia-cuda-nvcc-cu12>=12.4,<13",
    "nvidia-cuda-cccl-cu12>=12.4,<13",
    "nvidia-cuda-nvrtc>=13.0,<14", "nvidia-cuda-runtime>=13.0,<14", "nvidia-cuda-crt>=13.0,<14", "nvidia-cuda-cccl>=13.0,<14",
    "nvidia-cuda-nvdisasm>=13.2,<14",
]
# NVIDIA's package of CUTLASS brings NumPy, SciPy and more; only the kernels written with CuTe and CUTLASS need its headers.
EXTRAS = {"cutlass": ["nvidia-cutlass>=4.2,<5"], "pandas": ["pandas>=1.5"]}
OLDEST_PYTHON = "3.9"
DESCRIPTION = """\
# attnscope

An oscilloscope for attention kernels: turn a knob and watch the real CUDA kernel's latency, shared memory, occupancy and error
move together. It needs no GPU: without one it runs the kernel's own machine code on the CPU.

`attnscope` opens the window, `attnscope run --help` lists what the command line takes, and `import attnscope` runs, compares,
explains and sweeps from Python. Kernels that include CUTLASS or CuTe need `attnscope[cutlass]`.
"""


def metadata(version):
    lines = ["Metadata-Version: 2.1", "Name: attnscope", f"Version: {version}",
             "Summary: An oscilloscope for attention kernels, with and without a GPU", "License: MIT",
             f"Requires-Python: >={OLDEST_PYTHON}", "Classifier: Operating System :: POSIX :: Linux",
             "Classifier: Programming Language :: Python :: 3 :: Only", "Classifier: Typing :: Typed"]
    lines += [f"Requires-Dist: {need}" for need in NEEDS]
    for extra, needs in EXTRAS.items():
        lines += [f"Provides-Extra: {extra}"] + [f'Requires-Dist: {need} ; extra == "{extra}"' for need in needs]
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", DESCRIPTION])


def place_about(info, version):
    (info / "licenses").mkdir(parents=True)
    for text in ("LICENSE", "NOTICE"):
        shutil.copy2(ROOT / text, info / "licenses" / text)
    (info / "METADATA").write_text(metadata(version))
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: attnscope\nRoot-Is-Purelib: false\nTag: {TAG}\n")
    (info / "entry_points.txt").write_text("[console_scripts]\nattnscope = attnscope.program:main\n")


def pack(folder, info, archive, level):
    """Sorted and with one time: the same content packs to the same bytes. RECORD, which names every file and its digest,
    comes last."""
    record = []
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as wheel:
        def add(name, data, executable=False):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | (0o755 if executable else 0o644)) << 16
            wheel.writestr(entry, data, compresslevel=level)

        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name, data = str(path.relative_to(folder)), path.read_bytes()
            add(name, data, bool(path.stat().st_mode & stat.S_IXUSR))
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")
        name = f"{info.name}/RECORD"
        add(name, "\n".join([*record, f"{name},,", ""]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=pathlib.Path, required=True, help="the built program; its libraries are in lib/ beside it")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the wheel")
    parser.add_argument("--level", type=int, default=9, help="compression level")
    options = parser.parse_args()

    version = output_of(options.program, "--version").split()[-1]
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.out, prefix=".wheel.") as making:
        folder = pathlib.Path(making, "wheel")
        package, info = folder / "attnscope", folder / f"attnscope-{version}.dist-info"
        copy_tracked("assets/python/attnscope", pathlib.Path(making))
        shutil.move(pathlib.Path(making, "assets", "python", "attnscope"), package)
        glibc = place_program(options.program, package)
        if glibc > OLDEST_GLIBC:
            stop("the program needs glibc {}.{}, newer than a wheel with the tag {} may: build it on Debian 12.".format(*glibc, TAG))
        shutil.rmtree(package / "share" / "attnscope" / "assets" / "python")
        place_about(info, version)
        made = pathlib.Path(making, f"attnscope-{version}-{TAG}.whl")
        pack(folder, info, made, options.level)
        wheel = made.replace(options.out / made.name)
    say(f"wrote {wheel}, {wheel.stat().st_size / 1e6:.1f} MB; install it with: python3 -m pip install {wheel}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
