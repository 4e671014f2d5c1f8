#pragma once
#include <vector>

#include "model/schedule.h"

namespace attnscope::model {

inline ScheduledInstruction instruction(Unit unit, int stall = 1) {
  ScheduledInstruction i;
  i.unit = unit;
  i.stall = static_cast<uint8_t>(stall);
  return i;
}

// A load on scoreboard 0.
inline ScheduledInstruction shared_load(float passes) {
  ScheduledInstruction i = instruction(Unit::shared_load);
  i.write_scoreboard = 0;
  i.passes = passes;
  return i;
}

// Waits for scoreboard 0.
inline ScheduledInstruction use(int stall = 1) {
  ScheduledInstruction i = instruction(Unit::fp32, stall);
  i.wait_mask = 1;
  return i;
}

// A schedule of one CTA: `code` has one block per entry, and each warp visits the named blocks in order.
inline KernelSchedule schedule(const std::vector<std::vector<ScheduledInstruction>>& blocks,
                               const std::vector<std::vector<uint32_t>>& warps) {
  KernelSchedule s;
  for (const auto& block : blocks) {
    s.blocks.push_back({static_cast<uint32_t>(s.code.size()), static_cast<uint32_t>(block.size())});
    s.code.insert(s.code.end(), block.begin(), block.end());
  }
  CtaTrace trace;
  for (const auto& visits : warps) {
    auto& warp = trace.warps.emplace_back();
    for (uint32_t block : visits) warp.push_back({block, 32});
  }
  s.traces.push_back(trace);
  return s;
}

// The same with the warps' loops folded, as device/ gives them.
inline KernelSchedule folded(KernelSchedule s) {
  for (CtaTrace& trace : s.traces)
    for (std::vector<Visit>& visits : trace.warps) {
      std::vector<uint32_t> words;
      for (const Visit& visit : visits) words.push_back(visit.block << 5 | (visit.lanes - 1));
      Folder folder;
      folder.add(words);
      Folded path = folder.finish();
      visits.clear();
      for (const uint32_t word : path.words) visits.push_back({word >> 5, (word & 31) + 1});
      trace.loops.push_back(std::move(path.loops));
    }
  return s;
}

inline std::vector<uint32_t> times(size_t count, uint32_t block = 0) { return std::vector<uint32_t>(count, block); }

}  // namespace attnscope::model
