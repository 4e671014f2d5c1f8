"""Does `attnscope best` find what a full sweep finds? Problems drawn at random that no table has, on a GPU.

    python3 -B bench/best_unseen.py run --program build/release/attnscope --seed 27 --out FOLDER [--first 0] [--last 12]
    python3 -B bench/best_unseen.py record FOLDER... --out bench/results/best_h200.json
    python3 -B bench/best_unseen.py keep RECORDING... --table assets/tuned/h200.json

`run` asks `best --kernel mma` for each problem in a home folder of its own, sweeps all of SPACE in another, and times the best config in
turn with PyTorch's flash backend. `record` puts the answers into one file. `keep` adds the fastest config of each recorded problem to a
table, from which later searches start.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import tempfile
import time

SPACE = {"BLOCK_M": [32, 64, 128, 256], "BLOCK_N": [64, 128], "NUM_WARPS": [4, 8], "SPLIT_KEYS": [1, 2, 4], "STAGES": [2, 3], "Q_REGS": [0, 1],
         "SWIZZLE_XOR": [1]}
COMMANDS = {"best": "attnscope best --kernel mma --problem P --device cuda:0 --json",
            "sweep": "attnscope sweep --kernel mma --problem P --device cuda:0 --no-watch --strategy exhaustive --space FILE --json",
            "bench": "attnscope bench --device cuda:0 --cache hot --quick --kernel mma --peer torch:BACKEND=flash --problem P --json"}


def drawn(seed, count):
    rng, problems = random.Random(seed), []
    while len(problems) < count:
        head_dim = rng.choice([64, 128])
        length = rng.choice([256, 300, 384, 700, 900, 1280, 1536, 2500, 3072])
        batch, heads = rng.choice([1, 2, 3, 4, 6, 8]), rng.choice([4, 6, 8, 12, 16, 24])
        problem = f"B={batch},H={heads},S={length},D={head_dim}" + rng.choice(["", "", ",causal=top_left"])
        if problem not in problems:
            problems.append(problem)
    return problems


def run(arguments):
    arguments.out.mkdir(parents=True, exist_ok=True)
    space = arguments.out / "space.json"
    space.write_text(json.dumps({"knobs": SPACE}))
    for index, problem in list(enumerate(drawn(arguments.seed, arguments.last)))[arguments.first:]:
        seconds, answers = {}, {}
        with tempfile.TemporaryDirectory() as asked, tempfile.TemporaryDirectory() as swept:
            for step, command in COMMANDS.items():
                words = [{"P": problem, "FILE": str(space)}.get(word, word) for word in command.split()[1:]]
                home = swept if step == "sweep" else asked
                begun = time.monotonic()
                done = subprocess.run([arguments.program, *words], env={**os.environ, "ATTNSCOPE_HOME": home}, stdout=subprocess.PIPE, text=True)
                seconds[step] = round(time.monotonic() - begun, 2)
                if done.returncode:
                    raise SystemExit(f"{problem}: {step} ended with {done.returncode}")
                answers[step] = json.loads(done.stdout)
        (arguments.out / f"{index:02d}.json").write_text(json.dumps({"problem": problem, "seconds": seconds, **answers}))
        print(index, problem, seconds, flush=True)


def row(one):
    best = one["best"]["entries"][0]
    timed = [config for config in one["sweep"]["correct"] if config["us"]]
    swept = min(timed, key=lambda config: config["us"])
    own, flash = one["bench"]["rows"][0]["cells"]
    return {"problem": one["problem"],
            "best": {"us": round(best["us"], 3), "knobs": best["config"]["knobs"], "seconds": one["seconds"]["best"]},
            "sweep": {"us": round(swept["us"], 3), "interval": [round(us, 3) for us in swept["interval"]], "knobs": swept["knobs"],
                      "correct": len(timed), "seconds": one["seconds"]["sweep"]},
            "bench_us": own["us"]["p50"], "flash_us": flash["us"]["p50"],
            "times_as_fast_as_flash": {key: own["ratios"][0][key] for key in ("ratio", "interval")}}


def record(arguments):
    ones = [json.loads(file.read_text()) for folder in arguments.folders for file in sorted(folder.glob("[0-9][0-9].json"))]
    bench = ones[0]["bench"]
    versions = ones[0]["best"]["entries"][0]["versions"] | {"torch": bench["entries"][1]["version"]}
    arguments.out.write_text(json.dumps({
        "what": "attnscope best --kernel mma for problems drawn at random that no table has, an exhaustive sweep of a wide space of mma, and "
                "the best config timed in turn with PyTorch's flash backend (bench/best_unseen.py)",
        "commands": list(COMMANDS.values()), "space": SPACE, "date": bench["date"], "versions": versions, "device": bench["device"],
        "note": arguments.note, "problems": [row(one) for one in ones]}, indent=1) + "\n")


def entry(problem, fastest, recorded, like):
    """As `attnscope best` writes one; what is the same for all of the table's measured entries of mma comes from one of them."""
    words = dict(word.split("=") for word in problem.split(","))
    batch, heads, length, head_dim = (int(words[name]) for name in ("B", "H", "S", "D"))
    shape = {"batch": batch, "heads": heads, "kv_heads": heads, "seq_q": length, "seq_k": length, "head_dim": head_dim,
             "causal": words.get("causal", "none")}
    versions = {name: recorded["versions"][name] for name in like["versions"]}
    return like | {"config": like["config"] | {"knobs": fastest["knobs"]}, "date": recorded["date"][:10], "problem": like["problem"] | shape,
                   "us": fastest["us"], "versions": versions}


def keep(arguments):
    table = json.loads(arguments.table.read_text())
    like = next(e for e in table["entries"] if e["kernel"]["id"] == "mma" and e["kind"] == "measured")
    made = {}
    for file in arguments.recordings:
        recorded = json.loads(file.read_text())
        if recorded["device"]["name"] != table["device"]:
            raise SystemExit(f"{file} was timed on {recorded['device']['name']}, and {arguments.table} is for {table['device']}")
        for one in recorded["problems"]:
            fastest = min(one["best"], one["sweep"], key=lambda found: found["us"])
            made[one["problem"]] = entry(one["problem"], fastest, recorded, like)
    problems = [e["problem"] for e in made.values()]
    table["entries"] = [e for e in table["entries"] if e["kernel"]["id"] != "mma" or e["problem"] not in problems] + list(made.values())
    arguments.table.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    does = parser.add_subparsers(dest="does", required=True)
    one = does.add_parser("run")
    one.add_argument("--program", required=True)
    one.add_argument("--seed", type=int, required=True)
    one.add_argument("--out", type=pathlib.Path, required=True)
    one.add_argument("--first", type=int, default=0)
    one.add_argument("--last", type=int, default=12)
    one = does.add_parser("record")
    one.add_argument("folders", nargs="+", type=pathlib.Path)
    one.add_argument("--out", type=pathlib.Path, required=True)
    one.add_argument("--note", default="")
    one = does.add_parser("keep")
    one.add_argument("recordings", nargs="+", type=pathlib.Path)
    one.add_argument("--table", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    {"run": run, "record": record, "keep": keep}[arguments.does](arguments)


if __name__ == "__main__":
    main()
