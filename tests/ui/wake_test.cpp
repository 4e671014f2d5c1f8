// The timer that wakes a window that sleeps.
#include "ui/wake.h"

#include <gtest/gtest.h>

#include <future>

namespace attnscope::ui {
namespace {

TEST(WakeTimer, TheEarlierOfTwoWishesHoldsAndIsGrantedOnce) {
  constexpr double kNever = 1e6;
  std::promise<void> first, second;
  int wakes = 0;
  {
    WakeTimer timer([&] { ++wakes == 1 ? first.set_value() : second.set_value(); });
    timer.within(kNever);
    timer.within(0.001);
    timer.within(kNever);
    first.get_future().wait();
    EXPECT_EQ(wakes, 1);
    timer.within(kNever);
    timer.within(0.001);
    second.get_future().wait();
    timer.within(kNever);  // its end is not waited for
  }
  EXPECT_EQ(wakes, 2);
}

}  // namespace
}  // namespace attnscope::ui
