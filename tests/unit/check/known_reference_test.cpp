// References of docs/writing-a-kernel.md compared with numbers worked out by hand.
#include "check/known_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace attnscope::check {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

struct Tensor64 {
  std::vector<int64_t> shape;
  std::vector<double> values;
};

struct Case {
  Case(const std::string& kind, const std::vector<Tensor64>& inputs, const std::vector<int64_t>& output,
       double value = 0) {
    spec.kind = *parse_word<ReferenceKind>(kind);
    spec.output = "out";
    spec.value = value;
    for (const Tensor64& input : inputs) {
      const std::string name(1, static_cast<char>('a' + spec.inputs.size()));
      spec.inputs.push_back(name);
      add({name, BufferRole::in, ElementType::f64, input.shape, {}}, input.values);
    }
    Operand out{"out", BufferRole::out, ElementType::f64, output, {}};
    add(out, std::vector<double>(static_cast<size_t>(out.elements())));
  }
  void add(const Operand& what, const std::vector<double>& values) {
    EXPECT_EQ(static_cast<size_t>(what.elements()), values.size());
    std::vector<std::byte>& bytes = operands.storage.emplace_back(what.bytes());
    for (size_t i = 0; i < values.size(); ++i) store_value(what.type, bytes.data(), static_cast<int64_t>(i), values[i]);
    operands.all.push_back({what, bytes});
  }
  std::vector<double> values() const {
    const auto made = known_reference_values(spec, operands);
    EXPECT_TRUE(made) << made.error().message;
    return made ? *made : std::vector<double>();
  }
  std::string refusal() const {
    const auto made = known_reference_values(spec, operands);
    return made ? "" : made.error().message;
  }
  ReferenceSpec spec;
  Operands operands;
};

std::vector<double> of(const std::string& kind, const std::vector<Tensor64>& inputs, const std::vector<int64_t>& output,
                       double value = 0) {
  return Case(kind, inputs, output, value).values();
}

TEST(KnownReference, AGemmScalesWhatItAddsTo) {
  const Tensor64 a{{1, 2}, {1, 2}}, b{{2, 1}, {3, 4}}, c{{1, 1}, {10}};
  Case gemm("gemm", {a, b, c}, {1, 1}, 2);
  EXPECT_THAT(gemm.values(), ElementsAre(2 * 11 + 10));
  gemm.spec.beta = 0.5;
  EXPECT_THAT(gemm.values(), ElementsAre(2 * 11 + 5));
  gemm.spec.beta = 0;
  EXPECT_THAT(gemm.values(), ElementsAre(2 * 11));
  EXPECT_TRUE(known_reference(gemm.spec, "k.json"));
  gemm.spec.inputs.pop_back();
  EXPECT_FALSE(known_reference(gemm.spec, "k.json")) << "there is nothing to scale";
}

TEST(KnownReference, ElementByElement) {
  const Tensor64 x{{3}, {-2, 0, 3}}, y{{3}, {10, 20, 30}};
  EXPECT_THAT(of("copy", {x}, {3}), ElementsAre(-2, 0, 3));
  EXPECT_THAT(of("scale", {x}, {3}, 0.5), ElementsAre(-1, 0, 1.5));
  EXPECT_THAT(of("relu", {x}, {3}), ElementsAre(0, 0, 3));
  EXPECT_THAT(of("relu", {{{1}, {kNan}}}, {1}), ElementsAre(testing::IsNan()));
  EXPECT_THAT(of("add", {x, y}, {3}), ElementsAre(8, 20, 33));
  EXPECT_THAT(of("mul", {x, y}, {3}), ElementsAre(-20, 0, 90));
  EXPECT_THAT(of("saxpy", {x, y}, {3}, 2), ElementsAre(6, 20, 36));
  // gelu(3) = 3·Φ(3), silu(3) = 3/(1 + e⁻³)
  EXPECT_THAT(of("gelu", {x}, {3}), Pointwise(DoubleNear(1e-9), {-0.0455002639, 0.0, 2.9959503061}));
  EXPECT_THAT(of("silu", {x}, {3}), Pointwise(DoubleNear(1e-9), {-0.2384058440, 0.0, 2.8577223805}));
}

