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

void* operator new(size_t bytes) { return take(bytes, 1); }
void* operator new[](size_t bytes) { return take(bytes, 1); }
void* operator new(size_t bytes, std::align_val_t alignment) { return take(bytes, static_cast<size_t>(alignment)); }
void* operator new[](size_t bytes, std::align_val_t alignment) { return take(bytes, static_cast<size_t>(alignment)); }
void operator delete(void* taken) noexcept { give(taken); }
void operator delete[](void* taken) noexcept { give(taken); }
void operator delete(void* taken, size_t) noexcept { give(taken); }
void operator delete[](void* taken, size_t) noexcept { give(taken); }
void operator delete(void* taken, std::align_val_t) noexcept { give(taken); }
void operator delete[](void* taken, std::align_val_t) noexcept { give(taken); }
void operator delete(void* taken, size_t, std::align_val_t) noexcept { give(taken); }
void operator delete[](void* taken, size_t, std::align_val_t) noexcept { give(taken); }

#endif
