#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "cuda_api/choose.h"
#include "cuda_api/driver.h"
#include "cuda_api/locate.h"
#include "cuda_api/nvrtc.h"

namespace attnscope::cuda_api {
namespace {

namespace fs = std::filesystem;

// The test's own machine: an empty cache, no toolkit except $CUDA_HOME, and a libcuda that is named or missing.
class Machine : public testing::Test {
 protected:
  Machine() {
    std::string pattern = (fs::temp_directory_path() / "attnscope-test-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    for (const char* name :
         {"ATTNSCOPE_HOME", "CUDA_HOME", "CUDA_PATH", "ATTNSCOPE_NVRTC", "ATTNSCOPE_NVDISASM", "ATTNSCOPE_LIBCUDA",
          "ATTNSCOPE_CUBLAS", "ATTNSCOPE_CUPTI", "ATTNSCOPE_CUTLASS", "ATTNSCOPE_RESOURCES"})
      set(name, "");
    set("XDG_CACHE_HOME", root_.string());
    set("ATTNSCOPE_NO_TOOLKIT", "1");
  }
  ~Machine() override {
    for (const auto& [name, value] : before_)
      if (value)
        setenv(name.c_str(), value->c_str(), 1);
      else
        unsetenv(name.c_str());
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  void set(const std::string& name, const std::string& value) {
    const char* old = std::getenv(name.c_str());
    before_.try_emplace(name, old ? std::optional<std::string>(old) : std::nullopt);
    if (value.empty())
      unsetenv(name.c_str());
    else
      setenv(name.c_str(), value.c_str(), 1);
  }
  void driver(int version) { set("ATTNSCOPE_LIBCUDA", fake("libcuda_" + std::to_string(version)).string()); }
  static fs::path fake(const std::string& name) { return fs::path(ATTNSCOPE_FAKES) / ("fake_" + name + ".so"); }
  // An NVRTC as ./dev unpacks it.
  void package(const std::string& version, const std::string& name) { install(cache() / version, name); }
  void install(const fs::path& root, const std::string& name, bool headers = true) {
    fs::create_directories(root / "lib");
    fs::create_directories(root / "include");
    if (headers) std::ofstream(root / "include" / "cuda_fp16.h") << "//";
    const std::string major = name.substr(6, 2);  // "nvrtc_12_8"
    fs::copy_file(fake(name), root / "lib" / ("libnvrtc.so." + major));
  }
  // Any library, where its package or a toolkit has it.
  fs::path put(const fs::path& root, const std::string& folder, const std::string& file) {
    fs::create_directories(root / folder);
    fs::copy_file(fake("libcuda_12080"), root / folder / file);  // any kind of library: it only has to open
    return root / folder / file;
  }
  fs::path cache() const { return root_ / "attnscope" / "cuda"; }

  fs::path root_;

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(Machine, ATwelveDriverTakesNvrtcTwelve) {
  package("12.8", "nvrtc_12_8");
  package("13.0", "nvrtc_13_0");
  driver(12080);
  auto nvrtc = choose_nvrtc();
  ASSERT_TRUE(nvrtc) << nvrtc.error().message;
  EXPECT_EQ((*nvrtc)->version_text(), "12.8");
  EXPECT_EQ((*nvrtc)->place().origin, "package 12.8");
  EXPECT_TRUE(fs::exists((*nvrtc)->place().include / "cuda_fp16.h"));
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
  for (const char* part : {"12.8", "NVRTC 12", "NVRTC 13 (package 13.0)"})
    EXPECT_NE(nvrtc.error().message.find(part), std::string::npos) << nvrtc.error().message;
  EXPECT_FALSE(nvrtc.error().hint.empty());
}

TEST_F(Machine, NothingAtAllSaysWhatToInstall) {
  driver(14010);
  auto nvrtc = choose_nvrtc();
  ASSERT_FALSE(nvrtc);
  EXPECT_NE(nvrtc.error().message.find("14.1"), std::string::npos) << nvrtc.error().message;
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
  EXPECT_NE(nvrtc.error().message.find("13.0"), std::string::npos);
  EXPECT_NE(nvrtc.error().message.find("12.8"), std::string::npos);
  EXPECT_NE(nvrtc.error().hint.find("CUDA 12 "), std::string::npos) << nvrtc.error().hint;
  set("ATTNSCOPE_NVRTC", (root_ / "nowhere.so").string());
  EXPECT_FALSE(choose_nvrtc());
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
  EXPECT_EQ((*nvrtc)->place().include, fs::canonical(cache()) / "12.8" / "include");
}

TEST_F(Machine, ANamedDriverThatIsNotThereIsAFailure) {
  set("ATTNSCOPE_LIBCUDA", (root_ / "libcuda.so.1").string());
  EXPECT_FALSE(Driver::open());
  package("12.8", "nvrtc_12_8");
  auto nvrtc = choose_nvrtc();
  ASSERT_FALSE(nvrtc);
  EXPECT_NE(nvrtc.error().message.find("$ATTNSCOPE_LIBCUDA"), std::string::npos);
}

TEST_F(Machine, TheDriverTellsItsGpus) {
  driver(12080);
  auto opened = Driver::open();
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->version(), 12080);
  EXPECT_EQ(opened->version_text(), "12.8");
  auto gpus = opened->gpus();
  ASSERT_TRUE(gpus) << gpus.error().message;
  ASSERT_EQ(gpus->size(), 2u);
  EXPECT_EQ(gpus->at(1).ordinal, 1);
  EXPECT_EQ(gpus->at(1).name, "Fake GPU 101");
  EXPECT_EQ(gpus->at(1).arch, 89);
  EXPECT_EQ(gpus->at(1).memory_bytes, uint64_t{24} << 30);
}

TEST_F(Machine, ALibraryThatIsNotNvrtcIsRefusedByTheSymbolItLacks) {
  auto nvrtc = Nvrtc::open({fake("libcuda_12080"), {}, "test"});
  ASSERT_FALSE(nvrtc);
  EXPECT_NE(nvrtc.error().message.find("nvrtcVersion"), std::string::npos) << nvrtc.error().message;
}

TEST_F(Machine, ACompilationGivesItsResultsItsLogOrItsFailure) {
  auto nvrtc = Nvrtc::open({fake("nvrtc_12_8"), {}, "test"});
  ASSERT_TRUE(nvrtc);
  auto good = (*nvrtc)->compile("fine", "k.cu", "k", {});
  ASSERT_TRUE(good);
  EXPECT_TRUE(good->compiled);
  EXPECT_EQ(good->ptx, "ptx");
  EXPECT_EQ(good->cubin.size(), 5u);
  EXPECT_EQ(good->entry_symbol, "lowered");
  auto bad = (*nvrtc)->compile("not", "k.cu", "k", {});
  ASSERT_TRUE(bad);
  EXPECT_FALSE(bad->compiled);
  EXPECT_EQ(bad->log, "k.cu(1): error: not fine");
  auto refused = (*nvrtc)->compile("fine", "k.cu", "k", {"--nonsense"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().stage, Stage::compile);
  EXPECT_NE(refused.error().message.find("INVALID_OPTION"), std::string::npos);
  EXPECT_NE(refused.error().hint.find("--nonsense"), std::string::npos);
}

TEST_F(Machine, AFailureNamesTheCallThatFailed) {
  auto nvrtc = Nvrtc::open({fake("nvrtc_12_8"), {}, "test"});
  ASSERT_TRUE(nvrtc);
  const auto output = (*nvrtc)->compile("no PTX", "k.cu", "k", {});
  ASSERT_FALSE(output);
  EXPECT_TRUE(output.error().message.starts_with("nvrtcGetPTXSize of ")) << output.error().message;
}

TEST_F(Machine, NvdisasmIsFoundInOrder) {
  set("PATH", (root_ / "path").string());
  const auto put = [&](const fs::path& folder) {
    fs::create_directories(folder);
    std::ofstream(folder / "nvdisasm") << "#!/bin/sh\n";
    chmod((folder / "nvdisasm").c_str(), 0755);
  };
  auto found = locate_nvdisasm();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().stage, Stage::decode);
  EXPECT_NE(found.error().hint.find("attnscope fetch"), std::string::npos);
  put(root_ / "path");
  EXPECT_EQ(locate_nvdisasm().value(), root_ / "path" / "nvdisasm");
  put(cache() / "bin");
  EXPECT_EQ(locate_nvdisasm().value(), fs::canonical(cache()) / "bin" / "nvdisasm");
  put(root_ / "toolkit" / "bin");
  set("CUDA_HOME", (root_ / "toolkit").string());
  set("ATTNSCOPE_NO_TOOLKIT", "");
  EXPECT_EQ(locate_nvdisasm().value(), fs::canonical(root_ / "toolkit") / "bin" / "nvdisasm");
  put(root_ / "named");
  set("ATTNSCOPE_NVDISASM", (root_ / "named" / "nvdisasm").string());
  EXPECT_EQ(locate_nvdisasm().value(), root_ / "named" / "nvdisasm");
  set("ATTNSCOPE_NVDISASM", (root_ / "nowhere").string());
  EXPECT_FALSE(locate_nvdisasm());
}

TEST_F(Machine, TheHeadersOfCutlassAreThePackagesOrThoseThatAreNamed) {
  const auto put = [](const fs::path& include) {
    fs::create_directories(include / "cutlass");
    std::ofstream(include / "cutlass" / "version.h") << "#pragma once\n";
  };
  auto lacking = locate_headers("cutlass");
  ASSERT_FALSE(lacking);
  EXPECT_EQ(lacking.error().stage, Stage::compile);
  EXPECT_NE(lacking.error().message.find("CUTLASS"), std::string::npos);
  EXPECT_NE(lacking.error().hint.find("attnscope fetch"), std::string::npos);
  put(cache() / "cutlass" / "include");
  EXPECT_EQ(locate_headers("cutlass").value(), fs::canonical(cache()) / "cutlass" / "include");
  set("ATTNSCOPE_CUTLASS", (root_ / "own").string());
  EXPECT_FALSE(locate_headers("cutlass"));
  put(root_ / "own");
  EXPECT_EQ(locate_headers("cutlass").value(), root_ / "own");
  EXPECT_FALSE(locate_headers("no_such_library"));
}

TEST_F(Machine, ThePackagesStayFoundWhereTheProgramsFilesAreMoved) {
  package("12.8", "nvrtc_12_8");
  set("ATTNSCOPE_HOME", (root_ / "moved").string());
  driver(12080);
  EXPECT_TRUE(choose_nvrtc());
}

// The other two kinds, which are chosen like NVRTC.
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
  const std::string& title = name_of(GetParam()).title;
  for (const std::string& part : {std::string("12.8"), title + " 12", title + " 13 (package 13.0)"})
    EXPECT_NE(chosen.error().message.find(part), std::string::npos) << chosen.error().message;
  EXPECT_NE(chosen.error().hint.find(name_of(GetParam()).environment), std::string::npos);
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
  EXPECT_NE(chosen.error().message.find("cannot run its code"), std::string::npos) << chosen.error().message;
}

TEST_P(OtherLibraries, ServeNobodyWithoutADriver) {
  set("ATTNSCOPE_LIBCUDA", (root_ / "libcuda.so.1").string());
  put(cache() / "12.8", "lib", file(12));
  auto chosen = choose_library(GetParam());
  ASSERT_FALSE(chosen);
  EXPECT_NE(chosen.error().message.find(name_of(GetParam()).title), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Each, OtherLibraries, testing::Values(CudaLibrary::cublas, CudaLibrary::cupti),
                         [](const auto& which) { return name_of(which.param).title; });

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
  EXPECT_EQ((*nvrtc)->place().include, fs::canonical(share) / "cuda" / "12.8" / "include");
  package("12.9", "nvrtc_12_9");
  nvrtc = choose_nvrtc();
  ASSERT_TRUE(nvrtc);
  EXPECT_EQ((*nvrtc)->version_text(), "12.9");
}

}  // namespace
}  // namespace attnscope::cuda_api
