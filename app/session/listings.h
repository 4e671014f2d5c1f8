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

// The key of a listing: the experiment's hash, with the launch's step if it was asked for one of a program's.
inline std::string listing_key(const std::string& experiment_hash, std::optional<int64_t> step) {
  return step ? experiment_hash + "/" + std::to_string(*step) : experiment_hash;
}

// The key of what a softmax holds of one row.
inline std::string listing_key(const std::string& experiment_hash, const SoftmaxRow& row) {
  return experiment_hash + "/softmax/" + std::to_string(row.batch) + "/" + std::to_string(row.head) + "/" +
         std::to_string(row.row);
}

// The key of a timeline.
inline std::string listing_key(const std::string& experiment_hash, const TimelineAsk& ask) {
  return experiment_hash + "/timeline/" + std::to_string(ask.sm) + "/" + std::to_string(ask.from) + "/" +
         std::to_string(ask.to) + (ask.step ? "/" + std::to_string(*ask.step) : "");
}

// The code of experiments, by listing_key(): what has arrived, was requested or was refused. Beyond kMost, the
// one that arrived first is dropped. Pure.
class Listings {
 public:
  static constexpr size_t kMost = 8, kMostRefused = 64;

  // Whether there is something to send: it has not arrived, was not requested and not refused.
  bool ask(const std::string& hash) {
    return !all_.contains(hash) && !refused_.contains(hash) && asked_.insert(hash).second;
  }
  void add(Listing listing);
  void refuse(const std::string& hash, Failure why);
  void over(const std::string& hash) { asked_.erase(hash); }  // answered or dropped: it may be requested again
  // More is known of the experiment now, as after its watch: what was refused may be asked for again.
  void reconsider(const std::string& hash);
  // The experiment runs: what is here does not have its counts.
  void ran(const std::string& hash);

  const std::map<std::string, Shared<Listing>>& all() const { return all_; }
  const std::map<std::string, Failure>& refused() const { return refused_; }

 private:
  std::map<std::string, Shared<Listing>> all_;
  std::map<std::string, Failure> refused_;
  std::set<std::string> asked_;
  std::deque<std::string> arrived_;  // hashes of all_, oldest first
};

}  // namespace attnscope::session
