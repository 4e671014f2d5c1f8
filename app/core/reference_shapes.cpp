#include "core/reference_shapes.h"

#include <algorithm>

namespace attnscope {
namespace {

using Shape = std::vector<int64_t>;

int64_t columns(const Operand& one) { return one.shape.empty() ? 1 : one.shape.back(); }
int64_t rows(const Operand& one) { return columns(one) == 0 ? 0 : one.elements() / columns(one); }
// The length of the second-to-last axis.
int64_t height(const Operand& one) { return one.shape[one.shape.size() - 2]; }

bool same_heads(const Operand& a, const Operand& b) {
  return a.shape.size() == b.shape.size() && std::equal(a.shape.begin(), a.shape.end() - 2, b.shape.begin());
}

std::string text_of(const Operand& one) {
  std::string text = one.name + "[";
  for (size_t i = 0; i < one.shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(one.shape[i]);
  return text + "]";
}

using Inputs = std::vector<const Operand*>;

std::string gemm(const Inputs& in, const Operand& out, bool transposed) {
  const int64_t m = transposed ? columns(*in[0]) : rows(*in[0]), k = transposed ? rows(*in[0]) : columns(*in[0]);
  if (rows(*in[1]) != k || rows(out) != m || columns(out) != columns(*in[1]))
    return transposed ? "needs a[K,M], b[K,N] and c[M,N]" : "needs a[M,K], b[K,N] and c[M,N]";
  if (in.size() > 2 && in[2]->elements() != out.elements()) return "needs c[M,N] as its third input";
  return {};
}

std::string gemm_nt(const Inputs& in, const Operand& out) {
  const Operand &a = *in[0], &b = *in[1];
  const bool fit = out.shape.size() >= 2 && same_heads(a, out) && same_heads(b, out) && columns(a) == columns(b) &&
                   height(out) == height(a) && columns(out) == height(b);
  return fit ? "" : "needs a[…,M,K], b[…,N,K] and c[…,M,N]";
}

std::string attention(const Inputs& in, const Operand& out) {
  const Operand &q = *in[0], &k = *in[1], &v = *in[2];
  const bool fit = out.shape.size() >= 2 && same_heads(q, out) && same_heads(k, out) && same_heads(v, out) &&
                   columns(q) == columns(k) && columns(v) == columns(out) && height(k) == height(v) &&
                   height(q) == height(out);
  return fit ? "" : "needs q[…,S,D], k[…,T,D], v[…,T,E] and o[…,S,E]";
}

std::string by_row(const Inputs& in, const Operand& out) {
  if (in[0]->elements() != out.elements()) return "its input and the output differ in size";
  const auto of_a_row = [&](const Operand* one) { return one->elements() == columns(*in[0]); };
  return std::all_of(in.begin() + 1, in.end(), of_a_row) ? "" : "a gain or bias must have a row's length";
}

std::string elementwise(const Inputs& in, const Operand& out, bool may_spread) {
  const auto fits = [&](const Operand* one) {
    return one->elements() == out.elements() || (may_spread && one->elements() == 1);
  };
  return std::ranges::all_of(in, fits) ? "" : "an input and the output differ in size";
}

// Why the shapes do not fit the kind; empty if they do.
std::string misfit(ReferenceKind kind, const Inputs& in, const Operand& out) {
  switch (kind) {
    case ReferenceKind::gemm:
    case ReferenceKind::gemm_tn:
      return gemm(in, out, kind == ReferenceKind::gemm_tn);
    case ReferenceKind::gemm_nt:
      return gemm_nt(in, out);
    case ReferenceKind::attention:
    case ReferenceKind::attention_causal:
      return attention(in, out);
    case ReferenceKind::transpose:
      return rows(out) == columns(*in[0]) && columns(out) == rows(*in[0]) ? "" : "needs x[R,C] and y[C,R]";
    case ReferenceKind::histogram:
      return {};
    case ReferenceKind::reduce_sum:
    case ReferenceKind::reduce_max:
    case ReferenceKind::reduce_min:
      return out.elements() == 0 || in[0]->elements() % out.elements() != 0
                 ? "the size of its input is not a multiple of the output's"
                 : "";
    case ReferenceKind::softmax:
    case ReferenceKind::layernorm:
    case ReferenceKind::rmsnorm:
    case ReferenceKind::scan:
    case ReferenceKind::sort:
      return by_row(in, out);
    case ReferenceKind::each:
    case ReferenceKind::copy:
    case ReferenceKind::scale:
    case ReferenceKind::relu:
    case ReferenceKind::gelu:
    case ReferenceKind::silu:
    case ReferenceKind::add:
    case ReferenceKind::mul:
    case ReferenceKind::saxpy:
      break;
  }
  return elementwise(in, out, kind == ReferenceKind::each);
}

}  // namespace

Result<void> check_shapes(const ReferenceSpec& spec, const std::vector<Operand>& operands, const std::string& where) {
  const auto refuse = [&](const std::string& why, const std::string& hint) {
    return fail(Stage::catalog, where + ": " + std::string(word_of(spec.kind)) + " of " + spec.output + ": " + why,
                hint);
  };
  if (auto known = known_reference(spec, where); !known) return known;
  std::vector<std::string> names = spec.inputs;
  names.push_back(spec.output);
  Inputs found;
  std::string shapes;
  for (const std::string& name : names) {
    const auto one = std::ranges::find(operands, name, &Operand::name);
    if (one == operands.end()) return refuse("there is no buffer " + name, "Name a buffer of the manifest.");
    found.push_back(&*one);
    shapes += (shapes.empty() ? "" : ", ") + text_of(*one);
  }
  const Operand& out = *found.back();
  found.pop_back();
  const std::string why = misfit(spec.kind, found, out);
  if (why.empty()) return {};
  return refuse(why + "; here: " + shapes,
                "Correct the shapes in \"buffers\", or the reference; \"none\" leaves the output unchecked.");
}

}  // namespace attnscope
