#include "device/cuda/own_kernels.h"

#include <fstream>
#include <iterator>

namespace attnscope::device {

Result<std::shared_ptr<const GpuKernel>> OwnKernels::load(const std::string& name, DType dtype) {
  return load(name, dtype, {});
}

Result<std::shared_ptr<const GpuKernel>> OwnKernels::load_for(const std::string& name, const Problem& problem,
                                                              check::Accumulate accumulate) {
  return load(name, problem.dtype,
              {{"HEAD_DIM", problem.head_dim}, {"ACCUMULATE_F16", accumulate == check::Accumulate::f16}});
}

Result<std::shared_ptr<const GpuKernel>> OwnKernels::load(const std::string& name, DType dtype,
                                                          const std::map<std::string, int64_t>& macros) {
  std::string key = name + " " + std::string(word_of(dtype));
  for (const auto& [macro, value] : macros) key += " " + macro + "=" + std::to_string(value);
  std::shared_ptr<const GpuKernel>& kernel = loaded_[key];
  if (kernel) return kernel;
  const std::filesystem::path file = folder_ / (name + ".cu");
  std::ifstream in(file);
  compile::CompileRequest request;
  request.source.assign(std::istreambuf_iterator<char>(in), {});
  if (!in || request.source.empty())
    return fail(Stage::check, file.string() + " could not be read",
                "It ships with the program: check that its folder is complete, or set $ATTNSCOPE_RESOURCES.");
  request.file_name = name + ".cu";
  request.entry = "attnscope_" + name;
  request.macros = macros;
  request.dtype = dtype;
  request.options.fast_math = false;
  request.arch = arch_;
  auto variant = compiler_->compile(request);
  if (!variant) return fail(variant.error());
  auto loaded = GpuKernel::load(gpu_, **variant);
  if (!loaded) return fail(loaded.error());
  return kernel = *loaded;
}

Result<void> run_own_kernel(Gpu& gpu, const GpuKernel& kernel, int64_t ctas, int64_t threads,
                            std::span<const std::byte> parameters) {
  if (kernel.info().parameter_bytes != parameters.size())
    return fail(Stage::internal, kernel.info().name + " declares other parameters than its caller passes",
                "Report this; a file of assets/gpu may have been edited.");
  std::vector<std::byte> block(parameters.begin(), parameters.end());
  if (const int code = kernel.launch({{ctas, 1, 1}, {threads, 1, 1}}, 0, block); code != 0)
    return gpu.kernel_failure(code, kernel.info().name);
  if (const int code = gpu.wait(); code != 0) return gpu.kernel_failure(code, kernel.info().name);
  return {};
}

}  // namespace attnscope::device
