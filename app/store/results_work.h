#pragma once
#include "store/results.h"
#include "store/results_database.h"

// Helpers shared by the sources of Results.
namespace attnscope::store {

bool is_damage(const SQLite::Exception& error);

Failure failure_of(const std::filesystem::path& path, const SQLite::Exception& error);

// Why a database without `insert` takes no row.
Failure not_writable(const std::filesystem::path& path, const ResultsDatabase& database);

// Adds to `to` each note of `from` whose experiment has none there or an older one. Notes that annotate() would refuse
// are counted as unreadable.
Result<void> merge_notes(ResultsDatabase& from, ResultsDatabase& to, const std::filesystem::path& path, Merged& merged);

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

}  // namespace attnscope::store
