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
#include "session/scan_sample.h"
#include "session/scan_sites.h"
#include "session/screening.h"
#include "session/session.h"

namespace attnscope::session {

// Lists the points of a scan before any of them runs: each value of its knobs or each of its configs, with the
// manifest's and the limits' verdict on it. A known run of a point's experiment becomes its observation. If the request
// sets a config, that config is the only point. Sets Scan::failure if a knob is unknown or there are no knobs.
Scan plan_scan(const ScanRequest& request, const Kernel& kernel, const Experiment& held, const DeviceSpec& spec);

// Runs scans one after the other, a point at a time, those with `stays` last. If workers share a scan, each runs one
// point at a time. A config whose machine code and launch were timed earlier in the scan is not timed again. A sweep on
// a GPU begins with a screening. Pure.
class ScanLane {
 public:
  static constexpr size_t kMostKept = 16;     // scans of knobs, and as many of configs
  static constexpr double kHopeless = 1.2;    // of the upper end of the fastest correct one's interval
  static constexpr size_t kMostCodes = 4096;  // that a request names; a code that it does not name may run twice

  // Keeps the request until a worker reports its devices.
  void hold(ScanRequest request) { held_.push_back(std::move(request)); }
  std::vector<ScanRequest> release() { return std::exchange(held_, {}); }

  void add(const ScanRequest& request, const Resolution& resolution);
  // Adds a scan that could not be planned, with its failure.
  void refuse(const ScanRequest& request, const Resolution& resolution);

  struct Step {
    Experiment experiment;
    DeviceTable::Place place;
    bool watch = false;
    protocol::Among among;  // experiments with the worker's own device id
  };
  // The next point to run. Empty if every scan is over or the free places have nothing to run. A shared scan asks
  // `look` about its places; if none of them can ever run a point, the scan fails.
  std::optional<Step> next(const LookAt& look = {});
  void started(JobId job);  // the last next() was sent as this job
  bool is(JobId job) const { return std::ranges::count(running_, job, &Running::job) > 0; }
  // The job is sent, perhaps again: drops the parts received so far.
  void restart(JobId job);
  void take_part(const protocol::Part& part);  // ignores parts of other jobs
  void finish(JobId job, std::optional<Failure> failure, const std::string& worker, const Versions& versions);
  // That worker went away. Returns true if it was running a point of a shared scan: its job is cleared and another
  // worker gets the point. A point that two workers went away with fails.
  bool worker_went(size_t worker, const std::string& name, const std::string& why);

  // Ends unfinished scans that do not match the wanted experiment, except those that stay. Returns true if one was
  // running.
  bool keep_for(const Draft& wanted);
  // Ends that scan with the points that have finished, or drops it if it is still held. Returns true if it was running.
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
    std::vector<std::string> keys;  // for each point, its launch_key()
    Screening screening = {};
    ScanSample sample = {};
  };

  struct Running {
    JobId job = 0;
    ScanSites::Taken taken;  // in the running entry
    Observation own;
    bool brief = false;  // it is timed only to see whether it comes near the fastest
  };

  Running* find(JobId job);
  void insert(Entry entry);
  Experiment experiment_of(const Entry& entry, size_t point) const;
  protocol::Among among(const Entry& entry, const ScanSites::Taken& taken) const;
  void settle(Entry& entry);  // ends the screening: what is not near the fastest has its time
  void end(Running running, std::optional<Failure> failure, const Versions& versions);
  static Shared<Scan> published(const Entry& entry);
  void publish();
  void publish_entry();  // publishes only the running entry

  std::vector<ScanRequest> held_;
  std::vector<Entry> entries_;
  std::vector<Shared<Scan>> view_;  // for each entry
  size_t entry_ = 0;                // index of the running entry
  std::vector<Running> running_;
  std::optional<Running> next_;  // chosen by next(), not started yet
};

}  // namespace attnscope::session
