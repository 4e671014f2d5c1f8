#include "core/source_pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace attnscope::catalog {
namespace {

using testing::HasSubstr;

constexpr const char* kSource =
    "__device__ void load(float* to) {\n"   // 1
    "  to[0] = 1;\n"                        // 2
    "}\n"                                   // 3
    "__device__ void load(half* to) {\n"    // 4
    "  to[0] = 1;\n"                        // 5
    "}\n"                                   // 6
    "__global__ void sample(float* q) {\n"  // 7
    "  load(q);\n"                          // 8
    "  // scores\n"                         // 9
    "  for (int i = 0; i < 9; ++i)\n"       // 10
    "    q[i] += 1;\n"                      // 11
    "  // weights\n"                        // 12
    "  q[0] = exp2f(q[0]);\n"               // 13
    "}\n";                                  // 14

Result<Kernel> with(const Json& phases, const char* source = kSource) {
  Json manifest = good_manifest();
  manifest["phases"] = phases;
  return parse_kernel({"03_sample.json", manifest.dump(), manifest["source"], source});
}

std::vector<std::string> names(const Kernel& kernel) {
  const SourcePieces pieces(kernel.source, kernel.phases);
  std::vector<std::string> found;
  for (int line = 1; line <= 14; ++line) found.emplace_back(pieces.name_at(line));
  return found;
}

TEST(SourcePhases, AreFunctionsPiecesOfLinesOrLines) {
  const Result<Kernel> kernel = with({{{"name", "copy"}, {"function", "load"}},
                                      {{"name", "QK^T"}, {"from", "// scores"}, {"to", "q[i] += 1"}},
                                      {{"name", "softmax"}, {"first", 12}, {"last", 13}}});
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(names(*kernel), (std::vector<std::string>{"copy", "copy", "copy", "copy", "copy", "copy", "", "", "QK^T",
                                                      "QK^T", "QK^T", "softmax", "softmax", ""}));
}

TEST(SourcePhases, WithoutThemNoLineHasAName) {
  const Result<Kernel> kernel = with(Json::array());
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(names(*kernel), std::vector<std::string>(14));
  EXPECT_TRUE(kernel->phases.empty());
}

TEST(SourcePhases, AreCheckedWhenTheKernelIsLoaded) {
  const auto fault = [](const Json& phases) {
    const Result<Kernel> kernel = with(phases);
    return kernel ? std::string("loaded") : kernel.error().message;
  };
  EXPECT_THAT(fault({{{"name", "copy"}, {"function", "store"}}}),
              HasSubstr("phases/0/function: \"store\" is not a function of"));
  EXPECT_THAT(fault({{{"name", "a"}, {"from", "to[0] = 1"}, {"to", "// scores"}}}),
              HasSubstr("phases/0/from: \"to[0] = 1\" does not stand in exactly one line"));
  EXPECT_THAT(fault({{{"name", "a"}, {"from", "// scores"}}}), HasSubstr("phases/0/to"));
  EXPECT_THAT(fault({{{"name", "a"}, {"first", 3}, {"last", 15}}}), HasSubstr("phases/0/last: is not a line of"));
  EXPECT_THAT(fault({{{"name", "a"}, {"first", 3}}}), HasSubstr("phases/0/last"));
  EXPECT_THAT(fault({{{"name", "a"}, {"first", 5}, {"last", 4}}}), HasSubstr("is before the phase's first line"));
  EXPECT_THAT(fault({{{"name", "a"}}}), HasSubstr("phases/0: does not say in exactly one way"));
  EXPECT_THAT(fault({{{"name", "a"}, {"function", "load"}, {"first", 9}, {"last", 9}}}),
              HasSubstr("phases/0: does not say in exactly one way"));
  EXPECT_THAT(fault({{{"function", "load"}}}), HasSubstr("phases/0/name"));
  EXPECT_THAT(fault({{{"name", "a"}, {"file", "other.cu"}, {"function", "load"}}}), HasSubstr("file"));
  EXPECT_THAT(fault({{{"name", "b"}, {"first", 8}, {"last", 10}}, {{"name", "a"}, {"function", "sample"}}}),
              HasSubstr("\"b\" and \"a\" both have line 8"));
}

}  // namespace
}  // namespace attnscope::catalog
