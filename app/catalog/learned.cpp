#include "catalog/learned.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "catalog/catalog.h"
#include "catalog/fitted_extent.h"
#include "catalog/import_constants.h"
#include "catalog/manifest_text.h"
#include "catalog/probed.h"
#include "catalog/stand_in_size.h"
#include "catalog/times.h"
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
  for (const auto& [name, value] : sizes) all = times(all, std::max<int64_t>(value, 1));
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

// What floats hold in the varied runs: far above and far below what a comparison may be with, and both.
const std::array<OrderedJson, 3> kOtherFloats{OrderedJson{{"fill", 1000}}, OrderedJson{{"fill", -1000}},
                                              OrderedJson{{"random", {-1000, 1000}}}};

LearningRun run_at(const Imported& imported, const OrderedJson& manifest, std::map<std::string, int64_t> sizes,
                   bool varied = false) {
  OrderedJson json = manifest;
  const int64_t all = std::min(product(sizes), kMostElements);
  for (OrderedJson& buffer : json["buffers"]) {
    const auto open = imported.open_lengths.find(buffer["name"]);
    if (open == imported.open_lengths.end()) continue;
    buffer["shape"] = {std::to_string(std::clamp(kRoom * all * open->second, kLeastElements, kMostElements))};
  }
  return {manifest_text(json), std::move(sizes), varied, false, {}};
}

// With other numbers in the buffers that begin with some.
OrderedJson with_other_data(OrderedJson manifest, const OrderedJson& floats, bool and_whole_numbers) {
  for (OrderedJson& buffer : manifest["buffers"]) {
    if (!buffer.contains("init")) continue;
    if (!is_whole_number(buffer))
      buffer["init"] = floats;
    else if (and_whole_numbers)
      buffer["init"] = buffer["init"] == "zeros" ? "ones" : "zeros";
  }
  return manifest;
}

bool guesses(const Imported& imported, const char* begin) {
  return std::ranges::any_of(imported.guessed, [&](const std::string& one) { return one.starts_with(begin); });
}

std::string doubled(const OrderedJson& extent) { return fmt::format("2 * ({})", extent.get<std::string>()); }

// With twice as many CTAs along each axis. An extent of 1 may be a guess too.
OrderedJson with_larger_grid(OrderedJson manifest) {
  for (OrderedJson& extent : manifest["launch"]["grid"]) extent = doubled(extent);
  return manifest;
}

// With half as many threads; a grid that depends on the guess gets as many CTAs more.
OrderedJson with_smaller_block(OrderedJson manifest, bool and_grid) {
  OrderedJson& launch = manifest["launch"];
  launch["block"][0] = fmt::format("ceil_div({}, 2)", launch["block"][0].get<std::string>());
  if (and_grid) launch["grid"][0] = doubled(launch["grid"][0]);
  return manifest;
}

// A number that is a guess becomes the next one; a truth value the other one.
void change_value(OrderedJson& argument) {
  if (argument.contains("struct")) {
    for (OrderedJson& one : argument["struct"])
      if (one.is_object()) change_value(one);
    return;
  }
  if (!argument.contains("value") || !argument["value"].is_number()) return;
  const auto type = parse_word<ElementType>(argument.value("type", ""));
  const bool narrow = type && bytes_of(*type) == 1;
  OrderedJson& value = argument["value"];
  if (!value.is_number_integer())
    value = value.get<double>() + 1;
  else
    value = narrow ? 1 - value.get<int64_t>() : value.get<int64_t>() + 1;
}

OrderedJson with_other_values(OrderedJson manifest, const std::set<size_t>& places) {
  for (const size_t place : places)
    if (place < manifest["args"].size() && manifest["args"][place].is_object()) change_value(manifest["args"][place]);
  return manifest;
}

// A template's numbers are often those of its tiles, and a variable may hold a size.
bool guesses_numbers_of_the_code(const Imported& imported) {
  return std::ranges::any_of(imported.guessed, [](const std::string& one) {
    if (one.find(kHoldsZeros) != std::string::npos) return true;
    const std::string_view values = std::string_view(one).substr(0, one.find('>'));
    return one.starts_with(kTemplateSaid) && values.find_first_of("0123456789") != std::string_view::npos;
  });
}

