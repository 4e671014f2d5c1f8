#pragma once
#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>

namespace attnscope::store {

// Copies the readable rows of a damaged results database into `into`, which has the table but no rows, and keeps their
// ids: upwards from the first, downwards from the last, then one by one between the places where both stopped. Returns
// how many. Throws SQLite::Exception for faults of `into` and when memory runs out; other faults of `damaged` only mean
// fewer rows.
int64_t copy_readable_rows(const std::filesystem::path& damaged, SQLite::Database& into);

// A page of text may be overwritten without SQLite noticing: a row is complete if its text has the same hash.
bool is_whole(const std::string& hash, const std::string& text);

}  // namespace attnscope::store
