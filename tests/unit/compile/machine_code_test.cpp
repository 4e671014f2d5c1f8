#include "compile/machine_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "compile/cubin.h"
#include "compile/elf_reader.h"
#include "unit/compile/recorded.h"

namespace attnscope::compile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string cubin_of(int arch) { return text_of(recorded_file({arch, "13.0"}, ".cubin")); }

template <class T>
void put(std::string& to, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  to.append(bytes, sizeof value);
}

struct Entry {
  uint16_t kind = 2;
  uint32_t arch = 89, packed = 0;
  uint64_t flags = 0x11;
  std::string content;
};
// As `fatbinary` of nvcc 13.0 writes it.
std::string fatbinary(const std::vector<Entry>& entries) {
  std::string body;
  for (Entry one : entries) {
    one.content.resize((one.content.size() + 7) / 8 * 8);  // as the tool pads it
    put<uint16_t>(body, one.kind);
    put<uint16_t>(body, 0x101);
    put<uint32_t>(body, 64);
    put<uint64_t>(body, one.content.size());
    put<uint32_t>(body, one.packed);
    put<uint32_t>(body, 0);
    put<uint16_t>(body, 8);
    put<uint16_t>(body, 1);
    put<uint32_t>(body, one.arch);
    put<uint64_t>(body, 0);
    put<uint64_t>(body, one.flags);
    put<uint64_t>(body, 0);
    put<uint64_t>(body, 0);
    body += one.content;
  }
  std::string file;
  put<uint32_t>(file, 0xba55ed50);
  put<uint16_t>(file, 1);
  put<uint16_t>(file, 16);
  put<uint64_t>(file, body.size());
  return file + body;
}

Result<MachineCode> find(const std::string& file, int arch, const std::string& entry) {
  return machine_code_for(bytes_of(file), arch, entry, "k.cubin");
}
std::string refusal(const std::string& file, int arch, const std::string& entry = "features") {
  const auto found = find(file, arch, entry);
  return found ? "accepted" : found.error().message + " | " + found.error().hint;
}

TEST(MachineCode, OfACubinIsItself) {
  const std::string cubin = cubin_of(89);
  const auto found = find(cubin, 89, "features");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->arch, 89);
  EXPECT_EQ(found->symbol, "features");
  EXPECT_EQ(found->cubin.size(), cubin.size());
  EXPECT_EQ(find(cubin, 0, "features")->arch, 89);
  EXPECT_THAT(refusal(cubin, 89, ""), HasSubstr("several kernels"));
}

TEST(MachineCode, RunsOnLaterMinorsOfItsMajorOnly) {
  EXPECT_TRUE(find(cubin_of(80), 89, "features"));
  EXPECT_THAT(refusal(cubin_of(89), 80), HasSubstr("k.cubin holds machine code for sm_89, and the device is sm_80"));
  EXPECT_THAT(refusal(cubin_of(80), 90), HasSubstr("for sm_80, and the device is sm_90"));
}

TEST(MachineCode, OfAFatbinaryIsTheLatestThatRuns) {
  const std::string fat = fatbinary({{.arch = 80, .content = cubin_of(80)},
                                     {.kind = 1, .arch = 90, .content = "PTX"},
                                     {.arch = 90, .content = cubin_of(90)},
                                     {.arch = 89, .content = cubin_of(89)}});
  EXPECT_EQ(find(fat, 89, "features")->arch, 89);
  EXPECT_EQ(find(fat, 87, "features")->arch, 80);
  EXPECT_EQ(find(fat, 90, "features")->arch, 90);
  EXPECT_EQ(
      find(fat + std::string(24, '\0') + fatbinary({{.arch = 100, .content = cubin_of(90)}}), 100, "features")->arch,
      100);
  EXPECT_THAT(refusal(fat, 75), HasSubstr("sm_80, sm_89, sm_90"));
  EXPECT_THAT(refusal(fatbinary({{.kind = 1, .content = "PTX"}}), 89), HasSubstr("PTX is not machine code"));
  EXPECT_THAT(refusal(fatbinary({{.flags = 0x8011, .content = "x"}}), 89), HasSubstr("is compressed | Take it out"));
  EXPECT_THAT(refusal(fatbinary({{.packed = 3, .content = "x"}, {.arch = 90, .content = cubin_of(90)}}), 89),
              HasSubstr("for sm_89 is compressed"));
}

