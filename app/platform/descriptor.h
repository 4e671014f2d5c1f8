#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace attnscope::platform {

// An open file descriptor, owned and closed by this object. Moving transfers it; release() gives it to a caller, who
// closes it. -1: none.
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
  // Returns 0, or the errno of a failed close: some write errors are reported only here.
  int close();

 private:
  int fd_ = -1;
};

struct Pipe {
  Descriptor read, write;
};

// A pipe that programs started from here do not inherit. Empty: errno says why.
std::optional<Pipe> make_pipe();

// Writes all of them, whatever the system takes at once. Returns 0, or the errno of the write that failed.
int write_all(int fd, std::span<const std::byte> bytes);

// The hint for a descriptor or pipe that the system refuses.
inline constexpr const char* kNoDescriptorHint = "Close other programs, or raise `ulimit -n`.";

}  // namespace attnscope::platform
