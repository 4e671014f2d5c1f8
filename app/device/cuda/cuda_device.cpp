#include "device/cuda/cuda_device.h"

#include <algorithm>
#include <optional>

#include "device/cuda/clocked_launch.h"
#include "device/cuda/cublas_routine.h"
#include "device/cuda/cuda_timer.h"
#include "device/cuda/gpu.h"
#include "device/cuda/gpu_judge.h"
#include "device/cuda/gpu_kernel.h"
#include "device/cuda/gpu_profile.h"
#include "device/cuda/gpu_program.h"
#include "device/cuda/gpu_reference.h"
#include "device/cuda/gpu_sampling.h"
#include "device/cuda/gpu_spec.h"
#include "device/cuda/tensors.h"
#include "device/parameters.h"

namespace attnscope::device {
namespace {

class OnGpu final : public Loaded {
 public:
  explicit OnGpu(std::shared_ptr<const GpuProgram> ready) : program(std::move(ready)) {}
  std::string library_version() const override { return program->library_version(); }
  std::shared_ptr<const GpuProgram> program;
};

class CudaDevice final : public Device {
 public:
  CudaDevice(CudaParts parts, DeviceSpec spec, int ordinal)
      : parts_(std::move(parts)),
        spec_(std::move(spec)),
        gpu_(std::make_shared<Gpu>(parts_.calls, ordinal)),
        kernels_(gpu_, parts_.compiler, parts_.kernels, spec_.arch),
        ordinal_(ordinal) {}
  const DeviceSpec& spec() const override { return spec_; }
  Result<std::shared_ptr<const Loaded>> load(const compile::Variant& variant) override;
  Result<std::shared_ptr<const Loaded>> load_routine(const Library& library, const std::string& entry,
                                                     const Problem& problem) override;
  Result<LaunchOutcome> run(const LaunchRequest& request, const LaunchEvents& events) override;
  Result<std::unique_ptr<measure::Source>> timer(const LaunchRequest& request, CacheState cache,
                                                 std::function<void()> on_launch) override;
  Result<HardwareCounters> profile(const LaunchRequest& request,
                                   const std::function<void(int64_t, int64_t)>& on_pass) override;
  Result<PcSamples> sample(const LaunchRequest& request, const std::function<void()>& on_step) override;
  Result<measure::ClockSpans> clocks(const LaunchRequest& request) override;
  bool makes_inputs() const override { return true; }
  Result<std::shared_ptr<const check::Reference>> reference(const Problem& problem,
                                                            check::Accumulate accumulate) override;
  Result<std::optional<check::Comparison>> compare(const LaunchOutcome& outcome,
                                                   std::shared_ptr<const check::Reference> reference) override;
  std::optional<GpuReading> reading() const override;
  bool lost() const override { return gpu_->lost(); }

 private:
  Result<void> place_tensors(const LaunchRequest& request);
  Result<std::unique_ptr<GpuWork>> work_of(const LaunchRequest& request, const GpuProgram& program);
  std::shared_ptr<const GpuProgram> program_of(const LaunchRequest& request) const;
  GpuMeter meter() const;

