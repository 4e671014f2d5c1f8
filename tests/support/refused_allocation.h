#pragma once
#include <cstdint>
#include <functional>

#include "core/result.h"

// Memory that runs out at a chosen moment. A program that links this has an operator new that can refuse; sanitizers
// have their own, so these tests are built without.
//
// Two allocations are never refused, because no exception may be thrown there and no caller could catch it: the stack
// on which nlohmann's destructor of an array or object puts its members, and a path that libstdc++'s directory_iterator
// copies. A refusal there ends the process through the terminate handler of cli/program.cpp;
// tests/faults/allocation_test.py tests that end, with any allocation of whole processes refused. If a later member is
// refused, nlohmann's constructors leak the earlier ones, so Refusals::held is not checked for code that writes JSON.
namespace attnscope::testing_support {

// While an object of this class lives, the n-th allocation (0 is the first) of this process, on any thread, is refused.
class RefusedAllocation {
 public:
  explicit RefusedAllocation(int64_t n);
  ~RefusedAllocation();
  RefusedAllocation(const RefusedAllocation&) = delete;
  RefusedAllocation& operator=(const RefusedAllocation&) = delete;

  int64_t made() const;   // allocations so far
  bool happened() const;  // one was refused
};

// For allocators besides operator new (SQLite's): whether the current allocation is the refused one.
bool refuse_this_allocation();

// Allocations that operator new gave and that have not been freed.
int64_t allocations_held();

struct Refusals {
  int64_t calls = 0;     // with a refused allocation
  int64_t answered = 0;  // the call managed without it
  int64_t failed = 0;    // a Failure
  int64_t thrown = 0;    // std::bad_alloc
  int64_t held = 0;      // allocations after the calls minus before: leaks
};

// Calls `door` repeatedly, each time with another of its allocations refused: all of them, or `most` spread over them.
// The test fails on a Failure without a message, on any exception but std::bad_alloc, and when `door` still refuses
// once memory is back. `after` runs after each call, with memory back. The first call has no refusal.
Refusals refuse_each(const std::function<Result<void>()>& door, int64_t most = 3000,
                     const std::function<void()>& after = {});

}  // namespace attnscope::testing_support
