#include "charts/attention_tiles.h"

#include <gtest/gtest.h>

namespace attnscope::charts {
namespace {

TEST(AttentionTiles, AreTheKnobs) {
  Experiment experiment;
  EXPECT_FALSE(attention_tiles_of(experiment).known());
  experiment.config.knobs = {{"BLOCK_M", 64}, {"BLOCK_N", -1}};
  EXPECT_EQ(attention_tiles_of(experiment), (AttentionTiles{64, 0}));
  EXPECT_EQ(tiles_text(attention_tiles_of(experiment)), "64 query rows by all keys");
}

TEST(AttentionTiles, StandBesideAs) {
  const AttentionTiles b{64, 32}, other{16, 0}, none;
  EXPECT_EQ(tiles_beside(nullptr, b), "64 \u00d7 32");
  EXPECT_EQ(tiles_beside(&b, b), "64 \u00d7 32; A the same");
  EXPECT_EQ(tiles_beside(&other, b), "64 \u00d7 32; A 16 \u00d7 all");
  EXPECT_EQ(tiles_beside(&none, b), "64 \u00d7 32; A's are not known");
  EXPECT_EQ(tiles_beside(&b, none), "not known; A 64 \u00d7 32");
}

TEST(AttentionTiles, SayWhichOneHasAnElement) {
  Problem problem;
  problem.seq_q = 100;
  problem.seq_k = 40;
  EXPECT_EQ(tile_words({64, 32}, problem, 70, 31),
            "CTA 1 of this head: rows 64\u201399\ntile 0 of its walk: keys 0\u201331")
      << "the last CTA has fewer rows";
  EXPECT_EQ(tile_words({0, 32}, problem, 70, 32), "tile 1 of its walk: keys 32\u201339");
  EXPECT_EQ(tile_words({}, problem, 70, 32), "");
}

}  // namespace
}  // namespace attnscope::charts
