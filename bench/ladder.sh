#!/bin/sh
# Measures what README's ladder shows, on the first GPU ($DEVICE names another): bench/ladder.sh OUT [SECONDS]
# Writes OUT/tuned/*.json (tried configs of the Tensor Core rungs), OUT/ladder.json, .md and .svg. Needs python3 with PyTorch
# for the peers. $ATTNSCOPE names the program; SECONDS limits the benchmark; the same call then continues where it ended.
set -e
out=$1 within=${2:-600} attnscope=${ATTNSCOPE:-build/release/attnscope} device=${DEVICE:-cuda:0}
mkdir -p "$out"
small="--problem B=1,H=8,S=512,D=64 --problem B=1,H=8,S=512,D=64,causal=bottom_right"
full="--problem B=32,H=8,S=512,D=64"
long="--problem B=4,H=16,S=4096,D=64 --problem B=4,H=16,S=4096,D=64,causal=bottom_right"
wide="--problem B=4,H=16,S=4096,D=128 --problem B=4,H=16,S=4096,D=128,causal=bottom_right"
tune() { "$attnscope" best --tune "$out/tuned" --device "$device" "$@" || true; }  # skips what does not compile

tune $small --config mma:BLOCK_M=32,BLOCK_N=128,NUM_WARPS=8,SPLIT_KEYS=4,STAGES=1 \
  --config mma:BLOCK_M=32,BLOCK_N=64,NUM_WARPS=8,SPLIT_KEYS=4,STAGES=2 --config mma \
  --config mma:BLOCK_M=32,BLOCK_N=64,NUM_WARPS=8,SPLIT_KEYS=4,STAGES=1 --config mma:BLOCK_M=32,BLOCK_N=64 \
  --config cute:BLOCK_M=32,BLOCK_N=128,NUM_WARPS=8,SPLIT_KEYS=4,STAGES=1 \
  --config cute:BLOCK_M=32,NUM_WARPS=8,SPLIT_KEYS=4 \
  --config tiled --config tiled:BLOCK_M=16 --config tiled:BLOCK_M=16,NUM_WARPS=8,BLOCK_N=32 \
  --config wmma --config wmma:BLOCK_M=32,NUM_WARPS=2 --config wmma:BLOCK_M=16,NUM_WARPS=1 --config scalar --config scalar:BLOCK_M=16 --config scalar:BLOCK_M=64
tune $full $long --config mma:BLOCK_M=128,BLOCK_N=128,NUM_WARPS=4,SPLIT_KEYS=1,STAGES=3,Q_REGS=0 \
  --config mma:BLOCK_M=128,BLOCK_N=128,NUM_WARPS=4,SPLIT_KEYS=1,STAGES=2,Q_REGS=0 \
  --config mma:BLOCK_M=128,BLOCK_N=64,NUM_WARPS=4,SPLIT_KEYS=1,STAGES=3 \
  --config cute:BLOCK_M=128,BLOCK_N=128,STAGES=3,Q_REGS=0 --config cute:BLOCK_M=128,BLOCK_N=128,STAGES=2,Q_REGS=0 \
  --config wmma --config wmma:BLOCK_M=128,NUM_WARPS=8
tune $wide --config mma:BLOCK_M=256,BLOCK_N=64,NUM_WARPS=8,SPLIT_KEYS=1,STAGES=3,Q_REGS=0 \
  --config mma:BLOCK_M=128,BLOCK_N=64,NUM_WARPS=4,SPLIT_KEYS=1,STAGES=2,Q_REGS=0 \
  --config mma:BLOCK_M=128,BLOCK_N=128,NUM_WARPS=8,SPLIT_KEYS=1,STAGES=3

"$attnscope" bench --quick --within "$within" --device "$device" --tuned "$out/tuned" $small $full $long $wide \
  --json "$out/ladder.json" --markdown "$out/ladder.md" --svg "$out/ladder.svg"
