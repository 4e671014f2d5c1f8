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
#include "device/device.h"

namespace attnscope::device {

// What a launch works on, the same for every kind of problem: its buffers, and its parameters over them.
struct Bound {
  std::shared_ptr<const check::Operands> operands;
  std::vector<ArgumentValue> arguments;
};

// Attention's q, k, v, o and its table of arguments, or the request's own operands. Failure (Stage::launch) for an
// argument that no table knows or whose value does not fit its type.
Result<Bound> bind(const LaunchRequest& request);

// A launch's arguments alone.
Result<std::vector<ArgumentValue>> arguments_of(const LaunchRequest& request);

// Attention's arguments by the names and C types of docs/writing-a-kernel.md's table.
Result<std::vector<ArgumentValue>> attention_arguments(std::span<const std::string> args, const Problem& problem);

// The parameter block of a launch: the arguments in order, each where the machine code expects it; operand i lies at
// addresses[i]. A number of parameters or a size that does not match what the kernel declares is a Failure
// (Stage::launch) that names it.
Result<std::vector<std::byte>> pack_parameters(const compile::CubinKernel& kernel,
                                               std::span<const ArgumentValue> arguments,
                                               std::span<const uint64_t> addresses);

}  // namespace attnscope::device
