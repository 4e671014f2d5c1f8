// A kernel's source with what records its warps' clocks.
#include "catalog/clock_twin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope::catalog {
namespace {

using testing::HasSubstr;
using testing::Not;

// The twin without the recorder in front.
std::string twin_of(const std::string& source, const std::string& entry = "k") {
  const auto twin = clock_twin(source, entry, 100);
  if (!twin) return twin.error().message;
  return twin->substr(twin->find("#line 1\n") + 8);
}

constexpr const char* kFirst = "{ const AttnscopeClock attnscope_clock(attnscope_spans);";

TEST(ClockTwin, TakesAParameterMoreAndRecordsFromTheBodysStart) {
  EXPECT_EQ(
      twin_of("__global__ void k(float* a /* ) */) { a[0] = 1; }"),
      std::string("__global__ void k(float* a /* ) */, AttnscopeSpan* attnscope_spans) ") + kFirst + " a[0] = 1; }");
  for (const char* empty : {"__global__ void k() {}", "__global__ void k(void) {}"})
    EXPECT_EQ(twin_of(empty), std::string("__global__ void k(AttnscopeSpan* attnscope_spans) ") + kFirst + "}");
}

TEST(ClockTwin, OnlyThatKernelOfTheSource) {
  const std::string source =
      "__global__ void other(int n) {}\n"
      "namespace lib { template <typename T, int N> __global__ void __launch_bounds__(N) k(T* a)\n{ if (N) return; } "
      "}\n";
  const std::string twin = twin_of(source, "lib::k<float, 4>");
  EXPECT_THAT(twin, HasSubstr("void other(int n) {}"));
  EXPECT_THAT(twin, HasSubstr("k(T* a, AttnscopeSpan* attnscope_spans)\n{ const AttnscopeClock"));
}

TEST(ClockTwin, EachDeclarationTakesTheParameter) {
  const std::string twin = twin_of(
      "namespace lib { __global__ void k(float* a, int n); }\n"
      "__global__ void k(float* a, int n);\n"
      "__global__ void k(float* a);\n"
      "namespace lib { __global__ void k(float* a, int n) {} }\n"
      "namespace lib { __global__ void k(float*, int); }\n",
      "lib::k");
  EXPECT_EQ(twin, std::string("namespace lib { __global__ void k(float* a, int n, AttnscopeSpan* attnscope_spans); }\n"
                              "__global__ void k(float* a, int n);\n"
                              "__global__ void k(float* a);\n"
                              "namespace lib { __global__ void k(float* a, int n, AttnscopeSpan* attnscope_spans) ") +
                      kFirst +
                      "} }\n"
                      "namespace lib { __global__ void k(float*, int, AttnscopeSpan* attnscope_spans); }\n");
  EXPECT_EQ(twin_of("extern \"C\" __global__ void k(void);\nextern \"C\" __global__ void k() {}"),
            std::string("extern \"C\" __global__ void k(AttnscopeSpan* attnscope_spans);\n"
                        "extern \"C\" __global__ void k(AttnscopeSpan* attnscope_spans) ") +
                kFirst + "}");
  EXPECT_EQ(twin_of("__global__ void k(int n);\n__global__ void k(int n, int m) {}"),
            std::string("__global__ void k(int n);\n__global__ void k(int n, int m, AttnscopeSpan* attnscope_spans) ") +
                kFirst + "}")
      << "an overload";
}

TEST(ClockTwin, EachInstanceTakesTheParameter) {
  EXPECT_EQ(twin_of("template <int N> __global__ void k(float* a) {}\n"
                    "template __global__ void k<4>(float*);\n"
                    "template __global__ void k<8>(float*);\n"
                    "template __global__ void other<4>(float*);\n",
                    "k<4>"),
            std::string("template <int N> __global__ void k(float* a, AttnscopeSpan* attnscope_spans) ") + kFirst +
                "}\n"
                "template __global__ void k<4>(float*, AttnscopeSpan* attnscope_spans);\n"
                "template __global__ void k<8>(float*, AttnscopeSpan* attnscope_spans);\n"
                "template __global__ void other<4>(float*);\n");
}

TEST(ClockTwin, EachSpecialisationTakesTheParameterAndRecords) {
  EXPECT_EQ(twin_of("template <int N> __global__ void k(float* a) { a[0] = N; }\n"
                    "template <> __global__ void k<4>(float* a);\n"
                    "template <> __global__ void __launch_bounds__(64) k<4>(float* a) { a[0] = 5; }\n"
                    "template <> __global__ void __maxnreg__(64) __cluster_dims__(2, 1) k<8>(float* a) {}\n"
                    "template <> __global__ void other<4>(float* a) {}\n",
                    "k<4>"),
            std::string("template <int N> __global__ void k(float* a, AttnscopeSpan* attnscope_spans) ") + kFirst +
                " a[0] = N; }\n"
                "template <> __global__ void k<4>(float* a, AttnscopeSpan* attnscope_spans);\n"
                "template <> __global__ void __launch_bounds__(64) k<4>(float* a, AttnscopeSpan* attnscope_spans) " +
                kFirst +
                " a[0] = 5; }\n"
                "template <> __global__ void __maxnreg__(64) __cluster_dims__(2, 1) k<8>(float* a, AttnscopeSpan* "
                "attnscope_spans) " +
                kFirst +
                "}\n"
                "template <> __global__ void other<4>(float* a) {}\n");
}

TEST(ClockTwin, BehindADefaultTheParameterHasOne) {
  EXPECT_EQ(twin_of("__global__ void k(int a, int n = f<1, 2>());\n__global__ void k(int a = 2, int n) {}"),
            std::string("__global__ void k(int a, int n = f<1, 2>(), AttnscopeSpan* attnscope_spans = nullptr);\n"
                        "__global__ void k(int a = 2, int n, AttnscopeSpan* attnscope_spans) ") +
                kFirst + "}")
      << "the second must not repeat the default";
  EXPECT_EQ(twin_of("__global__ void k(int n);\n__global__ void k(int n = 4) {}"),
            std::string("__global__ void k(int n, AttnscopeSpan* attnscope_spans);\n"
                        "__global__ void k(int n = 4, AttnscopeSpan* attnscope_spans = nullptr) ") +
                kFirst + "}");
}

TEST(ClockTwin, LinesKeepTheirNumbersAndCtasBeyondTheMostAreNotRecorded) {
  const auto twin = clock_twin("\xEF\xBB\xBF// first\n__global__ void k(int n) {}\n", "k", 4321);
  ASSERT_TRUE(twin);
  EXPECT_THAT(*twin, HasSubstr("cta() >= 4321"));
  EXPECT_THAT(*twin, HasSubstr("#line 1\n// first\n__global__"));
}

TEST(ClockTwin, ASourceThatDoesNotDefineItIsRefused) {
  EXPECT_THAT(twin_of("__global__ void k(int n);"), HasSubstr("does not define k"));
  EXPECT_THAT(twin_of("int main() {}", "gone"), HasSubstr("does not define gone"));
}

}  // namespace
}  // namespace attnscope::catalog
