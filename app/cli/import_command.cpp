#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>

#include "catalog/catalog.h"
#include "catalog/import.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/given_file.h"
#include "cli/read_import.h"
#include "core/command_words.h"
#include "core/json.h"
#include "platform/atomic_file.h"
#include "platform/output_file.h"

namespace attnscope::cli {
namespace {

namespace fs = std::filesystem;

struct ImportOptions {
  GivenFile given;
  std::string out;
  bool replace = false;
};

Result<void> write_new(const fs::path& path, const std::string& text, bool replace) {
  std::error_code error;  // not reported here, because writing there fails too and gives the reason
  if (fs::exists(path, error) && !replace)
    return fail(Stage::store, path.string() + " already exists", "Give another --out, or --replace.");
  return platform::write_output(path, text);
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

std::string listed(const char* heading, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += (text.empty() ? std::string(heading) + "\n" : std::string()) + "  " + line + "\n";
  return text;
}

// The entries that a manifest launches: its own, or a program's.
std::vector<std::string> entries_of(const Json& manifest) {
  std::vector<std::string> entries;
  const auto add = [&](const Json& one) {
    if (one.is_object() && one.contains("entry") && one["entry"].is_string())
      entries.push_back(one["entry"].get<std::string>());
  };
  add(manifest);
  if (manifest.is_object() && manifest.contains(catalog::kProgramKey) && manifest[catalog::kProgramKey].is_array())
    for (const Json& step : manifest[catalog::kProgramKey]) add(step);
  return entries;
}

// True if the manifest exists and describes another kernel, for example after an earlier import from the same file.
bool is_of_another_entry(const fs::path& path, const std::string& manifest) {
  const auto text = platform::read_file(path, catalog::kMaxManifestBytes);
  const auto there = text ? parse_json(*text, path.string()) : Result<Json>(fail(text.error()));
  const auto here = parse_json(manifest, path.string());
  if (!there || !here) return false;
  const std::vector<std::string> entries = entries_of(*there);
  return !entries.empty() && entries != entries_of(*here);
}

// How an import ends: the command, or what is in its way. `failure`: of import's own run, if it did not end well.
std::string how_to_run(const std::optional<Failure>& failure, const std::string& command) {
  if (!failure) return "Run it: " + command;
  const bool slow = failure->kind != FailureKind::deadlock &&
                    (failure->stage == Stage::cancelled || failure->stage == Stage::deadline);
  if (slow) return "Import's own run of it did not end: " + failure->message + "\nRun it: " + command;
  return "It does not run yet: " + failure->message + "\n" + (failure->hint.empty() ? "" : failure->hint + "\n") +
         "Once that is mended: " + command;
}

Result<std::string> import_file(const ImportOptions& options) {
  const fs::path file = options.given.file;
  auto read = read_import(options.given);
  if (!read) return fail(read.error());
  const catalog::WholeSource& whole = read->whole;
  const catalog::Imported& imported = read->imported;
  // A source with pasted headers is a new file and must not replace the original.
  const fs::path folder = options.out.empty() ? file.parent_path() : fs::path(options.out);
  if (is_of_another_entry(folder / (imported.id + ".json"), imported.manifest)) {
    if (auto renamed = rename_kernel(*read, catalog::id_with_entry(imported)); !renamed) return fail(renamed.error());
  }
  const fs::path manifest = folder / (imported.id + ".json"), copy = folder / read->name;
  if (auto made = platform::make_output_folder(folder.empty() ? "." : folder); !made) return fail(made.error());
  if (auto done = write_new(manifest, imported.manifest, options.replace); !done) return fail(done.error());
  if (!same_file(copy, file))
    if (auto done = write_new(copy, whole.text, options.replace); !done) return fail(done.error());
  std::string text = manifest.string() + ": a first manifest for " + imported.entry + "\n";
  text += listed("Headers pasted into the source:", whole.pasted);
  text += listed("Headers found elsewhere in the project:", whole.found);
  text += listed("Headers not pasted (their folder: --include DIR); without them it may not compile:", whole.missing);
  text += listed("CUDA's headers that are included in their place:", whole.added);
  text += listed("Read from the source:", imported.read);
  text += listed("Probed by running it in the emulator:", imported.probed);
  text += listed("Guessed, to be corrected in the manifest:", imported.guessed);
  text += listed("Other kernels of the file (--entry):", imported.others);
  text += listed("Functions that launch several kernels over the same buffers (--function):", imported.programs);
  text +=
      "No reference is declared, so its verdict will be \"unchecked\" (docs/writing-a-kernel.md has the references).\n";
  if (auto loaded = catalog::load_kernel(manifest); !loaded)
    text += "It does not load yet: " + loaded.error().message + "\n" + loaded.error().hint;
  else
    text += how_to_run(read->failure, shell_text(run_words(folder.empty() ? "." : folder.string(), imported.id)));
  return text;
}

}  // namespace

void add_import(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("import", "Write a first manifest for a .cu file written for nvcc, or for machine code");
  auto options = std::make_shared<ImportOptions>();
  add_file_options(*command, options->given)->required();
  command
      ->add_option("--out", options->out,
                   "Folder for the manifest and a copy of the source; the source's own otherwise")
      ->type_name("DIR");
  command->add_flag("--replace", options->replace, "Overwrite existing files");
  command->callback([options, &chosen] {
    chosen = [options]() -> int {
      auto text = import_file(*options);
      if (!text) return report(text.error());
      print_result(*text);
      return kCorrectOrUnchecked;
    };
  });
}

}  // namespace attnscope::cli
