#include "catalog/learned.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "catalog/catalog.h"
#include "catalog/fitted_extent.h"
#include "catalog/import_launch.h"
#include "catalog/manifest_text.h"
#include "catalog/stand_in_size.h"
#include "core/workload.h"

namespace attnscope::catalog {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Of a buffer with spare room: so many times the product of the sizes.
constexpr int64_t kRoom = 4, kMostElements = int64_t{1} << 22, kLeastElements = int64_t{1} << 16;
constexpr int64_t kMostWork = int64_t{1} << 24;  // product of the sizes
constexpr int64_t kLeastLowered = 32;
constexpr size_t kMostSizes = 12;

OrderedJson parsed(const std::string& manifest) { return OrderedJson::parse(manifest, nullptr, false); }

// In the order of the arguments, after those that only the grid has: [B, H, N, d].
std::vector<std::string> size_names(const OrderedJson& manifest) {
  std::vector<std::string> all, of_arguments, names;
  for (const auto& [name, value] : manifest["sizes"].items())
    if (value.is_number_integer()) all.push_back(name);
  const auto add = [&](std::vector<std::string>& to, const std::string& name) {
    if (std::ranges::count(all, name) > 0 && std::ranges::count(to, name) == 0) to.push_back(name);
  };
  for (const OrderedJson& one : manifest.value("args", OrderedJson::array()))
    if (one.is_string()) add(of_arguments, one.get<std::string>());
  for (const OrderedJson& one : manifest["launch"]["grid"])
    if (one.is_string() && std::ranges::count(of_arguments, one.get<std::string>()) == 0)
      add(names, one.get<std::string>());
  for (const std::string& one : of_arguments) add(names, one);
  for (const std::string& one : all) add(names, one);
  return names;
}

int64_t product(const std::map<std::string, int64_t>& sizes) {
  int64_t all = 1;
  for (const auto& [name, value] : sizes)
    if (__builtin_mul_overflow(all, std::max<int64_t>(value, 1), &all)) return INT64_MAX;
  return all;
}

int64_t lowered(int64_t value, int64_t most) {
  while (value > most && value % 2 == 0) value /= 2;
  return value > 4 * most ? most + 1 : value;  // an odd one stays odd
}

std::map<std::string, int64_t> base_sizes(const Imported& imported, const OrderedJson& manifest, int64_t most,
                                          int64_t least) {
  std::map<std::string, int64_t> sizes;
  for (const std::string& name : size_names(manifest)) {
    const int64_t value = lowered(manifest["sizes"][name], most);
    const bool raised = imported.open_sizes.contains(name) && value >= kLeastLowered && value < least;
    sizes[name] = raised ? least : value;
  }
  while (least == 0 && product(sizes) > kMostWork) {
    const auto largest = std::ranges::max_element(sizes, {}, [](const auto& one) { return one.second; });
    if (largest->second <= kLeastLowered || largest->second % 2 != 0) break;
    largest->second /= 2;
  }
  return sizes;
}

bool is_whole_number(const OrderedJson& buffer) {
  const auto type = parse_word<ElementType>(buffer.value("dtype", ""));
  return type && !is_floating(*type);
}

// Whether whole numbers could be other ones.
bool has_other_data(const OrderedJson& manifest) {
  return std::ranges::any_of(manifest["buffers"],
                             [](const OrderedJson& one) { return is_whole_number(one) && one.contains("init"); });
}

LearningRun run_at(const Imported& imported, const OrderedJson& manifest, std::map<std::string, int64_t> sizes,
                   bool varied = false) {
  OrderedJson json = manifest;
  const int64_t all = std::min(product(sizes), kMostElements);
  for (OrderedJson& buffer : json["buffers"]) {
    const auto open = imported.open_lengths.find(buffer["name"]);
    if (open == imported.open_lengths.end()) continue;
    buffer["shape"] = {std::to_string(std::clamp(kRoom * all * open->second, kLeastElements, kMostElements))};
  }
  return {manifest_text(json), std::move(sizes), varied, {}};
}

// With other whole numbers in the buffers.
OrderedJson with_other_data(OrderedJson manifest) {
  for (OrderedJson& buffer : manifest["buffers"])
    if (is_whole_number(buffer) && buffer.contains("init"))
      buffer["init"] = buffer["init"] == "zeros" ? "ones" : "zeros";
  return manifest;
}

// A grid that the host code says with a block's size that it does not say is no guess here.
bool has_guessed_grid(const Imported& imported) {
  return std::ranges::any_of(imported.guessed, [&](const std::string& one) {
    return one.starts_with("the grid: ") && (!imported.launched || one.find(kOfDevice) != std::string::npos);
  });
}

// With twice as many CTAs along each axis that has several.
OrderedJson with_larger_grid(OrderedJson manifest) {
  for (OrderedJson& extent : manifest["launch"]["grid"])
    if (extent != "1") extent = fmt::format("2 * ({})", extent.get<std::string>());
  return manifest;
}

constexpr const char* kReadAndWritten = " is read and written, and starts ";
constexpr const char* kScattered = " is stored to where the data says so, and starts ";

// Applies what the runs show.
class Learner {
 public:
  Learner(Imported& imported, const std::vector<LearningRun>& runs)
      : imported_(imported), runs_(runs), json_(parsed(imported.manifest)) {
    for (const LearningRun& run : runs)
      if (run.touches && !run.varied) counted_.push_back(&run);
    names_ = size_names(json_);
    for (const OrderedJson& knob : json_.value("knobs", OrderedJson::array()))
      if (knob.contains("default") && knob["default"].is_number_integer())
        named_[knob["name"]] = knob["default"].get<int64_t>();
  }

