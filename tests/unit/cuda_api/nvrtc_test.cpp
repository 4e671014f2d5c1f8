#include "cuda_api/nvrtc.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine.h"

namespace attnscope::cuda_api {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class NvrtcTest : public testing_support::Machine {
 protected:
  static LibraryPlace place() { return {fake("nvrtc_12_8"), {}, "test"}; }
  // Programs for which NVRTC holds resources.
  static int alive() {
    int (*count)() = nullptr;
    const auto library = SharedLibrary::open(place().library);
    return library && library->load("fake_programs_alive", count) ? count() : -1;
  }
};

TEST_F(NvrtcTest, ALibraryThatIsNotNvrtcIsRefusedByTheSymbolItLacks) {
  const auto nvrtc = Nvrtc::open({fake("libcuda_12080"), {}, "test"});
  ASSERT_FALSE(nvrtc);
  EXPECT_EQ(nvrtc.error().stage, Stage::device);
  EXPECT_EQ(nvrtc.error().message, fake("libcuda_12080").string() + " lacks nvrtcVersion.");
  EXPECT_EQ(nvrtc.error().hint, "It is too old, or not the library its name says.");
}

TEST_F(NvrtcTest, ItsVersionAndPlaceAreKept) {
  const auto nvrtc = Nvrtc::open(place());
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  EXPECT_EQ((*nvrtc)->major(), 12);
  EXPECT_EQ((*nvrtc)->minor(), 8);
  EXPECT_EQ((*nvrtc)->version_text(), "12.8");
  EXPECT_EQ((*nvrtc)->place().origin, "test");
}

TEST_F(NvrtcTest, ItsBuiltinsAreOpenedFromBesideIt) {
  const fs::path library = root_ / "libnvrtc.so.12", beside = root_ / "libnvrtc-builtins.so.12.8";
  fs::copy_file(fake("nvrtc_12_8"), library);
  fs::copy_file(fake("cublas"), beside);
  const auto nvrtc = Nvrtc::open({library, {}, "test"});
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  void* loaded = dlopen(beside.c_str(), RTLD_NOW | RTLD_NOLOAD);
  EXPECT_NE(loaded, nullptr);
  if (loaded != nullptr) dlclose(loaded);
}

TEST_F(NvrtcTest, ACompilationGivesItsResultsItsLogOrItsFailure) {
  const auto nvrtc = Nvrtc::open(place());
  ASSERT_TRUE(nvrtc);
  const auto good = (*nvrtc)->compile("fine", "k.cu", "k", {});
  ASSERT_TRUE(good);
  EXPECT_TRUE(good->compiled);
  EXPECT_EQ(good->ptx, "ptx");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(good->cubin.data()), good->cubin.size()), "cubin");
  EXPECT_EQ(good->entry_symbol, "lowered");
  EXPECT_EQ(good->log, "k.cu(1): warning: fine");
  const auto bad = (*nvrtc)->compile("not", "k.cu", "k", {});
  ASSERT_TRUE(bad);
  EXPECT_FALSE(bad->compiled);
  EXPECT_EQ(bad->log, "k.cu(1): error: not fine");
  EXPECT_EQ(bad->ptx + bad->entry_symbol, "");
  EXPECT_TRUE(bad->cubin.empty());
  const auto refused = (*nvrtc)->compile("fine", "k.cu", "k", {"--nonsense"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().stage, Stage::compile);
  EXPECT_EQ(refused.error().message,
            "nvrtcCompileProgram of " + place().library.string() + " failed: NVRTC_ERROR_INVALID_OPTION.");
  EXPECT_EQ(refused.error().hint, "unrecognized option --nonsense");
  EXPECT_EQ(alive(), 0) << "every program is given back";
}

TEST_F(NvrtcTest, TheCompilerIsGivenNameHeadersEntryAndOptionsInOrder) {
  const auto nvrtc = Nvrtc::open(place());
  ASSERT_TRUE(nvrtc);
  const NvrtcHeader headers[] = {{"a.h", "first"}, {"b.h", "second"}};
  const auto told = (*nvrtc)->compile("told", "k.cu", "k<4>", {"-a", "-b"}, headers);
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->ptx, "k.cu header a.h=first header b.h=second entry k<4> option -a option -b");
}

// Each call that fails is named; a refused compilation without a log keeps the usual hint.
TEST_F(NvrtcTest, AFailureNamesTheCallThatFailed) {
  const auto nvrtc = Nvrtc::open(place());
  ASSERT_TRUE(nvrtc);
  for (const std::string call : {"nvrtcCreateProgram", "nvrtcAddNameExpression", "nvrtcCompileProgram",
                                 "nvrtcGetProgramLogSize", "nvrtcGetProgramLog", "nvrtcGetLoweredName",
                                 "nvrtcGetPTXSize", "nvrtcGetPTX", "nvrtcGetCUBINSize", "nvrtcGetCUBIN"}) {
    set("ATTNSCOPE_FAKE_FAILS", call);
    const auto output = (*nvrtc)->compile("fine", "k.cu", "k", {});
    ASSERT_FALSE(output) << call;
    EXPECT_EQ(output.error().stage, Stage::compile);
    EXPECT_EQ(output.error().message,
              call + " of " + place().library.string() + " failed: NVRTC_ERROR_INTERNAL_ERROR.");
    EXPECT_THAT(output.error().hint, HasSubstr("Check the compile options")) << call;
    EXPECT_EQ(alive(), 0) << call;
  }
}

TEST_F(NvrtcTest, WithoutALogARefusedOptionIsStillAFailure) {
  const auto nvrtc = Nvrtc::open(place());
  ASSERT_TRUE(nvrtc);
  set("ATTNSCOPE_FAKE_FAILS", "nvrtcGetProgramLog");
  const auto output = (*nvrtc)->compile("fine", "k.cu", "k", {"--nonsense"});
  ASSERT_FALSE(output);
  EXPECT_THAT(output.error().message, HasSubstr("NVRTC_ERROR_INVALID_OPTION"));
  EXPECT_THAT(output.error().hint, HasSubstr("Check the compile options"));
}

TEST_F(NvrtcTest, ALibraryThatDoesNotTellItsVersionIsRefused) {
  set("ATTNSCOPE_FAKE_FAILS", "nvrtcVersion");
  const auto nvrtc = Nvrtc::open(place());
  ASSERT_FALSE(nvrtc);
  EXPECT_THAT(nvrtc.error().message, HasSubstr("nvrtcVersion of"));
}

}  // namespace
}  // namespace attnscope::cuda_api
