#include "protocol/msgpack.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace attnscope::protocol {
namespace {

constexpr size_t kMaxDepth = 64;

// What a value costs once it is built, in bytes, with its share of the array that grows around it; a text, a key, an
// array or a map has a header and an allocation of its own on top. A budget that holds every message of ours many times
// over (the longest have some ten thousand values) and no more than its own bytes justify.
constexpr uint64_t kValueCost = 32, kTextCost = 48, kKeyCost = 64, kArrayCost = 32, kMapCost = 64;
constexpr uint64_t kStructure = uint64_t{32} << 20;  // for values of any length

// Well-formed UTF-8 as RFC 3629 has it (no surrogates, nothing over U+10FFFF, no over-long forms).
bool is_utf8(std::span<const std::byte> text) {
  size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<uint8_t>(text[i]);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const size_t more = lead >= 0xc2 && lead <= 0xdf   ? 1
                        : (lead & 0xf0) == 0xe0        ? 2
                        : lead >= 0xf0 && lead <= 0xf4 ? 3
                                                       : 0;
    if (more == 0 || text.size() - i <= more) return false;
    for (size_t k = 1; k <= more; ++k)
      if ((static_cast<uint8_t>(text[i + k]) & 0xc0) != 0x80) return false;
    const auto second = static_cast<uint8_t>(text[i + 1]);
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) || (lead == 0xf0 && second < 0x90) ||
        (lead == 0xf4 && second > 0x8f))
      return false;
    i += more + 1;
  }
  return true;
}

// Walks a MessagePack value without recursion and without building anything.
class Scanner {
 public:
  Scanner(std::span<const std::byte> bytes, std::initializer_list<std::string_view> left_out)
      : bytes_(bytes), left_out_(left_out), budget_(kStructure + 2 * bytes.size()) {}

  Result<void> scan() {
    open_.push_back({1, false});
    size_t from = 0;  // of a value that is left out, while the scan is in it
    while (!open_.empty()) {
      if (from != 0 && open_.size() == 2 && open_[1].left % 2 == 0) cuts_.emplace_back(std::exchange(from, 0), at_);
      if (open_.back().left == 0) {
        open_.pop_back();
        continue;
      }
      Level& level = open_.back();
      const bool key = level.map && level.left % 2 == 0;  // a map of n holds 2n values: text, value, text, value…
      --level.left;
      if (!value(key))
        return fail(Stage::protocol, "malformed message: " + why_ + " at byte " + std::to_string(at_), "");
      if (key && open_.size() == 2 && std::ranges::find(left_out_, text_) != left_out_.end()) from = at_;
    }
    if (at_ != bytes_.size()) return fail(Stage::protocol, "malformed message: bytes after its end", "");
    return {};
  }

  // Where the values that are left out begin and end.
  const std::vector<std::pair<size_t, size_t>>& cuts() const { return cuts_; }

 private:
  struct Level {
    uint64_t left;
    bool map;
  };

  bool wrong(const char* why) {
    why_ = why;
    return false;
  }
  size_t left() const { return bytes_.size() - at_; }
  bool pay(uint64_t cost) {
    if (cost > budget_) return wrong("it holds more values than a message of its length may");
    budget_ -= cost;
    return true;
  }
  bool take(uint64_t count) {
    if (count > left()) return wrong("it ends too early");
    at_ += static_cast<size_t>(count);
    return true;
  }
  bool big_endian(size_t width, uint64_t& out) {
    if (width > left()) return wrong("it ends too early");
    out = 0;
    for (size_t i = 0; i < width; ++i) out = out << 8 | static_cast<uint8_t>(bytes_[at_++]);
    return true;
  }
  bool text(uint64_t length) {
    if (length > left()) return wrong("it ends too early");
    if (!is_utf8(bytes_.subspan(at_, static_cast<size_t>(length)))) return wrong("a text that is not UTF-8");
    text_ = {reinterpret_cast<const char*>(bytes_.data()) + at_, static_cast<size_t>(length)};
    return pay(kTextCost + length) && take(length);
  }
  bool binary(uint64_t length) { return pay(kTextCost + length) && take(length); }
  bool nest(uint64_t values, bool map) {
    if (values > left()) return wrong("it ends too early");  // each value takes a byte or more
    if (open_.size() > kMaxDepth) return wrong("nested deeper than 64 levels");
    open_.push_back({values, map});
    return pay(map ? kMapCost : kArrayCost);
  }

