#!/usr/bin/env python3
"""Whether published kernels, loaded unchanged, are told what their authors say of them.

published_sources.py PROGRAM --sources DIR [--device emulated:l4] [--only kernels|questions] [--out bench/results/published_sources.json]

DIR holds a git repository for each name below, OWNER+NAME (its work tree, its .git, or a folder `repo` that is a bare
one), fetched by the reader: nothing of it is committed here. Each kernel is imported from a copy of its repository, which is
thrown away. Recorded are the names, the rules of the first three findings of all, and whether the author's is
among them; for the version that the author made against it, whether the rule is silent at warning level.

Then the sources of the reports that this project answers, each with the question that it asks (docs/explaining.md, Sixteen
questions): its compile-time macros are the knobs, nothing else is said of it. Recorded are also how many findings there are, those of
the watch with those of the run, how many of them the terminal and the window show at first (three of each group), the rule's group, its place
among all and in its group, and its place in what the terminal says first: 0 for the lines above the causes, 1 to 3 for the causes.
"""
import argparse, concurrent.futures, datetime, json, pathlib, re, subprocess, tempfile, threading
from fetched import folder_of, git, unpack

TRANSPOSE = "Samples/6_Performance/transpose/transpose.cu"
SGEMM = "src/kernels/"
REDUCTION = "Samples/2_Concepts_and_Techniques/reduction/reduction_kernel.cu"
BLOG = "series/cuda-cpp/transpose/transpose.cu"
BANK = "src/08-shared-memory/bank.cu"
PACKT = "Chapter02/02_memory_overview/04_matrix_transpose/"
FEW = 3  # of a group that the terminal and the window show at first (FindingsOfGroup::kFew), and of all
SQUARE, PRODUCT = "height=512,width=512", "K=128,M=256,N=256"
# What the host code of the reduction computes, and `import` can only guess: 256 threads, and a CTA for each 256 elements.
HOST = {"grid": ["n / 256", "1", "1"], "block": ["256", "1", "1"], "dynamic_shared": "1024"}
# repository, file, kernel (None: the only one), problem (None: the file's own), the rule, and whether the author names it (True) or has mended
# it (False); then the launch, where it is not the imported one.
SOURCES = [
    ("NVIDIA+cuda-samples", TRANSPOSE, "transposeNaive", SQUARE, "global.scattered", True),
    ("NVIDIA+cuda-samples", TRANSPOSE, "transposeCoalesced", SQUARE, "global.scattered", False),
    ("NVIDIA+cuda-samples", TRANSPOSE, "transposeCoalesced", SQUARE, "banks.conflicts", True),
    ("NVIDIA+cuda-samples", TRANSPOSE, "transposeNoBankConflicts", SQUARE, "banks.conflicts", False),
    ("siboehm+SGEMM_CUDA", SGEMM + "1_naive.cuh", None, PRODUCT, "global.scattered", True),
    ("siboehm+SGEMM_CUDA", SGEMM + "2_kernel_global_mem_coalesce.cuh", "sgemm_global_mem_coalesce<32>", PRODUCT, "global.scattered", False),
    ("siboehm+SGEMM_CUDA", SGEMM + "2_kernel_global_mem_coalesce.cuh", "sgemm_global_mem_coalesce<32>", PRODUCT, "global.repeated", True),
    ("siboehm+SGEMM_CUDA", SGEMM + "3_kernel_shared_mem_blocking.cuh", "sgemm_shared_mem_block<32>", PRODUCT, "shared.queue", True),
    ("NVIDIA+cuda-samples", REDUCTION, "reduce0<float>", "n=262144", "threads.idle", True),
    ("NVIDIA+cuda-samples", REDUCTION, "reduce0<float>", "n=262144", "integer.division", True),
    ("NVIDIA+cuda-samples", REDUCTION, "reduce1<float>", "n=262144", "integer.division", False),
    ("NVIDIA+cuda-samples", REDUCTION, "reduce1<float>", "n=4194304", "banks.conflicts", True, HOST),
    ("NVIDIA+cuda-samples", REDUCTION, "reduce2<float>", "n=4194304", "banks.conflicts", False, HOST),
    ("NVIDIA-developer-blog+code-samples", BLOG, "transposeNaive", None, "global.scattered", True),
    ("NVIDIA-developer-blog+code-samples", BLOG, "transposeCoalesced", None, "global.scattered", False),
    ("NVIDIA-developer-blog+code-samples", BLOG, "transposeCoalesced", None, "banks.conflicts", True),
    ("NVIDIA-developer-blog+code-samples", BLOG, "transposeNoBankConflicts", None, "banks.conflicts", False),
    ("brucefan1983+CUDA-Programming", BANK, "transpose1", "N=512", "banks.conflicts", True),
    ("brucefan1983+CUDA-Programming", BANK, "transpose2", "N=512", "banks.conflicts", False),
    ("PacktPublishing+Learn-CUDA-Programming", PACKT + "matrix_transpose.cu", "matrix_transpose_naive", None, "global.scattered", True),
    ("PacktPublishing+Learn-CUDA-Programming", PACKT + "matrix_transpose.cu", "matrix_transpose_shared", None, "global.scattered", False),
    ("PacktPublishing+Learn-CUDA-Programming", PACKT + "matrix_transpose.cu", "matrix_transpose_shared", None, "banks.conflicts", True),
    ("PacktPublishing+Learn-CUDA-Programming", PACKT + "conflict_solved.cu", "matrix_transpose_shared", None, "banks.conflicts", False),
]

