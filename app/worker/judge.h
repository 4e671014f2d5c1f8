#pragma once
#include <filesystem>

namespace attnscope::worker {

// Makes inputs and verdicts for a library's worker in another language, so that the same rules apply to all. Uses
// frames of MessagePack, as session and worker do, and answers in order:
//   {"type": "inputs", "problem": P}    three frames {"bytes": …}: q, k and v
//   {"type": "output", "bytes": …}      {"verdict": V}, of the problem that inputs were asked for last
// A refusal is {"failure": F} in place of the first answer. Serves `fd_in` until it ends; returns the exit status.
int serve_judge(int fd_in, int fd_out, const std::filesystem::path& cache);

}  // namespace attnscope::worker
