#pragma once
#include <string>

namespace attnscope::emulator {

// Which opcode forms the emulator executes and what each rests on, for people: counts by class of instruction, then
// every form.
std::string isa_report();

}  // namespace attnscope::emulator
