#include "protocol/msgpack.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>
#include <string>

#include "core/json.h"

namespace attnscope::protocol {
namespace {

// Lengths on both sides of each change of form in MessagePack.
constexpr size_t kLengths[] = {0, 1, 15, 16, 31, 32, 255, 256, 65535, 65536};

Json array_of(size_t length) {
  Json array = Json::array();
  for (size_t i = 0; i < length; ++i) array.push_back(i % 100);
  return array;
}

Json map_of(size_t length) {
  Json map = Json::object();
  for (size_t i = 0; i < length; ++i) map[std::to_string(i)] = i % 100;
  return map;
}

TEST(Msgpack, EveryLengthOfEveryKindIsRead) {
  for (const size_t length : kLengths)
    for (const Json& value : {array_of(length), map_of(length), Json(std::string(length, 'x')),
                              Json::binary(std::vector<uint8_t>(length, 7))}) {
      const Json message{{"value", value}, {"after", "it"}};
      const auto back = from_msgpack(to_msgpack(message));
      ASSERT_TRUE(back) << length << ": " << back.error().message;
      EXPECT_EQ(*back, message) << length;
    }
}

TEST(Msgpack, EveryNumberIsRead) {
  Json all = Json::array({nullptr, true, false, 0.1, 1e300, 0.5f, -0.0});
  for (int bits = 0; bits < 64; ++bits)
    for (const int64_t step : {-1, 0, 1}) {
      all.push_back((uint64_t{1} << bits) + static_cast<uint64_t>(step));
      all.push_back(-static_cast<int64_t>((uint64_t{1} << bits) / 2) + step);
    }
  all.push_back(std::numeric_limits<int64_t>::min());
  const auto back = from_msgpack(to_msgpack(all));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, all);
}

TEST(Msgpack, WhatIsCutOffIsRefused) {
  for (const size_t length : {15, 16, 255, 256})
    for (const Json& value : {array_of(length), map_of(length), Json(std::string(length, 'x')),
                              Json::binary(std::vector<uint8_t>(length, 7)), Json(0.1), Json(70000), Json(-70000)}) {
      const auto whole = to_msgpack(Json{{"value", value}});
      for (size_t cut = 0; cut < whole.size(); ++cut)
        EXPECT_FALSE(from_msgpack(std::span(whole).first(cut))) << length << " cut to " << cut;
      auto more = whole;
      more.push_back(std::byte{0xc0});
      EXPECT_FALSE(from_msgpack(more)) << "bytes after its end";
    }
}

Result<Json> of(const std::vector<int>& bytes) {
  std::vector<std::byte> raw;
  for (const int byte : bytes) raw.push_back(static_cast<std::byte>(byte));
  return from_msgpack(raw);
}

// Forms that our own writer never uses, but others do: the specification's tables.
TEST(Msgpack, AWiderFormThanNeededIsReadToo) {
  EXPECT_EQ(of({0xca, 0x3f, 0x00, 0x00, 0x00}).value(), 0.5);
  EXPECT_EQ(of({0xcd, 0x00, 0x07}).value(), 7);
  EXPECT_EQ(of({0xce, 0, 0, 0, 7}).value(), 7);
  EXPECT_EQ(of({0xcf, 0, 0, 0, 0, 0, 0, 0, 7}).value(), 7);
  EXPECT_EQ(of({0xd0, 0xff}).value(), -1);
  EXPECT_EQ(of({0xd1, 0xff, 0xff}).value(), -1);
  EXPECT_EQ(of({0xd2, 0xff, 0xff, 0xff, 0xff}).value(), -1);
  EXPECT_EQ(of({0xdb, 0, 0, 0, 1, 'a'}).value(), "a");
  EXPECT_EQ(of({0xdc, 0, 2, 1, 2}).value(), Json({1, 2}));
  EXPECT_EQ(of({0xdd, 0, 0, 0, 2, 1, 2}).value(), Json({1, 2}));
  EXPECT_EQ(of({0xde, 0, 1, 0xa1, 'a', 2}).value(), Json({{"a", 2}}));
  EXPECT_EQ(of({0xdf, 0, 0, 0, 1, 0xa1, 'a', 2}).value(), Json({{"a", 2}}));
  EXPECT_EQ(of({0xc6, 0, 0, 0, 1, 9}).value(), Json::binary({9}));
}

TEST(Msgpack, WhatJsonCannotHoldIsRefused) {
  EXPECT_FALSE(of({0xc1})) << "never used";
  EXPECT_FALSE(of({0xd4, 1, 2})) << "an extension";
  EXPECT_FALSE(of({0xc7, 1, 2, 3})) << "an extension";
  EXPECT_FALSE(of({0x81, 0x01, 0x02})) << "a key that is a number";
  EXPECT_FALSE(of({0xa1, 0xff})) << "a text that is not UTF-8";
  EXPECT_FALSE(of({})) << "nothing";
}

TEST(Msgpack, ARefusalSaysWhyAndWhere) {
  const std::pair<std::vector<int>, const char*> cases[] = {
      {{0x92, 1, 0xc1}, "a type that attnscope does not use at byte 3"},
      {{0x92, 1, 0xcd, 0}, "it ends too early at byte 3"},
      {{0x92, 1, 0xa5, 'a', 'b'}, "it ends too early at byte 3"},
      {{0x81, 0x01, 0x02}, "a key that is not a text at byte 2"},
      {{0x91, 0xa2, 0xff, 'a'}, "a text that is not UTF-8 at byte 4"},
      {{0xc0, 0xc0}, "bytes after its end"},
  };
  for (const auto& [bytes, why] : cases) {
    const auto refused = of(bytes);
    ASSERT_FALSE(refused) << why;
    EXPECT_EQ(refused.error().message, std::string("malformed message: ") + why);
  }
}

TEST(Msgpack, DepthHasAnEnd) {
  for (const int depth : {60, 70}) {
    Json deep = 1;
    for (int level = 1; level < depth; ++level) deep = Json::array({deep});
    // Next to a long text: what a message may hold depends on its length.
    const auto read = from_msgpack(to_msgpack(Json{{"deep", deep}, {"long", std::string(10000, 'x')}}));
    EXPECT_EQ(read.has_value(), depth == 60) << depth;
    if (read) continue;
    EXPECT_NE(read.error().message.find("64 levels"), std::string::npos) << read.error().message;
  }
}

}  // namespace
}  // namespace attnscope::protocol
