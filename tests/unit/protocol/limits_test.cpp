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

Json watch(const char* deadline, int64_t ms) {
  Experiment experiment;
  experiment.kernel = "tiled";
  experiment.kernel_hash = std::string(32, 'a');
  return Json{{"type", "watch"}, {"id", 1}, {"experiment", to_json(experiment)}, {"deadlines", {{deadline, ms}}}};
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

TEST(Limits, AWorkerMayHaveNoDevice) {
  const auto frame = encode(Reply(HelloReply{1, {"0.1.0", "13.0", "", ""}, {}, 4242}));
  ASSERT_TRUE(frame);
  const auto back = decode_reply(std::span(*frame).subspan(kHeader));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_TRUE(std::get<HelloReply>(*back).devices.empty());
}

}  // namespace
}  // namespace attnscope::protocol
