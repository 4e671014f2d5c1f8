#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "check/operands.h"
#include "compile/cubin.h"
#include "core/problem.h"
#include "core/result.h"
#include "core/workload.h"
#include "device/launch.h"

namespace attnscope::device {

// The buffers of a launch and the arguments that refer to them, for every kind of problem.
struct Bound {
  std::shared_ptr<const check::Operands> operands;
  std::vector<ArgumentValue> arguments;
};

// Binds attention's q, k, v, o and arguments by the table, or the request's own operands. Failure (Stage::launch) for
// an unknown argument or a value that does not fit its type.
Result<Bound> bind(const LaunchRequest& request);

// The arguments of a launch without its buffers.
Result<std::vector<ArgumentValue>> arguments_of(const LaunchRequest& request);

// Attention's arguments, with the names and C types of the table in docs/writing-a-kernel.md.
Result<std::vector<ArgumentValue>> attention_arguments(std::span<const std::string> args, const Problem& problem);

// The parameter block of a launch: the arguments in order, each at the offset that the machine code expects. Operand i
// is at addresses[i]. Failure (Stage::launch) that names the parameter if their number or a size does not match the
// kernel's declaration.
Result<std::vector<std::byte>> pack_parameters(const compile::CubinKernel& kernel,
                                               std::span<const ArgumentValue> arguments,
                                               std::span<const uint64_t> addresses);

}  // namespace attnscope::device
