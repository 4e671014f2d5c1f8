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

namespace SQLite {
class Statement;
}

namespace attnscope::store {

struct ResultsDatabase;
struct ResultsFileSystem;

struct StoredObservation {
  Observation observation;
  double finished_at = 0;  // seconds since the epoch
};

struct Latest {
  std::vector<StoredObservation> rows;  // oldest first
  int64_t unreadable = 0;               // rows left out because a newer version wrote them or they are damaged
};

// The columns of a row that filters use. A column is read when it is asked for, because reading all of them is most of
// the time of a filter. Text is empty and us() is 0 if the observation lacks them. Keys and views are valid only during
// the call that passes them.
class ResultKey {
 public:
  explicit ResultKey(const SQLite::Statement& row) : row_(row) {}
  double finished_at() const;
  std::string_view kernel() const;
  std::string_view problem() const, config() const;  // JSON
  std::string_view device() const;                   // DeviceSpec::id
  std::string_view gpu() const;                      // its name from the driver
  std::string_view cache() const, kind() const;      // of the timing
  double us() const;
  std::string_view verdict() const;
  // The kernel that the output was compared with; empty: a different reference, or none.
  std::string_view against() const;
  // "correct", "agrees", "wrong" or "unchecked", without the watch's findings; empty: there is no verdict.
  std::string_view outcome() const;

 private:
  const SQLite::Statement& row_;
};
using ResultFilter = std::function<bool(const ResultKey&)>;
// Filters by a predicate over problems. A history holds few different problems, so each is parsed and tested once; a
// problem that cannot be parsed does not match.
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

// Every observation, in one SQLite file that several processes may share. Rows are only added, and their order says
// which is newer, because a clock may go backward.
//
// When damage shows, the readable rows are copied to a new file, the damaged file is moved aside as <name>.damaged-<n>,
// and take_trouble() reports it. If another process has repaired or replaced the file, it is opened again.
class Results {
 public:
  // Opens or creates the database. If the folder cannot be written or the disk is full, a database that has rows is
  // opened read-only. A database with a newer schema is a Failure and is not changed.
  static Result<std::unique_ptr<Results>> open(const std::filesystem::path& path);
  ~Results();
  // True if the file may hold results. SQLite leaves an empty file when the disk is full, and that does not count.
  static bool has_any(const std::filesystem::path& path);
  // Checks a file that a person names. open() would treat a file that is not a results file as damaged and replace it.
  static Result<void> check(const std::filesystem::path& path);

  // A full disk is a Failure that names the file; earlier rows stay.
  Result<void> append(const Observation& observation, double finished_at);
  // The newest observation of the experiment with that hash; empty if there is none.
  Result<std::optional<StoredObservation>> newest(const std::string& hash);
  // The row numbers that match the filter. Of rows with equal times only the newest is sure to come first.
  Result<std::vector<int64_t>> find(const ResultFilter& wanted, ResultOrder order);
  // Passes each of those rows to `take`, in that order, and returns how many could not be read: written by a newer
  // version, damaged, or gone.
  Result<int64_t> read(std::span<const int64_t> rows, const std::function<void(StoredObservation)>& take);
  // Timed observations whose verdict is correct, or agrees with the reference kernel of their manifest, and whose
  // problem has the same batch, heads, lengths, head_dim, mask and dtype: the last 10,000, newest first. The result may
  // include other problems, because kv_heads, layout and scale are not compared.
  Result<std::vector<StoredObservation>> correct(const Problem& problem);
  // Adds the rows of another results file that this one lacks, and its notes of experiments of which this one has none
  // or an older one; leaves the other as it is. A Failure names the file that is at fault; the rows added before it
  // stay, and merging again adds only the rest.
  Result<Merged> merge(const std::filesystem::path& other);
  // Stores a person's note on an experiment's runs. Earlier notes on the experiment stay in the file and are ignored.
  // Failure (Stage::input): the text is too long or not UTF-8.
  Result<void> annotate(const std::string& hash, const RunNote& note, double at);
  // The notes by experiment hash, without empty ones.
  Result<std::map<std::string, RunNote>> notes();
  // The last `most` rows, in the order in which they were added.
  Result<Latest> latest(int64_t most);
  Result<int64_t> count();

  // The damage repaired since the last call of take_trouble(), even if the calls in between succeeded; empty: none.
  std::optional<Failure> take_trouble() { return std::exchange(trouble_, std::nullopt); }

 private:
  explicit Results(std::filesystem::path path);
  // with_database() does all the work. It connects, and if SQLite finds damage, it repairs the file once and retries:
  //   1. mend() takes the guard, so that only one process at a time repairs or opens the file.
  //   2. If the damaged file is still the one that this process opened, replace_damaged() writes the readable rows to a
  //      new file, moves the damaged one aside and renames the new one. Otherwise another process has done so.
  //   3. open_file() opens the file that has the name now, in the way that its file system allows.
  Result<void> connect();
  Result<void> open_file(ResultsFileSystem file_system);
  Result<void> mend(const std::string& damage);
  Result<void> replace_damaged(const std::string& damage);
  template <class Work>
  auto with_database(Work work) -> decltype(work(std::declval<ResultsDatabase&>()));

  std::filesystem::path path_;
  std::optional<platform::FileIdentity> seen_;  // of the file that was opened last, or that failed to open
  std::unique_ptr<ResultsDatabase> database_;
  std::optional<Failure> trouble_;
};

}  // namespace attnscope::store
