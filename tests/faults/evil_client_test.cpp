// Clients that break the protocol: what they cost the worker, and whether it continues or ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>

#include "faults/support/worker_fixture.h"

namespace attnscope::testing_support {
namespace {

constexpr size_t kMostMemory = size_t{256} << 20;

class EvilClient : public WorkerTest {
 protected:
  EvilClient() {
    platform::ignore_write_signals();
    auto worker = platform::spawn_piped(command_);
    if (worker)
      worker_ = *worker;
    else
      ADD_FAILURE() << worker.error().message;
  }
  ~EvilClient() override {
    close(worker_.stdin_fd);
    close(worker_.stdout_fd);
    if (!over_) waitpid(worker_.pid, nullptr, 0);
  }

  // Returns false if the worker does not read it within a minute.
  bool say(std::string_view bytes) {
    while (!bytes.empty()) {
      pollfd ready{worker_.stdin_fd, POLLOUT, 0};
      if (poll(&ready, 1, 60000) != 1) return false;
      const ssize_t wrote = write(worker_.stdin_fd, bytes.data(), std::min(bytes.size(), size_t{65536}));
      if (wrote <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(wrote));
    }
    return true;
  }
  // Waits until `words` arrive; returns all output so far.
  bool hear(std::string_view words) {
    std::string heard;
    char buffer[65536];
    while (heard.find(words) == std::string::npos) {
      pollfd ready{worker_.stdout_fd, POLLIN, 0};
      if (poll(&ready, 1, 60000) != 1) return false;
      const ssize_t got = read(worker_.stdout_fd, buffer, sizeof buffer);
      if (got <= 0) return false;
      heard.append(buffer, static_cast<size_t>(got));
    }
    return true;
  }
  static std::string framed(const std::string& payload) {
    std::string header;
    for (int shift = 0; shift < 32; shift += 8) header += static_cast<char>(payload.size() >> shift);
    return header + payload;
  }
  // {"type": "hello", "id": [items]}
  static std::string bomb(char item, uint32_t count) {
    std::string payload("\x82\xa4type\xa5hello\xa2id\xdd", 16);
    for (int shift = 24; shift >= 0; shift -= 8) payload += static_cast<char>(count >> shift);
    return framed(payload + std::string(count, item));
  }
  size_t most_memory() const {
    const std::vector<int> kept = children_of(worker_.pid);  // the supervisor: the first process is its keeper
    if (kept.empty()) return 0;
    const std::string status = read_text("/proc/" + std::to_string(kept.front()) + "/status");
    const size_t at = status.find("VmHWM:");
    if (at == std::string::npos) return 0;
    const size_t digits = status.find_first_of("0123456789", at);
    size_t kilobytes = 0;
    std::from_chars(status.data() + digits, status.data() + status.size(), kilobytes);
    return kilobytes * 1024;
  }
  void expect_little_memory() const {
    EXPECT_GT(most_memory(), 0u);
#ifndef __SANITIZE_ADDRESS__
    EXPECT_LT(most_memory(), kMostMemory);
#endif
  }
  void expect_its_end(int status) {
    int how = 0;
    for (int look = 0; look < 30000 && !over_; ++look) {
      over_ = waitpid(worker_.pid, &how, WNOHANG) == worker_.pid;
      if (!over_) usleep(2000);
    }
    ASSERT_TRUE(over_) << "it goes on";
    EXPECT_TRUE(WIFEXITED(how));
    EXPECT_EQ(WEXITSTATUS(how), status);
  }

  platform::ChildProcess worker_;
  bool over_ = false;
};

TEST_F(EvilClient, ManySmallValuesCostNoMoreThanTheirMessage) {
  ASSERT_TRUE(hear("attnscope-worker "));
  for (const char item : {'\xc0', '\x80', '\x90', '\xa0'}) {
    ASSERT_TRUE(say(bomb(item, 64 << 20)));
    EXPECT_TRUE(hear("more values than a message of its length may"));
  }
  expect_little_memory();
}

TEST_F(EvilClient, AMessageWithoutEndIsRefusedAndTheWorkerLeaves) {
  ASSERT_TRUE(hear("attnscope-worker "));
  ASSERT_TRUE(say("\xff\xff\xff\xff"));
  expect_its_end(2);
}

TEST_F(EvilClient, OneThatAsksAndDoesNotReadIsLeft) {
  ASSERT_TRUE(hear("attnscope-worker "));
  // Each request is answered with a longer line.
  const std::string senseless = framed(std::string("\x81\xa4type\xa1x", 8));
  std::string many;
  while (many.size() < 60000) many += senseless;
  for (int i = 0; i < 20000 && say(many); ++i) {
  }
  expect_little_memory();
  expect_its_end(2);
}

}  // namespace
}  // namespace attnscope::testing_support
