"""Runs what `attnscope export` writes, on a GPU: tests/gpu/exports.py OUT

$ATTNSCOPE names the program (build/release/attnscope). For each rung and mask, on the GPU's own architecture: the C++ launcher,
compiled by g++, runs the cubin and then what build.sh's nvcc makes of the exported source; the Python launcher runs on PyTorch's
tensors, and must refuse wrong ones. Needs PyTorch, g++, nvcc, the toolkit's headers and $CUTLASS, CUTLASS' include
folder. Writes OUT/exports.txt, one line per run, and exits with the number that failed.
"""
import datetime
import os
import pathlib
import subprocess
import sys
import tempfile

ATTNSCOPE = os.environ.get("ATTNSCOPE", "build/release/attnscope")
TOOLKIT = os.environ.get("CUDA_HOME", "/usr/local/cuda")
CASES = [("tiled", "B=1,H=8,S=512,D=64"), ("scalar", "B=2,H=4,S=333,D=128"), ("wmma", "B=1,H=8,S=512,D=64"),
         ("mma", "B=1,H=8,S=512,D=64"), ("mma", "B=2,heads=8,kv_heads=2,seq_q=100,seq_k=333,D=128,causal=bottom_right"),
         ("mma", "B=2,H=4,S=500,D=96,dtype=bf16"), ("cute", "B=1,H=8,S=512,D=64,causal=bottom_right")]

# launch.attention compared with PyTorch's own, and everything that it must refuse.
AGAINST_TORCH = """
import torch, launch
torch.manual_seed(1)
shapes = [(1, 2, 2, 64, 64), (2, 4, 4, 77, 301)] + ([(1, 8, 2, 130, 130)] if launch.GROUPED_HEADS else [])
for b, h, g, m, n in shapes:
    q = torch.randn(b, h, m, launch.head_dim, dtype=launch.DTYPE, device="cuda")
    k, v = (torch.randn(b, g, n, launch.head_dim, dtype=launch.DTYPE, device="cuda") for _ in range(2))
    mask = None
    if launch.causal:
        mask = torch.ones(m, n, dtype=torch.bool, device="cuda").tril(0 if launch.causal == 1 else n - m)
    wide = lambda x: x.double().repeat_interleave(h // g, 1)
    wanted = torch.nn.functional.scaled_dot_product_attention(q.double(), wide(k), wide(v), attn_mask=mask)
    error = (launch.attention(q, k, v).double() - wanted).abs().max().item()
    assert error < (2e-2 if launch.DTYPE == torch.bfloat16 else 4e-3), (b, h, g, m, n, error)
q = torch.randn(1, 2, 64, launch.head_dim, dtype=launch.DTYPE, device="cuda")
wrong = {"dtype": q.float(), "head_dim": q[..., :32].contiguous(), "device": q.cpu(), "not contiguous": q.transpose(1, 2),
         "three dimensions": q[0], "misaligned": torch.empty(q.numel() + 1, dtype=q.dtype, device="cuda")[1:].view(q.shape)}
for what, tensor in wrong.items():
    try:
        launch.attention(q, tensor, q)
    except (TypeError, ValueError) as refusal:
        assert "k " in str(refusal), refusal
    else:
        raise SystemExit(what + " was not refused")
print(f"{len(shapes)} shapes as PyTorch, {len(wrong)} refusals")
"""


def outcome(words, folder):
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, timeout=300)
    said = (done.stdout.strip() or done.stderr.strip() or "done").splitlines()[-1]
    return done.returncode == 0, said


def steps(folder):
    cubin = next(folder.glob("*.cubin"))
    yield "g++ launch.cpp", ["g++", "-std=c++17", "-O2", "launch.cpp", f"-I{TOOLKIT}/include", f"-L{TOOLKIT}/lib64/stubs", "-lcuda",
                             "-o", "launch"]
    yield "launch of NVRTC's cubin", ["./launch", cubin.name]
    yield "build.sh", ["sh", "build.sh"]
    yield "launch of nvcc's cubin", ["./launch", f"{cubin.stem}.nvcc.cubin"]
    yield "launch.py", [sys.executable, "launch.py"]
    yield "launch.py beside PyTorch", [sys.executable, "-c", AGAINST_TORCH]


def machine():
    smi = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"], capture_output=True, text=True)
    nvcc = subprocess.run(["nvcc", "--version"], capture_output=True, text=True).stdout.strip().splitlines()[-1:]
    import torch
    return smi.stdout.strip(), ", ".join([*nvcc, f"PyTorch {torch.__version__}"])


def main():
    gpu, versions = machine()
    arch = gpu.split(", ")[2].replace(".", "")
    lines = [f"tests/gpu/exports.py on {gpu}; {versions}; {datetime.date.today().isoformat()}"]
    failed = 0
    for kernel, problem in CASES:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            done = subprocess.run([ATTNSCOPE, "export", "--kernel", kernel, "--problem", problem, "--arch", arch, "--out", name],
                                  capture_output=True, text=True)
            runs = steps(folder) if done.returncode == 0 else [("export", ["sh", "-c", f"echo '{done.stderr.strip()[:200]}'; false"])]
            for what, words in runs:
                right, said = outcome(words, folder)
                failed += not right
                lines.append(f"{kernel:7} {problem:50} {what:26} {'ok  ' if right else 'FAIL'} {said}")
                print(lines[-1], flush=True)
    pathlib.Path(sys.argv[1], "exports.txt").write_text("\n".join(lines) + "\n")
    return failed


if __name__ == "__main__":
    sys.exit(main())
