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

// An animated PNG that repeats endlessly (W3C, PNG third edition: acTL, fcTL, fdAT). Each picture contains only the
// rectangle that changed since the previous one; pixels in it that did not change are transparent, which compresses
// well.
class AnimatedPng {
 public:
  explicit AnimatedPng(PictureSize size) : size_(size) {}

  // Adds a picture that is shown for `ms`, 1…60000. `rgb` has three bytes per pixel, rows from the top. A picture equal
  // to the previous one only extends its time.
  Result<void> add(std::vector<uint8_t> rgb, int ms);
  size_t pictures() const { return delays_.size(); }
  int64_t length_ms() const;
  std::string bytes() const;  // there must be at least one picture

 private:
  struct Box {
    int left = 0, top = 0, width = 0, height = 0;
  };
  Box changed(const std::vector<uint8_t>& rgb) const;

  PictureSize size_;
  std::vector<uint8_t> last_;
  std::string head_;               // the content of IHDR
  std::vector<Box> boxes_;         // by picture, like the others
  std::vector<int> delays_;        // ms
  std::vector<std::string> data_;  // compressed
};

}  // namespace attnscope::ui
