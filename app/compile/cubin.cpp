#include "compile/cubin.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

#include "compile/elf_reader.h"

namespace attnscope::compile {
namespace {

constexpr uint8_t kSymbolObject = 1, kSymbolFunction = 2;

// Attributes of .nv.info, found in cubins of nvcc and NVRTC 12.8 and 13.0 (nvdisasm and ptxas -v give the same values).
enum Attribute : uint8_t {
  attribute_max_threads = 0x05,  // three u32: __launch_bounds__
  attribute_param_cbank = 0x0a,  // symbol u32, offset u16, bytes u16
  attribute_frame_size = 0x11,   // symbol u32, bytes u32
  attribute_min_stack = 0x12,    // symbol u32, bytes u32: the frame and the deepest call
  attribute_kparam = 0x17,       // index u32, ordinal u16, offset u16, u32 with the size in its upper 14 bits
  attribute_param_bytes = 0x19,  // in the attribute's 16-bit value
  attribute_registers = 0x2f,    // symbol u32, count u32
  attribute_barriers = 0x4c,     // in the attribute's value byte; NVRTC 12.8 uses the section's flags instead
};
constexpr uint8_t kFormatSized = 4;  // formats 1-3 have their value in the header's two bytes

constexpr uint64_t kMaxTextBytes = 64u << 20;
constexpr uint64_t kMaxSharedBytes = 1u << 30;  // far above any GPU's; a larger size means damage
constexpr uint32_t kMostRegisters = 255;        // per thread
constexpr uint32_t kLastBank = 17;              // sections .nv.constant0 to .nv.constant17
constexpr uint32_t kMostThreads = 65536;        // per dimension, so that their product fits
// The number of barriers in a text section's flags; attribute_barriers overrides it.
constexpr int kBarriersShift = 20;
constexpr uint32_t kBarriersMask = 0x7f;
constexpr int kParameterSizeShift = 18;           // attribute_kparam's last word
constexpr uint32_t kReservedSharedBytes = 0x400;  // sm_90 reserves the first KB of the window for the system

tl::unexpected<Failure> malformed(const std::string& what) {
  return fail(Stage::decode, "The cubin is malformed: " + what + ".",
              "It may be truncated. Compile the kernel again; a cached copy is made again automatically.");
}

struct Info {
  uint8_t attribute = 0;
  uint32_t value = 0;               // formats 1-3
  std::span<const std::byte> data;  // format 4
};

Result<std::vector<Info>> read_info(const ElfSection& section) {
  std::vector<Info> all;
  for (uint64_t at = 0; at < section.bytes.size();) {
    const auto format = load_at<uint8_t>(section.bytes, at), attribute = load_at<uint8_t>(section.bytes, at + 1);
    const auto value = load_at<uint16_t>(section.bytes, at + 2);
    if (!format || !attribute || !value) return malformed(std::string(section.name) + " ends within an attribute");
    Info info{*attribute, *value, {}};
    at += 4;
    if (*format == kFormatSized) {
      if (section.bytes.size() - at < *value) return malformed(std::string(section.name) + " ends within an attribute");
      info.data = section.bytes.subspan(at, *value);
      at += *value;
    }
    all.push_back(info);
  }
  return all;
}

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

class KernelReader {
 public:
  explicit KernelReader(const ElfFile& elf) : elf_(elf) {}

  Result<CubinKernel> read(const std::string& entry) {
    Result<void> done = find_entry(entry);
    for (auto step : {&KernelReader::read_text, &KernelReader::read_file_info, &KernelReader::read_kernel_info,
                      &KernelReader::read_data, &KernelReader::read_variables, &KernelReader::read_all_relocations})
      if (done) done = (this->*step)();
    if (!done) return fail(done.error());
    return std::move(kernel_);
  }

