#pragma once
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda_device_test.h"

namespace attnscope::device::testing {

// A device with a CUPTI that is as strict as the real one (tests/unit/cuda_api/fakes/fake_cupti.c).
class GpuProfileTest : public CudaDeviceTest {
 protected:
  static constexpr const char* kSettings[] = {"ATTNSCOPE_FAKE_FAILS", "ATTNSCOPE_FAKE_CODE", "ATTNSCOPE_FAKE_CUPTI",
                                              "ATTNSCOPE_FAKE_LACKS"};
  ~GpuProfileTest() override {
    for (const char* name : kSettings) unsetenv(name);
  }
  static void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }
  static void refuse(const std::string& call, int code) {
    set("ATTNSCOPE_FAKE_FAILS", call);
    set("ATTNSCOPE_FAKE_CODE", std::to_string(code));
  }
  static int told(const char* name) {
    static void* library = dlopen(kLibrary.c_str(), RTLD_NOW);
    return reinterpret_cast<int (*)()>(dlsym(library, name))();
  }

  static Result<cuda_api::CuptiCalls> cupti() {
    auto library = cuda_api::SharedLibrary::open(kLibrary);
    if (!library) return fail(library.error());
    auto calls = cuda_api::CuptiCalls::load(*library);
    if (!calls) return calls;
    calls->library_version = "13.0.85";
    return calls;
  }
  std::unique_ptr<Device> device_with(Result<cuda_api::CuptiCalls> calls) {
    CudaParts parts{gpu_.calls(), nullptr,
                    std::make_shared<compile::Compiler>(compile::CompilerOptions{.cache_dir = kCache / "variants"}),
                    kSource / "assets/gpu"};
    parts.cupti = std::make_shared<const Result<cuda_api::CuptiCalls>>(std::move(calls));
    return std::move(make_cuda_devices(parts, {twin()})->front());
  }
  Result<HardwareCounters> profile() {
    const auto one = device_with(cupti());
    auto wanted = request(*one);
    auto counters = one->profile(wanted, [&](int64_t done, int64_t total) { passes_.emplace_back(done, total); });
    EXPECT_EQ(told("fake_cupti_open"), 0) << "everything is given back, also after a refusal";
    return counters;
  }
  Failure refusal() {
    auto counters = profile();
    EXPECT_FALSE(counters);
    return counters ? Failure{} : counters.error();
  }

  static inline const std::string kLibrary = std::string(ATTNSCOPE_FAKES) + "/fake_cupti.so";
  std::vector<std::pair<int64_t, int64_t>> passes_;
};

}  // namespace attnscope::device::testing
