#pragma once
#include <uv.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "protocol/frame.h"
#include "protocol/message.h"

namespace attnscope::worker {

// An executor child on the supervisor's loop: starts it, exchanges messages over its pipes, kills it and reaps it.
class ExecutorProcess {
 public:
  struct Events {
    // `payload`: the reply's bytes as received, for passing on.
    std::function<void(ExecutorProcess&, const protocol::Envelope&, std::span<const std::byte> payload)> on_reply;
    // Called once, after the process has ended and all its output was delivered. `how`: "ended by signal 9 (Killed)".
    std::function<void(ExecutorProcess&, const std::string& how)> on_gone;
  };

  // Starts argv in its own session. The object must live until closed() after on_gone.
  ExecutorProcess(uv_loop_t* loop, const std::vector<std::string>& argv, Events events);
  ExecutorProcess(const ExecutorProcess&) = delete;
  ExecutorProcess& operator=(const ExecutorProcess&) = delete;

  void send(std::vector<std::byte> frame);
  // Sends SIGKILL to its process group; on_gone follows with `why`, which completes "its process …": "gave no sign of
  // life".
  void kill(std::string why);
  int pid() const { return process_.pid; }
  bool gone() const { return gone_; }
  bool output_over() const { return output_over_; }   // it has closed its output and is probably exiting
  bool closed() const { return open_handles_ == 0; }  // every handle is closed, so the object may be destroyed

  // State that the supervisor keeps for it.
  bool ready = false;     // its hello_reply has arrived
  int64_t silent_ms = 0;  // since its last message

 private:
  void start(const std::vector<std::string>& argv);
  void on_read(ssize_t count, const uv_buf_t* buffer);
  void on_exit(int64_t status, int signal);
  void take_frames();
  void end_of_output();
  void finish_when_over();
  void close(uv_handle_t* handle);
  template <class Handle>
  static uv_handle_t* as_handle(Handle* handle) {
    return reinterpret_cast<uv_handle_t*>(handle);
  }

  uv_loop_t* loop_;
  Events events_;
  uv_process_t process_{};
  uv_pipe_t in_{}, out_{};  // we write to in_ and read from out_
  std::vector<char> buffer_;
  protocol::FrameDecoder decoder_;
  int open_handles_ = 0;
  bool exited_ = false, output_over_ = false, gone_ = false;
  std::string how_, killed_for_;
};

// Writes the whole frame to `stream` and keeps it until libuv has finished. A failed write also ends the stream on the
// reading side, so its status goes only to `on_error`.
void write_frame(uv_stream_t* stream, std::vector<std::byte> frame, std::function<void(int)> on_error = {});

}  // namespace attnscope::worker
