#include "worker/supervisor.h"

#include <uv.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>

#include "platform/process.h"
#include "protocol/frame.h"
#include "protocol/message.h"
#include "worker/executor_pool.h"
#include "worker/kernel_store.h"
#include "worker/progress_clock.h"

namespace attnscope::worker {
namespace {

using protocol::Id;
using protocol::Reply;
using protocol::Request;

constexpr uint64_t kTick = 20;                  // ms
constexpr size_t kDropAbove = size_t{8} << 20;  // bytes waiting for a client that reads slowly

// A run or compile request that waits or runs.
struct Job {
  Id id = 0;
  std::string kernel_hash;
  std::string name;  // "tiled BLOCK_M=32 NUM_WARPS=4 on emulated:l4"
  bool emulated = true;
  protocol::Deadlines deadlines;
  std::vector<std::byte> frame;
  std::optional<int64_t> kernel_wait_ms;  // since the client was asked for the kernel
  bool tried = false;                     // an executor died under it before it said a word
};

Job job_of(Id id, const Experiment& experiment, protocol::Deadlines deadlines) {
  Job job;
  job.id = id;
  job.kernel_hash = experiment.kernel_hash;
  job.deadlines = deadlines;
  job.name = experiment.kernel;
  for (const auto& [knob, value] : experiment.config.knobs) job.name += " " + knob + "=" + std::to_string(value);
  job.name += " on " + experiment.device;
  job.emulated = experiment.device.find("emulated:") != std::string::npos;
  return job;
}

// What a client that reads slowly can do without: it is superseded by what follows.
bool droppable(const Reply& reply) {
  if (const auto* part = std::get_if<protocol::Part>(&reply)) return !part->final;
  return std::holds_alternative<protocol::Progress>(reply) || std::holds_alternative<protocol::Heartbeat>(reply);
}

class Supervisor {
 public:
  explicit Supervisor(const SupervisorOptions& options)
      : options_(options),
        buffer_(size_t{256} << 10),
        pool_(&loop_, options,
              {[this](const protocol::HelloReply& hello) { on_ready(hello); },
               [this](bool from_active, const Reply& reply, std::span<const std::byte> payload) {
                 on_reply(from_active, reply, payload);
               },
               [this](const std::string& how) { on_active_gone(how); }}) {}
  int serve(int fd_in, int fd_out);

 private:
  struct Current {
    Job job;
    ProgressClock clock;
    std::optional<int64_t> asked_ms;  // since it was asked to stop
    std::optional<Failure> overdue;   // it was asked because of its deadline: this is its answer
    bool heard = false;               // the executor said something about it
  };

  // The client's side
  bool open(int fd_in, int fd_out);
  void on_input(ssize_t count, const uv_buf_t* buffer);
  void on_payload(std::span<const std::byte> payload);
  void accept(const protocol::Hello& hello, std::span<const std::byte>);
  void accept(const protocol::KernelContent& kernel, std::span<const std::byte>);
  void accept(const protocol::Compile& compile, std::span<const std::byte> payload);
  void accept(const protocol::Run& run, std::span<const std::byte> payload);
  void accept(const protocol::View& view, std::span<const std::byte> payload);
  void accept(const protocol::Unoffered& request, std::span<const std::byte>);
  void accept(const protocol::Cancel& cancel, std::span<const std::byte>);
  void enqueue(Job job, std::span<const std::byte> payload);
  bool in_use(Id id) const;
  void reply(const Reply& reply);
  void write_client(std::vector<std::byte> frame);
  void log(protocol::LogLevel level, std::string text) { reply(protocol::Log{level, std::move(text)}); }
  void finish(Id id, std::optional<Failure> failure, bool with_part);

  // The executors' side
  void on_ready(const protocol::HelloReply& hello);
  void on_reply(bool from_active, const Reply& reply, std::span<const std::byte> payload);
  void on_done(const protocol::Done& done, std::span<const std::byte> payload);
  void on_active_gone(const std::string& how);
  void pump();
  void end_current(Failure failure, const std::string& why);
  void retire_active(const std::string& why);
  void fail_views();
  void give_up_starting(const std::string& how);

