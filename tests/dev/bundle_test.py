"""The bundle on a bare machine: no toolkit, cache, home, display or network, and a minimal PATH.

Packs the program under test with one NVRTC and two presets' machine code, unpacks it in an empty folder and runs it
with /usr/local and the user's cache hidden by a mount namespace, where this machine allows one.
"""
import configparser
import json
import os
import pathlib
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ["ATTNSCOPE"])
CACHE = pathlib.Path(os.environ["ATTNSCOPE_CACHE"])
TOP = None  # top folder of the unpacked bundle


def setUpModule():
    global TOP
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    path = pathlib.Path(folder.name)
    subprocess.run([sys.executable, "-B", str(ROOT / "cmake" / "bundle.py"), "--program", str(PROGRAM), "--cache", str(CACHE),
                    "--out", str(path), "--cuda", "12.8", "--preset", "minimal.json", "--preset", "wmma.json", "--device", "emulated:l4", "--level", "1"],
                   check=True)
    archive = next(path.glob("attnscope-*-x86_64.tar.gz"))
    with tarfile.open(archive) as tar:
        tar.extractall(path / "empty")
    TOP = next((path / "empty").iterdir())


def bare(script, home):
    """The command that runs a shell script on the bare machine."""
    hide = "".join(f"[ ! -d '{place}' ] || mount -t tmpfs none '{place}' || exit 99; " for place in ("/usr/local", CACHE))
    wrapped = ["unshare", "--user", "--map-root-user", "--mount", "--net", "sh", "-c", hide + script]
    allowed = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "--net", "sh", "-c", hide + "true"],
                             capture_output=True).returncode == 0
    environment = {"HOME": str(home), "PATH": "/nowhere:/usr/bin:/bin" if allowed else "/nowhere", "LC_ALL": "C"}
    return (wrapped if allowed else ["/bin/sh", "-c", script]), environment if allowed else {**environment, "ATTNSCOPE_NO_TOOLKIT": "1"}


class Bundle(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.home = home.name

    def call(self, *words):
        command, environment = bare(f"exec {TOP}/bin/attnscope {' '.join(map(str, words))}", self.home)
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, cwd="/")

    def test_a_desktop_finds_its_entry_and_icon(self):
        entry = configparser.ConfigParser(interpolation=None)
        entry.optionxform = str
        entry.read(TOP / "share/applications/attnscope.desktop")
        entry = entry["Desktop Entry"]
        self.assertEqual(entry["Type"], "Application")
        self.assertTrue((TOP / "bin" / entry["Exec"].split()[0]).is_file())
        icon = xml.etree.ElementTree.parse(TOP / f"share/icons/hicolor/scalable/apps/{entry['Icon']}.svg").getroot()
        self.assertTrue(icon.tag.endswith("svg"))
        # The window's class, by which a desktop knows whose window it is.
        self.assertIn(f'Onscreen::create("{entry["StartupWMClass"]}")', (ROOT / "app/ui/window.cpp").read_text())

    def test_a_shipped_preset_runs_from_its_decoded_program(self):
        done = self.call("run", "--preset", TOP / "share/attnscope/presets/minimal.json", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        observation = json.loads(done.stdout)
        self.assertEqual(observation["verdict"]["state"], "correct")
        self.assertEqual(observation["versions"]["nvrtc"], "12.8")

    def test_a_shipped_preset_needs_no_header_that_is_not_handed_on(self):
        words = ("run", "--problem", "B=1,H=1,S=64,D=64", "--json")
        done = self.call(*words, "--preset", TOP / "share/attnscope/presets/wmma.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["verdict"]["state"], "correct")
        other = self.call(*words, "--kernel", "wmma", "--set", "STAGES=1")
        self.assertEqual(other.returncode, 3, other.stdout + other.stderr)
        self.assertIn("mma.h", other.stderr)
        self.assertIn("attnscope fetch", other.stderr)

    def test_what_is_not_decoded_says_how_to_get_nvdisasm(self):
        done = self.call("run", "--kernel", "tiled", "--problem", "B=1,H=1,S=64,D=64")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("nvdisasm", done.stderr)
        self.assertIn("attnscope fetch", done.stderr)

    def test_the_worker_speaks_through_a_pipe(self):
        command, environment = bare(f"exec {TOP}/bin/attnscope worker", self.home)
        worker = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/")
        self.addCleanup(worker.kill)
        version = TOP.name.split("-")[1]
        self.assertEqual(worker.stdout.readline(), f"attnscope-worker {version}\n".encode())
        hello = b"\x82\xa4type\xa5hello\xa2id\x07"  # MessagePack of {"type": "hello", "id": 7}
        worker.stdin.write(struct.pack("<I", len(hello)) + hello)
        worker.stdin.flush()
        while True:  # heartbeats may come before
            frame = worker.stdout.read(struct.unpack("<I", worker.stdout.read(4))[0])
            if b"emulated:l4" in frame:
                break
        worker.stdin.close()
        self.assertEqual(worker.wait(timeout=60), 0)
        worker.stdout.close()

    def test_a_session_elsewhere_uses_it_through_a_pipe(self):
        done = subprocess.run([str(PROGRAM), "run", "--worker", f"bundle={TOP}/bin/attnscope worker", "--kernel", "minimal", "--problem",
                               "B=1,H=1,S=64,D=64", "--json"], env={**os.environ, "ATTNSCOPE_HOME": self.home}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["device"], "bundle/emulated:l4")

    def test_doctor_names_what_is_missing(self):
        done = self.call("doctor", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        state = {item["name"]: item for item in json.loads(done.stdout)}
        self.assertEqual(state["NVRTC"]["state"], "found")
        self.assertIn(str(TOP), state["NVRTC"]["what"])
        self.assertEqual(state["nvdisasm"]["state"], "missing")
        self.assertIn("mma.h", state["headers"]["what"])
        self.assertIn("attnscope fetch", state["headers"]["get"])

    def test_what_nvidia_does_not_name_is_not_handed_on(self):
        carried = {str(path.relative_to(TOP / "share/attnscope/cuda/12.8")) for path in (TOP / "share/attnscope/cuda/12.8").rglob("*")
                   if path.is_file()}
        self.assertEqual({name.split(".so")[0] for name in carried if name.startswith("lib/")}, {"lib/libnvrtc", "lib/libnvrtc-builtins"})
        self.assertEqual({name for name in carried if not name.startswith("lib/")},
                         {"include/cuda_fp16.h", "include/cuda_fp16.hpp", "include/nv/target", "include/nv/detail/__preprocessor",
                          "include/nv/detail/__target_macros"})
        self.assertEqual([str(path) for path in TOP.rglob("nvdisasm*")], [])
        notice = (TOP / "NOTICE").read_text()
        for name in ("libnvrtc.so, libnvrtc-builtins.so", "cuda_fp16.h, cuda_fp16.hpp", "Apache"):
            self.assertIn(name, notice)


if __name__ == "__main__":
    unittest.main()
