#include "catalog/launcher.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "catalog/catalog.h"
#include "catalog/import_parameters.h"
#include "platform/atomic_file.h"

namespace attnscope::catalog {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostRead = 3000;                // files
constexpr size_t kMostBytes = size_t{64} << 20;   // of them
constexpr size_t kMostOfOne = size_t{1} << 20;    // a larger file is not a launcher
constexpr size_t kMostTried = 8, kMostFound = 3;  // of them whose headers are looked at

// Names that another file would use.
struct Wanted {
  std::set<std::string, std::less<>> kernels;    // that the file does not launch
  std::set<std::string, std::less<>> functions;  // that launch them and that it does not call
};

Wanted wanted_of(const std::string& text, const std::string& entry) {
  const ReadSource read = read_source(text);
  const std::string named = plain_kernel_name(entry.substr(0, entry.find('<')));
  Wanted wanted;
  for (const SourceKernel& kernel : read.cuda.kernels) {
    const std::string name = plain_kernel_name(kernel.name);
    if (kernel.defined && (entry.empty() || name == named)) wanted.kernels.insert(name);
  }
  std::set<std::string> launched;
  for (const SourceLaunch& launch : read.cuda.launches) {
    if (!wanted.kernels.contains(launch.kernel)) continue;
    launched.insert(launch.kernel);
    const HostFunction* function = read.host.function_at(launch.at);
    for (int depth = 0; function && depth < 4; ++depth) {
      const HostFunction* const caller = read.host.first_caller(*function);
      if (!caller) wanted.functions.insert(function->name);
      function = caller;
    }
  }
  wanted.functions.erase("main");
  for (const std::string& name : launched) wanted.kernels.erase(name);
  return wanted;
}

bool has_any(const std::string& text, const std::set<std::string, std::less<>>& names) {
  return std::ranges::any_of(names, [&](const std::string& one) { return text.find(one) != std::string::npos; });
}

bool uses(const ReadSource& read, const Wanted& wanted) {
  const auto launches = [&](const SourceLaunch& one) { return wanted.kernels.contains(one.kernel); };
  if (std::ranges::any_of(read.cuda.launches, launches)) return true;
  const auto names_kernel = [&](const CppToken& token) {  // as an argument, or as the value of a name
    return token.kind == CppToken::Kind::word && wanted.kernels.contains(token.text);
  };
  if (std::ranges::any_of(cpp_tokens(read.text), names_kernel)) return true;
  return std::ranges::any_of(wanted.functions, [&](const std::string& one) { return read.host.calls_of(one) > 0; });
}

bool defines(const ReadSource& read, const Wanted& wanted) {
  return std::ranges::any_of(read.cuda.kernels,
                             [&](const SourceKernel& one) {
                               return one.defined && wanted.kernels.contains(plain_kernel_name(one.name));
                             }) ||
         std::ranges::any_of(wanted.functions,
                             [&](const std::string& one) { return read.host.function_named(one) != nullptr; });
}

bool declares(const std::string& text, const Wanted& wanted) {
  return std::ranges::any_of(read_cuda_source(text).kernels, [&](const SourceKernel& one) {
    return !one.defined && wanted.kernels.contains(plain_kernel_name(one.name));
  });
}

bool share(const std::set<fs::path>& a, const std::set<fs::path>& b) {
  return std::ranges::any_of(a, [&](const fs::path& one) { return b.contains(one); });
}

}  // namespace

std::vector<Launcher> launchers_of(const fs::path& file, const WholeSource& own, const std::string& entry,
                                   Project& project, const MakeWhole& whole) {
  std::vector<Launcher> found;
  const Wanted wanted = wanted_of(own.text, entry);
  std::error_code error;
  const fs::path self = fs::weakly_canonical(fs::absolute(file, error), error);
  const std::string include = self.filename().string();
  size_t read_bytes = 0, read_files = 0, tried = 0;
  for (const fs::path& one : project.files()) {
    if (read_files == kMostRead || read_bytes > kMostBytes || tried == kMostTried || found.size() == kMostFound) break;
    if (own.files.contains(one)) continue;
    const auto bytes = fs::file_size(one, error);
    if (error || bytes > kMostOfOne) continue;
    const auto text = platform::read_file(one, kMostOfOne);
    if (!text) continue;
    ++read_files;
    read_bytes += text->size();
    const bool names = has_any(*text, wanted.kernels) || has_any(*text, wanted.functions);
    if (!names && text->find(include) == std::string::npos) continue;
    const ReadSource read = read_source(*text);
    if (defines(read, wanted)) continue;
    const bool used = names && uses(read, wanted);
    const bool included = std::ranges::any_of(
        read.cuda.included, [&](const std::string& header) { return fs::path(header).filename() == self.filename(); });
    if (!used && !included) continue;
    ++tried;
    const auto all = whole(one, {});
    if (!all) continue;
    const bool has_self = all->files.contains(self);
    if (!has_self && !(used && (declares(all->text, wanted) || share(all->files, own.files)))) continue;
    // Without a file in common, nothing would be left out.
    const auto rest = share(all->files, own.files) ? whole(one, own.files) : all;
    if (!rest) continue;
    Launcher launcher{one.lexically_proximate(self.parent_path()).generic_string(), rest->text,
                      has_self ? all->text : "", used};
    found.push_back(std::move(launcher));
  }
  std::ranges::stable_partition(found, [](const Launcher& launcher) { return !launcher.together.empty(); });
  std::ranges::stable_partition(found, &Launcher::uses);
  return found;
}

}  // namespace attnscope::catalog
