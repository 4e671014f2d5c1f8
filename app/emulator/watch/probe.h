#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "emulator/exec/cta.h"
#include "emulator/exec/probe.h"
#include "emulator/watch/unwatched.h"

namespace attnscope::emulator {

// Reads what probes ask for while one CTA runs.
class ProbeLog final : public Observer {
 public:
  // From then on, the bound launch observes that CTA.
  ProbeLog(BoundLaunch& bound, uint32_t cta, const std::vector<Probe>& probes);

  ProbeHits hits() && { return std::move(hits_); }

  void start(uint32_t) override {}
  void warp_synced(uint32_t) override {}
  void arrived(uint32_t, uint32_t) override {}
  void released(uint32_t barrier, const std::vector<std::pair<uint32_t, uint32_t>>& waiting, bool whole,
                uint32_t exited) override;

 private:
  struct Seen {
    Unwatched own;
    std::vector<uint32_t> probes;  // indices of the probes
  };

  static void look(Warp& warp, const Op& op, uint32_t mask);
  bool is_armed(uint32_t probe) const;
  bool loads_one_of(Warp& warp, const Op& op, uint32_t mask, const Probe& probe) const;
  std::vector<uint32_t> shared_words(const Probe& probe) const;
  void add(uint32_t probe, uint32_t op, std::vector<uint32_t> words);

  const std::vector<Probe>& probes_;
  const uint32_t shared_low_, shared_bytes_;
  const uint8_t* shared_ = nullptr;  // see Warp::shared
  std::map<uint32_t, Seen> seen_;    // by instruction
  std::vector<size_t> fired_;        // by probe: the number of hits when it last fired, including that one
  ProbeHits hits_;
  size_t words_ = 0;
};

}  // namespace attnscope::emulator
