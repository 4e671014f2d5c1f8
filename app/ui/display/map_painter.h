#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "core/result.h"
#include "core/view.h"
#include "ui/display/colour_ramp.h"
#include "ui/display/interop.h"

namespace attnscope::ui {

// How a map's values are coloured.
struct MapLook {
  Ramp ramp = Ramp::rising;
  bool logarithmic = true;
  float low = 1e-6f, high = 1e-2f;
  float x = 0, y = 0, width = 1, height = 1;  // the visible part of the map, as shares of its size
  uint32_t nan = 0, inf = 0, not_yet = 0;     // IM_COL32
  bool operator==(const MapLook&) const = default;
};

// Shades tiles into its own framebuffer texture, before the frame's own drawing is executed. Every call, including the
// destructor, needs a current OpenGL 3.3 context.
class MapPainter {
 public:
  // Compiles shaders/map.vert and shaders/error_map.frag; a Failure (Stage::internal) has the compiler's message.
  static Result<std::unique_ptr<MapPainter>> create(const std::filesystem::path& shaders);
  ~MapPainter();
  MapPainter(const MapPainter&) = delete;
  MapPainter& operator=(const MapPainter&) = delete;

  // Paints `tile` at width × height pixels, unless the texture already shows it. `version` identifies the tile. Returns
  // the OpenGL texture; v = 0 is the map's first row, so that Dear ImGui draws it upright.
  uint32_t paint(const Tile& tile, uint64_t version, const MapLook& look, int width, int height);

  // Copies a tile whose values are in the port's memory into a texture, for painting as `version`.
  Result<void> take(PixelPort& port, const Tile& tile, uint64_t version);
  // A value of the texture, uploaded or taken; 0 outside it. For tests.
  float value_at(int x, int y);
  std::vector<float> values();

  // The ramp's 256 colours from low (left) to high (right), for a colour bar.
  uint32_t bar_texture(Ramp ramp);

 private:
  MapPainter() = default;
  void upload(const Tile& tile);
  void upload_ready(const Tile& tile);
  void read_values(int x, int y, int width, int height, float* out);
  void ensure_target(int width, int height);

  uint32_t program_ = 0, vertex_array_ = 0, framebuffer_ = 0, target_ = 0;
  uint32_t values_ = 0, shared_values_ = 0, ready_ = 0, ramps_[2] = {0, 0};
  uint32_t source_ = 0;                       // values_ or shared_values_, whichever is newer
  int width_ = 0, height_ = 0;                // of source_
  int shared_width_ = 0, shared_height_ = 0;  // of shared_values_
  int target_width_ = 0, target_height_ = 0;
  uint64_t painted_version_ = 0, uploaded_version_ = 0;
  MapLook painted_look_;
};

}  // namespace attnscope::ui
