#pragma once
#include <string>

#include "core/result.h"

namespace attnscope::compile {

// The compilers get sources below this folder, so that the line table does not contain the folder that the program runs
// in: equal sources give equal cubins wherever they are compiled. Names are shown without it.
inline constexpr const char* kSourceRoot = "/attnscope/";

std::string without_source_root(std::string text);

// The source with the files of its #line directives put there too, because the compiler prepends the current folder to
// a relative name.
std::string with_rooted_lines(std::string source);

// The hint about what a kernel's own text may include, and the message for a name that leads elsewhere.
inline constexpr const char* kMayInclude =
    "A kernel may include CUDA's headers and the header sets that its manifest declares. `attnscope import` pastes a "
    "project's own headers into its source.";
std::string outside_text(const std::string& name);

// The header in a log's first error, if the error is that it was not found; otherwise empty.
std::string missing_header_in(const std::string& log);

// True if a log's first error is in a header of Thrust or CUB.
bool in_thrust(const std::string& log);

// The function that the assembler misses, from a failure's message: "merge" of "Unresolved extern function
// '_Z5mergePKm'". Empty if it misses none, or it is a member.
std::string unresolved_function(const std::string& message);

// The name that nothing defines, from a failure's message: "N" of 'identifier "N" is undefined'. Empty if it is another
// failure.
std::string undefined_name(const std::string& message);

// True if a log's first error is one that the host's own headers may settle, which only nvcc reads: in Thrust or CUB,
// in namespace std, or a header that this machine has.
bool host_headers_may_help(const std::string& log);

// Why NVRTC or nvcc refused, from the log: the first error as file:line (Stage::compile; the whole log is the hint), or
// too much static shared memory (Stage::limits).
Failure explain_refusal(const std::string& log, const std::string& file_name, const std::string& entry);

}  // namespace attnscope::compile
