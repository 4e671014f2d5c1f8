"""How well tuners search recorded spaces: P over evaluations and over seconds (docs/sweeping.md), each tuner many times.

    python3 -B bench/tuner_scores.py run --program build/release/attnscope --hub HUB --site SITE --out scores.json [--space mma] [--tuner pyatf] [--repeats 100]
    python3 -B bench/tuner_scores.py table scores.json

The spaces are bench/results/t4_h200_*.json, as an H200 timed them, and, with a checkout of https://github.com/AutoTuningAssociation/benchmark_hub,
two kernels that an A100 timed, with the modelled times of bench/results/replay_a100_modelled.json. attnscope's strategies are scored by
`attnscope sweep --replay`. Kernel Tuner 1.5.0 runs in its simulation mode, its strategies with their default options and max_fevals the evaluations of the
budget; pyATF 0.0.13 with its default, the AUC bandit, of which only configs that it had not tried count. Both must be importable or lie in --site
(`pip install kernel_tuner==1.5.0 scikit-learn pyatf==0.0.13`); without them they are left out, and it says so. What a recording has is not run again.
"""
import argparse
import concurrent.futures
import contextlib
import gzip
import io
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parent.parent
OURS = ["model-guided", "learning", "local", "evolutionary"]
KERNEL_TUNER = ["hybrid_vndx", "adaptive_tabu_greywolf", "bayes_opt"]
TUNERS = [*OURS, *KERNEL_TUNER, "pyatf", "random"]
RUNGS = ["tiled", "scalar", "wmma", "mma"]
A100 = {"convolution": "convolution_milo", "dedispersion": "dedispersion_milo"}
VERSIONS = {"kernel_tuner": "1.5.0", "pyatf": "0.0.13"}
MOST_TESTS = 50  # of pyATF, times the evaluations that count
ENOUGH = 0.05    # of the way from the median to the best


def measurement(result, name):
    return next((m["value"] for m in result["measurements"] if m["name"] == name and isinstance(m["value"], (int, float))), None)


def with_modelled(t4, rows):
    """The hub's file with our modelled times. A key is the values of the knobs that the recording varies, in its order. What a modelled time took was
    not counted for the first 300 rows of a recording; these have the mean of the others."""
    counted = [row["cpu_s"] for row in rows.values() if "cpu_s" in row]
    mean = round(statistics.mean(counted), 2) if counted else None
    for one in t4["results"]:
        row = rows.get(",".join(str(value) for value in one["configuration"].values()))
        if row and "modelled" in row:
            one["measurements"].append({"name": "modelled_time", "value": row["modelled"], "unit": "ms"})
            if mean:
                one["measurements"].append({"name": "modelling_time", "value": row.get("cpu_s", mean), "unit": "s"})
    return t4


