#include "core/escape.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/device_spec.h"
#include "core/json.h"
#include "core/near.h"
#include "core/observation.h"

namespace attnscope {
namespace {

// How the formats write a text; tests/unit/cli/writers_test.cpp reads it back with readers of the formats.
TEST(Escape, PlainTextStaysAsItIs) {
  for (const char* text : {"tiled: 16 rows a CTA", "é × … –", "B1 H8 S512 D64", "torch 2.9.0+cu128 (0.016x)"}) {
    EXPECT_EQ(terminal_text(text), text);
    EXPECT_EQ(one_line(text), text);
    EXPECT_EQ(c_comment(text), text);
    EXPECT_EQ(c_string(text), text);
    EXPECT_EQ(python_text(text), text);
    EXPECT_EQ(xml_text(text), text);
    EXPECT_EQ(markdown_text(text), text);
  }
  EXPECT_EQ(shell_word("tiled_sm89.cu"), "tiled_sm89.cu");
}

TEST(Escape, EachFormatHasItsOwnEscape) {
  EXPECT_EQ(terminal_text("a\x1b[2J\nb\tc"), "a\uFFFD[2J\nb\tc");
  EXPECT_EQ(one_line("a\r\nb\tc"), "a  b c");
  EXPECT_EQ(c_comment("a */ b\\"), "a * / b\\ .");
  EXPECT_EQ(c_comment("a ?\?/  "), "a ?\?/   .");
  EXPECT_EQ(c_string("\"\\?\x1b"), "\\\"\\\\\\?\\033");
  EXPECT_EQ(python_text("\"\n\\"), "\\\"\\U0000000a\\\\");
  EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(shell_word("-o"), "./-o");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(xml_text("<a b='\"'>&"), "&lt;a b=&#39;&quot;&#39;&gt;&amp;");
  EXPECT_EQ(markdown_text("a|b `c` BLOCK_M _d_"), "a\\|b \\`c\\` BLOCK_M \\_d\\_");
  EXPECT_EQ(csv_text("a, \"b\"\n"), "\"a, \"\"b\"\" \"");
  EXPECT_EQ(csv_text("=1+2"), "'=1+2");
  EXPECT_EQ(csv_text("-1,5"), "\"'-1,5\"");
  EXPECT_EQ(markdown_code("a``b`"), "``` a``b` ```");
  EXPECT_EQ(json_text(Json("a\x1b\xE2\x80\xAE\x7f\xff")), "\"a\\u001b\\u202e\\u007f\uFFFD\"");
}

// Both ends of each range that is hidden, and the characters next to them.
TEST(Escape, WhatNoReaderShouldMeetIsReplacedAndItsNeighboursStay) {
  for (const char* hidden : {"\x01", "\x1f", "\x7f", "\u0080", "\u009f", "\u061c", "\u200e", "\u200f", "\u202a",
                             "\u202e", "\u2066", "\u2069", "\ufeff", "\ufffe", "\uffff", "\U0001fffe", "\U0010ffff"})
    EXPECT_EQ(one_line(hidden), "\uFFFD") << testing::PrintToString(hidden);
  for (const char* shown : {" ", "~", "\u00a0", "\u061b", "\u061d", "\u200d", "\u2010", "\u2027", "\u202f", "\u2065",
                            "\u206a", "\ufefe", "\uff00", "\ufffd", "\U00010000", "\U0001fffd", "\U0010fffd"})
    EXPECT_EQ(one_line(shown), shown);
}

TEST(Escape, BytesThatAreNoUtf8AreReplacedOneByOne) {
  EXPECT_EQ(one_line("\xff\xC0\x80\xED\xA0\x80x\xE2\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDx\uFFFD\uFFFD");
}

Json a_device() {
  DeviceSpec spec;
  spec.id = "cuda:0";
  spec.name = "NVIDIA L4";
  spec.sms = spec.warps_sm = spec.ctas_sm = spec.registers_sm = spec.registers_block = 16;
  spec.clock_mhz = 2000;
  spec.rates = {{"fp32", 128}};
  return to_json(spec);
}

TEST(DeviceSpec, ANumberThatIsNoneOrOutOfRangeIsRefusedAtTheDoor) {
  ASSERT_TRUE(device_spec_from_json(a_device(), "hello")) << device_spec_from_json(a_device(), "hello").error().message;
  for (const char* key : {"clock_mhz", "sustained_clock_mhz", "dram_gbs", "l2_mb", "tensor_tflops_f16"})
    for (const Json& value : {Json("nan"), Json("inf"), Json("-inf"), Json(-1), Json(1e300)}) {
      Json device = a_device();
      device[key] = value;
      const auto spec = device_spec_from_json(device, "hello");
      ASSERT_FALSE(spec) << key << " " << value;
      EXPECT_NE(spec.error().message.find("hello/" + std::string(key)), std::string::npos) << spec.error().message;
    }
  Json device = a_device();
  device["rates"]["fp32"] = "nan";
  EXPECT_FALSE(device_spec_from_json(device, "hello"));
}

TEST(DeviceSpec, ANameIsOneLine) {
  for (const char* key : {"id", "name"}) {
    Json device = a_device();
    device[key] = "NVIDIA\x1b[2J";
    EXPECT_FALSE(device_spec_from_json(device, "hello")) << key;
  }
}

TEST(Observation, ATimeThatIsNoneIsRefusedAtTheDoor) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const auto read = [](const char* key, const Json& value) {
    Json timing{{"kind", "measured"}, {"us", {{"p10", 1}, {"p50", 2}, {"p90", 3}}}, {"interval", {1, 3}}};
    timing[Json::json_pointer(key)] = value;
    return observation_from_json(Json{{"experiment", to_json(Experiment())}, {"timing", timing}}, "o").has_value();
  };
  EXPECT_TRUE(read("/us/p50", 2.5));
  for (const char* key : {"/us/p10", "/us/p50", "/us/p90", "/interval/0", "/clock_mhz"})
    for (const Json& value : {Json(none), Json("inf"), Json(-1), Json(1e300)}) EXPECT_FALSE(read(key, value)) << key;
  EXPECT_FALSE(read("/sampling", Json{{"rounds", {{1, none}}}}));
  EXPECT_FALSE(observation_from_json(Json{{"experiment", to_json(Experiment())}, {"tflops", none}}, "o"));
}

TEST(NamesToChoose, NearOnesComeFirst) {
  const std::vector<std::string> all{"minimal", "tiled", "wmma", "cublas_attention"};
  EXPECT_EQ(names_to_choose("tilde", all), "Did you mean tiled? Known: minimal, tiled, wmma, cublas_attention.");
  EXPECT_EQ(names_to_choose("WMMA", all).find("Did you mean wmma?"), 0u);
  EXPECT_EQ(names_to_choose("cublas", all).find("Did you mean cublas_attention?"), 0u);
  EXPECT_EQ(names_to_choose("softmax", all).find("Known:"), 0u);
  EXPECT_EQ(names_to_choose(std::string(1000000, 't'), all).find("Known:"), 0u);
  EXPECT_EQ(names_to_choose("x", {}), "Known: none.");
}

}  // namespace
}  // namespace attnscope
