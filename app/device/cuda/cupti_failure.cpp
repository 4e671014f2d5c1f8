#include "device/cuda/cupti_failure.h"

#include <string_view>
#include <utility>
#include <vector>

#include "core/joined.h"
#include "platform/running.h"

namespace attnscope::device {
namespace {

using namespace cuda_api;

// Programs that read the counters of every GPU of a machine, as their process is named.
constexpr std::string_view kHolders[] = {"nv-hostengine", "dcgm-exporter", "ncu", "nsys", "nsight-sys"};

Failure no_permission(const std::string& id, const std::string& error) {
  return {
      Stage::device, id + ": the driver lets this user read no hardware counters (" + error + ").",
      "Run as root, or let an administrator set the driver's option NVreg_RestrictProfilingToAdminUsers=0 (a file "
      "in /etc/modprobe.d with \"options nvidia NVreg_RestrictProfilingToAdminUsers=0\", then restart); a container "
      "needs --cap-add=SYS_ADMIN."};
}

Failure held_by_another(const std::string& id, const std::string& error) {
  std::vector<std::string> there = platform::running(kHolders);
  const std::string who = there.empty() ? "another program, which cannot be seen from here" : joined(there, {}, " or ");
  return {Stage::device, id + ": its hardware counters are held by " + who + " (" + error + ").",
          "End it, or pause DCGM's with `dcgmi profiling --pause`."};
}

// Which of its reasons a GPU without support gives.
std::string lacking(const cupti::DeviceSupported& asked) {
  using cupti::Support;
  const std::pair<Support, const char*> reasons[] = {{asked.architecture, "its architecture is too old"},
                                                     {asked.sli, "SLI is on"},
                                                     {asked.vgpu, "it is a virtual GPU"},
                                                     {asked.confidential_compute, "confidential computing is on"},
                                                     {asked.mining, "it is a mining processor"},
                                                     {asked.wsl, "this is WSL"}};
  std::vector<std::string> said;
  for (const auto& [support, why] : reasons)
    if (support == Support::unsupported || support == Support::disabled) said.emplace_back(why);
  return said.empty() ? "CUPTI does not say why" : joined(said);
}

}  // namespace

Result<void> check_cupti(const std::string& id, const CuptiCalls& calls, int code, const char* call) {
  if (code == kCuptiSuccess) return {};
  const std::string error = calls.name_of(code);
  if (code == kCuptiInsufficientPrivileges || code == kCuptiVirtualInsufficientPrivileges)
    return fail(no_permission(id, error));
  if (code == kCuptiHardwareBusy || code == kCuptiMultipleSubscribers) return fail(held_by_another(id, error));
  return fail(Stage::device, id + ": " + call + " failed with " + error + ".",
              "`attnscope doctor` says which CUPTI is used; ATTNSCOPE_CUPTI names another.");
}

Result<void> ask_support(Gpu& gpu, const CuptiCalls& calls, int api, const char* lacks) {
  int device = 0;
  if (auto done = gpu.check(gpu.calls().device_get(&device, gpu.ordinal()), "cuDeviceGet"); !done) return done;
  cupti::DeviceSupported asked{.device = device, .api = api};
  if (auto done = check_cupti(gpu.id(), calls, calls.device_supported(&asked), "cuptiProfilerDeviceSupported"); !done)
    return done;
  if (asked.all == cupti::Support::supported) return {};
  return fail(Stage::device, gpu.id() + " " + lacks + ": " + lacking(asked) + ".",
              "What the emulator counts from the same machine code needs none.");
}

}  // namespace attnscope::device
