#include "store/results.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include "core/json.h"

namespace attnscope::store {
namespace {

constexpr int kBusyMs = 500;  // another process writes for microseconds

bool is_damage(const SQLite::Exception& error) {
  const int code = error.getErrorCode();
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

Failure failure_of(const std::filesystem::path& path, const SQLite::Exception& error) {
  std::string hint = "Check the folder's rights.";
  const int code = error.getErrorCode();
  if (code == SQLITE_FULL || code == SQLITE_IOERR)
    hint = "Free some space on that disk; results are kept in memory until then.";
  if (code == SQLITE_BUSY) hint = "Another program holds the database; the next result is tried again.";
  return Failure{Stage::store, fmt::format("{}: {}", path.string(), error.what()), hint};
}

// Moves the database and its log aside under a name that is free. Returns the new name.
Result<std::filesystem::path> move_aside(const std::filesystem::path& path) {
  std::filesystem::path aside;
  std::error_code error;
  for (int n = 1; n <= 10000; ++n) {
    aside = fmt::format("{}.damaged-{}", path.string(), n);
    if (!std::filesystem::exists(aside, error)) break;
  }
  std::filesystem::rename(path, aside, error);
  if (error)
    return fail(Stage::store, path.string() + " is damaged and could not be moved aside: " + error.message(), "");
  for (const char* suffix : {"-wal", "-shm"}) {
    std::error_code ignored;  // there may be none
    std::filesystem::rename(path.string() + suffix, aside.string() + suffix, ignored);
  }
  return aside;
}

// Of a row that begins with json, finished_at.
Result<StoredObservation> stored_in(SQLite::Statement& row, const std::filesystem::path& path) {
  auto json = parse_json(row.getColumn(0).getString(), path.string(), Stage::store);
  if (!json) return fail(json.error());
  auto observation = observation_from_json(*json, path.string());
  if (!observation) return fail(observation.error());
  return StoredObservation{std::move(*observation), row.getColumn(1).getDouble()};
}

}  // namespace

struct Results::Database {
  explicit Database(const std::string& path)
      : connection(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyMs) {}
  SQLite::Database connection;
  std::optional<SQLite::Statement> insert, newest;
};

Results::Results(std::filesystem::path path) : path_(std::move(path)) {}
Results::~Results() = default;

Result<void> Results::connect() {
  auto opened = std::make_unique<Database>(path_.string());
  SQLite::Database& sql = opened->connection;
  sql.exec("PRAGMA journal_mode=WAL");
  sql.exec("PRAGMA synchronous=NORMAL");
  const int schema = sql.execAndGet("PRAGMA user_version").getInt();
  if (schema > kSchema)
    return fail(
        Stage::store,
        fmt::format("{} was made by a newer version (schema {}, this one knows {})", path_.string(), schema, kSchema),
        "Use that version, or move the file away. Nothing is added to it.");
  SQLite::Transaction transaction(sql);
  sql.exec(
      "CREATE TABLE IF NOT EXISTS observation("
      "id INTEGER PRIMARY KEY, hash TEXT NOT NULL, finished_at REAL NOT NULL, app TEXT NOT NULL, json TEXT NOT NULL)");
  sql.exec("CREATE INDEX IF NOT EXISTS observation_hash ON observation(hash, finished_at)");
  sql.exec(fmt::format("PRAGMA user_version={}", kSchema));
  transaction.commit();
  opened->insert.emplace(sql, "INSERT INTO observation(hash, finished_at, app, json) VALUES (?, ?, ?, ?)");
  opened->newest.emplace(
      sql, "SELECT json, finished_at FROM observation WHERE hash = ? ORDER BY finished_at DESC, id DESC LIMIT 1");
  database_ = std::move(opened);
  return {};
}

Result<void> Results::begin_anew(const std::string& damage, std::optional<Failure>& trouble) {
  database_.reset();
  auto aside = move_aside(path_);
  if (!aside) return fail(aside.error());
  trouble = Failure{Stage::store, fmt::format("{} is damaged ({})", path_.string(), damage),
                    "It was moved to " + aside->string() + " and a new one was begun."};
  try {
    return connect();
  } catch (const SQLite::Exception& error) {
    return fail(failure_of(path_, error));
  }
}

Result<std::unique_ptr<Results>> Results::open(const std::filesystem::path& path, std::optional<Failure>& trouble) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  std::unique_ptr<Results> results(new Results(path));
  Result<void> connected;
  try {
    connected = results->connect();
  } catch (const SQLite::Exception& fault) {
    connected = is_damage(fault) ? results->begin_anew(fault.what(), trouble) : fail(failure_of(path, fault));
  }
  if (!connected) return fail(connected.error());
  return results;
}

Result<void> Results::append(const Observation& observation, double finished_at, std::optional<Failure>& trouble) {
  const std::string json = to_json(observation).dump(-1, ' ', false, Json::error_handler_t::replace);
  for (int attempt = 1;; ++attempt) {
    try {
      if (!database_)
        if (auto connected = connect(); !connected) return connected;
      SQLite::Statement& insert = *database_->insert;
      insert.reset();
      insert.bind(1, observation.hash);
      insert.bind(2, finished_at);
      insert.bind(3, observation.versions.app);
      insert.bindNoCopy(4, json);
      insert.exec();
      insert.reset();
      return {};
    } catch (const SQLite::Exception& error) {
      if (!is_damage(error) || attempt > 1) {
        if (database_) database_->insert->tryReset();
        return fail(failure_of(path_, error));
      }
      if (auto anew = begin_anew(error.what(), trouble); !anew) return anew;
    }
  }
}

Result<std::optional<StoredObservation>> Results::newest(const std::string& hash) {
  try {
    if (!database_) return std::nullopt;
    SQLite::Statement& query = *database_->newest;
    query.reset();
    query.bind(1, hash);
    if (!query.executeStep()) return std::nullopt;
    auto stored = stored_in(query, path_);
    query.reset();
    if (!stored) return fail(stored.error());
    return std::move(*stored);
  } catch (const SQLite::Exception& error) {
    return fail(failure_of(path_, error));
  }
}

Result<std::vector<StoredObservation>> Results::correct(const Problem& problem) {
  std::vector<StoredObservation> found;
  try {
    if (!database_) return found;
    SQLite::Statement query(database_->connection,
                            "SELECT json, finished_at FROM observation WHERE "
                            "json_extract(json, '$.verdict.state') = 'correct' AND "
                            "json_extract(json, '$.timing.us.p50') > 0 AND "
                            "json_extract(json, '$.experiment.problem.batch') = ? AND "
                            "json_extract(json, '$.experiment.problem.heads') = ? AND "
                            "json_extract(json, '$.experiment.problem.seq_q') = ? AND "
                            "json_extract(json, '$.experiment.problem.seq_k') = ? AND "
                            "json_extract(json, '$.experiment.problem.head_dim') = ? AND "
                            "json_extract(json, '$.experiment.problem.causal') = ? AND "
                            "json_extract(json, '$.experiment.problem.dtype') = ? "
                            "ORDER BY finished_at DESC, id DESC LIMIT 10000");
    int at = 0;
    for (const int64_t size : {problem.batch, problem.heads, problem.seq_q, problem.seq_k, problem.head_dim})
      query.bind(++at, size);
    query.bind(++at, std::string(to_string(problem.causal)));
    query.bind(++at, std::string(to_string(problem.dtype)));
    while (query.executeStep()) {
      auto stored = stored_in(query, path_);
      if (!stored) return fail(stored.error());
      found.push_back(std::move(*stored));
    }
  } catch (const SQLite::Exception& error) {
    return fail(failure_of(path_, error));
  }
  return found;
}

Result<int64_t> Results::count() {
  try {
    if (!database_) return 0;
    return database_->connection.execAndGet("SELECT count(*) FROM observation").getInt64();
  } catch (const SQLite::Exception& error) {
    return fail(failure_of(path_, error));
  }
}

}  // namespace attnscope::store
