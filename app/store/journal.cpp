#include "store/journal.h"

#include "platform/atomic_file.h"

namespace attnscope::store {

Result<void> write_journal(const std::filesystem::path& path, const Journal& journal,
                           const std::vector<Kernel>& kernels) {
  const Json json{
      {"attnscope_journal", 1}, {"last", to_json(journal.last, kernels)}, {"preset_path", journal.preset_path}};
  // Cached: after a crash of the program it is whole; a power cut may cost the last knob position, which is not worth a
  // disk flush at every move.
  return platform::write_file(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n",
                              platform::Durability::cached);
}

Result<std::optional<Journal>> read_journal(const std::filesystem::path& path, const std::vector<Kernel>& kernels) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  auto text = platform::read_file(path, kMaxPresetBytes + 65536);
  if (!text) return fail(text.error());
  auto json = parse_json(*text, path.string(), Stage::store);
  if (!json) return fail(json.error());
  Journal journal;
  JsonReader read(*json, path.string(), Stage::store);
  int version = 0;
  read.required("attnscope_journal");
  read.integer("attnscope_journal", version, 1, 1);
  read.required("last");
  read.text("preset_path", journal.preset_path, 65536);
  const Json* last = read.value("last");
  if (auto done = read.finish(); !done) return fail(done.error());
  auto preset = preset_from_json(*last, read.path("last"), kernels);
  if (!preset) return fail(preset.error());
  journal.last = std::move(*preset);
  return journal;
}

}  // namespace attnscope::store
