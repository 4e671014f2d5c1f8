#include "worker/supervisor.h"

#include "platform/process.h"
#include "platform/standard_streams.h"
#include "worker/supervisor_loop.h"

namespace attnscope::worker {
namespace {

constexpr uint64_t kTick = 20;    // ms
constexpr int kStrayLooks = 100;  // ticks

}  // namespace

bool Supervisor::open(int fd_in, int fd_out) {
  uv_loop_init(&loop_);
  uv_pipe_init(&loop_, &in_, 0);
  uv_pipe_init(&loop_, &out_, 0);
  uv_timer_init(&loop_, &tick_);
  uv_timer_init(&loop_, &beat_);
  for (const int number : options_.whole_process ? platform::leaving_signals() : std::vector<int>{}) {
    uv_signal_t& handle = signals_.emplace_back();
    uv_signal_init(&loop_, &handle);
    handle.data = this;
    uv_signal_start(
        &handle, [](uv_signal_t* caught, int which) { static_cast<Supervisor*>(caught->data)->shut_down(128 + which); },
        number);
  }
  in_.data = out_.data = tick_.data = beat_.data = this;
  const auto is_pipe = [](int fd) { return uv_guess_handle(fd) == UV_NAMED_PIPE; };
  if (!is_pipe(fd_in) || !(is_pipe(fd_out) || platform::is_raw_terminal(fd_out))) return false;
  return uv_pipe_open(&in_, fd_in) == 0 && uv_pipe_open(&out_, fd_out) == 0;
}

int Supervisor::serve(int fd_in, int fd_out) {
  platform::ignore_write_signals();
  if (options_.whole_process) platform::adopt_orphans();
  if (!open(fd_in, fd_out)) {
    close_own_handles();
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
    return 2;
  }
  const std::string banner = protocol::banner_line(options_.version);
  const auto bytes = std::as_bytes(std::span(banner));
  write_client({bytes.begin(), bytes.end()});
  uv_read_start(
      reinterpret_cast<uv_stream_t*>(&in_),
      [](uv_handle_t* handle, size_t, uv_buf_t* buffer) {
        auto& self = *static_cast<Supervisor*>(handle->data);
        *buffer = uv_buf_init(self.buffer_.data(), static_cast<unsigned>(self.buffer_.size()));
      },
      [](uv_stream_t* stream, ssize_t count, const uv_buf_t* buffer) {
        static_cast<Supervisor*>(stream->data)->on_input(count, buffer);
      });
  last_tick_ = uv_now(&loop_);
  uv_timer_start(
      &tick_, [](uv_timer_t* timer) { static_cast<Supervisor*>(timer->data)->on_tick(); }, kTick, kTick);
  uv_timer_start(
      &beat_, [](uv_timer_t* timer) { static_cast<Supervisor*>(timer->data)->heartbeat(); }, 1000, 1000);
  pool_.start_missing();
  uv_run(&loop_, UV_RUN_DEFAULT);
  pool_.clear();
  uv_loop_close(&loop_);
  if (options_.whole_process)  // a process that is ending is listed until it has ended
    for (int look = 0; look < kStrayLooks && platform::end_strays({}) > 0; ++look) uv_sleep(kTick);
  return status_;
}

// ---- the executors' side ----

void Supervisor::on_ready(const protocol::HelloReply& hello) {
  if (stopping_) return;
  hello_ = hello;
  hello_->pid = uv_os_getpid();
  for (const Id id : std::exchange(waiting_hellos_, {})) accept(protocol::Hello{id}, {});
  pool_.start_missing();
  pump();
}

void Supervisor::on_reply(bool from_active, const Envelope& message, std::span<const std::byte> payload) {
  if (stopping_) return;
  if (const auto* beat = std::get_if<protocol::Heartbeat>(&message)) {
    if (!from_active || beat->gpus.empty()) return;
    gpus_ = beat->gpus;
    return heartbeat();
  }
  const bool is_log = std::holds_alternative<protocol::Log>(message);
  const Id id = protocol::id_of(message);
  const bool of_current = current_ && current_->job.id == id;
  if (!is_log && (!from_active || !(of_current || views_.contains(id)))) return;
  const auto* done = std::get_if<protocol::Done>(&message);
  if (of_current && done) return on_done(*done, payload);
  if (!droppable(message) || !client_lags())
    if (auto frame = protocol::frame_of(payload)) write_client(std::move(*frame));
  if (done) views_.erase(id);
  if (!of_current) return;
  current_->heard = true;
  if (const auto* progress = std::get_if<protocol::Progress>(&message)) current_->clock.on_progress(*progress);
  if (const auto* part = std::get_if<protocol::PartHead>(&message); part && part->final)
    current_->clock.on_final_part();
}

// The result of the current request: the executor's failure or, if its deadline stopped it, a message that says how far
// it got.
void Supervisor::on_done(const protocol::Done& done, std::span<const std::byte> payload) {
  const Current ended = std::move(*current_);
  current_.reset();
  if (ended.overdue && done.failure && done.failure->stage == Stage::cancelled) {
    Failure overdue = *ended.overdue;
    if (!done.failure->hint.empty()) overdue.message += ". " + done.failure->hint;
    overdue.kind = done.failure->kind;
    finish(ended.job.id, std::move(overdue), true);
  } else if (auto frame = protocol::frame_of(payload)) {
    write_client(std::move(*frame));
  }
  pump();
}

void Supervisor::on_active_gone(const std::string& how) {
  if (stopping_) return;
  const std::string why = "the executor " + how;
  if (current_ && !current_->heard && !current_->job.tried && !current_->asked_ms) {
    // The executor may have died of the previous request while this one was already in its pipe, so this one gets a
    // second try.
    current_->job.tried = true;
    queue_.push_front(std::move(current_->job));
    current_.reset();
    return retire_active(why);
  }
  if (current_ && current_->asked_ms)
    return end_current(current_->overdue.value_or(Failure{Stage::cancelled, "cancelled", ""}), why);
  if (current_)
    return end_current(
        Failure{Stage::crash, current_->job.name + ": its process " + how + " while " + current_->clock.where(),
                "The next experiment runs in a fresh process. If it happens again, report it with this config."},
        why);
  retire_active(why);
  if (!pool_.comes_up()) give_up_starting(how);
}

void Supervisor::pump() {
  if (stopping_ || current_ || queue_.empty()) return;
  Job& job = queue_.front();
  const protocol::KernelContent* kernel = kernels_.find(job.kernel_hash);
  if (!kernel) {
    if (!job.kernel_wait_ms) {
      job.kernel_wait_ms = 0;
      reply(protocol::Need{job.id, {job.kernel_hash}});
    }
    return;
  }
  if (!pool_.ready()) return;
  // Sent with every request: it is only a few kilobytes, and executors then need not keep it.
  auto content = protocol::encode(Request(*kernel));
  if (!content) return;  // it arrived in a frame, so it fits into one
  pool_.send(std::move(*content));
  pool_.send(job.frame);
  ProgressClock clock(job.deadlines, job.emulated);
  current_.emplace(std::move(job), clock, std::nullopt, std::nullopt, false);
  unaccounted_ms_ = 0;
  pool_.begin_account();
  queue_.pop_front();
}

// Answers the running request and replaces the executor.
void Supervisor::end_current(Failure failure, const std::string& why) {
  const Job job = std::move(current_->job);
  current_.reset();
  finish(job.id, failure, failure.stage != Stage::cancelled);
  retire_active(why);
}

void Supervisor::retire_active(const std::string& why) {
  const bool had_spare = pool_.replace(why);
  log(Severity::warning, why + "; " + (had_spare ? "the spare takes over" : "another one starts"));
  fail_views();
  heartbeat();
  pool_.start_missing();
  pump();
}

void Supervisor::fail_views() {
  for (const Id id : std::exchange(views_, {}))
    finish(id,
           Failure{Stage::device, "the run of this map is not kept: the worker was restarted since",
                   "Run the experiment again."},
           false);
}

// No executor starts: answers every waiting request. tick() keeps trying, at long intervals.
void Supervisor::give_up_starting(const std::string& how) {
  const Failure failure{Stage::crash, "the worker's executor does not start: it " + how,
                        "Run `" +
                            (options_.executor_argv.empty() ? std::string("attnscope") : options_.executor_argv[0]) +
                            " --version` on the worker's machine to see why."};
  for (const Id id : std::exchange(waiting_hellos_, {})) finish(id, failure, false);
  for (const Job& job : std::exchange(queue_, {})) finish(job.id, failure, true);
}

// ---- time ----

void Supervisor::on_tick() {
  const uint64_t now = uv_now(&loop_);
  const auto elapsed = static_cast<int64_t>(now - last_tick_);
  const int64_t ms = std::min(elapsed, ProgressClock::kLongestTick);
  last_tick_ = now;
  if (stopping_) {  // a process that an executor left behind may hold its pipe open and keep this loop running
    pool_.end_strays();
    return close_own_handles();
  }
  pool_.tick(ms);
  watch_current(ms);
  watch_kernel_wait(ms);
  watch_client(ms);
  pool_.start_missing();
}

void Supervisor::watch_kernel_wait(int64_t ms) {
  if (current_ || queue_.empty() || !queue_.front().kernel_wait_ms) return;
  if ((*queue_.front().kernel_wait_ms += ms) <= options_.kernel_ms) return;
  const Job late = std::move(queue_.front());
  queue_.pop_front();
  finish(late.id, Failure{Stage::protocol, late.name + ": the client did not send its kernel", "Run it again."}, true);
  pump();
}

// A link may break without closing this end. A client that greeted regularly and stopped counts as gone, and its
// kernels are ended.
void Supervisor::watch_client(int64_t ms) {
  if (!client_silent_ms_ || stopping_) return;
  if ((*client_silent_ms_ += ms) > options_.client_silence_ms) shut_down(0);
}

void Supervisor::ask_to_stop() {
  current_->asked_ms = 0;
  if (auto frame = protocol::encode(Request(protocol::Cancel{0, current_->job.id}))) pool_.send(std::move(*frame));
}

void Supervisor::watch_current(int64_t ms) {
  if (!current_ || stopping_) return;
  if (current_->asked_ms) {
    if ((*current_->asked_ms += ms) <= options_.cancel_grace_ms) return;
    return end_current(current_->overdue.value_or(Failure{Stage::cancelled, "cancelled", ""}),
                       "the executor did not stop when asked to");
  }
  unaccounted_ms_ += ms;
  const auto share = pool_.own_share();
  if (!share) return;
  current_->clock.tick(std::exchange(unaccounted_ms_, 0), *share);
  if (!current_->clock.expired()) return;
  const int64_t limit = current_->clock.limit_ms(), waited = current_->clock.idle_ms();
  std::string idle = seconds_text(limit);
  if (waited > 2 * limit) idle += " of its own (" + seconds_text(waited) + " on this busy machine)";
  Failure overdue{
      Stage::deadline,
      current_->job.name + ": no progress for " + idle + " while " + current_->clock.where() + "; it was ended",
      "If the kernel does end in time, raise the deadline (--deadline MS). If it waits for a value, look at who "
      "stores it: another CTA, or the host before the launch, which a manifest's init says."};
  // An emulated kernel stops on request, and its executor reports how far it got. A GPU's kernel ends only with its
  // process.
  if (!current_->clock.emulating()) return end_current(overdue, "the executor made no progress for " + idle);
  current_->overdue = std::move(overdue);
  ask_to_stop();
}

void Supervisor::heartbeat() {
  using protocol::WorkerPhase;
  pool_.end_strays();
  if (!pool_.ready()) return reply(protocol::Heartbeat{WorkerPhase::restarting, "starting an executor", gpus_});
  if (!current_) return reply(protocol::Heartbeat{WorkerPhase::ready, "", gpus_});
  reply(protocol::Heartbeat{WorkerPhase::busy, current_->job.name + ": " + current_->clock.where(), gpus_});
}

void Supervisor::shut_down(int status) {
  if (stopping_) return;
  stopping_ = true;
  status_ = status;
  pool_.end_all("the client has gone");
  close_own_handles();
}

void Supervisor::close_own_handles() {
  const bool ticks_on = options_.whole_process && !pool_.all_closed();
  for (auto* handle : {reinterpret_cast<uv_handle_t*>(&in_), reinterpret_cast<uv_handle_t*>(&out_),
                       reinterpret_cast<uv_handle_t*>(&tick_), reinterpret_cast<uv_handle_t*>(&beat_)})
    if (!uv_is_closing(handle) && !(ticks_on && handle == reinterpret_cast<uv_handle_t*>(&tick_)))
      uv_close(handle, nullptr);
  for (uv_signal_t& handle : signals_)
    if (auto* any = reinterpret_cast<uv_handle_t*>(&handle); !uv_is_closing(any)) uv_close(any, nullptr);
}

int run_supervisor(int fd_in, int fd_out, const SupervisorOptions& options) {
  return Supervisor(options).serve(fd_in, fd_out);
}

}  // namespace attnscope::worker
