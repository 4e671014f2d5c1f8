#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "core/result.h"

namespace attnscope {

enum class MapKind {
  error,      // |output - reference|
  output,
  reference,
  attention,  // softmax(scale · Q·Kᵀ) of one head, in fp64: columns are keys
};
std::string_view to_string(MapKind kind);

// Asks for a map of an experiment: rows are query rows, columns are head_dim (attention: keys).
struct ViewRequest {
  std::string experiment_hash;
  MapKind map = MapKind::error;
  int64_t batch = 0, head = 0;
  int64_t row_begin = 0, row_end = 0;  // [begin, end); end 0: all
  int width = 0, height = 0;           // resolution asked; 0: one texel an element
  bool operator==(const ViewRequest&) const = default;
};

// The answer. A texel that covers several elements holds the largest value (NaN wins): an error never hides.
struct Tile {
  ViewRequest request;
  int width = 0, height = 0;
  std::vector<float> values;      // row-major; NaN where NaN; a row not computed yet is kNotYet
  static constexpr float kNotYet = -1.0f;  // errors are never negative; for output and reference `ready_rows` says
  std::vector<uint8_t> ready_rows;  // height flags: 1 when every row under this texel row is computed
  bool operator==(const Tile&) const = default;
};

Json to_json(const ViewRequest& request);
Result<ViewRequest> view_request_from_json(const Json& json, const std::string& where);
Json to_json(const Tile& tile);  // values as a binary array of little-endian floats
Result<Tile> tile_from_json(const Json& json, const std::string& where);

}  // namespace attnscope
