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

// What a launch works on, for every kind of problem: its buffers, and its parameters over them.
struct Bound {
  std::shared_ptr<const check::Operands> operands;
  std::vector<ArgumentValue> arguments;
};

// Attention's q, k, v, o and its table of arguments, or the request's own operands. Failure (Stage::launch) for an
// unknown argument or a value that does not fit its type.
Result<Bound> bind(const LaunchRequest& request);

// Only the arguments of a launch.
Result<std::vector<ArgumentValue>> arguments_of(const LaunchRequest& request);

// Attention's arguments by the names and C types of the table in docs/writing-a-kernel.md.
Result<std::vector<ArgumentValue>> attention_arguments(std::span<const std::string> args, const Problem& problem);

// The parameter block of a launch: the arguments in order, each where the machine code expects it; operand i is at
// addresses[i]. Failure (Stage::launch) that names the parameter when the number of parameters or a size does not match
// what the kernel declares.
Result<std::vector<std::byte>> pack_parameters(const compile::CubinKernel& kernel,
                                               std::span<const ArgumentValue> arguments,
                                               std::span<const uint64_t> addresses);

}  // namespace attnscope::device
