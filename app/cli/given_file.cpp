#include "cli/given_file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "catalog/catalog.h"
#include "catalog/reference_kernel.h"
#include "cli/places.h"
#include "cli/read_import.h"
#include "cli/run_text.h"
#include "core/code_file.h"
#include "core/escape.h"
#include "core/json.h"
#include "platform/atomic_file.h"

namespace attnscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHashLetters = 8;

// The manifest beside a file that names it as its source.
struct Beside {
  std::string path, text;
};
Result<std::optional<Beside>> manifest_beside(const GivenFile& given) {
  const fs::path file = given.file;
  std::vector<fs::path> manifests;
  std::error_code error;
  fs::directory_iterator entries(file.has_parent_path() ? file.parent_path() : ".", error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error))
    if (entries->path().extension() == ".json") manifests.push_back(entries->path());
  std::ranges::sort(manifests);
  for (const fs::path& path : manifests) {
    const auto text = platform::read_file(path, catalog::kMaxManifestBytes);
    // A folder or a device is not a manifest, and most manifests belong to other files, so they are not parsed.
    if (!text || text->find(file.filename().string()) == std::string::npos) continue;
    const auto json = parse_json(*text, path.string());
    if (!json || !json->is_object()) continue;
    const std::string source = file.filename().string();
    if (json->value("source", Json()) != source && json->value("cubin", Json()) != source) continue;
    if (json->contains(catalog::kProgramKey) && given.entry.empty() && given.function.empty())
      return std::optional(Beside{path.string(), *text});
    const Json entry = json->value("entry", Json());
    if (!entry.is_string() || !given.function.empty()) continue;
    const std::string name = entry.get<std::string>();
    if (given.entry.empty() || given.entry == name || given.entry == name.substr(0, name.find('<')))
      return std::optional(Beside{path.string(), *text});
  }
  return std::optional<Beside>();
}

bool has_kernel(const catalog::Catalog& catalog, const std::string& id) {
  return find_kernel(catalog.kernels, id) != nullptr || catalog.unloaded.contains(id);
}

}  // namespace

CLI::Option* add_file_options(CLI::App& command, GivenFile& given) {
  CLI::Option* file = command
                          .add_option("file", given.file,
                                      "A .cu file, machine code (cubin, fatbinary), or a preset; --kernel otherwise")
                          ->type_name("FILE");
  command.add_option("--entry", given.entry, "The file's kernel, with its template arguments: \"scale<float, 4>\"")
      ->type_name("NAME");
  command
      .add_option("--function", given.function,
                  "A host function of the file that launches several kernels: all of them, in order")
      ->type_name("NAME");
  command
      .add_option("--include", given.include,
                  "A folder with the file's project's headers, besides its own (may be repeated)")
      ->type_name("DIR");
  command.add_option("--grid", given.launch.grid, "Of machine code: CTAs, such as 16 or \"ceil_div(n, 256),8\"")
      ->type_name("X,Y,Z");
  command.add_option("--block", given.launch.block, "Of machine code: threads of a CTA")->type_name("X,Y,Z");
  command.add_option("--shared", given.launch.shared, "Of machine code: dynamic shared memory")->type_name("BYTES");
  command.add_flag("--cooperative", given.launch.cooperative,
                   "Of machine code: all CTAs exist at once, as grid.sync() needs");
  command
      .add_option("--args", given.launch.args,
                  "Of machine code: its parameters in order, \"n=4096, 2.5:f32, x:in:f32:n, y:inout:f32:n\"")
      ->type_name("LIST");
  return file;
}

