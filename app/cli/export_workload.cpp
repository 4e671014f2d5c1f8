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

constexpr size_t kMostExported = size_t{256} << 20;  // of the files beside a launcher

// An element's type in CUDA C++ and in PyTorch. PyTorch's tensors have no u16 and u32, so the bits go into a type of
// equal size.
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

// A parameter's bytes without the addresses in it, as wide as in the machine code.
std::vector<std::byte> bytes_of_parameter(const ArgumentValue& argument, const compile::KernelParameter& parameter) {
  if (argument.operand) return std::vector<std::byte>(sizeof(uint64_t));
  if (!argument.whole) return argument.bytes;
  std::vector<std::byte> bytes(std::min<size_t>(parameter.size, sizeof(int64_t)));
  std::memcpy(bytes.data(), &*argument.whole, bytes.size());  // little-endian, like the GPU
  return bytes;
}

// For each operand, its number among the launchers' buffers. A variable of the source has none, because its contents
// are in the cubin.
std::vector<size_t> places_of(const Workload& workload) {
  std::vector<size_t> places;
  size_t next = 0;
  for (const Operand& one : workload.operands) places.push_back(one.symbol.empty() ? next++ : next);
  return places;
}

// The rows of the launchers' table of launches.
struct LaunchRows {
  std::string cpp, python;
};

// Numbers as both languages list them: "1, 2, 3".
template <class List>
std::string number_list(const List& list) {
  return joined(list, [](auto one) { return std::to_string(static_cast<int64_t>(one)); });
}

Result<LaunchRows> rows_of(const ExportedLaunch& one, const Workload& workload, const std::vector<size_t>& places) {
  auto kernel = compile::read_cubin(one.variant->cubin, one.variant->entry_symbol);
  if (!kernel) return fail(kernel.error());
  if (kernel->parameters.size() != workload.arguments.size())
    return fail(Stage::launch,
                fmt::format("{} declares {} parameters; its manifest's args name {}", one.kernel.entry,
                            kernel->parameters.size(), workload.arguments.size()),
                "List every parameter of the kernel in args, in order.");
  std::string parameters, parameters_py, addresses, addresses_py;
  for (size_t i = 0; i < workload.arguments.size(); ++i) {
    const ArgumentValue& argument = workload.arguments[i];
    const std::string bytes = number_list(bytes_of_parameter(argument, kernel->parameters[i]));
    parameters += fmt::format("      {{{}}},\n", bytes);
    parameters_py += fmt::format("      bytes([{}]),\n", bytes);
    std::vector<ArgumentValue::Address> all = argument.addresses;
    if (argument.operand) all.push_back({0, *argument.operand, argument.offset});
    for (const auto& [at, operand, offset] : all) {
      addresses += fmt::format("      {{{}, {}, {}, {}}},\n", i, at, places[operand], offset);
      addresses_py += fmt::format("      ({}, {}, {}, {}),\n", i, at, places[operand], offset);
    }
  }
  const std::string cubin = one.stem + ".cubin", grid = number_list(one.launch.shape.grid);
  const std::string block = number_list(one.launch.shape.block);
  const std::string& symbol = one.variant->entry_symbol;
  return LaunchRows{fmt::format("    {{\"{}\", \"{}\", {{{}}}, {{{}}}, {}, {}, {{\n{}    }}, {{\n{}    }}}},\n",
                                c_string(cubin), c_string(symbol), grid, block, one.launch.dynamic_shared,
                                one.launch.shape.cooperative, parameters, addresses),
                    fmt::format("    (\"{}\", \"{}\", ({}), ({}), {}, {}, [\n{}    ], [\n{}    ]),\n",
                                python_text(cubin), python_text(symbol), grid, block, one.launch.dynamic_shared,
                                one.launch.shape.cooperative ? "True" : "False", parameters_py, addresses_py)};
}

