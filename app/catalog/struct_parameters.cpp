#include "catalog/struct_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "catalog/element_types.h"
#include "catalog/import_sizes.h"
#include "catalog/import_values.h"
#include "catalog/source_text.h"
#include "core/joined.h"
#include "core/workload.h"

namespace attnscope::catalog {
namespace {

using OrderedJson = nlohmann::ordered_json;
using Leaf = StructLeaf;
using Tokens = std::vector<CppToken>;

constexpr int kMostCallers = 8;    // functions that hand a struct on
constexpr size_t kMostSizes = 24;  // of a kernel: of more whole numbers none is a size

bool is_word(const Tokens& tokens, size_t i) { return i < tokens.size() && tokens[i].kind == CppToken::Kind::word; }

// How a text uses a struct by its name.
struct StructUse {
  size_t at = 0;               // token
  const Leaf* leaf = nullptr;  // null: the struct as a whole, or a member that is no parameter
  size_t last = 0;             // token of the member's name
  bool read = false;           // a member that is only read there
  bool declared = false;       // the struct's declaration
};
std::vector<StructUse> uses_in(const Tokens& tokens, std::string_view name, const std::vector<Leaf>& leaves) {
  std::map<std::string, const Leaf*, std::less<>> by_path;
  for (const Leaf& leaf : leaves)
    if (leaf.named) by_path.emplace(leaf.path, &leaf);
  std::vector<StructUse> uses;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!is_word(tokens, i) || tokens[i].text != name) continue;
    if (is_member(tokens, i)) continue;
    StructUse use{.at = i, .last = i};
    std::string path;
    for (size_t at = i; is(tokens, at + 1, ".") && is_word(tokens, at + 2); at += 2) {
      path += (path.empty() ? "" : ".") + std::string(tokens[at + 2].text);
      const auto found = by_path.find(path);
      if (found == by_path.end()) continue;
      use.leaf = found->second;
      use.last = at + 2;
    }
    const size_t behind = use.last + 1;
    const auto operation = [&](size_t at) {
      return at < tokens.size() && std::string_view("+-*/%&|^<>").find(tokens[at].text) != std::string_view::npos;
    };
    const bool compared = is(tokens, behind + 1, "=") && (is(tokens, behind, "<") || is(tokens, behind, ">"));
    const bool assigned = (is(tokens, behind, "=") && !is(tokens, behind + 1, "=")) ||
                          (operation(behind) && is(tokens, behind + 1, "=") && !compared);
    const bool stepped =
        (is(tokens, behind, "+") || is(tokens, behind, "-")) && is(tokens, behind + 1, tokens[behind].text);
    const bool before =
        i > 0 && (is(tokens, i - 1, "&") || (i > 1 && operation(i - 1) && tokens[i - 1].text == tokens[i - 2].text &&
                                             (is(tokens, i - 1, "+") || is(tokens, i - 1, "-"))));
    use.read = use.leaf && !assigned && !stepped && !before && !is(tokens, behind, "(");
    use.declared = !use.leaf && i > 0 && is_word(tokens, i - 1) && !is(tokens, i - 1, "return");
    uses.push_back(use);
  }
  return uses;
}

// `p.rows` becomes p_rows in text[begin, end). `reads`: only where it is read.
void rename_members(std::string& text, size_t begin, size_t end, std::string_view name, const std::vector<Leaf>& leaves,
                    bool reads) {
  const std::string part = text.substr(begin, end - begin);
  const Tokens tokens = cpp_tokens(part);
  for (const StructUse& use : uses_in(tokens, name, leaves)) {
    if (!use.leaf || (reads && !use.read)) continue;
    const size_t bytes = tokens[use.last].end() - tokens[use.at].at;
    if (bytes != name.size() + 1 + use.leaf->path.size()) continue;  // with blanks or a comment between them
    for (size_t i = use.at + 1; i < use.last; i += 2) text[begin + tokens[i].at] = '_';
  }
}

