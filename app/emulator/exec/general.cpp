// Maps the rows of the list to their handlers.
#include "emulator/exec/general.h"

namespace attnscope::emulator {

Handler general_handler(const Op& op) {
  static constexpr Handler by_row[] = {
#define FORM(...) nullptr,
#define GENERAL(spelling, handler, ...) handler,
#define DEFINED GENERAL
#include "emulator/isa/forms.inc"
#undef DEFINED
#undef GENERAL
#undef FORM
  };
  return by_row[op.row];
}

}  // namespace attnscope::emulator
