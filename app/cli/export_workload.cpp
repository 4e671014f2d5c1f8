#include "cli/export_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "catalog/workload.h"
#include "check/known_reference.h"
#include "check/operands.h"
#include "compile/cubin.h"
#include "core/escape.h"
#include "core/joined.h"

namespace attnscope::cli {
namespace {

constexpr size_t kMostBytes = size_t{256} << 20;  // of the files beside a launcher

// An element's type in CUDA C++ and in PyTorch, whose tensors have no u16 and u32: their bits are in one of equal size.
struct TypeNames {
  const char *host, *torch;
};
TypeNames names_of(ElementType type) {
  switch (type) {
    case ElementType::f16:
      return {"__half", "float16"};
    case ElementType::bf16:
      return {"__nv_bfloat16", "bfloat16"};
    case ElementType::f32:
      return {"float", "float32"};
    case ElementType::f64:
      return {"double", "float64"};
    case ElementType::i8:
      return {"int8_t", "int8"};
    case ElementType::u8:
      return {"uint8_t", "uint8"};
    case ElementType::i16:
      return {"int16_t", "int16"};
    case ElementType::u16:
      return {"uint16_t", "int16"};
    case ElementType::i32:
      return {"int32_t", "int32"};
    case ElementType::u32:
      return {"uint32_t", "int32"};
    case ElementType::i64:
      return {"int64_t", "int64"};
  }
  return {};
}

const Operand* operand_of(const Workload& workload, const std::string& name) {
  const auto found = std::ranges::find(workload.operands, name, &Operand::name);
  return found == workload.operands.end() ? nullptr : &*found;
}

// A parameter's bytes without the addresses in it, as wide as the machine code has it.
std::vector<std::byte> bytes_of_parameter(const ArgumentValue& argument, const compile::KernelParameter& parameter) {
  if (argument.operand) return std::vector<std::byte>(sizeof(uint64_t));
  if (!argument.whole) return argument.bytes;
  std::vector<std::byte> bytes(std::min<size_t>(parameter.size, sizeof(int64_t)));
  std::memcpy(bytes.data(), &*argument.whole, bytes.size());  // little-endian, as the GPU is
  return bytes;
}

}  // namespace

Result<ExportedData> data_of(const Export& e) {
  auto workload = catalog::workload_of(e.kernel, e.problem, e.config);
  if (!workload) return fail(workload.error());
  size_t bytes = 0;
  for (const Operand& one : workload->operands) bytes += one.bytes();
  for (const ReferenceSpec& spec : workload->references)
    if (const Operand* output = operand_of(*workload, spec.output))
      bytes += sizeof(double) * size_t(output->elements());
  if (bytes > kMostBytes)
    return fail(
        Stage::input,
        fmt::format("the buffers of {} take {} MB, which export writes beside the launchers", e.kernel.id, bytes >> 20),
        "Choose smaller sizes with --problem: they may take 256 MB.");
  auto operands = check::make_operands(*workload, e.problem);
  if (!operands) return fail(operands.error());
  ExportedData data;
  for (const check::OperandContents& one : (*operands)->all)
    if (one.what.role != BufferRole::out) data.files[one.what.name + ".bin"].assign(one.bytes.begin(), one.bytes.end());
  for (const ReferenceSpec& spec : workload->references) {
    auto values = check::known_reference_values(spec, **operands);
    if (!values) return fail(values.error());
    const auto raw = std::as_bytes(std::span(*values));
    data.files[spec.output + ".expected.bin"].assign(raw.begin(), raw.end());
  }
  return data;
}

Result<std::map<std::string, std::string>> workload_figures(const Export& e) {
  auto workload = catalog::workload_of(e.kernel, e.problem, e.config);
  if (!workload) return fail(workload.error());
  auto kernel = compile::read_cubin(e.variant->cubin, e.variant->entry_symbol);
  if (!kernel) return fail(kernel.error());
  if (kernel->parameters.size() != workload->arguments.size())
    return fail(Stage::launch,
                fmt::format("{} declares {} parameters; its manifest's args name {}", e.kernel.id,
                            kernel->parameters.size(), workload->arguments.size()),
                "List every parameter of the kernel in args, in order.");
  std::map<std::string, std::string> values;
  const auto add = [&](const char* key, const std::string& line) { values[key] += "    " + line + ",\n"; };
  values["CHECKS"] = values["CHECKS_PY"] = values["ADDRESSES"] = values["ADDRESSES_PY"] = "";
  values["PARAMETERS"] = values["PARAMETERS_PY"] = "";
  for (const Operand& one : workload->operands) {
    const bool filled = one.role != BufferRole::out;
    const std::string file = filled ? "data/" + one.name + ".bin" : "";
    const std::string shape = joined(
        one.shape, [](int64_t extent) { return std::to_string(extent) + ","; }, " ");
    add("BUFFERS", fmt::format("{{\"{}\", \"{}\", {}}}", c_string(one.name), c_string(file), one.bytes()));
    add("BUFFERS_PY", fmt::format("(\"{}\", \"{}\", torch.{}, ({}), {})", python_text(one.name), python_text(file),
                                  names_of(one.type).torch, shape, one.role == BufferRole::in ? "False" : "True"));
  }
  for (size_t i = 0; i < workload->arguments.size(); ++i) {
    const ArgumentValue& argument = workload->arguments[i];
    const std::string bytes = joined(bytes_of_parameter(argument, kernel->parameters[i]),
                                     [](std::byte byte) { return std::to_string(std::to_integer<int>(byte)); });
    add("PARAMETERS", fmt::format("{{{}}}", bytes));
    add("PARAMETERS_PY", fmt::format("bytes([{}])", bytes));
    std::vector<ArgumentValue::Address> addresses = argument.addresses;
    if (argument.operand) addresses.push_back({0, *argument.operand, argument.offset});
    for (const auto& [at, operand, offset] : addresses) {
      add("ADDRESSES", fmt::format("{{{}, {}, {}, {}}}", i, at, operand, offset));
      add("ADDRESSES_PY", fmt::format("({}, {}, {}, {})", i, at, operand, offset));
    }
  }
  for (const ReferenceSpec& spec : workload->references) {
    const Operand* const output = operand_of(*workload, spec.output);
    if (output == nullptr) continue;
    const double usual = check::default_tolerance(output->type);
    const std::string tolerances =
        fmt::format("{:.17g}, {:.17g}", spec.atol.value_or(usual), spec.rtol.value_or(usual));
    const auto at = output - workload->operands.data();
    add("CHECKS", fmt::format("{{{}, \"data/{}.expected.bin\", to_doubles<{}>, {}}}", at, c_string(output->name),
                              names_of(output->type).host, tolerances));
    const bool is_unsigned = output->type == ElementType::u16 || output->type == ElementType::u32;
    add("CHECKS_PY", fmt::format("({}, \"data/{}.expected.bin\", {}, {})", at, python_text(output->name), tolerances,
                                 is_unsigned ? 8 * bytes_of(output->type) : 0));
  }
  for (size_t i = 0; i < 3; ++i) {
    const std::string axis(1, "XYZ"[i]);
    values["GRID_" + axis] = std::to_string(e.launch.shape.grid[i]);
    values["BLOCK_" + axis] = std::to_string(e.launch.shape.block[i]);
  }
  return values;
}

}  // namespace attnscope::cli
