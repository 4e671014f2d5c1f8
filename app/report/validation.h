#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "core/observation.h"
#include "core/result.h"

namespace attnscope::report {

// One config with its time on a GPU and its modelled time.
struct ValidationRow {
  std::string problem, kernel, config;  // "B=1,H=8,…", kernel id, "BLOCK_M=32 NUM_WARPS=4"
  std::string code_hash;
  double us = 0, modelled = 0;       // p50, hot
  double bar_low = 0, bar_high = 0;  // the bar of the modelled time, us; 0: not recorded
  Bound bound = Bound::unknown;
  std::map<std::string, double> terms;  // as shares of the modelled time
  double ratio() const { return us / modelled; }
  bool inside() const { return bar_low <= us && us <= bar_high; }
  bool operator==(const ValidationRow&) const = default;
};

struct ValidationRefusal {
  std::string problem, kernel, config, reason;
  bool operator==(const ValidationRefusal&) const = default;
};

// The results of one run on one GPU.
struct ValidationSet {
  std::string device;  // the GPU's name
  int arch = 0;
  std::string model;  // "emulated:l4"
  std::string date, driver, nvrtc, app, how;
  std::vector<ValidationRow> rows;
  std::vector<ValidationRefusal> refused;
  bool operator==(const ValidationSet&) const = default;
};

// A file of `attnscope validate`; it may hold sets of several GPUs and runs.
struct Validation {
  static constexpr int kVersion = 1;
  std::vector<ValidationSet> sets;
  int version = kVersion;
  bool operator==(const Validation&) const = default;
};

Json to_json(const Validation& validation);
// Every fault is a Failure (Stage::input) that names `where` and the JSON pointer.
Result<Validation> validation_from_json(const Json& json, const std::string& where);

// Adds the set to the file. It replaces an earlier set of the same GPU, driver and program.
void put_set(Validation& validation, ValidationSet set);

// One Markdown page: the model's error by bound, kernel and problem, and what was refused.
std::string as_markdown(const ValidationSet& set);

}  // namespace attnscope::report
