#pragma once
#include "core/device_spec.h"

namespace attnscope::model {

// The limits of two devices, so that these tests need no file (CUDA programming guide, table of compute capabilities).
inline DeviceSpec l4() {
  DeviceSpec spec;
  spec.id = "emulated:l4";
  spec.arch = 89;
  spec.sms = 58;
  spec.shared_static_block = 49152;
  spec.shared_optin_block = 101376;
  spec.shared_sm = 102400;
  spec.shared_reserved_block = 1024;
  spec.warps_sm = 48;
  spec.ctas_sm = 24;
  spec.registers_sm = spec.registers_block = 65536;
  spec.clock_mhz = 2040;
  spec.dram_gbs = 300;
  spec.l2_mb = 48;
  spec.tensor_tflops_f16 = 121;
  return spec;
}

inline DeviceSpec h200() {
  DeviceSpec spec = l4();
  spec.id = "emulated:h200";
  spec.arch = 90;
  spec.sms = 132;
  spec.shared_optin_block = 232448;
  spec.shared_sm = 233472;
  spec.warps_sm = 64;
  spec.ctas_sm = 32;
  spec.clock_mhz = 1980;
  spec.dram_gbs = 4800;
  spec.l2_mb = 50;
  return spec;
}

inline DeviceSpec a100() {
  DeviceSpec spec = h200();
  spec.id = "emulated:a100";
  spec.arch = 80;
  spec.sms = 108;
  spec.shared_optin_block = 166912;
  spec.shared_sm = 167936;
  return spec;
}

// Rates in round numbers, so that sums are easy.
inline DeviceSpec round_rates() {
  DeviceSpec spec = h200();
  spec.rates = {
      {"latency_shared", 20},  {"latency_l1", 30},      {"latency_l2", 300},     {"latency_branch", 0}, {"code_own", 0},
      {"latency_barrier", 10}, {"barrier_arrival", 0},  {"cta_start", 0},        {"l2_sectors", 1},     {"lsu", 32},
      {"latency_mufu", 16},    {"latency_shuffle", 24}, {"warp_wavefronts", 0.5}};
  return spec;
}

}  // namespace attnscope::model
