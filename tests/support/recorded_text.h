#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "support/temp_dir.h"

namespace attnscope::testing_support {

// Compares the text with the file `name` of tests/data/`folder`, line by line. With ATTNSCOPE_WRITE_PAGES in the
// environment it writes the file instead.
inline void expect_as_recorded(const std::string& folder, const std::string& name, const std::string& text) {
  const std::filesystem::path file = std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "tests/data" / folder / name;
  if (std::getenv("ATTNSCOPE_WRITE_PAGES") != nullptr) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return;
  }
  std::istringstream now(text), recorded(read_text(file));
  std::string line, wanted;
  for (int number = 1; std::getline(recorded, wanted); ++number) {
    ASSERT_TRUE(std::getline(now, line)) << name << " ends before line " << number << ": " << wanted;
    ASSERT_EQ(line, wanted) << name << ":" << number;
  }
  EXPECT_FALSE(std::getline(now, line)) << name << " goes on with: " << line;
}

}  // namespace attnscope::testing_support
