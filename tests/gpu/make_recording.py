#!/usr/bin/env python3
"""Joins a GPU machine's results into one recording.

  make_recording.py PACK/cases.json NCU.csv OUTPUTS_DIR MACHINE.txt DATE > tests/data/gpu/h200_rungs.json

NCU.csv: `ncu --csv --page raw --metrics ... ./run_cubins PACK OUT`, one launch per case in the list's order.
Needs the package xxhash: outputs are kept as their XXH3-128, which core/hash.h makes too.
"""
import csv
import json
import os
import sys

import xxhash

METRICS = {  # Nsight Compute's name -> ours
    "smsp__inst_executed.sum": "warp_instructions",
    "smsp__thread_inst_executed.sum": "threads",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "global_load_sectors",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "global_store_sectors",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": "shared_wavefronts",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "shared_load_wavefronts",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": "shared_store_wavefronts",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": "shared_bank_conflicts",
    "smsp__inst_executed_op_shared_ld.sum": "shared_load_instructions",
    "smsp__inst_executed_op_shared_st.sum": "shared_store_instructions",
    "gpu__time_duration.sum": "duration_ns",
    "sm__cycles_active.avg": "sm_cycles_active",
    "smsp__warps_active.avg.pct_of_peak_sustained_active": "warps_active_percent",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue_active_percent",
}


def launches(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    head = next(i for i, row in enumerate(rows) if row and row[0] == "ID")
    names = rows[head]
    for row in rows[head + 2:]:  # a row of units follows the names
        if len(row) == len(names):
            yield {ours: float(row[names.index(theirs)].replace(",", "")) for theirs, ours in METRICS.items()}


def main():
    cases_path, ncu_path, outputs, machine, date = sys.argv[1:]
    with open(cases_path) as file:
        cases = json.load(file)
    counted = list(launches(ncu_path))
    if len(counted) != len(cases):
        sys.exit(f"{len(counted)} launches for {len(cases)} cases")
    for case, counters in zip(cases, counted):
        case["counters"] = {k: int(v) if v == int(v) else v for k, v in counters.items()}
        with open(os.path.join(outputs, case.pop("name") + ".out"), "rb") as file:
            case["output_xxh3_128"] = xxhash.xxh3_128_hexdigest(file.read())
    with open(machine) as file:
        versions = [line.strip() for line in file if any(c.isdigit() for c in line)]
    json.dump({"what": "Both scalar rungs on a real GPU: counters by Nsight Compute, outputs as hashes. Code by NVRTC for sm_90.",
               "made_by": ["pack_cubins kernels PACK", "ncu --csv --page raw --metrics (make_recording.py's list) ./run_cubins PACK OUT",
                           "make_recording.py PACK/cases.json NCU.csv OUT MACHINE.txt DATE"],
               "date": date, "versions": versions, "cases": cases}, sys.stdout, indent=1)
    print()


main()
