#pragma once
#include <string_view>

namespace attnscope::platform {

// Opens /dev/null for those of descriptors 0, 1 and 2 that the caller left closed, before another file gets their
// numbers. Writing to such a stdout is still an error; output to such a stderr is lost. Call it first.
void hold_standard_streams();

// Writes to stdout and checks for errors. Returns 0, or the errno of the first failed write since the program's start.
// After a failure it writes nothing.
int write_stdout(std::string_view text);
// Closes stdout if write_stdout() was called, because some file systems report a full disk only here. Returns as
// write_stdout() does.
int close_stdout();
// Writes to stderr. It is not an error if nobody reads it.
void write_stderr(std::string_view text);

// True if this is a terminal that passes every byte on unchanged. Slurm gives one to a task of `srun --unbuffered` as
// its stdout.
bool is_raw_terminal(int fd);

}  // namespace attnscope::platform
