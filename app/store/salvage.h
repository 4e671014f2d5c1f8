#pragma once
#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>

namespace attnscope::store {

// Copies the rows of a damaged results database that can still be read into `into`, which has the table and no rows,
// under their ids: upwards from the first, downwards from the last, and one by one between the two places where reading
// ends. Returns how many. Throws SQLite::Exception for faults of `into` and where memory runs out; other faults of
// `damaged` end in fewer rows.
int64_t copy_readable_rows(const std::filesystem::path& damaged, SQLite::Database& into);

}  // namespace attnscope::store
