#include "catalog/import_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include "catalog/address_parts.h"
#include "catalog/allocated.h"
#include "catalog/element_types.h"
#include "catalog/import_sizes.h"
#include "catalog/import_values.h"
#include "catalog/manifest_text.h"
#include "catalog/stand_in_size.h"
#include "catalog/struct_layout.h"
#include "core/escape.h"
#include "core/joined.h"
#include "core/workload.h"

namespace attnscope::catalog {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int64_t kUsualStruct = 64;    // bytes
constexpr size_t kMostArguments = 256;  // a manifest accepts no more

// "Node" or "lib::Node", but not a pointer or a function type.
bool is_plain_name(const std::string& type) {
  return !type.empty() && std::ranges::all_of(type, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':';
  });
}

class Binder {
 public:
  Binder(const std::string& source_name, const ReadSource& source, const SourceKernel& kernel,
         const SourceLaunch* launch, HostScope& scope, Imported& imported)
      : source_name_(source_name),
        read_(source),
        source_(source.cuda),
        host_(source.host),
        kernel_(kernel),
        launch_(launch),
        scope_(scope),
        imported_(imported),
        uses_(uses_of(source, kernel)),
        body_(cpp_tokens(std::string_view(source.text).substr(kernel.body, kernel.end - kernel.body))) {}

  Result<BoundParameters> bind() {
    if (kernel_.parameters.size() > kMostArguments)
      return fail(Stage::input,
                  fmt::format("{}: {} has {} parameters", source_name_, kernel_.name, kernel_.parameters.size()),
                  fmt::format("A kernel that is run here has at most {}: pass a struct.", kMostArguments));
    its_ = find_sizes(kernel_, launch_, scope_, bound_, imported_);
    for (const SourceParameter& parameter : kernel_.parameters) {
      if (parameter.name.empty())
        return fail(Stage::input, fmt::format("{}: a parameter of {} has no name", source_name_, kernel_.name),
                    "Name it in the source.");
      const bool bound = parameter.pointer ? bind_pointer(parameter) : bind_value(parameter);
      if (!bound)
        return fail(Stage::input,
                    fmt::format("{}: {}'s parameter {} is a {}, which cannot be passed{}", source_name_, kernel_.name,
                                parameter.name, parameter.type + (parameter.pointer ? "*" : ""), reason(parameter)),
                    way_on(parameter));
    }
    if (std::ranges::none_of(bound_.buffers,
                             [](const OrderedJson& one) { return one["role"] != word_of(BufferRole::in); }))
      stand_in_output();
    bound_.names = std::move(of_allocations_);
    return std::move(bound_);
  }

 private:
  // ": it has a virtual function", or nothing if the source does not say.
  std::string reason(const SourceParameter& parameter) const {
    const std::string type = scope_.resolved_type(parameter.type);
    const std::string why = parameter.pointer ? "" : why_not_plain(read_.text, type);
    if (!why.empty()) return ": it " + why;
    const bool unknown = is_plain_name(type) && !source_.classes.contains(type) && !parameter.pointer;
    return unknown ? ": no file that was read declares it" : "";
  }

  static std::string way_on(const SourceParameter& parameter) {
    if (parameter.type.find("ensorMap") != std::string::npos)
      return "The driver makes a tensor map for one GPU, so a manifest has none, and the emulator executes no TMA "
             "tensor copies: import a kernel that takes the pointer and copies with cp.async or loads.";
    if (parameter.type.find("exture") != std::string::npos || parameter.type.find("urface") != std::string::npos)
      return "The host code makes a texture or a surface through the runtime, so a manifest has none: pass a pointer "
             "instead, and read it with __ldg().";
    return "Pointers to numbers, numbers, vectors, enumerations and plain structs of these can be passed. Pointers to "
           "pointers and functions cannot: give an array of pointers as one buffer with an offset for each. Of a "
           "struct that is not plain, pass the members; if a header declares it, name the header's folder with "
           "--include.";
  }

  // A kernel that only prints or asserts writes through no pointer, but a manifest needs something to judge, so it gets
  // a byte that is not passed.
  void stand_in_output() {
    std::string name = "nothing";
    while (scope_.kept.contains(name) ||
           std::ranges::any_of(bound_.buffers, [&](const OrderedJson& one) { return one["name"] == name; }))
      name += "_";
    bound_.buffers.push_back(OrderedJson{{"name", name},
                                         {"role", word_of(BufferRole::inout)},
                                         {"dtype", word_of(ElementType::u8)},
                                         {"shape", {"1"}},
                                         {"init", "zeros"}});
    imported_.guessed.push_back(
        fmt::format("it has no pointer that it may write through: {} stands in for an output and is not passed", name));
  }

