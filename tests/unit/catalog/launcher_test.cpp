#include "catalog/launcher.h"

#include <gmock/gmock.h>

#include "catalog/import.h"
#include "platform/atomic_file.h"
#include "support/temp_dir.h"

namespace attnscope::catalog {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kKernel =
    "#pragma once\ntemplate <int BM, int BN>\n__global__ void tiled(float* c, int m) { c[BM * BN + m] = 1; }\n";

class Launchers : public testing::Test {
 protected:
  Launchers() { fs::create_directories(root_ / ".git"); }
  void put(const std::string& name, const std::string& text) {
    ASSERT_TRUE(platform::write_file(root_ / name, std::string_view(text)));
  }
  Result<WholeSource> whole(const fs::path& file, const std::set<fs::path>& above, Project& project) {
    const auto text = platform::read_file(file, 1 << 20);
    if (!text) return fail(text.error());
    ProjectHeaders headers{project, [](const std::string&) { return false; }};
    return whole_source(
        file, *text, {}, [](const std::string&) { return false; }, &headers, above);
  }
  std::vector<Launcher> of(const std::string& name, const std::string& entry) {
    const fs::path file = root_ / name;
    Project project(file);
    own_ = whole(file, {}, project).value();
    return launchers_of(file, own_, entry, project, [&](const fs::path& one, const std::set<fs::path>& above) {
      return whole(one, above, project);
    });
  }

  testing_support::TempDir folder_;
  const fs::path root_ = fs::canonical(folder_.path());
  WholeSource own_;
};

TEST_F(Launchers, AFileThatIncludesTheKernelSaysItsLaunch) {
  put("src/kernels/tiled.cuh", kKernel);
  put("src/kernels.cuh", "#pragma once\n#include \"kernels/tiled.cuh\"\n");
  put("src/runner.cu",
      "#include \"kernels.cuh\"\nvoid run(float* c, int m) {\n  const unsigned BM = 64;\n  dim3 grid(m / BM);\n"
      "  tiled<BM, 32><<<grid, 128>>>(c, m);\n}\nint main() { float* c; cudaMalloc(&c, 4096 * 4); run(c, 512); }\n");
  const auto found = of("src/kernels/tiled.cuh", "tiled");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].name, "../kernels.cuh") << "it only includes the kernel";
  EXPECT_EQ(found[0].name, "../runner.cu");
  EXPECT_EQ(found[0].text.find("__global__"), std::string::npos) << "the kernel stands in front";
  EXPECT_THAT(found[0].together, HasSubstr("__global__ void tiled"));
  EXPECT_FALSE(import_kernel("tiled.cuh", own_.text, "tiled"));
  const auto imported = import_kernel("tiled.cuh", own_.text, "tiled", "", "", found[0].text);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->entry, "tiled<64, 32>");
  EXPECT_TRUE(imported->launched);
  EXPECT_THAT(imported->read, Contains("m is 512 in the host code"));
  EXPECT_THAT(imported->read, Contains("the block: 128 x 1 x 1 threads"));
  EXPECT_THAT(imported->read, Contains("c has 4096 elements, as it is allocated"));
}

TEST_F(Launchers, AnotherKernelOfTheNameIsAnother) {
  put("a/k.cu", "__global__ void scale(float* x, int n) { x[n] = 1; }\n");
  put("b/main.cu", "__global__ void scale(float* x, int n) { x[n] = 2; }\nint main() { scale<<<1, 32>>>(0, 5); }\n");
  put("c/main.cu", "void run() { scale<<<1, 32>>>(0, 5); }\n");
  EXPECT_THAT(of("a/k.cu", "scale"), IsEmpty()) << "neither includes nor declares it";
  put("c/main.cu", "__global__ void scale(float* x, int n);\nvoid run() { scale<<<1, 32>>>(0, 5); }\n");
  ASSERT_EQ(of("a/k.cu", "scale").size(), 1u);
}

TEST_F(Launchers, ACallerOfTheFunctionThatLaunchesItIsFound) {
  put("lib/scale.h", "#pragma once\nvoid scale(float* x, int n);\n");
  put("lib/scale.cu",
      "#include \"scale.h\"\n__global__ void kernel(float* x, int n) { x[n] = 1; }\n"
      "void scale(float* x, int n) { kernel<<<n / 32, 32>>>(x, n); }\n");
  put("test/main.cpp", "#include \"../lib/scale.h\"\nint main() { float* x; cudaMalloc(&x, 4 * 96); scale(x, 96); }\n");
  put("test/other.cpp", "int main() { scale(0, 32); }\n");
  const auto found = of("lib/scale.cu", "kernel");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "../test/main.cpp");
  const auto imported = import_kernel("scale.cu", own_.text, "kernel", "", "", found[0].text);
  ASSERT_TRUE(imported);
  EXPECT_THAT(imported->read, Contains("n is 96 in the host code"));
}

TEST_F(Launchers, WithoutARepositoryNoOtherFileIsRead) {
  fs::remove(root_ / ".git");
  put("src/tiled.cuh", kKernel);
  put("src/runner.cu", "#include \"tiled.cuh\"\nvoid run() { tiled<64, 32><<<1, 128>>>(0, 1); }\n");
  EXPECT_THAT(of("src/tiled.cuh", "tiled"), IsEmpty());
}

// A repository of more files than are looked at, and a file of the project that no one can read as text.
TEST_F(Launchers, StrangeFilesOfTheProjectDoNoHarm) {
  put("k.cu", "__global__ void k(float* x) { x[0] = 1; }\n");
  put("a.cu", std::string("k<<<1, 32>>>\0(x)", 16));
  put("b.cu", "#include \"k.cu\"\n#include \"b.cu\"\nvoid f() { k<<<((((((((\n");
  put("c.cu", std::string(3 << 20, 'k'));
  for (const Launcher& one : of("k.cu", "k")) import_kernel("k.cu", own_.text, "k", "", "", one.text);
}

}  // namespace
}  // namespace attnscope::catalog
