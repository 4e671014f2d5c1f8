#pragma once
#include <utility>
#include <vector>

#include "worker/pipeline.h"

namespace attnscope::worker {

// Ignores every part.
class Quiet : public Sink {
 public:
  void part(std::vector<protocol::PartValue>, bool) override {}
  void tile(Tile) override {}
  void progress(protocol::Step, int64_t, int64_t) override {}
};

// Passes every part on and keeps those that later stages use.
class Recorder final : public Sink {
 public:
  Recorder(Sink& sink, const Experiment& experiment) : sink_(sink) { seen.experiment = experiment; }
  void part(std::vector<protocol::PartValue> values, bool final) override {
    protocol::Part part{0, std::move(values), final};
    apply_part(seen, part);
    sink_.part(std::move(part.values), final);
  }
  void tile(Tile tile) override { sink_.tile(std::move(tile)); }
  void progress(protocol::Step step, int64_t done, int64_t total) override { sink_.progress(step, done, total); }
  Observation seen;

 private:
  Sink& sink_;
};

}  // namespace attnscope::worker
