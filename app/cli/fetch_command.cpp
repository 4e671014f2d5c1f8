#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/exit_status.h"
#include "platform/paths.h"
#include "platform/process.h"

namespace attnscope::cli {
namespace {

constexpr const char* kByHand =
    "Fetching needs python3 with pip (the package python3-pip) and a network. Without them, copy "
    "~/.cache/attnscope/cuda "
    "from a machine that ran `attnscope fetch`, or install the CUDA toolkit.";
constexpr int kNotFound = 127;
constexpr const char* kNvcc = "nvcc";  // the unit cuda/nvcc, which is fetched only by name

// Waits for the program to end. Its output goes to our stderr.
Result<int> run_to_its_end(const std::vector<std::string>& argv) {
  auto child = platform::spawn_piped(argv);
  if (!child) return fail(child.error());
  close(child->stdin_fd);
  char bytes[4096];
  while (read(child->stdout_fd, bytes, sizeof bytes) > 0) {
  }
  close(child->stdout_fd);
  int status = 0;
  waitpid(child->pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kNotFound;
}

// Says on which terms nvcc is used, and what it needs besides.
void say_about_nvcc() {
  print_note(
      "attnscope: nvcc 13.0 is NVIDIA's, under the CUDA Toolkit End User License Agreement "
      "(https://docs.nvidia.com/cuda/eula/): it may be used here but not passed on. A driver for CUDA 12 cannot run "
      "what it compiles, so attnscope refuses it there.");
  const auto host = run_to_its_end({"g++", "--version"});
  if (!host || *host != 0)
    print_note("attnscope: nvcc needs g++, which is not on this machine: apt install g++, or dnf install gcc-c++.");
}

int fetch(std::vector<std::string> units) {
  auto resources = platform::resources();
  if (!resources) return report(resources.error());
  auto user = platform::user_paths();
  if (!user) return report(user.error());
  if (units.empty()) units = {"cuda/bin", "cuda/12.8", "cuda/13.0", "cuda/cutlass"};
  for (std::string& unit : units)
    if (unit == kNvcc) {
      say_about_nvcc();
      unit = "cuda/nvcc";
    }
  std::vector<std::string> argv{"python3", *resources / "assets" / "fetch.py", user->cache};
  argv.insert(argv.end(), units.begin(), units.end());
  auto pip = run_to_its_end({"python3", "-m", "pip", "--version"});
  if (!pip || *pip != 0) return report({Stage::device, pip ? "python3 has no pip" : "there is no python3", kByHand});
  auto done = run_to_its_end(argv);
  if (!done) return report(done.error());
  if (*done != 0) return report({Stage::device, "not everything was fetched; the reason is above", kByHand});
  print_note("attnscope: everything is in " + (user->cache / "cuda").string());
  return kCorrectOrUnchecked;
}

}  // namespace

void add_fetch(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "fetch",
      "Download what attnscope does not include (nvdisasm, all CUDA headers, CUTLASS) with your own pip, once");
  auto units = std::make_shared<std::vector<std::string>>();
  command
      ->add_option("units", *units,
                   "Only these: cuda/bin (nvdisasm), cuda/12.8, cuda/13.0 (NVRTC and headers), cuda/cutlass, or nvcc "
                   "(nvcc 13.0 for --option compiler=nvcc, which needs g++), which comes only if it is named")
      ->check(CLI::IsMember({"cuda/bin", "cuda/12.8", "cuda/13.0", "cuda/cutlass", kNvcc}));
  command->callback([units, &chosen] { chosen = [units] { return fetch(*units); }; });
}

}  // namespace attnscope::cli
