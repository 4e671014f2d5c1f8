// The driver API's calls that app/cuda_api/driver.cpp makes, for a machine with two GPUs.
#include <stddef.h>
#include <stdio.h>

static int initialised = 0;

int cuInit(unsigned flags) {
  initialised = 1;
  return flags == 0 ? 0 : 1;
}
int cuDriverGetVersion(int* version) {
  *version = FAKE_VERSION;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 2;
  return initialised ? 0 : 3;  // CUDA_ERROR_NOT_INITIALIZED
}
int cuDeviceGet(int* device, int ordinal) {
  *device = 100 + ordinal;
  return 0;
}
int cuDeviceGetName(char* name, int length, int device) {
  snprintf(name, (size_t)length, "Fake GPU %d", device);
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? 8 : attribute == 76 ? 9 : -1;
  return 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  (void)device;
  *bytes = (size_t)24 << 30;
  return 0;
}
