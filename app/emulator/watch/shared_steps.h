#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "core/shared_access.h"
#include "emulator/exec/cta.h"
#include "emulator/watch/unwatched.h"

namespace attnscope::emulator {

// Records where the instructions of one CTA access shared memory, for the first executions by each of its warps.
class SharedStepLog final : public Observer {
 public:
  // From then on, the bound launch observes that CTA. `turns`: executions per warp that are recorded.
  SharedStepLog(BoundLaunch& bound, uint32_t cta, uint32_t turns);

  // By instruction; instructions without such an access are left out.
  std::map<uint32_t, SharedSteps> steps() const;

  void start(uint32_t) override {}
  void warp_synced(uint32_t) override {}
  void arrived(uint32_t, uint32_t) override {}
  void released(uint32_t, const std::vector<std::pair<uint32_t, uint32_t>>&, bool, uint32_t) override {}

 private:
  struct Seen {
    Unwatched own;
    SharedSteps steps;
    std::vector<uint32_t> turns;  // by warp: executions so far
  };

  static void look(Warp& warp, const Op& op, uint32_t mask);
  void add(Warp& warp, const Op& op, uint32_t mask, Seen& seen) const;

  const uint32_t warps_, turns_;
  std::vector<Seen> seen_;  // by instruction
};

}  // namespace attnscope::emulator
