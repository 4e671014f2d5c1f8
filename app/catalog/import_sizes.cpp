#include "catalog/import_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <ranges>
#include <string_view>
#include <utility>

#include "catalog/element_types.h"
#include "catalog/import_values.h"
#include "catalog/stand_in_size.h"

namespace attnscope::catalog {
namespace {

constexpr int64_t kUsualSize = 1024, kUsualWidth = 64, kUsualCount = 4, kUsualReach = 3;
constexpr size_t kMostOfUsual = 6;   // members of a struct; more are not multiplied at a usual size each
constexpr int64_t kUsualOfMany = 8;  // of them

// True for how far a filter or a step reaches: kernelRadius, mask_width, stride_h, padding.
bool is_reach(const std::string& name) {
  std::string plain;
  for (const char c : in_capitals(name))
    if (c != '_') plain += c;
  static constexpr std::array<std::string_view, 14> parts{
      "RADIUS",   "KERNELSIZE", "KERNELWIDTH", "KERNELHEIGHT", "FILTERSIZE", "FILTERWIDTH", "FILTERHEIGHT",
      "MASKSIZE", "MASKWIDTH",  "KSIZE",       "DILATION",     "PADDING",    "WINDOWSIZE",  "STENCILSIZE"};
  static const std::set<std::string_view> whole{"STRIDEH", "STRIDEW", "PADH", "PADW", "KW", "KH"};
  return whole.contains(plain) ||
         std::ranges::any_of(parts, [&](std::string_view part) { return plain.find(part) != plain.npos; });
}

class SizeFinder {
 public:
  SizeFinder(const SourceKernel& kernel, const SourceLaunch* launch, HostScope& scope, BoundParameters& bound,
             Imported& imported)
      : kernel_(kernel), launch_(launch), scope_(scope), bound_(bound), imported_(imported) {}

  KernelSizes find() {
    find_all();
    return std::move(found_);
  }

 private:
  bool is_size_type_here(const SourceParameter& parameter) const {
    return is_size_type(parameter, scope_) && !found_.fixed.contains(parameter.name);
  }

  // Whole numbers that are not sizes: 0 or less at the launch, or an index by their name.
  void find_fixed() {
    bool any_left = false;
    std::set<std::string> none, indices;
    for (const SourceParameter& parameter : kernel_.parameters) {
      if (!is_size_type(parameter, scope_)) continue;
      const auto element = element_of(scope_.resolved_type(parameter.type));
      const auto passed = passed_number(argument_of(kernel_, launch_, parameter), element->type, scope_);
      const bool said = passed && !passed->guessed, nothing = said && passed->number <= 0;
      const bool index = counts_nothing(parameter.name);
      any_left = any_left || (!index && !nothing);
      if (scope_.kept.contains(parameter.name)) continue;
      if (nothing) none.insert(parameter.name);
      if (index && !said) indices.insert(parameter.name);
    }
    found_.fixed = std::move(indices);
    if (any_left) found_.fixed.merge(none);
  }

  // A size's value is what the launch passes for it, otherwise a constant or macro with its name. A number that the
  // host code computes from other sizes is not a size; it follows from them.
  void find_all() {
    find_fixed();
    size_t unknown = 0;
    for (const SourceParameter& parameter : kernel_.parameters)
      unknown += is_size_type_here(parameter) && !scope_.kept.contains(parameter.name) && !value_of(parameter).first;
    for (const SourceParameter& parameter : kernel_.parameters) {
      if (!is_size_type_here(parameter) || scope_.kept.contains(parameter.name)) continue;
      const HostText passed = argument_of(kernel_, launch_, parameter);
      const auto [value, certain] = value_of(parameter);
      add_size(parameter.name, value.value_or(usual_size_of(parameter, unknown)), passed.text);
      if (value && certain)
        imported_.read.push_back(fmt::format("{} is {} in the host code", parameter.name, *value));
      else
        guess_size(parameter.name, value ? ", as elsewhere in the host code" : "");
    }
    // All sizes are known by name only now.
    for (const SourceParameter& parameter : kernel_.parameters) follow(parameter);
    // A formula may contain a size that got a formula after it.
    for (const SourceParameter& parameter : kernel_.parameters | std::views::reverse)
      if (const auto one = found_.formulas.find(parameter.name); one != found_.formulas.end())
        one->second = expanded(one->second);
    std::map<std::string, std::string> passed;
    for (const SourceParameter& parameter : kernel_.parameters)
      if (bound_.sizes.contains(parameter.name))
        passed.emplace(parameter.name, argument_of(kernel_, launch_, parameter).text);
    scope_.set_products(passed);
    if (!bound_.size_names.empty()) return;
    add_size(kStandInSize, kUsualSize, "");
    guess_stand_in(kUsualSize, imported_);
  }

  // The product of many sizes is the kernel's work, so each is small.
  static int64_t usual_size_of(const SourceParameter& parameter, size_t unknown) {
    if (parameter.member.empty()) return usual_size(parameter.name, unknown);
    const int64_t usual = usual_size(parameter.member, unknown);
    return unknown > kMostOfUsual ? std::min(usual, kUsualOfMany) : usual;
  }

