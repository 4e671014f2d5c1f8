"""A layer's own tests, built with a faulty source and run.

The fault is written into a tree of links to app/, and only what includes it is compiled again, from there; every other object
is the one that the build has. Where the build joins sources, only the faulty one is compiled and linked before the joined object:
code for a shared library (-fPIC) reaches every function through its symbol, also of its own object, and the linker takes the first
definition of one. So the checkout and the build folder stay as they are, however a run ends.
"""

import dataclasses
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import threading
import time

MEMORY = 6 << 30         # bytes that a test may map
LONGEST_FILE = 512 << 20  # bytes that it may write into one file: a loop that writes ends there
KEPT_OUTPUT = 1 << 20
OUT_OF_TIME = {status for each in (signal.SIGXCPU, signal.SIGKILL) for status in (-each, 128 + each)}   # also as a shell says it
SETTLED = 2              # seconds until the program no longer counts as one that is still being written (platform/file_stamp.cpp)
LONGEST_UNMEASURED = 60  # seconds that tests may compute before it is asked what each of them takes


class DoesNotBuild(Exception):
    """The faulty source is refused by the compiler or the linker."""


def own_processes():
    """The command that gives a program its own process numbers, so that a fault in a signal or a kill reaches nothing else and
    nothing outlives the test; empty where the system allows none."""
    for command in (["unshare", "--mount-proc", "--pid", "--fork", "--kill-child"],
                    ["unshare", "--user", "--map-root-user", "--mount-proc", "--pid", "--fork", "--kill-child"]):
        try:
            if subprocess.run([*command, "true"], capture_output=True).returncode == 0:
                # A shell is the first process there: it has signal handlers of its own and waits for orphans.
                return [*command, "sh", "-c", '"$@"; exit $?', "sh"]
        except OSError:
            pass
    return []


@dataclasses.dataclass
class Ended:
    status: int     # the exit status; negative: the signal
    output: str
    overran: bool   # it ran into the time limit
    seconds: float


def run_for(command, folder, seconds, environment=None, busy=None):
    """Runs a command in `folder`, with a home and a temporary folder of its own there, for so many seconds at most; each of its
    processes computes for `busy` seconds at most, which ends an endless loop earlier."""
    home = folder / "home"
    (home / ".cache" / "attnscope").mkdir(parents=True, exist_ok=True)
    (folder / "tmp").mkdir(exist_ok=True)
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "attnscope"
    pinned = home / ".cache" / "attnscope" / "cuda"
    if not pinned.is_symlink() and (cache / "cuda").is_dir():
        pinned.symlink_to(cache / "cuda")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ATTNSCOPE_"))}
    started = time.monotonic()

    def limits():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_FSIZE, (LONGEST_FILE, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if busy:
            resource.setrlimit(resource.RLIMIT_CPU, (int(busy), int(busy)))

    # A pipe: a test may limit the size of the files that it writes. The end of endless output is kept.
    child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             preexec_fn=limits, start_new_session=True,
                             env={**clean, "HOME": str(home), "TMPDIR": str(folder / "tmp"), **(environment or {})})
    kept = bytearray()

    def read():
        while chunk := child.stdout.read1(1 << 16):
            kept.extend(chunk)
            del kept[:-KEPT_OUTPUT]

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    overran = False
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        overran = True
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
        reader.join(10)
        if not reader.is_alive():
            child.stdout.close()
    return Ended(child.returncode, bytes(kept).decode(errors="replace"), overran, time.monotonic() - started)


class Build:
    """What the build folder knows: how each source is compiled, what includes a header, how a program is linked."""

    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        self.sources, self.compiling, self.joined = {}, {}, {}
        for entry in json.loads((folder / "compile_commands.json").read_text()):
            words = shlex.split(entry["command"])
            if pathlib.Path(words[0]).name == "ccache":
                words = words[1:]
            built = words[words.index("-o") + 1]
            self.joined[built] = joined_in(pathlib.Path(entry["file"]))
            for source in self.joined[built] or [entry["file"]]:
                self.sources.setdefault(source, []).append(built)
            self.compiling[built] = words
        self.included = None

    def ninja(self, *arguments):
        return subprocess.run(["ninja", "-C", str(self.folder), "-t", *arguments], capture_output=True, text=True, check=True).stdout

    def objects_of(self, path):
        """The objects that a source of the tree is compiled or included into."""
        if path.suffix == ".cpp":
            return set(self.sources.get(str(path), ()))
        if self.included is None:
            self.included = {}
            built = None
            for line in self.ninja("deps").splitlines():
                if line.startswith("    "):
                    name = os.path.normpath(self.folder / line.strip())
                    if name.startswith(str(self.root)):
                        self.included.setdefault(name, set()).add(built)
                else:
                    built = line.split(":", 1)[0]
        return self.included.get(str(path), set())

    def link_command(self, program):
        """The words that link a program, relative to the build folder, and the name of what they make."""
        command = self.ninja("commands", program).strip().splitlines()[-1]
        for part in command.split(" && "):
            words = shlex.split(part)
            if "-o" in words and pathlib.Path(words[words.index("-o") + 1]).name == program:
                return words
        raise ValueError(f"{self.folder} has no link command of {program}")


