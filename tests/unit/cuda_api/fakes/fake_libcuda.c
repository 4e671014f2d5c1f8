// The driver API's calls that app/cuda_api/driver.cpp makes, for a machine with two GPUs.
#include <stddef.h>
#include <stdio.h>

#include "fails.h"

enum { invalid_value = 1, not_initialised = 3, unknown = 999 };

static int answer(const char* call) { return fails(call) ? unknown : 0; }

static int initialised = 0;

int cuInit(unsigned flags) {
  initialised = 1;
  return flags == 0 ? answer("cuInit") : invalid_value;
}
int cuDriverGetVersion(int* version) {
  *version = FAKE_VERSION;
  return answer("cuDriverGetVersion");
}
int cuDeviceGetCount(int* count) {
  *count = fails("no GPU") ? 0 : 2;
  return initialised ? answer("cuDeviceGetCount") : not_initialised;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = 100 + ordinal;
  return answer("cuDeviceGet");
}
int cuDeviceGetName(char* name, int length, int device) {
  snprintf(name, (size_t)length, "Fake GPU %d", device);
  return answer("cuDeviceGetName");
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? 8 : attribute == 76 ? 9 : -1;
  return answer(attribute == 75 ? "major" : "minor");
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  (void)device;
  *bytes = (size_t)24 << 30;
  return answer("cuDeviceTotalMem");
}
