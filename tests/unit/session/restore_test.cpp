#include "session/restore.h"

#include <gtest/gtest.h>

namespace attnscope::session {
namespace {

store::StoredObservation kept(int64_t warps, double us, bool watched = false) {
  store::StoredObservation row;
  Experiment& e = row.observation.experiment;
  e.kernel = "tiled";
  e.config.knobs = {{"NUM_WARPS", warps}, {"SHARED", 0}};
  row.observation.hash = hash_of(e);
  row.observation.timing.emplace().p50 = us;
  if (watched) row.observation.watch.emplace();
  return row;
}

KernelShelf shelf() {
  Kernel kernel;
  kernel.id = "tiled";
  kernel.knobs = {{"NUM_WARPS", {{4, ""}, {8, ""}}, 4, ""}, {"SHARED", {{0, "static"}, {1, "dynamic"}}, 0, ""}};
  KernelShelf shelf;
  shelf.set({kernel});
  return shelf;
}

TEST(RestoredHistory, NamesWhatEachRunChanged) {
  std::vector<store::StoredObservation> rows = {kept(4, 1000), kept(8, 900), kept(8, 900), kept(8, 100)};
  rows[3].observation.experiment.kernel = "gone";
  const auto entries = restored_history(rows, shelf());
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0].change, "");
  EXPECT_EQ(entries[0].config_text, "NUM_WARPS=4 SHARED=static");
  EXPECT_EQ(entries[1].change, "NUM_WARPS 4 \u2192 8");
  EXPECT_EQ(entries[2].change, "run again");
  EXPECT_EQ(entries[3].change, "kernel tiled \u2192 gone");
  EXPECT_EQ(entries[3].config_text, "NUM_WARPS=8 SHARED=0");
}

TEST(RestoredHistory, ARunThatWasWatchedLaterIsOneEntry) {
  const auto entries = restored_history(
      {kept(4, 1000), kept(8, 900), kept(4, 1000, true), kept(4, 1000, true), kept(8, 901, true)}, shelf());
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_TRUE(entries[0].observation->watch) << "the report joined its run, before the one of eight warps";
  EXPECT_EQ(entries[1].observation->experiment.config.knobs.at("NUM_WARPS"), 8);
  EXPECT_EQ(entries[2].change, "NUM_WARPS 8 \u2192 4") << "run again, with the report that was known";
  EXPECT_EQ(entries[3].observation->timing->p50, 901) << "another time: another run";
}

}  // namespace
}  // namespace attnscope::session
