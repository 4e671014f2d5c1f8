#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/observation.h"
#include "core/result.h"
#include "platform/move_aside.h"

namespace attnscope::store {

struct ResultsDatabase;

struct StoredObservation {
  Observation observation;
  double finished_at = 0;  // seconds since the epoch
};

struct Latest {
  std::vector<StoredObservation> rows;  // oldest first
  int64_t unreadable = 0;               // left out: written by a version that says more, or damaged
};

// Every observation ever made, in one SQLite file that several processes may share. Rows are only added; the order in
// which they were added says which is newer, since a clock may go backward.
//
// Damage, whenever it shows: the rows that can be read are copied to a new file, the damaged one is moved aside as
// <name>.damaged-<n>, and `trouble` says so. A file that another process has mended or replaced is opened again.
class Results {
 public:
  // Opens or makes the database. One in a folder that cannot be written is opened to be read. One of a newer schema is
  // a Failure and stays as it is.
  static Result<std::unique_ptr<Results>> open(const std::filesystem::path& path, std::optional<Failure>& trouble);
  ~Results();

  // A full disk is a Failure that names the file; what was there stands.
  Result<void> append(const Observation& observation, double finished_at, std::optional<Failure>& trouble);
  // The newest observation of an experiment; empty: none.
  Result<std::optional<StoredObservation>> newest(const std::string& hash, std::optional<Failure>& trouble);
  // Those that are correct and timed of a problem with these sizes, mask and dtype: the last 10,000, the newest first.
  Result<std::vector<StoredObservation>> correct(const Problem& problem, std::optional<Failure>& trouble);
  // The last `most` in the order in which they were added.
  Result<Latest> latest(int64_t most, std::optional<Failure>& trouble);
  Result<int64_t> count(std::optional<Failure>& trouble);

 private:
  explicit Results(std::filesystem::path path);
  Result<void> connect();
  Result<void> open_file(bool locks, bool shared_memory);
  Result<void> mend(const std::string& damage, std::optional<Failure>& trouble);
  Result<void> replace_damaged(const std::string& damage, std::optional<Failure>& trouble);
  template <class Work>
  auto with_database(std::optional<Failure>& trouble, Work work) -> decltype(work(std::declval<ResultsDatabase&>()));

  std::filesystem::path path_;
  std::optional<platform::FileIdentity> seen_;  // of the file that was opened last, or would not open
  std::unique_ptr<ResultsDatabase> database_;
};

}  // namespace attnscope::store
