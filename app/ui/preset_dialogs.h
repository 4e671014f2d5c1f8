#pragma once
#include <filesystem>
#include <string>

#include "ui/context.h"
#include "ui/folder_browser.h"
#include "ui/preset_gallery.h"

namespace attnscope::ui {

// Open, save and manage presets.
class PresetDialogs {
 public:
  explicit PresetDialogs(std::filesystem::path user_presets) : user_presets_(std::move(user_presets)) {}

  void open() { wanted_ = "Open a preset"; }
  void save_as(const std::string& title);
  void manage();

  // True if the gallery is open: a dropped file is then added to it.
  bool manages() const { return manages_; }

  // `view` is the part of a preset that describes the window.
  void draw(Context& context, const Json& view);

 private:
  void draw_open(Context& context);
  void draw_places(const Context& context);
  void draw_save(Context& context, const Json& view);
  void draw_manage(Context& context);
  void draw_details(const session::PresetItem& preset);
  void draw_buttons(Context& context, const session::PresetItem& preset);
  void choose(const session::PresetItem& preset);
  void choose_new(const session::Snapshot& snapshot);

  std::filesystem::path user_presets_;
  std::string wanted_;  // the dialog to open in this frame
  std::string path_, title_, note_;
  std::string looked_at_;                                     // the typed path that replaces_ was checked for
  bool replaces_ = false;                                     // a file with that path exists
  std::string managed_;                                       // path of the selected preset, or empty
  session::Shared<std::vector<session::PresetItem>> listed_;  // as in the last frame of the gallery
  FolderBrowser browser_;
  PresetGallery gallery_;
  bool manages_ = false;
};

// "Tiled, eight warps" → "tiled-eight-warps". Keeps letters, digits and dashes, so that every title makes a valid file
// name.
std::string file_name_of(const std::string& title);

}  // namespace attnscope::ui
