#include "catalog/own_copy.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "catalog/catalog.h"
#include "catalog/manifest_text.h"
#include "core/code_file.h"
#include "platform/atomic_file.h"
#include "platform/file_stamp.h"
#include "platform/move_aside.h"

namespace attnscope::catalog {
namespace {

constexpr const char* kOriginalEnding = ".original";
constexpr size_t kLongestStem = 80;  // characters of the copied kernel's id; an id may have 100
constexpr int kMostCopies = 1000;    // of one kernel

struct Names {
  std::string id;
  std::filesystem::path source, manifest, original;
};

Names names_in(const std::filesystem::path& folder, const std::string& id) {
  return {id, folder / (id + ".cu"), folder / (id + ".json"), folder / (id + ".cu" + kOriginalEnding)};
}

// "tiled_copy", "tiled_copy2". An id that begins with a digit would lose it as the number of a rung.
std::string nth_id(const Kernel& kernel, int n) {
  const std::string stem = kernel.id.substr(0, kLongestStem);
  const std::string number = n == 1 ? "" : std::to_string(n);
  const bool digit = std::isdigit(static_cast<unsigned char>(stem.front())) != 0;
  return digit ? "copy" + number + "_" + stem : stem + "_copy" + number;
}

std::optional<Names> free_names(const Kernel& kernel, const std::filesystem::path& folder,
                                const std::vector<Kernel>& known) {
  for (int n = 1; n <= kMostCopies; ++n) {
    Names names = names_in(folder, nth_id(kernel, n));
    const bool taken = find_kernel(known, names.id) != nullptr || platform::name_exists(names.source) ||
                       platform::name_exists(names.manifest) || platform::name_exists(names.original);
    if (!taken) return names;
  }
  return std::nullopt;
}

std::string manifest_of_copy(const Kernel& kernel, const Names& names) {
  nlohmann::ordered_json manifest = nlohmann::ordered_json::parse(kernel.manifest);  // it was read before
  manifest["id"] = names.id;
  manifest["title"] = names.id + ": " + kernel.title;
  manifest["source"] = names.source.filename().string();
  // They name places of the source, so an edit of one would keep the copy from loading.
  manifest.erase("softmax");
  manifest.erase("phases");
  return manifest_text(manifest);
}

}  // namespace

Result<OwnCopy> copy_kernel(const Kernel& kernel, const std::filesystem::path& folder,
                            const std::vector<Kernel>& known) {
  if (!kernel.library.is_source() || kernel.source.empty() || is_machine_code(kernel.source))
    return fail(Stage::input, kernel.id + " has no source to edit",
                kernel.library.is_source() ? "It is machine code. Import its .cu file: attnscope import FILE.cu."
                                           : "It is a routine of a library. Choose a kernel with a source.");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !platform::may_write_in(folder))
    return fail(Stage::store, folder.string() + " takes no copy: " + (error ? error.message() : "it is read-only"),
                "Make the folder writable.");
  const auto names = free_names(kernel, folder, known);
  if (!names)
    return fail(Stage::input, folder.string() + " has too many copies of " + kernel.id,
                "Delete those that you do not need.");
  KernelText text{names->manifest.string(), manifest_of_copy(kernel, *names), names->source.filename().string(),
                  kernel.source};
  if (auto loads = parse_kernel(text); !loads) return fail(loads.error());
  // The manifest is written last, because it makes the copy a kernel.
  const std::pair<std::filesystem::path, const std::string*> files[] = {
      {names->original, &text.source}, {names->source, &text.source}, {names->manifest, &text.manifest}};
  for (const auto& [path, content] : files) {
    const auto written = platform::write_file(path, *content);
    if (written) continue;
    std::error_code ignored;
    for (const auto& file : files) std::filesystem::remove(file.first, ignored);
    return fail(written.error());
  }
  return OwnCopy{names->id, names->source};
}

std::filesystem::path source_file(const Kernel& kernel) {
  return std::filesystem::path(kernel.manifest_name).parent_path() / kernel.source_name;
}

Result<std::optional<std::string>> original_of(const Kernel& kernel) {
  std::filesystem::path original = source_file(kernel);
  original += kOriginalEnding;
  return platform::read_file_if_any(original, kMaxSourceBytes);
}

Result<SavedText> save_source(const std::filesystem::path& file, const std::string& based_on, const std::string& text) {
  if (text.size() > kMaxSourceBytes)
    return fail(Stage::catalog, file.string() + ": a source of over 4 MB is not read", "Make it shorter.");
  if (auto is = is_text(text, file.string()); !is) return fail(is.error());
  auto now = platform::read_file_if_any(file, kMaxSourceBytes);
  if (!now) return fail(now.error());
  if (*now && **now != based_on && **now != text) return SavedText{false, std::move(**now)};
  if (!*now || **now != text)
    if (auto written = platform::write_file(file, text); !written) return fail(written.error());
  return SavedText{true, text};
}

}  // namespace attnscope::catalog
