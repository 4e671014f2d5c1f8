// The NVML calls that app/cuda_api/nvml.cpp makes, for a machine with one GPU. A call that fails leaves 999 behind, which is no
// figure of the GPU's.
#include <stdio.h>

#include "fails.h"

enum { invalid_argument = 2, not_found = 6, insufficient_size = 7, unknown = 999 };

static int gpu;

static int tell(const char* call, unsigned* out, unsigned value, int known) {
  const int code = fails(call) ? unknown : known ? 0 : invalid_argument;
  *out = code == 0 ? value : 999;
  return code;
}

int nvmlInit_v2(void) { return fails("nvmlInit_v2") ? 9 : 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  if (length < 80) return insufficient_size;
  snprintf(text, length, "580.95.05");
  return fails("nvmlSystemGetDriverVersion") ? unknown : 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, int** handle) {
  if (strcmp(id, "00000000:17:00.0") != 0) return not_found;
  *handle = &gpu;
  return 0;
}
int nvmlDeviceGetClockInfo(int* handle, int type, unsigned* mhz) {
  return tell("nvmlDeviceGetClockInfo", mhz, 1410, handle == &gpu && type == 1 /* of the SMs */);
}
int nvmlDeviceGetPowerUsage(int* handle, unsigned* milliwatt) {
  return tell("nvmlDeviceGetPowerUsage", milliwatt, 234500, handle == &gpu);
}
int nvmlDeviceGetEnforcedPowerLimit(int* handle, unsigned* milliwatt) {
  return tell("nvmlDeviceGetEnforcedPowerLimit", milliwatt, 700000, handle == &gpu);
}
int nvmlDeviceGetTemperature(int* handle, int sensor, unsigned* celsius) {
  return tell("nvmlDeviceGetTemperature", celsius, 61, handle == &gpu && sensor == 0 /* the GPU's own */);
}
int FAKE_REASONS(int* handle, unsigned long long* reasons) {
  unsigned value = 0;
  const int code = tell("reasons", &value, 0x24, handle == &gpu);
  *reasons = value;
  return code;
}
