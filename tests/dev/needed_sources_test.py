"""Which sources cmake/needed_sources.py says that tests need."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cmake"))
import needed_sources


class NeededSources(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.tree = pathlib.Path(temporary.name)

    def file(self, path, *includes, code=""):
        (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
        (self.tree / path).write_text("".join(f'#include "{name}"\n' for name in includes) + code)

    def needed(self, *names):
        app = str(self.tree / "app") + "/"
        return [file.removeprefix(app) for file in needed_sources.needed(str(self.tree), names)]

    def test_a_header_brings_its_source_and_what_that_includes(self):
        self.file("app/low/a.h")
        self.file("app/low/a.cpp", "low/a.h", "low/b.h")
        self.file("app/low/b.h")
        self.file("app/low/b.cpp", "low/b.h")
        self.file("app/low/c.h")
        self.file("app/low/c.cpp", "low/c.h")
        self.file("tests/unit/high/x_test.cpp", "low/a.h")
        self.assertEqual(self.needed("high"), ["low/a.cpp", "low/b.cpp"])

    def test_a_source_without_a_header_of_its_own_comes_with_its_layers_headers(self):
        self.file("app/low/a.h")
        self.file("app/low/a.cpp", "low/a.h")
        self.file("app/low/more_of_a.cpp", "low/a.h")
        self.file("app/high/user.cpp", "low/a.h")
        self.file("tests/unit/low/x_test.cpp", "low/a.h")
        self.assertEqual(self.needed("low"), ["low/a.cpp", "low/more_of_a.cpp"])

    def test_what_another_source_defines(self):
        self.file("app/low/a.h", code="struct Kept {\n  int length() const;\n};\nint made(int a);\nint used();\n")
        for name, code in (("maker", "int made(int a) {\n  return a;\n}\n"), ("kept", "int Kept::length() const { return 1; }\n"),
                           ("user", "int user() {\n  return used();\n}\n"), ("other", "int Other::made() { return 1; }\n"),
                           ("hidden", "namespace {\n\nint made(int a, int b) { return a + b; }\n\n}  // namespace\n")):
            self.file(f"app/low/{name}.h")
            self.file(f"app/low/{name}.cpp", f"low/{name}.h", "low/a.h", code=code)
        self.file("tests/unit/low/x_test.cpp", "low/a.h")
        self.assertEqual(self.needed("low"), ["low/kept.cpp", "low/maker.cpp"])

    def test_a_folder_of_tests_and_headers_of_tests(self):
        self.file("app/low/a.h")
        self.file("app/low/a.cpp", "low/a.h")
        self.file("tests/fuzz/main.cpp", "support/helper.h")
        self.file("tests/support/helper.h", "low/a.h")
        self.assertEqual(self.needed("fuzz"), ["low/a.cpp"])
        self.assertEqual(self.needed("low"), [])

    def test_an_included_part_is_followed(self):
        self.file("app/low/a.h", "low/list.inc")
        self.file("app/low/list.inc", "low/b.h")
        self.file("app/low/b.h")
        self.file("app/low/b.cpp", "low/b.h")
        self.file("tests/unit/low/x_test.cpp", "low/a.h")
        self.assertEqual(self.needed("low"), ["low/b.cpp"])

    def test_the_sessions_tests_start_a_program_of_the_support(self):
        self.file("app/low/a.h")
        self.file("app/low/a.cpp", "low/a.h")
        self.file("tests/support/fake_worker.cpp", "low/a.h")
        self.assertEqual(self.needed("session"), ["low/a.cpp"])


if __name__ == "__main__":
    unittest.main()
