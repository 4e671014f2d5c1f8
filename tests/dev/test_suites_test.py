"""Which CTest tests cmake/test_suites.cmake makes of a GoogleTest program."""

import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "test_suites.cmake"


class TestSuites(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def written(self, listing, without="", status=0):
        """What the script writes for a program that lists this; None if it refuses. The program notes how it was called."""
        program = self.folder / "some_tests"
        program.write_text(f"#!/bin/sh\necho \"$@\" >'{self.folder}/called'\ncat <<'END'\n{listing}\nEND\nexit {status}\n")
        program.chmod(0o755)
        written = self.folder / "suites.cmake"
        ended = subprocess.run(["cmake", "-D", f"PROGRAM={program}", "-D", "PREFIX=asan.core", "-D", f"WITHOUT={without}", "-D",
                                f"FOLDER={self.folder}", "-D", "PROPERTIES=LABELS unit", "-D", f"WRITTEN={written}", "-P", SCRIPT],
                               capture_output=True, text=True)
        self.said = ended.stderr
        return written.read_text() if ended.returncode == 0 else None

    def suites(self, *given, **named):
        text = self.written(*given, **named)
        self.assertIsNotNone(text, self.said)
        return [line.split("[==[")[1].split("]==]")[0] for line in text.splitlines() if line.startswith("add_test")]

    def test_each_suite_is_one_test_whatever_its_parameters_print(self):
        self.assertEqual(self.suites("Running main() from ./googletest/src/gtest_main.cc\nText.\n  Ends\n  IsShort\n"
                                     'All/Pairs.\n  Hold/0  # GetParam() = "a;b [c"\n  Hold/1  # GetParam() = x\n'
                                     "Typed/0.  # TypeParam = int\n  Fits"),
                         ["asan.core.Text", "asan.core.All/Pairs", "asan.core.Typed/0"])

    def test_a_test_that_is_left_out_is_left_out_of_list_and_run(self):
        text = self.written("Text.\n  Ends", without="Text.IsShort:Long.*")
        self.assertIn("[==[--gtest_filter=Text.*-Text.IsShort:Long.*]==]", text)
        self.assertIn("LABELS unit", text)
        self.assertEqual((self.folder / "called").read_text(), "--gtest_list_tests --gtest_filter=*-Text.IsShort:Long.*\n")

    def test_a_suite_of_which_every_test_is_disabled_is_none(self):
        self.assertEqual(self.suites("DISABLED_Old.\n  Ends\nText.\n  DISABLED_Ends\nNew.\n  DISABLED_Ends\n  Begins"), ["asan.core.New"])

    def test_what_cannot_be_read_is_refused(self):
        self.assertIsNone(self.written("Text.\n  Ends\nand now something else"))
        self.assertIn("something else", self.said)
        self.assertIsNone(self.written(""))
        self.assertIn("has no test", self.said)
        self.assertIsNone(self.written("Text.\n  Ends", status=3))
        self.assertIn("does not list its tests: 3", self.said)


if __name__ == "__main__":
    unittest.main()
