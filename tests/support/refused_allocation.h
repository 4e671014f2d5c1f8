#pragma once
#include <cstdint>
#include <functional>

#include "core/result.h"

// Memory that runs out at a chosen moment. What links this has an operator new that can refuse; a sanitizer has one of
// its own, so these tests are built without.
//
// Two allocations are never refused, since they stand where no exception may come and no caller could catch it: the
// stack that nlohmann's destructor of an array or object takes for its members, and a path that libstdc++'s
// directory_iterator copies. A refusal there ends the process through cli/program.cpp's terminate handler;
// tests/faults/allocation_test.py holds that end, with any allocation of whole processes refused. What nlohmann's
// constructors had taken when a later member is refused stays taken, so what writes JSON is not held to Refusals::held.
namespace attnscope::testing_support {

// While one lives, the n-th allocation (0 the first) that this process makes, on whatever thread, is refused.
class RefusedAllocation {
 public:
  explicit RefusedAllocation(int64_t n);
  ~RefusedAllocation();
  RefusedAllocation(const RefusedAllocation&) = delete;
  RefusedAllocation& operator=(const RefusedAllocation&) = delete;

  int64_t made() const;   // allocations so far
  bool happened() const;  // one was refused
};

// For allocators beside operator new (SQLite's): whether the one that is asked for now is the refused one.
bool refuse_this_allocation();

// What operator new gave and has not got back.
int64_t allocations_held();

struct Refusals {
  int64_t calls = 0;     // with a refused allocation
  int64_t answered = 0;  // the call did without it
  int64_t failed = 0;    // a Failure
  int64_t thrown = 0;    // std::bad_alloc
  int64_t held = 0;      // allocations that were held after the calls and not before: leaks
};

// Calls `door` again and again, each time with another of its allocations refused: all of them, or `most` spread over
// them. A Failure without a message, any exception but std::bad_alloc and a door that refuses afterwards, with memory
// there, fail the test. `after` runs behind each call, with memory there. The first call is without a refusal.
Refusals refuse_each(const std::function<Result<void>()>& door, int64_t most = 3000,
                     const std::function<void()>& after = {});

}  // namespace attnscope::testing_support
