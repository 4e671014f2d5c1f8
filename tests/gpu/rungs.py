"""Runs the rungs of CuTe, CUTLASS and cuBLAS on a GPU over lengths and masks: tests/gpu/rungs.py OUT [DEVICE]

$ATTNSCOPE names the program (build/release/attnscope). Writes OUT/rungs.json: for each run the verdict, the error, the time
and the failure, if any. Exits with the number of runs that were not correct.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ATTNSCOPE = os.environ.get("ATTNSCOPE", "build/release/attnscope")
LENGTHS = [1, 17, 64, 333, 512, 1024]


def attention(causal="none", head_dim=64, batch=1, heads=8, **lengths):
    return {"kind": "attention", "batch": batch, "heads": heads, "kv_heads": heads, "head_dim": head_dim, "causal": causal,
            "layout": "BHSD", "dtype": "f16", "scale": None, "distribution": "normal", "seed": 0, **lengths}


def gemm(batch, rows, keys):
    return {"kind": "gemm", "sizes": {"B": batch, "M": rows, "N": keys, "K": 64}, "distribution": "normal", "seed": 0}


def cases():
    for causal in ("none", "bottom_right"):
        for length in LENGTHS:
            problem = attention(causal, seq_q=length, seq_k=length)
            for tile in (64, 128):
                yield "cute", {"BLOCK_M": tile}, problem
            yield "cute", {"BLOCK_M": 32, "NUM_WARPS": 8, "SPLIT_KEYS": 4}, problem
            yield "cublas_attention", {}, problem
            yield "cublas_hybrid", {}, problem
    for kernel in ("cute", "cublas_attention", "cublas_hybrid"):
        yield kernel, {}, attention("top_left", seq_q=100, seq_k=211)
        yield kernel, {}, attention("bottom_right", seq_q=150, seq_k=70)
    for kernel in ("cublas_attention", "cublas_hybrid"):
        yield kernel, {}, attention(head_dim=128, seq_q=333, seq_k=333)
    yield "cublas_tile", {}, gemm(1, 32, 32)
    yield "cublas_tile", {}, gemm(3, 40, 56)
    for kernel in ("gemm_simt", "gemm_tensorop"):
        yield kernel, {}, gemm(8, 512, 512)
    yield "gemm_tensorop", {"BLOCK_N": 256, "BLOCK_K": 64}, gemm(8, 512, 512)
    yield "gemm_tensorop", {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 64}, gemm(8, 512, 512)
    yield "gemm_tensorop", {"BLOCK_M": 64, "BLOCK_N": 64, "STAGES": 2, "STORE_WIDTH": 1}, gemm(2, 333, 333)


def run(kernel, knobs, problem, device, folder):
    fast = problem["kind"] == "attention"
    preset = {"attnscope_preset": 1, "title": kernel, "problem": problem, "kernel": kernel, "knobs": knobs,
              "options": {"fast_math": fast, "fmad": True, "maxrregcount": 0}, "device": device, "view": {},
              "measure": {"cache": "hot", "max_time_ms": 150, "sampled_share": 1.0}}
    file = folder / "preset.json"
    file.write_text(json.dumps(preset))
    done = subprocess.run([ATTNSCOPE, "run", "--preset", str(file), "--device", device, "--json"], capture_output=True, text=True)
    said = {"kernel": kernel, "knobs": knobs, "problem": problem, "status": done.returncode}
    try:
        seen = json.loads(done.stdout)
    except ValueError:
        return dict(said, failure=done.stderr[-500:])
    seen = seen.get("observation", seen)
    for key in ("verdict", "timing", "failure", "versions", "variant"):
        said[key] = seen.get(key)
    if said["timing"]:
        said["timing"].pop("sampling", None)
    if said["variant"]:
        said["variant"] = {name: said["variant"][name] for name in ("registers", "spill_bytes", "compile_ms")}
    return said


def main():
    out, device = pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "cuda:0"
    out.mkdir(parents=True, exist_ok=True)
    wrong, all_said = 0, []
    with tempfile.TemporaryDirectory() as name:
        for kernel, knobs, problem in cases():
            said = run(kernel, knobs, problem, device, pathlib.Path(name))
            verdict, timing = said.get("verdict") or {}, said.get("timing") or {}
            right = verdict.get("state") == "correct"
            wrong += not right
            size = problem.get("sizes") or f"{problem['seq_q']}x{problem['seq_k']} {problem['causal']} {problem['head_dim']}"
            print(kernel, knobs, size, verdict.get("state"), (timing.get("us") or {}).get("p50"), "" if right else said.get("failure"), flush=True)
            all_said.append(said)
            (out / "rungs.json").write_text(json.dumps(all_said, indent=1))
    print(f"{wrong} of {len(all_said)} not right")
    return min(wrong, 100)


if __name__ == "__main__":
    sys.exit(main())
