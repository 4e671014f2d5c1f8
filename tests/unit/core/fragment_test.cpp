// The layouts against the PTX ISA's own formulas ("Matrix fragments for mma.m16n8k16" and so on), written with its
// names: groupID, threadID_in_group, i.
#include "core/fragment.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <tuple>

namespace attnscope {
namespace {

struct Case {
  const char* name;
  MatrixFragment fragment;
  int64_t elements;  // of each lane: a0, a1, …
  std::function<std::pair<int64_t, int64_t>(int64_t group, int64_t thread, int64_t i)> element;
};

MatrixFragment made(int64_t rows, int64_t columns, int64_t bits, int64_t run, bool by_columns = false) {
  return {MatrixName::a, rows, columns, bits, run, by_columns, 8};
}

using At = std::pair<int64_t, int64_t>;
const std::vector<Case> kCases = {
    {"a of m16n8k16 .f16", made(16, 16, 16, 2), 8,
     [](int64_t g, int64_t t, int64_t i) {
       return At{i < 2 || (i >= 4 && i < 6) ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
     }},
    {"b of m16n8k16 .f16", made(16, 8, 16, 2, true), 4,
     [](int64_t g, int64_t t, int64_t i) {
       return At{t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g};
     }},
    {"c of m16n8k16 .f32", made(16, 8, 32, 2), 4,
     [](int64_t g, int64_t t, int64_t i) {
       return At{i < 2 ? g : g + 8, t * 2 + (i & 1)};
     }},
    {"c of m16n8k16 .f16", made(16, 8, 16, 2), 4,
     [](int64_t g, int64_t t, int64_t i) {
       return At{i < 2 ? g : g + 8, t * 2 + (i & 1)};
     }},
    {"a of m16n8k8 .f16", made(16, 8, 16, 2), 4,
     [](int64_t g, int64_t t, int64_t i) {
       return At{i < 2 ? g : g + 8, t * 2 + (i & 1)};
     }},
    {"b of m16n8k8 .f16", made(8, 8, 16, 2, true), 2,
     [](int64_t g, int64_t t, int64_t i) {
       return At{t * 2 + i, g};
     }},
    {"a of m16n8k8 .tf32", made(16, 8, 32, 1), 4,
     [](int64_t g, int64_t t, int64_t i) {
       return At{i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
     }},
    {"b of m16n8k8 .tf32", made(8, 8, 32, 1, true), 2,
     [](int64_t g, int64_t t, int64_t i) {
       return At{i == 0 ? t : t + 4, g};
     }},
    {"a of m16n8k32 .s8", made(16, 32, 8, 4), 16,
     [](int64_t g, int64_t t, int64_t i) {
       return At{i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
     }},
    {"b of m16n8k32 .s8", made(32, 8, 8, 4, true), 8,
     [](int64_t g, int64_t t, int64_t i) {
       return At{t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g};
     }},
    {"a of m8n8k16 .s8", made(8, 16, 8, 4), 4,
     [](int64_t g, int64_t t, int64_t i) {
       return At{g, t * 4 + i};
     }},
    {"a of m8n8k4 .f64", made(8, 4, 64, 1), 1,
     [](int64_t g, int64_t t, int64_t) {
       return At{g, t};
     }},
    {"b of m8n8k4 .f64", made(4, 8, 64, 1, true), 1,
     [](int64_t g, int64_t t, int64_t) {
       return At{t, g};
     }},
    {"c of m8n8k4 .f64", made(8, 8, 64, 2), 2,
     [](int64_t g, int64_t t, int64_t i) {
       return At{g, t * 2 + i};
     }},
};

TEST(Fragment, EveryElementIsWherePtxSays) {
  for (const Case& one : kCases) {
    ASSERT_TRUE(is_whole(one.fragment)) << one.name;
    EXPECT_EQ(registers_of(one.fragment), one.elements * one.fragment.bits / 32) << one.name;
    for (int64_t lane = 0; lane < 32; ++lane) {
      const std::vector<HeldElement> held = held_by(one.fragment, uint32_t(lane));
      ASSERT_EQ(int64_t(held.size()), one.elements) << one.name;
      for (int64_t i = 0; i < one.elements; ++i) {
        const auto [row, column] = one.element(lane / 4, lane % 4, i);
        EXPECT_EQ(std::pair(held[size_t(i)].row, held[size_t(i)].column), std::pair(row, column))
            << one.name << ", lane " << lane << ", element " << i;
        const int64_t bit = i * one.fragment.bits;
        EXPECT_EQ(place_of(one.fragment, row, column),
                  (FragmentPlace{uint32_t(lane), uint32_t(bit / 32), uint32_t(bit % 32)}))
            << one.name;
      }
    }
  }
}

TEST(Fragment, NoTwoElementsShareAPlace) {
  for (const Case& one : kCases) {
    std::set<std::tuple<uint32_t, uint32_t, uint32_t>> places;
    for (int64_t row = 0; row < one.fragment.rows; ++row)
      for (int64_t column = 0; column < one.fragment.columns; ++column) {
        const FragmentPlace place = place_of(one.fragment, row, column);
        EXPECT_TRUE(places.emplace(place.lane, place.reg, place.bit).second) << one.name;
      }
  }
}

TEST(Fragment, AnUnevenOneIsNotWhole) {
  EXPECT_FALSE(is_whole(made(12, 16, 16, 2))) << "rows go by eight";
  EXPECT_FALSE(is_whole(made(16, 12, 16, 2))) << "columns go by four lanes' runs";
  EXPECT_FALSE(is_whole(made(16, 12, 16, 2, true))) << "so do its lines";
  EXPECT_FALSE(is_whole(made(16, 16, 16, 1))) << "half a register";
  EXPECT_FALSE(is_whole(made(16, 16, 24, 4)));
  EXPECT_FALSE(is_whole(made(0, 0, 16, 2)));
}

TEST(Fragment, AlikeIsWhateverTheMatrixAndRegisters) {
  MatrixFragment other = made(16, 8, 32, 2);
  other.matrix = MatrixName::d;
  other.first = 90;
  EXPECT_TRUE(alike(made(16, 8, 32, 2), other));
  EXPECT_FALSE(alike(made(16, 8, 16, 2), other));
}

}  // namespace
}  // namespace attnscope
