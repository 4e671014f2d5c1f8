#include "core/folded.h"

#include <gtest/gtest.h>

#include <random>

namespace attnscope {
namespace {

using Words = std::vector<uint32_t>;

Folded fold(const Words& words, size_t piece = SIZE_MAX) {
  Folder folder;
  for (size_t at = 0; at < words.size(); at += std::min(piece, words.size() - at))
    folder.add(std::span(words).subspan(at, std::min(piece, words.size() - at)));
  Folded out = folder.finish();
  EXPECT_TRUE(folder.fits());
  return out;
}

Words unfolded(const Folded& folded) {
  Words words;
  size_t at = 0;
  const auto copy_until = [&](size_t end) {
    words.insert(words.end(), folded.words.begin() + static_cast<ptrdiff_t>(at),
                 folded.words.begin() + static_cast<ptrdiff_t>(end));
  };
  for (const Folded::Loop& loop : folded.loops) {
    EXPECT_GE(loop.first, at);
    copy_until(loop.first);
    for (int64_t i = 0; i < loop.times; ++i) at = loop.first, copy_until(loop.first + loop.length);
    at = loop.first + loop.length;
  }
  copy_until(folded.words.size());
  return words;
}

Words repeated(const Words& body, int times) {
  Words words;
  for (int i = 0; i < times; ++i) words.insert(words.end(), body.begin(), body.end());
  return words;
}

Words joined(std::initializer_list<Words> parts) {
  Words words;
  for (const Words& part : parts) words.insert(words.end(), part.begin(), part.end());
  return words;
}

TEST(Folded, ALoopIsKeptOnce) {
  const Folded folded = fold(joined({{1, 2}, repeated({3, 4, 5}, 100), {6}}));
  EXPECT_EQ(folded.words, (Words{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(folded.loops, (std::vector<Folded::Loop>{{2, 3, 100}}));
}

TEST(Folded, OfLoopsWithinLoopsTheOutermostIsKept) {
  const Words inner = joined({{7}, repeated({1, 2}, 16), {8}, repeated({3}, 5)});
  const Folded folded = fold(joined({{9}, repeated(inner, 50), {9, 9}, repeated({4, 5}, 10)}));
  EXPECT_EQ(folded.words, joined({{9}, inner, {9, 9}, {4, 5}}));
  EXPECT_EQ(folded.loops, (std::vector<Folded::Loop>{{1, inner.size(), 50}, {inner.size() + 3, 2, 10}}));
}

TEST(Folded, ALoopOfOneWord) {
  EXPECT_EQ(fold(repeated({5}, 1000)), (Folded{{5}, {{0, 1, 1000}}}));
  EXPECT_EQ(fold({5, 5}), (Folded{{5, 5}, {}})) << "two runs are not worth a loop";
  EXPECT_EQ(fold({}), Folded{});
}

TEST(Folded, WhateverThePieces) {
  const Words words = joined({{1}, repeated(joined({{2}, repeated({3, 4}, 7)}), 40), {5}});
  const Folded whole = fold(words);
  for (const size_t piece : {1U, 2U, 13U, 100U}) EXPECT_EQ(fold(words, piece), whole) << piece;
}

// A path of two million blocks: 64 times 16 times 2,048.
TEST(Folded, ALongPathIsShort) {
  Words tile;
  for (uint32_t i = 0; i < 64; ++i) tile = joined({std::move(tile), {100 + i}, repeated({1, 2}, 16)});
  Folder folder;
  for (int i = 0; i < 1000; ++i) folder.add(tile);
  const Folded folded = folder.finish();
  EXPECT_TRUE(folder.fits());
  EXPECT_EQ(folded.words, tile);
  ASSERT_EQ(folded.loops.size(), 1u);
  EXPECT_EQ(folded.loops[0].times, 1000);
}

TEST(Folded, WhatDoesNotRepeatDoesNotFit) {
  std::mt19937 engine(1);
  const auto random = [&] { return static_cast<uint32_t>(engine()); };
  Words words;
  for (size_t i = 0; i < 3 * Folder::kMostWords; ++i) words.push_back(random());
  Folder folder;
  folder.add(words);
  folder.finish();
  EXPECT_FALSE(folder.fits());
}

// Random nests with few words, so that many repetitions are accidental.
TEST(Folded, NothingIsLost) {
  std::mt19937 engine(7);
  const auto random = [&] { return static_cast<uint32_t>(engine()); };
  const auto nest = [&](const auto& self, int depth) -> Words {
    Words words;
    for (uint32_t part = random() % 4 + 1; part > 0; --part)
      words = joined({std::move(words), depth == 0 || random() % 3 == 0
                                            ? Words{random() % 4}
                                            : repeated(self(self, depth - 1), int(random() % 6))});
    return words;
  };
  for (int i = 0; i < 2000; ++i) {
    const Words words = nest(nest, 3);
    EXPECT_EQ(unfolded(fold(words, random() % 50 + 1)), words) << i;
  }
}

}  // namespace
}  // namespace attnscope
