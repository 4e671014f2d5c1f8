#include "worker/executor_pool.h"

#include <algorithm>

#include "platform/process.h"

namespace attnscope::worker {
namespace {

constexpr int64_t kAfterOutput = 2000;  // ms from the end of its output until it is killed, to learn how it ended
constexpr uint64_t kBackOff[] = {0, 100, 400, 1600, 5000};  // ms, indexed by the number of failed starts
constexpr uint64_t kAccountEvery = 100'000'000;             // ns

}  // namespace

std::string seconds_text(int64_t ms) {
  std::string text = std::to_string(ms / 1000);
  if (ms % 1000) text += "." + std::to_string(ms % 1000 / 100);
  return text + " s";
}

ExecutorProcess* ExecutorPool::start_one() {
  executors_.push_back(std::make_unique<ExecutorProcess>(
      loop_, options_.executor_argv,
      ExecutorProcess::Events{
          [this](ExecutorProcess& from, const protocol::Envelope& reply, std::span<const std::byte> payload) {
            if (const auto* hello = std::get_if<protocol::HelloReply>(&reply)) {
              from.ready = true;
              failed_starts_ = 0;
              events_.on_ready(*hello);
            } else {
              events_.on_reply(&from == active_, reply, payload);
            }
          },
          [this](ExecutorProcess& from, const std::string& how) { on_gone(from, how); }}));
  return executors_.back().get();
}

void ExecutorPool::start_missing() {
  if (over_ || uv_now(loop_) < next_start_) return;
  if (!active_) active_ = start_one();
  // The spare starts after the active one, so that it does not delay the first request.
  else if (active_->ready && !spare_)
    spare_ = start_one();
}

void ExecutorPool::on_gone(ExecutorProcess& from, const std::string& how) {
  if (over_) return;
  end_strays();
  if (!from.ready) {
    ++failed_starts_;
    next_start_ = uv_now(loop_) + kBackOff[std::min(failed_starts_, std::size(kBackOff) - 1)];
  }
  if (&from == spare_) spare_ = nullptr;
  if (&from == active_) events_.on_active_gone(how);
}

bool ExecutorPool::replace(const std::string& why) {
  if (active_ && !active_->gone()) active_->kill(why);
  active_ = std::exchange(spare_, nullptr);
  return active_ != nullptr;
}

void ExecutorPool::tick(int64_t ms) {
  std::erase_if(executors_, [&](const auto& executor) {
    return executor->closed() && executor.get() != active_ && executor.get() != spare_;
  });
  for (auto& executor : executors_) {
    if (executor->gone()) continue;
    executor->silent_ms += ms;
    const int64_t limit = executor->output_over() ? kAfterOutput
                          : executor->ready       ? options_.silence_ms
                                                  : options_.start_ms;
    if (executor->silent_ms <= limit) continue;
    executor->silent_ms = 0;
    executor->kill(executor->output_over() ? "closed its output" : "gave no sign of life for " + seconds_text(limit));
  }
}

void ExecutorPool::end_all(const std::string& why) {
  over_ = true;
  for (auto& executor : executors_) executor->kill(why);
  active_ = spare_ = nullptr;
}

bool ExecutorPool::all_closed() const {
  return std::all_of(executors_.begin(), executors_.end(), [](const auto& executor) { return executor->closed(); });
}

void ExecutorPool::end_strays() {
  if (!options_.whole_process) return;
  std::vector<pid_t> own;
  for (const auto& executor : executors_) own.push_back(executor->pid());
  platform::end_strays(own);
}

void ExecutorPool::begin_account() {
  account_at_ = uv_hrtime();
  account_ = active_ ? platform::cpu_time_of(active_->pid()) : std::nullopt;
}

std::optional<double> ExecutorPool::own_share() {
  const uint64_t now = uv_hrtime();
  const uint64_t elapsed = now - account_at_;
  if (elapsed < kAccountEvery) return std::nullopt;
  const auto before = account_;
  begin_account();
  if (!before || !account_) return 1;
  const platform::CpuTime spent{account_->ran_ns - before->ran_ns, account_->waited_ns - before->waited_ns};
  static const int processors = platform::usable_processors();
  return platform::own_share(static_cast<int64_t>(elapsed), spent, processors);
}

}  // namespace attnscope::worker
