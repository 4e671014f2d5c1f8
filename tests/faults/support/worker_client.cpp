#include "faults/support/worker_client.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "catalog/catalog.h"
#include "catalog/validate.h"
#include "support/temp_dir.h"

namespace attnscope::testing_support {

using protocol::Id;

namespace {
constexpr auto kPatience = std::chrono::seconds(60);
}

WorkerClient::WorkerClient(int to_worker, int from_worker) : to_(to_worker), from_(from_worker) {
  platform::ignore_write_signals();
}

WorkerClient::WorkerClient(const platform::ChildProcess& worker) : WorkerClient(worker.stdin_fd, worker.stdout_fd) {
  pid_ = worker.pid;
}

WorkerClient::~WorkerClient() {
  close_input();
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
  close(from_);
}

void WorkerClient::close_input() {
  if (to_ >= 0) close(to_);
  to_ = -1;
}

void WorkerClient::offer(const Kernel& kernel) {
  kernels_[kernel.content_hash] = {
      0, kernel.content_hash, kernel.source_name, kernel.manifest_name, kernel.source, kernel.manifest};
}

Id WorkerClient::send(protocol::Request request) {
  const Id id = ++last_id_;
  std::visit([&](auto& message) { message.id = id; }, request);
  auto frame = protocol::encode(request);
  if (!frame)
    ADD_FAILURE() << frame.error().message;
  else
    write_all(*frame);
  return id;
}

void WorkerClient::write_all(std::span<const std::byte> frame) {
  for (size_t at = 0; at < frame.size();) {
    const ssize_t written = write(to_, frame.data() + at, frame.size() - at);
    if (written <= 0) return;  // the worker has ended: the following wait reports it
    at += static_cast<size_t>(written);
  }
}

Id WorkerClient::run(const Experiment& experiment, protocol::Deadlines deadlines, std::optional<ViewRequest> view) {
  const Id id = send(protocol::Run{0, experiment, deadlines, std::move(view)});
  answers_[id].observation.experiment = experiment;
  return id;
}

void WorkerClient::cancel(Id target) { send(protocol::Cancel{0, target}); }

const Answer& WorkerClient::wait(Id id) {
  wait_until([&] { return answers_[id].done(); });
  return answers_[id];
}

Answer WorkerClient::run_and_wait(const Experiment& experiment, protocol::Deadlines deadlines,
                                  std::optional<ViewRequest> view) {
  return wait(run(experiment, deadlines, std::move(view)));
}

protocol::HelloReply WorkerClient::hello() {
  const Id id = send(protocol::Hello{});
  wait_until([&] { return hellos_.contains(id); });
  return hellos_[id];
}

void WorkerClient::wait_until(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      ADD_FAILURE() << "nothing came for a minute";
      return;
    }
    if (!handle_some(std::min(left, std::chrono::milliseconds(50))) && !holds()) {
      ADD_FAILURE() << "the worker closed its output";
      return;
    }
  }
}

bool WorkerClient::handle_some(std::chrono::milliseconds patience) {
  if (over_) return false;
  pollfd waiting{from_, POLLIN, 0};
  if (poll(&waiting, 1, static_cast<int>(patience.count())) <= 0) return true;
  std::vector<std::byte> buffer(65536);
  const ssize_t got = read(from_, buffer.data(), buffer.size());
  if (got <= 0) {
    over_ = true;
    return false;
  }
  std::span<const std::byte> bytes = std::span(buffer).first(static_cast<size_t>(got));
  if (!banner_.found()) {
    if (!banner_.feed(bytes).value_or(false)) return true;
    version = banner_.version();
    bytes = banner_.rest();
  }
  decoder_.feed(bytes);
  for (;;) {
    auto payload = decoder_.next();
    if (!payload) ADD_FAILURE() << payload.error().message;
    if (!payload || !*payload) return true;
    auto reply = protocol::decode_reply(**payload);
    if (reply)
      handle(*reply);
    else
      ADD_FAILURE() << reply.error().message;
  }
}

void WorkerClient::handle(const protocol::Reply& reply) {
  const Id id = protocol::id_of(reply);
  if (const auto* part = std::get_if<protocol::Part>(&reply)) {
    apply_part(answers_[id].observation, *part);
    answers_[id].partial_counters += !part->final;
  } else if (const auto* tile = std::get_if<protocol::TileMessage>(&reply)) {
    answers_[id].tiles.push_back(tile->tile);
  } else if (const auto* progress = std::get_if<protocol::Progress>(&reply)) {
    answers_[id].progress.push_back(*progress);
  } else if (const auto* done = std::get_if<protocol::Done>(&reply)) {
    ++answers_[id].times_done;
    answers_[id].failure = done->failure;
  } else if (const auto* need = std::get_if<protocol::Need>(&reply)) {
    ++answers_[id].needs;
    for (const std::string& hash : need->hashes)
      if (kernels_.contains(hash)) send(kernels_[hash]);
  } else if (const auto* hello = std::get_if<protocol::HelloReply>(&reply)) {
    hellos_[id] = *hello;
  } else if (const auto* log = std::get_if<protocol::Log>(&reply)) {
    logs.push_back(*log);
  } else if (const auto* beat = std::get_if<protocol::Heartbeat>(&reply)) {
    heartbeats.push_back(*beat);
  }
}

std::vector<int> children_of(int parent) {
  std::vector<int> children;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string stat = read_text(entry.path() / "stat");
    const size_t after = stat.rfind(") ");  // the name before it may contain anything
    if (after == std::string::npos || stat.size() < after + 5) continue;
    if (stat[after + 2] != 'Z' && std::atoi(stat.c_str() + after + 4) == parent) children.push_back(std::stoi(name));
  }
  return children;
}

std::vector<int> descendants_of(int ancestor) {
  std::vector<int> all = children_of(ancestor);
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<int> below = children_of(all[i]);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

Kernel shipped_kernel(const std::string& manifest) {
  auto kernel = catalog::load_kernel(std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / manifest);
  if (!kernel) {
    ADD_FAILURE() << kernel.error().message;
    return {};
  }
  return *kernel;
}

Experiment experiment_of(const Kernel& kernel, const std::map<std::string, int64_t>& knobs) {
  Experiment experiment;
  experiment.kernel = kernel.id;
  experiment.kernel_hash = kernel.content_hash;
  experiment.device = "emulated:l4";
  auto config = catalog::complete_config(kernel, knobs, {});
  if (config)
    experiment.config = *config;
  else
    ADD_FAILURE() << config.error().message;
  return experiment;
}

}  // namespace attnscope::testing_support
