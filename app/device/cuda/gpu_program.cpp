#include "device/cuda/gpu_program.h"

#include "device/parameters.h"

namespace attnscope::device {
namespace {

class KernelWork final : public GpuWork {
 public:
  KernelWork(std::shared_ptr<Gpu> gpu, const GpuKernel& kernel, const LaunchRequest& request,
             std::vector<std::byte> parameters)
      : gpu_(std::move(gpu)),
        kernel_(kernel),
        name_(request.name),
        shape_(request.shape),
        dynamic_shared_(request.dynamic_shared),
        parameters_(std::move(parameters)) {}
  Result<void> launch() override {
    if (const int code = kernel_.launch(shape_, dynamic_shared_, parameters_); code != 0)
      return gpu_->kernel_failure(code, name_);
    return {};
  }

 private:
  std::shared_ptr<Gpu> gpu_;
  const GpuKernel& kernel_;
  std::string name_;
  model::LaunchShape shape_;
  int64_t dynamic_shared_;
  std::vector<std::byte> parameters_;
};

class KernelProgram final : public GpuProgram {
 public:
  KernelProgram(std::shared_ptr<Gpu> gpu, std::shared_ptr<const GpuKernel> kernel)
      : gpu_(std::move(gpu)), kernel_(std::move(kernel)) {}

  void add_code(std::vector<GpuCode>& to) const override { to.push_back({kernel_->cubin(), &kernel_->info()}); }

  Result<std::shared_ptr<const GpuProgram>> once_more() const override {
    auto kernel = kernel_->once_more();
    if (!kernel) return fail(kernel.error());
    return std::make_shared<const KernelProgram>(gpu_, std::move(*kernel));
  }

  Result<std::unique_ptr<GpuWork>> bind(const LaunchRequest& request, std::span<const ArgumentValue> arguments,
                                        std::span<const uint64_t> addresses) const override {
    auto parameters = pack_parameters(kernel_->info(), arguments, addresses);
    if (!parameters) return fail(parameters.error());
    if (auto done = kernel_->opt_in(request.dynamic_shared); !done) return fail(done.error());
    return std::unique_ptr<GpuWork>(new KernelWork(gpu_, *kernel_, request, std::move(*parameters)));
  }

 private:
  std::shared_ptr<Gpu> gpu_;
  std::shared_ptr<const GpuKernel> kernel_;
};

// A memset or a copy between two launches.
class TransferWork final : public GpuWork {
 public:
  TransferWork(std::shared_ptr<Gpu> gpu, const LaunchStep& step, std::span<const uint64_t> addresses, size_t bytes)
      : gpu_(std::move(gpu)),
        is_copy_(step.kind == ProgramStep::Kind::copy),
        to_(addresses[step.to]),
        from_(addresses[step.from]),
        byte_(static_cast<unsigned char>(step.byte)),
        bytes_(bytes) {}
  Result<void> launch() override {
    if (bytes_ == 0) return {};
    const cuda_api::DriverCalls& calls = gpu_->calls();
    if (is_copy_) return gpu_->check(calls.copy_on_device(to_, from_, bytes_, gpu_->stream()), "cuMemcpyDtoDAsync");
    return gpu_->check(calls.memory_set(to_, byte_, bytes_, gpu_->stream()), "cuMemsetD8Async");
  }

 private:
  std::shared_ptr<Gpu> gpu_;
  bool is_copy_;
  uint64_t to_, from_;
  unsigned char byte_;
  size_t bytes_;
};

class WorkOfSteps final : public GpuWork {
 public:
  explicit WorkOfSteps(std::vector<std::unique_ptr<GpuWork>> steps) : steps_(std::move(steps)) {}
  Result<void> launch() override {
    for (const auto& step : steps_)
      if (auto done = step->launch(); !done) return done;
    return {};
  }

 private:
  std::vector<std::unique_ptr<GpuWork>> steps_;
};

class ProgramOfSteps final : public GpuProgram {
 public:
  ProgramOfSteps(std::shared_ptr<Gpu> gpu, std::vector<std::shared_ptr<const GpuProgram>> programs)
      : gpu_(std::move(gpu)), programs_(std::move(programs)) {}

  void add_code(std::vector<GpuCode>& to) const override {
    for (const auto& one : programs_) one->add_code(to);
  }

  Result<std::shared_ptr<const GpuProgram>> once_more() const override {
    std::vector<std::shared_ptr<const GpuProgram>> again;
    for (const auto& one : programs_) {
      auto made = one->once_more();
      if (!made) return made;
      again.push_back(std::move(*made));
    }
    return std::make_shared<const ProgramOfSteps>(gpu_, std::move(again));
  }

  Result<std::unique_ptr<GpuWork>> bind(const LaunchRequest& request, std::span<const ArgumentValue>,
                                        std::span<const uint64_t> addresses) const override {
    std::vector<std::unique_ptr<GpuWork>> steps;
    size_t next = 0;
    for (const LaunchStep& step : request.steps) {
      if (step.kind != ProgramStep::Kind::launch) {
        const size_t bytes = request.operands->all[step.to].bytes.size();
        steps.push_back(std::make_unique<TransferWork>(gpu_, step, addresses, bytes));
        continue;
      }
      LaunchRequest launch;
      launch.name = step.name;
      launch.shape = step.shape;
      launch.dynamic_shared = step.dynamic_shared;
      auto work = programs_[next++]->bind(launch, step.arguments, addresses);
      if (!work) return work;
      steps.push_back(std::move(*work));
    }
    return std::unique_ptr<GpuWork>(new WorkOfSteps(std::move(steps)));
  }

 private:
  std::shared_ptr<Gpu> gpu_;
  std::vector<std::shared_ptr<const GpuProgram>> programs_;
};

}  // namespace

Result<std::shared_ptr<const GpuProgram>> make_kernel_program(std::shared_ptr<Gpu> gpu,
                                                              const compile::Variant& variant) {
  auto kernel = GpuKernel::load(gpu, variant);
  if (!kernel) return fail(kernel.error());
  return std::make_shared<const KernelProgram>(std::move(gpu), std::move(*kernel));
}

std::shared_ptr<const GpuProgram> make_program_of_steps(std::shared_ptr<Gpu> gpu,
                                                        std::vector<std::shared_ptr<const GpuProgram>> programs) {
  return std::make_shared<const ProgramOfSteps>(std::move(gpu), std::move(programs));
}

}  // namespace attnscope::device
