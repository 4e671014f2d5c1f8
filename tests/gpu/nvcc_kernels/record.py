#!/usr/bin/env python3
"""What the emulator and Nsight Compute count of the same machine code, as one recording.

record.py count PROGRAM DIR                DIR: build.py's; writes DIR/emulator.json
record.py join DIR NCU.csv WHERE > FILE    NCU.csv: `ncu --csv --page raw --metrics (metrics) ./launch.py DIR`
record.py metrics                          the metrics, for ncu
"""
import csv
import json
import pathlib
import subprocess
import sys

METRICS = {  # ours -> Nsight Compute's
    "warp_instructions": "smsp__inst_executed.sum",
    "threads": "smsp__thread_inst_executed.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "global_atomic_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "global_reduction_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    "local_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "local_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
    "shared_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}


def counted(program, folder, row):
    words = [program, "run", folder / row["cubin"], "--entry", row["symbol"], "--grid", row["grid"], "--block", row["block"],
             "--args", row["args"], "--device", "emulated:h200", "--no-watch", "--json"]
    if row["shared"] != "0":
        words += ["--shared", row["shared"]]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    try:
        observation = json.loads(done.stdout)
    except ValueError:
        return {"failure": done.stderr.strip()}
    if observation.get("failure"):
        return {"failure": observation["failure"]["message"]}
    return observation["counters"]


def count(program, folder):
    rows = json.loads((folder / "kernels.json").read_text())
    made = []
    for row in rows:
        counters = counted(program, folder, row)
        made.append(counters)
        print(row["name"], counters.get("failure") or (counters["instructions"]["total"], counters["sampled_fraction"]), flush=True)
    (folder / "emulator.json").write_text(json.dumps(made, indent=1))


def launches(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    head = next(i for i, row in enumerate(rows) if row and row[0] == "ID")
    names = rows[head]
    for row in rows[head + 2:]:  # a row of units follows the names
        if len(row) == len(names):
            yield {ours: int(float(row[names.index(theirs)].replace(",", ""))) for ours, theirs in METRICS.items()}


def join(folder, ncu, where):
    rows = json.loads((folder / "kernels.json").read_text())
    emulator = json.loads((folder / "emulator.json").read_text())
    gpu = list(launches(ncu))
    if not len(rows) == len(emulator) == len(gpu):
        sys.exit(f"{len(rows)} kernels, {len(emulator)} counts of the emulator, {len(gpu)} of Nsight Compute")
    kernels = []
    for row, ours, theirs in zip(rows, emulator, gpu):
        if "failure" in ours:
            sys.exit(f"{row['name']}: {ours['failure']}")
        kept = {name: ours[name] for name in ("threads", "global_load_sectors", "global_store_sectors", "local_sectors",
                                              "shared_wavefronts")}
        kept["warp_instructions"] = ours["instructions"]["total"]
        kernels.append({**{key: row[key] for key in row if key != "cubin"}, "emulator": kept, "ncu": theirs})
    json.dump({"where": where, "kernels": kernels}, sys.stdout, indent=1)
    print()


def main():
    command, *words = sys.argv[1:]
    if command == "count":
        count(words[0], pathlib.Path(words[1]))
    elif command == "join":
        join(pathlib.Path(words[0]), words[1], words[2])
    elif command == "metrics":
        print(",".join(METRICS.values()))
    else:
        sys.exit(__doc__)


main()
