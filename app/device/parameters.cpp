#include "device/parameters.h"

#include <cstring>
#include <limits>
#include <optional>

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

Result<Bytes> value_of(const std::string& name, const Problem& problem, const TensorAddresses& at) {
  if (name == "q") return bytes_of_value(at.q);
  if (name == "k") return bytes_of_value(at.k);
  if (name == "v") return bytes_of_value(at.v);
  if (name == "o") return bytes_of_value(at.o);
  if (name == "scale") return bytes_of_value(static_cast<float>(problem.effective_scale()));
  if (name == "batch") return size_value(name, problem.batch);
  if (name == "heads") return size_value(name, problem.heads);
  if (name == "kv_heads") return size_value(name, problem.kv_heads);
  if (name == "seq_q") return size_value(name, problem.seq_q);
  if (name == "seq_k") return size_value(name, problem.seq_k);
  if (name == "head_dim") return size_value(name, problem.head_dim);
  return fail(Stage::launch, "args: \"" + name + "\" is not an argument that can be passed",
              "docs/writing-a-kernel.md has the table of arguments.");
}

}  // namespace

Result<std::vector<std::byte>> pack_parameters(const compile::CubinKernel& kernel, std::span<const std::string> args,
                                               const Problem& problem, const TensorAddresses& addresses) {
  if (args.size() != kernel.parameters.size())
    return fail(Stage::launch,
                kernel.name + " declares " + std::to_string(kernel.parameters.size()) +
                    " parameters; its manifest's args name " + std::to_string(args.size()),
                "List every parameter of the kernel in args, in order.");
  Bytes block(kernel.parameter_bytes);
  for (size_t i = 0; i < args.size(); ++i) {
    const compile::KernelParameter& parameter = kernel.parameters[i];
    auto value = value_of(args[i], problem, addresses);
    if (!value) return fail(value.error());
    if (value->size() != parameter.size || parameter.offset + value->size() > block.size())
      return fail(Stage::launch,
                  kernel.name + " declares parameter " + std::to_string(i) + " with " + std::to_string(parameter.size) +
                      " bytes; \"" + args[i] + "\" has " + std::to_string(value->size()),
                  "Declare it with the C type that docs/writing-a-kernel.md gives for " + args[i] + ".");
    std::memcpy(block.data() + parameter.offset, value->data(), value->size());
  }
  return block;
}

}  // namespace attnscope::device
