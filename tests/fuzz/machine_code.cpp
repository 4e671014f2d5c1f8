#include "machine_code.h"
#include "compile/code_hash.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "compile/cubin.h"
#include "compile/machine_code.h"
#include "compile/sass.h"
#include "emulator/isa/program.h"

namespace attnscope::fuzz {
namespace {

constexpr size_t kDigits = 16;  // of half an encoding

uint64_t digits(std::string_view text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

std::string hex(uint64_t value, size_t least) {
  char text[kDigits];
  const auto [end, error] = std::to_chars(text, text + kDigits, value, 16);
  const std::string shown(text, end);
  return std::string(least - std::min(least, shown.size()), '0') + shown;
}

void append(std::vector<std::byte>& code, uint64_t half) {
  code.resize(code.size() + sizeof half);
  std::memcpy(code.data() + code.size() - sizeof half, &half, sizeof half);
}

// A plain kernel's properties in its cubin, besides its code.
compile::CubinKernel kernel_of(char architecture) {
  compile::CubinKernel kernel;
  kernel.name = "k";
  kernel.arch = architecture == 'H' ? 90 : architecture == 'L' ? 89 : 80;
  kernel.parameter_base = kernel.arch == 90 ? 0x210 : 0x160;
  kernel.parameter_bytes = 64;
  kernel.parameters = {{0, 0, 8}, {1, 8, 8}, {2, 16, 48}};
  kernel.registers = 255;
  kernel.frame_bytes = 64;
  kernel.static_shared_bytes = 4096;
  kernel.shared_base = kernel.arch == 90 ? 0x400 : 0;
  kernel.barriers = 16;
  kernel.banks = {{2, std::vector<std::byte>(64)}, {3, std::vector<std::byte>(64)}, {4, std::vector<std::byte>(64)}};
  return kernel;
}

}  // namespace

std::string feed_cubin(std::span<const std::byte> cubin) {
  (void)compile::machine_code_for(cubin, 89, "features", "k.cubin");  // as a kernel's file
  auto kernel = compile::read_cubin(cubin, "");                       // "" where there is one kernel
  if (!kernel) kernel = compile::read_cubin(cubin, "features");       // the recorded cubin of every feature has two
  if (!kernel) return kernel.error().message;
  (void)compile::code_hash(*kernel);
  for (uint32_t bank = 0; bank < 32; ++bank) (void)compile::may_read_bank(kernel->text, bank);
  return "";
}

std::string feed_instructions(const std::string& text) {
  compile::CubinKernel kernel = kernel_of(text.empty() ? '8' : text[0]);
  std::string listing = "\t.section\t.text.k,\"ax\",@progbits\n";
  std::string_view rest = text;
  rest.remove_prefix(std::min(rest.size(), rest.find('\n') + 1));
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.ends_with(':') || line.starts_with("//##")) {
      listing.append(line) += '\n';
      continue;
    }
    const std::string_view encoding = line.substr(0, 2 * kDigits);
    const uint64_t low = digits(encoding.substr(0, kDigits));
    const uint64_t high = encoding.size() > kDigits ? digits(encoding.substr(kDigits)) : 0;
    listing += "/*" + hex(kernel.text.size(), 4) + "*/ ";
    listing.append(line.substr(std::min(line.size(), 2 * kDigits))) += " /* 0x" + hex(low, kDigits) + " */\n";
    listing += "/* 0x" + hex(high, kDigits) + " */\n";
    append(kernel.text, low);
    append(kernel.text, high);
  }
  auto program = compile::parse_nvdisasm(listing, std::move(kernel));
  if (!program) return program.error().message;
  const auto decoded = emulator::decode(std::make_shared<const compile::SassProgram>(std::move(*program)));
  return decoded ? "" : decoded.error().message;
}

}  // namespace attnscope::fuzz
