#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace attnscope::ui {

// Folders and .json files to choose from, inside the window, because a headless or remote machine has no desktop file
// dialog. A folder is read once, when it is entered.
class FolderBrowser {
 public:
  struct Entry {
    std::string name;
    bool folder = false;
  };

  // If a folder cannot be read, trouble() says so and the previous one stays.
  void go(const std::filesystem::path& folder);
  const std::filesystem::path& folder() const { return folder_; }
  const std::vector<Entry>& entries() const { return entries_; }  // folders first, each by name; hidden ones left out
  const std::string& trouble() const { return trouble_; }
  // Empty: no file is chosen.
  std::filesystem::path chosen() const { return chosen_.empty() ? chosen_ : folder_ / chosen_; }

  // Uses the remaining width. Returns true if the chosen file was double-clicked.
  bool draw(float height);

 private:
  std::filesystem::path folder_, chosen_;
  std::vector<Entry> entries_;
  std::string trouble_;
};

}  // namespace attnscope::ui
