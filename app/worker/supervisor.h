#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace attnscope::worker {

struct SupervisorOptions {
  std::string version;                     // of attnscope, for the banner
  std::vector<std::string> executor_argv;  // the program that executes: {self, "worker", "--executor"}
  // An executor pings four times a second; one that is silent for this long is ended.
  int64_t silence_ms = 5000;
  int64_t cancel_grace_ms = 500;      // for a cancelled request to end by itself
  int64_t start_ms = 30000;           // for an executor to report that it is ready
  int64_t kernel_ms = 30000;          // for a client to send a requested kernel
  bool whole_process = false;         // nothing else runs in this process: signals and stray children are its own
  int64_t client_silence_ms = 15000;  // a client that greeted twice and is then silent for this long is gone
};

// Serves one client until its input ends: writes the banner, owns the pipe, passes one request at a time to an executor
// process, keeps a warm spare, ends an executor that makes no progress, falls silent or whose request was cancelled,
// and answers every request exactly once with Done, whatever happens to executors. Never touches CUDA or runs a kernel.
// fd_in and fd_out are pipes or sockets (closed when it returns). Returns the process's exit status: 0 at the end of
// input, 2 if the input was not the protocol, the descriptors are not pipes or the client does not read, 128 + n after
// signal n. Every executor has ended when it returns, and with whole_process also every process that an executor
// started, even in its own session.
int run_supervisor(int fd_in, int fd_out, const SupervisorOptions& options);

}  // namespace attnscope::worker
