#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/result.h"

namespace attnscope::ui {

// One thing that a film does to the window: one of turn, panel and action, or none of them to wait.
struct FilmAct {
  std::string turn{};    // "NUM_WARPS=8": moves the pointer to that value and clicks
  std::string panel{};   // title of a panel to bring to the front
  std::string action{};  // title in the command palette: "Presenter mode"
  double hold = 1.5;     // seconds for which the result is shown
};

// See docs/lessons.md for the file.
struct FilmScript {
  double hold = 1.5;  // seconds for which the window is shown before the first act
  std::vector<FilmAct> acts{};
};

// A fault is a Failure (Stage::input) that names the file and the JSON pointer.
Result<FilmScript> read_film(const std::filesystem::path& path);

}  // namespace attnscope::ui
