#include "catalog/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "catalog/cuda_source.h"
#include "catalog/element_types.h"
#include "catalog/host_scope.h"
#include "catalog/manifest_text.h"
#include "catalog/template_arguments.h"
#include "core/escape.h"
#include "core/joined.h"
#include "core/workload.h"

namespace attnscope::catalog {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int64_t kUsualSize = 1024, kUsualBlock = 256;
constexpr size_t kLongestTitle = 120, kMaxFileName = 100;
// A manifest accepts no more knobs and arguments; the other limits keep a file of a million launches or names from
// being searched to its end.
constexpr size_t kMostKnobs = 64, kMostArguments = 256, kMostOffers = 100, kMostNamed = 20;

std::string id_of(const std::string& source_name) {
  std::string stem = std::filesystem::path(source_name).stem().string();
  size_t digits = 0;
  while (digits < stem.size() && stem[digits] >= '0' && stem[digits] <= '9') ++digits;
  if (digits > 0 && digits + 1 < stem.size() && stem[digits] == '_') stem = stem.substr(digits + 1);
  for (char& c : stem)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') c = '_';
  return stem.empty() ? "kernel" : stem;
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
      if (!launch_ && launch.kernel == plain_name(kernel_->name)) use(&launch);
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
      use(launch);
      const auto found = template_arguments(*kernel_, offer, open != std::string::npos, scope_);
      if (!found) continue;
      for (size_t i = 0; i < found->values.size() && i < kernel_->template_parameters.size(); ++i)
        scope_.templates[kernel_->template_parameters[i].name] = found->values[i];
      result_.entry += "<" + joined(found->values) + ">";
      if (found->guessed)
        result_.guessed.push_back("the template's arguments: <" + joined(found->values) + ">, since " +
                                  (offer.empty() ? "no launch says them" : "its launch says <" + joined(offer) + ">"));
      return {};
    }
    const auto declared = [](const TemplateParameter& one) { return one.kind + " " + one.name; };
    const auto usual = [](const TemplateParameter& one) {
      return is_type_parameter(one) ? "float" : one.kind.ends_with("bool") ? "true" : "128";
    };
    const std::string parameters = joined(kernel_->template_parameters, declared);
    const std::string example = joined(kernel_->template_parameters, usual);
    const std::string said =
        offers.front().values.empty() ? "no launch says of what" : "its launch depends on the code around it";
    return fail(Stage::input, fmt::format("{} is a template of <{}>, and {}", kernel_->name, parameters, said),
                fmt::format("Name it with its arguments, say --entry \"{}<{}>\".", kernel_->name, example));
  }

  void use(const SourceLaunch* launch) {
    launch_ = launch;
    scope_.used_at = launch ? launch->at : SIZE_MAX;
  }

  static std::string plain_name(const std::string& name) {
    return name.substr(name.rfind(':') == std::string::npos ? 0 : name.rfind(':') + 1);
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
      scope_.kept[name] = value;
      result_.read.push_back(
          fmt::format("{} = {} may be set from outside: a knob with {} values", name, value, values.size()));
    }
    if (!knobs_.empty()) result_.guessed.push_back("the knobs' other values: keep those that the kernel takes");
  }

  bool is_size(const SourceParameter& parameter) const {
    const auto element = element_of(scope_.resolved_type(parameter.type));
    return !parameter.pointer && element && element->lanes == 1 && !is_floating(element->type) &&
           bytes_of(element->type) >= 4;
  }

  void find_sizes() {
    for (const SourceParameter& parameter : kernel_->parameters) {
      if (!is_size(parameter) || std::ranges::find(knob_names_, parameter.name) != knob_names_.end()) continue;
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
        result_.read.push_back(fmt::format("{} is {} in the host code", parameter.name, value));
      else
        result_.guessed.push_back(fmt::format("the size {} = {}", parameter.name, value));
    }
    if (!size_names_.empty()) return;
    add_size("elements", kUsualSize);
    result_.guessed.push_back(fmt::format("the buffers' length: {} elements, since no parameter says it", kUsualSize));
  }

  void add_size(const std::string& name, int64_t value) {
    size_names_.push_back(name);
    sizes_[name] = value;
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

  Result<void> bind_parameters() {
    if (kernel_->parameters.size() > kMostArguments)
      return fail(Stage::input,
                  fmt::format("{}: {} has {} parameters", source_name_, kernel_->name, kernel_->parameters.size()),
                  fmt::format("A kernel that is run here has at most {}: pass a struct.", kMostArguments));
    find_sizes();
    for (const SourceParameter& parameter : kernel_->parameters) {
      const std::string type = scope_.resolved_type(parameter.type);
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
    if (std::ranges::none_of(buffers_, [](const OrderedJson& one) { return one["role"] != word_of(BufferRole::in); }))
      return fail(Stage::input,
                  fmt::format("{}: {} has no pointer that it may write through", source_name_, kernel_->name),
                  "A kernel's output is a pointer to something that is not const.");
    return {};
  }

  // The kernel gets the buffer as an argument of its own.
  void add_buffer(const SourceParameter& parameter, const ElementOf& element) {
    declare_buffer(parameter, element);
    arguments_.push_back(parameter.name);
  }

  void declare_buffer(const SourceParameter& parameter, const ElementOf& element) {
    OrderedJson shape = shape_of(parameter);
    if (element.lanes > 1) shape.push_back(std::to_string(element.lanes));
    const char* role = parameter.constant ? "in" : "inout";
    buffers_.push_back({{"name", parameter.name},
                        {"role", role},
                        {"dtype", word_of(element.type)},
                        {"shape", shape},
                        {"init", parameter.constant ? "random" : "zeros"}});
    result_.guessed.push_back(fmt::format(
        "{} is {} of {} elements", parameter.name,
        parameter.constant ? "an input" : "written (and starts as zeros: make it \"out\" if every element is written)",
        shape.dump()));
  }

  // An array of structs whose members have one type is an array of that type.
  void add_struct_buffer(const SourceParameter& parameter, const std::vector<SourceParameter>& members) {
    const auto first = members.empty() ? std::nullopt : element_of(scope_.resolved_type(members.front().type));
    const bool uniform = first && std::ranges::all_of(members, [&](const SourceParameter& one) {
                           const auto element = element_of(scope_.resolved_type(one.type));
                           return !one.pointer && element && element->type == first->type && element->lanes == 1;
                         });
    add_buffer(parameter,
               uniform ? ElementOf{first->type, static_cast<int64_t>(members.size())} : ElementOf{ElementType::u8, 64});
    if (!uniform) result_.guessed.push_back(parameter.name + ": an array of structs, given as 64 bytes each");
  }

  // The rows and columns that the sizes' names suggest. With M, N and K it is taken as a product C = A·B, by the last
  // letter of the parameter's name: A, d_A or matA is [M, K], one that ends in B is [K, N], any other is [M, N].
  // Otherwise the first two sizes.
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
    arguments_.push_back(OrderedJson{{"value", 1}, {"type", word_of(type)}});
    result_.guessed.push_back(fmt::format("{} is passed as 1", parameter.name));
  }

  void add_untyped_buffer(const SourceParameter& parameter) {
    declare_untyped_buffer(parameter);
    arguments_.push_back(parameter.name);
  }

  void declare_untyped_buffer(const SourceParameter& parameter) {
    declare_buffer(parameter, {ElementType::f32});
    result_.guessed.push_back(parameter.name + " points to floats: its type does not say");
  }

  static OrderedJson ones(ElementType type, int64_t count) {
    OrderedJson fields = OrderedJson::array();
    for (int64_t i = 0; i < count; ++i) fields.push_back(OrderedJson{{"value", 1}, {"type", word_of(type)}});
    return fields;
  }

  void add_vector(const SourceParameter& parameter, const ElementOf& element) {
    arguments_.push_back(OrderedJson{{"struct", ones(element.type, element.lanes)}});
    result_.guessed.push_back(fmt::format("the {} members of {} are passed as 1", element.lanes, parameter.name));
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
    arguments_.push_back(OrderedJson{{"struct", fields}});
    if (numbers > 0)
      result_.guessed.push_back(fmt::format("the {} members of {} are passed as 1", numbers, parameter.name));
  }

  // x, y and z of a grid or block in the host code; empty if it does not say.
  std::vector<std::string> dimensions(const std::string& text) const {
    std::vector<std::string> values;
    if (text.starts_with("dim3(") && text.ends_with(")"))
      values = split_arguments(text.substr(5, text.size() - 6));
    else if (const auto* dims = source_.dims.find(text, scope_.used_at))
      values = *dims;
    else
      values = {text};
    for (std::string& value : values) value = scope_.in_terms(value);
    if (std::ranges::any_of(values, [](const std::string& one) { return one.empty(); })) return {};
    while (values.size() < 3) values.emplace_back("1");
    return values;
  }

  void find_launch() {
    if (launch_) {
      grid_ = dimensions(launch_->grid);
      block_ = dimensions(launch_->block);
      if (!launch_->shared.empty() && launch_->shared != "0") {
        shared_ = scope_.in_terms(launch_->shared);
        if (shared_.empty())
          result_.guessed.push_back("no dynamic shared memory: the host code computes it (" + launch_->shared + ")");
        else
          result_.read.push_back("dynamic shared memory: " + shared_ + " bytes");
      }
    }
    if (block_.empty()) {
      const std::string bounds = kernel_->launch_bounds.empty() ? "" : scope_.in_terms(kernel_->launch_bounds);
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
    result_.manifest = manifest_text(json);
  }

  const std::string source_name_;
  const CudaSource source_;
  HostScope scope_{source_};
  Imported result_;
  const SourceKernel* kernel_ = nullptr;
  const SourceLaunch* launch_ = nullptr;
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
