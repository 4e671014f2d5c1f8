// Memory that runs out anywhere between the request and the answer: every outcome is a Failure or an observation, and
// the process lives.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>

#include "platform/memory.h"
#include "support/temp_dir.h"
#include "unit/worker/small_request.h"
#include "worker/pipeline.h"

// A sanitizer has an operator new of its own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {

// Bytes. Where memory is promised freely only large allocations are ever refused; and the destructor of nlohmann::json
// takes a list of its own, of 16 bytes for each element, which no caller can catch.
constexpr size_t kLarge = 4096;
std::atomic<int64_t> allowed_large{-1};  // large allocations until one fails; below 0: none fails
std::atomic<bool> one_failed{false};

void* take(size_t bytes, size_t alignment) {
  if (bytes >= kLarge && allowed_large >= 0 && allowed_large-- == 0) {
    one_failed = true;
    throw std::bad_alloc();
  }
  void* taken = alignment <= alignof(std::max_align_t)
                    ? std::malloc(bytes)
                    : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (taken == nullptr) throw std::bad_alloc();
  return taken;
}

}  // namespace

void* operator new(size_t bytes) { return take(bytes, 1); }
void* operator new[](size_t bytes) { return take(bytes, 1); }
void* operator new(size_t bytes, std::align_val_t alignment) { return take(bytes, static_cast<size_t>(alignment)); }
void* operator new[](size_t bytes, std::align_val_t alignment) { return take(bytes, static_cast<size_t>(alignment)); }
void operator delete(void* taken) noexcept { std::free(taken); }
void operator delete[](void* taken) noexcept { std::free(taken); }
void operator delete(void* taken, size_t) noexcept { std::free(taken); }
void operator delete[](void* taken, size_t) noexcept { std::free(taken); }
void operator delete(void* taken, std::align_val_t) noexcept { std::free(taken); }
void operator delete[](void* taken, std::align_val_t) noexcept { std::free(taken); }
void operator delete(void* taken, size_t, std::align_val_t) noexcept { std::free(taken); }
void operator delete[](void* taken, size_t, std::align_val_t) noexcept { std::free(taken); }
#endif

namespace attnscope::worker {
namespace {

class Ignored final : public Sink {
 public:
  void part(Json, bool) override {}
  void tile(Tile) override {}
  void progress(protocol::Step, int64_t, int64_t) override {}
};

class AllocationFailure : public testing::Test {
 protected:
  ~AllocationFailure() override { platform::inject_available_memory(std::nullopt); }
  std::unique_ptr<Services> services() const { return services_in(folder.path()); }
  testing_support::TempDir folder;
  std::atomic<bool> cancel{false};
  Request request = small_request(cancel);
};

TEST_F(AllocationFailure, LittleMemoryIsARefusalThatSaysHowMuch) {
  const auto all = services();
  Ignored sink;
  platform::inject_available_memory(1000);
  const auto done = run_experiment(*all, request, sink);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().stage, Stage::limits);
  EXPECT_NE(done.error().message.find("GB are available"), std::string::npos) << done.error().message;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(AllocationFailure, AnyRefusedAllocationIsAFailureOrCostsNothing) {
  const auto all = services();
  Ignored sink;
  auto first = run_experiment(*all, request, sink);  // the compiler's own allocations are not ours to refuse
  ASSERT_TRUE(first) << first.error().message;
  int failures = 0, successes = 0;
  for (int64_t n = 0;; ++n) {
    ASSERT_LT(n, 20000) << "a run's allocations do not end";
    ++request.experiment.problem.seed;  // inputs and reference are made again
    one_failed = false;
    allowed_large = n;
    const auto done = run_experiment(*all, request, sink);
    allowed_large = -1;
    if (!one_failed) break;  // every allocation of a run has failed once
    (done ? successes : failures)++;
    if (!done) {
      EXPECT_FALSE(done.error().message.empty());
      EXPECT_FALSE(done.error().hint.empty()) << done.error().message;
      EXPECT_TRUE(done.error().stage == Stage::limits || done.error().stage == Stage::check ||
                  done.error().stage == Stage::store)
          << done.error().message;
    }
  }
  EXPECT_GT(failures, 10);
  const auto after = run_experiment(*all, request, sink);
  EXPECT_TRUE(after) << after.error().message;
}
#endif

}  // namespace
}  // namespace attnscope::worker
