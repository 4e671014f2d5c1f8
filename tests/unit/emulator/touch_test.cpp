// What a run says of the buffers that its threads access.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "emulator/watch/touch_log.h"
#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Thread t of CTA c: R0 is 32·c + t, R4 the address of its element of `in`, R6 that of `out`.
const std::string kStart = R"(S2R R0, SR_TID.X
S2R R1, SR_CTAID.X
IMAD R0, R1, 0x20, R0
MOV R2, 0x4
IMAD.WIDE R4, R0, R2, c[0x0][0x160]
IMAD.WIDE R6, R0, R2, c[0x0][0x168]
)";

struct Ran {
  Touches touches;
  std::optional<Failure> failure;
  std::vector<uint32_t> in = std::vector<uint32_t>(100), out = std::vector<uint32_t>(200);
};

constexpr uint64_t kPlenty = 1'000'000;

Ran touched(const std::string& text, uint64_t most_work = kPlenty, std::vector<uint32_t> in = {}) {
  Ran ran;
  if (!in.empty()) ran.in = std::move(in);
  GlobalMemory memory;
  Launch launch;
  launch.program = program_of(kStart + text, {.parameter_bytes = 16});
  if (launch.program == nullptr) return ran;
  launch.grid = {2, 1, 1};
  launch.block = {32, 1, 1};
  launch.parameters = Parameters()
                          .pointer(memory.add("in", bytes_of(ran.in), false))
                          .pointer(memory.add("out", bytes_of(ran.out), true))
                          .bytes();
  launch.memory = &memory;
  const std::atomic<bool> cancel = false;
  auto touches = touches_of(launch, most_work, cancel);
  if (touches)
    ran.touches = *touches;
  else
    ran.failure = touches.error();
  return ran;
}

TEST(Touches, ARangeGoesFromTheFirstToTheLastByte) {
  const Ran ran = touched(R"(LDG.E R8, [R4.64+0x8]
STG.E [R6.64], R8
EXIT)");
  EXPECT_THAT(ran.touches.buffers,
              ElementsAre(Touch{"in", true, false, 8, 8 + 4 * 64, 0}, Touch{"out", false, true, 0, 4 * 64, 4 * 64}));
  EXPECT_EQ(ran.touches.work, 2 * 9 + 2 * 64) << "the warps' instructions and the lanes' accesses";
}

// An index that overflows reaches far beyond what the kernel works on. A strided access does not.
TEST(Touches, ABufferOfWhichNearlyNothingIsAccessedIsSparse) {
  const auto reaching = [](uint32_t stride) {
    std::vector<uint32_t> far(size_t{1} << 21);
    return touched(
        fmt::format("MOV R2, {:#x}\nIMAD.WIDE R4, R0, R2, c[0x0][0x160]\nLDG.E R8, [R4.64]\nSTG.E [R6.64], R8\nEXIT",
                    stride),
        kPlenty, far);
  };
  const Ran dense = reaching(1u << 14), sparse = reaching(1u << 17);
  EXPECT_FALSE(dense.touches.buffers[0].sparse);
  EXPECT_TRUE(sparse.touches.buffers[0].sparse);
  EXPECT_FALSE(sparse.touches.buffers[1].sparse);
}

// Whether what a buffer begins with matters, depends on the order.
TEST(Touches, AReadOfWhatTheRunStoredIsNoReadOfTheInput) {
  const Ran own = touched(R"(MOV R8, 0x1
STG.E [R6.64], R8
LDG.E R9, [R6.64]
STG.E [R6.64], R9
EXIT)");
  EXPECT_EQ(own.touches.buffers[1], (Touch{"out", false, true, 0, 4 * 64, 4 * 64}));
  const Ran other = touched(R"(LDG.E R9, [R6.64]
STG.E [R6.64], R9
EXIT)");
  EXPECT_TRUE(other.touches.buffers[1].read_first);
  EXPECT_EQ(other.touches.buffers[0], (Touch{"in"})) << "nothing accessed it";
}

// A GPU has no order of CTAs: one that waits for another's flag reads what the flag began with.
TEST(Touches, AReadOfWhatAnEarlierCtaStoredIsAReadOfTheInput) {
  const Ran shared = touched(R"(MOV R6, c[0x0][0x168]
MOV R7, c[0x0][0x16c]
ISETP.EQ.AND P0, PT, R1, RZ, PT
@P0 STG.E [R6.64], R0
LDG.E R9, [R6.64]
EXIT)");
  ASSERT_FALSE(shared.failure) << shared.failure->message;
  EXPECT_EQ(shared.touches.buffers[1], (Touch{"out", true, true, 0, 4, 4}));
}

TEST(Touches, ARunEndsWithItsWork) {
  const std::string text = "STG.E [R6.64], R0\nEXIT";
  const Ran whole = touched(text);
  const auto work = static_cast<uint64_t>(whole.touches.work);
  EXPECT_FALSE(touched(text, work).failure);
  const Ran cut = touched(text, work - 1);
  ASSERT_TRUE(cut.failure);
  EXPECT_EQ(cut.failure->stage, Stage::deadline);
  EXPECT_THAT(cut.failure->message, HasSubstr("more instructions"));
}

TEST(Touches, AnEndlessLoopEndsWithTheWork) {
  const Ran ran = touched("again:\nBRA `(again)\nEXIT", 1000);
  ASSERT_TRUE(ran.failure);
  EXPECT_EQ(ran.failure->stage, Stage::deadline);
}

TEST(Touches, OnlyLanesThatTakePartCount) {
  const Ran ran = touched(R"(ISETP.LT.AND P0, PT, R0, 0xa, PT
@P0 STG.E [R6.64], R0
EXIT)");
  EXPECT_EQ(ran.touches.buffers[1], (Touch{"out", false, true, 0, 40, 40}));
}

TEST(Touches, AnAtomicReadsAndStores) {
  const Ran ran = touched(R"(RED.E.ADD.STRONG.GPU [R6.64], R0
EXIT)");
  EXPECT_EQ(ran.touches.buffers[1], (Touch{"out", true, true, 0, 256, 256}));
}

}  // namespace
}  // namespace attnscope::emulator::testing
