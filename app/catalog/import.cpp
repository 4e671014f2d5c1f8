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
#include "catalog/deduced_types.h"
#include "catalog/element_types.h"
#include "catalog/first_sizes.h"
#include "catalog/host_scope.h"
#include "catalog/import_constants.h"
#include "catalog/import_knobs.h"
#include "catalog/import_launch.h"
#include "catalog/import_parameters.h"
#include "catalog/import_program.h"
#include "catalog/import_sizes.h"
#include "catalog/import_values.h"
#include "catalog/launched_alias.h"
#include "catalog/manifest_text.h"
#include "catalog/source_files.h"
#include "catalog/stand_in_size.h"
#include "catalog/struct_parameters.h"
#include "catalog/template_arguments.h"
#include "catalog/template_guess.h"
#include "core/escape.h"
#include "core/joined.h"

namespace attnscope::catalog {
namespace {

using OrderedJson = nlohmann::ordered_json;

// An id may have 100 bytes, and an entry's name or a hash is appended if another kernel has it.
constexpr size_t kLongestTitle = 120, kMaxFileName = 100, kLongestId = 60;
// Limits the search in a file with a million launches or names.
constexpr size_t kMostOffers = 100, kMostNamed = 20, kMostLookedAt = 8;

class Importer {
 public:
  Importer(const std::string& source_name, const std::string& source, const std::string& launcher, int guess)
      : source_name_(source_name), read_(read_source(source, launcher)), template_guess_(guess) {}

  Result<Imported> import(const std::string& entry, const std::string& id, const std::string& function) {
    result_.id = id.empty() ? id_of(source_name_) : id;
    if (!function.empty()) return program_of(function);
    if (auto chosen = choose(entry); !chosen) return fail(chosen.error());
    result_.launched = launch_ != nullptr;
    result_.launched_elsewhere = launch_ && launch_->at != SIZE_MAX && launch_->at >= read_.own;
    if (entry.empty() && launch_ && launch_->at != SIZE_MAX && launch_->at < read_.own) {
      if (const HostFunction* const around = program_around(read_, scope_, launch_->at)) {
        auto program = import_program(source_name_, read_, *around, result_.id);
        if (program) return program;
        result_.guessed.push_back("it is run without the others: " + program.error().message);
      }
    }
    find_programs();
    flatten_structs();
    knobs_ = import_knobs(source_, {kernel_}, scope_, result_);
    auto bound = bind_parameters(source_name_, read_, *kernel_, launch_, scope_, result_);
    if (!bound) return fail(bound.error());
    bound_ = std::move(*bound);
    shape_ = import_shape(read_, *kernel_, launch_, bound_.size_names, &bound_.sizes, scope_, result_);
    fix_sizes();
    import_constants(read_, scope_, bound_.buffers, result_);
    write();
    return std::move(result_);
  }

 private:
  void flatten_structs() {
    const auto kernel = static_cast<size_t>(kernel_ - source_.kernels.data());
    const size_t launch = launch_ ? static_cast<size_t>(launch_ - source_.launches.data()) : SIZE_MAX;
    if (!structs_.put_members_in(read_, kernel, launch, scope_)) return;
    kernel_ = &source_.kernels[kernel];
    launch_ = launch_ ? &source_.launches[launch] : nullptr;
  }

