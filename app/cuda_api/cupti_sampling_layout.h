#pragma once
#include <cstddef>
#include <cstdint>

// What the functions of CUPTI's PC Sampling take. The headers of CUPTI 12.8.90 and 13.0.85 (cupti_pcsampling.h) are the
// same file. Fields that CUPTI writes are marked "out".
namespace attnscope::cuda_api::cupti {

// A size that ends with the last field, as CUPTI's macros count it.
#define ATTNSCOPE_CUPTI_SIZE(type, last) (offsetof(type, last) + sizeof(type::last))

// Of cuptiPCSamplingEnable, Disable, Start and Stop.
struct SamplingOnly {
  size_t size = ATTNSCOPE_CUPTI_SIZE(SamplingOnly, context);
  void* reserved = nullptr;
  void* context = nullptr;
};

struct StallReasonCount {
  size_t size = ATTNSCOPE_CUPTI_SIZE(StallReasonCount, count);
  void* reserved = nullptr;
  void* context = nullptr;
  size_t* count = nullptr;  // out
};

inline constexpr size_t kStallReasonBytes = 128;  // of a name, with its end

struct StallReasons {
  size_t size = ATTNSCOPE_CUPTI_SIZE(StallReasons, names);
  void* reserved = nullptr;
  void* context = nullptr;
  size_t count = 0;
  uint32_t* indices = nullptr;  // out
  char** names = nullptr;       // out: each of kStallReasonBytes
};

struct StallSamples {
  uint32_t reason = 0;   // out: one of StallReasons::indices
  uint32_t samples = 0;  // out
};

struct SampledPc {
  size_t size = sizeof(SampledPc);
  uint64_t cubin_crc = 0;  // out
  uint64_t offset = 0;     // out: bytes from the function's first instruction
  uint32_t function_index = 0, padding = 0;
  char* function = nullptr;  // out: its symbol; records share it
  size_t reason_count = 0;   // room in `reasons`; out: those written
  StallSamples* reasons = nullptr;
  uint32_t correlation = 0;  // out
};

struct SampledData {
  size_t size = sizeof(SampledData);
  size_t most_pcs = 0;       // room in `pcs`
  uint64_t samples = 0;      // out: with those of other code and dropped ones
  uint64_t dropped = 0;      // out
  size_t pc_count = 0;       // out: written to `pcs`
  size_t remaining_pcs = 0;  // out: a further call gets them
  uint64_t range = 0;        // out
  SampledPc* pcs = nullptr;
  uint64_t other_samples = 0;  // out: of kernels that are not the program's
  uint8_t buffer_full = 0;     // out
};

enum class SamplingAttribute : int {
  period = 1,         // 2^n clocks, n from 5 to 31
  stall_reasons = 2,  // which to collect
  scratch_bytes = 3,  // for what is downloaded from the GPU
  buffer_bytes = 4,   // of the GPU's own buffer
  mode = 5,
  start_stop = 6,  // 1: cuptiPCSamplingStart and Stop say when
  format = 7,
  data = 8,  // a SampledData
};
inline constexpr int kSerialized = 2;  // CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED
inline constexpr int kParsed = 1;      // CUPTI_PC_SAMPLING_OUTPUT_DATA_FORMAT_PARSED

struct SamplingSetting {
  SamplingAttribute attribute = SamplingAttribute::period;
  int status = 0;  // out: a CUptiResult
  union Value {
    uint64_t words[3] = {};
    uint32_t number;  // period, start_stop; mode and format, which are enumerations
    size_t bytes;     // scratch_bytes, buffer_bytes
    void* data;
    struct {
      size_t count;
      uint32_t* indices;
    } reasons;
  } value;
};

struct SamplingSettings {
  size_t size = ATTNSCOPE_CUPTI_SIZE(SamplingSettings, settings);
  void* reserved = nullptr;
  void* context = nullptr;
  size_t count = 0;
  SamplingSetting* settings = nullptr;
};

struct SamplingGet {
  size_t size = ATTNSCOPE_CUPTI_SIZE(SamplingGet, data);
  void* reserved = nullptr;
  void* context = nullptr;
  SampledData* data = nullptr;
};

struct CubinCrc {
  size_t size = ATTNSCOPE_CUPTI_SIZE(CubinCrc, crc);
  size_t cubin_bytes = 0;
  const void* cubin = nullptr;
  uint64_t crc = 0;  // out
};

#undef ATTNSCOPE_CUPTI_SIZE

}  // namespace attnscope::cuda_api::cupti
