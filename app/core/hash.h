#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace attnscope {

// XXH3-128, 32 lower-case hexadecimal digits.
std::string xxh3_128(std::string_view text);
std::string xxh3_128(std::span<const std::byte> bytes);

}  // namespace attnscope
