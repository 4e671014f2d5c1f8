#include "platform/confine.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <string_view>
#include <system_error>
#include <thread>

#include "platform/descriptor.h"
#include "platform/paths.h"
#include "platform/process.h"

namespace attnscope::platform {
namespace {

namespace fs = std::filesystem;

// Rights of newer landlock versions that an older system's headers lack. The values are the kernel's interface.
constexpr uint64_t kRefer = 1ull << 13;     // version 2: rename and link across folders
constexpr uint64_t kTruncate = 1ull << 14;  // version 3
constexpr uint64_t kTcp = 3;                // version 4: bind and connect

constexpr uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr uint64_t kWrite = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                            LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                            LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                            LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM |
                            kRefer | kTruncate;
// The rights that a rule on a file may grant; a rule on a folder may grant more.
constexpr uint64_t kOfFiles =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;

struct RulesetAttributes {
  uint64_t files = 0;
  uint64_t tcp = 0;
};

void allow(const Descriptor& ruleset, const fs::path& path, uint64_t rights) {
  const Descriptor place(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat found {};
  if (place.get() < 0 || fstat(place.get(), &found) != 0) return;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = S_ISDIR(found.st_mode) ? rights : rights & kOfFiles;
  rule.parent_fd = place.get();
  syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

bool wall_off_files(const Allowed& allowed) {
  const int version = landlock_version();
  if (version < 1) return false;
  uint64_t known = kRead | kWrite;
  if (version < 2) known &= ~kRefer;
  if (version < 3) known &= ~kTruncate;
  const RulesetAttributes attributes{known, version < 4 ? uint64_t{0} : kTcp};
  const size_t size = version < 4 ? sizeof attributes.files : sizeof attributes;
  const Descriptor ruleset(static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
  if (ruleset.get() < 0) return false;
  for (const fs::path& path : allowed.read) allow(ruleset, path, kRead & known);
  for (const fs::path& path : allowed.write) allow(ruleset, path, known);
  return syscall(SYS_landlock_restrict_self, ruleset.get(), 0) == 0;
}

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif
constexpr uint32_t kForeignNumbers = 0x40000000;  // flag of x32 calls on x86-64

constexpr sock_filter load(size_t offset) { return {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<uint32_t>(offset)}; }
constexpr sock_filter answer(uint32_t value) { return {BPF_RET | BPF_K, 0, 0, value}; }
// Continues if the loaded word is `value`; otherwise skips `steps`.
constexpr sock_filter unless(uint32_t value, uint8_t steps) { return {BPF_JMP | BPF_JEQ | BPF_K, 0, steps, value}; }
constexpr sock_filter when_below(uint32_t value, uint8_t steps) { return {BPF_JMP | BPF_JGE | BPF_K, 0, steps, value}; }

// Refuses socket() for every family, or for all but AF_UNIX. io_uring, which can make sockets past any filter, and the
// calls of other instruction sets fail as if they did not exist.
bool wall_off_sockets(Sockets sockets) {
  constexpr uint32_t refused = SECCOMP_RET_ERRNO | EACCES, missing = SECCOMP_RET_ERRNO | ENOSYS;
  const uint32_t family = sockets == Sockets::local ? uint32_t{AF_UNIX} : ~uint32_t{0};
  const uint32_t connecting = sockets == Sockets::local ? uint32_t{SECCOMP_RET_ALLOW} : refused;
  sock_filter steps[] = {
      load(offsetof(seccomp_data, arch)),
      {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kArchitecture},
      answer(missing),
      load(offsetof(seccomp_data, nr)),
      when_below(kForeignNumbers, 1),
      answer(missing),
      unless(SYS_io_uring_setup, 1),
      answer(missing),
      unless(SYS_connect, 1),
      answer(connecting),
      unless(SYS_socket, 4),
      load(offsetof(seccomp_data, args)),
      unless(family, 1),
      answer(SECCOMP_RET_ALLOW),
      answer(refused),
      answer(SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(steps)), steps};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

}  // namespace

bool confinement_is_off() { return environment("ATTNSCOPE_CONFINE") == "off"; }

int landlock_version() {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version < 0 ? 0 : static_cast<int>(version);
}

Walls confine_thread(const Allowed& allowed) {
  // Both confinements need this: programs started from here gain no rights through a set-user-id bit.
  if (confinement_is_off() || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return {};
  Walls walls;
  walls.files = wall_off_files(allowed);
  walls.sockets = wall_off_sockets(allowed.sockets);
  return walls;
}

Result<void> on_confined_thread(const Allowed& allowed, const std::function<void(Walls)>& work) {
  std::exception_ptr thrown;
  const auto confined = [&] {
    try {
      work(confine_thread(allowed));
    } catch (...) {
      thrown = std::current_exception();  // rethrown in the calling thread
    }
  };
  std::thread thread;
  try {
    thread = std::thread(confined);
  } catch (const std::system_error&) {
    return fail(no_thread("work apart from the rest of the process"));
  }
  thread.join();
  if (thrown) std::rethrow_exception(thrown);
  return {};
}

std::vector<fs::path> program_files() {
  std::vector<fs::path> files = {"/lib",
                                 "/lib64",
                                 "/usr",
                                 "/bin",
                                 "/opt",
                                 "/nix",
                                 "/gnu",
                                 "/dev/null",
                                 "/dev/zero",
                                 "/dev/urandom",
                                 "/etc/ld.so.cache",
                                 "/etc/localtime",
                                 "/sys/devices/system/cpu"};
  const std::string more = environment("LD_LIBRARY_PATH");
  for (size_t start = 0; start < more.size();) {
    const size_t end = std::min(more.find(':', start), more.size());
    if (end > start) files.emplace_back(more.substr(start, end - start));
    start = end + 1;
  }
  return files;
}

void limit_process(uint64_t max_file_bytes) {
  const auto lower = [](decltype(RLIMIT_CORE) which, rlim_t most) {
    rlimit limit{};
    if (getrlimit(which, &limit) != 0 || limit.rlim_cur <= most) return;
    limit.rlim_cur = most;
    limit.rlim_max = std::min(limit.rlim_max, most);
    setrlimit(which, &limit);
  };
  lower(RLIMIT_CORE, 0);
  lower(RLIMIT_FSIZE, max_file_bytes);
}

void go_first_when_memory_runs_out() {
  const Descriptor file(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  constexpr std::string_view score = "900";                                          // of 1000, the highest
  if (file.get() >= 0 && write(file.get(), score.data(), score.size()) < 0) return;  // on failure the score stays
}

}  // namespace attnscope::platform
