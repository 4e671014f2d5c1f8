"""check_layers finds what is planted, and nothing in a clean tree."""

import json
import pathlib
import tempfile
import unittest

import check_layers

RULES = {
    "layers": {"core": [], "compile": ["core"], "session": ["core"], "ui": ["core", "session"], "main.cpp": ["ui"]},
    "folders": {"ui/display": ["compile"]},
    "never": {"why": "Never.", "layers": ["session", "ui"], "reach": ["compile"]},
    "headers": {"core": {"why": "No threads.", "refused": ["thread", "sys/*"]}},
}
CMAKE = """attnscope_layer(core)
attnscope_layer(compile DEPS core LIBS dl)
attnscope_layer(session DEPS core)
attnscope_layer(ui      DEPS core LIBS attnscope_window_deps)   # session is linked below
target_link_libraries(attnscope_ui PUBLIC attnscope_session)
"""
FILES = {
    "core/value.h": "#pragma once\n#include <string>\n",
    "core/value.cpp": '#include "core/value.h"\n',
    "compile/cubin.h": '#include "core/value.h"\n',
    "session/session.h": '#include "core/value.h"\n',
    "ui/panel.cpp": '#include "imgui.h"\n#include "core/value.h"\n#include "session/session.h"\n',
    "ui/display/pixels.cpp": '#include "compile/cubin.h"\n',
    "main.cpp": '#include "ui/panel.h"\n',
}


class Tree(unittest.TestCase):
    def breaches(self, files=None, cmake=CMAKE, rules=None):
        with tempfile.TemporaryDirectory() as folder:
            app = pathlib.Path(folder) / "app"
            for name, text in {**FILES, **(files or {})}.items():
                (app / name).parent.mkdir(parents=True, exist_ok=True)
                (app / name).write_text(text)
            (app / "CMakeLists.txt").write_text(cmake)
            (app / "layers.json").write_text(json.dumps({**RULES, **(rules or {})}))
            return check_layers.breaches(folder)

    def finds(self, expected, **tree):
        found = self.breaches(**tree)
        self.assertEqual(len(found), 1, found)
        self.assertIn(expected, found[0])

    def test_a_clean_tree_passes(self):
        self.assertEqual(self.breaches(), [])

    def test_a_layer_that_is_allowed_and_never_included(self):
        self.finds("session may include core and never does", files={"session/session.h": "#pragma once\n"})

    def test_an_include_of_a_layer_not_allowed(self):
        self.finds("app/session/lanes.cpp:2: session includes",
                   files={"session/lanes.cpp": '#include <map>\n#include "compile/cubin.h"\n'})

    def test_an_include_with_odd_spacing(self):
        self.finds("app/ui/x.cpp:1: ui includes", files={"ui/x.cpp": '  #  include   "compile/cubin.h"\n'})

    def test_what_one_folder_may_its_layer_may_not(self):
        self.finds("app/ui/other/x.cpp:1", files={"ui/other/x.cpp": '#include "compile/cubin.h"\n'})

    def test_a_room_that_another_must_not_know(self):
        rules = {"rooms": {"session": {"low": [], "high": ["low"]}}}
        below = {"session/low/x.h": '#include "session/low/y.h"\n', "session/high/x.h": '#include "session/low/x.h"\n',
                 "session/join.cpp": '#include "session/high/x.h"\n'}
        self.assertEqual(self.breaches(files=below, rules=rules), [])
        self.finds("app/session/low/z.cpp:1: low includes", rules=rules,
                   files={**below, "session/low/z.cpp": '#include "session/high/x.h"\n'})
        self.finds("app/session/low/z.cpp:1: low includes", rules=rules,
                   files={**below, "session/low/z.cpp": '#include "session/session.h"\n'})

    def test_our_own_header_in_angle_brackets(self):
        self.finds("is our own", files={"session/x.cpp": "#include <compile/cubin.h>\n"})

    def test_relative_includes(self):
        self.finds("is relative", files={"session/x.cpp": '#include "../compile/cubin.h"\n'})
        self.finds("is relative", files={"session/x.cpp": '#include "session.h"\n'})

    def test_a_layer_that_is_not_declared(self):
        self.finds("extra is not in app/layers.json", files={"extra/x.cpp": "\n"})

    def test_a_header_refused_to_a_layer(self):
        self.finds("core includes <sys/stat.h>. No threads.", files={"core/x.cpp": "#include <sys/stat.h>\n"})

    def test_deps_that_differ(self):
        self.finds("session has DEPS compile core", cmake=CMAKE.replace("session DEPS core", "session DEPS core compile"))
        self.finds("no attnscope_layer(core)", cmake=CMAKE.replace("attnscope_layer(core)\n", ""))

    def test_a_forbidden_layer_reached_through_another(self):
        layers = {**RULES["layers"], "store": ["compile"], "session": ["core", "store"]}
        cmake = CMAKE.replace("session DEPS core", "session DEPS core store") + "attnscope_layer(store DEPS compile)\n"
        files = {"store/store.h": '#include "compile/cubin.h"\n', "session/store.cpp": '#include "store/store.h"\n'}
        found = self.breaches(files=files, rules={"layers": layers}, cmake=cmake)
        self.assertEqual(found, ["app/layers.json: session reaches compile. Never.",
                                 "app/layers.json: ui reaches compile. Never."])

    def test_names_of_no_layer(self):
        self.finds("never names sweep", rules={"never": {**RULES["never"], "layers": ["session", "sweep"]}})
        self.finds("never names explain", rules={"never": {**RULES["never"], "reach": ["compile", "explain"]}})
        self.finds("ui/display may include fancy, which is no layer",
                   rules={"folders": {"ui/display": ["compile", "fancy"]}})

    def test_a_cycle(self):
        layers = {**RULES["layers"], "core": ["session"]}
        found = self.breaches(rules={"layers": layers}, cmake=CMAKE.replace("(core)", "(core DEPS session)"))
        self.assertIn("app/layers.json: core reaches itself", found)


if __name__ == "__main__":
    unittest.main()