def overlay(root, path, text, folder):
    """A tree of links to app/ in `folder`, with `text` in the place of one file."""
    for directory, _, names in os.walk(root / "app"):
        below = folder / pathlib.Path(directory).relative_to(root)
        below.mkdir(parents=True)
        for name in names:
            (below / name).symlink_to(pathlib.Path(directory) / name)
    (folder / path).unlink()
    (folder / path).write_text(text)


def joined_in(file):
    """The sources that CMake joins in a file; none of a file that is a source itself."""
    if file.parent.name != "Unity" or not file.is_file():
        return []
    return re.findall(r'^#include "(.+)"', file.read_text(), re.MULTILINE)


def is_replaceable(words):
    """Whether a function of an object compiled with these words can be replaced by the linker: none of its callers there has it
    inlined."""
    return "-fPIC" in words and "-fno-semantic-interposition" not in words and "-fvisibility=hidden" not in words


def compile_words(words, root, tree, made, source=None):
    """A compile command, reading app/ from another tree, quick rather than optimised, and with no warnings; with `source`, of
    that file in the place of its own."""
    changed = []
    for at, word in enumerate(words):
        if source and at and words[at - 1] == "-c":
            word = source
        if at and words[at - 1] == "-o":
            word = str(made)
        elif word in (f"-I{root}/app", str(root / "app")):
            word = word.replace(f"{root}/app", f"{tree}/app")
        elif word.startswith(f"{root}/app/"):
            word = f"{tree}/app/" + word[len(f"{root}/app/"):]
        changed.append(word)
    # Vector code unoptimised takes minutes; what has its own level keeps it.
    level = [] if words.count("-O3") > 1 else ["-O1"]
    return changed + level + ["-w"]


def link_words(words, made, program):
    """A link command with some of its objects made again; one that comes out of a library, or that only a part of a joined object
    was made again of, goes before everything else, so that its definitions are the ones that are taken."""
    changed, before = [], [str(new) for old, new in made.items() if old not in words]
    for at, word in enumerate(words):
        if at and words[at - 1] == "-o":
            changed += [str(program), *before]
        else:
            changed.append(str(made.get(word, word)))
    changed.append("-Wl,--allow-multiple-definition")
    if shutil.which("ld.lld"):
        changed.append("-fuse-ld=lld")   # in a tenth of the time
    return changed


def build_with(build, program, path, text, folder):
    """Builds a program with `text` in the place of one source of app/; its path."""
    tree = folder / "tree"
    overlay(build.root, path, text, tree)
    linking = build.link_command(program)
    layer = pathlib.Path(path).parts[1]
    wanted = [name for name in build.objects_of(build.root / path)
              if f"/attnscope_{layer}.dir/" in name or f"/{program}.dir/" in name or name in linking]
    made = {}
    for number, name in enumerate(sorted(wanted)):
        faulty, source = folder / f"{number}.o", None
        if build.joined[name] and path.endswith(".cpp") and is_replaceable(build.compiling[name]):
            source = str(tree / path)
        elif build.joined[name]:
            source = str(folder / f"{number}.cpp")
            pathlib.Path(source).write_text("".join(f'#include "{each.replace(f"{build.root}/app/", f"{tree}/app/")}"\n'
                                                    for each in build.joined[name]))
        words = compile_words(build.compiling[name], build.root, tree, faulty, source)
        if subprocess.run(words, cwd=build.folder, capture_output=True).returncode:
            raise DoesNotBuild("does not compile")
        made[name] = faulty
    if not made:
        raise DoesNotBuild("does not compile")   # a header that nothing of the layer includes
    (folder / "bin").mkdir()
    linked = folder / "bin" / program
    if subprocess.run(link_words(linking, made, linked), cwd=build.folder, capture_output=True).returncode:
        raise DoesNotBuild("does not link")
    for object in made.values():
        object.unlink()
    shutil.rmtree(tree)
    time.sleep(SETTLED)
    return linked


def first_failure(ended):
    """The first test that failed, or the one that did not come to an end."""
    failed = re.search(r"^\[  FAILED  \] ([^\s,(]+)", ended.output, re.MULTILINE)
    if failed:
        return failed.group(1)
    begun = re.findall(r"^\[ RUN      \] (\S+)", ended.output, re.MULTILINE)
    return (begun[-1] if begun else "start") + (" (time limit)" if ended.overran else " (crash)")


class Once:
    """Calls a function the first time that it is called itself."""

    def __init__(self, call):
        self.call, self.done, self.lock = call, False, threading.Lock()

    def __call__(self):
        with self.lock:
            if not self.done:
                self.call()
                self.done = True