# The reports' own: their repository, the commit that last touched the file, and what a person who has the file knows of
# its launch. `-D` macros of their build are knobs.
REPORTS = "GOATnote-Inc+periodicdent42"
KERNELS = "cudadent42/bench/kernels/"
TILED_KNOBS = {"BLOCK_M": [16, 32, 64], "NUM_WARPS": [4, 6, 8], "VEC_WIDTH": [1, 4, 8], "SYNC_POLICY": [2, 5], "REDUCE_WARP": [0, 1],
               "SWIZZLE_XOR": [0, 1]}
TILED = {"BLOCK_M": 32, "NUM_WARPS": 4, "VEC_WIDTH": 4, "SYNC_POLICY": 2, "REDUCE_WARP": 1, "SWIZZLE_XOR": 0}
PHASE4 = dict(file=KERNELS + "fa_phase3_wmma.cu", commit="3b65cf8", entry="flash_attention_phase3_kernel", knobs=TILED_KNOBS, start=TILED,
              grid=["ceil_div(seq_q, BLOCK_M)", "heads", "batch"], block="32 * NUM_WARPS")
LIGHT = PHASE4 | dict(commit="cf0f0c2")
PHASE5 = PHASE4 | dict(file=KERNELS + "fa_phase5_wmma.cu", commit="905126b", entry="flash_attention_phase5_kernel",
                       knobs=TILED_KNOBS | {"USE_WMMA": [0, 1]}, start=TILED | {"USE_WMMA": 1})
MINIMAL = dict(file=KERNELS + "fa_minimal.cu", commit="35a8480", entry="flash_attention_minimal_kernel", knobs={}, start={},
               grid=["seq_q", "heads", "batch"], block="128")
# question, source, knobs (against which others, None: no others), watched, the rule, and whether it is found; then a word that its
# sentence has, where the rule could name another thing too.
QUESTIONS = [
    (1, PHASE4, {"VEC_WIDTH": 8}, {"VEC_WIDTH": 4}, False, "code.identical", True),
    (1, PHASE4, {"VEC_WIDTH": 4}, {"VEC_WIDTH": 1}, False, "code.identical", False),
    (2, PHASE4, {}, None, False, "warps.lone", True),
    (2, PHASE4, {"NUM_WARPS": 8}, None, False, "warps.lone", True),
    (2, PHASE5, {}, None, False, "warps.lone", False),
    (3, PHASE4, {}, None, True, "race.shared", True),
    (3, LIGHT, {}, None, True, "race.shared", True),
    (3, PHASE4, {"SYNC_POLICY": 5}, None, True, "race.shared", False),
    (4, PHASE4, {"NUM_WARPS": 6}, None, True, "barrier.uneven", True),
    (4, PHASE4, {"NUM_WARPS": 8}, None, True, "barrier.uneven", False),
    (5, PHASE4, {"BLOCK_M": 64}, None, False, "limits.exceeded", True),
    (5, PHASE4, {}, None, False, "limits.exceeded", False),
    (7, PHASE4, {}, None, False, "banks.conflicts", True),
    (7, PHASE4, {}, None, False, "helper.unused", True, "swz()"),
    (9, PHASE5, {}, None, False, "helper.unused", True, "wmma_pv()"),
    (10, PHASE4, {}, None, False, "occupancy.low", True),
    (11, PHASE4, {}, None, False, "grid.tail", True),
    (15, PHASE4, {}, None, False, "phase.most", True),
    (15, MINIMAL, {}, None, False, "global.scattered", True),
]

