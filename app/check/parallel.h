#pragma once
#include <cstddef>
#include <functional>

namespace attnscope::check {

// Calls work(thread, item) for every item on `threads` threads; each free thread takes the next item. The threads
// inherit the caller's scheduling priority, and the caller is thread 0. Uses fewer threads if the system refuses some.
// Returns false if an item ran out of memory; later items may then be missing. `work` must throw nothing but
// std::bad_alloc.
bool in_parallel(size_t threads, size_t items, const std::function<void(size_t thread, size_t item)>& work);

}  // namespace attnscope::check