  bool all() {
    // Without a base nothing can be compared.
    if (counted_.empty() || counted_.front() != &runs_.front()) return false;
    bool learned = false;
    for (OrderedJson& buffer : json_["buffers"]) {
      if (depends_on_guesses(buffer["name"])) continue;
      learned = length(buffer) || learned;
      learned = role(buffer) || learned;
    }
    if (!learned) return false;
    raise_sizes();
    drop_stand_in(json_, imported_);
    imported_.manifest = manifest_text(json_);
    return true;
  }

 private:
  static const Touch* touch_of(const LearningRun& run, const std::string& buffer) {
    const auto found = std::ranges::find(run.touches->buffers, buffer, &Touch::buffer);
    return found == run.touches->buffers.end() ? nullptr : &*found;
  }

  bool depends_on_guesses(const std::string& buffer) const {
    const Touch* const base = touch_of(runs_.front(), buffer);
    if (!base) return true;
    return std::ranges::any_of(runs_, [&](const LearningRun& run) {
      if (!run.varied) return false;
      // It may have left any buffer.
      const Touch* const other = run.touches ? touch_of(run, buffer) : nullptr;
      return !other || *other != *base;
    });
  }

  bool length(OrderedJson& buffer) {
    const std::string name = buffer["name"];
    const auto type = parse_word<ElementType>(buffer.value("dtype", ""));
    if (!imported_.open_lengths.contains(name) || !type) return false;
    std::vector<ExtentPoint> points;
    for (const LearningRun* run : counted_) {
      const Touch* const touch = touch_of(*run, name);
      if (!touch || touch->end == 0) return false;  // unknown
      points.push_back({run->sizes, (touch->end + bytes_of(*type) - 1) / bytes_of(*type)});
    }
    const auto fitted = fit_extent(points, names_, named_);
    if (!fitted) return false;
    buffer["shape"] = fitted->shape;
    buffer.erase("guessed");
    buffer["counted"] = true;
    imported_.open_lengths.erase(name);
    const std::string begin = name + " has ";
    for (auto* sentences : {&imported_.guessed, &imported_.probed})
      std::erase_if(*sentences, [&](const std::string& one) { return one.starts_with(begin); });
    imported_.probed.push_back(fmt::format("{}{} elements, as {} runs at different sizes access{}", begin,
                                           buffer["shape"].dump(), points.size(),
                                           fitted->edge ? ", and those of an edge that none accesses" : ""));
    return true;
  }

  void raise_sizes() {
    for (const auto& [name, value] : runs_.front().sizes) {
      OrderedJson& now = json_["sizes"][name];
      const int64_t before = now.get<int64_t>();
      if (!imported_.open_sizes.contains(name) || before >= value) continue;
      now = value;
      const std::string begin = fmt::format("the size {} = ", name);
      std::erase_if(imported_.guessed, [&](const std::string& one) { return one.starts_with(begin); });
      imported_.guessed.push_back(fmt::format("{}{}: at {} its lengths could not be counted", begin, value, before));
    }
  }

