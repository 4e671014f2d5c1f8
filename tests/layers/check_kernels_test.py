"""check_kernels finds a figure that differs from its recording and a map that differs from the file."""
import unittest

from check_kernels import breaches_in, figures_of, shown

BENCH = {"entries": [{"label": "mine"}, {"label": "torch flash"}],
         "rows": [{"problem": {"batch": 1, "heads": 8, "seq_q": 512, "head_dim": 64, "causal": causal},
                   "cells": [{"state": "timed", "us": {"p50": us}}, {"state": "not applicable", "us": None}]}
                  for causal, us in (("none", 14.815), ("bottom_right", 1518.464))]}
RUNS = [{"kernel": "gemm", "knobs": {"TILE": 32}, "problem": {"kind": "gemm", "sizes": {"K": 4, "B": 1, "M": 2, "N": 3}},
         "timing": {"us": {"p50": 3.6}}}]
REPORTED = {"figures": [{"id": "first", "metric": "latency", "unit": "us", "value": 2870},
                        {"id": "bytes", "metric": "shared", "unit": "B", "value": 1}]}
FILES = {"bench/results/a.json": BENCH, "bench/results/runs.json": RUNS, "assets/reported/r.json": REPORTED}

RIGHT = """// Rung 9: mine. 57,376 bytes, rows of 16 and 4096 multiply-adds are no figures.
//
// Times, us, hot, measured on a device with a
// long name (bench/results/a.json):
//             B1 H8 S512 D64    B1 H8 S512 D64 causal
//   mine                14.8                    1,518
//
// Times, us (bench/results/runs.json):
//                  B1 M2 N3 K4
//   gemm TILE=32          3.60
//
// Times, us, reported (assets/reported/r.json):
//   first    2,870
//
// Map, in reading order, with the knobs that change each piece:
//   Load      copy(): one piece        TILE
//             with more to say
//   Kernel    mine(): the loop
#include <mma.h>
// ---- Load: global memory ------------------------------
void copy() {}
// ---- Load: shared memory ------------------------------
// ---- Kernel ------------------------------
void mine() {}
"""


def read(path):
    return figures_of(FILES[path]) if path in FILES else None


class Kernels(unittest.TestCase):
    def found(self, old="", new="", knobs=("TILE",)):
        self.assertIn(old, RIGHT)
        return breaches_in(RIGHT.replace(old, new, 1) if old else RIGHT, "k.cu", knobs, read)

    def test_a_right_header_passes(self):
        self.assertEqual(self.found(), [])

    def test_each_kind_of_recording_is_held(self):
        for old, new, said in (("14.8 ", "14.7 ", "k.cu:6: mine B1 H8 S512 D64: 14.7; bench/results/a.json has 14.8"),
                               ("1,518", "1,519", "k.cu:6: "), ("3.60", "3.6", "k.cu:10: "), ("2,870", "2870", "k.cu:13: "),
                               ("TILE=32  ", "TILE=64  ", "no such figure"), ("S512 D64 causal", "S513 D64 causal", "no such figure"),
                               ("  mine   ", "  torch flash   ", "no such figure"), ("results/a.json", "results/b.json", "no bench"),
                               (" (bench/results/a.json)", "", "names no recording"), ("    1,518", "", "1 figures for 2 columns")):
            self.assertIn(said, "\n".join(self.found(old, new)), new)

    def test_a_figure_outside_a_table_is_found(self):
        for figure in ("18 us", "1.72 times as fast", "6.05 clocks", "33 s of CPU", "a share of 10%", "575 thousand wavefronts"):
            self.assertEqual(len(self.found("57,376 bytes", figure)), 1, figure)

    def test_the_map_is_the_files(self):
        for old, new in (("//   Load      copy", "//   Fetch     copy"), ("        TILE\n", "\n"), ("copy(): one", "move(): one"),
                         ("// ---- Kernel ---", "// ---- Loop ---"), ("void copy", "void other")):
            self.assertEqual(len(self.found(old, new)), 1, new)
        self.assertEqual(len(self.found(knobs=("TILE", "WARPS"))), 1)

    def test_a_header_without_a_map_or_times_is_found(self):
        self.assertEqual(breaches_in("// Rung 9.\n#include <mma.h>\n", "k.cu", [], read),
                         ["k.cu:1: the header has 0 maps", "k.cu:1: the header has no table of times"])

    def test_times_are_written_as_the_reports_write_them(self):
        self.assertEqual([shown(us) for us in (5.097, 26.64, 461.952, 17646.543)], ["5.10", "26.6", "462", "17,647"])


if __name__ == "__main__":
    unittest.main()
