#include "cuda_api/locate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "machine.h"

namespace attnscope::cuda_api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

class LocateTest : public testing_support::Machine {
 protected:
  static void write(const fs::path& file, bool program = false) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "#!/bin/sh\n";
    if (program) chmod(file.c_str(), 0755);
  }
  fs::path toolkit(const std::string& name, const std::string& library_folder = "lib64") {
    write(root_ / name / library_folder / "libnvrtc.so.12");
    set("ATTNSCOPE_NO_TOOLKIT", "");
    return root_ / name;
  }
};

TEST_F(LocateTest, NvdisasmIsFoundInOrder) {
  set("PATH", (root_ / "path").string());
  auto found = locate_nvdisasm();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().stage, Stage::decode);
  EXPECT_EQ(found.error().message, "nvdisasm, which reads the kernel's machine code, is not on this machine.");
  EXPECT_THAT(found.error().hint, HasSubstr("attnscope fetch"));
  write(root_ / "path" / "nvdisasm", true);
  EXPECT_EQ(locate_nvdisasm().value(), root_ / "path" / "nvdisasm");
  write(cache() / "bin" / "nvdisasm", true);
  EXPECT_EQ(locate_nvdisasm().value(), fs::canonical(cache()) / "bin" / "nvdisasm");
  write(root_ / "toolkit" / "bin" / "nvdisasm", true);
  set("CUDA_HOME", (root_ / "toolkit").string());
  set("ATTNSCOPE_NO_TOOLKIT", "");
  EXPECT_EQ(locate_nvdisasm().value(), fs::canonical(root_ / "toolkit") / "bin" / "nvdisasm");
  write(root_ / "named" / "nvdisasm", true);
  set("ATTNSCOPE_NVDISASM", (root_ / "named" / "nvdisasm").string());
  EXPECT_EQ(locate_nvdisasm().value(), root_ / "named" / "nvdisasm");
  set("ATTNSCOPE_NVDISASM", (root_ / "nowhere").string());
  found = locate_nvdisasm();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().stage, Stage::decode);
  EXPECT_EQ(found.error().message,
            "$ATTNSCOPE_NVDISASM names " + (root_ / "nowhere").string() + ", which is not a program.");
}

// The program's working folder is no folder of tools: an empty part of PATH does not stand for it.
TEST_F(LocateTest, EachFolderOfPathIsSearchedAndTheWorkingFolderIsNot) {
  write(root_ / "nvdisasm", true);
  const fs::path before = fs::current_path();
  fs::current_path(root_);
  for (const char* path : {"", ":", "::", ":/nowhere:", "/nowhere:"}) {
    set("PATH", path);
    EXPECT_FALSE(locate_nvdisasm()) << '"' << path << '"';
  }
  fs::current_path(before);
  write(root_ / "b" / "nvdisasm", true);
  write(root_ / "c" / "nvdisasm", true);
  const std::string a = (root_ / "a").string(), b = (root_ / "b").string(), c = (root_ / "c").string();
  for (const std::string& path : {b, a + ":" + b, b + ":" + c, "::" + a + "::" + b, b + ":"}) {
    set("PATH", path);
    EXPECT_EQ(locate_nvdisasm().value(), root_ / "b" / "nvdisasm") << path;
  }
}

TEST_F(LocateTest, OnlyAFileThatMayRunIsAProgram) {
  write(root_ / "a" / "nvdisasm");
  fs::create_directories(root_ / "b" / "nvdisasm");
  write(root_ / "c" / "nvdisasm", true);
  set("PATH", (root_ / "a").string() + ":" + (root_ / "b").string() + ":" + (root_ / "c").string());
  EXPECT_EQ(locate_nvdisasm().value(), root_ / "c" / "nvdisasm");
}

TEST_F(LocateTest, TheHeadersOfCutlassAreThePackagesOrThoseThatAreNamed) {
  auto found = locate_headers("cutlass");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().stage, Stage::compile);
  EXPECT_EQ(found.error().message, "The headers of CUTLASS and CuTe are not on this machine.");
  EXPECT_THAT(found.error().hint, HasSubstr("attnscope fetch"));
  write(cache() / "cutlass" / "include" / "cutlass" / "version.h");
  EXPECT_EQ(locate_headers("cutlass").value(), fs::canonical(cache()) / "cutlass" / "include");
  set("ATTNSCOPE_CUTLASS", (root_ / "own").string());
  found = locate_headers("cutlass");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().stage, Stage::compile);
  EXPECT_EQ(found.error().message,
            "$ATTNSCOPE_CUTLASS names " + (root_ / "own").string() + ", which holds no cutlass/version.h.");
  write(root_ / "own" / "cutlass" / "version.h");
  EXPECT_EQ(locate_headers("cutlass").value(), root_ / "own");
  found = locate_headers("no_such_library");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "\"no_such_library\" is not a known set of headers.");
}

