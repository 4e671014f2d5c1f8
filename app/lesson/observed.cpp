#include "lesson/observed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <sstream>
#include <vector>

#include "core/expression.h"
#include "core/rule.h"
#include "core/term.h"
#include "core/with_commas.h"

namespace attnscope::lesson {
namespace {

struct Token {
  enum class Kind { word, text, other } kind = Kind::other;
  std::string text{};
  bool is(Kind wanted, std::string_view value) const { return kind == wanted && text == value; }
};
using Kind = Token::Kind;

Failure broken(const std::string& expression, const std::string& reason) {
  return Failure{Stage::input, fmt::format("\"{}\" {}", expression, reason),
                 "Name a run and a key of docs/observation.schema.json: A.timing.us.p50."};
}

bool begins_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

Result<std::vector<Token>> tokens_of(const std::string& expression) {
  std::vector<Token> tokens;
  for (size_t at = 0; at < expression.size();) {
    const char c = expression[at];
    size_t end = at + 1;
    if (c == '"') {
      end = expression.find('"', at + 1);
      if (end == std::string::npos) return fail(broken(expression, "has a text without its end"));
      tokens.push_back({Kind::text, expression.substr(at + 1, end - at - 1)});
      at = end + 1;
      continue;
    }
    if (begins_word(c)) {
      while (end < expression.size() && in_word(expression[end])) ++end;
      tokens.push_back({Kind::word, expression.substr(at, end - at)});
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      while (end < expression.size() && in_word(expression[end])) ++end;
      tokens.push_back({Kind::other, expression.substr(at, end - at)});
    } else if (c != ' ') {
      if (end < expression.size() && std::string_view("=&|").find(expression[end]) != std::string_view::npos) ++end;
      tokens.push_back({Kind::other, expression.substr(at, end - at)});
    }
    at = end;
  }
  return tokens;
}

// The value at "A.timing.us.p50"; null if there is none.
const Json* find(const std::map<std::string, Json>& known, const std::string& path) {
  size_t end = std::min(path.find('.'), path.size());
  const auto run = known.find(path.substr(0, end));
  const Json* at = run == known.end() ? nullptr : &run->second;
  while (at != nullptr && end < path.size()) {
    const size_t begin = end + 1;
    end = std::min(path.find('.', begin), path.size());
    const auto inner = at->is_object() ? at->find(path.substr(begin, end - begin)) : at->end();
    at = inner == at->end() ? nullptr : &*inner;
  }
  return at != nullptr && at->is_null() ? nullptr : at;
}

bool names_run(const std::map<std::string, Json>& known, const std::string& path) {
  return known.contains(path.substr(0, path.find('.')));
}

double is_found(const Json& run, const std::string& rule) {
  for (const Json* list : {&run["findings"], run["watch"].is_object() ? &run["watch"]["findings"] : nullptr})
    if (list != nullptr && list->is_array())
      for (const Json& finding : *list)
        if (finding["rule"] == rule) return 1;
  return 0;
}

// "@P0 HMMA.16816.F32 R4, R8, R12, R4" gives "HMMA.16816.F32".
std::string spelling_of(const std::string& text) {
  size_t begin = 0;
  if (text.starts_with('@')) begin = std::min(text.find(' '), text.size() - 1) + 1;
  return text.substr(begin, text.find(' ', begin) - begin);
}

CodeForms forms_of(const Listing& code) {
  CodeForms forms;
  for (const CodeLine& line : code.lines) {
    Instructions& one = forms[spelling_of(line.text)];
    if (one.count++ == 0) one.fragments = line.fragments;
  }
  return forms;
}

// Where the code holds an element of a matrix: "HMMA.16816.F32 A 9 6". Empty if there is none.
std::optional<FragmentPlace> place_in(const CodeForms& code, const std::string& words) {
  std::istringstream in(words);
  std::string spelling, matrix;
  int64_t row = -1, column = -1;
  if (!(in >> spelling >> matrix >> row >> column) || !(in >> std::ws).eof()) return std::nullopt;
  const auto name = parse_word<MatrixName>(matrix);
  const auto found = code.find(spelling);
  if (!name || found == code.end()) return std::nullopt;
  for (const MatrixFragment& of : found->second.fragments)
    if (of.matrix == *name && row >= 0 && row < of.rows && column >= 0 && column < of.columns)
      return place_of(of, row, column);
  return std::nullopt;
}

// "l 3" is a value after a tile, counted from 1; or "tiles". Empty if there is no such value.
std::optional<double> value_in(const SoftmaxSteps& steps, const std::string& words) {
  if (words == "tiles") return double(steps.steps());
  std::istringstream in(words);
  std::string name;
  int64_t tile = 0;
  if (!(in >> name >> tile) || !(in >> std::ws).eof()) return std::nullopt;
  const std::vector<SoftmaxTile> tiles = tiles_of(steps);
  if (tile < 1 || tile > static_cast<int64_t>(tiles.size())) return std::nullopt;
  const SoftmaxTile& one = tiles[static_cast<size_t>(tile) - 1];
  const std::map<std::string, double> known{
      {"m", double(one.m)},   {"l", double(one.l)}, {"exact_m", double(one.exact_m)}, {"exact_l", double(one.exact_l)},
      {"factor", one.factor}, {"added", one.added}, {"largest", double(one.largest)}};
  const auto found = known.find(name);
  return found == known.end() || !std::isfinite(found->second) ? std::nullopt : std::optional(found->second);
}

double time_spent(const Json& run, const std::string& term) {
  double us = 0;
  if (run["timing"].is_object() && run["timing"]["terms"].is_object())
    for (const Json& one : run["timing"]["terms"]["list"])
      if (one["kind"] == term) us += one["us"].get<double>();
  return us;
}

bool is_rule(const std::string& text) { return Rule::named(text).id() != RuleId::unknown; }
bool is_term(const std::string& text) { return parse_word<TermKind>(text).has_value(); }

// A numeric expression and its variables.
struct Numeric {
  std::string text{};
  Variables values{};
  void add(double value) {
    const std::string name = fmt::format("v{}", values.size());
    text += name;
    values[name] = value;
  }
};

class Translation {
 public:
  Translation(const std::map<std::string, Json>& known, const std::map<std::string, CodeForms>& code,
              const std::map<std::string, SoftmaxSteps>& softmax, const std::string& expression)
      : known_(known), code_(code), softmax_(softmax), expression_(expression) {}

