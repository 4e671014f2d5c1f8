#include "catalog/import_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <ranges>
#include <set>

#include "catalog/allocated.h"
#include "catalog/element_types.h"
#include "catalog/launch_functions.h"
#include "catalog/pointer_use.h"
#include "catalog/stand_in_size.h"
#include "core/workload.h"

namespace attnscope::catalog {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int64_t kUsualSize = 1024, kUsualWidth = 64, kUsualCount = 4;
constexpr int64_t kUsualStruct = 64;    // bytes
constexpr size_t kMostArguments = 256;  // a manifest accepts no more

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
  return text;
}

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
    find_sizes();
    for (const SourceParameter& parameter : kernel_.parameters) {
      if (parameter.name.empty())
        return fail(Stage::input, fmt::format("{}: a parameter of {} has no name", source_name_, kernel_.name),
                    "Name it in the source.");
      const bool bound = parameter.pointer ? bind_pointer(parameter) : bind_value(parameter);
      if (!bound)
        return fail(
            Stage::input,
            fmt::format("{}: {}'s parameter {} is a {}, which cannot be passed", source_name_, kernel_.name,
                        parameter.name, parameter.type + (parameter.pointer ? "*" : "")),
            "Pointers to numbers, numbers, vectors and plain structs of these can be passed. Pointers to pointers, "
            "textures, surfaces and functions cannot: give an array of pointers as one buffer with an offset for "
            "each.");
    }
    if (std::ranges::none_of(bound_.buffers,
                             [](const OrderedJson& one) { return one["role"] != word_of(BufferRole::in); }))
      stand_in_output();
    return std::move(bound_);
  }

 private:
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
    const auto members = source_.structs.find(type);
    if (const auto element = element_of(type))
      declare_buffer(parameter, *element);
    else if (members != source_.structs.end())
      declare_struct_buffer(parameter, members->second);
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
    const HostText passed = argument_of(parameter);
    const std::string offset = passed_pointer(passed.text).offset;
    if (offset.empty()) return parameter.name;
    scope_.take_guessed();
    std::string elements = scope_.in_terms(HostText{offset, passed.at});
    const bool guessed = scope_.take_guessed();
    if (elements.empty() || elements == "0") return parameter.name;
    const auto element = element_of(scope_.resolved_type(parameter.type));
    if (element && element->lanes > 1) elements = fmt::format("({}) * {}", elements, element->lanes);
    (guessed ? imported_.guessed : imported_.read)
        .push_back(fmt::format("{} begins at element {} of its buffer", parameter.name, elements));
    return OrderedJson{{"buffer", parameter.name}, {"offset", elements}};
  }

  bool bind_value(const SourceParameter& parameter) {
    const std::string type = scope_.resolved_type(parameter.type);
    const auto element = element_of(type);
    const auto members = source_.structs.find(type);
    if (const auto formula = formulas_.find(parameter.name); formula != formulas_.end())
      bound_.arguments.push_back(OrderedJson{{"value", formula->second}, {"type", word_of(element->type)}});
    else if (is_size(parameter))
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

  bool is_size(const SourceParameter& parameter) const { return is_size_type(parameter, scope_); }

  // A size's value is what the launch passes for it, otherwise a constant or macro with its name. A number that the
  // host code computes from other sizes is not a size; it follows from them.
  void find_sizes() {
    size_t unknown = 0;
    for (const SourceParameter& parameter : kernel_.parameters)
      unknown += is_size(parameter) && !scope_.kept.contains(parameter.name) && !value_of(parameter).first;
    for (const SourceParameter& parameter : kernel_.parameters) {
      if (!is_size(parameter) || scope_.kept.contains(parameter.name)) continue;
      const HostText passed = argument_of(parameter);
      const auto [value, certain] = value_of(parameter);
      add_size(parameter.name, value.value_or(usual_size(parameter.name, unknown)), passed.text);
      if (value && certain)
        imported_.read.push_back(fmt::format("{} is {} in the host code", parameter.name, *value));
      else
        imported_.guessed.push_back(fmt::format("the size {} = {}{}", parameter.name, scope_.kept[parameter.name],
                                                value ? ", as elsewhere in the host code" : ""));
    }
    // All sizes are known by name only now.
    for (const SourceParameter& parameter : kernel_.parameters) follow(parameter);
    // A formula may contain a size that got a formula after it.
    for (const SourceParameter& parameter : kernel_.parameters | std::views::reverse)
      if (const auto one = formulas_.find(parameter.name); one != formulas_.end()) one->second = expanded(one->second);
    if (!bound_.size_names.empty()) return;
    add_size(kStandInSize, kUsualSize, "");
    guess_stand_in(kUsualSize, imported_);
  }

  // What the launch passes for a parameter; empty for a struct's member.
  HostText argument_of(const SourceParameter& parameter) const {
    if (!launch_ || launch_->arguments.size() != kernel_.parameters.size()) return {};
    const auto place = std::ranges::find(kernel_.parameters, parameter.name, &SourceParameter::name);
    if (place == kernel_.parameters.end()) return {};
    return {launch_->arguments[static_cast<size_t>(place - kernel_.parameters.begin())], launch_->at};
  }

  // A parameter's value in the host code, and whether it is certain.
  std::pair<std::optional<int64_t>, bool> value_of(const SourceParameter& parameter) const {
    const HostText passed = argument_of(parameter);
    for (const std::string& name : {passed.text, parameter.name, upper(parameter.name)}) {
      if (name.empty()) continue;
      scope_.take_guessed();
      if (const auto number = scope_.number_of(name); number && *number > 0) return {number, !scope_.take_guessed()};
      if (!passed.text.empty() && name == passed.text && name != parameter.name) break;  // it is something else
    }
    return {std::nullopt, false};
  }

  void follow(const SourceParameter& parameter) {
    const HostText passed = argument_of(parameter);
    const auto size = std::ranges::find(bound_.size_names, parameter.name);
    if (passed.text.empty() || size == bound_.size_names.end() || bound_.size_names.size() == 1) return;
    const int64_t now = scope_.kept[parameter.name];
    scope_.forget_size(parameter.name);
    const std::string formula = scope_.in_terms(passed);
    const bool follows = !formula.empty() && formula.find_first_not_of("0123456789") != std::string::npos &&
                         std::ranges::any_of(cpp_tokens(formula), [&](const CppToken& token) {
                           return bound_.sizes.contains(std::string(token.text)) && token.text != parameter.name;
                         });
    if (!follows) return add_known_size(parameter.name, now, passed.text);
    bound_.size_names.erase(size);
    bound_.sizes.erase(parameter.name);
    formulas_[parameter.name] = formula;
    imported_.read.push_back(fmt::format("{} is {}", parameter.name, formula));
    std::erase_if(imported_.guessed,
                  [&](const std::string& one) { return one.starts_with("the size " + parameter.name + " = "); });
    std::erase_if(imported_.read, [&](const std::string& one) {
      return one.starts_with(parameter.name + " is ") && one.ends_with("in the host code");
    });
  }

  // Inserts the formulas of the names in it. Those after it are already expanded.
  std::string expanded(const std::string& formula) const {
    std::string text;
    size_t copied = 0;
    for (const CppToken& token : cpp_tokens(formula)) {
      const auto inner = formulas_.find(std::string(token.text));
      if (inner == formulas_.end()) continue;
      const bool whole = token.text.size() == formula.size();
      text += formula.substr(copied, token.at - copied) + (whole ? inner->second : "(" + inner->second + ")");
      copied = token.end();
    }
    return text + formula.substr(copied);
  }

  void add_size(const std::string& name, int64_t value, const std::string& passed) {
    bound_.size_names.push_back(name);
    bound_.sizes[name] = value;
    add_known_size(name, value, passed);
  }
  void add_known_size(const std::string& name, int64_t value, const std::string& passed) {
    scope_.set_size(name, value, passed.empty() ? name : passed);
  }

  void declare_buffer(const SourceParameter& parameter, const ElementOf& element) {
    OrderedJson shape = shape_of(parameter, element);
    const PointerUse known = use_of(uses_, parameter);
    const bool input = parameter.constant || (known.read && !known.stored && !known.passed_on);
    const bool output = !input && known.stored && !known.read && !known.passed_on && !known.scattered;
    // Zeros that nothing is stored to would make a product zero, whatever the kernel does. But a possible counter or
    // index must not point anywhere.
    const bool random = input || (!output && !known.stored && is_floating(element.type));
    const BufferRole role = input ? BufferRole::in : output ? BufferRole::out : BufferRole::inout;
    OrderedJson buffer{
        {"name", parameter.name}, {"role", word_of(role)}, {"dtype", word_of(element.type)}, {"shape", shape}};
    if (!output) buffer["init"] = random ? "random" : "zeros";
    if (!shape_read_) buffer["guessed"] = true;
    bound_.buffers.push_back(std::move(buffer));
    const std::string name = parameter.name;
    const std::string what = parameter.constant ? name + " is an input, as its const says"
                             : input            ? name + " is an input: the kernel only reads it"
                             : output           ? name + " is an output: the kernel only stores to it"
                                                : "";
    if (!what.empty()) imported_.read.push_back(what);
    const bool only_stored = known.scattered && !known.read && !known.passed_on;
    if (what.empty())
      imported_.guessed.push_back(fmt::format("{} is {}, and starts {}", name,
                                              only_stored ? "stored to where the data says so" : "read and written",
                                              random ? "random" : "as zeros"));
    if (shape_read_) return;
    imported_.guessed.push_back(fmt::format("{} has {} elements", name, shape.dump()));
    imported_.open_lengths[name] = 1;
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
    const HostText passed = argument_of(parameter);
    return allocated_elements(host_, scope_, {passed_pointer(passed.text).name, passed.at},
                              bytes_of(element.type) * element.lanes);
  }

  // The shape that the host code allocates, otherwise the rows and columns that the sizes' names suggest. With M, N and
  // K it is taken as a product C = A·B, by the last letter of the parameter's name: A, d_A or matA is [M, K], one that
  // ends in B is [K, N], any other is [M, N]. Otherwise all sizes, or the first two if that is too much.
  OrderedJson shape_of(const SourceParameter& parameter, const ElementOf& element) {
    const std::string formula = allocated(parameter, element);
    shape_read_ = !formula.empty();
    OrderedJson shape = OrderedJson::array();
    if (shape_read_) {
      imported_.read.push_back(fmt::format("{} has {} elements, as it is allocated", parameter.name, formula));
      shape = shape_as_product(parameter, formula, guessed_shape(parameter));
    } else {
      shape = guessed_shape(parameter);
    }
    if (element.lanes > 1) shape.push_back(std::to_string(element.lanes));
    return shape;
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
    const std::string name = upper(parameter.name);
    if (has("M") && has("N") && has("K") && !name.empty()) {
      if (name.ends_with("A")) return {"M", "K"};
      if (name.ends_with("B")) return {"K", "N"};
      return {"M", "N"};
    }
    return scope_.guessed_shape(bound_.size_names);
  }

  // Passes a literal of the launch, or 1.
  void add_value(const SourceParameter& parameter, ElementType type) {
    const std::string literal = without_suffix(argument_of(parameter).text);
    const auto number = literal_value(literal, type);
    bound_.arguments.push_back(
        OrderedJson{{"value", number ? OrderedJson(*number) : OrderedJson(1)}, {"type", word_of(type)}});
    if (number)
      imported_.read.push_back(fmt::format("{} is {} at the launch", parameter.name, literal));
    else
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

  // Declares the buffer that a struct's pointer refers to; returns its name.
  std::string declare_buffer_of(const SourceParameter& parameter, const SourceParameter& member) {
    SourceParameter buffer = member;
    buffer.name = parameter.name + "_" + member.name;
    if (const auto element = element_of(scope_.resolved_type(member.type)))
      declare_buffer(buffer, *element);
    else
      declare_untyped_buffer(buffer);
    return buffer.name;
  }

  // Its numbers become ones. Its pointers get buffers of their own, which belong to the struct and are not arguments.
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
  const HostSource& host_;
  const SourceKernel& kernel_;
  const SourceLaunch* launch_;
  HostScope& scope_;
  Imported& imported_;
  BoundParameters bound_;
  PointerUses uses_;
  std::map<std::string, std::string> formulas_;  // of parameters that follow from the sizes
  bool shape_read_ = false;                      // of the last buffer
  const std::vector<CppToken> body_;             // of the kernel
  const CppBrackets body_brackets_{body_};
};

}  // namespace

