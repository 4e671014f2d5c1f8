"""Memory that runs out anywhere in the program: one allocation of the session's process, of the supervisor or of an
executor is refused, each time another one. The program ends with a status of 0 to 4 and says why, nothing half-written
stays, and the next run works. In nlohmann's destructors a refusal ends the process through std::terminate's handler
(cli/program.cpp)."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["ATTNSCOPE"]
LIBRARY = os.environ["ATTNSCOPE_REFUSED_ALLOCATION_LIBRARY"]
TREE = pathlib.Path(os.environ["ATTNSCOPE_TREE"])
RUN = ["run", "--problem", "B=1,H=1,S=64,D=64", "--no-watch", "--json"]
RUNS = 25  # per kind of process
LATEST = 200_000  # allocations: more than any of these processes makes


class Allocation(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.home = pathlib.Path(kept.name) / "home"
        self.home.mkdir()
        self.log = pathlib.Path(kept.name) / "refused"
        self.env = dict(os.environ, ATTNSCOPE_HOME=str(self.home))
        self.assertEqual(self.run_it().returncode, 0)  # compiled once for all runs

    def run_it(self, command=None, **more):
        return subprocess.run([PROGRAM, *(command or RUN)], stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False,
                              env=dict(self.env, **more))

    def refuse_in(self, words, command=None):
        """Log-uniform moments: a process starts with few allocations and works with many."""
        moments = random.Random(words)
        refused = 0
        for _ in range(RUNS):
            n = int(LATEST ** moments.random()) - 1
            self.log.unlink(missing_ok=True)
            done = self.run_it(command, LD_PRELOAD=LIBRARY, ATTNSCOPE_REFUSE_IN=words, ATTNSCOPE_REFUSE=str(n),
                               ATTNSCOPE_REFUSED_LOG=str(self.log))
            refused += self.log.exists()
            with self.subTest(process=words, allocation=n):
                said = done.stderr.decode(errors="replace")
                self.assertIn(done.returncode, range(5), said)
                self.assertNotIn("bug in attnscope", said)
                if done.returncode == 0 and command is None:
                    self.assertEqual(json.loads(done.stdout)["verdict"]["state"], "correct")
                elif done.returncode != 0:
                    self.assertTrue(said.strip() or json.loads(done.stdout)["failure"]["message"])
                self.assertEqual([p.name for p in self.home.rglob("*.tmp.*")], [])
        self.assertGreater(refused, RUNS // 2)
        after = self.run_it(command)
        self.assertEqual(after.returncode, 0, after.stderr)

    def test_in_the_session(self):
        self.refuse_in("run*")

    def test_in_an_import(self):
        source = self.home / "saxpy.cu"
        shutil.copy(TREE / "tests/kernels/plain/saxpy.cu", source)
        self.refuse_in("import*", ["import", source, "--out", self.home / "imported", "--replace"])

    def test_in_a_supervisor(self):
        self.refuse_in("worker")

    def test_in_an_executor(self):
        self.refuse_in("worker --executor")


if __name__ == "__main__":
    unittest.main()
