// tests/mutants as data: the correct kernel passes and each planted fault is refused.
#include <gtest/gtest.h>

#include <fstream>

#include "bench_of_one.h"
#include "core/json.h"

namespace attnscope::kernel_tests {
namespace {

const Json& expected() {
  static const Json read = Json::parse(std::ifstream(ATTNSCOPE_SOURCE_DIR "/tests/mutants/expected.json"));
  return read;
}

TEST(Mutants, EachIsJudgedAsExpected) {
  for (const Json& one : expected()["wrong"]["cases"]) {
    const Case named{"mutants", one["problem"],       {"MUTATION=" + one["mutation"].get<std::string>()}, true,
                     89,        "tests/mutants/wrong"};
    auto ran = run(named);
    ASSERT_TRUE(ran) << text_of(named) << ": " << ran.error().message;
    EXPECT_EQ(to_string(ran->verdict.state), one["state"].get<std::string>())
        << text_of(named) << ": " << ran->verdict.reason;
    EXPECT_EQ(ran->verdict.reason.empty(), one["state"] == "correct") << text_of(named);
  }
}

TEST(Mutants, ANonFiniteOutputNamesItsElement) {
  auto ran = run({"mutants", "B=1,H=2,S=130,D=64", {"MUTATION=nan_in_one_row"}, true, 89, "tests/mutants/wrong"});
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->verdict.nonfinite, 1);
  ASSERT_TRUE(ran->verdict.first_bad);
  EXPECT_EQ(ran->verdict.first_bad->row, 65);
  EXPECT_EQ(ran->verdict.first_bad->column, 5);
}

TEST(Faults, EachIsRefusedAtItsStageByName) {
  for (const Json& one : expected()["faults"]) {
    if (one["kernel"] == "endless") continue;  // the supervisor ends it at its deadline: tests/faults
    auto ran =
        run({one["kernel"], "B=1,H=1,S=64,D=64", {}, true, 89, "tests/mutants/" + one["kernels"].get<std::string>()});
    ASSERT_FALSE(ran) << one;
    EXPECT_EQ(to_string(ran.error().stage), one["stage"].get<std::string>()) << ran.error().message;
    EXPECT_NE(ran.error().message.find(one["names"].get<std::string>()), std::string::npos) << ran.error().message;
  }
}

}  // namespace
}  // namespace attnscope::kernel_tests
