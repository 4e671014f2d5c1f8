#pragma once
#include <memory>
#include <vector>

#include "emulator/exec/cta.h"
#include "emulator/watch/watch.h"

// watch/ observes while exec/ executes. It replaces the handlers of the relevant instructions by its own, which check
// the access and then perform it; as an Observer it learns of barriers. Each host thread has a Watch for the CTA that
// it executes; the threads share the records of global memory (GlobalShadow). Each fault is recorded once per pair of
// instructions and turned into text at the end (finding.h).
namespace attnscope::emulator {

// The watch of one run, across its host threads. Its constructor's arguments must outlive it.
class RunWatch {
 public:
  // From then on, the bound launch is observed.
  RunWatch(const Launch& launch, BoundLaunch& bound);
  // `suspected`: returns reads whose value the program may not use, instead of certain faults.
  std::vector<WatchFinding> findings(const std::vector<SharedPlace>& names, bool suspected = false) const;
  // The memory that the watch of one host thread, or of one CTA of a cooperative launch, takes before the first access.
  uint64_t bytes_of_one() const;
  std::vector<UnwrittenBuffer> unwritten() const { return shadow_.unwritten(*bound_.program); }

 private:
  Watch* add_thread();

  const BoundLaunch& bound_;
  std::vector<Unwatched> unwatched_;  // by instruction
  GlobalShadow shadow_;               // shared by the threads, which take turns
  std::vector<std::unique_ptr<Watch>> threads_;
};

}  // namespace attnscope::emulator
