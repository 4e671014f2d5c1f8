#!/usr/bin/env python3
"""Whether published kernels, loaded unchanged, are told what their authors say of them.

published_sources.py PROGRAM --sources DIR [--device emulated:l4] [--out bench/results/published_sources.json]

DIR holds a git repository for each name below, OWNER+NAME (its work tree, its .git, or a folder `repo` that is a bare
one), fetched by the reader: nothing of it is committed here. Each kernel is imported and explained in a folder that is
thrown away, beside its project's headers. Recorded are the names, the rules of the first three findings, and whether the author's is among them; for
the version that the author made against it, whether the rule is silent at warning level.
"""
import argparse, concurrent.futures, datetime, json, pathlib, subprocess, sys, tempfile

TRANSPOSE = "Samples/6_Performance/transpose/transpose.cu"
SGEMM = "src/kernels/"
REDUCTION = "Samples/2_Concepts_and_Techniques/reduction/reduction_kernel.cu"
BLOG = "series/cuda-cpp/transpose/transpose.cu"
BANK = "src/08-shared-memory/bank.cu"
PACKT = "Chapter02/02_memory_overview/04_matrix_transpose/"
SQUARE, PRODUCT = "height=512,width=512", "K=128,M=256,N=256"
# repository, file, kernel (None: the only one), problem (None: the file's own), the rule, and whether the author names the fault (True) or has
# fixed it (False).
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
    ("NVIDIA+cuda-samples", REDUCTION, "reduce1<float>", "n=262144", "banks.conflicts", True),
    ("NVIDIA+cuda-samples", REDUCTION, "reduce2<float>", "n=262144", "banks.conflicts", False),
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

arguments = argparse.ArgumentParser()
arguments.add_argument("program")
arguments.add_argument("--sources", required=True)
arguments.add_argument("--device", default="emulated:l4")
arguments.add_argument("--out", default="bench/results/published_sources.json")
options = arguments.parse_args()


def git(repository, *words):
    for folder in (pathlib.Path(options.sources) / repository / "repo", pathlib.Path(options.sources) / repository):
        if folder.is_dir():
            return subprocess.run(["git", "-C", folder, *words], capture_output=True, check=True).stdout
    sys.exit(f"published_sources.py: {options.sources} has no {repository}")


def run(*words):
    return subprocess.run([options.program, *words], capture_output=True, text=True, timeout=300)


def told(repository, path, entry, problem, rule, named):
    one = {"repository": repository.replace("+", "/"), "commit": git(repository, "rev-parse", "HEAD").decode().strip(),
           "file": path, "kernel": entry, "problem": problem, "rule": rule, "named": named}
    with tempfile.TemporaryDirectory() as folder:
        source = (pathlib.Path(folder) / pathlib.PurePosixPath(path).name).with_suffix(".cu")
        source.write_bytes(git(repository, "show", f"HEAD:{path}"))
        for name in git(repository, "ls-tree", "--name-only", "HEAD", f"{pathlib.PurePosixPath(path).parent}/").decode().split("\n"):
            if name.endswith((".h", ".cuh")) and name != path:
                (pathlib.Path(folder) / pathlib.PurePosixPath(name).name).write_bytes(git(repository, "show", f"HEAD:{name}"))
        out = pathlib.Path(folder) / "imported"
        out.mkdir()
        done = run("import", str(source), "--out", str(out), *(["--entry", entry] if entry else []))
        manifests = list(out.glob("*.json"))
        if not manifests:
            return one | {"refused": done.stderr.strip().splitlines()[0] if done.stderr.strip() else "no manifest"}
        name = json.loads(manifests[0].read_text())["id"]
        done = run("explain", "--kernels", str(out), "--kernel", name, "--device", options.device, "--json",
                   *(["--problem", problem] if problem else []))
        if not done.stdout.strip():
            return one | {"refused": done.stderr.strip().splitlines()[0] if done.stderr.strip() else "no answer"}
        findings = json.loads(done.stdout)["findings"] or []
    first = [finding["rule"] for finding in findings[:3]]
    warned = [finding["rule"] for finding in findings if finding["severity"] != "info"]
    return one | {"first": first, "warned": warned, "met": rule in first if named else rule not in warned}


def main():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        kernels = list(pool.map(lambda source: told(*source), SOURCES))
    record = {"command": f"bench/published_sources.py PROGRAM --sources DIR --device {options.device}",
              "date": datetime.date.today().isoformat(), "kernels": kernels}
    rows = ",\n".join("  " + json.dumps(kernel) for kernel in kernels)
    head = "".join(f" {json.dumps(key)}: {json.dumps(value)},\n" for key, value in record.items() if key != "kernels")
    pathlib.Path(options.out).write_text("{\n" + head + ' "kernels": [\n' + rows + "\n ]\n}\n")


main()
