"""What every command keeps to with any input: it ends, with a status of 0 to 4, and 0 means that a complete result was
delivered. One table of commands, their paths and what may be wrong with the paths."""
import concurrent.futures
import contextlib
import ctypes
import json
import os
import pathlib
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.environ["ATTNSCOPE"]
TREE = pathlib.Path(os.environ["ATTNSCOPE_TREE"])
sys.path.insert(0, str(TREE / "tests" / "cli"))
from kept_cache import keep_compiled  # noqa: E402

HAS_UI = os.environ["ATTNSCOPE_HAS_UI"] == "ON"
NOBODY = 65534
SMALL = ["--problem", "B=1,H=1,S=64,D=64", "--no-watch"]
LONG = "x" * 300  # longer than a file system allows for a name
HANGS_AFTER = 60  # seconds; the slowest of them takes five


def users():
    """Who runs the program: this user and, if that is root, also a user without rights."""
    if os.geteuid() != 0:
        return [None]
    seen = subprocess.run([PROGRAM, "--version"], user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True, check=False, cwd="/") \
        if reachable(PROGRAM) and reachable(TREE / "assets") else None
    return [None, NOBODY] if seen is not None and seen.returncode == 0 else [None]


def reachable(path):
    """Whether a user without rights can reach that path."""
    path = pathlib.Path(path).resolve()
    return all(part.stat().st_mode & stat.S_IXOTH for part in path.parents)


