// The largest values that a message may hold, and one more of each.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "protocol/frame.h"
#include "protocol/message.h"
#include "protocol/msgpack.h"

namespace attnscope::protocol {
namespace {

Json bytes(size_t count) { return Json::binary(std::vector<uint8_t>(count, 'x')); }
Json text(size_t count) { return std::string(count, 'x'); }

struct Limit {
  const char* what;
  Json largest, larger;
};

Json kernel(const char* key, size_t count) {
  Json json{{"type", "kernel"},
            {"id", 1},
            {"hash", "h"},
            {"source_name", bytes(1)},
            {"manifest_name", bytes(1)},
            {"source", bytes(1)},
            {"manifest", bytes(1)}};
  json[key] = std::string_view(key) == "hash" ? text(count) : bytes(count);
  return json;
}

Experiment an_experiment() {
  Experiment experiment;
  experiment.kernel = "tiled";
  experiment.kernel_hash = std::string(32, 'a');
  return experiment;
}

Json watch(const char* deadline, int64_t ms) {
  return Json{{"type", "watch"}, {"id", 1}, {"experiment", to_json(an_experiment())}, {"deadlines", {{deadline, ms}}}};
}

Json among(const char* key, Json value) {
  return Json{
      {"type", "run"}, {"id", 1}, {"experiment", to_json(an_experiment())}, {"among", {{key, std::move(value)}}}};
}

Json step(int64_t of) {
  return Json{{"type", "code"}, {"id", 1}, {"experiment", to_json(an_experiment())}, {"step", of}};
}

TEST(Limits, OfARequest) {
  constexpr int64_t kDay = 24 * 3600 * 1000;
  const Limit limits[] = {
      {"hash", kernel("hash", 64), kernel("hash", 65)},
      {"source_name", kernel("source_name", 4096), kernel("source_name", 4097)},
      {"manifest_name", kernel("manifest_name", 4096), kernel("manifest_name", 4097)},
      {"source", kernel("source", 8 << 20), kernel("source", (8 << 20) + 1)},
      {"manifest", kernel("manifest", 8 << 20), kernel("manifest", (8 << 20) + 1)},
      {"compile_ms", watch("compile_ms", kDay), watch("compile_ms", kDay + 1)},
      {"emulated_ms", watch("emulated_ms", kDay), watch("emulated_ms", kDay + 1)},
      {"launch_ms", watch("launch_ms", kDay), watch("launch_ms", kDay + 1)},
      {"compile_ms", watch("compile_ms", 1), watch("compile_ms", 0)},
      {"emulated_ms", watch("emulated_ms", 1), watch("emulated_ms", 0)},
      {"launch_ms", watch("launch_ms", 1), watch("launch_ms", 0)},
      {"ahead", among("ahead", std::vector(64, to_json(an_experiment()))),
       among("ahead", std::vector(65, to_json(an_experiment())))},
      {"known_codes", among("known_codes", std::vector(4096, text(1))),
       among("known_codes", std::vector(4097, text(1)))},
      {"known_codes", among("known_codes", Json::array({text(64)})), among("known_codes", Json::array({text(65)}))},
      {"hopeless_us", among("hopeless_us", 0), among("hopeless_us", -1)},
      {"step", step(63), step(64)},
      {"step", step(0), step(-1)},
  };
  for (const auto& [what, largest, larger] : limits) {
    const auto taken = decode_request(to_msgpack(largest));
    EXPECT_TRUE(taken) << what << ": " << taken.error().message;
    const auto refused = decode_request(to_msgpack(larger));
    ASSERT_FALSE(refused) << what;
    EXPECT_NE(refused.error().message.find(what), std::string::npos) << refused.error().message;
  }
}

TEST(Limits, OfAReply) {
  const auto need = [](size_t count, size_t length) {
    return Json{{"type", "need"}, {"id", 1}, {"hashes", Json(std::vector<Json>(count, text(length)))}};
  };
  const auto log = [](size_t length) {
    return Json{{"type", "log"}, {"id", 0}, {"level", "info"}, {"text", text(length)}};
  };
  const Limit limits[] = {{"hashes", need(1024, 64), need(1025, 64)},
                          {"hashes", need(1, 64), need(1, 65)},
                          {"text", log(16 << 20), log((16 << 20) + 1)}};
  for (const auto& [what, largest, larger] : limits) {
    const auto taken = decode_reply(to_msgpack(largest));
    EXPECT_TRUE(taken) << what << ": " << taken.error().message;
    const auto refused = decode_reply(to_msgpack(larger));
    ASSERT_FALSE(refused) << what;
    EXPECT_NE(refused.error().message.find(what), std::string::npos) << refused.error().message;
  }
}

// Older clients leave out what they do not know.
TEST(Defaults, OfWhatAMessageLeavesOut) {
  const auto run =
      decode_request(to_msgpack(Json{{"type", "run"}, {"id", 1}, {"experiment", to_json(an_experiment())}}));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(std::get<protocol::Run>(*run),
            (protocol::Run{1, an_experiment(), {60000, 5000, 2000}, std::nullopt, false}));
  const auto progress = decode_reply(to_msgpack(Json{{"type", "progress"}, {"id", 1}, {"stage", "limits"}}));
  ASSERT_TRUE(progress) << progress.error().message;
  EXPECT_EQ(std::get<Progress>(*progress), (Progress{1, Step::limits, 0, 0}));
  const auto part = decode_reply(to_msgpack(Json{{"type", "part"}, {"id", 1}, {"part", Json::object()}}));
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_TRUE(std::get<Part>(*part).final);
}

TEST(Limits, AnUnknownMessageIsNamedInSixtyFourLetters) {
  const auto refused = decode_request(to_msgpack(Json{{"type", std::string(70, 'x')}, {"id", 1}}));
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.starts_with("\"" + std::string(64, 'x') + "\" ")) << refused.error().message;
  EXPECT_NE(refused.error().hint.find("same version"), std::string::npos);
}

TEST(Limits, AWorkerMayHaveNoDevice) {
  const auto frame = encode(Reply(HelloReply{1, {"0.1.0", "13.0", "", ""}, {}, 4242}));
  ASSERT_TRUE(frame);
  const auto back = decode_reply(std::span(*frame).subspan(kHeader));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(std::get<HelloReply>(*back).devices.empty());
}

}  // namespace
}  // namespace attnscope::protocol
