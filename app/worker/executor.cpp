#include "worker/executor.h"

#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "catalog/catalog.h"
#include "emulator/isa/forms.h"
#include "platform/descriptor.h"
#include "platform/process.h"
#include "protocol/frame.h"
#include "protocol/message.h"
#include "worker/list_code.h"
#include "worker/pipeline.h"
#include "worker/shared_pixels.h"
#include "worker/softmax_run.h"
#include "worker/timeline_run.h"
#include "worker/view_desk.h"

namespace attnscope::worker {
namespace {

using protocol::Id;

constexpr int kLostContext = 5;  // exit status
constexpr auto kPing = std::chrono::milliseconds(250);

// The only output. Several threads send whole frames through it. If the supervisor is gone, the process exits.
class Output {
 public:
  explicit Output(int fd) : fd_(fd) {}
  void send(const protocol::Reply& reply) {
    auto frame = protocol::encode(reply);
    if (!frame) frame = protocol::encode(protocol::Log{Severity::error, frame.error().message});
    if (!frame) return;
    std::lock_guard lock(mutex_);
    if (platform::write_all(fd_, *frame) != 0) _exit(0);
  }

 private:
  int fd_;
  std::mutex mutex_;
};

struct Work {
  Id id = 0;
  Experiment experiment;
  int64_t compile_ms = 0;  // the deadline for compiling
  std::optional<ViewRequest> first_view;
  Stages stages;
  bool code = false;  // list the code instead of running it
  std::optional<protocol::Among> among = {};
  std::optional<int64_t> step = {};          // list the program's launch with this step number
  std::optional<SoftmaxRow> softmax = {};    // read what the code holds of this row
  std::optional<TimelineAsk> timeline = {};  // show the SMs over time
  std::shared_ptr<std::atomic<bool>> cancel = std::make_shared<std::atomic<bool>>(false);
};

Request request_of(const Work& work, Kernel kernel) {
  Request request;
  request.experiment = work.experiment;
  request.kernel = std::move(kernel);
  request.compile_ms = work.compile_ms;
  request.cancel = work.cancel.get();
  return request;
}

class RequestSink final : public Sink {
 public:
  RequestSink(Output& output, Id id) : output_(output), id_(id) {}
  void part(std::vector<protocol::PartValue> values, bool final) override {
    output_.send(protocol::Part{id_, std::move(values), final});
  }
  void tile(Tile tile) override { output_.send(protocol::TileMessage{id_, std::move(tile)}); }
  void progress(protocol::Step step, int64_t done, int64_t total) override {
    output_.send(protocol::Progress{id_, step, done, total});
  }

 private:
  Output& output_;
  Id id_;
};

class Executor {
 public:
  Executor(int fd_in, int fd_out, ExecutorOptions options)
      : fd_in_(fd_in),
        output_(fd_out),
        services_(options.version, options.cache, options.assets, std::move(options.devices), options.purpose) {}

  [[noreturn]] void serve() {
    std::thread([this] { ping(); }).detach();
    greet();
    std::thread([this] { read_requests(); }).detach();
    for (;;) run(next());
  }

 private:
  void greet();
  [[noreturn]] void ping();
  [[noreturn]] void read_requests();
  void answer_greeting();
  void accept(const protocol::Request& request);
  Work next();
  void run(const Work& work);
  Result<void> execute(const Work& work);
  Result<void> answer_softmax(const Work& work, Kernel kernel);
  Result<void> answer_timeline(const Work& work, Kernel kernel);
  Result<SmTimeline> clocked(const Work& work, Kernel kernel);
  Result<Kernel> kernel_of(const Experiment& experiment);

