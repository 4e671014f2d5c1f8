"""The user's and the program's files: where output goes, paths of every kind, homes on every kind of disk."""
import json
import os
import pathlib
import shutil
import sqlite3
import stat
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["ATTNSCOPE"]
TREE = pathlib.Path(os.environ["ATTNSCOPE_TREE"])
NETWORK = os.environ["ATTNSCOPE_NETWORK_HOME_LIBRARY"]
PROBLEM = "B=1,H=8,S=512,D=64"
SMALL = "B=1,H=1,S=64,D=64"
BEST = ["best", "--problem", PROBLEM, "--device", "emulated:l4"]  # it starts nothing: an emulated device is data
NOBODY = 65534
SOURCE = "extern \"C\" __global__ void scale(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }\n"


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.path.chmod(0o755)
        self.home = self.path / "home"

    def tearDown(self):
        for shut in self.path.rglob("*"):
            if shut.is_dir() and not shut.is_symlink():
                shut.chmod(0o755)
        self.folder.cleanup()

    def call(self, *args, wrap=(), user=None, **more):
        environment = {**os.environ, "ATTNSCOPE_HOME": str(self.home), **more}
        rights = dict(user=user, group=user, extra_groups=[]) if user is not None and os.geteuid() == 0 else {}
        return subprocess.run([*wrap, PROGRAM, *map(str, args)], env=environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=560, cwd=self.path, **rights)

    def good(self, *args, **more):
        done = self.call(*args, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def refused(self, *args, names, **more):
        done = self.call(*args, **more)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        for name in names:
            self.assertIn(str(name), done.stderr)

    def device(self, name, minor):
        """A device file for the test: like /dev/null (3) or /dev/full (7)."""
        path = self.path / name
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
            path.open("wb").close()
        except PermissionError:
            self.skipTest("devices cannot be made or used here")
        return path

    def kernel_source(self):
        file = self.path / "scale.cu"
        file.write_text(SOURCE)
        return file

    def test_output_goes_through_links_and_into_devices(self):
        real, link = self.path / "real.json", self.path / "link.json"
        real.write_text("old")
        real.chmod(0o640)
        link.symlink_to(real)
        self.good(*BEST, "--preset", link)
        self.assertTrue(link.is_symlink())
        self.assertEqual(json.loads(real.read_text())["attnscope_preset"], 1)
        self.assertEqual(stat.S_IMODE(real.stat().st_mode), 0o640)
        null, full = self.device("null", 3), self.device("full", 7)
        self.good(*BEST, "--preset", null)
        self.refused(*BEST, "--preset", full, names=[full, "No space left"])
        for path in (null, full):
            self.assertTrue(stat.S_ISCHR(path.stat().st_mode), path)
        self.assertEqual(json.loads(self.good(*BEST, "--json", "--preset", "/dev/stderr").stderr)["attnscope_preset"], 1)

    def test_output_makes_no_folders(self):
        mistyped = self.path / "mistyped"
        source = self.kernel_source()
        for args in ([*BEST, "--preset", mistyped / "best.json"],
                     ["import", source, "--out", mistyped / "deep"],
                     ["export", "--problem", SMALL, "--out", mistyped / "deep"],
                     ["best", "--tune", mistyped / "deep", "--device", "emulated:l4", "--kernel", "minimal",
                      "--problem", SMALL]):
            self.refused(*args, names=[f"the folder {mistyped} does not exist"])
            self.assertFalse(mistyped.exists())
        bench = ["bench", "--device", "emulated:l4", "--kernel", "minimal", "--problem", SMALL, "--quick"]
        self.refused(*bench, "--json", mistyped / "out", names=[f"the folder {mistyped} does not exist"])
        self.assertFalse((self.home / "data" / "bench").exists(), "said before hours of timing")
        self.good("import", source, "--out", self.path / "new")
        self.assertTrue((self.path / "new" / "scale.cu").exists())
        full = self.device("full", 7)
        self.refused(*bench, "--json", full, names=["No space left"])
        self.assertIn("continues after", self.good(*bench, "--json", self.path / "out").stderr)

    def odd_paths(self):
        """Paths of every kind that cannot serve as input or output."""
        shut = self.path / "shut"
        shut.mkdir()
        (shut / "file").write_text("{}")
        shut.chmod(0)
        fifo, circle = self.path / "fifo", self.path / "circle"
        os.mkfifo(fifo)
        fifo.chmod(0o666)
        circle.symlink_to(circle)
        dangling = self.path / "dangling"
        dangling.symlink_to(self.path / "none" / "none")
        return [shut / "file", shut / "none", self.path / ("n" * 256), self.path / "none" / "file", fifo, circle, dangling,
                self.path, self.path / ("a/" * 3000)]

    def test_odd_paths_are_refused_in_words_as_any_user(self):
        odd = self.odd_paths()
        source = self.kernel_source()
        report = self.path / "report.json"
        report.write_text("{}")
        users = [None, NOBODY] if os.geteuid() == 0 else [None]
        for user in users:
            for path in odd:
                commands = [["run", "--preset", path], ["run", "--kernels", path], ["kernels", "--kernels", path],
                            ["import", path], ["import", source, "--out", path / "out"], ["compare", path, path],
                            ["bench", "--from", path], ["bench", "--tuned", path, "--device", "emulated:l4"],
                            [*BEST, "--preset", path], ["export", "--preset", path, "--out", self.path / "out"]]
                for command in commands:
                    if path == self.path and ("--kernels" in command or command[0] == "import" and "--out" in command):
                        continue  # a folder without kernels is fine, and so is one to write in
                    if user is None and os.geteuid() == 0 and path.parent.name == "shut":
                        continue  # root may read it
                    done = self.call(*command, user=user)
                    self.assertEqual(done.returncode, 2, (user, command, done.stdout, done.stderr))
                    self.assertTrue(done.stderr.strip())

    def test_a_home_that_cannot_be_searched_is_said_and_costs_no_run(self):
        self.home.mkdir()
        self.home.chmod(0)
        for name in ("HOME", "XDG_CONFIG_HOME"):
            for command in (["run", "--problem", SMALL], ["kernels"], ["presets"], ["doctor", "--wait", "20"], BEST):
                more = {"ATTNSCOPE_HOME": "", "XDG_CACHE_HOME": "", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "",
                        name: str(self.home)}
                done = self.call_with(more, *command)
                # Another user may lack nvdisasm, without which nothing runs.
                expected = {"doctor": (0, 3), "run": (0, 3)}.get(command[0], (0,))
                self.assertIn(done.returncode, expected, (name, command, done.stdout, done.stderr))
        too_long = str(self.path / ("n" * 256))  # for root too
        self.good("run", "--problem", SMALL, ATTNSCOPE_HOME="", XDG_CONFIG_HOME=too_long, XDG_DATA_HOME=too_long)
        self.assertIn(str(self.home), self.call_with({"ATTNSCOPE_HOME": str(self.home)}, "kernels").stderr)

    def call_with(self, variables, *args):
        environment = {**os.environ, "HOME": str(self.path), **variables}
        rights = dict(user=NOBODY, group=NOBODY, extra_groups=[]) if os.geteuid() == 0 else {}
        return subprocess.run([PROGRAM, *args], env={k: v for k, v in environment.items() if v}, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=560, cwd=self.path, **rights)

    def history(self, home):
        """A history with one run, as the window leaves it: in a write-ahead log without a checkpoint."""
        run = self.good("run", "--problem", SMALL, "--json").stdout
        observation = json.loads(run)
        (home / "data").mkdir(parents=True, exist_ok=True)
        kept = sqlite3.connect(home / "data" / "results.sqlite")
        kept.execute("PRAGMA journal_mode=WAL")
        kept.execute("CREATE TABLE observation(id INTEGER PRIMARY KEY, hash TEXT NOT NULL, finished_at REAL NOT NULL, "
                     "app TEXT NOT NULL, json TEXT NOT NULL)")
        kept.execute("PRAGMA user_version=1")
        kept.execute("INSERT INTO observation(hash, finished_at, app, json) VALUES (?, ?, ?, ?)",
                     (observation["experiment"]["hash"], 1e9, "0", run))
        kept.commit()
        kept.close()

    def everything_runs(self, **how):
        self.good("run", "--problem", SMALL, **how)
        self.good("kernels", **how)
        self.good("presets", **how)
        self.good("doctor", **how)
        self.good("bench", "--device", "emulated:l4", "--kernel", "minimal", "--problem", SMALL, "--quick", **how)
        best = self.good("best", "--problem", SMALL, "--device", "emulated:l4", "--kernel", "minimal", **how)
        self.assertIn("history", best.stdout)

    def mounted(self, script):
        wrap = ["unshare", "-rm", "sh", "-ec", f"{script}\nexec \"$@\"", str(self.home)]
        probe = subprocess.run([*wrap, "true"], capture_output=True, text=True)
        if probe.returncode != 0:
            self.skipTest("nothing can be mounted here: " + probe.stderr.strip())
        return wrap

    def test_a_home_on_a_network_disk_without_locks_and_shared_memory(self):
        self.history(self.home)
        self.everything_runs(LD_PRELOAD=NETWORK, ATTNSCOPE_NETWORK_HOME=str(self.home))

    def test_a_home_that_is_read_only(self):
        self.history(self.path / "prepared")
        self.home.mkdir(exist_ok=True)
        shutil.rmtree(self.home)
        shutil.copytree(self.path / "prepared", self.home)
        self.everything_runs(wrap=self.mounted('mount -o bind "$0" "$0"\nmount -o remount,ro,bind "$0"'))

    # The file's kernel then lies in a temporary folder, which goes with the run.
    def test_a_file_is_checked_where_the_home_cannot_be_written(self):
        source, scratch = self.path / "twice.cu", self.path / "scratch"
        source.write_text("__global__ void twice(const float* x, float* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }\n"
                          "int main() { float *x, *y; cudaMalloc(&x, 128); cudaMalloc(&y, 128); twice<<<1, 32>>>(x, y); }\n")
        scratch.mkdir()
        done = self.good("check", source, ATTNSCOPE_HOME="/proc/nothing", TMPDIR=str(scratch))
        self.assertIn("clean", done.stdout)
        self.assertEqual(list(scratch.glob("attnscope-*")), [])
        self.refused("check", source, ATTNSCOPE_HOME="/proc/nothing", TMPDIR="/proc", names=["TMPDIR"])

    def test_a_home_that_is_full(self):
        self.home.mkdir()
        self.everything_runs(wrap=self.full(""))

    def test_a_home_that_is_full_with_a_history(self):
        self.history(self.path / "prepared")
        self.home.mkdir(exist_ok=True)
        wrap = self.full(f'cp -r "{self.path}/prepared/data" "$0"')
        best = self.good(*BEST, wrap=wrap)
        self.assertIn("minimal", best.stdout)
        searched = self.good("best", "--problem", "B=1,H=1,S=77,D=64", "--device", "emulated:l4", "--kernel", "minimal",
                             "--budget", "1", wrap=wrap)
        self.assertIn("history", searched.stdout)
        self.assertIn("results are not kept", searched.stderr)

    def full(self, first):
        return self.mounted(f'mount -t tmpfs -o size=256k none "$0"\n{first}\nmkdir -p "$0/data" "$0/cache" "$0/config"\n'
                            'cat /dev/zero >"$0/filler" 2>/dev/null || true')


if __name__ == "__main__":
    unittest.main()
