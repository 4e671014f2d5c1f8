"""Sizes too large for any machine, through the whole program on an emulated device: each succeeds or is refused within bounded
time and memory, with a message that names the cause and what to do."""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time
import unittest

PROGRAM = os.environ["ATTNSCOPE"]
ENDS_WITHIN = 400  # seconds, on a busy machine; the largest grid's four million CTAs are emulated in a few
MOST_MEMORY = 3 << 30  # bytes that one process may hold; a refusal allocates nothing of the request

FILL = """extern "C" __global__ void sizes(float* out, int n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1.0f;
}
"""


def kernel(source=FILL, sizes=None, shape="n", knobs=(), shared=0, grid=("ceil_div(n, 128)", 1, 1), block=(128, 1, 1)):
    manifest = {
        "id": "sizes", "title": "Sizes", "source": "sizes.cu", "entry": "sizes", "problem": "custom", "knobs": list(knobs),
        "sizes": sizes or {"n": 4096}, "buffers": [{"name": "out", "role": "out", "dtype": "f32", "shape": [shape]}],
        "launch": {"grid": list(grid), "block": list(block), "dynamic_shared": shared},
        "args": ["out", "n"], "reference": "none"}
    return source, manifest


def with_array(declared, use="out[i] = big[i % 64];"):
    return f"""{declared}
extern "C" __global__ void sizes(float* out, int n) {{
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) {{ {use} }}
}}
"""


LOCAL = """extern "C" __global__ void sizes(float* out, int n) {
  volatile char big[BYTES];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int at = 0; at < 64; ++at) big[(at * 4099ll * (i + 1)) % BYTES] = at;
  out[i] = big[i % BYTES];
}
"""
KNOB = {"name": "BYTES", "values": [1024, 419430400, 1073741824], "default": 1024}
ATTENTION = ["--kernel", "tiled"]

# Name: the kernel (None: a shipped one), arguments added to `run`, the possible statuses, and words of the message.
CASES = {
    "a grid of 2^31-1": (kernel(grid=(2147483647, 1, 1), block=(32, 1, 1)), [], {0}, []),  # one warp: a quarter of the time
    "a grid of 2^31": (kernel(grid=(2147483648, 1, 1)), [], {3}, ["2,147,483,648", "grid"]),
    "a grid of 2^31-1 x 65535 x 65535": (kernel(grid=(2147483647, 65535, 65535)), [], {3}, ["2147483647", "65535"]),
    "a grid of 2^60": (kernel(grid=("n * n", 1, 1)), ["--problem", "n=1000000000"], {2}, ["launch/grid/0", "2^53"]),
    "a block of 2^31": (kernel(block=(2147483648, 1, 1)), [], {3}, ["2,147,483,648"]),
    "n = 10^9 of one buffer": (kernel(sizes={"n": 4096}, shape=64, grid=(1, 1, 1)), ["--problem", "n=1000000000"], {0, 3, 4}, []),
    "buffers of n = 10^9": (kernel(shape="4 * n"), ["--problem", "n=1000000000"], {2}, ["n=1000000000", "4 GiB"]),
    "buffers of n^4": (kernel(sizes={"n": 16}, shape="n * n * n * n"), ["--problem", "n=1000000"], {2}, ["2^53", "buffers/0/shape/0"]),
    "heads of 10^9": (None, [*ATTENTION, "--problem", "B=1,H=1000000000,S=64,D=64"], {2}, ["problem/heads"]),
    "a batch of 2^53": (None, [*ATTENTION, "--problem", "B=9007199254740992,H=1,S=64,D=64"], {2}, ["problem/batch"]),
    "rows of 10^9": (None, [*ATTENTION, "--problem", "B=1,H=1,S=1000000000,D=64"], {2}, ["problem/seq_q"]),
    "an 8 GB device array": (kernel(with_array("__device__ float big[2147483648ll];")), [], {3}, ["sizes", "big"]),
    "a 3 GB device array": (kernel(with_array("__device__ float big[805306368ll];")), [], {0}, []),
    "a 1 GB device array": (kernel(with_array("__device__ float big[268435456ll];")), [], {0}, []),
    "an array of constants of 1 GB": (kernel(with_array("__constant__ float big[268435456ll];")), [], {3}, ["sizes.cu", "too much global constant data"]),
    "a shared array of 1 GB": (kernel(with_array("", "__shared__ float big[268435456]; big[i % 64] = i; __syncthreads(); "
                                                     "out[i] = big[(i + 1) % 64];")), [], {3}, ["shared"]),
    "dynamic shared memory of 2^40": (kernel(shared="n * n * 65536"), [], {3}, ["shared", "1,099,511,627,776"]),
    "a local array of 400 MB": (kernel(LOCAL, knobs=[KNOB]), ["--set", "BYTES=419430400"], {3}, ["local memory"]),
    "a local array of 1 GB": (kernel(LOCAL, knobs=[KNOB]), ["--set", "BYTES=1073741824"], {3}, ["sizes"]),
}


class Sizes(unittest.TestCase):
    def run_case(self, folder, case):
        made, more, _, _ = case
        folder.mkdir()
        home = folder / "home"
        args = [PROGRAM, "run", "--json", "--no-watch", "--deadline", "60000", "--device", "emulated:l4", *more]
        if made:
            (folder / "sizes.cu").write_text(made[0])
            (folder / "sizes.json").write_text(json.dumps(made[1]))
            args += ["--kernels", folder, "--kernel", "sizes"]
        begin = time.monotonic()
        # Into files: wait4() reports how much the largest process below it took, and does not read pipes.
        with open(folder / "out", "wb") as out, open(folder / "err", "wb") as err:
            child = subprocess.Popen(list(map(str, args)), env=dict(os.environ, ATTNSCOPE_HOME=str(home)),
                                     stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            impatience = threading.Timer(ENDS_WITHIN, child.kill)
            impatience.start()
            _, status, used = os.wait4(child.pid, 0)
            impatience.cancel()
            child.returncode = os.waitstatus_to_exitcode(status)
        return child.returncode, (folder / "err").read_text(), used.ru_maxrss * 1024, time.monotonic() - begin

    def complaint(self, folder, case):
        _, _, allowed, names = case
        status, said, memory, seconds = self.run_case(folder, case)
        if status < 0:
            return f"ended by signal {-status} after {seconds:.0f} s: {said}"
        if status not in allowed:
            return f"status {status} instead of {allowed}: {said}"
        if memory > MOST_MEMORY:
            return f"took {memory >> 20} MB"
        if status == 0:
            return None
        missing = [name for name in names if name not in said]
        if missing:
            return f"does not name {missing}: {said}"
        if len(said.strip().splitlines()) < 2:
            return f"gives no hint: {said}"
        return "blames the program: " + said if "report" in said.lower() else None

    def test_sizes_beyond_the_machine_are_done_or_refused(self):
        with tempfile.TemporaryDirectory() as kept, concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda name: (name, self.complaint(pathlib.Path(kept) / name.replace(" ", "_"), CASES[name])),
                                  CASES))
        complaints = [f"{name}: {said}" for name, said in found if said]
        self.assertFalse(complaints, "\n" + "\n".join(complaints))


if __name__ == "__main__":
    unittest.main()
