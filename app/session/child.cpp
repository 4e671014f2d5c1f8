#include "session/child.h"

#include <signal.h>

#include <utility>

namespace attnscope::session {
namespace {

constexpr size_t kReadBytes = 1 << 16;

struct Write {
  uv_write_t request{};
  std::vector<std::byte> bytes;
};

uv_stream_t* stream_of(const Uv<uv_pipe_t>& pipe) { return reinterpret_cast<uv_stream_t*>(pipe.get()); }

std::span<const std::byte> received(const uv_buf_t& buffer, ssize_t size) {
  return std::as_bytes(std::span(buffer.base, static_cast<size_t>(size)));
}

}  // namespace

// libuv reaps a child only while its handle is open, so the handle outlives the owner's use of it.
struct Child::Process {
  Process(uv_loop_t* loop, Child* of) : owner(of) {
    uv_timer_init(loop, &patience);
    handle.data = patience.data = this;
  }
  uv_process_t handle{};
  uv_timer_t patience{};
  Child* owner;
  int open = 2;

  static void exited(uv_process_t* handle, int64_t status, int signal) {
    auto* self = static_cast<Process*>(handle->data);
    Child* owner = std::exchange(self->owner, nullptr);
    self->close();
    if (owner) owner->exited(status, signal);
  }
  // Sends SIGTERM before SIGKILL, so that a supervisor can end processes that its executors left in their own sessions.
  void end() {
    owner = nullptr;
    uv_process_kill(&handle, SIGTERM);
    uv_timer_start(
        &patience, [](uv_timer_t* timer) { uv_process_kill(&static_cast<Process*>(timer->data)->handle, SIGKILL); },
        kShutDownMs, 0);
  }
  void close() {
    for (auto* any : {reinterpret_cast<uv_handle_t*>(&handle), reinterpret_cast<uv_handle_t*>(&patience)})
      uv_close(any, [](uv_handle_t* closed) {
        auto* self = static_cast<Process*>(closed->data);
        if (--self->open == 0) delete self;
      });
  }
};

Child::Child(uv_loop_t* loop, ChildEvents& events) : loop_(loop), events_(events), read_buffer_(kReadBytes) {}

Child::~Child() {
  if (!process_) return;
  process_->owner = nullptr;
  signal(SIGKILL);
}

int Child::start(std::vector<std::string> words) {
  const auto pipe = [this](Uv<uv_pipe_t>& handle) {
    handle.reset(new uv_pipe_t{});
    uv_pipe_init(loop_, handle.get(), 0);
    handle->data = this;
    return stream_of(handle);
  };
  uv_stdio_container_t stdio[3] = {};
  stdio[0].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_READABLE_PIPE);
  stdio[1].flags = stdio[2].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_WRITABLE_PIPE);
  stdio[0].data.stream = pipe(stdin_);
  stdio[1].data.stream = pipe(stdout_);
  stdio[2].data.stream = pipe(stderr_);

  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  uv_process_options_t options{};
  options.file = argv[0];
  options.args = argv.data();
  options.stdio = stdio;
  options.stdio_count = 3;
  options.exit_cb = Process::exited;

  auto* process = new Process(loop_, this);
  if (const int error = uv_spawn(loop_, &process->handle, &options); error != 0) {
    process->close();
    return error;
  }
  process_ = process;

  const auto give_buffer = [](uv_handle_t* handle, size_t, uv_buf_t* buffer) {
    auto* child = static_cast<Child*>(handle->data);
    *buffer = uv_buf_init(child->read_buffer_.data(), static_cast<unsigned>(child->read_buffer_.size()));
  };
  uv_read_start(stream_of(stdout_), give_buffer, [](uv_stream_t* stream, ssize_t size, const uv_buf_t* buffer) {
    auto* child = static_cast<Child*>(stream->data);
    if (size >= 0) return child->events_.child_wrote(received(*buffer, size));
    uv_read_stop(stream);
    child->events_.child_closed_output();
  });
  uv_read_start(stream_of(stderr_), give_buffer, [](uv_stream_t* stream, ssize_t size, const uv_buf_t* buffer) {
    auto* child = static_cast<Child*>(stream->data);
    if (size >= 0) return child->events_.child_said(received(*buffer, size));
    uv_read_stop(stream);
  });
  return 0;
}

size_t Child::unread() const { return uv_stream_get_write_queue_size(stream_of(stdin_)); }

void Child::write(std::vector<std::byte> bytes) {
  auto* write = new Write{{}, std::move(bytes)};
  write->request.data = write;
  const uv_buf_t buffer =
      uv_buf_init(reinterpret_cast<char*>(write->bytes.data()), static_cast<unsigned>(write->bytes.size()));
  // A failed write needs no handling: the child's end is seen on its output.
  const int queued = uv_write(&write->request, stream_of(stdin_), &buffer, 1,
                              [](uv_write_t* done, int) { delete static_cast<Write*>(done->data); });
  if (queued != 0) delete write;
}

void Child::signal(int number) {
  if (process_) uv_process_kill(&process_->handle, number);
}

void Child::leave() {
  if (process_) std::exchange(process_, nullptr)->end();
  stdin_.reset();
  stdout_.reset();
  stderr_.reset();
}

void Child::exited(int64_t status, int signal) {
  process_ = nullptr;
  events_.child_exited(status, signal);
}

}  // namespace attnscope::session