Result<FileKernel> kernel_of(const GivenFile& given, const std::vector<std::string>& kernel_dirs, int deadline_ms) {
  auto beside = manifest_beside(given);
  if (!beside) return fail(beside.error());
  FileKernel kernel;
  std::string imported_as, manifest, source_name, source;
  if (*beside) {
    auto text = read_given(given);
    if (!text) return fail(text.error());
    if (!given.launch.empty())
      return fail(Stage::input, given.file + ": --grid and the like, and " + (*beside)->path + " has them too",
                  "Leave them out, or move the manifest away.");
    auto whole = catalog::with_reference_kernel((*beside)->text, (*beside)->path);
    if (!whole) return fail(whole.error());
    manifest = std::move(*whole);
    source = std::move(*text);
    kernel.manifest = (*beside)->path;
    source_name = fs::path(given.file).filename().string();
  } else {
    auto read = read_import(given, deadline_ms);
    if (!read) return fail(read.error());
    // A manifest is named by its id, and a file's name may hold what an id may not: "my kernel.cu".
    const fs::path file = given.file;
    imported_as = (file.parent_path() / (read->imported.id + file.extension().string())).string();
    manifest = std::move(read->imported.manifest);
    source = std::move(read->whole.text);
    source_name = read->name;
    kernel.guessed = std::move(read->imported.guessed);
    for (const std::string& header : read->whole.missing) kernel.guessed.push_back("it is run without " + header);
    kernel.probed = std::move(read->imported.probed);
  }
  const std::string where = kernel.manifest.empty() ? imported_as : kernel.manifest;
  auto loaded = catalog::parse_kernel({where, manifest, source_name, source});
  if (!loaded) return fail(loaded.error());
  auto dirs = cli::kernel_dirs(kernel_dirs);
  if (!dirs) return fail(dirs.error());
  kernel.id = loaded->id;
  const std::string hash = catalog::content_hash(manifest, source);
  if (has_kernel(catalog::load_catalog(*dirs), kernel.id)) {
    kernel.id += "_" + hash.substr(0, kHashLetters);
    auto json = parse_json(manifest, where);
    if (!json) return fail(json.error());
    (*json)["id"] = kernel.id;
    manifest = json_text(*json, 2);
  }
  auto places = find_places();
  if (!places) return fail(places.error());
  const auto keep_in = [&](const fs::path& folder) -> Result<void> {
    kernel.folder = folder.string();
    for (const auto& [name, text] : {std::pair(kernel.id + ".json", &manifest), {source_name, &source}})
      if (auto written = platform::write_file(folder / name, *text, platform::Durability::cached); !written)
        return written;
    return {};
  };
  if (keep_in(places->user.cache / "given" / hash)) return kernel;
  // A read-only or full home folder must not prevent a check of the file.
  auto temporary = platform::TemporaryFolder::make();
  if (!temporary) return fail(temporary.error());
  kernel.temporary = std::move(*temporary);
  if (auto kept = keep_in(kernel.temporary->path()); !kept) return fail(kept.error());
  return kernel;
}

std::string of_file_text(const FileKernel& kernel) {
  std::string out;
  if (!kernel.manifest.empty()) out += text_line("manifest", kernel.manifest);
  for (const std::string& one : kernel.probed) out += text_line("probed", one);
  for (const std::string& guess : kernel.guessed) out += text_line("guessed", guess);
  return out;
}

std::string text_of(const GivenFile& given) {
  const auto source = read_given(given);
  if (!source) return {};
  if (is_machine_code(*source)) return *source;
  const auto whole = whole_of(given, *source);
  const auto beside = manifest_beside(given);
  return (whole ? whole->text : *source) + (beside && *beside ? (*beside)->text : "");
}

Result<NamedFile> named_by(const GivenFile& given, ExperimentOptions options, int deadline_ms) {
  NamedFile named{std::move(options), {}};
  if (given.file.empty()) return named;
  if (!named.options.kernel.empty() || !named.options.preset.empty())
    return fail(Stage::input, given.file + ": a file, and --kernel or --preset too", "Name one of them.");
  if (fs::path(given.file).extension() == ".json") {
    named.options.preset = given.file;
    return named;
  }
  auto kernel = kernel_of(given, named.options.kernel_dirs, deadline_ms);
  if (!kernel) return fail(kernel.error());
  named.kernel = std::move(*kernel);
  named.options.kernel = named.kernel.id;
  named.options.kernel_dirs.push_back(named.kernel.folder);
  return named;
}

SourceFile source_of(const GivenFile& given, const NamedFile& named, const Kernel& kernel) {
  return {SourceLines(kernel.source_name, kernel.source), named.kernel.id.empty() ? "" : given.file};
}

}  // namespace attnscope::cli
