#include "worker/explain_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "device/model_input.h"
#include "device/terms.h"
#include "emulator/isa/program.h"
#include "model/ceilings.h"

namespace attnscope::worker {
namespace {

using explain::Instruction;

std::vector<Instruction> code_of(const Kernel& kernel, const device::EmulatedDetail& emulated,
                                 const model::KernelSchedule& schedule) {
  const emulator::Program& program = *emulated.program;
  const compile::SassProgram& sass = *program.sass;
  const auto& counters = emulated.result.instructions;
  const SourceLines lines(kernel.source_name, kernel.source);
  const std::vector<std::string> phases = device::phases_of_code(
      program, SourcePieces(kernel.source, kernel.phases), lines, [&](size_t i) { return counters[i].issued > 0; });
  std::vector<Instruction> code(counters.size());
  for (size_t i = 0; i < code.size(); ++i) {
    Instruction& one = code[i];
    const emulator::InstructionCounters& did = counters[i];
    const model::ScheduledInstruction& scheduled = schedule.code[i];
    const compile::SassLine line = device::own_line(sass, i, lines);
    if (line.line != 0 && line.file < sass.files.size()) {
      one.file = sass.files[line.file];
      one.line = static_cast<int>(line.line);
    }
    one.phase = phases[i];
    one.unit = scheduled.unit;
    one.atomic = device::is_global_atomic(sass.instructions[i].opcode);
    one.reciprocal = sass.instructions[i].opcode == "MUFU" && compile::has_modifier(sass.instructions[i], "RCP");
    one.issued = double(did.issued);
    one.lanes = double(did.threads);
    one.width = program.ops[i].bytes;
    one.bytes = double(did.threads_on) * one.width;
    one.requests = double(did.requests);
    one.wavefronts = double(did.wavefronts);
    one.ideal = double(did.ideal);
    one.sectors = double(did.sectors);
    one.turns = double(did.turns);
    if (scheduled.unit != model::Unit::async_copy)  // copies pass as wavefronts
      one.lines = double(did.lines), one.passes = double(did.passes);
    if (scheduled.unit == model::Unit::tensor) one.products = double(scheduled.products) * double(did.issued);
  }
  return code;
}

// How many instructions of each phase each warp of the first traced CTA issued.
std::map<std::string, std::vector<double>> warps_of(const model::KernelSchedule& schedule,
                                                    const std::vector<Instruction>& code) {
  std::map<std::string, std::vector<double>> warps;
  if (schedule.traces.empty()) return warps;
  const model::CtaTrace& traced = schedule.traces.front();
  for (size_t warp = 0; warp < traced.warps.size(); ++warp) {
    std::vector<double> visits(schedule.blocks.size());
    traced.for_each_visit(warp,
                          [&](const model::Visit& visit, int64_t times) { visits[visit.block] += double(times); });
    for (size_t b = 0; b < visits.size(); ++b) {
      if (visits[b] == 0) continue;
      const model::CodeBlock& block = schedule.blocks[b];
      for (uint32_t i = block.first; i < block.first + block.count; ++i) {
        std::vector<double>& phase = warps[code[i].phase];
        phase.resize(traced.warps.size());
        phase[warp] += visits[b];
      }
    }
  }
  return warps;
}

}  // namespace

explain::Facts facts_of(const Kernel& kernel, const DeviceSpec& spec, const model::LaunchShape& shape, Observation seen,
                        const Counters& counters, const device::EmulatedDetail& did, const Simulated& simulated) {
  explain::Facts facts{.kernel = kernel, .spec = spec, .shape = shape, .seen = std::move(seen)};
  facts.seen.timing = simulated.timing;
  facts.seen.counters = counters;
  facts.stalls = simulated.stalls;
  facts.code = code_of(kernel, did, *simulated.schedule);
  facts.warps = warps_of(*simulated.schedule, facts.code);
  facts.shared = &did.result.shared_steps;
  const model::Ceilings least = model::ceilings(spec, facts.seen.experiment.problem, counters, *simulated.schedule);
  facts.dram_us = least.dram;
  facts.atomics_us = least.atomics;
  facts.hottest = simulated.schedule->hottest;
  return facts;
}

namespace {

// True if it names a constant of a bank other than 0, which has the parameters.
bool names_constant(std::string_view text) {
  for (size_t at = text.find("c[0x"); at != text.npos; at = text.find("c[0x", at + 1))
    if (!text.substr(at).starts_with("c[0x0]")) return true;
  return false;
}

double distinct_bytes(const Problem& problem, const std::optional<Workload>& workload,
                      const std::vector<ArgumentValue>* arguments) {
  if (!workload) return double((problem.q_elements() + 2 * problem.kv_elements()) * bytes_of(problem.dtype));
  double bytes = 0;
  for (size_t i = 0; i < workload->operands.size(); ++i) {
    const Operand& one = workload->operands[i];
    const auto names_it = [i](const ArgumentValue& argument) {
      return argument.operand == i || std::ranges::count(argument.addresses, i, &ArgumentValue::Address::operand) > 0;
    };
    if (arguments != nullptr && std::ranges::none_of(*arguments, names_it)) continue;
    if (one.role == BufferRole::in || one.role == BufferRole::inout) bytes += double(one.bytes());
  }
  return bytes;
}

}  // namespace

double distinct_bytes(const Problem& problem, const std::optional<Workload>& workload) {
  return distinct_bytes(problem, workload, nullptr);
}

double distinct_bytes(const Problem& problem, const std::optional<Workload>& workload,
                      const std::vector<ArgumentValue>& arguments) {
  return distinct_bytes(problem, workload, &arguments);
}

bool uses_variables(const compile::SassProgram& program) {
  using Relocation = compile::CubinRelocation;
  std::vector<std::string_view> texts;  // of the few that name such a constant
  for (const compile::SassInstruction& instruction : program.instructions)
    if (names_constant(instruction.text)) texts.push_back(instruction.text);
  const auto reads = [&](const Relocation& one) {
    const std::string constant = fmt::format("c[{:#x}][{:#x}]", one.bank, one.offset);
    return std::ranges::any_of(texts, [&](std::string_view text) { return text.find(constant) != text.npos; });
  };
  return std::ranges::any_of(program.kernel.relocations, [&](const Relocation& one) {
    const bool is_variable = one.target == Relocation::Target::global || one.target == Relocation::Target::global_init;
    // Texts of printf() are not read by the kernel. A constant that is folded keeps its relocation, which nothing uses.
    if (!is_variable || one.symbol.starts_with("$str")) return false;
    return one.place == Relocation::Place::text || (one.place == Relocation::Place::constant_bank && reads(one));
  });
}

}  // namespace attnscope::worker
