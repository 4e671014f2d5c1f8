#include "check/check_matrix.h"

#include <algorithm>

namespace attnscope::check {

std::vector<Problem> check_matrix(const Problem& problem) {
  Problem base = problem;
  base.batch = 1;
  base.heads = std::min<int64_t>(problem.heads, 2);
  base.kv_heads = problem.kv_heads == problem.heads ? base.heads : 1;
  std::vector<Problem> matrix;
  const auto add = [&](Distribution distribution, uint64_t seed, int64_t batch, int64_t seq_q, int64_t seq_k) {
    Problem next = base;
    next.distribution = distribution;
    next.seed = problem.seed + seed;
    next.batch = batch;
    next.seq_q = seq_q;
    next.seq_k = seq_k;
    matrix.push_back(next);
  };
  using enum Distribution;
  add(normal, 1, 1, 128, 128);  // whole tiles
  add(normal, 2, 2, 97, 97);    // no tile divides a prime
  add(uniform, 3, 1, 128, 128);
  add(large, 4, 1, 128, 128);  // needs the row maximum
  add(constant, 5, 1, 64, 64);
  add(normal, 6, 1, 65, 193);   // more keys than queries
  add(uniform, 7, 1, 193, 65);  // under bottom_right the first 128 rows see no key
  add(normal, 8, 1, 1, 33);     // one query row
  add(normal, 9, 1, 33, 1);     // one key
  add(large, 10, 2, 333, 333);
  return matrix;
}

}  // namespace attnscope::check
