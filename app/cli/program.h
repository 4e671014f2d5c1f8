#pragma once
#include <functional>

namespace attnscope::cli {

// Runs the whole program and returns its exit status, always an ExitStatus. An exception in any thread is reported on
// stderr, and it is a failure if stdout does not take a result. Sets up everything that all commands share.
int run_program(const std::function<int()>& program);

}  // namespace attnscope::cli
