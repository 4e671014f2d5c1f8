#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/json_fwd.h"
#include "core/words.h"

namespace attnscope {

enum class ProblemKind { attention, gemm, softmax, reduction, transpose, custom };
template <>
struct Words<ProblemKind> : NamesAsWords<ProblemKind> {};

enum class Causal { none, top_left, bottom_right };
template <>
struct Words<Causal> : NamesAsWords<Causal> {
  using enum Causal;
  static constexpr WordTable<Causal, 4> also{
      {{bottom_right, "true"}, {bottom_right, "1"}, {none, "false"}, {none, "0"}}};
};

enum class Layout { BHSD, BSHD };
template <>
struct Words<Layout> : NamesAsWords<Layout> {};

enum class DType { f16, bf16, f32 };
template <>
struct Words<DType> : NamesAsWords<DType> {};

enum class Distribution { normal, uniform, large, constant };
template <>
struct Words<Distribution> : NamesAsWords<Distribution> {};

uint32_t bytes_of(DType dtype);

// What is computed. For a kind other than attention, the kernel's manifest defines the computation and `sizes` holds
// its sizes; the fields from batch to scale are used only by attention: O[b,h,i,:] = softmax_j(scale ·
// Q[b,h,i,:]·K[b,h,j,:]) V[b,h,j,:].
struct Problem {
  ProblemKind kind = ProblemKind::attention;
  int64_t batch = 1;
  int64_t heads = 8;
  int64_t kv_heads = 8;
  int64_t seq_q = 512;
  int64_t seq_k = 512;
  int64_t head_dim = 64;
  Causal causal = Causal::none;
  Layout layout = Layout::BHSD;
  DType dtype = DType::f16;
  std::optional<double> scale;  // empty: 1/sqrt(head_dim)
  Distribution distribution = Distribution::normal;
  uint64_t seed = 0;
  std::map<std::string, int64_t> sizes;  // unused by attention

  bool is_attention() const { return kind == ProblemKind::attention; }
  double effective_scale() const;
  // Floating-point operations by the usual convention: 4·B·H·Sq·Sk·D, halved for causal masks (as FlashAttention
  // counts); 2·M·N·K for a gemm with these sizes, times B if it has a size B; 0 if there is no convention.
  double flops() const;
  int64_t q_elements() const { return batch * heads * seq_q * head_dim; }
  int64_t kv_elements() const { return batch * kv_heads * seq_k * head_dim; }
  bool operator==(const Problem&) const = default;
};

// Number of keys that query row `i` may see: keys 0 to this, exclusive.
int64_t visible_keys(const Problem& problem, int64_t i);
// With a causal mask, query row i sees the existing keys below i + this value.
int64_t first_visible(const Problem& problem);

Json to_json(const Problem& problem);
// `where` names the file for messages. Unknown keys, wrong types and sizes outside their range are Failures.
Result<Problem> problem_from_json(const Json& json, const std::string& where);
// Parses the command line's form: B=1,H=8,S=512,D=64,causal=none,seed=0,dist=normal. S sets both lengths; every JSON
// key is accepted too (seq_q=…). `causal=true` means bottom_right. Starts from `base`. If `base` is not attention, the
// accepted names are its sizes, seed and dist: N=1000,seed=3.
// `why_unknown`, if given, may say more of a name that is not accepted: the message and the hint.
using WhyUnknown = std::function<std::optional<Failure>(const std::string& key)>;
Result<Problem> problem_from_text(std::string_view text, Problem base = {}, const WhyUnknown& why_unknown = {});
Result<void> validate(const Problem& problem, const std::string& where);
// "B1 H8 S512 D64", "B1 H8 Sq333 Sk512 D64 causal"; "gemm K=64 M=128 N=128"
std::string short_text(const Problem& problem);

}  // namespace attnscope
