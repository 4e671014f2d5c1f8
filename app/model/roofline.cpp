#include "model/roofline.h"

#include <algorithm>

#include "model/rates.h"

namespace attnscope::model {

double compulsory_bytes(const Problem& problem) {
  if (!problem.is_attention()) return 0;
  return double(bytes_of(problem.dtype)) * (2 * double(problem.q_elements()) + 2 * double(problem.kv_elements()));
}

double tflops(const Problem& problem, double us) { return us > 0 ? problem.flops() / us * 1e-6 : 0; }

double peak_fp32_tflops(const DeviceSpec& spec) {
  return 2 * rates::rate(spec, rates::kFp32) * double(spec.sms) * spec.clock_mhz * 1e-6;
}

double peak_tensor_tflops(const DeviceSpec& spec) { return spec.tensor_tflops_f16; }

double roofline_us(const DeviceSpec& spec, const Problem& problem, double peak_tflops) {
  if (peak_tflops <= 0 || spec.dram_gbs <= 0) return 0;
  return std::max(problem.flops() / peak_tflops * 1e-6, compulsory_bytes(problem) / spec.dram_gbs * 1e-3);
}

}  // namespace attnscope::model
