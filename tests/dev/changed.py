"""Which tests a change touches: the targets to build and the tests to run.

    python3 tests/dev/changed.py [BASE]

The change is the difference from BASE, committed or not. BASE is where the branch left main; on main the last commit, or the
one before it when nothing is uncommitted. Prints three lines: what is touched, the targets, and a pattern of test names.

A source of app/ touches its layer and every layer that may include it (app/layers.json). A layer's tests are tests/unit/<layer>
and the folders of tests/ whose CMakeLists.txt names the layer or, for every layer, the program. Any other file, such as a
preset, touches the layers and tests whose sources name its folder. Build files touch everything.
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
EVERYTHING = re.compile(r"CMakeLists\.txt|CMakePresets\.json|app/CMakeLists\.txt|app/layers\.json|cmake/.*|tests/CMakeLists\.txt")
SOURCES = {".h", ".cpp", ".inc", ".py", ".c"}


def git(root, *words):
    return subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True)


def changed_files(root, base=None):
    status = git(root, "status", "--porcelain", "--no-renames", "-uall", "-z").stdout
    uncommitted = [entry[3:] for entry in status.split("\0") if entry]
    if base is None:
        head = git(root, "rev-parse", "HEAD").stdout.strip()
        base = git(root, "merge-base", "HEAD", "main").stdout.strip() or head
        if base == head and not uncommitted:
            base = "HEAD~1"
    listed = git(root, "diff", "--name-only", "--no-renames", "-z", base)
    if listed.returncode:
        raise SystemExit(f"dev: git knows no {base}: {listed.stderr.strip()}")
    return sorted(set(listed.stdout.split("\0") + uncommitted) - {""})


class Tree:
    """The layers, and the folders of tests/ with the layers that they depend on."""

    def __init__(self, root):
        self.root = root
        rules = json.loads((root / "app" / "layers.json").read_text())
        self.below = {layer: set(below) for layer, below in rules["layers"].items() if (root / "app" / layer).is_dir()}
        for folder, more in rules.get("folders", {}).items():
            layer = folder.split("/")[0]
            if layer in self.below:
                self.below[layer] |= set(more)
        self.folders = {}   # folder of tests/ → the layers that it depends on
        for listed in sorted((root / "tests").glob("*/CMakeLists.txt")):
            text = listed.read_text()
            named = {layer for layer in self.below if re.search(rf"\battnscope_{layer}\b", text)}
            if re.search(r"TARGET(_FILE:| )attnscope\b", text):
                named = set(self.below)
            self.folders[listed.parent.name] = named

    def sources(self, folder):
        return (path for path in folder.rglob("*") if path.suffix in SOURCES or path.name == "CMakeLists.txt")

    def naming(self, words):
        """The layers and the folders of tests whose sources name one of these folders or files."""
        pattern = re.compile("|".join(rf'["/$]{re.escape(word)}[./"]' for word in words))

        def names(folder):
            return folder.is_dir() and any(pattern.search(path.read_text(errors="replace")) for path in self.sources(folder))

        return ({layer for layer in self.below if names(self.root / "app" / layer)},
                {layer for layer in self.below if names(self.root / "tests" / "unit" / layer)},
                {folder for folder in self.folders if names(self.root / "tests" / folder)})

    def above(self, layers):
        """The layers, and all that may include them."""
        found = set(layers)
        while True:
            more = {layer for layer, below in self.below.items() if below & found} - found
            if not more:
                return found
            found |= more


def touched(tree, names):
    """The layers whose unit tests, and the folders of tests/ that the change reaches."""
    changed, units, folders = set(), set(), {"layers"}
    for name in names:
        parts = pathlib.PurePosixPath(name).parts
        if EVERYTHING.fullmatch(name):
            return set(tree.below), set(tree.folders)
        if parts[0] == "app" and parts[1] in tree.below:
            changed.add(parts[1])
        elif parts[0] == "app":
            changed.add("cli")   # main.cpp
        elif parts[:2] == ("tests", "unit") and parts[2] in tree.below:
            units.add(parts[2])
        elif parts[0] == "tests" and parts[1] in tree.folders and parts[1] != "support":
            folders.add(parts[1])
        else:
            # tests/data/x.json and tests/data/x/y.json: readers of data/x.
            words = ["/".join(parts[1:3])] if parts[:2] == ("tests", "data") else [parts[1] if parts[0] == "tests" else parts[0]]
            if name.startswith("tests/support/"):
                words.append("fake_worker")
            elif name == "dev":
                folders.add("dev")
            layers, more_units, more_folders = tree.naming(words)
            changed |= layers
            units |= more_units
            folders |= more_folders
    reached = tree.above(changed)
    folders |= {folder for folder, below in tree.folders.items() if below & reached and folder != "support"}
    return reached | units, folders


def targets_and_pattern(tree, units, folders):
    targets, prefixes = [], []
    for layer in tree.below:
        if layer in units and any((tree.root / "tests" / "unit" / layer).glob("*.cpp")):
            targets.append(f"{layer}_tests")
            prefixes += [layer] + (["toolkit_hidden"] if layer == "compile" else [])
    for folder in sorted(folders):
        text = (tree.root / "tests" / folder / "CMakeLists.txt").read_text()
        targets.append(f"tests/{folder}/all")
        targets += re.findall(r"TARGET_FILE:(\w+)", text)
        if "cuda_api/fakes" in text:
            targets.append("tests/unit/cuda_api/fakes/all")
        prefixes.append({"layers": "source"}.get(folder, folder))
    return list(dict.fromkeys(targets)), "^(" + "|".join(dict.fromkeys(prefixes)) + r")\."


def main(words):
    tree = Tree(ROOT)
    names = changed_files(ROOT, *words)
    if not names:
        raise SystemExit("dev: nothing has changed.")
    units, folders = touched(tree, names)
    targets, pattern = targets_and_pattern(tree, units, folders)
    print(f"{len(names)} changed files touch " + ", ".join([layer for layer in tree.below if layer in units]
                                                         + [f"tests/{folder}" for folder in sorted(folders)]))
    print(" ".join(targets))
    print(pattern)


if __name__ == "__main__":
    main(sys.argv[1:])
