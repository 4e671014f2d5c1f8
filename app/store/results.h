#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/observation.h"
#include "core/result.h"

namespace attnscope::store {

struct StoredObservation {
  Observation observation;
  double finished_at = 0;  // seconds since the epoch
};

// Every observation ever made, in one SQLite file (write-ahead log; several processes may share it). Rows are only
// added.
class Results {
 public:
  static constexpr int kSchema = 1;

  // Opens or makes the database. One that is damaged is moved aside as <name>.damaged-<n>, a new one is begun and
  // `trouble` says so. One of a newer schema is a Failure and stays as it is.
  static Result<std::unique_ptr<Results>> open(const std::filesystem::path& path, std::optional<Failure>& trouble);
  ~Results();

  // A full disk is a Failure that names the file; what was there stands. Damage that shows only now is handled as
  // open() does: the row goes into the new database, and `trouble` says so.
  Result<void> append(const Observation& observation, double finished_at, std::optional<Failure>& trouble);
  // The newest observation of an experiment; empty: none.
  Result<std::optional<StoredObservation>> newest(const std::string& hash);
  // Those that are correct and timed of a problem with these sizes, mask and dtype, the newest 10,000.
  Result<std::vector<StoredObservation>> correct(const Problem& problem);
  Result<int64_t> count();

 private:
  struct Database;
  explicit Results(std::filesystem::path path);
  Result<void> connect();
  Result<void> begin_anew(const std::string& damage, std::optional<Failure>& trouble);

  std::filesystem::path path_;
  std::unique_ptr<Database> database_;
};

}  // namespace attnscope::store
