#include "device/emulated/emulated_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "check/verdict.h"
#include "cuda_device_test.h"
#include "device/device.h"
#include "platform/memory.h"

namespace attnscope::device {
namespace {

using testing::CudaDeviceTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kCache;

// The cubin of CudaDeviceTest, which here is decoded and run.
class EmulatedDeviceTest : public CudaDeviceTest {
 protected:
  EmulatedDeviceTest() {
    DeviceSpec spec;
    spec.id = "emulated:l4";
    spec.arch = 89;
    device_ = make_emulated_device(spec, kCache / "programs");
    problem_.causal = Causal::bottom_right;  // as the cubin was compiled, for 64 threads
  }
  LaunchRequest attention() {
    LaunchRequest wanted = request(*device_);
    wanted.shape.block = {64, 1, 1};
    wanted.dynamic_shared = 4 * problem_.seq_k;
    wanted.inputs = std::make_shared<const check::AttentionInputs>(*check::make_inputs(problem_));
    return wanted;
  }
  // Runs `body` in each thread of `ctas` CTAs of 32, with `int* out` of one element per thread.
  Result<LaunchOutcome> run_body(const std::string& body, int64_t ctas, const LaunchEvents& events = {}) {
    compile::Compiler compiler({.cache_dir = kCache / "variants"});
    compile::CompileRequest asked;
    asked.source =
        "extern \"C\" __global__ void k(int* out) { int i = blockIdx.x * 32 + threadIdx.x;\n" + body + "\n}\n";
    asked.file_name = "k.cu";
    asked.entry = "k";
    asked.dtype = {};
    const auto variant = compiler.compile(asked);
    if (!variant) return fail(variant.error());
    const auto loaded = device_->load(**variant);
    if (!loaded) return fail(loaded.error());
    Workload workload;
    workload.operands.push_back({"out", BufferRole::out, ElementType::i32, {32 * ctas}, {}});
    LaunchRequest wanted;
    wanted.name = "k";
    wanted.loaded = *loaded;
    wanted.problem.kind = ProblemKind::custom;
    wanted.operands = check::make_operands(workload, wanted.problem).value();
    wanted.arguments = {{"out", size_t{0}, {}, {}}};
    wanted.shape = {{ctas, 1, 1}, {32, 1, 1}};
    return device_->run(wanted, events);
  }
  static std::vector<int> numbers(const LaunchOutcome& outcome) {
    std::vector<int> values(outcome.output->data().size() / sizeof(int));
    std::memcpy(values.data(), outcome.output->data().data(), outcome.output->data().size());
    return values;
  }

  std::unique_ptr<Device> device_;
};

TEST_F(EmulatedDeviceTest, RunsAKernelAndCountsWhatItDoes) {
  const LaunchRequest wanted = attention();
  std::vector<std::pair<int64_t, int64_t>> told;
  int64_t counted = 0, copied = 0;
  int started = 0;
  LaunchEvents events;
  events.on_start = [&] {
    ++started;
    EXPECT_TRUE(told.empty());
  };
  events.on_progress = [&](int64_t done, int64_t total) { told.emplace_back(done, total); };
  events.on_counters = [&](const Counters& counters) { counted = counters.emulated_ctas; };
  events.on_output = [&](const auto& copy) { copied = static_cast<int64_t>(copy().size()); };
  const auto outcome = device_->run(wanted, events);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_FALSE(outcome->partial);
  ASSERT_EQ(outcome->outputs.size(), 1u);
  EXPECT_EQ(outcome->outputs.front(), outcome->output);
  ASSERT_TRUE(outcome->counters);
  EXPECT_EQ(outcome->counters->emulated_ctas, 16);
  EXPECT_EQ(outcome->counters->total_ctas, 16);
  ASSERT_TRUE(outcome->emulated);
  EXPECT_FALSE(outcome->emulated->result.traces.empty());
  const auto reference = check::make_reference(problem_, *wanted.inputs, check::Accumulate::f32);
  const auto verdict = check::judge(outcome->output->data(), **reference);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->state, VerdictState::correct) << verdict->reason;
  EXPECT_EQ(started, 1);
  ASSERT_FALSE(told.empty());
  for (const auto& [done, total] : told) EXPECT_EQ(total, 16);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_GE(told.front().first, 1) << "the first word comes with a complete CTA";
  EXPECT_GE(counted, 1);
  EXPECT_EQ(copied, 16 * 64 * 2);
}

TEST_F(EmulatedDeviceTest, ASampleOfTheCtasIsAPartialRun) {
  LaunchRequest wanted = attention();
  for (const auto& [share, ctas] : {std::pair{0.5, 8}, {0.49, 8}, {0.01, 1}, {1.0, 16}}) {
    wanted.sampled_share = share;
    const auto outcome = device_->run(wanted, {});
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->counters->emulated_ctas, ctas) << share;
    EXPECT_EQ(outcome->partial, ctas < 16) << share;
    EXPECT_EQ(outcome->counters->sampled_fraction, ctas / 16.0) << share;
  }
  wanted.trial.ctas = {3, 5};
  const auto trial = device_->run(wanted, {});
  ASSERT_TRUE(trial) << trial.error().message;
  EXPECT_EQ(trial->counters->emulated_ctas, 2);
  EXPECT_TRUE(trial->partial);
  EXPECT_TRUE(trial->emulated->result.traces.empty()) << "a trial is not for the model";
}

TEST_F(EmulatedDeviceTest, DamagedMachineCodeIsRefused) {
  compile::Variant damaged = variant_;
  damaged.cubin.resize(100);
  const auto loaded = device_->load(damaged);
  ASSERT_FALSE(loaded);
  EXPECT_FALSE(loaded.error().message.empty());
  damaged = variant_;
  damaged.entry_symbol = "no_such_kernel";
  EXPECT_FALSE(device_->load(damaged));
}