TEST(MachineCode, NamesTheKernelsThatAreThere) {
  EXPECT_THAT(refusal(cubin_of(89), 89, "feature"), HasSubstr("no kernel \"feature\""));
  EXPECT_THAT(refusal(cubin_of(89), 89, "feature"), HasSubstr("features"));
  const auto kernels = kernels_in(bytes_of(cubin_of(89)));
  ASSERT_TRUE(kernels);
  EXPECT_EQ(kernels->size(), 2u);
}

TEST(MachineCode, DamageIsNamed) {
  EXPECT_THAT(refusal("", 89), HasSubstr("k.cubin: "));
  EXPECT_THAT(refusal("not code", 89), HasSubstr("k.cubin: "));
  const std::string fat = fatbinary({{.content = cubin_of(89)}, {.arch = 80, .content = cubin_of(80)}});
  for (size_t cut = 1; cut < fat.size(); cut += 97) EXPECT_NE(refusal(fat.substr(0, cut), 89), "accepted") << cut;
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string forged = fat;
    for (int at = 0; at < 4; ++at) forged[random() % (i % 2 ? 200 : forged.size())] = static_cast<char>(random());
    if (const auto found = find(forged, 89, "features")) (void)read_cubin(found->cubin, found->symbol);
  }
}

// 65,535 section headers, each of which covers the whole file, or the same data again and again.
TEST(MachineCode, AForgedFileTakesNoMoreThanItsSize) {
  std::string cubin = cubin_of(89);
  const uint64_t table = cubin.size();
  const auto patch = [&](size_t at, auto value) { std::memcpy(&cubin[at], &value, sizeof value); };
  patch(0x28, table);
  patch(0x3c, uint16_t{65535});
  patch(0x3e, uint16_t{0});
  std::string header;
  put<uint32_t>(header, 0);
  put<uint32_t>(header, 1);
  put<uint64_t>(header, 0);
  put<uint64_t>(header, 0);
  put<uint64_t>(header, 0);
  put<uint64_t>(header, table);
  header.append(16, '\0');
  header.resize(64);
  for (int i = 0; i < 65535; ++i) cubin += header;
  EXPECT_THAT(refusal(cubin, 89), HasSubstr("its sections lie upon each other"));
}

TEST(MachineCode, NamesLongerThanTheirTableAreForged) {
  std::string cubin = cubin_of(89);
  const auto elf = read_elf(bytes_of(cubin), kElfMachineCuda);
  ASSERT_TRUE(elf);
  // Every symbol's name is the whole of one table, in which only the last byte is a terminator.
  const ElfSection* names = elf->find(".strtab");
  ASSERT_NE(names, nullptr);
  const size_t at = static_cast<size_t>(names->bytes.data() - bytes_of(cubin).data());
  const size_t size = names->bytes.size();
  const ElfSection* table = elf->find(".symtab");
  const size_t symbols = static_cast<size_t>(table->bytes.data() - bytes_of(cubin).data());
  const size_t count = table->bytes.size() / 24;
  ASSERT_GT(count * size, 4 * (size + count * 24)) << "too few symbols for this test";
  std::memset(&cubin[at], 'x', size - 1);
  for (size_t i = 0; i < count; ++i) std::memset(&cubin[symbols + i * 24], 0, 4);
  EXPECT_THAT(refusal(cubin, 89), HasSubstr("names are longer than its table"));
}

}  // namespace
}  // namespace attnscope::compile
