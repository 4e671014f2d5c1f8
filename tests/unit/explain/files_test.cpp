// Questions that only a file of another program answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "explain/gemm_call.h"
#include "explain/ncu_csv.h"

namespace attnscope::explain {
namespace {

using testing::HasSubstr;

// 512x512 = 512x64 * 64x512, as legal as can be.
Json call(const Json& change = Json::object()) {
  Json json{{"routine", "cublasGemmEx"},
            {"transa", "N"},
            {"transb", "T"},
            {"m", 512},
            {"n", 512},
            {"k", 64},
            {"lda", 512},
            {"ldb", 512},
            {"ldc", 512}};
  json.update(change);
  return json;
}

struct Illegal {
  Json change;
  std::string argument, least;  // of the only finding; empty: none
};

TEST(GemmCall, NamesTheIllegalParameterAsCublasCountsIt) {
  for (const Illegal& one : {
           Illegal{Json::object(), "", ""},
           Illegal{{{"ldb", 64}}, "12", "at least 512"},  // B is stored transposed: its columns have n rows
           Illegal{{{"ldb", 64}, {"transb", "N"}}, "", ""},
           Illegal{{{"lda", 64}}, "9", "at least 512"},
           Illegal{{{"lda", 64}, {"transa", "T"}}, "", ""},
           Illegal{{{"lda", 63}, {"transa", "C"}}, "9", "at least 64"},
           Illegal{{{"ldc", 511}}, "16", "at least 512"},
           Illegal{{{"ldb", 64}, {"routine", "cublasSgemm"}}, "10", "at least 512"},
           Illegal{{{"ldc", 1}, {"routine", "cublasHgemm"}}, "13", "at least 512"},
           Illegal{{{"ldb", 64}, {"routine", "cublasGemmStridedBatchedEx"}}, "13", "at least 512"},
       }) {
    const auto found = findings_of_gemm(call(one.change), "call.json");
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->size(), one.argument.empty() ? 0u : 1u) << one.change;
    if (found->empty()) continue;
    EXPECT_EQ((*found)[0].rule, RuleId::call_argument);
    EXPECT_EQ((*found)[0].where.at("argument"), one.argument) << one.change;
    EXPECT_THAT((*found)[0].sentence, HasSubstr(one.least));
  }
}

TEST(GemmCall, MatricesOfTwoTypesAreNotMultiplied) {
  const auto found = findings_of_gemm(call({{"atype", "f32"}, {"btype", "f16"}}), "call.json");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1u);
  EXPECT_THAT((*found)[0].sentence, HasSubstr("A is f32 and B is f16"));
}

TEST(GemmCall, AFaultyFileIsRefusedByItsPointer) {
  Json missing = call();
  missing.erase("ldb");
  for (const auto& [json, says] : {std::pair{missing, "ldb"},
                                   {call({{"transb", "X"}}), "transb"},
                                   {call({{"m", -1}}), "m"},
                                   {call({{"ldd", 1}}), "ldd"}}) {
    const auto found = findings_of_gemm(json, "call.json");
    ASSERT_FALSE(found) << says;
    EXPECT_THAT(found.error().message, HasSubstr(says));
  }
}

constexpr const char* kHead =
    "==PROF== Connected to process 7\n\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";

TEST(Ncu, AMetricThatWasNotCollectedIsNotZero) {
  const std::string text = std::string(kHead) +
                           "\"0\",\"f(int, int)\",\"dram__throughput\",\"%\",\"0.31\"\n"
                           "\"0\",\"f(int, int)\",\"sm__pipe_tensor\",\"%\",\"n/a\"\r\n"
                           "\"0\",\"f(int, int)\",\"zero__is_a_value\",\"\",\"0\"\n"
                           "\"0\",\"says \"\"hi\"\"\",\"empty__value\",\"\",\"\"";
  const auto found = findings_of_ncu(text, "ncu.csv");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].rule, RuleId::metric_absent);
  EXPECT_THAT((*found)[0].sentence, HasSubstr("empty__value was not collected"));
  EXPECT_THAT((*found)[1].sentence, HasSubstr("sm__pipe_tensor was not collected"));
}

TEST(Ncu, CollectedMetricsAreNoFinding) {
  const auto found = findings_of_ncu(std::string(kHead) + "\"0\",\"f\",\"sm__pipe_tensor\",\"%\",\"0\"\n", "ncu.csv");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->empty());
}

TEST(Ncu, AnotherFileIsRefused) {
  for (const char* text : {"", "a,b\n1,2\n", "\"Metric Name\",\"Unit\"\n"}) {
    const auto found = findings_of_ncu(text, "notes.csv");
    ASSERT_FALSE(found) << text;
    EXPECT_THAT(found.error().message, HasSubstr("notes.csv"));
  }
}

}  // namespace
}  // namespace attnscope::explain
