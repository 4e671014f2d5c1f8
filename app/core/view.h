#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "core/words.h"

namespace attnscope {

enum class MapKind {
  error,  // |output - reference|
  output,
  reference,
  attention,  // softmax(scale · Q·Kᵀ) of one head, in fp64: columns are keys
};
template <>
struct Words<MapKind> : NamesAsWords<MapKind> {};

// GPU memory of the requesting process, opened through CUDA IPC. An answer's values may be written there instead of
// being sent.
struct PixelTarget {
  static constexpr size_t kHandleBytes = 64;
  int gpu = 0;                         // CUDA's ordinal
  std::array<std::string, 2> buffers;  // their IPC handles; the one to fill is ticket % 2
  int64_t bytes = 0;                   // of either
  uint64_t ticket = 0;                 // only of this request
  bool operator==(const PixelTarget&) const = default;
};

// Asks for a map of an experiment: rows are query rows, columns are head_dim (attention: keys).
struct ViewRequest {
  std::string experiment_hash;
  MapKind map = MapKind::error;
  int64_t batch = 0, head = 0;
  int64_t row_begin = 0, row_end = 0;  // [begin, end); end 0: all
  int width = 0, height = 0;           // requested resolution; 0: one texel per element
  std::optional<PixelTarget> target{};
  bool operator==(const ViewRequest&) const = default;
};

// The answer. A texel that covers several elements holds the largest value (NaN wins): an error never hides.
struct Tile {
  ViewRequest request;
  int width = 0, height = 0;
  std::vector<float> values;               // row-major; NaN where NaN; a row not computed yet is kNotYet
  static constexpr float kNotYet = -1.0f;  // errors are never negative; for output and reference, see `ready_rows`
  std::vector<uint8_t> ready_rows;         // height flags: 1 when every row under this texel row is computed
  bool in_target = false;                  // the values are in the request's target, and not here
  float low = 0, high = 0;                 // in_target: the finite extremes, 0 included
  std::string not_in_target;               // why the given target was not used; empty: it was used, or none was given
  bool operator==(const Tile&) const = default;
};

Json to_json(const ViewRequest& request);
Result<ViewRequest> view_request_from_json(const Json& json, const std::string& where);
Json to_json(const Tile& tile);  // values as a binary array of little-endian floats
Result<Tile> tile_from_json(const Json& json, const std::string& where);

}  // namespace attnscope
