#include "catalog/reference_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "catalog/catalog.h"
#include "catalog/validate.h"
#include "catalog/workload.h"
#include "core/fields.h"
#include "core/joined.h"
#include "platform/json_file.h"

namespace attnscope {

template <>
struct FieldsOf<KernelAsReference> {
  static constexpr Limits kTolerance{.low = 0, .high = std::numeric_limits<double>::infinity()};
  static constexpr auto list = std::tuple{Field{"atol", &KernelAsReference::atol, kTolerance},
                                          Field{"rtol", &KernelAsReference::rtol, kTolerance}};
};

namespace catalog {
namespace {

constexpr const char* kReference = "reference";

std::string folder_of(const std::string& manifest_name) {
  return std::filesystem::path(manifest_name).parent_path().string();
}

// The manifest with that id in the folder.
Result<std::filesystem::path> manifest_in(const std::filesystem::path& folder, const std::string& id,
                                          const std::string& where) {
  std::error_code error;
  std::filesystem::path found;
  for (const std::filesystem::path& one : platform::json_files_in(folder, error)) {
    if (id_of_file(one.string()) != id) continue;
    if (!found.empty())
      return fail(Stage::catalog,
                  fmt::format("{}: both {} and {} are the kernel \"{}\"", where, found.string(), one.string(), id),
                  "Give one of the two another name.");
    found = one;
  }
  if (!found.empty()) return found;
  return fail(Stage::catalog, fmt::format("{}: there is no kernel \"{}\" in the manifest's folder", where, id),
              "Keep its manifest and source beside this one, or name a kind of reference.");
}

bool is_given(const BufferDeclaration& one) { return one.role == BufferRole::in || one.role == BufferRole::inout; }

// Why `other` cannot compute the reference of `kernel`; empty if it can, as far as the manifests show.
std::string misfit(const Kernel& kernel, const Kernel& other) {
  if (other.problem != kernel.problem)
    return fmt::format("is of the problem {}, not {}", word_of(other.problem), word_of(kernel.problem));
  if (!other.library.is_source()) return "is a library's routine";
  if (!std::ranges::equal(other.sizes, kernel.sizes, [](const auto& a, const auto& b) { return a.first == b.first; }))
    return "has other sizes than this kernel";
  const auto twin = [](const Kernel& in, const BufferDeclaration& of) {
    return std::ranges::find_if(in.buffers,
                                [&](const auto& one) { return one.name == of.name && one.type == of.type; });
  };
  for (const BufferDeclaration& output : kernel.buffers) {
    if (!is_judged(output.role)) continue;
    const auto found = twin(other, output);
    if (found == other.buffers.end() || !is_judged(found->role))
      return fmt::format("has no output \"{}\" of type {}", output.name, word_of(output.type));
  }
  for (const BufferDeclaration& input : other.buffers) {
    if (!is_given(input)) continue;
    const auto found = twin(kernel, input);
    if (found == kernel.buffers.end() || !is_given(*found))
      return fmt::format("needs the input \"{}\" of type {}, which this kernel does not have", input.name,
                         word_of(input.type));
  }
  return {};
}

// {"KNOB": value or label}
void read_config(JsonReader& read, KernelAsReference& reference) {
  const Json* json = read.value("config");
  if (!json || json->is_null()) return;
  if (!json->is_object()) return read.fault("config", "must be an object of knobs and values");
  for (const auto& [name, value] : json->items()) {
    const Knob* knob = reference.kernel->find_knob(name);
    if (!knob)
      return read.fault("config", fmt::format("{} has no knob {}", reference.kernel->id, Json(name).dump()),
                        "Name its own knobs.");
    if (!value.is_string() && !value.is_number_integer())
      return read.fault("config", name + " must be a whole number or a label");
    auto known = knob_value(*reference.kernel, *knob, value.is_string() ? value.get<std::string>() : value.dump());
    if (!known) return read.fault("config", known.error().message, known.error().hint);
    reference.knobs[name] = *known;
  }
}

}  // namespace

bool names_reference_kernel(const Json& manifest) {
  return manifest.is_object() && manifest.contains(kReference) && manifest[kReference].is_object() &&
         manifest[kReference].contains("kernel");
}

Result<std::string> with_reference_kernel(const std::string& manifest, const std::filesystem::path& path) {
  const std::string where = path.string();
  if (manifest.find(kReference) == std::string::npos) return manifest;
  auto json = parse_json(manifest, where, Stage::catalog);
  if (!json) return fail(json.error());
  if (!names_reference_kernel(*json) || (*json)[kReference].contains("content") ||
      !(*json)[kReference]["kernel"].is_string())
    return manifest;
  Json& reference = (*json)[kReference];
  const std::string pointer = where + "/reference/kernel";
  auto named = manifest_in(path.parent_path(), reference["kernel"].get<std::string>(), pointer);
  if (!named) return fail(named.error());
  auto files = kernel_files(*named);
  if (!files) return fail(files.error());
  if (!is_text(files->source, pointer))
    return fail(Stage::catalog,
                fmt::format("{}: \"{}\" is machine code", pointer, reference["kernel"].get<std::string>()),
                "Name a kernel with a source.");
  reference["content"] = {
      {"manifest", files->manifest}, {"source_name", files->source_name}, {"source", files->source}};
  std::string whole = json->dump();
  if (whole.size() > kMaxManifestBytes)
    return fail(Stage::catalog, pointer + ": the kernel's manifest and source have over 1 MB",
                "A reference travels with the kernel that names it: name a smaller one.");
  return whole;
}

void read_reference_kernel(JsonReader& outer, Kernel& kernel) {
  JsonReader read(*outer.value(kReference), outer.path(kReference), Stage::catalog);
  KernelAsReference reference;
  std::string id;
  KernelText text;
  read.text("kernel", id, 100);
  read_fields_into(read, reference);
  if (!read.failed() && !is_word(id)) read.fault("kernel", "must be a kernel's id");
  if (!read.failed() && id == kernel.id)
    read.fault("kernel", "\"" + id + "\" is this kernel itself", "Name another kernel, or a kind of reference.");
  read.required("content");
  read.object("content", [&](JsonReader& inner) {
    for (const char* key : {"manifest", "source_name", "source"}) inner.required(key);
    inner.text("manifest", text.manifest, kMaxManifestBytes);
    inner.text("source_name", text.source_name, 200);
    inner.text("source", text.source, kMaxManifestBytes);
  });
  if (!read.failed()) {
    text.manifest_name = (std::filesystem::path(folder_of(kernel.manifest_name)) / (id + ".json")).string();
    // Checked before it is read as a kernel, because a reference of a reference would have content of its own, and so
    // on.
    const auto json = parse_json(text.manifest, text.manifest_name, Stage::catalog);
    if (json && names_reference_kernel(*json))
      read.fault("kernel", "\"" + id + "\" has a kernel as its own reference",
                 "Name a kernel with another reference, or with none.");
    auto parsed = read.failed() ? Result<Kernel>(Kernel{}) : parse_kernel(text);
    if (!parsed)
      read.adopt(parsed.error());
    else
      reference.kernel = std::make_shared<const Kernel>(std::move(*parsed));
  }
  if (!read.failed()) {
    const std::string why = misfit(kernel, *reference.kernel);
    if (!why.empty())
      read.fault("kernel", "\"" + id + "\" " + why,
                 "Both kernels must compute the same from buffers of the same names.");
    read_config(read, reference);
  }
  if (auto done = read.finish(); !done) return outer.adopt(done.error());
  kernel.reference_kernel = std::move(reference);
}

Result<Config> config_of(const KernelAsReference& reference) {
  return complete_config(*reference.kernel, reference.knobs, reference.kernel->options);
}

Result<Workload> reference_workload(const Kernel& kernel, const Workload& own, const Problem& problem) {
  const KernelAsReference& reference = *kernel.reference_kernel;
  auto config = config_of(reference);
  if (!config) return fail(config.error());
  auto workload = workload_of(reference.kernel->launches().front(), problem, *config);
  if (!workload) return workload;
  for (const Operand& one : workload->operands) {
    const auto twin = std::ranges::find(own.operands, one.name, &Operand::name);
    const bool shared = twin != own.operands.end() && (one.role == BufferRole::in || one.judged()) &&
                        twin->role != BufferRole::workspace;
    if (shared && twin->elements() != one.elements())
      return fail(Stage::catalog,
                  fmt::format("{}/reference/kernel: {} of {} has {}, here it has {}", kernel.manifest_name, one.name,
                              reference.kernel->id, how_many(one.elements(), "element"), twin->elements()),
                  "Both kernels must compute the same: correct the shapes of one of them.");
  }
  return workload;
}

}  // namespace catalog
}  // namespace attnscope
