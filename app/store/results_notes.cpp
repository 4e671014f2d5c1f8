#include <fmt/format.h>

#include "core/escape.h"
#include "store/results_work.h"

namespace attnscope::store {

Result<void> Results::annotate(const std::string& hash, const RunNote& note, double at) {
  if (note.text.size() > RunNote::kMostBytes || !is_utf8(note.text))
    return fail(Stage::input, fmt::format("the note is longer than {} bytes, or no UTF-8", RunNote::kMostBytes),
                "Shorten it.");
  if (database_ && database_->way == ResultsDatabase::Way::read_only) database_.reset();  // it may have become writable
  return with_database([&](ResultsDatabase& database) -> Result<void> {
    if (!database.insert) return fail(not_writable(path_, database));
    SQLite::Statement insert(database.connection, "INSERT INTO note(hash, starred, text, at) VALUES (?, ?, ?, ?)");
    insert.bind(1, hash);
    insert.bind(2, note.starred ? 1 : 0);
    insert.bind(3, note.text);
    insert.bind(4, at);
    insert.exec();
    return {};
  });
}

Result<std::map<std::string, RunNote>> Results::notes() {
  return with_database([&](ResultsDatabase& database) -> Result<std::map<std::string, RunNote>> {
    std::map<std::string, RunNote> notes;
    if (!database.has_notes) return notes;
    SQLite::Statement query(database.connection, "SELECT hash, starred, text FROM note ORDER BY id");
    while (query.executeStep())
      notes[query.getColumn(0).getString()] = {query.getColumn(1).getInt() != 0, query.getColumn(2).getString()};
    std::erase_if(notes, [](const auto& one) { return one.second == RunNote{}; });
    return notes;
  });
}

}  // namespace attnscope::store