 private:
  Result<void> find_entry(const std::string& entry) {
    std::vector<uint32_t> kernels;
    std::string names;
    for (uint32_t i = 0; i < elf_.symbols.size(); ++i) {
      const ElfSymbol& symbol = elf_.symbols[i];
      if (!is_kernel(symbol)) continue;
      if (names.size() < 400) names += (names.empty() ? "" : ", ") + std::string(symbol.name);
      if (entry.empty() || symbol.name == entry) kernels.push_back(i);
    }
    if (kernels.size() == 1) {
      symbol_index_ = kernels[0];
      return {};
    }
    if (names.empty()) return fail(Stage::decode, "The cubin holds no kernel.", "Mark the function __global__.");
    if (entry.empty())
      return fail(Stage::decode, "The cubin holds several kernels: " + names + ".", "Name one of them as the entry.");
    return fail(Stage::decode, "The cubin holds no kernel \"" + entry + "\"; it holds " + names + ".",
                "Give the entry as the machine code names it (extern \"C\" keeps a name as written).");
  }

  Result<void> read_text() {
    const ElfSymbol& symbol = elf_.symbols[symbol_index_];
    if (symbol.section >= elf_.sections.size()) return malformed("its kernel has no section");
    const ElfSection& text = elf_.sections[symbol.section];
    kernel_.name = std::string(symbol.name);
    text_section_ = symbol.section;
    if (text.name != ".text." + kernel_.name || symbol.value != 0)
      return malformed("kernel " + kernel_.name + " is not at the start of its section");
    if (text.bytes.empty() || text.bytes.size() % 16 != 0 || text.bytes.size() > kMaxTextBytes)
      return malformed(std::string(text.name) + " has " + std::to_string(text.bytes.size()) + " bytes");
    kernel_.text = copy_of(text.bytes);
    // ABI version 8 (CUDA 13) moved the architecture within the flags.
    kernel_.arch = elf_.abi_version >= 8 ? (elf_.flags >> 8) & 0xff : elf_.flags & 0xff;
    kernel_.barriers = static_cast<uint32_t>(text.flags >> kBarriersShift) & kBarriersMask;
    for (const ElfSymbol& function : elf_.symbols)
      if (function.type == kSymbolFunction && function.section == text_section_ && function.value < text.bytes.size())
        kernel_.functions[std::string(function.name)] = static_cast<uint32_t>(function.value);
    return {};
  }

  Result<void> read_file_info() {
    const ElfSection* section = elf_.find(".nv.info");
    if (section == nullptr) return malformed("it has no .nv.info");
    auto all = read_info(*section);
    if (!all) return fail(all.error());
    for (const Info& info : *all) {
      const auto symbol = load_at<uint32_t>(info.data, 0), value = load_at<uint32_t>(info.data, 4);
      if (!symbol || !value || *symbol != symbol_index_) continue;
      if (info.attribute == attribute_registers) kernel_.registers = *value;
      if (info.attribute == attribute_frame_size || info.attribute == attribute_min_stack)
        kernel_.frame_bytes = std::max(kernel_.frame_bytes, *value);
    }
    if (kernel_.registers == 0 || kernel_.registers > kMostRegisters)
      return malformed("kernel " + kernel_.name + " has " + std::to_string(kernel_.registers) + " registers");
    return {};
  }

  Result<void> read_kernel_info() {
    const ElfSection* section = elf_.find(".nv.info." + kernel_.name);
    if (section == nullptr) return malformed("it has no .nv.info." + kernel_.name);
    auto all = read_info(*section);
    if (!all) return fail(all.error());
    for (const Info& info : *all) {
      if (info.attribute == attribute_barriers) kernel_.barriers = info.value & 0xff;
      if (info.attribute == attribute_param_bytes) kernel_.parameter_bytes = info.value;
      if (info.attribute == attribute_param_cbank) kernel_.parameter_base = load_at<uint16_t>(info.data, 4).value_or(0);
      if (info.attribute == attribute_max_threads) {
        uint64_t threads = 1;
        for (uint64_t at : {0, 4, 8}) threads *= std::min(load_at<uint32_t>(info.data, at).value_or(1), kMostThreads);
        kernel_.max_threads = static_cast<uint32_t>(std::min<uint64_t>(threads, 1u << 31));
      }
      if (info.attribute == attribute_kparam) {
        const auto ordinal = load_at<uint16_t>(info.data, 4), offset = load_at<uint16_t>(info.data, 6);
        const auto shape = load_at<uint32_t>(info.data, 8);
        if (!ordinal || !offset || !shape) return malformed("a parameter's attribute is too short");
        kernel_.parameters.push_back({*ordinal, *offset, *shape >> kParameterSizeShift});
      }
    }
    return check_parameters();
  }

