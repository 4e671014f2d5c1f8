#pragma once
#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "core/result.h"
#include "platform/move_aside.h"

namespace attnscope::store {

// What the file system of the results file supports. Checked first: if SQLite tries and fails, the file is left in
// a state that stops other processes.
struct ResultsFileSystem {
  bool locks = true, shared_memory = true;
};

// The open results file. Members throw SQLite::Exception; Results turns it into a Failure or repairs the damage.
struct ResultsDatabase {
  static constexpr int kSchema = 1;

  // How the file is shared with other processes, depending on its file system.
  enum class Way {
    shared_log,  // a write-ahead log: readers and a writer at once. Needs locks and shared memory (mmap).
    journal,     // a rollback journal, locked per transaction; without file locks, by a folder beside it
    read_only    // the folder cannot be written, or the disk is full: rows are shown, none are added
  };

  // Makes the file if there is none. One with rows that cannot be written now, as on a full disk, is opened read-only.
  // Throws SQLite::Exception; a file of a newer schema is a Failure.
  static Result<std::unique_ptr<ResultsDatabase>> open(const std::filesystem::path& path,
                                                       ResultsFileSystem file_system);
  // The same in that way only.
  static Result<std::unique_ptr<ResultsDatabase>> open_in(Way way, const std::filesystem::path& path,
                                                          ResultsFileSystem file_system);
  // Another program's or machine's file, which stays as it is. Throws SQLite::Exception; a file that is no results
  // file, or of a newer schema, is a Failure. Only a regular file is opened.
  static Result<std::unique_ptr<ResultsDatabase>> open_other(const std::filesystem::path& path);
  // Makes the table in an empty database, and what finds rows in it in any.
  static void make_schema(SQLite::Database& sql);
  // A row of keys for each observation, as a query: id, finished_at, then the columns of ResultKey in their order.
  std::string keys() const;

  ResultsDatabase(const std::filesystem::path& path, Way way, bool locks);

  const Way way;
  std::optional<SQLite::Exception> unwritable;  // why the file is read-only though its folder can be written
  bool has_keys = false;   // the table of keys with every column: not in an older file that cannot be written
  bool has_notes = false;  // likewise the table of notes
  std::optional<platform::FileIdentity> identity;  // of the open file
  SQLite::Database connection;
  std::optional<SQLite::Statement> insert, newest;
};

// Whether memory was refused, whatever SQLite was doing; that is not damage.
bool is_no_memory(const SQLite::Exception& error);

// Whether the disk took no more, or failed: the rows that are there can perhaps be read.
bool is_no_room(const SQLite::Exception& error);

// Opens a file that nothing writes: without locks, with the contents of its log, and without leaving files beside it.
// Throws SQLite::Exception.
SQLite::Database open_read_only(const std::filesystem::path& path);

}  // namespace attnscope::store
