#pragma once
#include "core/device_spec.h"
#include "core/problem.h"

namespace attnscope::model {

// Bytes that any kernel must move between DRAM and the SMs once: Q, K and V read, O written. 0 for a problem that is
// not attention: only its kernel knows its buffers.
double compulsory_bytes(const Problem& problem);

// TFLOP/s of a run of `us` microseconds, by the usual count of operations (Problem::flops). 0 for us ≤ 0.
double tflops(const Problem& problem, double us);

// Peak TFLOP/s at the device's boost clock; 0 when the spec does not say.
double peak_fp32_tflops(const DeviceSpec& spec);    // 2 × fp32 lanes × SMs × clock
double peak_tensor_tflops(const DeviceSpec& spec);  // fp16 inputs, dense

// The roofline's time in microseconds for a unit of `peak_tflops`: max(flops / peak, compulsory bytes / DRAM
// bandwidth). 0 when the spec lacks a figure.
double roofline_us(const DeviceSpec& spec, const Problem& problem, double peak_tflops);

}  // namespace attnscope::model