  // Both return false for a type that cannot be passed.
  bool bind_pointer(const SourceParameter& parameter) {
    const std::string type = scope_.resolved_type(parameter.type);
    const auto* const members = members_of(source_, type);
    if (const auto element = element_of(type))
      declare_buffer(parameter, *element);
    else if (members)
      declare_struct_buffer(parameter, *members);
    else if (type == "void")
      declare_untyped_buffer(parameter);
    else if (is_plain_name(type))
      declare_struct_buffer(parameter, {});
    else
      return false;
    bound_.arguments.push_back(address_of(parameter));
    return true;
  }

  // The buffer, or an address in it that the launch passes.
  OrderedJson address_of(const SourceParameter& parameter) {
    const HostText passed = argument_of(kernel_, launch_, parameter);
    const std::string offset = passed_pointer(passed.text).offset;
    if (is_address_before(passed.text)) not_passed(parameter, passed.text, kAddressBefore);
    if (offset.empty()) return parameter.name;
    scope_.take_guessed();
    std::string elements = scope_.in_terms(HostText{offset, passed.at});
    const bool guessed = scope_.take_guessed();
    if (elements.empty()) not_passed(parameter, passed.text, "and " + one_line(offset) + " is not known");
    if (elements.empty() || elements == "0") return parameter.name;
    const auto element = element_of(scope_.resolved_type(parameter.type));
    if (element && element->lanes > 1) elements = fmt::format("({}) * {}", elements, element->lanes);
    (guessed ? imported_.guessed : imported_.read)
        .push_back(fmt::format("{} begins at element {} of its buffer", parameter.name, elements));
    return OrderedJson{{"buffer", parameter.name}, {"offset", elements}};
  }

  void not_passed(const SourceParameter& parameter, const std::string& text, const std::string& why) {
    imported_.guessed.push_back(fmt::format("{} begins at element 0 of its buffer: the launch passes {}, {}",
                                            parameter.name, one_line(text), why));
  }

  bool bind_value(const SourceParameter& parameter) {
    const std::string type = scope_.resolved_type(parameter.type);
    const auto element = element_of(type);
    if (const auto formula = its_.formulas.find(parameter.name); formula != its_.formulas.end())
      bound_.arguments.push_back(OrderedJson{{"value", formula->second}, {"type", word_of(element->type)}});
    else if (is_size(parameter))
      bound_.arguments.push_back(parameter.name);
    else if (element && element->lanes == 1)
      add_value(parameter, element->type);
    else if (element)
      add_vector(parameter, *element);
    else
      return false;
    return true;
  }

  bool is_size(const SourceParameter& parameter) const {
    return is_size_type(parameter, scope_) && !its_.fixed.contains(parameter.name);
  }

  void declare_buffer(const SourceParameter& parameter, const ElementOf& element) {
    OrderedJson shape = shape_of(parameter, element);
    const PointerUse known = use_of(uses_, parameter);
    const bool input = parameter.constant || (known.read && !known.stored && !known.passed_on);
    const bool output = !input && known.stored && !known.read && !known.passed_on && !known.scattered;
    // Zeros that nothing is stored to, or that are loaded first, would make a product zero, whatever the kernel does.
    // But a possible counter or index must not point anywhere.
    const bool random = input || (!output && (!known.stored || known.loaded_first) && is_floating(element.type));
    OrderedJson init = random ? "random" : "zeros";
    if (const auto filled = input || output ? nullptr : filled_by_host(parameter); !filled.is_null()) init = filled;
    const BufferRole role = input ? BufferRole::in : output ? BufferRole::out : BufferRole::inout;
    OrderedJson buffer{
        {"name", parameter.name}, {"role", word_of(role)}, {"dtype", word_of(element.type)}, {"shape", shape}};
    if (!output) buffer["init"] = init;
    if (!shape_read_) buffer["guessed"] = true;
    bound_.buffers.push_back(std::move(buffer));
    const std::string name = parameter.name;
    const std::string what = parameter.constant ? name + " is an input, as its const says"
                             : input            ? name + " is an input: the kernel only reads it"
                             : output           ? name + " is an output: the kernel only stores to it"
                                                : "";
    if (!what.empty()) imported_.read.push_back(what);
    const bool only_stored = known.scattered && !known.read && !known.passed_on;
    if (what.empty()) imported_.guessed.push_back(name + (only_stored ? kScattered : kReadAndWritten) + start_of(init));
    if (shape_read_) return;
    imported_.guessed.push_back(fmt::format("{} has {}", name, elements_of(shape)));
    imported_.open_lengths[name] = 1;
  }