// Applies what the runs show.
class Learner {
 public:
  Learner(Imported& imported, const std::vector<LearningRun>& runs)
      : imported_(imported), runs_(runs), json_(parsed(imported.manifest)) {
    for (const LearningRun& run : runs)
      if (run.touches && !run.varied) counted_.push_back(&run);
    names_ = size_names(json_);
    for (const OrderedJson& knob : json_.value("knobs", OrderedJson::array()))
      has_knobs_ = has_knobs_ || knob.value("values", OrderedJson::array()).size() > 1;
  }

  bool all() {
    // Without a base nothing can be compared.
    if (counted_.empty() || counted_.front() != &runs_.front()) return false;
    bool learned = false;
    for (OrderedJson& buffer : json_["buffers"]) {
      const auto same = [](const Touch& one, const Touch& other) { return one == other; };
      const auto same_use = [](const Touch& one, const Touch& other) {
        return one.read_first == other.read_first && one.stored == other.stored && is_dense(one) == is_dense(other);
      };
      if (holds_for_other_guesses(buffer["name"], same)) learned = length(buffer) || learned;
      if (holds_for_other_guesses(buffer["name"], same_use)) learned = role(buffer) || learned;
    }
    if (!learned) return false;
    raise_sizes();
    drop_stand_in(json_, imported_);
    imported_.manifest = manifest_text(json_);
    return true;
  }

 private:
  // Each byte up to the last one that is accessed is stored to.
  static bool is_dense(const Touch& one) { return one.stored_bytes == one.end; }

  static const Touch* touch_of(const LearningRun& run, const std::string& buffer) {
    const auto found = std::ranges::find(run.touches->buffers, buffer, &Touch::buffer);
    return found == run.touches->buffers.end() ? nullptr : &*found;
  }

  // Whether the runs with other guesses access the buffer as the base does.
  bool holds_for_other_guesses(const std::string& buffer,
                               const std::function<bool(const Touch&, const Touch&)>& same) const {
    const Touch* const base = touch_of(runs_.front(), buffer);
    if (!base) return false;
    return std::ranges::all_of(runs_, [&](const LearningRun& run) {
      if (!run.varied) return true;
      // It may have left any buffer.
      const Touch* const other = run.touches ? touch_of(run, buffer) : nullptr;
      if (!other) return false;
      const bool as_the_block = 2 * other->end == base->end;
      return same(*base, *other) || (leaves_holes(run) && !as_the_block);
    });
  }

  // A kernel that is written for its block stores the whole output with it, at all sizes, and leaves holes with fewer
  // threads. What fewer threads do then says nothing, except of a buffer that is as long as there are threads.
  bool leaves_holes(const LearningRun& varied) const {
    if (!varied.smaller_block || !varied.touches) return false;
    return std::ranges::any_of(varied.touches->buffers, [&](const Touch& one) {
      return one.stored && !is_dense(one) && std::ranges::all_of(counted_, [&](const LearningRun* run) {
               const Touch* const counted = touch_of(*run, one.buffer);
               return counted && counted->stored && is_dense(*counted);
             });
    });
  }

  bool length(OrderedJson& buffer) {
    const std::string name = buffer["name"];
    const auto type = parse_word<ElementType>(buffer.value("dtype", ""));
    if (!imported_.open_lengths.contains(name) || !type) return false;
    std::vector<ExtentPoint> points;
    for (const LearningRun* run : counted_) {
      const Touch* const touch = touch_of(*run, name);
      if (!touch || touch->end == 0 || touch->sparse) return false;  // unknown
      points.push_back({run->sizes, (touch->end + bytes_of(*type) - 1) / bytes_of(*type)});
    }
    const auto fitted = fit_extent(points, names_);
    if (!fitted || (has_knobs_ && has_number(fitted->shape))) return false;
    buffer["shape"] = fitted->shape;
    // An edge is a guess, so such a buffer need not be stored to its end.
    if (!fitted->edge) {
      buffer.erase("guessed");
      buffer["counted"] = true;
    }
    imported_.open_lengths.erase(name);
    const std::string begin = name + " has ";
    forget(imported_.guessed, begin);
    forget(imported_.probed, begin);
    imported_.probed.push_back(fmt::format("{}{}, as {} runs at different sizes access{}", begin,
                                           elements_of(buffer["shape"]), points.size(),
                                           fitted->edge ? ", and those of an edge that none accesses" : ""));
    return true;
  }

