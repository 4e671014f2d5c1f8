#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "session/uv.h"

namespace attnscope::session {

// What a child does, on the loop's thread. Its exit and the end of its output come in either order. The handler may
// call the child.
class ChildEvents {
 public:
  virtual ~ChildEvents() = default;
  virtual void child_wrote(std::span<const std::byte> bytes) = 0;  // on its standard output
  virtual void child_closed_output() = 0;
  virtual void child_said(std::span<const std::byte> bytes) = 0;  // on its stderr
  virtual void child_exited(int64_t status, int signal) = 0;
};

// A program with pipes to its standard streams, on a loop of libuv. It can be started again.
class Child {
 public:
  static constexpr uint64_t kShutDownMs = 2000;  // that it has to end by itself

  Child(uv_loop_t* loop, ChildEvents& events);
  ~Child();  // ends it by SIGKILL
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Returns libuv's error if the program cannot be started; 0: it runs.
  int start(std::vector<std::string> argv);
  bool runs() const { return process_ != nullptr; }
  bool takes_input() const { return runs() && stdin_ != nullptr; }
  size_t unread() const;                     // bytes that it has not read yet, while it takes input
  void write(std::vector<std::byte> bytes);  // while it takes input
  void close_input() { stdin_.reset(); }
  void signal(int number);  // does nothing if it does not run
  // Closes the pipes and ends the program, by SIGTERM before SIGKILL, without another event.
  void leave();

 private:
  struct Process;
  void exited(int64_t status, int signal);

  uv_loop_t* loop_;
  ChildEvents& events_;
  Process* process_ = nullptr;  // deletes itself when its exit is reaped
  Uv<uv_pipe_t> stdin_, stdout_, stderr_;
  std::vector<char> read_buffer_;
};

}  // namespace attnscope::session
