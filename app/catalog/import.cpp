#include "catalog/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "catalog/cuda_source.h"
#include "catalog/host_scope.h"
#include "catalog/import_parameters.h"
#include "catalog/manifest_text.h"
#include "catalog/template_arguments.h"
#include "core/escape.h"
#include "core/joined.h"

namespace attnscope::catalog {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int64_t kUsualBlock = 256;
constexpr size_t kLongestTitle = 120, kMaxFileName = 100;
constexpr size_t kMostKnobs = 64;  // a manifest accepts no more
// So that a file of a million launches or names is not searched to its end.
constexpr size_t kMostOffers = 100, kMostNamed = 20;

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
    auto bound = bind_parameters(source_name_, source_, *kernel_, scope_, result_);
    if (!bound) return fail(bound.error());
    bound_ = std::move(*bound);
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
      scope_.kept[name] = value;
      result_.read.push_back(
          fmt::format("{} = {} may be set from outside: a knob with {} values", name, value, values.size()));
    }
    if (!knobs_.empty()) result_.guessed.push_back("the knobs' other values: keep those that the kernel takes");
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
      const bool flat = block_[1] == "1" || bound_.size_names.size() < 2;
      if (flat)
        grid_ = {fmt::format("ceil_div({}, {})", product(), block_[0]), "1", "1"};
      else
        grid_ = {fmt::format("ceil_div({}, {})", bound_.size_names[1], block_[0]),
                 fmt::format("ceil_div({}, {})", bound_.size_names[0], block_[1]), "1"};
      result_.guessed.push_back("the grid: " + grid_[0] + " x " + grid_[1] + " x " + grid_[2] + " CTAs");
    } else {
      result_.read.push_back(fmt::format("the grid: {} x {} x {} CTAs", grid_[0], grid_[1], grid_[2]));
    }
  }

  std::string product() const {
    std::string text;
    for (size_t i = 0; i < bound_.size_names.size() && i < 2; ++i) text += (i ? " * " : "") + bound_.size_names[i];
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
    for (const auto& [name, value] : bound_.sizes) json["sizes"][name] = value;
    json["buffers"] = std::move(bound_.buffers);
    json["launch"] = {{"grid", grid_}, {"block", block_}};
    if (!shared_.empty()) json["launch"]["dynamic_shared"] = shared_;
    json["args"] = std::move(bound_.arguments);
    json["reference"] = "none";
    result_.manifest = manifest_text(json);
  }

  const std::string source_name_;
  const CudaSource source_;
  HostScope scope_{source_};
  Imported result_;
  const SourceKernel* kernel_ = nullptr;
  const SourceLaunch* launch_ = nullptr;
  OrderedJson knobs_ = OrderedJson::array();
  BoundParameters bound_;
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