class Place:
    """One user's folder with one of everything that a path can lead to."""

    def __init__(self, user):
        self.user = user
        self.kept = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.kept.name)
        self.home = self.path / "home"
        if user is None:
            keep_compiled(self.home)
        else:
            self.home.mkdir()  # only we may write to what is kept
        self.env = dict(os.environ, ATTNSCOPE_HOME=str(self.home), HOME=str(self.home), XDG_CACHE_HOME=os.environ.get("XDG_CACHE_HOME", ""))
        if user is None:
            self.env["HOME"] = os.environ.get("HOME", str(self.home))
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            self.env.pop(name, None)
        if user is not None:
            os.chown(self.path, user, user)
            os.chown(self.home, user, user)
            self.path.chmod(0o755)

    def fresh(self):
        """A new empty folder for the user."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.path))
        self.own(folder)
        return folder

    def own(self, path):
        if self.user is not None:
            os.chown(path, self.user, self.user, follow_symlinks=False)

    def start(self, args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, redirect="", before="", env=None, cwd=None):
        """`before` and `redirect` are shell text: "ulimit -v 40000;" and ">&-", which closes stdout."""
        argv = ["/bin/sh", "-c", f'{before} exec "$@" {redirect}', "sh", PROGRAM, *map(str, args)]
        who = {} if self.user is None else {"user": self.user, "group": self.user, "extra_groups": []}
        return subprocess.Popen(argv, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, env=env or self.env, cwd=cwd or self.path, **who)

    def call(self, args, **more):
        child = self.start(args, **more)
        try:
            out, err = child.communicate(timeout=HANGS_AFTER)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            return "hangs", b"", b""
        return child.returncode, out or b"", err or b""

    def __enter__(self):
        self.compiles = self.call(["run", *SMALL])[0] == 0  # once for all runs; not where a user cannot reach the compiler
        return self

    def __exit__(self, *_):
        subprocess.run(["chmod", "-R", "u+rwX", str(self.path)], check=False)
        self.kept.cleanup()


def recorded(place):
    """An observation as from a GPU, also for a machine without a compiler: only the timing is compared."""
    observation = json.loads((TREE / "tests/data/observations/m32_w4.json").read_text())
    rounds = [[500 * (1 + 1e-4 * ((7 * r + i) % 5 - 2)) for i in range(12)] for r in range(10)]
    observation["timing"].update(kind="measured", samples=120)
    observation["timing"]["sampling"] = {"rounds": rounds, "stopped": "stable", "dropped": 0, "empty_us": None, "power_w": 70,
                                         "power_limit_w": 72, "temperature_c": 60, "reasons": []}
    observation["failure"] = None
    return text(place, json.dumps(observation).encode())


def kernel(place):
    file = place.fresh() / "saxpy.cu"
    shutil.copy(TREE / "tests/kernels/plain/saxpy.cu", file)
    place.own(file)
    return file


def small(place):
    """A preset that takes a third of the usual time for a picture of the window."""
    preset = json.loads(PRESET.read_text())
    preset["problem"].update(heads=1, kv_heads=1, seq_q=64, seq_k=64)
    return text(place, json.dumps(preset).encode())


PRESET = TREE / "presets/tiled.json"
REPORT = TREE / "bench/results/ladder_l4_modelled.json"

T4 = TREE / "bench/results/t4_h200_tiled.json"


def space(place):
    return text(place, b'{"knobs": {"NUM_WARPS": [4]}}')


def swept(place):
    return ["sweep", *SMALL, "--device", "emulated:l4", "--space", space(place)]


def grid(place):
    """A config of robust-kbench with the problem of SMALL."""
    return text(place, b"shapes: [{name: a, batch_size: 1, num_heads: 1, seq_len: 64, head_dim: 64}]\nrunners: [minimal]\n")


def reported(place):
    return ["report", grid(place), "--device", "emulated:l4", "--quick", "--defaults", "--fresh"]


def store(place):
    """Another results.sqlite, of the first versions, with one run."""
    file = place.fresh() / "other.sqlite"
    with contextlib.closing(sqlite3.connect(file)) as base:
        base.executescript("CREATE TABLE observation(id INTEGER PRIMARY KEY, hash TEXT NOT NULL, finished_at REAL NOT NULL, app TEXT NOT NULL, "
                           "json TEXT NOT NULL); PRAGMA user_version=1;")
        base.execute("INSERT INTO observation(hash, finished_at, app, json) VALUES (?, 1.7e9, '0.1.0', ?)",
                     (json.loads(recorded(place).read_text())["experiment"]["hash"], recorded(place).read_text()))
        base.commit()
    place.own(file)
    return file


# Commands by name.
COMMANDS = {
    "help": lambda p: ["--help"],
    "help of a command": lambda p: ["run", "--help"],
    "version": lambda p: ["--version"],
    "a bad option": lambda p: ["run", "--surprise"],
    "run": lambda p: ["run", *SMALL],
    "run as JSON": lambda p: ["run", "--json", *SMALL],
    "run of what is refused": lambda p: ["run", "--json", *SMALL, "--set", "BLOCK_M=64"],
    "compare": lambda p: ["compare", recorded(p), recorded(p), "--recorded"],
    "compare as JSON": lambda p: ["compare", recorded(p), recorded(p), "--recorded", "--json"],
    "micro": lambda p: ["micro", "--device", "emulated:l4", "--fragment", "micro_copy", "--set", "BLOCK_N=32", "--set", "NUM_WARPS=1", "--set", "VEC_WIDTH=8"],
    "sweep": lambda p: ["sweep", *SMALL, "--device", "emulated:l4", "--fresh", "--space", space(p)],
    "sweep from a record": lambda p: ["sweep", "--replay", T4, "--repeats", "2", "--json"],
    "results": lambda p: ["results", "--store", store(p)],
    "results as JSON": lambda p: ["results", "--json", "--store", store(p)],
    "results as CSV": lambda p: ["results", "--csv", "--store", store(p)],
    "leaderboard": lambda p: ["results", "--leaderboard", "--store", store(p)],
    "merge": lambda p: ["results", "--merge", store(p), "--store", p.fresh() / "merged.sqlite"],  # into an empty one each time
    "report": lambda p: [*reported(p), "--out", p.fresh()],
    "bench": lambda p: ["bench", "--from", REPORT],
    "bench to stdout": lambda p: ["bench", "--from", REPORT, "--json", "-", "--svg", "-"],
    "best": lambda p: ["best", "--device", "emulated:l4"],
    "best as JSON": lambda p: ["best", "--device", "emulated:l4", "--json"],
    "export": lambda p: ["export", "--preset", PRESET, "--out", p.fresh()],
    "import": lambda p: ["import", kernel(p)],
    "kernels": lambda p: ["kernels"],
    "kernels as JSON": lambda p: ["kernels", "--json"],
    "devices": lambda p: ["devices"],
    "devices as JSON": lambda p: ["devices", "--json"],
    "presets": lambda p: ["presets"],
    "doctor": lambda p: ["doctor"],
    "doctor as JSON": lambda p: ["doctor", "--json"],
    "opcode forms": lambda p: ["doctor", "--isa"],
    "worker": lambda p: ["worker"],
    "judge": lambda p: ["worker", "--judge"],
    "window without a display": lambda p: [],
}
if HAS_UI:
    COMMANDS["shot"] = lambda p: ["shot", p.fresh() / "out.png", "--size", "640x480", "--preset", small(p)]

# Commands that read a path, which comes last.
INPUTS = {
    "run --preset": lambda p, path: ["run", *SMALL, "--preset", path],
    "run --kernels": lambda p, path: ["run", *SMALL, "--kernels", path],
    "sweep --space": lambda p, path: ["sweep", *SMALL, "--device", "emulated:l4", "--space", path],
    "sweep --replay": lambda p, path: ["sweep", "--repeats", "2", "--replay", path],
    "results --store": lambda p, path: ["results", "--store", path],
    "results --merge": lambda p, path: ["results", "--merge", path],
    "report": lambda p, path: ["report", "--device", "emulated:l4", "--defaults", "--out", p.fresh(), path],
    "compare A": lambda p, path: ["compare", path, recorded(p), "--recorded"],
    "compare B": lambda p, path: ["compare", recorded(p), path, "--recorded"],
    "bench --from": lambda p, path: ["bench", "--from", path],
    "export --preset": lambda p, path: ["export", "--out", p.fresh(), "--preset", path],
    "import": lambda p, path: ["import", path],
}
if HAS_UI:
    INPUTS["shot --preset"] = lambda p, path: ["shot", p.fresh() / "out.png", "--preset", path]

# Commands that write a file.
FILES = {
    "bench --json": lambda p, path: ["bench", "--from", REPORT, "--json", path],
    "bench --markdown": lambda p, path: ["bench", "--from", REPORT, "--markdown", path],
    "bench --svg": lambda p, path: ["bench", "--from", REPORT, "--svg", path],
    "sweep --t4": lambda p, path: [*swept(p), "--t4", path],
    "sweep --kernel-tuner-cache": lambda p, path: [*swept(p), "--kernel-tuner-cache", path],
    "best --preset": lambda p, path: ["best", "--device", "emulated:l4", "--preset", path],
}
if HAS_UI:
    FILES["shot"] = lambda p, path: ["shot", path, "--size", "640x480", "--preset", small(p)]

# Commands that write files into a folder.
FOLDERS = {
    "export --out": lambda p, path: ["export", "--preset", PRESET, "--out", path],
    "report --out": lambda p, path: [*reported(p), "--out", path],
    "import --out": lambda p, path: ["import", kernel(p), "--out", path],
    "best --tune": lambda p, path: ["best", "--device", "emulated:l4", "--kernel", "minimal", "--problem", "B=1,H=1,S=48,D=64",
                                    "--config", "minimal:THREADS=128", "--tune", path],
}


def fifo(p):
    path = p.fresh() / "fifo"
    os.mkfifo(path)
    p.own(path)
    return path


def unsearchable(p):
    folder = p.fresh()
    file = folder / "file"
    file.write_text("{}")
    p.own(file)
    folder.chmod(0)
    return file


def linked(p, target):
    link = p.fresh() / "link"
    link.symlink_to(target)
    return link


def text(p, content):
    file = p.fresh() / "file"
    file.write_bytes(content)
    p.own(file)
    return file


# Targets of a path that are not files to read. Root can read what others may not search.
UNREADABLE = {
    "a device without end": lambda p: "/dev/zero",
    "a device": lambda p: "/dev/null",
    "a FIFO": fifo,
    "a folder": lambda p: p.fresh(),
    "nothing": lambda p: p.path / "nothing",
    "a file below a file": lambda p: text(p, b"{}") / "below",
    "too long a name": lambda p: p.path / LONG,
    "a link to nothing": lambda p: linked(p, "nothing"),
    "a link to itself": lambda p: linked(p, "link"),
    "random bytes": lambda p: text(p, os.urandom(2000)),
    "an empty file": lambda p: text(p, b""),
    "no path": lambda p: "",
    "an unsearchable folder": unsearchable,
}
# Targets of a path where no file can be written.
UNWRITABLE = {
    "a FIFO": fifo,
    "a folder": lambda p: p.fresh(),
    "a missing folder": lambda p: p.path / "missing" / "file",
    "a file below a file": lambda p: text(p, b"{}") / "below",
    "too long a name": lambda p: p.path / LONG,
    "a link to itself": lambda p: linked(p, "link"),
    "no path": lambda p: "",
    "an unsearchable folder": unsearchable,
}
NEEDS_NO_ROOT = "an unsearchable folder"


def full_device(place):
    """A device that is always full, the test's own if the user could replace it; None if none can be made."""
    if not reads_all(place):
        return pathlib.Path("/dev/full")
    path = place.fresh() / "full"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        return None  # no right to make one, or none to open one there
    return path


