#include "model/misses.h"

#include <algorithm>

#include "model/rates.h"
#include "model/simulated_warp.h"

namespace attnscope::model {
namespace {

// Sizes of shared memory, in kilobytes: CUDA C++ Programming Guide 13.0, compute capabilities 8.x and 9.0. An
// architecture has those up to its own limit.
constexpr double kSharedSizes[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

// For each trace, the sum of of_instruction() over what its warps execute.
template <class OfInstruction>
std::vector<double> sum_over_traces(const KernelSchedule& schedule, OfInstruction of_instruction) {
  std::vector<double> of_block, of_trace;
  for (const CodeBlock& block : schedule.blocks) {
    double sum = 0;
    for (uint32_t i = block.first; i < block.first + block.count; ++i) sum += of_instruction(schedule.code[i]);
    of_block.push_back(sum);
  }
  for (const CtaTrace& trace : schedule.traces) {
    double sum = 0;
    for (size_t warp = 0; warp < trace.warps.size(); ++warp)
      trace.for_each_visit(warp,
                           [&](const Visit& visit, int64_t times) { sum += double(times) * of_block[visit.block]; });
    of_trace.push_back(sum);
  }
  return of_trace;
}

}  // namespace

bool may_hit_l1(const ScheduledInstruction& instruction) {
  return (instruction.unit == Unit::global_load || instruction.unit == Unit::async_copy) && !instruction.bypasses_l1;
}

double miss_share(const KernelSchedule& schedule) {
  const double most = std::ranges::max(sum_over_traces(schedule, [](const ScheduledInstruction& instruction) {
    return may_hit_l1(instruction) ? double(instruction.sectors) : 0;
  }));
  const double distinct = schedule.global_bytes_per_cta / kSectorBytes;
  return distinct > 0 && most > 0 ? std::min(1.0, distinct / most) : 1;
}

double l1_lines(const DeviceSpec& spec, double shared) {
  constexpr double kilobyte = 1024;
  double taken = double(spec.shared_sm);
  for (const double size : kSharedSizes)
    if (size * kilobyte >= shared) {
      taken = std::min(taken, size * kilobyte);
      break;
    }
  return std::max(0.0, rates::rate(spec, rates::kL1Kb) * kilobyte - taken) / kL1LineBytes;
}

std::vector<double> local_misses(const KernelSchedule& schedule, double lines) {
  // Measured on an H200 with loads that go round n lines (tests/data/gpu/h200_local_l1.txt): all hit up to 0.8 of the
  // lines that the first level has, and none from about 1.6 on.
  constexpr double all_hit = 0.8, none_hits = 1.6;
  std::vector<double> misses(schedule.code.size(), 0);
  for (const auto& [instruction, counts] : schedule.local_reuse.loads) {
    double all = 0, missed = 0;
    for (const auto& [others, loaded] : counts) {
      const double filled = lines > 0 ? (double(others) + 1) / lines : none_hits;
      all += double(loaded);
      missed += double(loaded) * std::clamp((filled - all_hit) / (none_hits - all_hit), 0.0, 1.0);
    }
    if (all > 0) misses[instruction] = missed / all;
  }
  return misses;
}

std::vector<double> l2_sectors_of(const KernelSchedule& schedule) {
  const double misses = miss_share(schedule);
  return sum_over_traces(schedule, [&](const ScheduledInstruction& instruction) {
    if (!is_global(instruction.unit) || instruction.unit == Unit::local_load) return 0.0;
    return double(instruction.sectors) * (may_hit_l1(instruction) ? misses : 1);
  });
}

std::vector<double> turns_of(const KernelSchedule& schedule) {
  return sum_over_traces(schedule, [](const ScheduledInstruction& instruction) {
    return is_global(instruction.unit) ? double(instruction.turns) : 0;
  });
}

}  // namespace attnscope::model
