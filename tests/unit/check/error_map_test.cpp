#include "check/error_map.h"

#include <gtest/gtest.h>

#include <cmath>

#include "check/float_formats.h"
#include "check/guarded_buffer.h"
#include "unit/check/attention_by_hand.h"
#include "unit/check/store_element.h"

namespace attnscope::check {
namespace {

struct ErrorMap : testing::Test {
  ErrorMap() {
    p.batch = 2, p.heads = p.kv_heads = 2, p.seq_q = 10, p.seq_k = 12, p.head_dim = 8;
    const auto inputs = *make_inputs(p);
    reference = *make_reference(p, inputs, Accumulate::f32);
    output = output_of(p, reference->values);
    request.batch = 1, request.head = 1;
  }
  int64_t at(int64_t i, int64_t d) const { return element_offset(p, 2, 10, 1, 1, i, d); }
  void spoil(int64_t i, int64_t d, float value) { store_element(p.dtype, output.data(), at(i, d), value); }
  double exact(int64_t i, int64_t d) const { return reference->values[static_cast<size_t>((3 * 10 + i) * 8 + d)]; }
  Tile tile() const {
    auto made = make_tile(request, p, output, reference.get());
    EXPECT_TRUE(made) << made.error().message;
    return made ? *made : Tile{};
  }
  Problem p;
  std::shared_ptr<const Reference> reference;
  std::vector<std::byte> output;
  ViewRequest request;
};

TEST_F(ErrorMap, OneTexelAnElement) {
  spoil(4, 3, 5.0f);
  const Tile map = tile();
  ASSERT_EQ(map.width, 8);
  ASSERT_EQ(map.height, 10);
  EXPECT_NEAR(map.values[4 * 8 + 3], std::abs(5.0 - exact(4, 3)), 1e-6);
  for (size_t i = 0; i < 80; ++i) {
    if (i != 35) {
      EXPECT_LT(map.values[i], 1e-3);
      EXPECT_GE(map.values[i], 0);
    }
  }
}

TEST_F(ErrorMap, TheLargestOfATexelStays) {
  spoil(5, 6, 5.0f);
  request.width = 3, request.height = 4;
  const Tile map = tile();
  ASSERT_EQ(map.values.size(), 12u);
  // Rows 0-1, 2-4, 5-6, 7-9; columns 0-1, 2-4, 5-7.
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(map.values[i] > 1, i == 2 * 3 + 2) << i;
}

TEST_F(ErrorMap, NanWins) {
  spoil(5, 6, NAN);
  spoil(6, 7, 9.0f);
  request.width = 3, request.height = 4;
  Tile map = tile();
  EXPECT_TRUE(std::isnan(map.values[2 * 3 + 2]));
  spoil(5, 6, INFINITY);
  map = tile();
  EXPECT_TRUE(std::isnan(map.values[2 * 3 + 2]));
}

TEST_F(ErrorMap, ARectangleOfRows) {
  request.row_begin = 4, request.row_end = 6;
  spoil(4, 0, 7.0f);
  const Tile map = tile();
  EXPECT_EQ(map.height, 2);
  EXPECT_GT(map.values[0], 1);
}

TEST_F(ErrorMap, RowsNotComputedYet) {
  for (int64_t d = 0; d < 8; ++d) fill_poison(p.dtype, std::span(output).subspan(static_cast<size_t>(at(3, d)) * 2, 2));
  fill_poison(p.dtype, std::span(output).subspan(static_cast<size_t>(at(6, 1)) * 2, 2));  // a hole in a computed row
  const Tile map = tile();
  for (size_t y = 0; y < 10; ++y) EXPECT_EQ(map.ready_rows[y], y != 3) << y;
  for (size_t x = 0; x < 8; ++x) EXPECT_EQ(map.values[3 * 8 + x], Tile::kNotYet);
  EXPECT_TRUE(std::isnan(map.values[6 * 8 + 1]));
  request.height = 5;  // texel row 1 covers rows 2 and 3
  EXPECT_EQ(tile().ready_rows, (std::vector<uint8_t>{1, 0, 1, 1, 1}));
}

TEST_F(ErrorMap, OutputAndReferenceThemselves) {
  request.map = MapKind::output;
  const Tile out = tile();
  request.map = MapKind::reference;
  const Tile ref = tile();
  for (int64_t i = 0; i < 10; ++i)
    for (int64_t d = 0; d < 8; ++d) {
      EXPECT_EQ(out.values[static_cast<size_t>(i * 8 + d)], load_element(p.dtype, output.data(), at(i, d)));
      EXPECT_EQ(ref.values[static_cast<size_t>(i * 8 + d)], static_cast<float>(exact(i, d)));
    }
}

TEST_F(ErrorMap, AnOutputMapNeedsNoReference) {
  request.map = MapKind::output;
  EXPECT_EQ(make_tile(request, p, output, nullptr)->ready_rows, std::vector<uint8_t>(10, 1));
  request.map = MapKind::error;
  EXPECT_EQ(make_tile(request, p, output, nullptr)->ready_rows, std::vector<uint8_t>(10, 0));
}

TEST_F(ErrorMap, RowsWithoutAReferenceAreSkipped) {
  Reference sampled = *reference;
  sampled.all_rows = false;
  sampled.rows = {31, 34};  // rows 1 and 4 of this head
  sampled.values.assign(reference->values.begin() + 31 * 8, reference->values.begin() + 32 * 8);
  sampled.values.insert(sampled.values.end(), reference->values.begin() + 34 * 8, reference->values.begin() + 35 * 8);
  spoil(4, 2, 3.0f);
  spoil(3, 2, 99.0f);  // not sampled, so not shown
  request.height = 5;
  const Tile map = *make_tile(request, p, output, &sampled);
  EXPECT_EQ(map.ready_rows, (std::vector<uint8_t>{1, 0, 1, 0, 0}));
  EXPECT_NEAR(map.values[2 * 8 + 2], std::abs(3.0 - exact(4, 2)), 1e-6);
  EXPECT_LT(map.values[0], 1e-3);
}

TEST_F(ErrorMap, RefusesWhatTheProblemDoesNotHave) {
  const auto refused = [&](auto change) {
    ViewRequest bad = request;
    change(bad);
    const auto made = make_tile(bad, p, output, reference.get());
    return !made && made.error().stage == Stage::input;
  };
  EXPECT_TRUE(refused([](ViewRequest& r) { r.batch = 2; }));
  EXPECT_TRUE(refused([](ViewRequest& r) { r.head = -1; }));
  EXPECT_TRUE(refused([](ViewRequest& r) { r.row_begin = 10; }));
  EXPECT_TRUE(refused([](ViewRequest& r) { r.row_end = 11; }));
  EXPECT_TRUE(refused([](ViewRequest& r) { r.width = -1; }));
  EXPECT_TRUE(refused([](ViewRequest& r) { r.row_begin = 5, r.row_end = 3; }));
}

}  // namespace
}  // namespace attnscope::check
