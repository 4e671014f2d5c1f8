#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "catalog/manifest_reader.h"
#include "catalog/reference_kernel.h"
#include "core/escape.h"
#include "core/expression.h"
#include "core/fields.h"

namespace attnscope {

template <>
struct FieldsOf<ReferenceSpec> {
  static constexpr Limits kTolerance{.low = 0, .high = std::numeric_limits<double>::infinity()};
  static constexpr auto list =
      std::tuple{Field{"kind", &ReferenceSpec::kind, Limits{.required = true}},
                 Field{"output", &ReferenceSpec::output, Limits{.bytes = 100, .required = true}},
                 Field{"expr", &ReferenceSpec::expr, Limits{.bytes = 1000}},
                 Field{"value", &ReferenceSpec::value, Limits{.open = true}},
                 Field{"beta", &ReferenceSpec::beta, Limits{.open = true}},
                 Field{"atol", &ReferenceSpec::atol, kTolerance},
                 Field{"rtol", &ReferenceSpec::rtol, kTolerance},
                 Field{"inputs", &ReferenceSpec::inputs, Limits{.most = 8}}};
};

namespace catalog {
namespace {

constexpr size_t kMaxBuffers = 64, kMaxSizes = 32, kMaxArguments = 256;

std::string at(const char* key, size_t index) { return fmt::format("{}/{}", key, index); }

// True for a name that expressions can use.
bool is_variable(const std::string& name) {
  return is_word(name) && !(name[0] >= '0' && name[0] <= '9') && name.find_first_of("-.") == std::string::npos;
}

void read_sizes(JsonReader& read, Kernel& kernel) {
  if (read.has("sizes") && read.value("sizes")->size() > kMaxSizes)
    return read.fault("sizes", "must be an object of at most 32 sizes");
  read.entries("sizes", [&](JsonReader& inner, const char* name) {
    if (!is_variable(name)) inner.fault(name, "must be a word of letters, digits and _");
    if (kernel.find_knob(name)) inner.fault(name, "is a knob's name too");
    inner.integer(name, kernel.sizes[name], 0, int64_t{1} << 40);
  });
}

// A number, "inf", "-inf" or "nan": JSON has no words for the last three.
std::optional<double> fill_value(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "inf") return HUGE_VAL;
  if (json == "-inf") return -HUGE_VAL;
  if (json == "nan") return std::nan("");
  return std::nullopt;
}

// "random", {"random": [low, high]} or {"fill": -1.5}.
void read_init(JsonReader& read, ElementType type, BufferInit& init) {
  const Json* json = read.value("init");
  if (!json || json->is_null()) return;
  if (json->is_string()) {
    read.word("init", init.kind);
    if (!read.failed() && init.kind == BufferInit::Kind::fill)
      read.fault("init", "lacks the value", "Write {\"fill\": 1.5}, or \"-inf\" for the number.");
    return;
  }
  if (json->is_object() && json->size() == 1 && json->contains("fill")) {
    init.kind = BufferInit::Kind::fill;
    init.low = fill_value((*json)["fill"]);
    if (!init.low) return read.fault("init/fill", "must be a number, \"inf\", \"-inf\" or \"nan\"");
    const bool whole = *init.low == std::floor(*init.low) && std::abs(*init.low) <= 0x1p53;
    if (!is_floating(type) && !whole) read.fault("init/fill", "is not a number of the buffer's type");
    return;
  }
  const bool range = json->is_object() && json->size() == 1 && json->contains("random") &&
                     (*json)["random"].is_array() && (*json)["random"].size() == 2 &&
                     (*json)["random"][0].is_number() && (*json)["random"][1].is_number();
  if (!range)
    return read.fault("init",
                      "must be random, zeros, ones, iota, unset, {\"random\": [low, high]} or {\"fill\": value}");
  init.low = (*json)["random"][0].get<double>();
  init.high = (*json)["random"][1].get<double>();
  if (!(*init.low <= *init.high)) read.fault("init/random", "the low end is above the high one");
}

BufferDeclaration buffer_at(JsonReader& outer, const Json& json, const std::string& key, const Kernel& kernel) {
  BufferDeclaration buffer;
  JsonReader read(json, outer.path(key), Stage::catalog);
  for (const char* needed : {"name", "role", "dtype", "shape"}) read.required(needed);
  read.text("name", buffer.name, 100);
  read.word("role", buffer.role);
  read.word("dtype", buffer.type);
  // What a launch of a program leaves in a workspace is for the next one; a memset step clears it if wanted.
  if (buffer.role == BufferRole::workspace)
    buffer.init.kind = outer.has(kProgramKey) ? BufferInit::Kind::unset : BufferInit::Kind::zeros;
  read_init(read, buffer.type, buffer.init);
  if (!read.failed() && buffer.init.kind == BufferInit::Kind::unset && buffer.role != BufferRole::workspace)
    read.fault("init", "unset is only for the role workspace", "An \"out\" is unset by itself.");
  read.text("symbol", buffer.symbol, 200);
  read.boolean("guessed", buffer.guessed);
  bool counted = false;  // for people: where the length comes from
  read.boolean("counted", counted);
  if (!read.failed() && counted && buffer.guessed) read.fault("counted", "a length is counted or guessed, not both");
  if (!read.failed() && !buffer.symbol.empty() && buffer.role != BufferRole::in)
    read.fault("symbol", "is only for the role in: a run cannot read a variable back", "Make it a parameter.");
  if (!read.failed() && !buffer.symbol.empty() && !is_variable(buffer.symbol))
    read.fault("symbol", "must be the name of a variable of the source");
  if (const Json* shape = array_at(read, "shape", 8))
    for (size_t i = 0; i < shape->size(); ++i)
      expression_at(read, at("shape", i), (*shape)[i], buffer.shape.emplace_back());
  if (!read.failed() && !is_variable(buffer.name)) read.fault("name", "must be a word of letters, digits and _");
  if (!read.failed() && (kernel.sizes.contains(buffer.name) || kernel.find_knob(buffer.name)))
    read.fault("name", "\"" + buffer.name + "\" is a size's or knob's name too");
  for (const BufferDeclaration& other : kernel.buffers)
    if (other.name == buffer.name) read.fault("name", "\"" + buffer.name + "\" appears twice");
  if (auto done = read.finish(); !done) outer.adopt(done.error());
  return buffer;
}

ArgumentDeclaration argument_at(JsonReader& outer, const Json& json, const std::string& key, const Kernel& kernel,
                                bool in_struct);

void read_fields(JsonReader& read, const Kernel& kernel, ArgumentDeclaration& argument) {
  const Json* fields = array_at(read, "struct", kMaxArguments);
  if (!fields) return;
  if (fields->empty()) return read.fault("struct", "is empty");
  for (size_t i = 0; i < fields->size() && !read.failed(); ++i)
    argument.fields.push_back(argument_at(read, (*fields)[i], at("struct", i), kernel, true));
}

// {"buffer": name, "offset": elements}: an address within a buffer.
void read_address(JsonReader& read, const Kernel& kernel, ArgumentDeclaration& argument) {
  read.required("offset");
  read.text("buffer", argument.name, 100);
  if (read.has("offset")) expression_at(read, "offset", *read.value("offset"), argument.offset);
  const auto buffer = std::ranges::find(kernel.buffers, argument.name, &BufferDeclaration::name);
  if (!read.failed() && (buffer == kernel.buffers.end() || !buffer->symbol.empty()))
    read.fault("buffer", json_text(Json(argument.name)) + " is not a buffer that can be passed",
               "Name one of \"buffers\" without a symbol.");
}

ArgumentDeclaration argument_at(JsonReader& outer, const Json& json, const std::string& key, const Kernel& kernel,
                                bool in_struct) {
  ArgumentDeclaration argument;
  if (json.is_string()) {
    argument.name = json.get<std::string>();
    const auto buffer = std::ranges::find(kernel.buffers, argument.name, &BufferDeclaration::name);
    if (buffer != kernel.buffers.end() && !buffer->symbol.empty())
      outer.fault(key, json.dump() + " is the variable " + buffer->symbol + "'s contents and no parameter",
                  "Leave it out.");
    if (buffer != kernel.buffers.end() || kernel.sizes.contains(argument.name)) return argument;
    if (const Knob* knob = kernel.find_knob(argument.name)) {
      argument = {.name = {}, .value = knob->name, .type = ElementType::i32, .fields = {}};
      return argument;
    }
    outer.fault(key, json.dump() + " is not a buffer, size or knob",
                "Declare it, or write the value: {\"value\": 1.5, \"type\": \"f32\"}.");
    return argument;
  }
  JsonReader read(json, outer.path(key), Stage::catalog);
  if (!in_struct && json.is_object() && json.contains("struct")) {
    read_fields(read, kernel, argument);
  } else if (json.is_object() && json.contains("buffer")) {
    read_address(read, kernel, argument);
  } else {
    read.required("value");
    read.required("type");
    read.word("type", argument.type);
    if (read.has("value")) {
      const Json& value = *read.value("value");
      argument.value = value.is_string() ? value.get<std::string>() : value.is_number() ? value.dump() : "";
      if (argument.value.empty() || argument.value.size() > 1000)
        read.fault("value", "must be a number or an expression");
    }
  }
  if (auto done = read.finish(); !done) outer.adopt(done.error());
  return argument;
}

ReferenceSpec reference_at(JsonReader& outer, const Json& json, const std::string& key, const Kernel& kernel) {
  ReferenceSpec spec;
  JsonReader read(json, outer.path(key), Stage::catalog);
  read_fields_into(read, spec);
  const auto buffer = [&](const std::string& name) {
    return std::ranges::find(kernel.buffers, name, &BufferDeclaration::name);
  };
  for (size_t i = 0; i < spec.inputs.size(); ++i)
    if (buffer(spec.inputs[i]) == kernel.buffers.end())
      read.fault(at("inputs", i), json_text(Json(spec.inputs[i])) + " is not a buffer");
  if (!read.failed()) {
    const auto output = buffer(spec.output);
    if (output == kernel.buffers.end() || (output->role != BufferRole::out && output->role != BufferRole::inout))
      read.fault("output", "\"" + spec.output + "\" is not a buffer of role out or inout");
  }
  if (auto known = known_reference(spec, read.path("kind")); !read.failed() && !known) read.adopt(known.error());
  if (auto done = read.finish(); !done) outer.adopt(done.error());
  return spec;
}

// One reference, a list of them (one for each output to judge), or "none".
void read_references(JsonReader& read, Kernel& kernel) {
  const Json* json = read.value("reference");
  if (!json || json->is_null() || (json->is_string() && json->get<std::string>() == "none")) return;
  if (json->is_object() && json->contains("kernel")) {
    read_reference_kernel(read, kernel);
  } else if (json->is_object()) {
    kernel.references.push_back(reference_at(read, *json, "reference", kernel));
  } else if (json->is_array() && json->size() <= kMaxBuffers) {
    for (size_t i = 0; i < json->size() && !read.failed(); ++i)
      kernel.references.push_back(reference_at(read, (*json)[i], at("reference", i), kernel));
  } else {
    read.fault("reference", "must be {kind, inputs, output}, a list of them, {kernel, config}, or \"none\"");
  }
}

}  // namespace

void read_workload_arguments(JsonReader& read, Kernel& kernel) {
  read.required("args");
  if (const Json* list = array_at(read, "args", kMaxArguments))
    for (size_t i = 0; i < list->size() && !read.failed(); ++i)
      kernel.arguments.push_back(argument_at(read, (*list)[i], at("args", i), kernel, false));
}

void read_workload(JsonReader& read, Kernel& kernel) {
  read.required("buffers");
  read_sizes(read, kernel);
  if (const Json* list = array_at(read, "buffers", kMaxBuffers))
    for (size_t i = 0; i < list->size() && !read.failed(); ++i)
      kernel.buffers.push_back(buffer_at(read, (*list)[i], at("buffers", i), kernel));
  const bool program = read.has(kProgramKey);
  if (kernel.library.is_source() && !program && !read.failed()) read_workload_arguments(read, kernel);
  if (program && !read.failed()) read_program(read, kernel);
  if (!read.failed()) read_references(read, kernel);
  if (!read.failed() && std::ranges::none_of(kernel.buffers, is_judged, &BufferDeclaration::role))
    read.fault("buffers", "none has the role out or inout: the kernel has nothing to write");
  if (!read.failed()) read_fragment(read, kernel);
}

}  // namespace catalog
}  // namespace attnscope
