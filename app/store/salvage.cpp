#include "store/salvage.h"

#include <limits>
#include <optional>

#include "core/escape.h"
#include "core/json.h"
#include "store/results_database.h"
#include "store/run_note.h"

namespace attnscope::store {
namespace {

constexpr int64_t kLow = std::numeric_limits<int64_t>::min(), kHigh = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostLookUps = 100000;  // single rows; takes about a second

// Returns false if the damaged file could not be read here.
template <class Read>
bool attempt(Read read) {
  try {
    read();
    return true;
  } catch (const SQLite::Exception& error) {
    if (is_no_memory(error)) throw;
    return false;
  }
}

class Copier {
 public:
  Copier(SQLite::Database& from, SQLite::Database& into)
      : from_(from),
        insert_(into, "INSERT OR IGNORE INTO observation(id, hash, finished_at, app, json) VALUES (?, ?, ?, ?, ?)") {}

  // Copies the rows between the two ids (exclusive), in the order `order` ("ASC", "DESC"), until the end or a row that
  // cannot be read. `reached` is the last id read. Returns true at the end.
  bool run(const char* order, int64_t above, int64_t below, int64_t& reached) {
    const bool up = order[0] == 'A';
    std::optional<SQLite::Statement> rows;
    bool more = attempt([&] {
      rows.emplace(from_, std::string("SELECT id, hash, finished_at, app, json FROM observation NOT INDEXED "
                                      "WHERE id > ? AND id < ? ORDER BY id ") +
                              order);
      rows->bind(1, above);
      rows->bind(2, below);
    });
    while (more) {
      bool row = false;
      if (!attempt([&] { row = rows->executeStep(); })) return false;
      if (!row) return true;
      const int64_t id = rows->getColumn(0).getInt64();
      if (up ? id <= reached : id >= reached) return false;  // pages that form a cycle
      reached = id;
      keep(*rows);
    }
    return false;
  }

  int64_t copied() const { return copied_; }

 private:
  void keep(SQLite::Statement& row) {
    if (!is_whole(row.getColumn(1).getString(), row.getColumn(4).getString())) return;
    insert_.reset();
    insert_.bind(1, row.getColumn(0).getInt64());
    insert_.bind(2, row.getColumn(1).getString());
    insert_.bind(3, row.getColumn(2).getDouble());
    insert_.bind(4, row.getColumn(3).getString());
    insert_.bind(5, row.getColumn(4).getString());
    copied_ += insert_.exec();
  }

  SQLite::Database& from_;
  SQLite::Statement insert_;
  int64_t copied_ = 0;
};

// Copies notes up to the first that cannot be read. A file of an older version has none.
void copy_notes(SQLite::Database& from, SQLite::Database& into) {
  struct Note {
    std::string hash;
    int starred;
    std::string text;
    double at;
  };
  std::optional<SQLite::Statement> rows;
  if (!attempt([&] { rows.emplace(from, "SELECT hash, starred, text, at FROM note ORDER BY id"); })) return;
  std::optional<Note> note;
  const auto read = [&] {
    note.reset();
    if (rows->executeStep())
      note = Note{rows->getColumn(0).getString(), rows->getColumn(1).getInt(), rows->getColumn(2).getString(),
                  rows->getColumn(3).getDouble()};
  };
  SQLite::Statement insert(into, "INSERT INTO note(hash, starred, text, at) VALUES (?, ?, ?, ?)");
  while (attempt(read) && note) {
    if (note->text.size() > RunNote::kMostBytes || !is_utf8(note->text)) continue;
    insert.reset();
    insert.bind(1, note->hash);
    insert.bind(2, note->starred);
    insert.bind(3, note->text);
    insert.bind(4, note->at);
    insert.exec();
  }
}

}  // namespace

bool is_whole(const std::string& hash, const std::string& text) {
  const auto json = parse_json(text, "", Stage::store);
  if (!json || !json->is_object() || !json->contains("experiment")) return false;
  const Json& experiment = (*json)["experiment"];
  return experiment.is_object() && experiment.contains("hash") && experiment["hash"] == hash;
}

int64_t copy_readable_rows(const std::filesystem::path& damaged, SQLite::Database& into) {
  std::optional<SQLite::Database> from;
  try {
    from.emplace(open_read_only(damaged));
    from->exec("PRAGMA cell_size_check=ON");
  } catch (const SQLite::Exception& error) {
    if (is_no_memory(error)) throw;
    return 0;
  }
  SQLite::Transaction transaction(into);
  Copier copier(*from, into);
  int64_t first_gap = kLow, last_gap = kHigh;
  if (!copier.run("ASC", kLow, kHigh, first_gap) && !copier.run("DESC", first_gap, kHigh, last_gap)) {
    const int64_t begin = first_gap == kLow ? 1 : first_gap + 1;
    for (int64_t id = begin; id < last_gap && id - begin < kMostLookUps; ++id) {
      int64_t reached = id - 1;
      copier.run("ASC", id - 1, id + 1, reached);
    }
  }
  copy_notes(*from, into);
  transaction.commit();
  return copier.copied();
}

}  // namespace attnscope::store
