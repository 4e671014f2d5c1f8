#include "compile/second_try.h"

#include <utility>

#include "compile/compile_errors.h"
#include "compile/include_closure.h"
#include "compile/include_scan.h"

namespace attnscope::compile {

Result<void> try_again(const std::string& source, const SecondTry& next, std::string note,
                       cuda_api::NvrtcOutput& refused) {
  std::string log = refused.log, header = missing_header_in(log);
  for (size_t absent = 0;;) {
    if (!header.empty()) {
      if (absent++ == kMostAbsent || leads_outside(header) || !names_header(source, header)) return {};
      if (auto done = next.add_empty(header); !done) return done;
      note += "There is no header " + header + "; the kernel compiles without it.\n";
    }
    auto again = next.compile();
    if (!again) return {};
    if (again->compiled) {
      refused = std::move(*again);
      refused.log += note;
      return {};
    }
    log = std::move(again->log);
    header = missing_header_in(log);
    if (!header.empty()) continue;
    if (absent > 0) refused.log += "Without it:\n" + log;
    return {};
  }
}

}  // namespace attnscope::compile
