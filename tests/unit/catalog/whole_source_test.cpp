#include "catalog/whole_source.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "core/source_lines.h"
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

TEST_F(Whole, AFenceOfMarkdownIsLeftOut) {
  const auto whole = of("k.cu", "\n```cuda\n// ```\n__global__ void k() {}\n```\n");
  ASSERT_TRUE(whole);
  EXPECT_TRUE(whole->fenced);
  EXPECT_TRUE(whole->changed);
  EXPECT_EQ(whole->text, "#line 1 \"k.cu\"\n\n       \n// ```\n__global__ void k() {}\n   \n");
  const auto open = of("k.cu", "```\n__global__ void k() {}\n");
  ASSERT_TRUE(open);
  EXPECT_EQ(open->text, "#line 1 \"k.cu\"\n   \n__global__ void k() {}\n");
  EXPECT_FALSE(of("k.cu", "// ```\n__global__ void k() {}\n")->fenced);
  EXPECT_TRUE(of("k.cu", "```")->fenced);
}

TEST_F(Whole, ALineWithTheLanguagesNameIsLeftOut) {
  const auto whole = of("k.cu", "c++ \n__global__ void k() {}\n```\n");
  ASSERT_TRUE(whole);
  EXPECT_TRUE(whole->fenced);
  EXPECT_EQ(whole->text, "#line 1 \"k.cu\"\n    \n__global__ void k() {}\n   \n");
  for (const char* text : {"c++;\n__global__ void k() {}\n", "cuda_t x;\n", "int c;\n", "// c++\n"})
    EXPECT_FALSE(of("k.cu", text)->fenced) << text;
}

TEST_F(Whole, HeadersStandWhereTheyAreIncludedEachOnce) {
  put("common.h", "#pragma once\n#include \"types.h\"\nint common;");
  put("types.h", "using real = float;\n");
  const auto whole = of("k.cu", "#include \"types.h\"\n#include \"common.h\" // too\n#include \"common.h\"\nreal x;\n");
  ASSERT_TRUE(whole);
  EXPECT_EQ(
      whole->text,
      "#line 1 \"k.cu\"\n// types.h:\n#line 1 \"types.h\"\nusing real = float;\n\n// end of types.h\n#line 1 "
      "\"k.cu\"\n\n"
      "// common.h:\n#line 1 \"common.h\"\n\n// types.h is above\nint common;\n// end of common.h\n#line 2 \"k.cu\"\n\n"
      "// common.h is above\nreal x;\n");
  EXPECT_THAT(whole->pasted, ElementsAre("types.h", "common.h"));
}

TEST_F(Whole, EachLineKnowsItsFile) {
  put("common.h", "#pragma once\n#include \"types.h\"\nint common;");
  put("types.h", "using real = float;\n");
  const auto whole =
      of("dev/k.cu", "#include <types.h>\n#include \\\n  \"common.h\"\n#include \"common.h\"\nreal x;\nreal y;\n",
         {root_});
  ASSERT_TRUE(whole);
  const SourceLines lines("whole_k.cu", whole->text);
  const auto original = [&](const std::string& text) {
    const auto line =
        1 + std::count(whole->text.begin(), whole->text.begin() + static_cast<ptrdiff_t>(whole->text.find(text)), '\n');
    const SourcePlace place = lines.place_of(line);
    return place.file + ":" + std::to_string(place.line);
  };
  EXPECT_EQ(original("using real"), "../types.h:1");
  EXPECT_EQ(original("int common"), "../common.h:3");
  EXPECT_EQ(original("real x"), "k.cu:5");
  EXPECT_EQ(original("real y"), "k.cu:6");
}

// A compiler that skips a branch does not read the #line in it.
TEST_F(Whole, ABranchThatIsSkippedShiftsNoLine) {
  put("a.h", "int a;\n");
  const auto whole = of("k.cu", "#ifdef X\n#include \"a.h\"\n#else // no\nint b;\n#endif\nint c;\n");
  ASSERT_TRUE(whole);
  EXPECT_EQ(
      whole->text,
      "#line 1 \"k.cu\"\n#ifdef X\n// a.h:\n#line 1 \"a.h\"\nint a;\n\n// end of a.h\n#line 2 \"k.cu\"\n\n#else // no\n"
      "#line 4 \"k.cu\"\nint b;\n#endif\n#line 6 \"k.cu\"\nint c;\n");
}

