#include "core/device_id.h"

#include <utility>

namespace attnscope {
namespace {

constexpr std::string_view kEmulated = "emulated:", kGpu = "cuda:";

}  // namespace

DeviceId::DeviceId(std::string_view id) : local(id) {
  if (const size_t slash = id.find('/'); slash != id.npos) {
    worker = id.substr(0, slash);
    local = id.substr(slash + 1);
  }
  for (const auto& [prefix, its] : {std::pair(kEmulated, Kind::emulated), {kGpu, Kind::gpu}})
    if (local.starts_with(prefix)) {
      kind = its;
      name = local.substr(prefix.size());
    }
}

std::string emulated_id(std::string_view name) { return std::string(kEmulated).append(name); }

std::string gpu_id(int ordinal) { return std::string(kGpu) + std::to_string(ordinal); }

std::string id_at(std::string_view worker, std::string_view local_id) {
  return std::string(worker).append("/").append(local_id);
}

}  // namespace attnscope