TEST(KnownReference, AnExpressionKnowsTheIndexAndSpreadsOneElement) {
  Case each("each", {{{4}, {1, 2, 3, 4}}, {{1}, {10}}}, {4});
  each.spec.expr = "a * b + index";
  EXPECT_THAT(each.values(), ElementsAre(10, 21, 32, 43));
  Case none("each", {}, {3});
  none.spec.expr = "2 * index";
  EXPECT_THAT(none.values(), ElementsAre(0, 2, 4));
  Case misfit("each", {{{2}, {1, 2}}}, {3});
  misfit.spec.expr = "a";
  EXPECT_THAT(misfit.refusal(), HasSubstr("an input and the output differ in size"));
}

TEST(KnownReference, Products) {
  const Tensor64 a{{2, 3}, {1, 2, 3, 4, 5, 6}}, b{{3, 2}, {1, 0, 2, 1, 0, 3}};
  EXPECT_THAT(of("gemm", {a, b}, {2, 2}), ElementsAre(5, 11, 14, 23));
  EXPECT_THAT(of("gemm", {a, b}, {2, 2}, 2), ElementsAre(10, 22, 28, 46));
  EXPECT_THAT(of("gemm", {a, b, {{2, 2}, {1, 1, 1, 1}}}, {2, 2}), ElementsAre(6, 12, 15, 24)) << "added to c";
  EXPECT_THAT(of("gemm_tn", {{{3, 2}, {1, 4, 2, 5, 3, 6}}, b}, {2, 2}), ElementsAre(5, 11, 14, 23));
  EXPECT_THAT(of("gemm_nt", {a, {{2, 3}, {1, 2, 0, 0, 1, 3}}}, {2, 2}), ElementsAre(5, 11, 14, 23));
  EXPECT_THAT(of("gemm_nt", {a, {{2, 3}, {1, 2, 0, 0, 1, 3}}}, {2, 2}, 3), ElementsAre(15, 33, 42, 69));
  // Two of a batch, three rows times two.
  EXPECT_THAT(of("gemm_nt", {{{2, 3, 1}, {1, 2, 3, 4, 5, 6}}, {{2, 2, 1}, {1, 10, 2, 20}}}, {2, 3, 2}),
              ElementsAre(1, 10, 2, 20, 3, 30, 8, 80, 10, 100, 12, 120));
  for (const char* kind : {"gemm", "gemm_nt", "gemm_tn"})
    EXPECT_THAT(Case(kind, {a, {{2, 2}, {1, 2, 3, 4}}}, {2, 2}).refusal(), HasSubstr("needs a["));
  EXPECT_THAT(Case("gemm", {a, b, {{3}, {1, 1, 1}}}, {2, 2}).refusal(), HasSubstr("third input"));
}

// Two keys whose scores differ by ln 3 weigh 1/4 and 3/4.
TEST(KnownReference, Attention) {
  const double ln3 = std::log(3.0);
  const Tensor64 q{{1, 2, 1}, {1, 0}}, k{{1, 2, 1}, {0, ln3}}, v{{1, 2, 2}, {4, 0, 8, 4}};
  EXPECT_THAT(of("attention", {q, k, v}, {1, 2, 2}), Pointwise(DoubleNear(1e-12), {7.0, 3.0, 6.0, 2.0}));
  EXPECT_THAT(of("attention_causal", {q, k, v}, {1, 2, 2}), Pointwise(DoubleNear(1e-12), {4.0, 0.0, 6.0, 2.0}));
  EXPECT_THAT(of("attention", {q, k, v}, {1, 2, 2}, 2), Pointwise(DoubleNear(1e-12), {7.6, 3.6, 6.0, 2.0}))
      << "the scale";
  // Without a scale it is 1/sqrt(D); D is 4 here.
  EXPECT_THAT(
      of("attention", {{{1, 4}, {1, 0, 0, 1}}, {{2, 4}, {0, 0, 0, 0, ln3, 5, 5, ln3}}, {{2, 1}, {4, 8}}}, {1, 1}),
      Pointwise(DoubleNear(1e-12), {7.0}));
  // Two heads, each with its own keys; with one key more than rows, the causal first row sees two.
  EXPECT_THAT(of("attention", {{{2, 1, 1}, {1, 1}}, {{2, 1, 1}, {1, 1}}, {{2, 1, 1}, {5, 6}}}, {2, 1, 1}),
              ElementsAre(5, 6));
  const Tensor64 three{{3, 1}, {0, 0, 0}};
  EXPECT_THAT(of("attention_causal", {{{2, 1}, {1, 1}}, three, {{3, 1}, {2, 4, 9}}}, {2, 1}),
              Pointwise(DoubleNear(1e-12), {3.0, 5.0}));
  // More rows than keys: the first one sees none.
  EXPECT_THAT(of("attention_causal", {three, {{2, 1}, {0, 0}}, {{2, 1}, {2, 4}}}, {3, 1}),
              Pointwise(DoubleNear(1e-12), {0.0, 2.0, 3.0}));
  EXPECT_THAT(Case("attention", {q, k, {{1, 1, 2}, {1, 2}}}, {1, 2, 2}).refusal(), HasSubstr("needs q["));
  EXPECT_THAT(Case("attention", {q, {{2, 1, 1}, {1, 2}}, v}, {1, 2, 2}).refusal(), HasSubstr("needs q["));
  EXPECT_THAT(Case("attention", {q, k, v}, {1, 2, 3}).refusal(), HasSubstr("needs q["));
}

