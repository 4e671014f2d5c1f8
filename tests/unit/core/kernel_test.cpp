#include "core/kernel.h"

#include <gtest/gtest.h>

#include "core/comparable.h"
#include "core/config.h"
#include "core/hash.h"

namespace attnscope {
namespace {

Kernel with_knobs() {
  Kernel kernel;
  kernel.id = "tiled";
  kernel.knobs = {{"BLOCK_M", {{16, ""}, {32, ""}}, 16, ""}, {"PATH", {{0, "scalar"}, {1, "tensor"}}, 0, ""}};
  return kernel;
}

TEST(Kernel, AKnobIsFoundByItsName) {
  const Kernel kernel = with_knobs();
  ASSERT_TRUE(kernel.find_knob("PATH"));
  EXPECT_EQ(kernel.find_knob("PATH")->name, "PATH");
  EXPECT_FALSE(kernel.find_knob("BLOCK_N"));
  const std::vector<Kernel> all{kernel};
  EXPECT_EQ(find_kernel(all, "tiled"), &all[0]);
  EXPECT_EQ(find_kernel(all, "wmma"), nullptr);
}

TEST(Kernel, AValueHasItsLabel) {
  const Knob path = with_knobs().knobs[1];
  EXPECT_EQ(path.text_of(1), "tensor");
  EXPECT_EQ(path.text_of(7), "7") << "no legal value";
  ASSERT_TRUE(path.find(0));
  EXPECT_EQ(path.find(0)->label, "scalar");
  EXPECT_FALSE(path.find(2));
  EXPECT_EQ(short_text(Config{{{"PATH", 1}, {"BLOCK_M", 32}, {"OTHER", 1}}, {}}, with_knobs()),
            "BLOCK_M=32 PATH=tensor");
}

TEST(Kernel, ADraftStartsFromItsOwnSizes) {
  Kernel kernel;
  kernel.problem = ProblemKind::gemm;
  kernel.sizes = {{"M", 128}};
  EXPECT_EQ(kernel.default_problem().kind, ProblemKind::gemm);
  EXPECT_EQ(kernel.default_problem().sizes, kernel.sizes);
}

// The published test vector of XXH3-128 for no input, and that both forms are the same.
TEST(Hash, IsXxh3) {
  EXPECT_EQ(xxh3_128(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(xxh3_128(std::as_bytes(std::span("ab", 2))), xxh3_128("ab"));
  EXPECT_NE(xxh3_128("ab"), xxh3_128("ba"));
}

Observation timed(FigureKind kind) {
  Observation o;
  o.timing = Timing{};
  o.timing->kind = kind;
  return o;
}

TEST(Comparable, SaysTheFirstThingThatDiffers) {
  const Observation a = timed(FigureKind::measured);
  EXPECT_EQ(comparable(a, timed(FigureKind::measured)), Unlike::none);
  EXPECT_EQ(comparable(a, timed(FigureKind::modelled)), Unlike::kind);
  EXPECT_EQ(comparable(a, Observation{}), Unlike::untimed);
  EXPECT_EQ(comparable(Observation{}, a), Unlike::untimed);
  Observation b = timed(FigureKind::modelled);
  b.experiment.measure.cache = CacheState::cold;
  EXPECT_EQ(comparable(a, b), Unlike::cache);
  b.versions.gpu = "another";
  EXPECT_EQ(comparable(a, b), Unlike::device);
  b.versions.gpu = a.versions.gpu;
  b.experiment.device = "cuda:0";
  EXPECT_EQ(comparable(a, b), Unlike::device);
  b.experiment.problem.seq_q = 33;
  EXPECT_EQ(comparable(a, b), Unlike::problem);
  b.experiment.problem.kind = ProblemKind::gemm;
  EXPECT_EQ(comparable(a, b), Unlike::operation);
}

TEST(Comparable, KernelConfigAndOptionsMayDiffer) {
  Observation b = timed(FigureKind::measured);
  b.experiment.kernel = "another";
  b.experiment.config.knobs = {{"BLOCK_M", 3}};
  b.experiment.config.options.fmad = !b.experiment.config.options.fmad;
  EXPECT_EQ(comparable(timed(FigureKind::measured), b), Unlike::none);
}

}  // namespace
}  // namespace attnscope
