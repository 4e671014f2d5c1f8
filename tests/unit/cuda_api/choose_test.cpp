#include "cuda_api/choose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "cuda_api/cublas.h"
#include "cuda_api/driver.h"
#include "cuda_api/nvrtc.h"
#include "machine.h"

namespace attnscope::cuda_api {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing_support::Machine;

TEST_F(Machine, ATwelveDriverTakesNvrtcTwelve) {
  package("12.8", "nvrtc_12_8");
  package("13.0", "nvrtc_13_0");
  driver(12080);
  auto nvrtc = choose_nvrtc();
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  EXPECT_EQ((*nvrtc)->version_text(), "12.8");
  EXPECT_EQ((*nvrtc)->place().origin, "package 12.8");
  EXPECT_TRUE(fs::exists((*nvrtc)->place().includes.front() / "cuda_fp16.h"));
}

TEST_F(Machine, AThirteenDriverTakesNvrtcThirteen) {
  package("12.8", "nvrtc_12_8");
  package("13.0", "nvrtc_13_0");
  driver(13000);
  auto nvrtc = choose_nvrtc();
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  EXPECT_EQ((*nvrtc)->version_text(), "13.0");
}

TEST_F(Machine, WithNoDriverNvrtcTwelveServesElseThirteen) {
  if (Driver::open()) GTEST_SKIP() << "this machine has a driver";
  package("13.0", "nvrtc_13_0");
  auto nvrtc = choose_nvrtc();
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  EXPECT_EQ((*nvrtc)->version_text(), "13.0");
  package("12.8", "nvrtc_12_8");
  nvrtc = choose_nvrtc();
  ASSERT_TRUE(nvrtc);
  EXPECT_EQ((*nvrtc)->version_text(), "12.8");
}

TEST_F(Machine, AMismatchIsOneClearSentence) {
  package("13.0", "nvrtc_13_0");
  driver(12080);
  auto nvrtc = choose_nvrtc();
  ASSERT_FALSE(nvrtc);
  EXPECT_EQ(nvrtc.error().stage, Stage::compile);
  EXPECT_EQ(nvrtc.error().message,
            "The driver is for CUDA 12.8 and needs NVRTC 12, which is not on this machine; there is NVRTC 13 (package "
            "13.0).");
  EXPECT_EQ(nvrtc.error().hint,
            "Run `attnscope fetch`, which fetches NVRTC, install the CUDA toolkit, or set $ATTNSCOPE_NVRTC to a "
            "libnvrtc.so.");
}

TEST_F(Machine, NothingAtAllSaysWhatToInstall) {
  driver(14010);
  auto nvrtc = choose_nvrtc();
  ASSERT_FALSE(nvrtc);
  EXPECT_EQ(nvrtc.error().message, "The driver is for CUDA 14.1 and needs NVRTC 14, which is not on this machine.");
  EXPECT_NE(nvrtc.error().hint.find("attnscope fetch"), std::string::npos);
}

TEST_F(Machine, TheNewestOfAMajorVersionIsTaken) {
  package("12.8", "nvrtc_12_8");
  package("12.9", "nvrtc_12_9");
  driver(12080);
  auto nvrtc = choose_nvrtc();
  ASSERT_TRUE(nvrtc);
  EXPECT_EQ((*nvrtc)->version_text(), "12.9");
}

TEST_F(Machine, AToolkitServesWhereThereIsNoPackageAndCanBeHidden) {
  const fs::path toolkit = root_ / "toolkit";
  install(toolkit, "nvrtc_12_8");
  set("CUDA_HOME", toolkit.string());
  driver(12080);
  EXPECT_FALSE(choose_nvrtc());
  set("ATTNSCOPE_NO_TOOLKIT", "");
  auto nvrtc = choose_nvrtc();
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  EXPECT_EQ((*nvrtc)->place().origin, "toolkit " + fs::canonical(toolkit).string());
  package("12.9", "nvrtc_12_9");
  nvrtc = choose_nvrtc();
  ASSERT_TRUE(nvrtc);
  EXPECT_EQ((*nvrtc)->place().origin, "package 12.9");
}

TEST_F(Machine, TheNamedLibraryIsTakenAsLongAsItsCodeRuns) {
  package("12.8", "nvrtc_12_8");
  set("ATTNSCOPE_NVRTC", fake("nvrtc_12_8").string());
  driver(13000);  // newer drivers run older code
  auto nvrtc = choose_nvrtc();
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  EXPECT_EQ((*nvrtc)->place().origin, "$ATTNSCOPE_NVRTC");
  set("ATTNSCOPE_NVRTC", fake("nvrtc_13_0").string());
  driver(12080);
  nvrtc = choose_nvrtc();
  ASSERT_FALSE(nvrtc);
  EXPECT_EQ(nvrtc.error().stage, Stage::compile);
  EXPECT_EQ(nvrtc.error().message,
            "$ATTNSCOPE_NVRTC is for CUDA 13.0, but the driver is for CUDA 12.8 and cannot run its code.");
  EXPECT_EQ(nvrtc.error().hint, "Name one for CUDA 12 or unset it.");
  set("ATTNSCOPE_NVRTC", (root_ / "nowhere.so").string());
  nvrtc = choose_nvrtc();
  ASSERT_FALSE(nvrtc);
  EXPECT_EQ(nvrtc.error().stage, Stage::compile);
  EXPECT_TRUE(nvrtc.error().message.starts_with("$ATTNSCOPE_NVRTC: " + (root_ / "nowhere.so").string()))
      << nvrtc.error().message;
  EXPECT_EQ(nvrtc.error().hint, "Correct or unset it.");
}

TEST_F(Machine, ADamagedLibraryIsPassedOverAndNamedWhenItIsTheOnlyOne) {
  fs::create_directories(cache() / "12.9" / "lib");
  std::ofstream(cache() / "12.9" / "lib" / "libnvrtc.so.12") << "not a library";
  driver(12080);
  auto nvrtc = choose_nvrtc();
  ASSERT_FALSE(nvrtc);
  EXPECT_NE(nvrtc.error().message.find("12.9"), std::string::npos) << nvrtc.error().message;
  package("12.8", "nvrtc_12_8");
  nvrtc = choose_nvrtc();
  ASSERT_TRUE(nvrtc);
  EXPECT_EQ((*nvrtc)->version_text(), "12.8");
}

TEST_F(Machine, HeadersOfAnotherPlaceServeALibraryWithoutAny) {
  install(cache() / "12.9", "nvrtc_12_9", false);
  package("12.8", "nvrtc_12_8");
  driver(12080);
  auto nvrtc = choose_nvrtc();
  ASSERT_TRUE(nvrtc);
  EXPECT_EQ((*nvrtc)->version_text(), "12.9");
  EXPECT_THAT((*nvrtc)->place().includes, ElementsAre(fs::canonical(cache()) / "12.8" / "include"));
}

TEST_F(Machine, ANamedDriverThatIsNotThereIsAFailure) {
  set("ATTNSCOPE_LIBCUDA", (root_ / "libcuda.so.1").string());
  EXPECT_FALSE(Driver::open());
  package("12.8", "nvrtc_12_8");
  auto nvrtc = choose_nvrtc();
  ASSERT_FALSE(nvrtc);
  EXPECT_NE(nvrtc.error().message.find("$ATTNSCOPE_LIBCUDA"), std::string::npos);
}

TEST_F(Machine, ThePackagesStayFoundWhereTheProgramsFilesAreMoved) {
  package("12.8", "nvrtc_12_8");
  set("ATTNSCOPE_HOME", (root_ / "moved").string());
  driver(12080);
  EXPECT_TRUE(choose_nvrtc());
}

// The other two kinds of library, which are chosen like NVRTC.
class OtherLibraries : public Machine, public testing::WithParamInterface<CudaLibrary> {
 protected:
  std::string file(int major) const { return name_of(GetParam()).file + "." + std::to_string(major); }
};

TEST_P(OtherLibraries, FollowTheDriversMajorVersion) {
  put(cache() / "12.8", "lib", file(12));
  put(cache() / "13.0", "lib", file(13));
  driver(12080);
  auto chosen = choose_library(GetParam());
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->major, 12);
  EXPECT_EQ(chosen->place.origin, "package 12.8");
  driver(13000);
  chosen = choose_library(GetParam());
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->major, 13);
  EXPECT_EQ(chosen->place.origin, "package 13.0");
}

