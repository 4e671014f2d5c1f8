#pragma once
#include <filesystem>

namespace attnscope::worker {

// Makes inputs and verdicts for a library's worker in another language, so that all workers follow the same rules.
// Exchanges MessagePack frames, as session and worker do, and answers in order:
//   {"type": "inputs", "problem": P}    three frames {"bytes": …}: q, k and v
//   {"type": "output", "bytes": …}      {"verdict": V}, for the problem of the last inputs request
// A refusal is {"failure": F} instead of the first answer. Serves `fd_in` until it ends and returns the exit status.
int serve_judge(int fd_in, int fd_out, const std::filesystem::path& cache);

}  // namespace attnscope::worker
