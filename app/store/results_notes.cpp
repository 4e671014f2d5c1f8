#include <fmt/format.h>

#include "core/escape.h"
#include "store/results_work.h"

namespace attnscope::store {
namespace {

struct DatedNote {
  RunNote note;
  double at = 0;
};

bool is_sound(const RunNote& note) { return note.text.size() <= RunNote::kMostBytes && is_utf8(note.text); }

// The last one of each experiment, those that take earlier ones back included.
std::map<std::string, DatedNote> last_notes(ResultsDatabase& database) {
  std::map<std::string, DatedNote> notes;
  if (!database.has_notes) return notes;
  SQLite::Statement query(database.connection, "SELECT hash, starred, text, at FROM note ORDER BY id");
  while (query.executeStep())
    notes[query.getColumn(0).getString()] = {{query.getColumn(1).getInt() != 0, query.getColumn(2).getString()},
                                             query.getColumn(3).getDouble()};
  return notes;
}

void insert_note(ResultsDatabase& database, const std::string& hash, const DatedNote& dated) {
  SQLite::Statement insert(database.connection, "INSERT INTO note(hash, starred, text, at) VALUES (?, ?, ?, ?)");
  insert.bind(1, hash);
  insert.bind(2, dated.note.starred ? 1 : 0);
  insert.bind(3, dated.note.text);
  insert.bind(4, dated.at);
  insert.exec();
}

}  // namespace

Result<void> merge_notes(ResultsDatabase& from, ResultsDatabase& to, const std::filesystem::path& path,
                         Merged& merged) {
  const std::map<std::string, DatedNote> own = last_notes(to);
  std::map<std::string, DatedNote> taken = last_notes(from);
  std::erase_if(taken, [&](const auto& one) {
    const auto& [hash, dated] = one;
    if (!is_sound(dated.note)) return ++merged.unreadable, true;
    const auto here = own.find(hash);
    return here != own.end() ? here->second.at >= dated.at : dated.note == RunNote{};
  });
  if (taken.empty()) return {};
  if (!to.insert) return fail(not_writable(path, to));
  SQLite::Transaction transaction(to.connection, SQLite::TransactionBehavior::IMMEDIATE);
  for (const auto& [hash, dated] : taken) insert_note(to, hash, dated);
  transaction.commit();
  merged.notes = static_cast<int64_t>(taken.size());
  return {};
}

Result<void> Results::annotate(const std::string& hash, const RunNote& note, double at) {
  if (!is_sound(note))
    return fail(Stage::input, fmt::format("the note is longer than {} bytes, or not UTF-8", RunNote::kMostBytes),
                "Shorten it.");
  if (database_ && database_->way == ResultsDatabase::Way::read_only) database_.reset();  // it may have become writable
  return with_database([&](ResultsDatabase& database) -> Result<void> {
    if (!database.insert) return fail(not_writable(path_, database));
    insert_note(database, hash, {note, at});
    return {};
  });
}

Result<std::map<std::string, RunNote>> Results::notes() {
  return with_database([&](ResultsDatabase& database) -> Result<std::map<std::string, RunNote>> {
    std::map<std::string, RunNote> notes;
    for (auto& [hash, dated] : last_notes(database))
      if (dated.note != RunNote{}) notes[hash] = std::move(dated.note);
    return notes;
  });
}

}  // namespace attnscope::store