  // A number may be a knob's value, and would change with the knob.
  bool has_number(const std::vector<std::string>& shape) const {
    return std::ranges::any_of(shape, [&](const std::string& one) {
      return std::ranges::count(names_, one) == 0 && one.find_first_of("0123456789") != std::string::npos;
    });
  }

  void raise_sizes() {
    for (const auto& [name, value] : runs_.front().sizes) {
      OrderedJson& now = json_["sizes"][name];
      const int64_t before = now.get<int64_t>();
      if (!imported_.open_sizes.contains(name) || imported_.lowered.contains(name) || before >= value) continue;
      now = value;
      const std::string begin = fmt::format("the size {} = ", name);
      forget(imported_.guessed, begin);
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
      dense = dense && is_dense(*touch);
    }
    // Some elements may keep what they begin with.
    if (!dense && (!read || said->starts_with(name + kScattered))) return false;
    const std::string begin = name + " starts ";
    const bool filled = std::ranges::any_of(imported_.read, [&](const auto& one) { return one.starts_with(begin); });
    const auto guess_start = [&] {
      if (!filled) imported_.guessed.push_back(begin + start_of(buffer["init"]));
    };
    imported_.guessed.erase(said);
    if (read && !stored) {
      buffer["role"] = word_of(BufferRole::in);
      if (!is_whole_number(buffer) && !filled) buffer["init"] = "random";
      imported_.probed.push_back(name + " is an input: no thread stores to it");
      if (is_whole_number(buffer)) guess_start();
    } else if (!read) {
      buffer["role"] = word_of(BufferRole::out);
      buffer.erase("init");
      forget(imported_.read, begin);
      imported_.probed.push_back(name + " is an output: what it begins with is never read");
    } else {
      imported_.probed.push_back(name + " is read and written");
      guess_start();
    }
    return true;
  }

  Imported& imported_;
  const std::vector<LearningRun>& runs_;
  OrderedJson json_;
  std::vector<const LearningRun*> counted_;
  std::vector<std::string> names_;
  bool has_knobs_ = false;  // with several values
};

}  // namespace

bool can_learn(const Imported& imported) {
  const OrderedJson json = parsed(imported.manifest);
  if (!json.is_object() || !json.contains("buffers") || !json.contains("sizes") || json.contains(kProgramKey) ||
      json["sizes"].size() > kMostSizes || guesses_numbers_of_the_code(imported))
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
  const auto vary = [&](const OrderedJson& manifest) {
    if (manifest != json) runs.push_back(run_at(imported, manifest, base, true));
  };
  for (const OrderedJson& floats : kOtherFloats) vary(with_other_data(json, floats, floats.contains("fill")));
  vary(with_other_values(json, imported.open_values));
  const bool grid = guesses(imported, kGridSaid);
  if (grid) vary(with_larger_grid(json));
  if (guesses(imported, kBlockSaid)) {
    const size_t before = runs.size();
    vary(with_smaller_block(json, grid));
    if (runs.size() > before) runs.back().smaller_block = true;
  }
  // The largest comes last, since the runs share their work: a role needs the varied ones, and not this one.
  if (base.size() == 1) all.begin()->second = base.begin()->second * 3;
  runs.push_back(run_at(imported, json, std::move(all)));
  return runs;
}

std::vector<LearningRun> halved_runs(const Imported& imported, const std::vector<LearningRun>& runs) {
  const OrderedJson json = parsed(imported.manifest);
  std::vector<LearningRun> halved;
  if (runs.empty() || !runs.front().touches) return halved;
  const auto& base = runs.front().sizes;
  auto all = base;
  std::set<std::string> open;
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
    all[name] /= base.size() == 1 && base.at(name) % 4 == 0 ? 4 : 2;
    open.insert(name);
  }
  if (open.empty()) return halved;
  for (auto& [name, value] : all)
    if (!open.contains(name)) value *= 2;
  halved.push_back(run_at(imported, json, std::move(all)));
  return halved;
}

bool learn(Imported& imported, const std::vector<LearningRun>& runs) {
  return !runs.empty() && Learner(imported, runs).all();
}

}  // namespace attnscope::catalog
