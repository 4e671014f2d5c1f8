#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/json_fwd.h"
#include "core/observation.h"
#include "core/problem.h"
#include "core/result.h"

namespace attnscope::report {

// The best known config of one kernel for one problem on one device, and the origin of its figure.
struct TunedEntry {
  Problem problem;
  std::string kernel;  // kernel id
  std::string kernel_hash;
  Config config;
  FigureKind kind = FigureKind::modelled;
  double us = 0;                                   // p50, hot
  VerdictState verdict = VerdictState::unchecked;  // always correct; nothing else is stored
  std::string date;                                // "2026-11-21"
  Versions versions;
  std::string source;  // "assets/tuned/l4.json"; not stored in the file
  bool operator==(const TunedEntry&) const = default;
};

// The entry for a correct and timed run.
TunedEntry entry_of(const Observation& best, std::string date);

// One device's table, a file of assets/tuned.
struct TunedTable {
  static constexpr int kVersion = 1;
  std::string device;  // DeviceSpec::name, "NVIDIA L4": for the GPU and its emulated twin
  int arch = 0;
  std::vector<TunedEntry> entries;
  int version = kVersion;
  bool operator==(const TunedTable&) const = default;
};

// Every fault is a Failure (Stage::input) that names `where` and the JSON pointer.
Result<TunedTable> tuned_from_json(const Json& json, const std::string& where);
Json to_json(const TunedTable& table);

// A file or folder that cannot be read is a Failure (Stage::input), too. `load_tuned`: the tables of a folder; each
// entry has its file as source.
Result<TunedTable> read_tuned(const std::filesystem::path& file);
Result<std::vector<TunedTable>> load_tuned(const std::filesystem::path& dir);

// True if both problems need the same code and the same work. The inputs (distribution, seed) do not matter.
bool same_shape(const Problem& a, const Problem& b);

// Replaces the entry of the same problem and kernel with `entry`, but never a measured one with a modelled one. Returns
// whether `entry` is in the table now.
bool put_entry(TunedTable& table, TunedEntry entry);

// The best entry for a device in the tables: measured figures before modelled ones, then the fastest. `kernel` empty:
// any kernel. Null if there is none.
const TunedEntry* best_entry(const std::vector<TunedTable>& tables, const std::string& device, const Problem& problem,
                             const std::string& kernel);

// How much two problems of one kind differ for the choice of a config; 0: not at all.
double difference(const Problem& a, const Problem& b);

// The entry for this device and kernel whose problem is the nearest of those with the same kind, dtype and head size,
// and whose config `fits` the problem; a measured one of several that are as near. Null if there is none.
const TunedEntry* nearest_entry(const std::vector<TunedTable>& tables, const std::string& device,
                                const Problem& problem, const std::string& kernel,
                                const std::function<bool(const Config&)>& fits);

}  // namespace attnscope::report
