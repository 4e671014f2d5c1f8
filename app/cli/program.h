#pragma once
#include <functional>

namespace attnscope::cli {

// Runs the whole program and returns its exit status, always one of ExitStatus: an exception in any thread is reported
// on stderr, and a result that stdout did not take is a failure. Everything common to all commands is set up here.
int run_program(const std::function<int()>& program);

}  // namespace attnscope::cli