  Result<Numeric> numeric() {
    auto tokens = tokens_of(expression_);
    if (!tokens) return fail(tokens.error());
    tokens_ = std::move(*tokens);
    while (at_ < tokens_.size())
      if (auto taken = take(); !taken) return fail(taken.error());
    return std::move(out_);
  }

 private:
  const Token& token(size_t ahead = 0) const {
    static const Token none;
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead] : none;
  }

  Result<void> take() {
    const Token& here = token();
    if (here.kind == Kind::other || token(1).is(Kind::other, "(")) {
      out_.text += here.text;
      ++at_;
      return {};
    }
    if (here.kind == Kind::word && token(1).kind == Kind::word) return take_question();
    if (token(1).is(Kind::other, "==") || token(1).is(Kind::other, "!=")) {
      const auto left = text_of(here), right = text_of(token(2));
      if (left && right) {
        out_.add((*left == *right) == token(1).is(Kind::other, "=="));
        at_ += 3;
        return {};
      }
    }
    if (here.kind == Kind::text)
      return fail(broken(expression_, fmt::format("compares \"{}\" with no text", here.text)));
    const Json* value = find(known_, here.text);
    if (value == nullptr) return fail(broken(expression_, fmt::format("asks for {}, which is not there", here.text)));
    if (!value->is_number() && !value->is_boolean())
      return fail(broken(expression_, fmt::format("asks for {}, which is not a number", here.text)));
    out_.add(value->is_boolean() ? double(value->get<bool>()) : value->get<double>());
    ++at_;
    return {};
  }

  // Parses A finds "…", A spends "…", A has "…", A lane "…" and A.failure exists.
  Result<void> take_question() {
    const std::string &of = token().text, &asks = token(1).text;
    if (!names_run(known_, of)) return fail(broken(expression_, fmt::format("asks for {}, which is not a run", of)));
    if (asks == "exists") {
      out_.add(find(known_, of) != nullptr);
      at_ += 2;
      return {};
    }
    const auto run = known_.find(of);
    const Token& what = token(2);
    if (run == known_.end() || what.kind != Kind::text)
      return fail(broken(expression_, "wants a run and a text: A finds \"banks.conflicts\""));
    if (asks == "has" || asks == "lane" || asks == "register" || asks == "bit") return take_code(of, asks, what.text);
    if (asks == "step") return take_step(of, what.text);
    if (asks == "finds" && is_rule(what.text))
      out_.add(is_found(run->second, what.text));
    else if (asks == "spends" && is_term(what.text))
      out_.add(time_spent(run->second, what.text));
    else
      return fail(broken(expression_,
                         fmt::format("asks whether {} {} \"{}\", which is not a rule or term", of, asks, what.text)));
    at_ += 3;
    return {};
  }

