#include "session/worker_link.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstring>

#include "core/escape.h"

namespace attnscope::session {
namespace {

constexpr uint64_t kFirstPauseMs = 100, kLongestPauseMs = 5000;
constexpr uint64_t kPartingMs = 1000;  // ms between the end of the output and the end of the process, in either order
constexpr size_t kMaxLine = 2000;      // bytes of a line on stderr
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
      child_(loop, *this) {}

void WorkerLink::pause_over() {
  if (!ended_) return start();
  child_.signal(SIGKILL);
}

void WorkerLink::revive() {
  if (state_ != WorkerState::lost || ended_ || dismissed_) return;
  failures_ = unheard_ = 0;
  hopeless_ = false;
  pause_.stop();
  set_state(WorkerState::starting, fmt::format("starting {}", command_.argv[0]));
  if (!child_.runs()) start();
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

  if (const int error = child_.start(command_.argv); error != 0)
    return refuse(fmt::format("{} could not be started: {}", command_.argv[0], uv_strerror(error)),
                  LinkTrouble::no_program);
  look_.start(connect_ms_ / 4);
  if (state_ != WorkerState::lost)  // a lost worker stays lost until it says hello
    set_state(WorkerState::starting, fmt::format("starting {}", command_.argv[0]));
}

void WorkerLink::send(const protocol::Request& request) {
  if (!child_.takes_input() || ended_) return;
  auto frame = protocol::encode(request);
  if (!frame) return drop(frame.error().message);
  if (child_.unread() > kMostUnread) return drop("it does not read what it is sent");
  child_.write(std::move(*frame));
}

void WorkerLink::child_wrote(std::span<const std::byte> bytes) {
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

void WorkerLink::child_said(std::span<const std::byte> bytes) {
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

void WorkerLink::child_exited(int64_t status, int signal) {
  exit_text_ = signal ? fmt::format("it was ended by signal {} ({})", signal, strsignal(signal))
                      : fmt::format("it ended with status {}", status);
  exit_trouble_ = trouble_of(status, signal);
  if (ended_) return std::exchange(ended_, nullptr)();
  if (stdout_over_)
    drop(exit_text_, exit_trouble_);
  else
    parting_.start(kPartingMs);  // its last output may still arrive
}

void WorkerLink::child_closed_output() {
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
  child_.leave();
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
  if (child_.runs()) drop(reason);
}

void WorkerLink::shut_down(std::function<void()> ended) {
  pause_.stop();
  parting_.stop();
  look_.stop();
  if (!child_.runs()) return ended();
  ended_ = std::move(ended);
  child_.close_input();  // end of input: the worker ends itself and everything that it started
  // A command that waits in a queue does not see the end of input.
  if (!up()) child_.signal(SIGTERM);
  pause_.start(Child::kShutDownMs);
}

void WorkerLink::set_state(WorkerState state, std::string detail) {
  if (state == state_ && detail == detail_) return;
  state_ = state;
  detail_ = std::move(detail);
  events_.link_changed(index_);
}

}  // namespace attnscope::session
