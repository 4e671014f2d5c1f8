#include "catalog/template_arguments.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "catalog/template_guess.h"

namespace attnscope::catalog {
namespace {

struct OneArgument {
  enum class Kind {
    known,
    guessed,
    // Left out with all after it: an empty pack, or a default made of earlier parameters, which the compiler knows.
    left_out,
    missing
  };
  Kind kind = Kind::known;
  std::string value;
};

// A whole number in digits; empty if `value` is a type or not a number.
std::optional<std::string> digits_of(const std::string& value, bool type, const HostScope& scope) {
  const auto number = type ? std::nullopt : scope.number_of(value);
  return number ? std::optional(std::to_string(*number)) : std::nullopt;
}

// A name that no constant explains, or a member, for a number: it means something only where the launch is.
bool is_open_number(const std::string& value, const TemplateParameter& parameter) {
  const std::vector<CppToken> tokens = cpp_tokens(value);
  if (!is_number_parameter(parameter) || value == "true" || value == "false") return false;
  return (tokens.size() == 1 && tokens[0].kind == CppToken::Kind::word) ||
         std::ranges::any_of(tokens, [](const CppToken& token) { return token.is("."); });
}

// `offered`: empty where the parameter's default counts. `parameter`: null for the further arguments of a pack.
// `deduced`: a launch's arguments would say it; `its_type`: what they do say, or empty.
OneArgument one_argument(const std::string& offered, const TemplateParameter* parameter, bool given, bool deduced,
                         const std::string& its_type, const HostScope& scope) {
  using Kind = OneArgument::Kind;
  const bool type = parameter && is_type_parameter(*parameter);
  const std::string standard = parameter ? parameter->standard : "";
  if (offered.empty() && parameter && parameter->kind.ends_with("...")) return {Kind::left_out, ""};
  std::string value = offered.empty() ? standard : offered;
  if (value.empty() && type && scope.stands_alone(its_type) && !its_type.empty()) return {Kind::known, its_type};
  if (value.empty() && type && deduced) return {Kind::guessed, "float"};
  if (value.empty()) return {Kind::missing, ""};
  if (const auto digits = digits_of(value, type, scope)) return {Kind::known, *digits};
  value = scope.constant_or_itself(value);
  if (type && !given && !scope.is_type(value) && scope.stands_alone(value)) return {Kind::guessed, "float"};
  const bool open = parameter && !type && !given && is_open_number(value, *parameter);
  if (scope.stands_alone(value) && !open) return {Kind::known, value};
  if (offered.empty()) return {Kind::left_out, ""};
  if (given) return {Kind::known, value};
  if (const auto digits = digits_of(standard, type, scope)) return {Kind::guessed, *digits};
  if (!standard.empty()) return {Kind::guessed, standard};
  if (type) return {Kind::guessed, "float"};  // the most common type of kernel templates
  return {Kind::missing, ""};
}

bool is_pointed_to(const SourceKernel& kernel, const std::string& type) {
  return std::ranges::any_of(kernel.parameters,
                             [&](const SourceParameter& one) { return one.pointer && one.type == type; });
}

}  // namespace

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

bool is_number_parameter(const TemplateParameter& parameter) {
  static constexpr std::array<std::string_view, 12> words{"int",     "unsigned", "uint", "size_t",  "long",     "short",
                                                          "int32_t", "uint32_t", "bool", "int64_t", "uint64_t", "char"};
  return std::ranges::any_of(cpp_tokens(parameter.kind),
                             [](const CppToken& token) { return std::ranges::find(words, token.text) != words.end(); });
}

bool is_type_parameter(const TemplateParameter& parameter) {
  const std::string& kind = parameter.kind;
  return kind.starts_with("typename") || kind.starts_with("class") || kind.starts_with("template");
}

std::optional<TemplateArguments> template_arguments(const SourceKernel& kernel, const std::vector<std::string>& offer,
                                                    bool given, bool launched, const HostScope& scope, int guess,
                                                    const std::map<std::string, std::string>& types) {
  TemplateArguments found;
  found.guessed = offer.empty() && !given;
  const auto& parameters = kernel.template_parameters;
  bool all_deduced = offer.empty() && !parameters.empty();
  for (size_t i = 0; i < std::max(offer.size(), parameters.size()); ++i) {
    const TemplateParameter* const parameter = i < parameters.size() ? &parameters[i] : nullptr;
    const bool deduced = launched || (parameter && !given && is_pointed_to(kernel, parameter->name));
    const auto type_of_it = parameter ? types.find(parameter->name) : types.end();
    const std::string its_type = type_of_it == types.end() ? "" : type_of_it->second;
    OneArgument one = one_argument(i < offer.size() ? offer[i] : "", parameter, given, deduced, its_type, scope);
    if (one.kind == OneArgument::Kind::left_out) {
      all_deduced = all_deduced && !parameter->standard.empty();  // a pack's arguments are not known
      break;
    }
    if (one.kind == OneArgument::Kind::missing && guess >= 0 && parameter) {
      // A pointer leads to it: template <a_concept T>.
      const bool type = !is_number_parameter(*parameter) && is_pointed_to(kernel, parameter->name);
      const std::string value = type ? guess % 2 == 0 ? "float" : "unsigned char" : template_guess(*parameter, guess);
      if (!value.empty()) one = {OneArgument::Kind::guessed, value};
    }
    if (one.kind == OneArgument::Kind::missing) return std::nullopt;
    const bool guessed = one.kind == OneArgument::Kind::guessed;
    // No argument could say another one than the default.
    const bool standard = launched && parameter && !parameter->standard.empty() && !guessed &&
                          std::ranges::none_of(kernel.parameters, [&](const SourceParameter& p) {
                            return std::ranges::any_of(
                                cpp_tokens(p.type), [&](const CppToken& token) { return token.is(parameter->name); });
                          });
    all_deduced = all_deduced && (standard || (!its_type.empty() && one.value == its_type));
    found.guessed = found.guessed || guessed;
    found.values.push_back(one.value);
    if (!parameter) continue;
    const bool alike = given || (i < offer.size() && offer[i] == parameter->name);
    found.by_name[parameter->name] = {one.value, guessed || (offer.empty() && !given && !launched), alike};
  }
  // The launch hands over what they are.
  found.guessed = found.guessed && (!all_deduced || found.values.empty());
  return found;
}

}  // namespace attnscope::catalog
