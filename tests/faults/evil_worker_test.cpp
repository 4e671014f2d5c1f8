// Workers that break the protocol, one rule each: what the session answers, within a time limit, and how much memory it
// takes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <future>

#include "session/session.h"
#include "support/sanitized.h"
#include "support/temp_dir.h"

namespace attnscope::session {
namespace {

using testing::HasSubstr;

constexpr std::chrono::seconds kBound{100};  // far more than any of them takes, for slow machines and sanitizers
constexpr size_t kMostMemory = size_t{256} << 20;

// From /proc/self/status, in bytes: VmRSS, VmHWM.
size_t own_memory(const std::string& field) {
  const std::string status = testing_support::read_text("/proc/self/status");
  const size_t at = status.find(field + ":");
  if (at == std::string::npos) return 0;
  const size_t digits = status.find_first_of("0123456789", at);
  size_t kilobytes = 0;
  std::from_chars(status.data() + digits, status.data() + status.size(), kilobytes);
  return kilobytes * 1024;
}

void forget_highest_memory() {
  const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file >= 0 && write(file, "5", 1) != 1) ADD_FAILURE() << "the highest use of memory cannot be reset";
  if (file >= 0) close(file);
}

class EvilWorkers : public testing::Test {
 protected:
  EvilWorkers() {
    const std::filesystem::path source = ATTNSCOPE_SOURCE_DIR;
    options_.kernel_dirs = {source / "kernels"};
    options_.assets_dir = source / "assets";
    options_.first_experiment = options_.watch_files = false;
    options_.connect_ms = options_.silence_ms = options_.answer_ms = 2000;
    options_.deadlines = {400, 400, 400};  // a busy worker sends twelve of them: longer than silence is allowed
    options_.workers = {worker("local", "good")};
  }
  ~EvilWorkers() override {
    if (session_) session_->stop();
  }
  static WorkerCommand worker(std::string name, const std::string& behaviour) {
    const std::filesystem::path source = ATTNSCOPE_SOURCE_DIR;
    return {
        std::move(name),
        {ATTNSCOPE_EVIL_WORKER, behaviour, source / "tests/data/observations/minimal.json", source / "assets/devices"},
        false};
  }
  void start() {
    auto session = Session::start(options_, {});
    ASSERT_TRUE(session) << session.error().message;
    session_ = std::move(*session);
  }
  std::future<Observation> run_on(const std::string& device) {
    Draft draft;
    draft.kernel = "minimal";
    draft.device = device;
    draft.measure.max_time_ms = 100;
    return session_->queue(draft);
  }
  Observation answer_of(std::future<Observation> answer) {
    if (answer.wait_for(kBound) == std::future_status::ready) return answer.get();
    ADD_FAILURE() << "it is not answered";
    return {};
  }