TEST(KnownReference, RowByRow) {
  const Tensor64 x{{2, 3}, {3, 1, 2, 0, 0, 6}}, gain{{3}, {1, 2, 3}}, bias{{3}, {10, 20, 30}};
  EXPECT_THAT(of("transpose", {x}, {3, 2}), ElementsAre(3, 0, 1, 0, 2, 6));
  EXPECT_THAT(of("scan", {x}, {2, 3}), ElementsAre(3, 4, 6, 0, 0, 6));
  EXPECT_THAT(of("sort", {x}, {2, 3}), ElementsAre(1, 2, 3, 0, 0, 6));
  const double third = 1.0 / 3;
  EXPECT_THAT(of("softmax", {{{2, 3}, {5, 5, 5, -kInf, 0, 0}}}, {2, 3}),
              Pointwise(DoubleNear(1e-12), {third, third, third, 0.0, 0.5, 0.5}));
  EXPECT_THAT(of("softmax", {{{2}, {1000, 1000 + std::log(3.0)}}}, {2}), Pointwise(DoubleNear(1e-9), {0.25, 0.75}));
  // Means 2 and 2, variances 2/3 and 8.
  const double a = std::sqrt(1.5), b = 1 / std::sqrt(8.0);
  EXPECT_THAT(of("layernorm", {x}, {2, 3}), Pointwise(DoubleNear(1e-12), {a, -a, 0.0, -2 * b, -2 * b, 4 * b}));
  EXPECT_THAT(of("layernorm", {x, gain, bias}, {2, 3}),
              Pointwise(DoubleNear(1e-12), {10 + a, 20 - 2 * a, 30.0, 10 - 2 * b, 20 - 4 * b, 30 + 12 * b}));
  EXPECT_THAT(of("layernorm", {{{2}, {-1, 1}}}, {2}, 3), Pointwise(DoubleNear(1e-12), {-0.5, 0.5})) << "eps is added";
  // Means of squares 14/3 and 12.
  const double c = 1 / std::sqrt(14.0 / 3), d = 1 / std::sqrt(12.0);
  EXPECT_THAT(of("rmsnorm", {x, gain}, {2, 3}), Pointwise(DoubleNear(1e-12), {3 * c, 2 * c, 6 * c, 0.0, 0.0, 18 * d}));
  EXPECT_THAT(Case("layernorm", {x, {{2}, {1, 2}}}, {2, 3}).refusal(), HasSubstr("a row's length"));
  EXPECT_THAT(Case("softmax", {x}, {2, 2}).refusal(), HasSubstr("its input and the output differ in size"));
  EXPECT_THAT(Case("transpose", {x}, {2, 3}).refusal(), HasSubstr("needs x[R,C]"));
}

