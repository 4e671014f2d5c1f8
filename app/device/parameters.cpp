#include "device/parameters.h"

#include <array>
#include <cstring>
#include <limits>
#include <optional>

#include "core/experiment_fields.h"

namespace attnscope::device {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
Bytes bytes_of_value(T value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

Result<Bytes> size_value(const std::string& name, int64_t value) {
  if (value > std::numeric_limits<int32_t>::max())
    return fail(Stage::launch, name + " = " + std::to_string(value) + " does not fit the kernel's int",
                "Use a smaller problem.");
  return bytes_of_value(static_cast<int32_t>(value));
}

constexpr std::array<std::string_view, 4> kTensors{"q", "k", "v", "o"};  // attention's operands, in order

Result<Bytes> attention_value(const std::string& name, const Problem& problem) {
  if (name == "scale") return bytes_of_value(static_cast<float>(problem.effective_scale()));
  if (name == "causal") return bytes_of_value(static_cast<int32_t>(problem.causal));  // the value of the macro CAUSAL
  std::optional<int64_t> size;
  for_each_size([&](const auto& field) {
    if (name == field.key) size = problem.*field.member;
  });
  if (size) return size_value(name, *size);
  return fail(Stage::launch, "args: \"" + name + "\" is not a known argument",
              "docs/writing-a-kernel.md has the table of arguments.");
}

// The kernel decides whether a size is passed as int or as long long.
Result<Bytes> bytes_of_argument(const ArgumentValue& argument, uint32_t wanted, std::span<const uint64_t> addresses) {
  if (argument.operand) return bytes_of_value(addresses[*argument.operand] + uint64_t{argument.offset});
  if (!argument.whole) {
    Bytes bytes = argument.bytes;
    for (const ArgumentValue::Address& one : argument.addresses) {
      const uint64_t address = addresses[one.operand] + one.offset;
      std::memcpy(bytes.data() + one.at, &address, sizeof address);
    }
    return bytes;
  }
  if (wanted == sizeof(int64_t)) return bytes_of_value(*argument.whole);
  return size_value(argument.name, *argument.whole);
}

}  // namespace

Result<std::vector<ArgumentValue>> attention_arguments(std::span<const std::string> args, const Problem& problem) {
  std::vector<ArgumentValue> arguments;
  for (const std::string& name : args) {
    ArgumentValue& argument = arguments.emplace_back();
    argument.name = name;
    for (size_t i = 0; i < kTensors.size(); ++i)
      if (name == kTensors[i]) argument.operand = i;
    if (argument.operand) continue;
    auto value = attention_value(name, problem);
    if (!value) return fail(value.error());
    argument.bytes = std::move(*value);
  }
  return arguments;
}

Result<std::vector<ArgumentValue>> arguments_of(const LaunchRequest& request) {
  if (request.operands) return request.arguments;
  return attention_arguments(request.args, request.problem);
}

Result<Bound> bind(const LaunchRequest& request) {
  if (request.operands) return Bound{request.operands, request.arguments};
  auto operands = check::make_operands(request.inputs, request.problem);
  if (!operands) return fail(operands.error());
  auto arguments = arguments_of(request);
  if (!arguments) return fail(arguments.error());
  return Bound{std::move(*operands), std::move(*arguments)};
}

Result<std::vector<std::byte>> pack_parameters(const compile::CubinKernel& kernel, std::span<const ArgumentValue> args,
                                               std::span<const uint64_t> addresses) {
  if (args.size() != kernel.parameters.size())
    return fail(Stage::launch,
                kernel.name + " declares " + std::to_string(kernel.parameters.size()) +
                    " parameters; its manifest's args name " + std::to_string(args.size()),
                "List every parameter of the kernel in args, in order.");
  Bytes block(kernel.parameter_bytes);
  for (size_t i = 0; i < args.size(); ++i) {
    const compile::KernelParameter& parameter = kernel.parameters[i];
    auto value = bytes_of_argument(args[i], parameter.size, addresses);
    if (!value) return fail(value.error());
    if (value->size() != parameter.size || parameter.offset + value->size() > block.size())
      return fail(Stage::launch,
                  kernel.name + " declares parameter " + std::to_string(i) + " with " + std::to_string(parameter.size) +
                      " bytes; \"" + args[i].name + "\" has " + std::to_string(value->size()),
                  "Declare it with the C type that docs/writing-a-kernel.md gives for " + args[i].name + ".");
    std::memcpy(block.data() + parameter.offset, value->data(), value->size());
  }
  return block;
}

}  // namespace attnscope::device
