#include "core/workload.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace {

TEST(Workload, ElementsHaveTheBytesThatTheirNamesSay) {
  for (const auto& [name, bytes, floating] : {std::tuple{"f16", 2u, true},
                                              {"bf16", 2u, true},
                                              {"f32", 4u, true},
                                              {"f64", 8u, true},
                                              {"i8", 1u, false},
                                              {"u8", 1u, false},
                                              {"i16", 2u, false},
                                              {"u16", 2u, false},
                                              {"i32", 4u, false},
                                              {"u32", 4u, false},
                                              {"i64", 8u, false}}) {
    const auto type = parse_word<ElementType>(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(word_of(*type), name);
    EXPECT_EQ(bytes_of(*type), bytes) << name;
    EXPECT_EQ(is_floating(*type), floating) << name;
  }
  EXPECT_FALSE(parse_word<ElementType>("f8"));
}

TEST(Workload, ItsBytesAreThoseOfAllButTheWorkspaces) {
  Workload work;
  work.operands = {{"a", BufferRole::in, ElementType::f16, {3, 4}, {}},
                   {"b", BufferRole::out, ElementType::f32, {5}, {}},
                   {"c", BufferRole::inout, ElementType::f64, {1, 2}, {}},
                   {"d", BufferRole::workspace, ElementType::f64, {1000}, {}}};
  EXPECT_EQ(work.operands[0].elements(), 12);
  EXPECT_EQ(work.bytes(), 24u + 20u + 16u);
  const bool judged[] = {false, true, true, false};
  for (size_t at = 0; at < work.operands.size(); ++at) EXPECT_EQ(work.operands[at].judged(), judged[at]) << at;
}

TEST(BufferRole, EachHasItsWord) {
  for (const char* role : {"in", "out", "inout", "workspace"}) {
    ASSERT_TRUE(parse_word<BufferRole>(role)) << role;
    EXPECT_EQ(word_of(*parse_word<BufferRole>(role)), role);
  }
  for (const char* kind : {"random", "zeros", "ones", "iota"}) EXPECT_TRUE(parse_word<BufferInit::Kind>(kind)) << kind;
}

bool is_known(const std::string& kind, size_t inputs) {
  ReferenceSpec spec;
  spec.kind = *parse_word<ReferenceKind>(kind);
  spec.inputs.assign(inputs, "x");
  if (spec.kind == ReferenceKind::each) spec.expr = "1";
  return known_reference(spec, "k.json").has_value();
}

// docs/writing-a-kernel.md has the table: how many inputs each kind takes.
TEST(Reference, EachKindTakesSoManyInputs) {
  const std::map<std::string, std::pair<size_t, size_t>> table{{"each", {0, 8}},       {"copy", {1, 1}},
                                                               {"scale", {1, 1}},      {"relu", {1, 1}},
                                                               {"gelu", {1, 1}},       {"silu", {1, 1}},
                                                               {"add", {2, 2}},        {"mul", {2, 2}},
                                                               {"saxpy", {2, 2}},      {"gemm", {2, 3}},
                                                               {"gemm_nt", {2, 2}},    {"gemm_tn", {2, 2}},
                                                               {"attention", {3, 3}},  {"attention_causal", {3, 3}},
                                                               {"transpose", {1, 1}},  {"softmax", {1, 1}},
                                                               {"layernorm", {1, 3}},  {"rmsnorm", {1, 2}},
                                                               {"reduce_sum", {1, 1}}, {"reduce_max", {1, 1}},
                                                               {"reduce_min", {1, 1}}, {"scan", {1, 1}},
                                                               {"sort", {1, 1}},       {"histogram", {1, 1}}};
  for (const auto& [kind, inputs] : table)
    for (size_t count = 0; count < 10; ++count)
      EXPECT_EQ(is_known(kind, count), count >= inputs.first && count <= inputs.second) << kind << " of " << count;
}

TEST(Reference, AnExpressionBelongsToEach) {
  ReferenceSpec spec;
  spec.kind = ReferenceKind::each;
  EXPECT_FALSE(known_reference(spec, "k.json"));
  spec.kind = ReferenceKind::copy;
  spec.inputs = {"x"};
  EXPECT_TRUE(known_reference(spec, "k.json"));
  spec.expr = "x";
  EXPECT_FALSE(known_reference(spec, "k.json"));
  const auto unknown = parse_word<ReferenceKind>("fft");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("\"fft\""), std::string::npos);
  EXPECT_NE(unknown.error().hint.find("each, copy, scale"), std::string::npos) << unknown.error().hint;
}

}  // namespace
}  // namespace attnscope
