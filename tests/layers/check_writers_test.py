"""check_writers finds a writer that bypasses the escapes, and accepts the others."""
import unittest

from check_writers import breaches_in

PLANTED = [
    'std::fprintf(stderr, "%s", title.c_str());',
    'std::fputs(title.c_str(), stdout);',
    'std::cout << title;',
    'fmt::print(stderr, "{}", title);',
    'write(STDERR_FILENO, title.data(), title.size());',
    'platform::write_stderr(title);',
    'text += "\\x1b[1m" + title;',
    'spdlog::set_pattern("%v");',
    'text += "<svg>" + title;',
    'ImGui::SetClipboardText(title.c_str());',
    'text += "&lt;";',
    'text += "| --- |";',
    'file = json.dump(2);',
    "file = json.dump(-1, ' ', false, Json::error_handler_t::replace);",
]


class Writers(unittest.TestCase):
    def test_each_planted_line_is_found_and_its_line_said(self):
        for line in PLANTED:
            found = breaches_in("int a;\n" + line + "\n", "app/cli/planted.cpp")
            self.assertTrue(found and found[0].startswith("app/cli/planted.cpp:2:"), line)

    def test_a_writer_may_write_its_own_format_only(self):
        self.assertEqual(breaches_in('out += "<svg>";\n', "app/report/report_svg.cpp"), [])
        self.assertTrue(breaches_in('std::fputs("a", stdout);\n', "app/report/report_svg.cpp"))

    def test_comments_names_and_keys_are_no_writing(self):
        for line in ['// printf("x") and <svg', '{"printf", "fputs"}', 'key = json.dump();', 'std::snprintf(a, 4, "x");',
                     'print("%s", value);', 'a = b / c;  // </text>']:
            self.assertEqual(breaches_in(line, "app/cli/planted.cpp"), [], line)


if __name__ == "__main__":
    unittest.main()
