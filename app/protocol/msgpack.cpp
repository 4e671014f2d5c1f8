#include "protocol/msgpack.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/escape.h"

namespace attnscope::protocol {
namespace {

constexpr size_t kMaxDepth = 64;

// The bytes that a built value takes, including its share of the growing array around it. A text, a key, an array or a
// map also has a header and an allocation of its own. Of our messages a listing of machine code needs most: 15 bytes of
// structure for each of its own.
constexpr uint64_t kValueCost = 32, kTextCost = 48, kKeyCost = 64, kArrayCost = 32, kMapCost = 64;
constexpr uint64_t kStructure = uint64_t{32} << 20;  // allowed for messages of any length
constexpr uint64_t kStructureOfByte = 16, kMostStructure = uint64_t{512} << 20;
constexpr uint64_t budget_of(uint64_t bytes) {
  return 2 * bytes + std::min(kStructure + kStructureOfByte * bytes, kMostStructure);
}

// Walks a MessagePack value without recursion and without building anything.
class Scanner {
 public:
  Scanner(std::span<const std::byte> bytes, std::initializer_list<std::string_view> left_out)
      : bytes_(bytes), left_out_(left_out), budget_(budget_of(bytes.size())) {}

  Result<void> scan() {
    open_.push_back({1, false});
    size_t from = 0;  // where a left-out value begins, while the scan is in it
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

  // The begin and end of each left-out value.
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
    const size_t begin = at_;
    if (!take(length) || !pay(kTextCost + length)) return false;
    text_ = {reinterpret_cast<const char*>(bytes_.data()) + begin, static_cast<size_t>(length)};
    return is_utf8(text_) || wrong("a text that is not UTF-8");
  }
  bool binary(uint64_t length) { return pay(kTextCost + length) && take(length); }
  bool array(uint64_t length) { return nest(length, false); }
  bool map(uint64_t length) { return nest(2 * length, true); }
  bool nest(uint64_t values, bool map) {
    if (values > left()) return wrong("it ends too early");  // each value takes a byte or more
    if (open_.size() > kMaxDepth) return wrong("nested deeper than 64 levels");
    open_.push_back({values, map});
    return pay(map ? kMapCost : kArrayCost);
  }

  bool value(bool key) {
    // Consecutive tags whose widths double. The bytes after the tag are the number itself, or a length for `read`.
    struct Form {
      uint8_t first, last;
      size_t width;
      bool (Scanner::*read)(uint64_t);
    };
    static constexpr Form kForms[] = {
        {0xc4, 0xc6, 1, &Scanner::binary}, {0xca, 0xcb, 4, nullptr},  // floats
        {0xcc, 0xcf, 1, nullptr},          {0xd0, 0xd3, 1, nullptr},  // unsigned and signed integers
        {0xd9, 0xdb, 1, &Scanner::text},   {0xdc, 0xdd, 2, &Scanner::array}, {0xde, 0xdf, 2, &Scanner::map}};
    if (left() == 0) return wrong("it ends too early");
    const auto tag = static_cast<uint8_t>(bytes_[at_++]);
    const bool is_text = (tag >= 0xa0 && tag <= 0xbf) || (tag >= 0xd9 && tag <= 0xdb);
    if (key && !is_text) return wrong("a key that is not a text");
    if (!pay(key ? kKeyCost : kValueCost)) return false;
    if (tag <= 0x7f || tag >= 0xe0) return true;  // small integers
    if (tag <= 0x8f) return map(tag & 0x0fu);
    if (tag <= 0x9f) return array(tag & 0x0fu);
    if (tag <= 0xbf) return text(tag & 0x1fu);
    if (tag == 0xc0 || tag == 0xc2 || tag == 0xc3) return true;  // nil, false, true
    for (const Form& form : kForms) {
      if (tag < form.first || tag > form.last) continue;
      const size_t width = form.width << (tag - form.first);
      if (!form.read) return take(width);
      uint64_t length = 0;
      return big_endian(width, length) && (this->*form.read)(length);
    }
    return wrong("a type that attnscope does not use");  // ext and 0xc1
  }

  std::span<const std::byte> bytes_;
  std::initializer_list<std::string_view> left_out_;
  size_t at_ = 0;
  uint64_t budget_;          // what is left for the rest
  std::vector<Level> open_;  // the first is the outermost value
  std::string_view text_;    // the text read last
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
  std::vector<std::byte> built;  // the bytes, with nil for each left-out value
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
