#include "cli/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <new>

#include "cli/exit_status.h"
#include "platform/process.h"
#include "platform/standard_streams.h"

namespace attnscope::cli {
namespace {

// An exception's text may contain input. terminal_text() allocates, so here everything but plain ASCII becomes "?".
void write_plain(const char* text) noexcept {
  while (*text != '\0') {
    size_t plain = 0;
    while (text[plain] >= ' ' && text[plain] <= '~') ++plain;
    platform::write_stderr({text, plain});
    text += plain;
    if (*text == '\0') return;
    platform::write_stderr("?");
    ++text;
  }
}

constexpr const char* kNoMemory = "attnscope: there is not enough memory for this\n  Ask for something smaller.\n";

// Reports the exception that is being handled. It must not allocate, because memory may be exhausted.
ExitStatus tell_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    platform::write_stderr(kNoMemory);
    return kRefused;
  } catch (const std::exception& error) {
    platform::write_stderr("attnscope: internal: ");
    write_plain(error.what());
    platform::write_stderr("\n  This is a bug in attnscope; report it.\n");
  } catch (...) {
    platform::write_stderr("attnscope: internal: an unknown exception\n  This is a bug in attnscope; report it.\n");
  }
  return kEnded;
}

std::atomic<bool> memory_was_refused{false};

[[noreturn]] void refuse_memory() {
  memory_was_refused = true;
  throw std::bad_alloc();
}

// An exception that leaves a thread, or is thrown where none is allowed, can only be reported. If a noexcept function
// of a library ends the process (directory_iterator's step), the exception itself can no longer be read.
[[noreturn]] void end_at_once() noexcept {
  if (std::current_exception()) _exit(tell_exception());
  if (std::uncaught_exceptions() > 0 && memory_was_refused) {
    platform::write_stderr(kNoMemory);
    _exit(kRefused);
  }
  platform::write_stderr("attnscope: internal: ended by std::terminate\n  This is a bug in attnscope; report it.\n");
  _exit(kEnded);
}

// Runs before the constructors of any object and library, because CLI11's validators and muParser's locale allocate
// too.
void before_all(int, char**, char**) {
  std::set_terminate(end_at_once);
  std::set_new_handler(refuse_memory);
}
[[gnu::section(".preinit_array"), gnu::used]] void (*const run_before_all)(int, char**, char**) = before_all;

}  // namespace

int run_program(const std::function<int()>& program) {
  platform::hold_standard_streams();
  platform::ignore_write_signals();
  int status = kEnded;
  try {
    status = program();
  } catch (...) {
    status = tell_exception();
  }
  if (const int error = platform::close_stdout(); error != 0) {
    report({Stage::store, fmt::format("stdout did not take the whole result: {}", std::strerror(error)), ""});
    status = std::max<int>(status, kRefused);
  }
  return status;
}

}  // namespace attnscope::cli