  // Time
  void on_tick();
  void watch_current(int64_t ms);
  void watch_kernel_wait(int64_t ms);
  void watch_client(int64_t ms);
  void ask_to_stop();
  void heartbeat();
  void shut_down(int status);
  void close_own_handles();

  const SupervisorOptions& options_;
  uv_loop_t loop_{};
  uv_pipe_t in_{}, out_{};
  uv_timer_t tick_{}, beat_{};
  std::vector<char> buffer_;
  protocol::FrameDecoder decoder_;
  KernelStore kernels_;

  ExecutorPool pool_;
  uint64_t last_tick_ = 0;

  std::optional<protocol::HelloReply> hello_;
  std::vector<Id> waiting_hellos_;
  std::deque<Job> queue_;
  std::optional<Current> current_;
  std::set<Id> views_;      // handed to the active executor
  int64_t unaccounted_ms_ = 0;            // of the current request, not yet fed to its clock
  std::optional<int64_t> client_silent_ms_;  // since its last word; empty: it does not greet again and again
  bool greeted_ = false;
  bool stopping_ = false;
  int status_ = 0;
};

// ---- the client's side ----

bool Supervisor::open(int fd_in, int fd_out) {
  uv_loop_init(&loop_);
  uv_pipe_init(&loop_, &in_, 0);
  uv_pipe_init(&loop_, &out_, 0);
  uv_timer_init(&loop_, &tick_);
  uv_timer_init(&loop_, &beat_);
  in_.data = out_.data = tick_.data = beat_.data = this;
  for (const int fd : {fd_in, fd_out})
    if (uv_guess_handle(fd) != UV_NAMED_PIPE) return false;
  return uv_pipe_open(&in_, fd_in) == 0 && uv_pipe_open(&out_, fd_out) == 0;
}

int Supervisor::serve(int fd_in, int fd_out) {
  platform::ignore_write_signals();
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
  return status_;
}

void Supervisor::on_input(ssize_t count, const uv_buf_t* buffer) {
  if (stopping_) return;
  if (count < 0) return shut_down(0);
  if (client_silent_ms_) client_silent_ms_ = 0;
  decoder_.feed(std::as_bytes(std::span(buffer->base, static_cast<size_t>(count))));
  while (!stopping_) {
    auto payload = decoder_.next();
    if (!payload) {
      log(protocol::LogLevel::error, payload.error().message);
      return shut_down(2);
    }
    if (!*payload) return;
    on_payload(**payload);
  }
}

void Supervisor::on_payload(std::span<const std::byte> payload) {
  auto request = protocol::decode_request(payload);
  if (request) return std::visit([&](const auto& message) { accept(message, payload); }, *request);
  const auto id = protocol::id_of_malformed(payload);
  if (id && !in_use(*id))
    finish(*id, request.error(), true);
  else
    log(protocol::LogLevel::error, request.error().message);
}

void Supervisor::accept(const protocol::Hello& hello, std::span<const std::byte>) {
  if (!hello_) return waiting_hellos_.push_back(hello.id);
  if (greeted_) client_silent_ms_ = 0;  // from now on it is to be heard again and again
  greeted_ = true;
  protocol::HelloReply answer = *hello_;
  answer.id = hello.id;
  reply(answer);
}

void Supervisor::accept(const protocol::KernelContent& kernel, std::span<const std::byte>) {
  if (auto kept = kernels_.keep(kernel); !kept) {
    log(protocol::LogLevel::error, kept.error().message);
    std::vector<Id> waiting;
    for (const Job& job : queue_)
      if (job.kernel_hash == kernel.hash && job.kernel_wait_ms) waiting.push_back(job.id);
    std::erase_if(queue_,
                  [&](const Job& job) { return std::find(waiting.begin(), waiting.end(), job.id) != waiting.end(); });
    for (const Id id : waiting) finish(id, kept.error(), true);
  }
  pump();
}

void Supervisor::accept(const protocol::Compile& compile, std::span<const std::byte> payload) {
  enqueue(job_of(compile.id, compile.experiment, compile.deadlines), payload);
}

void Supervisor::accept(const protocol::Run& run, std::span<const std::byte> payload) {
  enqueue(job_of(run.id, run.experiment, run.deadlines), payload);
}

void Supervisor::enqueue(Job job, std::span<const std::byte> payload) {
  if (in_use(job.id))
    return log(protocol::LogLevel::error, "request " + std::to_string(job.id) + " came twice; the second is left out");
  auto frame = protocol::frame_of(payload);
  if (!frame) return finish(job.id, frame.error(), true);
  job.frame = std::move(*frame);
  queue_.push_back(std::move(job));
  pump();
}

void Supervisor::accept(const protocol::View& view, std::span<const std::byte> payload) {
  auto frame = protocol::frame_of(payload);
  if (!frame) return finish(view.id, frame.error(), false);
  if (in_use(view.id)) return log(protocol::LogLevel::error, "request " + std::to_string(view.id) + " came twice");
  if (!pool_.ready())
    return finish(view.id,
                  Failure{Stage::device, "the run of this map is not kept: the worker was restarted since",
                          "Run the experiment again."},
                  false);
  views_.insert(view.id);
  pool_.send(std::move(*frame));
}

void Supervisor::accept(const protocol::Unoffered& request, std::span<const std::byte>) {
  finish(request.id, Failure{Stage::protocol, request.type + " is not offered by this worker", ""}, false);
}

void Supervisor::accept(const protocol::Cancel& cancel, std::span<const std::byte>) {
  const Failure cancelled{Stage::cancelled, "cancelled", ""};
  const auto waiting =
      std::find_if(queue_.begin(), queue_.end(), [&](const Job& job) { return job.id == cancel.target; });
  if (waiting != queue_.end()) {
    queue_.erase(waiting);
    finish(cancel.target, cancelled, false);
    return pump();  // the next one may have waited behind its kernel
  }
  if (!current_ || current_->job.id != cancel.target) return;
  current_->overdue.reset();
  if (!current_->asked_ms) ask_to_stop();
}

bool Supervisor::in_use(Id id) const {
  return (current_ && current_->job.id == id) || views_.contains(id) ||
         std::any_of(queue_.begin(), queue_.end(), [&](const Job& job) { return job.id == id; });
}

void Supervisor::reply(const Reply& reply) {
  if (droppable(reply) && uv_stream_get_write_queue_size(reinterpret_cast<uv_stream_t*>(&out_)) > kDropAbove) return;
  if (auto frame = protocol::encode(reply)) write_client(std::move(*frame));
}

void Supervisor::write_client(std::vector<std::byte> frame) {
  if (stopping_) return;
  write_frame(reinterpret_cast<uv_stream_t*>(&out_), std::move(frame), [this](int) { shut_down(0); });
}

// Every request ends here or by its executor's own Done. A run's failure is a part of its observation too.
void Supervisor::finish(Id id, std::optional<Failure> failure, bool with_part) {
  if (failure && with_part) reply(protocol::failure_part(id, *failure));
  reply(protocol::Done{id, std::move(failure)});
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

void Supervisor::on_reply(bool from_active, const Reply& message, std::span<const std::byte> payload) {
  if (stopping_ || std::holds_alternative<protocol::Heartbeat>(message)) return;
  const bool is_log = std::holds_alternative<protocol::Log>(message);
  const Id id = protocol::id_of(message);
  const bool of_current = current_ && current_->job.id == id;
  if (!is_log && (!from_active || !(of_current || views_.contains(id)))) return;
  const auto* done = std::get_if<protocol::Done>(&message);
  if (of_current && done) return on_done(*done, payload);
  if (!droppable(message) || uv_stream_get_write_queue_size(reinterpret_cast<uv_stream_t*>(&out_)) <= kDropAbove)
    if (auto frame = protocol::frame_of(payload)) write_client(std::move(*frame));
  if (done) views_.erase(id);
  if (!of_current) return;
  current_->heard = true;
  if (const auto* progress = std::get_if<protocol::Progress>(&message)) current_->clock.on_progress(*progress);
  if (const auto* part = std::get_if<protocol::Part>(&message); part && part->final) current_->clock.on_final_part();
}

// The end of the current request in its executor's words, unless it was stopped for its deadline: then in ours, with
// where it was.
void Supervisor::on_done(const protocol::Done& done, std::span<const std::byte> payload) {
  const Current ended = std::move(*current_);
  current_.reset();
  if (ended.overdue && done.failure && done.failure->stage == Stage::cancelled) {
    Failure overdue = *ended.overdue;
    if (!done.failure->hint.empty()) overdue.message += ". " + done.failure->hint;
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
    // It may have died of the request before, with this one already in its pipe: an innocent request gets a second try.
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
  // Sent with every request: a few kilobytes, and an executor need not remember.
  auto content = protocol::encode(Request(*kernel));
  if (!content) return;  // it came in a frame, so it fits one
  pool_.send(std::move(*content));
  pool_.send(job.frame);
  ProgressClock clock(job.deadlines, job.emulated);
  current_.emplace(std::move(job), clock, std::nullopt, std::nullopt, false);
  unaccounted_ms_ = 0;
  pool_.begin_account();
  queue_.pop_front();
}

// Answers the running request and goes on with another executor.
void Supervisor::end_current(Failure failure, const std::string& why) {
  const Job job = std::move(current_->job);
  current_.reset();
  finish(job.id, failure, failure.stage != Stage::cancelled);
  retire_active(why);
}

void Supervisor::retire_active(const std::string& why) {
  const bool had_spare = pool_.replace(why);
  log(protocol::LogLevel::warning, why + "; " + (had_spare ? "the spare takes over" : "another one starts"));
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

// No executor comes up: nobody is left waiting. The tick keeps trying, at long intervals.
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

// A link that broke without a word leaves this end open: a client that used to greet and does so no more is gone, and its
// kernels go with it.
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
  Failure overdue{Stage::deadline,
                  current_->job.name + ": no progress for " + idle + " while " + current_->clock.where() +
                      "; it was ended",
                  "If the kernel does end in time, raise the deadline (--deadline MS)."};
  // An emulated kernel stops when asked to, and its executor says where it was; a GPU's ends with its process alone.
  if (!current_->clock.emulating()) return end_current(overdue, "the executor made no progress for " + idle);
  current_->overdue = std::move(overdue);
  ask_to_stop();
}

void Supervisor::heartbeat() {
  using protocol::WorkerPhase;
  if (!pool_.ready()) return reply(protocol::Heartbeat{WorkerPhase::restarting, "starting an executor"});
  if (!current_) return reply(protocol::Heartbeat{WorkerPhase::ready, ""});
  reply(protocol::Heartbeat{WorkerPhase::busy, current_->job.name + ": " + current_->clock.where()});
}

void Supervisor::shut_down(int status) {
  if (stopping_) return;
  stopping_ = true;
  status_ = status;
  pool_.end_all("the client has gone");
  close_own_handles();
}

void Supervisor::close_own_handles() {
  for (auto* handle : {reinterpret_cast<uv_handle_t*>(&in_), reinterpret_cast<uv_handle_t*>(&out_),
                       reinterpret_cast<uv_handle_t*>(&tick_), reinterpret_cast<uv_handle_t*>(&beat_)})
    if (!uv_is_closing(handle)) uv_close(handle, nullptr);
}

}  // namespace

int run_supervisor(int fd_in, int fd_out, const SupervisorOptions& options) {
  return Supervisor(options).serve(fd_in, fd_out);
}

}  // namespace attnscope::worker
