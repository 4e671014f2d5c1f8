"""check_names finds what is planted."""

import unittest

import check_names

NAMES = check_names.names_of([{"id": "scalar", "knobs": [{"name": "NUM_WARPS"}, {"name": "BLOCK_M"}]},
                              {"id": "torch", "library": "torch", "knobs": [{"name": "BACKEND"}]}],
                             [{"id": "emulated:l4"}])


class Names(unittest.TestCase):
    def found(self, line, name="app/cli/a.cpp"):
        return check_names.breaches_in("\n" + line, name, NAMES)

    def test_a_name_of_the_data_is_found(self):
        for line, one in ((r'draft.kernel = "scalar";', "scalar"), ('row.name == "NUM_WARPS"', "NUM_WARPS"),
                          (r'hint("Write \"NUM_WARPS=8\".")', "NUM_WARPS"), ('f("else emulated:l4")', "emulated:l4")):
            self.assertEqual(self.found(line),
                             [f"app/cli/a.cpp:2: {one} is one of the shipped data, which code does not name"], line)

    def test_what_only_looks_like_one_is_not(self):
        for line in ('"a scalar kernel"', '// "NUM_WARPS 4"', 'f("x");  // of "scalar"', '"MY_NUM_WARPS"', "NUM_WARPS",
                     '"emulated:l40"', '"torch"', '#include "scalar"'):
            self.assertEqual(self.found(line), [], line)

    def test_a_convention_holds_in_its_file_only(self):
        line = 'return {knob("BLOCK_M")};'
        self.assertEqual(self.found(line, "app/charts/attention_tiles.cpp"), [])
        self.assertEqual(len(self.found(line)), 1)


if __name__ == "__main__":
    unittest.main()
