#include "device/model_input.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <unordered_map>

#include "device/dependences.h"
#include "device/register_reads.h"
#include "emulator/isa/program.h"

namespace attnscope::device {
namespace {

using model::Unit;

Unit unit_of(const compile::SassInstruction& instruction) {
  static const std::unordered_map<std::string, Unit> kUnits{
      {"FADD", Unit::fp32},          {"FMUL", Unit::fp32},           {"FFMA", Unit::fp32},
      {"FFMA32I", Unit::fp32},       {"FMUL32I", Unit::fp32},        {"FADD32I", Unit::fp32},
      {"HMUL2", Unit::fp16x2},       {"HFMA2", Unit::fp16x2},        {"HFMA2.MMA", Unit::fp16x2},
      {"DADD", Unit::fp64},          {"DMUL", Unit::fp64},           {"DFMA", Unit::fp64},
      {"DSETP", Unit::fp64},         {"DMNMX", Unit::fp64},          {"IMAD", Unit::imad},
      {"IDP", Unit::imad},           {"MUFU", Unit::mufu},           {"F2I", Unit::conversion},
      {"I2F", Unit::conversion},     {"F2F", Unit::conversion},      {"FRND", Unit::conversion},
      {"HMMA", Unit::tensor},        {"IMMA", Unit::tensor},         {"DMMA", Unit::tensor},
      {"SHFL", Unit::shuffle},       {"VOTE", Unit::shuffle},        {"MATCH", Unit::shuffle},
      {"REDUX", Unit::shuffle},      {"LDS", Unit::shared_load},     {"LDSM", Unit::shared_load},
      {"ATOMS", Unit::shared_load},  {"ARRIVES", Unit::shared_load}, {"SYNCS", Unit::shared_load},
      {"STS", Unit::shared_store},   {"LDG", Unit::global_load},     {"LDGSTS", Unit::async_copy},
      {"LD", Unit::global_load},     {"ATOM", Unit::global_load},    {"ATOMG", Unit::global_load},
      {"STG", Unit::global_store},   {"ST", Unit::global_store},     {"RED", Unit::global_store},
      {"REDG", Unit::global_store},  {"LDL", Unit::local_load},      {"STL", Unit::local_store},
      {"LDC", Unit::constant_load},  {"ULDC", Unit::constant_load},  {"S2R", Unit::constant_load},
      {"S2UR", Unit::constant_load}, {"CS2R", Unit::constant_load},  {"BAR", Unit::barrier},
      {"R2UR", Unit::uniform}};
  static const char* const kControl[] = {"BRA",    "BSSY", "BSYNC",  "EXIT",   "NOP",           "WARPSYNC",
                                         "CALL",   "RET",  "BREAK",  "BRX",    "ENDCOLLECTIVE", "YIELD",
                                         "DEPBAR", "BMOV", "MEMBAR", "ERRBAR", "CCTL",          "LDGDEPBAR"};
  if (instruction.opcode == "HADD2") return has_modifier(instruction, "F32") ? Unit::half_to_float : Unit::fp16x2;
  if (const auto found = kUnits.find(instruction.opcode); found != kUnits.end()) return found->second;
  for (const char* control : kControl)
    if (instruction.opcode == control) return Unit::control;
  return instruction.opcode.starts_with('U') ? Unit::uniform : Unit::integer;
}

bool is_floating(const compile::SassInstruction& instruction) {
  const auto has = [&](const char* type) { return has_modifier(instruction, type); };
  return has("F32") || has("F64") || has("F16x2") || has("BF16x2");
}

// By shape: half of k counts as half a product. TF32 runs at half the rate, int8 at twice the rate, int4 at four times.
float products_of(const compile::SassInstruction& instruction) {
  const bool tf32 = has_modifier(instruction, "TF32");
  if (has_modifier(instruction, "1684")) return 0.5F;
  if (instruction.opcode == "HMMA" && has_modifier(instruction, "1688")) return tf32 ? 1 : 0.5F;
  if (has_modifier(instruction, "8832")) return 0.25F;
  if (instruction.opcode == "IMMA" && has_modifier(instruction, "16832") &&
      (has_modifier(instruction, "S4") || has_modifier(instruction, "U4")))
    return 0.5F;
  if (has_modifier(instruction, "8816")) return 0.25F;
  if (instruction.opcode == "IMMA" && has_modifier(instruction, "16816")) return 0.5F;
  return 1;
}

// The n in DEPBAR.LE SB, n.
int8_t pending_copies(const compile::SassInstruction& instruction) {
  if (instruction.opcode != "DEPBAR" || instruction.operands.size() < 2) return -1;
  return static_cast<int8_t>(std::clamp<int64_t>(instruction.operands[1].value, 0, 127));
}

model::ScheduledInstruction scheduled(const compile::SassInstruction& instruction,
                                      const emulator::InstructionCounters& counters) {
  model::ScheduledInstruction out;
  out.unit = unit_of(instruction);
  out.stall = instruction.control.stall;
  out.write_scoreboard = instruction.control.write_scoreboard;
  out.read_scoreboard = instruction.control.read_scoreboard;
  out.wait_mask = instruction.control.wait_mask;
  out.bypasses_l1 = has_modifier(instruction, "BYPASS") || is_global_atomic(instruction.opcode);
  out.closes_copies = instruction.opcode == "LDGDEPBAR";
  out.copies_pending = pending_copies(instruction);
  if (out.unit == Unit::tensor) out.products = products_of(instruction);
  out.fp64 = instruction.opcode == "DMMA";
  out.wide = (instruction.opcode == "LDS" && has_modifier(instruction, "128")) ||
             (instruction.opcode == "LDSM" && has_modifier(instruction, "4"));
  out.issued = static_cast<int64_t>(counters.issued);
  if (counters.issued == 0) return out;
  out.lanes = static_cast<float>(double(counters.threads) / double(counters.issued));
  out.turns = static_cast<float>(double(counters.turns) / double(counters.issued));
  if (out.unit == Unit::shared_load || out.unit == Unit::shared_store) {
    out.passes = static_cast<float>(double(counters.wavefronts) / double(counters.issued));
    out.conflicts = static_cast<float>(double(counters.wavefronts - counters.ideal) / double(counters.issued));
    // Each turn is a pass, but lanes that count up the same word are combined.
    if (out.turns > 0 && !has_modifier(instruction, "POPC")) out.passes = std::max(out.passes, out.turns);
    if (out.turns > 0) out.conflicts = 0;
  } else if (out.unit == Unit::async_copy) {
    out.passes = static_cast<float>(double(counters.wavefronts) / double(counters.issued));
    out.conflicts = static_cast<float>(double(counters.wavefronts - counters.ideal) / double(counters.issued));
    out.sectors = static_cast<float>(double(counters.sectors) / double(counters.issued));
  } else if (counters.requests > 0 && counters.sectors > 0) {
    out.passes = static_cast<float>(double(counters.passes) / double(counters.issued));
    out.sectors = static_cast<float>(double(counters.sectors) / double(counters.issued));
  }
  return out;
}

model::CtaTrace trace_of(const emulator::CtaTrace& from) {
  model::CtaTrace to{from.cta, {}, {}};
  for (const Folded& path : from.warps) {
    std::vector<model::Visit>& visits = to.warps.emplace_back();
    visits.reserve(path.words.size());
    for (uint32_t entry : path.words)
      visits.push_back({emulator::CtaTrace::block_of(entry), emulator::CtaTrace::lanes_of(entry)});
    to.loops.push_back(path.loops);
  }
  return to;
}

// Of the whole grid. What one CTA does where no other does is the same however many CTAs ran.
model::HotSpots hottest_of(const emulator::Program& program, const emulator::RunResult& result) {
  const double share = result.counters.sampled_fraction();
  const auto of_grid = [&](const emulator::HotPart& part) {
    return double(part.turns) / (part.ctas > 1 && share > 0 ? share : 1);
  };
  model::HotSpots spots{of_grid(result.hottest.sector), of_grid(result.hottest.piece)};
  if (spots.sector <= 0) return spots;
  spots.instruction = result.hottest.sector.instruction;
  spots.floating = is_floating(program.sass->instructions[spots.instruction]);
  return spots;
}

// Q rows of one CTA and all of K and V: the bytes that it must read at least once.
double distinct_bytes(const Problem& problem, const std::array<int64_t, 3>& grid) {
  const int64_t rows = (problem.seq_q + std::max<int64_t>(1, grid[0]) - 1) / std::max<int64_t>(1, grid[0]);
  return double(rows + 2 * problem.seq_k) * double(problem.head_dim) * double(bytes_of(problem.dtype));
}

}  // namespace

bool is_global_atomic(std::string_view opcode) {
  return opcode == "ATOM" || opcode == "ATOMG" || opcode == "RED" || opcode == "REDG";
}

std::vector<uint32_t> ctas_to_trace(const Problem& problem, const std::array<int64_t, 3>& grid,
                                    const std::vector<uint32_t>& sampled) {
  const auto width = static_cast<uint32_t>(std::max<int64_t>(1, grid[0]));
  if (problem.causal == Causal::none || width == 1) return {sampled.empty() ? 0 : sampled.front()};
  constexpr uint32_t traced = 9;  // in a narrower grid every CTA is traced
  std::vector<uint32_t> ctas;
  for (uint32_t i = 0; i < traced; ++i) ctas.push_back((i * (width - 1) + (traced - 1) / 2) / (traced - 1));
  for (uint32_t& cta : ctas) {
    const auto distance = [&](uint32_t one) { return std::abs(int64_t{one % width} - int64_t{cta}); };
    if (!sampled.empty()) cta = *std::ranges::min_element(sampled, {}, distance);
  }
  std::ranges::sort(ctas);
  ctas.erase(std::unique(ctas.begin(), ctas.end()), ctas.end());
  return ctas;
}

model::KernelSchedule schedule_of(const emulator::Program& program, const emulator::RunResult& result,
                                  const Problem& problem, const std::array<int64_t, 3>& grid) {
  model::KernelSchedule schedule;
  const auto& instructions = program.sass->instructions;
  const std::vector<uint8_t> waits_for = fixed_dependences(program);
  for (size_t i = 0; i < instructions.size(); ++i) {
    schedule.code.push_back(scheduled(instructions[i], result.instructions[i]));
    schedule.code.back().waits_for = waits_for[i];
  }
  count_bank_reads(instructions, program.ops, schedule.code);
  for (const emulator::Block& block : program.blocks) schedule.blocks.push_back({block.first, block.count});
  for (const emulator::CtaTrace& trace : result.traces) schedule.traces.push_back(trace_of(trace));
  schedule.local_reuse = {result.local_reuses.warps, result.local_reuses.counts};
  schedule.hottest = hottest_of(program, result);
  schedule.global_bytes_per_cta = distinct_bytes(problem, grid);
  return schedule;
}

}  // namespace attnscope::device