bool uses_as_a_whole(const ReadSource& source, const SourceKernel& kernel, std::string_view name,
                     const std::vector<Leaf>& leaves) {
  const Tokens tokens = cpp_tokens(std::string_view(source.text).substr(kernel.body, kernel.end - kernel.body));
  return std::ranges::any_of(uses_in(tokens, name, leaves), [](const StructUse& use) { return !use.leaf; });
}

std::string with_underscores(std::string path) {
  std::ranges::replace(path, '.', '_');
  return path;
}

// A name with a value of the launching function, to be added to the host code's.
struct Value {
  std::string name;
  HostText text;
  size_t end = 0;
  bool floating = false;
};

// What the host code gives the members of one struct.
class HostMembers {
 public:
  HostMembers(const ReadSource& source, const HostScope& scope, const SourceLaunch& launch, HostText passed,
              const std::string& parameter, const std::vector<SourceParameter>& members,
              const std::vector<Leaf>& leaves)
      : source_(source),
        scope_(scope),
        launch_(launch),
        passed_(std::move(passed)),
        leaves_(leaves),
        function_(source.host.function_at(launch.at)) {
    const Tokens tokens = cpp_tokens(passed_.text);
    if (tokens.size() == 1 && is_word(tokens, 0) && function_) word_ = passed_.text;
    name_ = word_.empty() ? parameter : word_;
    texts_.resize(leaves.size());
    // The braces of an array's elements, or of a struct within, are not followed.
    const auto is_named = [](const Leaf& one) { return one.named; };
    if (leaves.size() == members.size() && std::ranges::all_of(leaves, is_named)) {
      texts_ = passed_members(source, passed_, members);
      if (std::ranges::all_of(texts_, [](const HostText& one) { return one.text.empty(); })) follow_callers(members);
    }
    find_changed();
  }

  // The variable that the launch passes; empty: it passes something else.
  const std::string& word() const { return word_; }
  const HostFunction* function() const { return function_; }

  // What the launch passes for a member.
  std::string argument(size_t i) const {
    const std::string name = name_ + "_" + with_underscores(leaves_[i].path);
    // In parentheses it is not another name for the size.
    if (!leaves_[i].member.pointer) return changed_.contains(i) ? "(" + name + ")" : name;
    const std::string pointer = passed_pointer(texts_[i].text).name;
    const bool same = !pointer.empty() && texts_[i].at <= launch_.at && !followed_ &&
                      scope_.definition(pointer, texts_[i].at) == scope_.definition(pointer, launch_.at);
    return same ? texts_[i].text : "";
  }

  std::vector<Value> values() const {
    std::vector<Value> found;
    for (size_t i = 0; i < leaves_.size(); ++i) {
      if (leaves_[i].member.pointer || texts_[i].text.empty() || !function_) continue;
      Value value{argument(i), texts_[i], function_->end, is_floating(leaves_[i].type)};
      // `p.stride = p.rows * p.width` of the struct's own members.
      if (!word_.empty()) rename_members(value.text.text, 0, value.text.text.size(), word_, leaves_, true);
      if (followed_) value.text.at = function_->begin;
      value.text.at = std::min(value.text.at, launch_.at - 1);
      found.push_back(std::move(value));
    }
    return found;
  }

 private:
  Tokens before_launch() const {
    return cpp_tokens(std::string_view(source_.text).substr(function_->begin, launch_.at - function_->begin));
  }

  // Members that the host code sets only after a place that reads them: what is read there is not what the launch
  // passes.
  void find_changed() {
    if (word_.empty()) return;
    const Tokens tokens = before_launch();
    std::set<size_t> read;
    for (const StructUse& use : uses_in(tokens, word_, leaves_))
      for (size_t i = 0; i < leaves_.size(); ++i) {
        if ((use.leaf && use.leaf != &leaves_[i]) || !texts_[i].text.empty() || use.declared) continue;
        if (use.read)
          read.insert(i);
        else if (read.contains(i))
          changed_.insert(i);
      }
  }

