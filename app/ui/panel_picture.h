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
// Where the window of that title is drawn, within a framebuffer of that size; empty: it is not in sight.
std::optional<PixelBox> box_of_window(const std::string& title, PictureSize framebuffer);
// That part of a picture whose pixels are RGB with rows from the top.
std::vector<uint8_t> cropped(const std::vector<uint8_t>& rgb, PictureSize size, const PixelBox& box);

// A picture of a panel as the window draws it, so that every plot, map and view has one.
class PanelPicture {
 public:
  // Of the panel of that title, or of the whole window if it is empty: a moment later, when menus have closed.
  // `name` is the proposed file's.
  void ask(std::string title, std::string name);
  // At the end of each frame. Opens the save dialog once the picture is there. It is encoded on a thread of its own,
  // because that takes longer than a frame.
  void follow(Context& context);

 private:
  void encode();
  void take_encoded(Context& context);
  static void read(const ImDrawList* list, const ImDrawCmd* command);

  std::string title_, name_;
  std::optional<double> asked_at_;  // ImGui's time; empty: no picture is wanted
  int in_sight_ = 0;                // frames
  PixelBox box_;
  PictureSize framebuffer_;
  std::vector<uint8_t> pixels_;  // RGB, rows from the bottom as OpenGL gives them
  std::string encoded_name_;     // the name of what encoded_ will be
  std::future<Result<std::string>> encoded_;
};

}  // namespace attnscope::ui