TEST_F(LocateTest, ToolkitsComeInOrderEachOnce) {
  const fs::path home = toolkit("home"), path = toolkit("path");
  fs::create_directory_symlink(home, root_ / "link");
  set("CUDA_HOME", home.string());
  set("CUDA_PATH", path.string());
  auto roots = toolkits();
  ASSERT_GE(roots.size(), 2u);
  EXPECT_EQ(roots[0], fs::canonical(home));
  EXPECT_EQ(roots[1], fs::canonical(path));
  set("CUDA_PATH", (root_ / "link").string());
  roots = toolkits();
  EXPECT_EQ(std::ranges::count(roots, fs::canonical(home)), 1);
  EXPECT_EQ(std::ranges::count(roots, fs::canonical(path)), 0);
  set("CUDA_HOME", (path / "lib64" / "libnvrtc.so.12").string());  // no folder
  roots = toolkits();
  EXPECT_EQ(roots.at(0), fs::canonical(home));
  set("ATTNSCOPE_NO_TOOLKIT", "1");
  EXPECT_TRUE(toolkits().empty());
}

TEST_F(LocateTest, PackagesComeFromTheMovedCacheTheUsersAndTheProgramsOwn) {
  EXPECT_TRUE(package_folders().empty());
  fs::create_directories(cache());
  const fs::path moved = root_ / "moved" / "cache" / "cuda", share = root_ / "share";
  fs::create_directories(moved);
  for (const char* folder : {"kernels", "assets", "cuda"}) fs::create_directories(share / folder);
  EXPECT_THAT(package_folders(), ElementsAre(fs::canonical(cache())));
  set("ATTNSCOPE_HOME", (root_ / "moved").string());
  EXPECT_THAT(package_folders(), ElementsAre(fs::canonical(moved), fs::canonical(cache())));
  set("ATTNSCOPE_RESOURCES", share.string());
  EXPECT_THAT(package_folders(),
              ElementsAre(fs::canonical(moved), fs::canonical(cache()), fs::canonical(share / "cuda")));
  // Without an XDG cache, or with one that is no absolute path, the home folder's serves.
  const fs::path home = root_ / "home";
  fs::create_directories(home / ".cache" / "attnscope" / "cuda");
  set("HOME", home.string());
  for (const char* xdg : {"", "relative"}) {
    set("XDG_CACHE_HOME", xdg);
    EXPECT_THAT(package_folders(),
                ElementsAre(fs::canonical(moved), fs::canonical(home / ".cache" / "attnscope" / "cuda"),
                            fs::canonical(share / "cuda")));
  }
}

