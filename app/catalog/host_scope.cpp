#include "catalog/host_scope.h"

#include <algorithm>
#include <utility>

#include "catalog/element_types.h"

namespace attnscope::catalog {
namespace {

constexpr int kDeepestName = 8;                     // names that stand for names
constexpr int64_t kMostGuessed = int64_t{1} << 24;  // elements of a buffer with a guessed shape

}  // namespace

// Knobs and sizes keep their names if the manifest can express them.
HostNames HostScope::names(bool keep) const {
  return {
      .kept = [this, keep](const std::string& name, size_t at) -> std::optional<KeptName> {
        if (!keep) return std::nullopt;
        const HostFunction* const here = host_.function_at(at);
        for (const Alias& alias : aliases_)
          if (alias.name == name && alias.function == here && alias.defined == definition(name, at)) {
            note_changes(name, alias.defined, at);
            return KeptName{alias.size, kept.at(alias.size)};
          }
        const auto found = kept.find(name);
        if (found == kept.end() || (here != nullptr && has_alias(name))) return std::nullopt;
        return KeptName{name, found->second};
      },
      .product = [this, keep](std::span<const CppToken> tokens, size_t at, bool first) -> std::optional<KeptProduct> {
        return keep ? product(tokens, at, first) : std::nullopt;
      },
      .meaning = [this](const std::string& name, size_t at) { return meaning(name, at); },
      .member = [this](const std::string& name, size_t axis, size_t at) { return member(name, axis, at); },
      .bytes_of = [this](const std::string& type) -> std::optional<int64_t> {
        const auto element = element_of(resolved_type(type));
        return element ? std::optional(bytes_of(element->type) * element->lanes) : std::nullopt;
      },
      .returned = [this](const std::string& name) { return host_.returned_by(name); }};
}

// True if the host code has another name for the size; its name then means something else there.
bool HostScope::has_alias(const std::string& size) const {
  return std::ranges::any_of(aliases_, [&](const Alias& alias) { return alias.size == size; });
}

size_t HostScope::definition(const std::string& name, size_t at) const {
  const auto* const constant = source_.constants.find(name, at);
  return constant ? constant->at : SIZE_MAX;
}

// The value that a name has since `from` is a guess if a branch or a += in between may have changed it.
void HostScope::note_changes(const std::string& name, size_t from, size_t at) const {
  const HostFunction* const here = host_.function_at(at);
  if (!here) return;
  const size_t since = from == SIZE_MAX ? here->begin : std::max(from, here->begin);
  guessed_ = guessed_ || source_.changes.any(name, since, at);
}

HostText HostScope::said_by(const SourceValues<std::string>::One& constant) const {
  const auto kind = source_.kinds.find(constant.at);
  return {constant.value, constant.at, kind == source_.kinds.end() ? NumberKind::unknown : kind->second};
}

// A host function may have something else by the name of the kernel's parameter.
const TemplateValue* HostScope::template_value(const std::string& name, size_t at) const {
  const auto found = templates.find(name);
  if (found == templates.end()) return nullptr;
  const HostFunction* const here = found->second.in_host_code ? nullptr : host_.function_at(at);
  if (!here || source_.defined.contains(here->name)) return &found->second;
  const bool of_the_host = source_.constants.find(name, at) || std::ranges::count(here->parameters, name) > 0 ||
                           std::ranges::count(here->templates, name) > 0;
  return of_the_host ? nullptr : &found->second;
}

HostText HostScope::meaning(const std::string& name, size_t at) const {
  names_.emplace(name, definition(name, at));
  if (const TemplateValue* const argument = template_value(name, at)) {
    guessed_ = guessed_ || argument->guessed;
    return {argument->value, at};
  }
  if (const auto guess = assumed.find(name); guess != assumed.end()) {
    guessed_ = true;
    return {std::to_string(guess->second), at};
  }
  const auto* const constant = source_.constants.find(name, at);
  if (constant && constant->end != SIZE_MAX) {
    note_changes(name, constant->at, at);
    return said_by(*constant);
  }
  if (HostText passed = host_.argument(name, at); !passed.text.empty()) {
    note_changes(name, SIZE_MAX, at);
    passed.kind = NumberKind::unknown;
    return passed;
  }
  if (HostText said = host_.template_argument(name, at); !said.text.empty()) return said;
  if (constant) {
    guessed_ = guessed_ || source_.changes.any(name, constant->at, SIZE_MAX);
    return said_by(*constant);
  }
  if (const auto macro = source_.macros.find(name); macro != source_.macros.end()) {
    guessed_ = guessed_ || source_.unsure_macros.contains(name);
    return {macro->second, at};
  }
  const auto* const elsewhere = source_.constants.any(name, at);
  if (!elsewhere) return {};
  guessed_ = true;
  return said_by(*elsewhere);
}

HostText HostScope::member(const std::string& name, size_t axis, size_t at) const {
  const auto* dims = source_.dims.find(name, at);
  if (!dims) return {};
  return {axis < dims->value.size() ? dims->value[axis] : "1", dims->at};
}

HostText HostScope::in_function(HostText name, const HostFunction& function) const {
  for (int depth = 0; depth < kDeepestName; ++depth) {
    const auto tokens = cpp_tokens(name.text);
    const HostFunction* const here = host_.function_at(name.at);
    if (tokens.size() != 1 || tokens[0].kind != CppToken::Kind::word || !here) return {};
    if (here == &function) return name;
    const auto* const constant = source_.constants.find(name.text, name.at);
    if (constant && constant->end != SIZE_MAX) return {};
    name = host_.argument(name.text, name.at);
  }
  return {};
}

void HostScope::set_size(const std::string& size, int64_t now, const std::string& name) {
  kept[size] = now;
  HostText here{name, used_at};
  for (int depth = 0; depth < kDeepestName; ++depth) {
    const auto tokens = cpp_tokens(here.text);
    if (tokens.size() != 1 || tokens[0].kind != CppToken::Kind::word) {
      if (depth == 0)
        aliases_.push_back({nullptr, "", size, SIZE_MAX});  // for N * C: an N in the host code is another one
      return;
    }
    aliases_.push_back({host_.function_at(here.at), here.text, size, definition(here.text, here.at)});
    here = host_.argument(here.text, here.at);
  }
}

void HostScope::forget_size(const std::string& size) {
  kept.erase(size);
  std::erase_if(aliases_, [&](const Alias& alias) { return alias.size == size; });
}

namespace {

// B * T and N / 2, but not a single name, as tokens; empty for anything else.
std::vector<std::string> product_in(const std::string& text) {
  const auto tokens = cpp_tokens(text);
  std::vector<std::string> found;
  bool names = false;
  for (const CppToken& token : tokens) {
    const bool operand = found.size() % 2 == 0;
    const bool is_word = token.kind == CppToken::Kind::word;
    if (operand ? !is_word && token.kind != CppToken::Kind::number : !token.is("*") && !token.is("/")) return {};
    names = names || is_word;
    found.emplace_back(token.text);
  }
  return names && found.size() > 1 && found.size() % 2 == 1 ? found : std::vector<std::string>();
}

// T * B is B * T. A quotient stays as it is.
std::vector<std::string> in_one_order(std::vector<std::string> product) {
  if (std::ranges::count(product, "/") > 0) return product;
  std::vector<std::string> factors;
  for (size_t i = 0; i < product.size(); i += 2) factors.push_back(product[i]);
  std::ranges::sort(factors);
  for (size_t i = 0; i < product.size(); i += 2) product[i] = factors[i / 2];
  return product;
}

bool is_word(const std::string& text) {
  const auto tokens = cpp_tokens(text);
  return tokens.size() == 1 && tokens[0].kind == CppToken::Kind::word;
}

}  // namespace

void HostScope::set_products(const std::map<std::string, std::string>& passed) {
  products_.clear();
  for (const auto& [size, text] : passed) {
    if (!kept.contains(size)) continue;
    HostText here{text, used_at};
    for (int depth = 0; depth < kDeepestName && !here.text.empty(); ++depth) {
      if (auto tokens = product_in(here.text); !tokens.empty()) {
        const auto each = tokens.size() == 3 && tokens[1] == "/" && is_word(tokens[0])
                              ? host_value({tokens[2], here.at}, names(false))
                              : std::nullopt;
        const auto whole = each ? host_value({tokens[0], here.at}, names(false)) : std::nullopt;
        if (whole && each->now > 1 && whole->now == each->now * kept.at(size))
          products_.push_back({{tokens[0]}, here.at, size, each->now});
        products_.push_back({in_one_order(std::move(tokens)), here.at, size, 1});
        break;
      }
      if (!is_word(here.text)) break;
      // `const int rows = B * T;`, or what the callers pass.
      const auto* const constant = source_.constants.find(here.text, here.at);
      here = constant && constant->end != SIZE_MAX ? said_by(*constant) : host_.argument(here.text, here.at);
    }
  }
  // What is passed for two sizes stands for neither.
  std::vector<Product> own;
  for (const Product& one : products_)
    if (std::ranges::count(products_, one.tokens, &Product::tokens) == 1) own.push_back(one);
  std::ranges::stable_sort(own, [](const Product& a, const Product& b) { return a.tokens.size() > b.tokens.size(); });
  products_ = std::move(own);
}

std::optional<KeptProduct> HostScope::product(std::span<const CppToken> tokens, size_t at, bool first) const {
  for (const Product& one : products_) {
    const size_t count = one.tokens.size();
    const bool divides = std::ranges::count(one.tokens, "/") > 0;
    if ((divides && !first) || tokens.size() < count || !kept.contains(one.size)) continue;
    std::vector<std::string> its;
    for (const CppToken& token : tokens.first(count)) its.emplace_back(token.text);
    if (in_one_order(std::move(its)) != one.tokens) continue;
    // T.x, T[0], T(1) and T::x are more than T.
    const auto is = [&](size_t i, std::string_view text) { return i < tokens.size() && tokens[i].is(text); };
    const bool more = is(count, ".") || is(count, "[") || is(count, "(") || (is(count, ":") && is(count + 1, ":")) ||
                      (is(count, "-") && is(count + 1, ">"));
    if (more || host_.function_at(at) != host_.function_at(one.at)) continue;
    const auto means_the_same = [&](const std::string& word) {
      return !is_word(word) || definition(word, at) == definition(word, one.at);
    };
    if (!std::ranges::all_of(one.tokens, means_the_same)) continue;
    for (const std::string& word : one.tokens)
      if (is_word(word)) note_changes(word, definition(word, at), at);
    return KeptProduct{{one.size, kept.at(one.size) * one.times}, one.times, count};
  }
  return std::nullopt;
}

std::optional<int64_t> HostScope::size_now(const std::string& name, size_t at) const {
  const auto found = names(true).kept(name, at);
  if (!found) return std::nullopt;
  sized_ = true;
  return found->now;
}

std::optional<int64_t> HostScope::number_of(const std::string& expression) const {
  const auto value = host_value({expression, used_at}, names(false));
  return value ? std::optional(value->now) : std::nullopt;
}

std::string HostScope::in_terms(const HostText& expression, std::string* unknown) const {
  if (unknown) unknown->clear();
  const auto value = host_value(expression, names(true), unknown);
  return value && value->now >= 0 ? value->text : "";
}

std::optional<int64_t> HostScope::now_of(const std::string& text) const {
  const auto value = host_value({text, SIZE_MAX}, names(true));
  return value ? std::optional(value->now) : std::nullopt;
}

std::optional<bool> HostScope::taken(const SourceBranch& branch, size_t at) const {
  const bool was_guessed = guessed_;
  const auto value = host_value({branch.condition, at}, names(false));
  const bool guessed = std::exchange(guessed_, was_guessed);
  if (!value || guessed) return std::nullopt;
  return (value->now != 0) == branch.holds;
}

std::string HostScope::constant_or_itself(const std::string& word) const {
  std::string value = word;
  for (int depth = 0; depth < kDeepestName; ++depth) {
    const auto* constant = source_.constants.any(value, used_at);
    const HostText said = constant ? HostText{} : host_.template_argument(value, used_at);
    if (!constant && said.text.empty()) break;
    value = constant ? constant->value : said.text;
  }
  return value;
}

std::string HostScope::resolved_type(std::string type) const {
  for (int depth = 0; depth < kDeepestName; ++depth) {
    if (const auto argument = templates.find(type); argument != templates.end())
      type = argument->second.value;
    else if (const auto alias = source_.types.find(type); alias != source_.types.end())
      type = alias->second;
    else if (const auto macro = source_.macros.find(type); macro != source_.macros.end())
      type = macro->second;
    else if (const size_t colon = type.rfind("::");
             colon != std::string::npos && source_.types.contains(type.substr(colon + 2)))
      type.erase(0, colon + 2);
    else
      break;
  }
  return type;
}

bool HostScope::is_enum(const std::string& type) const {
  const size_t colon = type.rfind("::");
  return source_.enums.contains(colon == std::string::npos ? type : type.substr(colon + 2));
}

std::vector<std::string> HostScope::guessed_shape(const std::vector<std::string>& sizes) const {
  int64_t all = 1;
  for (const std::string& size : sizes)
    all = std::min(all * std::clamp<int64_t>(kept.at(size), 1, kMostGuessed), kMostGuessed + 1);
  const size_t used = all > kMostGuessed ? std::min<size_t>(sizes.size(), 2) : sizes.size();
  return {sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(used)};
}

bool HostScope::is_type(const std::string& name) const {
  const std::string type = resolved_type(name);
  return element_of(type) || source_.classes.contains(type) || type.find_first_of(":<( ") != std::string::npos;
}

bool HostScope::stands_alone(const std::string& value) const {
  return std::ranges::none_of(cpp_tokens(value), [&](const CppToken& token) {
    return source_.parameter_names.contains(std::string(token.text)) || token.is("(");
  });
}

}  // namespace attnscope::catalog
