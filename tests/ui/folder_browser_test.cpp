// Which entries of a folder can be chosen.
#include "ui/folder_browser.h"

#include <gmock/gmock.h>

#include <fstream>

#include "support/temp_dir.h"

namespace attnscope::ui {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(FolderBrowser, ListsFoldersThenJsonFilesByNameAndStaysWhereItCannotGo) {
  const testing_support::TempDir dir;
  const std::filesystem::path root = dir / "root";
  for (const char* folder : {"z", "b.json.d", ".hidden"}) std::filesystem::create_directories(root / folder);
  for (const char* file : {"c.json", "a.json", ".secret.json", "note.txt", "json"}) std::ofstream(root / file) << "{}";
  FolderBrowser browser;
  EXPECT_TRUE(browser.folder().empty());
  const auto names = [&] {
    std::vector<std::string> found;
    for (const FolderBrowser::Entry& entry : browser.entries()) found.push_back(entry.name + (entry.folder ? "/" : ""));
    return found;
  };
  browser.go(root);
  EXPECT_THAT(names(), ElementsAre("b.json.d/", "z/", "a.json", "c.json"));
  EXPECT_EQ(browser.trouble(), "");
  EXPECT_TRUE(browser.chosen().empty());
  browser.go(root / "none");
  EXPECT_THAT(browser.trouble(), HasSubstr("none cannot be read: "));
  EXPECT_EQ(browser.folder(), std::filesystem::weakly_canonical(root));
  EXPECT_THAT(names(), ElementsAre("b.json.d/", "z/", "a.json", "c.json"));
  browser.go(root / "z" / "..");
  EXPECT_EQ(browser.folder(), std::filesystem::weakly_canonical(root));
  EXPECT_EQ(browser.trouble(), "");
  browser.go(root / "z");
  EXPECT_THAT(names(), ElementsAre());
}

}  // namespace
}  // namespace attnscope::ui
