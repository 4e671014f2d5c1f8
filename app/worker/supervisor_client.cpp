// The client's requests and the answers to them.
#include <algorithm>

#include "core/device_id.h"
#include "worker/supervisor_loop.h"

namespace attnscope::worker {
namespace {

// Bytes waiting to be read, above which messages are dropped for a slow client.
constexpr size_t kDropAbove = size_t{8} << 20;
constexpr size_t kLeaveAbove = size_t{32} << 20;  // bytes waiting to be read, above which the client counts as gone
// Limits of waiting requests. A session sends one at a time; requests beyond these are refused.
constexpr size_t kMostHellos = 64, kMostViews = 64, kMostJobs = 1024;
constexpr size_t kMostJobBytes = size_t{64} << 20;

Job job_of(Id id, const Experiment& experiment, protocol::Deadlines deadlines) {
  Job job;
  job.id = id;
  job.kernel_hash = experiment.kernel_hash;
  job.deadlines = deadlines;
  job.name = experiment.kernel;
  for (const auto& [knob, value] : experiment.config.knobs) job.name += " " + knob + "=" + std::to_string(value);
  job.name += " on " + experiment.device;
  job.emulated = DeviceId(experiment.device).kind == DeviceId::Kind::emulated;
  return job;
}

Failure too_many() {
  return Failure{Stage::protocol, "too many requests wait for this worker", "Wait for its answers before asking more."};
}

}  // namespace

bool droppable(const Envelope& reply) {
  if (const auto* part = std::get_if<protocol::PartHead>(&reply)) return !part->final;
  return std::holds_alternative<protocol::Progress>(reply);
}

void Supervisor::on_input(ssize_t count, const uv_buf_t* buffer) {
  if (stopping_) return;
  if (count < 0) return shut_down(0);
  if (client_silent_ms_) client_silent_ms_ = 0;
  decoder_.feed(std::as_bytes(std::span(buffer->base, static_cast<size_t>(count))));
  while (!stopping_) {
    auto payload = decoder_.next();
    if (!payload) {
      log(Severity::error, payload.error().message);
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
    log(Severity::error, request.error().message);
}

void Supervisor::accept(const protocol::Hello& hello, std::span<const std::byte>) {
  if (!hello_) {
    if (waiting_hellos_.size() < kMostHellos) waiting_hellos_.push_back(hello.id);
    return;
  }
  if (greeted_) client_silent_ms_ = 0;  // from its second greeting on, it must send regular signs of life
  greeted_ = true;
  protocol::HelloReply answer = *hello_;
  answer.id = hello.id;
  reply(answer);
  ask_for_readings();
}

// The executor reports what its GPUs' clocks and temperatures are, while nothing runs.
void Supervisor::ask_for_readings() {
  const bool any = std::ranges::any_of(hello_->devices, [](const DeviceSpec& one) { return !one.emulated; });
  if (!any || current_ || !pool_.ready()) return;
  if (auto frame = protocol::encode(Request(protocol::Hello{0}))) pool_.send(std::move(*frame));
}

void Supervisor::accept(const protocol::KernelContent& kernel, std::span<const std::byte>) {
  if (auto kept = kernels_.keep(kernel); !kept) {
    log(Severity::error, kept.error().message);
    std::vector<Id> waiting;
    for (const Job& job : queue_)
      if (job.kernel_hash == kernel.hash && job.kernel_wait_ms) waiting.push_back(job.id);
    std::erase_if(queue_,
                  [&](const Job& job) { return std::find(waiting.begin(), waiting.end(), job.id) != waiting.end(); });
    for (const Id id : waiting) finish(id, kept.error(), true);
  }
  pump();
}

void Supervisor::accept(const protocol::Run& run, std::span<const std::byte> payload) {
  enqueue(job_of(run.id, run.experiment, run.deadlines), payload);
}

void Supervisor::accept(const protocol::Watch& watch, std::span<const std::byte> payload) {
  Job job = job_of(watch.id, watch.experiment, watch.deadlines);
  job.emulated = true;  // whatever device the experiment names
  enqueue(std::move(job), payload);
}

void Supervisor::accept(const protocol::Code& code, std::span<const std::byte> payload) {
  enqueue(job_of(code.id, code.experiment, code.deadlines), payload);
}

void Supervisor::enqueue(Job job, std::span<const std::byte> payload) {
  if (in_use(job.id))
    return log(Severity::error, "request " + std::to_string(job.id) + " came twice; the second is left out");
  size_t waiting_bytes = payload.size();
  for (const Job& waiting : queue_) waiting_bytes += waiting.frame.size();
  if (queue_.size() >= kMostJobs || waiting_bytes > kMostJobBytes) return finish(job.id, too_many(), true);
  auto frame = protocol::frame_of(payload);
  if (!frame) return finish(job.id, frame.error(), true);
  job.frame = std::move(*frame);
  queue_.push_back(std::move(job));
  pump();
}

void Supervisor::accept(const protocol::View& view, std::span<const std::byte> payload) {
  auto frame = protocol::frame_of(payload);
  if (!frame) return finish(view.id, frame.error(), false);
  if (in_use(view.id)) return log(Severity::error, "request " + std::to_string(view.id) + " came twice");
  if (!pool_.ready())
    return finish(view.id,
                  Failure{Stage::device, "the run of this map is not kept: the worker was restarted since",
                          "Run the experiment again."},
                  false);
  if (views_.size() >= kMostViews) return finish(view.id, too_many(), false);
  views_.insert(view.id);
  pool_.send(std::move(*frame));
}

void Supervisor::accept(const protocol::Cancel& cancel, std::span<const std::byte>) {
  const Failure cancelled{Stage::cancelled, "cancelled", ""};
  const auto waiting =
      std::find_if(queue_.begin(), queue_.end(), [&](const Job& job) { return job.id == cancel.target; });
  if (waiting != queue_.end()) {
    queue_.erase(waiting);
    finish(cancel.target, cancelled, false);
    return pump();  // the next job may have waited for this kernel
  }
  if (!current_ || current_->job.id != cancel.target) return;
  current_->overdue.reset();
  if (!current_->asked_ms) ask_to_stop();
}

void Supervisor::accept(const protocol::Restart& restart, std::span<const std::byte>) {
  const std::string why = "the executor sent what the client cannot read";
  if (current_ && current_->job.id == restart.target) return end_current(restart.failure, why);
  if (views_.erase(restart.target) == 0) return;  // the request has ended
  finish(restart.target, restart.failure, false);
  if (!current_) retire_active(why);  // otherwise the current run ends first
}

bool Supervisor::in_use(Id id) const {
  return (current_ && current_->job.id == id) || views_.contains(id) ||
         std::any_of(queue_.begin(), queue_.end(), [&](const Job& job) { return job.id == id; });
}

void Supervisor::reply(const Reply& reply) {
  if (std::holds_alternative<protocol::Heartbeat>(reply) && client_lags()) return;  // the next heartbeat replaces it
  if (auto frame = protocol::encode(reply)) write_client(std::move(*frame));
}

bool Supervisor::client_lags() const {
  return uv_stream_get_write_queue_size(reinterpret_cast<const uv_stream_t*>(&out_)) > kDropAbove;
}

void Supervisor::write_client(std::vector<std::byte> frame) {
  if (stopping_) return;
  if (uv_stream_get_write_queue_size(reinterpret_cast<const uv_stream_t*>(&out_)) > kLeaveAbove) return shut_down(2);
  write_frame(reinterpret_cast<uv_stream_t*>(&out_), std::move(frame), [this](int) { shut_down(0); });
}

// Every request ends here or with its executor's Done. A run's failure is also a part of its observation.
void Supervisor::finish(Id id, std::optional<Failure> failure, bool with_part) {
  if (failure && with_part) reply(protocol::Part{id, {*failure}});
  reply(protocol::Done{id, std::move(failure)});
}

}  // namespace attnscope::worker
