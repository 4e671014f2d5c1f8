#pragma once
#include <vector>

#include "compile/sass.h"
#include "core/fragment.h"
#include "emulator/isa/op.h"

// How the lanes of a warp hold the matrices of an instruction. The handlers of exec/general_tensor.cpp take their
// operands from here; those of lanes/ use the same layout in the order of their vectors, and tests compare the two.
namespace attnscope::emulator {

// A: rows × depth, B: depth × 8, C and D: rows × 8. Without register numbers.
constexpr MatrixFragment fragment_a(const TensorShape& shape) {
  const int bits = bits_of(shape.a);
  return {MatrixName::a, shape.rows, shape.depth, bits, bits < 32 ? 32 / bits : 1, false, MatrixFragment::kZero};
}
constexpr MatrixFragment fragment_b(const TensorShape& shape) {
  const int bits = bits_of(shape.b);
  return {MatrixName::b, shape.depth, 8, bits, bits < 32 ? 32 / bits : 1, true, MatrixFragment::kZero};
}
constexpr MatrixFragment fragment_c(const TensorShape& shape) {
  return {MatrixName::c, shape.rows, 8, bits_of(shape.c), 2, false, MatrixFragment::kZero};
}

// The matrices of a product (HMMA, IMMA, DMMA), of LDSM and of MOVM; empty for any other instruction. LDSM's matrices
// of 8 × 8 are below each other, as their rows are in shared memory: row r is the 16 bytes at lane r's address. MOVM's
// D shows where A's elements are afterwards. `registers`: per lane, without RZ.
std::vector<MatrixFragment> fragments_of(const compile::SassInstruction& instruction, const Op& op, uint32_t registers);

}  // namespace attnscope::emulator
