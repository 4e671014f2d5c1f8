#include "ui/panel_picture.h"

#include <glad/glad.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <system_error>
#include <utility>

namespace attnscope::ui {
namespace {

constexpr double kToClose = 0.2;   // seconds for a menu and the shade behind a dialog to disappear
constexpr double kToAppear = 2.0;  // seconds in which a panel behind others must come to the front
constexpr int kFramesInSight = 3;  // number of frames until its drawing is final

PixelBox box_of(ImVec2 from, ImVec2 to, PictureSize framebuffer) {
  const ImVec2 scale = ImGui::GetIO().DisplayFramebufferScale;
  const auto pixel = [](float at, float times, int most) {
    return std::clamp(static_cast<int>(std::lround(at * times)), 0, most);
  };
  const int left = pixel(from.x, scale.x, framebuffer.width), top = pixel(from.y, scale.y, framebuffer.height);
  return {left, top, pixel(to.x, scale.x, framebuffer.width) - left, pixel(to.y, scale.y, framebuffer.height) - top};
}

}  // namespace

std::optional<PixelBox> box_of_window(const std::string& title, PictureSize framebuffer) {
  const ImGuiWindow* window = ImGui::FindWindowByName(title.c_str());
  if (window == nullptr || !window->Active || window->Hidden) return std::nullopt;
  if (window->DockIsActive && !window->DockTabIsVisible) return std::nullopt;
  const PixelBox box = box_of(window->Rect().Min, window->Rect().Max, framebuffer);
  return box.width > 0 && box.height > 0 ? std::optional(box) : std::nullopt;
}

std::vector<uint8_t> cropped(const std::vector<uint8_t>& rgb, PictureSize size, const PixelBox& box) {
  std::vector<uint8_t> part;
  part.reserve(static_cast<size_t>(box.width) * static_cast<size_t>(box.height) * 3);
  for (int y = box.top; y < box.top + box.height; ++y) {
    const auto row = rgb.begin() + (static_cast<std::ptrdiff_t>(y) * size.width + box.left) * 3;
    part.insert(part.end(), row, row + static_cast<std::ptrdiff_t>(box.width) * 3);
  }
  return part;
}

void PanelPicture::ask(std::string title, std::string name) {
  title_ = std::move(title);
  name_ = std::move(name);
  asked_at_ = ImGui::GetTime();
  in_sight_ = 0;
}

// Dear ImGui's backend calls this after it has drawn everything else, with the framebuffer bound.
void PanelPicture::read(const ImDrawList*, const ImDrawCmd* command) {
  auto& picture = *static_cast<PanelPicture*>(command->UserCallbackData);
  const PixelBox& box = picture.box_;
  picture.pixels_.resize(static_cast<size_t>(box.width) * static_cast<size_t>(box.height) * 3);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(box.left, picture.framebuffer_.height - box.top - box.height, box.width, box.height, GL_RGB,
               GL_UNSIGNED_BYTE, picture.pixels_.data());
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
}

void PanelPicture::encode() {
  const auto work = [size = PictureSize{box_.width, box_.height}, pixels = std::exchange(pixels_, {})]() mutable {
    const auto line = static_cast<std::ptrdiff_t>(size.width) * 3;
    for (int low = 0, high = size.height - 1; low < high; ++low, --high)
      std::swap_ranges(pixels.begin() + low * line, pixels.begin() + (low + 1) * line, pixels.begin() + high * line);
    return png_of(size, 3, pixels);
  };
  encoded_name_ = name_;
  try {
    encoded_ = std::async(std::launch::async, work);
  } catch (const std::system_error&) {
    encoded_ = std::async(std::launch::deferred, work);  // the system refuses a thread: encoded within this frame
  }
}

void PanelPicture::take_encoded(Context& context) {
  context.wake_within(0.02);
  if (encoded_.wait_for(std::chrono::seconds(0)) == std::future_status::timeout) return;
  const Result<std::string> png = encoded_.get();
  if (png)
    context.save(encoded_name_ + ".png", *png);
  else
    context.session.note(session::LogLevel::error, png.error().message);
}

void PanelPicture::follow(Context& context) {
  if (encoded_.valid())
    take_encoded(context);
  else if (!pixels_.empty())
    encode();
  if (!asked_at_) return;
  context.wake_within(0.02);
  const double waited = ImGui::GetTime() - *asked_at_;
  if (waited < kToClose) return;
  const ImGuiIO& io = ImGui::GetIO();
  framebuffer_ = {static_cast<int>(io.DisplaySize.x * io.DisplayFramebufferScale.x),
                  static_cast<int>(io.DisplaySize.y * io.DisplayFramebufferScale.y)};
  const std::optional<PixelBox> box =
      title_.empty() ? PixelBox{0, 0, framebuffer_.width, framebuffer_.height} : box_of_window(title_, framebuffer_);
  in_sight_ = box ? in_sight_ + 1 : 0;
  if (in_sight_ < kFramesInSight && waited < kToAppear) return;
  asked_at_.reset();
  if (!box)
    return context.session.note(session::LogLevel::warning, title_ + " is not visible, so there is no picture of it.");
  box_ = *box;
  ImGui::GetForegroundDrawList()->AddCallback(read, this);
}

}  // namespace attnscope::ui
