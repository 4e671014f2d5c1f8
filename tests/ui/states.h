#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ui/look.h"

namespace attnscope::ui {

// The window in one of its states.
struct State {
  std::string name;
  session::Snapshot snapshot;
  std::function<void(Workbench&)> set = {};  // the person's own choices, which begin anew with each state
};

// Panels in many states each, compared with tests/data/look. The window has only that panel, so that all of it is drawn
// and no other one moves it. Of a state is recorded how its words differ from those of the first one, and a number
// made of all that is drawn, with places, sizes and colours. After an intended change, write the recordings again:
//   ATTNSCOPE_WRITE_LOOK=1 ui_tests --gtest_filter='LookStates.*'
// To see what changed behind a number, have the whole drawings written before and after, and compare the two folders:
//   ATTNSCOPE_WHOLE_LOOK=FOLDER ui_tests --gtest_filter='LookStates.*'
class Gallery {
 public:
  explicit Gallery(std::string name) : name_(std::move(name)) {}
  // `besides`: what else happened, in words.
  void add(const std::string& series, const std::string& state, const Drawing& drawn,
           const std::vector<std::string>& besides = {});
  // What items tell, in a fixed order.
  void add_words(const std::string& series, const std::vector<std::string>& words);
  void expect_as_recorded() const;

 private:
  std::string name_;
  std::vector<std::pair<std::string, std::string>> shown_;   // a state's name and its text
  std::map<std::string, std::map<std::string, int>> first_;  // of a series, the words of its first state
};

// Of a text, the same everywhere.
uint32_t number_of(std::string_view text);

// Runs, by what there is and what they show.
std::vector<State> states_of_runs();
// Those of a run's terms, findings and trials; of its code; of its clocks; and of the frame around the panels.
std::vector<State> states_of_terms();
std::vector<State> states_of_code();
std::vector<State> states_of_timelines();
std::vector<State> states_of_the_frame();

// Those whose name is one of these.
std::vector<State> only(std::vector<State> states, const std::set<std::string>& names);

// Places for told_at(): so many across and down, between these shares of the height.
std::vector<ImVec2> grid(int across, int down, float top, float bottom);

// A fixture for them.
class LookStates : public WindowFlow {
 protected:
  // A window with only that panel.
  void open_alone(const std::string& panel, ShotSize size);
  void close_others();
  // A window with every panel.
  void open_whole(ShotSize size);
  // Each state, after `view`, in which the panel's part to look at is chosen. `parts`: the beginnings of the names of
  // what is looked at; empty: the panel.
  void add_states(Gallery& gallery, const std::string& series, const std::vector<State>& states,
                  const std::function<void(ImGuiTestContext*)>& view = {});
  void add(Gallery& gallery, const std::string& series, const std::string& name);  // what is drawn now
  // The parts to look at, as the last frame drew them.
  Drawing looked_at() const;
  void show(const State& state);
  // Draws until nothing moves.
  void rest();
  // Draws until it holds, for what another thread makes.
  void wait_for_frames(const std::function<bool()>& condition);
  // What each item of the window tells under the pointer.
  std::vector<std::string> told();
  // What is told at places of the panel, each as a share of its width and height.
  std::vector<std::string> told_at(const std::vector<ImVec2>& places);
  // Presses the left button at one place and releases it at the other.
  void drag(ImVec2 from, ImVec2 to);
  ImVec2 at(ImVec2 share) const;  // in the window

  std::string panel_;
  std::vector<std::string> parts_;
  int stops_ = 0;
};

}  // namespace attnscope::ui
