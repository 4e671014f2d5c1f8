"""What ./dev test CHANGED builds and runs, for a small tree made here and for this one."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import changed

LAYERS = {"layers": {"core": [], "model": ["core"], "store": ["core"], "ui": ["model"], "cli": ["ui", "store"], "main.cpp": ["cli"]},
          "folders": {"ui/display": ["store"]}}


class Changed(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        self.write("app/layers.json", json.dumps(LAYERS))
        for layer in ("core", "model", "store", "ui", "cli"):
            self.write(f"app/{layer}/{layer}.cpp")
        self.write("app/main.cpp")
        self.write("app/store/presets.cpp", 'folder / "presets"')
        for layer in ("core", "model", "store"):
            self.write(f"tests/unit/{layer}/{layer}_test.cpp")
        self.write("tests/unit/model/recorded_test.cpp", 'ATTNSCOPE_SOURCE_DIR "/tests/data/rates.json"')
        self.write("tests/compat/CMakeLists.txt", "target_link_libraries(compat_tests PRIVATE attnscope_store)")
        self.write("tests/cli/CMakeLists.txt", "if(TARGET attnscope)\n  x $<TARGET_FILE:attnscope> $<TARGET_FILE:network_home>")
        self.write("tests/cli/cli_test.py")
        self.write("tests/layers/CMakeLists.txt")
        self.write("tests/dev/CMakeLists.txt")
        self.write("presets/a.json")
        self.git("init", "-q", "-b", "main")
        self.git("add", ".")
        self.commit()

    def write(self, name, text=""):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *words):
        subprocess.run(["git", "-C", str(self.root), "-c", "user.name=A", "-c", "user.email=a@b", *words], check=True)

    def commit(self):
        self.git("commit", "-q", "-a", "--allow-empty", "-m", "A change")

    def touched(self, *names):
        units, folders = changed.touched(changed.Tree(self.root), names)
        return sorted(units), sorted(folders)

    def test_a_layer_touches_itself_and_all_above_it(self):
        self.assertEqual(self.touched("app/model/model.cpp"), (["cli", "model", "ui"], ["cli", "layers"]))
        self.assertEqual(self.touched("app/store/store.cpp"), (["cli", "store", "ui"], ["cli", "compat", "layers"]))
        self.assertEqual(self.touched("app/core/core.cpp"), (["cli", "core", "model", "store", "ui"], ["cli", "compat", "layers"]))
        self.assertEqual(self.touched("app/main.cpp"), (["cli"], ["cli", "layers"]))

    def test_a_test_touches_itself_only(self):
        self.assertEqual(self.touched("tests/unit/core/core_test.cpp"), (["core"], ["layers"]))
        self.assertEqual(self.touched("tests/cli/cli_test.py"), ([], ["cli", "layers"]))
        self.assertEqual(self.touched("dev"), ([], ["dev", "layers"]))

    def test_data_touches_who_reads_it(self):
        self.assertEqual(self.touched("presets/a.json"), (["cli", "store", "ui"], ["cli", "compat", "layers"]))
        self.assertEqual(self.touched("tests/data/rates.json"), (["model"], ["layers"]))
        self.assertEqual(self.touched("tests/data/other.json"), ([], ["layers"]))

    def test_the_build_touches_everything(self):
        for name in ("CMakeLists.txt", "cmake/window.cmake", "app/layers.json", "tests/CMakeLists.txt"):
            self.assertEqual(self.touched(name), (["cli", "core", "model", "store", "ui"], ["cli", "compat", "dev", "layers"]), name)

    def test_what_is_built_and_run(self):
        tree = changed.Tree(self.root)
        self.assertEqual(changed.targets_and_pattern(tree, {"model", "ui"}, {"cli", "layers"}),
                         (["model_tests", "tests/cli/all", "attnscope", "network_home", "tests/layers/all"], r"^(model|cli|source)\."))

    def test_on_main_the_last_commit_or_what_is_uncommitted(self):
        self.write("app/core/core.cpp", "// a change")
        self.commit()
        self.assertEqual(changed.changed_files(self.root), ["app/core/core.cpp"])
        self.write("app/model/model.cpp", "// a change")
        self.write("app/model/a new file.cpp")
        self.assertEqual(changed.changed_files(self.root), ["app/model/a new file.cpp", "app/model/model.cpp"])

    def test_on_a_branch_all_that_differs_from_main(self):
        self.git("checkout", "-q", "-b", "branch")
        self.write("app/core/core.cpp", "// a change")
        self.commit()
        self.commit()
        self.write("app/model/model.cpp", "// a change")
        self.assertEqual(changed.changed_files(self.root), ["app/core/core.cpp", "app/model/model.cpp"])
        self.assertEqual(changed.changed_files(self.root, "HEAD"), ["app/model/model.cpp"])
        with self.assertRaises(SystemExit):
            changed.changed_files(self.root, "no-such-commit")

    def test_every_layer_here_has_its_tests_found(self):
        tree = changed.Tree(changed.ROOT)
        targets, pattern = changed.targets_and_pattern(tree, *changed.touched(tree, ["CMakeLists.txt"]))
        for folder in (changed.ROOT / "tests" / "unit").iterdir():
            self.assertIn(f"{folder.name}_tests", targets)
            self.assertIn(folder.name, pattern)


class Dev(unittest.TestCase):
    """./dev with a cmake and a ctest that only note how they were called."""

    def test_it_builds_and_runs_what_the_change_touches(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            checkout = folder / "checkout"
            for name in ("dev", "app/layers.json", "tests/dev/changed.py"):
                (checkout / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(changed.ROOT / name, checkout / name)
            (checkout / "app" / "core").mkdir()
            (checkout / "tests" / "unit" / "core").mkdir(parents=True)
            (checkout / "tests" / "unit" / "core" / "a_test.cpp").write_text("")
            (checkout / "assets").mkdir()
            (checkout / "assets" / "fetch.py").write_text("")
            (checkout / "tests" / "layers").mkdir()
            (checkout / "tests" / "layers" / "CMakeLists.txt").write_text("")
            (folder / "bin").mkdir()
            for name in ("cmake", "ctest", "apt-get", "dpkg-query"):
                fake = 'for package in "$@"; do echo "installed $package"; done' if name == "dpkg-query" else \
                    f'echo "{name} $*" >>"$NOTES"'
                (folder / "bin" / name).write_text("#!/bin/sh\n" + fake + "\n")
                (folder / "bin" / name).chmod(0o755)
            for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "All"]):
                subprocess.run(["git", "-C", str(checkout), "-c", "user.name=A", "-c", "user.email=a@b", *words], check=True)
            (checkout / "app" / "core" / "a.cpp").write_text("")
            notes = folder / "notes"
            done = subprocess.run([str(checkout / "dev"), "test", "CHANGED"], capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL,
                                  env={**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "NOTES": str(notes),
                                       "XDG_CACHE_HOME": str(folder / "cache")})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("1 changed files touch core, tests/layers", done.stderr)
            called = notes.read_text()
            self.assertIn("--target core_tests tests/layers/all\n", called)
            self.assertRegex(called, r"ctest .*-R \^\(core\|source\)\\\.\n")


if __name__ == "__main__":
    unittest.main()
