#pragma once
#include <memory>
#include <utility>

#include "ui/still_session.h"
#include "ui/window_flow.h"

namespace attnscope::ui {

// A window over one fixed snapshot, with one panel in front.
class StillWindow : public WindowFlow {
 protected:
  // `Kind`: a StillSession that keeps what the window asks for.
  template <class Kind>
  Kind& open_still(session::Snapshot snapshot, ShotSize size, const char* panel) {
    auto made = std::make_unique<Kind>(std::move(snapshot));
    Kind& session = *made;
    session_ = std::move(made);
    open_window(size);
    bench_->ignore_kept_settings();
    flow([&](ImGuiTestContext* ctx) {
      ctx->Yield(12);
      bench_->open_panel(panel);
      ctx->Yield(8);
    });
    return session;
  }
};

}  // namespace attnscope::ui
