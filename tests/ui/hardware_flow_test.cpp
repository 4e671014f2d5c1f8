// The Counters panel reads a GPU's own counters with workers of their own.
#include <fstream>

#include "catalog/catalog.h"
#include "ui/hardware_desk.h"
#include "ui/still_session.h"
#include "ui/window_flow.h"

namespace attnscope::ui {
namespace {

using testing::HasSubstr;
using testing::Not;

class HardwareFlow : public WindowFlow {
 protected:
  // The window shows a run on a GPU.
  void open_on_gpu(std::vector<std::string> behaviour) {
    behaviour.emplace_back("--profile");
    fake_worker(std::move(behaviour));
    profiling_ = options_;
    session::Snapshot snapshot = snapshot_after({"m32_w4"});
    const std::string hash = real_hash(snapshot);
    open_still(on_a_gpu(std::move(snapshot), hash));
  }
  // The profiling workers read the shipped file: the shown run is of that file.
  std::string real_hash(session::Snapshot& snapshot) const {
    auto kernels = std::make_shared<std::vector<Kernel>>(*snapshot.kernels);
    for (Kernel& kernel : *kernels)
      if (kernel.id == snapshot.focus.wanted.kernel)
        kernel.content_hash = catalog::load_kernel(options_.kernel_dirs.front() / "02_tiled.json").value().content_hash;
    snapshot.kernels = kernels;
    return session::find_kernel(snapshot, snapshot.focus.wanted.kernel)->content_hash;
  }
  void open_still(session::Snapshot snapshot) {
    auto still = std::make_unique<StillSession>(std::move(snapshot));
    still_ = still.get();
    session_ = std::move(still);
    open_window({1600, 900});
    bench_->ignore_kept_settings();
    flow([&](ImGuiTestContext* ctx) {
      ctx->Yield(12);
      bench_->open_panel("Counters");
      ctx->Yield(8);
    });
  }
  void wait_for_end(ImGuiTestContext* ctx) {
    wait(
        ctx, [&](const session::Snapshot&) { return !bench_->hardware().reads(); }, "the end of the reading");
    ctx->Yield(3);
  }
  uint64_t hold() const { return now()->workers.front().hold; }

  StillSession* still_ = nullptr;
};

constexpr const char* kRead = "//Counters/Read hardware counters";

TEST_F(HardwareFlow, TheGpusFiguresStandBesideTheEmulators) {
  open_on_gpu({});
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick(kRead);
    wait_for_end(ctx);
    const std::string words = drawn_words(ctx);
    EXPECT_THAT(words, HasSubstr("measured with CUPTI 13.0.85 in 8 passes"));
    EXPECT_THAT(words, HasSubstr("difference"));
    EXPECT_THAT(words, HasSubstr("equal"));
    EXPECT_THAT(words, HasSubstr("+1.00 %"));
    EXPECT_THAT(words, HasSubstr("12.5 %"));
  });
  EXPECT_EQ(runs(), 1u) << "a worker that profiles ran it, and no other";
}

TEST_F(HardwareFlow, AsFiguresStandBesideOnceTheyAreRead) {
  fake_worker({"--profile"});
  profiling_ = options_;
  session::Snapshot snapshot = snapshot_after({"m32_w4", "m32_w8"});
  const std::string hash = real_hash(snapshot);
  snapshot = on_a_gpu(std::move(snapshot), hash);
  revise_runs(snapshot, [](uint64_t, Observation& seen) { seen.experiment.device = seen.device = "cuda:0"; });
  open_still(std::move(snapshot));
  flow([&](ImGuiTestContext* ctx) {
    EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("Read A's"))) << "B's are not there";
    ctx->ItemClick(kRead);
    wait_for_end(ctx);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("| GPU | emulator | difference |"));
    ctx->ItemClick("//Counters/Read A's");
    wait_for_end(ctx);
    const std::string words = drawn_words(ctx);
    EXPECT_THAT(words, HasSubstr("| GPU | A | emulator | difference |"));
    EXPECT_THAT(words, HasSubstr("| line | GPU's warps | A's warps | model's time |"));
    EXPECT_THAT(words, Not(HasSubstr("Read A's")));
  });
  EXPECT_EQ(runs(), 2u);
}

TEST_F(HardwareFlow, SampledLinesStandBesideTheModels) {
  open_on_gpu({});
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick(kRead);
    wait_for_end(ctx);
    const std::string words = drawn_words(ctx);
    EXPECT_THAT(words, HasSubstr("20,000 samples in 3 launches."));
    EXPECT_THAT(words, HasSubstr("02_tiled.cu:203"));
    EXPECT_THAT(words, HasSubstr("75.0 %"));
    EXPECT_THAT(words, HasSubstr("62.5 %")) << "the model's share of the same line";
    EXPECT_THAT(words, HasSubstr("short scoreboard 80 %"));
  });
}

