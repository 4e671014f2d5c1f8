#include "catalog/fixed_name.h"

#include <gmock/gmock.h>

#include "core/problem.h"
#include "unit/catalog/support.h"

namespace attnscope::catalog {
namespace {

using testing::HasSubstr;

constexpr const char* kSource = R"(#define TILE 16
constexpr int WIDTH = 48;
__global__ void k(float* x, int n, long turns, int half) { x[n * turns + half + TILE + WIDTH] = BLOCK; }
int main() { int rounds = 3; }
)";
constexpr const char* kManifest = R"({"id": "k", "title": "k", "source": "k.cu", "entry": "k", "problem": "custom",
  "knobs": [{"name": "BLOCK", "values": [32, 64], "default": 32, "doc": "Threads."}],
  "sizes": {"n": 64}, "buffers": [{"name": "x", "role": "out", "dtype": "f32", "shape": ["n"]}],
  "launch": {"grid": [1, 1, 1], "block": ["BLOCK", 1, 1]},
  "args": ["x", "n", {"value": 7, "type": "i64"}, {"value": "n / 2", "type": "i32"}], "reference": "none"})";

TEST(FixedName, IsNamedWithWhatToChange) {
  const auto kernel = parse_kernel({"k.json", kManifest, "k.cu", kSource});
  ASSERT_TRUE(kernel) << kernel.error().message;
  const auto refusal = [&](const std::string& text) {
    const auto read = problem_from_text(text, kernel->default_problem(),
                                        [&](const std::string& key) { return why_no_size(*kernel, key); });
    EXPECT_FALSE(read) << text;
    return read ? std::string() : read.error().message + " | " + read.error().hint;
  };
  EXPECT_THAT(refusal("turns=9"),
              HasSubstr("--problem: turns is fixed: k.json/args/2 passes 7 for it | Change it there"));
  EXPECT_THAT(refusal("half=9"), HasSubstr("half follows from the sizes: k.json/args/3 is n / 2"));
  EXPECT_THAT(refusal("BLOCK=64"), HasSubstr("BLOCK is a knob of k | Use --set BLOCK=VALUE"));
  EXPECT_THAT(refusal("TILE=8"), HasSubstr("TILE is fixed: k.cu sets it to 16"));
  EXPECT_THAT(refusal("WIDTH=8"), HasSubstr("WIDTH is fixed: k.cu sets it to 48"));
  EXPECT_THAT(refusal("rounds=8"), HasSubstr("rounds is a name of the host code, which is not run: k.json has what"));
  EXPECT_THAT(refusal("m=8"), HasSubstr("--problem/m: is not a known key | Known: n,"));
  EXPECT_THAT(refusal("turns=9"), HasSubstr("Known: n,"));
}

}  // namespace
}  // namespace attnscope::catalog
