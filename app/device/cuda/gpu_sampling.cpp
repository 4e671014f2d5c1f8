#include "device/cuda/gpu_sampling.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "device/cuda/cupti_failure.h"

namespace attnscope::device {
namespace {

using namespace cuda_api;

constexpr uint32_t kPeriods[] = {10, 14, 18, 22};  // 2^n clocks; a longer one where the GPU's buffer filled up
constexpr int64_t kWanted = 20000;                 // samples: a line with 1 % of them is known to 7 % of itself
constexpr int64_t kMostLaunches = 64;
constexpr size_t kPcsAtOnce = 4096;
constexpr int kMostCalls = 64;  // for the samples of one range: 2^18 places, far more than any code has
constexpr size_t kScratchBytes = size_t{16} << 20, kBufferBytes = size_t{512} << 20;  // here, and on the GPU
constexpr int kMostIdle = 30;          // calls that may get nothing before anything came
constexpr size_t kMostReasons = 1024;  // chips have some forty
constexpr size_t kInstructionBytes = 16;

// "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued": a warp waits for a long scoreboard, and its scheduler
// issues nothing. Without the end it counts all such warps, those among them. "smsp__pcsamp_sample_count" is among the
// reasons too, and is none.
struct Reason {
  std::string word;  // empty: it is none
  bool unissued = false;
};
Reason reason_of(std::string_view name) {
  constexpr std::string_view kFront = "smsp__pcsamp_warps_issue_stalled_", kEnd = "_not_issued";
  Reason reason;
  if (!name.starts_with(kFront)) return reason;
  name.remove_prefix(kFront.size());
  if (name.ends_with(kEnd)) {
    reason.unissued = true;
    name.remove_suffix(kEnd.size());
  }
  for (const char c : name) reason.word += c > ' ' && c < 127 ? c : '?';
  return reason;
}

struct Place {
  int64_t launch = 0, at = 0;
  auto operator<=>(const Place&) const = default;
};

// Room for the samples of a number of places.
class SampleBuffer {
 public:
  void make(size_t reasons) {
    reasons_ = reasons;
    stalls_.resize(kPcsAtOnce * reasons);
    pcs_.resize(kPcsAtOnce);
    data_.most_pcs = kPcsAtOnce;
    data_.pcs = pcs_.data();
    clear();
  }
  void clear() {
    data_.pc_count = data_.remaining_pcs = 0;
    for (size_t i = 0; i < pcs_.size(); ++i) {
      pcs_[i].reason_count = reasons_;
      pcs_[i].reasons = stalls_.data() + i * reasons_;
    }
  }
  cupti::SampledData& data() { return data_; }

 private:
  size_t reasons_ = 0;
  std::vector<cupti::StallSamples> stalls_;  // of pcs_, one after the other
  std::vector<cupti::SampledPc> pcs_;
  cupti::SampledData data_;
};

// One try at sampling with one period: what CUPTI holds for it, given back at its end.
class Sampling {
 public:
  Sampling(Gpu& gpu, const CuptiCalls& calls, const std::string& name, const std::function<void()>& on_step)
      : gpu_(gpu), calls_(calls), name_(name), on_step_(on_step) {}
  ~Sampling() {
    if (!enabled_) return;
    cupti::SamplingOnly off{.context = gpu_.context()};
    calls_.sampling_disable(&off);
  }
  Sampling(const Sampling&) = delete;
  Sampling& operator=(const Sampling&) = delete;

  Result<void> prepare(uint32_t period);
  Result<void> run(const std::function<Result<SampledWork>()>& load);
  bool was_full() const { return full_; }
  PcSamples samples() const;

