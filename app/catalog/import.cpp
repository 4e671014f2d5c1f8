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
#include "catalog/first_sizes.h"
#include "catalog/host_scope.h"
#include "catalog/import_parameters.h"
#include "catalog/manifest_text.h"
#include "catalog/template_arguments.h"
#include "catalog/unset_constants.h"
#include "core/escape.h"
#include "core/joined.h"

namespace attnscope::catalog {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int64_t kUsualBlock = 256, kUsualSide = 16, kMostThreads = 1024;
constexpr int64_t kUsualShared = 16384;
constexpr int kMostAssumed = 8;  // names of one expression
// An id may have 100 bytes, and gets an entry's name or a hash behind it where another kernel has it.
constexpr size_t kLongestTitle = 120, kMaxFileName = 100, kLongestId = 60;
constexpr size_t kMostKnobs = 64;  // a manifest accepts no more
// So that a file of a million launches or names is not searched to its end.
constexpr size_t kMostOffers = 100, kMostNamed = 20;

class Importer {
 public:
  Importer(const std::string& source_name, const std::string& source)
      : source_name_(source_name), read_{source, read_cuda_source(source), HostSource(source)} {}

  Result<Imported> import(const std::string& entry, const std::string& id) {
    if (auto chosen = choose(entry); !chosen) return fail(chosen.error());
    result_.id = id.empty() ? id_of(source_name_) : id;
    find_knobs();
    auto bound = bind_parameters(source_name_, read_, *kernel_, launch_, scope_, result_);
    if (!bound) return fail(bound.error());
    bound_ = std::move(*bound);
    find_launch();
    for (const std::string& name : unset_constants(read_.text))
      result_.guessed.push_back(
          fmt::format("the __constant__ variable {0} holds zeros: a buffer with \"symbol\": \"{0}\" "
                      "gives it what the host code would",
                      name));
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
    for (const SourceLaunch* launch : launches_of_kernel())
      if (!launch_) use(launch);
    result_.entry = kernel_->name;
    return kernel_->template_parameters.empty() ? Result<void>{} : instantiate(entry);
  }