TEST_P(OtherLibraries, AreFoundInAToolkitWithTheirWholeVersion) {
  const fs::path toolkit = root_ / "toolkit";
  const fs::path real =
      put(toolkit, GetParam() == CudaLibrary::cupti ? "extras/CUPTI/lib64" : "lib64", file(12) + ".8.4.1");
  fs::create_symlink(real.filename(), real.parent_path() / file(12));
  set("CUDA_HOME", toolkit.string());
  driver(12080);
  EXPECT_FALSE(choose_library(GetParam()));
  set("ATTNSCOPE_NO_TOOLKIT", "");
  auto chosen = choose_library(GetParam());
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->version, "12.8.4.1");
  EXPECT_EQ(chosen->place.origin, "toolkit " + fs::canonical(toolkit).string());
}

TEST_P(OtherLibraries, AMismatchIsOneSentence) {
  put(cache() / "13.0", "lib", file(13));
  driver(12080);
  auto chosen = choose_library(GetParam());
  ASSERT_FALSE(chosen);
  const auto& [title, file, environment] = name_of(GetParam());
  EXPECT_EQ(chosen.error().stage, Stage::device);
  EXPECT_EQ(chosen.error().message, "The driver is for CUDA 12.8 and needs " + title +
                                        " 12, which is not on this machine; there is " + title + " 13 (package 13.0).");
  EXPECT_EQ(chosen.error().hint,
            std::string("Install the CUDA toolkit, or set $") + environment + " to a " + file + ".");
}

