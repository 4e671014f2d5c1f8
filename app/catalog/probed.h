#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "catalog/import.h"

namespace attnscope::catalog {

// Erases the sentences that begin so.
void forget(std::vector<std::string>& sentences, const std::string& begin);

// Makes a buffer with a guessed length at least `times` as long, by a power of two, in the manifest and in the notes.
// Returns false if its length is not a guess, or is already too many times the guess.
bool lengthen(Imported& imported, const std::string& buffer, int64_t times);

// Makes the largest size of a kernel that takes too long a quarter of what it is, and says so. False: none is large.
bool lower_largest(Imported& imported);

// For a kernel one of whose CTAs waits for another: its launch becomes cooperative. False: it is, or there are several
// launches.
bool run_together(Imported& imported);

// For a kernel that leaves a buffer: whole numbers of its inputs that start random may be indices, and become zeros. It
// is said. False: there are none.
bool zero_whole_numbers(Imported& imported);
// Ones in place of random floats, which may be indices after a cast. False: there are none.
bool one_floats(Imported& imported);

// Leaves out the contents of a variable that the compiled kernel does not have. False: the manifest gives it none, or
// has knobs, with whose other values the kernel may have it.
bool drop_variable(Imported& imported, const std::string& name);

// For a kernel that leaves a buffer: a length that another file's host code says may be that of another kernel of this
// name, so it becomes a guess. False: the kernel's own file says it, or it is a guess already.
bool doubt_length(Imported& imported, const std::string& buffer);

// For the same: each size that is a guess becomes at most `most`, which is said. False: none is larger.
bool lower_guessed(Imported& imported, int64_t most);

}  // namespace attnscope::catalog
