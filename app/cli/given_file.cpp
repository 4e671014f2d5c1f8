#include "cli/given_file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "catalog/catalog.h"
#include "cli/places.h"
#include "cli/probe.h"
#include "compile/builtin_headers.h"
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
    // A folder or a device is no manifest, and most manifests are other files': they need no parser.
    if (!text || text->find(file.filename().string()) == std::string::npos) continue;
    const auto json = parse_json(*text, path.string());
    if (!json || !json->is_object() || json->value("source", Json()) != file.filename().string()) continue;
    const Json entry = json->value("entry", Json());
    if (!entry.is_string()) continue;
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

Result<ImportedFile> read_import(const fs::path& file, const std::string& entry,
                                 const std::vector<std::string>& include) {
  auto source = platform::read_file(file, catalog::kMaxSourceBytes);
  if (!source) return fail(source.error());
  const std::vector<fs::path> folders(include.begin(), include.end());
  auto whole = catalog::whole_source(file, *source, folders, compile::is_builtin_header);
  if (!whole) return fail(whole.error());
  std::string name = catalog::source_file_name(file.filename().string());
  // Its lines are numbered otherwise, so it does not have the original's name.
  if (!whole->pasted.empty()) name = catalog::source_file_name("whole_" + name);
  auto imported = catalog::import_kernel(name, whole->text, entry, catalog::id_of(file.filename().string()));
  if (!imported) return fail(imported.error());
  return ImportedFile{name, std::move(*whole), std::move(*imported)};
}

void add_file_options(CLI::App& command, GivenFile& given) {
  command.add_option("file", given.file, "A .cu file, or a preset; --kernel otherwise")->type_name("FILE.cu");
  command.add_option("--entry", given.entry, "The file's kernel, with its template arguments: \"scale<float, 4>\"")
      ->type_name("NAME");
  command
      .add_option("--include", given.include,
                  "A folder with the file's project's headers, besides its own (may be repeated)")
      ->type_name("DIR");
}

Result<FileKernel> kernel_of(const GivenFile& given, const std::vector<std::string>& kernel_dirs) {
  auto beside = manifest_beside(given);
  if (!beside) return fail(beside.error());
  FileKernel kernel;
  std::string manifest, source;
  if (*beside) {
    auto text = platform::read_file(given.file, catalog::kMaxSourceBytes);
    if (!text) return fail(text.error());
    manifest = (*beside)->text;
    source = std::move(*text);
    kernel.manifest = (*beside)->path;
    kernel.source_name = fs::path(given.file).filename().string();
  } else {
    auto read = read_import(given.file, given.entry, given.include);
    if (!read) return fail(read.error());
    probe(*read);
    manifest = std::move(read->imported.manifest);
    source = std::move(read->whole.text);
    kernel.source_name = read->name;
    if (!read->whole.pasted.empty()) kernel.origins = std::move(read->whole.origins);
    kernel.guessed = std::move(read->imported.guessed);
    kernel.probed = std::move(read->imported.probed);
  }
  const std::string where = kernel.manifest.empty() ? given.file : kernel.manifest;
  auto loaded = catalog::parse_kernel({where, manifest, kernel.source_name, source});
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
  const fs::path folder = places->user.cache / "given" / hash;
  for (const auto& [name, text] : {std::pair(kernel.id + ".json", &manifest), {kernel.source_name, &source}})
    if (auto written = platform::write_file(folder / name, *text, platform::Durability::cached); !written)
      return fail(written.error());
  kernel.folder = folder.string();
  return kernel;
}

std::string text_of(const GivenFile& given) {
  const auto source = platform::read_file(given.file, catalog::kMaxSourceBytes);
  if (!source) return {};
  const std::vector<fs::path> folders(given.include.begin(), given.include.end());
  const auto whole = catalog::whole_source(given.file, *source, folders, compile::is_builtin_header);
  const auto beside = manifest_beside(given);
  return (whole ? whole->text : *source) + (beside && *beside ? (*beside)->text : "");
}

Result<NamedFile> named_by(const GivenFile& given, ExperimentOptions options) {
  NamedFile named{std::move(options), {}};
  if (given.file.empty()) return named;
  if (!named.options.kernel.empty() || !named.options.preset.empty())
    return fail(Stage::input, given.file + ": a file, and --kernel or --preset too", "Name one of them.");
  if (fs::path(given.file).extension() == ".json") {
    named.options.preset = given.file;
    return named;
  }
  auto kernel = kernel_of(given, named.options.kernel_dirs);
  if (!kernel) return fail(kernel.error());
  named.kernel = std::move(*kernel);
  named.options.kernel = named.kernel.id;
  named.options.kernel_dirs.push_back(named.kernel.folder);
  return named;
}

SourceFile source_of(const GivenFile& given, const NamedFile& named, const Kernel& kernel) {
  return {kernel.source_name, named.kernel.id.empty() ? "" : given.file, named.kernel.origins};
}

}  // namespace attnscope::cli
