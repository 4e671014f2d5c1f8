#include "unit/emulator/sass_text.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <sstream>

namespace attnscope::emulator::testing {
namespace {

// An instruction's place as nvdisasm -gi prints it: its own line, or an inlined function's with the lines of the calls.
std::string line_notes(uint32_t own, const std::vector<uint32_t>& chain) {
  std::string notes;
  for (size_t i = 0; i < std::max<size_t>(1, chain.size()); ++i) {
    notes += fmt::format("\t//## File \"k.cu\", line {}", chain.empty() ? own : chain[i]);
    if (i + 1 < chain.size()) notes += fmt::format(" inlined at \"k.cu\", line {}", chain[i + 1]);
    notes += "\n";
  }
  return notes;
}

}  // namespace

std::shared_ptr<const compile::SassProgram> from_text(const std::string& text, const TextOptions& options) {
  compile::CubinKernel kernel;
  kernel.name = "k";
  kernel.arch = options.arch;
  kernel.parameter_base = options.arch >= 90 ? 0x210 : 0x160;
  kernel.parameter_bytes = options.parameter_bytes;
  kernel.static_shared_bytes = options.static_shared_bytes;
  kernel.frame_bytes = options.frame_bytes;
  kernel.registers = 16;
  std::string listing = "\t.section\t.text.k,\"ax\",@progbits\nk:\n";
  std::istringstream lines(text);
  std::string line;
  uint32_t offset = 0;
  for (uint32_t number = 1; std::getline(lines, line); ++number) {
    uint64_t low = 0;
    if (const size_t note = line.find('#'); note != std::string::npos) {
      low = std::stoull(line.substr(note + 1), nullptr, 16) << 32;
      line.resize(note);
    }
    std::vector<uint32_t> callers;
    if (const size_t from = line.find('@', 1); from != std::string::npos) {
      std::istringstream numbers(line.substr(from + 1));
      for (uint32_t caller; numbers >> caller;) callers.push_back(caller);
      line.resize(from);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    while (!line.empty() && line.front() == ' ') line.erase(0, 1);
    if (line.empty()) continue;
    if (line.back() == ':') {
      listing += line + "\n";
      continue;
    }
    listing += line_notes(number, callers);
    listing += fmt::format("        /*{:04x}*/  {} ;  /* {:#018x} */\n  /* {:#018x} */\n", offset, line, low, 0);
    const size_t at = kernel.text.size();
    kernel.text.resize(at + 16);
    std::memcpy(kernel.text.data() + at, &low, 8);
    offset += 16;
  }
  auto program = compile::parse_nvdisasm(listing, std::move(kernel));
  if (!program) {
    ADD_FAILURE() << program.error().message << "\n" << listing;
    return nullptr;
  }
  return std::make_shared<const compile::SassProgram>(std::move(*program));
}

std::shared_ptr<const Program> program_of(const std::string& text, const TextOptions& options) {
  auto sass = from_text(text, options);
  if (sass == nullptr) return nullptr;
  // Handwritten text has made-up encodings that are all alike: the code hash must still distinguish programs.
  auto copy = std::make_shared<compile::SassProgram>(*sass);
  copy->code_hash.clear();
  auto program = prepare(copy);
  if (!program) {
    ADD_FAILURE() << program.error().message;
    return nullptr;
  }
  return *program;
}

Parameters& Parameters::word(uint32_t value) {
  const size_t at = bytes_.size();
  bytes_.resize(at + 4);
  std::memcpy(bytes_.data() + at, &value, 4);
  return *this;
}

Parameters& Parameters::pointer(uint64_t value) {
  bytes_.resize((bytes_.size() + 7) / 8 * 8 + 8);
  std::memcpy(bytes_.data() + bytes_.size() - 8, &value, 8);
  return *this;
}

Result<RunResult> run_warps(const InOut& what, std::optional<HostIsa> isa) {
  GlobalMemory memory;
  Parameters parameters;
  for (const std::span<std::byte> bytes : what.before) parameters.pointer(memory.add("before", bytes, false));
  parameters.pointer(memory.add("in", what.in, false)).pointer(memory.add("out", what.out, true));
  for (const uint32_t word : what.words) parameters.word(word);
  Launch launch;
  launch.program = what.program;
  launch.grid = {what.ctas, 1, 1};
  launch.block = {32, 1, 1};
  launch.parameters = parameters.bytes();
  launch.memory = &memory;
  RunOptions options;
  options.isa = isa;
  auto result = run(launch, options);
  EXPECT_TRUE(result.has_value()) << result.error().message;
  return result;
}

std::vector<HostIsa> host_isas() {
  std::vector<HostIsa> isas{HostIsa::baseline};
  if (best_host_isa() >= HostIsa::avx2) isas.push_back(HostIsa::avx2);
  if (best_host_isa() >= HostIsa::avx512) isas.push_back(HostIsa::avx512);
  return isas;
}

}  // namespace attnscope::emulator::testing
