#include "catalog/catalog.h"

#include <algorithm>
#include <cctype>

#include "catalog/clocked_fragment.h"
#include "catalog/launch.h"
#include "catalog/manifest_reader.h"
#include "catalog/reference_kernel.h"
#include "catalog/softmax_places.h"
#include "catalog/validate.h"
#include "catalog/workload.h"
#include "core/code_file.h"
#include "core/escape.h"
#include "core/hash.h"
#include "core/json.h"
#include "platform/atomic_file.h"
#include "platform/json_file.h"

namespace attnscope::catalog {
namespace {

// "02_tiled.json" → rung 2, id "tiled".
struct FileName {
  int rung = 0;
  std::string id;
};

FileName file_name_of(const std::string& manifest_name) {
  const std::string stem = std::filesystem::path(manifest_name).stem().string();
  size_t digits = 0;
  while (digits < stem.size() && digits < 6 && std::isdigit(static_cast<unsigned char>(stem[digits]))) ++digits;
  if (digits == 0 || digits >= stem.size() || stem[digits] != '_') return {0, stem};
  return {std::stoi(stem.substr(0, digits)), stem.substr(digits + 1)};
}

// A problem that the kernel accepts, used to try its expressions.
Problem sample_problem(const Kernel& kernel) {
  Problem problem = kernel.default_problem();
  if (!problem.is_attention()) return problem;
  problem.head_dim = kernel.supports.head_dims.front();
  problem.causal = kernel.supports.causals.front();
  problem.dtype = kernel.supports.dtypes.front();
  problem.layout = kernel.supports.layouts.front();
  return problem;
}

// Every expression must evaluate for the default config, so that an unknown name or a wrong operator is reported when
// the file is loaded, not when a person first turns a knob.
Result<void> try_expressions(const Kernel& kernel) {
  const Problem problem = sample_problem(kernel);
  Result<Config> config = complete_config(kernel, {}, {});
  if (!config) return fail(config.error());
  const Variables known = variables(kernel, problem, *config);
  for (const auto& [key, list] : {std::pair{"requires", &kernel.requires_}, std::pair{"warns", &kernel.warns}})
    for (size_t i = 0; i < list->size(); ++i) {
      const std::string where = kernel.manifest_name + "/" + key + "/" + std::to_string(i) + "/expr";
      if (auto value = holds((*list)[i].expr, known, where); !value) return fail(value.error());
    }
  if (auto made = tensor_products_of(kernel, problem, *config); !made) return fail(made.error());
  if (kernel.softmax)
    if (auto site = softmax_site(kernel, problem, *config, {}); !site) return fail(site.error());
  if (kernel.fragment) {
    if (auto fits = fragment_fits(kernel, *config, Problem{}); !fits) return fail(fits.error());
    if (auto work = fragment_work(kernel, *config); !work) return fail(work.error());
  }
  for (const Kernel& one : kernel.launches()) {
    if (kernel.library.is_source()) {  // the library decides how its routine is launched
      if (auto launch = launch_of(one, problem, *config); !launch) return fail(launch.error());
    }
    if (problem.is_attention()) continue;
    auto workload = workload_of(one, problem, *config);
    if (!workload) return fail(workload.error());
    if (auto copies = check_copies(kernel, *workload); !copies) return copies;
    if (!kernel.reference_kernel) continue;
    if (auto fits = reference_workload(kernel, *workload, problem); !fits) return fail(fits.error());
  }
  return {};
}

bool names_machine_code(const Json& manifest) { return manifest.is_object() && manifest.contains(kMachineCodeKey); }

// Stores the source or the machine code, whichever the manifest names.
Result<void> hold_content(Kernel& kernel, const KernelText& text, bool machine_code) {
  const std::string where = text.manifest_name + "/" + (machine_code ? kMachineCodeKey : "source");
  kernel.source = text.source;
  if (machine_code) {
    if (text.source.size() > kMaxMachineCodeBytes)
      return fail(Stage::catalog, where + ": machine code of over 8 MB is not read",
                  "Take the kernel's cubin out of the file: cuobjdump -xelf all FILE.");
    if (is_machine_code(text.source)) return {};
    return fail(Stage::catalog, where + ": the file is not machine code", "Name a cubin or a fatbinary.");
  }
  if (text.source.size() > kMaxSourceBytes)
    return fail(Stage::catalog, where + ": a source of over 4 MB is not read", "Keep tables out of the source.");
  return is_text(text.source, where);
}

}  // namespace

Result<void> is_text(const std::string& text, const std::string& where) {
  if (text.find('\0') != std::string::npos)
    return fail(Stage::catalog, where + ": holds a zero byte, so it is not text");
  if (!is_utf8(text)) return fail(Stage::catalog, where + ": is not UTF-8", "Save the file as UTF-8.");
  return {};
}

std::string content_hash(const std::string& manifest, const std::string& source) {
  // With its length in front, no byte can move from one text to the other without changing the hash.
  return xxh3_128(std::to_string(manifest.size()) + "\n" + manifest + source);
}

Result<Kernel> parse_kernel(const KernelText& text) {
  const std::string& name = text.manifest_name;
  if (text.manifest.size() > kMaxManifestBytes)
    return fail(Stage::catalog, name + ": a manifest of over 1 MB is not read", "Keep data out of the manifest.");
  Result<Json> json = parse_json(text.manifest, name, Stage::catalog);
  if (!json) return fail(json.error());

  Kernel kernel;
  kernel.manifest_name = name;
  kernel.manifest = text.manifest;
  JsonReader read(*json, name, Stage::catalog);
  read_identity(read, kernel);
  if (auto held = hold_content(kernel, text, names_machine_code(*json)); !read.failed() && !held)
    return fail(held.error());
  read_knobs(read, kernel);
  read_restrictions(read, "requires", kernel.requires_);
  read_restrictions(read, "warns", kernel.warns);
  // Keys that a kind of kernel does not use are unknown for it, and refused.
  const bool attention = kernel.problem == ProblemKind::attention;
  if (attention) read_supports(read, kernel);
  const bool program = read.has(kProgramKey);
  if (program && (attention || !kernel.library.is_source()))
    read.fault(kProgramKey,
               attention ? "a kernel of the problem attention is one launch" : "a library's routine has none",
               attention ? "Use the problem custom: it has scratch buffers, and a reference of kind attention." : "");
  if (kernel.library.is_source()) {
    if (!names_machine_code(*json)) read_phases(read, kernel);
    if (!program) {
      read_launch(read, kernel);
      read_shared_map(read, kernel);
    }
    if (attention) {
      read_arguments(read, kernel);
      if (!names_machine_code(*json)) read_softmax(read, kernel);
    } else {
      read_workload(read, kernel);
    }
  } else if (!attention) {
    read_workload(read, kernel);
  }
  const FileName file = file_name_of(name);
  if (!read.failed() && kernel.id != file.id)
    read.fault("id", "\"" + kernel.id + "\" is not the file's name without its number, \"" + file.id + "\"",
               "Rename the file or the id.");
  if (!read.failed() && kernel.source_name != text.source_name)
    read.fault("source", "names " + kernel.source_name + ", but " + text.source_name + " was given");
  if (auto done = read.finish(); !done) return fail(done.error());
  kernel.rung = file.rung;
  kernel.content_hash = content_hash(text.manifest, text.source);
  if (auto tried = try_expressions(kernel); !tried) return fail(tried.error());
  return kernel;
}

std::string id_of_file(const std::string& manifest_name) { return file_name_of(manifest_name).id; }

Result<KernelText> kernel_files(const std::filesystem::path& path) {
  KernelText text;
  text.manifest_name = path.string();
  Result<std::string> manifest = platform::read_file(path, kMaxManifestBytes);
  if (!manifest) return fail(Stage::catalog, manifest.error().message, manifest.error().hint);
  text.manifest = std::move(*manifest);

  // The source's name is needed before the rest is read. parse_kernel checks it again with everything else.
  Result<Json> json = parse_json(text.manifest, text.manifest_name, Stage::catalog);
  if (!json) return fail(json.error());
  JsonReader read(*json, text.manifest_name, Stage::catalog);
  Kernel identity;
  read_identity(read, identity);
  if (auto done = read.finish(false); !done) return fail(done.error());
  if (!identity.library.is_source()) return text;
  text.source_name = identity.source_name;
  const bool machine_code = names_machine_code(*json);
  const std::string where = text.manifest_name + "/" + (machine_code ? kMachineCodeKey : "source") + ": ";
  Result<std::string> source = platform::read_file(path.parent_path() / identity.source_name,
                                                   machine_code ? kMaxMachineCodeBytes : kMaxSourceBytes);
  if (!source) return fail(Stage::catalog, where + source.error().message, source.error().hint);
  text.source = std::move(*source);
  return text;
}

Result<Kernel> load_kernel(const std::filesystem::path& path) {
  auto text = kernel_files(path);
  if (!text) return fail(text.error());
  auto whole = with_reference_kernel(text->manifest, path);
  if (!whole) return fail(whole.error());
  text->manifest = std::move(*whole);
  return parse_kernel(*text);
}

Catalog load_catalog(const std::vector<std::filesystem::path>& dirs) {
  Catalog catalog;
  for (const std::filesystem::path& dir : dirs) {
    std::error_code error;
    const std::vector<std::filesystem::path> manifests = platform::json_files_in(dir, error);
    if (error) {
      catalog.failures.push_back({Stage::catalog,
                                  dir.string() + ": the kernels' folder cannot be read: " + error.message(),
                                  "Name a folder that holds kernels (.cu) and their manifests (.json)."});
      continue;
    }
    for (const std::filesystem::path& path : manifests) {
      Result<Kernel> kernel = load_kernel(path);
      if (!kernel) {
        catalog.failures.push_back(kernel.error());
        catalog.unloaded.emplace(id_of_file(path.string()), kernel.error());
        continue;
      }
      auto twin = std::ranges::find(catalog.kernels, kernel->id, &Kernel::id);
      if (twin != catalog.kernels.end())
        catalog.failures.push_back({Stage::catalog,
                                    path.string() + "/id: \"" + kernel->id + "\" is taken by " + twin->manifest_name,
                                    "Give one of the two another name."});
      else
        catalog.kernels.push_back(std::move(*kernel));
    }
  }
  return catalog;
}

}  // namespace attnscope::catalog
