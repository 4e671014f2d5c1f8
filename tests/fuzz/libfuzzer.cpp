// libFuzzer's way in: one program a reader (ATTNSCOPE_FUZZ_CUBIN: the container, else the decoder). CMakePresets.json,
// "fuzz"; docs/building.md.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "machine_code.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
#ifdef ATTNSCOPE_FUZZ_CUBIN
  (void)attnscope::fuzz::feed_cubin(std::as_bytes(std::span(data, size)));
#else
  (void)attnscope::fuzz::feed_instructions(std::string(reinterpret_cast<const char*>(data), size));
#endif
  return 0;
}
