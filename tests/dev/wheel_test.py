"""The wheel, installed by pip without a network into an empty folder and into a fresh virtual environment, with NVIDIA's files
laid out as its wheels do.

Packs the program under test. No toolkit, cache or home of this machine is visible to what is installed.
"""
import collections
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ["ATTNSCOPE"])
CACHE = pathlib.Path(os.environ["ATTNSCOPE_CACHE"])
HAS_UI = os.environ["ATTNSCOPE_HAS_UI"] == "ON"
FOLDER = WHEEL = SITE = None  # scratch; the wheel; where pip installed it
MOST_BYTES = 25_000_000  # of the wheel
NEVER = 240  # seconds, for slow machines


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


class Environment:
    """A fresh virtual environment of the distribution's Python with the wheel in it, as pip leaves it."""

    def __init__(self, folder):
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        subprocess.run([sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--quiet", "--no-index", "--no-deps",
                        "--disable-pip-version-check", str(WHEEL)], check=True)
        lay_out_nvidia(next((folder / "lib").glob("python3*")) / "site-packages")
        self.variables = {"HOME": str(folder / "home"), "PATH": f"{folder / 'bin'}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "ATTNSCOPE_NO_TOOLKIT": "1",
                          "ATTNSCOPE_HOME": str(folder / "home")}

    def call(self, *words):
        return subprocess.run([str(self.folder / "bin" / words[0]), *words[1:]], env=self.variables, cwd="/", capture_output=True, text=True, timeout=NEVER)


def drawn(screen):
    """How many pixels of an X server's memory (XWD, 32 bits each) are not black, and how many values they have."""
    data = screen.read_bytes()
    head = struct.unpack(">25I", data[:100])
    pixels = memoryview(data)[head[0] + 12 * head[19]:].cast("I")
    values = collections.Counter(pixel & 0xffffff for pixel in pixels)
    return len(pixels) - values[0], len(values)


class Wheel(unittest.TestCase):
    def test_it_is_small(self):
        self.assertLessEqual(WHEEL.stat().st_size, MOST_BYTES)  # packed fast: the one that ships is smaller

    def test_a_fresh_environment_has_the_command_the_notebook_and_the_window(self):
        environment = Environment(FOLDER / "env")
        done = environment.call("attnscope", "run", "--kernel", "tiled", "--problem", "B=1,H=1,S=64,D=64", "--device", "emulated:l4", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["verdict"]["state"], "correct")
        script = FOLDER / "notebook.py"
        script.write_text("import json, sys\nnames = {}\nfor cell in json.load(open(sys.argv[1]))['cells']:\n"
                          "    if cell['cell_type'] == 'code':\n        exec(''.join(cell['source']), names)\n"
                          "assert names['attnscope'].__file__.startswith(sys.prefix)\n"
                          "for name in ('before', 'comparison', 'scan', 'sweep', 'stored'):\n    assert names[name]._repr_html_().startswith('<table>')\n"
                          "print('every cell ran')\n")
        done = environment.call("python", "-I", str(script), str(ROOT / "docs" / "python.ipynb"))
        self.assertEqual(done.stdout.splitlines()[-1:], ["every cell ran"], done.stderr)
        if HAS_UI:
            self.window(environment)

    def window(self, environment):
        screen = FOLDER / "screen"
        screen.mkdir()
        ours, theirs = os.pipe()
        server = subprocess.Popen(["Xvfb", "-displayfd", str(theirs), "-screen", "0", "1280x720x24", "+extension", "GLX", "-fbdir", str(screen)],
                                  pass_fds=[theirs], stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        os.close(theirs)
        with os.fdopen(ours) as said:
            display = ":" + said.readline().strip()
        store = environment.folder / "home" / "data" / "results.sqlite"
        stored = lambda: sqlite3.connect(store).execute("SELECT count(*) FROM observation").fetchone()[0]
        before = stored()
        window = subprocess.Popen([str(environment.folder / "bin" / "attnscope")], env={**environment.variables, "DISPLAY": display}, cwd="/",
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(window.kill)
        deadline, seen = time.monotonic() + NEVER, (0, 0)
        while time.monotonic() < deadline and window.poll() is None and (seen[0] < 1280 * 720 // 2 or seen[1] < 100 or stored() == before):
            time.sleep(0.5)
            seen = drawn(screen / "Xvfb_screen0")
        window.send_signal(signal.SIGTERM)
        said = window.communicate(timeout=NEVER)[0]
        self.assertEqual(window.returncode, 0, said)
        self.assertGreater(seen[0], 1280 * 720 // 2, "it draws over most of the screen")
        self.assertGreater(seen[1], 100, "in many colours")
        self.assertGreater(stored(), before, "its first run is there")

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
