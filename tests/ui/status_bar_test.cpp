// The words of the status bar about a worker.
#include "ui/still_session.h"
#include "ui/still_window.h"

namespace attnscope::ui {
namespace {

using testing::HasSubstr;
using testing::Not;

class StatusBar : public StillWindow {
 protected:
  // What the window says after a run whose worker is busy with something else.
  std::string words(size_t queued) {
    session::Snapshot snapshot = snapshot_after({"m32_w4"});
    snapshot.workers.front().state = session::WorkerState::busy;
    snapshot.workers.front().detail = "watching barriers";
    snapshot.queue_waiting = queued;
    open_still<StillSession>(std::move(snapshot), {1600, 900}, "History");
    std::string drawn;
    flow([&](ImGuiTestContext* ctx) { drawn = drawn_words(ctx); });
    close();
    return drawn;
  }
};

TEST_F(StatusBar, AWorkerThatWorksForTheQueueSaysAtWhat) {
  EXPECT_THAT(words(0), HasSubstr("local ready")) << "the detail of work that is done is not shown";
  for (const size_t queued : {1, 2}) {
    const std::string drawn = words(queued);
    EXPECT_THAT(drawn, HasSubstr("local: watching barriers")) << queued;
    EXPECT_THAT(drawn, Not(HasSubstr("local ready"))) << queued;
  }
}

}  // namespace
}  // namespace attnscope::ui
