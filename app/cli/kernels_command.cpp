#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "catalog/catalog.h"
#include "catalog/validate.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/places.h"
#include "core/escape.h"
#include "core/json.h"

namespace attnscope::cli {
namespace {

struct KernelsOptions {
  std::vector<std::string> dirs;
  bool json = false;
};

Json kernel_json(const Kernel& kernel) {
  Json knobs = Json::array();
  for (const Knob& knob : kernel.knobs) {
    Json values = Json::array();
    for (const KnobValue& value : knob.values)
      values.push_back(value.label.empty() ? Json(value.value) : Json{{"label", value.label}, {"value", value.value}});
    knobs.push_back(
        {{"name", knob.name}, {"values", values}, {"default", knob.text_of(knob.default_value)}, {"doc", knob.doc}});
  }
  return Json{{"id", kernel.id},
              {"title", kernel.title},
              {"rung", kernel.rung},
              {"problem", word_of(kernel.problem)},
              {"knobs", knobs},
              {"file", kernel.manifest_name},
              {"hash", kernel.content_hash}};
}

std::string kernel_text(const Kernel& kernel) {
  std::string text = fmt::format("{:<12} {}\n", kernel.id, one_line(kernel.title));
  for (const Knob& knob : kernel.knobs) {
    std::string values;
    for (const KnobValue& value : knob.values)
      values +=
          (values.empty() ? "" : "  ") + catalog::full_text(value) + (value.value == knob.default_value ? "*" : "");
    text += fmt::format("  {:<14} {}\n", knob.name, values);
  }
  return text;
}

int list_kernels(const KernelsOptions& options) {
  auto dirs = kernel_dirs(options.dirs);
  if (!dirs) return report(dirs.error());
  const catalog::Catalog catalog = catalog::load_catalog(*dirs);
  Json list = Json::array();
  std::string text;
  for (const Kernel& kernel : catalog.kernels) {
    list.push_back(kernel_json(kernel));
    text += kernel_text(kernel);
  }
  print_result(options.json ? json_text(list, 2) : text + "* the default");
  int status = kCorrectOrUnchecked;
  for (const Failure& failure : catalog.failures) status = report(failure);
  return status;
}

}  // namespace

void add_kernels(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("kernels", "List the kernels and their knobs");
  auto options = std::make_shared<KernelsOptions>();
  add_kernels_option(*command, options->dirs);
  command->add_flag("--json", options->json, "As JSON");
  command->callback([options, &chosen] { chosen = [options] { return list_kernels(*options); }; });
}

}  // namespace attnscope::cli
