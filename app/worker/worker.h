#pragma once
#include "worker/purpose.h"

// The two processes of `attnscope worker`, as the program starts them.
namespace attnscope::worker {

// Serves the client at stdin and stdout until stdin ends; starts this same program with `worker --executor` to compile
// and run. stdout becomes stderr for everything but the protocol. Returns the exit status.
int supervisor_main(Purpose purpose);

// Compiles and runs for the supervisor at stdin and stdout; ends with it. Returns the exit status.
int executor_main(Purpose purpose);

// Makes inputs and verdicts for a library's worker at stdin and stdout (worker/judge.h). Returns the exit status.
int judge_main();

}  // namespace attnscope::worker
