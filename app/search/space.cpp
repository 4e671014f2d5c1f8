#include "search/space.h"

#include <fmt/format.h>

#include <algorithm>

#include "catalog/choices.h"
#include "catalog/validate.h"
#include "core/joined.h"
#include "core/json.h"
#include "core/near.h"
#include "core/options.h"

namespace attnscope::search {
namespace {

Result<Space> checked(Space space, const std::string& where) {
  if (space.axes.empty())
    return fail(Stage::input, where + ": no knob is left to choose", "Name knobs and values, or set fewer with --set.");
  if (space.size() > Space::kMost)
    return fail(Stage::input, fmt::format("{}: more than {} configs", where, Space::kMost),
                "Name fewer values, in a file for --space or with --set KNOB=VALUE.");
  return space;
}

// The values of one axis in a file, in the file's order. `parse` converts the text of a value.
template <class Parse>
Result<std::vector<int64_t>> values_from_json(const Json& values, const std::string& where, Parse parse) {
  if (!values.is_array() || values.empty())
    return fail(Stage::input, where + ": must be a list of at least one value", "Leave it out to hold it.");
  std::vector<int64_t> given;
  for (const Json& one : values) {
    const bool word = one.is_string(), number = one.is_number_integer() || one.is_boolean();
    if (!word && !number) return fail(Stage::input, where + ": a value is a number or a label");
    const std::string text = word ? one.get<std::string>() : one.dump();
    Result<int64_t> value = parse(text);
    if (!value) return fail(Stage::input, where + ": " + value.error().message, value.error().hint);
    if (std::ranges::count(given, *value) > 0)
      return fail(Stage::input, fmt::format("{}: {} stands there twice", where, text));
    given.push_back(*value);
  }
  return given;
}

Result<Axis> knob_axis(const Json& values, const Kernel& kernel, const Knob& knob, const std::string& where) {
  auto given =
      values_from_json(values, where, [&](const std::string& text) { return catalog::knob_value(kernel, knob, text); });
  if (!given) return fail(given.error());
  Axis axis{knob.name, {}};
  for (const KnobValue& value : knob.values)
    if (std::ranges::count(*given, value.value) > 0) axis.values.push_back(value.value);
  return axis;
}

Result<Axis> option_axis(const Json& values, const std::string& name, const std::string& where) {
  auto given = values_from_json(values, where, [&](const std::string& text) { return option_value_from(name, text); });
  if (!given) return fail(given.error());
  std::ranges::sort(*given);
  return Axis{name, std::move(*given), true};
}

std::string without_prefix(const std::string& text, const std::string& prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

// Why the config is not tried; empty if it is.
std::optional<Excluded> exclusion_of(const Kernel& kernel, const Problem& problem, const Config& config,
                                     const DeviceSpec& device) {
  const std::string settings = short_text(config, kernel);
  const auto excluded = [&](Exclusion why, const Failure& failure) {
    return Excluded{config, why, failure.message, failure.hint,
                    without_prefix(failure.message, kernel.id + " with " + settings + ": ")};
  };
  if (auto fits = catalog::check_config(kernel, problem, config, device); !fits)
    return excluded(fits.error().stage == Stage::limits ? Exclusion::limit : Exclusion::restriction, fits.error());
  const auto warned = catalog::warnings(kernel, problem, config);
  if (!warned) return excluded(Exclusion::restriction, warned.error());
  if (!warned->empty()) return Excluded{config, Exclusion::warning, joined(*warned, {}, "; "), "", warned->front()};
  return std::nullopt;
}

}  // namespace

uint64_t Space::size() const {
  uint64_t size = 1;
  for (const Axis& axis : axes) size = std::min(size * axis.values.size(), kMost + 1);  // cannot overflow
  return size;
}

int64_t Axis::value_in(const Config& config) const {
  return option ? option_value(config.options, knob) : config.knobs.at(knob);
}

Config Space::at(const std::vector<size_t>& positions) const {
  Config config = held;
  for (size_t at = 0; at < axes.size(); ++at) {
    const Axis& axis = axes[at];
    const int64_t value = axis.values.at(positions.at(at));
    if (axis.option)
      set_option(config.options, axis.knob, value);
    else
      config.knobs[axis.knob] = value;
  }
  return config;
}

Result<Space> whole_space(const Kernel& kernel, const Config& held, const std::vector<std::string>& fixed) {
  Space space{{}, held};
  for (const Knob& knob : kernel.knobs) {
    if (std::ranges::count(fixed, knob.name) > 0) continue;
    space.axes.push_back({knob.name, {}});
    for (const KnobValue& value : knob.values) space.axes.back().values.push_back(value.value);
  }
  return checked(std::move(space), kernel.id);
}

Result<Space> space_from_json(const Json& json, const Kernel& kernel, const Config& held, const std::string& where) {
  Space space{{}, held};
  JsonReader reader(json, where);
  const Json *knobs = reader.value("knobs"), *options = reader.value("options");
  if (auto done = reader.finish(); !done) return fail(done.error());
  const Json none = Json::object();
  if (knobs == nullptr && options != nullptr) knobs = &none;
  if (options == nullptr) options = &none;
  for (const auto& [part, name] : {std::pair{knobs, "knobs"}, {options, "options"}})
    if (part == nullptr || !part->is_object())
      return fail(Stage::input, fmt::format("{}/{}: must be an object of {} and their values", where, name, name),
                  R"(As {"knobs": {"NUM_WARPS": [4, 8]}, "options": {"maxrregcount": [0, 64]}}.)");
  std::vector<std::string> known;
  for (const Knob& knob : kernel.knobs) known.push_back(knob.name);
  for (const auto& [name, values] : knobs->items())
    if (kernel.find_knob(name) == nullptr)
      return fail(Stage::input, fmt::format("{}/knobs: {} has no knob {}", where, kernel.id, name.substr(0, 100)),
                  names_to_choose(name, known));
  for (const Knob& knob : kernel.knobs) {
    if (!knobs->contains(knob.name)) continue;
    auto axis = knob_axis((*knobs)[knob.name], kernel, knob, where + "/knobs/" + knob.name);
    if (!axis) return fail(axis.error());
    space.axes.push_back(std::move(*axis));
  }
  for (const auto& [name, values] : options->items()) {
    auto axis = option_axis(values, name, where + "/options/" + name.substr(0, 100));
    if (!axis) return fail(axis.error());
    space.axes.push_back(std::move(*axis));
  }
  return checked(std::move(space), where);
}

std::set<int64_t> option_choices(const std::string& name, const std::set<int64_t>& also) {
  const std::vector<int64_t> offered = offered_values(name);
  std::set<int64_t> values(offered.begin(), offered.end());
  values.insert(also.begin(), also.end());
  return values;
}

Json value_json(const Kernel& kernel, const Axis& axis, int64_t value) {
  if (axis.option) return option_json(axis.knob, value);
  const KnobValue* known = kernel.find_knob(axis.knob)->find(value);
  return known->label.empty() ? Json(value) : Json(known->label);
}

Json to_json(const Space& space, const Kernel& kernel) {
  Json json{{"knobs", Json::object()}};
  for (const Axis& axis : space.axes) {
    Json& values = json[axis.option ? "options" : "knobs"][axis.knob] = Json::array();
    for (const int64_t value : axis.values) values.push_back(value_json(kernel, axis, value));
  }
  return json;
}

Candidates candidates_of(const Space& space, const Kernel& kernel, const Problem& problem, const DeviceSpec& device) {
  Candidates found;
  std::vector<std::vector<size_t>> points;
  std::vector<size_t> positions(space.axes.size(), 0);
  for (uint64_t left = space.size(); left > 0; --left) {
    Config config = space.at(positions);
    if (auto excluded = exclusion_of(kernel, problem, config, device)) {
      found.excluded.push_back(std::move(*excluded));
    } else {
      points.push_back(positions);
      found.configs.push_back(std::move(config));
    }
    for (size_t axis = positions.size(); axis-- > 0;) {  // the last axis varies fastest
      if (++positions[axis] < space.axes[axis].values.size()) break;
      positions[axis] = 0;
    }
  }
  found.grid = Grid(std::move(points));
  return found;
}

Candidates candidates_of(const std::vector<Config>& configs, const Kernel& kernel, const Problem& problem,
                         const DeviceSpec& device) {
  Candidates found;
  std::vector<std::vector<size_t>> points;
  for (const Config& config : configs) {
    if (std::ranges::count(found.configs, config) > 0) continue;
    if (auto excluded = exclusion_of(kernel, problem, config, device)) {
      found.excluded.push_back(std::move(*excluded));
      continue;
    }
    points.push_back({points.size()});
    found.configs.push_back(config);
  }
  found.grid = Grid(std::move(points));
  return found;
}

}  // namespace attnscope::search
