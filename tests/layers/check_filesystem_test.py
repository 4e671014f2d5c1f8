"""check_filesystem finds what is planted."""

import unittest

import check_filesystem


def found(line):
    return check_filesystem.breaches_in("std::error_code error, gone;\n" + line, "x.cpp")


class Filesystem(unittest.TestCase):
    def test_calls_that_throw_are_found(self):
        for line in ("if (fs::exists(path)) {", "std::filesystem::is_directory(home / \"a\");",
                     "fs::rename(from, to);", "fs::temp_directory_path();", "entry->is_regular_file();",
                     "at->file_size();", "for (const auto& entry : fs::directory_iterator(folder, error)) {",
                     "fs::directory_iterator at(folder);", "fs::exists(folder / name_of(a, error));"):
            self.assertEqual(len(found(line)), 1, (line, found(line)))
        self.assertEqual(found("\nfs::exists(path);"), ["x.cpp:3: takes no error_code: fs::exists("])

    def test_calls_that_do_not_are_not(self):
        for line in ("fs::exists(path, error);", "fs::rename(from, to(a, b), error);", "entry->file_size(gone);",
                     "for (fs::directory_iterator at(folder, error), end; at != end; at.increment(error))",
                     "const fs::directory_iterator end;", "// fs::exists(path) throws", "fs::path(name).stem();"):
            self.assertEqual(found(line), [], line)


if __name__ == "__main__":
    unittest.main()
