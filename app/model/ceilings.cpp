#include "model/ceilings.h"

#include <algorithm>

#include "model/rates.h"
#include "model/roofline.h"

namespace attnscope::model {

double Ceilings::highest() const { return std::max({tensor, fp32, issue, dram}); }

double compulsory_dram_us(const DeviceSpec& spec, const Problem& problem) {
  const double bytes = compulsory_bytes(problem);
  return bytes > spec.l2_mb * 1e6 && spec.dram_gbs > 0 ? bytes / spec.dram_gbs * 1e-3 : 0;
}

Ceilings ceilings(const DeviceSpec& spec, const Problem& problem, const Counters& counters,
                  const KernelSchedule& schedule) {
  Ceilings out;
  out.dram = compulsory_dram_us(spec, problem);
  if (counters.emulated_ctas <= 0) return out;
  double issued = 0, fp32 = 0, products = 0;
  for (const ScheduledInstruction& instruction : schedule.code) {
    const auto times = double(instruction.issued);
    issued += times;
    if (instruction.unit == Unit::fp32) fp32 += times;
    if (instruction.unit == Unit::tensor) products += times * double(instruction.products);
  }
  const double grid = double(counters.total_ctas) / double(counters.emulated_ctas);
  const double clocks_us = double(spec.sms) * spec.clock_mhz;  // SM clocks per microsecond
  if (clocks_us > 0) {
    out.issue = grid * issued / rates::rate(spec, rates::kIssue) / clocks_us;
    out.fp32 = grid * fp32 * 32 / rates::rate(spec, rates::kFp32) / clocks_us;
  }
  if (spec.tensor_tflops_f16 > 0) out.tensor = grid * products * kProductFlop / spec.tensor_tflops_f16 * 1e-6;
  return out;
}

}  // namespace attnscope::model
