#include "store/results.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <limits>

#include "core/escape.h"
#include "core/headline.h"
#include "core/json.h"
#include "platform/atomic_file.h"
#include "platform/file_lock.h"
#include "store/results_work.h"
#include "store/salvage.h"

namespace attnscope::store {
namespace {

constexpr int kGuardMs = 5000;  // for another process to repair the file; a long history takes seconds

Failure folder_not_writable(const std::filesystem::path& path) {
  return {Stage::store, path.string() + ": its folder cannot be written",
          "Check the folder's rights, or set ATTNSCOPE_HOME to a folder that can be written."};
}

// For a file that is not changed.
Failure failure_of_other(const std::filesystem::path& path, const SQLite::Exception& error) {
  Failure failure = failure_of(path, error);
  if (is_damage(error))
    failure.hint = "Open it once with the attnscope that made it, which repairs it, or give another.";
  return failure;
}

// The row must start with the columns json and finished_at.
Result<StoredObservation> stored_in(SQLite::Statement& row, const std::filesystem::path& path) {
  auto json = parse_json(row.getColumn(0).getString(), path.string(), Stage::store);
  if (!json) return fail(json.error());
  auto observation = observation_from_json(*json, path.string());
  if (!observation) return fail(observation.error());
  return StoredObservation{std::move(*observation), row.getColumn(1).getDouble()};
}

// Held while the file is opened or replaced, so that no process moves away a file that another has just created, or
// opens a new file beside an old log.
struct Guard {
  std::optional<platform::FileLock> lock;
  ResultsFileSystem file_system;
};

Result<Guard> guard(const std::filesystem::path& path) {
  auto lock = platform::FileLock::within(path.string() + ".opening", kGuardMs);
  // The folder cannot be written or the disk is full; opening the file gives a better message.
  if (!lock) return Guard{};
  if (!lock->supported()) return Guard{std::nullopt, {.locks = false, .shared_memory = false}};
  if (!lock->held())
    return fail(Stage::store, path.string() + ": another attnscope is repairing it", "The next result is tried again.");
  const bool shared_memory = lock->shares_memory();
  return Guard{std::move(*lock), {.locks = true, .shared_memory = shared_memory}};
}

bool is_like(const Problem& a, const Problem& b) {
  return a.batch == b.batch && a.heads == b.heads && a.seq_q == b.seq_q && a.seq_k == b.seq_k &&
         a.head_dim == b.head_dim && a.causal == b.causal && a.dtype == b.dtype;
}

void insert_row(SQLite::Statement& insert, const std::string& hash, double finished_at, const std::string& app,
                const std::string& json) {
  insert.tryReset();
  insert.bind(1, hash);
  insert.bind(2, finished_at);
  insert.bind(3, app);
  insert.bindNoCopy(4, json);
  try {
    insert.exec();
  } catch (const SQLite::Exception&) {
    insert.tryReset();  // otherwise the statement would lock the file until the next append
    throw;
  }
  insert.reset();
}

SQLite::Column column_of(const SQLite::Statement& row, KeyColumn column) {
  return row.getColumn(static_cast<int>(column));
}

std::string_view text_in(const SQLite::Statement& row, KeyColumn column) { return column_of(row, column).getText(); }

struct Row {
  std::string hash;
  double finished_at;
  std::string app, json;
};

// Rows per transaction; other processes wait for milliseconds.
constexpr size_t kMergedAtOnce = 500;

// Adds the observations that are missing, and returns how many.
Result<int64_t> add_rows(ResultsDatabase& database, const std::filesystem::path& path, const std::vector<Row>& rows) {
  if (!database.insert) return fail(not_writable(path, database));
  SQLite::Transaction transaction(database.connection, SQLite::TransactionBehavior::IMMEDIATE);
  SQLite::Statement known(database.connection,
                          "SELECT 1 FROM observation WHERE hash = ? AND finished_at = ? AND json = ?");
  int64_t added = 0;
  for (const Row& row : rows) {
    known.reset();
    known.bind(1, row.hash);
    known.bind(2, row.finished_at);
    known.bindNoCopy(3, row.json);
    if (known.executeStep()) continue;
    insert_row(*database.insert, row.hash, row.finished_at, row.app, row.json);
    ++added;
  }
  transaction.commit();
  return added;
}

}  // namespace

bool is_damage(const SQLite::Exception& error) {
  const int code = error.getErrorCode();
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

Failure failure_of(const std::filesystem::path& path, const SQLite::Exception& error) {
  std::string hint = "Check the folder's rights.";
  const int code = error.getErrorCode();
  if (is_no_memory(error))
    hint = "There is not enough memory: end another program, and the next result is tried again.";
  else if (is_no_room(error) && code != SQLITE_CANTOPEN)
    hint = "Free some space on that disk; results are kept in memory until then.";
  if (code == SQLITE_BUSY) hint = "Another program holds the database; the next result is tried again.";
  const std::string lock = path.string() + ".lock";  // the lock on a file system without file locks
  if (code == SQLITE_BUSY && platform::identity_of(lock))
    hint += " If none does, a program that was ended left " + lock + " behind: remove it.";
  return Failure{Stage::store, fmt::format("{}: {}", path.string(), error.what()), hint};
}

Failure not_writable(const std::filesystem::path& path, const ResultsDatabase& database) {
  return database.unwritable ? failure_of(path, *database.unwritable) : folder_not_writable(path);
}

bool ProblemFilter::operator()(std::string_view json) {
  if (const auto at = seen_.find(json); at != seen_.end()) return at->second;
  const auto parsed = parse_json(std::string(json), "", Stage::store);
  const auto problem = parsed ? problem_from_json(*parsed, "") : fail(parsed.error());
  return seen_.emplace(json, problem && wanted_(*problem)).first->second;
}

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

// Opens the file if it is not open, or if another file has its name now.
Result<void> Results::connect() {
  if (database_ && database_->identity == platform::identity_of(path_)) return {};
  auto guarded = guard(path_);
  if (!guarded) return fail(guarded.error());
  return open_file(guarded->file_system);
}

// Writes the readable rows to a new file and gives it the damaged file's name.
Result<void> Results::replace_damaged(const std::string& damage) {
  const std::string fresh = platform::temporary_beside(path_);
  int64_t rows = 0;
  std::error_code error;
  try {
    // Only this process uses it yet.
    SQLite::Database into(fresh, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 0, "unix-none");
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

// Replaces the file that seen_ identifies, unless another process has done so, and opens the file that has the name
// now.
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

Result<std::unique_ptr<Results>> Results::open(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);  // opening the file gives a better message
  std::unique_ptr<Results> results(new Results(path));
  auto opened = results->with_database([](ResultsDatabase&) { return Result<void>(); });
  if (opened) return results;
  Failure failure = opened.error();
  if (const auto trouble = results->take_trouble())  // take_trouble() needs an object, and a failed open has none
    failure.hint = trouble->message + ". " + trouble->hint + " " + failure.hint;
  return fail(std::move(failure));
}

bool Results::has_any(const std::filesystem::path& path) {
  std::error_code none;
  const auto bytes = std::filesystem::file_size(path, none);
  return !none && bytes > 0;
}

Result<void> Results::append(const Observation& observation, double finished_at) {
  const std::string json = json_text(to_json(observation));
  if (database_ && database_->way == ResultsDatabase::Way::read_only) database_.reset();  // it may have become writable
  return with_database([&](ResultsDatabase& database) -> Result<void> {
    if (!database.insert) return fail(not_writable(path_, database));
    insert_row(*database.insert, observation.hash, finished_at, observation.versions.app, json);
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

double ResultKey::finished_at() const { return column_of(row_, KeyColumn::finished_at).getDouble(); }
double ResultKey::us() const { return column_of(row_, KeyColumn::us).getDouble(); }
std::string_view ResultKey::kernel() const { return text_in(row_, KeyColumn::kernel); }
std::string_view ResultKey::problem() const { return text_in(row_, KeyColumn::problem); }
std::string_view ResultKey::config() const { return text_in(row_, KeyColumn::config); }
std::string_view ResultKey::device() const { return text_in(row_, KeyColumn::device); }
std::string_view ResultKey::gpu() const { return text_in(row_, KeyColumn::gpu); }
std::string_view ResultKey::cache() const { return text_in(row_, KeyColumn::cache); }
std::string_view ResultKey::kind() const { return text_in(row_, KeyColumn::kind); }
std::string_view ResultKey::verdict() const { return text_in(row_, KeyColumn::verdict); }
std::string_view ResultKey::against() const { return text_in(row_, KeyColumn::against); }
std::string_view ResultKey::outcome() const {
  const std::string_view state = verdict();
  return state == word_of(VerdictState::correct) && !against().empty() ? word_of(Headline::agrees) : state;
}

Result<std::vector<int64_t>> Results::find(const ResultFilter& wanted, ResultOrder order) {
  return with_database([&](ResultsDatabase& database) -> Result<std::vector<int64_t>> {
    struct Row {
      double us;
      int64_t id;
    };
    std::vector<Row> found;
    SQLite::Statement query(database.connection, database.keys() + " ORDER BY id DESC");
    while (query.executeStep()) {
      const ResultKey key(query);
      if (wanted(key))
        found.push_back({order == ResultOrder::fastest ? key.us() : 0, column_of(query, KeyColumn::id).getInt64()});
    }
    if (order == ResultOrder::fastest)
      std::ranges::stable_sort(
          found, {}, [](const Row& row) { return row.us > 0 ? row.us : std::numeric_limits<double>::infinity(); });
    std::vector<int64_t> ids(found.size());
    std::ranges::transform(found, ids.begin(), &Row::id);
    return ids;
  });
}

Result<int64_t> Results::read(std::span<const int64_t> rows, const std::function<void(StoredObservation)>& take) {
  // If damage shows in the middle, the file is repaired and reading continues at the same row.
  size_t done = 0;
  int64_t unreadable = 0;
  return with_database([&](ResultsDatabase& database) -> Result<int64_t> {
    SQLite::Statement query(database.connection, "SELECT json, finished_at FROM observation WHERE id = ?");
    for (; done < rows.size(); ++done) {
      query.reset();
      query.bind(1, rows[done]);
      std::optional<StoredObservation> stored;
      if (query.executeStep())
        if (auto read = stored_in(query, path_)) stored = std::move(*read);
      if (stored)
        take(std::move(*stored));
      else
        ++unreadable;
    }
    return unreadable;
  });
}

Result<std::vector<StoredObservation>> Results::correct(const Problem& problem) {
  constexpr size_t kMost = 10000;
  ProblemFilter like([&](const Problem& other) { return is_like(other, problem); });
  auto rows = find(
      [&](const ResultKey& key) {
        return key.verdict() == word_of(VerdictState::correct) && key.us() > 0 && like(key.problem());
      },
      ResultOrder::newest);
  if (!rows) return fail(rows.error());
  if (rows->size() > kMost) rows->resize(kMost);
  std::vector<StoredObservation> found;
  // A row that only another version can read, or whose text is damaged, does not hide the others.
  auto unreadable = read(*rows, [&](StoredObservation stored) { found.push_back(std::move(stored)); });
  if (!unreadable) return fail(unreadable.error());
  return found;
}

Result<Merged> Results::merge(const std::filesystem::path& other) {
  Merged merged;
  try {
    auto from = ResultsDatabase::open_other(other);
    if (!from) return fail(from.error());
    SQLite::Statement query((*from)->connection, "SELECT hash, finished_at, app, json FROM observation ORDER BY id");
    for (bool more = true; more;) {
      std::vector<Row> rows;
      while (rows.size() < kMergedAtOnce && (more = query.executeStep())) {
        Row row{query.getColumn(0).getString(), query.getColumn(1).getDouble(), query.getColumn(2).getString(),
                query.getColumn(3).getString()};
        if (is_whole(row.hash, row.json))
          rows.push_back(std::move(row));
        else
          ++merged.unreadable;
      }
      auto added = with_database([&](ResultsDatabase& database) { return add_rows(database, path_, rows); });
      if (!added) return fail(added.error());
      merged.added += *added;
      merged.known += static_cast<int64_t>(rows.size()) - *added;
    }
    auto noted = with_database([&](ResultsDatabase& database) { return merge_notes(**from, database, path_, merged); });
    if (!noted) return fail(noted.error());
  } catch (const SQLite::Exception& error) {
    return fail(failure_of_other(other, error));
  }
  return merged;
}

Result<void> Results::check(const std::filesystem::path& path) {
  try {
    auto opened = ResultsDatabase::open_other(path);
    return opened ? Result<void>() : fail(opened.error());
  } catch (const SQLite::Exception& refused) {
    return fail(failure_of_other(path, refused));
  }
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