TEST_F(LocateTest, ALibraryIsFoundInEveryFolderThatToolkitsUse) {
  int number = 0;
  for (const char* folder :
       {"lib", "lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "extras/CUPTI/lib64"}) {
    const fs::path root = toolkit("toolkit" + std::to_string(++number), folder);
    set("CUDA_HOME", root.string());
    const auto places = library_places(CudaLibrary::nvrtc, 12);
    ASSERT_FALSE(places.empty()) << folder;
    EXPECT_EQ(places.front().library, fs::canonical(root) / folder / "libnvrtc.so.12");
    EXPECT_THAT(places.front().includes, IsEmpty());
    EXPECT_EQ(places.front().origin, "toolkit " + fs::canonical(root).string());
  }
}

TEST_F(LocateTest, ItsHeadersAreBesideIt) {
  int number = 0;
  for (const char* folder : {"include", "targets/x86_64-linux/include", "targets/sbsa-linux/include"}) {
    const fs::path root = toolkit("toolkit" + std::to_string(++number));
    write(root / folder / "cuda_fp16.h");
    set("CUDA_HOME", root.string());
    EXPECT_THAT(library_places(CudaLibrary::nvrtc, 12).front().includes, ElementsAre(fs::canonical(root) / folder));
  }
  // An environment variable names a library: the headers are beside its folder.
  const fs::path root = toolkit("named");
  set("ATTNSCOPE_NVRTC", (root / "lib64" / "libnvrtc.so.12").string());
  EXPECT_THAT(library_places(CudaLibrary::nvrtc, 12).front().includes, IsEmpty());
  write(root / "include" / "cuda_fp16.h");
  const auto places = library_places(CudaLibrary::nvrtc, 13);
  ASSERT_EQ(places.size(), 1u) << "if the variable is set, only that one";
  EXPECT_EQ(places.front().library, root / "lib64" / "libnvrtc.so.12");
  EXPECT_THAT(places.front().includes, ElementsAre(root / "include"));
  EXPECT_EQ(places.front().origin, "$ATTNSCOPE_NVRTC");
}

// As pip lays out NVIDIA's wheels: one folder each for CUDA 12, one for all of CUDA 13.
TEST_F(LocateTest, APythonEnvironmentsWheelsComeFirst) {
  const fs::path site = root_ / "venv" / "site-packages", nvidia = site / "nvidia";
  write(cache() / "12.8" / "lib" / "libnvrtc.so.12");
  write(cache() / "bin" / "nvdisasm", true);
  write(cache() / "cutlass" / "include" / "cutlass" / "version.h");
  set("ATTNSCOPE_SITE_PACKAGES", (root_ / "nowhere").string() + ":" + site.string() + ":");
  EXPECT_EQ(library_places(CudaLibrary::nvrtc, 12).front().origin, "package 12.8");
  write(nvidia / "cuda_nvrtc" / "lib" / "libnvrtc.so.12");
  write(nvidia / "cu13" / "lib" / "libnvrtc.so.13");
  EXPECT_THAT(library_places(CudaLibrary::nvrtc, 12).front().includes, IsEmpty());
  write(nvidia / "cuda_nvcc" / "include" / "crt" / "mma.h");
  write(nvidia / "cuda_cccl" / "include" / "nv" / "target");
  EXPECT_THAT(library_places(CudaLibrary::nvrtc, 12).front().includes, IsEmpty()) << "cuda_fp16.h is the first";
  write(nvidia / "cuda_runtime" / "include" / "cuda_fp16.h");
  write(nvidia / "cu13" / "include" / "cuda_fp16.h");
  const auto twelve = library_places(CudaLibrary::nvrtc, 12), thirteen = library_places(CudaLibrary::nvrtc, 13);
  EXPECT_EQ(twelve.at(0).library, nvidia / "cuda_nvrtc" / "lib" / "libnvrtc.so.12");
  EXPECT_EQ(twelve.at(0).origin, "environment " + site.string());
  EXPECT_THAT(twelve.at(0).includes, ElementsAre(nvidia / "cuda_runtime" / "include", nvidia / "cuda_nvcc" / "include",
                                                 nvidia / "cuda_cccl" / "include"));
  EXPECT_EQ(twelve.at(1).origin, "package 12.8");
  EXPECT_EQ(thirteen.at(0).library, nvidia / "cu13" / "lib" / "libnvrtc.so.13");
  EXPECT_THAT(thirteen.at(0).includes, ElementsAre(nvidia / "cu13" / "include"));
  write(nvidia / "cu13" / "bin" / "nvdisasm", true);
  EXPECT_EQ(locate_nvdisasm().value(), nvidia / "cu13" / "bin" / "nvdisasm");
  write(site / "cutlass_library" / "source" / "include" / "cutlass" / "version.h");
  EXPECT_EQ(locate_headers("cutlass").value(), site / "cutlass_library" / "source" / "include");
  EXPECT_THAT(environment_folders(), ElementsAre(fs::canonical(nvidia), fs::canonical(site / "cutlass_library")));
}

TEST_F(LocateTest, PackagesComeBeforeToolkitsAndTheSystemComesLast) {
  for (const char* version : {"12.8", "12.9", "13.0", "1.2", "012.8"})
    write(cache() / version / "lib" / "libnvrtc.so.12");
  set("CUDA_HOME", toolkit("toolkit").string());
  const auto places = library_places(CudaLibrary::nvrtc, 12);
  ASSERT_GE(places.size(), 4u);
  EXPECT_EQ(places[0].origin, "package 12.9");
  EXPECT_EQ(places[1].origin, "package 12.8");
  EXPECT_EQ(places[2].origin, "toolkit " + fs::canonical(root_ / "toolkit").string());
  EXPECT_EQ(places.back().origin, "system");
  EXPECT_EQ(places.back().library, "libnvrtc.so.12");
  set("ATTNSCOPE_NO_TOOLKIT", "1");
  EXPECT_EQ(library_places(CudaLibrary::nvrtc, 12).size(), 2u);
}

TEST_F(LocateTest, EachKindHasItsNames) {
  EXPECT_EQ(name_of(CudaLibrary::nvrtc).file, "libnvrtc.so");
  EXPECT_EQ(name_of(CudaLibrary::cublas).file, "libcublas.so");
  EXPECT_EQ(name_of(CudaLibrary::cupti).file, "libcupti.so");
  for (const auto& [which, file] :
       {std::pair{CudaLibrary::cublas, "libcublas.so.12"}, {CudaLibrary::cupti, "libcupti.so.12"}}) {
    write(cache() / "12.8" / "lib" / file);
    ASSERT_EQ(library_places(which, 12).size(), 1u);
    EXPECT_EQ(library_places(which, 12).front().library.filename(), file);
    EXPECT_TRUE(library_places(which, 13).empty());
  }
}

}  // namespace
}  // namespace attnscope::cuda_api
