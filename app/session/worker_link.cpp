#include "session/worker_link.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstring>

#include "core/escape.h"

namespace attnscope::session {
namespace {

constexpr uint64_t kFirstPauseMs = 100, kLongestPauseMs = 5000;
constexpr uint64_t kPartingMs = 250;    // ms between the end of the output and the end of the process, in either order
constexpr uint64_t kShutDownMs = 2000;  // ms for the worker to end after end of input
constexpr size_t kReadBytes = 1 << 16;
constexpr size_t kMaxLine = 2000;  // bytes of a line on stderr
// Bytes that may wait for a worker to read them: two of the longest kernels. A worker that does not read its requests
// is dropped.
constexpr size_t kMostUnread = size_t{32} << 20;
// Statuses with which ssh ends when it does not reach its machine, and a shell that cannot run the command.
constexpr int64_t kUnreachable = 255, kNotExecutable = 126, kNotFound = 127;

LinkTrouble trouble_of(int64_t status, int signal) {
  if (signal != 0) return LinkTrouble::ended;
  if (status == kUnreachable) return LinkTrouble::unreachable;
  return status == kNotExecutable || status == kNotFound ? LinkTrouble::no_worker : LinkTrouble::ended;
}

double to_two_digits(double ms) { return std::stod(fmt::format("{:.2g}", ms)); }

struct Write {
  uv_write_t request{};
  std::vector<std::byte> bytes;
};

WorkerState state_of(protocol::WorkerPhase phase) {
  switch (phase) {
    case protocol::WorkerPhase::ready:
      return WorkerState::ready;
    case protocol::WorkerPhase::busy:
      return WorkerState::busy;
    case protocol::WorkerPhase::restarting:
      return WorkerState::restarting;
  }
  return WorkerState::ready;
}

}  // namespace

// libuv reaps a child only while its handle is open, so the handle outlives the link's use of it.
struct WorkerLink::Process {
  explicit Process(uv_loop_t* loop, WorkerLink* owner) : link(owner) {
    uv_timer_init(loop, &patience);
    handle.data = patience.data = this;
  }
  uv_process_t handle{};
  uv_timer_t patience{};
  WorkerLink* link;
  int open = 2;

