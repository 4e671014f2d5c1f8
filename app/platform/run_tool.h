#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"

namespace attnscope::platform {

// A program that runs to completion, such as the disassembler.
struct ToolRun {
  std::filesystem::path program;       // absolute, or looked up in PATH
  std::vector<std::string> arguments;  // without the program's name; tool_input is replaced by the path of `input`
  std::span<const std::byte> input;    // bytes that the program opens as a file; they stay in memory, not on disk
  int deadline_ms = 20000;
  size_t max_output_bytes = 256u << 20;  // of either stream
  std::vector<std::string> environment;  // "NAME=value", added to ours; a name that ours already has keeps its value
  std::vector<std::string> replaced{};   // "NAME=value", in place of ours
  // The program starts others: it gets a process group of its own, and what is left of it is ended with the run.
  bool starts_others = false;
  uint64_t max_file_bytes = 0;  // of each file that the program and those that it starts write; 0: as for this process
};
inline constexpr const char* tool_input = "/proc/self/fd/3";

struct ToolOutput {
  int exit_code = 0;
  std::string out, err;
};

// Runs `run.program` without standard input, in the caller's process group (so that it dies with it) unless it starts
// others. A program that cannot be started, is ended by a signal, passes its deadline or prints too much is a Failure
// that names it. The caller judges a non-zero exit code.
Result<ToolOutput> run_tool(const ToolRun& run);

}  // namespace attnscope::platform
