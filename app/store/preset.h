#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/experiment.h"
#include "core/json.h"
#include "core/kernel.h"
#include "core/problem.h"
#include "core/result.h"

namespace attnscope::store {

// An experiment and a view, as a file: {"attnscope_preset": 1, "title", "group", "note", "problem", "kernel", "knobs",
// "options", "device", "measure", "view", "invite"}. A preset is data: a knob's value is a number or a label from the
// kernel's list, so it cannot carry code, a flag or a path. Its device is a wish; empty: none.
struct Preset : Draft {
  static constexpr int kVersion = 1;
  std::string title{};
  std::string group{};  // "Reports", "Defaults"; empty: the folder's group
  std::string note{};
  Json view = nullptr;  // an object that the window defines, or null
  // In the default preset: the knob and value that a first start suggests. Empty in other presets.
  std::map<std::string, int64_t> invite{};
};

inline constexpr uint64_t kMaxPresetBytes = 1 << 20;

// Failure (Stage::input) names the file and the JSON pointer. A file over kMaxPresetBytes is refused before it is read.
// The preset may name any of `kernels`.
Result<Preset> read_preset(const std::filesystem::path& path, const std::vector<Kernel>& kernels);
Result<Preset> preset_from_json(const Json& json, const std::string& where, const std::vector<Kernel>& kernels);
// A knob's value is written as its label, if it has one.
Json to_json(const Preset& preset, const std::vector<Kernel>& kernels);
// The folder must exist.
Result<void> write_preset(const std::filesystem::path& path, const Preset& preset, const std::vector<Kernel>& kernels);

struct PresetFile {
  std::filesystem::path path;
  std::string title;  // the file's name if the preset has no title
  std::string group;
  std::string note;
  std::string kernel;  // kernel id, as written in the file
  bool invites = false;
};

// The presets (*.json) of a folder, ordered by file name. Reads only titles, groups, notes and kernels and checks
// nothing else: a preset whose kernel does not load is listed, and opening it says why it fails. Files that are not
// presets are added to `faults`. A folder that does not exist gives an empty list.
std::vector<PresetFile> list_presets(const std::filesystem::path& dir, const std::string& default_group,
                                     std::vector<Failure>& faults);

// The default preset: the first one in these folders with an `invite`.
Result<Preset> default_preset(const std::vector<std::filesystem::path>& dirs, const std::vector<Kernel>& kernels);

// Writes a new title and note into a preset's file. Every other key stays, known or not.
Result<void> describe_preset(const std::filesystem::path& path, const std::string& title, const std::string& note);

// Copies a preset into `folder` under a free name and returns the new path. The copy has no group and no invite. Its
// title is new: "Tiled" becomes "Tiled copy" if "Tiled" is in `taken`, then "Tiled copy 2".
Result<std::filesystem::path> copy_preset(const std::filesystem::path& path, const std::filesystem::path& folder,
                                          const std::vector<std::string>& taken, const std::vector<Kernel>& kernels);

// Moves a preset's file into the folder "deleted" beside it, under a free name, and returns the new path.
Result<std::filesystem::path> put_preset_aside(const std::filesystem::path& path);

}  // namespace attnscope::store
