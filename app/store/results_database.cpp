#include "store/results_database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <set>
#include <string>

namespace attnscope::store {
namespace {

namespace fs = std::filesystem;
using Way = ResultsDatabase::Way;

constexpr int kBusyMs = 500;  // another process writes for microseconds
// The columns of KeyColumn after finished_at, in order, and their JSON paths in an observation.
constexpr std::pair<const char*, const char*> kKeys[] = {{"kernel", "$.experiment.kernel.id"},
                                                         {"problem", "$.experiment.problem"},
                                                         {"config", "$.experiment.config"},
                                                         {"device", "$.device"},
                                                         {"gpu", "$.versions.gpu"},
                                                         {"cache", "$.timing.cache"},
                                                         {"kind", "$.timing.kind"},
                                                         {"us", "$.timing.us.p50"},
                                                         {"verdict", "$.verdict.state"},
                                                         {"against", "$.verdict.against"}};
static_assert(std::size(kKeys) + static_cast<size_t>(KeyColumn::kernel) == static_cast<size_t>(KeyColumn::against) + 1);
// With exclusive locking, the log of an ended process can be read without shared memory.
constexpr const char* kAlone = "PRAGMA locking_mode=EXCLUSIVE";

// True if changes wait in the log. The last process that closes the file moves them into it.
bool has_log(const fs::path& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path.string() + "-wal", error);
  return !error && bytes > 0;
}

// The path as a read-only SQLite URI. The log is read too, if no process writes the file now.
std::string read_only_uri(const fs::path& path) {
  std::string uri = "file:";
  for (const char c : path.string())
    uri += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  return uri + (has_log(path) ? "?mode=ro" : "?immutable=1");
}

// Opens in one of the two modes that write. SQLite normally locks through the kernel; without such locks, a folder
// beside the file is the lock.
SQLite::Database open_to_write(const fs::path& path, Way way, bool locks) {
  const bool folder_as_lock = way == Way::journal && !locks;
  return SQLite::Database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyMs,
                          folder_as_lock ? "unix-dotfile" : "");
}

// Sets how changes are written. It rewrites the file's header if another way was used before; the schema must be known.
void set_up(SQLite::Database& sql, Way way) {
  if (way == Way::shared_log) {
    sql.exec("PRAGMA journal_mode=WAL");
    sql.exec("PRAGMA synchronous=NORMAL");
  } else if (way == Way::journal) {
    sql.exec("PRAGMA journal_mode=DELETE");
    sql.exec("PRAGMA locking_mode=NORMAL");
  }
}

// The columns of ResultKey, extracted from the JSON text in the SQL expression `json`. Text that is not JSON gives
// none.
std::string key_columns(const std::string& json) {
  std::string columns;
  for (const auto& [name, path] : kKeys)
    columns += fmt::format("{}CASE WHEN json_valid({}) THEN json_extract({}, '{}') END AS {}",
                           columns.empty() ? "" : ", ", json, json, path, name);
  return columns;
}

std::string key_names() {
  std::string names;
  for (const auto& [name, path] : kKeys) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

Failure newer(const fs::path& path, int schema) {
  return {Stage::store,
          fmt::format("{} was made by a newer version (schema {}, this one knows {})", path.string(), schema,
                      ResultsDatabase::kSchema),
          "Use that version, or move the file away. Nothing is added to it."};
}

// Finds indexes of that name too.
bool has_table(SQLite::Database& sql, const std::string& name) {
  SQLite::Statement query(sql, "SELECT count(*) FROM sqlite_master WHERE name = ?");
  query.bind(1, name);
  return query.executeStep() && query.getColumn(0).getInt() == 1;
}

// True if the key table has every column that this version reads.
bool has_all_keys(SQLite::Database& sql) {
  SQLite::Statement query(sql, "SELECT name FROM pragma_table_info('observation_key')");
  std::set<std::string> names;
  while (query.executeStep()) names.insert(query.getColumn(0).getString());
  return std::ranges::all_of(kKeys, [&](const auto& key) { return names.contains(key.first); });
}

}  // namespace

bool is_no_memory(const SQLite::Exception& error) {
  return error.getErrorCode() == SQLITE_NOMEM || error.getExtendedErrorCode() == SQLITE_IOERR_NOMEM;
}

