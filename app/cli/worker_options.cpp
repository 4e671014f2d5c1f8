#include "cli/worker_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/number_checks.h"
#include "cli/places.h"
#include "core/device_id.h"
#include "core/joined.h"
#include "platform/paths.h"
#include "store/workers.h"

namespace attnscope::cli {

void add_named_worker(session::SessionOptions& options, const store::NamedWorker& worker) {
  std::string name = worker.name;
  const auto taken = [&] {
    return std::any_of(options.workers.begin(), options.workers.end(),
                       [&](const session::WorkerCommand& other) { return other.name == name; });
  };
  for (int number = 2; taken(); ++number) name = worker.name + "-" + std::to_string(number);
  options.workers.push_back({name, worker.argv, true});
}

namespace {

constexpr const char* kTorch = "torch";

bool has_worker(const session::SessionOptions& options, const std::string& name) {
  return std::any_of(options.workers.begin(), options.workers.end(),
                     [&](const session::WorkerCommand& worker) { return worker.name == name; });
}

// True if the command runs attnscope's worker, here or through another program such as ssh.
bool is_attnscopes(const session::WorkerCommand& worker) {
  constexpr std::string_view kEnd = "attnscope worker";
  if (worker.argv.empty()) return false;
  if (worker.name == store::kOwnWorker) return true;
  const std::string command = joined(worker.argv, {}, " ");
  if (!command.ends_with(kEnd)) return false;
  const size_t before = command.size() - kEnd.size();
  return before == 0 || command[before - 1] == ' ' || command[before - 1] == '/';
}

// The worker for torch's routines that the program itself starts on this machine.
Result<session::WorkerCommand> torch_worker() {
  auto resources = platform::resources();
  if (!resources) return fail(resources.error());
  auto self = platform::own_executable();
  if (!self) return fail(self.error());
  const std::string python = platform::environment("ATTNSCOPE_PYTHON");
  return session::WorkerCommand{
      kTorch,
      {python.empty() ? "python3" : python, "-B",  // so that nothing is written beside the program
       (*resources / "assets" / "torch_worker" / "torch_worker.py").string(), "--attnscope", self->string()},
      false};
}

}  // namespace

void add_library_workers(session::SessionOptions& options, const std::vector<Kernel>& kernels) {
  for (const Kernel& kernel : kernels) {
    if (kernel.library != LibraryId::torch || has_worker(options, kTorch)) continue;
    auto worker = torch_worker();
    if (!worker) continue;  // its kernels are refused, with a hint what to install
    options.workers.push_back(std::move(*worker));
  }
}

std::vector<std::string> add_worker_flag(std::vector<session::WorkerCommand>& workers, const std::string& flag) {
  std::vector<std::string> others;
  for (session::WorkerCommand& worker : workers) {
    if (!is_attnscopes(worker))
      others.push_back(worker.name);
    else if (worker.argv.back() == "worker")
      worker.argv.push_back(flag);
    else  // one word is the whole command, as in `ssh box "attnscope worker"` or `sh -c "attnscope worker"`
      worker.argv.back() += " " + flag;
  }
  return others;
}

void add_worker_options(CLI::App& command, WorkerOptions& workers) {
  command
      .add_option("--worker", workers.given,
                  "Also the devices of another machine: a worker that the settings name, or the command that reaches "
                  "one, as \"ssh HOST attnscope worker\" (may be repeated)")
      ->type_name("NAME|COMMAND");
  add_connect_timeout(command, workers);
}

void add_connect_timeout(CLI::App& command, WorkerOptions& workers) {
  command
      .add_option("--connect-timeout", workers.connect_timeout_s,
                  "Give up a worker that says nothing at all for this long; words on its stderr (\"job 7 queued\") "
                  "lift the limit")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->check(above_zero())
      ->check(CLI::Range(0.1, 24 * 3600.0));
}

bool is_local(const std::string& device) {
  const DeviceId id(device);
  return device.empty() || (id.is_own() && id.kind != DeviceId::Kind::none);
}

Result<session::SessionOptions> options_with_workers(const std::vector<std::string>& kernel_dirs,
                                                     const WorkerOptions& workers, std::string& device) {
  auto options = session_options(kernel_dirs, false);
  if (!options) return options;
  if (auto added = add_workers(*options, workers, Named::asked, device); !added) return fail(added.error());
  return options;
}

Result<void> add_workers(session::SessionOptions& options, const WorkerOptions& workers, Named named,
                         std::string& device) {
  const std::vector<std::string>& given = workers.given;
  options.connect_ms = static_cast<int>(workers.connect_timeout_s * 1000);
  auto user = platform::user_paths();
  if (!user) return fail(user.error());
  auto known = store::read_named_workers(user->data / "settings.json");
  if (!known) {
    if (!given.empty() || (named == Named::asked && !is_local(device))) return fail(known.error());
    known = std::vector<store::NamedWorker>();  // the session reports errors in its settings
  }
  const size_t own = options.workers.size();
  for (const std::string& text : given) {
    const bool settings_name_it = std::any_of(known->begin(), known->end(),
                                              [&](const store::NamedWorker& worker) { return worker.name == text; });
    if (text == kTorch && !settings_name_it) {  // the worker shipped with this program, on this machine
      auto torch = torch_worker();
      if (!torch) return fail(torch.error());
      options.workers.push_back(std::move(*torch));
      continue;
    }
    auto worker = store::worker_of(text, *known);
    if (!worker) return fail(worker.error());
    add_named_worker(options, *worker);
  }
  for (const store::NamedWorker& worker : *known) {
    const bool there = std::any_of(options.workers.begin(), options.workers.end(),
                                   [&](const session::WorkerCommand& other) { return other.argv == worker.argv; });
    if (!there && (DeviceId(device).is_of(worker.name) || named == Named::all)) add_named_worker(options, worker);
  }
  if (DeviceId(device).is_of(kTorch) && !has_worker(options, kTorch)) {
    auto worker = torch_worker();
    if (!worker) return fail(worker.error());
    options.workers.push_back(std::move(*worker));
  }
  if (!given.empty() && device.empty()) device = options.workers[own].name;
  return {};
}

Result<std::unique_ptr<session::Session>> bare_session(const ExperimentOptions& experiment,
                                                       const WorkerOptions& workers, Draft& draft) {
  std::string device = experiment.device;
  auto with = options_with_workers(experiment.kernel_dirs, workers, device);
  if (!with) return fail(with.error());
  if (!device.empty()) draft.device = device;
  with->state_dir.clear();
  with->watch_files = with->first_experiment = false;
  return session::Session::start(std::move(*with), {});
}

}  // namespace attnscope::cli
