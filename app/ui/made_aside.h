#pragma once
#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

namespace attnscope::ui {

// A value that takes longer to make than a frame has. Another thread makes it, and frees the one before it, which takes
// a while too. If the system refuses a thread, the frame does it.
template <class T>
class MadeAside {
 public:
  using Make = std::function<T()>;

  // Makes a value in place of the one that is being made, if any; value() stays until it is there. `at_once`: within
  // this call, because it is short.
  void begin(Make make, bool at_once) {
    next_ = nullptr;
    if (coming_.valid()) unwanted_ = true;
    if (at_once) {
      take(std::make_shared<const T>(make()));
    } else if (coming_.valid()) {
      next_ = std::move(make);
    } else {
      start(std::move(make));
    }
  }
  // Call once a frame. Returns true if value() is another one since the last call.
  bool follow() {
    std::erase_if(freeing_, [](auto& one) { return ready(one); });
    if (coming_.valid() && ready(coming_)) {
      auto made = coming_.get();
      if (std::exchange(unwanted_, false))
        free_aside(std::move(made));
      else
        take(std::move(made));
      if (next_) start(std::exchange(next_, nullptr));
    }
    return std::exchange(taken_, false);
  }
  // There is no value, and none is wanted.
  void clear() {
    next_ = nullptr;
    unwanted_ = coming_.valid();
    taken_ = false;
    free_aside(std::exchange(value_, nullptr));
  }

  const std::shared_ptr<const T>& value() const { return value_; }
  bool makes() const { return (coming_.valid() && !unwanted_) || next_; }

 private:
  using Made = std::shared_ptr<const T>;

  template <class Future>
  static bool ready(Future& one) {
    return one.wait_for(std::chrono::seconds(0)) != std::future_status::timeout;
  }
  void start(Make make) {
    // `make` may be the last owner of what it holds, so it is destroyed on that thread too.
    const auto work = [make = std::move(make)]() mutable {
      auto made = std::make_shared<const T>(make());
      make = nullptr;
      return made;
    };
    try {
      coming_ = std::async(std::launch::async, work);
    } catch (const std::system_error&) {
      coming_ = std::async(std::launch::deferred, work);
    }
  }
  void take(Made made) {
    free_aside(std::exchange(value_, std::move(made)));
    taken_ = true;
  }
  void free_aside(Made old) {
    if (!old) return;
    try {
      freeing_.push_back(std::async(std::launch::async, [old = std::move(old)]() mutable { old.reset(); }));
    } catch (const std::system_error&) {  // the value went with the refused thread's work, in this frame
    }
  }

  Made value_;
  bool taken_ = false;     // follow() has not reported value_ yet
  bool unwanted_ = false;  // the value under way is dropped
  Make next_;              // is made after the value under way
  std::future<Made> coming_;
  std::vector<std::future<void>> freeing_;
};

}  // namespace attnscope::ui
