#pragma once
#include <string_view>

namespace attnscope::platform {

// Gives the descriptors 0, 1 and 2 that the caller left closed to /dev/null, before anything else opens a file and gets
// their numbers. What is written to such a stdout is an error, as it is where nothing is done; what is written to such
// a stderr goes nowhere. Call it first of all.
void hold_standard_streams();

// Writes to stdout and sees that it arrives there: 0, or the errno of the first write that failed since the program's
// start. Nothing is written after a failure.
int write_stdout(std::string_view text);
// Ends stdout, if write_stdout() was ever called: a full disk may show only here. The same answer.
int close_stdout();
// Writes to stderr. It is no error when nothing reads it.
void write_stderr(std::string_view text);

}  // namespace attnscope::platform
