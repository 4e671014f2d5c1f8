// What a manifest's "reference" may be: shapes that fit, or another kernel of the folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "catalog/reference_kernel.h"
#include "catalog/workload.h"
#include "support.h"
#include "support/temp_dir.h"

namespace attnscope::catalog {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kSource = "__global__ void k(const float* x, float* y, int n) { y[threadIdx.x] = x[n - 1]; }";

Json manifest_of(const std::string& id) {
  return Json::parse(R"({"title": "t", "entry": "k", "problem": "custom", "sizes": {"n": 8},
    "knobs": [{"name": "WAY", "values": [{"label": "near", "value": 1}, {"label": "far", "value": 2}], "default": "near"}],
    "buffers": [{"name": "x", "role": "in", "dtype": "f32", "shape": ["n"]},
                {"name": "y", "role": "out", "dtype": "f32", "shape": ["n"]}],
    "launch": {"grid": [1, 1, 1], "block": ["n", 1, 1]}, "args": ["x", "y", "n"],
    "id": ")" + id + R"(", "source": ")" +
                     id + R"(.cu"})");
}

class Reference : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_.path() / name) << text; }
  // Both kernels' files, then mine as a catalog reads it.
  Result<Kernel> load() const {
    write("mine.json", mine_.dump());
    write("mine.cu", kSource);
    write("02_naive.json", naive_.dump());
    write("naive.cu", kSource);
    return load_kernel(folder_.path() / "mine.json");
  }
  std::string refusal() const {
    const auto kernel = load();
    EXPECT_FALSE(kernel) << mine_.dump();
    return kernel ? "" : kernel.error().message + " " + kernel.error().hint;
  }

  testing_support::TempDir folder_;
  Json mine_ = manifest_of("mine"), naive_ = manifest_of("naive");
};

TEST_F(Reference, WhoseShapesDoNotFitIsRefusedWithItsPlace) {
  mine_["reference"] = {{"kind", "copy"}, {"inputs", {"x"}}, {"output", "y"}};
  ASSERT_TRUE(load());
  mine_["buffers"][1]["shape"] = {"n", 2};
  EXPECT_THAT(refusal(), AllOf(HasSubstr("mine.json/reference: copy of y"), HasSubstr("differ in size"),
                               HasSubstr("x[8], y[8, 2]"), HasSubstr("Correct the shapes")));
  mine_["reference"] = Json::array({mine_["reference"], {{"kind", "scan"}, {"inputs", {"x"}}, {"output", "y"}}});
  mine_["buffers"][1]["shape"] = {"n"};
  ASSERT_TRUE(load());
  mine_["buffers"][0]["shape"] = {"n", 1, 1};
  ASSERT_TRUE(load()) << "as many elements";
}

// Sizes that a run sets get the same refusal.
TEST_F(Reference, IsTriedAtTheSizesOfARunToo) {
  mine_["buffers"][1]["shape"] = {"2 * n - 8"};
  mine_["reference"] = {{"kind", "copy"}, {"inputs", {"x"}}, {"output", "y"}};
  const auto kernel = load();
  ASSERT_TRUE(kernel) << kernel.error().message;
  Problem problem = kernel->default_problem();
  problem.sizes["n"] = 9;
  const auto workload = workload_of(*kernel, problem, config_of(*kernel, {}));
  ASSERT_FALSE(workload);
  EXPECT_EQ(workload.error().stage, Stage::catalog);
  EXPECT_THAT(workload.error().message, HasSubstr("mine.json/reference: copy of y"));
}

TEST_F(Reference, IsAnotherKernelOfTheFolderWithAConfig) {
  mine_["reference"] = {{"kernel", "naive"}, {"config", {{"WAY", "far"}}}, {"atol", 0.5}};
  const auto kernel = load();
  ASSERT_TRUE(kernel) << kernel.error().message;
  ASSERT_TRUE(kernel->reference_kernel);
  EXPECT_TRUE(kernel->references.empty());
  EXPECT_EQ(kernel->reference_kernel->kernel->id, "naive");
  EXPECT_EQ(kernel->reference_kernel->kernel->source, kSource);
  EXPECT_EQ(config_of(*kernel->reference_kernel)->knobs.at("WAY"), 2);
  EXPECT_EQ(kernel->reference_kernel->atol, 0.5);
  EXPECT_FALSE(kernel->reference_kernel->rtol);
  // In the form that a worker gets: without the folder.
  const auto sent = parse_kernel({kernel->manifest_name, kernel->manifest, kernel->source_name, kernel->source});
  ASSERT_TRUE(sent) << sent.error().message;
  EXPECT_EQ(sent->content_hash, kernel->content_hash);
  naive_["title"] = "other";
  EXPECT_NE(load()->content_hash, kernel->content_hash) << "the verdict depends on it";
}

TEST_F(Reference, OfAKernelIsRefusedWhereItIsNoMeasure) {
  const auto names = [&](const char* id) { mine_["reference"] = {{"kernel", id}}; };
  names("mine");
  EXPECT_THAT(refusal(), HasSubstr("mine.json/reference/kernel: \"mine\" is this kernel itself"));
  names("nothing");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("there is no kernel \"nothing\""), HasSubstr("Keep its manifest")));
  names("naive");
  write("naive.json", "{}");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("02_naive.json"), HasSubstr("are the kernel \"naive\"")));
  std::filesystem::remove(folder_.path() / "naive.json");
  mine_["reference"]["config"] = {{"WAY", 3}};
  EXPECT_THAT(refusal(), HasSubstr("is not a value of WAY"));
  mine_["reference"]["config"] = {{"WIDE", 3}};
  EXPECT_THAT(refusal(), HasSubstr("naive has no knob \"WIDE\""));
  names("naive");
  naive_["reference"] = {{"kernel", "mine"}};
  EXPECT_THAT(refusal(), HasSubstr("has a kernel as its own reference"));
  naive_ = manifest_of("naive");
  naive_["problem"] = "softmax";
  EXPECT_THAT(refusal(), HasSubstr("is of the problem softmax, not custom"));
  naive_ = manifest_of("naive");
  naive_["buffers"][1]["dtype"] = "f16";
  EXPECT_THAT(refusal(), HasSubstr("has no output \"y\" of type f32"));
  naive_ = manifest_of("naive");
  naive_["buffers"][0]["name"] = naive_["args"][0] = "z";
  EXPECT_THAT(refusal(), HasSubstr("needs the input \"z\" of type f32"));
  naive_ = manifest_of("naive");
  naive_["buffers"][1]["shape"] = {"n", 2};
  EXPECT_THAT(refusal(), HasSubstr("y of naive has 16 elements, here it has 8"));
  naive_ = manifest_of("naive");
  naive_["sizes"]["m"] = 3;
  EXPECT_THAT(refusal(), HasSubstr("has other sizes"));
}

}  // namespace
}  // namespace attnscope::catalog
