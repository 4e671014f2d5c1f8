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

// The line of the kernel's own text that an instruction comes from. Of code that is inlined from a library's header it
// is the line that calls it, however deep; of an instruction that no such line leads to, the library's.
compile::SassLine own_line(const compile::SassProgram& sass, size_t instruction, const SourceLines& lines);

// The stalls of a modelled time as terms and phases, with the lines of `program` that carry them.
//
// An instruction's phase is the function that the kernel calls there, however deep the instruction lies below it; else
// the kernel itself with the loop that the instruction is in (SourcePieces). `lines` says which lines of which
// files the pieces' are. A wait belongs to the phase of the instruction that is waited for.
Terms terms_of(const std::vector<model::Stall>& stalls, const emulator::Program& program, const SourcePieces& pieces,
               const SourceLines& lines);

// The phase of each instruction of `program` for which `wanted` is true; the others' are empty.
std::vector<std::string> phases_of_code(const emulator::Program& program, const SourcePieces& pieces,
                                        const SourceLines& lines, const std::function<bool(size_t)>& wanted);

// Of a time that counters gave.
Terms no_terms();

}  // namespace attnscope::device
