// Watches of a made-up emulator, whose outputs and findings the test decides.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "check/inputs.h"
#include "check/reference.h"
#include "worker/watch_run.h"

namespace attnscope::worker {

using emulator::WatchFinding;
using emulator::WatchKind;

// 0x7fff7fff is NaN as two halves and as a float, 0x7149f2ca is 1e30.
inline constexpr uint32_t kNan = 0x7fff7fff, kLarge = 0x7149f2ca;

inline WatchFinding of_kind(WatchKind kind, std::string message = "") {
  WatchFinding finding;
  finding.kind = kind;
  finding.message = std::move(message);
  return finding;
}

// An emulator whose outputs the test decides: all zero unless `change` writes into one or fails the run.
class Scripted final : public device::Device {
 public:
  const DeviceSpec& spec() const override { return spec_; }
  Result<std::shared_ptr<const device::Loaded>> load(const compile::Variant&) override {
    return fail(Stage::internal, "not asked", "");
  }
  Result<device::LaunchOutcome> run(const device::LaunchRequest& request, const device::LaunchEvents& events) override {
    trials.push_back(request.trial);
    auto output = std::make_shared<check::GuardedBuffer>(name, bytes);
    std::ranges::fill(output->data(), std::byte{0});
    if (change)
      if (auto failure = change(request.trial, output->data())) return fail(*failure);
    events.on_progress(static_cast<int64_t>(request.trial.ctas.size()), 0);
    device::LaunchOutcome outcome;
    outcome.output = output;
    outcome.outputs = {output};
    outcome.emulated.emplace();
    if (request.trial.watch) {
      outcome.emulated->result.findings = findings;
      outcome.emulated->result.suspected = suspected;
      outcome.emulated->result.unwritten = unwritten;
    }
    return outcome;
  }

  std::string name = "o";
  size_t bytes = 0;
  std::vector<WatchFinding> findings, suspected;
  std::vector<emulator::UnwrittenBuffer> unwritten;
  std::function<std::optional<Failure>(const device::Trial&, std::span<std::byte> output)> change;
  std::vector<device::Trial> trials;

 private:
  DeviceSpec spec_;
};

class WatchRunTest : public testing::Test {
 protected:
  WatchRunTest() {
    Problem& problem = run_.launch.problem;
    problem.heads = problem.kv_heads = 1;
    problem.seq_q = problem.seq_k = 16;
    device_.bytes = static_cast<size_t>(problem.q_elements()) * bytes_of(problem.dtype);
    run_.launch.shape = {{5, 3, 2}, {32, 1, 1}};
    run_.launch.trial.shared_names = {{"tile", 0, 64}};
    run_.cancel = &cancel_;
    run_.reference = [this]() -> ReferenceResult {
      ++references_;
      return nullptr;
    };
    run_.on_progress = [this](int64_t done, int64_t total) { told_.emplace_back(done, total); };
  }
  WatchReport report() {
    auto made = watch_kernel(run_);
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or(WatchReport{});
  }
  // Flips a bit in this f16 element of o when `when` says so.
  void change_where(std::function<bool(const device::Trial&)> when, size_t element = 7) {
    device_.change = [when = std::move(when), element](const device::Trial& trial, std::span<std::byte> output) {
      if (when(trial)) output[2 * element] = std::byte{1};
      return std::optional<Failure>();
    };
  }
  // A reference that agrees with the all-zero output, or does not.
  void judge_by(double value) {
    Problem problem = run_.launch.problem;
    const auto inputs = check::make_inputs(problem);
    auto made = std::make_shared<check::Reference>(**check::make_reference(problem, *inputs, check::Accumulate::f32));
    for (double& one : made->values) one = value;
    run_.reference = [made, this]() -> ReferenceResult {
      ++references_;
      return made;
    };
  }

  std::atomic<bool> cancel_ = false;
  Scripted device_;
  WatchRun run_{device_, {}, nullptr, {}, {}};
  std::vector<std::pair<int64_t, int64_t>> told_;
  int references_ = 0;
};

}  // namespace attnscope::worker
