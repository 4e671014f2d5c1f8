#pragma once
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <thread>

namespace attnscope::testing_support {

// While an object of this class lives, a signal with a handler arrives every millisecond and interrupts system calls
// that wait. It goes to a thread that does not block SIGALRM: see WithoutInterruptions.
class Interruptions {
 public:
  Interruptions() {
    count_ = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { ++count_; };  // without SA_RESTART: the call returns EINTR
    sigaction(SIGALRM, &action, &before_);
    const itimerval often{{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &often, nullptr);
  }
  ~Interruptions() {
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }
  Interruptions(const Interruptions&) = delete;

  // Returns when this many interruptions have come since construction.
  static void wait_for(int count) {
    while (count_ < count) std::this_thread::yield();
  }

 private:
  static inline std::atomic<int> count_ = 0;
  struct sigaction before_ {};
};

// While an object of this class lives, the calling thread gets no interruptions; another thread gets them.
class WithoutInterruptions {
 public:
  WithoutInterruptions() {
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, &before_);
  }
  ~WithoutInterruptions() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutInterruptions(const WithoutInterruptions&) = delete;

 private:
  sigset_t before_;
};

}  // namespace attnscope::testing_support
