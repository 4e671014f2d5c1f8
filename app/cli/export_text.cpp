#include "cli/export_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <optional>

#include "catalog/arguments.h"
#include "catalog/validate.h"
#include "cli/export_expression.h"
#include "cli/export_workload.h"
#include "compile/launch_bounds.h"
#include "core/escape.h"
#include "core/joined.h"

namespace attnscope::cli {
namespace {

using Values = std::map<std::string, std::string>;  // by name

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

Result<void> put_grid(const Export& e, Values& values) {
  std::map<std::string, int64_t> constants = catalog::macros(e.kernel, e.problem, e.config);
  constants.erase("HEAD_DIM");  // expressions use head_dim and causal, which the launchers define
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

// For every kernel.
Values code_figures(const Export& e) {
  const VariantInfo& info = e.variant->info;
  return {{"ARCH", std::to_string(e.arch)},
          {"VERSION", ATTNSCOPE_VERSION},
          {"REGISTERS", std::to_string(info.registers)},
          {"STATIC_SHARED", std::to_string(info.static_shared_bytes)},
          {"DYNAMIC_SHARED", std::to_string(e.launch.dynamic_shared)},
          {"SPILLS", std::to_string(info.spill_bytes)},
          {"NEEDS", e.kernel.headers.empty() ? "nothing but the CUDA headers" : "the headers that `build.sh` names"}};
}

Result<Values> attention_figures(const Export& e) {
  const ElementNames element = element_of(e.problem.dtype);
  Values values{{"HEAD_DIM", std::to_string(e.problem.head_dim)},
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
                {"TOLERANCE", catalog::accumulate_of(e.kernel, e.config) == Accumulate::f16 ? "2e-2"
                              : e.problem.dtype == DType::bf16                              ? "2e-2"
                                                                                            : "2e-3"}};
  if (auto put = put_grid(e, values); !put) return fail(put.error());
  put_arguments(e, values);
  return values;
}

// Texts from a folder's files or from a compiler.
Values texts_of(const Export& e) {
  const std::string ptx = e.stem + ".ptx";
  const std::string reference =
      e.kernel.reference_kernel
          ? "its reference is the kernel " + e.kernel.reference_kernel->kernel->id + ", which is not exported"
          : "the manifest has no reference";
  return {{"UNCHECKED", reference},
          {"TITLE", e.kernel.id + ": " + e.kernel.title},
          {"PROBLEM", short_text(e.problem)},
          {"CONFIG", short_text(e.config, e.kernel)},
          {"SOURCE", e.stem + ".cu"},
          {"CUBIN", e.stem + ".cubin"},
          {"PTX", ptx},
          {"PTX_LINE", fmt::format("nvcc -arch=sm_{} -cubin {}", e.arch, shell_word(ptx))},
          {"SYMBOL", e.variant->entry_symbol},
          {"COMPILER", e.variant->info.compiler},
          {"CODE_HASH", e.variant->info.code_hash}};
}

using Escape = std::string (*)(std::string_view);
const std::map<std::string, Escape, std::less<>> kFormats{{"comment", one_line},       {"c_comment", c_comment},
                                                          {"c_string", c_string},      {"python", python_text},
                                                          {"markdown", markdown_text}, {"code", markdown_code}};

// The replacement of a text between two @; empty if it belongs to the template itself, such as Python's decorators.
std::optional<std::string> meaning(const std::string& name, const Values& figures, const Values& texts) {
  const size_t colon = name.find(':');
  if (colon == std::string::npos) {
    const auto figure = figures.find(name);
    return figure == figures.end() ? std::nullopt : std::optional(figure->second);
  }
  const auto text = texts.find(name.substr(0, colon));
  const auto format = kFormats.find(name.substr(colon + 1));
  if (text == texts.end() || format == kFormats.end()) return std::nullopt;
  return format->second(text->second);
}

}  // namespace

std::string nvcc_line(const Export& e) {
  std::string line = "nvcc " + joined(compile::nvcc_flags(e.arch, e.kernel.source, e.config.options), {}, " ");
  for (const std::string& name : e.kernel.headers) {  // names of known libraries
    std::string variable = name;
    std::transform(name.begin(), name.end(), variable.begin(), [](unsigned char c) { return std::toupper(c); });
    line += fmt::format(" -I\"${{{0}:?names the include folder of {1}}}\"", variable, name);
  }
  return line + fmt::format(" -cubin -o {} {}", shell_word(e.stem + ".nvcc.cubin"), shell_word(e.stem + ".cu"));
}

std::string source_of(const Export& e) {
  const ElementNames element = element_of(e.problem.dtype);
  std::string text = fmt::format("// {}\n// Compiled in: {}. Written by attnscope {}.\n//   {}\n",
                                 c_comment(e.kernel.id + ": " + e.kernel.title),
                                 c_comment(short_text(e.config, e.kernel)), ATTNSCOPE_VERSION, c_comment(nvcc_line(e)));
  for (const auto& [name, value] : catalog::macros(e.kernel, e.problem, e.config))
    text += fmt::format("#define {} {}\n", name, value);
  if (e.problem.is_attention())
    text += fmt::format("#define DTYPE {}\n#define ATTN_T {}\n", element.code, element.cuda);
  text += compile::with_launch_bounds("", e.config.options.launch_bounds);
  text += fmt::format("#line 1 \"{}\"\n", c_string(e.kernel.source_name));
  text += e.kernel.source;
  if (!text.ends_with('\n')) text += '\n';
  // No code calls a template here; naming it makes nvcc instantiate it.
  std::vector<std::string> named;
  for (const Kernel& one : e.kernel.launches()) {
    if (one.entry.find('<') == std::string::npos || std::ranges::count(named, one.entry) > 0) continue;
    named.push_back(one.entry);
    text += fmt::format(
        "__attribute__((used)) static const void* const attnscope_entry{} = "
        "reinterpret_cast<const void*>(&{});\n",
        named.size() == 1 ? "" : "_" + std::to_string(named.size()), one.entry);
  }
  return text;
}

Result<std::string> filled(const std::string& form, const Export& e) {
  auto figures = e.problem.is_attention() ? attention_figures(e) : workload_figures(e);
  if (!figures) return fail(figures.error());
  figures->merge(code_figures(e));
  const Values texts = texts_of(e);
  std::string out;
  for (size_t at = 0;;) {
    const size_t open = form.find('@', at);
    out += form.substr(at, open - at);
    if (open == std::string::npos) return out;
    const size_t close = form.find('@', open + 1);
    const auto found =
        close == std::string::npos ? std::nullopt : meaning(form.substr(open + 1, close - open - 1), *figures, texts);
    out += found.value_or("@");
    at = found ? close + 1 : open + 1;
  }
}

}  // namespace attnscope::cli
