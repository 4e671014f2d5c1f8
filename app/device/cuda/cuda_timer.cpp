#include "device/cuda/cuda_timer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "device/cuda/tensors.h"
#include "device/parameters.h"
#include "platform/clock.h"

namespace attnscope::device {
namespace {

using namespace cuda_api;

constexpr double kGraphUs = 1000;  // least kernel time in one hot graph
constexpr int64_t kMostNodes = 4000;
constexpr double kColdGraphUs = 3000;  // approximate time of kernels and flushes in one cold graph
constexpr int64_t kMostCold = 32;
constexpr int kEmptyOfRound = 4;  // times that the empty kernel is timed in a round
constexpr double kWarmMs = 5;
constexpr size_t kSpacerBytes = size_t{320} << 10;  // unit of the spacer between two rounds' buffers, times 1 to 13
constexpr double kAllEveryMs = 50;                  // power and temperature are slow to read and change slowly

// The sizes repeat after 13 rounds, because 5 and 13 have no common factor, and neighbouring rounds differ greatly.
size_t spacer_bytes(size_t round) { return kSpacerBytes * (1 + round * 5 % 13); }

// Two events around the timed work.
class EventPair {
 public:
  explicit EventPair(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  EventPair(EventPair&& other) noexcept
      : gpu_(std::move(other.gpu_)),
        from_(std::exchange(other.from_, nullptr)),
        to_(std::exchange(other.to_, nullptr)) {}
  ~EventPair() {
    if (!gpu_ || gpu_->lost()) return;
    for (Event event : {from_, to_})
      if (event != nullptr) gpu_->calls().event_destroy(event);
  }
  Result<void> create() {
    for (Event* event : {&from_, &to_})
      if (auto done = gpu_->check(gpu_->calls().event_create(event, 0), "cuEventCreate"); !done) return done;
    return {};
  }
  Event from() const { return from_; }
  Event to() const { return to_; }
  Result<double> elapsed_us() const {
    float ms = 0;
    if (auto done = gpu_->check(gpu_->calls().event_elapsed(&ms, from_, to_), "cuEventElapsedTime"); !done)
      return fail(done.error());
    return 1e3 * static_cast<double>(ms);
  }

 private:
  std::shared_ptr<Gpu> gpu_;
  Event from_ = nullptr, to_ = nullptr;
};

// A graph captured from the work that `record` queues on the stream; events become nodes.
class CapturedGraph {
 public:
  static Result<CapturedGraph> capture(std::shared_ptr<Gpu> gpu, const std::function<Result<void>()>& record) {
    constexpr int relaxed = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED: other threads may load modules meanwhile
    const DriverCalls& calls = gpu->calls();
    if (auto begun = gpu->check(calls.stream_begin_capture(gpu->stream(), relaxed), "cuStreamBeginCapture"); !begun)
      return fail(begun.error());
    const Result<void> recorded = record();
    Graph graph = nullptr;
    auto ended = gpu->check(calls.stream_end_capture(gpu->stream(), &graph), "cuStreamEndCapture");
    CapturedGraph captured(gpu);
    if (recorded && ended)
      ended = gpu->check(calls.graph_instantiate(&captured.ready_, graph, 0), "cuGraphInstantiate");
    if (graph != nullptr) calls.graph_destroy(graph);
    if (!recorded) return fail(recorded.error());
    if (!ended) return fail(ended.error());
    return captured;
  }
  CapturedGraph(CapturedGraph&& other) noexcept
      : gpu_(std::move(other.gpu_)), ready_(std::exchange(other.ready_, nullptr)) {}
  CapturedGraph& operator=(CapturedGraph&& other) noexcept {
    std::swap(gpu_, other.gpu_);
    std::swap(ready_, other.ready_);
    return *this;
  }
  ~CapturedGraph() {
    if (ready_ != nullptr && !gpu_->lost()) gpu_->calls().graph_exec_destroy(ready_);
  }
  int launch() const { return gpu_->calls().graph_launch(ready_, gpu_->stream()); }

 private:
  explicit CapturedGraph(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  std::shared_ptr<Gpu> gpu_;
  GraphExec ready_ = nullptr;
};

// Shared by hot and cold timing: the buffers of a round, launching, waiting, the meter.
class CudaTimer : public measure::Source {
 public:
  explicit CudaTimer(CudaTimerParts parts) : parts_(std::move(parts)) {}
  Result<void> begin_round() override;
  measure::Conditions conditions() override { return parts_.meter.read(); }

