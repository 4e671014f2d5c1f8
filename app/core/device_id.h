#pragma once
#include <string>
#include <string_view>

namespace attnscope {

// A device's id in its parts, which are views of it. A worker's name stands for its best device.
struct DeviceId {
  enum class Kind { emulated, gpu, none };

  explicit DeviceId(std::string_view id);
  bool is_own() const { return worker.empty(); }  // this machine's
  // Whether it is a device of that worker, or the worker's name.
  bool is_of(std::string_view name_of_worker) const { return (is_own() ? local : worker) == name_of_worker; }

  std::string_view worker;  // "l4box" of "l4box/cuda:0"; empty: none is named
  std::string_view local;   // "cuda:0", as its worker calls it
  Kind kind = Kind::none;   // none: `local` is no device's
  std::string_view name;    // "0" of "cuda:0", "l4" of "emulated:l4"
};

std::string emulated_id(std::string_view name);                         // "emulated:l4"
std::string gpu_id(int ordinal);                                        // "cuda:0"
std::string id_at(std::string_view worker, std::string_view local_id);  // "l4box/cuda:0"

}  // namespace attnscope
