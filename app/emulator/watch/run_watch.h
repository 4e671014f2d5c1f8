#pragma once
#include <memory>
#include <vector>

#include "emulator/exec/cta.h"
#include "emulator/watch/watch.h"

// watch/ looks on while exec/ executes. It gives the instructions that matter handlers of its own, which look at the
// access and then do it as before, and hears of barriers as an Observer. Each host thread has a Watch, which knows the
// CTA that it executes; global memory is common to them all (GlobalShadow). What is wrong is kept once for each pair of
// instructions and said in words at the end (finding.h).
namespace attnscope::emulator {

// The watch of one run, over its host threads. What it is made of must outlive it.
class RunWatch {
 public:
  // From then on the bound launch is observed.
  RunWatch(const Launch& launch, BoundLaunch& bound);
  std::vector<WatchFinding> findings(const std::vector<SharedName>& names) const;

 private:
  Watch* add_thread();

  const BoundLaunch& bound_;
  std::vector<Unwatched> unwatched_;  // by instruction
  GlobalShadow shadow_;               // the threads take turns at it
  std::vector<std::unique_ptr<Watch>> threads_;
};

}  // namespace attnscope::emulator
