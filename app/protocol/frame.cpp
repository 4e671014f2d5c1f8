#include "protocol/frame.h"

#include <algorithm>

#include "core/escape.h"

namespace attnscope::protocol {
namespace {
constexpr std::string_view kBanner = "attnscope-worker ";
constexpr size_t kKept = size_t{1} << 20;  // capacity that a decoder's buffer keeps after a frame
}  // namespace

std::string banner_line(std::string_view version) { return std::string(kBanner) + std::string(version) + "\n"; }

Result<std::vector<std::byte>> frame_of(std::span<const std::byte> payload) {
  if (payload.size() > kMaxFrame)
    return fail(
        Stage::protocol,
        "a message of " + std::to_string(payload.size()) + " bytes is over the limit of " + std::to_string(kMaxFrame),
        "Ask for a smaller view.");
  std::vector<std::byte> frame(kHeader + payload.size());
  for (size_t i = 0; i < kHeader; ++i) frame[i] = static_cast<std::byte>((payload.size() >> (8 * i)) & 0xff);
  std::copy(payload.begin(), payload.end(), frame.begin() + kHeader);
  return frame;
}

Result<bool> BannerSkipper::feed(std::span<const std::byte> bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char c = static_cast<char>(bytes[i]);
    if (c != '\n') {
      line_ += c;
    } else {
      if (!line_.empty() && line_.back() == '\r') line_.pop_back();  // there is a pseudo-terminal in between
      if (line_.starts_with(kBanner)) {
        version_ = line_.substr(kBanner.size());
        rest_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(i) + 1, bytes.end());
        return true;
      }
      if (!line_.empty()) last_ = line_;
      line_.clear();
    }
    if (++skipped_ > kMaxBanner)
      return fail(Stage::protocol,
                  "the worker wrote " + std::to_string(kMaxBanner) +
                      " bytes that are not attnscope's; its last whole line: \"" +
                      one_line(std::string_view(last_.empty() ? line_ : last_).substr(0, 120)) + "\"",
                  "Check that the worker's command ends in `attnscope worker` and that it runs in a shell by hand.");
  }
  return false;
}

size_t FrameDecoder::announced() const {
  size_t length = 0;
  for (size_t i = 0; i < kHeader; ++i) length |= static_cast<size_t>(buffer_[begin_ + i]) << (8 * i);
  return length;
}

void FrameDecoder::feed(std::span<const std::byte> bytes) {
  if (broken_) return;
  if (begin_ == buffer_.size()) {
    buffer_.clear();
    begin_ = 0;
  } else if (begin_ > buffer_.size() / 2) {  // each byte moves at most once on average
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  // Reserves room for exactly the frame, but at most twice what has arrived: a header without its frame must not take
  // memory.
  const size_t needed = buffer_.size() + bytes.size();
  if (needed > buffer_.capacity()) {
    const size_t whole = buffer_.size() - begin_ >= kHeader ? begin_ + kHeader + announced() : 0;
    buffer_.reserve(std::max(needed, std::min(2 * needed, whole)));
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

Result<std::optional<std::span<const std::byte>>> FrameDecoder::next() {
  if (broken_) return fail(*broken_);
  const size_t held = buffer_.size() - begin_;
  if (held == 0 && buffer_.capacity() > kKept) {  // a long frame was returned, so its memory is freed
    buffer_ = std::vector<std::byte>();           // = {} would keep the capacity
    begin_ = 0;
  }
  if (held < kHeader) return std::nullopt;
  const size_t length = announced();
  if (length > max_frame_) {
    broken_ =
        Failure{Stage::protocol,
                "a frame of " + std::to_string(length) + " bytes is over the limit of " + std::to_string(max_frame_),
                "The other side is not attnscope, or something else writes to its output."};
    buffer_ = std::vector<std::byte>();
    begin_ = 0;
    return fail(*broken_);
  }
  if (held - kHeader < length) return std::nullopt;
  const auto payload = std::span<const std::byte>(buffer_).subspan(begin_ + kHeader, length);
  begin_ += kHeader + length;
  return payload;
}

}  // namespace attnscope::protocol
