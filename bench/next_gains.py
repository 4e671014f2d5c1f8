#!/usr/bin/env python3
"""What the configs that findings propose gain on a GPU, against what the findings estimate.

next_gains.py PROGRAM [--device cuda:0] [--model emulated:h200] [--seconds 285] [--configs 90] [--seed 15]

With an emulated device for both, modelled times are compared (bench/results/next_l4.json).

next_gains.py PROGRAM --again RECORD [--model emulated:h200]

Explains the configs of a record anew and writes to $OUT/gains.json what this PROGRAM estimates, and what it models when
the proposal is tried in the emulator ("tried"), beside what was timed then. No GPU. A pair whose rule now proposes another config keeps its old estimate and says "proposed": false; the first
estimate stays as "estimated_then".

Draws random legal configs of the shipped kernels, explains each on the GPU's emulated twin (no GPU, all cores), and times
each config against the one that its finding proposes, in turn, on the GPU (`compare`). Writes $OUT/gains.json, after every
pair, so that a run that is cut off leaves what it has.
"""
import argparse, concurrent.futures, json, os, random, subprocess, sys, tempfile, time

arguments = argparse.ArgumentParser()
arguments.add_argument("program")
arguments.add_argument("--device", default="cuda:0")
arguments.add_argument("--model", default="emulated:h200")
arguments.add_argument("--seconds", type=float, default=285)
arguments.add_argument("--configs", type=int, default=90)
arguments.add_argument("--seed", type=int, default=15)
arguments.add_argument("--problem", action="append", help="may be repeated; B=1,H=8,S=512,D=64 and a larger one")
arguments.add_argument("--jobs", type=int, default=max(2, (os.cpu_count() or 4) - 2))
arguments.add_argument("--again", metavar="RECORD")
options = arguments.parse_args()
began = time.time()
out = os.path.join(os.environ.get("OUT", "."), "gains.json")
PROBLEMS = options.problem or ["B=1,H=8,S=512,D=64", "B=1,H=16,S=1024,D=64"]
SHARES = {"minimal": 1, "tiled": 6, "scalar": 5, "wmma": 4, "mma": 5}


def left():
    return options.seconds - (time.time() - began)


def run(*words, timeout=60):
    return subprocess.run([options.program, *words], capture_output=True, text=True, timeout=max(1, min(timeout, left())))


def manifests():
    """The knobs of each kernel, from the files that the program reads."""
    for root in (os.path.join(os.path.dirname(options.program), "../share/attnscope/kernels"), "kernels"):
        if not os.path.isdir(root):
            continue
        found = {}
        for name in os.listdir(root):
            if name.endswith(".json"):
                manifest = json.load(open(os.path.join(root, name)))
                if manifest.get("source") and manifest["id"] in SHARES:
                    found[manifest["id"]] = manifest
        if found:
            return found
    sys.exit("next_gains.py: no kernels beside the program nor in ./kernels")


def text(value):
    return value["label"] if isinstance(value, dict) else str(value)


def explain(draw):
    """The observation of a drawn config, or None: refused, warned of, or no time is left."""
    kernel, knobs, problem = draw
    try:
        words = [word for name, value in knobs.items() for word in ("--set", f"{name}={value}")]
        done = run("explain", "--kernel", kernel, "--problem", problem, "--device", options.model, "--json", *words)
        return json.loads(done.stdout) if done.returncode == 0 else None
    except (subprocess.TimeoutExpired, ValueError):
        return None


def times_estimated(us, gain):
    return us / max(us - gain["estimated"], 0.01 * us)


def labelled(kernel, knobs):
    """The knobs of a record, with the words that --set takes."""
    words = {}
    for knob in kernel["knobs"]:
        if knob["name"] not in knobs:  # it is newer than the record
            continue
        of_value = {value["value"]: value["label"] for value in knob["values"] if isinstance(value, dict)}
        words[knob["name"]] = of_value.get(knobs[knob["name"]], knobs[knob["name"]])
    return words


def again():
    record, known = json.load(open(options.again)), manifests()

    def key(pair, knobs):
        return pair["kernel"], json.dumps(knobs), pair["problem"]

    def both(pair):
        return pair["knobs"], {**pair["knobs"], **pair["set"]}

    wanted = {key(pair, knobs): (pair["kernel"], labelled(known[pair["kernel"]], knobs), pair["problem"] + ",D=64")
              for pair in record["pairs"] for knobs in both(pair)}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        answers = dict(zip(wanted, pool.map(explain, wanted.values())))
    for pair in record["pairs"]:
        observation, other = (answers[key(pair, knobs)] for knobs in both(pair))
        if observation and other:
            pair["tried"] = observation["timing"]["us"]["p50"] / other["timing"]["us"]["p50"]
        found = [finding for finding in (observation or {}).get("findings") or []
                 if finding["rule"] == pair["rule"] and finding["next"] and finding["next"]["set"] == pair["set"]]
        pair["proposed"] = bool(found)
        pair.setdefault("estimated_then", pair["estimated"])
        if found:
            pair["estimated"] = times_estimated(observation["timing"]["us"]["p50"], found[0]["gain"])
    record["estimated_again"] = {"version": run("--version").stdout.strip(), "date": time.strftime("%Y-%m-%d"),
                                 "command": f"bench/next_gains.py PROGRAM --again RECORD --model {options.model}"}
    json.dump(record, open(out, "w"), indent=1)
    print(f'{sum(pair["proposed"] for pair in record["pairs"])} of {len(record["pairs"])} are proposed as then')