  void guess_size(const std::string& name, const char* why) {
    imported_.open_sizes.insert(name);
    imported_.guessed.push_back(fmt::format("the size {} = {}{}", name, scope_.kept[name], why));
  }

  // A parameter's value in the host code, and whether it is certain.
  std::pair<std::optional<int64_t>, bool> value_of(const SourceParameter& parameter) const {
    const HostText passed = argument_of(kernel_, launch_, parameter);
    for (const std::string& name : {passed.text, parameter.name, in_capitals(parameter.name)}) {
      if (name.empty()) continue;
      scope_.take_guessed();
      // Without the launch's word, a constant of the parameter's name may be another number.
      if (const auto number = scope_.number_of(name); number && *number > 0)
        return {number, !scope_.take_guessed() && name == passed.text};
      if (!passed.text.empty() && name == passed.text && name != parameter.name) break;  // it is something else
    }
    return {std::nullopt, false};
  }

  void follow(const SourceParameter& parameter) {
    const HostText passed = argument_of(kernel_, launch_, parameter);
    const auto size = std::ranges::find(bound_.size_names, parameter.name);
    if (passed.text.empty() || size == bound_.size_names.end() || bound_.size_names.size() == 1) return;
    const int64_t now = scope_.kept[parameter.name];
    scope_.forget_size(parameter.name);
    scope_.take_guessed();
    const std::string formula = scope_.in_terms(passed);
    const bool guessed = scope_.take_guessed();
    const bool follows = !formula.empty() && formula.find_first_not_of("0123456789") != std::string::npos &&
                         std::ranges::any_of(cpp_tokens(formula), [&](const CppToken& token) {
                           return bound_.sizes.contains(std::string(token.text)) && token.text != parameter.name;
                         });
    if (!follows) return add_known_size(parameter.name, now, passed.text);
    bound_.size_names.erase(size);
    bound_.sizes.erase(parameter.name);
    imported_.open_sizes.erase(parameter.name);
    found_.formulas[parameter.name] = formula;
    std::erase_if(imported_.guessed,
                  [&](const std::string& one) { return one.starts_with("the size " + parameter.name + " = "); });
    std::erase_if(imported_.read, [&](const std::string& one) {
      return one.starts_with(parameter.name + " is ") && one.ends_with("in the host code");
    });
    (guessed ? imported_.guessed : imported_.read).push_back(fmt::format("{} is {}", parameter.name, formula));
  }

  // Inserts the formulas of the names in it. Those after it are already expanded.
  std::string expanded(const std::string& formula) const {
    std::string text;
    size_t copied = 0;
    for (const CppToken& token : cpp_tokens(formula)) {
      const auto inner = found_.formulas.find(std::string(token.text));
      if (inner == found_.formulas.end()) continue;
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

  const SourceKernel& kernel_;
  const SourceLaunch* launch_;
  HostScope& scope_;
  BoundParameters& bound_;
  Imported& imported_;
  KernelSizes found_;
};

}  // namespace

HostText argument_of(const SourceKernel& kernel, const SourceLaunch* launch, const SourceParameter& parameter) {
  if (!launch || launch->arguments.size() != kernel.parameters.size()) return {};
  const auto place = std::ranges::find(kernel.parameters, parameter.name, &SourceParameter::name);
  if (place == kernel.parameters.end()) return {};
  return {launch->arguments[static_cast<size_t>(place - kernel.parameters.begin())], launch->at};
}

std::string in_capitals(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
  return text;
}

bool is_size_type(const SourceParameter& parameter, const HostScope& scope) {
  const auto element = element_of(scope.resolved_type(parameter.type));
  return !parameter.pointer && element && element->lanes == 1 && !is_floating(element->type) &&
         bytes_of(element->type) >= 4 && !scope.is_enum(parameter.type);
}

int64_t usual_size(const std::string& name, size_t unknown) {
  static const std::set<std::string> widths{"d", "D", "HS", "DIM", "HEAD_DIM", "HEADDIM", "HEAD_SIZE", "D_HEAD", "HD"};
  static const std::set<std::string> counts{"B",           "BATCH",     "BATCH_SIZE", "NH",      "H",
                                            "HEADS",       "NUM_HEADS", "N_HEADS",    "BS",      "BATCHES",
                                            "NUM_BATCHES", "NHEADS",    "HEAD_NUM",   "NUM_HEAD"};
  if (widths.contains(in_capitals(name))) return kUsualWidth;
  // Of a longer name the last word counts: QKV_head.
  const std::string capitals = in_capitals(name);
  const std::string last = capitals.substr(capitals.rfind('_') + 1);
  if (counts.contains(capitals) || last == "HEAD" || last == "HEADS" || last == "BATCH") return kUsualCount;
  if (is_reach(name)) return kUsualReach;
  return unknown <= 3 ? kUsualSize : kUsualSize / 8;
}

KernelSizes find_sizes(const SourceKernel& kernel, const SourceLaunch* launch, HostScope& scope, BoundParameters& bound,
                       Imported& imported) {
  return SizeFinder(kernel, launch, scope, bound, imported).find();
}

}  // namespace attnscope::catalog
