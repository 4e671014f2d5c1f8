#include "cli/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "core/json.h"
#include "core/where_of.h"

namespace attnscope::cli {
namespace {

// A line of the kernel's source as a path that a person can open.
SourcePlace source_place(const std::string& file, int64_t line, const SourceFile& source) {
  const std::vector<std::string> own = source.lines.files();
  if (source.path.empty() || std::ranges::find(own, file) == own.end()) return {file, line};
  if (!source.lines.has_directives()) return {source.path, line};
  return {(std::filesystem::path(source.path).parent_path() / file).lexically_normal().string(), line};
}

// The first place in a message, "k.cu:12"; line 0: it names none. A source without a name has none.
SourcePlace place_in(const std::string& message, const SourceFile& source) {
  SourcePlace first;
  size_t begin = message.size();
  for (const std::string& file : source.lines.files()) {
    if (file.empty()) continue;
    const std::string name = file + ":";
    for (size_t found = message.find(name); found < begin; found = message.find(name, found + 1)) {
      int64_t line = 0;
      const char* const digits = message.data() + found + name.size();
      if (std::from_chars(digits, message.data() + message.size(), line).ec != std::errc() || line < 1) continue;
      first = {file, line};
      begin = found;
    }
  }
  return first;
}

// A place of a finding. For a line of a library's header it is the line that calls it: the next line of the source that
// the message names after the header's.
SourcePlace own_place(const Finding& finding, const char* file_key, const char* line_key, const SourceFile& source) {
  const std::string file = where_of(finding, file_key), line = where_of(finding, line_key);
  SourcePlace place{file, std::atoll(line.c_str())};
  const std::vector<std::string> own = source.lines.files();
  const size_t named = finding.sentence.find(file + ":" + line);
  if (!file.empty() && std::ranges::find(own, file) == own.end() && named != std::string::npos)
    if (const SourcePlace caller = place_in(finding.sentence.substr(named), source); caller.line > 0) place = caller;
  return source_place(place.file, place.line, source);
}

// A path as a relative URI (RFC 3986): everything but unreserved characters and / is escaped.
std::string uri_of(const std::string& path) {
  std::string uri;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        (byte < 0x80 && std::isalnum(byte)) || std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri;
}

Json location(const std::string& file, int64_t line) {
  return {{"physicalLocation", {{"artifactLocation", {{"uri", uri_of(file)}}}, {"region", {{"startLine", line}}}}}};
}

const char* level_of(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note";
}

// The compiler's own finding: a scalar that is never set has no memory that a watch could observe.
std::vector<Located> unset_variables(const Observation& observation, const SourceFile& source) {
  constexpr std::string_view kWarning = ": warning #549-D: ";
  std::vector<Located> all;
  if (!observation.variant) return all;
  const std::string& log = observation.variant->log;
  for (size_t at = 0; (at = log.find(kWarning, at)) != std::string::npos;) {
    const size_t begin = log.rfind('\n', at) + 1, text = at + kWarning.size();  // npos + 1 is 0
    at = std::min(log.find('\n', text), log.size());
    // k.cu(7)
    const std::string_view place = std::string_view(log).substr(begin, text - kWarning.size() - begin);
    const size_t open = place.rfind('(');
    int64_t line = 0;
    if (open == std::string_view::npos || !place.ends_with(')') ||
        std::from_chars(place.data() + open + 1, place.data() + place.size() - 1, line).ec != std::errc())
      continue;
    const SourcePlace found = source_place(std::string(place.substr(0, open)), line, source);
    Located one;
    one.rule = Rule(RuleId::never_written_local).name();
    one.severity = Severity::warning;
    one.message = "The compiler: " + log.substr(text, at - text) + ".";
    one.file = found.file;
    one.line = found.line;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

std::vector<Located> located(const Observation& observation, const SourceFile& source) {
  std::vector<Located> all;
  if (observation.failure) {
    Located one;
    one.rule = word_of(observation.failure->stage);
    one.message = observation.failure->message;
    if (const SourcePlace named = place_in(one.message, source); named.line > 0) {
      const SourcePlace place = source_place(named.file, named.line, source);
      one.file = place.file;
      one.line = place.line;
    }
    all.push_back(std::move(one));
  }
  for (Located& one : unset_variables(observation, source)) all.push_back(std::move(one));
  if (!observation.watch) return all;
  for (const Finding& finding : observation.watch->findings) {
    const SourcePlace first = own_place(finding, "file", "line", source);
    const SourcePlace other = own_place(finding, "other_file", "other_line", source);
    all.push_back(
        {finding.rule.name(), finding.severity, finding.sentence, first.file, first.line, other.file, other.line});
  }
  std::ranges::stable_partition(all, [](const Located& one) { return one.severity == Severity::error; });
  return all;
}

std::string line_of(const Located& one) {
  const std::string place = one.line > 0 ? fmt::format("{}:{}: ", one.file, one.line) : "";
  const std::string_view tool = tool_of(one);
  return fmt::format("{}{}: {} [{}{}{}]", place, level_of(one.severity), one.message, one.rule,
                     tool.empty() ? "" : ", ", tool);
}

std::string_view tool_of(const Located& one) {
  const std::string_view family = std::string_view(one.rule).substr(0, one.rule.find('.'));
  if (family == "race") return "racecheck";
  if (family == "barrier" || family == "shuffle") return "synccheck";
  if (family == "never_written") return "initcheck";
  if (family == word_of(Stage::launch)) return "memcheck";
  return {};
}

bool is_whole(const Observation& observation) {
  return observation.watch && observation.watch->ctas == observation.watch->total_ctas;
}

bool stores_nothing(const Observation& observation) {
  if (!observation.counters || observation.failure || observation.printed) return false;
  const auto atomic = observation.counters->instructions.find("atomic");
  // The threads of the other CTAs may store.
  if (observation.counters->sampled_fraction < 1) return false;
  return observation.counters->global_store_sectors == 0 &&
         (atomic == observation.counters->instructions.end() || atomic->second == 0);
}

Json sarif_of(const Observation& observation, const SourceFile& source) {
  Json results = Json::array(), rules = Json::array();
  std::set<std::string> known;
  for (const Located& one : located(observation, source)) {
    if (known.insert(one.rule).second) {
      Json rule{{"id", one.rule}};
      if (const std::string_view tool = tool_of(one); !tool.empty()) rule["properties"] = {{"tags", {tool}}};
      rules.push_back(std::move(rule));
    }
    Json result{{"ruleId", one.rule}, {"level", level_of(one.severity)}, {"message", {{"text", one.message}}}};
    if (one.line > 0) result["locations"] = Json::array({location(one.file, one.line)});
    if (one.other_line > 0) {
      Json other = location(one.other_file, one.other_line);
      other["message"] = {{"text", "the other access"}};
      result["relatedLocations"] = Json::array({std::move(other)});
    }
    results.push_back(std::move(result));
  }
  Json invocation{{"executionSuccessful", !observation.failure}};
  if (!is_whole(observation)) {
    const WatchReport watch = observation.watch.value_or(WatchReport{});
    const std::string text = fmt::format("{} of {} CTAs were watched", watch.ctas, watch.total_ctas);
    invocation["toolExecutionNotifications"] = Json::array({Json{{"level", "warning"}, {"message", {{"text", text}}}}});
  }
  const Json driver{{"name", "attnscope"}, {"version", observation.versions.app}, {"rules", std::move(rules)}};
  const Json run{{"tool", {{"driver", driver}}},
                 {"invocations", Json::array({std::move(invocation)})},
                 {"results", std::move(results)}};
  return {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Json::array({run})}};
}

}  // namespace attnscope::cli