TEST_F(Whole, TheFoldersGivenAreSearched) {
  put("elsewhere/deep.h", "#include \"../elsewhere/deeper.h\"\n");
  put("elsewhere/deeper.h", "int deeper;\n");
  const auto whole = of("dev/cuda/k.cu", "#include <deep.h>\n#include <gone.h>\n", {root_ / "elsewhere"});
  ASSERT_TRUE(whole);
  EXPECT_THAT(whole->pasted, ElementsAre("deep.h", "../elsewhere/deeper.h"));
  EXPECT_NE(whole->text.find("#include <gone.h>"), std::string::npos);
}

TEST_F(Whole, AFolderAboveIsNamedAndNotRead) {
  put("llm/norm.cuh", "int norm;\n");
  const auto whole = of("dev/cuda/k.cu", "#include \"llm/norm.cuh\"\n");
  ASSERT_TRUE(whole);
  EXPECT_THAT(whole->pasted, IsEmpty());
  EXPECT_THAT(whole->missing,
              ElementsAre("llm/norm.cuh, which line 1 of k.cu includes; --include " + root_.string() + " has it"));
  const auto given = of("dev/cuda/k.cu", "#include \"llm/norm.cuh\"\n", {root_});
  ASSERT_TRUE(given);
  EXPECT_THAT(given->pasted, ElementsAre("llm/norm.cuh"));
}

// A repository, whose other folders are searched.
class InRepository : public Whole {
 protected:
  InRepository() { fs::create_directories(root_ / "project" / ".git"); }
  Result<WholeSource> within(const std::string& name, const std::string& text) {
    put(name, text);
    Project project(root_ / name);
    ProjectHeaders headers{project, [](const std::string& header) { return header == "mma.h"; }};
    return whole_source(
        root_ / name, text, {}, [](const std::string& header) { return header == "helper_cuda.h"; }, &headers);
  }
};

TEST_F(InRepository, AHeaderOfAnotherFolderIsFoundAndSaid) {
  put("project/src/include/common.h", "#include \"deep/types.h\"\nint common;\n");
  put("project/src/include/deep/types.h", "int types;\n");
  put("project/other/include/common.h", "int another;\n");
  const auto whole = within("project/src/warp/k.cu", "#include \"common.h\"\n#include <deep/types.h>\n");
  ASSERT_TRUE(whole);
  EXPECT_THAT(whole->pasted, ElementsAre("common.h", "deep/types.h"));
  EXPECT_THAT(whole->found, ElementsAre("common.h: ../include/common.h, the nearest of 2 files that it could be"));
  EXPECT_THAT(whole->missing, IsEmpty());
  EXPECT_EQ(whole->text.find("another"), std::string::npos);
}

TEST_F(InRepository, AFolderThatAPathNamesIsFoundToo) {
  put("project/hw/hw.h", "int hw;\n");
  for (const char* name : {"../../hw/hw.h", "../gone/../hw/hw.h", "hw/hw.h"}) {
    const auto whole = within("project/bench/mma/k.cu", "#include \"" + std::string(name) + "\"\n");
    ASSERT_TRUE(whole) << name;
    EXPECT_NE(whole->text.find("int hw;"), std::string::npos) << name;
  }
}

TEST_F(InRepository, CudasOwnHeadersAndTheCompilersAreLeftToIt) {
  put("project/vendor/mma.h", "int vendor;\n");
  put("project/vendor/helper_cuda.h", "int vendor;\n");
  const auto whole = within("project/src/k.cu", "#include <mma.h>\n#include \"helper_cuda.h\"\n");
  ASSERT_TRUE(whole);
  EXPECT_THAT(whole->pasted, IsEmpty());
}

TEST_F(InRepository, NothingOutsideTheRepositoryIsPasted) {
  put("secret/word.h", "SECRET_WORD\n");
  put("project/src/k.cu", "");
  put("project/.hidden/word.h", "SECRET_WORD\n");
  fs::create_symlink(root_ / "secret" / "word.h", root_ / "project" / "src" / "link.h");
  fs::create_symlink(root_ / "secret" / "word.h", root_ / "project" / "link.h");
  fs::create_directory_symlink(root_ / "secret", root_ / "project" / "secret");
  const std::string absolute = (root_ / "secret" / "word.h").string();
  for (const std::string& name :
       {absolute, std::string("../../secret/word.h"), std::string("link.h"), std::string("word.h")}) {
    const auto whole = within("project/src/k.cu", "#include \"" + name + "\"\n#include <" + name + ">\n");
    ASSERT_TRUE(whole);
    EXPECT_THAT(whole->pasted, IsEmpty()) << name;
    EXPECT_EQ(whole->text.find("SECRET_WORD"), std::string::npos) << name;
  }
  const auto outside = within("elsewhere/k.cu", "#include \"word.h\"\n");
  ASSERT_TRUE(outside);
  EXPECT_THAT(outside->pasted, IsEmpty());
}

