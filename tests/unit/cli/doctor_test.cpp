#include "cli/doctor.h"

#include <gtest/gtest.h>

#include "core/json.h"

namespace attnscope::cli {
namespace {

const std::vector<Checkup> kAll{{"NVRTC", Checkup::State::found, "12.8, package 12.8", "", ""},
                                {"driver", Checkup::State::missing, "no driver", "No GPU here.", "Install it."},
                                {"worker far", Checkup::State::waiting, "no answer", "Its devices.", ""}};

TEST(Doctor, TextHasALineForEachAndWhatItsAbsenceCosts) {
  const std::string margin(24, ' ');
  EXPECT_EQ(text_of(kAll),
            "found    NVRTC          12.8, package 12.8\n"
            "missing  driver         no driver\n" +
                margin + "costs: No GPU here.\n" + margin +
                "to get it: Install it.\n"
                "waiting  worker far     no answer\n" +
                margin + "costs: Its devices.\n");
  EXPECT_EQ(text_of({}), "");
}

TEST(Doctor, JsonHasTheSame) {
  const Json json = json_of(kAll);
  ASSERT_EQ(json.size(), 3u);
  EXPECT_EQ(json[0],
            (Json{{"name", "NVRTC"}, {"state", "found"}, {"what", "12.8, package 12.8"}, {"cost", ""}, {"get", ""}}));
  EXPECT_EQ(json[1], (Json{{"name", "driver"},
                           {"state", "missing"},
                           {"what", "no driver"},
                           {"cost", "No GPU here."},
                           {"get", "Install it."}}));
  EXPECT_EQ(json[2]["state"], "waiting");
}

}  // namespace
}  // namespace attnscope::cli
