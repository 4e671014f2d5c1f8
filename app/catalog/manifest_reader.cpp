#include "catalog/manifest_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "catalog/arguments.h"
#include "core/escape.h"
#include "core/joined.h"
#include "core/option_fields.h"

namespace attnscope {
namespace {
constexpr size_t kMaxKnobs = 64, kMaxValues = 256, kMaxParts = 64, kMaxLine = 2000, kMaxName = 100;
}  // namespace

template <>
struct FieldsOf<Restriction> {
  static constexpr auto list =
      std::tuple{Field{"expr", &Restriction::expr, Limits{.bytes = kMaxLine, .required = true}},
                 Field{"why", &Restriction::why, Limits{.bytes = kMaxLine, .line = true, .required = true}}};
};

namespace catalog {
namespace {

bool is_macro_name(const std::string& name) {
  auto inner = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= kMaxName && name[0] >= 'A' && name[0] <= 'Z' &&
         std::ranges::all_of(name, inner);
}

}  // namespace

bool is_word(const std::string& name) {
  auto inner = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  return !name.empty() && name.size() <= kMaxName && std::ranges::all_of(name, inner);
}

namespace {

bool is_identifier(const std::string& name) {
  return is_word(name) && name.find_first_of("-.") == std::string::npos && !(name[0] >= '0' && name[0] <= '9');
}

}  // namespace

bool is_entry(const std::string& name) {
  auto inner = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == ':' ||
           c == '<' || c == '>' || c == ',' || c == ' ' || c == '*' || c == '&' || c == '-';
  };
  return !name.empty() && name.size() <= 1000 && std::ranges::all_of(name, inner);
}

const Json* array_at(JsonReader& read, const char* key, size_t most) {
  if (!read.has(key)) return nullptr;
  const Json* found = read.value(key);
  if (!found->is_array()) {
    read.fault(key, "must be a list");
    return nullptr;
  }
  if (found->size() > most) {
    read.fault(key, fmt::format("holds {} entries; at most {} are allowed", found->size(), most));
    return nullptr;
  }
  return found;
}

std::string at(const std::string& key, size_t index) { return fmt::format("{}/{}", key, index); }

void expression_at(JsonReader& read, const std::string& key, const Json& json, std::string& out) {
  if (json.is_string())
    out = json.get<std::string>();
  else if (json.is_number_integer())
    out = json.dump();
  else
    read.fault(key, "must be an expression or a whole number");
  if (out.size() > kMaxLine) read.fault(key, "is longer than 2,000 bytes");
}

namespace {

KnobValue knob_value_at(JsonReader& read, const Json& json, const std::string& key) {
  KnobValue value;
  if (json.is_number_integer()) {
    if (json.is_number_unsigned() && json.get<uint64_t>() > (uint64_t{1} << 53))
      read.fault(key, json.dump() + " is too large");
    else
      value.value = json.get<int64_t>();
    return value;
  }
  if (!json.is_object()) {
    read.fault(key, "must be a whole number or {label, value}");
    return value;
  }
  JsonReader inner(json, read.path(key), Stage::catalog);
  inner.required("label");
  inner.required("value");
  inner.text("label", value.label, kMaxName);
  inner.integer("value", value.value, -(int64_t{1} << 53), int64_t{1} << 53);
  if (!inner.failed() && !is_word(value.label)) inner.fault("label", "must be a word of letters, digits, _ - and .");
  if (auto done = inner.finish(); !done) read.adopt(done.error());
  return value;
}

// The default is written as a value or as a label.
void read_default(JsonReader& read, Knob& knob) {
  const Json* json = read.value("default");
  if (!json || json->is_null()) return read.fault("default", "is missing");
  for (const KnobValue& candidate : knob.values) {
    const bool by_label = json->is_string() && !candidate.label.empty() && json->get<std::string>() == candidate.label;
    const bool by_value = json->is_number_integer() && json->get<int64_t>() == candidate.value;
    if (!by_label && !by_value) continue;
    knob.default_value = candidate.value;
    return;
  }
  read.fault("default", json->dump() + " is not one of the knob's values", "Choose one of \"values\".");
}

Knob knob_at(JsonReader& outer, const Json& json, const std::string& key) {
  Knob knob;
  JsonReader read(json, outer.path(key), Stage::catalog);
  for (const char* needed : {"name", "values", "default"}) read.required(needed);
  read.text("name", knob.name, kMaxName);
  read.line("doc", knob.doc, kMaxLine);
  if (!read.failed() && !is_macro_name(knob.name))
    read.fault("name", "\"" + knob.name + "\" must be upper-case letters, digits and _, starting with a letter",
               "A knob is a macro of the source.");
  std::set<int64_t> values;
  std::set<std::string> labels;
  if (const Json* list = array_at(read, "values", kMaxValues)) {
    if (list->empty()) read.fault("values", "is empty");
    for (size_t i = 0; i < list->size() && !read.failed(); ++i) {
      KnobValue value = knob_value_at(read, (*list)[i], at("values", i));
      if (!values.insert(value.value).second) read.fault(at("values", i), fmt::format("{} appears twice", value.value));
      if (!value.label.empty() && !labels.insert(value.label).second)
        read.fault(at("values", i), "the label \"" + value.label + "\" appears twice");
      knob.values.push_back(std::move(value));
    }
  }
  if (!read.failed()) read_default(read, knob);
  if (auto done = read.finish(); !done) outer.adopt(done.error());
  return knob;
}

template <class T, class Read>
void read_list(JsonReader& read, const char* key, std::vector<T>& out, Read one) {
  const Json* list = array_at(read, key, 100);
  if (!list) return;
  if (list->empty()) read.fault(key, "is empty: the kernel would take nothing");
  out.clear();
  for (size_t i = 0; i < list->size() && !read.failed(); ++i) {
    Result<T> parsed = one((*list)[i]);
    if (!parsed)
      read.fault(at(key, i), parsed.error().message, parsed.error().hint);
    else if (std::ranges::find(out, *parsed) != out.end())
      read.fault(at(key, i), (*list)[i].dump() + " appears twice");
    else
      out.push_back(*parsed);
  }
}

template <class E>
Result<E> word(const Json& json) {
  if (!json.is_string()) return fail(Stage::catalog, "must be a word");
  return parse_word<E>(json.get<std::string>());
}

}  // namespace

namespace {

// The options that a kernel's draft starts with: for attention those of the reports' runs, for other kernels nvcc's
// defaults.
void read_options(JsonReader& read, Kernel& kernel) {
  kernel.options.fast_math = kernel.problem == ProblemKind::attention;
  read.object("options", [&](JsonReader& inner) { read_fields_into(inner, kernel.options); });
}

// Headers of another project, whose folder NVRTC needs; compile/ finds it.
Result<std::string> header_library(const Json& json) {
  if (json == "cutlass") return std::string("cutlass");
  return fail(Stage::catalog, json.dump() + " is not a known set of headers",
              "Known: cutlass (CUTLASS and CuTe). CUDA's own headers need no mention.");
}

// A text of several lines for people.
void prose_at(JsonReader& read, const char* key, std::string& out, size_t most) {
  read.text(key, out, most);
  if (!read.failed() && terminal_text(out) != out)
    read.fault(key, "holds a control character or a mark that turns the direction of writing", "Remove it.");
}

// f32 or f16, or a knob whose values are all called f32 or f16.
void check_accumulate(JsonReader& read, const Kernel& kernel) {
  const auto is_type = [](const std::string& text) { return parse_word<Accumulate>(text).has_value(); };
  if (read.failed() || is_type(kernel.accumulate)) return;
  const Knob* knob = kernel.find_knob(kernel.accumulate);
  if (!knob) return read.fault("accumulate", "must be f32 or f16, or the name of a knob that says which");
  for (const KnobValue& value : knob->values)
    if (!is_type(value.text()))
      read.fault("accumulate", "the knob " + knob->name + " has a value that is neither f32 nor f16: " + value.text(),
                 "Label each of its values f32 or f16.");
}

}  // namespace

void read_identity(JsonReader& read, Kernel& kernel) {
  for (const char* key : {"id", "title", "problem"}) read.required(key);
  const bool program = read.has(kProgramKey);
  if (!program) read.required("entry");
  fields::read(read, "library", kernel.library, Limits{.bytes = kMaxName});
  read.line("install", kernel.install, kMaxLine);
  const bool machine_code = kernel.library.is_source() && read.has(kMachineCodeKey);
  if (kernel.library.is_source() && !machine_code) read.required("source");
  read.text("id", kernel.id, kMaxName);
  read.line("title", kernel.title, 200);
  prose_at(read, "story", kernel.story, 1 << 16);
  read.text(machine_code ? kMachineCodeKey : "source", kernel.source_name, 200);
  read.text("entry", kernel.entry, 1000);
  read.word("problem", kernel.problem);
  read.integer("min_arch", kernel.min_arch, 50, 200);
  // Machine code is not compiled, so "headers", "options" and "source" are unknown keys beside "cubin".
  if (kernel.library.is_source() && !machine_code) read_list(read, "headers", kernel.headers, header_library);
  read.text("accumulate", kernel.accumulate, kMaxName);
  if (read.has("tensor_products"))
    expression_at(read, "tensor_products", *read.value("tensor_products"), kernel.tensor_products);
  if (read.failed()) return;
  if (!is_word(kernel.id)) read.fault("id", "must be a word of letters, digits, _ - and .");
  if (!kernel.library.is_source() && !is_word(kernel.library.name())) read.fault("library", "must be a library's name");
  if (!kernel.library.is_source() && !kernel.source_name.empty())
    read.fault("source", "a library's routine has none", "Leave out one of \"library\" and \"source\".");
  if (kernel.library.is_source() && !kernel.install.empty())
    read.fault("install", "is only for a library, and there is none");
  if (kernel.library.is_source() && (!is_word(kernel.source_name) || kernel.source_name[0] == '.'))
    read.fault(machine_code ? kMachineCodeKey : "source",
               "must be the name of a file beside the manifest, without a folder");
  if (!program && !is_entry(kernel.entry)) read.fault("entry", "must be a C++ name or template expression");
  if (!machine_code) read_options(read, kernel);
}

void read_knobs(JsonReader& read, Kernel& kernel) {
  const Json* list = array_at(read, "knobs", kMaxKnobs);
  if (!list) return check_accumulate(read, kernel);
  for (size_t i = 0; i < list->size() && !read.failed(); ++i) {
    Knob knob = knob_at(read, (*list)[i], at("knobs", i));
    if (kernel.find_knob(knob.name)) read.fault(at("knobs", i), "the knob " + knob.name + " appears twice");
    static const std::set<std::string> kReserved{"HEAD_DIM", "CAUSAL", "DTYPE", "ATTN_T"};
    if (kernel.problem == ProblemKind::attention && kReserved.contains(knob.name))
      read.fault(at("knobs", i) + "/name", knob.name + " is always passed and follows from the problem");
    kernel.knobs.push_back(std::move(knob));
  }
  check_accumulate(read, kernel);
}

void read_restrictions(JsonReader& read, const char* key, std::vector<Restriction>& out) {
  fields::read(read, key, out, Limits{.most = kMaxParts});
}

void read_supports(JsonReader& read, Kernel& kernel) {
  kernel.supports.dtypes = {DType::f16};
  read.required("supports");
  read.object("supports", [&](JsonReader& inner) {
    for (const char* key : {"dtype", "head_dim", "causal"}) inner.required(key);
    read_list(inner, "dtype", kernel.supports.dtypes, word<DType>);
    read_list(inner, "head_dim", kernel.supports.head_dims, [](const Json& json) -> Result<int64_t> {
      const bool whole = json.is_number_unsigned() && json.get<uint64_t>() >= 1 && json.get<uint64_t>() <= 1024;
      if (!whole) return fail(Stage::catalog, "must be a whole number in 1…1024");
      return json.get<int64_t>();
    });
    read_list(inner, "causal", kernel.supports.causals, word<Causal>);
    read_list(inner, "layout", kernel.supports.layouts, word<Layout>);
    inner.boolean("grouped_heads", kernel.supports.grouped_heads);
  });
}

void read_launch(JsonReader& read, Kernel& kernel) {
  read.required("launch");
  read.object("launch", [&](JsonReader& inner) { read_launch_shape(inner, kernel); });
}

void read_launch_shape(JsonReader& read, Kernel& kernel) {
  auto dimensions = [&](const char* key, std::string(&out)[3]) {
    read.required(key);
    const Json* list = array_at(read, key, 3);
    if (!list) return;
    if (list->size() != 3) return read.fault(key, "must hold three expressions: x, y, z");
    for (size_t i = 0; i < 3; ++i) expression_at(read, at(key, i), (*list)[i], out[i]);
  };
  dimensions("grid", kernel.launch.grid);
  dimensions("block", kernel.launch.block);
  if (read.has("dynamic_shared"))
    expression_at(read, "dynamic_shared", *read.value("dynamic_shared"), kernel.launch.dynamic_shared);
  if (read.has("static_shared"))
    expression_at(read, "static_shared", *read.value("static_shared"), kernel.launch.static_shared);
  read.boolean("cooperative", kernel.launch.cooperative);
  read_list(read, "constants", kernel.launch.constants, [&](const Json& json) -> Result<std::string> {
    const std::string name = json.is_string() ? json.get<std::string>() : "";
    if (!is_identifier(name))
      return fail(Stage::catalog, json.dump() + " must be the name of a variable of the source");
    if (kernel.find_knob(name)) return fail(Stage::catalog, json.dump() + " is a knob's name too");
    return name;
  });
}

void read_shared_map(JsonReader& read, Kernel& kernel) {
  const Json* list = array_at(read, "shared_map", kMaxParts);
  if (!list) return;
  for (size_t i = 0; i < list->size() && !read.failed(); ++i) {
    SharedPart part;
    JsonReader inner((*list)[i], read.path(at("shared_map", i)), Stage::catalog);
    inner.required("name");
    inner.required("bytes");
    inner.text("name", part.name, kMaxName);
    if (inner.has("bytes")) expression_at(inner, "bytes", *inner.value("bytes"), part.bytes);
    if (!inner.failed() && !is_word(part.name)) inner.fault("name", "must be a word of letters, digits, _ - and .");
    for (const SharedPart& other : kernel.shared_map)
      if (other.name == part.name) inner.fault("name", "\"" + part.name + "\" appears twice");
    if (auto done = inner.finish(); !done) read.adopt(done.error());
    kernel.shared_map.push_back(std::move(part));
  }
}

void read_arguments(JsonReader& read, Kernel& kernel) {
  read.required("args");
  const Json* list = array_at(read, "args", kMaxParts);
  if (!list) return;
  bool writes = false;
  for (size_t i = 0; i < list->size() && !read.failed(); ++i) {
    const Json& json = (*list)[i];
    const Argument* argument = json.is_string() ? find_argument(json.get<std::string>()) : nullptr;
    if (!argument) {
      return read.fault(at("args", i), json.dump() + " is not an argument's name",
                        "Known: " + joined(arguments(), &Argument::name) + ".");
    }
    writes = writes || argument->role == ArgumentRole::output;
    kernel.args.emplace_back(argument->name);
  }
  if (!read.failed() && !writes) read.fault("args", "no output: the kernel has nothing to write", "Add \"o\".");
}

}  // namespace catalog
}  // namespace attnscope
