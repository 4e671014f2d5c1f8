#include "cuda_api/nvcc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <utility>

#include "core/joined.h"
#include "cuda_api/driver.h"
#include "cuda_api/locate.h"
#include "platform/confine.h"
#include "platform/paths.h"
#include "platform/run_tool.h"

namespace attnscope::cuda_api {
namespace {

namespace fs = std::filesystem;

constexpr int kVersionMs = 5000;
constexpr size_t kMostVersionBytes = 1 << 16;
constexpr const char* kHint =
    "Run `attnscope fetch nvcc`, which fetches nvcc 13.0, install a CUDA toolkit, set $ATTNSCOPE_NVCC to an nvcc, or "
    "compile with compiler=nvrtc.";
constexpr const char* kOlderHint =
    "Install a CUDA toolkit of the driver's version or update the driver, or compile with compiler=nvrtc.";
constexpr const char* kHostHint =
    "Install g++ (apt install g++, or dnf install gcc-c++), set $NVCC_CCBIN to a host compiler, or compile with "
    "compiler=nvrtc.";

// What a program says of its version. Failure (Stage::compile) if it does not run.
Result<std::string> version_text(const fs::path& program) {
  platform::Allowed allowed{platform::program_files(), {"/dev/null"}, platform::Sockets::none};
  allowed.read.push_back(program.parent_path());
  platform::ToolRun run;
  run.program = program;
  run.arguments = {"--version"};
  run.deadline_ms = kVersionMs;
  run.max_output_bytes = kMostVersionBytes;
  run.starts_others = true;
  Result<platform::ToolOutput> output;
  const auto ran = platform::on_confined_thread(allowed, [&](platform::Walls) { output = platform::run_tool(run); });
  if (!ran) return fail(ran.error());
  if (!output) return fail(Stage::compile, output.error().message, output.error().hint);
  return output->out;
}

Result<Nvcc> asked(const ProgramPlace& place) {
  auto said = version_text(place.program);
  if (!said) return fail(said.error());
  Nvcc nvcc{place.program, nvcc_version_in(*said), 0, place.origin, {}};
  nvcc.major = std::atoi(nvcc.version.c_str());
  if (nvcc.major == 0)
    return fail(Stage::compile, place.program.string() + " is not nvcc: it does not say nvcc's version.", kHint);
  return nvcc;
}

// nvcc preprocesses with a host compiler; the first line of its --version names it. Failure if there is none.
Result<std::string> host_compiler() {
  fs::path program = platform::environment("NVCC_CCBIN");
  std::error_code error;
  if (program.empty()) program = "g++";
  if (fs::is_directory(program, error)) program /= "g++";
  auto said = version_text(program);
  if (!said || said->empty())
    return fail(Stage::compile, "nvcc needs a host compiler, and " + program.string() + " is not on this machine.",
                kHostHint);
  return program.string() + " " + said->substr(0, said->find('\n'));
}

}  // namespace

std::vector<fs::path> Nvcc::includes() const {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const char* folder :
       {"include", "include/cccl", "targets/x86_64-linux/include", "targets/x86_64-linux/include/cccl",
        "targets/sbsa-linux/include", "targets/sbsa-linux/include/cccl"})
    if (const fs::path real = fs::canonical(root() / folder, error);
        !error && fs::is_directory(real, error) && std::ranges::find(folders, real) == folders.end())
      folders.push_back(real);
  return folders;
}

std::string nvcc_version_in(std::string_view text) {
  constexpr std::string_view before = ", V";  // "Cuda compilation tools, release 13.0, V13.0.88"
  size_t at = text.find("release ");
  at = at == std::string_view::npos ? at : text.find(before, at);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  return std::string(text.substr(0, text.find_first_not_of("0123456789.")));
}

Result<Nvcc> choose_nvcc() {
  auto driver = Driver::open();
  if (!driver && !platform::environment("ATTNSCOPE_LIBCUDA").empty())
    return fail(Stage::compile, "$ATTNSCOPE_LIBCUDA: " + driver.error().message, driver.error().hint);
  std::optional<Nvcc> best;
  std::vector<std::string> reasons;
  const auto better = [&](const Nvcc& one) {
    return !best || (driver ? one.major > best->major : one.major < best->major);
  };
  bool too_new = false;
  for (const ProgramPlace& place : nvcc_places()) {
    auto nvcc = asked(place);
    if (!nvcc) {
      reasons.push_back(nvcc.error().message);
    } else if (driver && nvcc->major > driver->version() / 1000) {
      too_new = true;
      reasons.push_back(fmt::format("nvcc {} ({}) makes code for CUDA {}, which the driver, for CUDA {}, cannot run.",
                                    nvcc->version, nvcc->origin, nvcc->major, driver->version_text()));
    } else if (better(*nvcc)) {
      best = std::move(*nvcc);
    }
  }
  if (!best)
    return fail(Stage::compile, reasons.empty() ? "There is no nvcc on this machine." : joined(reasons, {}, " "),
                too_new ? kOlderHint : kHint);
  auto host = host_compiler();
  if (!host) return fail(host.error());
  best->host_compiler = std::move(*host);
  return std::move(*best);
}

}  // namespace attnscope::cuda_api