  // A size that neither the grid nor a length follows, although the host code computes them from the same names, is no
  // size: another value would be another kernel's.
  void fix_sizes() {
    if (!launch_) return;
    scope_.take_names();
    HostScope::Names of_launch = bound_.names;
    of_launch.merge(shape_.names);
    for (size_t i = 0; i < kernel_->parameters.size() && i < bound_.arguments.size(); ++i) {
      const SourceParameter& parameter = kernel_->parameters[i];
      const auto size = bound_.sizes.find(parameter.name);
      if (size == bound_.sizes.end() || bound_.arguments[i] != parameter.name || is_followed(parameter.name, i))
        continue;
      const HostText passed = argument_of(*kernel_, launch_, parameter);
      const auto number = passed.text.empty() ? std::nullopt : scope_.number_of(passed.text);
      const HostScope::Names own = scope_.take_names();
      const bool together = std::ranges::any_of(own, [&](const auto& name) { return of_launch.contains(name); });
      const auto element = element_of(scope_.resolved_type(parameter.type));
      if (!number || *number != size->second || !together || !element) continue;
      bound_.arguments[i] = value_argument(static_cast<double>(size->second), element->type);
      bound_.sizes.erase(size);
      std::erase(bound_.size_names, parameter.name);
      result_.open_sizes.erase(parameter.name);
      for (auto* notes : {&result_.read, &result_.guessed})
        std::erase_if(*notes, [&](const std::string& one) {
          return one.starts_with(parameter.name + " is ") && one.ends_with("in the host code");
        });
      result_.read.push_back(
          fmt::format("{} is {} at the launch and no size: the grid and the lengths come from the "
                      "same names ({}) in a way that is not followed",
                      parameter.name, number.value(), passed.text));
    }
  }

  // True if something else than its own argument names the size.
  bool is_followed(const std::string& size, size_t argument) const {
    OrderedJson all = {shape_.grid, shape_.block, shape_.shared};
    for (const OrderedJson& one : bound_.buffers) all.push_back(one["shape"]);
    for (size_t i = 0; i < bound_.arguments.size(); ++i)
      if (i != argument) all.push_back(bound_.arguments[i]);
    const std::string text = all.dump();
    return std::ranges::any_of(cpp_tokens(text), [&](const CppToken& token) {
      return std::ranges::any_of(cpp_tokens(token.text.substr(token.text.starts_with('"'))),
                                 [&](const CppToken& inner) { return inner.is(size); });
    });
  }

  Result<Imported> program_of(const std::string& name) {
    const HostFunction* const function = read_.host.function_named(name);
    if (!function)
      return fail(Stage::input, source_name_ + " has no function " + name,
                  "Name a host function that launches kernels, such as main.");
    return import_program(source_name_, read_, *function, result_.id);
  }

  // Finds the functions with several launches that make a program.
  void find_programs() {
    std::map<const HostFunction*, size_t> launches;
    for (const SourceLaunch& launch : source_.launches)
      if (const HostFunction* const function = launch.at < read_.own ? read_.host.function_at(launch.at) : nullptr)
        ++launches[function];
    size_t looked_at = 0;
    for (const auto& [function, count] : launches)
      if (count > 1 && ++looked_at <= kMostLookedAt && HostProgram(read_, scope_, *function).hands_on(false))
        result_.programs.push_back(function->name);
  }

  // Chooses the kernel of `ns::k<float, 4>` in the request, or the one that the host code launches.
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
      const bool launched = launched_names.contains(plain_kernel_name(kernel.name));
      const bool named = kernel.name == wanted || plain_kernel_name(kernel.name) == wanted;
      // A header that is pasted in may have another one of the name, as an earlier version of the kernel.
      const bool nearer = !kernel_ || (is_own(kernel.body) && !is_own(kernel_->body));
      if (entry.empty() ? launched && !kernel_ : named && nearer) kernel_ = &kernel;
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

  // Of the file itself, and not of a header.
  bool is_own(size_t at) const { return files_.file_at(at) == files_.first(); }

  // Those in the kernel's own file come first, and before them the ones that the host code does not rule out.
  std::vector<const SourceLaunch*> launches_of_kernel() const {
    std::vector<const SourceLaunch*> found;
    for (const SourceLaunch& launch : source_.launches)
      if (found.size() < kMostOffers && launch.kernel == plain_kernel_name(kernel_->name)) found.push_back(&launch);
    const std::string_view file = files_.file_at(kernel_->body);
    std::ranges::stable_partition(found, [&](const SourceLaunch* launch) {
      return launch->at != SIZE_MAX && files_.file_at(launch->at) == file;
    });
    std::ranges::stable_partition(found, [&](const SourceLaunch* launch) {
      return std::ranges::none_of(launch->branches,
                                  [&](const SourceBranch& branch) { return scope_.contradicts(branch, launch->at); });
    });
    return found;
  }

