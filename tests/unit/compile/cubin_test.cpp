#include "compile/cubin.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "compile/code_hash.h"
#include "compile/elf_reader.h"
#include "compile/variable_data.h"
#include "unit/compile/recorded.h"

namespace attnscope::compile {
namespace {

class RecordedCubin : public testing::TestWithParam<Recorded> {
 protected:
  std::string cubin = text_of(recorded_file(GetParam(), ".cubin"));
};

INSTANTIATE_TEST_SUITE_P(All, RecordedCubin, testing::ValuesIn(recordings()), recorded_name);

TEST_P(RecordedCubin, GivesTheKernelAsPtxasDescribesIt) {
  auto kernel = read_cubin(bytes_of(cubin), "features");
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(kernel->name, "features");
  EXPECT_EQ(kernel->arch, GetParam().arch);
  EXPECT_EQ(kernel->static_shared_bytes, 64u * 2 + 3 * 4);
  EXPECT_EQ(kernel->shared_base, GetParam().arch >= 90 ? 0x400u : 0u);
  EXPECT_EQ(kernel->barriers, 1u);
  EXPECT_EQ(kernel->max_threads, 128u);
  EXPECT_GT(kernel->registers, 8u);
  EXPECT_LT(kernel->registers, 64u);
  EXPECT_EQ(kernel->text.size() % 16, 0u);
  EXPECT_EQ(kernel->parameter_base, GetParam().arch >= 90 ? 0x210u : 0x160u);
  EXPECT_EQ(kernel->parameter_bytes, 30u);
  const std::vector<std::pair<uint32_t, uint32_t>> places = {{0, 8}, {8, 8}, {16, 8}, {24, 4}, {28, 2}};
  ASSERT_EQ(kernel->parameters.size(), places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(kernel->parameters[i].ordinal, i);
    EXPECT_EQ(kernel->parameters[i].offset, places[i].first);
    EXPECT_EQ(kernel->parameters[i].size, places[i].second);
  }
}

TEST_P(RecordedCubin, GivesVariablesAndTheAddressesOfThem) {
  auto kernel = read_cubin(bytes_of(cubin), "features");
  ASSERT_TRUE(kernel) << kernel.error().message;
  ASSERT_TRUE(kernel->variables.contains("table"));
  const CubinVariable& table = kernel->variables.at("table");
  EXPECT_EQ(table.place, CubinVariable::Place::global_init);
  EXPECT_EQ(table.size, 16u);
  float second = 0;
  std::memcpy(&second, kernel->global_init.data() + table.offset + 4, 4);
  EXPECT_EQ(second, 2.0f);
  EXPECT_EQ(kernel->variables.at("hits").place, CubinVariable::Place::global);
  EXPECT_EQ(kernel->global_bytes, 4u);
  EXPECT_EQ(kernel->variables.at("weights").place, CubinVariable::Place::constant_bank);
  EXPECT_EQ(kernel->variables.at("weights").bank, 3u);
  bool bank_four = false;
  for (const ConstantBank& bank : kernel->banks) bank_four |= bank.index == 4 && bank.data.size() >= 16;
  EXPECT_TRUE(bank_four);
  std::map<std::string, CubinRelocation::Target> targets;
  for (const CubinRelocation& relocation : kernel->relocations) {
    EXPECT_EQ(relocation.place, CubinRelocation::Place::constant_bank);
    EXPECT_EQ(relocation.bank, 4u);
    EXPECT_EQ(relocation.type, 2u);
    targets[relocation.symbol] = relocation.target;
  }
  EXPECT_EQ(targets.at("table"), CubinRelocation::Target::global_init);
  EXPECT_EQ(targets.at("hits"), CubinRelocation::Target::global);
}

TEST_P(RecordedCubin, AVariableThatItLacksIsNamed) {
  Variant variant;
  variant.cubin.assign(bytes_of(cubin).begin(), bytes_of(cubin).end());
  EXPECT_FALSE(has_variable(variant, "no_such_variable"));
  const auto filled = fill_variable(variant, "no_such_variable", {});
  ASSERT_FALSE(filled);
  EXPECT_EQ(filled.error().absent_variable, "no_such_variable");
}

TEST_P(RecordedCubin, AKernelThatDoesNotBeginItsSectionIsRefused) {
  const std::string refused = "The cubin is malformed: kernel features is not at the start of its section.";
  std::string moved = cubin;
  put_64(moved, symbol_at(moved, "features") + 8, 16);
  auto kernel = read_cubin(bytes_of(moved), "features");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().message, refused);
  std::string renamed = cubin;
  for (size_t at = 0; (at = renamed.find(".text.features", at)) != std::string::npos; ++at) renamed[at + 6] = 'F';
  kernel = read_cubin(bytes_of(renamed), "features");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().message, refused);
}

TEST_P(RecordedCubin, NamesTheFunctionsInsideTheKernel) {
  auto kernel = read_cubin(bytes_of(cubin), "features");
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(kernel->functions.at("features"), 0u);
  EXPECT_GT(kernel->functions.at("$features$_Z6calledfi"), 0u);
}

TEST_P(RecordedCubin, TellsAnotherKernelFromThisOne) {
  auto first = read_cubin(bytes_of(cubin), "features"), second = read_cubin(bytes_of(cubin), "second");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(second->static_shared_bytes, 308u);
  EXPECT_NE(code_hash(*first), code_hash(*second));
}

