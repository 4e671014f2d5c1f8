// The kernels of assets/gpu that run between a library's products, as the machine code that a GPU runs.
#include <gtest/gtest.h>

#include <cmath>

#include "catalog/catalog.h"
#include "check/known_reference.h"
#include "core/json.h"
#include "platform/atomic_file.h"
#include "workload_run.h"

namespace attnscope::kernel_tests {
namespace {

Result<Kernel> kernel_of(const std::string& name, const Json& rest) {
  auto source =
      platform::read_file(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "assets/gpu" / (name + ".cu"), 1 << 20);
  if (!source) return fail(source.error());
  Json manifest = rest;
  manifest["id"] = manifest["title"] = name;
  manifest["source"] = name + ".cu";
  manifest["entry"] = "attnscope_" + name;
  manifest["problem"] = "custom";
  return catalog::parse_kernel({name + ".json", manifest.dump(), name + ".cu", *source});
}

Json value(const char* expression) { return {{"value", expression}, {"type", "i32"}}; }

std::vector<double> values(const Operand& what, std::span<const std::byte> bytes) {
  std::vector<double> all;
  for (int64_t i = 0; i < what.elements(); ++i) all.push_back(check::load_value(what.type, bytes.data(), i));
  return all;
}

// Probabilities of a row of scores; the first `visible` scores count.
std::vector<double> probabilities(const double* scores, int64_t visible, int64_t keys) {
  std::vector<double> p(static_cast<size_t>(keys), 0.0);
  double sum = 0;
  for (int64_t key = 0; key < visible; ++key) sum += p[size_t(key)] = std::exp(scores[key]);
  for (double& one : p) one = visible > 0 ? one / sum : 0;
  return p;
}

int64_t visible_of(int64_t row, int64_t rows, int64_t keys, bool causal) {
  return causal ? std::clamp<int64_t>(row + 1 + keys - rows, 0, keys) : keys;
}

// H heads of M rows and N keys; more rows than keys, so that with the mask some rows see none.
const std::map<std::string, int64_t> kSizes{{"H", 2}, {"M", 45}, {"N", 40}};

TEST(OwnKernels, Softmax) {
  for (const int causal : {0, 1}) {
    const Json manifest{{"sizes", {{"H", 2}, {"M", 45}, {"N", 40}}},
                        {"launch", {{"grid", {"ceil_div(H * M, 8)", 1, 1}}, {"block", {256, 1, 1}}}},
                        {"buffers",
                         {{{"name", "s"}, {"role", "in"}, {"dtype", "f32"}, {"shape", {"H", "M", "N"}}},
                          {{"name", "p"}, {"role", "out"}, {"dtype", "f16"}, {"shape", {"H", "M", "N"}}}}},
                        {"args",
                         {"s",
                          "p",
                          {{"value", "H * M"}, {"type", "i64"}},
                          "M",
                          "N",
                          "N",
                          value(causal ? "1" : "0"),
                          {{"value", -4}, {"type", "i32"}}}}};
    auto kernel = kernel_of("softmax", manifest);
    ASSERT_TRUE(kernel) << kernel.error().message;
    auto compiled = compile_workload(*kernel, kSizes, {}, 89);
    ASSERT_TRUE(compiled) << compiled.error().message;
    auto ran = emulate(*compiled, 89);
    ASSERT_TRUE(ran) << ran.error().message << ran.error().hint;
    const auto s = values(ran->operands->all[0].what, ran->operands->all[0].bytes);
    const auto p = values(ran->operands->all[1].what, ran->outcome.outputs[0]->data());
    for (int64_t row = 0; row < 90; ++row) {
      const auto expected = probabilities(&s[size_t(row * 40)], visible_of(row % 45, 45, 40, causal != 0), 40);
      for (int64_t key = 0; key < 40; ++key)
        ASSERT_NEAR(p[size_t(row * 40 + key)], expected[size_t(key)], 1e-3 * expected[size_t(key)] + 1e-7)
            << causal << " row " << row << " key " << key;
    }
  }
}

TEST(OwnKernels, SoftmaxAndPV) {
  for (const int causal : {0, 1}) {
    const Json manifest{
        {"sizes", {{"H", 2}, {"M", 45}, {"N", 40}}},
        {"knobs", {{{"name", "HEAD_DIM"}, {"values", {64}}, {"default", 64}}}},
        {"launch", {{"grid", {"ceil_div(M, 16)", "H", 1}}, {"block", {128, 1, 1}}}},
        {"buffers",
         {{{"name", "s"}, {"role", "in"}, {"dtype", "f32"}, {"shape", {"H", "M", "N"}}},
          {{"name", "v"}, {"role", "in"}, {"dtype", "f16"}, {"shape", {"H", "N", 64}}},
          {{"name", "o"}, {"role", "out"}, {"dtype", "f16"}, {"shape", {"H", "M", 64}}}}},
        {"args", {"s", "v", "o", "M", "N", "N", value(causal ? "1" : "0"), {{"value", -4}, {"type", "i32"}}}}};
    auto kernel = kernel_of("softmax_pv", manifest);
    ASSERT_TRUE(kernel) << kernel.error().message;
    auto compiled = compile_workload(*kernel, kSizes, {}, 89);
    ASSERT_TRUE(compiled) << compiled.error().message;
    auto ran = emulate(*compiled, 89);
    ASSERT_TRUE(ran) << ran.error().message << ran.error().hint;
    const auto s = values(ran->operands->all[0].what, ran->operands->all[0].bytes);
    const auto v = values(ran->operands->all[1].what, ran->operands->all[1].bytes);
    const auto o = values(ran->operands->all[2].what, ran->outcome.outputs[0]->data());
    for (int64_t row = 0; row < 90; ++row) {
      const auto p = probabilities(&s[size_t(row * 40)], visible_of(row % 45, 45, 40, causal != 0), 40);
      for (int64_t d = 0; d < 64; ++d) {
        double sum = 0;
        for (int64_t key = 0; key < 40; ++key) sum += p[size_t(key)] * v[size_t((row / 45 * 40 + key) * 64 + d)];
        ASSERT_NEAR(o[size_t(row * 64 + d)], sum, 1e-3 * std::abs(sum) + 1e-4)
            << causal << " row " << row << " d " << d;
      }
    }
  }
}

}  // namespace
}  // namespace attnscope::kernel_tests