TEST(KnownReference, Reductions) {
  const Tensor64 x{{2, 3}, {3, 1, 2, -1, -5, -6}};
  EXPECT_THAT(of("reduce_sum", {x}, {2}), ElementsAre(6, -12));
  EXPECT_THAT(of("reduce_max", {x}, {2}), ElementsAre(3, -1));
  EXPECT_THAT(of("reduce_min", {x}, {2}), ElementsAre(1, -6));
  EXPECT_THAT(of("reduce_sum", {x}, {1}), ElementsAre(-6));
  EXPECT_THAT(of("histogram", {{{7}, {0, 2, 2, 1, 3, -1, 2}}}, {3}), ElementsAre(1, 1, 3))
      << "values without a bin are not counted";
  EXPECT_THAT(Case("reduce_sum", {x}, {4}).refusal(), HasSubstr("is not a multiple"));
}

TEST(KnownReference, ABufferThatIsNotThereIsNamed) {
  Case missing("copy", {{{1}, {1}}}, {1});
  missing.spec.inputs = {"z"};
  EXPECT_THAT(missing.refusal(), HasSubstr("there is no buffer z"));
  missing.spec.inputs = {"a"};
  missing.spec.output = "y";
  EXPECT_THAT(missing.refusal(), HasSubstr("there is no buffer y"));
}

// One f64 output [2, 2] that should be a copy of {1, 2, 4, -2}: norm 5.
struct Judged : testing::Test {
  Verdict of(const std::vector<double>& got, bool partial = false) {
    Case copy("copy", {{{2, 2}, expected}}, {2, 2});
    copy.spec.atol = atol, copy.spec.rtol = rtol;
    copy.operands.all.back().what.role = role;
    if (!before.empty()) copy.operands.all.back().bytes = std::as_bytes(std::span(before));
    Workload work;
    for (const OperandContents& one : copy.operands.all) work.operands.push_back(one.what);
    work.references = {copy.spec};
    auto output = std::make_shared<GuardedBuffer>("out", 32);
    for (size_t i = 0; i < 4; ++i)
      store_value(ElementType::f64, output->data().data(), static_cast<int64_t>(i), got[i]);
    const std::shared_ptr<const GuardedBuffer> outputs[] = {output};
    const auto verdict = judge(work, copy.operands, outputs, partial);
    EXPECT_TRUE(verdict);
    return verdict ? *verdict : Verdict{};
  }
  std::vector<double> expected{1, 2, 4, -2}, before;
  BufferRole role = BufferRole::out;
  std::optional<double> atol = 0.1, rtol = 0;
};

TEST_F(Judged, TheFiguresOfAKnownDifference) {
  const Verdict v = of({1, 2, 4.3, -2.4});  // errors 0, 0, 0.3, 0.4
  EXPECT_EQ(v.state, VerdictState::wrong);
  EXPECT_NEAR(v.max_abs, 0.4, 1e-12);
  EXPECT_NEAR(v.mean_abs, 0.7 / 4, 1e-12);
  EXPECT_NEAR(v.rel_frobenius, 0.5 / 5, 1e-12);
  EXPECT_NEAR(v.cosine, (1 + 4 + 17.2 + 4.8) / (5 * std::sqrt(1 + 4 + 18.49 + 5.76)), 1e-12);
  EXPECT_EQ(v.outside_share, 0.5);
  EXPECT_EQ(v.nonfinite, 0);
  EXPECT_EQ(v.rows_checked, 2);
  EXPECT_EQ(v.rows_total, 2);
  ASSERT_TRUE(v.first_bad);
  EXPECT_EQ(v.first_bad->row, 1);
  EXPECT_EQ(v.first_bad->column, 0);
  EXPECT_THAT(v.reason,
              HasSubstr("2 of 4 elements are outside 0.1 + 0·|reference|: expected 4, got 4.3, first at out[1][0]."));
}

TEST_F(Judged, ToleranceIsAbsoluteAndOfTheReference) {
  atol = 0.25, rtol = 0;
  EXPECT_EQ(of({1.25, 2, 4, -2}).state, VerdictState::correct);
  EXPECT_EQ(of({1.26, 2, 4, -2}).state, VerdictState::wrong);
  atol = 0.25, rtol = 0.5;
  EXPECT_EQ(of({1, 2, 4, -0.75}).state, VerdictState::correct);  // 0.25 + 0.5·2
  EXPECT_EQ(of({1, 2, 4, -0.74}).state, VerdictState::wrong);
  atol = rtol = std::nullopt;  // of f64: 1e-10
  EXPECT_EQ(of({1 + 1e-10, 2, 4, -2}).state, VerdictState::correct);
  EXPECT_EQ(of({1 + 3e-10, 2, 4, -2}).state, VerdictState::wrong);
}

