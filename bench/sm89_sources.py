"""What the host code of published kernels does: launches, arguments and options, of five repositories that report times of sm_89 GPUs.

Only facts are here. The sources are read from checkouts (bench/sm89_rows.py), and the reported times are in
bench/results/model_sm89.json.
"""
import dataclasses


@dataclasses.dataclass
class Kernel:
    """One published kernel, or the launches that were timed together."""
    file: str
    entry: str
    block: list
    grid: list
    args: list
    buffers: list
    sizes: dict  # those that it is judged at
    reference: dict
    shared: int = 0
    options: dict = dataclasses.field(default_factory=dict)
    include: tuple = ()  # folders of the project's headers, besides the file's own
    before: tuple = ()  # launches that belong to the time
    flaw: str = ""  # why its output is wrong, as published

    def manifest(self, name, judged=False):
        launch = {"grid": self.grid, "block": self.block, "dynamic_shared": self.shared}
        made = {"id": name, "title": name, "source": f"{name}.cu", "problem": "custom", "knobs": [], "min_arch": 80, "sizes": self.sizes,
                "buffers": self.buffers, "options": self.options, "reference": self.reference if judged else "none"}
        if self.before:
            return {**made, "launches": [*self.before, {"entry": self.entry, **launch, "args": self.args}]}
        return {**made, "entry": self.entry, "launch": launch, "args": self.args}


def up(size, tile):
    return f"ceil_div({size}, {tile})"


def tensors(a, c, transposed=False, adds=False, converted=False):
    """A m x k, B k x n (or n x k), C m x n, all row-major. `adds`: the kernel also reads C, `converted`: and writes A and B."""
    role = "inout" if converted else "in"
    return [{"name": "A", "role": role, "dtype": a, "shape": ["m", "k"], "init": "random"},
            {"name": "B", "role": role, "dtype": a, "shape": ["n", "k"] if transposed else ["k", "n"], "init": "random"},
            {"name": "C", "role": "inout" if adds else "out", "dtype": c, "shape": ["m", "n"]} | ({"init": "random"} if adds else {})]


def gemm(file, entry, block, grid, args, a="f32", c="f32", transposed=False, alpha=1, beta=None, judged_at=(256, 256, 256), **more):
    """`beta`: the kernel adds beta C. One that keeps its sums in halves is compared as such."""
    adds = beta is not None
    reference = {"kind": "gemm_nt" if transposed else "gemm", "inputs": ["A", "B"], "output": "C", "value": alpha, "atol": 0.5 if c == "f16" else 0.05,
                 "rtol": 0.01}
    if adds:
        reference |= {"inputs": ["A", "B", "C"], "beta": beta}
    if adds and beta == 0:
        reference = {**reference, "inputs": ["A", "B"]}
        del reference["beta"]
    return Kernel(file, entry, [*block, 1], [*grid, 1][:3], args, tensors(a, c, transposed, adds, bool(more.get("before"))),
                  dict(zip("mnk", judged_at)), reference, **more)


def attention(file, entry, threads, rows, dim, shared, args, dtype="f32", grid=None, judged_at=(2, 256), scale=None, tolerance=1e-3, **more):
    """Q, K, V and O of `heads` heads (times batches) with n rows of `dim` elements."""
    shape = ["heads", "n", dim]
    buffers = [{"name": name, "role": "in", "dtype": dtype, "shape": shape, "init": "random"} for name in "QKV"]
    buffers.append({"name": "O", "role": "out", "dtype": dtype, "shape": shape})
    reference = {"kind": "attention", "inputs": ["Q", "K", "V"], "output": "O", "atol": tolerance, "rtol": tolerance}
    return Kernel(file, entry, [threads, 1, 1], grid or [up("n", rows), "heads", 1], args, buffers, dict(zip(("heads", "n"), judged_at)), reference,
                  shared=shared, **more)


F32 = lambda value: {"value": value, "type": "f32"}

# Bl4ckd09/cuda-learn -----------------------------------------------------------------------------------------------------------------------
LEARN = "phase1-matmul/benchmark_all.cu"
LEARN_ARGS = ["A", "B", "C", "m", "k", "n"]
FLASH_SHARED = 4 * (32 * 64 + 32 * 64 + 32 * 32 + 3 * 32)


def learn(entry, block, tile):
    return gemm(LEARN, entry, block, [up("n", tile), up("m", tile)], LEARN_ARGS)


# annanyapr/Fast-CUDA-Kernels ---------------------------------------------------------------------------------------------------------------
def fast(name, entry, block, tile, **more):
    """Rows of C lie along the grid's x."""
    return gemm(f"GEMM/gemm_{name}.cu", entry, block, [up("m", tile), up("n", tile)], ["m", "n", "k", F32(0.5), "A", "B", F32(3), "C"], alpha=0.5, beta=3,
                **more)


