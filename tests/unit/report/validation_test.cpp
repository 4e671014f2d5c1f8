#include "report/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/json.h"

namespace attnscope::report {
namespace {

using testing::HasSubstr;
using testing::Not;

ValidationSet set_of(const std::string& device, double us) {
  ValidationSet set{device, 89, "emulated:l4", "2026-11-22", "580.1", "13.0", "0.1.0", "by hand", {}, {}};
  set.rows.push_back(
      {"B=1,H=8,S=512,D=64", "tiled", "NUM_WARPS=4", "hash", us, 100, 80, 125, Bound::issue_slots, {{"issue", 0.5}}});
  set.rows.push_back({"B=1,H=8,S=512,D=64", "mma", "STAGES=2", "hash", 50, 40, 38, 44, Bound::l2_bandwidth, {}});
  set.refused.push_back({"B=1,H=8,S=512,D=64", "mma", "STAGES=1", "does not fit: 240 KB"});
  return set;
}

TEST(Validation, IsReadAsItWasWritten) {
  const Validation written{{set_of("NVIDIA L4", 110), set_of("NVIDIA A10G", 90)}};
  const auto read = validation_from_json(to_json(written), "v.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, written);
}

TEST(Validation, AFaultNamesTheFileAndThePlace) {
  Json json = to_json(Validation{{set_of("NVIDIA L4", 110)}});
  json["sets"][0]["rows"][1]["us"] = 0;
  const auto read = validation_from_json(json, "v.json");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("v.json"));
  EXPECT_THAT(read.error().message, HasSubstr("sets/0/rows/1/us"));
}

TEST(Validation, TheRecordedGridIsSuchAFile) {
  const Json json = Json::parse(std::ifstream(ATTNSCOPE_SOURCE_DIR "/tests/data/model/h200_grid.json"));
  const auto read = validation_from_json(json, "h200_grid.json");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->sets.size(), 3u);
  for (const ValidationSet& set : read->sets) EXPECT_EQ(set.device, "NVIDIA H200");
  EXPECT_EQ(read->sets.front().rows.size(), 333u);
  EXPECT_EQ(read->sets.front().refused.size(), 10u) << "their machine code has changed since";
  EXPECT_EQ(read->sets[1].rows.size(), 192u);
  EXPECT_EQ(read->sets.back().rows.size(), 62u);
  EXPECT_EQ(read->sets.back().refused.size(), 1u);
}

TEST(Validation, ASetTakesThePlaceOfAnEarlierOneOfTheSame) {
  Validation file{{set_of("NVIDIA L4", 110), set_of("NVIDIA A10G", 90)}};
  put_set(file, set_of("NVIDIA L4", 120));
  ASSERT_EQ(file.sets.size(), 2u);
  EXPECT_EQ(file.sets.front().device, "NVIDIA A10G");
  EXPECT_EQ(file.sets.back().rows.front().us, 120);
  ValidationSet other = set_of("NVIDIA L4", 130);
  other.driver = "600.1";
  put_set(file, other);
  EXPECT_EQ(file.sets.size(), 3u) << "another driver";
}

TEST(Validation, ThePageSaysHowFarOffByBoundKernelAndProblem) {
  const std::string page = as_markdown(set_of("NVIDIA L4", 125));
  EXPECT_THAT(page, HasSubstr("| issue slots | 1 | 20.0 % | 20.0 % | 1.25 | 100 % |"));
  EXPECT_THAT(page, HasSubstr("| mma | 1 | 20.0 % | 20.0 % | 1.25 | 0 % |"));
  EXPECT_THAT(page, HasSubstr("| B=1,H=8,S=512,D=64 | 2 | 20.0 % | 20.0 % | 1.25 | 50 % |"));
  EXPECT_THAT(page, HasSubstr("does not fit: 240 KB"));
}

TEST(Validation, ThePageSaysTheSameInWhateverOrderItsRowsCome) {
  ValidationSet set = set_of("NVIDIA L4", 125);
  for (const double us : {90.0, 300.0, 60.0, 110.0}) {
    set.rows.push_back(set.rows[0]);
    set.rows.back().us = us;
  }
  const std::string page = as_markdown(set);
  EXPECT_THAT(page, HasSubstr("| tiled | 5 | 20.0 % | 66.7 % | 1.10 | 60 % |")) << page;
  for (size_t turn = 1; turn < set.rows.size(); ++turn) {
    std::ranges::rotate(set.rows, set.rows.begin() + 1);
    EXPECT_EQ(as_markdown(set), page) << turn;
  }
}

TEST(Validation, ThePageSaysWhatWasTimedWhereAndListsTwelveRefusals) {
  ValidationSet set = set_of("NVIDIA L4", 125);
  EXPECT_TRUE(as_markdown(set).starts_with(
      "# The model of emulated:l4 on NVIDIA L4\n\n2 configs timed on 2026-11-22, driver 580.1, NVRTC 13.0.\n\n"))
      << as_markdown(set);
  set.refused.resize(12, set.refused[0]);
  EXPECT_THAT(as_markdown(set), HasSubstr("Not timed or not modelled (12):"));
  EXPECT_THAT(as_markdown(set), Not(HasSubstr("more, in the JSON file")));
  set.refused.resize(14, {"B=1", "mma", "LAST=1", "no"});
  EXPECT_THAT(as_markdown(set), HasSubstr("- and 2 more, in the JSON file"));
  EXPECT_THAT(as_markdown(set), Not(HasSubstr("LAST=1")));
}

TEST(Validation, OnlyASetOfTheSameDeviceAndVersionsIsReplaced) {
  for (std::string ValidationSet::*member :
       {&ValidationSet::device, &ValidationSet::driver, &ValidationSet::nvrtc, &ValidationSet::app}) {
    Validation file{{set_of("NVIDIA L4", 110)}};
    ValidationSet other = set_of("NVIDIA L4", 110);
    other.*member += " another";
    put_set(file, other);
    EXPECT_EQ(file.sets.size(), 2u);
  }
}

TEST(Validation, APageWithoutRowsSaysSo) {
  ValidationSet set = set_of("NVIDIA L4", 1);
  set.rows.clear();
  EXPECT_THAT(as_markdown(set), HasSubstr("No config was both timed and modelled."));
  EXPECT_THAT(as_markdown(set), Not(HasSubstr("| bound |")));
}

}  // namespace
}  // namespace attnscope::report
