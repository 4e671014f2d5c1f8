#include "cuda_api/cupti.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <typeinfo>

#include "machine.h"

namespace attnscope::cuda_api {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::StartsWith;

// What CUPTI_PROFILER_STRUCT_SIZE gives in the headers of CUPTI 12.6.80, 12.9.79 and 13.0.85, which agree.
TEST(CuptiLayout, SizesAreThoseOfTheHeaders) {
  EXPECT_EQ(cupti::Initialize{}.size, 16u);
  EXPECT_EQ(cupti::DeviceSupported{}.size, 52u);
  EXPECT_EQ(cupti::ChipName{}.size, 32u);
  EXPECT_EQ(cupti::HostInitialize{}.size, 48u);
  EXPECT_EQ(cupti::HostDeinitialize{}.size, 24u);
  EXPECT_EQ(cupti::AddMetrics{}.size, 40u);
  EXPECT_EQ(cupti::ConfigSize{}.size, 32u);
  EXPECT_EQ(cupti::ConfigImage{}.size, 40u);
  EXPECT_EQ(cupti::Passes{}.size, 40u);
  EXPECT_EQ(cupti::Evaluate{}.size, 72u);
  EXPECT_EQ(cupti::RangeEnable{}.size, 32u);
  EXPECT_EQ(cupti::RangeOnly{}.size, 24u);
  EXPECT_EQ(cupti::RangePush{}.size, 32u);
  EXPECT_EQ(cupti::RangeConfig{}.size, 90u);  // without the padding behind its last field
  EXPECT_EQ(cupti::RangeStop{}.size, 41u);
  EXPECT_EQ(cupti::RangeDecode{}.size, 32u);
  EXPECT_EQ(cupti::DataSize{}.size, 64u);
  EXPECT_EQ(cupti::DataInitialize{}.size, 40u);
  EXPECT_EQ(cupti::DataInfo{}.size, 40u);
}

// Fields before which another compiler could pad differently.
TEST(CuptiLayout, FieldsAreWhereTheHeadersHaveThem) {
  EXPECT_EQ(offsetof(cupti::DeviceSupported, all), 20u);
  EXPECT_EQ(offsetof(cupti::DeviceSupported, api), 48u);
  EXPECT_EQ(offsetof(cupti::HostInitialize, chip), 24u);
  EXPECT_EQ(offsetof(cupti::RangeConfig, range), 56u);
  EXPECT_EQ(offsetof(cupti::RangeConfig, replay), 60u);
  EXPECT_EQ(offsetof(cupti::RangeConfig, most_ranges), 64u);
  EXPECT_EQ(offsetof(cupti::RangeConfig, least_level), 74u);
  EXPECT_EQ(offsetof(cupti::RangeConfig, pass), 80u);
  EXPECT_EQ(offsetof(cupti::RangeConfig, target_level), 88u);
  EXPECT_EQ(offsetof(cupti::RangeStop, all_passes), 40u);
  EXPECT_EQ(offsetof(cupti::DataSize, bytes), 56u);
}

// sizeof and CUPTI_PCSAMPLING_STRUCT_SIZE of cupti_pcsampling.h of CUPTI 12.8.90 and 13.0.85, which are the same file.
TEST(CuptiLayout, SamplingsSizesAreThoseOfTheHeaders) {
  EXPECT_EQ(cupti::SamplingOnly{}.size, 24u);
  EXPECT_EQ(cupti::StallReasonCount{}.size, 32u);
  EXPECT_EQ(cupti::StallReasons{}.size, 48u);
  EXPECT_EQ(cupti::SamplingSettings{}.size, 40u);
  EXPECT_EQ(cupti::SamplingGet{}.size, 32u);
  EXPECT_EQ(cupti::CubinCrc{}.size, 32u);
  EXPECT_EQ(cupti::SampledPc{}.size, 64u);
  EXPECT_EQ(cupti::SampledData{}.size, 80u);
  EXPECT_EQ(sizeof(cupti::StallSamples), 8u);
  EXPECT_EQ(sizeof(cupti::SamplingSetting), 32u);
  EXPECT_EQ(offsetof(cupti::SamplingSetting, value), 8u);
  EXPECT_EQ(offsetof(cupti::SampledPc, function), 32u);
  EXPECT_EQ(offsetof(cupti::SampledPc, reasons), 48u);
  EXPECT_EQ(offsetof(cupti::SampledPc, correlation), 56u);
  EXPECT_EQ(offsetof(cupti::SampledData, pcs), 56u);
  EXPECT_EQ(offsetof(cupti::SampledData, buffer_full), 72u);
}

// A structure's bytes behind its size, before its user sets anything. A field without a value does not compile, because
// it is constexpr; its storage is static, so that padding is zero too.
template <class Structure>
std::vector<int> fresh() {
  static constexpr Structure made;
  std::array<std::byte, sizeof(Structure)> bytes{};
  std::memcpy(bytes.data(), &made, sizeof made);
  std::vector<int> behind;
  for (size_t at = sizeof(size_t); at < made.size; ++at) behind.push_back(std::to_integer<int>(bytes[at]));
  return behind;
}

template <class... Structure>
void expect_zeroes() {
  const auto expect = [](const std::vector<int>& bytes, const char* name) {
    EXPECT_THAT(bytes, testing::Each(0)) << name;
  };
  (expect(fresh<Structure>(), typeid(Structure).name()), ...);
}

// CUPTI refuses a structure whose reserved or unset fields are not zero.
TEST(CuptiLayout, WhatIsNotSetIsZero) {
  using namespace cupti;
  expect_zeroes<Initialize, DeviceSupported, ChipName, HostInitialize, HostDeinitialize, AddMetrics, ConfigSize,
                ConfigImage, Passes, Evaluate, RangeEnable, RangeOnly, RangePush, RangeStop, RangeDecode,
                DataInitialize, DataInfo>();
}

// One range of one level, which we push and whose kernel we launch again ourselves.
TEST(CuptiLayout, ARangeIsOurs) {
  const cupti::RangeConfig config;
  EXPECT_EQ(config.range, 2) << "CUPTI_UserRange";
  EXPECT_EQ(config.replay, 3) << "CUPTI_UserReplay";
  EXPECT_EQ(config.most_ranges, 1u);
  EXPECT_EQ(config.levels, 1u);
  EXPECT_EQ(config.least_level, 1u);
  EXPECT_EQ(config.target_level, 1u);
  EXPECT_EQ(config.pass, 0u);
  EXPECT_EQ(config.data_bytes + config.config_bytes, 0u);
  const cupti::DataSize size;
  EXPECT_EQ(size.most_ranges, 1u);
  EXPECT_EQ(size.most_nodes, 1u);
  EXPECT_EQ(size.count + size.bytes, 0u);
}

class CuptiTest : public testing_support::Machine {
 protected:
  CuptiTest() { driver(13000); }
  Failure refusal() {
    const auto opened = open_cupti();
    EXPECT_FALSE(opened);
    return opened ? Failure{} : opened.error();
  }
};

TEST_F(CuptiTest, AMachineWithoutADriverHasNone) {
  set("ATTNSCOPE_LIBCUDA", "/nowhere/libcuda.so.1");
  EXPECT_EQ(refusal().stage, Stage::device);
  EXPECT_THAT(refusal().message, StartsWith("CUPTI needs a GPU: "));
}

TEST_F(CuptiTest, AMissingLibrarySaysWhatTheDriverNeeds) {
  EXPECT_THAT(refusal().message, HasSubstr("needs CUPTI 13, which is not on this machine"));
  EXPECT_THAT(refusal().hint, HasSubstr("$ATTNSCOPE_CUPTI"));
}

TEST_F(CuptiTest, ALibraryBefore12_6IsRefusedByTheCallThatItLacks) {
  set("ATTNSCOPE_CUPTI", fake("cublas").string());
  EXPECT_THAT(refusal().message, HasSubstr("lacks cuptiGetResultString"));
  EXPECT_THAT(refusal().hint, HasSubstr("CUPTI 12.6 or later"));
}

// The driver has no context yet, and CUPTI refuses to begin without one.
TEST_F(CuptiTest, OpeningDoesNotBegin) {
  set("ATTNSCOPE_CUPTI", fake("cupti").string());
  set("ATTNSCOPE_FAKE_FAILS", "cuptiProfilerInitialize");
  const auto opened = open_cupti();
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->name_of(7), "CUPTI_ERROR_INVALID_OPERATION");
  EXPECT_EQ(opened->name_of(321), "CUPTI error 321") << "it has no name";
}

// A toolkit's libcupti.so.13 links to libcupti.so.2025.3.1, which says a year and no driver.
TEST_F(CuptiTest, ANamedFileOfAYearIsTaken) {
  const auto named = root_ / "libcupti.so.2025.3.1";
  fs::copy_file(fake("cupti"), named);
  fs::create_symlink(named, root_ / "libcupti.so.13");
  for (const auto& file : {named, root_ / "libcupti.so.13"}) {
    set("ATTNSCOPE_CUPTI", file.string());
    const auto opened = open_cupti();
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(opened->library_version, "2025.3.1");
  }
}

}  // namespace
}  // namespace attnscope::cuda_api
