#include "protocol/message.h"

#include <array>

#include "core/binary_json.h"
#include "core/json.h"
#include "core/words.h"
#include "protocol/frame.h"
#include "protocol/msgpack.h"

namespace attnscope::protocol {
namespace {

constexpr WordTable<Step, 6> kSteps{{{Step::compiling, "compiling"},
                                     {Step::limits, "limits"},
                                     {Step::emulating, "emulating"},
                                     {Step::checking, "checking"},
                                     {Step::measuring, "measuring"},
                                     {Step::watching, "watching"}}};
constexpr WordTable<WorkerPhase, 3> kPhases{
    {{WorkerPhase::ready, "ready"}, {WorkerPhase::busy, "busy"}, {WorkerPhase::restarting, "restarting"}}};
constexpr WordTable<LogLevel, 3> kLevels{
    {{LogLevel::info, "info"}, {LogLevel::warning, "warning"}, {LogLevel::error, "error"}}};
constexpr std::array<std::string_view, 3> kUnoffered{"counters", "trace", "micro"};

constexpr size_t kMaxSource = size_t{8} << 20;
constexpr size_t kMaxText = size_t{16} << 20;
constexpr int64_t kLongest = 24 * 3600 * 1000;  // ms, of a deadline
constexpr size_t kMaxHash = 64;

// ---- to JSON ----
Json head(const char* type, Id id) { return Json{{"type", type}, {"id", id}}; }

Json bytes_json(const std::string& text) { return binary_json(std::vector<uint8_t>(text.begin(), text.end())); }

Json to_json(const Deadlines& d) {
  return Json{{"compile_ms", d.compile_ms}, {"emulated_ms", d.emulated_ms}, {"launch_ms", d.launch_ms}};
}

Json message_json(const Hello& m) { return head("hello", m.id); }
Json message_json(const KernelContent& m) {
  Json json = head("kernel", m.id);
  json["hash"] = m.hash;
  json["source_name"] = bytes_json(m.source_name);
  json["manifest_name"] = bytes_json(m.manifest_name);
  json["source"] = bytes_json(m.source);
  json["manifest"] = bytes_json(m.manifest);
  return json;
}
Json message_json(const Compile& m) {
  Json json = head("compile", m.id);
  json["experiment"] = attnscope::to_json(m.experiment);
  json["deadlines"] = to_json(m.deadlines);
  return json;
}
Json message_json(const Run& m) {
  Json json = head("run", m.id);
  json["experiment"] = attnscope::to_json(m.experiment);
  json["deadlines"] = to_json(m.deadlines);
  json["first_view"] = m.first_view ? attnscope::to_json(*m.first_view) : Json(nullptr);
  json["watch"] = m.watch;
  return json;
}
Json message_json(const Watch& m) {
  Json json = head("watch", m.id);
  json["experiment"] = attnscope::to_json(m.experiment);
  json["deadlines"] = to_json(m.deadlines);
  return json;
}
Json message_json(const View& m) {
  Json json = head("view", m.id);
  json["request"] = attnscope::to_json(m.request);
  return json;
}
Json message_json(const Unoffered& m) { return head(m.type.c_str(), m.id); }
Json message_json(const Cancel& m) {
  Json json = head("cancel", m.id);
  json["target"] = m.target;
  return json;
}

Json message_json(const HelloReply& m) {
  Json json = head("hello_reply", m.id);
  json["versions"] = attnscope::to_json(m.versions);
  json["devices"] = Json::array();
  for (const DeviceSpec& spec : m.devices) json["devices"].push_back(attnscope::to_json(spec));
  json["pid"] = m.pid;
  return json;
}
Json message_json(const Need& m) {
  Json json = head("need", m.id);
  json["hashes"] = m.hashes;
  return json;
}
Json message_json(const Progress& m) {
  Json json = head("progress", m.id);
  json["stage"] = to_string(m.step);
  json["done"] = m.done;
  json["total"] = m.total;
  return json;
}
Json message_json(const Part& m) {
  Json json = head("part", m.id);
  json["part"] = *m.part;
  json["final"] = m.final;
  return json;
}
Json message_json(const TileMessage& m) {
  Json json = head("tile", m.id);
  json["tile"] = attnscope::to_json(m.tile);
  return json;
}
Json message_json(const Done& m) {
  Json json = head("done", m.id);
  json["failure"] = m.failure ? attnscope::to_json(*m.failure) : Json(nullptr);
  return json;
}
Json message_json(const Heartbeat& m) {
  Json json = head("heartbeat", 0);
  json["state"] = to_string(m.state);
  json["detail"] = m.detail;
  return json;
}
Json message_json(const Log& m) {
  Json json = head("log", 0);
  json["level"] = to_string(m.level);
  json["text"] = m.text;
  return json;
}

// ---- from JSON ----
void read_bytes(JsonReader& read, const char* key, std::string& out, size_t most) {
  read.required(key);
  if (read.failed()) return;
  const Json& value = *read.value(key);
  if (!value.is_binary()) return read.fault(key, "must be bytes");
  if (value.get_binary().size() > most) return read.fault(key, "is longer than " + std::to_string(most) + " bytes");
  out.assign(value.get_binary().begin(), value.get_binary().end());
}

// A part of the message with a reader of its own.
template <class T, class Parse>
void read_inner(JsonReader& read, const char* key, T& out, Parse parse) {
  read.required(key);
  if (read.failed()) return;
  auto parsed = parse(*read.value(key), read.path(key));
  if (parsed)
    out = std::move(*parsed);
  else
    read.adopt(Failure{Stage::protocol, parsed.error().message, parsed.error().hint});
}

Result<Deadlines> deadlines_from_json(const Json& json, const std::string& where) {
  Deadlines d;
  JsonReader read(json, where, Stage::protocol);
  read.integer("compile_ms", d.compile_ms, 1, kLongest);
  read.integer("emulated_ms", d.emulated_ms, 1, kLongest);
  read.integer("launch_ms", d.launch_ms, 1, kLongest);
  if (auto done = read.finish(); !done) return fail(done.error());
  return d;
}

void read_fields(JsonReader&, Hello&) {}
void read_fields(JsonReader& read, KernelContent& m) {
  read.required("hash");
  read.text("hash", m.hash, kMaxHash);
  read_bytes(read, "source_name", m.source_name, 4096);
  read_bytes(read, "manifest_name", m.manifest_name, 4096);
  read_bytes(read, "source", m.source, kMaxSource);
  read_bytes(read, "manifest", m.manifest, kMaxSource);
}
void read_fields(JsonReader& read, Compile& m) {
  read_inner(read, "experiment", m.experiment, experiment_from_json);
  if (read.has("deadlines")) read_inner(read, "deadlines", m.deadlines, deadlines_from_json);
}
void read_fields(JsonReader& read, Run& m) {
  read_inner(read, "experiment", m.experiment, experiment_from_json);
  if (read.has("deadlines")) read_inner(read, "deadlines", m.deadlines, deadlines_from_json);
  if (read.has("first_view")) {
    ViewRequest view;
    read_inner(read, "first_view", view, view_request_from_json);
    m.first_view = view;
  }
  read.boolean("watch", m.watch);
}
void read_fields(JsonReader& read, Watch& m) {
  read_inner(read, "experiment", m.experiment, experiment_from_json);
  if (read.has("deadlines")) read_inner(read, "deadlines", m.deadlines, deadlines_from_json);
}
void read_fields(JsonReader& read, View& m) { read_inner(read, "request", m.request, view_request_from_json); }
void read_fields(JsonReader&, Unoffered&) {}
void read_fields(JsonReader& read, Cancel& m) {
  read.required("target");
  read.unsigned_integer("target", m.target);
}

void read_fields(JsonReader& read, HelloReply& m) {
  read.required("versions");
  read.required("devices");
  read.integer("pid", m.pid, 0);
  if (read.failed()) return;
  Observation holder;  // apply_part knows how to read versions
  if (auto applied = apply_part(holder, Json{{"versions", *read.value("versions")}}); !applied)
    return read.adopt(applied.error());
  m.versions = holder.versions;
  const Json& devices = *read.value("devices");
  if (!devices.is_array() || devices.size() > 1024) return read.fault("devices", "must be an array of at most 1024");
  for (size_t i = 0; i < devices.size(); ++i) {
    auto spec = device_spec_from_json(devices[i], read.path("devices") + "/" + std::to_string(i));
    if (!spec) return read.adopt(Failure{Stage::protocol, spec.error().message, spec.error().hint});
    m.devices.push_back(std::move(*spec));
  }
}
void read_fields(JsonReader& read, Need& m) {
  read.required("hashes");
  if (read.failed()) return;
  const Json& hashes = *read.value("hashes");
  if (!hashes.is_array() || hashes.size() > 1024) return read.fault("hashes", "must be an array of at most 1024");
  for (const Json& hash : hashes) {
    if (!hash.is_string() || hash.get_ref<const std::string&>().size() > kMaxHash)
      return read.fault("hashes", "must hold hashes");
    m.hashes.push_back(hash.get<std::string>());
  }
}
void read_fields(JsonReader& read, Progress& m) {
  read.required("stage");
  read.word("stage", m.step, [](std::string_view text) { return value_of(kSteps, text, Stage::protocol); });
  read.integer("done", m.done, 0);
  read.integer("total", m.total, 0);
}
void read_fields(JsonReader& read, Part& m) {
  read.required("part");
  read.boolean("final", m.final);
  if (read.failed()) return;
  Observation probe;  // the client must be able to apply it
  if (auto applied = apply_part(probe, *read.value("part")); !applied) return read.adopt(applied.error());
  m.part = std::make_shared<const Json>(*read.value("part"));
}
void read_fields(JsonReader& read, TileMessage& m) { read_inner(read, "tile", m.tile, tile_from_json); }
void read_fields(JsonReader& read, Done& m) {
  if (!read.has("failure")) return;
  Failure failure;
  read_inner(read, "failure", failure, failure_from_json);
  m.failure = failure;
}
void read_fields(JsonReader& read, Heartbeat& m) {
  read.required("state");
  read.word("state", m.state, [](std::string_view text) { return value_of(kPhases, text, Stage::protocol); });
  read.text("detail", m.detail);
}
void read_fields(JsonReader& read, Log& m) {
  read.required("level");
  read.word("level", m.level, [](std::string_view text) { return value_of(kLevels, text, Stage::protocol); });
  read.text("text", m.text, kMaxText);
}

template <class T>
constexpr bool kHasId = requires(T message) {
  message.id;
};

template <class Message, class Union>
Result<Union> read_message(const Json& json, const std::string& type, Message message = {}) {
  JsonReader read(json, type, Stage::protocol);
  read.ignore("type");
  if constexpr (kHasId<Message>) {
    read.required("id");
    read.unsigned_integer("id", message.id);
  } else {
    read.ignore("id");
  }
  if (!read.failed()) read_fields(read, message);
  if (auto done = read.finish(); !done) return fail(done.error());
  return Union(std::move(message));
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

// Replaces bytes that are not part of a UTF-8 sequence in every text of `json`.
void make_utf8(Json& json) {
  if (json.is_string()) {
    const std::string& text = json.get_ref<const std::string&>();
    bool ascii = true;
    for (const char c : text) ascii = ascii && static_cast<unsigned char>(c) < 0x80;
    // nlohmann's dump can replace what is not UTF-8; parsing the result gives the cleaned text.
    if (!ascii) json = Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace));
  } else if (json.is_structured()) {
    for (auto& item : json) make_utf8(item);
  }
}

template <class Message>
Id id_of_message(const Message& message) {
  if constexpr (kHasId<Message>)
    return message.id;
  else
    return 0;
}

}  // namespace

