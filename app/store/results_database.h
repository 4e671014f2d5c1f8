#pragma once
#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "core/result.h"
#include "platform/move_aside.h"

namespace attnscope::store {

// What the file system of the results file supports. It is checked first, because a failed attempt of SQLite leaves the
// file in a state that stops other processes.
struct ResultsFileSystem {
  bool locks = true, shared_memory = true;
};

// The columns of a row of keys in the order in which keys() gives them.
enum class KeyColumn { id, finished_at, kernel, problem, config, device, gpu, cache, kind, us, verdict, against };

// The open results file. Members throw SQLite::Exception; Results turns it into a Failure or repairs the damage.
struct ResultsDatabase {
  static constexpr int kSchema = 1;

  // How the file is shared with other processes; depends on its file system.
  enum class Way {
    shared_log,  // a write-ahead log: many readers and one writer at once. Needs locks and shared memory (mmap).
    journal,     // a rollback journal with a lock per transaction; without file locks, a folder beside it is the lock
    read_only    // the folder cannot be written, or the disk is full: rows are read, none are added
  };

  // Opens the file, and creates it if there is none. If its rows cannot be written to now, on a full disk for example,
  // it is opened read-only. Throws SQLite::Exception. A file with a newer schema is a Failure.
  static Result<std::unique_ptr<ResultsDatabase>> open(const std::filesystem::path& path,
                                                       ResultsFileSystem file_system);
  // open() with the given way only.
  static Result<std::unique_ptr<ResultsDatabase>> open_in(Way way, const std::filesystem::path& path,
                                                          ResultsFileSystem file_system);
  // Opens another program's or machine's file without changing it. Throws SQLite::Exception. A file that is not a
  // results file, or has a newer schema, is a Failure. Only a regular file is opened.
  static Result<std::unique_ptr<ResultsDatabase>> open_other(const std::filesystem::path& path);
  // Creates the table in an empty database, and the indexes and key tables in any database.
  static void make_schema(SQLite::Database& sql);
  // A query that gives a row of keys for each observation, with the columns of KeyColumn.
  std::string keys() const;

  ResultsDatabase(const std::filesystem::path& path, Way way, bool locks);

  const Way way;
  std::optional<SQLite::Exception> unwritable;  // why the file is read-only although its folder can be written
  bool has_keys = false;   // the key table exists with every column; false for an older file that cannot be written
  bool has_notes = false;  // the same for the table of notes
  std::optional<platform::FileIdentity> identity;  // of the open file
  SQLite::Database connection;
  std::optional<SQLite::Statement> insert, newest;
};

// True if memory ran out in any operation of SQLite. That is not damage.
bool is_no_memory(const SQLite::Exception& error);

// True if the disk is full or failed. Existing rows may still be readable.
bool is_no_room(const SQLite::Exception& error);

// Opens a file that nothing writes: without locks, with the contents of its log, and without leaving files beside it.
// Throws SQLite::Exception.
SQLite::Database open_read_only(const std::filesystem::path& path);

}  // namespace attnscope::store
