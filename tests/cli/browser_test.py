"""The report's page in a real browser without a network."""
import collections
import os
import pathlib
import subprocess
import tempfile
import unittest

import browser
from kept_cache import keep_compiled

PROGRAM = os.environ["ATTNSCOPE"]
HOSTILE = "<script>document.title='taken'</script><img src='http://example.com/a.png'>"


class Browser(unittest.TestCase):
    def test_a_reports_page_opens_in_a_browser_without_a_network(self):
        home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(home.cleanup)
        path = pathlib.Path(home.name)
        keep_compiled(path / "home")
        shape = "batch_size: 1, num_heads: 1, seq_len: %d, head_dim: 64"
        (path / "rbk_config.yaml").write_text(f"shapes: [{{name: small, {shape % 64}}}, {{name: \"{HOSTILE}\", {shape % 128}}}]\n"
                                              "runners: [tiled, mma, \"tiled:BLOCK_M=64\"]\nbaseline: tiled\n")
        done = subprocess.run([PROGRAM, "report", "rbk_config.yaml", "--out", "made", "--device", "emulated:l4", "--defaults"], cwd=path,
                              env=dict(os.environ, ATTNSCOPE_HOME=str(path / "home")), capture_output=True, text=True, timeout=500)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        page = path / "made" / "rbk_report.html"
        (path / "browser").mkdir()
        shown = browser.Browser(path / "browser")
        self.addCleanup(shown.close)
        asked, complaints = shown.open(page)
        self.assertEqual((asked, complaints), ([page.resolve().as_uri()], []))
        # The tree that the browser made of it, not the text.
        count = lambda selector: shown.evaluate(f"document.querySelectorAll({selector!r}).length")
        self.assertEqual({one: count(one) for one in ("h1", "h2", "table", "svg", "tr.best", "script", "img")},
                         {"h1": 1, "h2": 4, "table": 3, "svg": 1, "tr.best": 2, "script": 0, "img": 0})
        self.assertEqual(count("tbody tr"), 9)  # three runners: their gates, and each in two shapes
        self.assertIn("Attention kernels on", shown.evaluate("document.title"))
        self.assertIn(HOSTILE, shown.evaluate("document.body.innerText"))
        self.assertEqual(shown.evaluate("document.compatMode"), "CSS1Compat")
        # The policy lets its own styles through, and the layout has room for what it shows.
        self.assertEqual(shown.evaluate("getComputedStyle(document.querySelector('span.passes')).color"), "rgb(21, 104, 58)")
        self.assertEqual(shown.evaluate("document.documentElement.scrollWidth <= innerWidth"), True)
        for selector in ("svg", "table", "h1"):
            box = shown.evaluate(f"(b => [b.width, b.height])(document.querySelector({selector!r}).getBoundingClientRect())")
            self.assertTrue(box[0] > 200 and box[1] > 20, (selector, box))
        png = shown.picture()
        if os.environ.get("ATTNSCOPE_KEEP"):
            pathlib.Path(os.environ["ATTNSCOPE_KEEP"]).write_bytes(png)
        width, height, rows = browser.pixels(png)
        colours = collections.Counter(pixel for row in rows for pixel in row)
        self.assertEqual(colours.most_common(1)[0][0], (255, 255, 255))
        drawn = 1 - colours[255, 255, 255] / (width * height)
        self.assertTrue(0.01 < drawn < 0.6, drawn)
        self.assertGreater(len(colours), 50)
        self.assertIn((0xee, 0xf4, 0xfb), colours, "the fastest of a shape is shaded")
        # The same check notices a page that asks for something or goes wrong.
        text = page.read_text().replace("</body>", "<img src='http://example.com/a.png'/><script>throw 1</script></body>")
        bad = path / "bad.html"
        bad.write_text(text)
        self.assertGreaterEqual(len(shown.open(bad)[1]), 2, "the policy refuses both")
        bad.write_text(text.replace("Content-Security-Policy", "x-none"))
        asked, complaints = shown.open(bad)
        self.assertIn("http://example.com/a.png", asked)
        self.assertTrue(any("ERR_" in one for one in complaints), complaints)
        self.assertTrue(any("Uncaught" in one for one in complaints), complaints)


if __name__ == "__main__":
    unittest.main()
