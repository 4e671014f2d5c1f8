#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "catalog/import.h"
#include "core/touch.h"

namespace attnscope::catalog {

// A run of an imported kernel that shows what it accesses.
struct LearningRun {
  std::string manifest;                  // with room to spare in the buffers whose lengths are guesses
  std::map<std::string, int64_t> sizes;  // in place of the manifest's
  // The buffers hold something else than in the base, or a guess is another one: what differs then depends on data, or
  // on the guess.
  bool varied = false;
  bool smaller_block = false;      // a varied one: the block is a guess, and this run has fewer threads
  std::optional<Touches> touches;  // empty: it did not end
};

// True if a run can say more of its buffers than is known: a guessed length or role. Never where a template's numbers
// or a variable's contents are guesses.
bool can_learn(const Imported& imported);

// Runs with small sizes, at most `most` where the manifest's are larger: the base, one for each size with twice its
// value, varied ones, and one with all sizes larger. `least`: of a size whose value is a guess, unless it is a small
// number.
std::vector<LearningRun> learning_runs(const Imported& imported, int64_t most, int64_t least = 0);
// The same with half of its value, for the sizes whose doubled run did not end, and one with all of them changed.
std::vector<LearningRun> halved_runs(const Imported& imported, const std::vector<LearningRun>& runs);

// Puts what the runs show in place of guesses, in the manifest and in the notes: lengths (fitted_extent.h) and roles.
// Nothing that depends on data or on a guess of the launch is taken. A guessed size becomes at least what it is in the
// base, since a tile may be larger. False: nothing is learned.
bool learn(Imported& imported, const std::vector<LearningRun>& runs);

}  // namespace attnscope::catalog
