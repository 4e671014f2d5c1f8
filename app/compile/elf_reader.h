#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace attnscope::compile {

// Reads a little-endian value at any byte offset, and never past the end.
template <class T>
std::optional<T> load_at(std::span<const std::byte> bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value | (static_cast<T>(std::to_integer<uint8_t>(bytes[offset + i])) << (8 * i)));
  return value;
}

struct ElfSection {
  std::string_view name;
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t size = 0;  // in memory; NOBITS sections have no bytes
  uint32_t link = 0, info = 0;
  std::span<const std::byte> bytes;  // empty for NOBITS
};

struct ElfSymbol {
  std::string_view name;
  uint64_t value = 0, size = 0;
  uint8_t type = 0;  // STT_*: 1 OBJECT, 2 FUNC, 3 SECTION
  uint8_t other = 0;
  uint16_t section = 0;  // 0: undefined
};

struct ElfRelocation {
  uint64_t offset = 0;
  uint32_t symbol = 0, type = 0;
  int64_t addend = 0;
  bool has_addend = false;  // REL has the addend in the target itself
};

// Views into an ELF64 file's bytes, which must outlive it. Every offset has been checked against the file's end, and
// the sections and names together are not much longer than the file, so that a forged file takes no more time or memory
// than its size.
struct ElfFile {
  uint32_t flags = 0;
  uint8_t abi_version = 0;
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;

  const ElfSection* find(std::string_view name) const;
};

// True for a kernel that a driver can launch, false for a function that kernels call.
bool is_kernel(const ElfSymbol& symbol);

constexpr uint16_t kElfMachineCuda = 190;
// Section types: SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_REL.
constexpr uint32_t kElfSectionSymbols = 2, kElfSectionRela = 4, kElfSectionNobits = 8, kElfSectionRel = 9;

// Reads headers, sections and the symbol table of a little-endian ELF64 of `machine`. Failure: Stage::decode.
Result<ElfFile> read_elf(std::span<const std::byte> bytes, uint16_t machine);

// The entries of a REL or RELA section. Failure: Stage::decode.
Result<std::vector<ElfRelocation>> read_relocations(const ElfSection& section);

}  // namespace attnscope::compile
