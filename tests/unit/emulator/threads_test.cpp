// The system refuses further threads: the run reports it, or continues with the threads that it has. It does not wait.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "support/no_threads.h"
#include "unit/emulator/numbered_job.h"

namespace attnscope::emulator::testing {
namespace {

class RefusedThreads : public ::testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (!testing_support::threads_can_be_refused()) GTEST_SKIP() << "this system does not hold RLIMIT_NPROC";
  }
  // Writes the run's result to stderr and ends the process.
  [[noreturn]] static void report(unsigned threads) {
    Numbered job;
    RunOptions options;
    options.threads = threads;
    const auto result = run(job.launch, options);
    if (result)
      std::fprintf(stderr, "ran %u CTAs, the last wrote %u", unsigned(result->counters.ctas), job.out.back());
    else
      std::fprintf(stderr, "%s: %s", std::string(to_string(result.error().stage)).c_str(),
                   result.error().message.c_str());
    std::_Exit(0);
  }
};

TEST_F(RefusedThreads, WithoutAnyThreadTheRunIsRefused) {
  EXPECT_EXIT(
      {
        testing_support::refuse_threads();
        report(4);
      },
      ::testing::ExitedWithCode(0), "limits: the system refuses a thread for the emulated run of k");
}

TEST_F(RefusedThreads, ARefusalLeavesNothingThatALaterRunWaitsFor) {
  EXPECT_EXIT(
      {
        testing_support::refuse_threads();
        Numbered job;
        (void)run(job.launch, {});
        report(4);
      },
      ::testing::ExitedWithCode(0), "limits: the system refuses a thread");
}

TEST_F(RefusedThreads, TheThreadsThatAreThereRunTheGrid) {
  EXPECT_EXIT(
      {
        Numbered first;
        RunOptions one;
        one.threads = 1;
        (void)run(first.launch, one);
        testing_support::refuse_threads();
        report(4);
      },
      ::testing::ExitedWithCode(0), "ran 24 CTAs, the last wrote 23");
}

}  // namespace
}  // namespace attnscope::emulator::testing
