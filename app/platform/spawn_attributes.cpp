#include "platform/spawn_attributes.h"

#include <signal.h>

namespace attnscope::platform {

SpawnAttributes::SpawnAttributes(ProcessGroup group) {
  posix_spawnattr_init(&attributes_);
  sigset_t none, ignored;
  sigemptyset(&none);
  sigemptyset(&ignored);
  sigaddset(&ignored, SIGPIPE);
  sigaddset(&ignored, SIGXFSZ);
  posix_spawnattr_setsigmask(&attributes_, &none);
  posix_spawnattr_setsigdefault(&attributes_, &ignored);
  int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (group == ProcessGroup::own) {
    flags |= POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setpgroup(&attributes_, 0);
  }
  posix_spawnattr_setflags(&attributes_, static_cast<short>(flags));
}

SpawnAttributes::~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }

}  // namespace attnscope::platform