 protected:
  virtual void drop() = 0;  // drops the captured graph before its code and buffers are freed
  // Called when this round's buffers are in place and the GPU is warm. `us` is the approximate time of a launch.
  virtual Result<void> prepare(double us) = 0;
  Result<void> launch_kernel();
  Result<void> run(const CapturedGraph& graph);
  Result<void> wait();
  Result<void> record(Event event, bool as_node);
  const std::shared_ptr<Gpu>& gpu() const { return parts_.kernels->gpu(); }

  CudaTimerParts parts_;

 private:
  Result<double> rough_us();

  size_t round_ = 0;
  std::shared_ptr<const GpuProgram> program_;
  GpuMemory spacer_;
  std::unique_ptr<GpuTensors> tensors_;
  std::unique_ptr<GpuWork> work_;
};

Result<void> CudaTimer::begin_round() {
  if (auto entered = gpu()->enter(); !entered) return entered;
  drop();
  // The old code and buffers are freed only after the new ones exist, so that the new ones get other addresses. A
  // spacer of another size each round moves them further. Otherwise every run of the program would keep the placement
  // that it happens to get.
  auto program = parts_.program->once_more();
  if (!program) return fail(program.error());
  work_.reset();
  program_ = std::move(*program);
  auto spacer = GpuMemory::make(gpu(), spacer_bytes(round_++));
  if (spacer) spacer_ = std::move(*spacer);
  auto arguments = arguments_of(parts_.request);
  if (!arguments) return fail(arguments.error());
  auto tensors = make_tensors(*parts_.kernels, parts_.request);
  if (!tensors) {
    // If there is no memory for a second set of buffers, this round uses the old set at its old addresses.
    if (tensors.error().stage != Stage::limits || !tensors_) return fail(tensors.error());
  } else {
    tensors_ = std::move(*tensors);
  }
  auto work = program_->bind(parts_.request, *arguments, tensors_->addresses());
  if (!work) return fail(work.error());
  work_ = std::move(*work);
  auto us = rough_us();
  if (!us) return fail(us.error());
  return prepare(*us);
}

Result<void> CudaTimer::launch_kernel() { return work_->launch(); }

Result<void> CudaTimer::run(const CapturedGraph& graph) {
  if (const int code = graph.launch(); code != 0) return gpu()->kernel_failure(code, parts_.request.name);
  return wait();
}

Result<void> CudaTimer::wait() {
  if (const int code = gpu()->wait(); code != 0) return gpu()->kernel_failure(code, parts_.request.name);
  if (parts_.on_launch) parts_.on_launch();
  return {};
}

Result<void> CudaTimer::record(Event event, bool as_node) {
  constexpr unsigned external = 1;  // CU_EVENT_RECORD_EXTERNAL: an event node of the captured graph
  return gpu()->check(gpu()->calls().event_record(event, gpu()->stream(), as_node ? external : 0), "cuEventRecord");
}

// Launches for some milliseconds to raise the clock. Returns the time of a launch, measured on the last ones.
Result<double> CudaTimer::rough_us() {
  EventPair pair(gpu());
  if (auto done = pair.create(); !done) return fail(done.error());
  const double begun = platform::steady_ms();
  int launches = 1;
  while (true) {
    if (auto done = record(pair.from(), false); !done) return fail(done.error());
    for (int i = 0; i < launches; ++i)
      if (auto done = launch_kernel(); !done) return fail(done.error());
    if (auto done = record(pair.to(), false); !done) return fail(done.error());
    if (auto done = wait(); !done) return fail(done.error());
    auto us = pair.elapsed_us();
    if (!us) return us;
    if (platform::steady_ms() - begun >= kWarmMs) return *us / launches;
    launches = std::min(launches * 2, 64);
  }
}

class HotTimer final : public CudaTimer {
 public:
  using CudaTimer::CudaTimer;
  Result<std::vector<double>> take() override {
    if (auto done = run(*graph_); !done) return fail(done.error());
    auto us = pair_->elapsed_us();
    if (!us) return fail(us.error());
    return std::vector<double>{*us / static_cast<double>(nodes_)};
  }

 private:
  void drop() override { graph_.reset(); }
  Result<void> prepare(double us) override {
    nodes_ = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(1.1 * kGraphUs / us)), 1, kMostNodes);
    pair_.emplace(gpu());
    if (auto done = pair_->create(); !done) return done;
    auto graph = CapturedGraph::capture(gpu(), [this]() -> Result<void> {
      if (auto done = record(pair_->from(), true); !done) return done;
      for (int64_t i = 0; i < nodes_; ++i)
        if (auto done = launch_kernel(); !done) return done;
      return record(pair_->to(), true);
    });
    if (!graph) return fail(graph.error());
    graph_.emplace(std::move(*graph));
    return run(*graph_);  // a graph's first launch uploads it
  }