arguments = argparse.ArgumentParser()
arguments.add_argument("program")
arguments.add_argument("--sources", required=True)
arguments.add_argument("--device", default="emulated:l4")
arguments.add_argument("--only", choices=["kernels", "questions"], help="The other list stays as it was recorded")
arguments.add_argument("--jobs", type=int, default=2)
arguments.add_argument("--out", default="bench/results/published_sources.json")
options = arguments.parse_args() if __name__ == "__main__" else None  # compilers.py takes the lists


def run(*words):
    return subprocess.run([options.program, *words], capture_output=True, text=True, timeout=1200)


COPIES, COPYING = {}, threading.Lock()


def copy_of(repository):
    """Its sources and headers, as a clone has them: a launch or a header may be in another file."""
    with COPYING:
        if repository not in COPIES:
            COPIES[repository] = tempfile.TemporaryDirectory()
            unpack(folder_of(options.sources, repository), pathlib.Path(COPIES[repository].name))
        return pathlib.Path(COPIES[repository].name)


def told(repository, path, entry, problem, rule, named, launch=None):
    one = {"repository": repository.replace("+", "/"), "commit": git(folder_of(options.sources, repository), "rev-parse", "HEAD").decode().strip(),
           "file": path, "kernel": entry, "problem": problem, "rule": rule, "named": named}
    with tempfile.TemporaryDirectory() as folder:
        source = copy_of(repository) / path
        out = pathlib.Path(folder) / "imported"
        out.mkdir()
        done = run("import", str(source), "--out", str(out), *(["--entry", entry] if entry else []))
        manifests = list(out.glob("*.json"))
        if not manifests:
            return one | {"refused": done.stderr.strip().splitlines()[0] if done.stderr.strip() else "no manifest", "met": False}
        manifest = json.loads(manifests[0].read_text())
        name = manifest["id"]
        if launch:
            manifests[0].write_text(json.dumps(manifest | {"launch": launch}))
        done = run("explain", "--kernels", str(out), "--kernel", name, "--device", options.device, "--json",
                   *(["--problem", problem] if problem else []))
        if not done.stdout.strip():
            return one | {"refused": done.stderr.strip().splitlines()[0] if done.stderr.strip() else "no answer", "met": False}
        seen = json.loads(done.stdout)
        findings = seen["findings"] or []
        if launch:
            counters, terms = seen["counters"], seen["timing"]["terms"]["list"]
            one |= {"launch": launch, "us": seen["timing"]["us"]["p50"], "wavefronts": counters["shared_wavefronts"],
                    "conflicts": counters["shared_bank_conflicts"],
                    "conflicts_us": sum(term["us"] for term in terms if "bank conflicts" in term.values())}
    first = [finding["rule"] for finding in findings[:FEW]]
    warned = [finding["rule"] for finding in findings if finding["severity"] != "info"]
    return one | {"first": first, "warned": warned, "met": rule in first if named else rule not in warned}


def put_asked(folder, sources, source):
    """The unchanged source, and a manifest beside it: its launch, and its macros as knobs."""
    (folder / "asked.cu").write_bytes(git(folder_of(sources, REPORTS), "show", f"{source['commit']}:{source['file']}"))
    (folder / "asked.json").write_text(json.dumps(manifest_of(source)))


def manifest_of(source):
    return {"id": "asked", "title": "asked", "source": "asked.cu", "entry": source["entry"], "problem": "attention",
            "knobs": [{"name": knob, "values": values, "default": source["start"][knob]} for knob, values in source["knobs"].items()],
            "supports": {"dtype": ["f16"], "head_dim": [64], "causal": ["none"]},
            "launch": {"grid": source["grid"], "block": [source["block"], 1, 1]},
            "args": ["q", "k", "v", "o", "scale", "batch", "heads", "seq_q"]}


def first_causes(text):
    """The rules of each cause that the terminal says first."""
    below = re.search(r"^First of \d+ causes?\n((?:\d+\. .*\n)*)", text, flags=re.M)
    lines = below.group(1).splitlines() if below else []
    return [re.split(r"\.\s", line, maxsplit=1)[1].partition(":")[0].partition(";")[0].split(", ") for line in lines]


EXPLAINED = {}  # several questions are about one run


def key_of(source, knobs, others, watched):
    return json.dumps([source, knobs, others, watched])


def explain(run):
    EXPLAINED[key_of(*run)] = explained(*run)


