"""The tool that plants faults: what it draws, what it never touches, and that the checkout stays as it is."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import faults
import layer_tests
import mutate
import window_tests

SOURCE = '''// a + b < c, true
#include "a/b.h"
#define TWICE(x) ((x) * 2 + \\
                  1)
static_assert(sizeof(int) == 4 && true, "4 bytes");
/* while (a == b) break; */
const char* text = "1 + 1 == 2" R"(if (x && y) return 3;)";
const char letter = '+';
'''


def becomes(text, path="app/core/a.cpp"):
    """Every line that the faults of a source write, and the line before."""
    return {(fault.line, fault.becomes) for site in faults.sites_in(text, path) for fault in site}


class Faults(unittest.TestCase):
    def test_only_code_is_changed(self):
        self.assertEqual(becomes(SOURCE), set())

    def test_code_beside_what_is_no_code_is_changed(self):
        self.assertEqual(becomes('f("a < b", a < b);  // a < b\n'),
                         {('f("a < b", a < b);  // a < b', 'f("a < b", a <= b);  // a < b'),
                          ('f("a < b", a < b);  // a < b', 'f("a < b", a >= b);  // a < b')})

    def test_each_kind_of_fault(self):
        for line, changed in [
                ("x = a < b;", "x = a <= b;"), ("x = a == b;", "x = a != b;"), ("x = a + b;", "x = a - b;"),
                ("x = a && b;", "x = a || b;"), ("x = 7u;", "x = 8u;"), ("x = 7u;", "x = 6u;"), ("x = 0x1F;", "x = 0x20;"),
                ("x = 1'000;", "x = 999;"), ("x = 0.5;", "x = 1.5;"), ("if (a) f();", "if (!(a)) f();"),
                ("while (a) f();", "while (!(a)) f();"), ("x = !a;", "x = a;"), ("return a;", "return {};"),
                ("x = std::min(a, b);", "x = std::max(a, b);"), ("x = true;", "x = false;"), ("++a;", "--a;"),
                ("continue;", "break;"), ("break;", "continue;"), ("{ f(a); }", "{ ; }"), ("{ a.b = c; }", "{ ; }"),
                ("{ a->b[2](c); }", "{ ; }"), ("if (int a = f(); a > 0) g();", "if (int a = f(); !(a > 0)) g();")]:
            with self.subTest(line=line, changed=changed):
                self.assertIn((line, changed), becomes("void g() {\n  " + line + "\n}\n"))

    def test_brackets_references_signs_and_declarations_are_left(self):
        for line in ("std::vector<std::array<T, N>> a;", "const T& a = b;", "T&& a = b;", "T* a = b;", "int a(-b, *c, &d);",
                     "virtual int f() const = 0;", "int a = b;", "return;", "return nullptr;", "return std::nullopt;", "case a: f(b);", "T(const T&) = delete;",
                     "int (*call)(T a) = nullptr;"):
            with self.subTest(line=line):
                self.assertEqual(becomes("{\n" + line + "\n}\n"), set())

    def test_false_is_never_returned_as_an_empty_value(self):
        self.assertEqual(becomes("{\nreturn false;\n}\n"), {("return false;", "return true;")})

    def test_a_number_never_goes_below_nought(self):
        self.assertEqual(becomes("x = 0;\n"), {("x = 0;", "x = 1;")})

    def test_what_is_planted_is_what_the_table_says(self):
        text = "int f(int a) {\n  if (a < 3 &&\n      a > 1)\n    return a + 1;\n  g(a,\n    2);\n}\n"
        for site in faults.sites_in(text, "app/core/a.cpp"):
            for fault in site:
                self.assertEqual(text[fault.start:fault.end], fault.before)
                planted = fault.planted(text)
                self.assertNotEqual(planted, text)
                self.assertEqual(planted.split("\n")[fault.number - 1].strip(), fault.becomes)

    def test_a_seed_draws_the_same_and_another_seed_draws_otherwise(self):
        text = "".join(f"int f{n}(int a) {{ return a + {n}; }}\n" for n in range(40))
        sites = faults.sites_in(text, "app/core/a.cpp")
        self.assertEqual(faults.drawn(sites, 1, "core"), faults.drawn(sites, 1, "core"))
        self.assertNotEqual(faults.drawn(sites, 1, "core"), faults.drawn(sites, 2, "core"))
        self.assertNotEqual(faults.drawn(sites, 1, "core"), faults.drawn(sites, 1, "model"))
        self.assertEqual(len(faults.drawn(sites, 1, "core")), len(sites))

    def test_every_source_of_app_is_read_to_its_end(self):
        for path in sorted((mutate.ROOT / "app").rglob("*.cpp")):
            text = path.read_text()
            tokens = faults.tokens_of(text)
            self.assertEqual(sum(token.text in faults.OPENING for token in tokens),
                             sum(token.text in faults.OPENING.values() for token in tokens), path)


class Equivalents(unittest.TestCase):
    TEXT = "# a remark\n\nfile: app/core/a.cpp\nline: x = a < b;\nbecomes: x = a <= b;\nwhy: a and b are never equal\n"

    def test_an_entry_matches_its_change_only_and_wherever_the_line_is(self):
        entries = faults.read_equivalent(self.TEXT)
        for text in ("x = a < b;\n", "\n\n  x  = a < b;\n"):
            whys = {fault.named()[2]: bool(faults.equivalent_of(fault, entries))
                    for site in faults.sites_in(text, "app/core/a.cpp") for fault in site}
            self.assertEqual(whys, {"x = a <= b;": True, "x = a >= b;": False})
        other = faults.sites_in("x = a < b;\n", "app/core/other.cpp")[0][0]
        self.assertIsNone(faults.equivalent_of(other, entries))

    def test_an_entry_whose_line_is_gone_is_reported(self):
        entries = faults.read_equivalent(self.TEXT)
        self.assertEqual(mutate.stale(entries, faults.sites_in("x = a < b;\n", "app/core/a.cpp")), [])
        self.assertEqual(mutate.stale(entries, faults.sites_in("x = a > b;\n", "app/core/a.cpp")), entries)

    def test_the_survivors_of_a_table_are_found_again(self):
        fault = faults.sites_in("x = a < b;\n", "app/core/a.cpp")[0][0]
        table = "core: 1 of 2 caught\n\n" + "\n".join(mutate.row_text(each, became) for each, became in [
            (fault, "survived"), (fault._replace(path="app/core/b.cpp"), "A.Test")]) + "\n"
        self.assertEqual(mutate.survivors(table), {("app/core/a.cpp", str(fault))})

    def test_an_entry_without_a_reason_is_refused(self):
        with self.assertRaises(ValueError):
            faults.read_equivalent("file: a\nline: b\nbecomes: c\n")

    def test_the_list_can_be_read(self):
        faults.read_equivalent((mutate.ROOT / "tests" / "mutate" / "equivalent.txt").read_text())


class Building(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def test_the_fault_lies_in_a_tree_of_its_own(self):
        root = self.folder / "root"
        (root / "app" / "core").mkdir(parents=True)
        for name in ("a.cpp", "b.cpp"):
            (root / "app" / "core" / name).write_text(name)
        layer_tests.overlay(root, "app/core/a.cpp", "the fault", self.folder / "tree")
        self.assertEqual((self.folder / "tree/app/core/a.cpp").read_text(), "the fault")
        self.assertEqual((self.folder / "tree/app/core/b.cpp").read_text(), "b.cpp")
        self.assertEqual((root / "app/core/a.cpp").read_text(), "a.cpp")

    def test_only_app_is_read_from_that_tree(self):
        words = ["g++", "-I/r/app", "-I/r/tests", "-O3", "-o", "x/a.o", "-c", "/r/app/core/a.cpp"]
        self.assertEqual(layer_tests.compile_words(words, pathlib.Path("/r"), pathlib.Path("/t"), "/m/0.o"),
                         ["g++", "-I/t/app", "-I/r/tests", "-O3", "-o", "/m/0.o", "-c", "/t/app/core/a.cpp", "-O1", "-w"])

    def test_an_object_of_a_library_is_linked_before_it(self):
        words = ["g++", "tests/t.o", "-o", "tests/core_tests", "app/libcore.a", "-lx"]
        made = {"app/a.o": "/m/0.o", "tests/t.o": "/m/1.o"}
        self.assertEqual(layer_tests.link_words(words, made, "/m/core_tests")[:6],
                         ["g++", "/m/1.o", "-o", "/m/core_tests", "/m/0.o", "app/libcore.a"])

    def joined_build(self, options="-O2 -fPIC"):
        """A build folder that joins app/core/a.cpp and b.cpp in one object of a library: what it knows. Only the library's object
        has fallback(), which the tests ask for and another library has too."""
        root, folder = self.folder / "root", self.folder / "build"
        (root / "app" / "core").mkdir(parents=True)
        (folder / "Unity").mkdir(parents=True)
        (root / "app/core/one.h").write_text("#pragma once\ninline int one() { return 1; }\n")
        (root / "app/core/a.cpp").write_text('#include "core/one.h"\nint one_less() { return one() - 1; }\n'
                                                 'int b();\nint b_of_a() { return b(); }\n'
                                                 '#ifdef FALLBACK\nint fallback() { return 0; }\n#endif\n')
        (root / "app/core/b.cpp").write_text('#include "core/one.h"\nint b() { return one(); }\n')
        joined = folder / "Unity" / "group_1.cxx"
        joined.write_text(f'#include "{root}/app/core/a.cpp"\n\n#include "{root}/app/core/b.cpp"\n')
        built = "app/attnscope_core.dir/group_1.o"
        words = f"c++ {options} -I{root}/app -o {built} -c {joined}"
        (folder / "compile_commands.json").write_text(json.dumps([{"file": str(joined), "command": words}]))
        (folder / "app/attnscope_core.dir").mkdir(parents=True)
        (folder / "fallback.cpp").write_text("int fallback() { return 0; }\n")
        (folder / "tests.cpp").write_text("int b(), one_less(), b_of_a(), fallback();\n"
                                          "int main() { return b() - 1 - one_less() + 10 * (b_of_a() - 1) + fallback(); }\n")
        for command in [f"c++ {options} -DFALLBACK -I{root}/app -o {built} -c {joined}", "c++ -c fallback.cpp", "c++ -c tests.cpp",
                        f"ar rc app/libattnscope_core.a {built}", "ar rc libother.a fallback.o"]:
            subprocess.run(command.split(), cwd=folder, check=True)
        build = layer_tests.Build(root, folder)
        build.link_command = lambda program: ["c++", "-o", program, "tests.o", "app/libattnscope_core.a", "libother.a"]
        build.ninja = lambda *arguments: f"{built}: #deps 1\n    {root}/app/core/one.h\n"
        return build

    def status_with(self, build, path, text):
        own = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        return subprocess.run([layer_tests.build_with(build, "core_tests", path, text, own)]).returncode

    def faulty_b(self, build):
        return (build.root / "app/core/b.cpp").read_text().replace("one();", "one() + 2;")

    def test_only_the_faulty_one_of_joined_sources_is_compiled(self):
        build = self.joined_build()
        joined = build.root / "app/core/a.cpp"
        self.assertEqual(self.status_with(build, "app/core/b.cpp", (build.root / "app/core/b.cpp").read_text()), 0)
        joined.write_text("this does not compile\n")
        self.assertEqual(self.status_with(build, "app/core/b.cpp", self.faulty_b(build)), 22)

    def test_where_a_callee_may_be_inlined_all_that_is_joined_is_compiled(self):
        build = self.joined_build("-O2 -fno-pic")
        self.assertEqual(self.status_with(build, "app/core/b.cpp", self.faulty_b(build)), 22)
        (build.root / "app/core/a.cpp").write_text("this does not compile\n")
        with self.assertRaises(layer_tests.DoesNotBuild):
            self.status_with(build, "app/core/b.cpp", self.faulty_b(build))

    def test_a_faulty_header_reaches_all_that_is_joined(self):
        build = self.joined_build()
        header = "#pragma once\ninline int one() { static int times = 0; return ++times; }\n"
        self.assertEqual(self.status_with(build, "app/core/one.h", header), 19, "1 - 1 - (2 - 1) + 10 * (3 - 1)")


class Running(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def test_a_test_has_its_own_home_and_its_end_is_reported(self):
        ended = layer_tests.run_for(["sh", "-c", 'echo "$HOME" "$TMPDIR"; exit 3'], self.folder, 60)
        self.assertEqual(ended.output.split(), [str(self.folder / "home"), str(self.folder / "tmp")])
        self.assertEqual((ended.status, ended.overran), (3, False))

    def test_an_endless_loop_ends_before_the_time_limit(self):
        ended = layer_tests.run_for(["sh", "-c", "while :; do :; done"], self.folder, 60, busy=1)
        self.assertFalse(ended.overran)
        self.assertNotEqual(ended.status, 0)

    def test_what_runs_too_long_is_ended_with_all_that_it_started(self):
        sandbox = layer_tests.own_processes()
        alive = self.folder / "alive"
        os.mkfifo(alive)
        script = 'sleep 1000 >"$1" & sleep 1000'
        reader = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        ended = layer_tests.run_for([*sandbox, "sh", "-c", script, "sh", str(alive)], self.folder, 1)
        self.assertTrue(ended.overran)
        os.set_blocking(reader, True)
        self.assertEqual(os.read(reader, 1), b"", "nothing has the pipe open any more")

    def test_the_test_that_noticed_is_named(self):
        ran = "[ RUN      ] A.One\n[       OK ] A.One (0 ms)\n[ RUN      ] A.Two\n"
        for output, overran, name in [(ran + "[  FAILED  ] A.Two (1 ms)\n", False, "A.Two"), (ran, False, "A.Two (crash)"),
                                      (ran, True, "A.Two (time limit)"),
                                      (ran + "[  FAILED  ] A.Two, where GetParam() = 3\n", False, "A.Two")]:
            self.assertEqual(layer_tests.first_failure(layer_tests.Ended(1, output, overran, 0.0)), name)


class OfTheWindow(unittest.TestCase):
    """A program that says which tests it was asked for, and fails those that its own name lists."""
    PROGRAM = """#!/bin/sh
