// libFuzzer's entry: one program per reader, which ATTNSCOPE_FUZZ_FEED names. CMakePresets.json, "fuzz";
// docs/building.md.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "machine_code.h"
#include "text_doors.h"

namespace attnscope::fuzz {
namespace {
[[maybe_unused]] std::string feed_container(const std::string& bytes) {
  return feed_cubin(std::as_bytes(std::span(bytes)));
}
}  // namespace
}  // namespace attnscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)attnscope::fuzz::ATTNSCOPE_FUZZ_FEED(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
