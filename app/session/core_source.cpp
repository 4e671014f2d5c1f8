// Copies of kernels that a person edits, and writing their source files.
#include <algorithm>

#include "catalog/own_copy.h"
#include "session/core.h"

namespace attnscope::session {

void SessionCore::find_originals() {
  snapshot_.own_kernels_dir = options_.own_kernels.string();
  std::map<std::string, std::string> originals;
  for (const Kernel& kernel : *snapshot_.kernels) {
    if (std::filesystem::path(kernel.manifest_name).parent_path() != options_.own_kernels) continue;
    auto original = catalog::original_of(kernel);
    if (!original)
      notices_.log(LogLevel::warning, original.error().message);
    else if (*original)
      originals.emplace(kernel.id, std::move(**original));
  }
  snapshot_.originals = share(std::move(originals));
}

void SessionCore::copy_kernel(uint64_t id, Draft draft) {
  snapshot_.copied = {id, ""};
  changed();
  const auto kernel = shelf_.find(draft.kernel);
  if (!kernel)
    return notices_.toast(Failure{Stage::catalog, draft.kernel + " is not among the kernels any more",
                                  "Its files were moved or deleted. Choose another kernel."});
  const std::filesystem::path& folder = options_.own_kernels;
  Result<catalog::OwnCopy> copy = fail(Stage::store, "There is no folder for a copy of " + kernel->id,
                                       "Set ATTNSCOPE_HOME, or HOME, to a folder of yours.");
  if (!folder.empty()) copy = catalog::copy_kernel(*kernel, folder, *snapshot_.kernels);
  if (!worked(copy)) return;
  load_kernels();
  snapshot_.copied.kernel = copy->id;
  notices_.log(LogLevel::info, copy->id + " is your copy of " + kernel->id + ": " + copy->source.string());
  const std::string change = copy->id + ", a copy of " + kernel->id;
  draft.kernel = copy->id;
  ask({.draft = std::move(draft), .gesture = {0, true, change}});
}

void SessionCore::save_source(const SourceSave& save) {
  const auto kernel = shelf_.find(save.kernel);
  if (!kernel || !snapshot_.originals->contains(save.kernel)) {
    snapshot_.saved = {save.id,
                       Failure{Stage::catalog, save.kernel + " is not among the kernels any more",
                               "Its files were moved or deleted. Copy the text and put it into a file."},
                       std::nullopt};
    return changed();
  }
  auto saved = catalog::save_source(catalog::source_file(*kernel), save.based_on, save.text);
  snapshot_.saved = {save.id, std::nullopt, std::nullopt};
  if (!saved)
    snapshot_.saved.failure = saved.error();
  else if (!saved->written)
    snapshot_.saved.changed = std::move(saved->on_disk);
  reload_kernels();
}

}  // namespace attnscope::session