  Result<void> check_parameters() {
    std::sort(kernel_.parameters.begin(), kernel_.parameters.end(),
              [](const KernelParameter& a, const KernelParameter& b) { return a.ordinal < b.ordinal; });
    uint32_t next = 0, ordinal = 0;
    for (const KernelParameter& parameter : kernel_.parameters) {
      if (parameter.ordinal != ordinal++ || parameter.size == 0 || parameter.offset < next ||
          parameter.offset + parameter.size > kernel_.parameter_bytes)
        return malformed("the parameters of " + kernel_.name + " overlap or lie outside their block");
      next = parameter.offset + parameter.size;
    }
    if (kernel_.parameter_bytes != 0 && (kernel_.parameters.empty() || kernel_.parameter_base == 0))
      return malformed("the parameters of " + kernel_.name + " are not described");
    return {};
  }

  // ".nv.constant4" and ".nv.constant2.<kernel>" → 4 and 2; the banks of other kernels are ignored.
  std::optional<uint32_t> bank_of(std::string_view name) const {
    constexpr std::string_view prefix = ".nv.constant";
    if (!name.starts_with(prefix)) return std::nullopt;
    name.remove_prefix(prefix.size());
    uint32_t bank = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), bank);
    if (error != std::errc() || bank > kLastBank) return std::nullopt;
    const std::string_view rest(end, static_cast<size_t>(name.data() + name.size() - end));
    if (!rest.empty() && rest != "." + kernel_.name) return std::nullopt;
    return bank;
  }

  Result<void> read_data() {
    for (const ElfSection& section : elf_.sections) {
      const auto bank = bank_of(section.name);
      if (bank && *bank != 0) {
        for (const ConstantBank& other : kernel_.banks)
          if (other.index == *bank) return malformed("constant bank " + std::to_string(*bank) + " appears twice");
        kernel_.banks.push_back({*bank, copy_of(section.bytes)});
      }
      if (section.name == ".nv.global.init" && !kernel_.global_init.empty())
        return malformed("it has .nv.global.init twice");
      if (section.name == ".nv.global.init") kernel_.global_init = copy_of(section.bytes);
      if (section.name == ".nv.global") kernel_.global_bytes = section.size;
      if (section.name == ".nv.shared." + kernel_.name) {
        if (section.size > kMaxSharedBytes)
          return malformed("its shared memory has " + std::to_string(section.size) + " bytes");
        kernel_.static_shared_bytes = static_cast<uint32_t>(section.size);
      }
    }
    std::sort(kernel_.banks.begin(), kernel_.banks.end(),
              [](const ConstantBank& a, const ConstantBank& b) { return a.index < b.index; });
    if (kernel_.arch >= 90) {
      kernel_.shared_base = kReservedSharedBytes;
      // The section includes the reserved KB, which ptxas -v and the launch do not count.
      if (kernel_.static_shared_bytes != 0 && kernel_.static_shared_bytes < kReservedSharedBytes)
        return malformed("its shared memory is smaller than the system's part");
      if (kernel_.static_shared_bytes != 0) kernel_.static_shared_bytes -= uint32_t{kReservedSharedBytes};
    }
    return {};
  }

  Result<void> read_variables() {
    for (const ElfSymbol& symbol : elf_.symbols) {
      if (symbol.type != kSymbolObject || symbol.section == 0 || symbol.section >= elf_.sections.size()) continue;
      const ElfSection& section = elf_.sections[symbol.section];
      CubinVariable variable{CubinVariable::Place::global, 0, symbol.value, symbol.size};
      const auto bank = bank_of(section.name);
      if (section.name == ".nv.global.init")
        variable.place = CubinVariable::Place::global_init;
      else if (bank && *bank != 0)
        variable = {CubinVariable::Place::constant_bank, *bank, symbol.value, symbol.size};
      else if (section.name != ".nv.global")
        continue;
      const bool inside = symbol.value <= section.size && section.size - symbol.value >= symbol.size;
      // ptxas keeps 32 bits of the section's size, and the driver accepts no more.
      const bool huge = symbol.value > UINT32_MAX || symbol.size > UINT32_MAX - symbol.value;
      if (!inside && variable.place == CubinVariable::Place::global && huge)
        return fail(Stage::decode,
                    kernel_.name + ": the __device__ variables take more than 4 GB: " + std::string(symbol.name) +
                        " has " + std::to_string(symbol.size) + " bytes, which its cubin cannot tell.",
                    "Give the kernel a buffer instead.");
      if (!inside)
        return malformed("variable " + std::string(symbol.name) + " lies outside " + std::string(section.name));
      kernel_.variables[std::string(symbol.name)] = variable;
    }
    return {};
  }

