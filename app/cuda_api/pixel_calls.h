#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/result.h"
#include "cuda_api/driver_calls.h"

namespace attnscope::cuda_api {

struct GraphicsResourceState;
struct ArrayState;
using GraphicsResource = GraphicsResourceState*;
using Array = ArrayState*;

// CUipcMemHandle. Passed by value, so its size and type matter.
struct IpcHandle {
  std::array<char, 64> bytes{};
};

// CUDA_MEMCPY2D. Memory types: 1 host, 2 device, 3 array.
struct Copy2d {
  size_t from_x_bytes = 0, from_y = 0;
  unsigned from_type = 0;
  const void* from_host = nullptr;
  DevicePointer from_device = 0;
  Array from_array = nullptr;
  size_t from_pitch = 0;
  size_t to_x_bytes = 0, to_y = 0;
  unsigned to_type = 0;
  void* to_host = nullptr;
  DevicePointer to_device = 0;
  Array to_array = nullptr;
  size_t to_pitch = 0;
  size_t width_bytes = 0, height = 0;
};
static_assert(sizeof(Copy2d) == 128);

// The functions of libcuda that share GPU memory between processes and with OpenGL, named as in the CUDA driver API's
// reference; each returns a CUresult.
struct PixelCalls {
  // Loads them from the library that Driver::open() uses. Failure (Stage::device): there is no driver, or it lacks
  // these functions.
  static Result<PixelCalls> open();

  std::string name_of(int code) const;  // "CUDA_ERROR_NO_DEVICE"

  int (*init)(unsigned flags) = nullptr;
  int (*device_get)(int* device, int ordinal) = nullptr;
  int (*primary_context_retain)(Context* context, int device) = nullptr;
  int (*context_set_current)(Context context) = nullptr;
  int (*context_synchronize)() = nullptr;
  int (*memory_alloc)(DevicePointer* memory, size_t bytes) = nullptr;
  int (*memory_free)(DevicePointer memory) = nullptr;
  int (*copy_to_device)(DevicePointer to, const void* from, size_t bytes) = nullptr;
  int (*copy_2d)(const Copy2d* copy) = nullptr;
  int (*ipc_get)(IpcHandle* handle, DevicePointer memory) = nullptr;
  int (*ipc_open)(DevicePointer* memory, IpcHandle handle, unsigned flags) = nullptr;
  int (*ipc_close)(DevicePointer memory) = nullptr;
  int (*gl_devices)(unsigned* count, int* devices, unsigned most, unsigned which) = nullptr;
  int (*register_image)(GraphicsResource* resource, unsigned texture, unsigned target, unsigned flags) = nullptr;
  int (*unregister)(GraphicsResource resource) = nullptr;
  int (*map)(unsigned count, GraphicsResource* resources, Stream stream) = nullptr;
  int (*unmap)(unsigned count, GraphicsResource* resources, Stream stream) = nullptr;
  int (*mapped_array)(Array* array, GraphicsResource resource, unsigned index, unsigned level) = nullptr;
  int (*error_name)(int code, const char** name) = nullptr;
};

}  // namespace attnscope::cuda_api
