#pragma once
#include <string_view>

namespace attnscope::platform {

// Opens /dev/null for those of descriptors 0, 1 and 2 that the caller left closed, before another file gets their
// numbers. Writing to such a stdout is still an error; what goes to such a stderr is lost. Call it first.
void hold_standard_streams();

// Writes to stdout and checks that it arrives: returns 0, or the errno of the first write that failed since the
// program's start. After a failure it writes nothing.
int write_stdout(std::string_view text);
// Closes stdout if write_stdout() was called: some file systems report a full disk only here. Same answer as above.
int close_stdout();
// Writes to stderr. It is not an error when nothing reads it.
void write_stderr(std::string_view text);

// Whether this is a terminal that passes every byte on as it is. Slurm gives one to a task of `srun --unbuffered` as
// its stdout.
bool is_raw_terminal(int fd);

}  // namespace attnscope::platform