# spatters/mma-matmul -----------------------------------------------------------------------------------------------------------------------
def mma(number, file, tile, transposed=True, judged_at=(128, 128, 256)):
    return gemm(file, f"mma_matmul_{number}", [16, 16], [up("m", tile), up("n", tile)], ["A", "B", "C", "m", "n", "k"], a="f16",
                transposed=transposed, judged_at=judged_at)


SQUARE = (128, 128, 128)  # the rows of B are taken to be k apart
PIPELINED = (128, 128, 4096)  # the prefetch ends where a row of 4096 does

# Vishal-Padia/cuda-grind -------------------------------------------------------------------------------------------------------------------
GRIND = "own_implementation/"
GRIND_NAMES = {
    "non_coalesced": ("non_coalesced_memory.cu", "non_coalesced_memory<{T}>", [32, 32], None),
    "coalesced": ("coalesced_memory_access.cu", "coalesced_memory_access<{T}>", [32, 32], 32),
    "block_tiling": ("2d_block_tiling.cu", "two_dim_block_tiling<{T}, 32, 32, 32>", [32, 32], 32),
    "thread_tiling_1d": ("2d_block_tiling_1d_thread_tiling.cu", "two_dim_tiling_one_dim_thread_kernel<{T}, 64, 64, 8, 8>", [512, 1], 64),
    "thread_tiling_2d": ("2d_block_tiling_2d_thread_tiling.cu", "two_dim_tiling_two_dim_thread_kernel<{T}, 128, 128, 16, 8, 8>", [256, 1], 128),
    "vectorized": ("2d_block_tiling_2d_thread_tiling_matrix_transpose_vectorized_mem_access.cu",
                   "gemm_2d_block_tiling_2d_thread_tiling_matrix_transpose_vec_mem_access<{T}, 128, 128, 16, 8, 8>", [256, 1], 128),
}


def grind(name, c_type, dtype):
    file, entry, block, tile = GRIND_NAMES[name]
    value = lambda number: {"value": number, "type": dtype}
    grid = [up("n", tile), up("m", tile)] if tile else [up("m", 32), up("n", 32)]
    return gemm(GRIND + file, entry.format(T=c_type), block, grid, ["m", "n", "k", value(1), "A", "k", "B", "n", value(0), "C", "n"], a=dtype, c=dtype,
                beta=0, include=(GRIND + "include",))


# xlite-dev/LeetCUDA ------------------------------------------------------------------------------------------------------------------------
LEET, FAST_MATH = "kernels/sgemm/", {"fast_math": True}
FLASH = "kernels/flash-attn/"


def leet(entry):
    return gemm(LEET + "sgemm.cu", entry, [16, 16], [up("n", 128), up("m", 128)], ["A", "B", "C", "m", "n", "k"], options=FAST_MATH)


def leet_tf32(stages, dynamic, swizzled):
    """A and B are rounded to TF32 in place first, by two launches; then CTAs of 128 x 128, in strips of `512` columns if swizzled."""
    rounding = [{"entry": "f32x4_tf32x4_kernel", "grid": [up(size, 1024), 1, 1], "block": [256, 1, 1], "args": [name, name, {"value": size, "type": "i32"}]}
                for name, size in (("A", "m * k"), ("B", "k * n"))]
    entry = f"sgemm_wmma_m16n16k8_mma4x2_warp2x4_stages_{'dsmem_' if dynamic else ''}kernel<16, 16, 8, 4, 2, 2, 4, 0, 0, {stages}, {'true' if swizzled else 'false'}>"
    columns, strips = up("n", 128), up("n", 512)
    grid = [up(columns, strips), up("m", 128), strips] if swizzled else [columns, up("m", 128)]
    return gemm(LEET + "sgemm_wmma_tf32_stage.cu", entry, [256, 1], grid, ["A", "B", "C", "m", "n", "k"], options=FAST_MATH, before=tuple(rounding),
                shared=stages * (128 * 8 + 8 * 128) * 4 if dynamic else 0, judged_at=(256, 1024, 256))


