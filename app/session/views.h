#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/experiment.h"
#include "session/tile_cache.h"

namespace attnscope::session {

// The maps of runs: which have arrived, were requested or were refused, and which worker still has the output of which
// run. Pure. Hashes are the session's; a worker uses its own device id, which gives an experiment another hash.
class Views {
 public:
  static constexpr size_t kMostRefused = 64;  // a repeated request is refused again
  static constexpr size_t kMostRuns = 512;    // a worker keeps its last few

  // The window requests a map while the experiment with hash `running` runs (empty: nothing runs). Returns the worker
  // to ask; empty if there is nothing to send, because the map has arrived, was requested or refused before, or comes
  // with that run.
  Result<std::optional<size_t>> ask(const ViewRequest& request, const std::string& running);
  void refuse(const ViewRequest& request, Failure why);
  void over(const ViewRequest& request);  // answered, refused or dropped: it may be requested again
  void add(Tile tile) { tiles_.add(std::move(tile)); }

  // A run is sent to a worker. That worker can make its maps, and maps that were refused for an earlier run may be
  // requested again.
  void ran(const std::string& hash, size_t worker, std::string wire_hash);
  // The map requested last, to be sent along with a run. A head or row that the run does not have is replaced by the
  // first.
  std::optional<ViewRequest> first_of(const Experiment& experiment, const std::string& hash);
  ViewRequest on_wire(ViewRequest request) const;
  void forget(size_t worker);  // the worker is gone, and the outputs of its runs with it

  const std::map<std::string, Shared<Tile>>& tiles() const { return tiles_.view(); }
  const std::map<std::string, Failure>& refused() const { return refused_; }

 private:
  struct RanOn {
    size_t worker = 0;
    std::string wire_hash;
  };

  TileCache tiles_;
  std::optional<ViewRequest> last_;
  std::set<std::string> asked_;             // keys of requests that have no answer yet
  std::map<std::string, Failure> refused_;  // why a map was refused, by key
  std::map<std::string, RanOn> ran_on_;     // by the session's hash
};

}  // namespace attnscope::session
