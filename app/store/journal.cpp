#include "store/journal.h"

#include "core/escape.h"
#include "platform/atomic_file.h"
#include "platform/move_aside.h"

namespace attnscope::store {
namespace {

constexpr uint64_t kMostBytes = 16 << 20;  // enough for thousands of kernels

Result<Journal> journal_in(const std::string& text, const std::string& where, const std::vector<Kernel>& kernels,
                           bool& kernel_is_gone) {
  auto json = parse_json(text, where, Stage::store);
  if (!json) return fail(json.error());
  Journal journal;
  JsonReader read(*json, where, Stage::store);
  int version = 0;
  read.required("attnscope_journal");
  read.integer("attnscope_journal", version, 1, 1);
  read.required("last");
  read.text("preset_path", journal.preset_path, 65536);
  const Json* last = read.value("last");
  const Json* asked = read.has("kernels") ? read.value("kernels") : nullptr;
  if (asked && !asked->is_array()) read.fault("kernels", "must be an array");
  if (auto done = read.finish(); !done) return fail(done.error());
  auto preset = preset_from_json(*last, read.path("last"), kernels);
  if (!preset) {
    if (last->is_object() && last->contains("kernel") && (*last)["kernel"].is_string())
      kernel_is_gone = !find_kernel(kernels, (*last)["kernel"].get<std::string>());
    return fail(preset.error());
  }
  journal.last = std::move(*preset);
  if (asked)
    for (const Json& one : *asked)
      if (auto kept = preset_from_json(one, read.path("kernels"), kernels)) journal.kernels.push_back(std::move(*kept));
  return journal;
}

}  // namespace

Result<void> write_journal(const std::filesystem::path& path, const Journal& journal,
                           const std::vector<Kernel>& kernels) {
  Json asked = Json::array();
  for (const Preset& preset : journal.kernels) asked.push_back(to_json(preset, kernels));
  const Json json{{"attnscope_journal", 1},
                  {"last", to_json(journal.last, kernels)},
                  {"preset_path", journal.preset_path},
                  {"kernels", std::move(asked)}};
  // Cached: the file is complete after a crash of the program. A power cut may lose the last knob position, which is
  // not worth a disk flush at every move.
  return platform::write_file(path, json_text(json, 2) + "\n", platform::Durability::cached);
}

Result<std::optional<Journal>> read_journal(const std::filesystem::path& path, const std::vector<Kernel>& kernels) {
  auto text = platform::read_file_if_any(path, kMostBytes);
  if (!text) return fail(text.error());
  if (!*text) return std::nullopt;
  bool kernel_is_gone = false;
  auto journal = journal_in(**text, path.string(), kernels, kernel_is_gone);
  if (journal) return std::move(*journal);
  if (kernel_is_gone) return fail(journal.error());
  auto aside = platform::move_aside(path);
  return fail(Stage::store, journal.error().message,
              aside ? "The file is now " + aside->string() + "." : aside.error().message);
}

}  // namespace attnscope::store
