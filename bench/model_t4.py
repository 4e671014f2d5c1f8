"""Adds modelled times to a T4 file that a sweep on a GPU wrote, and keeps of it what a replay reads.

    python3 -B bench/model_t4.py SWEPT.json --kernel mma --problem B=1,H=8,S=512,D=64 --device emulated:h200 --program build/release/attnscope --out t4_h200_mma.json

SWEPT.json is from `attnscope sweep --t4`. Its configs that ran are swept once more on the emulated device, with empty caches, so that compiling
counts. Each result then has its knobs, time, compile time and the sum of its samples as `benchmark`, and two more measurements: `modelled_time`, and
`modelling_time`, the CPU seconds of that sweep divided by its configs. bench/results/t4_h200_*.json are such files.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


SHARE = 0.02  # of the CTAs, that the emulator runs


def key(configuration):
    return tuple(sorted((knob, str(value)) for knob, value in configuration.items()))


def measurement(result, name):
    return next((one["value"] for one in result["measurements"] if one["name"] == name), None)


def cpu_of(home):
    """CPU seconds of the processes with that folder in their environment, and of their ended children. The sweep does not wait for its workers'
    processes, so the system does not count them as its own."""
    seconds = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            is_ours = (process / "comm").read_text().startswith("attnscope")  # an ended nvdisasm counts as its child
            if is_ours and home.encode() in (process / "environ").read_bytes():
                ticks = (process / "stat").read_text().rsplit(")", 1)[1].split()[11:15]
                seconds[process.name] = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
        except OSError:
            pass  # it has just ended
    return seconds


def modelled(options, results, work):
    """Modelled ms by config, and the CPU seconds that one took on average."""
    knobs = {}
    for one in results:
        for knob, value in one["configuration"].items():
            if value not in knobs.setdefault(knob, []):
                knobs[knob].append(value)
    (work / "space.json").write_text(json.dumps({"knobs": knobs}))
    # As `sweep --strategy model-guided` ranks: the model needs a few CTAs.
    (work / "few.json").write_text(json.dumps({"attnscope_preset": 1, "title": "x", "kernel": options.kernel, "measure": {"sampled_share": SHARE}}))
    command = [options.program.resolve(), "sweep", "--preset", work / "few.json", "--problem", options.problem, "--device", options.device, "--no-watch",
               "--space", work / "space.json", "--t4", work / "modelled.json", "--json"]
    homes = {name: str(work / name) for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME")}
    tools = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "attnscope" / "cuda"  # of `attnscope setup`
    (work / "XDG_CACHE_HOME" / "attnscope").mkdir(parents=True)
    (work / "XDG_CACHE_HOME" / "attnscope" / "cuda").symlink_to(tools)
    with open(work / "board.json", "w") as board:
        sweep = subprocess.Popen(command, env={**os.environ, **homes}, stdout=board)
        seconds = {}
        while sweep.poll() is None:
            seconds.update(cpu_of(str(work)))
            time.sleep(0.5)
    if sweep.returncode != 0:
        sys.exit(f"the sweep ended with {sweep.returncode}")
    tried = json.loads((work / "board.json").read_text())["tried"]
    cpu = sum(seconds.values())
    times = {key(one["configuration"]): measurement(one, "time") for one in json.loads((work / "modelled.json").read_text())["results"]}
    return times, cpu / tried


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("swept", type=pathlib.Path)
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--problem", required=True)
    parser.add_argument("--device", required=True, help="the emulated twin")
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("build/release/attnscope"))
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    results = [one for one in json.loads(options.swept.read_text())["results"] if one["invalidity"] != "constraints"]
    with tempfile.TemporaryDirectory() as folder:
        times, cpu = modelled(options, results, pathlib.Path(folder))
    lines = []
    for one in results:
        measurements = [{"name": "time", "value": round(measurement(one, "time"), 7), "unit": "ms"}] if one["invalidity"] == "correct" else []
        if (ms := times.get(key(one["configuration"]))) is not None:
            measurements += [{"name": "modelled_time", "value": round(ms, 7), "unit": "ms"}, {"name": "modelling_time", "value": round(cpu, 3), "unit": "s"}]
        lines.append(json.dumps({"configuration": one["configuration"], "invalidity": one["invalidity"], "correctness": one["correctness"],
                                 "times": {"compilation": round(one["times"]["compilation"], 1), "benchmark": round(sum(one["times"]["runtimes"]), 3)},
                                 "measurements": measurements, "objectives": ["time"]}, separators=(",", ":")))
    options.out.write_text('{"schema_version":"1.0.0","results":[\n' + ",\n".join(lines) + "\n]}\n")
    print(f"{options.out}: {len(lines)} configs, {cpu:.2f} CPU seconds to model one")


if __name__ == "__main__":
    main()
