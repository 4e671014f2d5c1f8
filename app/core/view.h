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
  attention,  // softmax(scale · Q·Kᵀ) of one head, in fp64; columns are keys
};
template <>
struct Words<MapKind> : NamesAsWords<MapKind> {};

// GPU memory of the requesting process, opened through CUDA IPC. An answer's values may be written there instead of
// being sent.
struct PixelTarget {
  static constexpr size_t kHandleBytes = 64;
  int gpu = 0;                         // CUDA's ordinal
  std::array<std::string, 2> buffers;  // IPC handles of two buffers; ticket % 2 selects the one to fill
  int64_t bytes = 0;                   // size of each buffer
  uint64_t ticket = 0;                 // identifies this request
  bool operator==(const PixelTarget&) const = default;
};

// Requests a map of an experiment. Rows are query rows; columns are head_dim (attention: keys).
struct ViewRequest {
  std::string experiment_hash;
  MapKind map = MapKind::error;
  int64_t batch = 0, head = 0;
  int64_t row_begin = 0, row_end = 0;  // [begin, end); end 0: all
  int width = 0, height = 0;           // requested resolution; 0: one texel per element
  std::optional<PixelTarget> target{};
  bool operator==(const ViewRequest&) const = default;
};

// The answer to a ViewRequest. A texel that covers several elements holds their largest value (NaN wins), so that an
// error is never hidden.
struct Tile {
  ViewRequest request;
  int width = 0, height = 0;
  std::vector<float> values;               // row-major; may hold NaN; rows not computed yet are kNotYet
  static constexpr float kNotYet = -1.0f;  // errors are never negative; for output and reference, see `ready_rows`
  std::vector<uint8_t> ready_rows;         // `height` flags: 1 if every row under this texel row is computed
  bool in_target = false;                  // the values are in the request's target, not in `values`
  float low = 0, high = 0;                 // with in_target: the smallest and largest finite value, including 0
  std::string not_in_target;               // why the given target was not used; empty: it was used, or none was given
  bool operator==(const Tile&) const = default;
};

Json to_json(const ViewRequest& request);
Result<ViewRequest> view_request_from_json(const Json& json, const std::string& where);
Json to_json(const Tile& tile);  // values are a binary array of little-endian floats
Result<Tile> tile_from_json(const Json& json, const std::string& where);

}  // namespace attnscope
