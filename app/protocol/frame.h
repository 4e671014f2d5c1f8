#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace attnscope::protocol {

inline constexpr size_t kMaxFrame = size_t{256} << 20;  // bytes of payload; a longer frame is refused unread
inline constexpr size_t kMaxBanner = size_t{64} << 10;  // bytes of other output skipped before the banner
inline constexpr size_t kHeader = 4;                    // little-endian length of the payload

// "attnscope-worker 0.1.0\n": the line after which only frames follow.
std::string banner_line(std::string_view version);

// The frame of a payload: its length, then the payload. A payload over kMaxFrame is a Failure (Stage::protocol).
Result<std::vector<std::byte>> frame_of(std::span<const std::byte> payload);

// Finds the banner in a stream that may begin with other output (a login message of ssh, a module's chatter).
class BannerSkipper {
 public:
  // Takes bytes as they arrive. Returns true once the banner is found; version() is then set, and rest() has the bytes
  // after its line. More than kMaxBanner bytes without a banner are a Failure that quotes the last line.
  Result<bool> feed(std::span<const std::byte> bytes);
  bool found() const { return version_.has_value(); }
  const std::string& version() const { return *version_; }
  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::string line_;  // the line being read
  std::string last_;  // the last whole line that was not the banner
  size_t skipped_ = 0;
  std::optional<std::string> version_;
  std::vector<std::byte> rest_;
};

// Splits a byte stream, which may arrive in any pieces, into payloads.
class FrameDecoder {
 public:
  explicit FrameDecoder(size_t max_frame = kMaxFrame) : max_frame_(max_frame) {}
  void feed(std::span<const std::byte> bytes);
  // The next whole payload, valid until the next call; empty if more bytes are needed. A length over the cap is a
  // Failure as soon as its header has arrived, and at every later call, because a stream that lost its frame boundaries
  // has no next message.
  Result<std::optional<std::span<const std::byte>>> next();
  bool in_frame() const { return buffer_.size() > begin_; }  // part of a frame has arrived

 private:
  size_t announced() const;  // length of the frame at begin_, whose header has arrived

  size_t max_frame_;
  std::vector<std::byte> buffer_;
  size_t begin_ = 0;  // offset of the unread bytes in buffer_
  std::optional<Failure> broken_;
};

}  // namespace attnscope::protocol
