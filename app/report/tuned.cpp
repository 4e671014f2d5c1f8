#include "report/tuned.h"

#include <algorithm>
#include <cmath>
#include <tuple>

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

double difference(const Problem& a, const Problem& b) {
  const auto apart = [](int64_t one, int64_t other) {
    return std::abs(
        std::log2(static_cast<double>(std::max<int64_t>(one, 1)) / static_cast<double>(std::max<int64_t>(other, 1))));
  };
  double sum = apart(a.batch * a.heads, b.batch * b.heads) + apart(a.seq_q, b.seq_q) + apart(a.seq_k, b.seq_k) +
               4 * apart(a.head_dim, b.head_dim) + (a.causal == b.causal ? 0 : 2);
  for (const auto& [name, size] : a.sizes)
    if (const auto found = b.sizes.find(name); found != b.sizes.end()) sum += apart(size, found->second);
  return sum;
}

const TunedEntry* nearest_entry(const std::vector<TunedTable>& tables, const std::string& device,
                                const Problem& problem, const std::string& kernel,
                                const std::function<bool(const Config&)>& fits) {
  const TunedEntry* nearest = nullptr;
  const auto rank = [&](const TunedEntry& entry) {
    // Of two entries for one problem the faster; of two problems this far away, always the same one.
    return std::tuple{difference(entry.problem, problem), entry.kind != FigureKind::measured, entry.us};
  };
  for (const TunedTable& table : tables) {
    if (table.device != device) continue;
    for (const TunedEntry& entry : table.entries) {
      const bool alike = entry.kernel == kernel && entry.problem.kind == problem.kind &&
                         entry.problem.dtype == problem.dtype && entry.problem.head_dim == problem.head_dim;
      if (alike && (nearest == nullptr || rank(entry) < rank(*nearest)) && fits(entry.config)) nearest = &entry;
    }
  }
  return nearest;
}

}  // namespace report
}  // namespace attnscope
