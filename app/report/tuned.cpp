#include "report/tuned.h"

#include <algorithm>

#include "core/json.h"
#include "platform/atomic_file.h"

namespace attnscope::report {
namespace {

constexpr uint64_t kMaxBytes = 4 << 20;
constexpr size_t kMost = 10000;

Result<FigureKind> kind_of(std::string_view text) {
  for (const FigureKind kind : {FigureKind::measured, FigureKind::modelled})
    if (text == attnscope::to_string(kind)) return kind;
  return fail(Stage::input, "must be measured or modelled");
}

Json to_json(const TunedEntry& entry) {
  Json json = attnscope::to_json(Experiment{{entry.problem, entry.kernel, entry.config, "", {}}, entry.kernel_hash});
  json.erase("device");
  json.erase("measure");
  json.update({{"kind", attnscope::to_string(entry.kind)},
               {"us", entry.us},
               {"verdict", std::string(to_string(entry.verdict))},
               {"date", entry.date},
               {"versions", attnscope::to_json(entry.versions)}});
  return json;
}

// Problem, kernel and config are those of an experiment; the experiment's own reader reads them.
Result<TunedEntry> entry_from_json(Json json, const std::string& where) {
  TunedEntry entry;
  Json experiment{{"device", "any"}};
  if (json.is_object())
    for (const char* key : {"problem", "kernel", "config"})
      if (json.contains(key)) experiment[key] = json[key];
  auto parsed = experiment_from_json(experiment, where);
  if (!parsed) return fail(parsed.error());
  entry.problem = parsed->problem;
  entry.kernel = parsed->kernel;
  entry.kernel_hash = parsed->kernel_hash;
  entry.config = parsed->config;
  JsonReader read(json, where);
  for (const char* key : {"problem", "kernel", "config"}) read.ignore(key);
  for (const char* key : {"kind", "us", "verdict", "versions"}) read.required(key);
  read.word("kind", entry.kind, kind_of);
  read.number("us", entry.us);
  read.word("verdict", entry.verdict, [](std::string_view text) { return parse_word<VerdictState>(text); });
  read.text("date", entry.date, 100);
  if (read.has("versions")) {
    Observation holder;  // apply_part can read versions
    if (auto applied = apply_part(holder, Json{{"versions", *read.value("versions")}}); applied)
      entry.versions = holder.versions;
    else
      read.fault("versions", applied.error().message);
  }
  if (!read.failed() && !(entry.us > 0)) read.fault("us", "must be above 0");
  if (!read.failed() && entry.verdict != VerdictState::correct)
    read.fault("verdict", "must be correct: nothing else is kept");
  if (auto done = read.finish(); !done) return fail(done.error());
  return entry;
}

}  // namespace

Json to_json(const TunedTable& table) {
  Json entries = Json::array();
  for (const TunedEntry& entry : table.entries) entries.push_back(to_json(entry));
  return Json{{"attnscope_tuned", TunedTable::kVersion},
              {"device", table.device},
              {"arch", table.arch},
              {"entries", std::move(entries)}};
}

Result<TunedTable> tuned_from_json(const Json& json, const std::string& where) {
  TunedTable table;
  JsonReader read(json, where);
  int version = 0;
  for (const char* key : {"attnscope_tuned", "device", "arch", "entries"}) read.required(key);
  read.integer("attnscope_tuned", version, 1, TunedTable::kVersion);
  read.text("device", table.device, 200);
  read.integer("arch", table.arch, 50, 200);
  if (const Json* entries = read.value("entries")) {
    if (!entries->is_array() || entries->size() > kMost) read.fault("entries", "must be a list of at most 10,000");
    for (size_t i = 0; i < entries->size() && !read.failed(); ++i) {
      auto entry = entry_from_json((*entries)[i], read.path("entries") + "/" + std::to_string(i));
      if (entry)
        table.entries.push_back(std::move(*entry));
      else
        read.adopt(entry.error());
    }
  }
  if (auto done = read.finish(); !done) return fail(done.error());
  return table;
}

Result<TunedTable> read_tuned(const std::filesystem::path& file) {
  auto text = platform::read_file(file, kMaxBytes);
  if (!text) return fail(text.error());
  auto json = parse_json(*text, file.string());
  if (!json) return fail(json.error());
  return tuned_from_json(*json, file.string());
}

Result<std::vector<TunedTable>> load_tuned(const std::filesystem::path& dir) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  std::filesystem::directory_iterator at(dir, error);
  for (const std::filesystem::directory_iterator end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".json") files.push_back(at->path());
  if (error)
    return fail(Stage::store, dir.string() + ": the folder of tuned tables cannot be read: " + error.message(),
                "Give a folder that `attnscope best --tune` wrote.");
  std::sort(files.begin(), files.end());
  std::vector<TunedTable> tables;
  for (const auto& file : files) {
    auto table = read_tuned(file);
    if (!table) return fail(table.error());
    for (TunedEntry& entry : table->entries) entry.source = file.string();
    tables.push_back(std::move(*table));
  }
  return tables;
}

bool same_device(const std::string& a, const std::string& b) {
  return !a.empty() && !b.empty() && (a.starts_with(b) || b.starts_with(a));
}

bool same_shape(const Problem& a, const Problem& b) {
  Problem like_a = b;
  like_a.distribution = a.distribution;
  like_a.seed = a.seed;
  like_a.scale = a.scale;  // a factor on the scores: the same work
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
    if (!same_device(table.device, device)) continue;
    for (const TunedEntry& entry : table.entries)
      if ((kernel.empty() || entry.kernel == kernel) && same_shape(entry.problem, problem) && better(entry))
        best = &entry;
  }
  return best;
}

}  // namespace attnscope::report
