#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/source_lines.h"
#include "core/source_pieces.h"
#include "core/term.h"
#include "emulator/isa/program.h"
#include "model/stall.h"

namespace attnscope::device {

// The line of the kernel's own text that an instruction comes from. For code inlined from a library's header, it is the
// line that calls it, at any depth. If no such line leads to the instruction, it is the library's line.
compile::SassLine own_line(const compile::SassProgram& sass, size_t instruction, const SourceLines& lines);

// The stalls of a modelled time as terms and phases, with the lines of `program` that carry them.
//
// An instruction's phase is the name that `pieces` has for its line, or else for the innermost line that calls it
// (NamedLines). Without one it is the function that the kernel calls to reach it, at any depth; otherwise
// the kernel itself with the loop that contains the instruction (SourcePieces). `lines` maps the lines of `pieces` to
// files. A wait belongs to the phase of the instruction that is waited for.
Terms terms_of(const std::vector<model::Stall>& stalls, const emulator::Program& program, const SourcePieces& pieces,
               const SourceLines& lines);

// The phase of each instruction of `program` for which `wanted` is true; empty for the others.
std::vector<std::string> phases_of_code(const emulator::Program& program, const SourcePieces& pieces,
                                        const SourceLines& lines, const std::function<bool(size_t)>& wanted);

// The terms of a time that was modelled from counters, which has none.
Terms no_terms();

}  // namespace attnscope::device
