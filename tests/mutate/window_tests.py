"""The window's tests (tests/ui), which are too many for one process and for every fault."""

import pathlib
import re
import subprocess
import threading
import time

import layer_tests

BEGINS = ("TEST(", "TEST_F(", "TEST_P(")
PASSED = re.compile(r"^\[       OK \] (\S+) \((\d+) ms\)", re.MULTILINE)
NEAR, SHOWN, LOOK, NAMED, OTHER = range(5)


def nearness(root):
    """A function that says how near a test is to a source: NEAR, its file is named after the source or includes its header;
    SHOWN, it compares what is drawn with a recording, and its text names the source; LOOK, it compares what is drawn; NAMED, its
    text names the source; or OTHER."""
    tests = {}   # Suite.Test: the name of its file, the file's #includes, its own text in small letters
    for file in sorted((root / "tests" / "ui").glob("*_test.cpp")):
        text = file.read_text()
        for part in re.split(r"^(?=TEST(?:_F|_P)?\()", text, flags=re.MULTILINE):
            if part.startswith(BEGINS):
                suite, name = part.split("(", 1)[1].split(")", 1)[0].split(",")
                tests[f"{suite.strip()}.{name.strip()}"] = file.name, text, part.lower()

    def near(path, test):
        suite, name = test.split(".", 1)
        known = tests.get(f"{suite.rsplit('/', 1)[-1]}.{name.split('/')[0]}")
        if known is None:
            return OTHER
        file, text, own = known
        word = pathlib.Path(path).stem.split("_")[0]
        if file.startswith(word) or f'#include "{path[len("app/"):].rsplit(".", 1)[0]}.h"' in text:
            return NEAR
        named = word in own
        if suite.startswith(("Look", "Tour")):
            return SHOWN if named else LOOK
        return NAMED if named else OTHER
    return near


def in_groups(names, size):
    return [names[at:at + size] for at in range(0, len(names), size)]


class WindowTests(layer_tests.UnitTests):
    """AT_ONCE in a process: after some hundred windows OpenGL gives a process no further one. A fault is put to all that are near
    it, and then to the others, those that show it first, for so many seconds. What a test takes is learnt when it passes."""
    AT_ONCE = 12
    OTHERS = 150   # seconds
    UNKNOWN = 5    # seconds that a test is thought to take before it has run

    def __init__(self, build, program, near):
        super().__init__(build, program, None)
        self.near, self.taken, self.lock = near, {}, threading.Lock()

    def listed(self):
        listing = subprocess.run([str(self.path()), "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
        suite = ""
        for line in listing.splitlines():
            name = line.split("#")[0].strip()
            if line.startswith("  "):
                yield suite + name
            elif name.endswith("."):
                suite = name

    def calibrate(self, sandbox, folder, longest):
        self.count = len(list(self.listed()))

    def order(self, path):
        """The tests that are near this source, and the others in the order in which they are asked."""
        with self.lock:
            taken = dict(self.taken)
        every = [(self.near(path, name), taken.get(name, self.UNKNOWN), name) for name in self.listed()]
        return ([name for rank, _, name in sorted(every) if rank == NEAR], [name for rank, _, name in sorted(every) if rank != NEAR])

    def run(self, program, wanted, sandbox, folder, busy):
        ended = super().run(program, wanted, sandbox, folder, busy)
        with self.lock:
            self.taken.update({name: int(ms) / 1000 for name, ms in PASSED.findall(ended.output)})
        return ended

    def killed_by(self, linked, path, sandbox, folder):
        self.calibrated()
        near, others = self.order(path)
        for group in in_groups(near, self.AT_ONCE):
            if noticed := self.noticed_in(linked, group, sandbox, folder):
                return noticed
        until, waiting = time.monotonic() + self.OTHERS, in_groups(others, self.AT_ONCE)
        while waiting and time.monotonic() < until:
            if noticed := self.noticed_in(linked, waiting.pop(0), sandbox, folder):
                return noticed
        left_out = sum(waiting, [])
        with self.lock:
            self.seconds = max(self.seconds, sum(self.taken.values()))
            self.left_out = sorted({*self.left_out, *left_out})
        return None

    def noticed_in(self, linked, group, sandbox, folder):
        limit = 30 + 4 * sum(self.taken.get(name, self.UNKNOWN) for name in group)
        noticed, through = self.noticed(linked, ":".join(group) + "-", sandbox, folder, limit)
        if noticed:
            test = noticed.split(" ")[0]
            again = self.run(linked, test if test in group else ":".join(group), sandbox, folder, limit)
            if again.status or again.overran:
                return noticed
            others = [name for name in group if name != test]   # once is chance: a test of the window may run out of its time
            return self.noticed_in(linked, others, sandbox, folder) if others and test in group else None
        if through:
            return None
        if len(group) == 1:
            return f"{group[0]} (time limit)"
        return next(filter(None, (self.noticed_in(linked, [name], sandbox, folder) for name in group)), None)