  // Of other kernels whose templates have parameters of the same names, such as the next version of one kernel.
  std::vector<std::pair<const SourceKernel*, const SourceLaunch*>> launches_of_twins() const {
    std::vector<std::pair<const SourceKernel*, const SourceLaunch*>> found;
    const auto name = [](const TemplateParameter& one) { return one.name; };
    for (const SourceLaunch& launch : source_.launches) {
      const auto defined = source_.defined.find(launch.kernel);
      if (defined == source_.defined.end() || found.size() == kMostOffers) continue;
      const SourceKernel& other = source_.kernels[defined->second];
      if (&other != kernel_ &&
          std::ranges::equal(other.template_parameters, kernel_->template_parameters, {}, name, name))
        found.emplace_back(&other, &launch);
    }
    return found;
  }

  // Puts the types in place of the names that the launching function has for them.
  std::map<std::string, std::string> follow_aliases(const SourceLaunch& launch,
                                                    std::vector<std::string>& values) const {
    std::map<std::string, std::string> numbers;
    const size_t space = kernel_->name.size() - plain_kernel_name(kernel_->name).size();
    for (size_t i = 0; i < values.size() && i < kernel_->template_parameters.size(); ++i) {
      if (!is_type_parameter(kernel_->template_parameters[i]) || !source_.types.contains(values[i])) continue;
      auto alias = launched_alias(read_, launch, values[i], kernel_->name.substr(0, space));
      if (!alias) continue;
      values[i] = std::move(alias->type);
      numbers.merge(alias->numbers);
    }
    return numbers;
  }

  // Finds the template's arguments: from the request, from a launch that has them all, otherwise the parameters'
  // defaults.
  Result<void> instantiate(const std::string& entry) {
    struct Offer {
      std::vector<std::string> values;
      const SourceLaunch* launch = nullptr;
      const SourceKernel* twin = nullptr;               // whose launch it is, if it is another kernel's
      std::map<std::string, std::string> numbers = {};  // of the launching function's template
    };
    std::vector<Offer> offers;
    const size_t open = entry.find('<');
    if (open != std::string::npos) {
      offers.push_back({split_arguments(entry.substr(open + 1, entry.rfind('>') - open - 1)), launch_});
    } else {
      for (const SourceLaunch* launch : launches_of_kernel())
        offers.push_back({split_arguments(launch->template_arguments), launch});
      for (size_t i = 0; i < offers.size() && i < kMostLookedAt; ++i)
        offers[i].numbers = follow_aliases(*offers[i].launch, offers[i].values);
      for (const SourceInstance& one : source_.instances)
        if (offers.size() < 2 * kMostOffers && one.kernel == plain_kernel_name(kernel_->name))
          offers.push_back({split_arguments(one.template_arguments), launch_});
      offers.push_back({{}, launch_});
      if (!launch_)
        for (const auto& [twin, launch] : launches_of_twins())
          offers.push_back({split_arguments(launch->template_arguments), launch, twin});
    }
    for (const auto& [offer, launch, twin, numbers] : offers) {
      use(launch);
      auto found = template_arguments(*kernel_, offer, open != std::string::npos, launch != nullptr, scope_,
                                      template_guess_, deduced_types(read_, twin ? *twin : *kernel_, launch));
      if (twin) use(nullptr);
      if (!found) continue;
      found->guessed = found->guessed || twin;
      scope_.templates = found->by_name;
      for (auto& [name, value] : scope_.templates) value.guessed = value.guessed || twin;
      for (const auto& [name, number] : numbers) scope_.templates.emplace(name, TemplateValue{number});
      result_.entry += "<" + joined(found->values) + ">";
      if (found->guessed)
        result_.guessed.push_back(kTemplateSaid + ("<" + joined(found->values) + ">, since " +
                                                   (twin            ? "those of " + twin->name + " are so at its launch"
                                                    : offer.empty() ? "no launch says them"
                                                                    : "its launch says <" + joined(offer) + ">")));
      return {};
    }
    const auto declared = [](const TemplateParameter& one) { return one.kind + " " + one.name; };
    // A functor or an enumerator has no usual name: its parameter's stands for it.
    const auto usual = [this](const TemplateParameter& one) {
      const std::string guess = template_guess(one, 0);
      const bool is_number = !is_type_parameter(one) && !guess.empty();
      const bool is_pointed_to = std::ranges::any_of(
          kernel_->parameters, [&](const SourceParameter& p) { return p.pointer && p.type == one.name; });
      return is_number || is_pointed_to ? guess : one.name;
    };
    const std::string parameters = joined(kernel_->template_parameters, declared);
    const std::string example = joined(kernel_->template_parameters, usual);
    const bool open_names = std::ranges::any_of(kernel_->template_parameters,
                                                [&](const TemplateParameter& one) { return usual(one) == one.name; });
    const std::string said =
        offers.front().values.empty() ? "no launch says of what" : "its launch depends on the code around it";
    return fail(Stage::input, fmt::format("{} is a template of <{}>, and {}", kernel_->name, parameters, said),
                fmt::format("Name it with its arguments, say --entry \"{}<{}>\"{}.", kernel_->name, example,
                            open_names ? ", with types or values where that has the parameters' names" : ""));
  }

