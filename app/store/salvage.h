#pragma once
#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>

namespace attnscope::store {

// Copies the readable rows of a damaged results database into `into`, which has the table but no rows, and keeps their
// ids. It reads upwards from the first row, downwards from the last, then row by row between the places where both
// stopped. Returns the number of rows. Throws SQLite::Exception for faults of `into` and when memory runs out; other
// faults of `damaged` only cost rows.
int64_t copy_readable_rows(const std::filesystem::path& damaged, SQLite::Database& into);

// True if the text still has its hash. SQLite does not notice when a page of text is overwritten.
bool is_whole(const std::string& hash, const std::string& text);

}  // namespace attnscope::store