std::string_view to_string(Step step) { return word_of(kSteps, step); }
std::string_view to_string(WorkerPhase phase) { return word_of(kPhases, phase); }
std::string_view to_string(LogLevel level) { return word_of(kLevels, level); }

Part part_of(Id id, Json part, bool final) { return Part{id, std::make_shared<const Json>(std::move(part)), final}; }

Part failure_part(Id id, const Failure& failure) { return part_of(id, Json{{"failure", attnscope::to_json(failure)}}); }

Result<std::vector<std::byte>> encode(const Request& request) {
  Json json = std::visit([](const auto& message) { return message_json(message); }, request);
  make_utf8(json);
  return frame_of(to_msgpack(json));
}

Result<std::vector<std::byte>> encode(const Reply& reply) {
  Json json = std::visit([](const auto& message) { return message_json(message); }, reply);
  make_utf8(json);
  return frame_of(to_msgpack(json));
}

Result<Request> decode_request(std::span<const std::byte> payload) {
  auto json = from_msgpack(payload);
  if (!json) return fail(json.error());
  auto type = type_of(*json);
  if (!type) return fail(type.error());
  if (*type == "hello") return read_message<Hello, Request>(*json, *type);
  if (*type == "kernel") return read_message<KernelContent, Request>(*json, *type);
  if (*type == "compile") return read_message<Compile, Request>(*json, *type);
  if (*type == "run") return read_message<Run, Request>(*json, *type);
  if (*type == "watch") return read_message<Watch, Request>(*json, *type);
  if (*type == "view") return read_message<View, Request>(*json, *type);
  if (*type == "cancel") return read_message<Cancel, Request>(*json, *type);
  for (const std::string_view name : kUnoffered) {
    if (*type != name) continue;
    // What these will carry is not settled: only the envelope is read.
    const Json envelope{{"type", *type}, {"id", json->contains("id") ? (*json)["id"] : Json(nullptr)}};
    return read_message<Unoffered, Request>(envelope, *type, Unoffered{0, *type});
  }
  return fail(unknown_type(*type));
}