TEST_F(Judged, NonFiniteValuesAreWhereTheReferenceHasThem) {
  expected = {kNan, kInf, -kInf, 3};
  const Verdict same = of({kNan, kInf, -kInf, 4});
  EXPECT_EQ(same.nonfinite, 0);
  EXPECT_EQ(same.outside_share, 0.25);
  EXPECT_NEAR(same.rel_frobenius, 1.0 / 3, 1e-12) << "over what is finite";
  for (const auto& got : {std::vector{0.0, kInf, -kInf, 3.0},
                          {kNan, -kInf, -kInf, 3.0},
                          {kNan, 1e300, -kInf, 3.0},
                          {kNan, kInf, -kInf, kInf},
                          {kNan, kInf, -kInf, kNan},
                          {kNan, kNan, -kInf, 3.0}}) {
    const Verdict other = of(got);
    EXPECT_EQ(other.state, VerdictState::wrong);
    EXPECT_EQ(other.nonfinite, 1);
  }
}

TEST_F(Judged, NothingAgainstNothingIsAlike) {
  expected = {0, 0, 0, 0};
  EXPECT_EQ(of({0, 0, 0, 1e-300}).state, VerdictState::unchecked);
  const Verdict v = of({3, 0, 0, 4});
  EXPECT_EQ(v.cosine, 0);
  EXPECT_EQ(v.rel_frobenius, 5) << "the reference has no norm to divide by";
}

// A kernel that stores one value everywhere, or nothing, would pass: that is not "correct".
TEST_F(Judged, AgreementThatProvesNothingIsUnchecked) {
  for (const double value : {0.0, 7.0, kNan}) {
    expected = {value, value, value, value};
    const Verdict v = of({value, value, value, value});
    EXPECT_EQ(v.state, VerdictState::unchecked);
    EXPECT_THAT(v.reason, HasSubstr("the reference of out is"));
    EXPECT_THAT(v.reason, HasSubstr("in every element"));
    EXPECT_EQ(of({value, value, value, 8}).state, VerdictState::wrong) << "a difference is still one";
  }
}

TEST_F(Judged, AnOutputThatTheReferenceLeavesAloneIsUnchecked) {
  role = BufferRole::inout;
  before = expected;
  const Verdict v = of(expected);
  EXPECT_EQ(v.state, VerdictState::unchecked);
  EXPECT_THAT(v.reason, HasSubstr("is what out held before the run"));
  before = {1, 2, 4, -3};
  EXPECT_EQ(of(expected).state, VerdictState::correct);
}

TEST_F(Judged, PoisonIsNeverWrittenWhateverTheReferenceHas) {
  expected = {kNan, 2, kNan, -2};
  std::vector<double> poison(4);
  fill_poison(ElementType::f64, std::as_writable_bytes(std::span(poison)));
  const Verdict v = of({poison[0], 2, kNan, poison[3]});
  EXPECT_EQ(v.state, VerdictState::wrong);
  EXPECT_EQ(v.outside_share, 0.5);
  EXPECT_THAT(v.reason,
              HasSubstr("2 of 4 elements were never written: expected nan, never written, first at out[0][0]"));
}

TEST_F(Judged, ASampleOfTheCtasIsUnchecked) {
  const Verdict v = of({1, 2, 4, -2}, true);
  EXPECT_EQ(v.state, VerdictState::unchecked);
  EXPECT_THAT(v.reason, HasSubstr("sample of the CTAs"));
}

TEST(KnownReference, TolerancesOfTheTypes) {
  for (const auto& [type, tolerance] : {std::pair{ElementType::f16, 2e-3},
                                        {ElementType::bf16, 1.6e-2},
                                        {ElementType::f32, 1e-4},
                                        {ElementType::f64, 1e-10},
                                        {ElementType::i32, 0.0},
                                        {ElementType::u8, 0.0}})
    EXPECT_EQ(default_tolerance(type), tolerance) << to_string(type);
}

}  // namespace
}  // namespace attnscope::check
