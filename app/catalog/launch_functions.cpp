#include "catalog/launch_functions.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "catalog/source_text.h"

namespace attnscope::catalog {
namespace {

constexpr size_t kMostFollowed = 200;  // launches of a name that is no kernel's

class Follower {
 public:
  Follower(CudaSource& source, const HostSource& host, const std::string& text)
      : source_(source), host_(host), text_(text) {
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
    launched_by("cudaLaunchKernel", false, kept);
    launched_by("cudaLaunchCooperativeKernel", true, kept);
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
                            .at = call.at,
                            .cooperative = launch.cooperative};
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

  void launched_by(const char* name, bool cooperative, std::vector<SourceLaunch>& kept) const {
    for (const HostSource::Call& call : host_.calls_to(name)) {
      if (call.arguments.size() < 3) continue;
      const auto kernel = kernel_of(call.arguments[0], call.at);
      if (!kernel) continue;
      kept.push_back(
          {.kernel = kernel->kernel,
           .template_arguments = kernel->template_arguments,
           .grid = call.arguments[1],
           .block = call.arguments[2],
           .shared = call.arguments.size() > 4 ? call.arguments[4] : "",
           .arguments = call.arguments.size() > 3 ? pointed_to(call.arguments[3], call.at) : std::vector<std::string>(),
           .branches = {},
           .at = call.at,
           .cooperative = cooperative});
    }
  }

  // Of the last `void* name[] = {(void*)&x, &n};` before byte `at`, in the same function: x and n. Empty: there is
  // none, or it holds something else.
  std::vector<std::string> pointed_to(const std::string& name, size_t at) const {
    const HostFunction* const function = host_.function_at(at);
    if (!function) return {};
    const auto tokens = cpp_tokens(std::string_view(text_).substr(function->begin, at - function->begin));
    const CppBrackets brackets(tokens);
    for (size_t i = tokens.size(); i-- > 0;) {
      if (!tokens[i].is(name) || i + 4 >= tokens.size() || !tokens[i + 1].is("[")) continue;
      const size_t closed = brackets.closing(i + 1);
      if (closed + 2 >= tokens.size() || !tokens[closed + 1].is("=") || !tokens[closed + 2].is("{")) continue;
      std::vector<std::string> names;
      for (const auto& [first, last] : parts_of(tokens, brackets, closed + 3, brackets.closing(closed + 2))) {
        if (first == last) continue;  // behind the last comma
        const bool address =
            last - first >= 2 && tokens[last - 2].is("&") && tokens[last - 1].kind == CppToken::Kind::word;
        if (!address) return {};
        names.emplace_back(tokens[last - 1].text);
      }
      return names;
    }
    return {};
  }

  CudaSource& source_;
  const HostSource& host_;
  const std::string& text_;
  std::set<std::string, std::less<>> kernels_;
  size_t followed_ = 0;
};

}  // namespace

void follow_launches(CudaSource& source, const HostSource& host, const std::string& text) {
  Follower(source, host, text).follow();
}

}  // namespace attnscope::catalog
