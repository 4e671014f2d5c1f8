#include "platform/run_tool.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "platform/descriptor.h"
#include "platform/spawn_attributes.h"

extern char** environ;

namespace attnscope::platform {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kUnread = "its output could not be read";
constexpr const char* kNoMemoryHint = "End other programs: the machine may be short of memory.";

tl::unexpected<Failure> system_failure(const ToolRun& run, const std::string& what, int error, const char* hint) {
  return fail(Stage::internal, run.program.string() + " could not be run: " + what + ": " + std::strerror(error) + ".",
              error == EMFILE || error == ENFILE ? kNoDescriptorHint : hint);
}

Result<Descriptor> make_input(const ToolRun& run) {
  Descriptor file(memfd_create("attnscope-input", MFD_CLOEXEC));
  if (file.get() < 0) return system_failure(run, "no memory file", errno, kNoMemoryHint);
  if (const int error = write_all(file.get(), run.input); error != 0)
    return system_failure(run, "its input could not be written", error, kNoMemoryHint);
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

// Moves a descriptor above 0-3, where it could be overwritten before it is copied.
Result<Descriptor> above_standard(const ToolRun& run, const Descriptor& file) {
  Descriptor moved(fcntl(file.get(), F_DUPFD_CLOEXEC, 10));
  if (moved.get() < 0) return system_failure(run, "no descriptor", errno, kNoDescriptorHint);
  return moved;
}

Result<pid_t> start(const ToolRun& run, const Descriptor& out, const Descriptor& err, const Descriptor& input) {
  auto out_high = above_standard(run, out), err_high = above_standard(run, err),
       input_high = above_standard(run, input);
  for (auto* file : {&out_high, &err_high, &input_high})
    if (!*file) return fail(file->error());

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out_high->get(), 1);
  posix_spawn_file_actions_adddup2(&actions, err_high->get(), 2);
  posix_spawn_file_actions_adddup2(&actions, input_high->get(), 3);
  const SpawnAttributes attributes(run.starts_others ? ProcessGroup::own : ProcessGroup::callers);

  std::string program = run.program.string();
  std::vector<std::string> words = run.arguments;
  std::vector<char*> argv = {program.data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<std::string> additions = run.environment, replaced = run.replaced;
  std::vector<char*> variables;
  for (std::string& one : replaced) variables.push_back(one.data());
  const auto is_replaced = [&](std::string_view variable) {
    return std::ranges::any_of(
        run.replaced, [&](const std::string& one) { return variable.starts_with(one.substr(0, one.find('=') + 1)); });
  };
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!is_replaced(*variable)) variables.push_back(*variable);
  for (std::string& addition : additions)
    if (std::getenv(addition.substr(0, addition.find('=')).c_str()) == nullptr) variables.push_back(addition.data());
  variables.push_back(nullptr);
  pid_t child = -1;
  const int error = posix_spawnp(&child, program.c_str(), &actions, attributes.get(), argv.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return system_failure(run, "it did not start", error,
                          "Check that the file is there, may be executed, and is built for this machine.");
  return child;
}

// Ends the child if it still runs, however the caller leaves. If it leads a process group, ends the rest of that too.
class Child {
 public:
  Child(pid_t pid, bool leads) : pid_(pid), leads_(leads) {}
  Child(const Child&) = delete;
  ~Child() {
    if (pid_ < 0) return;
    kill(leads_ ? -pid_ : pid_, SIGKILL);
    wait();
  }
  int wait() {
    if (leads_) {
      siginfo_t ended;  // the group's number stays taken until the child's end is taken note of, below
      while (waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
      }
      kill(-pid_, SIGKILL);
    }
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_;
  const bool leads_;
};

// One of the program's two streams, and poll()'s result for it.
struct Stream {
  Descriptor* from;
  std::string* text;
  short events;
};

enum class Drained { yes, no, failed };

Drained drain(Descriptor& from, std::string& into) {
  std::array<char, 65536> chunk;
  const ssize_t got = read(from.get(), chunk.data(), chunk.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN ? Drained::no : Drained::failed;
  if (got == 0) return Drained::yes;
  into.append(chunk.data(), static_cast<size_t>(got));
  return Drained::no;
}

}  // namespace

Result<ToolOutput> run_tool(const ToolRun& run) {
  auto out = make_pipe(), err = make_pipe();
  if (!out || !err) return system_failure(run, "no pipe", errno, kNoDescriptorHint);
  auto input = make_input(run);
  if (!input) return fail(input.error());
  const auto deadline = Clock::now() + std::chrono::milliseconds(run.deadline_ms);
  auto pid = start(run, out->write, err->write, *input);
  if (!pid) return fail(pid.error());
  Child child(*pid, run.starts_others);
  if (run.max_file_bytes != 0) {
    const rlimit limit{run.max_file_bytes, run.max_file_bytes};
    static_cast<void>(prlimit(*pid, RLIMIT_FSIZE, &limit, nullptr));  // fails only if it has ended
  }
  out->write.close();
  err->write.close();

  ToolOutput output;
  while (out->read.get() >= 0 || err->read.get() >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0)
      return fail(Stage::deadline,
                  run.program.string() + " did not end within " + std::to_string(run.deadline_ms) + " ms.",
                  "The machine may be overloaded. Try again.");
    pollfd polled[2] = {{out->read.get(), POLLIN, 0}, {err->read.get(), POLLIN, 0}};  // poll ignores a closed one (-1)
    const int ready = poll(polled, 2, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) return system_failure(run, kUnread, errno, kNoMemoryHint);
    if (ready <= 0) continue;
    for (const auto& [from, text, events] :
         {Stream{&out->read, &output.out, polled[0].revents}, Stream{&err->read, &output.err, polled[1].revents}}) {
      if (events == 0) continue;
      const Drained state = drain(*from, *text);
      if (state == Drained::failed) return system_failure(run, kUnread, errno, kNoMemoryHint);
      if (state == Drained::yes) from->close();
      if (text->size() > run.max_output_bytes)
        return fail(Stage::internal,
                    run.program.string() + " printed over " + std::to_string(run.max_output_bytes) + " bytes.",
                    "Its input may not be what it expects.");
    }
  }
  const int status = child.wait();
  if (WIFSIGNALED(status))
    return fail(Stage::internal,
                run.program.string() + " was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
                    strsignal(WTERMSIG(status)) + ").",
                "It may be damaged, or the machine short of memory.");
  output.exit_code = WEXITSTATUS(status);
  return output;
}

}  // namespace attnscope::platform
