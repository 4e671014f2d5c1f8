#include "cli/sweep_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope::cli {
namespace {

using session::Snapshot;
using session::WorkerState;
using session::WorkerStatus;
using testing::ElementsAre;
using testing::HasSubstr;

DeviceSpec gpu(const std::string& id, const std::string& name) {
  DeviceSpec spec;
  spec.id = id;
  spec.name = name;
  spec.emulated = false;
  return spec;
}

TEST(SweepPool, SrunGetsItsArgumentsAsAShellSplitsThem) {
  EXPECT_THAT(*srun_command("--partition=gpu --comment='two words'", "/opt/attnscope"),
              ElementsAre("srun", "--ntasks=1", "--unbuffered", "--partition=gpu", "--comment=two words",
                          "/opt/attnscope", "worker"));
  EXPECT_THAT(*srun_command(" ", "attnscope"),
              ElementsAre("srun", "--ntasks=1", "--unbuffered", "attnscope", "worker"));
  const auto open = srun_command("--comment='two", "attnscope");
  ASSERT_FALSE(open);
  EXPECT_THAT(open.error().message, HasSubstr("--slurm: the command \"--comment='two\" has an open quote"));
}

TEST(SweepPool, OnlyAGivenPresetSaysWhereASweepRuns) {
  Draft draft;
  draft.device = "emulated:l4";  // as the default preset has it, too
  ExperimentOptions options;
  EXPECT_EQ(wish_of(options, draft), "") << "every GPU of this machine";
  options.preset = "mine.json";
  EXPECT_EQ(wish_of(options, draft), "emulated:l4");
}

TEST(SweepPool, EveryGpuLikeTheFirstTakesPart) {
  const DeviceSpec first = gpu("cuda:0", "NVIDIA H200");
  DeviceSpec emulated = gpu("emulated:h200", "NVIDIA H200");
  emulated.emulated = true;
  const LikeGpus like = gpus_like(first, {first, gpu("cuda:1", "NVIDIA T400"), gpu("cuda:2", "NVIDIA H200"), emulated,
                                          gpu("torch/cuda:0", "NVIDIA H200")});
  EXPECT_THAT(like.ids, ElementsAre("cuda:0", "cuda:2"));
  EXPECT_THAT(like.left_out, ElementsAre("cuda:1 takes no part: cuda:1 is NVIDIA T400 and cuda:0 is NVIDIA H200"));
}

WorkerStatus worker(const std::string& name, WorkerState state, const std::string& detail = "") {
  WorkerStatus status;
  status.name = name;
  status.state = state;
  status.detail = detail;
  return status;
}

// Workers a and b of a sweep, next to the program's own worker.
class PoolWordsTest : public testing::Test {
 protected:
  PoolWordsTest() {
    snapshot_.workers = {worker("local", WorkerState::ready), worker("a", WorkerState::busy),
                         worker("b", WorkerState::ready)};
    set_devices("NVIDIA L4");
  }
  void set_devices(const std::string& of_b) {
    snapshot_.devices = session::share(std::vector{gpu("a/cuda:0", "NVIDIA L4"), gpu("b/cuda:0", of_b)});
  }
  std::string said(bool changes = true) {
    ++snapshot_.version;
    testing::internal::CaptureStderr();
    EXPECT_EQ(words_.look(snapshot_), changes);
    return testing::internal::GetCapturedStderr();
  }
  session::Sharing sharing_{{"a/cuda:0", "b/cuda:0"}, gpu("a/cuda:0", "NVIDIA L4"), {}};
  PoolWords words_{sharing_};
  Snapshot snapshot_;
};

TEST_F(PoolWordsTest, SaysWhatEachWorkerDoesAndEachTroubleOnce) {
  EXPECT_EQ(said(), "");
  EXPECT_EQ(words_.text(), "a busy, b ready");
  snapshot_.workers[2] = worker("b", WorkerState::restarting, "it was ended by signal 9 (Killed)");
  EXPECT_EQ(said(), "worker b: restarting: it was ended by signal 9 (Killed)\n");
  EXPECT_EQ(words_.text(), "a busy, b restarting: it was ended by signal 9 (Killed)");
  snapshot_.workers[2] = worker("b", WorkerState::starting, "srun: job 7 queued and waiting for resources");
  EXPECT_EQ(said(), "") << "not yet";
  EXPECT_EQ(words_.text(), "a busy, b starting: srun: job 7 queued and waiting for resources");
  snapshot_.workers[2] = worker("b", WorkerState::ready);
  EXPECT_EQ(said(), "worker b: works again\n");
  EXPECT_EQ(said(false), "");
}

TEST_F(PoolWordsTest, AnotherDeviceThatComesLaterTakesNoPart) {
  set_devices("NVIDIA A100");
  EXPECT_EQ(said(), "worker b: takes no part: b/cuda:0 is NVIDIA A100 and a/cuda:0 is NVIDIA L4\n");
  EXPECT_EQ(words_.text(), "a busy, b left out");
}

TEST_F(PoolWordsTest, AnotherNvccIsSaidOnceIfNvccCompiles) {
  sharing_.versions.nvcc = "12.8.93";
  snapshot_.workers[1].versions.nvcc = "12.8.93";
  snapshot_.workers[2].versions.nvcc = "13.0.88";
  EXPECT_EQ(said(), "") << "NVRTC compiles";
  sharing_.by_nvcc = true;
  PoolWords by_nvcc(sharing_);
  testing::internal::CaptureStderr();
  by_nvcc.look(snapshot_);
  snapshot_.workers[1].state = WorkerState::ready;
  ++snapshot_.version;
  by_nvcc.look(snapshot_);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "worker b: takes no part: b/cuda:0 and a/cuda:0 have different versions of nvcc: 13.0.88 and 12.8.93\n");
  EXPECT_EQ(by_nvcc.text(), "a ready, b left out");
}

TEST_F(PoolWordsTest, ManyWorkersAreCounted) {
  for (const char* name : {"c", "d", "e"}) {
    sharing_.devices.push_back(name + std::string("/cuda:0"));
    snapshot_.workers.push_back(worker(name, WorkerState::starting));
    snapshot_.workers.back().waits = true;
  }
  PoolWords of_five(sharing_);
  of_five.look(snapshot_);
  EXPECT_EQ(of_five.text(), "workers: 1 busy, 1 ready, 3 waiting in a queue");
}

}  // namespace
}  // namespace attnscope::cli
