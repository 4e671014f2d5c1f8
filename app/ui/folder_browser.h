#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace attnscope::ui {

// Folders and .json files to choose from, inside the window: a desktop's own file dialog is not to be had on a headless
// or remote machine. A folder is read once, when it is entered.
class FolderBrowser {
 public:
  struct Entry {
    std::string name;
    bool folder = false;
  };

  // A folder that cannot be read is said in trouble(), and the one before stays.
  void go(const std::filesystem::path& folder);
  const std::filesystem::path& folder() const { return folder_; }
  const std::vector<Entry>& entries() const { return entries_; }  // folders first, each by name; hidden ones left out
  const std::string& trouble() const { return trouble_; }
  std::filesystem::path chosen() const { return chosen_.empty() ? chosen_ : folder_ / chosen_; }  // empty: no file

  // Over the width that is left; true: the chosen file was double-clicked.
  bool draw(float height);

 private:
  std::filesystem::path folder_, chosen_;
  std::vector<Entry> entries_;
  std::string trouble_;
};

}  // namespace attnscope::ui
