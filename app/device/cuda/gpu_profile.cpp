#include "device/cuda/gpu_profile.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/hardware_fields.h"
#include "device/cuda/cupti_failure.h"

namespace attnscope::device {
namespace {

using namespace cuda_api;

constexpr double kMostCount = 0x1p53;  // a double is exact only up to here
constexpr int64_t kMostPasses = 256;   // far more than any chip needs; a library whose passes never end is refused

// One profile: what CUPTI holds for it, given back at its end.
class Profile {
 public:
  Profile(Gpu& gpu, const CuptiCalls& calls) : gpu_(gpu), calls_(calls) {}
  ~Profile() {
    if (ranges_ != nullptr) {
      cupti::RangeOnly off{.ranges = ranges_};
      calls_.disable(&off);
    }
    if (host_ != nullptr) end_host(host_);
  }
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  Result<void> prepare();
  Result<void> run(const std::string& name, GpuWork& work, const std::function<void(int64_t, int64_t)>& on_pass);
  Result<HardwareCounters> read();

 private:
  Result<void> check(int code, const char* call) const;
  Result<cupti::HostObject*> host() const;
  void end_host(cupti::HostObject* host) const {
    cupti::HostDeinitialize end{.host = host};
    calls_.host_deinitialize(&end);
  }
  Result<void> choose_metrics();
  Result<void> schedule();
  Result<void> begin();
  Result<bool> pass(const std::string& name, GpuWork& work);
  std::optional<double> value_of(std::string_view metric) const;

