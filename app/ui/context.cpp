#include "ui/context.h"

#include <atomic>
#include <utility>

namespace attnscope::ui {

void Context::post(Draft wish, session::Gesture gesture) {
  draft.posted(wish);
  session.focus(std::move(wish), std::move(gesture));
}

uint64_t Context::new_gesture() const { return next_gesture(); }

uint64_t next_gesture() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

std::string experiment_of(const Context& context, session::Part part) {
  const std::string& own = context.snapshot.focus.part_hash[static_cast<int>(part)];
  if (!context.shown.from_history() && !own.empty()) return own;
  return context.shown.observation ? context.shown.observation->hash : std::string();
}

}  // namespace attnscope::ui
