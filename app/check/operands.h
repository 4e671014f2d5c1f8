#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "check/guarded_buffer.h"
#include "check/inputs.h"
#include "core/observation.h"
#include "core/problem.h"
#include "core/result.h"
#include "core/workload.h"

namespace attnscope::check {

// A buffer and its contents before a kernel runs: poison for `out`, the contents that their init gives for workspaces.
struct OperandContents {
  Operand what;
  std::span<const std::byte> bytes;
};

// All buffers of a launch, in the order of Workload::operands. Immutable after construction.
struct Operands {
  std::vector<OperandContents> all;
  std::vector<std::vector<std::byte>> storage;       // bytes that are not kept elsewhere
  std::shared_ptr<const AttentionInputs> attention;  // owns the bytes of q, k and v
};

// Every buffer of `workload`, initialised from the problem's seed and distribution: buffer i draws from stream 16 + i
// (check/inputs.h). The bits are the same on every machine. Failure (Stage::check) if they do not fit into memory.
Result<std::shared_ptr<const Operands>> make_operands(const Workload& workload, const Problem& problem);

// q, k, v and a poisoned o of an attention problem.
Result<std::shared_ptr<const Operands>> make_operands(std::shared_ptr<const AttentionInputs> inputs,
                                                      const Problem& problem);

// Element `index` as a double; exact except for i64 above 2^53.
double load_value(ElementType type, const std::byte* data, int64_t index);
void store_value(ElementType type, std::byte* data, int64_t index, double value);
// Fills with a bit pattern that a kernel is unlikely to write: signalling NaNs for floating-point types.
void fill_poison(ElementType type, std::span<std::byte> data);
bool is_poison(ElementType type, const std::byte* data, int64_t index);

// The XXH3-128 of each operand of role `in`; empty for the others.
std::vector<std::string> hash_read_only(const Operands& operands);
// Failure (Stage::launch) for an input that a kernel wrote to.
tl::unexpected<Failure> input_was_written(const std::string& name);
// Failure (Stage::launch) that names the first operand of role `in` whose hash changed.
Result<void> check_read_only(const Operands& operands, const std::vector<std::string>& before,
                             const std::vector<std::string>& after);

}  // namespace attnscope::check
