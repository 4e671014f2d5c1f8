#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/observation.h"
#include "platform/process.h"
#include "protocol/frame.h"
#include "protocol/message.h"

namespace attnscope::testing_support {

// Everything that arrived for one request.
struct Answer {
  Observation observation;
  std::vector<protocol::Progress> progress;
  std::vector<Tile> tiles;
  int partial_counters = 0;  // counters that streamed before the final ones
  int needs = 0;
  int times_done = 0;
  std::optional<Failure> failure;
  bool done() const { return times_done > 0; }
};

// A worker's client that does everything on the test's own thread. A wait of more than a minute fails the test.
class WorkerClient {
 public:
  WorkerClient(int to_worker, int from_worker);                 // takes both descriptors
  explicit WorkerClient(const platform::ChildProcess& worker);  // and waits for its end when destroyed
  ~WorkerClient();
  WorkerClient(const WorkerClient&) = delete;
  WorkerClient& operator=(const WorkerClient&) = delete;

  void offer(const Kernel& kernel);              // answers Need from it
  protocol::Id send(protocol::Request request);  // gives it the next id
  protocol::Id run(const Experiment& experiment, protocol::Deadlines deadlines = {},
                   std::optional<ViewRequest> view = {});
  void cancel(protocol::Id target);

  const Answer& answer(protocol::Id id) { return answers_[id]; }
  const Answer& wait(protocol::Id id);  // until the request is done
  Answer run_and_wait(const Experiment& experiment, protocol::Deadlines deadlines = {},
                      std::optional<ViewRequest> view = {});
  void wait_until(const std::function<bool()>& holds);  // and handles what arrives meanwhile
  protocol::HelloReply hello();
  bool over() const { return over_; }  // the worker closed its output
  void close_input();

  int pid() const { return pid_; }
  std::vector<protocol::Log> logs;
  std::vector<protocol::Heartbeat> heartbeats;
  std::string version;  // of the banner

 private:
  bool handle_some(std::chrono::milliseconds patience);
  void handle(const protocol::Reply& reply);
  void write_all(std::span<const std::byte> frame);

  int to_, from_;
  int pid_ = -1;
  protocol::BannerSkipper banner_;
  protocol::FrameDecoder decoder_;
  protocol::Id last_id_ = 0;
  std::map<protocol::Id, Answer> answers_;
  std::map<protocol::Id, protocol::HelloReply> hellos_;
  std::map<std::string, protocol::KernelContent> kernels_;
  bool over_ = false;
};

// The processes whose parent is `parent`, from /proc.
std::vector<int> children_of(int parent);

// The descendants at any depth.
std::vector<int> descendants_of(int ancestor);

// A kernel of the source tree, and an experiment with its default config.
Kernel shipped_kernel(const std::string& manifest);
Experiment experiment_of(const Kernel& kernel, const std::map<std::string, int64_t>& knobs = {});

}  // namespace attnscope::testing_support
