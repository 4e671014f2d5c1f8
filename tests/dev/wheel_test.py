"""The wheel, installed by pip without a network into an empty folder, with NVIDIA's files laid out as its wheels do.

Packs the program under test. No toolkit, cache or home of this machine is visible to what is installed.
"""
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ["ATTNSCOPE"])
CACHE = pathlib.Path(os.environ["ATTNSCOPE_CACHE"])
FOLDER = WHEEL = SITE = None  # scratch; the wheel; where pip installed it


def link_or_copy(source, to):
    """A hard link where it can be one: an executor may read what lies in the folder, not where a link leads."""
    try:
        os.link(source, to)
    except OSError:
        shutil.copy2(source, to)


def lay_out_nvidia(folder):
    """As pip does: CUDA 12 in a folder a package, CUDA 13 and nvdisasm in one."""
    nvidia = folder / "nvidia"
    for place, there in (("cuda_nvrtc", "cuda/12.8"), ("cu13/lib", "cuda/13.0/lib"), ("cu13/include", "cuda/13.0/include"),
                         ("cu13/bin", "cuda/bin")):
        shutil.copytree(CACHE / there, nvidia / place, copy_function=link_or_copy)


def setUpModule():
    global FOLDER, WHEEL, SITE
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    FOLDER = pathlib.Path(folder.name)
    subprocess.run([sys.executable, "-B", str(ROOT / "cmake" / "wheel.py"), "--program", str(PROGRAM), "--out", str(FOLDER), "--level", "1"],
                   check=True)
    WHEEL = next(FOLDER.glob("*.whl"))
    SITE = FOLDER / "site"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile", "--disable-pip-version-check",
                    "--root-user-action=ignore", "--target", str(SITE), str(WHEEL)], check=True)
    lay_out_nvidia(FOLDER / "nvidia-site")


def call(*words, nvidia=True, command=("bin/attnscope",)):
    sites = [str(SITE)] + ([str(FOLDER / "nvidia-site")] if nvidia else [])
    environment = {"HOME": str(FOLDER / "home"), "PATH": "/usr/bin:/bin", "PYTHONPATH": os.pathsep.join(sites), "LC_ALL": "C",
                   "PYTHONDONTWRITEBYTECODE": "1", "ATTNSCOPE_NO_TOOLKIT": "1"}
    return subprocess.run([str(SITE / command[0]), *words] if len(command) == 1 else [*command, *words], env=environment, cwd="/",
                          capture_output=True, text=True, timeout=120)


class Wheel(unittest.TestCase):
    def test_its_name_and_its_metadata_say_where_it_runs_and_what_it_needs(self):
        with zipfile.ZipFile(WHEEL) as wheel:
            version = PROGRAM_VERSION
            info = f"attnscope-{version}.dist-info"
            self.assertEqual(WHEEL.name, f"attnscope-{version}-py3-none-manylinux_2_36_x86_64.whl")
            about = wheel.read(f"{info}/METADATA").decode()
            self.assertIn("\nTag: py3-none-manylinux_2_36_x86_64\n", wheel.read(f"{info}/WHEEL").decode())
            self.assertIn("Root-Is-Purelib: false", wheel.read(f"{info}/WHEEL").decode())
            recorded = {row[0] for row in csv.reader(wheel.read(f"{info}/RECORD").decode().splitlines())}
            self.assertEqual(recorded, set(wheel.namelist()))
        needs = dict(re.match(r"([a-z0-9-]+)(.*)", line).groups() for line in re.findall(r"^Requires-Dist: ([^;\n]*)", about, re.M))
        self.assertLessEqual({"nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc", "nvidia-cuda-nvdisasm"}, set(needs))
        for name, versions in needs.items():
            self.assertNotIn("==", versions, name)
        # Every package of CUDA that ./dev pins is one that the wheel needs, and its pinned version is in the range.
        pins = (ROOT / "assets" / "packages.txt").read_text()
        pins = re.sub(r"(?ms)^\[cuda/nvcc\]$.*?(?=^\[)", "", pins)  # only `attnscope fetch nvcc` asks for it
        pinned = dict(line.split()[:2] for line in pins.splitlines() if line.startswith("nvidia-"))
        self.assertEqual({name for name in needs if name.startswith("nvidia-")}, set(pinned))
        for name, version in pinned.items():
            low, high = re.match(r">=([0-9.]+),<([0-9.]+)", needs[name]).groups()
            numbers = [tuple(map(int, text.split("."))) for text in (low, version, high)]
            self.assertTrue(numbers[0] <= numbers[1] < numbers[2], name)

    def test_it_holds_the_program_its_data_and_nothing_of_nvidias(self):
        with zipfile.ZipFile(WHEEL) as wheel:
            names = set(wheel.namelist())
        for there in ("attnscope/bin/attnscope", "attnscope/__init__.py", "attnscope/share/attnscope/kernels/02_tiled.cu",
                      "attnscope/share/attnscope/presets/tiled.json", "attnscope/share/attnscope/assets/devices/l4.json"):
            self.assertIn(there, names)
        self.assertTrue(any(name.startswith("attnscope/lib/attnscope/libmuparser") for name in names))
        of_nvidia = re.compile(r"libnvrtc|libcu|nvdisasm|cuda_fp16|cuda_bf16|/mma\.h|/nv/|cutlass/")
        self.assertEqual([name for name in names if of_nvidia.search(name)], [])
        self.assertFalse(any("assets/python" in name for name in names), "the package is there once")

    def test_the_command_runs_with_what_pip_installed_beside_it(self):
        done = call("run", "--kernel", "wmma", "--problem", "B=1,H=1,S=64,D=64", "--device", "emulated:l4", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        observation = json.loads(done.stdout)
        self.assertEqual(observation["verdict"]["state"], "correct")
        self.assertEqual(observation["versions"]["nvrtc"], "12.8")
        doctor = {item["name"]: item for item in json.loads(call("doctor", "--json").stdout)}
        for name in ("NVRTC", "nvdisasm", "headers"):
            self.assertEqual(doctor[name]["state"], "found", name)
            self.assertIn("nvidia-site", doctor[name]["what"], name)

    def test_without_nvidias_wheels_it_says_what_is_missing(self):
        done = call("run", "--kernel", "minimal", "--problem", "B=1,H=1,S=64,D=64", nvidia=False)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("NVRTC", done.stderr)

    def test_the_exit_status_and_the_message_are_the_programs(self):
        for command in (("bin/attnscope",), (sys.executable, "-m", "attnscope")):
            done = call("run", "--kernel", "no_such", command=command)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("no_such", done.stderr)

    def test_a_wheel_without_its_program_says_so(self):
        empty = FOLDER / "empty"
        shutil.copytree(SITE / "attnscope", empty / "attnscope", ignore=shutil.ignore_patterns("bin", "lib", "share"))
        done = subprocess.run([sys.executable, "-m", "attnscope"], env={"PATH": "/nowhere", "PYTHONPATH": str(empty)}, cwd="/",
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("ATTNSCOPE_PROGRAM", done.stderr)
        self.assertNotIn("Traceback", done.stderr)


PROGRAM_VERSION = subprocess.run([str(PROGRAM), "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]

if __name__ == "__main__":
    unittest.main()
