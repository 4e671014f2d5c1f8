#include "compile/elf_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "compile/cubin.h"
#include "compile/sass.h"
#include "unit/compile/recorded.h"

namespace attnscope::compile {
namespace {

using testing::HasSubstr;

template <class T>
void put(std::string& bytes, size_t at, T value) {
  ASSERT_LE(at + sizeof value, bytes.size());
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// A file header, the contents of its sections, and their headers: nothing, .names, .symbols, .nothing.
class ElfReader : public testing::Test {
 protected:
  static constexpr size_t kNames = 64, kSymbols = 112, kTable = 160, kBytes = kTable + 4 * 64;
  ElfReader() : file_(kBytes, '\0') {
    file_.replace(0, 9,
                  std::string("\x7f"
                              "ELF\x02\x01\x01\0\x08",
                              9));
    put<uint16_t>(file_, 0x12, kElfMachineCuda);
    put<uint64_t>(file_, 0x28, kTable);
    put<uint32_t>(file_, 0x30, 0x590559);  // flags
    put<uint16_t>(file_, 0x3a, 64);
    put<uint16_t>(file_, 0x3c, 4);
    put<uint16_t>(file_, 0x3e, 1);
    const std::string names("\0.names\0.symbols\0.nothing\0one\0", 30);
    file_.replace(kNames, names.size(), names);
    section(1, 1, 3, kNames, 30);
    section(2, 8, kElfSectionSymbols, kSymbols, 48);
    section(3, 17, kElfSectionNobits, 1u << 30, 1u << 20);
    put<uint32_t>(file_, kTable + 2 * 64 + 40, 1);  // the symbols' names
    put<uint32_t>(file_, kSymbols + 24, 26);
    put<uint8_t>(file_, kSymbols + 28, 0x12);
    put<uint8_t>(file_, kSymbols + 29, 7);
    put<uint16_t>(file_, kSymbols + 30, 3);
    put<uint64_t>(file_, kSymbols + 32, 0x100);
    put<uint64_t>(file_, kSymbols + 40, 0x20);
  }
  void section(size_t index, uint32_t name, uint32_t type, uint64_t offset, uint64_t size) {
    const size_t at = kTable + index * 64;
    put<uint32_t>(file_, at, name);
    put<uint32_t>(file_, at + 4, type);
    put<uint64_t>(file_, at + 8, 6);
    put<uint64_t>(file_, at + 24, offset);
    put<uint64_t>(file_, at + 32, size);
    put<uint32_t>(file_, at + 44, 9);
  }
  // The reason that a reader gives; empty: it reads the file.
  std::string refusal() const {
    const auto read = read_elf(bytes_of(file_), kElfMachineCuda);
    if (read) return "";
    EXPECT_EQ(read.error().stage, Stage::decode);
    EXPECT_THAT(read.error().hint, HasSubstr("truncated"));
    return read.error().message;
  }
  template <class T>
  std::string refusal_with(size_t at, T value) {
    const std::string whole = file_;
    put<T>(file_, at, value);
    const std::string why = refusal();
    file_ = whole;
    return why;
  }

  std::string file_;
};

TEST_F(ElfReader, GivesSectionsAndSymbols) {
  const auto read = read_elf(bytes_of(file_), kElfMachineCuda);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->flags, 0x590559u);
  EXPECT_EQ(read->abi_version, 8);
  ASSERT_EQ(read->sections.size(), 4u);
  EXPECT_EQ(read->sections[1].name, ".names");
  EXPECT_EQ(read->sections[1].bytes.size(), 30u);
  EXPECT_EQ(read->sections[1].flags, 6u);
  EXPECT_EQ(read->sections[1].info, 9u);
  EXPECT_EQ(read->sections[2].link, 1u);
  EXPECT_EQ(read->sections[2].type, kElfSectionSymbols);
  EXPECT_EQ(read->sections[3].size, 1u << 20);
  EXPECT_TRUE(read->sections[3].bytes.empty()) << "it has none in the file";
  ASSERT_EQ(read->symbols.size(), 2u);
  EXPECT_EQ(read->symbols[0].name, "");
  EXPECT_EQ(read->symbols[1].name, "one");
  EXPECT_EQ(read->symbols[1].type, 2);
  EXPECT_EQ(read->symbols[1].other, 7);
  EXPECT_EQ(read->symbols[1].section, 3);
  EXPECT_EQ(read->symbols[1].value, 0x100u);
  EXPECT_EQ(read->symbols[1].size, 0x20u);
  EXPECT_EQ(read->find(".symbols"), &read->sections[2]);
  EXPECT_EQ(read->find(".none"), nullptr);
}

TEST_F(ElfReader, EachDamageHasItsReason) {
  ASSERT_EQ(refusal(), "");
  for (size_t at = 0; at < 6; ++at)
    EXPECT_EQ(refusal_with<uint8_t>(at, 9), "The cubin is malformed: it is not a 64-bit ELF file.") << at;
  EXPECT_EQ(refusal_with<uint16_t>(0x12, 62), "The cubin is malformed: it is not machine code of a CUDA device.");
  EXPECT_THAT(refusal_with<uint16_t>(0x3a, 56), HasSubstr("its section headers have an unknown size"));
  EXPECT_THAT(refusal_with<uint16_t>(0x3c, 5), HasSubstr("its section headers are past its end"));
  EXPECT_THAT(refusal_with<uint64_t>(0x28, kBytes + 1), HasSubstr("its section headers are past its end"));
  EXPECT_THAT(refusal_with<uint16_t>(0x3e, 4), HasSubstr("it has no section names"));
  EXPECT_THAT(refusal_with<uint64_t>(kTable + 64 + 32, kBytes - kNames + 1), HasSubstr("section 1 is past its end"));
  EXPECT_EQ(refusal_with<uint64_t>(kTable + 64 + 32, kBytes - kNames), "");
  EXPECT_THAT(refusal_with<uint32_t>(kTable + 2 * 64, 30), HasSubstr("section 2 has no name"));
  EXPECT_THAT(refusal_with<uint32_t>(kTable + 2 * 64 + 40, 4), HasSubstr("its symbols have no names"));
  EXPECT_THAT(refusal_with<uint32_t>(kSymbols + 24, 30), HasSubstr("symbol 1 has no name"));
  const std::string whole = file_;
  section(3, 17, kElfSectionSymbols, kSymbols, 48);
  put<uint32_t>(file_, kTable + 3 * 64 + 40, 1);
  EXPECT_THAT(refusal(), HasSubstr("it has two symbol tables"));
  file_ = whole;
  file_.resize(63);
  EXPECT_THAT(refusal(), HasSubstr("it ends within its header"));
}

TEST(ElfRelocations, WithAndWithoutAddend) {
  std::string bytes(48, '\0');
  for (const size_t at : {size_t{0}, size_t{24}}) {
    put<uint64_t>(bytes, at, 0x40 + at);
    put<uint64_t>(bytes, at + 8, (uint64_t{5 + at} << 32) | 2);
    put<uint64_t>(bytes, at + 16, static_cast<uint64_t>(-8));
  }
  ElfSection section;
  section.name = ".rela.x";
  section.type = kElfSectionRela;
  section.bytes = bytes_of(bytes);
  auto read = read_relocations(section);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2u);
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const ElfRelocation& one = read->at(i);
    EXPECT_EQ(one.offset, 0x40 + 24 * i);
    EXPECT_EQ(one.symbol, 5 + 24 * i);
    EXPECT_EQ(one.type, 2u);
    EXPECT_EQ(one.addend, -8);
    EXPECT_TRUE(one.has_addend);
  }
  section.type = kElfSectionRel;
  read = read_relocations(section);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 3u) << "an entry is shorter without its addend";
  EXPECT_EQ(read->at(0).symbol, 5u);
  EXPECT_EQ(read->at(0).addend, 0);
  EXPECT_FALSE(read->at(0).has_addend);
  section.type = kElfSectionRela;
  section.bytes = section.bytes.first(47);
  read = read_relocations(section);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "The cubin is malformed: section .rela.x has a broken length.");
}

