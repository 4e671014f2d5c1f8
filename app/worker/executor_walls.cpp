#include "worker/executor_walls.h"

#include <algorithm>
#include <string>

#include "cuda_api/locate.h"
#include "platform/paths.h"
#include "platform/run_tool.h"

namespace attnscope::worker {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxFileBytes = uint64_t{16} << 30;  // the largest file is a kept reference

// The top folder of a path to a home folder: "/home" for /home/ada. Empty for the system's own folders.
fs::path top_of(const fs::path& home) {
  static constexpr const char* kSystem[] = {"usr", "lib", "lib64", "opt", "var", "tmp", "etc", "bin", "sbin", "run"};
  const fs::path relative = home.relative_path();
  if (relative.empty()) return {};
  const std::string first = relative.begin()->string();
  if (std::find(std::begin(kSystem), std::end(kSystem), first) != std::end(kSystem)) return {};
  return fs::path("/") / first;
}

// Allows everything under / except the folders of homes, because a cluster may have its toolkits, drivers and modules
// anywhere.
void add_system(std::vector<fs::path>& read) {
  const std::vector<fs::path> homes = {"/home", "/root", "/media", top_of(platform::environment("HOME"))};
  std::error_code error;
  for (fs::directory_iterator at("/", error), end; !error && at != end; at.increment(error))
    if (std::ranges::find(homes, at->path()) == homes.end()) read.push_back(at->path());
}

// Allows the installations that may be in a home folder.
void add_installed(std::vector<fs::path>& read, const fs::path& resources) {
  read.push_back(resources);
  if (const auto self = platform::own_executable()) {
    read.push_back(self->parent_path());
    read.push_back(self->parent_path().parent_path() / "lib");
  }
  const auto add = [&](const std::vector<fs::path>& more) { read.insert(read.end(), more.begin(), more.end()); };
  add(cuda_api::environment_folders());
  add(cuda_api::package_folders());
  add(cuda_api::toolkits());
  add(platform::program_files());
  std::error_code error;
  for (const cuda_api::ProgramPlace& nvcc : cuda_api::nvcc_places())  // with its toolkit, if it lies in one
    if (const fs::path root = nvcc.program.parent_path().parent_path(); fs::exists(root / "nvvm", error))
      read.push_back(root);
  for (const char* name : {"ATTNSCOPE_NVRTC", "ATTNSCOPE_CUBLAS", "ATTNSCOPE_CUPTI", "ATTNSCOPE_NVDISASM"})
    if (const fs::path file = platform::environment(name); !file.empty()) {
      read.push_back(file.parent_path());
      read.push_back(file.parent_path().parent_path() / "include");  // NVRTC's headers are beside its lib folder
    }
  if (const fs::path cutlass = platform::environment("ATTNSCOPE_CUTLASS"); !cutlass.empty()) read.push_back(cutlass);
}

void add_devices(std::vector<fs::path>& write) {
  std::error_code error;
  for (fs::directory_iterator at("/dev", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    for (const char* prefix : {"nvidia", "nvhost", "nvmap", "dxg", "dri"})
      if (name.starts_with(prefix)) write.push_back(at->path());
  }
}

bool has_gpu() {
  std::error_code error;
  for (const char* device : {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl-gpu", "/dev/nvhost-ctrl"})
    if (fs::exists(device, error)) return true;
  return false;
}

// If the driver's modules are not loaded, libcuda starts this program, which runs as root. A confined process cannot
// start it with these rights, so it runs before.
void load_driver_modules() {
  constexpr const char* program = "/usr/bin/nvidia-modprobe";
  std::error_code error;
  if (!fs::exists(program, error) || fs::exists("/dev/nvidia-uvm", error)) return;
  // If it fails, the driver's own message says what is missing.
  static_cast<void>(platform::run_tool({program, {"-c", "0", "-u"}, {}, 10000, 1 << 16, {}}));
}

}  // namespace

platform::Allowed executor_allowance(const fs::path& cache, const fs::path& resources, bool gpu) {
  platform::Allowed allowed;
  add_system(allowed.read);
  add_installed(allowed.read, resources);
  allowed.write = {cache, "/tmp", "/var/tmp", "/dev/shm", "/dev/null", "/dev/zero", "/proc/self"};
  for (const char* name : {"TMPDIR", "CUDA_CACHE_PATH", "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY"})
    if (const fs::path folder = platform::environment(name); !folder.empty()) allowed.write.push_back(folder);
  if (const fs::path home = platform::environment("HOME"); !home.empty()) allowed.write.push_back(home / ".nv");
  add_devices(allowed.write);
  allowed.sockets = gpu ? platform::Sockets::local : platform::Sockets::none;
  return allowed;
}

void confine_executor(const fs::path& cache, const fs::path& resources) {
  platform::limit_process(kMaxFileBytes);
  platform::go_first_when_memory_runs_out();
  if (platform::confinement_is_off()) return;
  const bool gpu = has_gpu();
  if (gpu) load_driver_modules();
  // A rule needs an existing folder. If it cannot be created, the code that writes files there reports it.
  std::error_code error;
  fs::create_directories(cache, error);
  platform::confine_thread(executor_allowance(cache, resources, gpu));
}

}  // namespace attnscope::worker
