#!/usr/bin/env bash
# Records the observations again: tests/data/observations/record.sh build/release/attnscope
# Useful when the emulator, the model or the format of an observation has changed; no test depends on a figure's value.
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")"
record() {
  local name=$1
  shift
  echo "$name"
  "$program" run --device emulated:l4 --json "$@" >"$name.json.new" || [ $? -ne 2 ]  # wrong and refused are results too
  python3 -m json.tool --indent 1 "$name.json.new" "$name.json"
  rm "$name.json.new"
}
record m32_w1 --kernel tiled --set NUM_WARPS=1
record m32_w2 --kernel tiled --set NUM_WARPS=2
record m32_w4 --kernel tiled --set NUM_WARPS=4
record m32_w6 --kernel tiled --set NUM_WARPS=6
record m32_w8 --kernel tiled --set NUM_WARPS=8
record m32_w8_v8 --kernel tiled --set NUM_WARPS=8 --set VEC_WIDTH=8
record m16_w4 --kernel tiled --set BLOCK_M=16
record m48_w4 --kernel tiled --set BLOCK_M=48
record m64_w4 --kernel tiled --set BLOCK_M=64
record m64_w4_dynamic --kernel tiled --set BLOCK_M=64 --set SHARED=dynamic
record minimal --kernel minimal
