#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/device_spec.h"
#include "core/json_fwd.h"
#include "core/kernel.h"
#include "core/problem.h"
#include "core/result.h"
#include "core/words.h"
#include "search/grid.h"

namespace attnscope {
namespace search {

// A knob and the values that a search may use, in the manifest's order; or a compile option and its values.
struct Axis {
  std::string knob;  // the knob's name, or the option's
  std::vector<int64_t> values;
  bool option = false;
  int64_t value_in(const Config& config) const;
  bool operator==(const Axis&) const = default;
};

// Every combination of the axes' values. Knobs and options without an axis stay as in `held`.
struct Space {
  static constexpr uint64_t kMost = 100'000;  // configs

  std::vector<Axis> axes;  // knobs in the manifest's order, then options, without duplicates
  Config held;             // complete
  uint64_t size() const;
  Config at(const std::vector<size_t>& positions) const;  // `positions`: one for each axis
};

// Every value of the kernel's knobs, except `fixed` ones. Failure (Stage::input): there is nothing to choose, or the
// space is too large.
Result<Space> whole_space(const Kernel& kernel, const Config& held, const std::vector<std::string>& fixed);

// Parses {"knobs": {"BLOCK_M": [16, 32], "SYNC_POLICY": ["cta"]}, "options": {"maxrregcount": [0, 64]}}: values of
// knobs as numbers or labels, of options as numbers or true and false. Either part may be left out. Failure
// (Stage::input) names the file and the unknown knob or option, illegal or duplicate value, or empty list; or says that
// the space is too large.
Result<Space> space_from_json(const Json& json, const Kernel& kernel, const Config& held, const std::string& where);
Json to_json(const Space& space, const Kernel& kernel);
// The values of a compile option that a person may choose: on and off, or the usual numbers, and those in `also`.
std::set<int64_t> option_choices(const std::string& name, const std::set<int64_t>& also);
// A value on an axis as it is written in files: a knob's label, or the number if it has none; true or false for an
// option.
Json value_json(const Kernel& kernel, const Axis& axis, int64_t value);

// Why a config of a space is not tried.
enum class Exclusion { restriction, limit, warning };

}  // namespace search

template <>
struct Words<search::Exclusion> : NamesAsWords<search::Exclusion> {};

namespace search {

struct Excluded {
  Config config;
  Exclusion why = Exclusion::restriction;
  std::string reason, hint;
  // The reason without the config's own name, so that configs can share it.
  std::string common;
};

// The configs that a search may try, before anything is compiled.
struct Candidates {
  std::vector<Config> configs;  // for each point of the grid
  Grid grid;                    // the configs' positions on the axes
  std::vector<Excluded> excluded;
};

// Excludes configs that violate the manifest's restrictions, exceed a limit of the device that is known before
// compiling, or match a warning of the manifest (a race, a wrong output), because one lucky run proves nothing.
Candidates candidates_of(const Space& space, const Kernel& kernel, const Problem& problem, const DeviceSpec& device);
// The same for the given configs, each complete, on a single axis.
Candidates candidates_of(const std::vector<Config>& configs, const Kernel& kernel, const Problem& problem,
                         const DeviceSpec& device);

}  // namespace search
}  // namespace attnscope