def reads_all(place):
    """Root can enter every folder."""
    return place.user is None and os.geteuid() == 0


def normal(place, out):
    """The part that does not change from one run to the next."""
    own = re.escape(str(place.path).encode()) + rb"/[^\s\"]*"
    return re.sub(rb"[0-9][0-9.,]*", b"#", re.sub(own, b"PATH", out))


class Contract(unittest.TestCase):
    def check(self, cases):
        """Runs (name, what to do), twice as many at a time as there are cores, because each waits half of its time. Each
        returns its complaint or None."""
        with concurrent.futures.ThreadPoolExecutor(2 * len(os.sched_getaffinity(0))) as pool:
            found = list(pool.map(lambda case: (case[0], case[1]()), cases))
        complaints = [f"{name}: {said}" for name, said in found if said]
        self.assertFalse(complaints, "\n" + "\n".join(complaints))
        self.assertGreater(len(found), 0)

    @staticmethod
    def told(status, err):
        """A refusal: status bad input or refused, with a message that does not report a bug of the program."""
        if status not in (2, 3):
            return f"status {status}: {err.decode(errors='replace')[-300:]}"
        if not err.strip() or b"report" in err.lower():
            return f"says {err!r}"
        return None

    # ---- stdin, stdout, stderr ----
    def stream(self, place, command, conditions):
        status, out, err = place.call(COMMANDS[command](place))
        if status not in range(5):
            return f"status {status}: {err!r}"
        said = [(condition, self.held(place, command, condition, status, out)) for condition in conditions]
        return "; ".join(f"{condition}: {words}" for condition, words in said if words)

    @staticmethod
    def held(place, command, condition, status, out):
        if condition == "stdout broken":
            end, broken = os.pipe()
            os.close(end)
            seen = place.call(COMMANDS[command](place), stdout=broken)
            os.close(broken)
        else:
            seen = place.call(COMMANDS[command](place), redirect=STREAMS[condition])
        if seen[0] not in range(5):
            return f"status {seen[0]}: {seen[2].decode(errors='replace')[-300:]}"
        if command in ("worker", "judge"):
            return None  # their streams belong to their client
        lost = condition.startswith(("stdout", "all"))
        if lost and out:
            said = condition == "all closed" or b"stdout" in seen[2]
            return None if seen[0] == max(status, 3) and said else f"status {seen[0]}, says {seen[2]!r}"
        if seen[0] != status or (not lost and normal(place, seen[1]) != normal(place, out)):
            return f"status {seen[0]} instead of {status}, {seen[1][:200]!r} instead of {out[:200]!r}"
        return None

    def test_closed_and_full_streams(self):
        for user in users()[-1:]:  # rights do not matter to a stream that is open already
            with self.subTest(user=user), Place(user) as place:
                self.check([(command, lambda c=command: self.stream(place, c, [*STREAMS, "stdout broken"])) for command in COMMANDS])

    def test_a_pipe_that_takes_only_the_beginning_is_no_success(self):
        with Place(None) as place:
            child = place.start(["doctor", "--isa"])  # more than a pipe holds
            child.stdout.read(10)
            child.stdout.close()
            err = child.stderr.read()
            child.stderr.close()
            self.assertEqual(child.wait(HANGS_AFTER), 3, err)

    def test_little_memory(self):
        def case(place, command, megabytes):
            status, _, err = place.call(COMMANDS[command](place), before=f"ulimit -v {megabytes * 1000};")
            if status == 127 and b"shared librar" in err:
                return None  # too little memory even for the loader
            return None if status in range(5) else f"status {status}: {err.decode(errors='replace')[-300:]}"
        with Place(None) as place:
            self.check([(f"{command} in {megabytes} MB", lambda c=command, m=megabytes: case(place, c, m))
                        for command in ("kernels", "devices", "presets", "run", "compare", "best as JSON")
                        for megabytes in (34, 38, 40, 42, 46, 52, 64, 90, 150)])

    # ---- paths that are read ----
    def test_paths_to_read(self):
        def case(place, command, what):
            status, _, err = place.call(INPUTS[command](place, UNREADABLE[what](place)))
            if command == "run --kernels" and what in ("a folder", NEEDS_NO_ROOT):
                return None if status in (0, 2, 3) else f"status {status}: {err!r}"
            return self.told(status, err)
        for user in users():
            with self.subTest(user=user), Place(user) as place:
                self.check([(f"{command} {what}", lambda c=command, w=what: case(place, c, w))
                            for command in INPUTS for what in UNREADABLE
                            if what != NEEDS_NO_ROOT or not reads_all(place)])

    # ---- paths that are written ----
    def test_paths_to_write(self):
        def case(place, command, what):
            status, _, err = place.call({**FILES, **FOLDERS}[command](place, UNWRITABLE[what](place)))
            if (place.path / "missing").exists():
                return "makes a folder that was not there"
            if what == "a folder" and command in FOLDERS:
                return None if status in range(5) else f"status {status}: {err!r}"
            return self.told(status, err)
        for user in users():
            with self.subTest(user=user), Place(user) as place:
                self.check([(f"{command} {what}", lambda c=command, w=what: case(place, c, w))
                            for command in [*FILES, *FOLDERS] for what in UNWRITABLE
                            if what != NEEDS_NO_ROOT or not reads_all(place)])

    def test_what_a_written_path_leads_to_stays_what_it_is(self):
        def link(place, command):
            target = text(place, b"before")
            path = linked(place, target)
            status, _, err = place.call(FILES[command](place, path))
            if status == 3 and not place.compiles:
                return None
            if status != 0 or not path.is_symlink() or target.read_bytes() == b"before":
                return f"status {status}, link {path.is_symlink()}: {err!r}"
            return None

        def device(place, command):
            path = full_device(place)
            if path is None:
                return None
            status, _, err = place.call(FILES[command](place, path))
            if not stat.S_ISCHR(os.stat(path).st_mode):
                return "replaces a device"
            return self.told(status, err)
        for user in users():
            with self.subTest(user=user), Place(user) as place:
                self.check([(f"{command} to {kind.__name__}", lambda c=command, k=kind: k(place, c))
                            for command in FILES for kind in (link, device)])

    # ---- environment ----
    def test_surroundings(self):
        def case(place, command, variable, what):
            env = dict(place.env)
            cwd = None
            value = UNREADABLE[what](place)
            if variable == "the folder it stands in":
                cwd = place.fresh()
                env["PWD"] = str(cwd)
                args = ["/bin/sh", "-c", 'cd "$0" && rmdir "$0" && exec "$@"', str(cwd), PROGRAM, *map(str, COMMANDS[command](place))]
                done = subprocess.run(args, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=HANGS_AFTER,
                                      **({} if place.user is None else {"user": place.user, "group": place.user, "extra_groups": []}))
                status, err = done.returncode, done.stderr
            else:
                env[variable] = str(value)
                status, _, err = place.call(COMMANDS[command](place), env=env)
            return None if status in range(5) else f"status {status}: {err.decode(errors='replace')[-300:]}"
        wrong = ["a device", "nothing", "a file below a file", "too long a name", "a link to itself", NEEDS_NO_ROOT]
        for user in users():
            with self.subTest(user=user), Place(user) as place:
                cases = [(command, variable, what) for command in ("run", "kernels", "presets", "doctor", "import", "best", "export")
                         for variable in ("ATTNSCOPE_HOME", "ATTNSCOPE_RESOURCES") for what in wrong
                         if what != NEEDS_NO_ROOT or not reads_all(place)]
                cases += [(command, "the folder it stands in", "nothing") for command in COMMANDS]
                self.check([(" ".join(c), lambda c=c: case(place, *c)) for c in cases])

    # ---- the display ----
    def test_a_display_that_goes_away(self):
        xvfb = shutil.which("Xvfb")
        if not HAS_UI or not xvfb:
            self.skipTest("no window, or no Xvfb")
        ours, theirs = os.pipe()
        with Place(None) as place:
            server = subprocess.Popen([xvfb, "-displayfd", str(theirs), "-screen", "0", "1280x720x24", "+extension", "GLX"],
                                      pass_fds=[theirs], stderr=subprocess.DEVNULL)
            os.close(theirs)
            with os.fdopen(ours) as said:
                display = ":" + said.readline().strip()
            child = place.start([], env=dict(place.env, DISPLAY=display))
            try:
                wait_for_window(display)
                journal = place.home / "data" / "journal.json"
                end = time.monotonic() + HANGS_AFTER
                while not journal.exists() and time.monotonic() < end:  # nothing is open before a device is known
                    time.sleep(0.02)
                server.kill()
                _, err = child.communicate(timeout=HANGS_AFTER)
            finally:
                server.kill()
                server.wait()
                child.kill()
            self.assertEqual(child.returncode, 4, err)
            self.assertIn(b"the display went away", err)
            self.assertTrue(journal.exists(), "what was open is kept")