  Result<void> read_all_relocations() {
    for (const ElfSection& section : elf_.sections) {
      if (section.type != kElfSectionRel && section.type != kElfSectionRela) continue;
      std::string_view place = section.name;
      place.remove_prefix(std::min(place.size(), place.starts_with(".rela.") ? size_t{5} : size_t{4}));
      CubinRelocation base;
      uint64_t bytes = 0;
      std::span<const std::byte> content;
      if (const auto bank = bank_of(place); bank && *bank != 0) {
        const auto found = std::find_if(kernel_.banks.begin(), kernel_.banks.end(),
                                        [&](const ConstantBank& other) { return other.index == *bank; });
        if (found == kernel_.banks.end()) return malformed("relocations of a constant bank that is not there");
        base.bank = *bank;
        content = found->data;
      } else if (place == ".nv.global.init") {
        base.place = CubinRelocation::Place::global_init;
        content = kernel_.global_init;
      } else if (place == ".text." + kernel_.name) {
        base.place = CubinRelocation::Place::text;
        content = kernel_.text;
      } else {
        continue;
      }
      bytes = content.size();
      auto entries = read_relocations(section);
      if (!entries) return fail(entries.error());
      for (const ElfRelocation& entry : *entries) {
        if (entry.symbol >= elf_.symbols.size() || entry.offset > bytes || bytes - entry.offset < 8)
          return malformed("a relocation of " + std::string(place) + " lies outside it");
        kernel_.relocations.push_back(resolve(base, entry, content));
      }
    }
    std::sort(kernel_.relocations.begin(), kernel_.relocations.end(),
              [](const CubinRelocation& a, const CubinRelocation& b) {
                return std::tie(a.place, a.bank, a.offset) < std::tie(b.place, b.bank, b.offset);
              });
    return {};
  }

  // REL has the addend in the place itself. In code the place is part of an instruction and has none.
  static uint64_t addend_of(CubinRelocation::Place place, const ElfRelocation& entry,
                            std::span<const std::byte> content) {
    if (entry.has_addend) return static_cast<uint64_t>(entry.addend);
    return place == CubinRelocation::Place::text ? 0 : *load_at<uint64_t>(content, entry.offset);
  }

  CubinRelocation resolve(CubinRelocation relocation, const ElfRelocation& entry, std::span<const std::byte> content) {
    const ElfSymbol& symbol = elf_.symbols[entry.symbol];
    relocation.offset = entry.offset;
    relocation.type = entry.type;
    relocation.symbol = std::string(symbol.name);
    relocation.value = symbol.value + addend_of(relocation.place, entry, content);
    using Target = CubinRelocation::Target;
    if (symbol.section == 0 || symbol.section >= elf_.sections.size()) {
      relocation.target = Target::external;
      return relocation;
    }
    const std::string_view section = elf_.sections[symbol.section].name;
    if (section == ".nv.global.init")
      relocation.target = Target::global_init;
    else if (section == ".nv.global")
      relocation.target = Target::global;
    else if (section.starts_with(".nv.constant"))
      relocation.target = Target::constant_bank;
    else if (symbol.section == text_section_)
      relocation.target = Target::text;
    else
      relocation.target = Target::other;
    return relocation;
  }

  const ElfFile& elf_;
  CubinKernel kernel_;
  uint32_t symbol_index_ = 0;
  uint16_t text_section_ = 0;
};

}  // namespace

Result<CubinKernel> read_cubin(std::span<const std::byte> cubin, const std::string& entry) {
  auto elf = read_elf(cubin, kElfMachineCuda);
  if (!elf) return fail(elf.error());
  return KernelReader(*elf).read(entry);
}

}  // namespace attnscope::compile
