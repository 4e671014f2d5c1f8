#!/bin/sh
# Packs what the emulator's opcode test reads.
#
#   pack.sh FOLDER NVDISASM > tests/data/gpu/opcodes/h200_opcodes.tar.xz
#
# FOLDER holds opcode_cases.py's files (opcodes.cu, .cases, .inputs), a cubin a compiler and architecture, and opcodes.outputs,
# which run_opcodes made on the GPU of nvcc130_sm90.cubin:
#   nvcc -w -std=c++17 -cubin -arch=sm_90 opcodes.cu -o nvcc130_sm90.cubin          (CUDA 13.0; so for sm_80, sm_89)
#   nvrtc128_sm90.cubin: NVRTC 12.8 with -std=c++17, <stdio.h> and <assert.h> left out, assert as a call of __assertfail
set -eu
folder=$1 nvdisasm=$2
for cubin in "$folder"/nv*_sm*.cubin; do
  # Squeezes blanks and drops directives: the parser reads sections, labels and instructions.
  "$nvdisasm" -c -hex -ndf "$cubin" 2>/dev/null | sed -E 's/[ \t]+/ /g' |
    grep -vE '^ *(\.(byte|dword|word|align|zero|type|size|other|sectioninfo|sectionflags|global|weak|elftype)|//)' > "${cubin%.cubin}.txt"
done
cd "$folder"
tar --sort=name --owner=0 --group=0 --mtime=2026-11-21 -cf - nv*_sm*.cubin nv*_sm*.txt opcodes.cases opcodes.inputs opcodes.outputs | xz -9e