TEST_F(HardwareFlow, WithoutSamplesTheCountersStand) {
  open_on_gpu({"--no-samples"});
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick(kRead);
    wait_for_end(ctx);
    const std::string words = drawn_words(ctx);
    EXPECT_THAT(words, HasSubstr("measured with CUPTI 13.0.85"));
    EXPECT_THAT(words, HasSubstr("its program counters are not sampled. Take another GPU."));
  });
}

TEST_F(HardwareFlow, ARefusalSaysWhatHelps) {
  open_on_gpu({"--no-permission"});
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick(kRead);
    wait_for_end(ctx);
    const std::string words = drawn_words(ctx);
    EXPECT_THAT(words, HasSubstr("the driver lets this user read no counters"));
    EXPECT_THAT(words, HasSubstr("Become root."));
    EXPECT_THAT(words, Not(HasSubstr("measured with CUPTI")));
  });
}

TEST_F(HardwareFlow, AReadingThatIsCancelledComesToNothing) {
  std::filesystem::create_directories(dir_ / "gate");
  open_on_gpu({"--gate", dir_ / "gate"});
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick(kRead);
    wait(
        ctx, [&](const session::Snapshot&) { return runs() > 0; }, "the run that profiles");
    ctx->Yield(3);
    wakes_.clear();
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Reading"));
    EXPECT_THAT(wakes_, testing::Contains(testing::Le(0.5))) << "or a window that sleeps would not see its end";
    EXPECT_EQ(hold(), 1u);
    ctx->ItemClick("//Counters/###cancel hardware");
    wait_for_end(ctx);
    EXPECT_EQ(hold(), 0u);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Read hardware counters"));
  });
  EXPECT_EQ(bench_->hardware().of(now()->focus.wanted_hash), nullptr);
}

TEST_F(HardwareFlow, AReadingWaitsForWhatIsTimed) {
  open_on_gpu({});
  still_->times = true;
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick(kRead);
    ctx->Yield(8);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("Waits for what is timed"));
    EXPECT_EQ(runs(), 0u);
    still_->times = false;
    still_->hold_timing(now()->workers.front().name, 1);
    wait_for_end(ctx);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("measured with CUPTI"));
    EXPECT_EQ(hold(), 0u);
    still_->hold_timing(now()->workers.front().name, 1);
    still_->times = true;
    ctx->ItemClick(kRead);
    ctx->Yield(8);
    EXPECT_TRUE(bench_->hardware().waits()) << "the hold that is shown is the first one's";
    ctx->ItemClick("//Counters/###cancel hardware");
    wait_for_end(ctx);
    EXPECT_FALSE(bench_->hardware().waits()) << "it did not begin";
  });
  EXPECT_EQ(runs(), 1u);
}

TEST_F(HardwareFlow, ASecondReadingThatIsCancelledLeavesTheFirst) {
  open_on_gpu({});
  flow([&](ImGuiTestContext* ctx) {
    ctx->ItemClick(kRead);
    wait_for_end(ctx);
    ctx->ItemClick(kRead);
    bench_->hardware().cancel();
    wait_for_end(ctx);
    EXPECT_THAT(drawn_words(ctx), HasSubstr("measured with CUPTI"));
  });
}

TEST_F(HardwareFlow, WhereNothingCanBeReadTheReasonIsSaid) {
  open_on_gpu({});
  const session::Snapshot shown = *now();
  const auto refused = [&](const std::function<void(session::Snapshot&)>& how, const char* why) {
    session::Snapshot other = shown;
    how(other);
    EXPECT_THAT(bench_->hardware().refusal(other, other.focus.shown->experiment), HasSubstr(why));
  };
  refused([](session::Snapshot& one) { one.workers[0].state = session::WorkerState::busy; }, "busy");
  refused([](session::Snapshot& one) { one.workers[0].name = "box"; }, "The worker box cannot be told to profile");
  refused([](session::Snapshot& one) { one.kernels = session::share<std::vector<Kernel>>(); }, "edited since");
  EXPECT_EQ(bench_->hardware().refusal(shown, shown.focus.shown->experiment), "");
}

TEST_F(HardwareFlow, AnEmulatedDeviceHasNone) {
  profiling_ = options_;
  open_still(snapshot_after({"m32_w4"}));
  flow([&](ImGuiTestContext* ctx) { EXPECT_THAT(drawn_words(ctx), Not(HasSubstr("own counters"))); });
}

}  // namespace
}  // namespace attnscope::ui