  // Those that the host code does not rule out come first.
  std::vector<const SourceLaunch*> launches_of_kernel() const {
    std::vector<const SourceLaunch*> found;
    for (const SourceLaunch& launch : source_.launches)
      if (found.size() < kMostOffers && launch.kernel == plain_name(kernel_->name)) found.push_back(&launch);
    std::ranges::stable_partition(found, [&](const SourceLaunch* launch) {
      return std::ranges::none_of(launch->branches,
                                  [&](const SourceBranch& branch) { return scope_.contradicts(branch, launch->at); });
    });
    return found;
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
      for (const SourceLaunch* launch : launches_of_kernel())
        offers.push_back({split_arguments(launch->template_arguments), launch});
      offers.push_back({{}, launch_});
    }
    for (const auto& [offer, launch] : offers) {
      use(launch);
      const auto found = template_arguments(*kernel_, offer, open != std::string::npos, launch != nullptr, scope_);
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

  static bool is_knob_name(const std::string& name) {
    return !name.empty() && name[0] >= 'A' && name[0] <= 'Z' && std::ranges::all_of(name, [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
  }

  void find_knobs() {
    for (const auto& [name, value] : source_.settable) {
      if (!is_knob_name(name) || value < 0) continue;
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
    const bool any = !knobs_.empty();
    for (const std::string& name : kernel_->needs) {
      if (source_.macros.contains(name) || scope_.kept.contains(name) || !is_knob_name(name)) continue;
      knobs_.push_back(OrderedJson{{"name", name}, {"values", {1}}, {"default", 1}, {"doc", ""}});
      scope_.kept[name] = 1;
      result_.guessed.push_back(fmt::format("{} is defined as 1: the kernel is within #ifdef {}", name, name));
    }
    if (any) result_.guessed.push_back("the knobs' other values: keep those that the kernel takes");
  }

  // A name that the host code computes in a way that is not followed gets a value, which is said.
  std::string assuming(const HostText& expression, int64_t guess) {
    std::string unknown, text = scope_.in_terms(expression, &unknown);
    for (int i = 0; i < kMostAssumed && text.empty() && !unknown.empty(); ++i) {
      if (!scope_.assumed.emplace(unknown, guess).second) break;
      assumed_.push_back(fmt::format("{} = {}", unknown, guess));
      text = scope_.in_terms(expression, &unknown);
    }
    return text;
  }

  struct Dimensions {
    std::vector<std::string> text;  // x, y and z; empty if the host code does not say
    bool guessed = false;
  };
  // Of a grid or block in the host code; `guess`: of what it leaves open.
  Dimensions dimensions(const std::string& text, bool block) {
    std::vector<HostText> values;
    dims_guessed_ = false;
    if (text.starts_with("dim3(") && text.ends_with(")")) {
      for (const std::string& one : split_arguments(text.substr(5, text.size() - 6)))
        values.push_back({one, scope_.used_at});
    } else if (const auto* dims = named_dims(text)) {
      for (const std::string& one : dims->value) values.push_back({one, dims->at});
    } else {
      values = {{text, scope_.used_at}};
    }
    Dimensions found;
    scope_.take_guessed();
    int64_t threads = 1;
    for (const HostText& value : values) {
      const int64_t guess = !block ? 1 : values.size() > 1 ? kUsualSide : kUsualBlock;
      found.text.push_back(assuming(value, guess));
      const auto now = scope_.now_of(found.text.back());
      if (found.text.back().empty() || (now && *now < 1)) return {};
      threads *= now.value_or(1);
    }
    found.guessed = scope_.take_guessed() || dims_guessed_;
    if (block && threads > kMostThreads) return {};
    while (found.text.size() < 3) found.text.emplace_back("1");
    return found;
  }

  const SourceValues<std::vector<std::string>>::One* named_dims(const std::string& name) {
    const auto* here = source_.dims.find(name, scope_.used_at);
    if (here || source_.constants.find(name, scope_.used_at)) return here;
    const auto* elsewhere = source_.dims.any(name, scope_.used_at);
    dims_guessed_ = elsewhere != nullptr;
    return elsewhere;
  }

  void find_shared() {
    const bool said = launch_ && !launch_->shared.empty() && launch_->shared != "0";
    if (said) {
      scope_.take_guessed();
      shared_ = assuming({launch_->shared, scope_.used_at}, kUsualBlock);
      if (!shared_.empty()) note(scope_.take_guessed(), fmt::format("dynamic shared memory: {} bytes", shared_));
    }
    if (!shared_.empty() || !declares_dynamic_shared()) return;
    shared_ = std::to_string(kUsualShared);
    result_.guessed.push_back(
        fmt::format("dynamic shared memory: {} bytes; the kernel declares some, and {}", shared_,
                    said ? "the host code computes how much (" + launch_->shared + ")" : "no launch says how much"));
  }

  // `extern __shared__ float s[];` in the kernel's body.
  bool declares_dynamic_shared() const {
    const std::vector<CppToken> tokens =
        cpp_tokens(std::string_view(read_.text).substr(kernel_->body, kernel_->end - kernel_->body));
    for (size_t i = 0; i + 1 < tokens.size(); ++i)
      if (tokens[i].is("extern") && tokens[i + 1].is("__shared__")) return true;
    return false;
  }

  void note(bool guessed, std::string text) {
    if (guessed && !assumed_.empty()) text += fmt::format(" (with {}, which the host code computes)", joined(assumed_));
    (guessed ? result_.guessed : result_.read).push_back(std::move(text));
    assumed_.clear();
  }

  void find_launch() {
    Dimensions grid, block;
    if (launch_) {
      block = dimensions(launch_->block, true);
      if (!block.text.empty())
        note(block.guessed,
             fmt::format("the block: {} x {} x {} threads", block.text[0], block.text[1], block.text[2]));
      grid = dimensions(launch_->grid, false);
    }
    block_ = block.text;
    grid_ = grid.text;
    if (block_.empty()) {
      const std::string bounds = kernel_->launch_bounds.empty() ? "" : scope_.in_terms(kernel_->launch_bounds);
      const std::string side = std::to_string(kUsualSide);
      std::set<std::string_view> seen;
      if (!bounds.empty())
        block_ = {bounds, "1", "1"};
      else if (uses_second_axis(kernel_->body, kernel_->end, seen))
        block_ = {side, side, "1"};
      else
        block_ = {std::to_string(kUsualBlock), "1", "1"};
      if (bounds.empty())
        result_.guessed.push_back(
            block_[1] == "1" ? fmt::format("the block: {} threads", kUsualBlock)
                             : fmt::format("the block: {} x {} threads, since it uses threadIdx.y", side, side));
      else
        result_.read.push_back("the block, from __launch_bounds__: " + bounds + " threads");
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
      note(grid.guessed, fmt::format("the grid: {} x {} x {} CTAs", grid_[0], grid_[1], grid_[2]));
    }
    find_shared();
  }

  // Whether the code in these bytes, or a function of the file that it names, uses threadIdx.y or blockDim.y.
  bool uses_second_axis(size_t begin, size_t end, std::set<std::string_view>& seen) const {
    const std::vector<CppToken> tokens = cpp_tokens(std::string_view(read_.text).substr(begin, end - begin));
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].kind != CppToken::Kind::word) continue;
      const bool of_block = tokens[i].is("threadIdx") || tokens[i].is("blockDim");
      if (of_block && i + 2 < tokens.size() && tokens[i + 1].is(".") && tokens[i + 2].is("y")) return true;
      const HostFunction* const called =
          seen.size() < kMostOffers ? read_.host.function_named(tokens[i].text) : nullptr;
      if (called && seen.insert(called->name).second && uses_second_axis(called->begin, called->end, seen)) return true;
    }
    return false;
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
    const auto cutlass = [](const std::string& name) {
      return name.starts_with("cute/") || name.starts_with("cutlass/");
    };
    if (std::ranges::any_of(source_.included, cutlass)) {
      json["headers"] = OrderedJson::array({"cutlass"});
      result_.read.push_back("it includes CUTLASS' headers");
    }
    for (const auto& [name, value] : bound_.sizes) json["sizes"][name] = value;
    json["buffers"] = std::move(bound_.buffers);
    json["launch"] = {{"grid", grid_}, {"block", block_}};
    if (!shared_.empty()) json["launch"]["dynamic_shared"] = shared_;
    json["args"] = std::move(bound_.arguments);
    json["reference"] = "none";
    result_.manifest = manifest_text(json);
  }

  const std::string source_name_;
  const ReadSource read_;
  const CudaSource& source_ = read_.cuda;
  HostScope scope_{read_.cuda, read_.host};
  Imported result_;
  const SourceKernel* kernel_ = nullptr;
  const SourceLaunch* launch_ = nullptr;
  OrderedJson knobs_ = OrderedJson::array();
  BoundParameters bound_;
  std::vector<std::string> grid_, block_;
  std::string shared_;
  std::vector<std::string> assumed_;  // since the last note
  bool dims_guessed_ = false;         // the last named grid or block is another function's
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

std::string id_of(const std::string& source_name) {
  std::string stem = std::filesystem::path(source_name).stem().string();
  size_t digits = 0;
  while (digits < stem.size() && stem[digits] >= '0' && stem[digits] <= '9') ++digits;
  if (digits > 0 && digits + 1 < stem.size() && stem[digits] == '_') stem = stem.substr(digits + 1);
  for (char& c : stem)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') c = '_';
  return stem.empty() ? "kernel" : stem.substr(0, kLongestId);
}

std::string id_with_entry(const Imported& imported) {
  std::string id = imported.id + "_" + imported.entry.substr(0, imported.entry.find('<'));
  for (char& c : id)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') c = '_';
  return id;
}

Result<Imported> import_kernel(const std::string& source_name, const std::string& source, const std::string& entry,
                               const std::string& id) {
  for (const std::string& text : {source_name, source, entry})
    if (auto text_is = is_text(text, source_name); !text_is) return fail(text_is.error());
  auto imported = Importer(source_name, source).import(entry, id);
  if (imported) lower_sizes(*imported, source_name, source);
  return imported;
}

}  // namespace attnscope::catalog
