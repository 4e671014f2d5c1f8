#include "support/refused_allocation.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

namespace {

constexpr int kFrames = 12;  // from operator new up to the calling destructor

std::atomic<int64_t> left{-1};  // allocations until one is refused; below 0: none
std::atomic<int64_t> counted{0}, held{0};
std::atomic<bool> refused{false};

// By name: libstdc++ exports these, and so does the test's program.
bool where_nothing_is_caught() {
  void* frames[kFrames];
  const int depth = backtrace(frames, kFrames);
  for (int i = 0; i < depth; ++i) {
    Dl_info info;
    if (dladdr(frames[i], &info) == 0 || info.dli_sname == nullptr) continue;
    for (const char* name : {"10json_value7destroy", "18directory_iterator"})
      if (std::strstr(info.dli_sname, name) != nullptr) return true;
  }
  return false;
}

bool refuse_next() {
  ++counted;
  return left >= 0 && left-- == 0;
}

void* take(size_t bytes, size_t alignment) {
  if (refuse_next()) {
    if (where_nothing_is_caught()) {
      left = 0;  // the next one instead
    } else {
      refused = true;
      throw std::bad_alloc();
    }
  }
  void* taken = alignment <= alignof(std::max_align_t)
                    ? std::malloc(bytes)
                    : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (taken == nullptr) throw std::bad_alloc();
  ++held;
  return taken;
}

void give(void* taken) {
  if (taken != nullptr) --held;
  std::free(taken);
}

// Called when the process ends although only a Failure or std::bad_alloc is allowed.
[[noreturn]] void say_where() {
  void* frames[64];
  std::fprintf(stderr, "allocation %ld, refused, ended the process:\n", static_cast<long>(counted));
  backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
  std::abort();
}

}  // namespace

#include "support/own_operators.inc"

namespace attnscope::testing_support {

RefusedAllocation::RefusedAllocation(int64_t n) {
  refused = false;
  counted = 0;
  left = n;
}
RefusedAllocation::~RefusedAllocation() { left = -1; }
int64_t RefusedAllocation::made() const { return counted; }
bool RefusedAllocation::happened() const { return refused; }

bool refuse_this_allocation() {
  if (!refuse_next()) return false;
  refused = true;
  return true;
}

int64_t allocations_held() { return held; }

Refusals refuse_each(const std::function<Result<void>()>& door, int64_t most, const std::function<void()>& after) {
  constexpr int64_t kNever = int64_t{1} << 60;
  std::set_terminate(say_where);
  const auto answers = [&] {
    const auto done = door();
    if (!done) ADD_FAILURE() << "with memory there: " << done.error().message;
    if (after) after();
    return done.has_value();
  };
  Refusals refusals;
  int64_t all = 0;
  for (int warm = 0; warm < 2; ++warm) {  // the first call fills caches, also dladdr's
    const RefusedAllocation none(kNever);
    (void)where_nothing_is_caught();
    if (!answers()) return refusals;
    all = none.made();
  }
  const int64_t held_before = allocations_held(), stride = all / most + 1;
  for (int64_t n = 0;; n += stride) {
    bool happened = false;
    {
      const RefusedAllocation one(n);
      try {
        const auto done = door();
        happened = one.happened();
        if (done) {
          refusals.answered += happened;
        } else {
          ++refusals.failed;
          if (done.error().message.empty()) {
            ADD_FAILURE() << "allocation " << n << " ended in a Failure without a message";
          }
        }
      } catch (const std::bad_alloc&) {
        happened = true;
        ++refusals.thrown;
      }
    }
    if (after) after();
    if (!happened) break;
    ++refusals.calls;
    if (n > 10 * (all + 100)) {
      ADD_FAILURE() << "a call's allocations do not end";
      break;
    }
  }
  refusals.held = allocations_held() - held_before;
  answers();
  return refusals;
}

}  // namespace attnscope::testing_support
