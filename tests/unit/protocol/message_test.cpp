#include "protocol/message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>

#include "protocol/frame.h"
#include "protocol/msgpack.h"

namespace attnscope::protocol {
namespace {

using Bytes = std::vector<std::byte>;

Experiment an_experiment() {
  Experiment e;
  e.kernel = "tiled";
  e.kernel_hash = std::string(32, 'a');
  e.config.knobs = {{"BLOCK_M", 32}, {"NUM_WARPS", 4}};
  e.problem.seq_q = 333;
  return e;
}

DeviceSpec a_device() {
  DeviceSpec spec;
  spec.id = "emulated:l4";
  spec.name = "NVIDIA L4";
  spec.sms = 58;
  spec.shared_static_block = 49152;
  spec.shared_optin_block = 101376;
  spec.shared_sm = 102400;
  spec.shared_reserved_block = 1024;
  spec.warps_sm = 48;
  spec.ctas_sm = 24;
  spec.registers_sm = spec.registers_block = 65536;
  spec.clock_mhz = 2040;
  spec.dram_gbs = 300;
  spec.l2_mb = 48;
  spec.tensor_tflops_f16 = 121;
  return spec;
}

Tile a_tile() {
  Tile tile;
  tile.request = {.experiment_hash = "ab", .map = MapKind::error, .head = 2, .row_end = 4, .width = 3, .height = 2};
  tile.width = 3;
  tile.height = 2;
  tile.values = {0, 1, 2, 3, Tile::kNotYet, 5};
  tile.ready_rows = {1, 0};
  return tile;
}

// A value of each kind, in an Observation's order.
Part every_part() {
  VariantInfo variant;
  variant.shared_buffers = {{"S_tile", 4096, true}};
  variant.log = "ptxas info";
  Occupancy occupancy;
  occupancy.limiter = Limiter::registers;
  Verdict verdict;
  verdict.state = VerdictState::wrong;
  verdict.first_bad = BadElement{0, 1, 2, 3, 0.5, 0.25};
  Timing timing;
  timing.sampling.emplace().rounds = {{1, 2}, {3}};
  Counters counters;
  counters.instructions = {{"total", 1000}};
  Finding finding;
  finding.rule = RuleId::race_shared;
  finding.evidence = {{"times seen", 3, "", FigureKind::counted}};
  return Part{11,
              {Versions{"0.1.0", "13.0", "", ""}, "emulated:l4", variant, occupancy, verdict, timing, 0.5, counters,
               std::vector{finding}, WatchReport{8, 128, 3, 8, {finding}, {finding}}, Printed{{"thread 3 of 50"}, 2},
               HardwareCounters{.cupti = "13.0.85", .passes = 8, .warp_instructions = 1000},
               FragmentCycles{FigureKind::measured, 1, 400, 410.5, 420}, Failure{Stage::deadline, "tiled hung", "try"},
               Bound::mufu}};
}

Listing a_listing() {
  Listing listing{.experiment_hash = "x", .files = {"02_tiled.cu", "cuda_fp16.hpp"}, .ptx = ".version 8.7"};
  listing.lines = {{.text = "@P0 LDS R4, [R2+0x10]",
                    .places = {{1, 700}, {0, 12}},
                    .control = {4, true, 0, 1, 3, 2},
                    .reads = {2, code_value::kPredicate},
                    .writes = {4},
                    .guarded = true,
                    .counts = CodeCounts{10, 320, 20, 10, 0, 1.5}},
                   {.text = "BRA 0x0", .targets = {0}, .falls_through = false}};
  listing.counted = true;
  listing.emulated_ctas = 3;
  listing.total_ctas = 128;
  return listing;
}

std::vector<Request> all_requests() {
  return {Hello{1},
          KernelContent{2, "h", "02_tiled.cu", "02_tiled.json", "source \xe9\xff latin-1", "{}"},
          Run{4, an_experiment(), {}, ViewRequest{.experiment_hash = "x", .width = 8}},
          Run{5, an_experiment(), {}, std::nullopt},
          View{6, a_tile().request},
          Run{9, an_experiment(), {}, std::nullopt, true},
          Run{10, an_experiment(), {}, std::nullopt, true, true},
          Run{13,
              an_experiment(),
              {},
              std::nullopt,
              false,
              std::nullopt,
              Among{{an_experiment(), an_experiment()}, {"a", "b"}, 12.5}},
          Watch{10, an_experiment(), {1, 2, 3}},
          Code{11, an_experiment(), {1, 2, 3}},
          Code{14, an_experiment(), {}, std::nullopt, SoftmaxRow{1, 2, 3}},
          Code{15, an_experiment(), {}, std::nullopt, std::nullopt, TimelineAsk{true, 3, 100, 200, 1}},
          Cancel{UINT64_MAX, 4},
          Restart{12, 5, Failure{Stage::protocol, "part/no_such_part", "report it"}}};
}

std::vector<Reply> all_replies() {
  return {
      HelloReply{1, {"0.1.0", "13.0", "", ""}, {a_device()}, 4242},
      Need{2, {"a", "b"}},
      Progress{3, Step::emulating, 43, 128},
      Part{4, {"emulated:l4", 0.5}, false},
      every_part(),
      TileMessage{5, a_tile()},
      ListingMessage{5, a_listing()},
      ListingMessage{6, {.experiment_hash = "none"}},
      Done{6, std::nullopt},
      Done{7, Failure{Stage::deadline, "tiled hung", "try"}},
      Heartbeat{WorkerPhase::restarting, "tiled hung"},
      Heartbeat{WorkerPhase::ready, "", {{"cuda:0", 2040, 31.5, 72, 54, {"power cap"}}, {"cuda:1", 0, 0, 0, 0, {}}}},
      Log{Severity::warning, "a cache entry was remade"}};
}

Bytes payload_of(const Bytes& frame) { return {frame.begin() + kHeader, frame.end()}; }

TEST(Message, EveryRequestComesBackAsItWas) {
  for (const Request& request : all_requests()) {
    auto frame = encode(request);
    ASSERT_TRUE(frame);
    auto back = decode_request(payload_of(*frame));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_TRUE(*back == request) << "index " << request.index();
    EXPECT_EQ(id_of(*back), id_of(request));
  }
}

TEST(Message, EveryReplyComesBackAsItWas) {
  for (const Reply& reply : all_replies()) {
    auto frame = encode(reply);
    ASSERT_TRUE(frame);
    auto back = decode_reply(payload_of(*frame));
    ASSERT_TRUE(back) << back.error().message;
    ASSERT_EQ(back->index(), reply.index());
    EXPECT_EQ(id_of(*back), id_of(reply));
    EXPECT_TRUE(*back == reply) << reply.index();
  }
}

TEST(Message, AnEnvelopeSaysWhatItsReplySays) {
  for (const Reply& reply : all_replies()) {
    const Bytes payload = payload_of(*encode(reply));
    const auto envelope = decode_envelope(payload);
    ASSERT_TRUE(envelope) << envelope.error().message;
    EXPECT_EQ(envelope->index(), reply.index());
    EXPECT_EQ(id_of(*envelope), id_of(reply));
    if (const auto* part = std::get_if<Part>(&reply)) {
      EXPECT_EQ(std::get<PartHead>(*envelope).final, part->final);
    }
    if (const auto* done = std::get_if<Done>(&reply)) {
      EXPECT_EQ(std::get<Done>(*envelope), *done);
    }
    for (size_t length = 0; length < payload.size(); ++length)
      EXPECT_FALSE(decode_envelope(std::span(payload).first(length))) << reply.index() << " at " << length;
  }
}

// The client must check it.
TEST(Message, AnEnvelopeLooksPastItsPayload) {
  const Bytes part = to_msgpack(Json{{"type", "part"}, {"id", 3}, {"part", {{"verdict", {1, {{"id", 4}}}}}}});
  EXPECT_FALSE(decode_reply(part));
  ASSERT_TRUE(decode_envelope(part));
  EXPECT_EQ(id_of(*decode_envelope(part)), Id{3});
  EXPECT_TRUE(std::get<PartHead>(*decode_envelope(part)).final) << "so is a part that does not say it";
  const Bytes none = to_msgpack(Json{{"type", "part"}, {"id", "3"}, {"part", Json::object()}});
  ASSERT_FALSE(decode_envelope(none));
  EXPECT_NE(decode_envelope(none).error().message.find("part/id"), std::string::npos);
}

TEST(Message, BadTextOfACompilerIsMadeUtf8) {
  auto frame = encode(Reply(Done{1, Failure{Stage::compile, "caf\xe9 is not declared", ""}}));
  auto back = decode_reply(payload_of(*frame));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(std::get<Done>(*back).failure->message, "caf\xef\xbf\xbd is not declared");
}

Result<Request> decode_json(const Json& json) { return decode_request(to_msgpack(json)); }

TEST(Message, WrongFieldsAreNamed) {
  const std::pair<Json, const char*> cases[] = {
      {Json::array(), "no type"},
      {Json{{"id", 1}}, "no type"},
      {Json{{"type", 7}, {"id", 1}}, "no type"},
      {Json{{"type", "exec"}, {"id", 1}}, "exec"},
      {Json{{"type", "hello"}}, "hello/id"},
      {Json{{"type", "hello"}, {"id", -1}}, "hello/id"},
      {Json{{"type", "hello"}, {"id", "1"}}, "hello/id"},
      {Json{{"type", "hello"}, {"id", 1}, {"extra", 1}}, "hello/extra"},
      {Json{{"type", "cancel"}, {"id", 1}}, "cancel/target"},
      {Json{{"type", "restart"}, {"id", 1}, {"target", 2}}, "restart/failure"},
      {Json{{"type", "run"}, {"id", 1}}, "run/experiment"},
      {Json{{"type", "trace"}, {"id", 1}}, "trace"},
      {Json{{"type", "watch"}, {"id", 1}}, "watch/experiment"},
      {Json{{"type", "view"}, {"id", 1}, {"request", {{"map", "eror"}}}}, "view/request/map"},
      {Json{{"type", "kernel"}, {"id", 1}, {"hash", "x"}, {"source_name", "text"}}, "kernel/source_name"},
      {Json{{"type", "run"}, {"id", 1}, {"experiment", to_json(an_experiment())}, {"deadlines", {{"compile_ms", 0}}}},
       "run/deadlines/compile_ms"},
  };
  for (const auto& [json, expected] : cases) {
    auto decoded = decode_json(json);
    ASSERT_FALSE(decoded) << json.dump();
    EXPECT_EQ(decoded.error().stage, Stage::protocol);
    EXPECT_NE(decoded.error().message.find(expected), std::string::npos) << decoded.error().message;
  }
}

TEST(Message, WrongFieldsOfAReplyAreNamed) {
  const std::pair<Json, const char*> cases[] = {
      {Json{{"type", "hello_reply"}, {"id", 1}, {"devices", Json::array()}}, "hello_reply/versions"},
      {Json{{"type", "hello_reply"}, {"id", 1}, {"versions", {{"app", 1}}}, {"devices", Json::array()}},
       "hello_reply/versions/app"},
      {Json{{"type", "hello_reply"}, {"id", 1}, {"versions", Json::object()}, {"devices", {to_json(a_device()), 1}}},
       "hello_reply/devices/1"},
      {Json{{"type", "need"}, {"id", 1}, {"hashes", {"a", std::string(65, 'b')}}}, "need/hashes/1"},
      {Json{{"type", "progress"}, {"id", 1}, {"stage", "thinking"}}, "progress/stage"},
      {Json{{"type", "progress"}, {"id", 1}, {"stage", "limits"}, {"done", -1}}, "progress/done"},
      {Json{{"type", "part"}, {"id", 1}}, "part/part"},
      {Json{{"type", "part"}, {"id", 1}, {"part", {{"timing", {{"bound", "luck"}}}}}}, "part/timing/bound"},
      {Json{{"type", "tile"}, {"id", 1}, {"tile", {{"width", -1}}}}, "tile/tile"},
      {Json{{"type", "done"}, {"id", 1}, {"failure", {{"message", "m"}}}}, "done/failure/stage"},
      {Json{{"type", "heartbeat"}, {"state", "asleep"}}, "heartbeat/state"},
      {Json{{"type", "log"}, {"text", "t"}}, "log/level"},
  };
  for (const auto& [json, expected] : cases) {
    const auto decoded = decode_reply(to_msgpack(json));
    ASSERT_FALSE(decoded) << json.dump();
    EXPECT_EQ(decoded.error().stage, Stage::protocol);
    EXPECT_NE(decoded.error().message.find(expected), std::string::npos) << decoded.error().message;
  }
}

TEST(Message, AKnobThatIsAFlagIsRefused) {
  Json experiment = to_json(an_experiment());
  experiment["config"]["knobs"]["BLOCK_M"] = "32 -DX";
  auto decoded = decode_json(Json{{"type", "run"}, {"id", 9}, {"experiment", experiment}});
  ASSERT_FALSE(decoded);
  EXPECT_NE(decoded.error().message.find("BLOCK_M"), std::string::npos) << decoded.error().message;
  EXPECT_EQ(id_of_malformed(to_msgpack(Json{{"type", "run"}, {"id", 9}})), Id{9});
}

TEST(Message, TruncationsAreRefused) {
  for (const Reply& reply : all_replies()) {
    const Bytes payload = payload_of(*encode(reply));
    for (size_t length = 0; length < payload.size(); ++length)
      EXPECT_FALSE(decode_reply(std::span(payload).first(length))) << reply.index() << " at " << length;
    Bytes longer = payload;
    longer.push_back(std::byte{0xc0});
    EXPECT_FALSE(decode_reply(longer));
  }
}

TEST(Message, FlippedBytesNeverCrash) {
  std::mt19937 random(7);
  for (const Reply& reply : all_replies()) {
    const Bytes payload = payload_of(*encode(reply));
    for (int round = 0; round < 2000; ++round) {
      Bytes broken = payload;
      for (size_t k = 0; k <= random() % 3; ++k) broken[random() % broken.size()] = static_cast<std::byte>(random());
      if (auto decoded = decode_reply(broken)) encode(*decoded);  // whatever is accepted can also be sent
    }
  }
}

TEST(Message, GarbageNeverCrashes) {
  std::mt19937 random(8);
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    Bytes garbage(random() % 64);
    for (std::byte& b : garbage) b = static_cast<std::byte>(random());
    accepted += decode_request(garbage).has_value() + decode_reply(garbage).has_value();
  }
  EXPECT_EQ(accepted, 0);
}

TEST(MsgPack, DepthIsCapped) {
  const auto nested = [](size_t levels) {  // arrays of one element
    Bytes bytes(levels, std::byte{0x91});
    bytes.push_back(std::byte{0xc0});
    return from_msgpack(bytes);
  };
  EXPECT_TRUE(nested(64));
  for (const size_t levels : {65, 1 << 20}) {  // a million would exhaust a recursive reader's stack
    const auto refused = nested(levels);
    ASSERT_FALSE(refused) << levels;
    EXPECT_NE(refused.error().message.find("deeper than 64"), std::string::npos);
  }
}

TEST(MsgPack, WhatIsLeftOutIsChecked) {
  const Json json{{"a", {1, {{"part", 2}}}}, {"part", {{"x", {1, 2}}}}, {"tile", "long"}, {"z", 3}};
  Bytes bytes = to_msgpack(json);
  Json expected = json;
  expected["part"] = expected["tile"] = nullptr;
  EXPECT_EQ(from_msgpack(bytes, {"part", "tile"}).value(), expected) << "a key further in is no key of the message";
  expected["z"] = nullptr;
  EXPECT_EQ(from_msgpack(bytes, {"part", "tile", "z"}).value(), expected) << "the last one too";
  const auto at = std::ranges::search(bytes, std::as_bytes(std::span("long", 4))).begin();
  *at = std::byte{0xff};
  EXPECT_FALSE(from_msgpack(bytes, {"part", "tile"})) << "not UTF-8";
}

// What `tag` followed by `count` times `item` needs.
Bytes many(int tag, uint32_t count, const Bytes& item) {
  Bytes bytes{std::byte(tag)};
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::byte>(count >> shift));
  const size_t begin = bytes.size();
  bytes.resize(begin + count * item.size());
  for (uint32_t i = 0; i < count; ++i) std::memcpy(&bytes[begin + i * item.size()], item.data(), item.size());
  return bytes;
}

