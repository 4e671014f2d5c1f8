#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace attnscope::worker {

struct SupervisorOptions {
  std::string version;                     // attnscope's, for the banner
  std::vector<std::string> executor_argv;  // the executor's command: {self, "worker", "--executor"}
  // An executor pings four times a second; it is ended after this much silence.
  int64_t silence_ms = 5000;
  int64_t cancel_grace_ms = 500;  // for a cancelled request to end by itself
  int64_t start_ms = 30000;       // for an executor to become ready
  int64_t kernel_ms = 30000;      // for a client to send a requested kernel
  // This process does nothing else, so that all its signals and stray children belong to the supervisor.
  bool whole_process = false;
  int64_t client_silence_ms = 15000;  // a client that greeted twice counts as gone after this much silence
};

// Serves one client until its input ends. Writes the banner, owns the pipe, passes one request at a time to an executor
// process and keeps a warm spare. Ends an executor that makes no progress, falls silent or does not stop after a
// cancel. Answers every request exactly once with Done, whatever happens to executors. Never touches CUDA and runs no
// kernel.
//
// fd_in and fd_out are pipes or sockets and are closed on return. Returns the process's exit status: 0 at the end of
// input, 2 if the input is not the protocol, the descriptors are not pipes or the client does not read, 128 + n after
// signal n. When it returns, every executor has ended, and with whole_process also every process that an executor
// started, even in its own session.
int run_supervisor(int fd_in, int fd_out, const SupervisorOptions& options);

}  // namespace attnscope::worker
