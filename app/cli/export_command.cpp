#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "catalog/arguments.h"
#include "catalog/devices.h"
#include "catalog/launch.h"
#include "catalog/validate.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/experiment_options.h"
#include "cli/export_expression.h"
#include "compile/compiler.h"
#include "platform/atomic_file.h"
#include "platform/output_file.h"
#include "platform/paths.h"

namespace attnscope::cli {
namespace {

namespace fs = std::filesystem;
using Values = std::map<std::string, std::string>;  // of a template's @NAME@

constexpr uint64_t kMaxTemplate = 1 << 20;

struct Options {
  ExperimentOptions experiment;
  std::string out;
  int arch = 0;  // 0: the device's
};

// Everything that is written down, settled.
struct Export {
  Kernel kernel;
  Problem problem;
  Config config;
  int arch = 0;
  catalog::Launch launch;
  std::shared_ptr<const compile::Variant> variant;
  std::string stem;  // "tiled_sm89"
};

// An emulated device's architecture is data; a GPU's own is not known here, since nothing is run.
Result<int> arch_of(const std::string& device, const fs::path& assets) {
  for (const DeviceSpec& spec : catalog::load_devices(assets / "devices").devices)
    if (spec.id == device) return spec.arch;
  return fail(Stage::input, "the architecture of " + device + " is not known here", "Give it with --arch 89.");
}

// What the launchers fix must not depend on what they leave free.
Result<void> holds_for_other_sizes(const Export& e) {
  Problem other = e.problem;
  other.batch += 1;
  other.heads *= 2;
  other.kv_heads *= 2;
  other.seq_q += 977;
  other.seq_k += 977;
  auto launch = catalog::launch_of(e.kernel, other, e.config);
  if (!launch) return fail(launch.error());
  if (launch->shape.block == e.launch.shape.block && launch->dynamic_shared == e.launch.dynamic_shared) return {};
  return fail(Stage::input, e.kernel.id + ": its block or shared memory depends on the problem's sizes",
              "Exported launchers take any batch, heads and lengths; this kernel cannot be exported.");
}

Result<Export> settle(const Options& options, const platform::Paths& paths, const fs::path& assets) {
  auto named = draft_of(options.experiment);
  if (!named) return fail(named.error());
  Export e;
  e.kernel = named->kernel;
  e.problem = named->draft.problem;
  if (!e.kernel.library.empty())
    return fail(Stage::input, e.kernel.id + " is a routine of " + e.kernel.library + ": there is no source to export",
                "Choose a kernel that has one.");
  if (!e.problem.is_attention())
    return fail(Stage::input, e.kernel.id + " is no attention kernel: export writes launchers of attention alone",
                "Choose an attention kernel.");
  if (e.problem.layout != Layout::BHSD)
    return fail(Stage::input, "export writes launchers for the layout BHSD", "Set layout to BHSD.");
  auto arch = options.arch ? Result<int>(options.arch) : arch_of(named->draft.device, assets);
  if (!arch) return fail(arch.error());
  e.arch = *arch;
  auto config = catalog::complete_config(e.kernel, named->draft.knobs, named->draft.options);
  if (!config) return fail(config.error());
  e.config = *config;
  if (auto allowed = catalog::check_restrictions(e.kernel, e.problem, e.config, e.arch); !allowed)
    return fail(allowed.error());
  auto launch = catalog::launch_of(e.kernel, e.problem, e.config);
  if (!launch) return fail(launch.error());
  e.launch = *launch;
  if (auto holds = holds_for_other_sizes(e); !holds) return fail(holds.error());
  e.stem = fmt::format("{}_sm{}", e.kernel.id, e.arch);
  compile::CompileRequest request;
  request.source = e.kernel.source;
  request.file_name = e.kernel.source_name;
  request.entry = e.kernel.entry;
  request.macros = catalog::macros(e.kernel, e.problem, e.config);
  request.dtype = e.problem.dtype;
  request.options = e.config.options;
  request.headers = e.kernel.headers;
  request.arch = e.arch;
  compile::Compiler compiler({.cache_dir = paths.cache / "variants"});
  auto variant = compiler.compile(request);
  if (!variant) return fail(variant.error());
  e.variant = *variant;
  if (e.kernel.launch.constants.empty()) return e;
  auto constants = compile::constants_of(*e.variant, e.kernel.launch.constants);
  if (!constants) return fail(constants.error());
  auto settled = catalog::launch_of(e.kernel, e.problem, e.config, &*constants);
  if (!settled) return fail(settled.error());
  e.launch = *settled;
  return e;
}

struct ElementNames {
  const char *cuda, *host, *from_float, *to_float, *torch;
  int code;
};

ElementNames element_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {"half", "__half", "__float2half(x)", "static_cast<double>(__half2float(x))", "float16", 0};
    case DType::bf16:
      return {"__nv_bfloat16",
              "__nv_bfloat16",
              "__float2bfloat16(x)",
              "static_cast<double>(__bfloat162float(x))",
              "bfloat16",
              1};
    case DType::f32:
      return {"float", "float", "x", "static_cast<double>(x)", "float32", 2};
  }
  return {};
}

