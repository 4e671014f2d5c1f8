#pragma once
#include <cstddef>
#include <functional>

namespace attnscope::check {

// Calls work(thread, item) for every item; the next item goes to whichever of `threads` threads is free. They inherit
// the caller's scheduling priority; the caller is thread 0. Uses fewer threads if the system refuses some. Returns
// false when an item ran out of memory; items after it may be missing. `work` may throw nothing else.
bool in_parallel(size_t threads, size_t items, const std::function<void(size_t thread, size_t item)>& work);

}  // namespace attnscope::check
