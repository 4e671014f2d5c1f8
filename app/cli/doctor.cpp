// What this machine has for attnscope, item by item. Each item says what its absence prevents, because no run needs all
// of them.
#include "cli/doctor.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/places.h"
#include "cli/worker_options.h"
#include "cli/worker_snapshot.h"
#include "core/escape.h"
#include "core/joined.h"
#include "core/json.h"
#include "cuda_api/choose.h"
#include "cuda_api/driver.h"
#include "cuda_api/locate.h"
#include "cuda_api/nvcc.h"
#include "cuda_api/nvml.h"
#include "cuda_api/nvrtc.h"
#include "platform/confine.h"
#include "platform/paths.h"
#include "session/session.h"
#include "store/workers.h"
#ifdef ATTNSCOPE_HAS_UI
#include "ui/app.h"
#endif

namespace attnscope::cli {
namespace {

namespace fs = std::filesystem;
using State = Checkup::State;

constexpr const char* kFetch = "attnscope fetch";

Checkup found(std::string name, std::string what) { return {std::move(name), State::found, std::move(what), "", ""}; }
Checkup missing(std::string name, const Failure& why, std::string cost) {
  return {std::move(name), State::missing, why.message, std::move(cost), why.hint};
}

Checkup display() {
  const std::string cost = "No window here; run, shot, worker and all the others need none.";
#ifdef ATTNSCOPE_HAS_UI
  if (auto probed = ui::probe_display(); !probed) return missing("display", probed.error(), cost);
  return found("display", "a window with OpenGL 3.3 can be opened");
#else
  return missing("display",
                 {Stage::input, "this attnscope was built without its window", "Build with ATTNSCOPE_UI=ON."}, cost);
#endif
}

Checkup driver() {
  const std::string cost = "No GPU here: kernels run on the emulated devices, and times are modelled, not measured.";
  auto driver = cuda_api::Driver::open();
  if (!driver) return missing("driver", driver.error(), cost);
  const std::string version = "CUDA " + driver->version_text();
  auto gpus = driver->gpus();
  if (!gpus)
    return missing("driver", {Stage::device, version + ", but " + gpus.error().message, gpus.error().hint}, cost);
  std::string names;
  for (const cuda_api::GpuInfo& gpu : *gpus)
    names +=
        fmt::format(", cuda:{} {} sm_{} {:.0f} GB", gpu.ordinal, gpu.name, gpu.arch, double(gpu.memory_bytes) / 1e9);
  if (names.empty())
    return missing("driver", {Stage::device, version + ", but no GPU", "Check the GPU with nvidia-smi."}, cost);
  return found("driver", version + names);
}

Checkup headers_of(const cuda_api::Nvrtc& nvrtc) {
  const std::vector<fs::path>& includes = nvrtc.place().includes;
  std::vector<std::string> there, lacks;
  for (const char* name : {"cuda_fp16.h", "cuda_bf16.h", "mma.h"}) {
    const auto holds = [&](const fs::path& include) {
      std::error_code error;
      return fs::exists(include / name, error);
    };
    (std::ranges::any_of(includes, holds) ? there : lacks).emplace_back(name);
  }
  const std::string lacking = joined(lacks);
  const std::string place = includes.empty() ? "none" : includes.front().string() + ": " + joined(there);
  if (lacking.empty()) return found("headers", place);
  return {"headers", State::missing, place + "; not " + lacking, "Kernels that include " + lacking + " do not compile.",
          kFetch};
}

Checkup cutlass() {
  auto include = cuda_api::locate_headers("cutlass");
  if (include) return found("CUTLASS", include->string());
  return missing("CUTLASS", include.error(), "Kernels that include CUTLASS or CuTe do not compile.");
}

void compiler(std::vector<Checkup>& all) {
  auto nvrtc = cuda_api::choose_nvrtc();
  if (!nvrtc) {
    all.push_back(missing("NVRTC", nvrtc.error(), "Nothing compiles: only variants in the cache run."));
    return;
  }
  const cuda_api::LibraryPlace& place = (*nvrtc)->place();
  all.push_back(found("NVRTC", (*nvrtc)->version_text() + ", " + place.origin + ", " + place.library.string()));
  all.push_back(headers_of(**nvrtc));
  all.push_back(cutlass());
}

Checkup nvcc() {
  auto nvcc = cuda_api::choose_nvcc();
  if (nvcc) return found("nvcc", nvcc->version + ", " + nvcc->origin + ", " + nvcc->program.string());
  return missing("nvcc", nvcc.error(), "The option compiler=nvcc is refused; NVRTC compiles everything else.");
}

Checkup nvdisasm() {
  auto place = cuda_api::locate_nvdisasm();
  if (place) return found("nvdisasm", place->string());
  return missing("nvdisasm", place.error(),
                 "Emulated devices run the shipped presets and what the cache holds; not a config of your own.");
}

Checkup nvml() {
  auto nvml = cuda_api::Nvml::open();
  if (nvml) return found("NVML", "driver " + (*nvml)->driver_version());
  return missing("NVML", {Stage::device, nvml.error().message, "It comes with the GPU's driver."},
                 "Measured times lack clock, power and the reasons for throttling.");
}

Checkup library(cuda_api::CudaLibrary which, std::string cost) {
  auto chosen = cuda_api::choose_library(which);
  const std::string& title = cuda_api::name_of(which).title;
  if (!chosen && !cuda_api::Driver::open())
    return missing(title, {Stage::device, "needs a driver, which is missing", "Install the GPU's driver first."},
                   std::move(cost));
  if (!chosen) return missing(title, chosen.error(), std::move(cost));
  return found(title, chosen->version + ", " + chosen->place.origin + ", " + chosen->place.library.string());
}

// The confinement of a kernel and its compiler, tested by applying it.
Checkup confinement() {
  const std::string cost =
      "Kernels still run; their #include lines may only use plain names, and a hostile kernel that exploits a faulty "
      "library or driver is restricted less. docs/security.md says how.";
  if (platform::confinement_is_off())
    return {"confinement", State::missing, "off: ATTNSCOPE_CONFINE is \"off\"", cost, "Unset it."};
  platform::Walls walls;
  if (auto ran = platform::on_confined_thread({}, [&](platform::Walls standing) { walls = standing; }); !ran)
    return missing("confinement", ran.error(), cost);
  const std::string files = fmt::format("landlock {}: the compiler reads headers only, executors write caches only",
                                        platform::landlock_version());
  const std::string sockets = "seccomp: no network";
  if (walls.files && walls.sockets) return found("confinement", files + "; " + sockets);
  const std::string what = walls.files ? files + "; no seccomp: the network is open"
                           : walls.sockets
                               ? sockets + "; no landlock: files are open"
                               : std::string("neither landlock nor seccomp: files and the network are open");
  return {"confinement", State::missing, what, cost,
          "A Linux kernel from 5.13 on with landlock among its security modules; a container must not filter it."};
}

Checkup cache() {
  auto user = platform::user_paths();
  if (!user) return missing("cache", user.error(), "Every run compiles and computes its reference again.");
  std::string text = user->cache.string();
  for (const char* folder : {"variants", "programs", "references", "cuda"}) {
    uint64_t bytes = 0, files = 0;
    std::error_code error;
    for (fs::recursive_directory_iterator at(user->cache / folder, error), end; !error && at != end;
         at.increment(error))
      if (std::error_code gone; at->is_regular_file(gone)) {
        bytes += at->file_size(gone);
        ++files;
      }
    text += fmt::format(", {} {:.1f} MB in {} files", folder, double(bytes) / 1e6, files);
  }
  return found("cache", text);
}

Checkup checkup_of(const session::WorkerStatus& worker, int seconds) {
  const std::string name = "worker " + worker.name;
  const std::string cost = worker.name == store::kOwnWorker ? "Nothing runs." : "Its devices cannot be used.";
  switch (worker.state) {
    case session::WorkerState::ready:
    case session::WorkerState::busy: {
      std::string text = "attnscope " + worker.versions.app;
      if (!worker.versions.driver.empty()) text += ", driver " + worker.versions.driver;
      for (const DeviceSpec& device : worker.devices) text += ", " + device.id;
      return found(name, text);
    }
    case session::WorkerState::lost:
      return {name, State::missing, worker.detail, cost,
              "Run its command by hand; it must print a line attnscope-worker."};
    case session::WorkerState::starting:
    case session::WorkerState::restarting:
      break;
  }
  return {name, State::waiting, fmt::format("no answer within {} s: {}", seconds, worker.detail), cost,
          "It may be waiting in a queue: --wait SECONDS waits longer."};
}

}  // namespace

std::vector<Checkup> examine_machine() {
  std::vector<Checkup> all{display(), driver()};
  compiler(all);
  all.push_back(nvcc());
  all.push_back(nvdisasm());
  all.push_back(nvml());
  all.push_back(library(cuda_api::CudaLibrary::cupti,
                        "It reads a GPU's own counters for `attnscope counters`; without it the emulator counts, from "
                        "the same machine code."));
  all.push_back(library(cuda_api::CudaLibrary::cublas, "No cuBLAS routine to compare with."));
  all.push_back(confinement());
  all.push_back(cache());
  return all;
}

std::vector<Checkup> examine_workers(int seconds) {
  auto options = session_options({}, false);
  if (!options) return {missing("workers", options.error(), "Nothing runs.")};
  std::string none;
  std::vector<Checkup> all;
  if (auto user = platform::user_paths())
    if (auto named = store::read_named_workers(user->data / "settings.json"); !named)
      all.push_back(missing("named workers", named.error(), "Their devices cannot be used."));
  if (auto added = add_workers(*options, {}, Named::all, none); !added)
    all.push_back(missing("named workers", added.error(), "Their devices cannot be used."));
  auto snapshot = snapshot_with_devices(std::move(*options), std::chrono::seconds(seconds));
  if (!snapshot) return {missing("workers", snapshot.error(), "Nothing runs.")};
  for (const session::WorkerStatus& worker : (*snapshot)->workers) all.push_back(checkup_of(worker, seconds));
  return all;
}

std::string text_of(const std::vector<Checkup>& checkups) {
  std::string text;
  for (const Checkup& checkup : checkups) {
    const char* mark = checkup.state == State::found     ? "found"
                       : checkup.state == State::waiting ? "waiting"
                                                         : "missing";
    text += fmt::format("{:<8} {:<14} {}\n", mark, one_line(checkup.name), one_line(checkup.what));
    const std::string margin(24, ' ');
    if (!checkup.cost.empty()) text += margin + "costs: " + one_line(checkup.cost) + "\n";
    if (!checkup.get.empty()) text += margin + "to get it: " + one_line(checkup.get) + "\n";
  }
  return text;
}

Json json_of(const std::vector<Checkup>& checkups) {
  Json list = Json::array();
  for (const Checkup& checkup : checkups) {
    const char* state = checkup.state == State::found     ? "found"
                        : checkup.state == State::waiting ? "waiting"
                                                          : "missing";
    list.push_back(Json{{"name", checkup.name},
                        {"state", state},
                        {"what", checkup.what},
                        {"cost", checkup.cost},
                        {"get", checkup.get}});
  }
  return list;
}

}  // namespace attnscope::cli
