#include "ui/preset_gallery.h"

#include <gtest/gtest.h>

namespace attnscope::ui {
namespace {

Draft draft_of(const std::string& kernel, int64_t warps) {
  Draft draft;
  draft.kernel = kernel;
  draft.config.knobs["NUM_WARPS"] = warps;
  return draft;
}

TEST(PresetGallery, AThumbnailIsOfTheNewestRunOfThatConfigOnAnyDevice) {
  session::History history;
  auto chunk = std::make_shared<session::HistoryChunk>();
  const auto add = [&](const Draft& draft, const std::string& device) {
    Observation seen;
    static_cast<Draft&>(seen.experiment) = draft;
    seen.experiment.device = device;
    chunk->entries.push_back({++history.size, std::make_shared<const Observation>(std::move(seen)), "", "", 0});
  };
  add(draft_of("tiled", 4), "a");
  add(draft_of("tiled", 4), "b");
  add(draft_of("tiled", 8), "c");
  add(draft_of("mma", 4), "d");
  history.chunks = {chunk};
  session::PresetItem preset;
  EXPECT_EQ(run_of_preset(history, preset), nullptr) << "its kernel does not load";
  preset.draft = draft_of("tiled", 4);
  ASSERT_NE(run_of_preset(history, preset), nullptr);
  EXPECT_EQ(run_of_preset(history, preset)->experiment.device, "b");
  preset.draft = draft_of("tiled", 2);
  EXPECT_EQ(run_of_preset(history, preset), nullptr);
}

}  // namespace
}  // namespace attnscope::ui
