#!/bin/sh
# Records everything that the emulator is compared with. Needs a GPU of sm_90, nvcc 13.0 and half a minute:
#
#   tests/gpu/record_emulator.sh FOLDER [some|opcodes]
#
# FOLDER gets opcodes.outputs with its machine code (opcodes/pack.sh packs them), the Tensor Cores' hashes in groups of 256
# products (tests/data/gpu/mma), and the sweeps of the approximations. `some` leaves out the hashes, `opcodes` makes only the first.
set -eu
out=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$here/opcodes/opcode_cases.py" "$work"
nvcc -w -std=c++17 -cubin -arch=sm_90 "$work/opcodes.cu" -o "$work/nvcc130_sm90.cubin" &
nvcc -std=c++17 -O2 -arch=sm_90 -I "$here/.." "$here/record_mma.cu" -o "$work/record_mma" &
nvcc -std=c++17 -O2 -arch=sm_90 "$here/mufu_sweep.cu" -o "$work/mufu_sweep" &
g++ -O2 -std=c++20 "$here/opcodes/run_opcodes.cpp" -I/usr/local/cuda/include -L/usr/local/cuda/lib64/stubs -lcuda -o "$work/run_opcodes"
wait
"$work/run_opcodes" "$work/nvcc130_sm90.cubin" "$work/opcodes.cases" "$work/opcodes.inputs" "$work/opcodes.outputs"
"$work/run_opcodes" "$work/nvcc130_sm90.cubin" "$work/opcodes.cases" "$work/opcodes.inputs" "$work/again.outputs"
cmp "$work/opcodes.outputs" "$work/again.outputs" && echo "two runs gave the same bytes"
(cd "$work" && tar -czf "$out/opcodes.tar.gz" opcodes.outputs opcodes.cases nvcc130_sm90.cubin)
nvidia-smi --query-gpu=name,driver_version --format=csv > "$out/machine.txt"
[ "${2:-all}" != opcodes ] || exit 0
mkdir "$work/mma" "$work/mufu"
if [ "${2:-all}" = all ]; then
  "$work/record_mma" 349696 "$work/mma" 0 256
  (cd "$work/mma" && tar -czf "$out/mma.tar.gz" -- *.groups)
fi
"$work/mufu_sweep" "$work/mufu"
cd "$work/mufu"
for one in ex2 rcp lg2 rsq; do tar -czf "$out/mufu_$one.tar.gz" "$one"*; done
tar -czf "$out/mufu_other.tar.gz" sqrt* sin* cos* tanh*
ls -l "$out"
