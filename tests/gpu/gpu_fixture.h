#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cuda_api/driver.h"
#include "session/session.h"
#include "support/temp_dir.h"

namespace attnscope::gpu_tests {

// Why there is no GPU here; empty if there is one.
inline const std::string& no_gpu() {
  static const std::string reason = []() -> std::string {
    const auto driver = cuda_api::Driver::open();
    if (!driver) return driver.error().message;
    const auto gpus = driver->gpus();
    if (!gpus) return gpus.error().message;
    return gpus->empty() ? "The NVIDIA driver knows no GPU." : "";
  }();
  return reason;
}

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!no_gpu().empty()) GTEST_SKIP() << no_gpu();
  }
};

// $ATTNSCOPE_SOURCE where the tests were carried to another machine.
inline std::filesystem::path source_tree() {
  const char* moved = std::getenv("ATTNSCOPE_SOURCE");
  return moved ? moved : ATTNSCOPE_SOURCE_DIR;
}

// A session over the program's own worker with the shipped kernels, a cooperative one and the mutants.
class SessionOnGpu : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    const char* program = std::getenv("ATTNSCOPE");
    session::SessionOptions options;
    options.kernel_dirs = {source_tree() / "kernels", source_tree() / "tests/kernels/cooperative"};
    for (const char* mutant : {"illegal_address", "endless", "wrong"})
      options.kernel_dirs.push_back(source_tree() / "tests/mutants" / mutant);
    options.assets_dir = source_tree() / "assets";
    options.workers = {{"local", {program ? program : ATTNSCOPE_PROGRAM, "worker"}}};
    options.deadlines.launch_ms = launch_deadline_ms;
    options.watch_files = options.first_experiment = false;
    auto started = session::Session::start(options, {});
    ASSERT_TRUE(started) << started.error().message;
    session_ = std::move(*started);
  }
  void TearDown() override {
    if (session_) session_->stop();
  }

  static Draft draft(const std::string& kernel, std::map<std::string, int64_t> knobs = {},
                     const std::string& problem = "B=1,H=2,S=130,D=64") {
    Draft one;
    one.kernel = kernel;
    one.config.knobs = std::move(knobs);
    one.problem = problem_from_text(problem).value();
    one.device = "cuda:0";
    one.measure.max_time_ms = 60;
    return one;
  }
  Observation run(Draft one) { return session_->queue(std::move(one)).get(); }

  int launch_deadline_ms = 2000;
  std::unique_ptr<session::Session> session_;
};

inline std::string said(const Observation& o) { return o.failure ? o.failure->message : "no failure"; }

inline void expect_measured(const Observation& o, VerdictState state = VerdictState::correct) {
  ASSERT_FALSE(o.failure) << said(o);
  ASSERT_TRUE(o.verdict && o.timing);
  EXPECT_EQ(o.verdict->state, state) << o.verdict->reason;
  EXPECT_EQ(o.verdict->rows_checked, o.verdict->rows_total);
  EXPECT_EQ(o.timing->kind, FigureKind::measured);
  EXPECT_GT(o.timing->p50, 1);
  EXPECT_LE(o.timing->interval_low, o.timing->p50);
  EXPECT_GE(o.timing->interval_high, o.timing->p50);
  EXPECT_GT(o.timing->samples, 0);
  EXPECT_FALSE(o.versions.driver.empty());
  EXPECT_FALSE(o.versions.gpu.empty());
}

}  // namespace attnscope::gpu_tests
