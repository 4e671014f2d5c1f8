#!/usr/bin/env python3
"""Nsight Compute's counts for the opcode kernels, one line per kernel.

  ncu --csv --page raw --metrics (METRICS below) ./run_opcodes CUBIN CASES INPUTS OUTPUTS > NCU.csv
  counts.py NCU.csv > tests/data/gpu/opcodes/h200_opcode_counts.txt

Columns: kernel, then METRICS in their order.
"""
import csv
import sys

METRICS = ["smsp__inst_executed.sum", "smsp__thread_inst_executed.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
           "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
           "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"]

with open(sys.argv[1], newline="") as file:
    rows = list(csv.reader(file))
head = next(i for i, row in enumerate(rows) if row and row[0] == "ID")
names = rows[head]
for row in rows[head + 2:]:
    if len(row) == len(names):
        print(row[names.index("Kernel Name")], *(int(float(row[names.index(metric)].replace(",", ""))) for metric in METRICS))
