"""Plants one-token faults in app/ and says which of them a layer's own tests do not notice.

    ./dev mutate [LAYER] [--count N] [--seed S] [--jobs J] [--again TABLE]

Of one seed the same source draws the same faults. Each is put to the tests of its layer only: tests/unit/<layer>; of ui the
window's (tests/ui), the nearest to it first and others for a time; of cli its unit tests and tests/cli. A fault that does not
compile is drawn again; one that tests/mutate/equivalent.txt says changes nothing is not counted. The table goes to the terminal
and to build/mutate/table.txt, layer by layer. `--again` takes such a table and judges only the faults that survived there.
"""

import argparse
import concurrent.futures
import json
import pathlib
import shutil
import sys
import tempfile

import faults
import layer_tests
import window_tests

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST = 60     # seconds that a layer's tests may take without a fault; the rest is left out, and the table says so
LEAST = 8        # faults of a layer, when all the layers are drawn from: fewer say little about it
DATA = {"app/emulator/isa/recorded_forms.inc"}   # recorded, not written


def layers(root):
    graph = json.loads((root / "app" / "layers.json").read_text())["layers"]
    return [layer for layer in graph if (root / "app" / layer).is_dir()]


def sites_of(root, layer):
    sites = []
    for path in sorted((root / "app" / layer).rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix in (".cpp", ".h", ".inc") and name not in DATA:
            sites += faults.sites_in(path.read_text(), name)
    return sites


def shares(sizes, count):
    """How many faults of each layer: LEAST of each, and by its size what the small layers leave of `count`."""
    small, left, whole = set(), count, sum(sizes.values())
    while further := {layer for layer, size in sizes.items() if layer not in small and left * size < LEAST * whole}:
        small |= further
        left = count - LEAST * len(small)
        whole = sum(size for layer, size in sizes.items() if layer not in small)
    found, rest = {}, left
    for layer in sorted(sizes, key=sizes.get):
        found[layer] = LEAST if layer in small else round(rest * sizes[layer] / whole)
        if layer not in small:
            rest, whole = rest - found[layer], whole - sizes[layer]
    return {layer: found[layer] for layer in sizes}


def programs(layer):
    if layer == "ui":
        return ["ui_tests"]
    return [f"{layer}_tests"] + (["attnscope"] if layer == "cli" else [])


def surroundings(sandbox, layer):
    """What starts a layer's tests: the window's have a display of their own, as tests/ui/CMakeLists.txt gives them one."""
    if layer == "ui" and shutil.which("xvfb-run"):
        return [*sandbox, "xvfb-run", "-a", "-s", "-screen 0 1600x900x24 +extension GLX"]
    return sandbox


def suites_near(root, layer):
    """A function that names the suites of the test files that are named after a source, or include its header."""
    texts = {test: test.read_text() for test in sorted((root / "tests" / "unit" / layer).glob("*_test.cpp"))}

    def near(path):
        stem, header = pathlib.Path(path).stem, f'#include "{path[len("app/"):].rsplit(".", 1)[0]}.h"'
        found = set()
        for test, text in texts.items():
            if test.name.startswith(stem.split("_")[0]) or header in text:
                for line in text.splitlines():
                    if line.startswith(("TEST(", "TEST_F(", "TEST_P(")):
                        found.add(line.split("(", 1)[1].split(",", 1)[0].strip())
        return sorted(found)
    return near


def tests_of(build, layer, sandbox, folder):
    """The layer's tests. What each takes is measured once for a build, when it is first asked for, and remembered."""
    every = []
    for program in programs(layer):
        if program == "attnscope":
            tests = layer_tests.ProgramTests(build, program)
        elif layer == "ui":
            tests = window_tests.WindowTests(build, program, window_tests.nearness(ROOT))
        else:
            tests = layer_tests.UnitTests(build, program, suites_near(ROOT, layer))
        stamp = [tests.path().stat().st_mtime_ns, LONGEST]
        remembered = folder / f"{layer}.{program}.json"

        def calibrate(tests=tests, stamp=stamp, remembered=remembered):
            known = json.loads(remembered.read_text()) if remembered.is_file() else {}
            if known.get("stamp") == stamp:
                tests.__dict__.update(known["tests"])
                return
            print(f"running {tests.program} without a fault", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory() as own:
                pathlib.Path(own).chmod(0o755)   # some tests give their rights away
                tests.calibrate(sandbox, pathlib.Path(own), LONGEST)
            kept = {name: getattr(tests, name) for name in ("left_out", "failing", "seconds", "count", "wanted")
                    if hasattr(tests, name)}
            remembered.write_text(json.dumps({"stamp": stamp, "tests": kept}))

        tests.calibrated = layer_tests.Once(calibrate)
        every.append(tests)
    return every


def judge(build, tests, fault, sandbox):
    """What became of one fault: `does not compile`, `does not link`, `survived`, or the name of the test that noticed."""
    own = pathlib.Path(tempfile.mkdtemp(prefix="attnscope-mutate-"))   # outside the checkout: some tests look for a repository
    own.chmod(0o755)   # some tests give their rights away
    try:
        for each in tests:
            work = own / each.program
            work.mkdir()
            text = fault.planted((ROOT / fault.path).read_text())
            try:
                linked = layer_tests.build_with(build, each.program, fault.path, text, work)
            except layer_tests.DoesNotBuild as refused:
                return str(refused)
            noticed = each.killed_by(linked, fault.path, sandbox, work)
            if noticed:
                return noticed
        return "survived"
    finally:
        shutil.rmtree(own, ignore_errors=True)


def put_to_the_tests(build, layer, order, count, entries, sandbox, folder, jobs):
    """Judges faults in the drawn order until `count` of them are worth counting; rows of (fault, what became of it)."""
    sandbox = surroundings(sandbox, layer)
    tests = tests_of(build, layer, sandbox, folder)
    rows, counted, at = [], 0, 0

    def one(fault):
        entry = faults.equivalent_of(fault, entries)
        return fault, f"equivalent: {entry.why}" if entry else judge(build, tests, fault, sandbox)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        while counted < count and at < len(order):
            batch = order[at:at + min(count - counted, jobs)]
            at += len(batch)
            for fault, became in pool.map(one, batch):
                rows.append((fault, became))
                counted += is_counted(became)
                print(row_text(fault, became), flush=True)
    return tests, rows


def is_counted(became):
    return not became.startswith(("does not ", "equivalent: "))


def row_text(fault, became):
    if became != "survived" and is_counted(became):
        became = "caught by " + became
    return f"{fault.path}:{fault.number}\n    {fault}\n    {became}"


def summary(layer, tests, rows):
    counted = [became for _, became in rows if is_counted(became)]
    caught = sum(became != "survived" for became in counted)
    lines = [f"{layer}: {caught} of {len(counted)} caught"
             + f"; {sum(became.startswith('equivalent: ') for _, became in rows)} change nothing"
             + f", {sum(became.startswith('does not ') for _, became in rows)} do not compile"]
    for each in tests:
        if not each.calibrated.done:
            continue   # the tests near each fault noticed it
        lines.append(f"  {each.program}: {each.count} tests, {each.seconds:.0f} s"
                     + (f"; left out for their time: {len(each.left_out)}" if each.left_out else "")
                     + (f"; failing without a fault here, so left out: {', '.join(each.failing)}" if each.failing else ""))
    return "\n".join(lines)


def survivors(table):
    """The faults that survived by a table: (path, the fault in words)."""
    lines = table.splitlines()
    return {(lines[at].rsplit(":", 1)[0], lines[at + 1].strip())
            for at in range(len(lines) - 2) if lines[at + 2] == "    survived"}


def stale(entries, sites):
    """The entries of equivalent.txt that no fault of these sites matches any more."""
    there = {fault.named() for site in sites for fault in site}
    return [entry for entry in entries if (entry.file, entry.line, entry.becomes) not in there]


def arguments_of(words):
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__.split("\n")[0])
    parser.add_argument("layer", nargs="?", choices=layers(ROOT), metavar="LAYER", help="a folder of app/ (default: all)")
    parser.add_argument("--count", type=int, help="faults to judge (default: 20 of a layer, 200 of all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="faults judged at once (default: 1)")
    parser.add_argument("--again", metavar="TABLE", help="judge what survived by this table, and draw nothing")
    parser.add_argument("--only-list", action="store_true", help="draw and list, and build nothing")
    parser.add_argument("--targets", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--build", default="build/suite", help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    given.count = given.count or (20 if given.layer else 200)
    return given


def main(words):
    given = arguments_of(words)
    chosen = [given.layer] if given.layer else layers(ROOT)
    if given.targets:
        print("" if given.only_list else " ".join(program for layer in chosen for program in programs(layer)))
        return 0
    sites = {layer: sites_of(ROOT, layer) for layer in chosen}
    wanted = shares({layer: len(each) for layer, each in sites.items()}, given.count) if not given.layer else {given.layer: given.count}
    entries = faults.read_equivalent((pathlib.Path(__file__).parent / "equivalent.txt").read_text())
    orders = {layer: faults.drawn(sites[layer], given.seed, layer) for layer in chosen}
    if given.again:
        there = survivors(pathlib.Path(given.again).read_text())
        orders = {layer: [fault for site in sites[layer] for fault in site if (fault.path, str(fault)) in there] for layer in chosen}
        chosen = [layer for layer in chosen if orders[layer]]
        wanted = {layer: len(orders[layer]) for layer in chosen}
    if given.only_list:
        for layer in chosen:
            for fault in orders[layer][:wanted[layer]]:
                print(f"{fault.path}:{fault.number}\n    {fault}")
        return 0

    folder = ROOT / "build" / "mutate"
    folder.mkdir(parents=True, exist_ok=True)
    sandbox = layer_tests.own_processes()
    if not sandbox:   # a fault in what is killed could reach any process of this user
        print("no process namespace here: nothing is drawn from lines that send signals", file=sys.stderr)
        orders = {layer: [fault for fault in order if "kill" not in fault.line] for layer, order in orders.items()}
    build = layer_tests.Build(ROOT, ROOT / given.build)
    drawn_by = f"Survivors of {given.again}." if given.again else f"Seed {given.seed}."
    gone = stale([entry for entry in entries if entry.file.split("/")[1] in chosen], [site for each in sites.values() for site in each])
    forgotten = [f"tests/mutate/equivalent.txt: no such line or change any more: {entry.file}: {entry.line}" for entry in gone]
    summaries, table, text = [], [], drawn_by
    for layer in chosen:
        tests, rows = put_to_the_tests(build, layer, orders[layer], wanted[layer], entries, sandbox, folder, given.jobs)
        summaries.append(summary(layer, tests, rows))
        table += [row_text(*row) for row in rows]
        text = "\n".join([drawn_by, *summaries, *forgotten])
        (folder / "table.txt").write_text(text + "\n\n" + "\n".join(table) + "\n")
    print(f"\n{text}\nThe table: {folder / 'table.txt'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