Result<Reply> decode_reply(std::span<const std::byte> payload) {
  auto json = from_msgpack(payload);
  if (!json) return fail(json.error());
  auto type = type_of(*json);
  if (!type) return fail(type.error());
  if (*type == "hello_reply") return read_message<HelloReply, Reply>(*json, *type);
  if (*type == "need") return read_message<Need, Reply>(*json, *type);
  if (*type == "progress") return read_message<Progress, Reply>(*json, *type);
  if (*type == "part") return read_message<Part, Reply>(*json, *type);
  if (*type == "tile") return read_message<TileMessage, Reply>(*json, *type);
  if (*type == "done") return read_message<Done, Reply>(*json, *type);
  if (*type == "heartbeat") return read_message<Heartbeat, Reply>(*json, *type);
  if (*type == "log") return read_message<Log, Reply>(*json, *type);
  return fail(unknown_type(*type));
}

Id id_of(const Request& request) {
  return std::visit([](const auto& message) { return id_of_message(message); }, request);
}

Id id_of(const Reply& reply) {
  return std::visit([](const auto& message) { return id_of_message(message); }, reply);
}

std::optional<Id> id_of_malformed(std::span<const std::byte> payload) {
  auto json = from_msgpack(payload);
  if (!json || !json->is_object() || !json->contains("id") || !(*json)["id"].is_number_unsigned()) return std::nullopt;
  return (*json)["id"].get<Id>();
}

}  // namespace attnscope::protocol
