#pragma once
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/scan.h"
#include "protocol/message.h"
#include "session/lanes.h"
#include "session/resolve.h"
#include "session/scan_sites.h"
#include "session/session.h"

namespace attnscope::session {

// The points of a scan, before any runs: each value of its knobs, or each of its configs, with what the manifest and
// the limits say of it. A known run of the same experiment is its point's. Failure: an unknown knob, or none. Where the
// request sets a config, that is the only point.
Scan plan_scan(const ScanRequest& request, const Kernel& kernel, const Experiment& held, const DeviceSpec& spec);

// Scans, one after the other, those that stay last, one value at a time; where workers share a scan, one at a time on
// each. A config whose machine code and launch were timed before in the same scan is not timed again. Pure.
class ScanLane {
 public:
  static constexpr size_t kMostKept = 16;     // scans of knobs, and as many of configs
  static constexpr double kHopeless = 1.2;    // of the upper end of the fastest correct one's interval
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
    protocol::Among among;  // experiments by the worker's name of the device
  };
  // The next value to run; empty: every scan is over, or what may run does. A shared scan asks `look` for its places;
  // if none of them will ever run anything, the scan fails.
  std::optional<Step> next(const LookAt& look = {});
  void started(JobId job);  // the last step
  bool is(JobId job) const { return std::ranges::count(running_, job, &Running::job) > 0; }
  // It is sent, perhaps once more: what came before does not count.
  void restart(JobId job);
  void take_part(const protocol::Part& part);  // without effect on what is not its job's
  void finish(JobId job, std::optional<Failure> failure, const std::string& worker, const Versions& versions);
  // That worker went away. True: it had a value of a shared scan, and its job is none any more. Another worker gets the
  // value; one that two workers were lost with fails.
  bool worker_went(size_t worker, const std::string& name, const std::string& why);

  // The experiment that is wanted now: scans that are not over, do not stay and do not hold for it end. True: one ran.
  bool keep_for(const Draft& wanted);
  // That scan ends with what has ended, or is forgotten where it is held. True: it ran.
  bool end_early(uint64_t id);
  const std::vector<Shared<Scan>>& view() const { return view_; }

 private:
  struct Entry {
    Scan scan;
    Shared<Kernel> kernel;
    ScanSites sites;
    bool watch = false;
    bool discards = false;
    bool stays = false;
    std::vector<std::string> keys;  // of each point: all that its machine code is given
  };

  struct Running {
    JobId job = 0;
    ScanSites::Taken taken;  // of the entry that runs
    Observation own;
  };

  Running* find(JobId job);
  void insert(Entry entry);
  Experiment experiment_of(const Entry& entry, size_t point) const;
  protocol::Among among(const Entry& entry, const ScanSites::Taken& taken) const;
  void end(Running running, std::optional<Failure> failure, const Versions& versions);
  void publish();
  void publish_entry();  // only what runs has changed

  std::vector<ScanRequest> held_;
  std::vector<Entry> entries_;
  std::vector<Shared<Scan>> view_;  // of each entry
  size_t entry_ = 0;                // what runs is of it
  std::vector<Running> running_;
  std::optional<Running> next_;  // chosen, and not started
};

}  // namespace attnscope::session
