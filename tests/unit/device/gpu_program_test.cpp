// A program of several launches on a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "cuda_device_test.h"

namespace attnscope::device {
namespace {

using testing::CudaDeviceTest;
using ::testing::HasSubstr;

class GpuProgramTest : public CudaDeviceTest {
 protected:
  // in → (memset) scratch → a launch that adds the two → sum → a copy → out, and a launch that doubles out.
  GpuProgramTest() {
    Workload workload;
    workload.operands = {{"in", BufferRole::in, ElementType::i32, {4}, {BufferInit::Kind::iota, {}, {}}},
                         {"scratch", BufferRole::workspace, ElementType::i32, {4}, {BufferInit::Kind::unset, {}, {}}},
                         {"sum", BufferRole::workspace, ElementType::i32, {4}, {BufferInit::Kind::unset, {}, {}}},
                         {"out", BufferRole::out, ElementType::i32, {4}, {}}};
    operands_ = check::make_operands(workload, problem_).value();
    gpu_.kernel = [this](std::byte* parameters) {
      float scale = 0;
      std::memcpy(&scale, parameters + 32, sizeof scale);
      int32_t a[4], b[4];
      std::memcpy(a, tensor(parameters, 0), sizeof a);
      std::memcpy(b, tensor(parameters, 1), sizeof b);
      for (int i = 0; i < 4; ++i) a[i] = scale > 1 ? 2 * a[i] : a[i] + b[i];
      std::memcpy(tensor(parameters, 3), a, sizeof a);
      return 0;
    };
  }

  static LaunchStep transfer(ProgramStep::Kind kind, size_t from, size_t to, int byte) {
    LaunchStep step;
    step.kind = kind;
    step.from = from;
    step.to = to;
    step.byte = byte;
    return step;
  }

  // A launch of the kernel over those operands with that scale.
  LaunchStep launch(Device& on, std::vector<size_t> operands, float scale) {
    LaunchStep step;
    step.name = "minimal, launch";
    step.loaded = on.load(variant_).value();
    step.shape = {{16, 1, 1}, {128, 1, 1}};
    const auto bytes_of_value = [](auto value) {
      std::vector<std::byte> bytes(sizeof value);
      std::memcpy(bytes.data(), &value, sizeof value);
      return bytes;
    };
    for (const size_t one : operands) step.arguments.push_back({"operand", one, {}, {}});
    step.arguments.push_back({"scale", {}, bytes_of_value(scale), {}});
    for (int i = 0; i < 4; ++i) step.arguments.push_back({"size", {}, bytes_of_value(int32_t{1}), {}});
    return step;
  }

  LaunchRequest program(Device& on) {
    LaunchRequest request;
    request.name = "a program";
    request.problem.kind = ProblemKind::custom;
    request.operands = operands_;
    request.steps = {transfer(ProgramStep::Kind::memset, 0, 1, 1), launch(on, {0, 1, 1, 2}, 1),
                     transfer(ProgramStep::Kind::copy, 2, 3, 0), launch(on, {3, 3, 3, 3}, 2)};
    request.loaded = request.steps.back().loaded;
    request.shape = request.steps.back().shape;
    request.arguments = request.steps.back().arguments;
    return request;
  }

  std::shared_ptr<const check::Operands> operands_;
};

TEST_F(GpuProgramTest, ItsStepsRunInOrder) {
  const auto one = device();
  const auto outcome = one->run(program(*one), {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(outcome->outputs.size(), 1u);
  int32_t out[4];
  std::memcpy(out, outcome->outputs.front()->data().data(), sizeof out);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(out[i], 2 * (i + 0x01010101)) << i;
  EXPECT_EQ(gpu_.launches, 2);
}

TEST_F(GpuProgramTest, IsTimedAsAWhole) {
  const auto one = device();
  auto timer = one->timer(program(*one), CacheState::hot, {});
  ASSERT_TRUE(timer) << timer.error().message;
  ASSERT_TRUE((*timer)->begin_round());
  const auto taken = (*timer)->take();
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_NEAR(taken->front(), 2 * gpu_.kernel_us, 1e-3) << "both launches of each pass";
}

TEST_F(GpuProgramTest, ARefusedStepIsAFailure) {
  for (const char* call : {"memory_set", "copy_on_device"}) {
    const auto one = device();
    gpu_.refused = call;
    const auto outcome = one->run(program(*one), {});
    ASSERT_FALSE(outcome) << call;
    EXPECT_EQ(outcome.error().stage, Stage::device) << call;
    gpu_.refused.clear();
    gpu_.refused_after = 0;
  }
}

}  // namespace
}  // namespace attnscope::device
