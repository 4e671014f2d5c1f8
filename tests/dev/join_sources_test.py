"""Which sources cmake/join_sources.py lets be compiled as one."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cmake"))
import join_sources


class JoinSources(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def groups(self, *sources, most=12):
        """The groups of sources of which each has these lines in its anonymous namespace and these after it."""
        files = []
        for number, (private, public) in enumerate(sources):
            file = self.folder / f"{number}.cpp"
            file.write_text(f"namespace attnscope {{\nnamespace {{\n\n{private}\n\n}}  // namespace\n\n{public}\n}}  // namespace attnscope\n")
            files.append(str(file))
        return [[int(pathlib.Path(file).stem) for file in group] for group in join_sources.grouped(files, most)]

    def apart(self, one, other):
        self.assertEqual(self.groups(one, other), [[0], [1]])

    def together(self, one, other):
        self.assertEqual(self.groups(one, other), [[0, 1]])

    def test_at_most_so_many_go_together(self):
        self.assertEqual(self.groups(*[("", "")] * 5, most=2), [[0, 1], [2, 3], [4]])

    def test_what_fits_into_an_earlier_group_joins_it(self):
        one = ("int made() {\n  return 1;\n}", "")
        self.assertEqual(self.groups(one, one, ("", "")), [[0, 2], [1]])

    def test_what_fits_into_few_groups_comes_first(self):
        # In the order given, 0 would take 1 along, and 2 and 3 could join neither.
        a, b = "int a() { return 1; }", "int b() { return 1; }"
        self.assertEqual(self.groups(("", ""), (a, ""), (b, ""), ("", "int use() { return a() + b(); }")), [[0, 3], [1, 2]])

    def test_the_same_function_twice(self):
        self.apart(("int made(int a) {\n  return a;\n}", ""), ("std::string made(double b) { return {}; }", ""))

    def test_a_function_that_the_other_calls_by_a_header(self):
        self.apart(("int made(long a) { return 1; }", ""), ("", "int use() { return made(1); }"))
        self.apart(("", "int use() { return made(1); }"), ("int made(long a) { return 1; }", ""))

    def test_a_function_after_a_function(self):
        self.apart(("int first() {\n  return 1;\n}\n\nint second() { return 2; }", ""), ("", "int use() { return second(); }"))

    def test_a_keyword_is_no_name(self):
        self.together(("static_assert(sizeof(int) == 4);\nconstexpr bool kOn[] = {true, false};", ""),
                      ("", "static_assert(true);\nint use(bool a = false, bool b = true) { return a; }"))

    def test_an_alias_that_both_have(self):
        alias = ("using Kind = Token::Kind;", "int use(Kind k) { return 1; }")
        self.together(alias, alias)
        self.apart(alias, ("using Kind = Form::Kind;", ""))
        self.apart(alias, ("", "int use(Kind k) { return 2; }"))

    def test_a_member_of_a_functions_name(self):
        self.together(("int made(int a) { return a; }", ""), ("", "int use(Maker m) { return m.made(1) + Maker::made(2); }"))

    def test_a_variable_of_a_functions_name(self):
        self.together(("int made(int a) { return a; }", ""), ("", "int use(int made) { return made; }"))

    def test_the_same_type_constant_or_variable_twice(self):
        for declared in ("struct Made {", "class Made : public Base {", "enum class Made { a, b };", "using Made = int;",
                         "constexpr int Made = 1;", "const std::vector<int> Made{1};", "constexpr char Made[] = {};",
                         "constexpr int kOther = 1, Made = 2;", "template <class T> struct Made {"):
            with self.subTest(declared):
                self.apart((declared, ""), ("", "int use() { return Made; }"))

    def test_a_type_used_by_its_scope(self):
        self.together(("struct Made {", ""), ("", "int use() { return other::Made; }"))

    def test_a_short_name_of_a_namespace(self):
        self.together(("namespace fs = std::filesystem;", ""), ("namespace fs = std::filesystem;", "fs::path use() { return fs::path(); }"))

    def test_a_type_of_another_namespace_in_a_declaration(self):
        self.together(("std::pair<std::string, int> first() {", ""), ("", "using std::string;\nstring use() { return string(); }"))

    def test_a_templates_arguments_and_an_initializer_are_not_declared(self):
        use = ("", "int use(Given given) { return given + kFirst; }")
        self.together(("std::map<Given, std::pair<Given, int>> made;", ""), use)
        self.together(("constexpr int kSecond = kFirst;", ""), use)

    def test_names_in_comments_and_strings(self):
        self.together(("struct Made {", ""), ("", '// Made\n/* Made */ const char* words = "Made";'))

    def test_using_the_same_name_and_tests_of_one_suite(self):
        self.together(("using testing::HasSubstr;\nTEST(Suite, One) {\n}", ""), ("using testing::HasSubstr;\nTEST(Suite, Two) {\n}", ""))

    def test_a_name_of_a_header_that_the_other_includes(self):
        (self.folder / "inner.h").write_text("struct Made {};")
        (self.folder / "outer.h").write_text('#include "inner.h"\n')
        self.apart(("struct Made {", ""), ("", '#include "outer.h"'))
        self.apart(("", '#include "outer.h"'), ("struct Made {", ""))
        self.together(("struct Made {", '#include "inner.h"'), ("", '#include "outer.h"'))

    def test_a_namespace_that_hides_another(self):
        (self.folder / "helper.h").write_text("namespace attnscope::layer::testing {\n}\n")
        self.apart(("", '#include "helper.h"'), ("using testing::HasSubstr;", ""))
        self.together(("", '#include "helper.h"'), ("using ::testing::HasSubstr;", ""))
        self.together(("", '#include "helper.h"'), ("using testing::Sample;", '#include "helper.h"'))

    def test_a_source_with_macros_is_alone(self):
        self.assertEqual(self.groups(("", "#define MADE 1"), ("", ""), ("", '  # define MADE 2'), ("", "")), [[1, 3], [0], [2]])
        self.together(("", 'const char* header = R"(\n#define MADE 1\n)";'), ("", ""))

    def test_what_is_public_is_no_reason(self):
        self.together(("", "int made() { return 1; }"), ("", "int use() { return made(); }"))

    def test_the_same_matcher_twice(self):
        self.apart(('MATCHER_P(Is, x, "") {', ""), ('MATCHER_P(Is, x, "") {', ""))


if __name__ == "__main__":
    unittest.main()
