#include "catalog/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "catalog/catalog.h"
#include "catalog/cuda_source.h"
#include "core/workload.h"

namespace attnscope::catalog {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int64_t kUsualSize = 1024, kUsualBlock = 256;
constexpr int kDeepest = 8;  // of names that stand for names

struct ElementOf {
  ElementType type = ElementType::f32;
  int64_t lanes = 1;  // 4 of a float4
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
                                                      {"char", {ElementType::u8}},
                                                      {"signed char", {ElementType::u8}},
                                                      {"unsigned char", {ElementType::u8}},
                                                      {"uint8_t", {ElementType::u8}},
                                                      {"int8_t", {ElementType::u8}},
                                                      {"bool", {ElementType::u8}},
                                                      {"float2", {ElementType::f32, 2}},
                                                      {"float4", {ElementType::f32, 4}},
                                                      {"double2", {ElementType::f64, 2}},
                                                      {"int2", {ElementType::i32, 2}},
                                                      {"int4", {ElementType::i32, 4}},
                                                      {"uint2", {ElementType::u32, 2}},
                                                      {"uint4", {ElementType::u32, 4}},
                                                      {"uchar4", {ElementType::u8, 4}}};
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

// Template arguments at their top level: "float, Pair<int, 2>" is two.
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

// {"a": 1, "b": [1, 2]}: on one line, with the blanks that a person would leave.
std::string in_one_line(const OrderedJson& json) {
  if (!json.is_structured()) return json.dump();
  std::string text;
  for (const auto& [key, value] : json.items()) {
    if (!text.empty()) text += ", ";
    text += (json.is_object() ? OrderedJson(key).dump() + ": " : "") + in_one_line(value);
  }
  return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

// A line for each key of the manifest, and for each part of a list of parts.
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
    find_sizes();
    if (auto done = bind_parameters(); !done) return fail(done.error());
    find_launch();
    write();
    return std::move(result_);
  }

