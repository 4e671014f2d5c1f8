#include "core/reference_shapes.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace {

using Shape = std::vector<int64_t>;

// Why inputs of those shapes and an output of the last do not fit the kind; empty: they do.
std::string misfit(const std::string& kind, const std::vector<Shape>& shapes) {
  ReferenceSpec spec;
  spec.kind = *parse_word<ReferenceKind>(kind);
  if (kind == "each") spec.expr = "1";
  std::vector<Operand> operands;
  for (size_t at = 0; at < shapes.size(); ++at) {
    const std::string name = at + 1 == shapes.size() ? "out" : "in" + std::to_string(at);
    operands.push_back({name, BufferRole::in, ElementType::f32, shapes[at], {}});
    (at + 1 == shapes.size() ? spec.output : spec.inputs.emplace_back()) = name;
  }
  const auto checked = check_shapes(spec, operands, "k.json");
  if (checked) return "";
  EXPECT_EQ(checked.error().stage, Stage::catalog);
  EXPECT_TRUE(checked.error().message.starts_with("k.json: " + kind + " of out: ")) << checked.error().message;
  return checked.error().message;
}

struct Case {
  const char* kind;
  std::vector<Shape> shapes;
};

TEST(ReferenceShapes, ThatFit) {
  for (const auto& [kind, shapes] : {
           Case{"gemm", {{2, 3}, {3, 5}, {2, 5}}},
           Case{"gemm", {{2, 3}, {3, 5}, {10}, {2, 5}}},
           Case{"gemm_tn", {{3, 2}, {3, 5}, {2, 5}}},
           Case{"gemm_nt", {{7, 2, 3}, {7, 5, 3}, {7, 2, 5}}},
           Case{"attention", {{7, 2, 4}, {7, 3, 4}, {7, 3, 6}, {7, 2, 6}}},
           Case{"attention_causal", {{2, 4}, {3, 4}, {3, 6}, {2, 6}}},
           Case{"transpose", {{2, 3}, {3, 2}}},
           Case{"softmax", {{2, 3}, {2, 3}}},
           Case{"layernorm", {{2, 3}, {3}, {3}, {2, 3}}},
           Case{"rmsnorm", {{2, 3}, {3}, {6}}},
           Case{"reduce_sum", {{2, 3}, {2}}},
           Case{"reduce_max", {{2, 3}, {1}}},
           Case{"histogram", {{100}, {7}}},
           Case{"add", {{2, 3}, {6}, {6}}},
           Case{"each", {{6}, {1}, {2, 3}}},
       })
    EXPECT_EQ(misfit(kind, shapes), "") << kind;
}

TEST(ReferenceShapes, ThatDoNotAreRefusedWithWhatIsNeeded) {
  const std::pair<Case, const char*> cases[] = {
      {{"gemm", {{2, 3}, {4, 5}, {2, 5}}}, "needs a[M,K], b[K,N] and c[M,N]; here: in0[2, 3], in1[4, 5], out[2, 5]"},
      {{"gemm", {{2, 3}, {3, 5}, {3, 5}}}, "needs a[M,K]"},
      {{"gemm", {{2, 3}, {3, 5}, {2, 6}}}, "needs a[M,K]"},
      {{"gemm", {{2, 3}, {3, 5}, {9}, {2, 5}}}, "needs c[M,N] as its third input"},
      {{"gemm_tn", {{2, 3}, {3, 5}, {2, 5}}}, "needs a[K,M]"},
      {{"gemm_nt", {{2, 3}, {5, 4}, {2, 5}}}, "b[…,N,K]"},
      {{"gemm_nt", {{2, 3}, {5, 3}, {4, 5}}}, "b[…,N,K]"},
      {{"gemm_nt", {{2, 3}, {5, 3}, {2, 4}}}, "b[…,N,K]"},
      {{"gemm_nt", {{8, 2, 3}, {7, 5, 3}, {7, 2, 5}}}, "b[…,N,K]"},
      {{"gemm_nt", {{3}, {3}, {3}}}, "b[…,N,K]"},
      {{"attention", {{2, 5}, {3, 4}, {3, 6}, {2, 6}}}, "v[…,T,E]"},
      {{"attention", {{2, 4}, {3, 4}, {3, 6}, {2, 4}}}, "v[…,T,E]"},
      {{"attention", {{2, 4}, {3, 4}, {4, 6}, {2, 6}}}, "v[…,T,E]"},
      {{"attention", {{2, 4}, {3, 4}, {3, 6}, {3, 6}}}, "v[…,T,E]"},
      {{"attention", {{7, 2, 4}, {7, 3, 4}, {8, 3, 6}, {7, 2, 6}}}, "v[…,T,E]"},
      {{"transpose", {{2, 3}, {2, 3}}}, "needs x[R,C] and y[C,R]"},
      {{"softmax", {{2, 3}, {5}}}, "its input and the output differ in size"},
      {{"layernorm", {{2, 3}, {3}, {2}, {2, 3}}}, "a gain or bias must have a row's length"},
      {{"rmsnorm", {{2, 3}, {6}, {2, 3}}}, "a gain or bias must have a row's length"},
      {{"reduce_min", {{2, 3}, {4}}}, "not a multiple of the output's"},
      {{"reduce_sum", {{2, 3}, {0}}}, "not a multiple of the output's"},
      {{"add", {{6}, {1}, {6}}}, "an input and the output differ in size"},
      {{"each", {{6}, {2}, {6}}}, "an input and the output differ in size"},
  };
  for (const auto& [one, why] : cases)
    EXPECT_NE(misfit(one.kind, one.shapes).find(why), std::string::npos)
        << one.kind << ": " << misfit(one.kind, one.shapes);
}

TEST(ReferenceShapes, NameBuffersThatAreThere) {
  ReferenceSpec spec;
  spec.kind = ReferenceKind::copy;
  spec.inputs = {"x"};
  spec.output = "y";
  const auto refused = check_shapes(spec, {{"x", BufferRole::in, ElementType::f32, {1}, {}}}, "k.json");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "k.json: copy of y: there is no buffer y");
}

}  // namespace
}  // namespace attnscope
