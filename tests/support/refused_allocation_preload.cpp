// Preloaded into the program: in processes whose arguments are $ATTNSCOPE_REFUSE_IN ("run*": begin with it), allocation
// number $ATTNSCOPE_REFUSE is refused (0 is the first). The file $ATTNSCOPE_REFUSED_LOG has one byte for each refusal.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

constexpr long kUnread = -2, kNever = -1;
std::atomic<long> left{kUnread};

// The arguments, with blanks between them. The function may not allocate, because operator new calls it.
long read_order() {
  const char* words = getenv("ATTNSCOPE_REFUSE_IN");
  const char* number = getenv("ATTNSCOPE_REFUSE");
  if (words == nullptr || number == nullptr) return kNever;
  char line[4096];
  const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return kNever;
  const ssize_t bytes = read(fd, line, sizeof line - 1);
  close(fd);
  if (bytes <= 0) return kNever;
  for (ssize_t i = 0; i + 1 < bytes; ++i)
    if (line[i] == '\0') line[i] = ' ';
  line[bytes] = '\0';
  const char* given = strchr(line, ' ');  // after the program's name
  if (given == nullptr) return kNever;
  const size_t length = strlen(words);
  const bool begins = length > 0 && words[length - 1] == '*';
  const bool meant = begins ? strncmp(given + 1, words, length - 1) == 0 : strcmp(given + 1, words) == 0;
  return meant ? atol(number) : kNever;
}

void note_refusal() {
  const char* log = getenv("ATTNSCOPE_REFUSED_LOG");
  const int fd = log == nullptr ? -1 : open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return;
  if (write(fd, "x", 1) != 1) _exit(99);
  close(fd);
}

void* take(size_t bytes, size_t alignment) {
  if (left == kUnread) left = read_order();
  if (left >= 0 && left-- == 0) {
    note_refusal();
    if (const std::new_handler handler = std::get_new_handler()) handler();  // as the library's own operator new does
    throw std::bad_alloc();
  }
  void* taken = alignment <= alignof(std::max_align_t)
                    ? malloc(bytes)
                    : aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (taken == nullptr) throw std::bad_alloc();
  return taken;
}

}  // namespace

// Memory from these is freed with free(), which the library's operator delete calls.
void* operator new(size_t bytes) { return take(bytes, 1); }
void* operator new[](size_t bytes) { return take(bytes, 1); }
void* operator new(size_t bytes, std::align_val_t alignment) { return take(bytes, static_cast<size_t>(alignment)); }
void* operator new[](size_t bytes, std::align_val_t alignment) { return take(bytes, static_cast<size_t>(alignment)); }
