#include "model/roofline.h"

namespace attnscope::model {

double compulsory_bytes(const Problem& problem) {
  if (!problem.is_attention()) return 0;
  return double(bytes_of(problem.dtype)) * (2 * double(problem.q_elements()) + 2 * double(problem.kv_elements()));
}

double tflops(const Problem& problem, double us) { return us > 0 ? problem.flops() / us * 1e-6 : 0; }

}  // namespace attnscope::model
