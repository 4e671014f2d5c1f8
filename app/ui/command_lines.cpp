#include "ui/command_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/escape.h"

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

void add_settings(const Draft& draft, const Kernel& kernel, std::vector<std::string>& words) {
  for (const Knob& knob : kernel.knobs)
    if (const auto held = draft.config.knobs.find(knob.name);
        held != draft.config.knobs.end() && held->second != knob.default_value) {
      words.push_back("--set");
      words.push_back(knob.name + "=" + knob.text_of(held->second));
    }
}

}  // namespace

std::string problem_words(const Problem& problem) {
  Problem usual;
  usual.kind = problem.kind;
  std::string text;
  const auto add = [&](const std::string& key, const std::string& value) {
    text += (text.empty() ? "" : ",") + key + "=" + value;
  };
  if (!problem.is_attention())
    for (const auto& [name, value] : problem.sizes) add(name, std::to_string(value));
  if (problem.is_attention()) {
    add("B", std::to_string(problem.batch));
    add("H", std::to_string(problem.heads));
    if (problem.seq_q == problem.seq_k) add("S", std::to_string(problem.seq_q));
    add("D", std::to_string(problem.head_dim));
    usual.batch = problem.batch;
    usual.heads = usual.kv_heads = problem.heads;
    usual.head_dim = problem.head_dim;
    if (problem.seq_q == problem.seq_k) usual.seq_q = usual.seq_k = problem.seq_q;
  }
  const Json given = to_json(problem), known = to_json(usual);
  for (const auto& [key, value] : given.items())
    if (key != "sizes" && known.contains(key) && known[key] != value)
      add(key, value.is_string() ? value.get<std::string>() : value.dump());
  return text;
}

CommandLine command_line(CommandKind kind, const Draft& draft, const Kernel* kernel, const std::string& preset,
                         const std::string& out) {
  CommandLine line;
  if (kernel == nullptr) {
    line.refusal = "The kernel " + draft.kernel + " is not loaded.";
    return line;
  }
  if (draft.device.find('/') != std::string::npos)
    line.refusal = draft.device + " belongs to a worker on another machine: run the command there.";
  const bool own_options = draft.config.options != kernel->options;
  std::vector<std::string>& words = line.arguments;
  switch (kind) {
    case CommandKind::run:
      if (own_options)
        line.refusal =
            "Compile options that are not the kernel's own need a preset: save this experiment as one first.";
      words = {"run", "--kernel", kernel->id};
      add_settings(draft, *kernel, words);
      words.insert(words.end(), {"--problem", problem_words(draft.problem), "--device", draft.device});
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
        add_settings(draft, *kernel, words);
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
  return line;
}

std::string shell_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_argument(word);
  return text;
}

}  // namespace attnscope::ui