for word; do
  case "$word" in
    --gtest_list_tests) printf 'Dots.\\n  One\\n  Two\\nAll/Lines.\\n  Up/0  # GetParam() = 4\\n'; exit 0 ;;
    --gtest_filter=*) asked="${word#--gtest_filter=}" ;;
  esac
done
echo "$asked" >>"$0.asked"
case "$asked" in *"$(cat "$0.fails" 2>/dev/null || echo none)"*)
    echo "[ RUN      ] $(cat "$0.fails")"; echo "[  FAILED  ] $(cat "$0.fails") (1 ms)"; exit 1 ;;
esac
"""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        rank = {"Dots.Two": window_tests.NEAR, "All/Lines.Up/0": window_tests.NAMED}
        self.tests = window_tests.WindowTests(None, "ui_tests", lambda path, test: rank.get(test, window_tests.OTHER))
        self.tests.AT_ONCE = 1
        self.tests.path = lambda: self.program("without")
        self.tests.calibrated = layer_tests.Once(lambda: self.tests.calibrate([], self.folder, 0))

    def program(self, name, fails=None):
        path = self.folder / name
        if not path.exists():
            path.write_text(self.PROGRAM)
            path.chmod(0o755)
        if fails:
            pathlib.Path(f"{path}.fails").write_text(fails)
        return path

    def asked(self, name):
        return pathlib.Path(f"{self.folder / name}.asked").read_text().splitlines()

    def test_the_nearest_are_asked_first_and_the_first_that_fails_ends_it(self):
        faulty = self.program("faulty", "All/Lines.Up/0")
        self.assertEqual(self.tests.killed_by(faulty, "app/ui/a.cpp", [], self.folder), "All/Lines.Up/0")
        self.assertEqual(self.asked("faulty"), ["Dots.Two-", "All/Lines.Up/0-", "All/Lines.Up/0"], "twice: it is no chance")

    def test_a_test_that_fails_once_has_not_noticed_it(self):
        faulty = self.program("faulty", "Dots.Two")
        self.tests.run = self.fails_once(self.tests.run)
        self.assertIsNone(self.tests.killed_by(faulty, "app/ui/a.cpp", [], self.folder))

    def fails_once(self, run):
        def of(program, wanted, *more):
            ended = run(program, wanted, *more)
            pathlib.Path(f"{self.folder / 'faulty'}.fails").unlink(missing_ok=True)
            return ended
        return of

    def test_what_survives_was_put_to_every_near_one_and_to_others_for_a_time(self):
        self.assertIsNone(self.tests.killed_by(self.program("faulty"), "app/ui/a.cpp", [], self.folder))
        self.assertEqual(self.asked("faulty"), ["Dots.Two-", "All/Lines.Up/0-", "Dots.One-"])
        self.assertEqual(self.tests.left_out, [])
        self.tests.OTHERS = 0
        self.assertIsNone(self.tests.killed_by(self.program("another"), "app/ui/a.cpp", [], self.folder))
        self.assertEqual(self.asked("another"), ["Dots.Two-"])
        self.assertEqual(self.tests.left_out, ["All/Lines.Up/0", "Dots.One"])

    def test_the_quickest_of_one_rank_is_asked_first(self):
        self.tests.near = lambda path, test: window_tests.OTHER
        for name, seconds in (("Dots.One", 3), ("Dots.Two", 7)):
            self.tests.taken[name] = seconds
        self.assertEqual(self.tests.order("app/ui/a.cpp"), ([], ["Dots.One", "All/Lines.Up/0", "Dots.Two"]))

    def test_a_test_is_near_by_its_file_its_headers_and_its_words(self):
        folder = self.folder / "tests" / "ui"
        folder.mkdir(parents=True)
        (folder / "timeline_flow_test.cpp").write_text("TEST_F(TimelineFlow, Opens) {}\n")
        (folder / "parts_test.cpp").write_text('#include "ui/panels/banks_pane.h"\nTEST(Layout, Fits) { timeline(); }\n'
                                               "TEST_P(Other, Is) {}\n")
        (folder / "look_test.cpp").write_text("TEST_F(LookStates, OfEach) { timeline(); }\nTEST_F(Tour, OfAll) {}\n")
        near = window_tests.nearness(self.folder)
        self.assertEqual(near("app/ui/panels/timeline_panel.cpp", "TimelineFlow.Opens"), window_tests.NEAR)
        self.assertEqual(near("app/ui/panels/banks_pane.cpp", "All/Other.Is/0"), window_tests.NEAR)
        self.assertEqual(near("app/ui/panels/timeline_panel.cpp", "LookStates.OfEach"), window_tests.SHOWN)
        self.assertEqual(near("app/ui/panels/timeline_panel.cpp", "Tour.OfAll"), window_tests.LOOK)
        self.assertEqual(near("app/ui/panels/timeline_panel.cpp", "Layout.Fits"), window_tests.NAMED)
        self.assertEqual(near("app/ui/panels/timeline_panel.cpp", "All/Other.Is/0"), window_tests.OTHER)


class CommandLine(unittest.TestCase):
    def listed(self, *words):
        return subprocess.run([sys.executable, "-B", str(mutate.ROOT / "tests/mutate/mutate.py"), "--only-list", *words],
                              capture_output=True, text=True, check=True).stdout

    def test_the_draw_of_a_layer_depends_on_its_seed_only(self):
        self.assertEqual(self.listed("measure", "--count", "7"), self.listed("measure", "--count", "7"))
        self.assertEqual(self.listed("measure", "--count", "7").count("app/measure/"), 7)
        self.assertNotEqual(self.listed("measure", "--count", "7"), self.listed("measure", "--count", "7", "--seed", "2"))

    def test_every_layer_has_its_share(self):
        self.assertEqual(mutate.shares({"large": 900, "small": 100}, 100), {"large": 90, "small": 10})
        self.assertEqual(mutate.shares({"large": 999, "small": 1}, 100), {"large": 100 - mutate.LEAST, "small": mutate.LEAST})
        self.assertEqual(mutate.shares({"large": 999, "small": 1}, 10), {"large": mutate.LEAST, "small": mutate.LEAST})

    def test_the_shares_of_all_layers_make_up_the_count(self):
        sizes = {layer: len(mutate.sites_of(mutate.ROOT, layer)) for layer in mutate.layers(mutate.ROOT)}
        for count in (200, 201, 333):
            shares = mutate.shares(sizes, count)
            self.assertEqual(sum(shares.values()), count)
            self.assertGreaterEqual(min(shares.values()), mutate.LEAST)

    def test_recorded_data_is_named_where_it_lies(self):
        for name in mutate.DATA:
            self.assertTrue((mutate.ROOT / name).is_file(), name)


if __name__ == "__main__":
    unittest.main()
