#include "cuda_api/nvcc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda_api/driver.h"
#include "machine.h"

namespace attnscope::cuda_api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class NvccOfAMachine : public testing_support::Machine {};

TEST(NvccVersion, IsReadFromItsOwnWords) {
  EXPECT_EQ(nvcc_version_in("Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0"), "13.0.88");
  EXPECT_EQ(nvcc_version_in("Cuda compilation tools, release 13.0, V13.0.88"), "13.0.88");
  EXPECT_EQ(nvcc_version_in("Cuda compilation tools, release 12.8"), "");
  EXPECT_EQ(nvcc_version_in("gcc (Debian) 12.2.0, V1"), "");
}

TEST_F(NvccOfAMachine, APackageOrAToolkitHasIt) {
  driver(13000);
  const fs::path fetched = nvcc(cache() / "nvcc", "13.0.88");
  auto chosen = choose_nvcc();
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->program, fs::canonical(fetched));
  EXPECT_EQ(chosen->version, "13.0.88");
  EXPECT_EQ(chosen->major, 13);
  EXPECT_EQ(chosen->origin, "package nvcc");
  EXPECT_THAT(chosen->host_compiler, HasSubstr("g++ (Test) 12.2"));
  EXPECT_EQ(chosen->root(), fs::canonical(cache() / "nvcc"));

  const fs::path own = nvcc(root_ / "own", "13.0.88");
  set("ATTNSCOPE_NVCC", own.string());
  chosen = choose_nvcc();
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->program, own);
  EXPECT_EQ(chosen->origin, "$ATTNSCOPE_NVCC");
}

TEST_F(NvccOfAMachine, CudaHomeAndPathAreLookedThrough) {
  const fs::path home = nvcc(root_ / "home", "13.0.88"), on_path = nvcc(root_ / "path", "13.0.88");
  set("ATTNSCOPE_NO_TOOLKIT", "");
  set("CUDA_HOME", (root_ / "home").string());
  set("PATH", (root_ / "path" / "bin").string() + ":" + std::getenv("PATH"));
  std::vector<fs::path> programs;
  for (const ProgramPlace& place : nvcc_places()) programs.push_back(place.program);
  EXPECT_THAT(programs, testing::IsSupersetOf({fs::canonical(home), fs::canonical(on_path)}));
  EXPECT_EQ(programs.front(), fs::canonical(home));
}

TEST_F(NvccOfAMachine, ADriverTakesItsOwnMajorVersionElseAnOlderOne) {
  driver(13000);
  nvcc(cache() / "nvcc", "12.8.93");
  auto chosen = choose_nvcc();
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->version, "12.8.93") << "a driver runs older code";
}

TEST_F(NvccOfAMachine, ADriverForTwelveNeverGetsThirteen) {
  driver(12080);
  nvcc(cache() / "nvcc", "13.0.88");
  const auto refused = choose_nvcc();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().stage, Stage::compile);
  EXPECT_EQ(refused.error().message,
            "nvcc 13.0.88 (package nvcc) makes code for CUDA 13, which the driver, for CUDA 12.8, cannot run.");
  EXPECT_THAT(refused.error().hint, HasSubstr("compiler=nvrtc"));
  EXPECT_THAT(refused.error().hint, testing::Not(HasSubstr("fetch"))) << "what it fetches is 13.0";
  set("ATTNSCOPE_NVCC", (cache() / "nvcc" / "bin" / "nvcc").string());
  EXPECT_FALSE(choose_nvcc()) << "nor one that is named";
}

TEST_F(NvccOfAMachine, NoneIsSaidWithWhatToInstall) {
  driver(13000);
  auto refused = choose_nvcc();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "There is no nvcc on this machine.");
  EXPECT_THAT(refused.error().hint, HasSubstr("attnscope fetch nvcc"));

  script(cache() / "nvcc" / "bin" / "nvcc", "echo hello\n");
  refused = choose_nvcc();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("bin/nvcc is not nvcc: "));
}

TEST_F(NvccOfAMachine, WithoutAHostCompilerItIsOfNoUse) {
  driver(13000);
  nvcc(cache() / "nvcc", "13.0.88");
  set("NVCC_CCBIN", (root_ / "nowhere").string());
  const auto refused = choose_nvcc();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().stage, Stage::compile);
  EXPECT_THAT(refused.error().message, StartsWith("nvcc needs a host compiler"));
  EXPECT_THAT(refused.error().hint, HasSubstr("apt install g++"));
}

}  // namespace
}  // namespace attnscope::cuda_api
