#include "cuda_api/driver_calls.h"

#include <algorithm>
#include <iterator>

namespace attnscope::cuda_api {

Result<DriverCalls> DriverCalls::load(const SharedLibrary& library) {
  DriverCalls calls;
  FunctionLoader take{library};
  take("cuInit", calls.init);
  take("cuDeviceGetCount", calls.device_count);
  take("cuDeviceGet", calls.device_get);
  take("cuDeviceGetName", calls.device_name);
  take("cuDeviceGetAttribute", calls.device_attribute);
  take("cuDeviceGetPCIBusId", calls.device_pci_bus_id);
  take("cuDevicePrimaryCtxRetain", calls.primary_context_retain);
  take("cuCtxSetCurrent", calls.context_set_current);
  take("cuModuleLoadData", calls.module_load_data);
  take("cuModuleUnload", calls.module_unload);
  take("cuModuleGetFunction", calls.module_get_function);
  take("cuFuncSetAttribute", calls.function_set_attribute);
  take("cuMemAlloc_v2", calls.memory_alloc);
  take("cuMemFree_v2", calls.memory_free);
  take("cuMemcpyHtoDAsync_v2", calls.copy_to_device);
  take("cuMemcpyDtoH_v2", calls.copy_to_host);
  take("cuMemcpyDtoDAsync_v2", calls.copy_on_device);
  take("cuMemsetD8Async", calls.memory_set);
  take("cuStreamCreate", calls.stream_create);
  take("cuStreamQuery", calls.stream_query);
  take("cuStreamBeginCapture_v2", calls.stream_begin_capture);
  take("cuStreamEndCapture", calls.stream_end_capture);
  take("cuEventCreate", calls.event_create);
  take("cuEventDestroy_v2", calls.event_destroy);
  take("cuEventRecordWithFlags", calls.event_record);
  take("cuEventElapsedTime", calls.event_elapsed);
  take("cuGraphInstantiateWithFlags", calls.graph_instantiate);
  take("cuGraphLaunch", calls.graph_launch);
  take("cuGraphExecDestroy", calls.graph_exec_destroy);
  take("cuGraphDestroy", calls.graph_destroy);
  take("cuLaunchKernelEx", calls.launch);
  take("cuGetErrorName", calls.error_name);
  if (!take.done) return fail(take.done.error());
  return calls;
}

std::string DriverCalls::name_of(int code) const {
  const char* name = nullptr;
  if (error_name(code, &name) == kCudaSuccess && name != nullptr) return name;
  return "CUDA error " + std::to_string(code);
}

bool is_sticky(int code) {
  // CUDA driver API reference, CUresult: those whose description ends with "the process must be terminated and
  // relaunched", and ECC, NVLink and unknown errors, which leave a context in the same state.
  constexpr int kSticky[] = {214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999};
  return std::find(std::begin(kSticky), std::end(kSticky), code) != std::end(kSticky);
}

}  // namespace attnscope::cuda_api