def wait_for_window(display):
    """Waits for a window of some size: the program first opens a small hidden one to look for OpenGL."""
    x = ctypes.CDLL("libX11.so.6")
    x.XOpenDisplay.restype = ctypes.c_void_p
    x.XDefaultRootWindow.restype = ctypes.c_ulong
    ignored = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda *_: 0)  # a window that is gone again
    x.XSetErrorHandler(ignored)
    end = time.monotonic() + HANGS_AFTER
    server = None
    while not server and time.monotonic() < end:
        server = x.XOpenDisplay(display.encode())
    server = ctypes.c_void_p(server)
    root, parent, count = ctypes.c_ulong(), ctypes.c_ulong(), ctypes.c_uint()
    windows = ctypes.POINTER(ctypes.c_ulong)()
    x_, y, width, height, border, depth = (ctypes.c_uint() for _ in range(6))
    while time.monotonic() < end:
        x.XQueryTree(server, ctypes.c_ulong(x.XDefaultRootWindow(server)), ctypes.byref(root), ctypes.byref(parent),
                     ctypes.byref(windows), ctypes.byref(count))
        for at in range(count.value):
            x.XGetGeometry(server, ctypes.c_ulong(windows[at]), ctypes.byref(root), *map(ctypes.byref, (x_, y, width, height, border, depth)))
            if width.value > 600:
                x.XCloseDisplay(server)
                return
        time.sleep(0.1)
    raise AssertionError("no window came")


STREAMS = {
    "stdin closed": "<&-",
    "stdout closed": ">&-",
    "stderr closed": "2>&-",
    "all closed": "<&- >&- 2>&-",
    "stdout full": ">/dev/full",
    "stderr full": "2>/dev/full",
    "stdin a folder": "</",
}

if __name__ == "__main__":
    unittest.main()
