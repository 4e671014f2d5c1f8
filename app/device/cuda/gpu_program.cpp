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

}  // namespace

Result<std::shared_ptr<const GpuProgram>> make_kernel_program(std::shared_ptr<Gpu> gpu,
                                                              const compile::Variant& variant) {
  auto kernel = GpuKernel::load(gpu, variant);
  if (!kernel) return fail(kernel.error());
  return std::make_shared<const KernelProgram>(std::move(gpu), std::move(*kernel));
}

}  // namespace attnscope::device