  Gpu& gpu_;
  const CuptiCalls& calls_;
  std::string chip_;                  // "GH100"
  std::vector<const char*> metrics_;  // the metrics that the chip has; pointers into the rows
  std::vector<double> values_;        // in the order of metrics_
  cupti::HostObject* host_ = nullptr;
  cupti::RangeObject* ranges_ = nullptr;
  std::vector<uint8_t> config_, data_;
  int64_t total_passes_ = 0, passes_ = 0;
};

Result<void> Profile::check(int code, const char* call) const { return check_cupti(gpu_.id(), calls_, code, call); }

Result<cupti::HostObject*> Profile::host() const {
  cupti::HostInitialize made{.chip = chip_.c_str()};
  if (auto done = check(calls_.host_initialize(&made), "cuptiProfilerHostInitialize"); !done) return fail(done.error());
  return made.host;
}

// A chip lacks some metrics: each is tried by itself.
Result<void> Profile::choose_metrics() {
  auto trial = host();
  if (!trial) return fail(trial.error());
  const auto has = [&](std::string_view metric) {
    if (metric.empty()) return false;
    const char* name = metric.data();  // a literal
    cupti::AddMetrics one{.host = *trial, .names = &name, .count = 1};
    if (calls_.add_metrics(&one) != kCuptiSuccess) return false;
    metrics_.push_back(name);
    return true;
  };
  for_each_hardware_counter([&](const HardwareRow& row, auto) {
    if (!has(row.metric)) has(row.newer);
    has(row.added);
  });
  end_host(*trial);
  if (metrics_.empty())
    return fail(Stage::device, "CUPTI has none of attnscope's metrics for the chip " + chip_ + ".",
                "Use the CUPTI of a newer CUDA toolkit.");
  return {};
}

// Assigns the counters to passes.
Result<void> Profile::schedule() {
  auto made = host();
  if (!made) return fail(made.error());
  host_ = *made;
  cupti::AddMetrics all{.host = host_, .names = metrics_.data(), .count = metrics_.size()};
  if (auto done = check(calls_.add_metrics(&all), "cuptiProfilerHostConfigAddMetrics"); !done) return done;
  cupti::ConfigSize size{.host = host_};
  if (auto done = check(calls_.config_size(&size), "cuptiProfilerHostGetConfigImageSize"); !done) return done;
  config_.resize(size.bytes);
  cupti::ConfigImage image{.host = host_, .bytes = config_.size(), .image = config_.data()};
  if (auto done = check(calls_.config_image(&image), "cuptiProfilerHostGetConfigImage"); !done) return done;
  cupti::Passes passes{.bytes = config_.size(), .image = config_.data()};
  if (auto done = check(calls_.passes(&passes), "cuptiProfilerHostGetNumOfPasses"); !done) return done;
  total_passes_ = static_cast<int64_t>(passes.passes);
  return {};
}

Result<void> Profile::begin() {
  cupti::RangeEnable enable{.context = gpu_.context()};
  if (auto done = check(calls_.enable(&enable), "cuptiRangeProfilerEnable"); !done) return done;
  ranges_ = enable.ranges;
  cupti::DataSize size{.ranges = ranges_, .names = metrics_.data(), .count = metrics_.size()};
  if (auto done = check(calls_.data_size(&size), "cuptiRangeProfilerGetCounterDataSize"); !done) return done;
  data_.resize(size.bytes);
  cupti::DataInitialize empty{.ranges = ranges_, .bytes = data_.size(), .image = data_.data()};
  if (auto done = check(calls_.data_initialize(&empty), "cuptiRangeProfilerCounterDataImageInitialize"); !done)
    return done;
  cupti::RangeConfig config{.ranges = ranges_,
                            .config_bytes = config_.size(),
                            .config = config_.data(),
                            .data_bytes = data_.size(),
                            .data = data_.data()};
  return check(calls_.set_config(&config), "cuptiRangeProfilerSetConfig");
}

Result<void> Profile::prepare() {
  cupti::Initialize initialize;  // initialising again changes nothing
  if (auto done = check(calls_.initialize(&initialize), "cuptiProfilerInitialize"); !done) return done;
  if (auto done = ask_support(gpu_, calls_, cupti::kRangeProfiling, "has no hardware counters that CUPTI can read");
      !done)
    return done;
  cupti::ChipName chip{.device = static_cast<size_t>(gpu_.ordinal())};
  if (auto done = check(calls_.chip_name(&chip), "cuptiDeviceGetChipName"); !done) return done;
  chip_ = chip.name != nullptr ? chip.name : "";
  if (auto done = choose_metrics(); !done) return done;
  if (auto done = schedule(); !done) return done;
  return begin();
}

// One run under the counters; whether it was the last that they need. CUPTI's start leaves the SMs' caches of
// instructions cold: the first launch after it takes some 600 clocks longer (bench/results/cupti_h200.json), so one
// that is not counted comes first.
Result<bool> Profile::pass(const std::string& name, GpuWork& work) {
  cupti::RangeOnly only{.ranges = ranges_};
  if (auto done = check(calls_.start(&only), "cuptiRangeProfilerStart"); !done) return fail(done.error());
  if (auto launched = work.launch(); !launched) return fail(launched.error());
  if (const int code = gpu_.wait(); code != kCudaSuccess) return gpu_.kernel_failure(code, name);
  cupti::RangePush push{.ranges = ranges_, .name = "run"};
  if (auto done = check(calls_.push(&push), "cuptiRangeProfilerPushRange"); !done) return fail(done.error());
  if (auto launched = work.launch(); !launched) return fail(launched.error());
  if (const int code = gpu_.wait(); code != kCudaSuccess) return gpu_.kernel_failure(code, name);
  if (auto done = check(calls_.pop(&only), "cuptiRangeProfilerPopRange"); !done) return fail(done.error());
  cupti::RangeStop stop{.ranges = ranges_};
  if (auto done = check(calls_.stop(&stop), "cuptiRangeProfilerStop"); !done) return fail(done.error());
  return stop.all_passes != 0;
}

Result<void> Profile::run(const std::string& name, GpuWork& work,
                          const std::function<void(int64_t, int64_t)>& on_pass) {
  const auto tell = [&] {
    if (on_pass) on_pass(passes_, std::max(passes_, total_passes_));
  };
  tell();
  if (auto launched = work.launch(); !launched) return launched;
  if (const int code = gpu_.wait(); code != kCudaSuccess) return gpu_.kernel_failure(code, name);
  tell();
  for (bool last = false; !last;) {
    if (passes_ == kMostPasses)
      return fail(Stage::device, gpu_.id() + ": CUPTI asked for more than " + std::to_string(kMostPasses) + " passes.",
                  "Use the CUPTI of another CUDA toolkit.");
    auto done = pass(name, work);
    if (!done) return fail(done.error());
    last = *done;
    ++passes_;
    tell();
  }
  return {};
}

std::optional<double> Profile::value_of(std::string_view metric) const {
  for (size_t i = 0; i < metrics_.size(); ++i)
    if (metric == metrics_[i] && std::isfinite(values_[i])) return values_[i];
  return std::nullopt;
}

Result<HardwareCounters> Profile::read() {
  cupti::RangeDecode decode{.ranges = ranges_};
  if (auto done = check(calls_.decode(&decode), "cuptiRangeProfilerDecodeData"); !done) return fail(done.error());
  cupti::DataInfo info{.image = data_.data(), .bytes = data_.size()};
  if (auto done = check(calls_.data_info(&info), "cuptiRangeProfilerGetCounterDataInfo"); !done)
    return fail(done.error());
  if (info.ranges != 1 || decode.dropped != 0)
    return fail(Stage::device,
                gpu_.id() + ": CUPTI kept " + std::to_string(info.ranges) + " ranges and dropped " +
                    std::to_string(decode.dropped) + " where there was one.",
                "Run it again; another profiler may be at work.");
  values_.assign(metrics_.size(), 0);
  cupti::Evaluate evaluate{.host = host_,
                           .image = data_.data(),
                           .bytes = data_.size(),
                           .names = metrics_.data(),
                           .count = metrics_.size(),
                           .values = values_.data()};
  if (auto done = check(calls_.evaluate(&evaluate), "cuptiProfilerHostEvaluateToGpuValues"); !done)
    return fail(done.error());
  HardwareCounters counters;
  counters.passes = passes_;
  counters.cupti = calls_.library_version;
  for_each_hardware_counter([&](const HardwareRow& row, auto member) {
    auto value = value_of(row.metric);
    if (!value) value = value_of(row.newer);
    if (!row.added.empty()) {
      const auto more = value_of(row.added);
      value = value && more ? std::optional(*value + *more) : std::nullopt;
    }
    using Figure = typename std::remove_reference_t<decltype(counters.*member)>::value_type;
    if (value && *value >= 0 && *value <= kMostCount)
      counters.*member = std::is_integral_v<Figure> ? static_cast<Figure>(std::llround(*value)) : Figure(*value);
  });
  return counters;
}

}  // namespace

Result<HardwareCounters> profile_on_gpu(Gpu& gpu, const CuptiCalls& cupti, const std::string& name, GpuWork& work,
                                        const std::function<void(int64_t, int64_t)>& on_pass) {
  Profile profile(gpu, cupti);
  if (auto done = profile.prepare(); !done) return fail(done.error());
  if (auto done = profile.run(name, work, on_pass); !done) return fail(done.error());
  return profile.read();
}

}  // namespace attnscope::device