// The options of NVRTC as nvcc spells them.
std::string nvcc_line(const Export& e) {
  std::string line =
      fmt::format("nvcc -arch=sm_{} -std=c++17 -lineinfo -fmad={}", e.arch, e.config.options.fmad ? "true" : "false");
  if (e.config.options.fast_math) line += " -use_fast_math";
  if (e.config.options.maxrregcount) line += fmt::format(" -maxrregcount={}", e.config.options.maxrregcount);
  for (const std::string& name : e.kernel.headers) {
    std::string variable = name;
    std::transform(name.begin(), name.end(), variable.begin(), [](unsigned char c) { return std::toupper(c); });
    line += fmt::format(" -I\"${{{0}:?names the include folder of {1}}}\"", variable, name);
  }
  return line + fmt::format(" -cubin -o {0}.nvcc.cubin {0}.cu", e.stem);
}

std::string source_of(const Export& e) {
  const ElementNames element = element_of(e.problem.dtype);
  std::string text = fmt::format("// {}: {}\n// Compiled in: {}. Written by attnscope {}.\n//   {}\n", e.kernel.id,
                                 e.kernel.title, short_text(e.config, e.kernel), ATTNSCOPE_VERSION, nvcc_line(e));
  for (const auto& [name, value] : catalog::macros(e.kernel, e.problem, e.config))
    text += fmt::format("#define {} {}\n", name, value);
  text += fmt::format("#define DTYPE {}\n#define ATTN_T {}\n#line 1 \"{}\"\n", element.code, element.cuda,
                      e.kernel.source_name);
  text += e.kernel.source;
  if (!text.ends_with('\n')) text += '\n';
  // Nobody calls a template here; naming it makes nvcc write it out.
  if (e.kernel.entry.find('<') != std::string::npos)
    text += fmt::format(
        "__attribute__((used)) static const void* const attnscope_entry = "
        "reinterpret_cast<const void*>(&{});\n",
        e.kernel.entry);
  return text;
}

Result<void> put_grid(const Export& e, Values& values) {
  std::map<std::string, int64_t> constants = catalog::macros(e.kernel, e.problem, e.config);
  constants.erase("HEAD_DIM");  // expressions say head_dim and causal, which the launchers know
  constants.erase("CAUSAL");
  for (size_t i = 0; i < 3; ++i) {
    const std::string axis(1, "XYZ"[i]);
    values["BLOCK_" + axis] = std::to_string(e.launch.shape.block[i]);
    for (const auto& [language, suffix] : {std::pair(Language::cpp, ""), std::pair(Language::python, "_PY")}) {
      auto text = expression_in(language, e.kernel.launch.grid[i], constants);
      if (!text) return fail(text.error());
      values["GRID_" + axis + suffix] = *text;
    }
  }
  return {};
}

void put_arguments(const Export& e, Values& values) {
  for (const std::string& name : e.kernel.args) {
    const catalog::Argument* argument = catalog::find_argument(name);
    const bool whole = argument && argument->role == catalog::ArgumentRole::number && name != "scale";
    values["ARGUMENTS"] += (values["ARGUMENTS"].empty() ? "&" : ", &") + name + (whole ? "_" : "");
    values["ARGUMENTS_PY"] += (values["ARGUMENTS_PY"].empty() ? "\"" : ", \"") + name + "\"";
  }
}

