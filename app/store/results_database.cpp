#include "store/results_database.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace attnscope::store {
namespace {

namespace fs = std::filesystem;
using Way = ResultsDatabase::Way;

constexpr int kBusyMs = 500;  // another process writes for microseconds
// With one process only, the log that another one left can be read without shared memory.
constexpr const char* kAlone = "PRAGMA locking_mode=EXCLUSIVE";

// The path as a SQLite URI with options. If nothing writes the file any more, its log is still read.
std::string read_only_uri(const fs::path& path) {
  std::string uri = "file:";
  for (const char c : path.string())
    uri += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  std::error_code error;
  const bool has_log = fs::file_size(path.string() + "-wal", error) > 0 && !error;
  return uri + (has_log ? "?mode=ro" : "?immutable=1");
}

// The two modes that write. SQLite normally locks through the kernel; without such locks, a folder beside the file is
// the lock.
SQLite::Database open_to_write(const fs::path& path, Way way, bool locks) {
  const bool folder_as_lock = way == Way::journal && !locks;
  return SQLite::Database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyMs,
                          folder_as_lock ? "unix-dotfile" : "");
}

void set_up(SQLite::Database& sql, Way way) {
  if (way == Way::shared_log) {
    sql.exec("PRAGMA journal_mode=WAL");
    sql.exec("PRAGMA synchronous=NORMAL");
  } else if (way == Way::journal) {
    sql.exec(kAlone);
    sql.exec("PRAGMA journal_mode=DELETE");
    sql.exec("PRAGMA locking_mode=NORMAL");
  }
}

}  // namespace

bool is_no_memory(const SQLite::Exception& error) {
  return error.getErrorCode() == SQLITE_NOMEM || error.getExtendedErrorCode() == SQLITE_IOERR_NOMEM;
}

SQLite::Database open_read_only(const fs::path& path) {
  SQLite::Database sql(read_only_uri(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI, kBusyMs, "unix-none");
  sql.exec(kAlone);
  return sql;
}

ResultsDatabase::ResultsDatabase(const fs::path& path, Way chosen, bool locks)
    : way(chosen),
      identity(platform::identity_of(path)),
      connection(way == Way::read_only ? open_read_only(path) : open_to_write(path, way, locks)) {
  set_up(connection, way);
}

void ResultsDatabase::make_schema(SQLite::Database& sql) {
  SQLite::Transaction transaction(sql, SQLite::TransactionBehavior::IMMEDIATE);
  sql.exec(
      "CREATE TABLE IF NOT EXISTS observation("
      "id INTEGER PRIMARY KEY, hash TEXT NOT NULL, finished_at REAL NOT NULL, app TEXT NOT NULL, json TEXT NOT NULL)");
  sql.exec("CREATE INDEX IF NOT EXISTS observation_of_hash ON observation(hash)");
  sql.exec("DROP INDEX IF EXISTS observation_hash");  // by time, as the first versions had it
  sql.exec(fmt::format("PRAGMA user_version={}", kSchema));
  transaction.commit();
}

Result<std::unique_ptr<ResultsDatabase>> ResultsDatabase::open(const fs::path& path, ResultsFileSystem file_system) {
  const bool read_only = !platform::may_write_in(path.parent_path());
  std::unique_ptr<ResultsDatabase> opened;
  if (read_only) {
    if (!platform::identity_of(path))
      return fail(Stage::store, path.string() + ": cannot be made, its folder cannot be written",
                  "Check the folder's rights, or set ATTNSCOPE_HOME to a folder that can be written.");
    opened = std::make_unique<ResultsDatabase>(path, Way::read_only, file_system.locks);
  } else {
    const Way way = file_system.locks && file_system.shared_memory ? Way::shared_log : Way::journal;
    opened = std::make_unique<ResultsDatabase>(path, way, file_system.locks);
  }
  SQLite::Database& sql = opened->connection;
  const int schema = sql.execAndGet("PRAGMA user_version").getInt();
  if (schema > kSchema)
    return fail(
        Stage::store,
        fmt::format("{} was made by a newer version (schema {}, this one knows {})", path.string(), schema, kSchema),
        "Use that version, or move the file away. Nothing is added to it.");
  const bool complete =
      schema == kSchema &&
      sql.execAndGet("SELECT count(*) FROM sqlite_master WHERE name = 'observation_of_hash'").getInt() == 1;
  if (!complete && !read_only) make_schema(sql);
  if (!opened->identity) opened->identity = platform::identity_of(path);  // just made
  // Rows are only added: the id says what came last, whatever the clock said.
  if (!read_only)
    opened->insert.emplace(sql, "INSERT INTO observation(hash, finished_at, app, json) VALUES (?, ?, ?, ?)");
  opened->newest.emplace(sql, "SELECT json, finished_at FROM observation WHERE hash = ? ORDER BY id DESC LIMIT 1");
  return opened;
}

}  // namespace attnscope::store