TEST(MsgPack, WhatItBuildsIsBoundByItsLength) {
  const Bytes nil{std::byte{0xc0}}, list{std::byte{0x90}}, map{std::byte{0x80}}, empty{std::byte{0xa0}};
  const Bytes entry{std::byte{0xa1}, std::byte{'k'}, std::byte{0xc0}};
  for (const auto& [tag, item] : {std::pair{0xdd, nil}, {0xdd, list}, {0xdd, map}, {0xdd, empty}, {0xdf, entry}}) {
    auto refused = from_msgpack(many(tag, 4 << 20, item));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("more values"), std::string::npos) << refused.error().message;
    EXPECT_TRUE(from_msgpack(many(tag, 100'000, item))) << "ten times what the longest of ours holds";
  }
  EXPECT_TRUE(from_msgpack(many(0xc6, 16 << 20, nil))) << "bytes cost what they are";
}

// Of each kind as many as 32 MiB and 18 times the message's length pay for: a value costs 32, and a text 48, a key 64
// and 48, a list 32 and a map 64 more, with their letters.
TEST(MsgPack, HasAsManyValuesAsItsLengthPaysFor) {
  const Bytes nil{std::byte{0xc0}}, list{std::byte{0x90}}, map{std::byte{0x80}}, empty{std::byte{0xa0}};
  const Bytes entry{std::byte{0xa1}, std::byte{'k'}, std::byte{0xc0}};
  const struct {
    int tag;  // of what holds them
    Bytes item;
    size_t costs, outer;
  } kinds[] = {{0xdd, nil, 32, 64},
               {0xdd, empty, 32 + 48, 64},
               {0xdd, list, 32 + 32, 64},
               {0xdd, map, 32 + 64, 64},
               {0xdf, entry, 64 + 48 + 1 + 32, 96}};
  for (const auto& [tag, item, costs, outer] : kinds) {
    constexpr size_t header = 5;
    const auto most = static_cast<uint32_t>(((size_t{32} << 20) + 18 * header - outer) / (costs - 18 * item.size()));
    if (costs > 90) {  // building the others takes seconds
      EXPECT_TRUE(from_msgpack(many(tag, most, item))) << costs;
    }
    EXPECT_FALSE(from_msgpack(many(tag, most + 1, item))) << costs;
  }
}

// As many values as a listing of 24,576 instructions has at least. 32 MiB and twice its length would not pay for them.
TEST(MsgPack, AListingOfManyInstructionsIsRead) {
  const Json line{{"text", "FFMA R1, R2, R3, R4"},
                  {"reads", {1, 2, 3}},
                  {"writes", {1}},
                  {"guarded", false},
                  {"targets", Json::array()},
                  {"falls_through", true},
                  {"places", {{{"file", 0}, {"line", 12}}}}};
  EXPECT_TRUE(from_msgpack(many(0xdd, 24 << 10, to_msgpack(line))));
}

// However long it is, a message has at most 512 MiB of structure: 40 MiB of short texts would have 632 MiB.
TEST(MsgPack, StructureHasABoundOfItsOwn) {
  const Bytes word{std::byte{0xa4}, std::byte{'w'}, std::byte{'o'}, std::byte{'r'}, std::byte{'d'}};
  EXPECT_FALSE(from_msgpack(many(0xdd, 8 << 20, word)));
  EXPECT_TRUE(from_msgpack(many(0xdd, 1 << 16, word)));
}

TEST(MsgPack, LengthsBeyondTheBytesAreRefused) {
  for (const int tag : {0xdd, 0xdf, 0xdb, 0xc6})  // array, map, text, bytes of 2^32 - 1
    EXPECT_FALSE(
        from_msgpack(Bytes{std::byte(tag), std::byte{0xff}, std::byte{0xff}, std::byte{0xff}, std::byte{0xff}}));
}

TEST(MsgPack, TextMustBeUtf8AndKeysTexts) {
  EXPECT_FALSE(from_msgpack(Bytes{std::byte{0xa2}, std::byte{0xc0}, std::byte{0x80}}));  // over-long NUL
  EXPECT_FALSE(from_msgpack(Bytes{std::byte{0xa3}, std::byte{0xed}, std::byte{0xa0}, std::byte{0x80}}));  // surrogate
  EXPECT_TRUE(from_msgpack(Bytes{std::byte{0xa2}, std::byte{0xc3}, std::byte{0xa9}}));
  EXPECT_FALSE(from_msgpack(Bytes{std::byte{0x81}, std::byte{1}, std::byte{2}}));
  EXPECT_FALSE(from_msgpack(Bytes{std::byte{0xd4}, std::byte{1}, std::byte{2}}));  // extension type
}

TEST(MsgPack, ValuesComeBack) {
  const Json json{{"a", {1, -5, 3.5, nullptr, true, "é"}}, {"b", Json::binary({1, 2, 255})}, {"c", UINT64_MAX}};
  auto back = from_msgpack(to_msgpack(json));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, json);
}

}  // namespace
}  // namespace attnscope::protocol
