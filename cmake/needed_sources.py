"""Which sources of app/ tests need: needed_sources.py TREE NAME...

Prints those sources of TREE/app, one a line, that the tests of the named layers or folders of tests/ reach through what they
include. A header brings the source of its name, and those of its layer that include it and define a function or a class's
member that it declares. One that has no header of its name comes with each header of its layer that it includes.
"""
import collections
import os
import re
import sys

from join_sources import PRIVATE, code_of

INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)

# In our layout a definition begins in the first column, and a namespace's contents are not indented.
DEFINED = re.compile(r"^[A-Za-z][^;={}()]*?([A-Za-z_]\w*)(::~?\w+)?\(", re.M)
CALLED = re.compile(r"([A-Za-z_]\w*)\(")
CLASS = re.compile(r"\b(?:class|struct) (\w+)")

# Programs that the tests of a layer start.
HELPERS = {"session": [("support",)], "worker": [("faults", "support")]}


def files_below(folder):
    return sorted(os.path.join(where, name) for where, _, names in os.walk(folder) for name in names
                  if name.endswith((".cpp", ".h", ".inc")))


def read(file):
    with open(file, encoding="utf-8") as opened:
        return opened.read()


def defines_for(source, header):
    """Whether the source defines what the header declares."""
    declared = code_of(read(header))
    functions, classes = set(CALLED.findall(declared)), set(CLASS.findall(declared))
    return any(name in (classes if member else functions)
               for name, member in DEFINED.findall(PRIVATE.sub("", code_of(read(source)))))


def included(file, roots):
    names = INCLUDE.findall(read(file))
    paths = ([os.path.normpath(os.path.join(root, name)) for root in (os.path.dirname(file), *roots)] for name in names)
    return [found for found in (next(filter(os.path.exists, those), None) for those in paths) if found]


def needed(tree, names):
    app, tests = os.path.join(tree, "app"), os.path.join(tree, "tests")
    includes = {file: included(file, (app, tests)) for file in files_below(app) + files_below(tests)}
    brought = collections.defaultdict(list)
    for source in (file for file in includes if file.endswith(".cpp")):
        own = source[:-4] + ".h"
        layer = os.path.join(app, os.path.relpath(source, app).split(os.sep)[0], "")
        for header in {file for file in includes[source] if file.startswith(layer)}:
            if header == own or own not in includes or defines_for(source, header):
                brought[header].append(source)
    folders = [os.path.join(tests, *folder) for name in names for folder in (("unit", name), (name,), *HELPERS.get(name, ()))]
    found = {file for folder in folders for file in files_below(folder)}
    waiting = list(found)
    while waiting:
        file = waiting.pop()
        for other in includes.get(file, []) + brought[file]:
            if other not in found:
                found.add(other)
                waiting.append(other)
    return sorted(file for file in found if file.startswith(os.path.join(app, "")) and file.endswith(".cpp"))


if __name__ == "__main__":
    print("\n".join(needed(os.path.normpath(sys.argv[1]), sys.argv[2:])))