  // Parses A has "HMMA.16816.F32" and A lane "HMMA.16816.F32 A 9 6", as well as register and bit.
  Result<void> take_code(const std::string& of, const std::string& asks, const std::string& what) {
    const auto code = code_.find(of);
    if (code == code_.end())
      return fail(broken(expression_, fmt::format("asks for the code of {}, which its run lacks: \"code\": true", of)));
    if (asks == "has") {
      const auto found = code->second.find(what);
      out_.add(found == code->second.end() ? 0.0 : double(found->second.count));
    } else {
      const auto place = place_in(code->second, what);
      if (!place)
        return fail(broken(expression_, fmt::format("asks for \"{}\", which is not an element that {} has", what, of)));
      out_.add(asks == "lane" ? place->lane : asks == "register" ? place->reg : place->bit);
    }
    at_ += 3;
    return {};
  }

  // Parses A step "l 3".
  Result<void> take_step(const std::string& of, const std::string& what) {
    const auto softmax = softmax_.find(of);
    if (softmax == softmax_.end())
      return fail(
          broken(expression_, fmt::format("asks for the softmax of {}, which its run lacks: \"softmax\": ROW", of)));
    const auto value = value_in(softmax->second, what);
    if (!value)
      return fail(
          broken(expression_, fmt::format("asks for \"{}\", which is not a finite value of {}'s softmax", what, of)));
    out_.add(*value);
    at_ += 3;
    return {};
  }

  std::optional<std::string> text_of(const Token& token) const {
    if (token.kind == Kind::text) return token.text;
    const Json* value = token.kind == Kind::word ? find(known_, token.text) : nullptr;
    if (value == nullptr || !value->is_string()) return std::nullopt;
    return value->get<std::string>();
  }

  const std::map<std::string, Json>& known_;
  const std::map<std::string, CodeForms>& code_;
  const std::map<std::string, SoftmaxSteps>& softmax_;
  const std::string& expression_;
  std::vector<Token> tokens_{};
  size_t at_ = 0;
  Numeric out_{};
};

std::string shown(double value) {
  if (std::fabs(value) >= 100 || value == std::rint(value)) return with_commas(std::llround(value));
  return fmt::format("{:.3g}", value);
}

}  // namespace

void Observed::set(const std::string& name, const Observation& observation, const Listing* code) {
  known_[name] = to_json(observation);
  code_.erase(name);
  softmax_.erase(name);
  if (code != nullptr && code->softmax)
    softmax_[name] = *code->softmax;
  else if (code != nullptr)
    code_[name] = forms_of(*code);
}

Result<double> Observed::value(const std::string& expression) const {
  auto numeric = Translation(known_, code_, softmax_, expression).numeric();
  if (!numeric) return fail(numeric.error());
  auto value = evaluate_real(numeric->text, numeric->values, expression);
  if (!value) return fail(broken(expression, "is no expression: " + value.error().message));
  return value;
}

Result<bool> Observed::holds(const std::string& expression) const {
  return value(expression).map([](double value) { return value != 0; });
}

Result<std::string> Observed::filled(const std::string& text) const {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t open = std::min(text.find('{', at), text.size());
    out += text.substr(at, open - at);
    if (open == text.size()) break;
    const size_t close = text.find('}', open);
    if (close == std::string::npos) return fail(broken(text.substr(open), "has a { without its }"));
    const std::string expression = text.substr(open + 1, close - open - 1);
    if (const Json* found = find(known_, expression); found != nullptr && found->is_string()) {
      out += found->get<std::string>();
    } else {
      auto number = value(expression);
      if (!number) return fail(number.error());
      out += shown(*number);
    }
    at = close + 1;
  }
  return out;
}

}  // namespace attnscope::lesson
