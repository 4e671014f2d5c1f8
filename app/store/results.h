#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/observation.h"
#include "core/result.h"
#include "platform/move_aside.h"
#include "store/run_note.h"

namespace attnscope::store {

struct ResultsDatabase;
struct ResultsFileSystem;

struct StoredObservation {
  Observation observation;
  double finished_at = 0;  // seconds since the epoch
};

struct Latest {
  std::vector<StoredObservation> rows;  // oldest first
  int64_t unreadable = 0;               // left out: written by a newer version, or damaged
};

// What a filter asks of a row, without the rest of the observation. Text is empty and `us` is 0 where the observation
// has none. Views: valid during the call that gives them.
struct ResultKey {
  double finished_at = 0;
  std::string_view kernel, problem, config;  // the last two as JSON
  std::string_view device, gpu;              // DeviceSpec::id; the GPU's name as the driver says it
  std::string_view cache, kind;              // of the timing
  double us = 0;
  std::string_view verdict;
  std::string_view against;  // the kernel that the output was compared with; empty: another reference, or none

  // correct, agrees, wrong or unchecked, without what a watch found; empty: it has no verdict.
  std::string_view outcome() const;
};
using ResultFilter = std::function<bool(const ResultKey&)>;
// Whether a key's problem is wanted. A history holds few different problems, so each is read and asked about once; one
// that cannot be read is not wanted.
class ProblemFilter {
 public:
  explicit ProblemFilter(std::function<bool(const Problem&)> wanted) : wanted_(std::move(wanted)) {}
  bool operator()(std::string_view json);

 private:
  std::function<bool(const Problem&)> wanted_;
  std::map<std::string, bool, std::less<>> seen_;
};

enum class ResultOrder { newest, fastest };  // fastest: rows without a time come last

struct Merged {
  int64_t added = 0, known = 0;  // known: this file has that row already
  int64_t unreadable = 0;        // damaged in the other file, and left out
  int64_t notes = 0;             // taken from the other file
};

// Every observation, in one SQLite file that several processes may share. Rows are only added; their order says which
// is newer, because a clock may go backward.
//
// Whenever damage shows, the readable rows are copied to a new file, the damaged one is moved aside as
// <name>.damaged-<n>, and take_trouble() says so. A file that another process has repaired or replaced is opened again.
class Results {
 public:
  // Opens or makes the database. In a folder that cannot be written, and on a disk that takes no more, one with rows is
  // opened read-only. A database of a newer schema is a Failure and stays as it is.
  static Result<std::unique_ptr<Results>> open(const std::filesystem::path& path);
  ~Results();
  // Whether there are results that another call could lose. SQLite leaves an empty file where the disk is full.
  static bool has_any(const std::filesystem::path& path);
  // A file that a person names: open() would take one that is no results file for a damaged one and replace it.
  static Result<void> check(const std::filesystem::path& path);

  // A full disk is a Failure that names the file; earlier rows stay.
  Result<void> append(const Observation& observation, double finished_at);
  // The newest observation of an experiment; empty: none.
  Result<std::optional<StoredObservation>> newest(const std::string& hash);
  // The rows that the filter wants, by their numbers. Only the newest of equal times comes first.
  Result<std::vector<int64_t>> find(const ResultFilter& wanted, ResultOrder order);
  // Gives each of those rows in that order, and returns how many could not be read: written by a newer version,
  // damaged, or gone.
  Result<int64_t> read(std::span<const int64_t> rows, const std::function<void(StoredObservation)>& take);
  // Timed observations that are correct, or agree with the kernel that their manifest names, with the problem's batch,
  // heads, lengths, head_dim, mask and dtype: the last 10,000, newest first. A superset of the problem's own: kv_heads,
  // layout and scale may differ.
  Result<std::vector<StoredObservation>> correct(const Problem& problem);
  // Adds the rows of another results file that this one lacks, and its notes of experiments of which this one has none
  // or an older one; leaves the other as it is. A Failure names the file that is at fault; the rows added before it
  // stay, and merging again adds only the rest.
  Result<Merged> merge(const std::filesystem::path& other);
  // Keeps what a person says of an experiment's runs. An earlier word of the same experiment stays in the file and
  // counts no more. Failure (Stage::input): the text is too long or no UTF-8.
  Result<void> annotate(const std::string& hash, const RunNote& note, double at);
  // By experiment; those that say nothing any more are left out.
  Result<std::map<std::string, RunNote>> notes();
  // The last `most` in the order in which they were added.
  Result<Latest> latest(int64_t most);
  Result<int64_t> count();

  // The damage that was repaired since the last call, whatever the calls between returned; empty: none.
  std::optional<Failure> take_trouble() { return std::exchange(trouble_, std::nullopt); }

 private:
  explicit Results(std::filesystem::path path);
  // with_database() does all work. It connects, and when SQLite finds damage, it mends once and works again:
  //   1. mend() takes the guard, so that only one process at a time repairs or opens the file.
  //   2. If the damaged file is still the one that this process saw, replace_damaged() writes the readable rows to a
  //      new file, moves the damaged one aside and gives the new one its name. Otherwise another process has done so.
  //   3. open_file() opens what has the name now, in the way that its file system allows.
  Result<void> connect();
  Result<void> open_file(ResultsFileSystem file_system);
  Result<void> mend(const std::string& damage);
  Result<void> replace_damaged(const std::string& damage);
  template <class Work>
  auto with_database(Work work) -> decltype(work(std::declval<ResultsDatabase&>()));

  std::filesystem::path path_;
  std::optional<platform::FileIdentity> seen_;  // of the file that was opened last, or that did not open
  std::unique_ptr<ResultsDatabase> database_;
  std::optional<Failure> trouble_;
};

}  // namespace attnscope::store
