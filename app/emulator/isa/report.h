#pragma once
#include <string>

namespace attnscope::emulator {

// A report for people: the opcode forms that the emulator executes and the evidence for each, as counts by class of
// instruction and then every form.
std::string isa_report();

}  // namespace attnscope::emulator