 private:
  // `ns::k<float, 4>` of the request, or the kernel that the host code launches.
  Result<void> choose(const std::string& entry) {
    if (source_.kernels.empty())
      return fail(Stage::input, source_name_ + " has no kernel", "A kernel is a function declared __global__ void.");
    const std::string wanted = entry.substr(0, entry.find('<'));
    const auto plain = [](const std::string& name) {
      return name.substr(name.rfind(':') == std::string::npos ? 0 : name.rfind(':') + 1);
    };
    std::string names;
    for (const SourceKernel& kernel : source_.kernels) {
      names += (names.empty() ? "" : ", ") + kernel.name;
      const bool launched = std::ranges::any_of(
          source_.launches, [&](const SourceLaunch& one) { return one.kernel == plain(kernel.name); });
      const bool named = kernel.name == wanted || plain(kernel.name) == wanted;
      if (entry.empty() ? launched && !kernel_ : named && !kernel_) kernel_ = &kernel;
    }
    if (!kernel_ && entry.empty()) kernel_ = &source_.kernels.front();
    if (!kernel_)
      return fail(Stage::input, source_name_ + " has no kernel " + wanted, "Its kernels are " + names + ".");
    for (const SourceKernel& kernel : source_.kernels)
      if (&kernel != kernel_) result_.others.push_back(kernel.name);
    for (const SourceLaunch& launch : source_.launches)
      if (!launch_ && launch.kernel == plain(kernel_->name)) launch_ = &launch;
    result_.entry = kernel_->name;
    if (kernel_->template_names.empty()) return {};
    std::string arguments = launch_ ? launch_->template_arguments : "";
    if (const size_t open = entry.find('<'); open != std::string::npos)
      arguments = entry.substr(open + 1, entry.rfind('>') - open - 1);
    if (arguments.empty())
      return fail(Stage::input, kernel_->name + " is a template, and no launch says of what",
                  "Name it with its arguments: --entry \"" + kernel_->name + "<float>\".");
    const std::vector<std::string> values = split_arguments(arguments);
    std::string resolved;
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string value = macro_or_itself(values[i]);
      if (i < kernel_->template_names.size()) templates_[kernel_->template_names[i]] = value;
      resolved += (i ? ", " : "") + value;
    }
    result_.entry += "<" + resolved + ">";
    return {};
  }

  // A host constant is out of the kernel's sight; a macro is not, but its value says more.
  std::string macro_or_itself(const std::string& word) const {
    std::string value = word;
    for (int depth = 0; depth < kDeepest; ++depth) {
      const auto constant = source_.constants.find(value);
      if (constant == source_.constants.end()) break;
      value = constant->second;
    }
    return value;
  }

  void find_knobs() {
    for (const auto& [name, value] : source_.settable) {
      const bool macro = std::ranges::all_of(
          name, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
      if (!macro || !(name[0] >= 'A' && name[0] <= 'Z') || value < 0) continue;
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
           element->type != ElementType::u8;
  }

  void find_sizes() {
    for (const SourceParameter& parameter : kernel_->parameters) {
      if (!is_size(parameter) || std::ranges::find(knob_names_, parameter.name) != knob_names_.end()) continue;
      size_names_.push_back(parameter.name);
      // `const int n = 4096;` of the host code, or the macro of that name.
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
    const auto constant = source_.constants.find(name);
    const auto macro = source_.macros.find(name);
    std::string text = constant != source_.constants.end() ? constant->second
                       : macro != source_.macros.end()     ? macro->second
                                                           : "";
    std::erase(text, ' ');
    std::erase(text, '\'');
    if (const size_t shift = text.find("<<"); shift != std::string::npos) {  // 1 << 20
      const auto base = digits(text.substr(0, shift)), bits = digits(text.substr(shift + 2));
      return base && bits && *bits < 40 ? std::optional(*base << *bits) : std::nullopt;
    }
    if (const size_t times = text.find('*'); times != std::string::npos) {
      const auto a = digits(text.substr(0, times)), b = digits(text.substr(times + 1));
      return a && b && *a < (1 << 30) && *b < (1 << 30) ? std::optional(*a * *b) : std::nullopt;
    }
    return digits(text);
  }

  static std::optional<int64_t> digits(std::string text) {
    while (!text.empty() && (text.front() == '(')) text.erase(0, 1);
    while (!text.empty() &&
           (text.back() == ')' || text.back() == 'u' || text.back() == 'U' || text.back() == 'L' || text.back() == 'l'))
      text.pop_back();
    if (text.empty() || text.size() > 12 || !std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }))
      return std::nullopt;
    return std::stoll(text);
  }

  Result<void> bind_parameters() {
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
      else if (!parameter.pointer && is_size(parameter))
        arguments_.push_back(parameter.name);
      else if (!parameter.pointer && element && element->lanes == 1)
        add_value(parameter, element->type);
      else if (!parameter.pointer && members != source_.structs.end())
        add_struct(parameter, members->second);
      else
        return fail(Stage::input,
                    fmt::format("{}: {}'s parameter {} is a {}, which cannot be passed", source_name_, kernel_->name,
                                parameter.name, parameter.type),
                    "Pointers to numbers, numbers and plain structs of numbers can be passed.");
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

  // An array of structs of one type is an array of that type.
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

  void add_struct(const SourceParameter& parameter, const std::vector<SourceParameter>& members) {
    OrderedJson fields = OrderedJson::array();
    for (const SourceParameter& member : members) {
      const auto element = element_of(resolved_type(member.type));
      const ElementType type = element ? element->type : ElementType::i32;
      fields.push_back(OrderedJson{{"value", 1}, {"type", to_string(type)}});
    }
    arguments_.push_back(OrderedJson{{"struct", fields}});
    result_.guessed.push_back(fmt::format("the {} members of {} are passed as 1", members.size(), parameter.name));
  }

  // A host expression in the manifest's terms: names replaced by what they stand for until only knobs, sizes and
  // numbers are left. Empty when that cannot be.
  std::string in_terms(const std::string& expression) const {
    std::string text;
    const std::vector<CppToken> tokens = cpp_tokens(expression);
    for (size_t i = 0; i < tokens.size(); ++i) {
      const std::string word(tokens[i].text);
      if (tokens[i].kind == CppToken::Kind::mark) {
        text += word;
      } else if (tokens[i].kind == CppToken::Kind::number) {
        std::string number = word;
        while (!number.empty() && std::string("uUlL").find(number.back()) != std::string::npos) number.pop_back();
        std::erase(number, '\'');
        text += number;
      } else if (word == "sizeof" && i + 3 < tokens.size() && tokens[i + 1].is("(")) {
        const size_t close = closing(tokens, i + 1);
        std::string type;
        for (size_t k = i + 2; k < close && k < tokens.size(); ++k)
          type += (type.empty() ? "" : " ") + std::string(tokens[k].text);
        const auto element = element_of(resolved_type(type));
        if (!element) return "";
        text += std::to_string(bytes_of(element->type) * element->lanes);
        i = close;
      } else if (std::ranges::find(knob_names_, word) != knob_names_.end() || sizes_.contains(word)) {
        text += word;
      } else if (word == "min" || word == "max" || word == "ceil_div") {
        text += word;
      } else {
        const std::string meaning = depth_ < kDeepest ? meaning_of(word) : "";
        if (meaning.empty()) return "";
        text += "(" + meaning + ")";
      }
    }
    return whole_division(text);
  }

  std::string meaning_of(const std::string& word) const {
    const auto constant = source_.constants.find(word);
    const auto macro = source_.macros.find(word);
    if (constant == source_.constants.end() && macro == source_.macros.end()) return "";
    ++depth_;
    std::string meaning = in_terms(constant != source_.constants.end() ? constant->second : macro->second);
    --depth_;
    return meaning;
  }

  // "(n+256-1)/256" is ceil_div(n,256); another division is left to whoever corrects the manifest.
  static std::string whole_division(const std::string& text) {
    const size_t slash = text.rfind('/');
    if (slash == std::string::npos) return text;
    std::string divisor = text.substr(slash + 1), dividend = text.substr(0, slash);
    if (dividend.size() < 4 || dividend.front() != '(' || dividend.back() != ')') return "";
    dividend = dividend.substr(1, dividend.size() - 2);
    for (const std::string& tail :
         {"+" + divisor + "-1", "+(" + divisor + ")-1", "-1+" + divisor, "+(" + divisor + "-1)"})
      if (dividend.ends_with(tail))
        return "ceil_div(" + dividend.substr(0, dividend.size() - tail.size()) + "," + divisor + ")";
    const auto number = digits(divisor);
    const size_t plus = dividend.rfind('+');
    if (number && plus != std::string::npos && digits(dividend.substr(plus + 1)) == *number - 1)
      return "ceil_div(" + dividend.substr(0, plus) + "," + divisor + ")";
    return "";
  }

  // x, y and z of a grid or block as the host code gives them; empty when it does not say.
  std::vector<std::string> dimensions(const std::string& text) const {
    std::vector<std::string> values;
    if (text.starts_with("dim3(") && text.ends_with(")"))
      values = split_arguments(text.substr(5, text.size() - 6));
    else if (const auto dims = source_.dims.find(text); dims != source_.dims.end())
      values = dims->second;
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
      const std::string bounds = kernel_->launch_bounds.empty() ? "" : in_terms(templated(kernel_->launch_bounds));
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

  std::string templated(const std::string& word) const {
    const auto argument = templates_.find(word);
    return argument == templates_.end() ? word : argument->second;
  }

  std::string product() const {
    std::string text;
    for (size_t i = 0; i < size_names_.size() && i < 2; ++i) text += (i ? " * " : "") + size_names_[i];
    return text;
  }

  void write() {
    OrderedJson json{{"id", result_.id},
                     {"title", result_.entry + " of " + source_name_},
                     {"source", source_name_},
                     {"entry", result_.entry},
                     {"story", ""},
                     {"problem", "custom"},
                     {"sizes", OrderedJson::object()},
                     {"knobs", knobs_}};
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
  mutable int depth_ = 0;
};

}  // namespace

Result<Imported> import_kernel(const std::string& source_name, const std::string& source, const std::string& entry) {
  for (const std::string& text : {source_name, source, entry})
    if (auto text_is = is_text(text, source_name); !text_is) return fail(text_is.error());
  return Importer(source_name, source).import(entry);
}

}  // namespace attnscope::catalog
