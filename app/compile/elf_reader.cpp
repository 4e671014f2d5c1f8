#include "compile/elf_reader.h"

#include <cstring>

namespace attnscope::compile {
namespace {

constexpr uint64_t kFileHeaderBytes = 64, kSectionHeaderBytes = 64, kSymbolBytes = 24;
constexpr uint8_t kSymbolFunction = 2;
constexpr uint8_t kOtherEntry = 0x10;  // STO_CUDA_ENTRY: a kernel, not a device function
// Names and sections may take this many times the file's bytes, because names share ends.
constexpr uint64_t kMostShared = 4;

tl::unexpected<Failure> malformed(const std::string& what) {
  return fail(Stage::decode, "The cubin is malformed: " + what + ".",
              "It may be truncated. Compile the kernel again; a cached copy is made again automatically.");
}

std::optional<std::span<const std::byte>> slice(std::span<const std::byte> bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return std::nullopt;
  return bytes.subspan(offset, size);
}

std::optional<std::string_view> text_at(std::span<const std::byte> table, uint64_t offset) {
  if (offset >= table.size()) return std::nullopt;
  const char* begin = reinterpret_cast<const char*>(table.data()) + offset;
  const void* end = std::memchr(begin, 0, table.size() - offset);
  if (end == nullptr) return std::nullopt;
  return std::string_view(begin, static_cast<size_t>(static_cast<const char*>(end) - begin));
}

Result<std::vector<ElfSection>> read_sections(std::span<const std::byte> bytes) {
  const uint64_t table = *load_at<uint64_t>(bytes, 0x28);
  const uint16_t entry_bytes = *load_at<uint16_t>(bytes, 0x3a);
  const uint16_t count = *load_at<uint16_t>(bytes, 0x3c);
  const uint16_t names_index = *load_at<uint16_t>(bytes, 0x3e);
  if (entry_bytes != kSectionHeaderBytes) return malformed("its section headers have an unknown size");
  const auto headers = slice(bytes, table, uint64_t{count} * kSectionHeaderBytes);
  if (!headers) return malformed("its section headers are past its end");

  std::vector<ElfSection> sections(count);
  std::vector<uint32_t> name_offsets(count);
  uint64_t total = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = i * kSectionHeaderBytes;
    ElfSection& section = sections[i];
    name_offsets[i] = *load_at<uint32_t>(*headers, at);
    section.type = *load_at<uint32_t>(*headers, at + 4);
    section.flags = *load_at<uint64_t>(*headers, at + 8);
    section.size = *load_at<uint64_t>(*headers, at + 32);
    section.link = *load_at<uint32_t>(*headers, at + 40);
    section.info = *load_at<uint32_t>(*headers, at + 44);
    if (section.type == kElfSectionNobits || section.type == 0) continue;
    const auto content = slice(bytes, *load_at<uint64_t>(*headers, at + 24), section.size);
    if (!content) return malformed("section " + std::to_string(i) + " is past its end");
    section.bytes = *content;
    total += section.size;
    if (total > kMostShared * bytes.size()) return malformed("its sections lie upon each other");
  }
  if (names_index >= count) return malformed("it has no section names");
  for (uint64_t i = 0; i < count; ++i) {
    const auto name = text_at(sections[names_index].bytes, name_offsets[i]);
    if (!name && i != 0) return malformed("section " + std::to_string(i) + " has no name");
    sections[i].name = name.value_or("");
    total += sections[i].name.size();
    if (total > 2 * kMostShared * bytes.size()) return malformed("its sections' names are longer than it");
  }
  return sections;
}

Result<std::vector<ElfSymbol>> read_symbols(const std::vector<ElfSection>& sections) {
  std::vector<ElfSymbol> symbols;
  for (const ElfSection& section : sections) {
    if (section.type != kElfSectionSymbols) continue;
    if (!symbols.empty()) return malformed("it has two symbol tables");
    if (section.link >= sections.size()) return malformed("its symbols have no names");
    const uint64_t count = section.bytes.size() / kSymbolBytes;
    const uint64_t most = kMostShared * (section.bytes.size() + sections[section.link].bytes.size());
    uint64_t named = 0;
    symbols.reserve(count);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t at = i * kSymbolBytes;
      ElfSymbol symbol;
      const auto name = text_at(sections[section.link].bytes, *load_at<uint32_t>(section.bytes, at));
      if (!name) return malformed("symbol " + std::to_string(i) + " has no name");
      symbol.name = *name;
      named += name->size();
      if (named > most) return malformed("its symbols' names are longer than its table of names");
      symbol.type = *load_at<uint8_t>(section.bytes, at + 4) & 0xf;
      symbol.other = *load_at<uint8_t>(section.bytes, at + 5);
      symbol.section = *load_at<uint16_t>(section.bytes, at + 6);
      symbol.value = *load_at<uint64_t>(section.bytes, at + 8);
      symbol.size = *load_at<uint64_t>(section.bytes, at + 16);
      symbols.push_back(symbol);
    }
  }
  return symbols;
}

}  // namespace

bool is_kernel(const ElfSymbol& symbol) {
  return symbol.type == kSymbolFunction && (symbol.other & kOtherEntry) != 0 && symbol.section != 0;
}

const ElfSection* ElfFile::find(std::string_view name) const {
  for (const ElfSection& section : sections)
    if (section.name == name) return &section;
  return nullptr;
}

Result<ElfFile> read_elf(std::span<const std::byte> bytes, uint16_t machine) {
  if (bytes.size() < kFileHeaderBytes) return malformed("it ends within its header");
  constexpr unsigned char magic[6] = {0x7f, 'E', 'L', 'F', 2 /* 64-bit */, 1 /* little-endian */};
  if (std::memcmp(bytes.data(), magic, sizeof magic) != 0) return malformed("it is not a 64-bit ELF file");
  if (*load_at<uint16_t>(bytes, 0x12) != machine) return malformed("it is not machine code of a CUDA device");

  ElfFile file;
  file.abi_version = *load_at<uint8_t>(bytes, 8);
  file.flags = *load_at<uint32_t>(bytes, 0x30);
  auto sections = read_sections(bytes);
  if (!sections) return fail(sections.error());
  auto symbols = read_symbols(*sections);
  if (!symbols) return fail(symbols.error());
  file.sections = std::move(*sections);
  file.symbols = std::move(*symbols);
  return file;
}

Result<std::vector<ElfRelocation>> read_relocations(const ElfSection& section) {
  const bool has_addend = section.type == kElfSectionRela;
  const uint64_t entry_bytes = has_addend ? 24 : 16;
  if (section.bytes.size() % entry_bytes != 0)
    return malformed("section " + std::string(section.name) + " has a broken length");
  std::vector<ElfRelocation> relocations;
  for (uint64_t at = 0; at < section.bytes.size(); at += entry_bytes) {
    ElfRelocation relocation;
    const uint64_t info = *load_at<uint64_t>(section.bytes, at + 8);
    relocation.offset = *load_at<uint64_t>(section.bytes, at);
    relocation.symbol = static_cast<uint32_t>(info >> 32);
    relocation.type = static_cast<uint32_t>(info);
    relocation.has_addend = has_addend;
    if (has_addend) relocation.addend = static_cast<int64_t>(*load_at<uint64_t>(section.bytes, at + 16));
    relocations.push_back(relocation);
  }
  return relocations;
}

}  // namespace attnscope::compile