def preset(experiment, knobs):
    return {"attnscope_preset": 1, "title": "gains", "group": "gains", "note": "", "problem": experiment["problem"],
            "kernel": experiment["kernel"]["id"], "knobs": knobs, "options": experiment["config"]["options"],
            "device": options.device, "view": {}}


def compared(folder, experiment, set_):
    files = []
    for name, knobs in (("a", experiment["config"]["knobs"]), ("b", {**experiment["config"]["knobs"], **set_})):
        files.append(os.path.join(folder, name + ".json"))
        json.dump(preset(experiment, knobs), open(files[-1], "w"))
    done = run("compare", *files, "--device", options.device, "--blocks", "10", "--json", timeout=30)
    if not done.stdout.strip():
        return {"refused": done.stderr.strip()[-300:]}
    answer = json.loads(done.stdout)
    return {key: answer[key] for key in ("ratio", "interval", "tie", "blocks")} | {
        "a_us": answer["a"]["us"], "b_us": answer["b"]["us"], "b_verdict": answer["b"]["verdict"]}


def drawn():
    known = manifests()
    random.seed(options.seed)
    ids = [kernel for kernel, share in SHARES.items() for _ in range(share) if kernel in known]
    seen, draws = set(), []
    while len(draws) < 12 * options.configs:  # most of them are refused
        kernel = random.choice(ids)
        knobs = {knob["name"]: text(random.choice(knob["values"])) for knob in known[kernel]["knobs"]}
        if kernel == "tiled":
            knobs["SYNC_POLICY"] = "cta"  # the others race
        problem = random.choice(PROBLEMS)
        key = (kernel, tuple(sorted(knobs.items())), problem)
        if key not in seen:
            seen.add(key)
            draws.append((kernel, knobs, problem))
    return draws


def summary(pairs):
    timed = [pair for pair in pairs if "ratio" in pair]
    warned = [pair for pair in timed if pair["severity"] == "warning"]
    modelled = options.device.startswith("emulated:")  # its bar is the model's error, which both share

    def count(of, holds):
        return sum(1 for pair in of if holds(pair))

    def gains(pair):
        return pair["ratio"] > (1.02 if modelled else 1) and (modelled or not pair["tie"])

    return {"pairs": len(timed), "at_warning": len(warned),
            "gained": count(timed, gains), "gained_at_warning": count(warned, gains),
            "slower_by_2_percent_at_warning": count(warned, lambda p: p["ratio"] < 1 / 1.02),
            "refused_or_failed": len(pairs) - len(timed)}


def main():
    version = run("--version").stdout.strip()
    gpu = [line for line in run("devices").stdout.splitlines() if line.startswith(options.device)]
    explained, pool = [], concurrent.futures.ThreadPoolExecutor(options.jobs)
    waiting = [pool.submit(explain, draw) for draw in drawn()]
    for one in waiting:
        if len(explained) >= options.configs or time.time() - began > options.seconds * 0.4:
            break
        try:
            observation = one.result(timeout=max(0.1, options.seconds * 0.4 - (time.time() - began)))
        except concurrent.futures.TimeoutError:
            break
        if observation and not observation.get("failure"):
            explained.append(observation)
    pool.shutdown(wait=True, cancel_futures=True)  # nothing else runs during the timing
    proposals, seen = [], set()
    warned_findings = with_next = 0
    for o in explained:
        us = o["timing"]["us"]["p50"]
        for finding in o["findings"] or []:
            next_, gain = finding["next"], finding["gain"]
            warned_findings += finding["severity"] == "warning"
            with_next += finding["severity"] == "warning" and bool(next_)
            if not next_ or not gain:
                continue
            key = (o["experiment"]["hash"], json.dumps(next_["set"], sort_keys=True))
            proposals.append({"first": key not in seen, "severity": finding["severity"], "rule": finding["rule"],
                              "estimated": times_estimated(us, gain), "modelled_us": us,
                              "experiment": o["experiment"], "set": next_["set"]})
            seen.add(key)
    proposals.sort(key=lambda p: (p["severity"] != "warning", not p["first"]))
    pairs, times = [], {}
    head = {"version": version, "gpu": gpu, "model": options.model, "seed": options.seed, "explained": len(explained),
            "warnings": warned_findings, "warnings_with_next": with_next}
    with tempfile.TemporaryDirectory() as folder:
        for proposal in proposals:
            if left() < 12:
                break
            e = proposal.pop("experiment")
            key = (e["hash"], json.dumps(proposal["set"], sort_keys=True))
            try:
                if key not in times:
                    times[key] = compared(folder, e, proposal["set"])
            except (subprocess.TimeoutExpired, ValueError, KeyError) as error:
                times[key] = {"refused": str(error)[:300]}
            pairs.append({**proposal, "kernel": e["kernel"]["id"], "knobs": e["config"]["knobs"],
                          "problem": f'B={e["problem"]["batch"]},H={e["problem"]["heads"]},S={e["problem"]["seq_q"]}',
                          **times[key]})
            json.dump({**head, "summary": summary(pairs), "pairs": pairs}, open(out, "w"), indent=1)
    json.dump({**head, "summary": summary(pairs), "pairs": pairs, "seconds": time.time() - began}, open(out, "w"), indent=1)
    print(json.dumps(summary(pairs)))


again() if options.again else main()
