#pragma once
#include <optional>
#include <utility>

namespace attnscope::platform {

// An open file descriptor. It has one owner, this object, which closes it; moving hands it to another one and
// release() to a caller that closes it itself. -1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    Descriptor old(std::exchange(fd_, other.release()));
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  // 0, or the errno of a close that failed: a late write error shows only here.
  int close();

 private:
  int fd_ = -1;
};

struct Pipe {
  Descriptor read, write;
};

// A pipe that a program started from here does not inherit; empty: errno says why.
std::optional<Pipe> make_pipe();

// The hint beside a descriptor or pipe that the system refuses.
inline constexpr const char* kNoDescriptorHint = "Close other programs, or raise `ulimit -n`.";

}  // namespace attnscope::platform