ReadSource read_source(const std::string& source, const std::string& launcher) {
  if (launcher.empty()) {
    ReadSource read{source, read_cuda_source(source), HostSource(source)};
    follow_launches(read.cuda, read.host);
    return read;
  }
  const std::string both = source + "\n" + launcher;
  ReadSource read{both, read_cuda_source(both), HostSource(both), source.size()};
  std::erase_if(read.cuda.kernels, [&](const SourceKernel& one) { return one.defined && one.body >= source.size(); });
  read.cuda.defined.clear();
  for (size_t i = 0; i < read.cuda.kernels.size(); ++i)
    if (read.cuda.kernels[i].defined) read.cuda.defined.emplace(plain_kernel_name(read.cuda.kernels[i].name), i);
  read.cuda.settable = read_cuda_source(source).settable;
  follow_launches(read.cuda, read.host);
  return read;
}

PointerUses uses_of(const ReadSource& source, const SourceKernel& kernel) {
  std::vector<std::string> pointers;
  for (const SourceParameter& parameter : kernel.parameters)
    if (parameter.pointer) pointers.push_back(parameter.name);
  auto uses = pointer_uses(std::string_view(source.text).substr(kernel.body, kernel.end - kernel.body), pointers);
  // A kernel has an output; if none is visible, a macro hides it.
  if (std::ranges::none_of(uses, [](const auto& one) { return one.second.stored || one.second.passed_on; }))
    uses.clear();
  return uses;
}

