#include "catalog/import_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "catalog/element_types.h"
#include "core/workload.h"

namespace attnscope::catalog {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int64_t kUsualSize = 1024;
constexpr size_t kMostArguments = 256;  // a manifest accepts no more

class Binder {
 public:
  Binder(const std::string& source_name, const CudaSource& source, const SourceKernel& kernel, HostScope& scope,
         Imported& imported)
      : source_name_(source_name), source_(source), kernel_(kernel), scope_(scope), imported_(imported) {}

  Result<BoundParameters> bind() {
    if (kernel_.parameters.size() > kMostArguments)
      return fail(Stage::input,
                  fmt::format("{}: {} has {} parameters", source_name_, kernel_.name, kernel_.parameters.size()),
                  fmt::format("A kernel that is run here has at most {}: pass a struct.", kMostArguments));
    find_sizes();
    for (const SourceParameter& parameter : kernel_.parameters) {
      if (parameter.name.empty())
        return fail(Stage::input, fmt::format("{}: a parameter of {} has no name", source_name_, kernel_.name),
                    "Name it in the source.");
      const bool bound = parameter.pointer ? bind_pointer(parameter) : bind_value(parameter);
      if (!bound)
        return fail(Stage::input,
                    fmt::format("{}: {}'s parameter {} is a {}, which cannot be passed", source_name_, kernel_.name,
                                parameter.name, parameter.type),
                    "Pointers to numbers, numbers, vectors and plain structs of these can be passed.");
    }
    if (std::ranges::none_of(bound_.buffers,
                             [](const OrderedJson& one) { return one["role"] != word_of(BufferRole::in); }))
      return fail(Stage::input,
                  fmt::format("{}: {} has no pointer that it may write through", source_name_, kernel_.name),
                  "A kernel's output is a pointer to something that is not const.");
    return std::move(bound_);
  }

 private:
  // Both return false for a type that cannot be passed.
  bool bind_pointer(const SourceParameter& parameter) {
    const std::string type = scope_.resolved_type(parameter.type);
    const auto members = source_.structs.find(type);
    if (const auto element = element_of(type))
      declare_buffer(parameter, *element);
    else if (members != source_.structs.end())
      declare_struct_buffer(parameter, members->second);
    else if (type == "void")
      declare_untyped_buffer(parameter);
    else
      return false;
    bound_.arguments.push_back(parameter.name);
    return true;
  }

  bool bind_value(const SourceParameter& parameter) {
    const std::string type = scope_.resolved_type(parameter.type);
    const auto element = element_of(type);
    const auto members = source_.structs.find(type);
    if (is_size(parameter))
      bound_.arguments.push_back(parameter.name);
    else if (element && element->lanes == 1)
      add_value(parameter, element->type);
    else if (element)
      add_vector(parameter, *element);
    else if (members != source_.structs.end())
      add_struct(parameter, members->second);
    else
      return false;
    return true;
  }

  bool is_size(const SourceParameter& parameter) const {
    const auto element = element_of(scope_.resolved_type(parameter.type));
    return !parameter.pointer && element && element->lanes == 1 && !is_floating(element->type) &&
           bytes_of(element->type) >= 4;
  }

  void find_sizes() {
    for (const SourceParameter& parameter : kernel_.parameters) {
      if (!is_size(parameter) || scope_.kept.contains(parameter.name)) continue;
      // From `const int n = 4096;` in the host code, or the macro of that name.
      int64_t value = kUsualSize;
      bool said = false;
      for (const std::string& name : {parameter.name, upper(parameter.name)})
        if (const auto number = whole_number(name); number && !said) {
          value = *number;
          said = true;
        }
      add_size(parameter.name, value);
      if (said)
        imported_.read.push_back(fmt::format("{} is {} in the host code", parameter.name, value));
      else
        imported_.guessed.push_back(fmt::format("the size {} = {}", parameter.name, value));
    }
    if (!bound_.size_names.empty()) return;
    add_size("elements", kUsualSize);
    imported_.guessed.push_back(
        fmt::format("the buffers' length: {} elements, since no parameter says it", kUsualSize));
  }

  void add_size(const std::string& name, int64_t value) {
    bound_.size_names.push_back(name);
    bound_.sizes[name] = value;
    scope_.kept[name] = value;
  }

  static std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
    return text;
  }

  std::optional<int64_t> whole_number(const std::string& name) const {
    const auto number = scope_.number_of(name);
    return number && *number >= 0 ? number : std::nullopt;
  }

  void declare_buffer(const SourceParameter& parameter, const ElementOf& element) {
    OrderedJson shape = shape_of(parameter);
    if (element.lanes > 1) shape.push_back(std::to_string(element.lanes));
    const char* role = parameter.constant ? "in" : "inout";
    bound_.buffers.push_back({{"name", parameter.name},
                              {"role", role},
                              {"dtype", word_of(element.type)},
                              {"shape", shape},
                              {"init", parameter.constant ? "random" : "zeros"}});
    imported_.guessed.push_back(fmt::format(
        "{} is {} of {} elements", parameter.name,
        parameter.constant ? "an input" : "written (and starts as zeros: make it \"out\" if every element is written)",
        shape.dump()));
  }

