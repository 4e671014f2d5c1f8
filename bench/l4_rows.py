"""How far off the model is on published times of an NVIDIA L4 (GOATnote-Inc/periodicdent42 on GitHub).

    python3 -B bench/l4_rows.py CHECKOUT --program build/release/attnscope [--only v2b_st3]

CHECKOUT is a clone of that repository with its history (a bare one will do); without one, nothing runs, and the reason is said (exit
status 77). Each row of bench/results/model_l4_rows.txt names a file at a commit. The kernel is loaded from there into a folder that is
removed afterwards, with a manifest from here: the project's own headers are pasted into it, and the kernel's `bool causal` becomes the
`int` that a manifest passes. The program models it for emulated:l4. Printed are the row, what is modelled now and what the row has
recorded. Nothing of the repository is kept. The exit status is 1 if a row cannot be modelled.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import posixpath
import re
import subprocess
import sys
import tempfile

from model_bars import ROOT, percent

SKIPPED = 77
ROWS = ROOT / "bench/results/model_l4_rows.txt"
DEVICE = "emulated:l4"
SAME = 0.001  # of a modelled time: recorded times are rounded

TENSORS = ["q", "k", "v", "o"]
SCALE_FIRST = [*TENSORS, "scale", "batch", "heads", "seq_q"]
SCALE_LAST = [*TENSORS, "batch", "heads", "seq_q", "head_dim", "scale"]
CAUSAL_THEN_SCALE = [*TENSORS, "batch", "heads", "seq_q", "head_dim", "causal", "scale"]
SCALE_THEN_CAUSAL = [*SCALE_LAST, "causal"]
UNMASKED, BOTH = ["none"], ["none", "top_left"]


@dataclasses.dataclass
class Published:
    """What the project's host code does for a kernel."""
    entry: str
    rows: int  # of Q, for each CTA
    threads: int
    shared: int
    args: list
    causal: list = dataclasses.field(default_factory=lambda: UNMASKED)
    head_dim: int = 64
    flat: bool = False  # batch and heads in one dimension of the grid

    def manifest(self, name):
        rows = "seq_q" if self.rows == 1 else f"ceil_div(seq_q, {self.rows})"
        return {"id": name, "title": name, "source": f"{name}.cu", "entry": self.entry, "problem": "attention", "knobs": [], "min_arch": 80,
                "supports": {"dtype": ["f16"], "head_dim": [self.head_dim], "causal": self.causal},
                "launch": {"grid": [rows, *(["batch * heads", 1] if self.flat else ["heads", "batch"])], "block": [self.threads, 1, 1],
                           "dynamic_shared": self.shared},
                "args": self.args}


def sdpa(entry, head_dim, stages, partial=False):
    """The kernels of evo-sdpa: 64 rows of Q, two or three stages of K and V, scores and sums in shared memory. `partial`: instead of
    the scores, two halves and a float for each thread and stage."""
    keys, pitch = (64, head_dim + 8) if head_dim == 64 else (32, head_dim + 8)
    shared = 64 * pitch * (2 + 4) + 2 * stages * keys * pitch * 2 + 8 * 64 + (256 * 4 * 6 if partial else 64 * keys * 4)
    return Published(f"{entry}<half, {head_dim}, {stages}>", 64, 256, shared, SCALE_THEN_CAUSAL, BOTH, head_dim, flat=True)


TILES = 3 * 64 * 72 * 2  # three tiles of halves with padded rows
KERNELS = {
    "fa_minimal": Published("flash_attention_minimal_kernel", 1, 128, 0, SCALE_FIRST),
    "phase6": Published("flash_attention_phase6_kernel", 32, 256, 0, SCALE_FIRST, ["top_left"]),
    "fa3_simple": Published("flash3_simple_kernel", 64, 128, 3 * 64 * 64 * 2, SCALE_LAST),
    "fa3_v3_1": Published("flash3_fused_attention_fp16_kernel_v3_1", 64, 128, TILES, CAUSAL_THEN_SCALE),
    "fa3_v4": Published("flash3_fused_attention_fp16_kernel_v4", 64, 128, TILES, CAUSAL_THEN_SCALE),
    "v6_wmma": Published("flash3_wmma_qk_kernel", 64, 128, TILES + 4 * (2 * 64 * 72 + 2 * 64) + 4, CAUSAL_THEN_SCALE),
    "fused12": Published("flashcore::fused::fused_attention_kernel", 32, 256, 0, SCALE_LAST),
    "fused21": Published("flashcore::fused::fused_attention_kernel", 32, 256, 0, SCALE_LAST),
    **{f"{name}_st{stages}": sdpa(entry, 64, stages) for stages in (2, 3) for name, entry in
       (("v2b", "sdpa_fused_v2b_kernel"), ("v2c3", "sdpa_fused_v2c_kernel"), ("v2c5", "sdpa_fused_v2c_v5_kernel"))},
    "v2c3_d128": sdpa("sdpa_fused_v2c_kernel", 128, 2),
    "v2c5_d128": sdpa("sdpa_fused_v2c_v5_kernel", 128, 2),
    "v2c6a_d128": sdpa("sdpa_fused_v2c_v6a_kernel", 128, 2, partial=True),
}


