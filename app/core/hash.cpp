#include "core/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace attnscope {
namespace {
std::string hex_of(const void* bytes, size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(bytes, size);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}
}  // namespace

std::string xxh3_128(std::string_view text) { return hex_of(text.data(), text.size()); }
std::string xxh3_128(std::span<const std::byte> bytes) { return hex_of(bytes.data(), bytes.size()); }

}  // namespace attnscope