class Space:
    """A recorded space: the time and the seconds of each config."""

    def __init__(self, name, t4):
        self.name, self.t4 = name, t4
        rows = [one for one in t4["results"] if one["invalidity"] != "constraints"]
        knobs = list(rows[0]["configuration"])
        values = {knob: sorted({one["configuration"][knob] for one in rows}, key=lambda v: (isinstance(v, str), v)) for knob in knobs}
        self.knobs = [knob for knob in knobs if len(values[knob]) > 1]
        # A tuner may compare values, so words become numbers.
        self.values = {knob: [at if isinstance(v, str) else v for at, v in enumerate(values[knob])] for knob in self.knobs}
        self.ms, self.seconds = {}, {}
        for one in rows:
            key = tuple(self.values[knob][values[knob].index(one["configuration"][knob])] for knob in self.knobs)
            times = one["times"]
            self.ms[key] = measurement(one, "time") if one["invalidity"] == "correct" else None
            taken = sum(times[part] for part in ("compilation_time", "compilation", "framework", "validation", "benchmark") if isinstance(times.get(part), (int, float)))
            self.seconds[key] = (taken + (0 if "benchmark" in times else sum(v for v in times.get("runtimes", []) if isinstance(v, (int, float))))) / 1e3
        valid = sorted(v for v in self.ms.values() if v is not None)
        self.sorted = valid + [valid[-1]] * (len(self.ms) - len(valid))
        self.best, self.worst, self.valid = valid[0], valid[-1], len(valid)
        self.curve = self.random_curve()
        self.step = sum(self.seconds.values()) / len(self.seconds)

    def expected_least(self, drawn):
        count, mean, chance = len(self.sorted), 0, drawn / len(self.sorted)
        for at in range(count - drawn + 1):
            mean += chance * self.sorted[at]
            left = count - at - 1
            if left > 0:
                chance *= (left - drawn + 1) / left
        return mean

    def random_curve(self):
        enough = self.best + ENOUGH * (self.sorted[len(self.sorted) // 2] - self.best)
        curve = []
        for drawn in range(1, len(self.sorted) + 1):
            curve.append(self.expected_least(drawn))
            if curve[-1] <= enough:
                break
        return curve

    def score(self, found):
        shares = [(at - best) / (at - self.best) for at, best in zip(self.curve, found) if at > self.best]
        return sum(shares) / len(shares)

    def scores(self, order):
        """P over evaluations and over seconds of the configs in this order."""
        least, found, in_time, clock = self.worst, [], [], 0.0
        for key in order[:len(self.curve)]:
            clock += self.seconds[key]
            while len(in_time) < len(self.curve) and self.step * (len(in_time) + 1) < clock * (1 - 1e-9):
                in_time.append(least)
            least = min(least, self.ms[key] if self.ms[key] is not None else least)
            found.append(least)
        found += [least] * (len(self.curve) - len(found))
        in_time += [least] * (len(self.curve) - len(in_time))
        return self.score(found), self.score(in_time)


def by_kernel_tuner(space, strategy, seed):
    import kernel_tuner
    import numpy
    random.seed(seed)
    numpy.random.seed(seed)
    cache = {"kernel_tuner_version": VERSIONS["kernel_tuner"], "device_name": "recorded", "kernel_name": "k", "problem_size": [1], "tune_params_keys": space.knobs,
             "tune_params": space.values, "objective": "time", "cache": {}}
    for key, ms in space.ms.items():
        cache["cache"][",".join(map(str, key))] = {**dict(zip(space.knobs, key)), "time": ms if ms is not None else "RuntimeFailedConfig", "times": [ms] if ms else [],
                                                   "compile_time": 1.0, "verification_time": 0, "benchmark_time": 1.0, "strategy_time": 0, "framework_time": 1.0,
                                                   "timestamp": "2026-01-01 00:00:00.000000+00:00"}

    def may_run(config):
        return tuple(dict(config)[knob] for knob in space.knobs) in space.ms

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        file = pathlib.Path(folder) / "cache.json"
        file.write_text(json.dumps(cache))
        results, _ = kernel_tuner.tune_kernel(
            "k", "__global__ void k(){}", (1,), [], space.values, restrictions=may_run, strategy=strategy,
            strategy_options={"max_fevals": len(space.curve)}, simulation_mode=True, cache=str(file), lang="CUDA", block_size_names=["x", "y", "z"], quiet=True)
    return list(dict.fromkeys(tuple(one[knob] for knob in space.knobs) for one in results))


def by_pyatf(space, seed):
    import numpy
    from pyatf import TP, Set, Tuner
    from pyatf.abort_conditions import Evaluations
    from pyatf.search_techniques import AUCBandit
    from pyatf.tuning_data import CostFunctionError
    random.seed(seed)
    numpy.random.seed(seed)

    class Enough(BaseException):
        pass

    parameters = []
    for at, knob in enumerate(space.knobs):
        prefixes = {key[:at + 1] for key in space.ms}
        before = space.knobs[:at]
        # pyATF reads the names of a constraint's arguments: the parameter's own and those that it depends on.
        fits = eval(f"lambda {', '.join([knob, *before])}: ({', '.join([*before, knob])},) in prefixes", {"prefixes": prefixes})
        parameters.append(TP(knob, Set(*space.values[knob]), fits) if at else TP(knob, Set(*space.values[knob])))
    order = {}

    def cost(config):
        key = tuple(config[knob] for knob in space.knobs)
        order[key] = True
        if len(order) >= len(space.curve):
            raise Enough
        if space.ms[key] is None:
            raise CostFunctionError("invalid")
        return space.ms[key]

    with contextlib.suppress(Enough):
        Tuner().verbosity(0).tuning_parameters(*parameters).search_technique(AUCBandit()).tune(cost, Evaluations(MOST_TESTS * len(space.curve)))
    return list(order)


def by_chance(space, seed):
    order = list(space.ms)
    random.Random(seed).shuffle(order)
    return order


def one_repeat(task):
    space, tuner, seed, site = task
    if site and site not in sys.path:
        sys.path.append(site)
    order = by_chance(space, seed) if tuner == "random" else by_pyatf(space, seed) if tuner == "pyatf" else by_kernel_tuner(space, tuner, seed)
    return [round(one, 5) for one in space.scores(order)]


def by_attnscope(program, space, repeats):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(space.t4, file)
        file.flush()
        done = subprocess.run([program, "sweep", "--replay", file.name, "--repeats", str(repeats), "--json"], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def spaces_of(options):
    for name in options.spaces or [*RUNGS, *A100]:
        if name in RUNGS:
            yield Space(name, json.loads((TREE / f"bench/results/t4_h200_{name}.json").read_text()))
        elif options.hub is None or not (options.hub / "cachefiles").is_dir():
            print(f"{name} is left out: no checkout of the benchmark hub was named", file=sys.stderr)
        else:
            t4 = json.loads(gzip.decompress((options.hub / f"cachefiles/{A100[name]}/A100_T4.json.gz").read_bytes()))
            rows = json.loads((TREE / "bench/results/replay_a100_modelled.json").read_text())[name]["rows"]
            yield Space(name, with_modelled(t4, rows))


def importable(tuner, site):
    package = "pyatf" if tuner == "pyatf" else "kernel_tuner"
    from importlib.metadata import PackageNotFoundError, version
    if site and site not in sys.path:
        sys.path.append(site)
    try:
        found = version(package)
    except PackageNotFoundError:
        found = "missing"
    if found != VERSIONS[package]:
        print(f"{tuner} is left out: {package} is {found}, and the scores are of {VERSIONS[package]}", file=sys.stderr)
    return found == VERSIONS[package]


def run(options):
    done = json.loads(options.out.read_text()) if options.out.exists() else {}
    wanted = options.tuners or TUNERS
    for space in spaces_of(options):
        of = done.setdefault(space.name, {"configs": len(space.ms), "valid": space.valid, "evaluations": len(space.curve), "seconds": round(space.step * len(space.curve), 1)})
        if set(wanted) & set(OURS):
            of["attnscope"] = by_attnscope(options.program.resolve(), space, options.repeats)
            options.out.write_text(json.dumps(done, indent=1) + "\n")
        for tuner in wanted:
            if tuner in OURS or (tuner != "random" and not importable(tuner, options.site)):
                continue
            scores = of.setdefault("others", {}).setdefault(tuner, [])
            tasks = [(space, tuner, seed, options.site) for seed in range(len(scores) + 1, options.repeats + 1)]
            with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
                for scored in pool.map(one_repeat, tasks):
                    scores.append(scored)
                    options.out.write_text(json.dumps(done) + "\n")
                    print(f"{space.name}: {tuner} {len(scores)} of {options.repeats}", file=sys.stderr, end="\r", flush=True)


def interval(scores):
    mean = statistics.mean(scores)
    half = 1.96 * statistics.stdev(scores) / math.sqrt(len(scores)) if len(scores) > 1 else 0
    return f"{mean:.3f} ({mean - half:.3f} to {mean + half:.3f})"


def table(done):
    lines = []
    for name, of in done.items():
        lines.append(f"{name}: {of['configs']} configs, {of['valid']} valid; {of['evaluations']} evaluations or {of['seconds']} s")
        ours = of.get("attnscope", {"scores": {}})
        for tuner, scored in ours["scores"].items():
            said = lambda one: "-" if one is None else f"{one['mean']:.3f} ({one['interval'][0]:.3f} to {one['interval'][1]:.3f})"
            lines.append(f"  {tuner:<24}{ours['repeats']:>4}  {said(scored):<26}{said(scored['seconds'])}")
        for tuner, scores in of.get("others", {}).items():
            if scores:
                lines.append(f"  {tuner:<24}{len(scores):>4}  {interval([one[0] for one in scores]):<26}{interval([one[1] for one in scores])}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run")
    runs.add_argument("--program", type=pathlib.Path, default=pathlib.Path("build/release/attnscope"))
    runs.add_argument("--hub", type=pathlib.Path)
    runs.add_argument("--site", help="a folder with kernel_tuner, pyatf and what they need")
    runs.add_argument("--space", dest="spaces", action="append", choices=[*RUNGS, *A100])
    runs.add_argument("--tuner", dest="tuners", action="append", choices=TUNERS)
    runs.add_argument("--repeats", type=int, default=100)
    runs.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    runs.add_argument("--out", type=pathlib.Path, required=True)
    commands.add_parser("table").add_argument("file", type=pathlib.Path)
    options = parser.parse_args()
    if options.command == "table":
        print("\n".join(table(json.loads(options.file.read_text()))))
    else:
        run(options)


if __name__ == "__main__":
    main()