  bool role(OrderedJson& buffer) {
    const std::string name = buffer["name"];
    const auto said = std::ranges::find_if(imported_.guessed, [&](const std::string& one) {
      return one.starts_with(name + kReadAndWritten) || one.starts_with(name + kScattered);
    });
    if (said == imported_.guessed.end()) return false;
    bool read = false, stored = false, dense = true;
    for (const LearningRun* run : counted_) {
      const Touch* const touch = touch_of(*run, name);
      if (!touch || touch->end == 0) return false;
      read = read || touch->read_first;
      stored = stored || touch->stored;
      dense = dense && touch->stored_bytes == touch->end;
    }
    if (said->starts_with(name + kScattered) && !dense) return false;
    const auto init = [&] { return buffer.value("init", "") == "random" ? "random" : "as zeros"; };
    imported_.guessed.erase(said);
    if (read && !stored) {
      buffer["role"] = word_of(BufferRole::in);
      if (!is_whole_number(buffer)) buffer["init"] = "random";
      imported_.probed.push_back(name + " is an input: no thread stores to it");
      if (is_whole_number(buffer)) imported_.guessed.push_back(fmt::format("{} starts {}", name, init()));
    } else if (!read) {
      buffer["role"] = word_of(BufferRole::out);
      buffer.erase("init");
      imported_.probed.push_back(name + " is an output: what it begins with is never read");
    } else {
      imported_.probed.push_back(name + " is read and written");
      imported_.guessed.push_back(fmt::format("{} starts {}", name, init()));
    }
    return true;
  }

  Imported& imported_;
  const std::vector<LearningRun>& runs_;
  OrderedJson json_;
  std::vector<const LearningRun*> counted_;
  std::vector<std::string> names_;
  std::map<std::string, int64_t> named_;
};

}  // namespace

bool can_learn(const Imported& imported) {
  const OrderedJson json = parsed(imported.manifest);
  if (!json.is_object() || !json.contains("buffers") || !json.contains("sizes") || json.contains(kProgramKey) ||
      json["sizes"].size() > kMostSizes)
    return false;
  return !imported.open_lengths.empty() || std::ranges::any_of(imported.guessed, [](const std::string& one) {
    return one.find(kReadAndWritten) != std::string::npos || one.find(kScattered) != std::string::npos;
  });
}

std::vector<LearningRun> learning_runs(const Imported& imported, int64_t most, int64_t least) {
  const OrderedJson json = parsed(imported.manifest);
  const auto base = base_sizes(imported, json, most, least);
  std::vector<LearningRun> runs{run_at(imported, json, base)};
  auto all = base;
  for (const std::string& name : size_names(json)) {
    auto sizes = base;
    sizes[name] *= 2;
    runs.push_back(run_at(imported, json, std::move(sizes)));
    all[name] *= 2;  // all by the same, so that a size stays a multiple of a tile
  }
  if (base.size() == 1) all.begin()->second = base.begin()->second * 3;
  runs.push_back(run_at(imported, json, std::move(all)));
  if (has_other_data(json)) runs.push_back(run_at(imported, with_other_data(json), base, true));
  if (has_guessed_grid(imported)) runs.push_back(run_at(imported, with_larger_grid(json), base, true));
  return runs;
}

std::vector<LearningRun> halved_runs(const Imported& imported, const std::vector<LearningRun>& runs) {
  const OrderedJson json = parsed(imported.manifest);
  std::vector<LearningRun> halved;
  if (runs.empty() || !runs.front().touches) return halved;
  const auto& base = runs.front().sizes;
  for (const std::string& name : size_names(json)) {
    const bool ended = std::ranges::any_of(runs, [&](const LearningRun& run) {
      return run.touches && std::ranges::all_of(base, [&](const auto& one) {
               return (run.sizes.at(one.first) != one.second) == (one.first == name);
             });
    });
    if (ended || base.at(name) % 2 != 0) continue;
    auto sizes = base;
    sizes[name] /= 2;
    halved.push_back(run_at(imported, json, std::move(sizes)));
  }
  return halved;
}

bool learn(Imported& imported, const std::vector<LearningRun>& runs) {
  return !runs.empty() && Learner(imported, runs).all();
}

}  // namespace attnscope::catalog
