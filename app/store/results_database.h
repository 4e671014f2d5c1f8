#pragma once
#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "core/result.h"
#include "platform/move_aside.h"

namespace attnscope::store {

// The open results file. Members throw SQLite::Exception; Results turns that into a Failure or mends the damage.
struct ResultsDatabase {
  static constexpr int kSchema = 1;

  // How the file is shared with other processes, by what its file system can do.
  enum class Way {
    shared_log,  // a write-ahead log: readers and a writer at once. Needs locks and shared memory (mmap).
    journal,     // a rollback journal, locked for each transaction; by a folder beside it where there are no locks
    read_only    // the folder cannot be written: what is there is shown, nothing is added
  };

  // What the file system can do. Asked beforehand: SQLite that tries in vain leaves the file in a state that stops
  // others.
  struct FileSystem {
    bool locks = true, shared_memory = true;
  };

  // Makes the file where there is none. Throws SQLite::Exception; a file of a newer schema is a Failure.
  static Result<std::unique_ptr<ResultsDatabase>> open(const std::filesystem::path& path, FileSystem file_system);
  // Makes the table in an empty database.
  static void make_schema(SQLite::Database& sql);

  ResultsDatabase(const std::filesystem::path& path, Way way, bool locks);

  const Way way;
  std::optional<platform::FileIdentity> identity;  // of the file that is open
  SQLite::Database connection;
  std::optional<SQLite::Statement> insert, newest;
};

// Memory was refused, whatever SQLite was doing: no sign of damage.
bool is_no_memory(const SQLite::Exception& error);

// For a file that is not written: without locks, with what its log holds, and without a trace beside it. Throws
// SQLite::Exception.
SQLite::Database open_read_only(const std::filesystem::path& path);

}  // namespace attnscope::store
