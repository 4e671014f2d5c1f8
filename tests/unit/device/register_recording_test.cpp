// Registers' banks, pipes and an HMMA's issue clocks compared with loops that an H200 ran: tests/gpu/registers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "compile/sass_operand.h"
#include "core/json.h"
#include "device/register_reads.h"
#include "model/sm_simulation.h"
#include "unit/model/devices_for_tests.h"
#include "unit/model/schedules_for_tests.h"

namespace attnscope::device {
namespace {

using model::Unit;

struct Opcode {
  const char* name;
  Unit unit;
  std::vector<std::string> modifiers = {};
};

// The opcodes in the probes' names (tests/gpu/registers/make_probes.py); other opcodes are not compared.
const std::map<std::string, Opcode> kOpcodes = {
    {"ffma", {"FFMA", Unit::fp32}},      {"fadd", {"FADD", Unit::fp32}},
    {"fmul", {"FMUL", Unit::fp32}},      {"fmnmx", {"FMNMX", Unit::integer}},
    {"iadd3", {"IADD3", Unit::integer}}, {"lop3", {"LOP3", Unit::integer}},
    {"shf", {"SHF", Unit::integer}},     {"prmt", {"PRMT", Unit::integer}},
    {"sel", {"SEL", Unit::integer}},     {"f2fp", {"F2FP", Unit::integer}},
    {"imad", {"IMAD", Unit::imad}},      {"hadd2", {"HADD2", Unit::half_to_float, {"F32"}}},
    {"mufu", {"MUFU", Unit::mufu}},      {"hmma", {"HMMA", Unit::tensor, {"16816", "F32"}}},
    {"lds", {"LDS", Unit::shared_load}}, {"lds128", {"LDS", Unit::shared_load, {"128"}}}};

// One instruction of a probe: "ffma.Eoz.r1".
struct Spec {
  std::string opcode, sources;
  int reuse = 0, stall = 1;
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

Spec spec_of(const std::string& text) {
  const std::vector<std::string> words = split(text, '.');
  Spec spec{words[0], words.size() > 1 ? words[1] : "zzz"};
  for (size_t i = 2; i < words.size(); ++i) {
    if (words[i][0] == 'r') spec.reuse = std::stoi(words[i].substr(1));
    if (words[i][0] == 's') spec.stall = std::stoi(words[i].substr(1));
  }
  return spec;
}

// "024_ffma.eee_ffma.eee_ffma.zzzx4"
std::vector<Spec> specs_of(const std::string& name) {
  std::vector<Spec> specs;
  for (std::string word : split(name.substr(name.find('_') + 1), '_')) {
    const size_t times = word.rfind('x');
    const bool repeated =
        times != std::string::npos && word.find_first_not_of("0123456789", times + 1) == std::string::npos;
    const int count = repeated ? std::stoi(word.substr(times + 1)) : 1;
    if (repeated) word.resize(times);
    for (int i = 0; i < count; ++i) specs.push_back(spec_of(word));
  }
  return specs;
}

// Registers as the probes choose them: z none, e and o the next even or odd one, E, F, O, P always the same.
class Registers {
 public:
  std::string next(char kind) {
    switch (kind) {
      case 'e':
        return fmt::format("R{}", 20 + 2 * (even_++ % 14));
      case 'o':
        return fmt::format("R{}", 21 + 2 * (odd_++ % 14));
      case 'E':
        return "R60";
      case 'F':
        return "R62";
      case 'O':
        return "R61";
      case 'P':
        return "R63";
      default:
        return "RZ";
    }
  }

 private:
  int even_ = 0, odd_ = 0;
};

// The probe's loop: the instructions again and again, a few hundred of them.
model::KernelSchedule loop_of(const std::vector<Spec>& specs, size_t& count) {
  constexpr size_t kLength = 240;
  std::vector<compile::SassInstruction> code;
  std::vector<emulator::Op> ops;
  std::vector<model::ScheduledInstruction> scheduled;
  Registers registers;
  while (code.size() + specs.size() <= kLength)
    for (const Spec& spec : specs) {
      const Opcode& opcode = kOpcodes.at(spec.opcode);
      std::string operands = "R8";
      for (size_t place = 0; place < spec.sources.size(); ++place) {
        const bool wide = opcode.unit == Unit::tensor && spec.sources != "zzz";
        operands += ", " + (wide ? fmt::format("R{}", 80 + 8 * place) : registers.next(spec.sources[place]));
        if (spec.reuse >> place & 1) operands += ".reuse";
      }
      compile::SassInstruction& one = code.emplace_back();
      one.opcode = opcode.name;
      one.modifiers = opcode.modifiers;
      one.operands = compile::parse_operands(operands, {});
      using enum emulator::Number;
      ops.emplace_back().detail.tensor = {{}, f16, f16, f32, 16, 16, false};  // of an HMMA
      scheduled.push_back(model::instruction(opcode.unit, spec.stall));
      scheduled.back().wide = spec.opcode == "lds128";
    }
  count_bank_reads(code, ops, scheduled);
  count = code.size();
  return model::schedule({scheduled}, {model::times(1)});
}

DeviceSpec recorded_device() {
  DeviceSpec spec = model::h200();
  const Json json = Json::parse(std::ifstream(ATTNSCOPE_SOURCE_DIR "/assets/devices/h200.json"));
  for (const auto& [name, value] : json["rates"].items()) spec.rates[name] = value;
  spec.rates["cta_start"] = 0;
  return spec;
}

// The first column is for one warp. Each probe includes the loop's own cost, about 4 %.
TEST(RegisterRecording, LoopsTakeTheClocksThatAnH200Took) {
  std::ifstream lines(ATTNSCOPE_SOURCE_DIR "/tests/data/gpu/h200_registers.txt");
  const DeviceSpec spec = recorded_device();
  int held = 0, products = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    double recorded = 0;
    if (line.starts_with("#") || !(words >> name >> recorded)) continue;
    const std::vector<Spec> specs = specs_of(name);
    if (!std::ranges::all_of(specs, [](const Spec& one) { return kOpcodes.contains(one.opcode); })) continue;
    if (specs.size() == 1 && specs[0].opcode.starts_with("lds")) continue;  // all warps of the SM share that pipe
    size_t count = 0;
    const model::KernelSchedule loop = loop_of(specs, count);
    const double clocks = model::simulate_sm(spec, loop, {{0}, 1}).clocks / double(count);
    const bool product = std::ranges::any_of(specs, [](const Spec& one) { return one.opcode == "hmma"; });
    // An HMMA and its neighbours alternate in a pattern that is not known; the rates hold its mean.
    EXPECT_LT(clocks, recorded * (product ? 1.2 : 1.06)) << name;
    EXPECT_GT(clocks, recorded * (product ? 0.77 : 0.93)) << name;
    ++(product ? products : held);
  }
  EXPECT_GT(held, 100);
  EXPECT_GT(products, 20);
}

}  // namespace
}  // namespace attnscope::device
