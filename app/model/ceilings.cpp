#include "model/ceilings.h"

#include <algorithm>

#include "model/rates.h"
#include "model/roofline.h"

namespace attnscope::model {
namespace {

constexpr double kOfFourBits = 4;  // how much faster products of four bits are than products of halves

// Over the counted CTAs, all warps together.
struct Work {
  double issued = 0, fp32 = 0, mufu = 0, products = 0;
  double wavefronts = 0;
  double sectors = 0;     // of global memory
  double stored = 0;      // those of stores
  double past_first = 0;  // those that certainly go to the second level
};

Work work_of(const KernelSchedule& schedule) {
  Work work;
  for (const ScheduledInstruction& instruction : schedule.code) {
    const auto times = double(instruction.issued);
    work.issued += times;
    const double sectors = times * double(instruction.sectors), wavefronts = times * double(instruction.passes);
    switch (instruction.unit) {
      case Unit::fp32:
        work.fp32 += times;
        break;
      case Unit::mufu:
        work.mufu += times;
        break;
      case Unit::tensor:
        work.products += times * double(instruction.products);
        break;
      case Unit::shared_load:
      case Unit::shared_store:
        work.wavefronts += wavefronts;
        break;
      case Unit::async_copy:
        work.wavefronts += wavefronts;
        work.sectors += sectors;
        if (instruction.bypasses_l1) work.past_first += sectors;
        break;
      case Unit::global_load:
        work.sectors += sectors;
        break;
      case Unit::global_store:
        work.sectors += sectors;
        work.stored += sectors;
        work.past_first += sectors;
        break;
      default:
        break;
    }
  }
  return work;
}

// What passes the second level at least once, as far as the grid requests it: a wrong kernel may leave some out, and
// another one uses a part of its buffers.
double moved_bytes(const Problem& problem, const KernelSchedule& schedule, const Work& work, double grid) {
  const double all = grid * work.sectors * kSectorBytes, stored = grid * work.stored * kSectorBytes;
  if (problem.is_attention()) return std::min(compulsory_bytes(problem), all);
  return std::min(schedule.buffers.read, all - stored) + std::min(schedule.buffers.written, stored);
}

}  // namespace

double Ceilings::highest() const { return std::max({tensor, fp32, mufu, issue, shared, l2, dram, atomics}); }

Ceilings ceilings(const DeviceSpec& spec, const Problem& problem, const Counters& counters,
                  const KernelSchedule& schedule) {
  Ceilings out;
  if (counters.emulated_ctas <= 0) return out;
  const Work work = work_of(schedule);
  const double grid = double(counters.total_ctas) / double(counters.emulated_ctas);
  const double bytes = moved_bytes(problem, schedule, work, grid);
  const double clocks_us = double(spec.sms) * spec.clock_mhz;  // SM clocks per microsecond
  if (clocks_us > 0) {
    const auto of = [&](double amount, const rates::Rate& which) {
      return amount / rates::rate(spec, which) / clocks_us;
    };
    out.issue = of(grid * work.issued, rates::kIssue);
    out.fp32 = of(grid * work.fp32 * 32, rates::kFp32);
    out.mufu = of(grid * work.mufu * 32, rates::kMufu);
    out.shared = of(grid * work.wavefronts, rates::kSharedWavefronts);
    out.l2 = of(std::max(grid * work.past_first, bytes / kSectorBytes), rates::kL2Sectors);
  }
  if (spec.tensor_tflops_f16 > 0) out.tensor = grid * work.products * kProductFlop / spec.tensor_tflops_f16 * 1e-6;
  out.dram = dram_us(spec, bytes);
  if (spec.clock_mhz > 0) out.atomics = kFastestAtomics * atomics_clocks(spec, schedule.hottest) / spec.clock_mhz;
  return out;
}

double atomics_clocks(const DeviceSpec& spec, const HotSpots& hottest) {
  const rates::Rate& in_sector = hottest.floating ? rates::kAtomicFloatSector : rates::kAtomicSector;
  return std::max(hottest.piece * rates::rate(spec, rates::kAtomicTurn), hottest.sector * rates::rate(spec, in_sector));
}

Roofs roofs(const DeviceSpec& spec) {
  const double clocks_us = double(spec.sms) * spec.clock_mhz;
  return {.tensor_tflops = spec.tensor_tflops_f16,
          .fp32_tflops = 2 * rates::rate(spec, rates::kFp32) * clocks_us * 1e-6,
          .l2_gbs = rates::rate(spec, rates::kL2Sectors) * kSectorBytes * clocks_us * 1e-3,
          .dram_gbs = spec.dram_gbs};
}

double floor_us(const DeviceSpec& spec, const Problem& problem) {
  double flop = problem.flops();
  if (problem.is_attention()) {
    double pairs = 0;  // pairs of a query row and a key that it sees
    for (int64_t row = 0; row < problem.seq_q; ++row) pairs += double(visible_keys(problem, row));
    flop = 4.0 * double(problem.batch) * double(problem.heads) * pairs * double(problem.head_dim);
  }
  const Roofs most = roofs(spec);
  const double narrow = problem.is_attention() ? 1 : kOfFourBits;
  const double tflops = std::max(narrow * most.tensor_tflops, most.fp32_tflops);
  const double compute = tflops > 0 ? flop / tflops * 1e-6 : 0;
  const double fetched = std::max(0.0, compulsory_bytes(problem) - spec.l2_mb * 1e6);
  return std::max(compute, spec.dram_gbs > 0 ? fetched / spec.dram_gbs * 1e-3 : 0);
}

double dram_us(const DeviceSpec& spec, double bytes) {
  return bytes > spec.l2_mb * 1e6 && spec.dram_gbs > 0 ? bytes / spec.dram_gbs * 1e-3 : 0;
}

}  // namespace attnscope::model
