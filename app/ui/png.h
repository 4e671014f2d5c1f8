#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/result.h"

namespace attnscope::ui {

struct PictureSize {
  int width = 0, height = 0;  // pixels
};

// A still PNG of 8-bit RGB or RGBA, rows from the top.
Result<std::string> png_of(PictureSize size, int channels, const std::vector<uint8_t>& pixels);

// An animated PNG that plays without end (W3C, PNG third edition: acTL, fcTL, fdAT). Each picture holds only the
// rectangle that changed since the one before; a pixel of it that did not change is transparent, which packs well.
class AnimatedPng {
 public:
  explicit AnimatedPng(PictureSize size) : size_(size) {}

  // Shown for `ms`, in 1…60000. `rgb` has three bytes a pixel, rows from the top. One that equals the picture before
  // only lengthens it.
  Result<void> add(std::vector<uint8_t> rgb, int ms);
  size_t pictures() const { return delays_.size(); }
  int64_t length_ms() const;
  std::string bytes() const;  // needs a picture

 private:
  struct Box {
    int left = 0, top = 0, width = 0, height = 0;
  };
  Box changed(const std::vector<uint8_t>& rgb) const;

  PictureSize size_;
  std::vector<uint8_t> last_;
  std::string head_;               // IHDR's bytes
  std::vector<Box> boxes_;         // by picture, as the others
  std::vector<int> delays_;        // ms
  std::vector<std::string> data_;  // compressed
};

}  // namespace attnscope::ui
