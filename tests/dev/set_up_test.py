"""What ./dev says and does on a machine without packages, rights or a network, or with a tampered index.

The machine's own programs are hidden behind fakes in a folder put first in PATH; each fake notes that it was called.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

PYTHON3 = """if [ "$2" = pip ]; then
  echo "pip $*" >>"$NOTES"
  [ -n "$INDEX" ] || { echo "no network" >&2; exit 1; }
  while [ "$1" != --dest ]; do shift; done
  cp "$INDEX"/* "$2"
  exit
fi
exec REAL "$@"
"""


class Machine:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.notes = self.folder / "notes"
        self.notes.write_text("")
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        self.checkout = self.folder / "checkout"
        self.checkout.mkdir()
        (self.checkout / "assets").mkdir()
        for name in ("fetch.py", "packages.txt"):
            shutil.copy(ROOT / "assets" / name, self.checkout / "assets")
        self.script = (ROOT / "dev").read_text()
        real = subprocess.run(["which", "python3"], capture_output=True, text=True, check=True).stdout.strip()
        self.fake("python3", PYTHON3.replace("REAL", real))
        self.fake("dpkg-query", "for package in \"$@\"; do echo \"installed $package\"; done\n")
        self.fake("apt-get", 'echo "apt-get $*" >>"$NOTES"\n')
        self.fake("id", "echo 0\n")
        self.environment = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "NOTES": str(self.notes),
                            "XDG_CACHE_HOME": str(self.folder / "cache"), "INDEX": ""}

    def fake(self, name, body):
        path = self.bin / name
        path.write_text("#!/bin/sh\n" + body)
        path.chmod(0o755)

    def lacks(self, *packages):
        names = "|".join(packages)
        self.fake("dpkg-query", f'for package in "$@"; do case "$package" in {names}) ;; '
                                '*) echo "installed $package" ;; esac; done\nexit 1\n')

    def pin_one(self, archive, sha256):
        """The pins become one package that the test made."""
        (self.checkout / "assets" / "packages.txt").write_text(
            f"[cuda/9.9]\nsmall 1.0 {sha256} small/include/** -> include\n")
        self.script = re.sub(r"(?m)^run_units=\(.*\)$", "run_units=(cuda/9.9)", self.script)
        self.script = re.sub(r"(?m)^ *run_units\+=.*\n", "", self.script)  # what tests need besides
        self.environment["INDEX"] = str(archive.parent)

    def dev(self, *arguments):
        (self.checkout / "dev").write_text(self.script)
        (self.checkout / "dev").chmod(0o755)
        return subprocess.run([str(self.checkout / "dev"), *arguments], env=self.environment, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL)


class SetUp(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.machine = Machine(temporary.name)

    def wheel(self):
        index = self.machine.folder / "index"
        index.mkdir()
        path = index / "small-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("small/include/small.h", "#pragma once\n")
            archive.writestr("small/other.txt", "not wanted")
        return path, hashlib.sha256(path.read_bytes()).hexdigest()

    def test_without_rights_it_names_the_packages_and_the_line(self):
        self.machine.lacks("ninja-build", "libuv1-dev")
        self.machine.fake("id", "echo 1000\n")
        self.machine.fake("sudo", "exit 1\n")
        done = self.machine.dev("setup")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("apt-get update && apt-get install -y --no-install-recommends libuv1-dev ninja-build", done.stderr)
        self.assertEqual(self.machine.notes.read_text(), "", "nothing may be installed or fetched")

    def test_another_system_is_told_what_to_do_instead(self):
        self.machine.pin_one(*self.wheel())
        self.machine.lacks("ninja-build")
        for system in ("Darwin arm64", "Linux aarch64"):
            self.machine.fake("uname", f"echo {system}\n")
            done = self.machine.dev("setup")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"this is {system}", done.stderr)
            self.assertIn("WSL2", done.stderr)
            self.assertEqual(self.machine.notes.read_text(), "", "nothing may be installed or fetched")

    def test_with_sudo_it_installs_only_what_is_missing(self):
        self.machine.pin_one(*self.wheel())
        self.machine.lacks("ninja-build")
        self.machine.fake("id", "echo 1000\n")
        self.machine.fake("sudo", '[ "$1" = -n ] && exit 0\necho "sudo $*" >>"$NOTES"\n"$@"\n')
        done = self.machine.dev("setup")
        self.assertEqual(done.returncode, 0, done.stderr)
        installs = [line for line in self.machine.notes.read_text().splitlines() if line.startswith("apt-get") and "install -y" in line]
        self.assertEqual(installs, ["apt-get -q install -y --no-install-recommends ninja-build"])

    def test_apt_failing_is_said(self):
        self.machine.lacks("ninja-build")
        self.machine.fake("apt-get", "exit 100\n")
        done = self.machine.dev("setup")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("apt-get could not install", done.stderr)

    def test_without_a_network_it_names_the_package(self):
        archive, sha256 = self.wheel()
        self.machine.pin_one(archive, sha256)
        self.machine.environment["INDEX"] = ""
        done = self.machine.dev("setup")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("small 1.0 could not be fetched", done.stderr)

    def test_what_is_fetched_is_kept_and_a_second_run_fetches_nothing(self):
        self.machine.pin_one(*self.wheel())
        self.assertEqual(self.machine.dev("setup").returncode, 0)
        unit = self.machine.folder / "cache/attnscope/cuda/9.9"
        self.assertEqual(sorted(p.name for p in unit.rglob("*")), [".pins", "include", "small.h"])
        self.machine.notes.write_text("")
        self.machine.environment["INDEX"] = ""
        self.assertEqual(self.machine.dev("setup").returncode, 0)
        self.assertEqual(self.machine.notes.read_text(), "")

    def test_a_changed_pin_is_fetched_again_over_the_old(self):
        archive, sha256 = self.wheel()
        self.machine.pin_one(archive, sha256)
        self.assertEqual(self.machine.dev("setup").returncode, 0)
        with zipfile.ZipFile(archive, "w") as changed:
            changed.writestr("small/include/changed.h", "")
        self.machine.pin_one(archive, hashlib.sha256(archive.read_bytes()).hexdigest())
        self.assertEqual(self.machine.dev("setup").returncode, 0)
        self.assertEqual([p.name for p in (self.machine.folder / "cache/attnscope/cuda/9.9/include").iterdir()], ["changed.h"])
        self.assertEqual(sorted(p.name for p in (self.machine.folder / "cache/attnscope/cuda").iterdir()), ["9.9"])

    def test_another_archive_than_the_pinned_is_refused_and_leaves_nothing(self):
        archive, _ = self.wheel()
        self.machine.pin_one(archive, "0" * 64)
        done = self.machine.dev("setup")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is not what was pinned", done.stderr)
        self.assertEqual([p.name for p in (self.machine.folder / "cache/attnscope").iterdir()], [".lock"])

    def test_two_at_once_fetch_once(self):
        self.machine.pin_one(*self.wheel())
        (self.machine.checkout / "dev").write_text(self.machine.script)
        (self.machine.checkout / "dev").chmod(0o755)
        both = [subprocess.Popen([str(self.machine.checkout / "dev"), "setup"], env=self.machine.environment,
                                 stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)]
        self.assertEqual([one.wait() for one in both], [0, 0])
        self.assertEqual(self.machine.notes.read_text().count("pip download"), 1)

    def test_an_unknown_command_is_refused_with_the_help(self):
        done = self.machine.dev("instal")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("./dev run", done.stderr)


if __name__ == "__main__":
    unittest.main()
