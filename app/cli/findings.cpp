#include "cli/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <set>

#include "core/json.h"

namespace attnscope::cli {
namespace {

struct Place {
  std::string file;
  int64_t line = 0;
};

// A line of the kernel's source in the files that a person has.
Place place_of(const std::string& file, int64_t line, const SourceFile& source) {
  if (file != source.source_name) return {file, line};
  if (!source.origins.empty() && line > 0) {
    const catalog::Origin origin = catalog::origin_of(source.origins, line);
    return {origin.file, origin.at};
  }
  return {source.path.empty() ? file : source.path, line};
}

std::string at(const Finding& finding, const char* key) {
  const auto found = finding.where.find(key);
  return found == finding.where.end() ? "" : found->second;
}

// The places in a message, "k.cu:12", each with where it begins and ends. A source without a name has none.
struct PlaceIn {
  size_t begin = 0, end = 0;
  int64_t line = 0;
};
std::vector<PlaceIn> places_in(const std::string& message, const SourceFile& source) {
  std::vector<PlaceIn> places;
  if (source.source_name.empty()) return places;
  const std::string name = source.source_name + ":";
  for (size_t found = message.find(name); found != std::string::npos; found = message.find(name, found + 1)) {
    PlaceIn one{found, 0, 0};
    const char* const digits = message.data() + found + name.size();
    const auto [end, error] = std::from_chars(digits, message.data() + message.size(), one.line);
    one.end = static_cast<size_t>(end - message.data());
    if (error == std::errc() && one.line > 0) places.push_back(one);
  }
  return places;
}

// A message with the lines that a person has.
std::string with_origins(const std::string& message, const SourceFile& source) {
  if (source.origins.empty()) return message;
  std::string text;
  size_t copied = 0;
  for (const PlaceIn& named : places_in(message, source)) {
    const Place place = place_of(source.source_name, named.line, source);
    text += message.substr(copied, named.begin - copied) + fmt::format("{}:{}", place.file, place.line);
    copied = named.end;
  }
  return text + message.substr(copied);
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

}  // namespace

std::vector<Located> located(const Observation& observation, const SourceFile& source) {
  std::vector<Located> all;
  if (observation.failure) {
    Located one;
    one.rule = to_string(observation.failure->stage);
    one.message = with_origins(observation.failure->message, source);
    if (const auto places = places_in(observation.failure->message, source); !places.empty()) {
      const Place place = place_of(source.source_name, places.front().line, source);
      one.file = place.file;
      one.line = place.line;
    }
    all.push_back(std::move(one));
  }
  if (!observation.watch) return all;
  for (const Finding& finding : observation.watch->findings) {
    const Place first = place_of(at(finding, "file"), std::atoll(at(finding, "line").c_str()), source);
    const Place other = place_of(at(finding, "other_file"), std::atoll(at(finding, "other_line").c_str()), source);
    Located one{finding.rule.name(), finding.severity, with_origins(finding.sentence, source), first.file, first.line,
                other.file,          other.line};
    all.push_back(std::move(one));
  }
  std::ranges::stable_partition(all, [](const Located& one) { return one.severity == Severity::error; });
  return all;
}

std::string line_of(const Located& one) {
  const std::string place = one.line > 0 ? fmt::format("{}:{}: ", one.file, one.line) : "";
  const std::string_view tool = tool_of(one);
  return fmt::format("{}{}: {} [{}{}{}]", place, to_string(one.severity), one.message, one.rule,
                     tool.empty() ? "" : ", ", tool);
}

std::string_view tool_of(const Located& one) {
  const std::string_view family = std::string_view(one.rule).substr(0, one.rule.find('.'));
  if (family == "race") return "racecheck";
  if (family == "barrier" || family == "shuffle") return "synccheck";
  if (family == "never_written") return "initcheck";
  if (family == to_string(Stage::launch)) return "memcheck";
  return {};
}

bool is_whole(const Observation& observation) {
  return observation.watch && observation.watch->ctas == observation.watch->total_ctas;
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
