#include "compile/nvrtc_compile.h"

#include <algorithm>
#include <list>
#include <tuple>
#include <utility>

#include "compile/builtin_headers.h"
#include "compile/compile_errors.h"
#include "compile/extern_variables.h"
#include "compile/host_code.h"
#include "compile/implied_headers.h"
#include "compile/include_scan.h"
#include "compile/launch_bounds.h"
#include "compile/needed_code.h"
#include "compile/second_try.h"
#include "core/cpp_tokens.h"
#include "platform/confine.h"

namespace attnscope::compile {
namespace {

namespace fs = std::filesystem;

// Replaces Thrust's and CUB's headers that the source includes and NVRTC refuses, because only host code uses them.
struct Stand {
  std::string header;
  const char* text;
};
// `needed`: what the kernel needs of the source.
std::vector<Stand> stands_for(const std::string& source, const std::string& needed) {
  const auto tokens = cpp_tokens(needed);
  const bool uses_cub = std::ranges::any_of(tokens, [](const CppToken& token) { return token.is("cub"); });
  std::vector<Stand> stands;
  for (const IncludedName& one : scan_includes(source).names) {
    if (stands.size() == kMostAbsent) break;
    if (one.name.starts_with("thrust/")) stands.push_back({one.name, ""});
    if (one.name == "cub/cub.cuh") stands.push_back({one.name, uses_cub ? kDeviceCub : ""});
  }
  return stands;
}

// After a refusal, the kernel is compiled again without the declarations that it does not reach, with empty texts for
// missing headers, without the host part of Thrust and CUB if NVRTC refuses it, and as nvcc does on Linux: with
// __linux__ and __int128. `output` keeps the refusal if that does not compile either.
void retry_without_unneeded(const cuda_api::Nvrtc& nvrtc, const std::string& source, const std::string& name,
                            const CompileRequest& request, std::vector<std::string> options,
                            cuda_api::NvrtcOutput& output) {
  options.emplace_back("-D__linux__=1");
  options.emplace_back("--device-int128");
  const std::string needed = only_needed(source, request.entry);
  const std::string& log = output.log;
  std::string note;
  const bool of_clusters = log.find("max blocks per cluster") != std::string::npos;
  if (of_clusters) note += "The launch bound of a cluster is left out: this GPU has none.\n";
  std::list<std::string> absent;  // the headers below point into it
  const auto known = builtin_headers();
  std::vector<cuda_api::NvrtcHeader> headers(known.begin(), known.end());
  const std::vector<Stand> stands = in_thrust(log) ? stands_for(source, needed) : std::vector<Stand>();
  for (const Stand& one : stands) headers.push_back({one.header.c_str(), one.text});
  if (!stands.empty()) note += "NVRTC refuses the host's part of Thrust or CUB; the kernel compiles without it.\n";
  const bool wide = log.find("--device-int128") != std::string::npos;
  if (needed == source && missing_header_in(log).empty() && !wide && stands.empty() && !of_clusters) return;
  const std::string text = of_clusters && request.options.launch_bounds == 0
                               ? without_cluster_bounds(needed)
                               : with_launch_bounds(needed, request.options.launch_bounds);
  const auto add_empty = [&](const std::string& header) -> Result<void> {
    headers.push_back({absent.emplace_back(header).c_str(), ""});
    return {};
  };
  std::ignore =
      try_again(source, {[&] { return nvrtc.compile(text, name, request.entry, options, headers); }, add_empty},
                std::move(note), output);
}

}  // namespace

Result<cuda_api::NvrtcOutput> compile_with_nvrtc(const cuda_api::Nvrtc& nvrtc, const CompileRequest& request,
                                                 const std::string& name, std::vector<std::string> options,
                                                 const std::vector<fs::path>& folders, const IncludeClosure& includes) {
  for (const fs::path& folder : folders) options.push_back("-I" + folder.string());
  // From this version on NVRTC has its own cache, which knows less about the headers than ours.
  if (std::pair(nvrtc.major(), nvrtc.minor()) >= std::pair(12, 9)) options.push_back("--no-cache");
  const std::string source =
      with_rooted_lines(with_implied_headers(with_extern_variables_defined(without_host_code(request.source))));
  platform::Allowed allowed{includes.files, {}, platform::Sockets::none};
  for (const char* harmless : {"/etc/localtime", "/dev/null", "/dev/urandom", "/sys/devices/system/cpu"})
    allowed.read.emplace_back(harmless);
  Result<cuda_api::NvrtcOutput> output;
  const auto ran = platform::on_confined_thread(allowed, [&](platform::Walls walls) {
    if (const Result<void> checked = walls.files ? Result<void>() : check_own_includes(request.source, name);
        !checked) {
      output = fail(checked.error().stage, checked.error().message,
                    checked.error().hint +
                        " `attnscope doctor` says why this machine cannot keep the compiler from other files.");
      return;
    }
    output = nvrtc.compile(with_launch_bounds(source, request.options.launch_bounds), kSourceRoot + name, request.entry,
                           options, builtin_headers());
    if (output && !output->compiled)
      retry_without_unneeded(nvrtc, source, kSourceRoot + name, request, options, *output);
  });
  if (!ran) return fail(ran.error());
  return output;
}

}  // namespace attnscope::compile