  // What the host code fills the launch's buffer with; null if it does not say.
  OrderedJson filled_by_host(const SourceParameter& parameter) {
    const HostText passed = argument_of(kernel_, launch_, parameter);
    OrderedJson init = host_contents(host_, scope_, {passed_pointer(passed.text).name, passed.at});
    scope_.take_guessed();
    if (!init.is_null())
      imported_.read.push_back(fmt::format("{} starts {}, as the host code fills it", parameter.name, start_of(init)));
    return init;
  }

  // An array of structs whose members have one type is an array of that type.
  void declare_struct_buffer(const SourceParameter& parameter, const std::vector<SourceParameter>& members) {
    const auto first = members.empty() ? std::nullopt : element_of(scope_.resolved_type(members.front().type));
    const bool uniform = first && std::ranges::all_of(members, [&](const SourceParameter& one) {
                           const auto element = element_of(scope_.resolved_type(one.type));
                           return !one.pointer && element && element->type == first->type && element->lanes == 1;
                         });
    if (uniform) return declare_buffer(parameter, ElementOf{first->type, static_cast<int64_t>(members.size())});
    // The bytes of an allocation are known, but not the size of a struct.
    const bool known = !allocated(parameter, {ElementType::u8}).empty();
    declare_buffer(parameter, {ElementType::u8, known ? 1 : kUsualStruct});
    imported_.guessed.push_back(parameter.name + ": an array of structs, given as " +
                                (known ? "bytes" : fmt::format("{} bytes each", kUsualStruct)));
  }

  // The allocation of the pointer that the launch passes; empty if the host code does not say.
  std::string allocated(const SourceParameter& parameter, const ElementOf& element) const {
    const HostText passed = argument_of(kernel_, launch_, parameter);
    const std::string name = passed_pointer(passed.text).name;
    // A cast, or a struct that is given as bytes: the host's pointer has other elements.
    const bool cast = passed.text.find("_cast") != std::string::npos || passed.text.starts_with("(");
    const bool as_bytes = element.type == ElementType::u8 && !element_of(scope_.resolved_type(parameter.type));
    scope_.take_names();
    std::string elements = allocated_elements(host_, scope_, {name, passed.at}, bytes_of(element.type) * element.lanes,
                                              !cast && !as_bytes);
    if (!elements.empty()) of_allocations_.merge(scope_.take_names());
    return elements;
  }

  // The shape that the host code allocates, otherwise the rows and columns that the sizes' names suggest. With M, N and
  // K it is taken as a product C = A·B, by the last letter of the parameter's name: A, d_A or matA is [M, K], one that
  // ends in B is [K, N], any other is [M, N]. Otherwise all sizes, or the first two if that is too much.
  OrderedJson shape_of(const SourceParameter& parameter, const ElementOf& element) {
    std::string formula = allocated(parameter, element);
    if (!formula.empty() && depends_on_guessed_type(parameter, element, formula)) formula.clear();
    shape_read_ = !formula.empty();
    OrderedJson shape = OrderedJson::array();
    if (shape_read_) {
      imported_.read.push_back(
          fmt::format("{} has {}, as it is allocated", parameter.name, how_many(formula, "element")));
      shape = shape_as_product(parameter, formula, guessed_shape(parameter));
    } else {
      shape = guessed_shape(parameter);
    }
    if (element.lanes > 1) shape.push_back(std::to_string(element.lanes));
    return shape;
  }

