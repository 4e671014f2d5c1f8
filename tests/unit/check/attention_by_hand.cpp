#include "unit/check/attention_by_hand.h"

#include <cmath>

#include "check/float_formats.h"
#include "unit/check/store_element.h"

namespace attnscope::check {

std::vector<double> attention_by_hand(const Problem& p, const AttentionInputs& inputs) {
  std::vector<double> out(static_cast<size_t>(p.q_elements()), 0.0);
  const auto q = [&](int64_t b, int64_t h, int64_t i, int64_t d) -> long double {
    return load_element(p.dtype, inputs.q.data(), element_offset(p, p.heads, p.seq_q, b, h, i, d));
  };
  const auto kv = [&](const std::vector<std::byte>& tensor, int64_t b, int64_t h, int64_t j, int64_t d) -> long double {
    return load_element(p.dtype, tensor.data(), element_offset(p, p.kv_heads, p.seq_k, b, h, j, d));
  };
  const auto sees = [&](int64_t i, int64_t j) {
    if (p.causal == Causal::none) return true;
    if (p.causal == Causal::top_left) return j <= i;
    return j - (p.seq_k - p.seq_q) <= i;
  };
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t h = 0; h < p.heads; ++h)
      for (int64_t i = 0; i < p.seq_q; ++i) {
        const int64_t kv_head = h * p.kv_heads / p.heads;
        std::vector<long double> weights(static_cast<size_t>(p.seq_k), 0.0L);
        long double highest = -INFINITY, total = 0;
        for (int64_t j = 0; j < p.seq_k; ++j) {
          long double score = 0;
          for (int64_t d = 0; d < p.head_dim; ++d) score += q(b, h, i, d) * kv(inputs.k, b, kv_head, j, d);
          weights[static_cast<size_t>(j)] =
              sees(i, j) ? score * static_cast<long double>(p.effective_scale()) : -INFINITY;
          highest = std::max(highest, weights[static_cast<size_t>(j)]);
        }
        if (std::isinf(highest)) continue;  // sees no key: 0
        for (long double& weight : weights) total += weight = std::exp(weight - highest);
        for (int64_t d = 0; d < p.head_dim; ++d) {
          long double sum = 0;
          for (int64_t j = 0; j < p.seq_k; ++j) sum += weights[static_cast<size_t>(j)] * kv(inputs.v, b, kv_head, j, d);
          out[static_cast<size_t>(((b * p.heads + h) * p.seq_q + i) * p.head_dim + d)] =
              static_cast<double>(sum / total);
        }
      }
  return out;
}

std::vector<std::byte> output_of(const Problem& p, const std::vector<double>& values) {
  std::vector<std::byte> out(values.size() * bytes_of(p.dtype));
  size_t index = 0;
  for (int64_t b = 0; b < p.batch; ++b)
    for (int64_t h = 0; h < p.heads; ++h)
      for (int64_t i = 0; i < p.seq_q; ++i)
        for (int64_t d = 0; d < p.head_dim; ++d, ++index)
          store_element(p.dtype, out.data(), element_offset(p, p.heads, p.seq_q, b, h, i, d),
                        static_cast<float>(values[index]));
  return out;
}

}  // namespace attnscope::check
