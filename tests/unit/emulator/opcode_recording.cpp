#include "unit/emulator/opcode_recording.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "compile/cubin.h"
#include "unit/emulator/sass_text.h"

namespace attnscope::emulator::testing {

namespace {

std::string read(const std::string& name) {
  std::ifstream file(std::string(ATTNSCOPE_OPCODES_DIR) + "/" + name, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) {
    std::fprintf(stderr, "%s cannot be read: configure the build again\n", name.c_str());
    std::abort();
  }
  return text.str();
}

OpcodeCase parse_case(std::istringstream& in) {
  OpcodeCase one;
  in >> one.first >> one.words >> one.name;
  for (std::string mark; in >> mark;)
    (mark[0] == '~' ? one.ulp : one.arch) = static_cast<uint32_t>(std::stoul(mark.substr(1)));
  return one;
}

OpcodeRecording read_recording() {
  OpcodeRecording recording;
  std::istringstream list(read("opcodes.cases"));
  for (std::string line; std::getline(list, line);) {
    std::istringstream in(line);
    std::string name, kind;
    in >> name >> kind;
    if (recording.kernels.empty() || recording.kernels.back().name != name)
      recording.kernels.push_back({name, kind, 0, {}, {}});
    OpcodeKernel& kernel = recording.kernels.back();
    kernel.cases.push_back(parse_case(in));
    kernel.words = kernel.cases.back().first + kernel.cases.back().words;
  }
  const std::string inputs = read("opcodes.inputs"), outputs = read("opcodes.outputs");
  recording.all_inputs.resize(inputs.size() / 4);
  std::memcpy(recording.all_inputs.data(), inputs.data(), inputs.size());
  size_t at = 0;
  for (OpcodeKernel& kernel : recording.kernels) {
    kernel.results.resize(size_t{kernel.words} * kOpcodeThreads);
    if (at + kernel.results.size() * 4 > outputs.size()) std::abort();
    std::memcpy(kernel.results.data(), outputs.data() + at, kernel.results.size() * 4);
    at += kernel.results.size() * 4;
  }
  if (at != outputs.size()) std::abort();
  return recording;
}

// ".section .text.NAME," starts a kernel's part.
std::map<std::string, std::string> split(const std::string& text) {
  constexpr std::string_view mark = ".section .text.";
  std::map<std::string, std::string> parts;
  for (size_t at = text.find(mark); at != std::string::npos;) {
    const size_t next = text.find(mark, at + mark.size());
    const size_t name = at + mark.size();
    parts[text.substr(name, text.find(',', name) - name)] = text.substr(at, next - at);
    at = next;
  }
  return parts;
}

std::vector<std::shared_ptr<const compile::SassProgram>> read_programs(const std::string& stem) {
  const std::string cubin = read(stem + ".cubin");
  const auto texts = split(read(stem + ".txt"));
  std::vector<std::shared_ptr<const compile::SassProgram>> programs;
  for (const OpcodeKernel& kernel : opcode_recording().kernels) {
    auto elf = compile::read_cubin(std::as_bytes(std::span(cubin.data(), cubin.size())), kernel.name);
    auto sass = elf ? compile::parse_nvdisasm(texts.at(kernel.name), std::move(*elf)) : fail(elf.error());
    if (!sass) {
      std::fprintf(stderr, "%s: %s\n", kernel.name.c_str(), sass.error().message.c_str());
      std::abort();
    }
    programs.push_back(std::make_shared<const compile::SassProgram>(std::move(*sass)));
  }
  return programs;
}

}  // namespace

std::vector<uint32_t> OpcodeRecording::inputs(const std::string& kind) const {
  const std::map<std::string, size_t> kinds{{"int", 0}, {"f32", 1}, {"f64", 2}, {"f16", 3}, {"bf16", 4}};
  const auto first = all_inputs.begin() + static_cast<ptrdiff_t>(kinds.at(kind) * kOpcodeThreads * 8);
  return {first, first + kOpcodeThreads * 8};
}

const OpcodeRecording& opcode_recording() {
  static const OpcodeRecording recording = read_recording();
  return recording;
}

const std::vector<std::shared_ptr<const compile::SassProgram>>& opcode_programs(int arch, const std::string& compiler) {
  static std::map<std::string, std::vector<std::shared_ptr<const compile::SassProgram>>> programs;
  const std::string stem = compiler + "_sm" + std::to_string(arch);
  const auto found = programs.find(stem);
  return found != programs.end() ? found->second : programs[stem] = read_programs(stem);
}

Result<OpcodeRun> run_opcode_kernel(const OpcodeKernel& kernel, std::shared_ptr<const compile::SassProgram> sass,
                                    RunOptions options) {
  auto program = prepare(std::move(sass));
  if (!program) return fail(program.error());
  auto inputs = opcode_recording().inputs(kernel.kind);
  std::vector<uint32_t> results(size_t{kernel.words} * kOpcodeThreads, 0xcdcdcdcd), scratch(4096, 0);
  GlobalMemory memory;
  Parameters parameters;
  parameters.pointer(memory.add("in", bytes_of(inputs), false)).pointer(memory.add("out", bytes_of(results), true));
  parameters.pointer(memory.add("scratch", bytes_of(scratch), true));
  // The parameters in run_opcodes.cpp's order: s, t, fs, unused, ls, ds.
  parameters.word(0x2c)
      .word(0x3fc00000)
      .word(0x40490fdb)
      .word(0)
      .pointer(0x40091eb851eb851full)
      .pointer(0x40091eb851eb851full);
  Launch launch;
  launch.program = *program;
  launch.grid = {kOpcodeThreads / 128, 1, 1};
  launch.block = {128, 1, 1};
  launch.dynamic_shared_bytes = 2048;
  launch.parameters = parameters.bytes();
  launch.memory = &memory;

  options.step_budget = 1'000'000;
  auto result = run(launch, options);
  if (!result) return fail(result.error());
  return OpcodeRun{std::move(results), std::move(*result)};
}

}  // namespace attnscope::emulator::testing