  void use(const SourceLaunch* launch) {
    launch_ = launch;
    scope_.used_at = launch ? launch->at : SIZE_MAX;
  }

  // One line of the ladder; a template's arguments may be a page long.
  std::string title() const {
    const std::string whole = result_.entry + " of " + source_name_;
    if (whole.size() <= kLongestTitle) return one_line(whole);
    return one_line((kernel_->name + " of " + source_name_).substr(0, kLongestTitle));  // the cut may split a character
  }

  void write() {
    OrderedJson json{
        {"id", result_.id}, {"title", title()},    {"source", source_name_},         {"entry", result_.entry},
        {"story", ""},      {"problem", "custom"}, {"sizes", OrderedJson::object()}, {"knobs", knobs_}};
    if (includes_cutlass(source_)) {
      json["headers"] = OrderedJson::array({"cutlass"});
      result_.read.push_back("it includes CUTLASS' headers");
    }
    for (const auto& [name, value] : bound_.sizes) json["sizes"][name] = value;
    json["buffers"] = std::move(bound_.buffers);
    json["launch"] = {{"grid", shape_.grid}, {"block", shape_.block}};
    if (!shape_.shared.empty()) json["launch"]["dynamic_shared"] = shape_.shared;
    if (shape_.cooperative) json["launch"]["cooperative"] = true;
    json["args"] = structs_.put_together(bound_.arguments, result_);
    json["reference"] = "none";
    drop_stand_in(json, result_);
    result_.manifest = manifest_text(json);
  }

  const std::string source_name_;
  ReadSource read_;
  const SourceFiles files_{read_.text};
  const int template_guess_;
  const CudaSource& source_ = read_.cuda;
  HostScope scope_{read_.cuda, read_.host};
  Imported result_;
  const SourceKernel* kernel_ = nullptr;
  const SourceLaunch* launch_ = nullptr;
  OrderedJson knobs_ = OrderedJson::array();
  StructParameters structs_;
  BoundParameters bound_;
  ImportedShape shape_;
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
  while (true) {  // "13_1_streams" gives streams, because an id does not begin with a number
    size_t digits = 0;
    while (digits < stem.size() && stem[digits] >= '0' && stem[digits] <= '9') ++digits;
    if (digits == 0 || digits + 1 >= stem.size() || stem[digits] != '_') break;
    stem = stem.substr(digits + 1);
  }
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
                               const std::string& id, const std::string& function, const std::string& launcher,
                               int template_guess) {
  for (const std::string& text : {source_name, source, entry, function, launcher})
    if (auto text_is = is_text(text, source_name); !text_is) return fail(text_is.error());
  auto imported = Importer(source_name, source, launcher, template_guess).import(entry, id, function);
  if (imported) lower_sizes(*imported, source_name, source);
  return imported;
}

}  // namespace attnscope::catalog
