#include "cli/sweep_pool.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/command.h"
#include "cli/places.h"
#include "core/device_id.h"
#include "core/joined.h"
#include "platform/gpus.h"
#include "platform/paths.h"
#include "store/workers.h"

namespace attnscope::cli {
namespace {

using session::Sharing;
using session::Snapshot;
using session::WorkerState;
using session::WorkerStatus;

constexpr size_t kMostNamed = 4;  // workers whose state is shown by name
constexpr size_t kMostWorkers = 256;

// True if every worker has settled or may wait for hours, and one can start, or none is left to wait for. The first
// snapshots have no workers yet.
bool can_start(const Snapshot& snapshot, const std::vector<std::string>& workers) {
  size_t up = 0, waits = 0;
  for (const std::string& name : workers) {
    const auto worker = std::ranges::find(snapshot.workers, name, &WorkerStatus::name);
    if (worker == snapshot.workers.end()) return false;
    if (is_up(*worker))
      ++up;
    else if (worker->waits)
      ++waits;
    else if (worker->state != WorkerState::lost)
      return false;
  }
  return up > 0 || waits == 0;
}

Failure none_left(const Snapshot& snapshot, const std::vector<std::string>& workers) {
  std::vector<std::string> reasons;
  for (const WorkerStatus& worker : snapshot.workers)
    if (std::ranges::count(workers, worker.name) > 0) reasons.push_back(worker.name + ": " + worker.detail);
  return {Stage::device, "no worker is available: " + joined(reasons, {}, "; "),
          "Check the workers' commands; `attnscope doctor` tries every worker that the settings name."};
}

Failure no_such_device(const Snapshot& snapshot, const WorkerStatus& worker, const std::string& device) {
  std::vector<std::string> there;
  for (const DeviceSpec& spec : *snapshot.devices)
    if (const DeviceId id(spec.id); id.worker == worker.name) there.emplace_back(id.local);
  return {Stage::device, fmt::format("worker {} has no device {}", worker.name, device),
          "It has " + joined(there) + ". Name one that all workers have, or leave this worker out."};
}

// An emulated device is the same on every machine, so it has this program's own id.
DeviceSpec named_for_all(const DeviceSpec& there, const std::string& local_id, const Snapshot& snapshot) {
  if (!there.emulated) return there;
  const DeviceSpec* own = session::find_device(snapshot, local_id);
  return own != nullptr && session::unlike(*own, {}, there, {}).empty() ? *own : there;
}

// What those workers share: the device with that id on each of them, or, if it is empty, the first one's best.
Result<Sharing> share(WaitingSession& session, const std::vector<std::string>& workers, const std::string& asked) {
  const auto snapshot = session.wait_until([&](const Snapshot& now) { return can_start(now, workers); });
  std::optional<Sharing> sharing;
  std::string first, local_id;
  for (const std::string& name : workers) {
    const WorkerStatus& worker = *std::ranges::find(snapshot->workers, name, &WorkerStatus::name);
    if (!is_up(worker)) continue;
    if (!sharing) {
      const DeviceSpec* best = device_of(*snapshot, asked.empty() ? name : id_at(name, asked));
      if (best == nullptr) return fail(no_such_device(*snapshot, worker, asked));
      first = best->id;
      local_id = DeviceId(best->id).local;
      sharing = Sharing{{}, named_for_all(*best, local_id, *snapshot), worker.versions};
    }
    const DeviceSpec* own = session::find_device(*snapshot, id_at(name, local_id));
    if (own == nullptr) return fail(no_such_device(*snapshot, worker, local_id));
    DeviceSpec reference = sharing->device;
    reference.id = first;
    if (const auto why = session::unlike(*own, worker.versions, reference, sharing->versions); !why.empty())
      return fail(Stage::device, "the workers of one sweep need devices that are alike: " + why,
                  "Run a sweep for each, or name one device that all have with --device.");
  }
  if (!sharing) return fail(none_left(*snapshot, workers));
  for (const std::string& name : workers) sharing->devices.push_back(id_at(name, local_id));
  // Whichever worker came first, the results have the same device id.
  if (sharing->device.id == first) sharing->device.id = sharing->devices.front();
  return *sharing;
}

std::string name_of_gpu(size_t number) { return fmt::format("gpu{}", number); }

// Each GPU of this machine beyond the first has a worker of its own, so that all of them run at once. As many as the
// driver lists start with the first one; what is left out then leaves its worker idle.
Result<Pool> open_local(session::SessionOptions options, const std::string& asked, const std::string& wish) {
  const std::vector<std::string> argv = options.workers.front().argv;
  const size_t own = options.workers.size();
  const auto start_up_to = [&](size_t gpus) {
    for (size_t gpu = options.workers.size() - own + 1; gpu < gpus; ++gpu)
      options.workers.push_back({name_of_gpu(gpu), argv, false});
  };
  if (asked.empty()) start_up_to(platform::listed_gpus());
  auto waiting = WaitingSession::start(options);
  if (!waiting) return fail(waiting.error());
  auto found = (*waiting)->wait_for(asked.empty() ? wish : asked);
  if (!found) return fail(found.error());
  Pool pool{std::move(*waiting), std::move(*found), {}};
  if (!asked.empty() || pool.device.device.emulated) return pool;
  const auto snapshot = pool.session->session().snapshot();
  const LikeGpus like = gpus_like(pool.device.device, *snapshot->devices);
  for (const std::string& sentence : like.left_out) print_note("attnscope sweep: " + sentence);
  if (like.ids.size() < 2) return pool;
  Sharing sharing{{}, pool.device.device, pool.device.versions};
  for (const std::string& id : like.ids)
    sharing.devices.push_back(sharing.devices.empty() ? id : id_at(name_of_gpu(sharing.devices.size()), id));
  if (options.workers.size() - own + 1 < like.ids.size()) {
    start_up_to(like.ids.size());
    pool.session.reset();
    auto together = WaitingSession::start(std::move(options));
    if (!together) return fail(together.error());
    pool.session = std::move(*together);
  }
  pool.sharing = std::move(sharing);
  return pool;
}

std::string state_text(const WorkerStatus& worker) {
  std::string text(to_string(worker.state));
  if (worker.state != WorkerState::ready && worker.state != WorkerState::busy && !worker.detail.empty())
    text += ": " + worker.detail;
  return text;
}

}  // namespace

void add_pool_options(CLI::App& command, PoolOptions& pool) {
  command
      .add_option("--worker", pool.workers.given,
                  "Sweep there: a worker that the settings name, or the command that reaches one, as \"ssh HOST "
                  "attnscope worker\" (may be repeated: each takes the next config)")
      ->type_name("NAME|COMMAND");
  add_connect_timeout(command, pool.workers);
  auto* slurm = command
                    .add_option("--slurm", pool.slurm,
                                "Sweep through Slurm: srun's arguments for each worker, as \"--gres=gpu:1\"")
                    ->type_name("ARGUMENTS");
  auto* count = command.add_option("--workers", pool.count, "With --slurm: keep this many workers")
                    ->type_name("N")
                    ->check(CLI::Range(size_t{1}, kMostWorkers))
                    ->needs(slurm);
  slurm->needs(count);
}

std::string wish_of(const ExperimentOptions& options, const Draft& draft) {
  return options.preset.empty() ? "" : draft.device;
}

Result<std::vector<std::string>> srun_command(const std::string& arguments, const std::string& program) {
  // Without --unbuffered, srun holds a message back until a line ends.
  std::vector<std::string> argv{"srun", "--ntasks=1", "--unbuffered"};
  if (arguments.find_first_not_of(" \t\n") != std::string::npos) {
    auto words = store::command_words(arguments);
    if (!words) return fail(Stage::input, "--slurm: " + words.error().message, words.error().hint);
    argv.insert(argv.end(), words->begin(), words->end());
  }
  argv.insert(argv.end(), {program, "worker"});
  return argv;
}

LikeGpus gpus_like(const DeviceSpec& first, const std::vector<DeviceSpec>& here) {
  LikeGpus like{{first.id}, {}};
  for (const DeviceSpec& spec : here) {
    if (spec.emulated || spec.id == first.id || !DeviceId(spec.id).is_own()) continue;
    if (const auto why = session::unlike(spec, {}, first, {}); why.empty())
      like.ids.push_back(spec.id);
    else
      like.left_out.push_back(spec.id + " takes no part: " + why);
  }
  return like;
}

Result<Pool> Pool::open(const std::vector<std::string>& kernel_dirs, const PoolOptions& options,
                        const protocol::Deadlines& deadlines, const std::string& asked, const std::string& wish) {
  std::string device = asked;
  auto with = options_with_workers(kernel_dirs, options.workers, device);
  if (!with) return fail(with.error());
  with->deadlines = deadlines;
  const size_t given = options.workers.given.size(), own = 1;
  for (size_t at = 0; at < options.count; ++at) {
    auto argv = srun_command(options.slurm, with->workers.front().argv.front());
    if (!argv) return fail(argv.error());
    add_named_worker(*with, {"slurm", std::move(*argv)});
  }
  std::vector<std::string> workers;  // those that share
  for (size_t at = own; at < own + given; ++at) workers.push_back(with->workers[at].name);
  for (size_t at = with->workers.size() - options.count; at < with->workers.size(); ++at)
    workers.push_back(with->workers[at].name);
  const bool of_one = !is_local(asked);  // a device with its worker's name
  if (of_one && workers.size() > 1)
    return fail(Stage::input,
                "--device " + asked + " is one worker's, and the sweep has " + std::to_string(workers.size()),
                "Name the device as every worker calls it, as cuda:0.");
  if (workers.empty() || of_one) return open_local(std::move(*with), asked, wish);
  auto waiting = WaitingSession::start(std::move(*with));
  if (!waiting) return fail(waiting.error());
  auto sharing = share(**waiting, workers, asked);
  if (!sharing) return fail(sharing.error());
  return Pool{std::move(*waiting), {sharing->device, sharing->versions}, std::move(*sharing)};
}

void PoolWords::look(Seen& seen, const WorkerStatus& worker, const Snapshot& snapshot,
                     const std::string& device) const {
  const DeviceSpec* there = session::find_device(snapshot, device);
  if (is_up(worker) && !seen.up)
    seen.left_out = there == nullptr ? "it has no such device"
                                     : session::unlike(*there, worker.versions, sharing_.device, sharing_.versions,
                                                       sharing_.by_nvcc);
  seen.up = is_up(worker);
  std::string trouble;
  if (worker.state == WorkerState::lost || worker.state == WorkerState::restarting) trouble = state_text(worker);
  if (seen.up && !seen.left_out.empty()) trouble = "takes no part: " + seen.left_out;
  // A restart is not reported, because it may end like the previous one.
  if (trouble == seen.said || (trouble.empty() && !seen.up)) return;
  print_note(fmt::format("worker {}: {}", worker.name, trouble.empty() ? "works again" : trouble));
  seen.said = trouble;
}

bool PoolWords::look(const Snapshot& snapshot) {
  waiting_.look(snapshot);
  if (std::exchange(version_, snapshot.version) == snapshot.version && !text_.empty()) return false;
  std::vector<std::string> named;
  std::map<std::string, size_t> counted;
  for (const std::string& device : sharing_.devices) {
    const WorkerStatus* worker = session::worker_of(snapshot, device);
    if (worker == nullptr) continue;
    Seen& seen = seen_[worker->name];
    look(seen, *worker, snapshot, device);
    const bool left_out = seen.up && !seen.left_out.empty();
    const std::string state = left_out        ? "left out"
                              : worker->waits ? "waiting in a queue"
                                              : std::string(to_string(worker->state));
    ++counted[state];
    named.push_back(worker->name + " " + (left_out ? state : state_text(*worker)));
  }
  std::string text = joined(named);
  if (named.size() > kMostNamed)
    text = "workers: " +
           joined(counted, [](const auto& state) { return fmt::format("{} {}", state.second, state.first); });
  const bool changed = text != text_;
  text_ = std::move(text);
  return changed;
}

}  // namespace attnscope::cli
