#pragma once
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "ui/context.h"
#include "ui/png.h"

struct ImDrawCmd;
struct ImDrawList;

namespace attnscope::ui {

// A part of the framebuffer, in pixels from the upper left.
struct PixelBox {
  int left = 0, top = 0, width = 0, height = 0;
};
// Where the window with that title is drawn, in a framebuffer of that size; empty if it is not visible.
std::optional<PixelBox> box_of_window(const std::string& title, PictureSize framebuffer);
// That part of an RGB picture with rows from the top.
std::vector<uint8_t> cropped(const std::vector<uint8_t>& rgb, PictureSize size, const PixelBox& box);

// Takes a picture of a panel from the window's own drawing, which works for every plot, map and view.
class PanelPicture {
 public:
  // Requests a picture of the panel with that title, or of the whole window if it is empty. It is taken a moment later,
  // when menus have closed. `name` is the proposed file name.
  void ask(std::string title, std::string name);
  // Call at the end of each frame. Opens the save dialog when the picture is ready. It is encoded on another thread,
  // because that takes longer than a frame.
  void follow(Context& context);

 private:
  void encode();
  void take_encoded(Context& context);
  static void read(const ImDrawList* list, const ImDrawCmd* command);

  std::string title_, name_;
  std::optional<double> asked_at_;  // ImGui's time; empty: no picture is requested
  int in_sight_ = 0;                // number of frames
  PixelBox box_;
  PictureSize framebuffer_;
  std::vector<uint8_t> pixels_;  // RGB, rows from the bottom as OpenGL returns them
  std::string encoded_name_;     // the file name for encoded_
  std::future<Result<std::string>> encoded_;
};

}  // namespace attnscope::ui
