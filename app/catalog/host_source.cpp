#include "catalog/host_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "catalog/address_parts.h"
#include "catalog/host_values.h"
#include "catalog/source_text.h"

namespace attnscope::catalog {
namespace {

using Tokens = std::vector<CppToken>;

constexpr size_t kMostTokens = 250;      // of a call or a list of parameters
constexpr size_t kMostCalls = 16;        // of one function; the first that gives a value counts
constexpr size_t kMostAllocations = 64;  // of one name
constexpr int kDeepestFunction = 8;      // functions that call functions

bool word(const Tokens& tokens, size_t i) { return i < tokens.size() && tokens[i].kind == CppToken::Kind::word; }

// The last word before a default value or an array's brackets.
std::string parameter_name(const std::string& declaration) {
  std::string name;
  const Tokens tokens = cpp_tokens(declaration);
  for (size_t i = 0; i + 2 < tokens.size(); ++i)  // void (*name)(int)
    if (tokens[i].is("(") && tokens[i + 1].is("*") && tokens[i + 2].kind == CppToken::Kind::word)
      return std::string(tokens[i + 2].text);
  for (const CppToken& token : tokens) {
    if (token.is("=") || token.is("[")) break;
    if (token.kind == CppToken::Kind::word) name = token.text;
  }
  return name;
}

// True for a pointer that is not to const, a reference that is not const, an array or a tensor.
bool may_be_changed(const std::string& declaration) {
  const size_t constant = declaration.find("const"), pointer = declaration.find('*');
  if (declaration.find("Tensor") != std::string::npos) return true;
  if (pointer != std::string::npos) return constant > pointer;
  return constant == std::string::npos && declaration.find_first_of("&[") != std::string::npos;
}

bool is_keyword(std::string_view name) {
  static const std::set<std::string_view> words{"if", "for", "while", "switch", "catch", "return", "sizeof", "defined"};
  return words.contains(name);
}

// The token of a call's name before the bracket at `open`: of f(x) and f<16>(x).
size_t name_of_call(const Tokens& tokens, size_t open) {
  if (!is(tokens, open - 1, ">")) return open - 1;
  size_t depth = 0;
  for (size_t i = open - 1; i > 0 && i + kMostTokens > open; --i) {
    const CppToken& token = tokens[i];
    if (token.is(">")) ++depth;
    if (token.is("<") && --depth == 0) return i - 1;
    if (token.is(";") || token.is("{") || token.is("}")) break;
  }
  return open - 1;
}

// The texts between the commas of [open, behind), which is "<…>" or empty.
std::vector<std::string> angle_parts(const Tokens& tokens, size_t open, size_t behind) {
  std::vector<std::string> parts;
  if (behind <= open + 1) return parts;
  std::string part;
  size_t depth = 0;
  for (size_t i = open + 1; i + 1 < behind; ++i) {
    if (tokens[i].is("<") || tokens[i].is("(")) ++depth;
    if (tokens[i].is(">") || tokens[i].is(")")) --depth;
    if (depth == 0 && tokens[i].is(",")) {
      parts.push_back(std::exchange(part, {}));
      continue;
    }
    const bool apart =
        !part.empty() && tokens[i].kind != CppToken::Kind::mark && tokens[i - 1].kind != CppToken::Kind::mark;
    part += (apart ? " " : "") + std::string(tokens[i].text);
  }
  parts.push_back(part);
  return parts;
}

// The default of a template's parameter, `int N = 4`; empty if it has none.
std::string parameter_default(const std::string& declaration) {
  const Tokens tokens = cpp_tokens(declaration);
  const auto equals = std::ranges::find_if(tokens, [](const CppToken& token) { return token.is("="); });
  return equals == tokens.end() || equals + 1 == tokens.end() ? "" : declaration.substr((equals + 1)->at);
}

// Of the template whose function has its name at `name`: void f(…) under template <int N, typename T>.
std::vector<std::string> template_parts(const Tokens& tokens, const CppBrackets& brackets, size_t name) {
  size_t start = name;
  while (start > 0 && name - start < kMostTokens && !is(tokens, start - 1, ";") && !is(tokens, start - 1, "}") &&
         !is(tokens, start - 1, "{") && tokens[start - 1].kind != CppToken::Kind::line)
    --start;
  if (!is(tokens, start, "template") || !is(tokens, start + 1, "<")) return {};
  const size_t behind = brackets.behind_angles(start + 1);
  return behind > name ? std::vector<std::string>{} : angle_parts(tokens, start + 1, behind);
}

// A short may wrap.
bool returns_whole(std::string_view type) { return type == "auto" || (type != "short" && is_whole_type(type)); }

// The expression of the only return in a body, which stands directly in it.
HostText only_return(const Tokens& tokens, size_t open, size_t close) {
  HostText found;
  size_t depth = 0;
  for (size_t i = open; i < std::min(close, tokens.size()); ++i) {
    if (tokens[i].is("{")) ++depth;
    if (tokens[i].is("}")) --depth;
    if (!tokens[i].is("return")) continue;
    size_t end = i + 1;
    while (end < close && end - i < kMostTokens && !tokens[end].is(";")) ++end;
    if (depth != 1 || found.at != SIZE_MAX || !is(tokens, end, ";")) return {};
    found = {text_of(tokens, i + 1, end), tokens[i].at};
  }
  return found;
}

bool names_word(const std::string& text, const std::string& name) {
  return std::ranges::any_of(cpp_tokens(text), [&](const CppToken& token) { return token.is(name); });
}

}  // namespace

std::vector<std::string> parts_in(const std::vector<CppToken>& tokens, const CppBrackets& brackets, size_t open) {
  std::vector<std::string> parts;
  std::string part;
  const size_t close = brackets.closing(open);
  size_t depth = 0, angles_end = 0;
  for (size_t i = open + 1; i < close; ++i) {
    const std::string_view text = tokens[i].text;
    if (tokens[i].kind == CppToken::Kind::line) continue;
    if (text == "(" || text == "[" || text == "{") ++depth;
    if (text == ")" || text == "]" || text == "}") --depth;
    if (text == "<" && word(tokens, i - 1)) {  // kernel<8, 4>, as one of the parts
      const size_t behind = brackets.behind_angles(i);
      if (behind > i + 1 && (behind == close || is(tokens, behind, ","))) angles_end = behind;
    }
    if (depth == 0 && text == "," && i >= angles_end) {
      parts.push_back(std::exchange(part, {}));
      continue;
    }
    const bool apart =
        !part.empty() && tokens[i].kind != CppToken::Kind::mark && tokens[i - 1].kind != CppToken::Kind::mark;
    part += (apart ? " " : "") + std::string(text);
  }
  if (!part.empty() || !parts.empty()) parts.push_back(part);
  return parts;
}

HostSource::HostSource(const std::string& source) {
  const Tokens tokens = cpp_tokens(source);
  const CppBrackets brackets(tokens);
  size_t end = 0;  // of the current function's body
  for (size_t i = 1; i < tokens.size(); ++i) {
    if (!tokens[i].is("(")) continue;
    const size_t name = i < end ? name_of_call(tokens, i) : i - 1;
    if (!word(tokens, name) || is_keyword(tokens[name].text)) continue;
    const size_t close = brackets.closing(i);
    if (close >= tokens.size() || close > i + kMostTokens) continue;
    if (i >= end && is(tokens, close + 1, "{")) {
      end = std::min(brackets.closing(close + 1), tokens.size() - 1);
      read_function(tokens, brackets, i);
    } else if (i < end) {
      read_call(tokens, brackets, i, name);
    }
  }
}

void HostSource::read_function(const Tokens& tokens, const CppBrackets& brackets, size_t open) {
  HostFunction function;
  function.name = tokens[open - 1].text;
  const std::vector<std::string> parameters = parts_in(tokens, brackets, open);
  for (const std::string& one : parameters) {
    function.parameters.push_back(parameter_name(one));
    if (may_be_changed(one)) function.changeable.push_back(function.parameters.back());
    const auto is_dims = [](const CppToken& token) { return is_dims_type(token.text); };
    if (std::ranges::any_of(cpp_tokens(one), is_dims)) function.dims.push_back(function.parameters.back());
  }
  for (const std::string& one : template_parts(tokens, brackets, open - 1)) {
    const std::string name = parameter_name(one);
    const bool deduced = std::ranges::any_of(parameters, [&](const auto& text) { return names_word(text, name); });
    function.templates.push_back(name);
    function.defaults.push_back(deduced ? "" : parameter_default(one));
  }
  const size_t body = brackets.closing(open) + 1;
  function.begin = tokens[body].at;
  function.end = tokens[std::min(brackets.closing(body), tokens.size() - 1)].at;
  const auto [named, first] = by_name_.emplace(function.name, functions_.size());
  if (first && open > 1 && returns_whole(tokens[open - 2].text))
    function.returned = only_return(tokens, body, brackets.closing(body));
  if (!first) functions_[named->second].returned = {};
  functions_.push_back(std::move(function));
}

void HostSource::read_call(const Tokens& tokens, const CppBrackets& brackets, size_t open, size_t named) {
  const std::string_view name = tokens[named].text;
  if (name.starts_with("cudaMalloc")) {
    const auto arguments = parts_in(tokens, brackets, open);
    if (arguments.size() < 2) return;
    std::vector<HostText>& known = allocations_[pointer_name(arguments[0])];
    const bool pitch = name == "cudaMallocPitch" && arguments.size() == 4;
    if (known.size() < kMostAllocations)
      known.push_back(
          {pitch ? fmt::format("{} * ({})", pitched(arguments[2]), arguments[3]) : arguments[1], tokens[open].at});
    return;
  }
  std::vector<Call>& calls = calls_[std::string(name)];
  if (calls.size() < kMostCalls)
    calls.push_back({parts_in(tokens, brackets, open), tokens[open].at, angle_parts(tokens, named + 1, open)});
}

const HostFunction* HostSource::function_at(size_t at) const {
  const auto behind = std::ranges::upper_bound(functions_, at, {}, &HostFunction::begin);
  if (behind == functions_.begin() || std::prev(behind)->end < at) return nullptr;
  return &*std::prev(behind);
}

const HostFunction* HostSource::function_named(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &functions_[found->second];
}

HostText HostSource::returned_by(std::string_view name) const {
  const HostFunction* const function = function_named(name);
  return function && function->parameters.empty() ? function->returned : HostText{};
}

size_t HostSource::calls_of(std::string_view name) const {
  const auto found = calls_.find(name);
  return found == calls_.end() ? 0 : found->second.size();
}

bool HostSource::calls_with(std::string_view name, const std::string& first_argument) const {
  const auto found = calls_.find(name);
  return found != calls_.end() && std::ranges::any_of(found->second, [&](const Call& call) {
           return !call.arguments.empty() && call.arguments[0] == first_argument;
         });
}

const HostFunction* HostSource::first_caller(const HostFunction& function) const {
  const auto found = calls_.find(function.name);
  if (found == calls_.end()) return nullptr;
  for (const Call& call : found->second)
    if (call.at < function.begin || call.at > function.end) return function_at(call.at);
  return nullptr;
}

HostText HostSource::argument(const std::string& parameter, size_t at) const {
  const HostFunction* const function = function_at(at);
  if (!function || parameter.empty()) return {};
  const auto place = std::ranges::find(function->parameters, parameter);
  const auto calls = calls_.find(function->name);
  if (place == function->parameters.end() || calls == calls_.end()) return {};
  const auto index = static_cast<size_t>(place - function->parameters.begin());
  for (const Call& call : calls->second)
    if (index < call.arguments.size() && (call.at < function->begin || call.at > function->end))
      return {call.arguments[index], call.at};
  return {};
}

const std::vector<HostSource::Call>& HostSource::calls_to(std::string_view name) const {
  static const std::vector<Call> none;
  const auto found = calls_.find(name);
  return found == calls_.end() ? none : found->second;
}

HostText HostSource::template_argument(const std::string& parameter, size_t at) const {
  const HostFunction* const function = function_at(at);
  if (!function) return {};
  const auto place = std::ranges::find(function->templates, parameter);
  if (place == function->templates.end()) return {};
  const auto index = static_cast<size_t>(place - function->templates.begin());
  bool left_out = false;  // by a call
  for (const Call& call : calls_to(function->name)) {
    if (call.at >= function->begin && call.at <= function->end) continue;
    if (index < call.templates.size()) return {call.templates[index], call.at};
    left_out = true;
  }
  return left_out ? HostText{function->defaults[index], function->begin} : HostText{};
}

HostText HostSource::allocation(const std::string& name, size_t at) const {
  const auto found = allocations_.find(name);
  if (found == allocations_.end() || name.empty()) return {};
  const HostFunction* const here = function_at(at);
  for (const HostText& one : found->second)
    if (function_at(one.at) == here) return one;
  return {};
}

HostText HostSource::followed_allocation(const std::string& name, size_t at) const {
  HostText pointer{name, at};
  for (int depth = 0; depth < kDeepestFunction; ++depth) {
    if (HostText bytes = allocation(pointer.text, pointer.at); !bytes.text.empty()) return bytes;
    const HostText passed = argument(pointer.text, pointer.at);
    if (passed.text.empty()) return {};
    pointer = {pointer_name(passed.text), passed.at};
  }
  return {};
}

PassedPointer passed_pointer(const std::string& expression) {
  AddressParts parts = address_parts(expression);
  std::string name = pointer_name(parts.pointer.empty() ? expression : parts.pointer);
  // What is before the + may be no pointer's name: f(x) + n.
  if (name.empty()) return {};
  return {std::move(name), std::move(parts.offset)};
}

std::string pointer_name(std::string_view expression) {
  const Tokens tokens = cpp_tokens(expression);
  const CppBrackets brackets(tokens);
  size_t begin = 0, end = tokens.size();
  for (int depth = 0; depth < kDeepestFunction && begin < end; ++depth) {
    if (tokens[begin].is("&")) {
      ++begin;
    } else if (word(tokens, begin) && is(tokens, begin + 1, "<") &&
               std::string_view(tokens[begin].text).ends_with("cast")) {
      begin = brackets.behind_angles(begin + 1);
    } else if (tokens[begin].is("(")) {
      const size_t close = brackets.closing(begin);
      if (close + 1 < end) {  // a cast
        begin = close + 1;
      } else {
        ++begin;
        --end;
      }
    } else if (word(tokens, begin) && (end == begin + 1 || is(tokens, begin + 1, "."))) {
      return std::string(tokens[begin].text);
    } else {
      return {};
    }
  }
  return {};
}

}  // namespace attnscope::catalog