bool is_no_room(const SQLite::Exception& error) {
  const int code = error.getErrorCode();
  return (code == SQLITE_FULL || code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && !is_no_memory(error);
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
  if (way == Way::journal) connection.exec(kAlone);
}

void ResultsDatabase::make_schema(SQLite::Database& sql) {
  SQLite::Transaction transaction(sql, SQLite::TransactionBehavior::IMMEDIATE);
  sql.exec(
      "CREATE TABLE IF NOT EXISTS observation("
      "id INTEGER PRIMARY KEY, hash TEXT NOT NULL, finished_at REAL NOT NULL, app TEXT NOT NULL, json TEXT NOT NULL)");
  sql.exec("CREATE INDEX IF NOT EXISTS observation_of_hash ON observation(hash)");
  sql.exec("DROP INDEX IF EXISTS observation_hash");  // the first versions indexed by time
  // The key table is small, so that a filter reads little. A trigger fills it, because older versions know only the
  // first table and also add rows. Older versions can read a key table with more columns.
  if (!has_all_keys(sql)) {
    sql.exec("DROP TRIGGER IF EXISTS observation_has_key");
    sql.exec("DROP TABLE IF EXISTS observation_key");
    std::string columns;
    for (const auto& [name, path] : kKeys) columns += fmt::format(", {}", name);
    sql.exec("CREATE TABLE observation_key(id INTEGER PRIMARY KEY, finished_at REAL" + columns + ")");
    sql.exec("INSERT INTO observation_key SELECT id, finished_at, " + key_columns("json") + " FROM observation");
    sql.exec(
        "CREATE TRIGGER observation_has_key AFTER INSERT ON observation BEGIN INSERT INTO observation_key SELECT "
        "new.id, new.finished_at, " +
        key_columns("new.json") + "; END");
  }
  // Rows are only added here too; the last one of an experiment counts.
  sql.exec(
      "CREATE TABLE IF NOT EXISTS note("
      "id INTEGER PRIMARY KEY, hash TEXT NOT NULL, starred INTEGER NOT NULL, text TEXT NOT NULL, at REAL NOT NULL)");
  sql.exec(fmt::format("PRAGMA user_version={}", kSchema));
  transaction.commit();
}

std::string ResultsDatabase::keys() const {
  return has_keys ? "SELECT id, finished_at, " + key_names() + " FROM observation_key"
                  : "SELECT id, finished_at, " + key_columns("json") + " FROM observation";
}

Result<std::unique_ptr<ResultsDatabase>> ResultsDatabase::open_other(const fs::path& path) {
  constexpr const char* kHint = "Give a results.sqlite of attnscope.";
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  if (type == fs::file_type::not_found) return fail(Stage::store, path.string() + ": there is no such file", kHint);
  if (type != fs::file_type::regular) return fail(Stage::store, path.string() + " is not a file", kHint);
  auto opened = std::make_unique<ResultsDatabase>(path, Way::read_only, false);
  const int schema = opened->connection.execAndGet("PRAGMA user_version").getInt();
  if (schema > kSchema) return fail(newer(path, schema));
  if (!has_table(opened->connection, "observation"))
    return fail(Stage::store, path.string() + " is not a results file: it has no observations", kHint);
  opened->has_notes = has_table(opened->connection, "note");
  return opened;
}

Result<std::unique_ptr<ResultsDatabase>> ResultsDatabase::open(const fs::path& path, ResultsFileSystem file_system) {
  if (!platform::may_write_in(path.parent_path())) {
    if (!platform::identity_of(path))
      return fail(Stage::store, path.string() + ": cannot be made, its folder cannot be written",
                  "Check the folder's rights, or set ATTNSCOPE_HOME to a folder that can be written.");
    return open_in(Way::read_only, path, file_system);
  }
  std::optional<SQLite::Exception> unwritable;
  try {
    return open_in(file_system.locks && file_system.shared_memory ? Way::shared_log : Way::journal, path, file_system);
  } catch (const SQLite::Exception& error) {
    std::error_code none;  // SQLite leaves an empty file where the disk is full
    const auto bytes = fs::file_size(path, none);
    if (!is_no_room(error) || none || bytes == 0) throw;
    unwritable = error;
  }
  try {
    auto opened = open_in(Way::read_only, path, file_system);
    if (opened) (*opened)->unwritable = std::move(unwritable);
    return opened;
  } catch (const SQLite::Exception&) {
    throw *unwritable;  // without locks, a file that another process writes can look damaged
  }
}

Result<std::unique_ptr<ResultsDatabase>> ResultsDatabase::open_in(Way way, const fs::path& path,
                                                                  ResultsFileSystem file_system) {
  const bool read_only = way == Way::read_only;
  auto opened = std::make_unique<ResultsDatabase>(path, way, file_system.locks);
  SQLite::Database& sql = opened->connection;
  const int schema = sql.execAndGet("PRAGMA user_version").getInt();
  if (schema > kSchema) {
    if (has_log(path)) sqlite3_db_config(sql.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    return fail(newer(path, schema));
  }
  set_up(sql, way);
  const bool complete =
      schema == kSchema && has_table(sql, "observation_of_hash") && has_all_keys(sql) && has_table(sql, "note");
  if (!complete && !read_only) make_schema(sql);
  opened->has_keys = has_all_keys(sql);
  opened->has_notes = has_table(sql, "note");
  if (!opened->identity) opened->identity = platform::identity_of(path);  // it was created just now
  // Rows are only added: the largest id is the newest row, whatever the clock said.
  if (!read_only)
    opened->insert.emplace(sql, "INSERT INTO observation(hash, finished_at, app, json) VALUES (?, ?, ?, ?)");
  opened->newest.emplace(sql, "SELECT json, finished_at FROM observation WHERE hash = ? ORDER BY id DESC LIMIT 1");
  return opened;
}

}  // namespace attnscope::store
