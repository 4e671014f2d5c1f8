#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/result.h"

namespace attnscope::ui {

// One thing that a film does to the window: exactly one of turn, panel and action, or none to wait.
struct FilmAct {
  std::string turn{};    // "NUM_WARPS=8": the pointer goes to that value and clicks
  std::string panel{};   // its title: brought to the front
  std::string action{};  // its title in the command palette: "Presenter mode"
  double hold = 1.5;     // seconds for which the outcome is shown
};

// docs/lessons.md describes the file.
struct FilmScript {
  double hold = 1.5;  // seconds for which the window is shown before the first act
  std::vector<FilmAct> acts{};
};

// A fault is a Failure (Stage::input) that names file and JSON pointer.
Result<FilmScript> read_film(const std::filesystem::path& path);

}  // namespace attnscope::ui
