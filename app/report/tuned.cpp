#include "report/tuned.h"

#include <algorithm>

#include "core/experiment_fields.h"
#include "core/observation_fields.h"
#include "platform/json_file.h"

namespace attnscope {

template <>
struct FieldsOf<report::TunedEntry> {
  using Entry = report::TunedEntry;
  static constexpr Limits kRequired{.required = true};
  static constexpr auto list =
      std::tuple{Field{"problem", &Entry::problem, kRequired},
                 Group{"kernel", std::tuple{Field{"id", &Entry::kernel, Limits{.bytes = 200, .required = true}},
                                            Field{"hash", &Entry::kernel_hash, Limits{.bytes = 64}}}},
                 Field{"config", &Entry::config, kRequired},
                 Field{"kind", &Entry::kind, kRequired},
                 Field{"us", &Entry::us, kRequired},
                 Field{"verdict", &Entry::verdict, kRequired},
                 Field{"date", &Entry::date, Limits{.bytes = 100}},
                 Field{"versions", &Entry::versions, kRequired}};
  static void check(JsonReader& read, Entry& entry) {
    read.required("kernel");
    if (entry.kind != FigureKind::measured && entry.kind != FigureKind::modelled)
      read.fault("kind", "must be measured or modelled");
    if (!(entry.us > 0)) read.fault("us", "must be above 0");
    if (entry.verdict != VerdictState::correct) read.fault("verdict", "must be correct: nothing else is kept");
  }
};

template <>
struct FieldsOf<report::TunedTable> {
  using Table = report::TunedTable;
  static constexpr auto list =
      std::tuple{Field{"attnscope_tuned", &Table::version, Limits{.low = 1, .high = Table::kVersion, .required = true}},
                 Field{"device", &Table::device, Limits{.bytes = 200, .required = true}},
                 Field{"arch", &Table::arch, Limits{.low = 50, .high = 200, .required = true}},
                 Field{"entries", &Table::entries, Limits{.most = 10000, .required = true}}};
};

namespace report {

Json to_json(const TunedTable& table) { return write_fields(table); }

Result<TunedTable> tuned_from_json(const Json& json, const std::string& where) {
  return read_fields<TunedTable>(json, where, Stage::input);
}

Result<TunedTable> read_tuned(const std::filesystem::path& file) {
  constexpr uint64_t kMaxBytes = 4 << 20;
  auto json = platform::read_json(file, kMaxBytes, Stage::input);
  if (!json) return fail(json.error());
  return tuned_from_json(*json, file.string());
}

Result<std::vector<TunedTable>> load_tuned(const std::filesystem::path& dir) {
  std::error_code error;
  const auto files = platform::json_files_in(dir, error);
  if (error)
    return fail(Stage::input, dir.string() + ": the folder of tuned tables cannot be read: " + error.message(),
                "Give a folder that `attnscope best --tune` wrote.");
  std::vector<TunedTable> tables;
  for (const auto& file : files) {
    auto table = read_tuned(file);
    if (!table) return fail(table.error());
    for (TunedEntry& entry : table->entries) entry.source = file.string();
    tables.push_back(std::move(*table));
  }
  return tables;
}

TunedEntry entry_of(const Observation& best, std::string date) {
  TunedEntry entry;
  entry.problem = best.experiment.problem;
  entry.kernel = best.experiment.kernel;
  entry.kernel_hash = best.experiment.kernel_hash;
  entry.config = best.experiment.config;
  entry.kind = best.timing->kind;
  entry.us = best.timing->p50;
  entry.verdict = best.verdict->state;
  entry.date = std::move(date);
  entry.versions = best.versions;
  return entry;
}

bool same_shape(const Problem& a, const Problem& b) {
  Problem like_a = b;
  like_a.distribution = a.distribution;
  like_a.seed = a.seed;
  like_a.scale = a.scale;  // only scales the scores; the work is the same
  return like_a == a;
}

bool put_entry(TunedTable& table, TunedEntry entry) {
  for (TunedEntry& kept : table.entries) {
    if (kept.kernel != entry.kernel || !same_shape(kept.problem, entry.problem)) continue;
    if (kept.kind == FigureKind::measured && entry.kind != FigureKind::measured) return false;
    kept = std::move(entry);
    return true;
  }
  table.entries.push_back(std::move(entry));
  return true;
}

const TunedEntry* best_entry(const std::vector<TunedTable>& tables, const std::string& device, const Problem& problem,
                             const std::string& kernel) {
  const TunedEntry* best = nullptr;
  const auto better = [&](const TunedEntry& entry) {
    if (!best) return true;
    if (entry.kind != best->kind) return entry.kind == FigureKind::measured;
    return entry.us < best->us;
  };
  for (const TunedTable& table : tables) {
    if (table.device != device) continue;
    for (const TunedEntry& entry : table.entries)
      if ((kernel.empty() || entry.kernel == kernel) && same_shape(entry.problem, problem) && better(entry))
        best = &entry;
  }
  return best;
}

}  // namespace report
}  // namespace attnscope