  int fd_in_;
  Output output_;
  Services services_;
  SharedPixels pixels_;  // used only by the view desk's thread
  ViewDesk views_{[this](const ViewRequest& request) {
                    auto tile = services_.kept.view(request);
                    if (tile) pixels_.deliver(*tile);
                    return tile;
                  },
                  [this](Id id, Result<Tile> tile) {
                    if (tile) output_.send(protocol::TileMessage{id, std::move(*tile)});
                    output_.send(protocol::Done{id, tile ? std::nullopt : std::optional(tile.error())});
                  }};
  std::mutex mutex_;  // guards the members below
  std::condition_variable arrived_;
  std::deque<Work> waiting_;
  std::optional<std::pair<Id, std::shared_ptr<std::atomic<bool>>>> running_;
  std::optional<protocol::KernelContent> kernel_;  // sent by the supervisor before each request
};

// Also opens the compiler's library and reads the list of opcode forms, so that the first request finds them warm.
void Executor::greet() {
  services_.pool.leave([] { static_cast<void>(emulator::find_form("")); });
  protocol::HelloReply hello;
  hello.versions = services_.versions();
  for (const auto& device : services_.devices) hello.devices.push_back(device->spec());
  hello.pid = getpid();
  output_.send(hello);
  for (const Failure& failure : services_.device_failures)
    output_.send(protocol::Log{Severity::warning, failure.message});
}

void Executor::ping() {
  for (;;) {
    output_.send(protocol::Heartbeat{});
    std::this_thread::sleep_for(kPing);
  }
}

void Executor::read_requests() {
  protocol::FrameDecoder decoder;
  std::vector<std::byte> buffer(size_t{256} << 10);
  for (;;) {
    const ssize_t got = read(fd_in_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) _exit(0);  // the supervisor is gone, so no answer is needed
    decoder.feed(std::span(buffer).first(static_cast<size_t>(got)));
    for (;;) {
      auto payload = decoder.next();
      if (!payload) _exit(2);
      if (!*payload) break;
      auto request = protocol::decode_request(**payload);
      if (request)
        accept(*request);
      else
        output_.send(protocol::Log{Severity::error, request.error().message});
    }
  }
}

// What the GPUs report, unless something runs: a reading must not disturb what may be timed.
void Executor::answer_greeting() {
  protocol::Heartbeat beat;
  {
    const std::lock_guard lock(mutex_);
    if (running_ || !waiting_.empty()) return;
  }
  for (const auto& device : services_.devices)
    if (auto reading = device->reading()) beat.gpus.push_back(std::move(*reading));
  output_.send(beat);
}

void Executor::accept(const protocol::Request& request) {
  if (std::holds_alternative<protocol::Hello>(request)) return answer_greeting();
  const std::lock_guard lock(mutex_);
  if (const auto* kernel = std::get_if<protocol::KernelContent>(&request)) {
    kernel_ = *kernel;
  } else if (const auto* run = std::get_if<protocol::Run>(&request)) {
    waiting_.push_back({run->id,
                        run->experiment,
                        run->deadlines.compile_ms,
                        run->first_view,
                        {.run = true,
                         .watch = run->watch,
                         .whole_grid = run->watch_all.value_or(false),
                         .needless = run->needless.value_or(false)},
                        false,
                        run->among});
    arrived_.notify_one();
  } else if (const auto* watch = std::get_if<protocol::Watch>(&request)) {
    waiting_.push_back({watch->id,
                        watch->experiment,
                        watch->deadlines.compile_ms,
                        std::nullopt,
                        {.run = false, .watch = true, .needless = true},
                        false});
    arrived_.notify_one();
  } else if (const auto* code = std::get_if<protocol::Code>(&request)) {
    waiting_.push_back({code->id,
                        code->experiment,
                        code->deadlines.compile_ms,
                        std::nullopt,
                        {},
                        true,
                        {},
                        code->step,
                        code->softmax,
                        code->timeline});
    arrived_.notify_one();
  } else if (const auto* cancel = std::get_if<protocol::Cancel>(&request)) {
    if (running_ && running_->first == cancel->target) *running_->second = true;
    for (Work& work : waiting_)
      if (work.id == cancel->target) *work.cancel = true;
  } else if (const auto* view = std::get_if<protocol::View>(&request)) {
    views_.ask(view->id, view->request);
  }
}

Work Executor::next() {
  std::unique_lock lock(mutex_);
  running_.reset();
  arrived_.wait(lock, [this] { return !waiting_.empty(); });
  Work work = std::move(waiting_.front());
  waiting_.pop_front();
  running_ = {work.id, work.cancel};
  return work;
}

void Executor::run(const Work& work) {
  const Result<void> done = execute(work);
  if (!done && !work.code && done.error().stage != Stage::cancelled)
    output_.send(protocol::Part{work.id, {done.error()}});
  output_.send(protocol::Done{work.id, done ? std::nullopt : std::optional(done.error())});
  // An illegal access makes the context unusable. The answer is sent, this process exits, and the spare takes over.
  if (services_.lost()) _exit(kLostContext);
}

Result<void> Executor::execute(const Work& work) {
  auto kernel = kernel_of(work.experiment);
  if (!kernel) return fail(kernel.error());
  if (work.softmax) return answer_softmax(work, std::move(*kernel));
  if (work.timeline) return answer_timeline(work, std::move(*kernel));
  if (work.code) {
    output_.send(protocol::Progress{work.id, protocol::Step::compiling, 0, 0});
    auto listing = list_code(services_, work.experiment, *kernel, work.step, work.compile_ms, *work.cancel);
    if (!listing) return fail(listing.error());
    output_.send(protocol::ListingMessage{work.id, std::move(*listing)});
    return {};
  }
  RequestSink sink(output_, work.id);
  Request request = request_of(work, std::move(*kernel));
  request.first_view = work.first_view;
  request.stages = work.stages;
  if (work.among) {
    request.keeps_output = false;  // no map of it is requested, and it would replace a run that is shown
    request.known_codes = work.among->known_codes;
    request.hopeless_us = work.among->hopeless_us.value_or(0);
    for (const Experiment& next : work.among->ahead)
      if (next.kernel_hash == work.experiment.kernel_hash) request.ahead.push_back(next);
  }
  return run_experiment(services_, request, sink);
}

Result<void> Executor::answer_softmax(const Work& work, Kernel kernel) {
  RequestSink sink(output_, work.id);
  Request request = request_of(work, std::move(kernel));
  request.stages = {.run = false};
  auto steps = step_softmax(services_, request, *work.softmax, sink);
  if (!steps) return fail(steps.error());
  Listing listing;
  listing.experiment_hash = hash_of(work.experiment);
  listing.softmax = std::move(*steps);
  output_.send(protocol::ListingMessage{work.id, std::move(listing)});
  return {};
}

Result<SmTimeline> Executor::clocked(const Work& work, Kernel kernel) {
  RequestSink sink(output_, work.id);
  return clocked_timeline(services_, request_of(work, std::move(kernel)), *work.timeline, sink);
}

Result<void> Executor::answer_timeline(const Work& work, Kernel kernel) {
  auto made = work.timeline->measured ? clocked(work, std::move(kernel))
                                      : timeline_of(services_, work.experiment, kernel, *work.timeline);
  if (!made) return fail(made.error());
  Listing listing;
  listing.experiment_hash = hash_of(work.experiment);
  listing.timeline = std::move(*made);
  output_.send(protocol::ListingMessage{work.id, std::move(listing)});
  return {};
}

Result<Kernel> Executor::kernel_of(const Experiment& experiment) {
  std::optional<protocol::KernelContent> content;
  {
    std::lock_guard lock(mutex_);
    content = kernel_;
  }
  if (!content || content->hash != experiment.kernel_hash)
    return fail(Stage::internal, experiment.kernel + ": the executor was not given this kernel's content",
                "Report this.");
  auto kernel =
      catalog::parse_kernel({content->manifest_name, content->manifest, content->source_name, content->source});
  if (!kernel) return kernel;
  if (kernel->id != experiment.kernel)
    return fail(Stage::input, "the experiment names the kernel " + experiment.kernel + ", its content is " + kernel->id,
                "Send the kernel that the experiment names.");
  return kernel;
}

}  // namespace

void run_executor(int fd_in, int fd_out, ExecutorOptions options) {
  platform::ignore_write_signals();
  // On the heap and never freed, because its threads run until the process ends.
  (new Executor(fd_in, fd_out, std::move(options)))->serve();
}

}  // namespace attnscope::worker
