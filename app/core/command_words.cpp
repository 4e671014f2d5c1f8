#include "core/command_words.h"

#include <nlohmann/json.hpp>

#include "core/escape.h"
#include "core/joined.h"
#include "core/options.h"

namespace attnscope {

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

std::vector<std::string> setting_words(const Config& config, const Kernel& kernel) {
  std::vector<std::string> words;
  for (const Knob& knob : kernel.knobs)
    if (const auto held = config.knobs.find(knob.name);
        held != config.knobs.end() && held->second != knob.default_value) {
      words.push_back("--set");
      words.push_back(knob.name + "=" + knob.text_of(held->second));
    }
  return words;
}

std::vector<std::string> run_words(const Draft& draft, const Kernel& kernel) {
  std::vector<std::string> words{"attnscope", "run", "--kernel", kernel.id};
  const auto settings = setting_words(draft.config, kernel);
  words.insert(words.end(), settings.begin(), settings.end());
  for (const std::string& option : option_words(draft.config.options, kernel.options))
    words.insert(words.end(), {"--option", option});
  words.insert(words.end(), {"--problem", problem_words(draft.problem), "--device", draft.device});
  return words;
}

std::vector<std::string> run_words(const std::string& folder, const std::string& kernel) {
  return {"attnscope", "run", "--kernels", folder, "--kernel", kernel};
}

std::string shell_text(const std::vector<std::string>& words) { return joined(words, shell_argument, " "); }

}  // namespace attnscope
