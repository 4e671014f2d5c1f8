#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace attnscope::worker {

struct SupervisorOptions {
  std::string version;                     // of attnscope, for the banner
  std::vector<std::string> executor_argv;  // the program that executes: {self, "worker", "--executor"}
  int64_t silence_ms = 5000;               // an executor pings four times a second; one silent for so long is ended
  int64_t cancel_grace_ms = 500;           // for a cancelled request to end by itself
  int64_t start_ms = 30000;                // for an executor to say that it is ready
  int64_t kernel_ms = 30000;               // for a client to send a kernel it was asked for
  bool whole_process = false;              // nothing else runs in this process: signals and stray children are its own
  int64_t client_silence_ms = 15000;       // a client that said hello twice is to be heard so often, or it has gone
};

// Serves one client until its input ends: writes the banner, owns the pipe, passes one request at a time to an executor
// process, keeps a warm spare, ends an executor that makes no progress, falls silent or whose request was cancelled,
// and answers every request exactly once with Done whatever becomes of executors. Never touches CUDA nor runs a kernel.
// fd_in and fd_out are pipes or sockets (closed when it returns). Returns the process's exit status: 0 at the end of
// input, 2 when what came was not the protocol, the descriptors are no pipes or the client does not read, 128 + n when
// signal n asked it to leave. Every executor is gone when it returns, and with whole_process whatever those started
// too, in sessions of their own as well.
int run_supervisor(int fd_in, int fd_out, const SupervisorOptions& options);

}  // namespace attnscope::worker