  SessionOptions options_;
  std::unique_ptr<Session> session_;
};

struct Evil {
  const char* behaviour;
  std::optional<Stage> stage;  // of the failure; empty: the run succeeded
  const char* words;
};

std::ostream& operator<<(std::ostream& out, const Evil& evil) { return out << evil.behaviour; }

class EachEvilWorker : public EvilWorkers, public testing::WithParamInterface<Evil> {};

TEST_P(EachEvilWorker, IsAnsweredForWithinABound) {
  const Evil& evil = GetParam();
  options_.workers.push_back(worker("evil", evil.behaviour));
  start();
  forget_highest_memory();
  const size_t before = own_memory("VmRSS");
  const Observation answer = answer_of(run_on("evil/emulated:l4"));
  const size_t most = own_memory("VmHWM");
#ifndef __SANITIZE_ADDRESS__
  EXPECT_LT(most, before + kMostMemory);
#endif
  if (evil.stage) {
    ASSERT_TRUE(answer.failure);
    EXPECT_EQ(answer.failure->stage, *evil.stage) << answer.failure->message;
    EXPECT_THAT(answer.failure->message, HasSubstr(evil.words));
  } else {
    EXPECT_FALSE(answer.failure) << answer.failure->message;
    EXPECT_TRUE(answer.timing && answer.verdict && answer.counters);
    EXPECT_NE(answer.tflops, 1e9);
  }
  const Observation next = answer_of(run_on("emulated:l4"));
  EXPECT_FALSE(next.failure) << "another worker is not disturbed: " << next.failure->message;
  testing::Test::RecordProperty("most_memory_mib", static_cast<int>((most - std::min(most, before)) >> 20));
}

INSTANTIATE_TEST_SUITE_P(
    Table, EachEvilWorker,
    testing::Values(Evil{"good", {}, ""}, Evil{"silent", Stage::device, "it said nothing for 2 s"},
                    Evil{"noise_without_end", Stage::device, "bytes that are not attnscope's"},
                    Evil{"banner_only", Stage::device, "it did not say hello within 8 s"},
                    Evil{"beats_and_no_hello", Stage::device, "it did not say hello within 8 s"},
                    Evil{"refuses_to_greet", Stage::device, "the executor does not start"},
                    Evil{"another_version", Stage::device, "it is attnscope 9.9.9"},
                    Evil{"hello_of_another_version", Stage::device, "it is attnscope 9.9.9"},
                    Evil{"two_hellos", {}, ""}, Evil{"truncated_frame", Stage::crash, "it ended with status 0"},
                    Evil{"huge_length", Stage::crash, "over the limit"},
                    Evil{"length_without_bytes", Stage::crash, "it was silent for"},
                    Evil{"drips", Stage::deadline, "did nothing for it"},
                    Evil{"garbage", Stage::crash, "a type that attnscope does not use"},
                    Evil{"nils", Stage::crash, "more values than a message of its length may"},
                    Evil{"empty_maps", Stage::crash, "more values than a message of its length may"},
                    Evil{"empty_texts", Stage::crash, "more values than a message of its length may"},
                    Evil{"deep_nesting", Stage::crash, "nested deeper than 64 levels"},
                    Evil{"part_of_nothing", Stage::protocol, "no_such_part"},
                    Evil{"wrong_ids", Stage::deadline, "did nothing for it"},
                    Evil{"half_of_an_answer", Stage::deadline, "did nothing for it"},
                    Evil{"never_answers", Stage::deadline, "did nothing for it"},
                    Evil{"busy_for_ever", Stage::deadline, "did nothing for it"},
                    Evil{"same_progress", Stage::deadline, "did nothing for it"},
                    Evil{"log_without_end", Stage::deadline, "did nothing for it"},
                    Evil{"need_without_end", Stage::crash, "it does not read what it is sent"},
                    Evil{"done_twice", {}, ""}, Evil{"parts_after_done", {}, ""}),
    [](const auto& one) { return std::string(one.param.behaviour); });

// A connection may break at any byte. Only the complete conversation is an answer.
TEST_F(EvilWorkers, ClosedAtAnyByte) {
  constexpr size_t kBatch = 40;  // sessions with this many workers each, until the conversation is over
  const size_t step = std::getenv("ATTNSCOPE_EVERY_BYTE") ? 1 : testing_support::kSanitized ? 61 : 23;
  options_.silence_ms = 15000;
  size_t at = 1, answered = 0;
  while (answered == 0) {
    if (session_) session_->stop();
    options_.workers = {worker("local", "good")};
    std::vector<size_t> ends;
    for (size_t i = 0; i < kBatch; ++i, at += step) ends.push_back(at);
    for (const size_t end : ends)
      options_.workers.push_back(worker("w" + std::to_string(end), "close_at:" + std::to_string(end)));
    start();
    std::vector<std::future<Observation>> answers;
    for (const size_t end : ends) answers.push_back(run_on("w" + std::to_string(end) + "/emulated:l4"));
    for (size_t i = 0; i < ends.size(); ++i) {
      const Observation answer = answer_of(std::move(answers[i]));
      if (!answer.failure) {
        EXPECT_TRUE(answer.timing && answer.verdict && answer.counters && answer.variant) << ends[i];
        ++answered;
      } else {
        EXPECT_EQ(answered, 0u) << "closed at " << ends[i]
                                << ", later than one that was answered: " << answer.failure->message;
        EXPECT_THAT(answer.failure->stage, testing::AnyOf(Stage::device, Stage::crash)) << ends[i];
      }
    }
    ASSERT_LT(at, size_t{100000}) << "no length is long enough";
  }
}

// The worker may have started a process that holds a device or a file, so it is asked to leave before it is killed.
TEST_F(EvilWorkers, OneThatIsGivenUpIsAskedToLeaveFirst) {
  testing_support::TempDir dir;
  const std::string script =
      "trap 'echo asked > " + (dir / "asked").string() + "; exit 0' TERM; while :; do sleep 0.05; done";
  options_.workers.push_back({"mute", {"sh", "-c", script}, false});
  options_.connect_ms = 500;
  start();
  const Observation answer = answer_of(run_on("mute/emulated:l4"));
  ASSERT_TRUE(answer.failure);
  EXPECT_THAT(answer.failure->message, HasSubstr("it said nothing for 0.5 s"));
  session_->stop();
  EXPECT_EQ(testing_support::read_text(dir / "asked"), "asked\n");
}

// A queue announces itself once; then the session waits as long as it takes.
TEST_F(EvilWorkers, AWordOnStderrLiftsTheLimitOnSilence) {
  testing_support::TempDir dir;
  WorkerCommand queue = worker("queue", "good");
  const std::string script =
      "echo 'job 7 queued' >&2; while [ ! -e '" + (dir / "granted").string() + "' ]; do sleep 0.05; done; exec \"$@\"";
  queue.argv.insert(queue.argv.begin(), {"sh", "-c", script, "sh"});
  options_.workers.push_back(queue);
  options_.connect_ms = 500;
  start();
  auto answer = run_on("queue/emulated:l4");
  EXPECT_EQ(answer.wait_for(std::chrono::seconds(2)), std::future_status::timeout);
  dir.write("granted", "yes");
  EXPECT_FALSE(answer_of(std::move(answer)).failure);
}

}  // namespace
}  // namespace attnscope::session
