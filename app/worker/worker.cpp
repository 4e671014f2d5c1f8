#include "worker/worker.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <span>

#include "core/escape.h"
#include "platform/atomic_file.h"
#include "platform/descriptor.h"
#include "platform/keeper.h"
#include "platform/paths.h"
#include "platform/process.h"
#include "worker/executor.h"
#include "worker/executor_walls.h"
#include "worker/judge.h"
#include "worker/supervisor.h"
#include "worker/touch_run.h"

namespace attnscope::worker {
namespace {

constexpr int kFailed = 3;
constexpr size_t kMostQuestion = size_t{256} << 20;  // bytes

// Keeps the real stdout for the protocol: from here on, what a library prints to fd 1 goes to stderr.
int take_stdout() {
  const int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (fd >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
  return fd;
}

// Keeps the real stdin: programs that this one starts get no input.
int take_stdin() {
  const int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  const int nowhere = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nowhere >= 0) {
    dup2(nowhere, STDIN_FILENO);
    close(nowhere);
  }
  return fd;
}

int complain(const Failure& failure) {
  std::fputs(terminal_text("attnscope worker: " + failure.message + "\n" + failure.hint + "\n").c_str(), stderr);
  return kFailed;
}

}  // namespace

int supervisor_main(Purpose purpose) {
  // The keeper ends processes that an executor left in their own session, even if SIGKILL ends the supervisor.
  if (const auto ended = platform::work_under_keeper()) return *ended;
  auto self = platform::own_executable();
  if (!self) return complain(self.error());
  SupervisorOptions options;
  options.version = ATTNSCOPE_VERSION;
  options.whole_process = true;
  options.executor_argv = {self->string(), "worker", "--executor"};
  if (purpose == Purpose::profile) options.executor_argv.emplace_back(kProfileFlag);
  const int in = take_stdin(), out = take_stdout();
  const int status = in < 0 || out < 0 ? 2 : run_supervisor(in, out, options);
  if (status == 2)
    return complain({Stage::protocol, "stdin and stdout are not connected to a window or session",
                     "`attnscope worker` is started by a window or session: attnscope --worker \"ssh HOST attnscope "
                     "worker\"."}),
           status;
  if (status > 128) platform::leave_by(status - 128);
  return status;
}

int executor_main(Purpose purpose) {
  if (!platform::die_with_parent(getppid())) return kFailed;
  auto paths = platform::user_paths();
  if (!paths) return complain(paths.error());
  auto resources = platform::resources();
  if (!resources) return complain(resources.error());
  const int in = take_stdin(), out = take_stdout();
  if (in < 0 || out < 0) return kFailed;
  ExecutorOptions options{ATTNSCOPE_VERSION, paths->cache, *resources / "assets", purpose,
                          catalog::load_devices(*resources / "assets/devices", paths->config / "devices")};
  confine_executor(paths->cache, *resources);
  run_executor(in, out, std::move(options));
}

int judge_main() {
  if (!platform::die_with_parent(getppid())) return kFailed;
  platform::ignore_write_signals();
  auto paths = platform::user_paths();
  if (!paths) return complain(paths.error());
  const int in = take_stdin(), out = take_stdout();
  if (in < 0 || out < 0) return kFailed;
  return serve_judge(in, out, paths->cache);
}

int touches_main(const std::filesystem::path& question) {
  if (!platform::die_with_parent(getppid())) return kFailed;
  platform::ignore_write_signals();
  auto paths = platform::user_paths();
  if (!paths) return complain(paths.error());
  auto resources = platform::resources();
  if (!resources) return complain(resources.error());
  auto text = platform::read_file(question, kMostQuestion);
  auto asked = text ? question_of(*text, "the question") : Result<TouchQuestion>(fail(text.error()));
  if (!asked) return complain(asked.error());
  auto devices = catalog::load_devices(*resources / "assets/devices", paths->config / "devices");
  const int out = take_stdout();
  if (out < 0) return kFailed;
  confine_executor(paths->cache, *resources);
  Services services(ATTNSCOPE_VERSION, paths->cache, *resources / "assets", std::move(devices), Purpose::emulate);
  const std::string answer = answers_text(answer_touches(services, *asked));
  return platform::write_all(out, std::as_bytes(std::span(answer))) == 0 ? 0 : kFailed;
}

}  // namespace attnscope::worker
