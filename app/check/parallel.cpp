#include "check/parallel.h"

#include <atomic>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace attnscope::check {

bool in_parallel(size_t threads, size_t items, const std::function<void(size_t thread, size_t item)>& work) {
  std::atomic<size_t> next{0};
  std::atomic<bool> out_of_memory{false};
  const auto serve = [&](size_t thread) {
    try {
      for (size_t item = next++; item < items && !out_of_memory; item = next++) work(thread, item);
    } catch (const std::bad_alloc&) {
      out_of_memory = true;
    }
  };
  std::vector<std::thread> others;
  for (size_t t = 1; t < threads && t < items; ++t) {
    try {
      others.emplace_back(serve, t);
    } catch (const std::system_error&) {
      break;  // the system refuses another thread; the running ones take its share
    } catch (const std::bad_alloc&) {
      break;  // the same; an exception here would end the process while threads run
    }
  }
  serve(0);
  for (std::thread& other : others) other.join();
  return !out_of_memory;
}

}  // namespace attnscope::check