  // A struct that the launching function gets and only reads has what its caller gives it. Only numbers are taken.
  void follow_callers(const std::vector<SourceParameter>& members) {
    HostText here = passed_;
    for (int depth = 0; depth < kMostCallers; ++depth) {
      const HostFunction* const function = source_.host.function_at(here.at);
      if (!function || std::ranges::count(function->parameters, here.text) == 0 || function->begin > here.at) return;
      const Tokens tokens =
          cpp_tokens(std::string_view(source_.text).substr(function->begin, here.at - function->begin));
      const auto uses = uses_in(tokens, here.text, leaves_);
      // The last one is the call or the launch itself, if its name comes before `at`.
      if (std::ranges::any_of(uses, [](const StructUse& use) { return !use.read; })) return;
      here = source_.host.argument(here.text, here.at);
      if (here.text.empty()) return;
      const std::vector<HostText> texts = passed_members(source_, here, members);
      bool any = false;
      for (size_t i = 0; i < leaves_.size(); ++i) {
        if (leaves_[i].member.pointer || leaves_[i].lanes > 1) continue;
        const auto number = passed_number(texts[i], leaves_[i].type, scope_);
        any = any || !texts[i].text.empty();
        if (number && !number->guessed)
          texts_[i] = {value_argument(number->number, leaves_[i].type)["value"].dump(), here.at};
      }
      followed_ = any;
      if (any) return;
    }
  }

  const ReadSource& source_;
  const HostScope& scope_;
  const SourceLaunch& launch_;
  const HostText passed_;
  const std::vector<Leaf>& leaves_;
  const HostFunction* const function_;  // around the launch
  std::string word_, name_;
  std::vector<HostText> texts_;  // by leaf
  bool followed_ = false;        // they are a caller's
  std::set<size_t> changed_;     // leaves
};

// `before`: the launch.
void add_values(CudaSource& source, const std::vector<Value>& values, size_t before) {
  for (const Value& value : values) {
    size_t at = value.text.at;
    const bool room = at + values.size() < before;
    while (source.kinds.contains(at)) room ? ++at : --at;  // braces give several at one place
    source.constants.add(value.name, {at, value.end, value.text.text});
    source.kinds.emplace(at, value.floating ? NumberKind::floating : NumberKind::whole);
  }
  source.constants.sort();
}

}  // namespace

bool StructParameters::put_members_in(ReadSource& source, size_t kernel, size_t launch, const HostScope& scope) {
  const SourceKernel own = source.cuda.kernels[kernel];
  std::vector<std::optional<Struct>> structs(own.parameters.size());
  size_t whole_numbers = 0, leaves = 0;
  for (size_t i = 0; i < own.parameters.size(); ++i) {
    const SourceParameter& parameter = own.parameters[i];
    const std::string type = scope.resolved_type(parameter.type);
    const auto* const members = members_of(source.cuda, type);
    if (parameter.pointer || parameter.name.empty() || !members || element_of(type)) continue;
    Struct one{parameter.name, *members, {}, 0};
    const auto bytes = lay_out(source.cuda, scope, parameter.name, *members, one.leaves);
    if (!bytes) continue;
    one.bytes = *bytes;
    leaves += one.leaves.size();
    for (const Leaf& leaf : one.leaves) whole_numbers += leaf.named && !leaf.member.pointer && !is_floating(leaf.type);
    structs[i] = std::move(one);
  }
  if (std::ranges::none_of(structs, [](const auto& one) { return one.has_value(); }) || leaves > kMostStructLeaves)
    return false;
  if (whole_numbers > kMostSizes)
    for (auto& one : structs)
      for (size_t i = 0; one && i < one->leaves.size(); ++i)
        one->leaves[i].named =
            one->leaves[i].named && (one->leaves[i].member.pointer || is_floating(one->leaves[i].type));

  const SourceLaunch* const its = launch < source.cuda.launches.size() ? &source.cuda.launches[launch] : nullptr;
  std::string text = source.text;
  std::vector<SourceParameter> parameters;
  std::vector<std::string> arguments;
  std::vector<Value> values;
  const bool passed = its && its->at != SIZE_MAX && its->arguments.size() == own.parameters.size();
  for (size_t i = 0; i < structs.size(); ++i) {
    const SourceParameter& parameter = own.parameters[i];
    if (!structs[i]) {
      parameters.push_back(parameter);
      if (passed) arguments.push_back(its->arguments[i]);
      continue;
    }
    const Struct& one = *structs[i];
    const bool handed_on = uses_as_a_whole(source, own, one.name, one.leaves);
    for (const Leaf& leaf : one.leaves) {
      if (!leaf.named) continue;
      SourceParameter member = leaf.member;
      member.name = with_underscores(leaf.name);
      member.member = leaf.member.name;
      member.handed_on = handed_on;
      parameters.push_back(std::move(member));
    }
    rename_members(text, own.body, own.end, one.name, one.leaves, false);
    if (!passed) continue;
    const HostMembers host(source, scope, *its, {its->arguments[i], its->at}, one.name, one.members, one.leaves);
    for (size_t k = 0; k < one.leaves.size(); ++k)
      if (one.leaves[k].named) arguments.push_back(host.argument(k));
    for (Value& value : host.values()) values.push_back(std::move(value));
    if (!host.word().empty())
      rename_members(text, host.function()->begin, host.function()->end, host.word(), one.leaves, true);
  }
  ReadSource renamed =
      source.own == SIZE_MAX ? read_source(text) : read_source(text.substr(0, source.own), text.substr(source.own + 1));
  const bool same = kernel < renamed.cuda.kernels.size() && renamed.cuda.kernels[kernel].body == own.body &&
                    (!its || (launch < renamed.cuda.launches.size() && renamed.cuda.launches[launch].at == its->at));
  if (!same) return false;
  renamed.cuda.kernels[kernel].parameters = std::move(parameters);
  if (passed) renamed.cuda.launches[launch].arguments = std::move(arguments);
  add_values(renamed.cuda, values, its ? its->at : 0);
  source = std::move(renamed);
  structs_ = std::move(structs);
  return true;
}

