#include "store/preset.h"

#include "core/escape.h"
#include "core/experiment_fields.h"
#include "core/joined.h"
#include "platform/atomic_file.h"
#include "platform/json_file.h"
#include "platform/output_file.h"
#include "store/free_path.h"

namespace attnscope::store {
namespace {

constexpr const char* kMark = "attnscope_preset";
constexpr size_t kMaxText = 4096;

template <class List, class Name>
std::string listed(const List& list, Name name) {
  return list.empty() ? "none" : joined(list, name);
}

// A whole number from the knob's list, or one of its labels; anything else, such as "32 -DX", is refused.
void read_knob(JsonReader& read, const Knob& knob, std::map<std::string, int64_t>& knobs) {
  const Json& given = *read.value(knob.name.c_str());
  for (const KnobValue& candidate : knob.values) {
    const bool by_label = given.is_string() && !candidate.label.empty() && given == candidate.label;
    const bool by_value = given.is_number_integer() && given == candidate.value;
    if (by_label || by_value) knobs[knob.name] = candidate.value;
  }
  if (knobs.contains(knob.name)) return;
  read.fault(knob.name, json_text(given) + " is not a value of this knob",
             "Legal: " + listed(knob.values, &KnobValue::text) + ".");
}

Result<std::map<std::string, int64_t>> read_knobs(const Json& json, const std::string& where, const Kernel& kernel) {
  std::map<std::string, int64_t> knobs;
  JsonReader read(json, where);
  for (const Knob& knob : kernel.knobs)
    if (read.has(knob.name.c_str())) read_knob(read, knob, knobs);
  if (json.is_object())
    for (const auto& [name, unused] : json.items())
      if (!kernel.find_knob(name))
        read.fault(name, "is not a knob of " + kernel.id, "Its knobs: " + listed(kernel.knobs, &Knob::name) + ".");
  if (auto done = read.finish(); !done) return fail(done.error());
  return knobs;
}

Json knobs_json(const std::map<std::string, int64_t>& knobs, const Kernel* kernel) {
  Json json = Json::object();
  for (const auto& [name, value] : knobs) {
    const Knob* knob = kernel ? kernel->find_knob(name) : nullptr;
    const KnobValue* known = knob ? knob->find(value) : nullptr;
    if (known && !known->label.empty())
      json[name] = known->label;
    else
      json[name] = value;
  }
  return json;
}

}  // namespace

Result<Preset> preset_from_json(const Json& json, const std::string& where, const std::vector<Kernel>& kernels) {
  Preset preset;
  JsonReader read(json, where);
  int version = 0;
  read.required(kMark);
  read.integer(kMark, version, 1, Preset::kVersion);
  read.required("kernel");
  read.line("title", preset.title, kMaxText);
  read.line("group", preset.group, kMaxText);
  read.text("note", preset.note, kMaxText);
  read.text("kernel", preset.kernel, 200);
  read.text("device", preset.device, 200);
  read.part("problem", preset.problem, problem_from_json);
  fields::read(read, "options", preset.config.options, {});
  fields::read(read, "measure", preset.measure, {});
  if (read.has("view")) {
    preset.view = *read.value("view");
    if (!preset.view.is_object()) read.fault("view", "must be an object");
  }
  read.ignore("knobs");
  if (read.has("invite") && read.value("invite")->size() != 1) read.fault("invite", "must name one knob");
  if (auto done = read.finish(); !done) return fail(done.error());

  const Kernel* kernel = find_kernel(kernels, preset.kernel);
  if (!kernel)
    return fail(Stage::input, read.path("kernel") + ": no kernel \"" + preset.kernel + "\"",
                "Known kernels: " + listed(kernels, &Kernel::id) + ". Give others with --kernels DIR.");
  const auto of_kernel = [&](const Json& knobs, const std::string& at) { return read_knobs(knobs, at, *kernel); };
  read.part("knobs", preset.config.knobs, of_kernel);
  read.part("invite", preset.invite, of_kernel);
  if (auto done = read.finish(); !done) return fail(done.error());
  return preset;
}

Result<Preset> read_preset(const std::filesystem::path& path, const std::vector<Kernel>& kernels) {
  auto json = platform::read_json(path, kMaxPresetBytes, Stage::input);
  if (!json) return fail(json.error());
  return preset_from_json(*json, path.string(), kernels);
}

Json to_json(const Preset& preset, const std::vector<Kernel>& kernels) {
  const Kernel* kernel = find_kernel(kernels, preset.kernel);
  Json json{{kMark, Preset::kVersion},
            {"title", preset.title},
            {"note", preset.note},
            {"problem", to_json(preset.problem)},
            {"kernel", preset.kernel},
            {"knobs", knobs_json(preset.config.knobs, kernel)},
            {"options", write_fields(preset.config.options)},
            {"measure", write_fields(preset.measure)}};
  if (!preset.group.empty()) json["group"] = preset.group;
  if (!preset.device.empty()) json["device"] = preset.device;
  if (preset.view.is_object()) json["view"] = preset.view;
  if (!preset.invite.empty()) json["invite"] = knobs_json(preset.invite, kernel);
  return json;
}

Result<void> write_preset(const std::filesystem::path& path, const Preset& preset, const std::vector<Kernel>& kernels) {
  const std::string text = json_text(to_json(preset, kernels), 2) + "\n";
  if (text.size() > kMaxPresetBytes)
    return fail(Stage::input, path.string() + ": the preset would be over 1 MB",
                "Its view holds too much: save without it.");
  return platform::write_output(path, text);
}

std::vector<PresetFile> list_presets(const std::filesystem::path& dir, const std::string& default_group,
                                     std::vector<Failure>& faults) {
  std::error_code error;
  std::vector<PresetFile> presets;
  for (const std::filesystem::path& file : platform::json_files_in(dir, error)) {
    auto json = platform::read_json(file, kMaxPresetBytes, Stage::input);
    if (json && !(json->is_object() && json->contains(kMark)))
      json = fail(Stage::input, file.string() + "/" + kMark + ": is missing", "Only presets belong in this folder.");
    if (!json) {
      faults.push_back(json.error());
      continue;
    }
    JsonReader read(*json, file.string());
    PresetFile item{file, file.stem().string(), default_group, {}, {}, read.has("invite")};
    read.line("title", item.title, kMaxText);
    read.line("group", item.group, kMaxText);
    read.text("note", item.note, kMaxText);
    read.line("kernel", item.kernel, kMaxText);
    if (item.title.empty()) item.title = file.stem().string();
    if (auto done = read.finish(false); !done)
      faults.push_back(done.error());
    else
      presets.push_back(std::move(item));
  }
  return presets;
}

Result<Preset> default_preset(const std::vector<std::filesystem::path>& dirs, const std::vector<Kernel>& kernels) {
  std::vector<Failure> unread;  // list_presets() reports them elsewhere
  for (const std::filesystem::path& dir : dirs)
    for (const PresetFile& file : list_presets(dir, "", unread))
      if (file.invites) return read_preset(file.path, kernels);
  return fail(Stage::input, "there is no default preset: none says what to try first",
              "It comes with the program, in presets. Name a kernel.");
}

Result<void> describe_preset(const std::filesystem::path& path, const std::string& title, const std::string& note) {
  auto json = platform::read_json(path, kMaxPresetBytes, Stage::input);
  if (!json) return fail(json.error());
  if (!json->is_object() || !json->contains(kMark))
    return fail(Stage::input, path.string() + "/" + kMark + ": is missing", "Choose a preset's file.");
  (*json)["title"] = title.substr(0, kMaxText);
  (*json)["note"] = note.substr(0, kMaxText);
  return platform::write_file(path, json_text(*json, 2) + "\n");
}

Result<std::filesystem::path> copy_preset(const std::filesystem::path& path, const std::filesystem::path& folder,
                                          const std::vector<std::string>& taken, const std::vector<Kernel>& kernels) {
  auto preset = read_preset(path, kernels);
  if (!preset) return fail(preset.error());
  const std::string title = preset->title.empty() ? path.stem().string() : preset->title;
  preset->title = title;
  for (int copy = 1; std::ranges::find(taken, preset->title) != taken.end(); ++copy)
    preset->title = title + " copy" + (copy > 1 ? " " + std::to_string(copy) : "");
  preset->group.clear();   // the copy belongs to the person
  preset->invite.clear();  // only the default preset has one
  const std::filesystem::path to = free_path(folder, path.stem().string());
  if (auto written = platform::write_file(to, json_text(to_json(*preset, kernels), 2) + "\n"); !written)
    return fail(written.error());
  return to;
}

Result<std::filesystem::path> put_preset_aside(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path() / "deleted";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::filesystem::path to = free_path(folder, path.stem().string());
  if (!error) std::filesystem::rename(path, to, error);
  if (error)
    return fail(Stage::store, path.string() + " cannot be moved to " + folder.string() + ": " + error.message(),
                "Check the rights of that folder; the preset is still where it was.");
  return to;
}

}  // namespace attnscope::store