  bool value(bool key) {
    if (left() == 0) return wrong("it ends too early");
    const auto tag = static_cast<uint8_t>(bytes_[at_++]);
    const bool is_text = (tag >= 0xa0 && tag <= 0xbf) || (tag >= 0xd9 && tag <= 0xdb);
    if (key && !is_text) return wrong("a key that is not a text");
    if (!pay(key ? kKeyCost : kValueCost)) return false;
    if (tag <= 0x7f || tag >= 0xe0) return true;  // small integers
    if (tag <= 0x8f) return nest(2 * uint64_t{tag & 0x0fu}, true);
    if (tag <= 0x9f) return nest(tag & 0x0fu, false);
    if (tag <= 0xbf) return text(tag & 0x1fu);
    uint64_t length = 0;
    switch (tag) {
      case 0xc0:
      case 0xc2:
      case 0xc3:
        return true;  // nil, false, true
      case 0xc4:
        return big_endian(1, length) && binary(length);
      case 0xc5:
        return big_endian(2, length) && binary(length);
      case 0xc6:
        return big_endian(4, length) && binary(length);
      case 0xca:
      case 0xce:
      case 0xd2:
        return take(4);
      case 0xcb:
      case 0xcf:
      case 0xd3:
        return take(8);
      case 0xcc:
      case 0xd0:
        return take(1);
      case 0xcd:
      case 0xd1:
        return take(2);
      case 0xd9:
        return big_endian(1, length) && text(length);
      case 0xda:
        return big_endian(2, length) && text(length);
      case 0xdb:
        return big_endian(4, length) && text(length);
      case 0xdc:
        return big_endian(2, length) && nest(length, false);
      case 0xdd:
        return big_endian(4, length) && nest(length, false);
      case 0xde:
        return big_endian(2, length) && nest(2 * length, true);
      case 0xdf:
        return big_endian(4, length) && nest(2 * length, true);
      default:
        return wrong("a type that attnscope does not use");  // ext and 0xc1
    }
  }

  std::span<const std::byte> bytes_;
  std::initializer_list<std::string_view> left_out_;
  size_t at_ = 0;
  uint64_t budget_;          // left for what the rest will cost
  std::vector<Level> open_;  // the first holds the outermost value
  std::string_view text_;    // the last one
  std::vector<std::pair<size_t, size_t>> cuts_;
  std::string why_;
};

}  // namespace

std::vector<std::byte> to_msgpack(const Json& json) {
  std::vector<uint8_t> bytes;
  Json::to_msgpack(json, bytes);
  const auto raw = std::as_bytes(std::span(bytes));
  return {raw.begin(), raw.end()};
}

Result<Json> from_msgpack(std::span<const std::byte> bytes, std::initializer_list<std::string_view> left_out) {
  Scanner scanner(bytes, left_out);
  if (auto scanned = scanner.scan(); !scanned) return fail(scanned.error());
  std::vector<std::byte> built;  // the bytes with a nil for each value that is left out
  size_t at = 0;
  for (const auto& [from, to] : scanner.cuts()) {
    built.insert(built.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(from));
    built.push_back(std::byte{0xc0});
    at = to;
  }
  if (at > 0) {
    built.insert(built.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end());
    bytes = built;
  }
  const auto* first = reinterpret_cast<const uint8_t*>(bytes.data());
  Json json = Json::from_msgpack(first, first + bytes.size(), true, false);
  if (json.is_discarded()) return fail(Stage::protocol, "malformed message: not MessagePack", "");
  return json;
}

}  // namespace attnscope::protocol
