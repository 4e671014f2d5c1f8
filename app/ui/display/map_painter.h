#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/result.h"
#include "core/view.h"
#include "ui/display/colour_ramp.h"

namespace attnscope::ui {

// How a map's values become colours.
struct MapLook {
  Ramp ramp = Ramp::rising;
  bool logarithmic = true;
  float low = 1e-6f, high = 1e-2f;
  float x = 0, y = 0, width = 1, height = 1;  // the part of the map that is shown, shares of it
  uint32_t nan = 0, inf = 0, not_yet = 0;     // IM_COL32
  bool operator==(const MapLook&) const = default;
};

// Shades tiles into a framebuffer texture of its own, before the window's own drawing of the frame is executed. Needs a
// current OpenGL 3.3 context in every call, the destructor included.
class MapPainter {
 public:
  // Compiles shaders/map.vert and shaders/error_map.frag; a Failure (Stage::internal) has the compiler's words.
  static Result<std::unique_ptr<MapPainter>> create(const std::filesystem::path& shaders);
  ~MapPainter();
  MapPainter(const MapPainter&) = delete;
  MapPainter& operator=(const MapPainter&) = delete;

  // Paints `tile` at width × height pixels; nothing is done when that is what the texture holds already. `version`
  // tells tiles apart. Returns the OpenGL texture; its v = 0 is the map's first row, so that Dear ImGui draws it
  // upright.
  uint32_t paint(const Tile& tile, uint64_t version, const MapLook& look, int width, int height);

  // The ramp's 256 colours from low (left) to high (right), for a colour bar.
  uint32_t bar_texture(Ramp ramp);

 private:
  MapPainter() = default;
  void upload(const Tile& tile);
  void ensure_target(int width, int height);

  uint32_t program_ = 0, vertex_array_ = 0, framebuffer_ = 0, target_ = 0;
  uint32_t values_ = 0, ready_ = 0, ramps_[2] = {0, 0};
  int target_width_ = 0, target_height_ = 0;
  uint64_t painted_version_ = 0, uploaded_version_ = 0;
  MapLook painted_look_;
};

}  // namespace attnscope::ui