// The launchers' steps in order: a launch by its number, or buffers by theirs.
void put_steps(const Kernel& kernel, const std::vector<size_t>& places, std::string& cpp, std::string& python) {
  const auto add = [&](const char* kind, size_t to, size_t from, int byte) {
    cpp += fmt::format("    {{Step::{}, {}, {}, {}}},\n", kind, to, from, byte);
    python += fmt::format("    (\"{}\", {}, {}, {}),\n", kind, to, from, byte);
  };
  if (kernel.steps.empty()) add("launch", 0, 0, 0);
  size_t launches = 0;
  for (const ProgramStep& step : kernel.steps) {
    switch (step.kind) {
      case ProgramStep::Kind::launch:
        add("launch", launches++, 0, 0);
        break;
      case ProgramStep::Kind::memset:
        add("memset", places[step.to], 0, step.byte);
        break;
      case ProgramStep::Kind::copy:
        add("copy", places[step.to], places[step.from], 0);
        break;
    }
  }
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
  if (bytes > kMostExported)
    return fail(
        Stage::input,
        fmt::format("the buffers of {} take {} MB, which export writes beside the launchers", e.kernel.id, bytes >> 20),
        "Choose smaller sizes with --problem: they may take 256 MB.");
  auto operands = check::make_operands(*workload, e.problem);
  if (!operands) return fail(operands.error());
  ExportedData data;
  for (const check::OperandContents& one : (*operands)->all)
    if (one.what.has_contents() && one.what.symbol.empty())
      data.files[one.what.name + ".bin"].assign(one.bytes.begin(), one.bytes.end());
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
  std::map<std::string, std::string> values;
  const auto add = [&](const char* key, const std::string& line) { values[key] += "    " + line + ",\n"; };
  values["CHECKS"] = values["CHECKS_PY"] = values["LAUNCHES"] = values["LAUNCHES_PY"] = "";
  const std::vector<size_t> places = places_of(*workload);
  for (const Operand& one : workload->operands) {
    if (!one.symbol.empty()) continue;
    const std::string file = one.has_contents() ? "data/" + one.name + ".bin" : "";
    const std::string shape = joined(
        one.shape, [](int64_t extent) { return std::to_string(extent) + ","; }, " ");
    add("BUFFERS", fmt::format("{{\"{}\", \"{}\", {}}}", c_string(one.name), c_string(file), one.bytes()));
    add("BUFFERS_PY", fmt::format("(\"{}\", \"{}\", torch.{}, ({}), {})", python_text(one.name), python_text(file),
                                  names_of(one.type).torch, shape, one.role == BufferRole::in ? "False" : "True"));
  }
  std::vector<std::string> stems;
  for (const ExportedLaunch& one : e.launches) {
    auto arguments = catalog::workload_of(one.kernel, e.problem, e.config);
    if (!arguments) return fail(arguments.error());
    auto rows = rows_of(one, *arguments, places);
    if (!rows) return fail(rows.error());
    values["LAUNCHES"] += rows->cpp;
    values["LAUNCHES_PY"] += rows->python;
    if (std::ranges::count(stems, one.stem) == 0) stems.push_back(one.stem);
  }
  put_steps(e.kernel, places, values["STEPS"], values["STEPS_PY"]);
  for (size_t i = 1; i < stems.size(); ++i)  // made from a kernel's id, which contains no mark of Markdown code
    values["MORE_FILES"] += fmt::format(", `{0}.cubin`, `{0}.ptx`", stems[i]);
  values["OF_LAUNCHES"] = e.launches.size() > 1 ? fmt::format(" (the first of {} launches)", e.launches.size()) : "";
  values.try_emplace("MORE_FILES", "");
  for (const ReferenceSpec& spec : workload->references) {
    const Operand* const output = operand_of(*workload, spec.output);
    if (output == nullptr) continue;
    const double usual = check::default_tolerance(output->type);
    const std::string tolerances =
        fmt::format("{:.17g}, {:.17g}", spec.atol.value_or(usual), spec.rtol.value_or(usual));
    const size_t at = places[static_cast<size_t>(output - workload->operands.data())];
    add("CHECKS", fmt::format("{{{}, \"data/{}.expected.bin\", to_doubles<{}>, {}}}", at, c_string(output->name),
                              names_of(output->type).host, tolerances));
    const bool is_unsigned = output->type == ElementType::u16 || output->type == ElementType::u32;
    add("CHECKS_PY", fmt::format("({}, \"data/{}.expected.bin\", {}, {})", at, python_text(output->name), tolerances,
                                 is_unsigned ? 8 * bytes_of(output->type) : 0));
  }
  return values;
}

}  // namespace attnscope::cli