TEST_F(EmulatedDeviceTest, ARequestThatDoesNotFitTheKernelIsRefused) {
  LaunchRequest wanted = attention();
  wanted.args.pop_back();
  auto refused = device_->run(wanted, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().stage, Stage::launch);
  EXPECT_THAT(refused.error().message, HasSubstr("its manifest's args name 8"));
  wanted = attention();
  wanted.args.back() = "no_such_size";
  refused = device_->run(wanted, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no_such_size"));
  wanted = attention();
  wanted.shape.block = {2048, 1, 1};
  EXPECT_FALSE(device_->run(wanted, {}));
}

TEST_F(EmulatedDeviceTest, WritingAnInputIsALaunchFailure) {
  LaunchRequest wanted = attention();
  std::swap(wanted.args[0], wanted.args[3]);  // o is read and q is written
  const auto outcome = device_->run(wanted, {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().stage, Stage::launch);
}

TEST_F(EmulatedDeviceTest, WhatItMayWriteMustFitTheMemory) {
  const LaunchRequest wanted = attention();
  const auto refusal = [&](uint64_t available) {
    platform::inject_available_memory(available);
    const auto outcome = device_->run(wanted, {});
    platform::inject_available_memory(std::nullopt);
    return outcome ? Failure{} : outcome.error();
  };
  const Failure refused = refusal(16 * 64 * 2 - 1);  // only the output is copied
  EXPECT_EQ(refused.stage, Stage::limits);
  EXPECT_THAT(refused.message, ::testing::StartsWith("minimal THREADS=128: what it may write would take"));
  EXPECT_THAT(refusal(16 * 64 * 2).message, ::testing::Not(HasSubstr("what it may write")));
}

TEST_F(EmulatedDeviceTest, ACancelledRunSaysSo) {
  const std::atomic<bool> cancel = true;
  LaunchEvents events;
  events.cancel = &cancel;
  const auto outcome = device_->run(attention(), events);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().stage, Stage::cancelled);
}

TEST_F(EmulatedDeviceTest, AKernelOfItsOwnBuffersRunsInEveryThread) {
  const auto outcome = run_body("out[i] = 3 * i;", 3);
  ASSERT_TRUE(outcome) << outcome.error().message;
  const auto values = numbers(*outcome);
  ASSERT_EQ(values.size(), 96u);
  for (int i = 0; i < 96; ++i) EXPECT_EQ(values[static_cast<size_t>(i)], 3 * i);
}

TEST_F(EmulatedDeviceTest, AStoreOutsideIsALaunchFailure) {
  const auto outcome = run_body("out[i + 40] = 1;", 1);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().stage, Stage::launch);
  EXPECT_THAT(outcome.error().message, HasSubstr("out"));
}

TEST_F(EmulatedDeviceTest, HasNoRoutinesTimerOrReference) {
  const auto routine = device_->load_routine(LibraryId::cublas, "attention", problem_);
  ASSERT_FALSE(routine);
  EXPECT_EQ(routine.error().stage, Stage::device);
  EXPECT_EQ(routine.error().message, "emulated:l4 has no routines of cublas");
  EXPECT_FALSE(device_->makes_inputs());
  EXPECT_FALSE(device_->lost());
  const auto timer = device_->timer(attention(), CacheState::hot, {});
  EXPECT_TRUE(timer && !*timer);
  const auto reference = device_->reference(problem_, check::Accumulate::f32);
  EXPECT_TRUE(reference && !*reference);
  const auto compared = device_->compare({}, nullptr);
  EXPECT_TRUE(compared && !*compared);
}

// The lines that a kernel prints.
class Printing : public EmulatedDeviceTest {
 protected:
  Printed printed(const std::string& body, int64_t ctas = 1) {
    Printed told;
    LaunchEvents events;
    events.on_printed = [&](const Printed& printed) { told = printed; };
    const auto outcome = run_body(body + " out[i] = 1;", ctas, events);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return told;
  }
};

TEST_F(Printing, EachLineEndsWhereTheKernelEndsIt) {
  const Printed told =
      printed(R"(if (i % 32 == 0) { printf("a"); printf("b %d\n\nc", i); printf("\n"); printf("d"); })", 2);
  EXPECT_THAT(told.lines, ElementsAre("ab 0", "", "c", "dab 32", "", "c", "d"));
  EXPECT_EQ(told.more, 0);
}

TEST_F(Printing, OnlyPlainTextIsTold) {
  const Printed told = printed(R"(if (i == 0) printf("\x1b[2J\ta~ \x7f\xc3\xa9\n");)");
  EXPECT_THAT(told.lines, ElementsAre("?[2J\ta~ ???"));
}

TEST_F(Printing, OfALongLineAndOfManyLinesTheBeginningIsTold) {
  const Printed wide =
      printed(R"(if (i == 0) { for (int n = 0; n < 100; ++n) printf("0123456789"); printf("\nnext\n"); })");
  ASSERT_EQ(wide.lines.size(), 2u);
  EXPECT_EQ(wide.lines[0].size(), Printed::kMostBytes);
  EXPECT_EQ(wide.lines[1], "next");
  const Printed many = printed(R"(printf("%d\n", i);)", 9);  // 288 calls
  ASSERT_EQ(many.lines.size(), Printed::kMostLines);
  EXPECT_EQ(many.lines.front(), "0");
  EXPECT_EQ(many.lines.back(), "255");
  EXPECT_EQ(many.more, 32);
}

}  // namespace
}  // namespace attnscope::device
