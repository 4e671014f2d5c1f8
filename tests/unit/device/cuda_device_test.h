#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "check/inputs.h"
#include "device/cuda/cuda_device.h"
#include "fake_gpu.h"
#include "support/test_cache.h"

namespace attnscope::device::testing {

inline const std::filesystem::path kSource = ATTNSCOPE_SOURCE_DIR, kCache = test_cache();

// A minimal attention's cubin, which the fake GPU does not read, and a problem whose tensors are a few KB.
class CudaDeviceTest : public ::testing::Test {
 protected:
  CudaDeviceTest() {
    std::ifstream in(kSource / "tests/data/emulator/minimal_sm89.cubin", std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    const auto words = std::as_bytes(std::span(bytes));
    variant_.cubin.assign(words.begin(), words.end());
    variant_.entry_symbol = "attention_minimal";
    problem_.heads = problem_.kv_heads = 1;
    problem_.seq_q = problem_.seq_k = 16;
    inputs_ = std::make_shared<const check::AttentionInputs>(*check::make_inputs(problem_));
  }

  static DeviceSpec twin() {
    DeviceSpec spec;
    spec.id = "emulated:l4";
    spec.arch = 89;
    spec.sms = 58;
    spec.tensor_tflops_f16 = 121;
    spec.rates = {{"issue", 4}};
    spec.sources = {{"rates/issue", "a white paper"}, {"tensor_tflops_f16", "a data sheet"}};
    return spec;
  }

  std::unique_ptr<Device> device() {
    auto devices = make_cuda_devices(
        {gpu_.calls(), nullptr,
         std::make_shared<compile::Compiler>(compile::CompilerOptions{.cache_dir = kCache / "variants"}),
         kSource / "assets/gpu"},
        {twin()});
    if (!devices || devices->empty()) return nullptr;
    return std::move(devices->front());
  }
  LaunchRequest request(Device& on) {
    LaunchRequest request;
    request.name = "minimal THREADS=128";
    request.loaded = on.load(variant_).value();
    request.problem = problem_;
    request.args = {"q", "k", "v", "o", "scale", "batch", "heads", "seq_q", "seq_k"};
    request.shape = {{16, 1, 1}, {128, 1, 1}};
    request.inputs = inputs_;
    return request;
  }
  // A tensor of a launch, from its parameter block.
  static std::byte* tensor(const std::byte* parameters, int which) {
    uint64_t at = 0;
    std::memcpy(&at, parameters + 8 * which, 8);
    return reinterpret_cast<std::byte*>(at);
  }

  FakeGpu gpu_;
  compile::Variant variant_;
  Problem problem_;
  std::shared_ptr<const check::AttentionInputs> inputs_;
};

}  // namespace attnscope::device::testing
