// An executor in a process of its own, and its answers to its supervisor.
#include "worker/executor.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <sstream>

#include "protocol/frame.h"
#include "protocol/message.h"
#include "support/fake_nvcc.h"
#include "support/temp_dir.h"
#include "unit/worker/small_request.h"

namespace attnscope::worker {
namespace {

using protocol::Done;
using protocol::Id;
using protocol::Reply;
using testing::HasSubstr;

// The executor is this program, started again with this variable: "IN OUT CACHE", two descriptors and a folder.
constexpr const char* kServes = "ATTNSCOPE_TEST_EXECUTOR";

class ExecutorTest : public testing::Test {
 protected:
  ExecutorTest() {
    if (const char* parts = std::getenv(kServes)) {
      int in = -1, out = -1;
      std::string cache;
      std::istringstream(parts) >> in >> out >> cache;
      const std::filesystem::path assets = std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "assets";
      run_executor(in, out, {"test", cache, assets, Purpose::run, catalog::load_devices(assets / "devices")});
    }
    std::signal(SIGPIPE, SIG_IGN);
    int to[2], from[2];
    EXPECT_EQ(pipe2(to, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(from, O_CLOEXEC), 0);
    const std::string cache = cache_.path().string();
    pid_ = fork();
    if (pid_ == 0) {
      std::signal(SIGPIPE, SIG_DFL);
      const int in = fcntl(to[0], F_DUPFD, 3), out = fcntl(from[1], F_DUPFD, 3);
      setenv(kServes, (std::to_string(in) + " " + std::to_string(out) + " " + cache).c_str(), 1);
      dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
      execl("/proc/self/exe", "worker_tests", "--gtest_filter=ExecutorTest.Greets*", nullptr);
      _exit(127);
    }
    close(to[0]), close(from[1]);
    to_ = to[1], from_ = from[0];
  }
  ~ExecutorTest() override { end(); }

  // The executor's exit status after its input has ended.
  int end() {
    if (to_ >= 0) close(std::exchange(to_, -1));
    if (pid_ < 0) return status_;
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    stop_reading();
    return status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  void stop_reading() {
    if (from_ >= 0) close(std::exchange(from_, -1));
  }
  void send_bytes(std::span<const std::byte> bytes) const {
    EXPECT_EQ(write(to_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void send(const protocol::Request& request) const { send_bytes(protocol::encode(request).value()); }
  void give_kernel() const {
    const Kernel& k = request_.kernel;
    send(protocol::KernelContent{0, k.content_hash, k.source_name, k.manifest_name, k.source, k.manifest});
  }

  // Reads replies until one matches; null if the executor ends first.
  const Reply* wait_for(const std::function<bool(const Reply&)>& wanted) {
    for (size_t next = 0;;) {
      for (; next < replies_.size(); ++next)
        if (wanted(replies_[next])) return &replies_[next];
      std::vector<std::byte> buffer(65536);
      const ssize_t got = read(from_, buffer.data(), buffer.size());
      if (got <= 0) return nullptr;
      decoder_.feed(std::span(buffer).first(static_cast<size_t>(got)));
      for (auto payload = decoder_.next(); payload && *payload; payload = decoder_.next())
        replies_.push_back(protocol::decode_reply(**payload).value());
    }
  }
  template <class Message>
  Message of(Id id = 0) {
    const Reply* found =
        wait_for([&](const Reply& reply) { return std::holds_alternative<Message>(reply) && id_of(reply) == id; });
    EXPECT_TRUE(found) << "the executor has ended";
    return found ? std::get<Message>(*found) : Message{};
  }
  // How the request ended, and the contents of all its parts.
  std::optional<Failure> failure_of(Id id) { return of<Done>(id).failure; }
  Observation observation_of(Id id) const {
    Observation observation;
    for (const Reply& reply : replies_)
      if (const auto* part = std::get_if<protocol::Part>(&reply); part && part->id == id)
        apply_part(observation, *part);
    return observation;
  }
  bool has_tile(Id id) const {
    return std::ranges::any_of(replies_, [&](const Reply& reply) {
      return std::holds_alternative<protocol::TileMessage>(reply) && id_of(reply) == id;
    });
  }

  testing_support::TempDir cache_;
  std::atomic<bool> cancel_{false};
  Request request_ = small_request(cancel_);
  int to_ = -1;
  pid_t pid_ = -1;

 private:
  int from_ = -1, status_ = -1;
  protocol::FrameDecoder decoder_;
  std::vector<Reply> replies_;
};

TEST_F(ExecutorTest, GreetsAndLivesUntilTheEndOfItsInput) {
  const auto hello = of<protocol::HelloReply>();
  EXPECT_EQ(hello.versions.app, "test");
  EXPECT_FALSE(hello.versions.nvrtc.empty());
  EXPECT_EQ(hello.pid, pid_);
  EXPECT_NE(std::ranges::find(hello.devices, "emulated:l4", &DeviceSpec::id), hello.devices.end());
  int beats = 0;
  EXPECT_TRUE(wait_for([&](const Reply& reply) {
    beats += std::holds_alternative<protocol::Heartbeat>(reply);
    return beats == 2;
  }));
  send(protocol::Hello{0});  // asks for its GPUs' readings: here it has no GPU
  EXPECT_TRUE(wait_for([&](const Reply& reply) {
    const auto* beat = std::get_if<protocol::Heartbeat>(&reply);
    return beat != nullptr && beat->gpus.empty();
  }));
  EXPECT_EQ(end(), 0);
}

TEST_F(ExecutorTest, ASupervisorThatDoesNotReadEndsItWithoutASignal) {
  of<protocol::HelloReply>();
  stop_reading();
  int status = 0;
  ASSERT_EQ(waitpid(std::exchange(pid_, -1), &status, 0) > 0, true);  // nobody reads its next heartbeat
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(ExecutorTest, RunsWatchesAndMapsTheKernelItWasGiven) {
  const Experiment& experiment = request_.experiment;
  give_kernel();
  send(protocol::Run{5, experiment, {}, ViewRequest{.experiment_hash = "x", .map = MapKind::output}});
  EXPECT_EQ(failure_of(5), std::nullopt);
  const Observation ran = observation_of(5);
  ASSERT_TRUE(ran.verdict);
  EXPECT_EQ(ran.verdict->state, VerdictState::correct);
  EXPECT_TRUE(ran.timing);
  EXPECT_FALSE(ran.watch);
  EXPECT_TRUE(has_tile(5)) << "its first view";
  EXPECT_EQ(of<protocol::Progress>(5).step, protocol::Step::compiling);

  send(protocol::Run{6, experiment, {}, {}, true});
  EXPECT_EQ(failure_of(6), std::nullopt);
  EXPECT_TRUE(observation_of(6).verdict);
  EXPECT_TRUE(observation_of(6).watch);
  EXPECT_FALSE(has_tile(6)) << "no map was wanted";

  send(protocol::Watch{7, experiment, {}});
  EXPECT_EQ(failure_of(7), std::nullopt);
  EXPECT_FALSE(observation_of(7).verdict);
  EXPECT_TRUE(observation_of(7).watch);

  send(protocol::View{8, {.experiment_hash = hash_of(experiment), .map = MapKind::output}});
  EXPECT_EQ(of<protocol::TileMessage>(8).tile.request.map, MapKind::output);
  EXPECT_EQ(failure_of(8), std::nullopt);
  send(protocol::View{9, {.experiment_hash = "another", .map = MapKind::output}});
  const auto none = failure_of(9);
  ASSERT_TRUE(none);
  EXPECT_EQ(none->stage, Stage::device);
  EXPECT_FALSE(has_tile(9));
}

TEST_F(ExecutorTest, ListsTheCodeWithWhatItsLastRunDid) {
  const Experiment& experiment = request_.experiment;
  give_kernel();
  send(protocol::Code{5, experiment, {}});
  const Listing before = of<protocol::ListingMessage>(5).listing;
  EXPECT_EQ(failure_of(5), std::nullopt);
  EXPECT_FALSE(before.counted) << "nothing ran";
  EXPECT_EQ(before.experiment_hash, hash_of(experiment));
  ASSERT_FALSE(before.lines.empty());
  EXPECT_NE(before.ptx.find(".entry"), std::string::npos);
  EXPECT_FALSE(has_tile(5));

  send(protocol::Run{6, experiment, {}, {}});
  ASSERT_EQ(failure_of(6), std::nullopt);
  send(protocol::Code{7, experiment, {}});
  const Listing after = of<protocol::ListingMessage>(7).listing;
  ASSERT_TRUE(after.counted);
  ASSERT_EQ(after.lines.size(), before.lines.size());
  const Observation ran = observation_of(6);
  CodeCounts sum;
  for (const CodeLine& line : after.lines) {
    sum.issued += line.counts->issued;
    sum.lanes += line.counts->lanes;
    sum.sectors += line.counts->sectors;
    sum.us += line.counts->us;
  }
  EXPECT_EQ(sum.issued, double(ran.counters->instructions.at("total")));
  EXPECT_EQ(sum.lanes, double(ran.counters->threads));
  EXPECT_GE(sum.sectors, double(ran.counters->global_load_sectors + ran.counters->global_store_sectors));
  EXPECT_GT(sum.us, 0);
  EXPECT_LE(sum.us, ran.timing->p50 * 1.001) << "launch and tail are no instruction's";
  EXPECT_EQ(after.emulated_ctas, ran.counters->emulated_ctas);
}

TEST_F(ExecutorTest, ListsHowTheSmsSpendTheirTime) {
  give_kernel();
  send(protocol::Run{5, request_.experiment, {}, {}});
  ASSERT_EQ(failure_of(5), std::nullopt);
  protocol::Code ask{6, request_.experiment, {}};
  ask.timeline.emplace();
  send(ask);
  const Reply* const first = wait_for([](const Reply& reply) {
    return id_of(reply) == 6 &&
           (std::holds_alternative<protocol::ListingMessage>(reply) || std::holds_alternative<Done>(reply));
  });
  ASSERT_TRUE(first);
  const auto* const listed = std::get_if<protocol::ListingMessage>(first);
  ASSERT_TRUE(listed) << "the answer ends without it";
  EXPECT_EQ(listed->listing.experiment_hash, hash_of(request_.experiment));
  ASSERT_TRUE(listed->listing.timeline);
  EXPECT_EQ(listed->listing.timeline->total_ctas, observation_of(5).counters->total_ctas);
  EXPECT_EQ(failure_of(6), std::nullopt);
}

TEST_F(ExecutorTest, AKernelThatIsNotTheExperimentsIsRefused) {
  Experiment experiment = request_.experiment;
  send(protocol::Run{1, experiment, {}, {}});
  const auto missing = failure_of(1);
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->stage, Stage::internal);
  EXPECT_EQ(missing->message, "minimal: the executor was not given this kernel's content");
  EXPECT_EQ(observation_of(1).failure, missing);
  give_kernel();
  experiment.kernel_hash = "another";
  send(protocol::Run{2, experiment, {}, {}});
  EXPECT_EQ(failure_of(2).value().stage, Stage::internal);
  experiment = request_.experiment;
  experiment.kernel = "tiled";
  send(protocol::Run{3, experiment, {}, {}});
  const auto renamed = failure_of(3);
  ASSERT_TRUE(renamed);
  EXPECT_EQ(renamed->stage, Stage::input);
  EXPECT_EQ(renamed->message, "the experiment names the kernel tiled, its content is minimal");
}

TEST_F(ExecutorTest, WhatRunsAndWhatWaitsCanBeCancelled) {
  Experiment longer = request_.experiment;
  longer.problem.heads = longer.problem.kv_heads = 16;
  longer.problem.seq_q = longer.problem.seq_k = 4096;
  give_kernel();
  send(protocol::Run{1, longer, {}, {}});
  send(protocol::Run{2, request_.experiment, {}, {}});
  send(protocol::Run{3, request_.experiment, {}, {}});
  send(protocol::Cancel{0, 2});
  send(protocol::Cancel{0, 99});
  of<protocol::Progress>(1);
  send(protocol::Cancel{0, 1});
  for (const Id id : {1, 2}) {
    const auto failure = failure_of(id);
    ASSERT_TRUE(failure) << id;
    EXPECT_EQ(failure->stage, Stage::cancelled);
    EXPECT_FALSE(observation_of(id).failure) << "what was cancelled did not fail";
  }
  EXPECT_EQ(failure_of(3), std::nullopt);
}

// The nvcc is there before the executor starts.
class ExecutorWithEndlessNvccTest : protected testing_support::FakeNvcc, public ExecutorTest {
 protected:
  ExecutorWithEndlessNvccTest() : FakeNvcc("sleep 1000\n") {}
};

TEST_F(ExecutorWithEndlessNvccTest, ItEndsWithinTheRequestsDeadline) {
  Experiment experiment = request_.experiment;
  experiment.config.options.compiler = CompilerChoice::nvcc;
  const protocol::Deadlines deadlines{.compile_ms = 600};
  give_kernel();
  send(protocol::Run{1, experiment, deadlines, {}});
  send(protocol::Watch{2, experiment, deadlines});
  send(protocol::Code{3, experiment, deadlines});
  for (const Id id : {1, 2, 3}) {
    const auto failure = failure_of(id);
    ASSERT_TRUE(failure) << id;
    EXPECT_EQ(failure->stage, Stage::deadline) << failure->message;
    EXPECT_THAT(failure->message, testing::ContainsRegex("nvcc did not end within [0-9][0-9]?[0-9]? ms")) << id;
    EXPECT_THAT(failure->hint, HasSubstr("--deadline MS"));
  }
}

TEST_F(ExecutorTest, AMalformedRequestIsLoggedAndABrokenStreamEndsIt) {
  send_bytes(protocol::frame_of(std::vector<std::byte>{std::byte{0xc1}}).value());
  EXPECT_EQ(of<protocol::Log>().level, Severity::error);
  give_kernel();
  send(protocol::Run{1, request_.experiment, {}, {}});
  EXPECT_EQ(failure_of(1), std::nullopt) << "it goes on";
  send_bytes(std::vector(4, std::byte{0xff}));
  EXPECT_EQ(end(), 2);
}

}  // namespace
}  // namespace attnscope::worker