  CudaParts parts_;
  DeviceSpec spec_;
  std::shared_ptr<Gpu> gpu_;
  OwnKernels kernels_;
  int ordinal_;
  // From the last run, because turning a knob does not change the problem.
  std::unique_ptr<GpuTensors> tensors_;
  std::optional<GpuReference> reference_;                  // from the last verdict, for the same reason
  std::weak_ptr<const check::GuardedBuffer> last_output_;  // the output that tensors_ still holds on the GPU
};

Result<std::shared_ptr<const Loaded>> CudaDevice::load(const compile::Variant& variant) {
  auto program = make_kernel_program(gpu_, variant);
  if (!program) return fail(program.error());
  return std::make_shared<const OnGpu>(*program);
}

Result<std::shared_ptr<const Loaded>> CudaDevice::load_routine(const Library& library, const std::string& entry,
                                                               const Problem& problem) {
  if (library != LibraryId::cublas || !parts_.cublas) return Device::load_routine(library, entry, problem);
  auto program = make_cublas_routine(kernels_, parts_, entry, problem);
  if (!program) return fail(program.error());
  return std::make_shared<const OnGpu>(*program);
}

// Puts the request's buffers on the GPU, in their state before a run.
Result<void> CudaDevice::place_tensors(const LaunchRequest& request) {
  last_output_.reset();
  if (tensors_ && tensors_->are_of(request)) return tensors_->renew_outputs();
  tensors_.reset();
  auto tensors = make_tensors(kernels_, request);
  if (!tensors) return fail(tensors.error());
  tensors_ = std::move(*tensors);
  return {};
}

std::shared_ptr<const GpuProgram> CudaDevice::program_of(const LaunchRequest& request) const {
  const auto loaded = [](const std::shared_ptr<const Loaded>& one) { return dynamic_cast<const OnGpu&>(*one).program; };
  if (request.steps.empty()) return loaded(request.loaded);
  std::vector<std::shared_ptr<const GpuProgram>> programs;
  for (const LaunchStep& step : request.steps)
    if (step.kind == ProgramStep::Kind::launch) programs.push_back(loaded(step.loaded));
  return make_program_of_steps(gpu_, std::move(programs));
}

// The request's launch over its buffers, in their state before a run.
Result<std::unique_ptr<GpuWork>> CudaDevice::work_of(const LaunchRequest& request, const GpuProgram& program) {
  if (auto entered = gpu_->enter(); !entered) return fail(entered.error());
  auto arguments = arguments_of(request);
  if (!arguments) return fail(arguments.error());
  if (auto placed = place_tensors(request); !placed) return fail(placed.error());
  return program.bind(request, *arguments, tensors_->addresses());
}

Result<LaunchOutcome> CudaDevice::run(const LaunchRequest& request, const LaunchEvents& events) {
  const std::shared_ptr<const GpuProgram> program = program_of(request);
  auto work = work_of(request, *program);
  if (!work) return fail(work.error());
  const int64_t ctas = request.shape.ctas();
  if (events.on_progress) events.on_progress(0, ctas);
  if (auto launched = (*work)->launch(); !launched) return fail(launched.error());
  if (const int code = gpu_->wait(); code != 0) return gpu_->kernel_failure(code, request.name);
  if (events.on_progress) events.on_progress(ctas, ctas);
  LaunchOutcome outcome;
  auto outputs = tensors_->take_outputs();
  if (!outputs) return fail(outputs.error());
  if (auto same = tensors_->check_inputs(); !same) {
    tensors_.reset();  // the next run then gets intact inputs
    return fail(same.error());
  }
  outcome.outputs = std::move(*outputs);
  outcome.output = outcome.outputs.front();
  last_output_ = outcome.output;
  return outcome;
}

Result<HardwareCounters> CudaDevice::profile(const LaunchRequest& request,
                                             const std::function<void(int64_t, int64_t)>& on_pass) {
  if (!parts_.cupti)
    return fail(Stage::internal, "this process times kernels, so it reads no hardware counters", "Report this.");
  if (!*parts_.cupti) return fail(parts_.cupti->error());
  const std::shared_ptr<const GpuProgram> program = program_of(request);
  auto work = work_of(request, *program);
  if (!work) return fail(work.error());
  return profile_on_gpu(*gpu_, **parts_.cupti, request.name, **work, on_pass);
}

Result<PcSamples> CudaDevice::sample(const LaunchRequest& request, const std::function<void()>& on_step) {
  if (!parts_.cupti) return fail(Stage::internal, "this process times kernels, so it takes no samples", "Report this.");
  if (!*parts_.cupti) return fail(parts_.cupti->error());
  if (auto entered = gpu_->enter(); !entered) return fail(entered.error());
  const std::shared_ptr<const GpuProgram> program = program_of(request);
  const auto load = [&]() -> Result<SampledWork> {
    auto again = program->once_more();
    if (!again) return fail(again.error());
    auto work = work_of(request, **again);
    if (!work) return fail(work.error());
    return SampledWork{std::move(*again), std::move(*work)};
  };
  return sample_on_gpu(*gpu_, **parts_.cupti, request.name, load, on_step);
}

Result<measure::ClockSpans> CudaDevice::clocks(const LaunchRequest& request) {
  if (auto entered = gpu_->enter(); !entered) return fail(entered.error());
  auto arguments = arguments_of(request);
  if (!arguments) return fail(arguments.error());
  if (auto placed = place_tensors(request); !placed) return fail(placed.error());
  return launch_clocked(kernels_, spec_.sms, request, std::move(*arguments), *program_of(request), *tensors_);
}

GpuMeter CudaDevice::meter() const {
  int device = 0;
  char bus[64] = {};
  if (!parts_.nvml || parts_.calls->device_get(&device, ordinal_) != cuda_api::kCudaSuccess ||
      parts_.calls->device_pci_bus_id(bus, sizeof bus - 1, device) != cuda_api::kCudaSuccess)
    return {};
  auto found = parts_.nvml->find(bus);
  return found ? GpuMeter(parts_.nvml, *found) : GpuMeter();
}

std::optional<GpuReading> CudaDevice::reading() const {
  const measure::Conditions now = meter().read();
  if (now.clock_mhz == 0 && now.temperature_c == 0) return std::nullopt;
  return GpuReading{spec_.id, now.clock_mhz, now.power_w, now.power_limit_w, now.temperature_c, now.reasons};
}

Result<std::unique_ptr<measure::Source>> CudaDevice::timer(const LaunchRequest& request, CacheState cache,
                                                           std::function<void()> on_launch) {
  if (auto entered = gpu_->enter(); !entered) return fail(entered.error());
  std::shared_ptr<const GpuKernel> empty;
  if (cache == CacheState::cold) {
    auto loaded = kernels_.load("empty", DType::f16);
    if (!loaded) return fail(loaded.error());
    empty = *loaded;
  }
  const auto l2_bytes = static_cast<size_t>(spec_.l2_mb * (1 << 20));
  return make_cuda_timer(
      {&kernels_, program_of(request), request, std::move(empty), l2_bytes, meter(), std::move(on_launch)});
}

Result<std::shared_ptr<const check::Reference>> CudaDevice::reference(const Problem& problem,
                                                                      check::Accumulate accumulate) {
  if (auto entered = gpu_->enter(); !entered) return fail(entered.error());
  LaunchRequest inputs;
  inputs.problem = problem;
  if (!tensors_ || !tensors_->are_of(inputs))
    if (auto placed = place_tensors(inputs); !placed) return fail(placed.error());
  auto made = make_gpu_reference(kernels_, spec_.sms, problem, tensors_->addresses(), accumulate);
  if (!made) return fail(made.error());
  reference_ = std::move(*made);
  return reference_->reference;
}

Result<std::optional<check::Comparison>> CudaDevice::compare(const LaunchOutcome& outcome,
                                                             std::shared_ptr<const check::Reference> reference) {
  if (!tensors_ || outcome.output == nullptr || last_output_.lock() != outcome.output) return std::nullopt;
  if (auto entered = gpu_->enter(); !entered) return fail(entered.error());
  if (!reference_ || reference_->reference != reference) {
    reference_.reset();
    auto held = GpuReference::upload(gpu_, std::move(reference));
    if (!held) return fail(held.error());
    reference_ = std::move(*held);
  }
  auto compared =
      compare_on_gpu(kernels_, spec_.sms, tensors_->addresses().back(), outcome.output->data(), *reference_);
  if (!compared) return fail(compared.error());
  return *compared;
}

}  // namespace

Result<std::vector<std::unique_ptr<Device>>> make_cuda_devices(const CudaParts& parts,
                                                               const std::vector<DeviceSpec>& twins) {
  int count = 0;
  for (const int code : {parts.calls->init(0), parts.calls->device_count(&count)})
    if (code != cuda_api::kCudaSuccess)
      return fail(Stage::device, "The NVIDIA driver gives no GPU: " + parts.calls->name_of(code) + ".",
                  "Check with nvidia-smi; CUDA_VISIBLE_DEVICES may hide it.");
  std::vector<std::unique_ptr<Device>> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    auto spec = read_gpu_spec(*parts.calls, ordinal);
    if (!spec) return fail(spec.error());
    const auto twin =
        std::find_if(twins.begin(), twins.end(), [&](const DeviceSpec& one) { return one.arch == spec->arch; });
    if (twin != twins.end()) fill_rates(*spec, *twin);
    if (parts.cublas) spec->runs.emplace_back(LibraryId::cublas);
    devices.push_back(std::make_unique<CudaDevice>(parts, std::move(*spec), ordinal));
  }
  return devices;
}

}  // namespace attnscope::device
