#include "device/terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

namespace attnscope::device {
namespace {

using model::Stall;

constexpr const char* kOutside = "launch and tail";

const auto longer_first = [](const auto& a, const auto& b) { return a.us > b.us; };

std::string source_at(const emulator::Program& program, uint32_t instruction, const SourceLines& lines) {
  const compile::SassLine line = own_line(*program.sass, instruction, lines);
  return line.line != 0 ? emulator::line_name(*program.sass, line) : std::string();
}

std::string phase_at(const emulator::Program& program, uint32_t instruction, const SourcePieces& pieces,
                     const SourceLines& source) {
  const compile::SassProgram& sass = *program.sass;
  // Innermost first, the kernel's own line last.
  std::vector<compile::SassLine> calls{sass.instructions[instruction].line};
  const auto& callers = sass.instructions[instruction].inlined_at;
  calls.insert(calls.end(), callers.begin(), callers.end());
  const auto text_line = [&](const compile::SassLine& line) {
    return line.file < sass.files.size() ? static_cast<int>(source.text_line(sass.files[line.file], line.line)) : 0;
  };
  const auto function_of = [&](const compile::SassLine& line) {
    return std::string(pieces.function_at(text_line(line)));
  };
  for (const compile::SassLine& line : calls)
    if (const std::string_view named = pieces.name_at(text_line(line)); !named.empty()) return std::string(named);
  if (calls.size() > 1)
    if (std::string called = function_of(calls[calls.size() - 2]); !called.empty()) return called;
  const std::string kernel = function_of(calls.back());
  if (kernel.empty()) return sass.kernel.name;
  const int loop = pieces.loop_at(text_line(calls.back()));
  return loop > 0 ? fmt::format("{}, loop at line {}", kernel, source.place_of(loop).line) : kernel;
}

// `sorted`: the stalls of one term, sorted by producer.
Term term_of(std::span<const Stall> sorted, const emulator::Program& program, const SourceLines& lines) {
  Term term{sorted.front().term, 0, {}};
  for (size_t i = 0; i < sorted.size();) {
    const uint32_t producer = sorted[i].producer;
    const Stall* longest = &sorted[i];
    double us = 0;
    for (; i < sorted.size() && sorted[i].producer == producer; ++i) {
      us += sorted[i].time;
      if (sorted[i].time > longest->time) longest = &sorted[i];
    }
    term.us += us;
    if (producer == Stall::kNone) continue;
    term.lines.push_back({int64_t{producer} * 16, source_at(program, producer, lines), us,
                          int64_t{longest->consumer} * 16, source_at(program, longest->consumer, lines)});
  }
  std::ranges::stable_sort(term.lines, longer_first);
  if (term.lines.size() > Term::kMostLines) term.lines.resize(Term::kMostLines);
  return term;
}

std::vector<Phase> spread_phases(const std::vector<Stall>& stalls, const emulator::Program& program,
                                 const SourcePieces& pieces, const SourceLines& source) {
  std::vector<std::string> names(program.ops.size());
  std::map<std::string, std::map<TermKind, double>> sums;
  for (const Stall& stall : stalls) {
    const bool inside = stall.producer != Stall::kNone;
    if (inside && names[stall.producer].empty())
      names[stall.producer] = phase_at(program, stall.producer, pieces, source);
    sums[inside ? names[stall.producer] : kOutside][stall.term] += stall.time;
  }
  std::vector<Phase> phases;
  for (const auto& [name, terms] : sums) {
    Phase& phase = phases.emplace_back(Phase{name, 0, {}});
    for (const auto& [kind, us] : terms) {
      phase.us += us;
      phase.terms.push_back({kind, us});
    }
    std::ranges::stable_sort(phase.terms, longer_first);
  }
  std::ranges::stable_sort(phases, longer_first);
  return phases;
}

}  // namespace

compile::SassLine own_line(const compile::SassProgram& sass, size_t instruction, const SourceLines& lines) {
  const compile::SassInstruction& one = sass.instructions[instruction];
  const auto is_own = [&](const compile::SassLine& line) {
    return line.line != 0 && line.file < sass.files.size() && lines.text_line(sass.files[line.file], line.line) > 0;
  };
  if (is_own(one.line)) return one.line;
  const auto caller = std::ranges::find_if(one.inlined_at, is_own);
  return caller != one.inlined_at.end() ? *caller : one.line;
}

Terms terms_of(const std::vector<Stall>& stalls, const emulator::Program& program, const SourcePieces& pieces,
               const SourceLines& lines) {
  std::vector<Stall> sorted = stalls;
  std::ranges::sort(sorted, {},
                    [](const Stall& stall) { return std::tuple(stall.term, stall.producer, stall.consumer); });
  Terms out;
  for (size_t i = 0; i < sorted.size();) {
    size_t end = i;
    while (end < sorted.size() && sorted[end].term == sorted[i].term) ++end;
    out.list.push_back(term_of(std::span(sorted).subspan(i, end - i), program, lines));
    i = end;
  }
  std::ranges::stable_sort(out.list, longer_first);
  out.phases = spread_phases(stalls, program, pieces, lines);
  return out;
}

std::vector<std::string> phases_of_code(const emulator::Program& program, const SourcePieces& pieces,
                                        const SourceLines& lines, const std::function<bool(size_t)>& wanted) {
  std::vector<std::string> names(program.ops.size());
  for (size_t i = 0; i < names.size(); ++i)
    if (wanted(i)) names[i] = phase_at(program, static_cast<uint32_t>(i), pieces, lines);
  return names;
}

Terms no_terms() {
  Terms out;
  out.missing =
      "a warp's path is too long to record, so the time is from counters, which do not say what warps wait for";
  return out;
}

}  // namespace attnscope::device
