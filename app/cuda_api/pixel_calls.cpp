#include "cuda_api/pixel_calls.h"

#include "cuda_api/shared_library.h"
#include "platform/paths.h"

namespace attnscope::cuda_api {

Result<PixelCalls> PixelCalls::open() {
  const std::string named = platform::environment("ATTNSCOPE_LIBCUDA");
  const auto library = SharedLibrary::open(named.empty() ? "libcuda.so.1" : named);
  if (!library) return fail(library.error());
  PixelCalls calls;
  FunctionLoader take{*library};
  take("cuInit", calls.init);
  take("cuDeviceGet", calls.device_get);
  take("cuDevicePrimaryCtxRetain", calls.primary_context_retain);
  take("cuCtxSetCurrent", calls.context_set_current);
  take("cuCtxSynchronize", calls.context_synchronize);
  take("cuMemAlloc_v2", calls.memory_alloc);
  take("cuMemFree_v2", calls.memory_free);
  take("cuMemcpyHtoD_v2", calls.copy_to_device);
  take("cuMemcpy2D_v2", calls.copy_2d);
  take("cuIpcGetMemHandle", calls.ipc_get);
  take("cuIpcOpenMemHandle_v2", calls.ipc_open);
  take("cuIpcCloseMemHandle", calls.ipc_close);
  take("cuGLGetDevices_v2", calls.gl_devices);
  take("cuGraphicsGLRegisterImage", calls.register_image);
  take("cuGraphicsUnregisterResource", calls.unregister);
  take("cuGraphicsMapResources", calls.map);
  take("cuGraphicsUnmapResources", calls.unmap);
  take("cuGraphicsSubResourceGetMappedArray", calls.mapped_array);
  take("cuGetErrorName", calls.error_name);
  if (!take.done) return fail(take.done.error());
  return calls;
}

std::string PixelCalls::name_of(int code) const {
  const char* name = nullptr;
  if (error_name(code, &name) == kCudaSuccess && name != nullptr) return name;
  return "CUDA error " + std::to_string(code);
}

}  // namespace attnscope::cuda_api
