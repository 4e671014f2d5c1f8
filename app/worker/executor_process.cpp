#include "worker/executor_process.h"

#include <csignal>
#include <cstring>
#include <memory>

#include "platform/process.h"

namespace attnscope::worker {
namespace {

struct PendingWrite {
  uv_write_t request{};
  std::vector<std::byte> frame;
  std::function<void(int)> on_error;
};

std::string how_it_ended(int64_t status, int signal) {
  if (signal) return "ended by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
  return "ended with status " + std::to_string(status);
}

}  // namespace

void write_frame(uv_stream_t* stream, std::vector<std::byte> frame, std::function<void(int)> on_error) {
  auto pending = std::make_unique<PendingWrite>();
  pending->frame = std::move(frame);
  pending->on_error = std::move(on_error);
  pending->request.data = pending.get();
  uv_buf_t buffer =
      uv_buf_init(reinterpret_cast<char*>(pending->frame.data()), static_cast<unsigned>(pending->frame.size()));
  const int error = uv_write(&pending->request, stream, &buffer, 1, [](uv_write_t* request, int status) {
    std::unique_ptr<PendingWrite> written(static_cast<PendingWrite*>(request->data));
    if (status != 0 && status != UV_ECANCELED && written->on_error) written->on_error(status);
  });
  if (error == 0)
    static_cast<void>(pending.release());  // the callback frees it
  else if (pending->on_error)
    pending->on_error(error);
}

ExecutorProcess::ExecutorProcess(uv_loop_t* loop, const std::vector<std::string>& argv, Events events)
    : loop_(loop), events_(std::move(events)), buffer_(size_t{256} << 10) {
  uv_pipe_init(loop, &in_, 0);
  uv_pipe_init(loop, &out_, 0);
  in_.data = out_.data = process_.data = this;
  open_handles_ = 3;  // uv_spawn initialises the process handle even when it fails
  start(argv);
}

void ExecutorProcess::start(const std::vector<std::string>& argv) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  uv_stdio_container_t stdio[3];
  stdio[0].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_READABLE_PIPE);
  stdio[0].data.stream = reinterpret_cast<uv_stream_t*>(&in_);
  stdio[1].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_WRITABLE_PIPE);
  stdio[1].data.stream = reinterpret_cast<uv_stream_t*>(&out_);
  stdio[2].flags = UV_INHERIT_FD;
  stdio[2].data.fd = 2;
  uv_process_options_t options{};
  options.file = words[0];
  options.args = words.data();
  options.stdio = stdio;
  options.stdio_count = 3;
  options.flags = UV_PROCESS_DETACHED;  // a session, and so a process group, of its own: kill() reaches all of it
  options.exit_cb = [](uv_process_t* process, int64_t status, int signal) {
    static_cast<ExecutorProcess*>(process->data)->on_exit(status, signal);
  };
  const int error = uv_spawn(loop_, &process_, &options);
  if (error) {
    exited_ = output_over_ = true;
    how_ = argv[0] + " could not be started: " + uv_strerror(error);
    // Not called in the constructor, because the owner does not hold the object yet. The pipe's close callback runs in
    // the loop's next turn.
    finish_when_over();
    return;
  }
  uv_read_start(
      reinterpret_cast<uv_stream_t*>(&out_),
      [](uv_handle_t* handle, size_t, uv_buf_t* buffer) {
        auto& self = *static_cast<ExecutorProcess*>(handle->data);
        *buffer = uv_buf_init(self.buffer_.data(), static_cast<unsigned>(self.buffer_.size()));
      },
      [](uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
        static_cast<ExecutorProcess*>(stream->data)->on_read(count, buffer);
      });
}

void ExecutorProcess::send(std::vector<std::byte> frame) {
  if (!exited_ && killed_for_.empty()) write_frame(reinterpret_cast<uv_stream_t*>(&in_), std::move(frame));
}

void ExecutorProcess::kill(std::string why) {
  if (exited_ || !killed_for_.empty()) return;
  killed_for_ = std::move(why);
  platform::end_group(process_.pid);
}

void ExecutorProcess::on_read(ssize_t count, const uv_buf_t* buffer) {
  if (count < 0) return end_of_output();
  if (!killed_for_.empty()) return;  // messages of an executor that is being killed are ignored
  decoder_.feed(std::as_bytes(std::span(buffer->base, static_cast<size_t>(count))));
  take_frames();
}

void ExecutorProcess::take_frames() {
  while (killed_for_.empty()) {
    auto payload = decoder_.next();
    if (!payload) return kill("wrote something that is not a message: " + payload.error().message);
    if (!*payload) return;
    auto reply = protocol::decode_envelope(**payload);
    if (!reply) return kill("wrote something that is not a message: " + reply.error().message);
    silent_ms = 0;
    events_.on_reply(*this, *reply, **payload);
  }
}

void ExecutorProcess::end_of_output() {
  output_over_ = true;
  uv_read_stop(reinterpret_cast<uv_stream_t*>(&out_));
  finish_when_over();
}

void ExecutorProcess::on_exit(int64_t status, int signal) {
  exited_ = true;
  how_ = how_it_ended(status, signal);
  platform::end_group(process_.pid);  // its children must not outlive it or hold its pipe open
  finish_when_over();
}

void ExecutorProcess::finish_when_over() {
  if (!exited_ || !output_over_) return;
  close(as_handle(&process_));
  close(as_handle(&in_));
  close(as_handle(&out_));
}

void ExecutorProcess::close(uv_handle_t* handle) {
  uv_close(handle, [](uv_handle_t* closed) {
    auto& self = *static_cast<ExecutorProcess*>(closed->data);
    if (--self.open_handles_ > 0) return;
    self.gone_ = true;
    self.events_.on_gone(self, self.killed_for_.empty() ? self.how_ : self.killed_for_);
  });
}

}  // namespace attnscope::worker