 private:
  Result<void> check(int code, const char* call) const { return check_cupti(gpu_.id(), calls_, code, call); }
  tl::unexpected<Failure> nonsense(const std::string& what) const {
    return fail(Stage::device, gpu_.id() + ": CUPTI's samples make no sense: " + what + ".",
                "`attnscope doctor` says which CUPTI is used; ATTNSCOPE_CUPTI names another.");
  }
  Result<void> learn_reasons();
  Result<void> configure(uint32_t period);
  Result<void> learn_code(const GpuProgram& program);
  Result<void> range(GpuWork& work);
  Result<void> take();
  Result<void> add(const cupti::SampledPc& pc);
  Result<std::optional<Place>> place_of(const cupti::SampledPc& pc) const;

  Gpu& gpu_;
  const CuptiCalls& calls_;
  const std::string& name_;
  const std::function<void()>& on_step_;
  bool enabled_ = false, full_ = false;
  int idle_ = 0;  // calls that got nothing
  SampledWork loaded_;
  std::map<uint32_t, Reason> reasons_;  // by CUPTI's index
  std::vector<GpuCode> code_;
  std::vector<uint64_t> crcs_;  // of code_
  // CUPTI moves a kernel's records to `kept_` when it ends, and from there to where it is asked for them. Asked for
  // them in `kept_` itself it gives none.
  SampleBuffer kept_, given_;
  PcSamples sum_;
  std::map<Place, SampledInstruction> found_;
};

// cuptiProfilerDeviceSupported is asked only for the reason of a refusal: it needs cuptiProfilerInitialize.
Result<void> Sampling::prepare(uint32_t period) {
  cupti::SamplingOnly on{.context = gpu_.context()};
  const int code = calls_.sampling_enable(&on);
  if (code == kCuptiNotSupported) {
    cupti::Initialize initialize;
    if (auto done = check(calls_.initialize(&initialize), "cuptiProfilerInitialize"); !done) return done;
    const char* const lacks = "does not let CUPTI sample its program counters";
    if (auto done = ask_support(gpu_, calls_, cupti::kPcSampling, lacks); !done) return done;
  }
  if (auto done = check(code, "cuptiPCSamplingEnable"); !done) return done;
  enabled_ = true;
  on_step_();
  if (auto done = learn_reasons(); !done) return done;
  if (auto done = configure(period); !done) return done;
  on_step_();
  return {};
}

// Only after cuptiPCSamplingEnable: before it CUPTI knows none.
Result<void> Sampling::learn_reasons() {
  size_t count = 0;
  cupti::StallReasonCount counted{.context = gpu_.context(), .count = &count};
  if (auto done = check(calls_.stall_reason_count(&counted), "cuptiPCSamplingGetNumStallReasons"); !done) return done;
  if (count == 0 || count > kMostReasons) return nonsense("it has " + std::to_string(count) + " stall reasons");
  std::vector<uint32_t> indices(count);
  std::vector<char> texts(count * cupti::kStallReasonBytes);
  std::vector<char*> names(count);
  for (size_t i = 0; i < count; ++i) names[i] = texts.data() + i * cupti::kStallReasonBytes;
  cupti::StallReasons named{
      .context = gpu_.context(), .count = count, .indices = indices.data(), .names = names.data()};
  if (auto done = check(calls_.stall_reasons(&named), "cuptiPCSamplingGetStallReasons"); !done) return done;
  for (size_t i = 0; i < count; ++i) {
    const char* text = texts.data() + i * cupti::kStallReasonBytes;
    const auto* end = std::find(text, text + cupti::kStallReasonBytes, '\0');
    reasons_[indices[i]] = reason_of({text, static_cast<size_t>(end - text)});
  }
  if (reasons_.size() != count) return nonsense("two stall reasons have one number");
  kept_.make(count);
  given_.make(count);
  return {};
}

// Each kernel by itself, and all stall reasons, which is what CUPTI does if none are named.
Result<void> Sampling::configure(uint32_t period) {
  using Attribute = cupti::SamplingAttribute;
  std::vector<cupti::SamplingSetting> settings;
  const auto set = [&](Attribute attribute) -> cupti::SamplingSetting::Value& {
    settings.emplace_back().attribute = attribute;
    return settings.back().value;
  };
  set(Attribute::period).number = period;
  set(Attribute::scratch_bytes).bytes = kScratchBytes;
  set(Attribute::buffer_bytes).bytes = kBufferBytes;
  set(Attribute::data).data = &kept_.data();
  set(Attribute::start_stop).number = 1;
  set(Attribute::mode).number = cupti::kSerialized;
  set(Attribute::format).number = cupti::kParsed;
  cupti::SamplingSettings all{.context = gpu_.context(), .count = settings.size(), .settings = settings.data()};
  if (auto done = check(calls_.sampling_settings(&all), "cuptiPCSamplingSetConfigurationAttribute"); !done) return done;
  sum_.period = int64_t{1} << period;
  return {};
}

// How CUPTI numbers the cubins.
Result<void> Sampling::learn_code(const GpuProgram& program) {
  program.add_code(code_);
  for (const GpuCode& code : code_) {
    cupti::CubinCrc asked{.cubin_bytes = code.cubin.size(), .cubin = code.cubin.data()};
    if (auto done = check(calls_.cubin_crc(&asked), "cuptiGetCubinCrc"); !done) return done;
    crcs_.push_back(asked.crc);
  }
  return {};
}

Result<void> Sampling::run(const std::function<Result<SampledWork>()>& load) {
  auto loaded = load();
  if (!loaded) return fail(loaded.error());
  loaded_ = std::move(*loaded);
  GpuWork& work = *loaded_.work;
  if (auto done = learn_code(*loaded_.program); !done) return done;
  on_step_();
  if (auto launched = work.launch(); !launched) return launched;  // the caches get hot
  if (const int code = gpu_.wait(); code != kCudaSuccess) return gpu_.kernel_failure(code, name_);
  on_step_();
  while (sum_.samples < kWanted && sum_.launches < kMostLaunches && !full_)
    if (auto done = range(work); !done) return done;
  return {};
}

// One launch, sampled from its start to its end.
Result<void> Sampling::range(GpuWork& work) {
  cupti::SamplingOnly only{.context = gpu_.context()};
  if (auto done = check(calls_.sampling_start(&only), "cuptiPCSamplingStart"); !done) return done;
  if (auto launched = work.launch(); !launched) return launched;
  if (const int code = gpu_.wait(); code != kCudaSuccess) return gpu_.kernel_failure(code, name_);
  ++sum_.launches;
  on_step_();
  if (auto done = check(calls_.sampling_stop(&only), "cuptiPCSamplingStop"); !done) return done;
  on_step_();
  return take();
}

// CUPTI's threads fetch what the GPU noted, and may not be done when sampling has stopped.
Result<void> Sampling::take() {
  cupti::SampledData& data = given_.data();
  cupti::SamplingGet get{.context = gpu_.context(), .data = &data};
  bool any = false;
  for (int call = 0; call < kMostCalls; ++call) {
    given_.clear();
    const int code = calls_.sampling_get(&get);
    on_step_();
    full_ = full_ || code == kCuptiOutOfMemory || data.buffer_full != 0;
    if (code == kCuptiOutOfMemory) return {};
    if (auto done = check(code, "cuptiPCSamplingGetData"); !done) return done;
    if (data.pc_count > data.most_pcs)
      return nonsense(std::to_string(data.pc_count) + " places where there was room for " +
                      std::to_string(data.most_pcs));
    for (size_t i = 0; i < data.pc_count; ++i)
      if (auto done = add(data.pcs[i]); !done) return done;
    if (data.pc_count > 0) sum_.dropped += static_cast<int64_t>(std::min<uint64_t>(data.dropped, uint64_t{1} << 40));
    any = any || data.pc_count > 0;
    if (data.pc_count > 0 || data.remaining_pcs > 0) continue;
    if (any || ++idle_ >= kMostIdle) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return nonsense("more than " + std::to_string(kMostCalls) + " calls leave some to get");
}

// Where in the run's code it is; empty: it is other code. Two launches may have functions of one name: then the cubin's
// number decides.
Result<std::optional<Place>> Sampling::place_of(const cupti::SampledPc& pc) const {
  if (pc.function == nullptr) return nonsense("a place without a function");
  std::optional<Place> found;
  for (size_t i = 0; i < code_.size(); ++i) {
    const compile::CubinKernel& kernel = *code_[i].kernel;
    const auto inside = kernel.functions.find(pc.function);
    const bool is_kernel = kernel.name == pc.function;
    if (!is_kernel && inside == kernel.functions.end()) continue;
    const uint64_t offset = pc.offset + (is_kernel ? 0 : inside->second);
    if (pc.offset % kInstructionBytes != 0 || pc.offset >= kernel.text.size() || offset >= kernel.text.size())
      return nonsense("offset " + std::to_string(pc.offset) + " in " + kernel.name + ", which has " +
                      std::to_string(kernel.text.size()) + " bytes");
    if (!found || crcs_[i] == pc.cubin_crc)
      found = Place{static_cast<int64_t>(i), static_cast<int64_t>(offset / kInstructionBytes)};
    if (crcs_[i] == pc.cubin_crc) return found;
  }
  return found;
}

Result<void> Sampling::add(const cupti::SampledPc& pc) {
  if (pc.reason_count > reasons_.size() || pc.reasons == nullptr)
    return nonsense(std::to_string(pc.reason_count) + " reasons at one place, of " + std::to_string(reasons_.size()));
  const auto place = place_of(pc);
  if (!place) return fail(place.error());
  SampledInstruction other;
  SampledInstruction& at = *place ? found_[**place] : other;
  if (*place) {
    at.launch = (*place)->launch;
    at.at = (*place)->at;
  }
  int64_t samples = 0;
  for (size_t i = 0; i < pc.reason_count; ++i) {
    const auto reason = reasons_.find(pc.reasons[i].reason);
    if (reason == reasons_.end()) return nonsense("a stall reason " + std::to_string(pc.reasons[i].reason));
    if (reason->second.word.empty()) continue;
    const int64_t count = pc.reasons[i].samples;
    if (reason->second.unissued) {
      at.unissued += count;
      continue;
    }
    samples += count;
    if (count == 0) continue;
    auto known = std::ranges::find(at.stalls, reason->second.word, &SampledStall::reason);
    if (known == at.stalls.end()) known = at.stalls.insert(known, SampledStall{reason->second.word, 0});
    known->samples += count;
  }
  at.samples += samples;
  (*place ? sum_.samples : sum_.elsewhere) += samples;
  return {};
}

PcSamples Sampling::samples() const {
  PcSamples all = sum_;
  for (const auto& [place, one] : found_) {
    if (one.samples == 0) continue;
    all.instructions.push_back(one);
    std::ranges::stable_sort(all.instructions.back().stalls, std::greater<>(), &SampledStall::samples);
  }
  return all;
}

}  // namespace

Result<PcSamples> sample_on_gpu(Gpu& gpu, const CuptiCalls& cupti, const std::string& name,
                                const std::function<Result<SampledWork>()>& load,
                                const std::function<void()>& on_step) {
  for (const uint32_t period : kPeriods) {
    Sampling sampling(gpu, cupti, name, on_step);
    if (auto done = sampling.prepare(period); !done) return fail(done.error());
    if (auto done = sampling.run(load); !done) return fail(done.error());
    if (sampling.was_full()) continue;
    PcSamples samples = sampling.samples();
    if (samples.samples == 0)
      return fail(Stage::device,
                  gpu.id() + ": CUPTI took no sample of the kernel in " + std::to_string(samples.launches) +
                      " launches (" + std::to_string(samples.elsewhere) + " of other code, " +
                      std::to_string(samples.dropped) + " dropped).",
                  "A launch of a few microseconds may be too short: take a larger problem.");
    return samples;
  }
  return fail(Stage::device, gpu.id() + ": its buffer for samples filled up with every period.",
              "Take a smaller problem.");
}

}  // namespace attnscope::device