def leet_flash(file, name, dim, warps, keys, stages, pads, shared, **more):
    """MMA tiles of 16 x 8 x 16, a warp for each 16 rows of Q; the accumulators are halves, O is kept in fp32 for dim < 256."""
    numbers = [dim, 16, 8, 16, warps, 1, warps, 1, 1, keys // 8, 1, dim // 8, int(dim < 256), stages, *pads]
    return attention(FLASH + f"mma/{file}.cu", f"flash_attn_mma_stages_split_q_{name}_kernel<{', '.join(map(str, numbers))}>", 32 * warps, 16 * warps, dim, shared,
                     ["Q", "K", "V", "O", "n", "heads"], dtype="f16", options=FAST_MATH, include=(FLASH + "utils",), tolerance=2e-2, **more)


def shared_qkv(warps, keys):
    return leet_flash("basic/flash_attn_mma_share_qkv", "shared_qkv", 64, warps, keys, 2, (8, 8, 8), 2 * max(16 * warps * 72, 2 * keys * 72))


def tiling_qk(file, name, stages, q, k):
    return leet_flash(file, name, 512, 8, 128, stages, (q, k, 8), 2 * max(stages * 128 * (32 + q + k), stages * 16 * (512 + 8)), judged_at=(1, 256))


def tiling_qkv(stages):
    return leet_flash("basic/flash_attn_mma_tiling_qkv", "tiling_qkv", 512, 8, 128, stages, (8, 8, 8), 2 * stages * 128 * 48, judged_at=(1, 256))


KERNELS = {
    "Bl4ckd09/cuda-learn": {
        "naive": learn("kern_naive", [16, 16], 16),
        "tiled": learn("kern_tiled", [32, 32], 32),
        "coarsened_4x4": learn("kern_coarsened", [256, 1], 64),
        "coarsened_8x8": learn("kern_vec", [256, 1], 128),
        "flash_fp32": attention("phase3-attention/03_flash_attention.cu", "flash_attention_fwd", 64, 32, 64, FLASH_SHARED,
                                ["Q", "K", "V", "O", "n", F32(0.125)], grid=[up("n", 32), 1, 1], judged_at=(1, 256)),
        "flash_fp16": attention("phase3-attention/05_multihead_fp16.cu", "flash_attention_mh_fp16", 64, 32, 64, FLASH_SHARED,
                                ["Q", "K", "V", "O", {"value": 1, "type": "i32"}, "heads", "n", F32(0.125)], dtype="f16"),
    },
    "annanyapr/Fast-CUDA-Kernels": {
        "naive": fast("naive", "gemm_naive", [32, 32], 32),
        "coalesced": fast("memory_coalesce", "gemm_memory_coalesce", [32, 32], 32),
        "blocking": fast("memory_blocking", "gemm_memory_blocking", [1024, 1], 32, flaw="its macro VECTOR_INDEX has no parentheses around sums"),
        "blocktiling": fast("memory_blocktiling", "gemm_2D_blocktiling", [64, 1], 64),
    },
    "spatters/mma-matmul": {
        "1.0": mma("1_0", "kernel_1.cu", 32, transposed=False, judged_at=SQUARE),
        "1.1": mma("1_1", "kernel_1.cu", 64, transposed=False, judged_at=SQUARE),
        "2.0": mma("2_0", "kernel_2.cu", 64),
        "2.1": mma("2_1", "kernel_2.cu", 64),
        "3.0": mma("3_0", "kernel_3.cu", 64, judged_at=PIPELINED),
        "3.1": mma("3_1", "kernel_3.cu", 128, judged_at=PIPELINED),
    },
    "Vishal-Padia/cuda-grind": {f"{name}_{short}": grind(name, c_type, short) for name in GRIND_NAMES for c_type, short in (("float", "f32"), ("__half", "f16"))},
    "xlite-dev/LeetCUDA": {
        "t8x8sk": leet("sgemm_t_8x8_sliced_k_f32x4_kernel<>"),
        "t8x8bcf": leet("sgemm_t_8x8_sliced_k_f32x4_bcf_kernel<>"),
        "t8x8dbuf": leet("sgemm_t_8x8_sliced_k_f32x4_bcf_dbuf_kernel<>"),
        **{f"tf32_stage{stages}{'_dsmem' if dynamic else ''}{'_swizzle' if swizzled else ''}": leet_tf32(stages, dynamic, swizzled)
           for swizzled in (False, True) for dynamic in (False, True) for stages in (3, 2)},
        "share_qkv_stage2_l20": shared_qkv(4, 32),
        "share_qkv_stage2": shared_qkv(8, 64),
        **{f"tiling_qk_{swizzle}stage{stages}": tiling_qk(file, name, stages, q, k) for stages in (1, 2) for swizzle, file, name, q, k in (
            ("", "basic/flash_attn_mma_tiling_qk", "tiling_qk", 8, 8),
            ("swizzle_q_", "swizzle/flash_attn_mma_tiling_qk_swizzle_q", "tiling_qk_swizzle_q", 0, 8),
            ("swizzle_qk_", "swizzle/flash_attn_mma_tiling_qk_swizzle_qk", "tiling_qk_swizzle_qk", 0, 0))},
        **{f"tiling_qkv_stage{stages}": tiling_qkv(stages) for stages in (1, 2)},
    },
}
