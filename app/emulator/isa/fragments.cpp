#include "emulator/isa/fragments.h"

#include "emulator/isa/registers.h"

namespace attnscope::emulator {

std::vector<MatrixFragment> fragments_of(const compile::SassInstruction& instruction, const Op& op,
                                         uint32_t registers) {
  std::vector<MatrixFragment> all;
  const auto add = [&](MatrixFragment fragment, MatrixName matrix, uint32_t offset) {
    const uint32_t first = (offset - kLaneFileOffset) / 128;
    fragment.matrix = matrix;
    fragment.first = offset >= kLaneFileOffset && first < registers ? first : MatrixFragment::kZero;
    all.push_back(fragment);
  };
  const std::string& name = instruction.opcode;
  if (name == "HMMA" || name == "IMMA" || name == "DMMA") {
    const TensorShape& shape = op.detail.tensor;
    add(fragment_a(shape), MatrixName::a, op.a);
    add(fragment_b(shape), MatrixName::b, op.b);
    add(fragment_c(shape), MatrixName::c, op.c);
    add(fragment_c(shape), MatrixName::d, op.dst);
  } else if (name == "LDSM") {
    const bool transposed = op.family == Family::ldsm_transposed;
    add({.rows = 8 * int64_t{op.detail.matrices}, .columns = 8, .by_columns = transposed}, MatrixName::d, op.dst);
  } else if (name == "MOVM") {
    add({.rows = 8, .columns = 8}, MatrixName::a, op.a);
    add({.rows = 8, .columns = 8, .by_columns = true}, MatrixName::d, op.dst);
  }
  return all;
}

}  // namespace attnscope::emulator
