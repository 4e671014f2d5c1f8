#include "platform/termination.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>

#include "support/interruptions.h"

namespace attnscope::platform {
namespace {

TEST(OnTermination, EachSignalAsksOnce) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    std::promise<void> asked;
    const OnTermination ended([&] { asked.set_value(); });
    raise(signal);
    EXPECT_EQ(asked.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready) << signal;
  }
}

TEST(OnTermination, OtherSignalsDoNotInterruptTheListening) {
  std::promise<void> asked;
  const testing_support::Interruptions interruptions;
  const OnTermination ended([&] { asked.set_value(); });
  const testing_support::WithoutInterruptions here;  // the listening thread gets them
  testing_support::Interruptions::wait_for(10);
  raise(SIGTERM);
  EXPECT_EQ(asked.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

// Returns the signal that ends a child, which gets the signal once inside `work` and once after it.
template <class Work>
int signal_that_ends(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    raise(SIGTERM);
    _exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(OnTermination, ASecondSignalEndsTheProcess) {
  EXPECT_EQ(signal_that_ends([] {
              static const OnTermination ended([] {});
              raise(SIGTERM);
            }),
            SIGTERM);
}

TEST(OnTermination, AfterwardsASignalEndsTheProcessAsBefore) {
  EXPECT_EQ(signal_that_ends([] { const OnTermination ended([] {}); }), SIGTERM);
}

}  // namespace
}  // namespace attnscope::platform
