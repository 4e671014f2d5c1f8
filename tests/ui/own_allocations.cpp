#include "ui/own_allocations.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local int64_t calls = 0;

}  // namespace

namespace attnscope::ui {

int64_t own_allocations() { return calls; }

}  // namespace attnscope::ui

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

void* take(size_t bytes, size_t alignment) {
  ++calls;
  void* taken = alignment <= alignof(std::max_align_t)
                    ? std::malloc(std::max<size_t>(bytes, 1))
                    : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (taken == nullptr) throw std::bad_alloc();
  return taken;
}

void give(void* taken) {
  ++calls;
  std::free(taken);
}

}  // namespace

#include "support/own_operators.inc"

#endif
