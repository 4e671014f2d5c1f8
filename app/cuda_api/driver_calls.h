#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/result.h"
#include "cuda_api/shared_library.h"

namespace attnscope::cuda_api {

// The driver API's handles: opaque pointers.
struct ContextState;
struct ModuleState;
struct FunctionState;
struct StreamState;
struct EventState;
struct GraphState;
struct GraphExecState;
using Context = ContextState*;
using Module = ModuleState*;
using Function = FunctionState*;
using Stream = StreamState*;
using Event = EventState*;
using Graph = GraphState*;
using GraphExec = GraphExecState*;
using DevicePointer = uint64_t;  // CUdeviceptr

// CUlaunchAttribute, for CU_LAUNCH_ATTRIBUTE_COOPERATIVE: all CTAs exist at once.
struct CooperativeAttribute {
  int id = 2;
  char padding[4] = {};
  int cooperative = 1;
  char other_values[60] = {};
};
static_assert(sizeof(CooperativeAttribute) == 72);

// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;  // dynamic
  Stream stream = nullptr;
  void* attributes = nullptr;  // array of CUlaunchAttribute
  unsigned attribute_count = 0;
};
static_assert(sizeof(LaunchConfig) == 56);

// The CUresult values that this program distinguishes.
inline constexpr int kCudaSuccess = 0;
inline constexpr int kCudaOutOfMemory = 2;
inline constexpr int kCudaNotReady = 600;

// CUdevice_attribute.
enum class Attribute : int {
  max_threads_per_block = 1,
  max_shared_memory_per_block = 8,
  max_registers_per_block = 12,
  clock_rate = 13,  // kHz
  multiprocessor_count = 16,
  memory_clock_rate = 36,        // kHz
  global_memory_bus_width = 37,  // bits
  l2_cache_size = 38,            // bytes
  max_threads_per_multiprocessor = 39,
  compute_capability_major = 75,
  compute_capability_minor = 76,
  max_shared_memory_per_multiprocessor = 81,
  max_registers_per_multiprocessor = 82,
  max_shared_memory_per_block_optin = 97,
  max_blocks_per_multiprocessor = 106,
  reserved_shared_memory_per_block = 111,
};

// The driver API's functions that run kernels, named as in its reference (CUDA 11.8 and later); each returns a
// CUresult. A plain table, so that a test can substitute its own functions for a GPU.
struct DriverCalls {
  int (*init)(unsigned flags) = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*device_get)(int* device, int ordinal) = nullptr;
  int (*device_name)(char*, int length, int device) = nullptr;
  int (*device_attribute)(int* value, int attribute, int device) = nullptr;
  int (*device_pci_bus_id)(char*, int length, int device) = nullptr;
  int (*primary_context_retain)(Context*, int device) = nullptr;
  int (*context_set_current)(Context) = nullptr;
  int (*module_load_data)(Module*, const void* image) = nullptr;
  int (*module_unload)(Module) = nullptr;
  int (*module_get_function)(Function*, Module, const char* name) = nullptr;
  int (*function_set_attribute)(Function, int attribute, int value) = nullptr;
  int (*memory_alloc)(DevicePointer*, size_t bytes) = nullptr;
  int (*memory_free)(DevicePointer) = nullptr;
  int (*copy_to_device)(DevicePointer, const void*, size_t bytes, Stream) = nullptr;
  int (*copy_to_host)(void*, DevicePointer, size_t bytes) = nullptr;
  int (*copy_on_device)(DevicePointer to, DevicePointer from, size_t bytes, Stream) = nullptr;
  int (*memory_set)(DevicePointer, unsigned char value, size_t bytes, Stream) = nullptr;
  int (*stream_create)(Stream*, unsigned flags) = nullptr;
  int (*stream_query)(Stream) = nullptr;
  int (*stream_begin_capture)(Stream, int mode) = nullptr;
  int (*stream_end_capture)(Stream, Graph*) = nullptr;
  int (*event_create)(Event*, unsigned flags) = nullptr;
  int (*event_destroy)(Event) = nullptr;
  int (*event_record)(Event, Stream, unsigned flags) = nullptr;
  int (*event_elapsed)(float* ms, Event from, Event to) = nullptr;
  int (*graph_instantiate)(GraphExec*, Graph, unsigned long long flags) = nullptr;
  int (*graph_launch)(GraphExec, Stream) = nullptr;
  int (*graph_exec_destroy)(GraphExec) = nullptr;
  int (*graph_destroy)(Graph) = nullptr;
  int (*launch)(const LaunchConfig*, Function, void** parameters, void** extra) = nullptr;
  int (*error_name)(int code, const char**) = nullptr;

  // Failure (Stage::device) that names the first function that the library lacks.
  static Result<DriverCalls> load(const SharedLibrary& library);

  std::string name_of(int code) const;  // "CUDA_ERROR_ILLEGAL_ADDRESS"
};

// True if a context is unusable after this error: an illegal access of a kernel and the like, or a lost GPU. The
// process that owns the context must end.
bool is_sticky(int code);

}  // namespace attnscope::cuda_api
