#include "compile/compile_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "compile/ptxas_log.h"

namespace attnscope::compile {
namespace {

constexpr size_t max_log_bytes = 64 << 10;  // a page of template errors can be megabytes

std::string clipped(const std::string& log) {
  if (log.size() <= max_log_bytes) return log;
  return log.substr(0, max_log_bytes) + "\n… and " + std::to_string(log.size() - max_log_bytes) + " bytes more";
}

// 57376 → "57,376"
std::string grouped(int64_t value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

Failure too_much_shared(const SharedRefusal& refusal, const std::string& file_name, const std::string& entry) {
  return {Stage::limits,
          fmt::format("{}: {} asks {} B of static shared memory; a CTA may have {} B of it.", file_name, entry,
                      grouped(refusal.asked_bytes), grouped(refusal.limit_bytes)),
          "Declare it dynamic: a launch may ask for more than the static limit, up to the device's opt-in limit. Or use "
          "smaller tiles."};
}

}  // namespace

std::string without_source_root(std::string text) {
  const std::string root = source_root;
  for (size_t at = text.find(root); at != std::string::npos; at = text.find(root, at)) text.erase(at, root.size());
  return text;
}

Failure explain_refusal(const std::string& log, const std::string& file_name, const std::string& entry) {
  if (const auto refusal = find_shared_refusal(log, entry)) return too_much_shared(*refusal, file_name, entry);

  static const std::regex error_line(R"(([^\n]*)\((\d+)\): (?:catastrophic )?error:\s*([^\n]*))");
  std::smatch match;
  const bool found = std::regex_search(log, match, error_line);
  if (found && match[1] == "__nv_name_map")
    return {Stage::compile, fmt::format("{} declares no kernel \"{}\": {}", file_name, entry, match[3].str()),
            "Correct the manifest's entry, or the kernel's name.\n" + clipped(log)};
  if (found)
    return {Stage::compile, fmt::format("{}:{}: {}", match[1].str(), match[2].str(), match[3].str()), clipped(log)};
  const size_t error = log.find("error");
  const std::string line = error == std::string::npos ? "" : log.substr(error, log.find('\n', error) - error);
  return {Stage::compile, fmt::format("{} does not compile. {}", file_name, line), clipped(log)};
}

}  // namespace attnscope::compile
