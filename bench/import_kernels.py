#!/usr/bin/env python3
"""How many published kernels import and run in the emulator at the first try, with nothing edited.

import_kernels.py PROGRAM --sources DIR --work DIR [--out bench/results/import_kernels.txt] [--facts 60]

DIR of --sources holds a git repository for each OWNER+NAME (its work tree, or a folder `repo` that is bare), fetched by
the reader: nothing of it is committed here. Results of single kernels stay in --work, and a kernel that has one is not
run again, or with --failed only if it ran; with --facts that many facts that an import called read are drawn at random and printed for a check by hand.

The rule, which stands in the result: RULE below, and the constants beside it.
"""
import argparse, collections, concurrent.futures, datetime, hashlib, json, pathlib, random, re, subprocess, tempfile

from fetched import folder_of, git, unpack

SEED, OF_A_REPOSITORY, OF_A_FILE, LIMIT_S = 16, 7, 2, 120
LIBRARIES = r'#\s*include\s*[<"](cute|cutlass|opencv2?|GL|GLFW|glad|SDL2?|mpi|nccl|nvshmem|cudnn|npp|Eigen|boost|raft|kittens)\b'
FOREIGN = r"(^|/)(third_?party|3rdparty|externals?|extern|submodules|deps)/|-(hip|sycl|omp)/"
RULE = f"""Of each repository: the __global__ functions with a body in its .cu and .cuh files, at most {OF_A_FILE} of a file and {OF_A_REPOSITORY} of a
repository, drawn with seed {SEED}; a body that was drawn before, or is empty, does not count again. Left out before the
draw: folders of third-party code, and files that include {", ".join(sorted(re.findall(r"[A-Za-z]+", LIBRARIES.split("(")[1].split(")")[0])))}.
Nothing else is left out: textures, cuRAND in device code or clusters count as refused. Commands: attnscope import FILE
--entry NAME --out DIR; attnscope run --kernels DIR --kernel ID --no-watch; each ended after {LIMIT_S} s. "Ran" says that every
CTA or the sample ended, not that the output is right. "Nothing guessed": the import guessed no size, extent, value
or launch; guesses of a knob's other values do not count. "With --include": ran, or ran at a second try with the folders
that the first import names for headers that it did not find."""

Kernel = collections.namedtuple("Kernel", "repository commit file name body")


def without_comments(text):
    kept = lambda match: match.group() if match.group()[0] in "\"'" else re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', kept, text, flags=re.S)


def kernels_of(text):
    """Name and body, without white space, of each kernel that the text defines."""
    text = without_comments(text)
    found = {}
    for start in re.finditer(r"\b__global__\b", text):
        head = re.match(r"[^;{]*", text[start.end():]).group()
        at = start.end() + len(head)
        head = re.sub(r"__(?:launch_bounds|cluster_dims|attribute)__\s*(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))", " ", head)
        name = re.search(r"\bvoid\s+(?:static\s+|inline\s+|__\w+__\s+)*(\w+)\s*\(", head)
        if not name or text[at:at + 1] != "{":
            continue
        depth = 0
        for brace in re.finditer(r"[{}]", text[at:]):
            depth += 1 if brace.group() == "{" else -1
            if depth == 0:
                body = re.sub(r"\s", "", text[at:at + brace.end()])
                if body != "{}":
                    found.setdefault(name.group(1), body)
                break
    return found


def drawn(sources, seed=SEED):
    """The kernels that count, by RULE."""
    bodies, kernels = set(), []
    for path in sorted(sources.iterdir()):
        if not path.is_dir():
            continue
        folder = folder_of(sources, path.name)
        commit = git(folder, "rev-parse", "HEAD").decode().strip()
        files = [name for name in git(folder, "ls-tree", "-r", "-z", "--name-only", "HEAD").decode("utf-8", "replace").split("\0")
                 if name.endswith((".cu", ".cuh")) and not re.search(FOREIGN, name)]
        chance = random.Random(f"{seed} {path.name}")
        chance.shuffle(files)
        mine = []
        for name in files:
            if len(mine) >= OF_A_REPOSITORY:
                break
            text = git(folder, "show", f"HEAD:{name}").decode("utf-8", "replace")
            if re.search(LIBRARIES, text):
                continue
            fresh = [(kernel, body) for kernel, body in kernels_of(text).items() if body not in bodies]
            chance.shuffle(fresh)
            for kernel, body in fresh[:min(OF_A_FILE, OF_A_REPOSITORY - len(mine))]:
                bodies.add(body)
                mine.append(Kernel(path.name, commit, name, kernel, body))
        kernels += mine
    return kernels


def listed(text, heading):
    """The lines below a heading of import's answer."""
    found = re.search(rf"^{re.escape(heading)}[^\n]*\n((?:  [^\n]*\n)+)", text, flags=re.M)
    return [line.strip() for line in found.group(1).splitlines()] if found else []


def timed(words):
    try:
        return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return None


def tried(program, trees, work, again, kernel):
    key = hashlib.sha256("\0".join(kernel[:4]).encode()).hexdigest()[:16]
    kept = work / (key + ".json")
    if kept.exists():
        one = json.loads(kept.read_text())
        if not again or one["what"] == "ran":
            return one
    one = {"repository": kernel.repository.replace("+", "/"), "commit": kernel.commit, "file": kernel.file, "kernel": kernel.name}
    one |= attempt(program, trees, kernel, [])
    if one["what"] != "ran" and one["named"]:
        one["again"] = attempt(program, trees, kernel, one["named"])
    kept.write_text(json.dumps(one))
    return one