  int64_t nodes_ = 1;
  std::optional<EventPair> pair_;
  std::optional<CapturedGraph> graph_;
};

// Repeats: writes the whole flush buffer, records an event, runs the kernel, records an event.
class ColdTimer final : public CudaTimer {
 public:
  using CudaTimer::CudaTimer;
  Result<std::vector<double>> take() override { return repetitions(*graph_, pairs_); }
  std::optional<double> empty_us() const override {
    if (empty_.empty()) return std::nullopt;
    std::vector<double> sorted = empty_;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }

 private:
  void drop() override { graph_.reset(); }
  Result<void> prepare(double us) override;
  Result<CapturedGraph> graph_of(std::vector<EventPair>& pairs, size_t count,
                                 const std::function<Result<void>()>& launch);
  Result<std::vector<double>> repetitions(const CapturedGraph& graph, const std::vector<EventPair>& pairs);

  GpuMemory flush_;
  std::vector<EventPair> pairs_;
  std::optional<CapturedGraph> graph_;
  std::vector<double> empty_;
};

Result<CapturedGraph> ColdTimer::graph_of(std::vector<EventPair>& pairs, size_t count,
                                          const std::function<Result<void>()>& launch) {
  pairs.clear();
  for (size_t i = 0; i < count; ++i)
    if (auto done = pairs.emplace_back(gpu()).create(); !done) return fail(done.error());
  return CapturedGraph::capture(gpu(), [&]() -> Result<void> {
    for (const EventPair& pair : pairs) {
      const int code = gpu()->calls().memory_set(flush_.at(), 0, flush_.bytes(), gpu()->stream());
      if (auto done = gpu()->check(code, "cuMemsetD8Async"); !done) return done;
      if (auto done = record(pair.from(), true); !done) return done;
      if (auto done = launch(); !done) return done;
      if (auto done = record(pair.to(), true); !done) return done;
    }
    return {};
  });
}

Result<std::vector<double>> ColdTimer::repetitions(const CapturedGraph& graph, const std::vector<EventPair>& pairs) {
  if (auto done = run(graph); !done) return fail(done.error());
  std::vector<double> all;
  for (const EventPair& pair : pairs) {
    auto us = pair.elapsed_us();
    if (!us) return fail(us.error());
    all.push_back(*us);
  }
  return all;
}

Result<void> ColdTimer::prepare(double us) {
  const size_t flush_bytes = 2 * parts_.l2_bytes;
  if (flush_.bytes() < flush_bytes) {
    auto flush = GpuMemory::make(gpu(), flush_bytes);
    if (!flush) return fail(flush.error());
    flush_ = std::move(*flush);
  }
  // Writing twice the L2 takes about 50 us on any current GPU.
  const auto count =
      static_cast<size_t>(std::clamp<int64_t>(static_cast<int64_t>(kColdGraphUs / (us + 50)), 1, kMostCold));
  auto graph = graph_of(pairs_, count, [this] { return launch_kernel(); });
  if (!graph) return fail(graph.error());
  graph_.emplace(std::move(*graph));
  if (auto done = run(*graph_); !done) return done;

  std::vector<EventPair> pairs;
  std::vector<std::byte> none(parts_.empty->info().parameter_bytes);
  auto empty = graph_of(pairs, kEmptyOfRound, [&]() -> Result<void> {
    return gpu()->check(parts_.empty->launch(parts_.request.shape, 0, none), "cuLaunchKernelEx(empty)");
  });
  if (!empty) return fail(empty.error());
  auto times = repetitions(*empty, pairs);
  if (!times) return fail(times.error());
  empty_.insert(empty_.end(), times->begin(), times->end());
  return {};
}

}  // namespace

measure::Conditions GpuMeter::read() {
  measure::Conditions conditions;
  if (!nvml_) return conditions;
  const double now = platform::steady_ms();
  const bool all = now - last_all_ms_ >= kAllEveryMs;
  if (all) last_all_ms_ = now;
  const GpuState state = nvml_->state(gpu_, all);
  conditions.clock_mhz = state.clock_mhz;
  conditions.power_w = state.power_w;
  conditions.power_limit_w = state.power_limit_w;
  conditions.temperature_c = state.temperature_c;
  conditions.slowed = state.reasons & (kReasonHardware | kReasonThermal | kReasonHardwareThermal | kReasonPowerBrake);
  conditions.reasons = reason_words(state.reasons);
  return conditions;
}

Result<std::unique_ptr<measure::Source>> make_cuda_timer(CudaTimerParts parts) {
  if (parts.empty) return std::unique_ptr<measure::Source>(new ColdTimer(std::move(parts)));
  return std::unique_ptr<measure::Source>(new HotTimer(std::move(parts)));
}

}  // namespace attnscope::device