TEST_P(OtherLibraries, TheNamedOneIsTakenAsLongAsItsCodeRuns) {
  set(name_of(GetParam()).environment, put(root_ / "mine", "lib", file(13)).string());
  driver(13000);
  auto chosen = choose_library(GetParam());
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->place.origin, std::string("$") + name_of(GetParam()).environment);
  driver(12080);
  chosen = choose_library(GetParam());
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().stage, Stage::device);
  EXPECT_NE(chosen.error().message.find("is for CUDA 13, but the driver is for CUDA 12.8 and cannot run its code"),
            std::string::npos)
      << chosen.error().message;
  set(name_of(GetParam()).environment, (root_ / "nowhere.so").string());
  chosen = choose_library(GetParam());
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().stage, Stage::device);
  EXPECT_EQ(chosen.error().hint, "Correct or unset it.");
}

TEST_P(OtherLibraries, ServeNobodyWithoutADriver) {
  set("ATTNSCOPE_LIBCUDA", (root_ / "libcuda.so.1").string());
  put(cache() / "12.8", "lib", file(12));
  auto chosen = choose_library(GetParam());
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().stage, Stage::device);
  EXPECT_TRUE(chosen.error().message.starts_with(name_of(GetParam()).title + " needs a GPU: "))
      << chosen.error().message;
}

INSTANTIATE_TEST_SUITE_P(Each, OtherLibraries, testing::Values(CudaLibrary::cublas, CudaLibrary::cupti),
                         [](const auto& which) { return name_of(which.param).title; });