TEST_P(RecordedCubin, AsksWhichOfSeveralKernelsIsMeant) {
  auto any = read_cubin(bytes_of(cubin), "");
  ASSERT_FALSE(any);
  EXPECT_NE(any.error().message.find("features"), std::string::npos);
  EXPECT_NE(any.error().message.find("second"), std::string::npos);
  auto other = read_cubin(bytes_of(cubin), "third");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().stage, Stage::decode);
  EXPECT_NE(other.error().message.find("\"third\""), std::string::npos);
}

TEST_P(RecordedCubin, HashesWhatRunsAndNothingElse) {
  auto kernel = read_cubin(bytes_of(cubin), "features");
  ASSERT_TRUE(kernel);
  const std::string hash = code_hash(*kernel);
  EXPECT_EQ(hash.size(), 32u);
  const auto changed = [&](auto change) {
    CubinKernel other = *kernel;
    change(other);
    return code_hash(other) != hash;
  };
  EXPECT_FALSE(changed([](CubinKernel& k) { k.name = "renamed"; }));
  EXPECT_FALSE(changed([](CubinKernel& k) { k.functions.clear(); }));
  EXPECT_FALSE(changed([](CubinKernel& k) { k.variables.clear(); }));
  EXPECT_FALSE(changed([](CubinKernel& k) { k.relocations.front().symbol = "other"; }));
  EXPECT_TRUE(changed([](CubinKernel& k) { k.text[40] ^= std::byte{1}; }));
  EXPECT_TRUE(changed([](CubinKernel& k) { k.banks.back().data[0] ^= std::byte{1}; }));
  EXPECT_TRUE(changed([](CubinKernel& k) { k.global_init[0] ^= std::byte{1}; }));
  EXPECT_TRUE(changed([](CubinKernel& k) { k.relocations.front().value += 8; }));
  EXPECT_TRUE(changed([](CubinKernel& k) { k.static_shared_bytes += 4; }));
  EXPECT_TRUE(changed([](CubinKernel& k) { k.parameters.back().size = 4; }));
  EXPECT_TRUE(changed([](CubinKernel& k) { k.arch += 1; }));
}

TEST_P(RecordedCubin, LeavesOutOfTheHashABankThatNoInstructionReads) {
  auto kernel = read_cubin(bytes_of(cubin), "features");
  ASSERT_TRUE(kernel);
  ASSERT_FALSE(may_read_bank(kernel->text, 9));
  const std::string hash = code_hash(*kernel);
  kernel->banks.push_back({9, std::vector<std::byte>(16, std::byte{7})});
  EXPECT_EQ(code_hash(*kernel), hash);
}

TEST_P(RecordedCubin, EveryTruncationIsAFailureOrTheSameKernel) {
  auto whole = read_cubin(bytes_of(cubin), "features");
  ASSERT_TRUE(whole);
  for (size_t size = 0; size < cubin.size(); size += size < 256 ? 1 : 61) {
    // A copy of exactly that size, so that a sanitizer sees a read past its end.
    const std::vector<std::byte> part(bytes_of(cubin).begin(),
                                      bytes_of(cubin).begin() + static_cast<std::ptrdiff_t>(size));
    auto kernel = read_cubin(part, "features");
    if (kernel) {
      EXPECT_EQ(code_hash(*kernel), code_hash(*whole)) << size;
    } else {
      EXPECT_EQ(kernel.error().stage, Stage::decode) << size;
    }
  }
}

TEST_P(RecordedCubin, AnyFlippedBytesNeverCrash) {
  std::mt19937 random(GetParam().arch);
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::byte> bytes(bytes_of(cubin).begin(), bytes_of(cubin).end());
    const int flips = 1 + static_cast<int>(random() % 8);
    for (int i = 0; i < flips; ++i) {
      // Half of the changes are in the headers and tables, which hold the offsets.
      const size_t at = round % 2 ? random() % bytes.size() : bytes.size() - 1 - random() % (bytes.size() / 6);
      bytes[i == 0 && round % 3 == 0 ? random() % 64 : at] = static_cast<std::byte>(random());
    }
    auto kernel = read_cubin(bytes, "features");
    if (!kernel) {
      EXPECT_EQ(kernel.error().stage, Stage::decode);
      EXPECT_FALSE(kernel.error().message.empty());
    }
  }
}

TEST(LoadAt, ReadsLittleEndianAndNothingPastTheEnd) {
  std::vector<std::byte> bytes;
  for (int i = 1; i <= 16; ++i) bytes.push_back(static_cast<std::byte>(i));
  const auto five = std::span<const std::byte>(bytes).first(5);
  EXPECT_EQ(load_at<uint32_t>(five, 0), 0x04030201u);
  EXPECT_EQ(load_at<uint32_t>(five, 1), 0x05040302u);
  EXPECT_EQ(load_at<uint8_t>(five, 4), 5);
  for (const uint64_t offset : {uint64_t{2}, uint64_t{4}, uint64_t{5}, uint64_t{6}, UINT64_MAX - 2, UINT64_MAX})
    EXPECT_FALSE(load_at<uint32_t>(five, offset)) << offset;
}

TEST(Cubin, ForeignBytesAreRefused) {
  for (const std::string& foreign : {std::string(), std::string("hello"), std::string(100000, '\0'),
                                     std::string("\x7f"
                                                 "ELF\x02\x01\x01") +
                                         std::string(200, '\xff'),
                                     text_of("/proc/self/exe")}) {
    auto kernel = read_cubin(bytes_of(foreign), "k");
    ASSERT_FALSE(kernel);
    EXPECT_EQ(kernel.error().stage, Stage::decode);
    EXPECT_FALSE(kernel.error().hint.empty());
  }
}

}  // namespace
}  // namespace attnscope::compile
