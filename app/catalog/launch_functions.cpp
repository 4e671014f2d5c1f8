#include "catalog/launch_functions.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace attnscope::catalog {
namespace {

constexpr size_t kMostFollowed = 200;  // launches of a name that is no kernel's

class Follower {
 public:
  Follower(CudaSource& source, const HostSource& host) : source_(source), host_(host) {
    for (const SourceKernel& kernel : source.kernels) kernels_.insert(plain_kernel_name(kernel.name));
  }

  void follow() {
    std::vector<SourceLaunch> kept;
    for (SourceLaunch& launch : source_.launches) {
      if (kernels_.contains(launch.kernel) || launch.at == SIZE_MAX || ++followed_ > kMostFollowed) {
        kept.push_back(std::move(launch));
      } else if (auto named = kernel_of(launch.kernel, launch.at)) {
        launch.kernel = std::move(named->kernel);
        launch.template_arguments = std::move(named->template_arguments);
        kept.push_back(std::move(launch));
      } else if (!follow_callers(launch, kept)) {
        kept.push_back(std::move(launch));  // so that a program with it is refused, and not run without it
      }
    }
    for (const char* call : {"cudaLaunchKernel", "cudaLaunchCooperativeKernel"}) launched_by(call, kept);
    std::ranges::stable_sort(kept, {}, &SourceLaunch::at);
    source_.launches = std::move(kept);
  }

 private:
  // A kernel with its template arguments, or a name that stands for one.
  std::optional<SourceInstance> kernel_of(const std::string& text, size_t at) const {
    SourceInstance one = instance_of(text);
    if (kernels_.contains(one.kernel)) return one;
    if (one.kernel.empty() || !one.template_arguments.empty()) return std::nullopt;
    const auto* const named = source_.kernel_names.find(one.kernel, at);
    if (!named || !kernels_.contains(named->value.kernel)) return std::nullopt;
    return named->value;
  }

  // `template <class K, class... A> void launch(K kernel, dim3 grid, A... a) { kernel<<<grid, 128>>>(a...); }`
  // False: no caller passes a kernel.
  bool follow_callers(const SourceLaunch& launch, std::vector<SourceLaunch>& kept) const {
    const HostFunction* const function = host_.function_at(launch.at);
    if (!function) return false;
    const size_t before = kept.size();
    const auto place = [&](const std::string& name) {
      return static_cast<size_t>(std::ranges::find(function->parameters, name) - function->parameters.begin());
    };
    for (const HostSource::Call& call : host_.calls_to(function->name)) {
      if (call.at >= function->begin && call.at <= function->end) continue;
      const auto passed = [&](const std::string& text) {
        const size_t index = place(text);
        return index < call.arguments.size() ? call.arguments[index] : std::string();
      };
      const auto kernel = kernel_of(passed(launch.kernel), call.at);
      if (!kernel) continue;
      SourceLaunch followed{.kernel = kernel->kernel,
                            .template_arguments = kernel->template_arguments,
                            .grid = passed(launch.grid),
                            .block = passed(launch.block),
                            .shared = passed(launch.shared),
                            .arguments = {},
                            .branches = {},
                            .at = call.at};
      for (const std::string& argument : launch.arguments) {
        if (!argument.ends_with("...")) {
          followed.arguments.push_back(passed(argument));
          continue;
        }
        const size_t first = place(argument.substr(0, argument.find_first_of(" .")));
        for (size_t i = first; i < call.arguments.size(); ++i) followed.arguments.push_back(call.arguments[i]);
      }
      kept.push_back(std::move(followed));
    }
    return kept.size() > before;
  }

  // Its arguments are in an array, which is not read.
  void launched_by(const char* name, std::vector<SourceLaunch>& kept) const {
    for (const HostSource::Call& call : host_.calls_to(name)) {
      if (call.arguments.size() < 3) continue;
      const auto kernel = kernel_of(call.arguments[0], call.at);
      if (!kernel) continue;
      kept.push_back({.kernel = kernel->kernel,
                      .template_arguments = kernel->template_arguments,
                      .grid = call.arguments[1],
                      .block = call.arguments[2],
                      .shared = call.arguments.size() > 4 ? call.arguments[4] : "",
                      .arguments = {},
                      .branches = {},
                      .at = call.at});
    }
  }

  CudaSource& source_;
  const HostSource& host_;
  std::set<std::string, std::less<>> kernels_;
  size_t followed_ = 0;
};

}  // namespace

void follow_launches(CudaSource& source, const HostSource& host) { Follower(source, host).follow(); }

}  // namespace attnscope::catalog