@dataclasses.dataclass
class Row:
    kernel: str
    file: str
    commit: str
    problem: str
    reported: float  # us
    recorded: float  # modelled when the row was written


def read_rows(file):
    found = []
    for line in file.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 7 and "@" in cells[1]:
            found.append(Row(cells[0], *cells[1].split("@"), cells[2], float(cells[3]), float(cells[5])))
    return found


def has_history(checkout):
    said = subprocess.run(["git", "-C", str(checkout), "rev-parse", "--git-dir"], capture_output=True)
    return checkout.is_dir() and said.returncode == 0


def text_at(checkout, commit, file):
    said = subprocess.run(["git", "-C", str(checkout), "show", f"{commit}:{file}"], capture_output=True, text=True)
    return said.stdout if said.returncode == 0 else None


def pasted(checkout, commit, file, folders=()):
    """A file with the project's headers in it, which are beside it or in one of the folders; None if the checkout lacks it. Includes that
    the project has no file for stay."""
    text, seen = text_at(checkout, commit, file), set()

    def paste(folder, text):
        def one(found):
            for place in (folder, *folders):
                header_file = posixpath.normpath(posixpath.join(place, found[1]))
                if header_file in seen:
                    return ""
                header = text_at(checkout, commit, header_file)
                if header is not None:
                    seen.add(header_file)
                    return paste(posixpath.dirname(header_file), header.replace("#pragma once", ""))
            return found[0]

        return re.sub(r'^[ \t]*#include "([^"\n]+)"', one, text, flags=re.MULTILINE)

    return None if text is None else paste(posixpath.dirname(file), text)


def source_of(checkout, row):
    text = pasted(checkout, row.commit, row.file)
    # In parameters of the kernel and of its instantiations; the struct of the host keeps its own.
    return text and re.sub(r"\b(float(?: scale)?,\s*)bool\b", r"\1int", text)


def model(program, checkout, row):
    """Modelled us, or the reason why there are none."""
    if row.kernel not in KERNELS:
        return f"{row.kernel} has no manifest here"
    source = source_of(checkout, row)
    if source is None:
        return f"the checkout has no {row.file} at {row.commit}"
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / f"{row.kernel}.cu").write_text(source)
        (work / f"{row.kernel}.json").write_text(json.dumps(KERNELS[row.kernel].manifest(row.kernel)))
        command = [program, "run", "--kernels", folder, "--kernel", row.kernel, "--problem", row.problem, "--device", DEVICE, "--no-watch", "--json"]
        # A history of its own: nothing of these runs stays.
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "XDG_DATA_HOME": str(work / "history")})
    if not done.stdout.strip():
        return " ".join(done.stderr.split())[:300]
    seen = json.loads(done.stdout)
    return seen["failure"]["message"] if seen.get("failure") else seen["timing"]["us"]["p50"]


def line(row, us):
    if isinstance(us, str):
        return f"| {row.kernel} | {row.problem} | {row.reported:.1f} | refused: {us} |"
    return f"| {row.kernel} | {row.problem} | {row.reported:.1f} | {us:.1f} | {us / row.reported:.2f} | {row.recorded:.1f} |"


def closing(found):
    """Of rows and their modelled times."""
    times = [(row, us) for row, us in found if not isinstance(us, str)]
    if not times:
        return f"None of {len(found)} rows was modelled."
    mean = lambda figures: percent(sum(figures) / len(times))
    changed = [row for row, us in times if abs(us / row.recorded - 1) > SAME]
    return (f"Mean error: {mean([abs(us / row.reported - 1) for row, us in times])} over {len(times)} of {len(found)} rows, "
            f"{mean([abs(row.recorded / row.reported - 1) for row, _ in times])} by what they have recorded; {len(changed)} of them changed.")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=pathlib.Path, nargs="?")
    parser.add_argument("--program", default="build/release/attnscope")
    parser.add_argument("--rows", type=pathlib.Path, default=ROWS)
    parser.add_argument("--only", action="append", help="the rows of this kernel")
    options = parser.parse_args(arguments)
    if options.checkout is None or not has_history(options.checkout):
        print("skipped: no checkout of https://github.com/GOATnote-Inc/periodicdent42 was named", file=sys.stderr)
        sys.exit(SKIPPED)
    found = []
    print("| kernel | problem | reported us | modelled us | modelled / reported | recorded us |\n" + "| --- " * 6 + "|")
    for row in read_rows(options.rows):
        if not options.only or row.kernel in options.only:
            found.append((row, model(options.program, options.checkout, row)))
            print(line(*found[-1]), flush=True)
    print("\n" + closing(found))
    if any(isinstance(us, str) for _, us in found):
        sys.exit(1)


if __name__ == "__main__":
    main()