  // An array of structs whose members have one type is an array of that type.
  void declare_struct_buffer(const SourceParameter& parameter, const std::vector<SourceParameter>& members) {
    const auto first = members.empty() ? std::nullopt : element_of(scope_.resolved_type(members.front().type));
    const bool uniform = first && std::ranges::all_of(members, [&](const SourceParameter& one) {
                           const auto element = element_of(scope_.resolved_type(one.type));
                           return !one.pointer && element && element->type == first->type && element->lanes == 1;
                         });
    declare_buffer(parameter, uniform ? ElementOf{first->type, static_cast<int64_t>(members.size())}
                                      : ElementOf{ElementType::u8, 64});
    if (!uniform) imported_.guessed.push_back(parameter.name + ": an array of structs, given as 64 bytes each");
  }

  // The rows and columns that the sizes' names suggest. With M, N and K it is taken as a product C = A·B, by the last
  // letter of the parameter's name: A, d_A or matA is [M, K], one that ends in B is [K, N], any other is [M, N].
  // Otherwise the first two sizes.
  OrderedJson shape_of(const SourceParameter& parameter) const {
    const auto has = [&](const char* name) {
      return std::ranges::find(bound_.size_names, name) != bound_.size_names.end();
    };
    const std::string name = upper(parameter.name);
    if (has("M") && has("N") && has("K") && !name.empty()) {
      if (name.ends_with("A")) return {"M", "K"};
      if (name.ends_with("B")) return {"K", "N"};
      return {"M", "N"};
    }
    OrderedJson shape = OrderedJson::array();
    for (size_t i = 0; i < bound_.size_names.size() && i < 2; ++i) shape.push_back(bound_.size_names[i]);
    return shape;
  }

  void add_value(const SourceParameter& parameter, ElementType type) {
    bound_.arguments.push_back(OrderedJson{{"value", 1}, {"type", word_of(type)}});
    imported_.guessed.push_back(fmt::format("{} is passed as 1", parameter.name));
  }

  void declare_untyped_buffer(const SourceParameter& parameter) {
    declare_buffer(parameter, {ElementType::f32});
    imported_.guessed.push_back(parameter.name + " points to floats: its type does not say");
  }

  static OrderedJson ones(ElementType type, int64_t count) {
    OrderedJson fields = OrderedJson::array();
    for (int64_t i = 0; i < count; ++i) fields.push_back(OrderedJson{{"value", 1}, {"type", word_of(type)}});
    return fields;
  }

  void add_vector(const SourceParameter& parameter, const ElementOf& element) {
    bound_.arguments.push_back(OrderedJson{{"struct", ones(element.type, element.lanes)}});
    imported_.guessed.push_back(fmt::format("the {} members of {} are passed as 1", element.lanes, parameter.name));
  }

  // The buffer that a struct's pointer leads to; returns its name.
  std::string declare_buffer_of(const SourceParameter& parameter, const SourceParameter& member) {
    SourceParameter buffer = member;
    buffer.name = parameter.name + "_" + member.name;
    if (const auto element = element_of(scope_.resolved_type(member.type)))
      declare_buffer(buffer, *element);
    else
      declare_untyped_buffer(buffer);
    return buffer.name;
  }

  // Its numbers become ones; its pointers get buffers of their own, which are the struct's and no arguments.
  void add_struct(const SourceParameter& parameter, const std::vector<SourceParameter>& members) {
    OrderedJson fields = OrderedJson::array();
    size_t numbers = 0;
    for (const SourceParameter& member : members) {
      if (member.pointer) {
        fields.push_back(declare_buffer_of(parameter, member));
        continue;
      }
      ++numbers;
      const auto element = element_of(scope_.resolved_type(member.type)).value_or(ElementOf{ElementType::i32});
      for (const OrderedJson& one : ones(element.type, element.lanes)) fields.push_back(one);
    }
    bound_.arguments.push_back(OrderedJson{{"struct", fields}});
    if (numbers > 0)
      imported_.guessed.push_back(fmt::format("the {} members of {} are passed as 1", numbers, parameter.name));
  }

  const std::string& source_name_;
  const CudaSource& source_;
  const SourceKernel& kernel_;
  HostScope& scope_;
  Imported& imported_;
  BoundParameters bound_;
};

}  // namespace

Result<BoundParameters> bind_parameters(const std::string& source_name, const CudaSource& source,
                                        const SourceKernel& kernel, HostScope& scope, Imported& imported) {
  return Binder(source_name, source, kernel, scope, imported).bind();
}

}  // namespace attnscope::catalog
