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

// A knob and those of its values that a search may take, in the manifest's order. Or a compile option and its values.
struct Axis {
  std::string knob;  // or the option's name
  std::vector<int64_t> values;
  bool option = false;
  int64_t value_in(const Config& config) const;
  bool operator==(const Axis&) const = default;
};

// Every combination of the axes' values; what has no axis stays as in `held`.
struct Space {
  static constexpr uint64_t kMost = 100'000;  // configs

  std::vector<Axis> axes;  // knobs in the manifest's order, then options, each once
  Config held;             // complete
  uint64_t size() const;
  Config at(const std::vector<size_t>& positions) const;  // a position on each axis
};

// Every value of the kernel's knobs, but `fixed` ones. Failure (Stage::input): nothing is left to choose, or too much.
Result<Space> whole_space(const Kernel& kernel, const Config& held, const std::vector<std::string>& fixed);

// {"knobs": {"BLOCK_M": [16, 32], "SYNC_POLICY": ["cta"]}, "options": {"maxrregcount": [0, 64]}}: values of knobs as
// numbers or labels, of options as numbers or true and false; either part may be left out. Failure (Stage::input) names
// the file and what in it is no knob or option, no value of it, twice there, empty, or too much.
Result<Space> space_from_json(const Json& json, const Kernel& kernel, const Config& held, const std::string& where);
Json to_json(const Space& space, const Kernel& kernel);
// The values of a compile option that a person is offered: on and off, or the usual numbers, with `also` among them.
std::set<int64_t> option_choices(const std::string& name, const std::set<int64_t>& also);
// A value on an axis as a file has it: a knob's label, or the number of one without; true or false of an option.
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
  // The reason without the config's own name, which other configs share.
  std::string common;
};

// What a search may try, before anything is compiled.
struct Candidates {
  std::vector<Config> configs;  // of each point of the grid
  Grid grid;                    // their positions on the axes
  std::vector<Excluded> excluded;
};

// A config is excluded by the manifest's restrictions, by a limit of the device that is known before compiling, or by a
// warning of the manifest (a race, a wrong output): one lucky run proves nothing.
Candidates candidates_of(const Space& space, const Kernel& kernel, const Problem& problem, const DeviceSpec& device);
// Only these configs, each complete, on one axis.
Candidates candidates_of(const std::vector<Config>& configs, const Kernel& kernel, const Problem& problem,
                         const DeviceSpec& device);

}  // namespace search
}  // namespace attnscope
