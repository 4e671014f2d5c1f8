#pragma once
#include <set>

#include "core/experiment.h"
#include "core/observation.h"

namespace attnscope::session {

// How many CTAs the values of a scan run, if an emulated attention is scanned. The model follows a few CTAs, so its
// time is the same, and every row that they write is checked. A value whose sample leaves a doubt runs again with all
// CTAs.
class ScanSample {
 public:
  // Of 4·B·H·Sq·Sk·D, what a value runs at most: a tenth of the mission shape. A problem over the others is left as it
  // is: its run, or the rows that have a reference, may be a sample anyway.
  static constexpr double kFlops = 5e7, kMostFlops = 1.5e9;
  static constexpr int64_t kMostElements = 1 << 23;  // of the output

  ScanSample() = default;  // every value runs what the experiment says
  explicit ScanSample(const Problem& problem);

  // Of a point's CTAs; `asked` is the experiment's share. In (0, 1].
  double share_of(size_t point, double asked) const;
  // True if that run of a point leaves a doubt: its output is not correct, or the CTAs did not each write an equal part
  // of the rows, so that those which did not run may leave rows unwritten. The point's share is then the experiment's.
  bool doubts(size_t point, const Observation& run);

 private:
  double share_ = 1;
  std::set<size_t> whole_;  // points
};

}  // namespace attnscope::session