PointerUse use_of(const PointerUses& uses, const SourceParameter& parameter) {
  if (parameter.constant) return {true, false, false};
  const auto use = uses.find(parameter.name);
  return use == uses.end() ? PointerUse{false, false, true} : use->second;
}

bool is_size_type(const SourceParameter& parameter, const HostScope& scope) {
  const auto element = element_of(scope.resolved_type(parameter.type));
  return !parameter.pointer && element && element->lanes == 1 && !is_floating(element->type) &&
         bytes_of(element->type) >= 4;
}

std::string without_suffix(std::string literal) {
  while (!literal.empty() && std::string_view("fFlLuU").find(literal.back()) != std::string_view::npos)
    literal.pop_back();
  return literal;
}

std::optional<double> literal_value(const std::string& text, ElementType type) {
  const std::string literal = without_suffix(text);
  double number = 0;
  const char* const last = literal.data() + literal.size();
  const auto [end, error] = std::from_chars(literal.data(), last, number);
  const bool said = !literal.empty() && error == std::errc() && end == last && std::isfinite(number) &&
                    (is_floating(type) || number == std::floor(number));
  return said ? std::optional(number) : std::nullopt;
}

int64_t usual_size(const std::string& name, size_t unknown) {
  static const std::set<std::string> widths{"d", "D", "HS", "DIM", "HEAD_DIM", "HEADDIM", "HEAD_SIZE"};
  static const std::set<std::string> counts{"B", "BATCH", "BATCH_SIZE", "NH", "H", "HEADS", "NUM_HEADS", "N_HEADS"};
  if (widths.contains(upper(name))) return kUsualWidth;
  if (counts.contains(upper(name))) return kUsualCount;
  return unknown <= 3 ? kUsualSize : kUsualSize / 8;
}

Result<BoundParameters> bind_parameters(const std::string& source_name, const ReadSource& source,
                                        const SourceKernel& kernel, const SourceLaunch* launch, HostScope& scope,
                                        Imported& imported) {
  return Binder(source_name, source, kernel, launch, scope, imported).bind();
}

}  // namespace attnscope::catalog
