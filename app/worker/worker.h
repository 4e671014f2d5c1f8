#pragma once
#include <filesystem>

#include "worker/purpose.h"

// Entry points of the processes of `attnscope worker`.
namespace attnscope::worker {

// Serves the client on stdin and stdout until stdin ends, and starts this program again as `worker --executor` to
// compile and run. Everything but the protocol that is written to stdout goes to stderr. Returns the exit status.
int supervisor_main(Purpose purpose);

// Compiles and runs for the supervisor on stdin and stdout, and ends with it. Returns the exit status.
int executor_main(Purpose purpose);

// Makes inputs and verdicts for a library's worker on stdin and stdout (worker/judge.h). Returns the exit status.
int judge_main();

// The option of `attnscope worker` for touches_main().
inline constexpr const char* kTouchesOption = "--touches";

// Answers the question in that file (worker/touch_run.h) on stdout, confined as an executor is. Returns the exit
// status.
int touches_main(const std::filesystem::path& question);

}  // namespace attnscope::worker
