#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"

namespace attnscope::platform {

// A program to be run to completion, such as the disassembler.
struct ToolRun {
  std::filesystem::path program;       // absolute, or looked up in PATH
  std::vector<std::string> arguments;  // without the program's name; tool_input stands for `input`'s path
  std::span<const std::byte> input;    // bytes that the program opens as a file; kept in memory, no disk is touched
  int deadline_ms = 20000;
  size_t max_output_bytes = 256u << 20;  // of either stream
  std::vector<std::string> environment;  // "NAME=value", beside ours; a name that ours has stays as it is
};
inline constexpr const char* tool_input = "/proc/self/fd/3";

struct ToolOutput {
  int exit_code = 0;
  std::string out, err;
};

// Runs `run.program` with no standard input, in the caller's process group (so that it dies with it). A program that
// cannot be started, is ended by a signal, passes its deadline or prints too much is a Failure that names it; an exit
// code other than zero is the caller's to judge.
Result<ToolOutput> run_tool(const ToolRun& run);

}  // namespace attnscope::platform
