"""Full tables of two spaces by attnscope and by Kernel Tuner: the wall time of each whole process, cold caches on both sides.

  bench/kernel_tuner_race.py PROGRAM [--device cuda:0] [--site FOLDER] [--rounds 2] [--out FILE]

Kernel Tuner 1.5.0 with its nvcuda backend must be importable (`pip install kernel_tuner==1.5.0 cuda-python`), or lie in --site. Both read the
kernels' sources of PROGRAM, compile with the same options but for the architecture (Kernel Tuner names a virtual one), try the same
configs and compare every output, which is NaN before the launch, with an fp64 reference. bench/results/kernel_tuner_h200.txt has what it
printed. `--table SPACE` is how it runs Kernel Tuner in a process of its own.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PROBLEM = {"B": 1, "H": 8, "S": 512, "D": 64}
VERSION = "1.5.0"
ABSOLUTE, RELATIVE, LEAST_FROBENIUS = 1e-3, 1e-3, 2.0 ** -11  # attnscope's tolerances for f16
LONGEST = 180  # seconds that one process may take

# The knobs as attnscope knows them; `more`: as Kernel Tuner's macros where they differ.
SPACES = {
    "mma": {
        "knobs": {"BLOCK_M": [32, 64], "BLOCK_N": [16, 32], "NUM_WARPS": [2, 4, 8], "SPLIT_KEYS": [1, 2], "STAGES": [1, 2],
                  "SWIZZLE_XOR": [1], "Q_REGS": [0, 1]},
        "more": {},
        "restrictions": ["NUM_WARPS % SPLIT_KEYS == 0", "BLOCK_M * SPLIT_KEYS % (16 * NUM_WARPS) == 0", "BLOCK_M * SPLIT_KEYS <= 32 * NUM_WARPS"],
        "entry": "attention_mma", "source": "05_mma.cu", "sizes": ["B", "H", "H", "S", "S"]},
    "tiled": {
        "knobs": {"BLOCK_M": [16, 32, 48, 64], "NUM_WARPS": [2, 4, 6, 8], "VEC_WIDTH": [1, 2, 4, 8], "SYNC_POLICY": ["none", "warp", "cta"],
                  "REDUCE_WARP": ["serial", "warp"], "SWIZZLE_XOR": [0, 1]},
        "more": {"SYNC_POLICY": [0, 2, 5], "REDUCE_WARP": [0, 1], "BLOCK_N": [64], "SHARED": [0], "SO_TYPE": [0]},
        # Fewer barriers than "cta" is a race, and static shared memory ends at 48 KB.
        "restrictions": ["SYNC_POLICY >= 5", "BLOCK_M % NUM_WARPS == 0", "4*64*64 + 2*BLOCK_M*64 + 4*BLOCK_M*64 + 4*BLOCK_M*64 + 8*NUM_WARPS <= 49152"],
        "entry": "attention_tiled", "source": "02_tiled.cu", "sizes": ["B", "H", "S", "S"]},
}
OPTIONS = ["--std=c++17", "-lineinfo", "--device-as-default-execution-space", "--use_fast_math", "--fmad=true", f"-DHEAD_DIM={PROBLEM['D']}",
           "-DCAUSAL=0", "-DDTYPE=0", "-DATTN_T=half"]


def shared_of_mma(config):
    rows, keys, width = config["BLOCK_M"], config["SPLIT_KEYS"], PROBLEM["D"]
    tiles = 4 * config["STAGES"] * keys * config["BLOCK_N"] * width
    return int(2 * rows * width + tiles + max(0, (keys - 1) * rows * 4 * (width + 8) - tiles))


def table_by_kernel_tuner(name, kernels, site):
    if site:
        sys.path.append(site)  # last: what the machine has comes first
    sys.modules["torch"] = sys.modules["cupy"] = None  # Kernel Tuner imports both where it finds them and needs neither
    import kernel_tuner
    import numpy as np
    from importlib.metadata import version
    if version("kernel_tuner") != VERSION:
        sys.exit(f"kernel_tuner is {version('kernel_tuner')}; the recording is by {VERSION}")
    space = SPACES[name]
    shape = tuple(PROBLEM[axis] for axis in "BHSD")
    scale = PROBLEM["D"] ** -0.5
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal(shape).astype(np.float16) for _ in range(3))

    def attention(kind):
        a, b, c = (one.astype(kind) for one in (q, k, v))
        scores = a @ b.swapaxes(-1, -2) * kind(scale)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights @ c / weights.sum(-1, keepdims=True)

    reference = attention(np.float64)
    norm = np.linalg.norm(reference)
    plain = np.linalg.norm(attention(np.float32).astype(np.float16) - reference) / norm
    checked = {"correct": 0, "wrong": 0}

    def verify(_, result, atol=None):
        got = result[3].astype(np.float64).reshape(shape)
        error = np.abs(got - reference)
        right = bool(np.isfinite(got).all() and (error <= ABSOLUTE + RELATIVE * np.abs(reference)).all() and
                     np.linalg.norm(got - reference) / norm <= max(2 * plain, LEAST_FROBENIUS))
        checked["correct" if right else "wrong"] += 1
        return right

    arguments = [q, k, v, np.full(shape, np.nan, np.float16), np.float32(scale), *(np.int32(PROBLEM[size]) for size in space["sizes"])]
    answer = [None] * len(arguments)
    answer[3] = reference
    knobs = {**space["knobs"], **space["more"]}
    results, _ = kernel_tuner.tune_kernel(
        space["entry"], str(pathlib.Path(kernels) / space["source"]), (PROBLEM["S"], PROBLEM["H"], PROBLEM["B"]), arguments,
        {"block_size_x": sorted({32 * warps for warps in knobs["NUM_WARPS"]}), **knobs}, grid_div_x=["BLOCK_M"], grid_div_y=[], grid_div_z=[],
        restrictions=["block_size_x == 32 * NUM_WARPS", *space["restrictions"]], answer=answer, verify=verify, lang="NVCUDA",
        smem_args={"size": shared_of_mma} if name == "mma" else None, compiler_options=OPTIONS, iterations=7, strategy="brute_force", quiet=True)
    timed = [one for one in results if isinstance(one.get("time"), float)]
    return {"configs": len(results), "timed": len(timed), **checked,
            "compiling": round(sum(one["compile_time"] for one in timed if isinstance(one.get("compile_time"), (int, float))) / 1e3, 2)}


def process(command):
    """Seconds of a process whose home and caches are empty, and what it printed last."""
    with tempfile.TemporaryDirectory() as home:
        own = {"HOME": home, "ATTNSCOPE_HOME": home + "/a", "XDG_CACHE_HOME": home + "/c", "XDG_DATA_HOME": home + "/d", "CUDA_CACHE_PATH": home + "/cc"}
        begin = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, env={**os.environ, **own}, cwd=home)
        seconds = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return seconds, done.stdout


def table_by_attnscope(program, device, name):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as space:
        json.dump({"knobs": SPACES[name]["knobs"]}, space)
        space.flush()
        seconds, printed = process([program, "sweep", "--kernel", name, "--problem", ",".join(f"{k}={v}" for k, v in PROBLEM.items()),
                                    "--device", device, "--space", space.name, "--no-watch", "--json"])
    board = json.loads(printed)
    return seconds, {"tried": board["tried"], "correct": len(board["correct"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--site", help="a folder with kernel_tuner and what it needs")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--kernels", type=pathlib.Path, help="the folder of the kernels' sources; else the one beside PROGRAM")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--table", choices=SPACES, help=argparse.SUPPRESS)
    given = parser.parse_args()
    program = given.program.resolve()
    kernels = given.kernels or program.parent.parent / "share" / "attnscope" / "kernels"
    if given.table:
        print(json.dumps(table_by_kernel_tuner(given.table, kernels, given.site)))
        return
    rows = []
    process([program, "devices"])  # files into the page cache, the driver up
    for name in SPACES:
        for _ in range(given.rounds):
            ours, of_ours = table_by_attnscope(program, given.device, name)
            command = [sys.executable, "-B", pathlib.Path(__file__).resolve(), program, "--kernels", kernels, "--table", name]
            theirs, printed = process(command + (["--site", str(pathlib.Path(given.site).resolve())] if given.site else []))
            of_theirs = json.loads(printed.splitlines()[-1])
            if of_theirs["wrong"] or not of_ours["correct"] == of_ours["tried"] == of_theirs["timed"] == of_theirs["configs"]:
                sys.exit(f"{name}: the tables differ: {of_ours} and {of_theirs}")
            rows.append({"space": name, "configs": of_ours["tried"], "attnscope": round(ours, 2), "kernel_tuner": round(theirs, 2), "compiling": of_theirs["compiling"]})
            print(f"{name}: {of_ours['tried']} configs, attnscope {ours:.2f} s, Kernel Tuner {theirs:.2f} s, {theirs / ours:.1f} times as long", flush=True)
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