// The relocations of c[4], which holds the addresses of the source's variables.
class DamagedRelocations : public testing::TestWithParam<Recorded> {
 protected:
  DamagedRelocations() {
    const auto elf = read_elf(bytes_of(cubin), kElfMachineCuda);
    for (const ElfSection& section : elf->sections) {
      const bool of_bank = section.name.starts_with(".rel") && section.name.ends_with(".nv.constant4");
      if (!of_bank) continue;
      at = static_cast<size_t>(section.bytes.data() - bytes_of(cubin).data());
      name_at = static_cast<size_t>(section.name.data() - cubin.data());
      name = section.name;
    }
    symbols = elf->symbols.size();
    const auto whole = read_cubin(bytes_of(cubin), "features");
    for (const ConstantBank& bank : whole->banks)
      if (bank.index == 4) bank_bytes = bank.data.size();
  }
  std::string cubin = text_of(recorded_file(GetParam(), ".cubin"));
  std::string name;
  size_t at = 0, name_at = 0, symbols = 0, bank_bytes = 0;
};

INSTANTIATE_TEST_SUITE_P(All, DamagedRelocations, testing::ValuesIn(recordings()), recorded_name);

TEST_P(DamagedRelocations, APlaceOutsideTheBankIsRefused) {
  ASSERT_GT(at, 0u);
  ASSERT_GE(bank_bytes, 16u);
  const auto refusal = [&] {
    const auto kernel = read_cubin(bytes_of(cubin), "features");
    return kernel ? "" : kernel.error().message;
  };
  const std::string outside = "The cubin is malformed: a relocation of .nv.constant4 lies outside it.";
  put<uint64_t>(cubin, at, bank_bytes - 8);
  EXPECT_EQ(refusal(), "");
  for (const uint64_t offset : {uint64_t{bank_bytes - 7}, uint64_t{bank_bytes}, uint64_t{bank_bytes + 1}, UINT64_MAX}) {
    put<uint64_t>(cubin, at, offset);
    EXPECT_EQ(refusal(), outside) << offset;
  }
  put<uint64_t>(cubin, at, 0);
  put<uint32_t>(cubin, at + 12, static_cast<uint32_t>(symbols - 1));
  EXPECT_EQ(refusal(), "");
  put<uint32_t>(cubin, at + 12, static_cast<uint32_t>(symbols));
  EXPECT_EQ(refusal(), outside);
}

TEST_P(DamagedRelocations, APlaceInTheCodeIsRefusedBeforeItIsDisassembled) {
  const std::string prefix = name.substr(0, name.find('.', 1));
  const std::string text = prefix + ".text.second";
  ASSERT_LE(text.size(), name.size());
  cubin.replace(name_at, text.size() + 1, text + '\0');
  const auto program = disassemble(bytes_of(cubin), "second", {.nvdisasm = {}, .cache_dir = {}});
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().stage, Stage::decode);
  EXPECT_THAT(program.error().message, HasSubstr("The machine code of second holds an address of "));
  EXPECT_THAT(program.error().message, HasSubstr("that only a driver can fill in."));
}

}  // namespace
}  // namespace attnscope::compile