OrderedJson StructParameters::put_together(const OrderedJson& of_members, Imported& imported) const {
  if (structs_.empty()) return of_members;
  OrderedJson all = OrderedJson::array();
  const std::set<size_t> open = std::exchange(imported.open_values, {});
  size_t from = 0;
  for (size_t i = 0; i < structs_.size(); ++i) {
    if (!structs_[i]) {
      if (open.contains(from)) imported.open_values.insert(i);
      all.push_back(of_members[from++]);
      continue;
    }
    OrderedJson fields = OrderedJson::array();
    std::vector<std::string> ones;
    size_t bytes = 0, widest = 1;
    const auto pad = [&](size_t to, size_t align) {
      for (; aligned(bytes, align) < to; ++bytes)
        fields.push_back(OrderedJson{{"value", 0}, {"type", word_of(ElementType::u8)}});
    };
    for (const Leaf& leaf : structs_[i]->leaves) {
      pad(leaf.at, leaf.bytes);
      widest = std::max(widest, leaf.bytes);
      bytes = leaf.at + leaf.bytes * leaf.lanes;
      if (!leaf.named) {
        for (size_t lane = 0; lane < leaf.lanes; ++lane)
          fields.push_back(OrderedJson{{"value", 1}, {"type", word_of(leaf.type)}});
        ones.push_back(leaf.path);
        continue;
      }
      if (open.contains(from)) imported.open_values.insert(i);
      const OrderedJson& one = of_members[from++];
      if (one.is_object() && one.contains("struct"))
        for (const OrderedJson& lane : one["struct"]) fields.push_back(lane);
      else if (one.is_string() && !leaf.member.pointer && leaf.bytes == kStructAddressBytes)
        fields.push_back(OrderedJson{{"value", one}, {"type", word_of(ElementType::i64)}});
      else
        fields.push_back(one);
    }
    pad(structs_[i]->bytes, widest);
    all.push_back(OrderedJson{{"struct", fields}});
    if (ones.empty()) continue;
    imported.open_values.insert(i);
    imported.guessed.push_back(
        fmt::format("{} of {} {} passed as 1", joined(ones), structs_[i]->name, ones.size() > 1 ? "are" : "is"));
  }
  return all;
}

}  // namespace attnscope::catalog