  static void exited(uv_process_t* handle, int64_t status, int signal) {
    auto* self = static_cast<Process*>(handle->data);
    WorkerLink* link = std::exchange(self->link, nullptr);
    self->close();
    if (link) link->process_exited(status, signal);
  }
  // Sends SIGTERM before SIGKILL, so that a supervisor can end processes that its executors left in their own sessions.
  void end() {
    link = nullptr;
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

WorkerLink::WorkerLink(uv_loop_t* loop, size_t index, WorkerCommand command, Patience patience, LinkEvents& events)
    : loop_(loop),
      index_(index),
      command_(std::move(command)),
      silence_ms_(static_cast<uint64_t>(std::max(patience.silence_ms, 40))),
      connect_ms_(static_cast<uint64_t>(std::max(patience.connect_ms, 40))),
      events_(events),
      pause_(loop, [this] { pause_over(); }),
      parting_(loop, [this] { drop(exit_text_.empty() ? "it closed its output" : exit_text_, exit_trouble_); }),
      look_(loop, [this] { look(); }),
      read_buffer_(kReadBytes) {}

WorkerLink::~WorkerLink() {
  if (!process_) return;
  process_->link = nullptr;
  uv_process_kill(&process_->handle, SIGKILL);
}

void WorkerLink::pause_over() {
  if (!ended_) return start();
  if (process_) uv_process_kill(&process_->handle, SIGKILL);
}

void WorkerLink::revive() {
  if (state_ != WorkerState::lost || ended_ || dismissed_) return;
  failures_ = unheard_ = 0;
  hopeless_ = false;
  pause_.stop();
  set_state(WorkerState::starting, fmt::format("starting {}", command_.argv[0]));
  if (!process_) start();
}

void WorkerLink::start() {
  ++connection_;
  banner_ = {};
  frames_ = protocol::FrameDecoder();
  hello_.reset();
  stderr_line_.clear();
  stderr_last_.clear();
  exit_text_.clear();
  exit_trouble_ = LinkTrouble::ended;
  stdout_over_ = suspected_ = false;
  heard_at_ = uv_now(loop_);

  auto pipe = [this](Uv<uv_pipe_t>& handle) {
    handle.reset(new uv_pipe_t{});
    uv_pipe_init(loop_, handle.get(), 0);
    handle->data = this;
    return reinterpret_cast<uv_stream_t*>(handle.get());
  };
  uv_stdio_container_t stdio[3] = {};
  stdio[0].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_READABLE_PIPE);
  stdio[1].flags = stdio[2].flags = static_cast<uv_stdio_flags>(UV_CREATE_PIPE | UV_WRITABLE_PIPE);
  stdio[0].data.stream = pipe(stdin_);
  stdio[1].data.stream = pipe(stdout_);
  stdio[2].data.stream = pipe(stderr_);

  std::vector<char*> argv;
  for (std::string& word : command_.argv) argv.push_back(word.data());
  argv.push_back(nullptr);
  uv_process_options_t options{};
  options.file = argv[0];
  options.args = argv.data();
  options.stdio = stdio;
  options.stdio_count = 3;
  options.exit_cb = Process::exited;

  auto* process = new Process(loop_, this);
  const int spawned = uv_spawn(loop_, &process->handle, &options);
  if (spawned != 0) {
    process->close();
    return refuse(fmt::format("{} could not be started: {}", command_.argv[0], uv_strerror(spawned)),
                  LinkTrouble::no_program);
  }
  process_ = process;
  look_.start(connect_ms_ / 4);
  if (state_ != WorkerState::lost)  // a lost worker stays lost until it says hello
    set_state(WorkerState::starting, fmt::format("starting {}", command_.argv[0]));

  auto give_buffer = [](uv_handle_t* handle, size_t, uv_buf_t* buffer) {
    auto* link = static_cast<WorkerLink*>(handle->data);
    *buffer = uv_buf_init(link->read_buffer_.data(), static_cast<unsigned>(link->read_buffer_.size()));
  };
  uv_read_start(reinterpret_cast<uv_stream_t*>(stdout_.get()), give_buffer,
                [](uv_stream_t* stream, ssize_t size, const uv_buf_t* buffer) {
                  auto* link = static_cast<WorkerLink*>(stream->data);
                  if (size < 0) return link->stdout_ended();
                  link->read_stdout(std::as_bytes(std::span(buffer->base, static_cast<size_t>(size))));
                });
  uv_read_start(reinterpret_cast<uv_stream_t*>(stderr_.get()), give_buffer,
                [](uv_stream_t* stream, ssize_t size, const uv_buf_t* buffer) {
                  auto* link = static_cast<WorkerLink*>(stream->data);
                  if (size < 0)
                    uv_read_stop(stream);
                  else
                    link->read_stderr(std::as_bytes(std::span(buffer->base, static_cast<size_t>(size))));
                });
}

void WorkerLink::send(const protocol::Request& request) {
  if (!stdin_ || !process_ || ended_) return;
  auto frame = protocol::encode(request);
  if (!frame) return drop(frame.error().message);
  if (uv_stream_get_write_queue_size(reinterpret_cast<uv_stream_t*>(stdin_.get())) > kMostUnread)
    return drop("it does not read what it is sent");
  auto* write = new Write{{}, std::move(*frame)};
  write->request.data = write;
  const uv_buf_t buffer =
      uv_buf_init(reinterpret_cast<char*>(write->bytes.data()), static_cast<unsigned>(write->bytes.size()));
  // A failed write needs no handling: the worker's end is seen on its output.
  const int queued = uv_write(&write->request, reinterpret_cast<uv_stream_t*>(stdin_.get()), &buffer, 1,
                              [](uv_write_t* done, int) { delete static_cast<Write*>(done->data); });
  if (queued != 0) delete write;
}

void WorkerLink::read_stdout(std::span<const std::byte> bytes) {
  heard_at_ = uv_now(loop_);
  suspected_ = false;
  const bool greeted = banner_.found();
  if (!greeted) {
    auto found = banner_.feed(bytes);
    if (!found) return drop(found.error().message);
    if (!*found) return;
    if (auto fits = check_version(banner_.version()); !fits)
      return refuse(fits.error().message, LinkTrouble::other_version);
    look_.start(kHelloFactor * connect_ms_);
    send(protocol::Hello{0});
    bytes = banner_.rest();
  }
  frames_.feed(bytes);
  const uint64_t connection = connection_;
  while (connection == connection_) {  // handling a message may end this connection
    auto payload = frames_.next();
    if (!payload) return drop(payload.error().message);
    if (!*payload) return;
    if (auto reply = protocol::decode_reply(**payload))
      handle(std::move(*reply));
    else if (const auto envelope = protocol::decode_envelope(**payload); envelope && up())
      events_.link_unreadable(index_, protocol::id_of(*envelope), reply.error().message);
    else
      return drop(reply.error().message);
  }
}

void WorkerLink::handle(protocol::Reply reply) {
  if (auto* hello = std::get_if<protocol::HelloReply>(&reply)) {
    if (hello_) return note_round_trip();
    if (auto fits = check_version(hello->versions.app); !fits)
      return refuse(fits.error().message, LinkTrouble::other_version);
    hello_ = std::move(*hello);
    said_hello_once_ = true;
    unheard_ = 0;
    trouble_ = LinkTrouble::none;
    set_state(WorkerState::ready, "");
    look_.start(silence_ms_ / 4);
    if (command_.remote) greet();  // the answer to the first one waited for the executor's start
    events_.link_up(index_, *hello_);
  } else if (auto* beat = std::get_if<protocol::Heartbeat>(&reply)) {
    if (!hello_) return;
    if (gpus_ != beat->gpus) {
      gpus_ = std::move(beat->gpus);
      events_.link_changed(index_);
    }
    set_state(state_of(beat->state), std::move(beat->detail));
  } else if (const auto* done = std::get_if<protocol::Done>(&reply); done && !hello_ && done->id == 0) {
    // The worker refused our hello, because its executor does not start.
    give_up(done->failure ? done->failure->message : "it refused to say hello", LinkTrouble::ended);
  } else {
    if (std::holds_alternative<protocol::Done>(reply)) failures_ = 0;
    events_.link_reply(index_, std::move(reply));
  }
}

void WorkerLink::read_stderr(std::span<const std::byte> bytes) {
  for (std::byte byte : bytes) {
    const char letter = static_cast<char>(byte);
    if (letter != '\n' && stderr_line_.size() < kMaxLine) {
      stderr_line_ += letter;
      continue;
    }
    if (letter != '\n') continue;
    if (stderr_line_.ends_with('\r')) stderr_line_.pop_back();  // ssh ends its lines with it
    if (!stderr_line_.empty()) {
      stderr_last_ = stderr_line_;
      events_.link_said(index_, stderr_line_);
      if (state_ == WorkerState::starting) set_state(state_, stderr_line_);  // "job 7 queued and waiting for resources"
    }
    stderr_line_.clear();
  }
}

void WorkerLink::process_exited(int64_t status, int signal) {
  process_ = nullptr;
  exit_text_ = signal ? fmt::format("it was ended by signal {} ({})", signal, strsignal(signal))
                      : fmt::format("it ended with status {}", status);
  exit_trouble_ = trouble_of(status, signal);
  if (ended_) return std::exchange(ended_, nullptr)();
  if (stdout_over_)
    drop(exit_text_, exit_trouble_);
  else
    parting_.start(kPartingMs);  // its last output may still arrive
}

void WorkerLink::stdout_ended() {
  uv_read_stop(reinterpret_cast<uv_stream_t*>(stdout_.get()));
  stdout_over_ = true;
  if (ended_) return;
  if (!exit_text_.empty())
    drop(exit_text_, exit_trouble_);
  else
    parting_.start(kPartingMs);
}

std::string WorkerLink::last_words() const {
  const std::string& words = stderr_line_.empty() ? stderr_last_ : stderr_line_;
  return words.empty() ? "" : ": " + words;
}

void WorkerLink::give_up(const std::string& reason, LinkTrouble trouble) {
  unheard_ = kMaxFailures;
  drop(reason, trouble);
}

void WorkerLink::refuse(const std::string& reason, LinkTrouble trouble) {
  hopeless_ = true;
  give_up(reason, trouble);
}

void WorkerLink::dismiss() {
  dismissed_ = true;
  pause_.stop();
  refuse("it was removed", LinkTrouble::ended);
}

void WorkerLink::greet() {
  if (greeted_at_ == 0) greeted_at_ = uv_hrtime();
  send(protocol::Hello{0});
}

// Told only of remote workers, so that a window at rest is not woken by the time of a local pipe.
void WorkerLink::note_round_trip() {
  const uint64_t since = std::exchange(greeted_at_, 0);
  if (since == 0 || !command_.remote) return;
  const double ms = to_two_digits(double(uv_hrtime() - since) / 1e6);
  if (round_trip_ms_ == ms) return;
  round_trip_ms_ = ms;
  events_.link_changed(index_);
}

// Both ends must have the same version: a difference between their messages might go unnoticed.
Result<void> WorkerLink::check_version(const std::string& version) {
  if (version == ATTNSCOPE_VERSION) return {};
  return fail(Stage::protocol,
              fmt::format("it is attnscope {} and this is {}: install the same version on both machines (./dev bundle "
                          "makes an archive to copy)",
                          version.empty() ? "of no version" : one_line(version.substr(0, 40)), ATTNSCOPE_VERSION),
              "");
}

// The only place where a connection ends, whatever the reason.
void WorkerLink::drop(const std::string& reason, LinkTrouble trouble) {
  ++connection_;
  trouble_ = trouble;
  greeted_at_ = 0;
  round_trip_ms_.reset();
  gpus_.clear();
  const bool was_up = std::exchange(hello_, std::nullopt).has_value();
  const std::string why = reason + last_words();
  if (process_) std::exchange(process_, nullptr)->end();
  stdin_.reset();
  stdout_.reset();
  stderr_.reset();
  parting_.stop();
  look_.stop();
  if (ended_) return std::exchange(ended_, nullptr)();
  ++failures_;
  if (!was_up) ++unheard_;
  const bool lost = unheard_ >= kMaxFailures;
  const bool newly_lost = lost && state_ != WorkerState::lost;
  if (lost) {
    const bool again = command_.remote && !hopeless_;
    if (again) pause_.start(kRetryMs);
    set_state(WorkerState::lost, again ? fmt::format("{}; tried again every {} s", why, kRetryMs / 1000) : why);
  } else {
    const int doublings = std::min(failures_ - 1, 10);
    pause_.start(std::min(kFirstPauseMs << doublings, kLongestPauseMs));
    set_state(WorkerState::restarting, why);
  }
  if (was_up) events_.link_down(index_, why);
  if (newly_lost) events_.link_lost(index_, why);
}

// Greets a worker that is up, and drops one that has been silent for too long, before its hello or after it (a worker
// then sends a heartbeat every second). The first silent look only makes it suspect: after a pause of our own (the
// machine slept, the program was stopped) its messages wait unread.
void WorkerLink::look() {
  const auto seconds = [](uint64_t ms) { return fmt::format("{:.3g} s", double(ms) / 1000); };
  if (banner_.found() && !up())
    return give_up(fmt::format("it did not say hello within {}", seconds(kHelloFactor * connect_ms_)),
                   LinkTrouble::silent);
  if (waits()) return;  // it waits in a queue and said so
  const uint64_t limit = up() ? silence_ms_ : connect_ms_, silent_ms = uv_now(loop_) - heard_at_;
  const bool silent = silent_ms >= limit;
  if (silent && suspected_)
    return up() ? drop("it was silent for " + seconds(silent_ms), LinkTrouble::silent)
                : give_up(fmt::format("it said nothing for {}; --connect-timeout gives it longer", seconds(limit)),
                          LinkTrouble::silent);
  suspected_ = silent;
  if (!silent && state_ == WorkerState::starting && !up())
    set_state(state_, fmt::format("waiting for the first word of {}; given up after {} of silence", command_.argv[0],
                                  seconds(limit)));
  if (up()) greet();
  look_.start(limit / 4);
}

void WorkerLink::replace(const std::string& reason) {
  if (process_) drop(reason);
}

void WorkerLink::shut_down(std::function<void()> ended) {
  pause_.stop();
  parting_.stop();
  look_.stop();
  if (!process_) return ended();
  ended_ = std::move(ended);
  stdin_.reset();  // end of input: the worker ends itself and everything that it started
  // A command that waits in a queue does not see the end of input.
  if (!up()) uv_process_kill(&process_->handle, SIGTERM);
  pause_.start(kShutDownMs);
}

void WorkerLink::set_state(WorkerState state, std::string detail) {
  if (state == state_ && detail == detail_) return;
  state_ = state;
  detail_ = std::move(detail);
  events_.link_changed(index_);
}

}  // namespace attnscope::session
