#pragma once
#include <filesystem>
#include <string>

#include "ui/actions.h"
#include "ui/context.h"

namespace attnscope::ui {

// The modal windows: open and save a preset, shortcuts, glossary, what was found, about.
class Dialogs {
 public:
  explicit Dialogs(std::filesystem::path user_presets) : user_presets_(std::move(user_presets)) {}

  void open_preset() { wanted_ = "Open a preset"; }
  void save_preset_as(const std::string& title);
  void shortcuts() { wanted_ = "Shortcuts"; }
  void glossary() { wanted_ = "Glossary"; }
  void about() { wanted_ = "About attnscope"; }
  void found() { wanted_ = "What was found"; }

  // `view` is what a preset keeps of the window.
  void draw(Context& context, const Actions& actions, const Json& view);

 private:
  void draw_open(Context& context);
  void draw_save(Context& context, const Json& view);
  void draw_shortcuts(const Actions& actions);
  void draw_glossary(const Context& context);
  void draw_about(const Context& context);
  void draw_found(const Context& context);

  std::filesystem::path user_presets_;
  std::string wanted_;  // dialog to open in this frame
  std::string path_, title_, filter_;
};

// "Tiled, eight warps" → "tiled-eight-warps": letters, digits and dashes, so that a title is always a file's name.
std::string file_name_of(const std::string& title);

}  // namespace attnscope::ui
