#include "search_doors.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "catalog/catalog.h"
#include "catalog/validate.h"
#include "core/escape.h"
#include "core/json.h"
#include "core/observation.h"
#include "must.h"
#include "platform/atomic_file.h"
#include "search/kernel_tuner_cache.h"
#include "search/recorded_file.h"
#include "search/replay.h"
#include "search/space.h"
#include "search/t4.h"

namespace attnscope::fuzz {
namespace {

namespace fs = std::filesystem;

const Kernel& a_kernel() {
  static const Kernel kernel = [] {
    const auto catalog = catalog::load_catalog({kTree / "kernels"});
    const Kernel* tiled = find_kernel(catalog.kernels, "tiled");
    must(tiled != nullptr, "the shipped kernels load");
    return *tiled;
  }();
  return kernel;
}

}  // namespace

std::string feed_space(const std::string& input) {
  const auto json = parse_json(input, "space.json");
  if (!json) return json.error().message;
  const auto held = catalog::complete_config(a_kernel(), {}, a_kernel().options);
  must(held.has_value(), "the default config");
  const auto space = search::space_from_json(*json, a_kernel(), *held, "space.json");
  if (!space) return space.error().message;
  must(space->size() > 0 && space->size() <= search::Space::kMost, "a space has configs, and not too many");
  const Json written = search::to_json(*space, a_kernel());
  const auto again = search::space_from_json(written, a_kernel(), *held, "again.json");
  must(again && again->axes == space->axes, "a space reads as it was written");
  return "";
}

std::string feed_recorded(const std::string& input) {
  const auto space = search::recorded_from_text(input, "recorded.json");
  if (!space) return space.error().message;
  must(space->grid.size() == space->runs.size() && !space->runs.empty(), "each point has a run");
  for (size_t at = 0; at < space->runs.size(); ++at)
    must(space->grid.at(at).size() == space->knobs.size(), "a point has a place for each knob");
  (void)search::random_curve(*space);
  (void)search::mean_seconds(*space);
  return "";
}

std::string feed_row(const std::string& input) {
  const auto json = parse_json(input, "results.sqlite", Stage::store);
  if (!json) return json.error().message;
  const auto observation = observation_from_json(*json, "results.sqlite");
  if (!observation) return observation.error().message;
  const Json written = to_json(*observation);
  const auto again = observation_from_json(written, "again.sqlite");
  must(again && to_json(*again) == written, "a row reads as it was written");
  return "";
}

std::vector<std::string> recorded_seeds() {
  std::vector<search::T4Result> results(3);
  results[0] = {{{"ROWS", 16}, {"BARRIERS", "cta"}}, search::Invalidity::correct, 0.0842, {0.08, 0.09}, 250, 0.07};
  results[1] = {{{"ROWS", 32}, {"BARRIERS", "cta"}}, search::Invalidity::correct, 0.0712, {}, 240, {}};
  results[2] = {{{"ROWS", 64}, {"BARRIERS", "warp"}}, search::Invalidity::compile, std::nullopt, {}, 20, {}};
  const search::CacheHead head{"rows", "L4", {64, 8, 1}, {{"ROWS", {16, 32, 64}}, {"BARRIERS", {"cta", "warp"}}}};
  const std::string cache = search::cache_text(head, results);
  return {json_text(search::t4_of(results)), cache,
          cache.substr(0, cache.size() - 4)};  // the last as an unfinished run leaves it
}

std::vector<std::string> row_seeds() {
  std::set<fs::path> files;  // in one order everywhere, so that a case can be repeated
  for (const auto& entry : fs::directory_iterator(kTree / "tests/data/observations"))
    if (entry.path().extension() == ".json") files.insert(entry.path());
  std::vector<std::string> seeds;
  for (const fs::path& file : files)
    if (seeds.size() < 4)
      if (auto text = platform::read_file(file, 1 << 18)) seeds.push_back(std::move(*text));
  return seeds;
}

}  // namespace attnscope::fuzz
