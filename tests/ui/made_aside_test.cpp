// Values that another thread makes, and frees.
#include "ui/made_aside.h"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>
#include <thread>

namespace attnscope::ui {
namespace {

using Thread = std::thread::id;

// Remembers which thread made it, and says which one freed it.
struct Value {
  int number = 0;
  std::shared_ptr<std::atomic<Thread>> freed_by = std::make_shared<std::atomic<Thread>>();
  Thread made_by = std::this_thread::get_id();

  explicit Value(int n) : number(n) {}
  Value(Value&& other) noexcept : number(other.number), freed_by(std::move(other.freed_by)), made_by(other.made_by) {}
  ~Value() {
    if (freed_by) *freed_by = std::this_thread::get_id();
  }
};

int number_of(const MadeAside<Value>& aside) { return aside.value() ? aside.value()->number : 0; }

void wait_for(MadeAside<Value>& aside) {
  while (!aside.follow()) std::this_thread::yield();
}

TEST(MadeAside, AnotherThreadMakesAValueAndFreesIt) {
  const Thread own = std::this_thread::get_id();
  std::shared_ptr<std::atomic<Thread>> freed_by;
  {
    MadeAside<Value> aside;
    aside.begin([] { return Value(1); }, false);
    EXPECT_TRUE(aside.makes());
    wait_for(aside);
    EXPECT_FALSE(aside.makes());
    EXPECT_EQ(number_of(aside), 1);
    EXPECT_NE(aside.value()->made_by, own);
    freed_by = aside.value()->freed_by;
    aside.begin([] { return Value(2); }, false);
    wait_for(aside);
  }  // waits for the freeing thread
  EXPECT_NE(freed_by->load(), Thread());
  EXPECT_NE(freed_by->load(), own);
}

TEST(MadeAside, TheValueBeforeStaysUntilTheNextIsThere) {
  std::binary_semaphore go(0);
  MadeAside<Value> aside;
  aside.begin([] { return Value(1); }, true);
  EXPECT_TRUE(aside.follow()) << "it is short";
  EXPECT_EQ(aside.value()->made_by, std::this_thread::get_id());
  aside.begin(
      [&] {
        go.acquire();
        return Value(2);
      },
      false);
  EXPECT_FALSE(aside.follow());
  EXPECT_EQ(number_of(aside), 1);
  go.release();
  wait_for(aside);
  EXPECT_EQ(number_of(aside), 2);
  EXPECT_FALSE(aside.follow()) << "it was told";
}

TEST(MadeAside, OnlyTheLastRequestIsAnswered) {
  std::binary_semaphore go(0);
  int made = 0;  // by one thread at a time
  const auto make = [&](int number) {
    return [&, number] {
      if (number == 1) go.acquire();
      ++made;
      return Value(number);
    };
  };
  MadeAside<Value> aside;
  for (const int number : {1, 2, 3}) aside.begin(make(number), false);
  go.release();
  wait_for(aside);
  EXPECT_EQ(number_of(aside), 3);
  EXPECT_EQ(made, 2) << "the second had not begun";
}

TEST(MadeAside, WhatIsNotWantedAnyMoreDoesNotCome) {
  std::binary_semaphore go(0);
  const auto held = [&] {
    go.acquire();
    return Value(2);
  };
  MadeAside<Value> aside;
  aside.begin(held, false);
  aside.clear();
  EXPECT_FALSE(aside.makes());
  aside.begin(held, false);
  aside.begin([] { return Value(3); }, true);
  EXPECT_EQ(number_of(aside), 3);
  go.release();
  EXPECT_TRUE(aside.follow());
  aside.begin([] { return Value(4); }, false);
  wait_for(aside);
  EXPECT_EQ(number_of(aside), 4);
}

}  // namespace
}  // namespace attnscope::ui
