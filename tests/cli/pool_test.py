"""attnscope sweep over several workers: the result of one, whatever becomes of the workers."""
import json
import os
import pathlib
import shlex
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
import unittest

from kept_cache import keep_compiled

PROGRAM = os.environ["ATTNSCOPE"]
SMALL = "B=1,H=1,S=64,D=64"
KNOBS = {"BLOCK_M": [16, 32], "VEC_WIDTH": [2, 4, 8], "SWIZZLE_XOR": [0, 1]}  # 12 configs, 4 with another's code
NEVER = 280  # seconds, for slow machines


class Slurm:
    """A controller, a node and munge of our own, with two processors that may be given away."""

    def __init__(self, path):
        self.path = path
        self.daemons = []
        (path / "munge").mkdir(mode=0o755)
        (path / "state").mkdir()
        (path / "spool").mkdir()
        key = path / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        user, host = subprocess.check_output(["id", "-un"], text=True).strip(), socket.gethostname().split(".")[0]
        controller, node = free_ports()
        self.conf = path / "slurm.conf"
        self.conf.write_text(f"""ClusterName=attnscope
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={path}/munge/socket
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={path}/state
SlurmdSpoolDir={path}/spool
SlurmctldPidFile={path}/slurmctld.pid
SlurmdPidFile={path}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
KillWait=1
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=here Nodes={host} Default=YES State=UP MaxTime=INFINITE
""")
        (path / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")  # nothing uses it; v2 wants systemd or a writable /sys/fs/cgroup
        self.environment = {"SLURM_CONF": str(self.conf)}
        self.key = key

    def begin(self):
        munge, key = self.path / "munge", self.key
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={munge}/socket", f"--pid-file={munge}/pid",
                   f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        wait_until(lambda: (munge / "socket").exists(), "munge")
        self.start("slurmctld", "-D", "-c", "-f", self.conf)
        self.start("slurmd", "-D", "-f", self.conf)
        wait_until(lambda: "idle" in self.ask("sinfo", "--noheader", "--format=%t"), "an idle node")

    def last_words(self):
        return "\n".join(f"{log.name}: " + " | ".join(log.read_text(errors="replace").splitlines()[-5:]) for log in sorted(self.path.glob("*.log")))

    def start(self, program, *args):
        log = open(self.path / f"{program}.log", "w")
        self.daemons.append(subprocess.Popen([find(program), *map(str, args)], stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        log.close()

    def ask(self, *command):
        return subprocess.run(command, env=dict(os.environ, **self.environment), capture_output=True, text=True).stdout

    def jobs(self, state):
        return self.ask("squeue", "--noheader", "--format=%i", f"--states={state}").split()

    def stop(self):
        self.ask("scancel", "--full", *self.jobs("all"))
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(30)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def find(program):
    for folder in os.environ["PATH"].split(":") + ["/usr/sbin", "/sbin"]:
        if os.access(pathlib.Path(folder) / program, os.X_OK):
            return str(pathlib.Path(folder) / program)
    raise RuntimeError(f"{program} is not installed: ./dev setup installs it")


def free_ports():
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


def alive(pid):
    """A process that its parent has not reaped is there and has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


def wait_until(holds, what):
    limit = time.monotonic() + NEVER
    while not holds():
        if time.monotonic() > limit:
            raise AssertionError(f"never came: {what}")
        time.sleep(0.02)


class Pool(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.home.name)
        keep_compiled(self.path / "home")
        self.environment = dict(os.environ, ATTNSCOPE_HOME=str(self.path / "home"))
        (self.path / "space.json").write_text(json.dumps({"knobs": KNOBS}))

    def tearDown(self):
        self.home.cleanup()

    def command(self, *args):
        return [PROGRAM, "sweep", "--json", "--problem", SMALL, "--space", str(self.path / "space.json"), *map(str, args)]

    def sweep(self, *args, expect=0):
        done = subprocess.run(self.command(*args), env=self.environment, capture_output=True, text=True, timeout=NEVER)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return json.loads(done.stdout) if done.stdout else done.stderr

    def start(self, *args):
        sweep = subprocess.Popen(self.command(*args), env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def end():
            sweep.kill()
            sweep.wait()
            sweep.stdout.close()
            sweep.stderr.close()

        self.addCleanup(end)  # where a check fails it may still run
        return sweep

    def finish(self, sweep):
        out, err = sweep.communicate(timeout=NEVER)
        self.assertEqual(sweep.returncode, 0, out + err)
        return json.loads(out), err

    def worker(self, name, before=""):
        """A worker that says which process it is."""
        return f"{name}=sh -c {shlex.quote(f'echo $$ >> {self.path}/{name}.pid; {before}exec {PROGRAM} worker')}"

    def pids(self, name):
        file = self.path / f"{name}.pid"
        return [int(line) for line in file.read_text().split()] if file.exists() else []

    def rows(self, home="home"):
        """Each run that the store has, by its hash: once."""
        file = self.path / home / "data" / "results.sqlite"
        if not file.exists():
            return []
        database = sqlite3.connect(file)
        try:
            return [row[0] for row in database.execute("SELECT hash FROM observation ORDER BY id")]
        except sqlite3.OperationalError:  # it is just being made
            return []
        finally:
            database.close()

    def alone(self):
        """The same sweep by one process that knows nothing of the others."""
        own = dict(self.environment, ATTNSCOPE_HOME=str(self.path / "alone"))
        done = subprocess.run(self.command("--device", "emulated:l4", "--no-watch"), env=own, capture_output=True, text=True, timeout=NEVER)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def assert_like_one(self, board):
        one = self.alone()
        self.assertEqual(board["correct"], one["correct"])
        self.assertEqual(board["rejected"], one["rejected"])
        self.assertEqual(board["experiment"], one["experiment"])
        self.assertEqual(len(board["correct"]), 12)
        stored = self.rows()
        self.assertEqual(len(set(stored)), len(stored), "none is there twice")
        self.assertLessEqual(set(self.rows("alone")), set(stored), "none is lost")

    def test_a_worker_that_is_killed_loses_nothing(self):
        sweep = self.start("--no-watch", "--worker", self.worker("a"), "--worker", self.worker("b"))
        wait_until(lambda: sweep.poll() is not None or len(self.rows()) >= 2, "two results")
        os.kill(self.pids("a")[0], signal.SIGKILL)
        board, said = self.finish(sweep)
        self.assert_like_one(board)
        self.assertEqual(board["known"], 0)
        self.assertIn("worker a: restarting: it was ended by signal 9", said)
        self.assertEqual(len(self.pids("b")), 1)
        self.assertTrue(board["command"].startswith("attnscope run "))
        self.assertNotIn("--worker", board["command"], "the emulated device is here too")
        # All of it is known to one process.
        again = self.sweep("--no-watch", "--device", "emulated:l4")
        self.assertEqual((again["known"], again["correct"]), (len(self.rows()), board["correct"]))

    def test_interrupted_it_ends_all_workers_and_goes_on_later(self):
        workers = ["--no-watch", "--worker", self.worker("a"), "--worker", self.worker("b")]
        sweep = self.start(*workers)
        wait_until(lambda: sweep.poll() is not None or len(self.rows()) >= 2, "two results")
        sweep.send_signal(signal.SIGINT)
        sweep.communicate(timeout=NEVER)
        self.assertNotEqual(sweep.returncode, 0)
        for pid in self.pids("a") + self.pids("b"):
            wait_until(lambda: not alive(pid), "the end of a worker")
        before = self.rows()
        board = self.sweep(*workers)
        self.assertEqual(board["known"], len(before))
        self.assertEqual(self.rows()[:len(before)], before)
        self.assert_like_one(board)

    def test_who_takes_no_part(self):
        # One that never starts does not matter while another one runs.
        board = self.sweep("--budget", "2", "--no-watch", "--worker", "gone=sh -c 'echo no route to host >&2; exit 255'", "--worker", self.worker("b"))
        self.assertEqual(len(board["correct"]), 2)
        self.assertEqual(board["experiment"]["device"], "emulated:l4")
        said = self.sweep("--worker", "gone=sh -c 'echo no route to host >&2; exit 255'", "--worker", "/nowhere/attnscope worker", expect=3)
        self.assertIn("no worker is available: gone: it ended with status 255: no route to host", said)
        self.assertIn("/nowhere/attnscope could not be started", said)
        # A person's own device, of which the other machine has another version.
        for home, sms in (("home", 58), ("elsewhere", 20)):
            folder = self.path / home / "config" / "devices"
            folder.mkdir(parents=True)
            own = json.loads((pathlib.Path(os.environ["ATTNSCOPE_TREE"]) / "assets" / "devices" / "l4.json").read_text())
            own.update(id="emulated:own", name="My L4", sms=sms)
            own.pop("default", None)
            (folder / "own.json").write_text(json.dumps(own))
        elsewhere = self.worker("b", f"export ATTNSCOPE_HOME={self.path}/elsewhere; ")
        said = self.sweep("--device", "emulated:own", "--worker", self.worker("a"), "--worker", elsewhere, expect=3)
        self.assertIn("b/emulated:own and a/emulated:own are both an emulated My L4, but they differ in sms: 20 and 58", said)
        said = self.sweep("--device", "emulated:l5", "--worker", self.worker("a"), "--worker", self.worker("b"), expect=3)
        self.assertIn("worker a has no device emulated:l5", said)
        self.assertIn("emulated:h200", said)
        said = self.sweep("--device", "a/emulated:l4", "--worker", self.worker("a"), "--worker", self.worker("b"), expect=2)
        self.assertIn("--device a/emulated:l4 is one worker's, and the sweep has 2", said)
        for options, names in ((["--workers", "2"], "--slurm"), (["--slurm", "-n1"], "--workers"), (["--slurm", "'", "--workers", "2"], "an open quote")):
            self.assertIn(names, self.sweep(*options, expect=2))

    def test_slurm_keeps_its_workers_and_one_may_be_cancelled(self):
        folder = tempfile.TemporaryDirectory(prefix="slurm", dir="/tmp")  # a socket's path is short
        slurm = Slurm(pathlib.Path(folder.name))
        try:
            slurm.begin()
            self.environment.update(slurm.environment)
            # Three workers, two processors: one waits in the queue.
            sweep = self.start("--no-watch", "--slurm", "--partition=here --cpus-per-task=1", "--workers", "3")
            wait_until(lambda: sweep.poll() is not None or len(self.rows()) >= 2, "two results")
            self.assertIsNone(sweep.poll(), "it still runs")
            wait_until(lambda: sweep.poll() is not None or (len(slurm.jobs("running")), len(slurm.jobs("pending"))) == (2, 1),
                       "two jobs that run and one that waits")
            self.assertIsNone(sweep.poll(), "it still runs")
            slurm.ask("scancel", slurm.jobs("running")[0])
            board, said = self.finish(sweep)
            self.assert_like_one(board)
            self.assertIn("restarting", said)
            wait_until(lambda: not slurm.jobs("running,pending"), "the end of its jobs")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{slurm.last_words()}") from error
        finally:
            slurm.stop()
            folder.cleanup()


if __name__ == "__main__":
    unittest.main()
