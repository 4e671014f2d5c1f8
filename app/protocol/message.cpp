#include "protocol/message.h"

#include "core/binary_json.h"
#include "core/fields.h"
#include "core/observation_fields.h"
#include "core/sm_timeline_fields.h"
#include "core/softmax_fields.h"
#include "protocol/frame.h"
#include "protocol/msgpack.h"

namespace attnscope {
namespace {

constexpr Limits kDeadline{.low = 1, .high = 24 * 3600 * 1000};  // ms
constexpr Limits kHashes{.most = 1024, .bytes = 64, .required = true};
constexpr Limits kAhead{.most = 64};
constexpr Limits kCodes{.most = 4096, .bytes = 64};
constexpr Limits kDevices{.most = 1024, .required = true};
constexpr Limits kReadings{.most = 1024, .sparse = true};
constexpr Limits kDegrees{.low = 0, .high = 1000};
constexpr size_t kMaxSource = size_t{8} << 20;

}  // namespace

template <>
struct OwnReader<Experiment> {
  static constexpr auto read = experiment_from_json;
};
template <>
struct OwnReader<ViewRequest> {
  static constexpr auto read = view_request_from_json;
};
template <>
struct OwnReader<Tile> {
  static constexpr auto read = tile_from_json;
};
template <>
struct OwnReader<Listing> {
  static constexpr auto read = listing_from_json;
};
template <>
struct OwnReader<DeviceSpec> {
  static constexpr auto read = device_spec_from_json;
};

// ---- the fields of each message, without type and id ----
using limits::kRequired;

template <>
struct FieldsOf<protocol::Hello> {
  static constexpr auto list = std::tuple{};
};
template <>
struct FieldsOf<protocol::Deadlines> {
  using Of = protocol::Deadlines;
  static constexpr auto list =
      std::tuple{Field{"compile_ms", &Of::compile_ms, kDeadline}, Field{"emulated_ms", &Of::emulated_ms, kDeadline},
                 Field{"launch_ms", &Of::launch_ms, kDeadline}};
};
template <>
struct FieldsOf<protocol::Among> {
  using Of = protocol::Among;
  static constexpr auto list =
      std::tuple{Field{"ahead", &Of::ahead, kAhead}, Field{"known_codes", &Of::known_codes, kCodes},
                 Field{"hopeless_us", &Of::hopeless_us, Limits{.low = 0}}};
};
template <>
struct FieldsOf<protocol::Run> {
  using Of = protocol::Run;
  static constexpr auto list = std::tuple{Field{"experiment", &Of::experiment, kRequired},
                                          Field{"deadlines", &Of::deadlines},
                                          Field{"first_view", &Of::first_view},
                                          Field{"watch", &Of::watch},
                                          Field{"watch_all", &Of::watch_all, Limits{.sparse = true}},
                                          Field{"among", &Of::among, Limits{.sparse = true}},
                                          Field{"needless", &Of::needless, Limits{.sparse = true}}};
};
template <>
struct FieldsOf<protocol::Watch> {
  using Of = protocol::Watch;
  static constexpr auto list =
      std::tuple{Field{"experiment", &Of::experiment, kRequired}, Field{"deadlines", &Of::deadlines}};
};
template <>
struct FieldsOf<protocol::Code> {
  using Of = protocol::Code;
  static constexpr auto list = std::tuple{
      Field{"experiment", &Of::experiment, kRequired}, Field{"deadlines", &Of::deadlines},
      Field{"step", &Of::step, Limits{.low = 0, .high = 63, .sparse = true}},
      Field{"softmax", &Of::softmax, Limits{.sparse = true}}, Field{"timeline", &Of::timeline, Limits{.sparse = true}}};
};
template <>
struct FieldsOf<protocol::View> {
  static constexpr auto list = std::tuple{Field{"request", &protocol::View::request, kRequired}};
};
template <>
struct FieldsOf<protocol::Cancel> {
  static constexpr auto list = std::tuple{Field{"target", &protocol::Cancel::target, kRequired}};
};
template <>
struct FieldsOf<protocol::Restart> {
  using Of = protocol::Restart;
  static constexpr auto list =
      std::tuple{Field{"target", &Of::target, kRequired}, Field{"failure", &Of::failure, kRequired}};
};
template <>
struct FieldsOf<protocol::HelloReply> {
  using Of = protocol::HelloReply;
  static constexpr auto list =
      std::tuple{Field{"versions", &Of::versions, kRequired}, Field{"devices", &Of::devices, kDevices},
                 Field{"pid", &Of::pid, limits::kCount}};
};
template <>
struct FieldsOf<protocol::Need> {
  static constexpr auto list = std::tuple{Field{"hashes", &protocol::Need::hashes, kHashes}};
};
template <>
struct FieldsOf<protocol::Progress> {
  using Of = protocol::Progress;
  static constexpr auto list =
      std::tuple{Field{"stage", &Of::step, kRequired}, Field{"done", &Of::done, limits::kCount},
                 Field{"total", &Of::total, limits::kCount}};
};
template <>
struct FieldsOf<protocol::PartHead> {
  static constexpr auto list = std::tuple{Field{"final", &protocol::PartHead::final}};
};
template <>
struct FieldsOf<protocol::TileHead> {
  static constexpr auto list = std::tuple{};
};
template <>
struct FieldsOf<protocol::TileMessage> {
  static constexpr auto list = std::tuple{Field{"tile", &protocol::TileMessage::tile, kRequired}};
};
template <>
struct FieldsOf<protocol::ListingHead> {
  static constexpr auto list = std::tuple{};
};
template <>
struct FieldsOf<protocol::ListingMessage> {
  static constexpr auto list = std::tuple{Field{"listing", &protocol::ListingMessage::listing, kRequired}};
};
template <>
struct FieldsOf<protocol::Done> {
  static constexpr auto list = std::tuple{Field{"failure", &protocol::Done::failure}};
};
template <>
struct FieldsOf<GpuReading> {
  using Of = GpuReading;
  static constexpr auto list = std::tuple{Field{"device", &Of::device, kRequired},
                                          Field{"clock_mhz", &Of::clock_mhz, limits::kMhz},
                                          Field{"power_w", &Of::power_w, limits::kWatts},
                                          Field{"power_limit_w", &Of::power_limit_w, limits::kWatts},
                                          Field{"temperature_c", &Of::temperature_c, kDegrees},
                                          Field{"reasons", &Of::reasons, limits::kReasons}};
};
template <>
struct FieldsOf<protocol::Heartbeat> {
  using Of = protocol::Heartbeat;
  static constexpr auto list = std::tuple{Field{"state", &Of::state, kRequired}, Field{"detail", &Of::detail},
                                          Field{"gpus", &Of::gpus, kReadings}};
};
template <>
struct FieldsOf<protocol::Log> {
  using Of = protocol::Log;
  static constexpr auto list =
      std::tuple{Field{"level", &Of::level, kRequired}, Field{"text", &Of::text, limits::kLog}};
};

namespace protocol {
namespace {

// ---- to JSON ----
struct BytesField {
  const char* key;
  std::string KernelContent::*member;
  size_t most;
};
constexpr BytesField kBytes[] = {{"source_name", &KernelContent::source_name, 4096},
                                 {"manifest_name", &KernelContent::manifest_name, 4096},
                                 {"source", &KernelContent::source, kMaxSource},
                                 {"manifest", &KernelContent::manifest, kMaxSource}};

Json fields_json(const KernelContent& m) {
  Json json{{"hash", m.hash}};
  for (const auto& [key, member, most] : kBytes) {
    const std::string& bytes = m.*member;
    json[key] = binary_json({bytes.begin(), bytes.end()});
  }
  return json;
}
Json fields_json(const Part& m) { return Json{{"part", to_json(m.values)}, {"final", m.final}}; }
template <Listed Message>
Json fields_json(const Message& m) {
  return write_fields(m);
}

// Replaces bytes that are not part of a UTF-8 sequence in every text of `json`.
void make_utf8(Json& json) {
  if (json.is_string()) {
    const std::string& text = json.get_ref<const std::string&>();
    bool ascii = true;
    for (const char c : text) ascii = ascii && static_cast<unsigned char>(c) < 0x80;
    // nlohmann's dump can replace bytes that are not UTF-8. Parsing the result gives the cleaned text.
    if (!ascii) json = Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace));
  } else if (json.is_structured()) {
    for (auto& item : json) make_utf8(item);
  }
}

template <class Union>
Result<std::vector<std::byte>> encode_any(const Union& any) {
  Json json = std::visit([](const auto& message) { return fields_json(message); }, any);
  json["type"] = std::visit([](const auto& message) { return message.kType; }, any);
  json["id"] = id_of(any);
  make_utf8(json);
  return frame_of(to_msgpack(json));
}

// ---- from JSON ----
void read_message_fields(JsonReader& read, KernelContent& m) {
  read.required("hash");
  read.text("hash", m.hash, kHashes.bytes);
  for (const auto& [key, member, most] : kBytes) {
    read.required(key);
    if (read.failed()) return;
    const Json& value = *read.value(key);
    if (!value.is_binary()) return read.fault(key, "must be bytes");
    const auto& bytes = value.get_binary();
    if (bytes.size() > most) return read.fault(key, "is longer than " + std::to_string(most) + " bytes");
    (m.*member).assign(bytes.begin(), bytes.end());
  }
}
void read_message_fields(JsonReader& read, Part& m) {
  read.required("part");
  read.boolean("final", m.final);
  read.part("part", m.values, [](const Json& json, const std::string&) { return part_values_from_json(json); });
}
template <Listed Message>
void read_message_fields(JsonReader& read, Message& m) {
  if constexpr (requires { Message::kPayload; }) read.ignore(Message::kPayload);
  read_fields_into(read, m);
}

template <class Message>
Result<Message> read_message(const Json& json) {
  Message message;
  JsonReader read(json, Message::kType, Stage::protocol);
  read.ignore("type");
  read.ignore("id");
  if constexpr (requires { message.id; }) {
    read.required("id");
    read.unsigned_integer("id", message.id);
  }
  if (!read.failed()) read_message_fields(read, message);
  // A value's own reader (an experiment's) uses another stage.
  if (auto done = read.finish(); !done) return fail(Stage::protocol, done.error().message, done.error().hint);
  return message;
}

Result<std::string> type_of(const Json& json) {
  if (!json.is_object() || !json.contains("type") || !json["type"].is_string())
    return fail(Stage::protocol, "malformed message: it has no type", "");
  return json["type"].get<std::string>();
}

Failure unknown_type(const std::string& type) {
  return Failure{Stage::protocol, "\"" + type.substr(0, 64) + "\" is not a message of this version",
                 "Use the same version of attnscope on both sides."};
}

// Decodes `json` as the message of the variant that it names.
template <class... Message>
void decode_into(const Json& json, Result<std::variant<Message...>>& out) {
  const auto type = type_of(json);
  if (!type) return void(out = fail(type.error()));
  out = fail(unknown_type(*type));
  ((*type == Message::kType && (out = read_message<Message>(json), true)) || ...);
}

template <class Union>
Result<Union> decode_any(std::span<const std::byte> payload, std::initializer_list<std::string_view> left_out = {}) {
  const auto json = from_msgpack(payload, left_out);
  if (!json) return fail(json.error());
  Result<Union> out;
  decode_into(*json, out);
  return out;
}

}  // namespace

Result<std::vector<std::byte>> encode(const Request& request) { return encode_any(request); }
Result<std::vector<std::byte>> encode(const Reply& reply) { return encode_any(reply); }

Result<Request> decode_request(std::span<const std::byte> payload) { return decode_any<Request>(payload); }
Result<Reply> decode_reply(std::span<const std::byte> payload) { return decode_any<Reply>(payload); }
Result<Envelope> decode_envelope(std::span<const std::byte> payload) {
  return decode_any<Envelope>(payload, {PartHead::kPayload, TileHead::kPayload, ListingHead::kPayload});
}

std::optional<Id> id_of_malformed(std::span<const std::byte> payload) {
  auto json = from_msgpack(payload);
  if (!json || !json->is_object() || !json->contains("id") || !(*json)["id"].is_number_unsigned()) return std::nullopt;
  return (*json)["id"].get<Id>();
}

}  // namespace protocol
}  // namespace attnscope
