#include "compile/machine_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "compile/cubin.h"
#include "compile/elf_reader.h"
#include "core/joined.h"
#include "core/text.h"

namespace attnscope::compile {
namespace {

using Bytes = std::span<const std::byte>;

// A fatbinary: magic u32, version u16, header's bytes u16, bytes after it u64; then entries. An entry: kind u16,
// version u16, header's bytes u32, content's bytes u64, compressed bytes u32, …; architecture u32 at 28, flags u64 at
// 40. As nvcc 13.0's `fatbinary` writes it with and without --compress; tests/unit/compile/machine_code_test.cpp builds
// one.
constexpr uint32_t kFatMagic = 0xba55ed50;
constexpr uint64_t kFatHeaderBytes = 16, kEntryHeaderBytes = 64;
constexpr uint16_t kEntryElf = 2;
constexpr uint64_t kCompressed = 0x2000 | 0x8000;  // LZ4, Zstandard
constexpr size_t kMostNamed = 20;                  // kernels in a message

struct Found {
  struct One {
    int arch = 0;
    Bytes cubin;
  };
  std::vector<One> codes;
  std::set<int> compressed;  // architectures whose code is compressed
};

tl::unexpected<Failure> malformed(const std::string& what) {
  return fail(Stage::decode, "The fatbinary is malformed: " + what + ".", "It may be truncated. Build it again.");
}

Result<void> read_entries(Bytes entries, Found& found) {
  for (uint64_t at = 0; at < entries.size();) {
    const auto kind = load_at<uint16_t>(entries, at);
    const auto header = load_at<uint32_t>(entries, at + 4);
    const auto bytes = load_at<uint64_t>(entries, at + 8);
    const auto packed = load_at<uint32_t>(entries, at + 16);
    const auto arch = load_at<uint32_t>(entries, at + 28);
    const auto flags = load_at<uint64_t>(entries, at + 40);
    if (!kind || !header || !bytes || !packed || !arch || !flags || *header < kEntryHeaderBytes)
      return malformed("it ends within an entry");
    if (entries.size() - at < *header || entries.size() - at - *header < *bytes)
      return malformed("an entry is past its end");
    if (*kind == kEntryElf) {
      const bool whole = *packed == 0 && (*flags & kCompressed) == 0;
      const int known = static_cast<int>(std::min<uint32_t>(*arch, 1000));
      if (whole)
        found.codes.push_back({known, entries.subspan(at + *header, *bytes)});
      else
        found.compressed.insert(known);
    }
    at += *header + *bytes;
  }
  return {};
}

// Reads fatbinaries one after the other, with zeroes between them.
Result<void> read_fatbinaries(Bytes bytes, Found& found) {
  uint64_t at = 0;
  while (at + kFatHeaderBytes <= bytes.size()) {
    const auto magic = load_at<uint32_t>(bytes, at);
    if (*magic == 0) {
      at += 8;
      continue;
    }
    const uint64_t header = *load_at<uint16_t>(bytes, at + 6), behind = *load_at<uint64_t>(bytes, at + 8);
    if (*magic != kFatMagic || header < kFatHeaderBytes) return malformed("an entry is not one of a fatbinary");
    if (bytes.size() - at < header || bytes.size() - at - header < behind) return malformed("it ends early");
    if (auto done = read_entries(bytes.subspan(at + header, behind), found); !done) return done;
    at = (at + header + behind + 7) / 8 * 8;
  }
  return {};
}

int arch_of(const ElfFile& elf) {
  return static_cast<int>(elf.abi_version >= 8 ? (elf.flags >> 8) & 0xff : elf.flags & 0xff);
}

Result<Found> read_all(Bytes bytes) {
  Found found;
  if (load_at<uint32_t>(bytes, 0) == kFatMagic) {
    if (auto done = read_fatbinaries(bytes, found); !done) return fail(done.error());
    return found;
  }
  const uint16_t machine = load_at<uint16_t>(bytes, 0x12).value_or(0);
  auto elf = read_elf(bytes, machine);
  if (!elf)
    return fail(Stage::decode, elf.error().message,
                "A kernel's file is a cubin (nvcc -cubin), a fatbinary (nvcc -fatbin), or what nvcc links.");
  if (machine == kElfMachineCuda) {
    found.codes.push_back({arch_of(*elf), bytes});
    return found;
  }
  for (const ElfSection& section : elf->sections)
    if (section.name == ".nv_fatbin")
      if (auto done = read_fatbinaries(section.bytes, found); !done) return fail(done.error());
  return found;
}

bool runs_on(int code, int device) { return device == 0 || (code / 10 == device / 10 && code % 10 <= device % 10); }

std::string archs_of(const Found& found) {
  std::set<int> all;
  for (const Found::One& one : found.codes) all.insert(one.arch);
  return joined(all, [](int arch) { return fmt::format("sm_{}", arch); });
}

// "_Z5saxpyifPKfPf" → "saxpy", for a function in no namespace, as in the Itanium C++ ABI (5.1.2).
std::string_view plain_name(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  const std::string_view rest = symbol.substr(2);
  const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const auto length = number_of<size_t>(rest.substr(0, digits));
  return length && *length <= rest.size() - digits ? rest.substr(digits, *length) : symbol;
}

std::string listed(const std::vector<std::string>& names) {
  std::vector<std::string> some(names.begin(),
                                names.begin() + static_cast<ptrdiff_t>(std::min(names.size(), kMostNamed)));
  const std::string more = names.size() > some.size() ? fmt::format(" and {} more", names.size() - some.size()) : "";
  return joined(some, std::identity()) + more;
}

// The symbols that `entry` may mean.
std::vector<std::string> meant(const std::vector<std::string>& kernels, const std::string& entry) {
  if (entry.empty()) return kernels;
  if (std::ranges::find(kernels, entry) != kernels.end()) return {entry};
  std::vector<std::string> fits;
  for (const std::string& name : kernels)
    if (plain_name(name) == entry) fits.push_back(name);
  return fits;
}

}  // namespace

Result<std::vector<std::string>> kernels_in(Bytes cubin) {
  auto elf = read_elf(cubin, kElfMachineCuda);
  if (!elf) return fail(elf.error());
  std::vector<std::string> names;
  for (const ElfSymbol& symbol : elf->symbols)
    if (is_kernel(symbol)) names.emplace_back(symbol.name);
  return names;
}

Result<MachineCode> machine_code_for(Bytes bytes, int arch, const std::string& entry, const std::string& file) {
  auto found = read_all(bytes);
  if (!found) return fail_of(file, found.error());
  const auto unpack = "Take it out first: `cuobjdump -xelf all FILE` writes its cubins; nvcc --no-compress makes none.";
  if (found->codes.empty() && !found->compressed.empty())
    return fail(Stage::decode, file + ": its machine code is compressed", unpack);
  if (found->codes.empty())
    return fail(Stage::input, file + ": it holds no machine code of a CUDA device",
                "PTX is not machine code: build with -gencode arch=compute_89,code=sm_89 or the like.");
  std::erase_if(found->compressed, [&](int one) { return !runs_on(one, arch); });
  const std::string has = archs_of(*found);
  std::erase_if(found->codes, [&](const Found::One& one) { return !runs_on(one.arch, arch); });
  if (found->codes.empty() && !found->compressed.empty())
    return fail(Stage::decode, fmt::format("{}: its machine code for sm_{} is compressed", file, arch), unpack);
  if (found->codes.empty())
    return fail(
        Stage::input, fmt::format("{} holds machine code for {}, and the device is sm_{}", file, has, arch),
        "Choose a device of that architecture (`attnscope devices` lists them), or build the file for this one.");
  std::ranges::stable_sort(found->codes, std::ranges::greater(), &Found::One::arch);
  std::vector<std::string> all;
  for (const Found::One& one : found->codes) {
    auto kernels = kernels_in(one.cubin);
    if (!kernels) return fail_of(file, kernels.error());
    const std::vector<std::string> fits = meant(*kernels, entry);
    if (fits.size() == 1) return MachineCode{one.arch, fits[0], one.cubin};
    if (fits.size() > 1)
      return fail(Stage::input,
                  entry.empty() ? fmt::format("{} holds several kernels", file)
                                : fmt::format("{} holds several kernels named {}", file, entry),
                  "Name one of them as the entry: " + listed(fits) + ".");
    all.insert(all.end(), kernels->begin(), kernels->end());
  }
  if (all.empty()) return fail(Stage::input, file + " holds no kernel", "Mark the function __global__.");
  return fail(Stage::input, fmt::format("{} holds no kernel \"{}\"", file, entry), "It holds " + listed(all) + ".");
}

}  // namespace attnscope::compile
