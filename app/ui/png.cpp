#include "ui/png.h"

#include <stb_image_write.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>

namespace attnscope::ui {
namespace {

constexpr std::string_view kSignature("\x89PNG\r\n\x1a\n", 8);
constexpr int kLongest = 60000;  // ms; a delay has 16 bits

void append_bytes(void* out, void* bytes, int size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), static_cast<size_t>(size));
}

// The CRC of ISO 3309, which PNG requires.
uint32_t crc_of(std::string_view bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> made{};
    for (uint32_t at = 0; at < 256; ++at) {
      uint32_t value = at;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320u : 0u);
      made[at] = value;
    }
    return made;
  }();
  uint32_t crc = ~0u;
  for (const char byte : bytes) crc = table[(crc ^ static_cast<uint8_t>(byte)) & 255] ^ (crc >> 8);
  return ~crc;
}

void put(std::string& out, uint32_t value, int bytes = 4) {
  for (int at = bytes - 1; at >= 0; --at) out += static_cast<char>(value >> (8 * at));
}

void put_chunk(std::string& out, std::string_view kind, std::string_view data) {
  put(out, static_cast<uint32_t>(data.size()));
  std::string body(kind);
  body += data;
  out += body;
  put(out, crc_of(body));
}

// The data of all chunks of that kind, in a PNG that we made.
std::string chunks_of(std::string_view png, std::string_view kind) {
  std::string found;
  for (size_t at = kSignature.size(); at + 8 <= png.size();) {
    size_t length = 0;
    for (size_t byte = 0; byte < 4; ++byte) length = length << 8 | static_cast<uint8_t>(png[at + byte]);
    if (png.substr(at + 4, 4) == kind) found += png.substr(at + 8, length);
    at += 12 + length;
  }
  return found;
}

}  // namespace

Result<std::string> png_of(PictureSize size, int channels, const std::vector<uint8_t>& pixels) {
  std::string png;
  if (stbi_write_png_to_func(append_bytes, &png, size.width, size.height, channels, pixels.data(),
                             size.width * channels) == 0)
    return fail(Stage::internal,
                "a picture of " + std::to_string(size.width) + "x" + std::to_string(size.height) + " cannot be encoded",
                "Please report it.");
  return png;
}

AnimatedPng::Box AnimatedPng::changed(const std::vector<uint8_t>& rgb) const {
  if (last_.empty()) return {0, 0, size_.width, size_.height};
  int left = size_.width, right = -1, top = size_.height, bottom = -1;
  for (int y = 0; y < size_.height; ++y) {
    const auto row = static_cast<std::ptrdiff_t>(y) * size_.width * 3, end = row + std::ptrdiff_t{size_.width} * 3;
    const auto first = std::mismatch(rgb.begin() + row, rgb.begin() + end, last_.begin() + row).first - rgb.begin();
    if (first == end) continue;
    auto last = end;
    while (rgb[static_cast<size_t>(last - 1)] == last_[static_cast<size_t>(last - 1)]) --last;
    left = std::min(left, static_cast<int>((first - row) / 3));
    right = std::max(right, static_cast<int>((last - 1 - row) / 3));
    top = std::min(top, y);
    bottom = y;
  }
  return bottom < 0 ? Box{} : Box{left, top, right - left + 1, bottom - top + 1};
}

Result<void> AnimatedPng::add(std::vector<uint8_t> rgb, int ms) {
  const Box box = changed(rgb);
  if (box.width == 0) {
    delays_.back() = std::min(delays_.back() + ms, kLongest);
    return {};
  }
  std::vector<uint8_t> part;
  part.reserve(static_cast<size_t>(box.width) * static_cast<size_t>(box.height) * 4);
  for (int y = box.top; y < box.top + box.height; ++y)
    for (int x = box.left; x < box.left + box.width; ++x) {
      const size_t at = (static_cast<size_t>(y) * static_cast<size_t>(size_.width) + static_cast<size_t>(x)) * 3;
      const bool same = !last_.empty() && std::equal(&rgb[at], &rgb[at] + 3, &last_[at]);
      const std::array<uint8_t, 4> pixel =
          same ? std::array<uint8_t, 4>{} : std::array<uint8_t, 4>{rgb[at], rgb[at + 1], rgb[at + 2], 255};
      part.insert(part.end(), pixel.begin(), pixel.end());
    }
  auto png = png_of({box.width, box.height}, 4, part);
  if (!png) return fail(png.error());
  if (head_.empty()) head_ = chunks_of(*png, "IHDR");
  boxes_.push_back(box);
  delays_.push_back(std::clamp(ms, 1, kLongest));
  data_.push_back(chunks_of(*png, "IDAT"));
  last_ = std::move(rgb);
  return {};
}

int64_t AnimatedPng::length_ms() const { return std::accumulate(delays_.begin(), delays_.end(), int64_t{0}); }

std::string AnimatedPng::bytes() const {
  std::string out(kSignature);
  put_chunk(out, "IHDR", head_);
  std::string control;
  put(control, static_cast<uint32_t>(delays_.size()));
  put(control, 0);  // repeats endlessly
  put_chunk(out, "acTL", control);
  uint32_t sequence = 0;
  for (size_t at = 0; at < delays_.size(); ++at) {
    std::string frame;
    put(frame, sequence++);
    for (const int side : {boxes_[at].width, boxes_[at].height, boxes_[at].left, boxes_[at].top})
      put(frame, static_cast<uint32_t>(side));
    put(frame, static_cast<uint32_t>(delays_[at]), 2);
    put(frame, 1000, 2);
    put(frame, 0, 1);               // stays when the next one comes
    put(frame, at > 0 ? 1 : 0, 1);  // over the previous one; the first stands by itself
    put_chunk(out, "fcTL", frame);
    std::string data;
    if (at > 0) put(data, sequence++);
    put_chunk(out, at > 0 ? "fdAT" : "IDAT", data + data_[at]);
  }
  put_chunk(out, "IEND", {});
  return out;
}

}  // namespace attnscope::ui