Result<Values> values_of(const Export& e) {
  const ElementNames element = element_of(e.problem.dtype);
  const VariantInfo& info = e.variant->info;
  Values values{
      {"TITLE", fmt::format("{}: {}", e.kernel.id, e.kernel.title)},
      {"CONFIG", fmt::format("`{}`", short_text(e.config, e.kernel))},
      {"STEM", e.stem},
      {"CUBIN", e.stem + ".cubin"},
      {"SYMBOL", e.variant->entry_symbol},
      {"ARCH", std::to_string(e.arch)},
      {"NVRTC", e.variant->nvrtc},
      {"VERSION", ATTNSCOPE_VERSION},
      {"REGISTERS", std::to_string(info.registers)},
      {"STATIC_SHARED", std::to_string(info.static_shared_bytes)},
      {"DYNAMIC_SHARED", std::to_string(e.launch.dynamic_shared)},
      {"SPILLS", std::to_string(info.spill_bytes)},
      {"CODE_HASH", info.code_hash},
      {"HEAD_DIM", std::to_string(e.problem.head_dim)},
      {"CAUSAL", std::to_string(catalog::macros(e.kernel, e.problem, e.config).at("CAUSAL"))},
      {"DTYPE_BYTES", std::to_string(bytes_of(e.problem.dtype))},
      {"ELEMENT", element.host},
      {"FROM_FLOAT", element.from_float},
      {"TO_FLOAT", element.to_float},
      {"TORCH_DTYPE", element.torch},
      {"GROUPED", e.kernel.supports.grouped_heads ? "true" : "false"},
      {"GROUPED_PY", e.kernel.supports.grouped_heads ? "True" : "False"},
      {"BATCH", std::to_string(e.problem.batch)},
      {"HEADS", std::to_string(e.problem.heads)},
      {"KV_HEADS", std::to_string(e.problem.kv_heads)},
      {"SEQ_Q", std::to_string(e.problem.seq_q)},
      {"SEQ_K", std::to_string(e.problem.seq_k)},
      {"SCALE", fmt::format("{:.9e}", e.problem.effective_scale())},
      {"TOLERANCE", catalog::accumulate_of(e.kernel, e.config) == "f16" ? "2e-2"
                    : e.problem.dtype == DType::bf16                    ? "2e-2"
                                                                        : "2e-3"},
      {"NEEDS", e.kernel.headers.empty() ? "nothing but the CUDA headers" : "the headers that `build.sh` names"},
      {"KNOBS", "// " + short_text(e.config, e.kernel)},
      {"KNOBS_PY", "# " + short_text(e.config, e.kernel) + "\n"}};
  if (auto put = put_grid(e, values); !put) return fail(put.error());
  put_arguments(e, values);
  return values;
}

// Every @NAME@ of the template is one of `values`.
Result<std::string> filled(const fs::path& file, const Values& values) {
  auto text = platform::read_file(file, kMaxTemplate);
  if (!text) return fail(text.error());
  std::string out;
  for (size_t at = 0;;) {
    const size_t open = text->find('@', at);
    out += text->substr(at, open - at);
    if (open == std::string::npos) return out;
    const size_t close = text->find('@', open + 1);
    const auto found =
        close == std::string::npos ? values.end() : values.find(text->substr(open + 1, close - open - 1));
    if (found != values.end()) {
      out += found->second;
      at = close + 1;
    } else {
      out += '@';  // one of its own: Python's decorators and products
      at = open + 1;
    }
  }
}

Result<void> write_all(const Export& e, const fs::path& out, const fs::path& assets) {
  auto values = values_of(e);
  if (!values) return fail(values.error());
  if (auto made = platform::make_output_folder(out); !made) return made;
  const auto write = [&](const std::string& name, auto&& content) {
    return platform::write_output(out / name, content);
  };
  if (auto done = write(e.stem + ".cu", std::string_view(source_of(e))); !done) return done;
  if (auto done = write("build.sh", std::string_view("#!/bin/sh\nset -e\n" + nvcc_line(e) + "\n")); !done) return done;
  if (auto done = write(e.stem + ".cubin", std::span<const std::byte>(e.variant->cubin)); !done) return done;
  if (auto done = write(e.stem + ".ptx", std::string_view(e.variant->ptx)); !done) return done;
  for (const char* name : {"launch.cpp", "launch.py", "README.md"}) {
    auto text = filled(assets / "export" / (std::string(name) + ".in"), *values);
    if (!text) return fail(text.error());
    if (auto done = write(name, std::string_view(*text)); !done) return done;
  }
  return {};
}

int export_kernel(const Options& options) {
  auto resources = platform::resources();
  if (!resources) return report(resources.error());
  auto paths = platform::user_paths();
  if (!paths) return report(paths.error());
  auto settled = settle(options, *paths, *resources / "assets");
  if (!settled) return report(settled.error());
  if (auto written = write_all(*settled, options.out, *resources / "assets"); !written) return report(written.error());
  print_result(fmt::format("{}\n  {}\n  {} registers, {} B static and {} B dynamic shared memory, code {}\n",
                           options.out, nvcc_line(*settled), settled->variant->info.registers,
                           settled->variant->info.static_shared_bytes, settled->launch.dynamic_shared,
                           settled->variant->info.code_hash.substr(0, 12)));
  return kCorrectOrUnchecked;
}

}  // namespace

void add_export(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "export", "Write a config as files of their own: .cu, nvcc line, cubin, PTX, launchers in C++ and Python");
  auto options = std::make_shared<Options>();
  add_experiment_options(*command, options->experiment);
  command->add_option("--out", options->out, "The folder to write")->type_name("DIR")->required();
  command->add_option("--arch", options->arch, "Compute capability x 10; else the device's")
      ->type_name("80|89|90")
      ->check(CLI::Range(75, 129));
  command->callback([options, &chosen] { chosen = [options] { return export_kernel(*options); }; });
}

}  // namespace attnscope::cli
