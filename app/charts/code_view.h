#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/listing.h"
#include "core/observation.h"
#include "core/source_lines.h"
#include "core/words.h"

namespace attnscope::charts {

// A figure of code by line or instruction, as a column of heat.
enum class HeatColumn { time, samples, instructions, lanes, wavefronts, conflicts, sectors, races };
inline constexpr std::array kHeatColumns{HeatColumn::time,    HeatColumn::samples,    HeatColumn::instructions,
                                         HeatColumn::lanes,   HeatColumn::wavefronts, HeatColumn::conflicts,
                                         HeatColumn::sectors, HeatColumn::races};

// Counts of the emulated CTAs, the modelled time that a line carries (CodeCounts), and where a GPU's warps were.
struct Heat {
  double us = 0, samples = 0, instructions = 0, lanes = 0, wavefronts = 0, conflicts = 0, sectors = 0;
  int64_t races = 0;  // findings of the watch that name the line and are about a race

  // The figure of a column; for lanes, the number of idle lane slots.
  double of(HeatColumn column) const;
  // The figure as a cell: "12.4 k", "28.3" (active lanes of 32); empty if there is none.
  std::string text(HeatColumn column) const;
  Heat& operator+=(const CodeCounts& counts);
  bool operator==(const Heat&) const = default;
};

// The heading of a narrow column: "instr".
const char* heading_of(HeatColumn column);

// A listing beside its source: computed once for each listing, drawn every frame.
struct CodeView {
  std::vector<Heat> lines;         // of the source; index 0 is line 1
  std::vector<Heat> instructions;  // `races` are those of its line
  // The instructions of each source line, ascending: its own, and those inlined into it.
  std::vector<std::vector<int64_t>> instructions_of;
  // The source lines of each instruction, innermost first: its own line and its callers', as far as they are in the
  // source.
  std::vector<std::vector<int64_t>> lines_of;
  std::array<double, kHeatColumns.size()> hottest_line{}, hottest_instruction{};  // the largest figure by column

  const auto& hottest(bool of_lines) const { return of_lines ? hottest_line : hottest_instruction; }
  double share_of_line(size_t at, HeatColumn column) const;  // relative to the hottest, 0 to 1
  double share_of_instruction(size_t at, HeatColumn column) const;
  bool has(HeatColumn column) const { return hottest_line[size_t(column)] + hottest_instruction[size_t(column)] > 0; }
  // Lines (from 1) or instructions (from 0) with a figure in the column, hottest first.
  std::vector<int64_t> hot_lines(HeatColumn column) const;
  std::vector<int64_t> hot_instructions(HeatColumn column) const;
};

// `source` says which lines those of the text are, which has `source_lines` of them. An instruction's figures go to the
// innermost of its places that lies in the text. `seen` gives the races, `profiled` the lines in which a GPU's warps
// were sampled; both may be null.
CodeView code_view(const Listing& listing, const Observation* seen, const SourceLines& source, size_t source_lines,
                   const Observation* profiled = nullptr);

// The scheduling half as a cell of fixed width: "01----:R-:W0:Y:S04" waits for scoreboards 0 and 1, sets none when its
// sources have been read, sets 0 when its result is ready, yields, and holds the warp for 4 clocks.
std::string control_text(const CodeControl& control);
// The same as sentences.
std::string control_words(const CodeControl& control);

// "02_tiled.cu:203 < 02_tiled.cu:240": where an instruction comes from, and the calls it is inlined through.
std::string places_text(const Listing& listing, const CodeLine& line);

}  // namespace attnscope::charts

namespace attnscope {

template <>
struct Words<charts::HeatColumn> {
  using enum charts::HeatColumn;
  static constexpr WordTable<charts::HeatColumn, 8> table{{{time, "time"},
                                                           {samples, "samples"},
                                                           {instructions, "instructions"},
                                                           {lanes, "active lanes"},
                                                           {wavefronts, "shared wavefronts"},
                                                           {conflicts, "bank conflicts"},
                                                           {sectors, "sectors"},
                                                           {races, "races"}}};
};

}  // namespace attnscope
