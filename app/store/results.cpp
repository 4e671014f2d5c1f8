#include "store/results.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "core/escape.h"
#include "core/json.h"
#include "platform/atomic_file.h"
#include "platform/file_lock.h"
#include "store/results_database.h"
#include "store/salvage.h"

namespace attnscope::store {
namespace {

constexpr int kGuardMs = 5000;  // time for another process to repair the file: some seconds for a long history

bool is_damage(const SQLite::Exception& error) {
  const int code = error.getErrorCode();
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

Failure failure_of(const std::filesystem::path& path, const SQLite::Exception& error) {
  std::string hint = "Check the folder's rights.";
  const int code = error.getErrorCode();
  if (is_no_memory(error))
    hint = "There is not enough memory: end another program, and the next result is tried again.";
  else if (code == SQLITE_FULL || code == SQLITE_IOERR)
    hint = "Free some space on that disk; results are kept in memory until then.";
  if (code == SQLITE_BUSY) hint = "Another program holds the database; the next result is tried again.";
  const std::string lock = path.string() + ".lock";  // on a file system without locks
  if (code == SQLITE_BUSY && platform::identity_of(lock))
    hint += " If none does, a program that was ended left " + lock + " behind: remove it.";
  return Failure{Stage::store, fmt::format("{}: {}", path.string(), error.what()), hint};
}

// The row starts with the columns json, finished_at.
Result<StoredObservation> stored_in(SQLite::Statement& row, const std::filesystem::path& path) {
  auto json = parse_json(row.getColumn(0).getString(), path.string(), Stage::store);
  if (!json) return fail(json.error());
  auto observation = observation_from_json(*json, path.string());
  if (!observation) return fail(observation.error());
  return StoredObservation{std::move(*observation), row.getColumn(1).getDouble()};
}

// Held while the file is opened or replaced, so that no process moves away a file that another has just made, or opens
// a new file beside an old log.
struct Guard {
  std::optional<platform::FileLock> lock;
  ResultsFileSystem file_system;
};

Result<Guard> guard(const std::filesystem::path& path) {
  auto lock = platform::FileLock::within(path.string() + ".opening", kGuardMs);
  if (!lock) return Guard{};  // a folder that cannot be written, or a full disk: opening the file says it better
  if (!lock->supported()) return Guard{std::nullopt, {.locks = false, .shared_memory = false}};
  if (!lock->held())
    return fail(Stage::store, path.string() + ": another attnscope is repairing it", "The next result is tried again.");
  const bool shared_memory = lock->shares_memory();
  return Guard{std::move(*lock), {.locks = true, .shared_memory = shared_memory}};
}

}  // namespace

Results::Results(std::filesystem::path path) : path_(std::move(path)) {}
Results::~Results() = default;

Result<void> Results::open_file(ResultsFileSystem file_system) {
  database_.reset();
  seen_ = platform::identity_of(path_);
  auto opened = ResultsDatabase::open(path_, file_system);
  if (!opened) return fail(opened.error());
  database_ = std::move(*opened);
  seen_ = database_->identity;
  return {};
}

// Opens the file if it is not open, or if another file has taken its name.
Result<void> Results::connect() {
  if (database_ && database_->identity == platform::identity_of(path_)) return {};
  auto guarded = guard(path_);
  if (!guarded) return fail(guarded.error());
  return open_file(guarded->file_system);
}

// Writes the readable rows to a new file, which then takes the damaged one's name.
Result<void> Results::replace_damaged(const std::string& damage) {
  const std::string fresh = platform::temporary_beside(path_);
  int64_t rows = 0;
  std::error_code error;
  try {
    SQLite::Database into(fresh, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 0, "unix-none");  // only ours yet
    ResultsDatabase::make_schema(into);
    rows = copy_readable_rows(path_, into);
  } catch (...) {
    for (const char* end : {"", "-journal"}) std::filesystem::remove(fresh + end, error);
    throw;
  }
  auto aside = platform::move_aside(path_, {"-wal", "-shm", "-journal"});
  if (aside) std::filesystem::rename(fresh, path_, error);
  if (!aside || error) std::filesystem::remove(fresh, error);
  if (!aside) return fail(aside.error());
  trouble_ = Failure{Stage::store, fmt::format("{} is damaged ({})", path_.string(), damage),
                     fmt::format("It was moved to {}. Of its results {} could be read and are in the new file.",
                                 aside->string(), rows)};
  return {};
}

// Replaces the file that seen_ identifies, unless another process has done so, and opens the one that is there then.
Result<void> Results::mend(const std::string& damage) {
  database_.reset();
  auto guarded = guard(path_);
  if (!guarded) return fail(guarded.error());
  const bool still_there = seen_ && platform::identity_of(path_) == seen_;
  try {
    if (still_there)
      if (auto replaced = replace_damaged(damage); !replaced) return replaced;
    return open_file(guarded->file_system);
  } catch (const SQLite::Exception& error) {
    return fail(failure_of(path_, error));
  }
}

template <class Work>
auto Results::with_database(Work work) -> decltype(work(std::declval<ResultsDatabase&>())) {
  for (bool mended = false;; mended = true) {
    try {
      if (auto connected = connect(); !connected) return fail(connected.error());
      return work(*database_);
    } catch (const SQLite::Exception& error) {
      const bool fixed = database_ && database_->way == ResultsDatabase::Way::read_only;
      if (!is_damage(error) || mended || fixed) return fail(failure_of(path_, error));
      if (auto done = mend(error.what()); !done) return fail(done.error());
    }
  }
}

Result<std::unique_ptr<Results>> Results::open(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);  // opening the file gives a better message
  std::unique_ptr<Results> results(new Results(path));
  auto opened = results->with_database([](ResultsDatabase&) { return Result<void>(); });
  if (opened) return results;
  Failure failure = opened.error();
  if (const auto trouble = results->take_trouble())  // there is no object to ask for it
    failure.hint = trouble->message + ". " + trouble->hint + " " + failure.hint;
  return fail(std::move(failure));
}

Result<void> Results::append(const Observation& observation, double finished_at) {
  const std::string json = json_text(to_json(observation));
  if (database_ && database_->way == ResultsDatabase::Way::read_only) database_.reset();  // it may be writable by now
  return with_database([&](ResultsDatabase& database) -> Result<void> {
    if (!database.insert)
      return fail(Stage::store, path_.string() + ": its folder cannot be written",
                  "Check the folder's rights, or set ATTNSCOPE_HOME to a folder that can be written.");
    SQLite::Statement& insert = *database.insert;
    insert.tryReset();
    insert.bind(1, observation.hash);
    insert.bind(2, finished_at);
    insert.bind(3, observation.versions.app);
    insert.bindNoCopy(4, json);
    try {
      insert.exec();
    } catch (const SQLite::Exception&) {
      insert.tryReset();  // otherwise it would hold the file until the next one
      throw;
    }
    insert.reset();
    return {};
  });
}

Result<std::optional<StoredObservation>> Results::newest(const std::string& hash) {
  return with_database([&](ResultsDatabase& database) -> Result<std::optional<StoredObservation>> {
    SQLite::Statement& query = *database.newest;
    query.tryReset();
    query.bind(1, hash);
    if (!query.executeStep()) return std::nullopt;
    auto stored = stored_in(query, path_);
    query.reset();
    if (!stored) return fail(stored.error());
    return std::move(*stored);
  });
}

Result<std::vector<StoredObservation>> Results::correct(const Problem& problem) {
  return with_database([&](ResultsDatabase& database) -> Result<std::vector<StoredObservation>> {
    std::vector<StoredObservation> found;
    SQLite::Statement query(database.connection,
                            "SELECT json, finished_at FROM observation WHERE CASE WHEN json_valid(json) THEN "
                            "json_extract(json, '$.verdict.state') = 'correct' AND "
                            "json_extract(json, '$.timing.us.p50') > 0 AND "
                            "json_extract(json, '$.experiment.problem.batch') = ? AND "
                            "json_extract(json, '$.experiment.problem.heads') = ? AND "
                            "json_extract(json, '$.experiment.problem.seq_q') = ? AND "
                            "json_extract(json, '$.experiment.problem.seq_k') = ? AND "
                            "json_extract(json, '$.experiment.problem.head_dim') = ? AND "
                            "json_extract(json, '$.experiment.problem.causal') = ? AND "
                            "json_extract(json, '$.experiment.problem.dtype') = ? "
                            "ELSE 0 END ORDER BY id DESC LIMIT 10000");
    int at = 0;
    for (const int64_t size : {problem.batch, problem.heads, problem.seq_q, problem.seq_k, problem.head_dim})
      query.bind(++at, size);
    query.bind(++at, std::string(word_of(problem.causal)));
    query.bind(++at, std::string(word_of(problem.dtype)));
    while (query.executeStep()) {
      // A row that only another version can read, or whose text is damaged, does not hide the others.
      if (auto stored = stored_in(query, path_)) found.push_back(std::move(*stored));
    }
    return found;
  });
}

Result<Latest> Results::latest(int64_t most) {
  return with_database([&](ResultsDatabase& database) -> Result<Latest> {
    Latest latest;
    SQLite::Statement query(database.connection, "SELECT json, finished_at FROM observation ORDER BY id DESC LIMIT ?");
    query.bind(1, most);
    while (query.executeStep()) {
      if (auto stored = stored_in(query, path_))
        latest.rows.push_back(std::move(*stored));
      else
        ++latest.unreadable;
    }
    std::ranges::reverse(latest.rows);
    return latest;
  });
}

Result<int64_t> Results::count() {
  return with_database([&](ResultsDatabase& database) -> Result<int64_t> {
    return database.connection.execAndGet("SELECT count(*) FROM observation").getInt64();
  });
}

}  // namespace attnscope::store