TEST_F(Machine, CublasIsThereIfItsFileIsAndOpensIfItIsCublas) {
  set("ATTNSCOPE_LIBCUDA", (root_ / "libcuda.so.1").string());
  const fs::path library = cache() / "12.8" / "lib" / "libcublas.so.12";
  fs::create_directories(library.parent_path());
  std::ofstream(library) << "not a library";
  EXPECT_FALSE(cublas_is_there()) << "there is no driver";
  EXPECT_FALSE(open_cublas());
  driver(13000);
  EXPECT_FALSE(cublas_is_there()) << "it is of another version";
  driver(12080);
  EXPECT_TRUE(cublas_is_there()) << "its file is there and is not opened";
  EXPECT_FALSE(open_cublas());
  fs::copy_file(fake("libcuda_12080"), library, fs::copy_options::overwrite_existing);
  const auto other = open_cublas();
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().stage, Stage::device);
  EXPECT_TRUE(other.error().message.ends_with("libcublas.so.12 lacks cublasCreate_v2.")) << other.error().message;
  fs::remove(library);
  EXPECT_FALSE(cublas_is_there());
  fs::create_directories(cache() / "12.9" / "lib");  // a library that was opened stays open under its name
  fs::copy_file(fake("cublas"), cache() / "12.9" / "lib" / "libcublas.so.12");
  const auto calls = open_cublas();
  ASSERT_TRUE(calls) << calls.error().message;
  const std::set<const void*> all = {
      reinterpret_cast<const void*>(calls->create),        reinterpret_cast<const void*>(calls->destroy),
      reinterpret_cast<const void*>(calls->version),       reinterpret_cast<const void*>(calls->set_stream),
      reinterpret_cast<const void*>(calls->set_workspace), reinterpret_cast<const void*>(calls->gemm),
      reinterpret_cast<const void*>(calls->status_text)};
  EXPECT_EQ(all.size(), 7u) << "each is its own function";
  EXPECT_FALSE(all.contains(nullptr));
}

TEST_F(Machine, WithoutDriverAndNvrtcEachReasonIsTold) {
  if (Driver::open()) GTEST_SKIP() << "this machine has a driver";
  auto nvrtc = choose_nvrtc();
  ASSERT_FALSE(nvrtc);
  EXPECT_EQ(nvrtc.error().stage, Stage::compile);
  EXPECT_EQ(nvrtc.error().message, "NVRTC, the CUDA compiler, is not on this machine.");
  for (const char* version : {"12.8", "13.0"}) {
    fs::create_directories(cache() / version / "lib");
    std::ofstream(cache() / version / "lib" / ("libnvrtc.so." + std::string(version, 2))) << "not a library";
  }
  nvrtc = choose_nvrtc();
  ASSERT_FALSE(nvrtc);
  for (const char* file :
       {"12.8/lib/libnvrtc.so.12 could not be opened", "13.0/lib/libnvrtc.so.13 could not be opened"})
    EXPECT_NE(nvrtc.error().message.find(file), std::string::npos) << nvrtc.error().message;
}

// The packages that a bundle has beside its kernels are used if nothing was fetched; fetched ones come first.
TEST_F(Machine, WhatCameWithTheProgramServesLast) {
  const fs::path share = root_ / "share";
  fs::create_directories(share / "kernels");
  fs::create_directories(share / "assets");
  set("ATTNSCOPE_RESOURCES", share.string());
  install(share / "cuda" / "12.8", "nvrtc_12_8");
  driver(12080);
  auto nvrtc = choose_nvrtc();
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  EXPECT_THAT((*nvrtc)->place().includes, ElementsAre(fs::canonical(share) / "cuda" / "12.8" / "include"));
  package("12.9", "nvrtc_12_9");
  nvrtc = choose_nvrtc();
  ASSERT_TRUE(nvrtc);
  EXPECT_EQ((*nvrtc)->version_text(), "12.9");
}

}  // namespace
}  // namespace attnscope::cuda_api
