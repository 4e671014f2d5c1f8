#include "check/exact_softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "check/inputs.h"

namespace attnscope::check {

ExactSoftmax exact_softmax(const Problem& problem, const SoftmaxRow& row, int64_t keys, size_t steps) {
  const int64_t dim = problem.head_dim, visible = visible_keys(problem, row.row);
  const int64_t kv_head = row.head / (problem.heads / problem.kv_heads);
  const int64_t q_at = ((row.batch * problem.heads + row.head) * problem.seq_q + row.row) * dim;
  const int64_t k_at = (row.batch * problem.kv_heads + kv_head) * problem.seq_k * dim;
  std::vector<double> q(static_cast<size_t>(dim));
  for (int64_t d = 0; d < dim; ++d) q[static_cast<size_t>(d)] = double(input_element(problem, Tensor::q, q_at + d));
  ExactSoftmax exact;
  double m = -std::numeric_limits<double>::infinity(), l = 0;
  for (size_t step = 0; step < steps; ++step) {
    const int64_t first = static_cast<int64_t>(step) * keys;
    for (int64_t key = first; key < std::min(first + keys, visible); ++key) {
      double score = 0;
      for (int64_t d = 0; d < dim; ++d)
        score += q[static_cast<size_t>(d)] * double(input_element(problem, Tensor::k, k_at + key * dim + d));
      score *= problem.effective_scale();
      if (score > m) {
        l *= std::exp(m - score);  // 0 before the first key
        m = score;
      }
      l += std::exp(score - m);
    }
    exact.m.push_back(m);
    exact.l.push_back(l);
  }
  return exact;
}

}  // namespace attnscope::check
