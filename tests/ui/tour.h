#pragma once
#include <map>
#include <string>
#include <vector>

#include "ui/listening_session.h"
#include "ui/look.h"

namespace attnscope::ui {

// Goes through the items of a window, one after the other: what each tells under the pointer, and what a click on it
// changes in the whole window and asks of the session. The result is compared with tests/data/tour. After an intended
// change, write the recordings again and read their diff:
//   ATTNSCOPE_WRITE_LOOK=1 ui_tests --gtest_filter='Tour.*'
class Tour : public Look {
 protected:
  void open(session::Snapshot snapshot, ShotSize size, ThemeMode theme = ThemeMode::dark);
  // Within these, `title` is a window's, as "//Source".
  // What is told under the pointer, on every item that `skip` does not name, and on places `step` pixels apart; 0: on
  // the items only.
  void hover(const std::string& view, const std::string& title, ImVec2 step = {},
             const std::vector<std::string>& skip = {});
  // Clicks every item whose label begins with none of `skip`. Of what opens then, each choice is clicked too.
  void click(const std::string& view, const std::string& title, const std::vector<std::string>& skip = {});
  // Any other steps, as one stop.
  void stop(const std::string& name, const std::function<void(ImGuiTestContext*)>& steps);
  void expect_as_recorded(const std::string& name);

  // Opens what is toured, if it is no panel: called first, and when a click has closed it.
  std::function<void(ImGuiTestContext*)> opens_;

 private:
  struct Item {
    std::string label;
    ImGuiID id = 0;
    ImVec2 at;
  };
  Drawing seen(ImGuiTestContext* ctx);
  std::vector<Item> items_in(ImGuiTestContext* ctx, ImGuiTestRef window, const std::vector<std::string>& skip);
  // `skip`: of what opens then; null: nothing in it is clicked.
  void click_item(ImGuiTestContext* ctx, const std::string& view, const Item& item,
                  const std::vector<std::string>* skip);
  // Moves the pointer away and lets the window come to rest, which is then in `now_`.
  void rest(ImGuiTestContext* ctx);
  void note(const std::string& name);  // the changes since the last stop

  ListeningSession* asked_ = nullptr;
  Drawing before_, now_;
  std::string settings_before_;
  std::vector<std::pair<std::string, std::vector<std::string>>> stops_;
};

}  // namespace attnscope::ui
