"""attnscope export: which kernels its launchers, which take any sizes, can stand for."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from kept_cache import keep_compiled

PROGRAM = os.environ["ATTNSCOPE"]
TREE = pathlib.Path(os.environ["ATTNSCOPE_TREE"])


class Export(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.path = pathlib.Path(home.name)
        keep_compiled(self.path / "home")

    def export(self, *words, expect=0):
        done = subprocess.run([PROGRAM, "export", *map(str, words), "--device", "emulated:l4", "--out", str(self.path / "out")],
                              env=dict(os.environ, ATTNSCOPE_HOME=str(self.path / "home")), capture_output=True, text=True, timeout=560)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done.stderr

    def tiled_with(self, **launch):
        """The rung under another id, with other launch expressions."""
        folder = self.path / "kernels"
        folder.mkdir(exist_ok=True)
        shutil.copy(TREE / "kernels" / "02_tiled.cu", folder / "sized.cu")
        manifest = json.loads((TREE / "kernels" / "02_tiled.json").read_text())
        manifest.update(id="sized", source="sized.cu")
        manifest["launch"].update(launch)
        (folder / "sized.json").write_text(json.dumps(manifest))
        return "--kernels", folder, "--kernel", "sized"

    def test_a_launch_that_sizes_decide_is_not_exported(self):
        for size in ("batch", "heads", "kv_heads", "seq_q", "seq_k"):
            with self.subTest(size):
                said = self.export(*self.tiled_with(static_shared=0, dynamic_shared=f"shared_map_bytes + 16 * {size}"), expect=2)
                self.assertIn("its block or shared memory depends on the problem's sizes", said)
        self.assertIn("depends on the problem's sizes", self.export(*self.tiled_with(block=["32 * NUM_WARPS * batch", 1, 1]), expect=2))
        self.assertFalse((self.path / "out").exists())

    def test_a_launch_that_the_heads_of_a_group_decide_is_exported(self):
        self.export(*self.tiled_with(static_shared=0, dynamic_shared="shared_map_bytes + 16 * (heads / kv_heads)"))
        self.assertTrue((self.path / "out" / "launch.py").exists())


if __name__ == "__main__":
    unittest.main()