def attempt(program, trees, kernel, folders):
    """Import and run; `named` are the folders for --include that the import names."""
    one = {"read": [], "guessed": [], "probed": [], "named": []}
    with tempfile.TemporaryDirectory() as out:
        source = trees / kernel.repository / kernel.file
        include = [word for folder in folders for word in ("--include", folder)]
        done = timed([program, "import", str(source), "--entry", kernel.name, "--out", out, *include])
        if done is None:
            one |= {"what": "too long", "why": "import"}
        elif done.returncode:
            one |= {"what": "refused", "why": done.stderr.strip().replace(str(trees), "")}
        else:
            one |= {"named": sorted(set(re.findall(r"; --include (.+) has it$", done.stdout, flags=re.M))),
                    "read": listed(done.stdout, "Read from the source:"), "probed": listed(done.stdout, "Probed by running"),
                    "guessed": [line for line in listed(done.stdout, "Guessed,") if not line.startswith("the knobs' other")]}
            manifest = next(pathlib.Path(out).glob("*.json"))
            one["manifest"] = json.loads(manifest.read_text())
            done = timed([program, "run", "--kernels", out, "--kernel", manifest.stem, "--no-watch", "--json"])
            if done is None:
                one |= {"what": "too long", "why": "run"}
            else:
                one |= outcome(done)
    return one


def outcome(done):
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return {"what": "refused", "why": (done.stderr or done.stdout).strip()}
    failure = answer.get("failure")
    if failure:
        return {"what": "stopped", "why": f"{failure['stage']}: {failure['message']}", "hint": failure.get("hint", "")}
    return {"what": "ran", "why": ""}


def reason(one):
    """The refusal without the names and numbers that are its own."""
    text = one["why"].splitlines()[0] if one["why"] else ""
    text = re.sub(r"\"[^\"]*\"|'[^']*'|`[^`]*`", "…", text)
    return re.sub(r"\S*\.cuh?\b\S*|0x[0-9a-f]+|\b\d[\d,]*\b", "#", text)[:150]


def table(rows, command, seed):
    repositories = collections.defaultdict(list)
    for one in rows:
        repositories[one["repository"], one["commit"]].append(one)
    count = lambda ones, test: sum(1 for one in ones if test(one))
    ran = lambda one: one["what"] == "ran"
    then = lambda one: ran(one) or ran(one.get("again", {"what": ""}))
    sure = lambda one: one["what"] == "ran" and not one["guessed"]
    lines = ["Published kernels: import and first run, nothing edited.", f"{datetime.date.today()}, {command}", "", RULE.replace(f"seed {SEED}", f"seed {seed}"), "",
             f"{len(rows)} kernels of {len(repositories)} repositories: {count(rows, lambda one: one['what'] != 'refused')} imported, "
             f"{count(rows, ran)} ran ({count(rows, ran) / len(rows):.1%}), of {count(rows, sure)} nothing was guessed "
             f"({count(rows, sure) / len(rows):.1%}); with the folders named by --include {count(rows, then)} ran "
             f"({count(rows, then) / len(rows):.1%}). At the first try {count(rows, lambda one: one['what'] == 'stopped')} stopped, "
             f"{count(rows, lambda one: one['what'] == 'too long')} took too long, {count(rows, lambda one: one['what'] == 'refused')} "
             f"were refused.", "",
             f"{'repository':52} {'commit':8} {'kernels':>7} {'imported':>8} {'ran':>4} {'nothing guessed':>15} {'with --include':>14}"]
    for (name, commit), ones in sorted(repositories.items(), key=lambda entry: entry[0][0].lower()):
        lines.append(f"{name:52} {commit[:7]:8} {len(ones):7} {count(ones, lambda one: one['what'] != 'refused'):8} "
                     f"{count(ones, ran):4} {count(ones, sure):15} {count(ones, then):14}")
    lines += ["", "Those that did not run:"]
    for one in sorted((one for one in rows if not ran(one)), key=lambda one: (one["what"], reason(one))):
        why = re.sub(r"(?<![^\s:])/\S*/", "", one["why"].splitlines()[0] if one["why"] else "")
        lines.append(f"  {one['what']:8} {one['repository']} {one['file']} {one['kernel']}: {why[:260]}")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--sources", required=True, type=pathlib.Path)
    arguments.add_argument("--work", required=True, type=pathlib.Path)
    arguments.add_argument("--out")
    arguments.add_argument("--failed", action="store_true", help="try again what did not run")
    arguments.add_argument("--seed", type=int, default=SEED, help="of the draw")
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--facts", type=int, default=0)
    arguments.add_argument("--note", default="", help="a line of the result: what the count was made with")
    options = arguments.parse_args()
    trees = options.work / "trees"
    kernels = drawn(options.sources, options.seed)
    for name in sorted({kernel.repository for kernel in kernels}):
        if not (trees / name).is_dir():
            (trees / name).mkdir(parents=True)
            unpack(folder_of(options.sources, name), trees / name)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda kernel: tried(options.program, trees, options.work, options.failed, kernel), kernels))
    if options.facts:
        facts = [(one["repository"], one["file"], one["kernel"], fact) for one in rows for fact in one["read"]]
        for number, fact in enumerate(random.Random(SEED).sample(facts, min(options.facts, len(facts))), 1):
            print(number, *fact, sep="\t")
    reasons = collections.Counter((one["what"], reason(one)) for one in rows if one["what"] != "ran")
    for (what, why), number in reasons.most_common(40):
        print(f"{number:4} {what}: {why}")
    if options.out:
        pathlib.Path(options.out).write_text(table(rows, f"bench/import_kernels.py PROGRAM --sources DIR, two busy cores, emulated:l4{options.note and '. ' + options.note}", options.seed))


if __name__ == "__main__":
    main()