def shape_of(watched):
    return "B=1,H=1,S=64,D=64" if watched else "B=1,H=8,S=512,D=64"  # a watch takes long, and a race is one at any size


def explained(source, knobs, others, watched):
    """Its JSON, and the terminal's text."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        put_asked(folder, options.sources, source)
        words = ["explain", "--kernels", str(folder), "--kernel", "asked", "--device", options.device, "--problem", shape_of(watched)]
        for knob, value in knobs.items():
            words += ["--set", f"{knob}={value}"]
        if others is not None:
            problem = {"kind": "attention", "batch": 1, "heads": 8, "kv_heads": 8, "seq_q": 512, "seq_k": 512, "head_dim": 64}
            (folder / "against").mkdir()
            preset = {"attnscope_preset": 1, "title": "against", "problem": problem, "kernel": "asked", "knobs": source["start"] | others,
                      "device": options.device}
            (folder / "against" / "against.json").write_text(json.dumps(preset))
            words += ["--against", str(folder / "against" / "against.json")]
        words += ["--watch"] if watched else []
        return run(*words, "--json"), run(*words)


def asked(question, source, knobs, others, watched, rule, found, names=""):
    one = {"question": question, "repository": REPORTS.replace("+", "/"), "commit": source["commit"], "file": source["file"], "problem": shape_of(watched),
           "knobs": knobs, "against": others, "watched": watched, "rule": rule, "found": found}
    done, text = EXPLAINED[key_of(source, knobs, others, watched)]
    if not done.stdout.strip():
        return one | {"refused": done.stderr.strip().splitlines()[0] if done.stderr.strip() else "no answer", "met": False}
    seen = json.loads(done.stdout)
    # As the terminal and the window order them.
    of_watch = (seen["watch"] or {}).get("findings", [])
    findings = [finding for finding in of_watch if finding["severity"] != "info"] + (seen["findings"] or [])
    findings += [finding for finding in of_watch if finding["severity"] == "info"]
    findings.sort(key=lambda finding: finding["severity"] != "error")
    rules = list(dict.fromkeys(finding["rule"] for finding in findings))
    warned = [finding["rule"] for finding in findings if finding["severity"] != "info"]
    place = rules.index(rule) + 1 if rule in rules else 0
    group = next((finding["group"] for finding in findings if finding["rule"] == rule), None)
    beside = [finding["rule"] for finding in findings if finding["group"] == group]
    groups = [finding["group"] for finding in findings]
    shown = sum(min(FEW, groups.count(one)) for one in set(groups))
    says = next((finding["sentence"] for finding in findings if finding["rule"] == rule), None)
    told_by = seen["failure"]["message"] if seen.get("failure") else None
    causes = first_causes(text.stdout)
    place_of_cause = next((number for number, cause in enumerate(causes, 1) if rule in cause), None)
    if says and place_of_cause is None and says in text.stdout.split("\nFirst of ")[0]:
        place_of_cause = 0
    return one | {"findings": len(findings), "shown": shown, "first": rules[:FEW], "place": place, "causes": causes,
                  "place_of_cause": place_of_cause, "group": group,
                  "place_in_group": beside.index(rule) + 1 if place else 0, "sentence": says, "failure": told_by,
                  "met": place > 0 and names in says if found else rule not in warned}


def main():
    out = pathlib.Path(options.out)
    kept = json.loads(out.read_text()) if options.only else {}
    wanted = [options.only] if options.only else ["kernels", "questions"]
    lists = {name: kept.get(name, []) for name in ("kernels", "questions")}
    dates = kept.get("dates", {}) | {name: datetime.date.today().isoformat() for name in wanted}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        if "kernels" in wanted:
            lists["kernels"] = list(pool.map(lambda source: told(*source), SOURCES))
        if "questions" in wanted:
            runs = {key_of(*question[1:5]): question[1:5] for question in QUESTIONS}
            list(pool.map(explain, runs.values()))
            lists["questions"] = list(pool.map(lambda question: asked(*question), QUESTIONS))
    write(out, {"command": f"bench/published_sources.py PROGRAM --sources DIR --device {options.device}", "dates": dates}, lists)


def write(out, head, lists):
    """As JSON with an entry of a list on a line."""
    text = "".join(f" {json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    parts = [f' "{name}": [\n' + ",\n".join("  " + json.dumps(one) for one in rows) + "\n ]" for name, rows in lists.items()]
    out.write_text("{\n" + text + ",\n".join(parts) + "\n}\n")


if __name__ == "__main__":
    main()
