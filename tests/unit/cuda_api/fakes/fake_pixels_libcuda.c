// The driver's calls that share memory between processes. A handle's first bytes are the address of the memory, which is the
// test's own; what is open and copied is counted in fake_pixels.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "fails.h"

struct Counts {
  int gpu, contexts, opened, closed, copies, waits;
  unsigned flags;
};
struct Counts fake_pixels;

typedef struct {
  char bytes[64];
} Handle;

int cuInit(unsigned flags) { return fails("cuInit") || flags != 0; }
int cuDeviceGet(int* device, int ordinal) {
  *device = 100 + ordinal;
  return fails("cuDeviceGet");
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  ++fake_pixels.contexts;
  *context = (void*)(uintptr_t)device;
  return fails("cuDevicePrimaryCtxRetain");
}
int cuCtxSetCurrent(void* context) {
  fake_pixels.gpu = (int)(uintptr_t)context - 100;
  return fails("cuCtxSetCurrent");
}
int cuCtxSynchronize(void) {
  ++fake_pixels.waits;
  return fails("cuCtxSynchronize");
}
int cuIpcOpenMemHandle_v2(uint64_t* memory, Handle handle, unsigned flags) {
  if (fails("cuIpcOpenMemHandle")) return 1;
  ++fake_pixels.opened;
  fake_pixels.flags = flags;
  memcpy(memory, handle.bytes, sizeof *memory);
  return 0;
}
int cuIpcCloseMemHandle(uint64_t memory) {
  (void)memory;
  ++fake_pixels.closed;
  return 0;
}
int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  if (fails("cuMemcpyHtoD")) return 1;
  ++fake_pixels.copies;
  memcpy((void*)(uintptr_t)to, from, bytes);
  return 0;
}
int cuGetErrorName(int code, const char** name) {
  (void)code;
  *name = "CUDA_ERROR";
  return 0;
}
#define UNUSED(name) \
  int name(void) { return 0; }
UNUSED(cuMemAlloc_v2)
UNUSED(cuMemFree_v2)
UNUSED(cuMemcpy2D_v2)
UNUSED(cuIpcGetMemHandle)
UNUSED(cuGLGetDevices_v2)
UNUSED(cuGraphicsGLRegisterImage)
UNUSED(cuGraphicsUnregisterResource)
UNUSED(cuGraphicsMapResources)
UNUSED(cuGraphicsUnmapResources)
UNUSED(cuGraphicsSubResourceGetMappedArray)
