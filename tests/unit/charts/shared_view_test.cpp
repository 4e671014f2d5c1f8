#include "charts/shared_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace attnscope::charts {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SharedAccess access(SharedUse use, int64_t bytes, const std::function<int64_t(int)>& at) {
  SharedAccess made{{}, 0xffffffff, bytes, use};
  for (int lane = 0; lane < 32; ++lane) made.at[size_t(lane)] = at(lane);
  return made;
}

// Four matrices of halves side by side in rows of 128 bytes: lane 8k + r has row r of matrix k.
SharedAccess matrices() {
  return access(SharedUse::matrices, 16, [](int lane) { return 128 * (lane % 8) + 16 * (lane / 8); });
}
// Lanes that read the same rows: nothing in the access says where a row ends.
SharedAccess along() {
  return access(SharedUse::copy, 16, [](int lane) { return 16 * lane; });
}

// A copy and LDSM of a tile of rows of 128 bytes, and a store to another buffer.
Listing listing() {
  Listing made;
  CodeLine copy, load, store;
  copy.shared = {.shapes = {along()}, .steps = {{0, 0, 0, 1024}}};
  load.shared = {.shapes = {matrices()}, .steps = {{0, 0, 0, 1024}, {2, 6, 0, 2048}}};
  const auto far = access(SharedUse::store, 4, [](int lane) { return 144 * lane; });
  store.shared = {.shapes = {far}, .steps = {{0, 0, 0, 16384}}};
  made.lines = {copy, CodeLine{}, load, store};
  made.places = {{"K", 1024, 8192}, {"S", 16384, 9216}, {"unused", 30000, 4}};
  return made;
}

TEST(SharedView, ABufferHasTheRowsOfItsAccesses) {
  const std::vector<BufferUse> uses = buffer_uses(listing());
  ASSERT_EQ(uses.size(), 3u);
  EXPECT_EQ(uses[0].row, 128);
  EXPECT_THAT(uses[0].instructions, ElementsAre(0, 2));
  EXPECT_EQ(layout_text(uses[0]), "1,024 to 9,215: 64 rows of 128 B; every row begins in the same bank");
  EXPECT_EQ(uses[1].row, 144);
  EXPECT_EQ(layout_text(uses[1]),
            "16,384 to 25,599: 64 rows of 144 B; each row begins 4 banks after the one before, and 8 rows later in the "
            "same bank");
  EXPECT_EQ(layout_text(uses[2]), "30,000 to 30,003: no recorded access");
}

TEST(SharedView, AnAccessOfOneRowHasTheRowsOfItsBuffer) {
  const Listing code = listing();
  const AccessView view = access_view(buffer_uses(code), *code.lines[0].shared, 0, 0);
  EXPECT_EQ(view.row, 128);
  EXPECT_EQ(view.place, "K + 0");
  ASSERT_EQ(view.pictures.size(), 3u);
  EXPECT_EQ(view.pictures[0].grid.wavefronts, (Wavefronts{4, 4}));
  EXPECT_EQ(access_words(view.access), "copy of 16 B a lane");
  EXPECT_EQ(access_view({}, *code.lines[0].shared, 0, 0).pictures.size(), 1u) << "without a buffer none is known";
  EXPECT_EQ(access_view({}, *code.lines[0].shared, 0, 0).place, "byte 1,024");
  EXPECT_EQ(access_view({}, *code.lines[0].shared, 0, 256).row, 256);
}

// Rows count from the buffer's start: the third row has its chunks permuted by two, whichever lane reads it.
TEST(SharedView, MatricesAreServedOneByOne) {
  const Listing code = listing();
  const SharedSteps& steps = *code.lines[2].shared;
  const AccessView view = access_view(buffer_uses(code), steps, 1, 0);
  EXPECT_EQ(view.row, 128) << "the distance of rows of one matrix";
  EXPECT_EQ(view.execution, "warp 2, its execution 7");
  EXPECT_EQ(access_words(view.access), "4 matrices of 8 x 8 halves");
  const BankGrid& grid = view.pictures[0].grid;
  ASSERT_EQ(grid.phases.size(), 4u);
  EXPECT_EQ(grid.wavefronts, (Wavefronts{32, 4}));
  EXPECT_EQ(phase_text(grid.phases[1]), "lanes 8 to 15: 8 wavefronts");
  EXPECT_EQ(grid.phases[1].distinct[4], 8) << "the second matrix begins in the fifth bank";
  EXPECT_EQ(grid.phase_of(9), &grid.phases[1]);
  for (const size_t layout : {1, 2}) {
    EXPECT_EQ(view.pictures[layout].grid.wavefronts, (Wavefronts{4, 4})) << layout;
    for (const BankPhase& phase : view.pictures[layout].grid.phases) EXPECT_EQ(phase.wavefronts, 1);
  }
  SharedAccess one = matrices();
  one.mask = 0xff;
  EXPECT_EQ(access_words(one), "a matrix of 8 x 8 halves");
}

TEST(SharedView, TheWorstStepIsTheFirstOfThem) {
  SharedSteps steps{.shapes = {along(), matrices()}, .steps = {{0, 0, 0, 0}, {0, 1, 1, 0}, {1, 0, 1, 0}}};
  EXPECT_EQ(worst_step(steps), 1u);
}

}  // namespace
}  // namespace attnscope::charts
