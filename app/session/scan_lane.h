#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/scan.h"
#include "protocol/message.h"
#include "session/lanes.h"
#include "session/resolve.h"
#include "session/session.h"

namespace attnscope::session {

// The points of a scan, before any runs: each value of its knobs, or each of its configs, with what the manifest and
// the limits say of it. A known run of the same experiment is its point's. Failure: an unknown knob, or none. Where the
// request sets a config, that is the only point.
Scan plan_scan(const ScanRequest& request, const Kernel& kernel, const Experiment& held, const DeviceSpec& spec);

// Scans, one after the other, one value at a time. A config whose machine code and launch were timed before in the same
// scan is not timed again. Pure.
class ScanLane {
 public:
  static constexpr size_t kMostKept = 16;     // scans of knobs, and as many of configs
  static constexpr size_t kMostAhead = 4;     // values that are compiled while one runs
  static constexpr double kHopeless = 1.5;    // of the upper end of the fastest correct one's interval
  static constexpr size_t kMostCodes = 4096;  // that a request names; a code that it does not name may run twice

  // Until a worker says which devices it has.
  void hold(ScanRequest request) { held_.push_back(std::move(request)); }
  std::vector<ScanRequest> release() { return std::exchange(held_, {}); }

  void add(const ScanRequest& request, const Resolution& resolution);
  // A scan that could not be planned.
  void refuse(const ScanRequest& request, const Resolution& resolution);

  struct Step {
    Experiment experiment;
    DeviceTable::Place place;
    bool watch = false;
  };
  // The next value to run; empty: every scan is over, or one runs.
  std::optional<Step> next();
  void started(JobId job) { job_ = job; }
  bool is(JobId job) const { return job_ != 0 && job_ == job; }
  // Of the value that runs, with experiments by the worker's name of the device.
  protocol::Among among(const std::string& device) const;
  // It is sent, perhaps once more: what came before does not count.
  void restart();
  void take_part(const protocol::Part& part);  // without effect on what is not its job's
  void finish(std::optional<Failure> failure, const std::string& worker, const Versions& versions);

  // The experiment that is wanted now: scans that are not over and do not hold for it end. True: one ran.
  bool keep_for(const Draft& wanted);
  const std::vector<Shared<Scan>>& view() const { return view_; }

 private:
  struct Entry {
    Scan scan;
    Shared<Kernel> kernel;
    DeviceTable::Place place;
    bool watch = false;
    bool discards = false;
    std::vector<std::string> keys;  // of each point: all that its machine code is given
  };

  Experiment experiment_of(const Entry& entry, size_t point) const;
  void publish();
  void publish_entry();  // only what runs has changed

  std::vector<ScanRequest> held_;
  std::vector<Entry> entries_;
  std::vector<Shared<Scan>> view_;  // of each entry
  size_t entry_ = 0, point_ = 0;    // what runs
  JobId job_ = 0;                   // 0: none
  Observation own_;
};

}  // namespace attnscope::session
