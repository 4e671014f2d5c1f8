#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/view.h"

namespace attnscope {
namespace {

ViewRequest aimed() {
  ViewRequest request;
  request.experiment_hash = "0123";
  request.map = MapKind::attention;
  request.target = PixelTarget{1, {std::string(64, '\xff'), std::string(64, '\0')}, 1 << 20, 7};
  return request;
}

TEST(PixelTarget, AMapInItsTargetCarriesItsExtremesInsteadOfItsValues) {
  Tile tile;
  tile.request = aimed();
  tile.width = 512;
  tile.height = 3;
  tile.ready_rows = {1, 1, 1};
  tile.in_target = true;
  tile.low = -0.5f;
  tile.high = 2;
  const auto read = tile_from_json(to_json(tile), "tile");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, tile);
}

// Whoever fills a target starts from these: the extremes include 0.
TEST(PixelTarget, ExtremesStartAtZero) {
  EXPECT_EQ(Tile().low, 0);
  EXPECT_EQ(Tile().high, 0);
}

TEST(PixelTarget, HandlesOfAnotherSizeAreRefused) {
  ViewRequest request = aimed();
  request.target->buffers[1].pop_back();
  const auto read = view_request_from_json(to_json(request), "view");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("view/target/buffers"), std::string::npos) << read.error().message;
}

TEST(PixelTarget, ThereAreTwoHandles) {
  const Json whole = to_json(aimed());
  ASSERT_TRUE(view_request_from_json(whole, "view"));
  Json one = whole, three = whole, none = whole;
  one["target"]["buffers"].erase(1);
  three["target"]["buffers"].push_back(three["target"]["buffers"][0]);
  none["target"]["buffers"] = "a text";
  for (const Json& json : {one, three, none}) {
    const auto read = view_request_from_json(json, "view");
    ASSERT_FALSE(read) << json["target"]["buffers"].size();
    EXPECT_NE(read.error().message.find("view/target/buffers: "), std::string::npos) << read.error().message;
  }
}

TEST(PixelTarget, ValuesCannotBeWhereNoneWereAsked) {
  Tile tile;
  tile.request = aimed();
  tile.in_target = true;
  Json json = to_json(tile);
  json["request"].erase("target");
  EXPECT_FALSE(tile_from_json(json, "tile"));
}

}  // namespace
}  // namespace attnscope
