// What a message must have, what its numbers may be, and what is answered to one that cannot be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "protocol/frame.h"
#include "protocol/message.h"
#include "protocol/msgpack.h"

namespace attnscope::protocol {
namespace {

using testing::HasSubstr;

Json experiment() {
  Experiment experiment;
  experiment.kernel = "tiled";
  experiment.kernel_hash = std::string(32, 'a');
  return to_json(experiment);
}

Json device() {
  DeviceSpec spec;
  spec.id = "emulated:l4";
  spec.name = "NVIDIA L4";
  spec.sms = 58;
  spec.shared_static_block = 49152, spec.shared_optin_block = 101376, spec.shared_sm = 102400;
  spec.warps_sm = 48, spec.ctas_sm = 24;
  spec.registers_sm = spec.registers_block = 65536;
  spec.clock_mhz = 2040, spec.dram_gbs = 300, spec.l2_mb = 48;
  return to_json(spec);
}

Json bytes(const std::string& text) { return Json::binary(std::vector<uint8_t>(text.begin(), text.end())); }

std::string why_not(const Json& request) {
  const auto taken = decode_request(to_msgpack(request));
  return taken ? "taken" : taken.error().message;
}
std::string reply_why_not(const Json& reply) {
  const auto taken = decode_reply(to_msgpack(reply));
  return taken ? "taken" : taken.error().message;
}

// Every message without one of its members at a time.
TEST(Door, WhatARequestMustHaveIsNamed) {
  const Json kernel{{"hash", "h"},
                    {"source_name", bytes("a.cu")},
                    {"manifest_name", bytes("a.json")},
                    {"source", bytes("")},
                    {"manifest", bytes("{}")}};
  const Json failure{{"stage", "protocol"}, {"message", "m"}, {"hint", ""}};
  const std::pair<const char*, Json> messages[] = {
      {"kernel", kernel},
      {"run", {{"experiment", experiment()}}},
      {"watch", {{"experiment", experiment()}}},
      {"code", {{"experiment", experiment()}}},
      {"view", {{"request", to_json(ViewRequest{.experiment_hash = "x", .width = 8, .height = 8})}}},
      {"cancel", {{"target", 3}}},
      {"restart", {{"target", 3}, {"failure", failure}}},
      {"hello", Json::object()}};
  for (const auto& [type, members] : messages) {
    Json whole = members;
    whole["type"] = type;
    whole["id"] = 7;
    ASSERT_EQ(why_not(whole), "taken") << type;
    for (const auto& [key, value] : whole.items()) {
      if (key == "type") continue;
      Json lacks = whole;
      lacks.erase(key);
      EXPECT_THAT(why_not(lacks), HasSubstr(std::string(type) + "/" + key));
      Json other = whole;
      other[key] = nullptr;
      EXPECT_THAT(why_not(other), HasSubstr(std::string(type) + "/" + key)) << "null is no value of it";
    }
    Json more = whole;
    more["surprise"] = 1;
    EXPECT_THAT(why_not(more), HasSubstr("surprise"));
  }
}

TEST(Door, WhatAReplyMustHaveIsNamed) {
  const std::pair<const char*, Json> messages[] = {
      {"hello_reply", {{"versions", Json::object()}, {"devices", {device()}}}},
      {"need", {{"hashes", {"a"}}}},
      {"progress", {{"stage", "emulating"}}},
      {"part", {{"part", Json::object()}}}};
  for (const auto& [type, members] : messages) {
    Json whole = members;
    whole["type"] = type;
    whole["id"] = 7;
    ASSERT_EQ(reply_why_not(whole), "taken") << type;
    for (const auto& [key, value] : whole.items()) {
      if (key == "type") continue;
      Json lacks = whole;
      lacks.erase(key);
      EXPECT_THAT(reply_why_not(lacks), HasSubstr(std::string(type) + "/" + key));
    }
  }
  // These belong to no request: they have no id.
  EXPECT_EQ(reply_why_not({{"type", "heartbeat"}, {"state", "busy"}}), "taken");
  EXPECT_EQ(reply_why_not({{"type", "log"}, {"level", "warning"}}), "taken");
  EXPECT_EQ(reply_why_not({{"type", "log"}, {"level", "warning"}, {"id", 0}}), "taken");
}

struct Bound {
  const char* pointer;
  Json kept, beyond;
};

void expect_bounds(const Json& reply, const std::vector<Bound>& bounds) {
  ASSERT_EQ(reply_why_not(reply), "taken");
  for (const auto& [pointer, kept, beyond] : bounds) {
    Json json = reply;
    json[Json::json_pointer(pointer)] = kept;
    EXPECT_EQ(reply_why_not(json), "taken") << pointer << " " << kept;
    json[Json::json_pointer(pointer)] = beyond;
    EXPECT_THAT(reply_why_not(json), HasSubstr(pointer)) << beyond;
  }
}

TEST(Door, AReadingOfAGpuIsOne) {
  const Json reading{{"device", "cuda:0"}, {"clock_mhz", 1}, {"power_w", 1}, {"power_limit_w", 1}};
  const std::vector<Json> most(1024, reading);
  std::vector<Json> more = most;
  more.push_back(reading);
  expect_bounds({{"type", "heartbeat"}, {"state", "ready"}, {"gpus", {reading}}},
                {{"/gpus", most, more},
                 {"/gpus/0/temperature_c", 0, -1},
                 {"/gpus/0/temperature_c", 1000, 1001},
                 {"/gpus/0/clock_mhz", 0, -1},
                 {"/gpus/0/power_w", 0, -1},
                 {"/gpus/0/power_limit_w", 0, -1},
                 {"/gpus/0/reasons", Json{"power cap"}, Json{1}}});
  Json nameless = reading;
  nameless.erase("device");
  EXPECT_THAT(reply_why_not({{"type", "heartbeat"}, {"state", "ready"}, {"gpus", {reading, nameless}}}),
              HasSubstr("gpus/1/device"));
}

TEST(Door, AHelloHasAtMost1024DevicesAndAPid) {
  const std::vector<Json> most(1024, device());
  std::vector<Json> more = most;
  more.push_back(device());
  expect_bounds({{"type", "hello_reply"}, {"id", 1}, {"versions", Json::object()}, {"devices", Json::array()}},
                {{"/devices", most, more}, {"/pid", 0, -1}, {"/pid", int64_t{1} << 40, 0.5}});
  const auto without = decode_reply(
      to_msgpack({{"type", "hello_reply"}, {"id", 1}, {"versions", Json::object()}, {"devices", Json::array()}}));
  EXPECT_EQ(std::get<HelloReply>(without.value()).pid, 0);
}

TEST(Door, ProgressCountsFromZero) {
  expect_bounds({{"type", "progress"}, {"id", 1}, {"stage", "limits"}},
                {{"/done", 0, -1}, {"/total", 0, -1}, {"/done", int64_t{1} << 40, 0.5}, {"/total", 3, "3"}});
}

// Older workers do not know these members, so they are absent unless they say something.
TEST(Door, WhatAnOlderWorkerDoesNotKnowIsLeftOut) {
  const auto keys = [](const Request& request) {
    const auto frame = encode(request);
    const auto json = from_msgpack(std::span(frame.value()).subspan(kHeader));
    std::vector<std::string> all;
    for (const auto& [key, value] : json->items()) all.push_back(key);
    return all;
  };
  Experiment one;
  one.kernel = "tiled";
  one.kernel_hash = std::string(32, 'a');
  protocol::Run run{1, one, {}, std::nullopt};
  EXPECT_THAT(keys(run), testing::UnorderedElementsAre("type", "id", "experiment", "deadlines", "first_view", "watch"));
  run.watch_all = false, run.among = Among{}, run.needless = true;
  EXPECT_THAT(keys(run), testing::UnorderedElementsAre("type", "id", "experiment", "deadlines", "first_view", "watch",
                                                       "watch_all", "among", "needless"));
  Code code{1, one, {}};
  EXPECT_THAT(keys(code), testing::UnorderedElementsAre("type", "id", "experiment", "deadlines"));
  code.step = 0, code.softmax = SoftmaxRow{0, 0, 0}, code.timeline = TimelineAsk{};
  EXPECT_THAT(keys(code),
              testing::UnorderedElementsAre("type", "id", "experiment", "deadlines", "step", "softmax", "timeline"));
  const auto frame = encode(Request(code));
  const auto back = decode_request(std::span(frame.value()).subspan(kHeader));
  EXPECT_EQ(std::get<Code>(back.value()), code);
  const auto beat = encode(Reply(Heartbeat{WorkerPhase::busy, "mma"}));
  EXPECT_FALSE(from_msgpack(std::span(beat.value()).subspan(kHeader))->contains("gpus"));
}

TEST(Door, TheIdOfAMalformedRequestIsFoundIfThereIsOne) {
  EXPECT_EQ(id_of_malformed(to_msgpack({{"type", "no such"}, {"id", 9}})), Id{9});
  EXPECT_EQ(id_of_malformed(to_msgpack({{"id", UINT64_MAX}})), UINT64_MAX);
  for (const Json& json : {Json::array({{"id", 9}}), Json(9), Json("id"), Json{{"type", "run"}}, Json{{"id", "9"}},
                           Json{{"id", -9}}, Json{{"id", 9.5}}, Json{{"id", nullptr}}})
    EXPECT_EQ(id_of_malformed(to_msgpack(json)), std::nullopt) << json;
  const std::byte garbage[] = {std::byte{0x81}, std::byte{0xc1}};
  EXPECT_EQ(id_of_malformed(garbage), std::nullopt);
  EXPECT_EQ(id_of_malformed({}), std::nullopt);
}

// Every byte that is no part of a sequence becomes U+FFFD, wherever the text stands; other texts stay.
TEST(Door, EachBadByteIsReplacedAndNothingElse) {
  const std::string mark = "\xef\xbf\xbd";
  const std::pair<std::string, std::string> texts[] = {{"\x80", mark},
                                                       {"a\x80", "a" + mark},
                                                       {"\xff\xfe", mark + mark},
                                                       {"caf\xc3\xa9", "caf\xc3\xa9"},
                                                       {"\x7f", "\x7f"},
                                                       {"\xe2\x82\xac", "\xe2\x82\xac"},
                                                       {"\xe2\x82", mark},
                                                       {"", ""},
                                                       {"\"\\\n\x01", "\"\\\n\x01"}};
  for (const auto& [given, sent] : texts) {
    const auto frame = encode(Reply(Done{1, Failure{Stage::compile, given, given}}));
    const auto back = decode_reply(std::span(frame.value()).subspan(kHeader));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(std::get<Done>(*back).failure->message, sent);
    EXPECT_EQ(std::get<Done>(*back).failure->hint, sent);
    const auto log = encode(Reply(Log{Severity::info, given}));
    EXPECT_EQ(std::get<Log>(decode_reply(std::span(log.value()).subspan(kHeader)).value()).text, sent);
  }
}

// The reader of an experiment fails at another stage. In a message its fault is one of the protocol.
TEST(Door, AFaultInsideAValueIsTheProtocols) {
  Json bad = experiment();
  bad["problem"] = 1;
  const auto refused = decode_request(to_msgpack({{"type", "watch"}, {"id", 1}, {"experiment", bad}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().stage, Stage::protocol);
  EXPECT_THAT(refused.error().message, HasSubstr("watch/experiment/problem"));
}

TEST(Door, ADecoderThatGaveUpHoldsNothing) {
  FrameDecoder decoder(10);
  std::vector<std::byte> stream = frame_of(std::vector<std::byte>(10)).value();
  const auto longer = frame_of(std::vector<std::byte>(11)).value();
  stream.insert(stream.end(), longer.begin(), longer.end());
  decoder.feed(stream);
  ASSERT_TRUE(decoder.next().value());
  EXPECT_TRUE(decoder.in_frame());
  for (int again = 0; again < 3; ++again) {
    const auto refused = decoder.next();
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("11 bytes is over the limit of 10"));
    EXPECT_THAT(refused.error().hint, HasSubstr("The other side is not attnscope"));
    EXPECT_FALSE(decoder.in_frame());
    decoder.feed(stream);
    EXPECT_FALSE(decoder.in_frame()) << "nor does it take more";
  }
}

#if defined(__GLIBC__)
size_t allocated() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(Door, AHeaderWithoutItsFrameTakesNoMemoryAndAFramesMemoryIsFreed) {
  const size_t before = allocated();
  FrameDecoder decoder;
  std::vector<std::byte> header(kHeader + 100);
  header[2] = std::byte{0x40};  // it announces 4 MiB
  decoder.feed(header);
  EXPECT_LT(allocated(), before + (size_t{1} << 20));
  const std::vector<std::byte> rest((size_t{4} << 20) - 100);
  decoder.feed(rest);
  ASSERT_TRUE(decoder.next().value());
  EXPECT_FALSE(decoder.next().value());
  EXPECT_LT(allocated(), before + rest.size() + (size_t{1} << 20)) << "only the rest that the test holds";
}
#endif

}  // namespace
}  // namespace attnscope::protocol
