#pragma once
#include <functional>
#include <string>
#include <vector>

#include "charts/latency_chart.h"
#include "lesson/lesson.h"
#include "session/session.h"
#include "ui/baseline.h"
#include "ui/draft_tracker.h"
#include "ui/glossary.h"
#include "ui/settings.h"
#include "ui/shown.h"
#include "ui/tries.h"
#include "ui/view_state.h"

namespace attnscope::ui {

// A reported figure and its config; charts::Reported describes how it is drawn.
struct ReportedFigure {
  charts::Reported line;
  bool target = false;  // a goal, not a run
  std::string kernel;   // empty: not a kernel of this program
  std::map<std::string, int64_t> knobs;
  Problem problem;
  std::string device;  // "NVIDIA L4"
};

// How maps reach the screen, for the status bar.
struct PixelWay {
  std::string way;  // "pipe"
  std::string why;  // one sentence
};

class CommandPane;
class Interop;
class HardwareDesk;
class LessonDesk;
class SweepDesk;

// Everything that a panel may use while it draws a frame. A panel reads the snapshot and posts requests; it has no
// other access to the session, and none to a device.
struct Context {
  session::Session& session;
  const session::Snapshot& snapshot;
  const Shown& shown;
  DraftTracker& draft;
  const charts::LatencyChart& latency;
  const Baseline& baseline;
  const Tries& tries;
  const Glossary& glossary;
  const std::vector<ReportedFigure>& reported;
  const std::vector<lesson::Lesson>& lessons;
  LessonDesk& lesson;
  SweepDesk& sweep;
  HardwareDesk& hardware;
  CommandPane& command;
  WindowSettings& settings;
  ViewState& view;
  PixelWay& pixels;
  Interop* interop;                         // null: maps come through the pipe
  double frame_ms = 0;                      // largest CPU time for building a frame in the last second
  std::function<void(double)> wake_within;  // requests a frame within that many seconds
  std::function<void(int64_t)> show_line;   // a line of the kernel's source
  std::function<void()> explain;            // brings the terms of the shown time to the front
  // Asks where to save a file with that name, and writes the text there.
  std::function<void(const std::string& name, std::string text)> save;
  // The same for a picture of the panel with that title; an empty title means the whole window.
  std::function<void(const std::string& title, const std::string& name)> save_picture;
  std::function<void()> show_lessons;  // brings the lessons to the front
  std::function<void()> show_workers;  // opens the dialog that adds workers

  // Sends a new draft to the focus lane and shows it at once.
  void post(Draft wish, session::Gesture gesture);
  uint64_t new_gesture() const;
};

// The hash of the experiment that a shown part belongs to.
std::string experiment_of(const Context& context, session::Part part);

// A new gesture id. Everything between a press and its release shares one.
uint64_t next_gesture();

}  // namespace attnscope::ui