TEST_F(Whole, NothingElsewhereIsPasted) {
  put("secret/word", "SECRET_WORD\n");
  put("own/k.cu", "");
  fs::create_symlink(root_ / "secret" / "word", root_ / "own" / "link.h");
  fs::create_directory_symlink(root_ / "secret", root_ / "own" / "folder");
  const std::string absolute = (root_ / "secret" / "word").string();
  for (const std::string& name : {absolute, std::string("../secret/word"), std::string("link.h"),
                                  std::string("folder/word"), std::string("secret/word")}) {
    const auto whole = of("own/k.cu", "#include \"" + name + "\"\n#include <" + name + ">\n", {root_ / "own"});
    ASSERT_TRUE(whole);
    EXPECT_THAT(whole->pasted, IsEmpty()) << name;
    EXPECT_EQ(whole->text.find("SECRET_WORD"), std::string::npos) << name;
  }
}

TEST_F(Whole, WhatIsNotFoundIsNamedAndStays) {
  const auto whole = of("k.cu", "\n#include \"gone.h\"\n#if 0\n#include \"dead.h\"\n#endif\n");
  ASSERT_TRUE(whole);
  EXPECT_THAT(whole->missing, ElementsAre("gone.h, which line 2 of k.cu includes"));
  EXPECT_NE(whole->text.find("#include \"gone.h\""), std::string::npos);
}

TEST_F(Whole, AFolderInOneAboveIsNamedToo) {
  put("src/common/common.h", "int common;\n");
  const auto inner = of("src/warp/k.cu", "#include \"common.h\"\n");
  ASSERT_TRUE(inner);
  EXPECT_THAT(inner->missing, ElementsAre("common.h, which line 1 of k.cu includes; --include " +
                                          (root_ / "src/common").string() + " has it"));
  const auto beside = of("src/warp/k.cu", "#include \"../common/common.h\"\nint x;\n");
  ASSERT_TRUE(beside);
  EXPECT_THAT(beside->missing, ElementsAre("../common/common.h, which line 1 of k.cu includes; --include " +
                                           (root_ / "src/common").string() + " has it"));
  // The compiler would refuse the name, even if the kernel does without the header.
  EXPECT_EQ(beside->text, "#line 1 \"k.cu\"\n// ../common/common.h is not here\nint x;\n");
  EXPECT_TRUE(beside->changed);
  const auto given = of("src/warp/k.cu", "#include \"../common/common.h\"\n", {root_ / "src/common"});
  ASSERT_TRUE(given);
  EXPECT_THAT(given->pasted, ElementsAre("../common/common.h"));
}

// A project's header would have included them.
TEST_F(Whole, CudasOwnHeadersComeInPlaceOfAMissingOne) {
  const std::string kernel = "#include \"gone.h\"\n#include <mma.h>\nhalf x; wmma::fragment y; // __nv_bfloat16\n";
  const auto whole = of("k.cu", kernel);
  ASSERT_TRUE(whole);
  EXPECT_THAT(whole->added, ElementsAre("cuda_fp16.h"));
  EXPECT_EQ(whole->text, "#include <cuda_fp16.h>\n#line 1 \"k.cu\"\n" + kernel);
  put("gone.h", "\n");
  const auto found = of("k.cu", kernel);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->added, IsEmpty());
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

TEST_F(Whole, HeadersWithinHeadersEndAsCompilersEndThem) {
  for (int i = 0; i < 300; ++i) put("h" + std::to_string(i) + ".h", "#include \"h" + std::to_string(i + 1) + ".h\"\n");
  const auto whole = of("k.cu", "#include \"h0.h\"\n");
  ASSERT_FALSE(whole);
  EXPECT_NE(whole.error().message.find("header within headers"), std::string::npos) << whole.error().message;
}

TEST_F(Whole, AFileOfHeadersThatAreNowhereIsRefusedBeforeAllWereLookedFor) {
  std::string text;
  for (int i = 0; i < 300000; ++i) text += "#include \"a\"\n";
  const auto whole = of("k.cu", text);
  ASSERT_FALSE(whole);
  EXPECT_NE(whole.error().message.find("were not found"), std::string::npos) << whole.error().message;
}

}  // namespace
}  // namespace attnscope::catalog
