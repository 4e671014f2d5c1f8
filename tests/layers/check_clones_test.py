"""check_clones finds what is planted."""

import unittest

import check_clones

LINES = [f"  total += weight[{k}] * share(inputs, {k});" for k in range(12)]


def source(lines, name="f"):
    return f"int {name}(const int* inputs) {{\n" + "\n".join(lines) + "\n  return 0;\n}\n"


class Clones(unittest.TestCase):
    def found(self, one, other):
        return [tuple((place.name, place.first, place.last) for place in pair)
                for pair in check_clones.clones_in({"one.cpp": one, "two.cpp": other})]

    def test_a_run_over_eight_lines_is_found(self):
        self.assertEqual(self.found(source(LINES[:9]), source(["  prepare();", *LINES[:9], "  finish();"])),
                         [(("one.cpp", 2, 10), ("two.cpp", 3, 11))])

    def test_eight_lines_are_not(self):
        one, other = ["  begin();", *LINES[:8], "  end();"], ["  prepare();", *LINES[:8], "  finish();"]
        self.assertEqual(self.found(source(one, "f"), source(other, "g")), [])

    def test_comments_and_layout_hide_nothing(self):
        hidden = [line.replace(" * ", "\n      * ") + "  // not the same" for line in LINES[:9]]
        self.assertEqual(len(self.found(source(LINES[:9], "f"), source(hidden, "g"))), 1)

    def test_a_run_within_one_file_is_found(self):
        twice = [*LINES[:9], "  between();", *LINES[:9]]
        self.assertEqual(self.found(source(twice), "int x;\n"), [(("one.cpp", 2, 10), ("one.cpp", 12, 20))])

    def test_other_names_are_not_the_same(self):
        self.assertEqual(self.found(source(LINES), source([line.replace("total", "sum") for line in LINES], "g")), [])

    def test_includes_do_not_count(self):
        includes = "".join(f'#include "a/{k}.h"\n' for k in range(40))
        self.assertEqual(self.found(includes, includes), [])


if __name__ == "__main__":
    unittest.main()
