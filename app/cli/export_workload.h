#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "cli/export_text.h"
#include "core/result.h"

namespace attnscope::cli {

// What a launcher of a kernel other than attention needs beside its cubin: the contents of its buffers before the run,
// and the fp64 values that its outputs must have, both as attnscope's own verdict uses them.
struct ExportedData {
  std::map<std::string, std::vector<std::byte>> files;  // by file name: "x.bin", "y.expected.bin" (doubles)
};

// Failure (Stage::input): the buffers take over 256 MB; (Stage::check): a reference cannot be computed.
Result<ExportedData> data_of(const Export& e);

// The tables for the launchers' templates: buffers, parameters and checks, in C++ and Python.
Result<std::map<std::string, std::string>> workload_figures(const Export& e);

}  // namespace attnscope::cli
