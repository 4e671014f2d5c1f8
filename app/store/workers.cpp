#include "store/workers.h"

#include <algorithm>

#include "core/escape.h"
#include "core/joined.h"
#include "core/json.h"
#include "platform/atomic_file.h"

namespace attnscope::store {
namespace {

constexpr uint64_t kMaxBytes = 4 << 20;
constexpr size_t kMaxName = 40;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }
bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

// A name comes before the '/' in a device's name and must not look like an option or a device.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxName && text.front() != '-' && text.front() != '.' && text != kOwnWorker &&
         std::all_of(text.begin(), text.end(), is_name_char);
}

constexpr const char* kNameRule = "a worker's name has only letters, digits, '.', '_' and '-', and is not \"local\"";

// What ssh takes as a machine: a name, an address, or either after a user's name. It must not look like an option.
bool is_host(std::string_view text) {
  return !text.empty() && text.front() != '-' && text.find("@-") == std::string_view::npos &&
         std::ranges::all_of(text, [](char c) { return is_name_char(c) || c == '@' || c == ':' || c == '%'; });
}

std::string name_from(std::string_view text) {
  if (const size_t at = text.rfind('@'); at != std::string_view::npos) text.remove_prefix(at + 1);
  if (const size_t slash = text.rfind('/'); slash != std::string_view::npos) text.remove_prefix(slash + 1);
  std::string name;
  for (const char c : text.substr(0, kMaxName)) name += is_name_char(c) ? c : '-';
  return is_name(name) ? name : "remote";
}

// The machine in "ssh -p 22 me@l4box attnscope worker": the first word that is neither an option nor its value.
std::string name_of_command(const std::vector<std::string>& argv) {
  const std::string program = std::filesystem::path(argv.front()).filename().string();
  if (program != "ssh") return name_from(program);
  // Options of ssh(1) that take a value.
  constexpr std::string_view with_value = "BbcDEeFIiJLlmOoPpRSWw";
  for (size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i];
    if (word.empty() || word.front() != '-') return name_from(word);
    if (word.size() == 2 && with_value.find(word[1]) != std::string_view::npos) ++i;
  }
  return program;
}

}  // namespace

Result<std::vector<std::string>> command_words(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
      word += command[++i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (is_blank(c)) {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  const std::string shown(command);
  if (quote != 0)
    return fail(Stage::input, "the command \"" + shown + "\" has an open quote",
                std::string("Close the ") + quote + ".");
  if (in_word) words.push_back(word);
  if (words.empty() || words.front().empty())
    return fail(Stage::input, "the worker's command is empty", "Write \"ssh HOST attnscope worker\".");
  return words;
}

Result<std::vector<NamedWorker>> read_named_workers(const std::filesystem::path& settings) {
  std::vector<NamedWorker> workers;
  auto text = platform::read_file_if_any(settings, kMaxBytes);
  if (!text) return fail(text.error());
  if (!*text) return workers;
  auto json = parse_json(**text, settings.string(), Stage::store);
  if (!json) return fail(json.error());
  if (!json->is_object() || !json->contains("workers")) return workers;
  const Json& named = (*json)["workers"];
  const std::string hint = R"(Write "workers": {"l4box": "ssh l4box attnscope worker"}.)";
  if (!named.is_object()) return fail(Stage::store, settings.string() + "/workers: must be an object", hint);
  for (const auto& [name, command] : named.items()) {
    const std::string where = settings.string() + "/workers/" + name;
    if (!is_name(name)) return fail(Stage::store, where + ": " + kNameRule, hint);
    if (!command.is_string()) return fail(Stage::store, where + ": must be a command", hint);
    auto words = command_words(command.get_ref<const std::string&>());
    if (!words) return fail(Stage::store, where + ": " + words.error().message, words.error().hint);
    workers.push_back({name, std::move(*words)});
  }
  return workers;
}

Result<NamedWorker> worker_of(const std::string& text, const std::vector<NamedWorker>& known) {
  for (const NamedWorker& worker : known)
    if (worker.name == text) return worker;
  std::string name, command = text;
  if (const size_t equals = text.find('='); equals != std::string::npos && is_name(text.substr(0, equals))) {
    name = text.substr(0, equals);
    command = text.substr(equals + 1);
  }
  auto words = command_words(command);
  if (!words) return fail(words.error());
  // A single word is more likely a name that the settings lack than a program that is a worker without arguments.
  if (name.empty() && words->size() == 1 && is_name(words->front())) {
    const std::string names = joined(known, &NamedWorker::name);
    return fail(Stage::input, "--worker " + text + ": the settings have no such worker",
                (names.empty() ? "They have none. " : "They have " + names + ". ") +
                    "A command looks like \"ssh HOST attnscope worker\".");
  }
  return NamedWorker{name.empty() ? name_of_command(*words) : name, std::move(*words)};
}

Result<NamedWorker> worker_at(const std::string& host_or_command, const std::string& name) {
  auto words = command_words(host_or_command);
  if (!words) return fail(words.error());
  if (words->size() == 1) {
    if (!is_host(words->front()))
      return fail(Stage::input, words->front() + " is not a machine's name",
                  "Give a name that ssh knows, or a whole command: \"ssh HOST attnscope worker\".");
    *words = {"ssh", words->front(), "attnscope", "worker"};
  }
  if (!name.empty() && !is_name(name)) return fail(Stage::input, kNameRule, "Choose another name.");
  return NamedWorker{name.empty() ? name_of_command(*words) : name, std::move(*words)};
}

std::string command_text(const std::vector<std::string>& argv) { return joined(argv, shell_argument, " "); }

}  // namespace attnscope::store