  // Whether the bytes of the allocation would be another number of elements if a guessed type of the template were
  // larger: `sizeof(double)` for a T*, and not `n * sizeof(T)`.
  bool depends_on_guessed_type(const SourceParameter& parameter, const ElementOf& element, const std::string& formula) {
    const auto guess = scope_.templates.find(parameter.type);
    if (guess == scope_.templates.end() || !guess->second.guessed) return false;
    const ElementOf larger{bytes_of(element.type) == 8 ? ElementType::f32 : ElementType::f64, element.lanes};
    const std::string before = std::exchange(guess->second.value, larger.type == ElementType::f64 ? "double" : "float");
    const std::string with_other = allocated(parameter, larger);
    guess->second.value = before;
    return with_other != formula;
  }

  // M * K as rows and columns, in the order that the sizes' names suggest if it is the same product, unless the kernel
  // uses rows of the length that comes last in the host code: B[column * K + k] of N * K elements.
  OrderedJson shape_as_product(const SourceParameter& parameter, const std::string& formula,
                               const OrderedJson& suggested) const {
    const OrderedJson factors = factors_of(formula);
    const bool same =
        std::is_permutation(factors.begin(), factors.end(), suggested.begin(), suggested.end()) && !suggested.empty();
    if (!same || factors == suggested) return factors;
    const bool as_written = steps_by(parameter.name, factors.back().get<std::string>()) &&
                            !steps_by(parameter.name, suggested.back().get<std::string>());
    return as_written ? factors : suggested;
  }

  // True if a subscript of the pointer contains a product with that size.
  bool steps_by(const std::string& pointer, const std::string& size) const {
    const std::vector<CppToken>& tokens = body_;
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (!tokens[i].is(pointer) || !tokens[i + 1].is("[")) continue;
      const size_t close = std::min(body_brackets_.closing(i + 1), tokens.size());
      for (size_t k = i + 2; k < close; ++k)
        if (tokens[k].is(size) && (tokens[k - 1].is("*") || (k + 1 < close && tokens[k + 1].is("*")))) return true;
    }
    return false;
  }

  OrderedJson guessed_shape(const SourceParameter& parameter) const {
    const auto has = [&](const char* name) {
      return std::ranges::find(bound_.size_names, name) != bound_.size_names.end();
    };
    const std::string name = in_capitals(parameter.name);
    if (has("M") && has("N") && has("K") && !name.empty()) {
      if (name.ends_with("A")) return {"M", "K"};
      if (name.ends_with("B")) return {"K", "N"};
      return {"M", "N"};
    }
    return scope_.guessed_shape(bound_.size_names);
  }

  // Passes what the launch says; otherwise 1, or 0 for an index or a mode.
  void add_value(const SourceParameter& parameter, ElementType type) {
    const auto passed = passed_number(argument_of(kernel_, launch_, parameter), type, scope_);
    const bool mode = scope_.is_enum(parameter.type) || counts_nothing(parameter.name);
    const double number = passed ? passed->number : mode ? 0 : 1;
    const OrderedJson argument = value_argument(number, type);
    bound_.arguments.push_back(argument);
    if (passed && !passed->guessed) {
      imported_.read.push_back(fmt::format("{} is {} at the launch", parameter.name, argument["value"].dump()));
      return;
    }
    imported_.open_values.insert(bound_.arguments.size() - 1);
    imported_.guessed.push_back(fmt::format("{} is passed as {}{}", parameter.name, argument["value"].dump(),
                                            !passed            ? ""
                                            : passed->of_sizes ? ", as the host code computes it from the sizes"
                                                               : ", as elsewhere in the host code"));
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
    imported_.open_values.insert(bound_.arguments.size() - 1);
    imported_.guessed.push_back(fmt::format("the {} members of {} are passed as 1", element.lanes, parameter.name));
  }

  const std::string& source_name_;
  const ReadSource& read_;
  const CudaSource& source_;
  const HostSource& host_;
  const SourceKernel& kernel_;
  const SourceLaunch* launch_;
  HostScope& scope_;
  Imported& imported_;
  BoundParameters bound_;
  PointerUses uses_;
  KernelSizes its_;
  mutable HostScope::Names of_allocations_;
  bool shape_read_ = false;           // of the last buffer
  const std::vector<CppToken> body_;  // of the kernel
  const CppBrackets body_brackets_{body_};
};

}  // namespace

Result<BoundParameters> bind_parameters(const std::string& source_name, const ReadSource& source,
                                        const SourceKernel& kernel, const SourceLaunch* launch, HostScope& scope,
                                        Imported& imported) {
  return Binder(source_name, source, kernel, launch, scope, imported).bind();
}

}  // namespace attnscope::catalog
