#pragma once
#include <cstddef>
#include <functional>

namespace attnscope::check {

// Calls work(thread, item) for every item, the next one by whichever of `threads` threads is free; they inherit the
// caller's scheduling priority, and the caller is thread 0. Fewer threads where the system has none to give. False: an
// item had no memory, and items after it may not have been done. No other exception may leave `work`.
bool in_parallel(size_t threads, size_t items, const std::function<void(size_t thread, size_t item)>& work);

}  // namespace attnscope::check
