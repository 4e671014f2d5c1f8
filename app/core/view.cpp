#include "core/view.h"

#include "core/fields.h"

namespace attnscope {
namespace {
constexpr int64_t kMaxSide = 1 << 14;
constexpr Limits kSide{.low = 0, .high = kMaxSide};
}  // namespace

template <>
struct FieldsOf<PixelTarget> {
  static constexpr auto list =
      std::tuple{Field{"gpu", &PixelTarget::gpu, Limits{.low = 0, .high = 1 << 10}},
                 Field{"bytes", &PixelTarget::bytes, Limits{.low = 0, .high = int64_t{1} << 40}},
                 Field{"ticket", &PixelTarget::ticket},
                 Field{"buffers", &PixelTarget::buffers,
                       Limits{.bytes = PixelTarget::kHandleBytes, .binary = true, .required = true}}};
  static void check(JsonReader& read, PixelTarget& target) {
    for (const std::string& handle : target.buffers)
      if (handle.size() != PixelTarget::kHandleBytes) read.fault("buffers", "a handle has 64 bytes");
  }
};

template <>
struct FieldsOf<ViewRequest> {
  static constexpr Limits kWhole{.low = 0, .high = int64_t{1} << 40};
  static constexpr auto list = std::tuple{Field{"experiment_hash", &ViewRequest::experiment_hash, Limits{.bytes = 64}},
                                          Field{"map", &ViewRequest::map},
                                          Field{"batch", &ViewRequest::batch, kWhole},
                                          Field{"head", &ViewRequest::head, kWhole},
                                          Field{"row_begin", &ViewRequest::row_begin, kWhole},
                                          Field{"row_end", &ViewRequest::row_end, kWhole},
                                          Field{"width", &ViewRequest::width, kSide},
                                          Field{"height", &ViewRequest::height, kSide},
                                          Field{"target", &ViewRequest::target, Limits{.sparse = true}}};
};

template <>
struct FieldsOf<Tile> {
  static constexpr auto list =
      std::tuple{Field{"request", &Tile::request, Limits{.required = true}},
                 Field{"width", &Tile::width, kSide},
                 Field{"height", &Tile::height, kSide},
                 Field{"values", &Tile::values, Limits{.bytes = kMaxSide * kMaxSide * sizeof(float), .required = true}},
                 Field{"ready_rows", &Tile::ready_rows, Limits{.required = true}},
                 Field{"in_target", &Tile::in_target},
                 Field{"low", &Tile::low, Limits{.open = true}},
                 Field{"high", &Tile::high, Limits{.open = true}},
                 Field{"not_in_target", &Tile::not_in_target, Limits{.bytes = 4096}}};
  static void check(JsonReader& read, Tile& tile) {
    if (tile.in_target && !tile.request.target) read.fault("in_target", "the request named no target");
    const size_t texels = tile.in_target ? 0 : static_cast<size_t>(tile.width) * static_cast<size_t>(tile.height);
    if (tile.values.size() != texels) read.fault("values", "must hold width × height floats");
    if (tile.ready_rows.size() != static_cast<size_t>(tile.height))
      read.fault("ready_rows", "must hold a flag for each row");
  }
  // The other members are written only if the tile's request had a target.
  static void finish(Json& json, const Tile& tile) {
    if (tile.request.target) return;
    for (const char* key : {"in_target", "low", "high", "not_in_target"}) json.erase(key);
  }
};

Json to_json(const ViewRequest& request) { return write_fields(request); }

Result<ViewRequest> view_request_from_json(const Json& json, const std::string& where) {
  return read_fields<ViewRequest>(json, where);
}

Json to_json(const Tile& tile) { return write_fields(tile); }

Result<Tile> tile_from_json(const Json& json, const std::string& where) { return read_fields<Tile>(json, where); }

}  // namespace attnscope
