#include "catalog/whole_source.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "platform/atomic_file.h"
#include "support/temp_dir.h"

namespace attnscope::catalog {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class Whole : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(platform::write_file(root_ / name, std::string_view(text)));
  }
  Result<WholeSource> of(const std::string& name, const std::string& text, const std::vector<fs::path>& folders = {}) {
    put(name, text);
    return whole_source(root_ / name, text, folders,
                        [](const std::string& header) { return header == "helper_cuda.h"; });
  }

  testing_support::TempDir folder_;
  const fs::path root_ = folder_.path();
};

TEST_F(Whole, AFileWithoutHeadersOfItsOwnIsItself) {
  const std::string text = "#include <cuda_fp16.h>\n#include \"helper_cuda.h\"\n__global__ void k() {}\n";
  put("helper_cuda.h", "never looked at");
  const auto whole = of("k.cu", text);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->text, text);
  EXPECT_THAT(whole->pasted, IsEmpty());
  EXPECT_THAT(whole->missing, IsEmpty());
}

TEST_F(Whole, HeadersStandWhereTheyAreIncludedEachOnce) {
  put("common.h", "#pragma once\n#include \"types.h\"\nint common;");
  put("types.h", "using real = float;\n");
  const auto whole = of("k.cu", "#include \"types.h\"\n#include \"common.h\" // too\n#include \"common.h\"\nreal x;\n");
  ASSERT_TRUE(whole);
  EXPECT_EQ(
      whole->text,
      "// types.h:\nusing real = float;\n\n// end of types.h\n// common.h:\n\n// types.h stands above\nint common;\n"
      "// end of common.h\n// common.h stands above\nreal x;\n");
  EXPECT_THAT(whole->pasted, ElementsAre("types.h", "common.h"));
}

TEST_F(Whole, FoldersAboveAndThoseGivenAreSearched) {
  put("llm/norm.cuh", "int norm;\n");
  put("elsewhere/deep.h", "int deep;\n");
  const auto whole =
      of("dev/cuda/k.cu", "#include \"llm/norm.cuh\"\n#include <deep.h>\n#include <gone.h>\n", {root_ / "elsewhere"});
  ASSERT_TRUE(whole);
  EXPECT_THAT(whole->pasted, ElementsAre("llm/norm.cuh", "deep.h"));
  EXPECT_NE(whole->text.find("#include <gone.h>"), std::string::npos);
}

TEST_F(Whole, WhatIsNotFoundIsNamedAndStays) {
  const auto whole = of("k.cu", "\n#include \"gone.h\"\n#if 0\n#include \"dead.h\"\n#endif\n");
  ASSERT_TRUE(whole);
  EXPECT_THAT(whole->missing, ElementsAre("gone.h, which line 2 of k.cu includes"));
  EXPECT_NE(whole->text.find("#include \"gone.h\""), std::string::npos);
}

TEST_F(Whole, AHeaderThatIncludesItselfEnds) {
  put("loop.h", "#include \"loop.h\"\nint x;\n");
  const auto whole = of("k.cu", "#include \"loop.h\"\n#include \"k.cu\"\n");
  ASSERT_TRUE(whole);
  EXPECT_THAT(whole->pasted, ElementsAre("loop.h"));
}

TEST_F(Whole, TooMuchIsRefused) {
  put("big.h", std::string(3 << 20, ' '));
  put("more.h", std::string(3 << 20, ' '));
  const auto whole = of("k.cu", "#include \"big.h\"\n#include \"more.h\"\n");
  ASSERT_FALSE(whole);
  EXPECT_NE(whole.error().message.find("4 MB"), std::string::npos);
}

}  // namespace
}  // namespace attnscope::catalog
