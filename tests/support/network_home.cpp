// Preloaded into the program: files below $ATTNSCOPE_NETWORK_HOME have neither locks nor shared memory, as on some
// network file systems.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

bool on_the_network(int fd) {
  const char* home = getenv("ATTNSCOPE_NETWORK_HOME");
  if (home == nullptr || fd < 0) return false;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const int saved = errno;
  const ssize_t bytes = readlink(link, path, sizeof path - 1);
  errno = saved;
  if (bytes <= 0) return false;
  path[bytes] = 0;
  return strncmp(path, home, strlen(home)) == 0;
}

int control(int fd, int command, long argument) {
  const bool locks = command == F_SETLK || command == F_SETLKW || command == F_GETLK || command == F_OFD_SETLK ||
                     command == F_OFD_SETLKW || command == F_OFD_GETLK;
  if (locks && on_the_network(fd)) {
    errno = ENOLCK;
    return -1;
  }
  return static_cast<int>(syscall(SYS_fcntl, fd, command, argument));
}

void* map(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  if ((flags & (MAP_SHARED | MAP_ANONYMOUS)) == MAP_SHARED && on_the_network(fd)) {
    errno = ENODEV;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));
}

}  // namespace

extern "C" {

// Only the library has this name: in the header it is a struct.
int lock_whole_file(int fd, int operation) __asm__("flock");
int lock_whole_file(int fd, int operation) {
  if (on_the_network(fd)) {
    errno = ENOLCK;
    return -1;
  }
  return static_cast<int>(syscall(SYS_flock, fd, operation));
}

int fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  const long argument = va_arg(rest, long);
  va_end(rest);
  return control(fd, command, argument);
}

int fcntl64(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  const long argument = va_arg(rest, long);
  va_end(rest);
  return control(fd, command, argument);
}

void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return map(at, bytes, protection, flags, fd, offset);
}

void* mmap64(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return map(at, bytes, protection, flags, fd, offset);
}

}  // extern "C"