class UnitTests:
    """A layer's googletest program, without the tests that fail here anyway and those that would take longer than wanted."""

    def __init__(self, build, program, suites_near):
        self.build, self.program, self.suites_near = build, program, suites_near
        self.left_out, self.failing, self.seconds, self.count, self.known = [], [], 0.0, 0, {}

    def path(self):
        words = self.build.link_command(self.program)
        return self.build.folder / words[words.index("-o") + 1]

    def calibrate(self, sandbox, folder, longest):
        """Runs the tests without a fault: what each takes, and which fail."""
        result = folder / "tests.json"
        ended = run_for([*sandbox, str(self.path()), f"--gtest_output=json:{result}"], folder, 1800)
        if not result.is_file():
            raise RuntimeError(f"{self.program} does not run through without a fault:\n{ended.output[-2000:]}")
        passed = []
        for suite in json.loads(result.read_text())["testsuites"]:
            for test in suite["testsuite"]:
                name = f"{suite['name']}.{test['name']}"
                if "failures" in test:
                    self.failing.append(name)
                elif test.get("result") == "COMPLETED":
                    passed.append((float(test["time"].rstrip("s")), name))
        for seconds, name in sorted(passed):
            if self.seconds + seconds > longest:
                self.left_out.append(name)
            else:
                self.seconds += seconds
                self.count += 1

    def killed_by(self, linked, path, sandbox, folder):
        """The test that notices the fault in `path`; None when all pass. The suites near it are asked first. Only of tests that
        compute for long it matters what each takes."""
        near = ":".join(f"{suite}.*:*/{suite}.*:{suite}/*" for suite in self.suites_near(path))
        for wanted in [f"{near}-", f"*-{near}"] if near else ["*-"]:
            noticed, through = self.noticed(linked, wanted, sandbox, folder, LONGEST_UNMEASURED)
            if noticed:
                return noticed
            if not through:
                break
        else:
            return None
        self.calibrated()
        without = ":".join([*self.left_out, *self.failing])
        noticed, through = self.noticed(linked, f"*-{without}", sandbox, folder, 10 + 4 * self.seconds)
        return noticed or (None if through else "all (time limit)")

    def noticed(self, linked, wanted, sandbox, folder, busy):
        """The first test of `wanted` that fails with the fault and passes without it, or None; and whether all of them ran in
        `busy` seconds."""
        apart = []
        while True:
            ended = self.run(linked, ":".join([wanted, *apart]), sandbox, folder, busy)
            if not ended.status and not ended.overran:
                return None, True
            name = first_failure(ended)
            test = name.split(" ")[0]
            if test == "start":
                return name, True
            seconds = self.alone(test, sandbox, folder, busy)
            if seconds is None:
                apart.append(test)   # it needs what this machine lacks
            elif not ended.overran and ended.status not in OUT_OF_TIME:
                return name, True
            else:
                again = self.run(linked, test, sandbox, folder, 5 + 4 * seconds)
                return (name, True) if again.status or again.overran else (None, False)

    def run(self, program, wanted, sandbox, folder, busy):
        return run_for([*sandbox, str(program), "--gtest_fail_fast", f"--gtest_filter={wanted}"], folder, 60 + 20 * busy, busy=busy)

    def alone(self, test, sandbox, folder, busy):
        """The seconds that a test takes by itself without a fault; None for one that fails then."""
        if test not in self.known:
            ended = self.run(self.path(), test, sandbox, folder, busy)
            self.known[test] = None if ended.status or ended.overran else ended.seconds
        return self.known[test]


class ProgramTests:
    """The tests of tests/cli, which start the whole program: the quickest of them, as many as are wanted."""

    def __init__(self, build, program):
        self.build, self.program = build, program
        self.left_out, self.failing, self.seconds, self.count, self.wanted = [], [], 0.0, 0, []

    def path(self):
        return self.build.folder / self.program

    def tests(self):
        listed = subprocess.run(["ctest", "--test-dir", str(self.build.folder), "--show-only=json-v1"], capture_output=True,
                                text=True, check=True)
        for test in json.loads(listed.stdout)["tests"]:
            command = test.get("command", [])
            if test["name"].startswith("cli.") and any(word.endswith(".py") for word in command):
                given = next((each["value"] for each in test["properties"] if each["name"] == "ENVIRONMENT"), [])
                yield test["name"], command, dict(each.split("=", 1) for each in given)

    def calibrate(self, sandbox, folder, longest):
        measured = []
        for name, command, environment in self.tests():
            ended = run_for([*sandbox, *command], folder, 300, environment)
            if ended.status:
                self.failing.append(name)
            else:
                measured.append((ended.seconds, name))
        for seconds, name in sorted(measured):
            if self.seconds + seconds > longest:
                self.left_out.append(name)
            else:
                self.seconds += seconds
                self.count += 1
                self.wanted.append(name)

    def killed_by(self, linked, path, sandbox, folder):
        self.calibrated()
        limit = 30 + 10 * self.seconds
        every = {name: (command, environment) for name, command, environment in self.tests()}
        for name in self.wanted:
            command, environment = every[name]
            environment = {key: value.replace(str(self.path()), str(linked)) for key, value in environment.items()}
            ended = run_for([*sandbox, *command], folder, limit, environment)
            if ended.status or ended.overran:
                return name + (" (time limit)" if ended.overran else "")
        return None
