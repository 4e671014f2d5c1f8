#include "catalog/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "catalog/catalog.h"
#include "catalog/cuda_source.h"
#include "catalog/host_expression.h"
#include "core/escape.h"
#include "core/workload.h"

namespace attnscope::catalog {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int64_t kUsualSize = 1024, kUsualBlock = 256;
constexpr int kDeepest = 8;  // of names that stand for names
constexpr size_t kLongestTitle = 120, kMaxFileName = 100;
// A manifest accepts no more knobs and arguments; the other limits keep a file of a million launches or names from
// being searched to its end.
constexpr size_t kMostKnobs = 64, kMostArguments = 256, kMostOffers = 100, kMostNamed = 20;

struct ElementOf {
  ElementType type = ElementType::f32;
  int64_t lanes = 1;  // 4 for a float4
};

std::optional<ElementOf> element_of(const std::string& type) {
  static const std::map<std::string, ElementOf> known{{"float", {ElementType::f32}},
                                                      {"double", {ElementType::f64}},
                                                      {"half", {ElementType::f16}},
                                                      {"__half", {ElementType::f16}},
                                                      {"at::Half", {ElementType::f16}},
                                                      {"c10::Half", {ElementType::f16}},
                                                      {"half2", {ElementType::f16, 2}},
                                                      {"__half2", {ElementType::f16, 2}},
                                                      {"__nv_bfloat16", {ElementType::bf16}},
                                                      {"nv_bfloat16", {ElementType::bf16}},
                                                      {"__nv_bfloat162", {ElementType::bf16, 2}},
                                                      {"nv_bfloat162", {ElementType::bf16, 2}},
                                                      {"int", {ElementType::i32}},
                                                      {"int32_t", {ElementType::i32}},
                                                      {"unsigned", {ElementType::u32}},
                                                      {"unsigned int", {ElementType::u32}},
                                                      {"uint32_t", {ElementType::u32}},
                                                      {"uint", {ElementType::u32}},
                                                      {"long", {ElementType::i64}},
                                                      {"long long", {ElementType::i64}},
                                                      {"long long int", {ElementType::i64}},
                                                      {"int64_t", {ElementType::i64}},
                                                      {"unsigned long", {ElementType::i64}},
                                                      {"unsigned long long", {ElementType::i64}},
                                                      {"unsigned long long int", {ElementType::i64}},
                                                      {"uint64_t", {ElementType::i64}},
                                                      {"size_t", {ElementType::i64}},
                                                      {"char", {ElementType::i8}},
                                                      {"signed char", {ElementType::i8}},
                                                      {"unsigned char", {ElementType::u8}},
                                                      {"uchar", {ElementType::u8}},
                                                      {"uint8_t", {ElementType::u8}},
                                                      {"int8_t", {ElementType::i8}},
                                                      {"bool", {ElementType::u8}},
                                                      {"short", {ElementType::i16}},
                                                      {"short int", {ElementType::i16}},
                                                      {"int16_t", {ElementType::i16}},
                                                      {"unsigned short", {ElementType::u16}},
                                                      {"unsigned short int", {ElementType::u16}},
                                                      {"ushort", {ElementType::u16}},
                                                      {"uint16_t", {ElementType::u16}},
                                                      {"ulong", {ElementType::i64}},
                                                      {"clock_t", {ElementType::i64}},
                                                      {"ptrdiff_t", {ElementType::i64}},
                                                      {"long int", {ElementType::i64}},
                                                      {"unsigned long int", {ElementType::i64}},
                                                      {"ull", {ElementType::i64}},
                                                      {"__half_raw", {ElementType::f16}},
                                                      {"at::BFloat16", {ElementType::bf16}},
                                                      {"c10::BFloat16", {ElementType::bf16}},
                                                      {"__nv_bfloat16_raw", {ElementType::bf16}},
                                                      {"float2", {ElementType::f32, 2}},
                                                      {"float3", {ElementType::f32, 3}},
                                                      {"float4", {ElementType::f32, 4}},
                                                      {"double2", {ElementType::f64, 2}},
                                                      {"double3", {ElementType::f64, 3}},
                                                      {"double4", {ElementType::f64, 4}},
                                                      {"int2", {ElementType::i32, 2}},
                                                      {"int3", {ElementType::i32, 3}},
                                                      {"int4", {ElementType::i32, 4}},
                                                      {"uint2", {ElementType::u32, 2}},
                                                      {"uint3", {ElementType::u32, 3}},
                                                      {"dim3", {ElementType::u32, 3}},
                                                      {"uint4", {ElementType::u32, 4}},
                                                      {"longlong2", {ElementType::i64, 2}},
                                                      {"ulonglong2", {ElementType::i64, 2}},
                                                      {"short2", {ElementType::i16, 2}},
                                                      {"short4", {ElementType::i16, 4}},
                                                      {"ushort2", {ElementType::u16, 2}},
                                                      {"ushort4", {ElementType::u16, 4}},
                                                      {"char2", {ElementType::i8, 2}},
                                                      {"char3", {ElementType::i8, 3}},
                                                      {"char4", {ElementType::i8, 4}},
                                                      {"uchar2", {ElementType::u8, 2}},
                                                      {"uchar3", {ElementType::u8, 3}},
                                                      {"uchar4", {ElementType::u8, 4}},
                                                      {"cuComplex", {ElementType::f32, 2}},
                                                      {"cuFloatComplex", {ElementType::f32, 2}},
                                                      {"cuDoubleComplex", {ElementType::f64, 2}}};
  const auto found = known.find(type);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

std::string id_of(const std::string& source_name) {
  std::string stem = std::filesystem::path(source_name).stem().string();
  size_t digits = 0;
  while (digits < stem.size() && stem[digits] >= '0' && stem[digits] <= '9') ++digits;
  if (digits > 0 && digits + 1 < stem.size() && stem[digits] == '_') stem = stem.substr(digits + 1);
  for (char& c : stem)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') c = '_';
  return stem.empty() ? "kernel" : stem;
}

// Splits template arguments at the top level: "float, Pair<int, 2>" is two.
std::vector<std::string> split_arguments(const std::string& text) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  const auto take = [&] {
    const size_t first = part.find_first_not_of(' '), last = part.find_last_not_of(' ');
    if (first != std::string::npos) parts.push_back(part.substr(first, last - first + 1));
    part.clear();
  };
  for (const char c : text) {
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (c == ',' && depth == 0)
      take();
    else
      part += c;
  }
  take();
  return parts;
}

// {"a": 1, "b": [1, 2]}: on one line, with the usual blanks.
std::string in_one_line(const OrderedJson& json) {
  if (!json.is_structured()) return json.dump();
  std::string text;
  for (const auto& [key, value] : json.items()) {
    if (!text.empty()) text += ", ";
    text += (json.is_object() ? OrderedJson(key).dump() + ": " : "") + in_one_line(value);
  }
  return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

// One line for each key of the manifest, and for each element of a list of lists or objects.
std::string as_manifest(const OrderedJson& json) {
  std::string text;
  for (const auto& [key, value] : json.items()) {
    text += (text.empty() ? "{\n  " : ",\n  ") + OrderedJson(key).dump() + ": ";
    const bool parts = value.is_array() && !value.empty() && value[0].is_object() && value.size() > 1;
    if (!parts) {
      text += in_one_line(value);
      continue;
    }
    for (size_t i = 0; i < value.size(); ++i) text += (i == 0 ? "[\n    " : ",\n    ") + in_one_line(value[i]);
    text += "\n  ]";
  }
  return text + "\n}\n";
}

class Importer {
 public:
  Importer(const std::string& source_name, const std::string& source)
      : source_name_(source_name), source_(read_cuda_source(source)) {}

  Result<Imported> import(const std::string& entry) {
    if (auto chosen = choose(entry); !chosen) return fail(chosen.error());
    result_.id = id_of(source_name_);
    find_knobs();
    if (auto done = bind_parameters(); !done) return fail(done.error());
    find_launch();
    write();
    return std::move(result_);
  }

 private:
  // The kernel of `ns::k<float, 4>` in the request, or the one that the host code launches.
  Result<void> choose(const std::string& entry) {
    if (source_.kernels.empty())
      return fail(Stage::input, source_name_ + " has no kernel", "A kernel is a function declared __global__ void.");
    if (std::ranges::none_of(source_.kernels, &SourceKernel::defined))
      return fail(Stage::input,
                  fmt::format("{} declares {} and does not define it", source_name_, source_.kernels.front().name),
                  "Import the file that its body is in.");
    const std::string wanted = entry.substr(0, entry.find('<'));
    std::set<std::string_view> launched_names;
    for (const SourceLaunch& launch : source_.launches) launched_names.insert(launch.kernel);
    std::vector<std::string> names;
    for (const SourceKernel& kernel : source_.kernels) {
      if (!kernel.defined) continue;
      if (names.size() <= kMostNamed) names.push_back(names.size() < kMostNamed ? kernel.name : "…");
      const bool launched = launched_names.contains(plain_name(kernel.name));
      const bool named = kernel.name == wanted || plain_name(kernel.name) == wanted;
      if (entry.empty() ? launched && !kernel_ : named && !kernel_) kernel_ = &kernel;
    }
    if (!kernel_ && entry.empty()) kernel_ = &*std::ranges::find(source_.kernels, true, &SourceKernel::defined);
    if (!kernel_)
      return fail(Stage::input, source_name_ + " has no kernel " + wanted, "Its kernels are " + joined(names) + ".");
    for (const SourceKernel& kernel : source_.kernels)
      if (&kernel != kernel_ && kernel.defined) result_.others.push_back(kernel.name);
    for (const SourceLaunch& launch : source_.launches)
      if (!launch_ && launch.kernel == plain_name(kernel_->name)) launch_ = &launch;
    result_.entry = kernel_->name;
    return kernel_->template_parameters.empty() ? Result<void>{} : instantiate(entry);
  }

  // The template's arguments: from the request, from a launch that has them all, else the parameters' defaults.
  Result<void> instantiate(const std::string& entry) {
    struct Offer {
      std::vector<std::string> values;
      const SourceLaunch* launch = nullptr;
    };
    std::vector<Offer> offers;
    const size_t open = entry.find('<');
    if (open != std::string::npos) {
      offers.push_back({split_arguments(entry.substr(open + 1, entry.rfind('>') - open - 1)), launch_});
    } else {
      for (const SourceLaunch& launch : source_.launches)
        if (offers.size() < kMostOffers && launch.kernel == plain_name(kernel_->name))
          offers.push_back({split_arguments(launch.template_arguments), &launch});
      offers.push_back({{}, launch_});
    }
    for (const auto& [offer, launch] : offers) {
      launch_ = launch;
      const auto found = arguments_of(offer, open != std::string::npos);
      if (!found) continue;
      for (size_t i = 0; i < found->values.size() && i < kernel_->template_parameters.size(); ++i)
        templates_[kernel_->template_parameters[i].name] = found->values[i];
      result_.entry += "<" + joined(found->values) + ">";
      if (found->guessed)
        result_.guessed.push_back("the template's arguments: <" + joined(found->values) + ">, since " +
                                  (offer.empty() ? "no launch says them" : "its launch says <" + joined(offer) + ">"));
      return {};
    }
    std::string parameters, example;
    for (const TemplateParameter& one : kernel_->template_parameters) {
      const bool type = is_type_parameter(one);
      parameters += (parameters.empty() ? "" : ", ") + one.kind + " " + one.name;
      example += (example.empty() ? "" : ", ") + std::string(type                         ? "float"
                                                             : one.kind.ends_with("bool") ? "true"
                                                                                          : "128");
    }
    const std::string said =
        offers.front().values.empty() ? "no launch says of what" : "its launch depends on the code around it";
    return fail(Stage::input, fmt::format("{} is a template of <{}>, and {}", kernel_->name, parameters, said),
                fmt::format("Name it with its arguments, say --entry \"{}<{}>\".", kernel_->name, example));
  }

  static std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
  }

  static std::string plain_name(const std::string& name) {
    return name.substr(name.rfind(':') == std::string::npos ? 0 : name.rfind(':') + 1);
  }

  static bool is_type_parameter(const TemplateParameter& one) {
    return one.kind.starts_with("typename") || one.kind.starts_with("class") || one.kind.starts_with("template");
  }

  struct TemplateArguments {
    std::vector<std::string> values;
    bool guessed = false;
  };
  // An argument for each of the template's parameters, in words that mean the same everywhere; empty if one does not. A
  // person's own arguments (`given`) are taken as they are.
  std::optional<TemplateArguments> arguments_of(const std::vector<std::string>& offer, bool given) const {
    TemplateArguments found;
    for (size_t i = 0; i < std::max(offer.size(), kernel_->template_parameters.size()); ++i) {
      const bool beyond = i >= kernel_->template_parameters.size();  // of a parameter pack
      std::string value = i < offer.size() ? offer[i] : "";
      if (value.empty() && kernel_->template_parameters[i].kind.ends_with("...")) break;
      if (value.empty()) value = kernel_->template_parameters[i].standard;
      if (value.empty()) return std::nullopt;
      const bool type = !beyond && is_type_parameter(kernel_->template_parameters[i]);
      if (const auto number = type ? std::nullopt : number_of(value)) {
        value = std::to_string(*number);
      } else {
        value = macro_or_itself(value);
        const bool stands = stands_alone(value);
        if (i >= offer.size() && !stands) break;  // a default made of earlier parameters: only the compiler knows it
        if (!given && !stands) {
          value = beyond ? "" : kernel_->template_parameters[i].standard;
          if (const auto usual = type ? std::nullopt : number_of(value)) value = std::to_string(*usual);
          if (value.empty() && !type) return std::nullopt;
          if (value.empty()) value = "float";  // the most common type of kernel templates
          found.guessed = true;
        }
      }
      found.values.push_back(value);
    }
    found.guessed = found.guessed || (offer.empty() && !given);
    return found;
  }

  // Whether it means the same outside the function or macro that contains it.
  bool stands_alone(const std::string& value) const {
    return std::ranges::none_of(cpp_tokens(value), [&](const CppToken& token) {
      return source_.parameter_names.contains(std::string(token.text)) || token.is("(");
    });
  }

  // Host code's names mean what they do where the kernel is launched.
  size_t used_at() const { return launch_ ? launch_->at : SIZE_MAX; }

  std::optional<int64_t> number_of(const std::string& expression) const {
    const auto value = host_value(expression, host_names(false));
    return value ? std::optional(value->now) : std::nullopt;
  }

  // The names of host code; knobs and sizes keep theirs if the manifest can express them.
  HostNames host_names(bool keep) const {
    return {.kept = [this, keep](const std::string& name) -> std::optional<int64_t> {
              if (!keep) return std::nullopt;
              if (const auto size = sizes_.find(name); size != sizes_.end()) return size->second;
              for (const OrderedJson& knob : knobs_)
                if (knob["name"] == name) return knob["default"].get<int64_t>();
              return std::nullopt;
            },
            .meaning = [this](const std::string& name) -> std::string {
              if (const auto argument = templates_.find(name); argument != templates_.end()) return argument->second;
              if (const std::string* constant = source_.constants.find(name, used_at())) return *constant;
              const auto macro = source_.macros.find(name);
              return macro == source_.macros.end() ? "" : macro->second;
            },
            .bytes_of = [this](const std::string& type) -> std::optional<int64_t> {
              const auto element = element_of(resolved_type(type));
              return element ? std::optional(bytes_of(element->type) * element->lanes) : std::nullopt;
            }};
  }

  // A kernel does not see a host constant; it does see a macro, but the macro's value says more.
  std::string macro_or_itself(const std::string& word) const {
    std::string value = word;
    for (int depth = 0; depth < kDeepest; ++depth) {
      const std::string* constant = source_.constants.find(value, used_at());
      if (!constant) break;
      value = *constant;
    }
    return value;
  }

  void find_knobs() {
    for (const auto& [name, value] : source_.settable) {
      const bool macro = std::ranges::all_of(
          name, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
      if (!macro || !(name[0] >= 'A' && name[0] <= 'Z') || value < 0) continue;
      if (knobs_.size() == kMostKnobs) {
        result_.guessed.push_back(
            fmt::format("the knobs: the first {} macros that may be set; a manifest takes no more", kMostKnobs));
        break;
      }
      std::vector<int64_t> values{value};
      const bool power = value > 1 && (value & (value - 1)) == 0;
      if (value <= 1) values = {0, 1};
      if (power) values = {value / 2, value, value * 2};
      OrderedJson knob{{"name", name}, {"values", values}, {"default", value}, {"doc", ""}};
      knobs_.push_back(std::move(knob));
      knob_names_.push_back(name);
      result_.read.push_back(
          fmt::format("{} = {} may be set from outside: a knob with {} values", name, value, values.size()));
    }
    if (!knobs_.empty()) result_.guessed.push_back("the knobs' other values: keep those that the kernel takes");
  }

  std::string resolved_type(std::string type) const {
    for (int depth = 0; depth < kDeepest; ++depth) {
      if (const auto argument = templates_.find(type); argument != templates_.end())
        type = argument->second;
      else if (const auto alias = source_.types.find(type); alias != source_.types.end())
        type = alias->second;
      else if (const auto macro = source_.macros.find(type); macro != source_.macros.end())
        type = macro->second;
      else
        break;
    }
    return type;
  }

  bool is_size(const SourceParameter& parameter) const {
    const auto element = element_of(resolved_type(parameter.type));
    return !parameter.pointer && element && element->lanes == 1 && !is_floating(element->type) &&
           bytes_of(element->type) >= 4;
  }

  void find_sizes() {
    for (const SourceParameter& parameter : kernel_->parameters) {
      if (!is_size(parameter) || std::ranges::find(knob_names_, parameter.name) != knob_names_.end()) continue;
      size_names_.push_back(parameter.name);
      // From `const int n = 4096;` in the host code, or the macro of that name.
      int64_t value = kUsualSize;
      bool said = false;
      for (const std::string& name : {parameter.name, upper(parameter.name)})
        if (const auto number = whole_number(name); number && !said) value = *number, said = true;
      sizes_[parameter.name] = value;
      if (said)
        result_.read.push_back(fmt::format("{} is {} in the host code", parameter.name, value));
      else
        result_.guessed.push_back(fmt::format("the size {} = {}", parameter.name, value));
    }
    if (!size_names_.empty()) return;
    size_names_.push_back("elements");
    sizes_["elements"] = kUsualSize;
    result_.guessed.push_back(fmt::format("the buffers' length: {} elements, since no parameter says it", kUsualSize));
  }

  static std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
    return text;
  }

  std::optional<int64_t> whole_number(const std::string& name) const {
    const auto number = number_of(name);
    return number && *number >= 0 ? number : std::nullopt;
  }

  Result<void> bind_parameters() {
    if (kernel_->parameters.size() > kMostArguments)
      return fail(Stage::input,
                  fmt::format("{}: {} has {} parameters", source_name_, kernel_->name, kernel_->parameters.size()),
                  fmt::format("A kernel that is run here has at most {}: pass a struct.", kMostArguments));
    find_sizes();
    for (const SourceParameter& parameter : kernel_->parameters) {
      const std::string type = resolved_type(parameter.type);
      const auto element = element_of(type);
      const auto members = source_.structs.find(type);
      if (parameter.name.empty())
        return fail(Stage::input, fmt::format("{}: a parameter of {} has no name", source_name_, kernel_->name),
                    "Name it in the source.");
      if (parameter.pointer && element)
        add_buffer(parameter, *element);
      else if (parameter.pointer && members != source_.structs.end())
        add_struct_buffer(parameter, members->second);
      else if (parameter.pointer && type == "void")
        add_untyped_buffer(parameter);
      else if (!parameter.pointer && is_size(parameter))
        arguments_.push_back(parameter.name);
      else if (!parameter.pointer && element && element->lanes == 1)
        add_value(parameter, element->type);
      else if (!parameter.pointer && element)
        add_vector(parameter, *element);
      else if (!parameter.pointer && members != source_.structs.end())
        add_struct(parameter, members->second);
      else
        return fail(Stage::input,
                    fmt::format("{}: {}'s parameter {} is a {}, which cannot be passed", source_name_, kernel_->name,
                                parameter.name, parameter.type),
                    "Pointers to numbers, numbers, vectors and plain structs of these can be passed.");
    }
    if (std::ranges::none_of(buffers_, [](const OrderedJson& one) { return one["role"] != "in"; }))
      return fail(Stage::input,
                  fmt::format("{}: {} has no pointer that it may write through", source_name_, kernel_->name),
                  "A kernel's output is a pointer to something that is not const.");
    return {};
  }

  void add_buffer(const SourceParameter& parameter, const ElementOf& element) {
    OrderedJson shape = shape_of(parameter);
    if (element.lanes > 1) shape.push_back(std::to_string(element.lanes));
    const char* role = parameter.constant ? "in" : "inout";
    buffers_.push_back({{"name", parameter.name},
                        {"role", role},
                        {"dtype", to_string(element.type)},
                        {"shape", shape},
                        {"init", parameter.constant ? "random" : "zeros"}});
    arguments_.push_back(parameter.name);
    result_.guessed.push_back(fmt::format(
        "{} is {} of {} elements", parameter.name,
        parameter.constant ? "an input" : "written (and starts as zeros: make it \"out\" if every element is written)",
        shape.dump()));
  }

  // An array of structs whose members have one type is an array of that type.
  void add_struct_buffer(const SourceParameter& parameter, const std::vector<SourceParameter>& members) {
    const auto first = members.empty() ? std::nullopt : element_of(resolved_type(members.front().type));
    const bool uniform = first && std::ranges::all_of(members, [&](const SourceParameter& one) {
                           const auto element = element_of(resolved_type(one.type));
                           return !one.pointer && element && element->type == first->type && element->lanes == 1;
                         });
    add_buffer(parameter,
               uniform ? ElementOf{first->type, static_cast<int64_t>(members.size())} : ElementOf{ElementType::u8, 64});
    if (!uniform) result_.guessed.push_back(parameter.name + ": an array of structs, given as 64 bytes each");
  }

  OrderedJson shape_of(const SourceParameter& parameter) const {
    const auto has = [&](const char* name) { return std::ranges::find(size_names_, name) != size_names_.end(); };
    const std::string name = upper(parameter.name);
    if (has("M") && has("N") && has("K") && !name.empty()) {
      if (name.ends_with("A")) return {"M", "K"};
      if (name.ends_with("B")) return {"K", "N"};
      return {"M", "N"};
    }
    OrderedJson shape = OrderedJson::array();
    for (size_t i = 0; i < size_names_.size() && i < 2; ++i) shape.push_back(size_names_[i]);
    return shape;
  }

  void add_value(const SourceParameter& parameter, ElementType type) {
    arguments_.push_back(OrderedJson{{"value", 1}, {"type", to_string(type)}});
    result_.guessed.push_back(fmt::format("{} is passed as 1", parameter.name));
  }

  void add_untyped_buffer(const SourceParameter& parameter) {
    add_buffer(parameter, {ElementType::f32});
    result_.guessed.push_back(parameter.name + " points to floats: its type does not say");
  }

  static OrderedJson ones(ElementType type, int64_t count) {
    OrderedJson fields = OrderedJson::array();
    for (int64_t i = 0; i < count; ++i) fields.push_back(OrderedJson{{"value", 1}, {"type", to_string(type)}});
    return fields;
  }

  void add_vector(const SourceParameter& parameter, const ElementOf& element) {
    arguments_.push_back(OrderedJson{{"struct", ones(element.type, element.lanes)}});
    result_.guessed.push_back(fmt::format("the {} members of {} are passed as 1", element.lanes, parameter.name));
  }

  // Its numbers become ones; its pointers get buffers of their own.
  void add_struct(const SourceParameter& parameter, const std::vector<SourceParameter>& members) {
    OrderedJson fields = OrderedJson::array();
    size_t numbers = 0;
    for (const SourceParameter& member : members) {
      const auto element = element_of(resolved_type(member.type));
      if (member.pointer) {
        SourceParameter buffer = member;
        buffer.name = parameter.name + "_" + member.name;
        if (element)
          add_buffer(buffer, *element);
        else
          add_untyped_buffer(buffer);
        fields.push_back(buffer.name);
        arguments_.erase(arguments_.size() - 1);  // it belongs to the struct
        continue;
      }
      ++numbers;
      for (const OrderedJson& one :
           ones(element ? element->type : ElementType::i32, element ? element->lanes : int64_t{1}))
        fields.push_back(one);
    }
    arguments_.push_back(OrderedJson{{"struct", fields}});
    if (numbers > 0)
      result_.guessed.push_back(fmt::format("the {} members of {} are passed as 1", numbers, parameter.name));
  }

  // A host expression as a manifest's; empty if that is not possible.
  std::string in_terms(const std::string& expression) const {
    const auto value = host_value(expression, host_names(true));
    return value && value->now >= 0 ? value->text : "";
  }

  // x, y and z of a grid or block in the host code; empty if it does not say.
  std::vector<std::string> dimensions(const std::string& text) const {
    std::vector<std::string> values;
    if (text.starts_with("dim3(") && text.ends_with(")"))
      values = split_arguments(text.substr(5, text.size() - 6));
    else if (const auto* dims = source_.dims.find(text, used_at()))
      values = *dims;
    else
      values = {text};
    for (std::string& value : values) value = in_terms(value);
    if (std::ranges::any_of(values, [](const std::string& one) { return one.empty(); })) return {};
    while (values.size() < 3) values.emplace_back("1");
    return values;
  }

  void find_launch() {
    if (launch_) {
      grid_ = dimensions(launch_->grid);
      block_ = dimensions(launch_->block);
      if (!launch_->shared.empty() && launch_->shared != "0") {
        shared_ = in_terms(launch_->shared);
        if (shared_.empty())
          result_.guessed.push_back("no dynamic shared memory: the host code computes it (" + launch_->shared + ")");
        else
          result_.read.push_back("dynamic shared memory: " + shared_ + " bytes");
      }
    }
    if (block_.empty()) {
      const std::string bounds = kernel_->launch_bounds.empty() ? "" : in_terms(kernel_->launch_bounds);
      block_ = {bounds.empty() ? std::to_string(kUsualBlock) : bounds, "1", "1"};
      if (bounds.empty())
        result_.guessed.push_back(fmt::format("the block: {} threads", kUsualBlock));
      else
        result_.read.push_back("the block, from __launch_bounds__: " + bounds + " threads");
    } else {
      result_.read.push_back(fmt::format("the block: {} x {} x {} threads", block_[0], block_[1], block_[2]));
    }
    if (grid_.empty()) {
      const bool flat = block_[1] == "1" || size_names_.size() < 2;
      if (flat)
        grid_ = {fmt::format("ceil_div({}, {})", product(), block_[0]), "1", "1"};
      else
        grid_ = {fmt::format("ceil_div({}, {})", size_names_[1], block_[0]),
                 fmt::format("ceil_div({}, {})", size_names_[0], block_[1]), "1"};
      result_.guessed.push_back("the grid: " + grid_[0] + " x " + grid_[1] + " x " + grid_[2] + " CTAs");
    } else {
      result_.read.push_back(fmt::format("the grid: {} x {} x {} CTAs", grid_[0], grid_[1], grid_[2]));
    }
  }

  std::string product() const {
    std::string text;
    for (size_t i = 0; i < size_names_.size() && i < 2; ++i) text += (i ? " * " : "") + size_names_[i];
    return text;
  }

  // One line of the ladder: a template's arguments may be a page long.
  std::string title() const {
    const std::string whole = result_.entry + " of " + source_name_;
    if (whole.size() <= kLongestTitle) return one_line(whole);
    return one_line((kernel_->name + " of " + source_name_).substr(0, kLongestTitle));  // the cut may split a character
  }

  void write() {
    OrderedJson json{
        {"id", result_.id}, {"title", title()},    {"source", source_name_},         {"entry", result_.entry},
        {"story", ""},      {"problem", "custom"}, {"sizes", OrderedJson::object()}, {"knobs", knobs_}};
    for (const auto& [name, value] : sizes_) json["sizes"][name] = value;
    json["buffers"] = buffers_;
    json["launch"] = {{"grid", grid_}, {"block", block_}};
    if (!shared_.empty()) json["launch"]["dynamic_shared"] = shared_;
    json["args"] = arguments_;
    json["reference"] = "none";
    result_.manifest = as_manifest(json);
  }

  const std::string source_name_;
  const CudaSource source_;
  Imported result_;
  const SourceKernel* kernel_ = nullptr;
  const SourceLaunch* launch_ = nullptr;
  std::map<std::string, std::string> templates_;  // of the chosen instance
  OrderedJson knobs_ = OrderedJson::array(), buffers_ = OrderedJson::array(), arguments_ = OrderedJson::array();
  std::vector<std::string> knob_names_, size_names_;
  std::map<std::string, int64_t> sizes_;
  std::vector<std::string> grid_, block_;
  std::string shared_;
};

}  // namespace

std::string source_file_name(const std::string& file_name) {
  std::string name = file_name;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-' && c != '.') c = '_';
  const size_t dot = name.rfind('.');
  const std::string ending = dot == std::string::npos ? "" : name.substr(dot);
  if (name.size() > kMaxFileName) name = name.substr(0, kMaxFileName - ending.size()) + ending;
  return name.empty() || name[0] == '.' ? "_" + name : name;
}

Result<Imported> import_kernel(const std::string& source_name, const std::string& source, const std::string& entry) {
  for (const std::string& text : {source_name, source, entry})
    if (auto text_is = is_text(text, source_name); !text_is) return fail(text_is.error());
  return Importer(source_name, source).import(entry);
}

}  // namespace attnscope::catalog
