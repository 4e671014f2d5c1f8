#include <gtest/gtest.h>

#include "session/history_log.h"
#include "session/naming.h"
#include "session/tile_cache.h"
#include "session/undo.h"

namespace attnscope::session {
namespace {

HistoryEntry entry(const std::string& change) {
  HistoryEntry e;
  e.observation = std::make_shared<const Observation>();
  e.change = change;
  return e;
}

TEST(HistoryLog, EntriesAreNumberedFromOneAcrossChunks) {
  HistoryLog log;
  for (size_t i = 1; i <= 3 * HistoryLog::kChunk + 1; ++i) EXPECT_EQ(log.add(entry(std::to_string(i)), 0), i);
  ASSERT_EQ(log.view().size, 3 * HistoryLog::kChunk + 1);
  ASSERT_EQ(log.view().chunks.size(), 4u);
  for (size_t i = 0; i < log.view().size; ++i) {
    EXPECT_EQ(log.view().at(i).id, i + 1);
    EXPECT_EQ(log.view().at(i).change, std::to_string(i + 1));
  }
  EXPECT_EQ(log.find(0), nullptr);
  EXPECT_EQ(log.find(65)->change, "65");
  EXPECT_EQ(log.find(194), nullptr);
}

TEST(HistoryLog, AGestureIsOneEntryTheLastOfIt) {
  HistoryLog log;
  log.add(entry("a"), 7);
  EXPECT_EQ(log.add(entry("b"), 8), 2u);
  EXPECT_EQ(log.add(entry("c"), 8), 2u);
  EXPECT_EQ(log.add(entry("d"), 0), 3u);
  EXPECT_EQ(log.add(entry("e"), 0), 4u) << "gesture 0 is never the same as another";
  EXPECT_EQ(log.view().size, 4u);
  EXPECT_EQ(log.view().at(1).change, "c");
}

TEST(HistoryLog, AGestureAcrossAFullChunkStaysOneEntry) {
  HistoryLog log;
  for (size_t i = 1; i < HistoryLog::kChunk; ++i) log.add(entry("x"), 0);
  log.add(entry("first"), 5);
  EXPECT_EQ(log.add(entry("last"), 5), HistoryLog::kChunk);
  EXPECT_EQ(log.view().chunks.size(), 1u);
  EXPECT_EQ(log.add(entry("next"), 6), HistoryLog::kChunk + 1);
}

TEST(HistoryLog, ASnapshotTakenBeforeDoesNotChange) {
  HistoryLog log;
  for (size_t i = 0; i < HistoryLog::kChunk; ++i) log.add(entry("old"), 0);
  log.add(entry("tail"), 3);
  const History before = log.view();
  log.add(entry("replaced"), 3);
  log.add(entry("more"), 0);
  EXPECT_EQ(before.size, HistoryLog::kChunk + 1);
  EXPECT_EQ(before.at(HistoryLog::kChunk).change, "tail");
  EXPECT_EQ(before.chunks[0], log.view().chunks[0]) << "full chunks are shared";
}

UndoState state(const std::string& hash) { return UndoState{{}, hash, nullptr, "", nullptr, 0}; }

TEST(UndoStack, WalksBackAndForth) {
  UndoStack stack;
  EXPECT_FALSE(stack.can_undo());
  stack.push(state("a"), 1);
  EXPECT_FALSE(stack.can_undo());
  stack.push(state("b"), 2);
  stack.push(state("c"), 3);
  EXPECT_EQ(stack.undo()->hash, "b");
  EXPECT_EQ(stack.undo()->hash, "a");
  EXPECT_EQ(stack.undo(), nullptr);
  EXPECT_EQ(stack.redo()->hash, "b");
  stack.push(state("d"), 4);
  EXPECT_FALSE(stack.can_redo());
  EXPECT_EQ(stack.undo()->hash, "b");
  EXPECT_EQ(stack.redo()->hash, "d");
  EXPECT_EQ(stack.redo(), nullptr);
}

TEST(UndoStack, AGestureIsOneStep) {
  UndoStack stack;
  stack.push(state("a"), 1);
  stack.push(state("b"), 2);
  stack.push(state("c"), 2);
  EXPECT_EQ(stack.undo()->hash, "a");
  EXPECT_EQ(stack.redo()->hash, "c");
  stack.push(state("d"), 2);
  EXPECT_EQ(stack.undo()->hash, "c") << "after undo or redo the old gesture is over";
}

TEST(UndoStack, KeepsTheObservationOfThePresentStateOnly) {
  UndoStack stack;
  stack.push(state("a"), 1);
  auto observation = std::make_shared<const Observation>();
  stack.keep("b", observation, 1);
  stack.keep("a", observation, 2);
  stack.push(state("b"), 2);
  const UndoState* first = stack.undo();
  EXPECT_EQ(first->observation, observation);
  EXPECT_EQ(first->run, 2u);
  EXPECT_EQ(stack.redo()->observation, nullptr);
}

TEST(UndoStack, IsBounded) {
  UndoStack stack;
  for (size_t i = 0; i < UndoStack::kDepth + 10; ++i) stack.push(state(std::to_string(i)), 0);
  size_t steps = 0;
  while (stack.undo()) ++steps;
  EXPECT_EQ(steps, UndoStack::kDepth - 1);
}

Tile tile(int64_t head, int side, uint8_t ready = 1) {
  Tile t;
  t.request.experiment_hash = "h";
  t.request.head = head;
  t.width = t.height = side;
  t.values.assign(static_cast<size_t>(side) * static_cast<size_t>(side), 0.5f);
  t.ready_rows.assign(static_cast<size_t>(side), ready);
  return t;
}

TEST(TileCache, TheNewestOfARequestAndBoundedByNumber) {
  TileCache cache;
  cache.add(tile(0, 2, 0));
  EXPECT_FALSE(complete(*cache.find(tile(0, 2).request)));
  cache.add(tile(0, 2, 1));
  EXPECT_TRUE(complete(*cache.find(tile(0, 2).request)));
  EXPECT_EQ(cache.view().size(), 1u);
  for (int64_t head = 1; head <= int64_t(TileCache::kMaxTiles); ++head) cache.add(tile(head, 2));
  EXPECT_EQ(cache.view().size(), TileCache::kMaxTiles);
  EXPECT_EQ(cache.find(tile(0, 2).request), nullptr);
}

TEST(TileCache, BoundedByBytes) {
  TileCache cache;
  for (int64_t head = 0; head < 5; ++head) cache.add(tile(head, 2100));  // 17.6 MB each
  EXPECT_EQ(cache.view().size(), 3u);
  EXPECT_TRUE(cache.find(tile(4, 2100).request));
}

// Two of 36 MB are over 64 MiB: the older one goes, whichever it is; one that is larger by itself stays.
TEST(TileCache, KeepsTheNewestHoweverLargeItIs) {
  TileCache cache;
  for (const int64_t head : {7, 3, 5}) {
    cache.add(tile(head, 3000));
    ASSERT_EQ(cache.view().size(), 1u);
    EXPECT_TRUE(cache.find(tile(head, 3000).request));
  }
  cache.add(tile(1, 4200));
  EXPECT_EQ(cache.view().size(), 1u);
  EXPECT_TRUE(cache.find(tile(1, 4200).request)) << "70 MB";
  cache.add(tile(2, 2));
  EXPECT_EQ(cache.view().size(), 1u);
  EXPECT_TRUE(cache.find(tile(2, 2).request));
}

// What a newer tile of a request replaces takes no room, and counts as old no longer.
TEST(TileCache, ATileThatComesAgainCountsOnceAndIsNew) {
  TileCache cache;
  cache.add(tile(0, 2100));
  cache.add(tile(1, 2100));
  for (int again = 0; again < 6; ++again) cache.add(tile(0, 2100));
  EXPECT_EQ(cache.view().size(), 2u);
  cache.add(tile(2, 2100));
  EXPECT_EQ(cache.view().size(), 3u) << "three are 53 MB";
  cache.add(tile(3, 2100));
  EXPECT_EQ(cache.find(tile(1, 2).request), nullptr) << "the oldest now";
  for (const int64_t head : {0, 2, 3}) EXPECT_TRUE(cache.find(tile(head, 2).request)) << head;
}

TEST(TileCache, ATileIsWholeOnceEachOfItsRowsIs) {
  Tile some = tile(0, 3);
  EXPECT_TRUE(complete(some));
  for (size_t row = 0; row < 3; ++row) {
    some.ready_rows = {1, 1, 1};
    some.ready_rows[row] = 0;
    EXPECT_FALSE(complete(some)) << row;
  }
}

TEST(Naming, OnlyWhatDiffersIsNamed) {
  Kernel kernel;
  kernel.id = "tiled";
  kernel.knobs = {{"NUM_WARPS", {{4, ""}, {8, ""}}, 4, ""}, {"SHARED", {{0, "static"}, {1, "dynamic"}}, 0, ""}};
  Experiment wanted;
  wanted.kernel = "tiled";
  wanted.config.knobs = {{"NUM_WARPS", 8}, {"SHARED", 0}};
  Experiment other = wanted;
  EXPECT_EQ(difference_text(other, wanted, &kernel), "the run before");
  other.config.knobs = {{"NUM_WARPS", 4}, {"SHARED", 1}};
  EXPECT_EQ(difference_text(other, wanted, &kernel), "NUM_WARPS=4 SHARED=dynamic");
  other.config.knobs = wanted.config.knobs;
  other.config.options.fast_math = false;
  other.device = "emulated:h200";
  EXPECT_EQ(difference_text(other, wanted, &kernel), "fast_math=off, emulated:h200");
  other = wanted;
  other.problem.seq_q = 333;
  EXPECT_EQ(difference_text(other, wanted, &kernel), "B1 H8 Sq333 Sk512 D64");
  other = wanted;
  other.kernel_hash = "older";
  EXPECT_EQ(difference_text(other, wanted, &kernel), "tiled before the edit");
  other = wanted;
  other.problem.seed = 3;
  EXPECT_EQ(difference_text(other, wanted, &kernel), "other inputs");
}

}  // namespace
}  // namespace attnscope::session
