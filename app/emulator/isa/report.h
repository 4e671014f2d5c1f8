#pragma once
#include <string>

namespace attnscope::emulator {

// The opcode forms that the emulator executes and the evidence for each, for people: counts by class of instruction,
// then every form.
std::string isa_report();

}  // namespace attnscope::emulator
