"""The window's tests (tests/ui), which are too many for one process and for every fault."""

import pathlib
import re
import subprocess

import layer_tests

BEGINS = ("TEST(", "TEST_F(", "TEST_P(")
NEAR, NAMED, LOOK, OTHER = range(4)


def nearness(root):
    """A function that says how near a test is to a source: NEAR, its file is named after the source or includes its header;
    NAMED, its text names the source; LOOK, it compares what is drawn with a recording; or OTHER."""
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
        return NAMED if word in own else LOOK if suite in ("Look", "Tour") else OTHER
    return near


def in_groups(names, size):
    return [names[at:at + size] for at in range(0, len(names), size)]


class WindowTests(layer_tests.UnitTests):
    """AT_ONCE in a process: after some hundred windows OpenGL gives a process no further one. A fault is put to all that are near
    it, and then to the others, those that name it first, for so many seconds."""
    AT_ONCE = 20
    OTHERS = 120   # seconds, as they take without a fault

    def __init__(self, build, program, near):
        super().__init__(build, program, None)
        self.near, self.taken = near, {}

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
        for group in in_groups(list(self.listed()), self.AT_ONCE):
            for seconds, name in self.measured(sandbox, folder, ":".join(group)):
                self.taken[name] = seconds
        self.seconds, self.count = sum(self.taken.values()), len(self.taken)

    def order(self, path):
        """The tests that a fault of this source is put to, in their order, and those that are left out for their time."""
        rank = {name: self.near(path, name) for name in self.taken}
        asked, left_out, others = [], [], 0.0
        for name in sorted(self.taken, key=lambda name: (rank[name], self.taken[name])):
            if rank[name] != NEAR and others + self.taken[name] > self.OTHERS:
                left_out.append(name)
                continue
            others += self.taken[name] if rank[name] != NEAR else 0
            asked.append(name)
        return asked, left_out

    def killed_by(self, linked, path, sandbox, folder):
        self.calibrated()
        asked, left_out = self.order(path)
        groups = in_groups(asked, self.AT_ONCE)
        while groups:
            group = groups.pop(0)
            limit = 10 + 4 * sum(self.taken[name] for name in group)
            noticed, through = self.noticed(linked, ":".join(group) + "-", sandbox, folder, limit)
            if noticed:
                return noticed
            if not through and len(group) == 1:
                return f"{group[0]} (time limit)"
            if not through:
                groups = in_groups(group, 1) + groups
        self.left_out = sorted({*self.left_out, *left_out})
        return None
