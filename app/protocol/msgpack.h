#pragma once
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "core/json_fwd.h"
#include "core/result.h"

namespace attnscope::protocol {

// Encodes a JSON value as MessagePack. Arrays of numbers are written as bin if the value holds Json::binary.
std::vector<std::byte> to_msgpack(const Json& json);

// Checks the whole structure first: lengths within the bytes, depth ≤ 64, UTF-8 texts, text keys, no extension types,
// nothing after the value, and built values that take at most 32 MiB and 18 times its length, and 512 MiB and twice its
// length. Builds the value only then, so that input from a pipe cannot exhaust stack or memory. Failures have
// Stage::protocol and name the byte. The values of the outermost map's keys in `left_out` are checked but not built;
// they become null.
Result<Json> from_msgpack(std::span<const std::byte> bytes, std::initializer_list<std::string_view> left_out = {});

}  // namespace attnscope::protocol
