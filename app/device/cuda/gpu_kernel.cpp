#include "device/cuda/gpu_kernel.h"

namespace attnscope::device {

Result<std::shared_ptr<const GpuKernel>> GpuKernel::load(std::shared_ptr<Gpu> gpu, const compile::Variant& variant) {
  auto info = compile::read_cubin(variant.cubin, variant.entry_symbol);
  if (!info) return fail(info.error());
  std::shared_ptr<GpuKernel> kernel(
      new GpuKernel(std::move(gpu), std::make_shared<const std::vector<std::byte>>(variant.cubin), std::move(*info)));
  if (auto done = kernel->load(); !done) return fail(done.error());
  return kernel;
}

Result<std::shared_ptr<const GpuKernel>> GpuKernel::once_more() const {
  std::shared_ptr<GpuKernel> kernel(new GpuKernel(gpu_, cubin_, info_));
  if (auto done = kernel->load(); !done) return fail(done.error());
  return kernel;
}

Result<void> GpuKernel::load() {
  if (auto entered = gpu_->enter(); !entered) return entered;
  const auto& calls = gpu_->calls();
  if (auto done = gpu_->check(calls.module_load_data(&module_, cubin_->data()), "cuModuleLoadData"); !done)
    return fail(Stage::decode, done.error().message,
                "The kernel is machine code for sm_" + std::to_string(info_.arch) +
                    "; `attnscope doctor` says whether the compiler fits the driver.");
  return gpu_->check(calls.module_get_function(&function_, module_, info_.name.c_str()), "cuModuleGetFunction");
}

GpuKernel::~GpuKernel() {
  if (module_ != nullptr && !gpu_->lost() && gpu_->enter()) gpu_->calls().module_unload(module_);
}

Result<void> GpuKernel::opt_in(int64_t dynamic_shared) const {
  constexpr int max_dynamic_shared = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
  if (dynamic_shared == 0) return {};
  return gpu_->check(
      gpu_->calls().function_set_attribute(function_, max_dynamic_shared, static_cast<int>(dynamic_shared)),
      "cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)");
}

int GpuKernel::launch(const model::LaunchShape& shape, int64_t dynamic_shared,
                      std::vector<std::byte>& parameters) const {
  cuda_api::LaunchConfig config;
  for (size_t i = 0; i < 3; ++i) {
    config.grid[i] = static_cast<unsigned>(shape.grid[i]);
    config.block[i] = static_cast<unsigned>(shape.block[i]);
  }
  config.shared_bytes = static_cast<unsigned>(dynamic_shared);
  config.stream = gpu_->stream();
  if (shape.cooperative) return launch_cooperative(config, parameters);
  size_t bytes = parameters.size();
  // CU_LAUNCH_PARAM_BUFFER_POINTER, _BUFFER_SIZE and _END.
  void* extra[] = {reinterpret_cast<void*>(1), parameters.data(), reinterpret_cast<void*>(2), &bytes, nullptr};
  return gpu_->calls().launch(&config, function_, nullptr, parameters.empty() ? nullptr : extra);
}

// Driver 580 captures a cooperative launch only with a pointer to each parameter: with the whole block, as others have
// it, it refuses the launch as an invalid value.
int GpuKernel::launch_cooperative(cuda_api::LaunchConfig config, std::vector<std::byte>& parameters) const {
  cuda_api::CooperativeAttribute cooperative;
  config.attributes = &cooperative;
  config.attribute_count = 1;
  std::vector<void*> each;
  for (const compile::KernelParameter& one : info_.parameters) each.push_back(parameters.data() + one.offset);
  return gpu_->calls().launch(&config, function_, each.data(), nullptr);
}

}  // namespace attnscope::device
