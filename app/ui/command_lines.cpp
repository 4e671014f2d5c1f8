#include "ui/command_lines.h"

#include "core/device_id.h"
#include "store/workers.h"

namespace attnscope::ui {
namespace {

std::string settings_text(const Draft& draft, const Kernel& kernel, const std::string& before,
                          const std::string& between) {
  std::string text;
  for (const Knob& knob : kernel.knobs)
    if (const auto held = draft.config.knobs.find(knob.name);
        held != draft.config.knobs.end() && held->second != knob.default_value)
      text += (text.empty() ? before : between) + knob.name + "=" + knob.text_of(held->second);
  return text;
}

}  // namespace

CommandLine command_line(CommandKind kind, const Draft& draft, const Kernel* kernel, const std::string& preset,
                         const std::string& out, const session::WorkerStatus* worker) {
  CommandLine line;
  if (kernel == nullptr) {
    line.refusal = "The kernel " + draft.kernel + " is not loaded.";
    return line;
  }
  const bool far = !DeviceId(draft.device).is_own();
  if (far && (worker == nullptr || kind == CommandKind::export_config))
    line.refusal = draft.device + " belongs to a worker on another machine: run the command there.";
  const bool own_options = draft.config.options != kernel->options;
  const std::vector<std::string> settings = setting_words(draft.config, *kernel);
  std::vector<std::string>& words = line.arguments;
  switch (kind) {
    case CommandKind::run:
      words = run_words(draft, *kernel);
      words.erase(words.begin());
      break;
    case CommandKind::import_file:  // it needs no experiment: import_line()
      break;
    case CommandKind::export_config:
      words = {"export"};
      if (own_options && preset.empty())
        line.refusal =
            "Compile options that are not the kernel's own need a preset: save this experiment as one first.";
      if (own_options && !preset.empty()) {
        words.insert(words.end(), {"--preset", preset});
      } else {
        words.insert(words.end(), {"--kernel", kernel->id});
        words.insert(words.end(), settings.begin(), settings.end());
        words.insert(words.end(), {"--problem", problem_words(draft.problem)});
      }
      words.insert(words.end(), {"--device", draft.device, "--out", out});
      if (out.empty()) line.refusal = "Name the folder to write.";
      break;
    case CommandKind::best:
      words = {"best", "--kernel", kernel->id, "--problem", problem_words(draft.problem), "--device", draft.device};
      break;
    case CommandKind::bench:
      if (own_options) line.refusal = "bench compiles a kernel with its own options only: set them back first.";
      words = {"bench",
               "--kernel",
               kernel->id + settings_text(draft, *kernel, ":", ","),
               "--problem",
               problem_words(draft.problem),
               "--device",
               draft.device};
      break;
  }
  if (far && worker != nullptr && worker->remote)
    words.insert(words.end(), {"--worker", worker->name + "=" + store::command_text(worker->command)});
  return line;
}

CommandLine import_line(const std::string& file, const std::string& folder) {
  CommandLine line{{"import", file.empty() ? "FILE.cu" : file, "--out", folder}, ""};
  if (file.empty()) line.refusal = "Name the file to import, or drop it onto the window.";
  if (folder.empty()) line.refusal = "There is no folder for kernels of yours: set ATTNSCOPE_HOME, or HOME.";
  return line;
}

}  // namespace attnscope::ui
