#include "cli/worker_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "platform/paths.h"
#include "store/workers.h"

namespace attnscope::cli {
namespace {

void add(session::SessionOptions& options, const store::NamedWorker& worker) {
  std::string name = worker.name;
  const auto taken = [&] {
    return std::any_of(options.workers.begin(), options.workers.end(),
                       [&](const session::WorkerCommand& other) { return other.name == name; });
  };
  for (int number = 2; taken(); ++number) name = worker.name + "-" + std::to_string(number);
  options.workers.push_back({name, worker.argv, true});
}

}  // namespace

void add_worker_options(CLI::App& command, std::vector<std::string>& workers) {
  command
      .add_option("--worker", workers,
                  "Also the devices of another machine: a worker that the settings name, or the command that reaches "
                  "one, as \"ssh HOST attnscope worker\" (may be repeated)")
      ->type_name("NAME|COMMAND");
}

Result<void> add_workers(session::SessionOptions& options, const std::vector<std::string>& given, Named named,
                         std::string& device) {
  auto user = platform::user_paths();
  if (!user) return fail(user.error());
  auto known = store::read_named_workers(user->data / "settings.json");
  if (!known) {
    if (!given.empty() || named == Named::asked) return fail(known.error());
    known = std::vector<store::NamedWorker>();  // the session says what is wrong with its settings
  }
  const size_t own = options.workers.size();
  for (const std::string& text : given) {
    auto worker = store::worker_of(text, *known);
    if (!worker) return fail(worker.error());
    add(options, *worker);
  }
  for (const store::NamedWorker& worker : *known) {
    const bool there = std::any_of(options.workers.begin(), options.workers.end(),
                                   [&](const session::WorkerCommand& other) { return other.argv == worker.argv; });
    const bool asked = device == worker.name || device.starts_with(worker.name + "/");
    if (!there && (asked || named == Named::all)) add(options, worker);
  }
  if (!given.empty() && device.empty()) device = options.workers[own].name;
  return {};
}

}  // namespace attnscope::cli
