#include "core/view.h"

#include <cstring>

#include "core/binary_json.h"
#include "core/fields.h"

namespace attnscope {
namespace {
constexpr int kMaxSide = 1 << 14;

Json to_json(const PixelTarget& t) {
  Json json{{"gpu", t.gpu}, {"bytes", t.bytes}, {"ticket", t.ticket}, {"buffers", Json::array()}};
  for (const std::string& handle : t.buffers)
    json["buffers"].push_back(binary_json(std::vector<uint8_t>(handle.begin(), handle.end())));
  return json;
}

Result<PixelTarget> target_from_json(const Json& json, const std::string& where) {
  PixelTarget t;
  JsonReader read(json, where, Stage::protocol);
  read.required("buffers");
  read.integer("gpu", t.gpu, 0, 1 << 10);
  read.integer("bytes", t.bytes, 0, int64_t{1} << 40);
  read.unsigned_integer("ticket", t.ticket);
  if (read.failed()) return fail(read.finish().error());
  const Json& buffers = *read.value("buffers");
  if (!buffers.is_array() || buffers.size() != t.buffers.size())
    return fail(Stage::protocol, where + "/buffers: must hold two handles");
  for (size_t at = 0; at < t.buffers.size(); ++at) {
    if (!buffers[at].is_binary() || buffers[at].get_binary().size() != PixelTarget::kHandleBytes)
      return fail(Stage::protocol, where + "/buffers: a handle has 64 bytes");
    t.buffers[at].assign(buffers[at].get_binary().begin(), buffers[at].get_binary().end());
  }
  if (auto done = read.finish(); !done) return fail(done.error());
  return t;
}

}  // namespace

template <>
struct FieldsOf<ViewRequest> {
  static constexpr Limits kWhole{.low = 0, .high = int64_t{1} << 40}, kSide{.low = 0, .high = kMaxSide};
  static constexpr auto list = std::tuple{Field{"experiment_hash", &ViewRequest::experiment_hash, Limits{.bytes = 64}},
                                          Field{"map", &ViewRequest::map},
                                          Field{"batch", &ViewRequest::batch, kWhole},
                                          Field{"head", &ViewRequest::head, kWhole},
                                          Field{"row_begin", &ViewRequest::row_begin, kWhole},
                                          Field{"row_end", &ViewRequest::row_end, kWhole},
                                          Field{"width", &ViewRequest::width, kSide},
                                          Field{"height", &ViewRequest::height, kSide}};
};

Json to_json(const ViewRequest& r) {
  Json json = write_fields(r);
  if (r.target) json["target"] = to_json(*r.target);
  return json;
}

Result<ViewRequest> view_request_from_json(const Json& json, const std::string& where) {
  ViewRequest r;
  JsonReader read(json, where, Stage::protocol);
  read_fields_into(read, r);
  read.part("target", r.target, target_from_json);
  if (auto done = read.finish(); !done) return fail(done.error());
  return r;
}

Json to_json(const Tile& t) {
  std::vector<uint8_t> bytes(t.values.size() * sizeof(float));
  if (!bytes.empty()) std::memcpy(bytes.data(), t.values.data(), bytes.size());
  Json json{{"request", to_json(t.request)},
            {"width", t.width},
            {"height", t.height},
            {"values", binary_json(std::move(bytes))},
            {"ready_rows", binary_json(t.ready_rows)}};
  if (!t.request.target) return json;
  json["in_target"] = t.in_target;
  json["low"] = number_json(static_cast<double>(t.low));
  json["high"] = number_json(static_cast<double>(t.high));
  json["not_in_target"] = t.not_in_target;
  return json;
}

Result<Tile> tile_from_json(const Json& json, const std::string& where) {
  Tile t;
  JsonReader read(json, where, Stage::protocol);
  for (const char* key : {"request", "values", "ready_rows"}) read.required(key);
  read.integer("width", t.width, 0, kMaxSide);
  read.integer("height", t.height, 0, kMaxSide);
  read.part("request", t.request, view_request_from_json);
  if (read.failed()) return fail(read.finish().error());
  const Json &values = *read.value("values"), &ready = *read.value("ready_rows");
  double low = 0, high = 0;
  read.boolean("in_target", t.in_target);
  read.number("low", low);
  read.number("high", high);
  read.text("not_in_target", t.not_in_target, 4096);
  t.low = static_cast<float>(low);
  t.high = static_cast<float>(high);
  if (t.in_target && !t.request.target) return fail(Stage::protocol, where + "/in_target: the request named no target");
  const size_t texels = t.in_target ? 0 : static_cast<size_t>(t.width) * static_cast<size_t>(t.height);
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
