#include "core/view.h"

#include <cstring>

#include "core/json.h"
#include "core/words.h"

namespace attnscope {
namespace {
constexpr WordTable<MapKind, 4> kMaps{{{MapKind::error, "error"},
                                       {MapKind::output, "output"},
                                       {MapKind::reference, "reference"},
                                       {MapKind::attention, "attention"}}};
constexpr int kMaxSide = 1 << 14;
}  // namespace

std::string_view to_string(MapKind kind) { return word_of(kMaps, kind); }

Json to_json(const ViewRequest& r) {
  return Json{{"experiment_hash", r.experiment_hash},
              {"map", to_string(r.map)},
              {"batch", r.batch},
              {"head", r.head},
              {"row_begin", r.row_begin},
              {"row_end", r.row_end},
              {"width", r.width},
              {"height", r.height}};
}

Result<ViewRequest> view_request_from_json(const Json& json, const std::string& where) {
  constexpr int64_t kMost = int64_t{1} << 40;
  ViewRequest r;
  JsonReader read(json, where, Stage::protocol);
  read.text("experiment_hash", r.experiment_hash, 64);
  read.word("map", r.map, [](std::string_view text) { return value_of(kMaps, text, Stage::protocol); });
  read.integer("batch", r.batch, 0, kMost);
  read.integer("head", r.head, 0, kMost);
  read.integer("row_begin", r.row_begin, 0, kMost);
  read.integer("row_end", r.row_end, 0, kMost);
  read.integer("width", r.width, 0, kMaxSide);
  read.integer("height", r.height, 0, kMaxSide);
  if (auto done = read.finish(); !done) return fail(done.error());
  return r;
}

Json to_json(const Tile& t) {
  std::vector<uint8_t> bytes(t.values.size() * sizeof(float));
  if (!bytes.empty()) std::memcpy(bytes.data(), t.values.data(), bytes.size());
  return Json{{"request", to_json(t.request)},
              {"width", t.width},
              {"height", t.height},
              {"values", Json::binary(std::move(bytes))},
              {"ready_rows", Json::binary(t.ready_rows)}};
}

Result<Tile> tile_from_json(const Json& json, const std::string& where) {
  Tile t;
  JsonReader read(json, where, Stage::protocol);
  for (const char* key : {"request", "values", "ready_rows"}) read.required(key);
  read.integer("width", t.width, 0, kMaxSide);
  read.integer("height", t.height, 0, kMaxSide);
  if (read.failed()) return fail(read.finish().error());
  auto request = view_request_from_json(*read.value("request"), where + "/request");
  if (!request) return fail(request.error());
  t.request = *request;
  const Json &values = *read.value("values"), &ready = *read.value("ready_rows");
  const size_t texels = static_cast<size_t>(t.width) * static_cast<size_t>(t.height);
  if (!values.is_binary() || values.get_binary().size() != texels * sizeof(float))
    return fail(Stage::protocol, where + "/values: must hold width × height floats");
  if (!ready.is_binary() || ready.get_binary().size() != static_cast<size_t>(t.height))
    return fail(Stage::protocol, where + "/ready_rows: must hold a flag for each row");
  t.values.resize(texels);
  if (texels) std::memcpy(t.values.data(), values.get_binary().data(), texels * sizeof(float));
  t.ready_rows.assign(ready.get_binary().begin(), ready.get_binary().end());
  if (auto done = read.finish(); !done) return fail(done.error());
  return t;
}

}  // namespace attnscope
