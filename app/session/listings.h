#pragma once
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/listing.h"
#include "core/result.h"
#include "session/shared.h"

namespace attnscope::session {

// The key of a listing: the experiment's hash, and the launch's step if the request names one of a program's launches.
inline std::string listing_key(const std::string& experiment_hash, std::optional<int64_t> step) {
  return step ? experiment_hash + "/" + std::to_string(*step) : experiment_hash;
}

// The key of the softmax steps of one row.
inline std::string listing_key(const std::string& experiment_hash, const SoftmaxRow& row) {
  return experiment_hash + "/softmax/" + std::to_string(row.batch) + "/" + std::to_string(row.head) + "/" +
         std::to_string(row.row);
}

// What the keys of an experiment's measured timelines begin with.
inline std::string clocks_key(const std::string& experiment_hash) { return experiment_hash + "/timeline/clocks/"; }

// The key of a timeline.
inline std::string listing_key(const std::string& experiment_hash, const TimelineAsk& ask) {
  return (ask.measured ? clocks_key(experiment_hash) : experiment_hash + "/timeline/") + std::to_string(ask.sm) + "/" +
         std::to_string(ask.from) + "/" + std::to_string(ask.to) + (ask.step ? "/" + std::to_string(*ask.step) : "");
}

// The code of experiments by listing_key(): which listings have arrived, were requested or were refused. Holds at most
// kMost and drops the one that arrived first. Pure.
class Listings {
 public:
  static constexpr size_t kMost = 12, kMostRefused = 64;  // all that a window shows at once, of B and of A

  // Returns true if the listing must be requested: it has not arrived and was neither requested nor refused.
  bool ask(const std::string& hash) {
    return !all_.contains(hash) && !refused_.contains(hash) && asked_.insert(hash).second;
  }
  void add(Listing listing);
  void refuse(const std::string& hash, Failure why);
  void over(const std::string& hash) { asked_.erase(hash); }  // answered or dropped: it may be requested again
  // Forgets a refusal, because more is known of the experiment now (after its watch, for example).
  void reconsider(const std::string& hash);
  // The experiment runs: drops its listings that lack the new run's counts, and the clocks of the run before.
  void ran(const std::string& hash);

  const std::map<std::string, Shared<Listing>>& all() const { return all_; }
  const std::map<std::string, Failure>& refused() const { return refused_; }

 private:
  std::map<std::string, Shared<Listing>> all_;
  std::map<std::string, Failure> refused_;
  std::set<std::string> asked_;
  std::deque<std::string> arrived_;  // keys of all_, oldest first
};

}  // namespace attnscope::session
