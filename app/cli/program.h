#pragma once
#include <functional>

namespace attnscope::cli {

// Runs the whole program and returns its exit status, always one of ExitStatus: an exception, of any thread, is told on
// stderr, and a result that stdout did not take is no success. Everything that holds for every command is set up here.
int run_program(const std::function<int()>& program);

}  // namespace attnscope::cli
