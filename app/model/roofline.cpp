#include "model/roofline.h"

#include <algorithm>

namespace attnscope::model {

double compulsory_bytes(const Problem& problem) {
  if (!problem.is_attention()) return 0;
  const double out = double(problem.q_elements()), keys = double(visible_keys(problem, problem.seq_q - 1));
  double rows = double(problem.seq_q);
  if (problem.causal != Causal::none) rows -= double(std::clamp<int64_t>(1 - first_visible(problem), 0, problem.seq_q));
  return double(bytes_of(problem.dtype)) *
         (out + out * rows / double(problem.seq_q) + 2 * double(problem.kv_elements()) * keys / double(problem.seq_k));
}

double tflops(const Problem& problem, double us) { return us > 0 ? problem.flops() / us * 1e-6 : 0; }

}  // namespace attnscope::model
