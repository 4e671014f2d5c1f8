#include "catalog/cuda_source.h"

#include <algorithm>
#include <utility>

#include "catalog/conditional_text.h"
#include "catalog/device_launches.h"
#include "catalog/source_macros.h"
#include "catalog/source_members.h"
#include "catalog/source_text.h"
#include "catalog/written_parameters.h"
#include "core/text.h"

namespace attnscope::catalog {
namespace {

using Tokens = std::vector<CppToken>;
using TokenKind = CppToken::Kind;

// Limits of what is read, because a manifest cannot contain more: a hostile file that repeats texts would otherwise
// cost its length squared.
constexpr size_t kLongestName = 1000;                       // of a kernel with its namespaces
constexpr size_t kMostClasses = 1000;                       // names that are kept
constexpr size_t kMostBranches = 8;                         // around a launch
constexpr size_t kMostConditionalTokens = 2000;             // of a parameter list with #if lines
constexpr size_t kMostConditionalBytes = size_t{32} << 10;  // of the same
constexpr size_t kMostInstances = 1000;
constexpr size_t kLongestKernelName = 6;  // tokens of "&a::b"

class Reader {
 public:
  // A macro's text has no preprocessor lines.
  explicit Reader(std::string_view source, bool of_macro = false)
      : tokens_(cpp_tokens(source)), brackets_(tokens_), of_macro_(of_macro) {
    for (size_t i = 0; i < tokens_.size(); ++i)
      if (tokens_[i].kind == TokenKind::line) lines_.push_back(i);
  }

  CudaSource read() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      track_namespace(i);
      track_blocks(i);
      if (tokens_[i].kind == TokenKind::line) {
        if (!of_macro_) read_line(i);
      } else if (is(i, "__global__"))
        read_kernel(i);
      else if (is(i, "<") && is(i + 1, "<") && is(i + 2, "<"))
        read_launch(i);
      else if (is_dims_type(tokens_[i].text))
        read_dims(at(i), out_);
      else if (is(i, "typedef"))
        read_typedef(i);
      else if (is(i, "using"))
        read_using(i);
      else if (is(i, "struct") || is(i, "class") || is(i, "union") || is(i, "enum"))
        read_struct(i);
      else if (is(i, "template"))
        is(i + 1, "<") ? read_template(i) : read_instance(i);
      else if (is(i, "=") && i > 0 && tokens_[i - 1].kind == TokenKind::word) {
        read_settable(i);
        read_kernel_name(i);
      } else if (is(i, "&") || is(i, "cin"))
        read_reference(at(i), out_);
      else if ((is(i, "=") || is(i, "+") || is(i, "-")) && i > 1)
        read_change(at(i), out_);
      else if (word(i) && is(i + 1, "(")) {
        read_pitch(at(i), out_);
        read_call(at(i), written_, out_);
      }
    }
    add_enumerators();
    out_.constants.sort();
    out_.dims.sort();
    out_.kernel_names.sort();
    remove_device_launches(tokens_, brackets_, out_.launches);
    out_.launches.insert(out_.launches.end(), in_macros_.begin(), in_macros_.end());
    for (size_t i = 0; i < out_.kernels.size(); ++i)
      if (out_.kernels[i].defined) out_.defined.emplace(plain_kernel_name(out_.kernels[i].name), i);
    return std::move(out_);
  }

 private:
  bool is(size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
  bool word(size_t i) const { return i < tokens_.size() && tokens_[i].kind == TokenKind::word; }

  void track_namespace(size_t i) {
    while (!ends_.empty() && i > ends_.back().first) {
      prefix_.resize(ends_.back().second);
      ends_.pop_back();
    }
    if (!is(i, "namespace") || (i > 0 && is(i - 1, "using"))) return;
    size_t open = i + 1;
    while (open < tokens_.size() && !is(open, "{") && !is(open, ";") && !is(open, "=") && !is(open, "namespace"))
      ++open;
    if (!is(open, "{")) return;
    ends_.emplace_back(brackets_.closing(open), prefix_.size());
    if (open > i + 1) prefix_ += text_of(tokens_, i + 1, open) + "::";
  }

  // Tracks the blocks and branches that token i is in.
  void track_blocks(size_t i) {
    while (!blocks_.empty() && i > blocks_.back()) blocks_.pop_back();
    while (!branches_.empty() && i > branches_.back().end) branches_.pop_back();
    if (is(i, "{")) {
      read_braces(at(i), out_);
      blocks_.push_back(brackets_.closing(i));
    }
    const bool header = (is(i, "while") || is(i, "for")) && is(i + 1, "(");
    const size_t body = header ? brackets_.closing(i + 1) + 1 : is(i, "do") ? i + 1 : tokens_.size();
    const size_t end_of_body = is(body, "{") ? brackets_.closing(body) : tokens_.size();
    if (end_of_body < tokens_.size()) out_.changes.open_loop(tokens_[i].at, tokens_[end_of_body].at);
    if (i == else_at_) open_branch(i, brackets_.closing(i), else_condition_, false);
    if (!is(i, "if") || !is(i + 1, "(")) return;
    const size_t close = brackets_.closing(i + 1);
    if (!is(close + 1, "{")) return;
    const std::string condition = text_of(tokens_, i + 2, close);
    const size_t end = brackets_.closing(close + 1);
    open_branch(i, end, condition, true);
    if (!is(end + 1, "else") || !is(end + 2, "{")) return;
    else_at_ = end + 2;
    else_condition_ = condition;
  }
  void open_branch(size_t begin, size_t end, const std::string& condition, bool holds) {
    if (end >= tokens_.size() || begin >= end || branches_.size() == kMostBranches) return;
    branches_.push_back({end, {condition, holds}});
  }
  HostToken at(size_t i) const {
    const bool outside = blocks_.empty() || blocks_.back() >= tokens_.size();
    return {tokens_, brackets_, i, outside ? SIZE_MAX : tokens_[blocks_.back()].at};
  }

  // Reads launches in a macro, without duplicates; used if no function says more.
  void read_line(size_t i) {
    const auto launching = macros_.read(tokens_[i].text.substr(1), i > 0 && tokens_[i - 1].kind != TokenKind::line);
    if (!launching) return;
    const CudaSource macro = Reader(launching->text, true).read();
    out_.launching_macros.emplace(launching->name);
    for (SourceLaunch launch : macro.launches) {
      launch.at = SIZE_MAX;
      in_macros_.push_back(std::move(launch));
    }
  }

  // `template <typename T, int N> __global__ void __launch_bounds__(N) name(parameters)`
  void read_kernel(size_t i) {
    SourceKernel kernel;
    size_t start = i;
    while (start > 0 && !is(start - 1, ";") && !is(start - 1, "}") && !is(start - 1, "{") &&
           !is(start - 1, "__global__") && tokens_[start - 1].kind != TokenKind::line)
      --start;
    for (; start < i && is(start, "template") && is(start + 1, "<");) {
      const size_t behind = brackets_.behind_angles(start + 1);
      for (TemplateParameter& one : template_parameters(start + 1))
        kernel.template_parameters.push_back(std::move(one));
      start = behind;
    }
    size_t open = i + 1;
    for (; open < tokens_.size() && !is(open, ";") && !is(open, "{") && !is(open, "__global__"); ++open) {
      if (!is(open, "(")) continue;
      if (!is_kernel_attribute(tokens_[open - 1])) break;
      if (is(open - 1, "__launch_bounds__")) {
        const auto bounds = parts_of(tokens_, brackets_, open + 1, brackets_.closing(open));
        if (!bounds.empty()) kernel.launch_bounds = text_of(tokens_, bounds[0].first, bounds[0].second);
      }
      open = brackets_.closing(open);
    }
    if (!is(open, "(") || !word(open - 1)) return;
    if (prefix_.size() + tokens_[open - 1].text.size() > kLongestName) return;
    kernel.name = prefix_ + std::string(tokens_[open - 1].text);
    const size_t close = brackets_.closing(open);
    read_parameters(open, close, kernel);
    kernel.defined = is(close + 1, "{");
    if (!kernel.defined) {
      kernel.declared = {tokens_[open].at};
    } else {
      kernel.needs = macros_.needed();
      const size_t last = brackets_.closing(close + 1);
      kernel.body = tokens_[close + 1].at;
      kernel.end = last < tokens_.size() ? tokens_[last].at : tokens_.back().end();
    }
    const auto [place, fresh] = by_name_.emplace(kernel.name, out_.kernels.size());
    if (fresh)
      out_.kernels.push_back(std::move(kernel));  // a declaration and its definition are the same kernel
    else if (SourceKernel& twin = out_.kernels[place->second]; !kernel.defined)
      twin.declared.push_back(tokens_[open].at);
    else if (!twin.defined) {
      kernel.declared = std::move(twin.declared);
      twin = std::move(kernel);  // the definition has the parameters' names
    }
  }

  // True if a preprocessor's line is in the list, and the list is short enough to be read without what it leaves out.
  bool is_conditional(size_t open, size_t close) const {
    const auto line = std::ranges::lower_bound(lines_, open);
    if (line == lines_.end() || *line >= close || close >= tokens_.size()) return false;
    return close - open <= kMostConditionalTokens && tokens_[close].at - tokens_[open].at <= kMostConditionalBytes;
  }

  // The list between the parentheses, without what its #if lines leave out.
  void read_parameters(size_t open, size_t close, SourceKernel& kernel) const {
    const bool conditional = is_conditional(open, close);
    Tokens kept;
    if (conditional) kept = compiled_tokens(tokens_, open, close, out_.macros);
    const Tokens& list = conditional ? kept : tokens_;
    const CppBrackets its(kept);
    const CppBrackets& brackets = conditional ? its : brackets_;
    const size_t first = conditional ? 0 : open;
    const size_t last = conditional ? kept.size() : close;
    for (const auto& [begin, end] : parts_of(list, brackets, first + 1, last))
      if (!(end == begin + 1 && list[begin].is("void")))
        kernel.parameters.push_back(parameter_of(list, brackets, begin, end));
  }

  void read_launch(size_t i) {
    SourceLaunch launch;
    size_t name = i;  // index after the kernel's name
    if (is(i - 1, ">")) {
      size_t depth = 0, open = i - 1;
      for (; open > 0 && open + kMostTextTokens > i; --open) {
        if (is(open, ">")) ++depth;
        if (is(open, "<") && --depth == 0) break;
      }
      if (depth > 0) return;
      launch.template_arguments = text_of(tokens_, open + 1, i - 1);
      name = open;
    }
    if (name == 0 || !word(name - 1)) return;
    launch.kernel = std::string(tokens_[name - 1].text);
    size_t end = i + 3;
    while (end < tokens_.size() && !(is(end, ">") && is(end + 1, ">") && is(end + 2, ">"))) {
      if (is(end, "<") && is(end + 1, "<") && is(end + 2, "<")) return;  // the next launch, so this is not one
      if (is(end, "(")) end = brackets_.closing(end);
      ++end;
    }
    const auto parts = parts_of(tokens_, brackets_, i + 3, end);
    std::string* fields[] = {&launch.grid, &launch.block, &launch.shared};
    for (size_t k = 0; k < parts.size() && k < 3; ++k) *fields[k] = text_of(tokens_, parts[k].first, parts[k].second);
    if (const size_t open = end + 3; is(open, "(") && brackets_.closing(open) < open + kMostTextTokens)
      for (const auto& [begin, last] : parts_of(tokens_, brackets_, open + 1, brackets_.closing(open)))
        launch.arguments.push_back(text_of(tokens_, begin, last));
    for (const OpenBranch& one : branches_) launch.branches.push_back(one.branch);
    launch.at = tokens_[i].at;
    out_.launches.push_back(std::move(launch));
  }

  void read_typedef(size_t i) {
    size_t end = i + 1;
    while (end < tokens_.size() && !is(end, ";") && !is(end, "(") && !is(end, "typedef"))
      end = is(end, "{") ? brackets_.closing(end) + 1 : end + 1;
    if (!is(end, ";") || !word(end - 1)) return;
    const std::string name(tokens_[end - 1].text);
    size_t open = i + 1;
    while (open < end && !is(open, "{")) ++open;
    if (open < end)
      read_members(name, open);
    else
      out_.add_type(name, text_of(tokens_, i + 1, end - 1));
  }

  void read_using(size_t i) {
    if (!word(i + 1) || !is(i + 2, "=")) return;
    size_t end = i + 3;
    while (end < tokens_.size() && !is(end, ";") && !is(end, "using")) ++end;
    out_.add_type(std::string(tokens_[i + 1].text), text_of(tokens_, i + 3, end));
  }

  // The parameters in the list that starts with the angle bracket at `open`, without unnamed ones.
  std::vector<TemplateParameter> template_parameters(size_t open) const {
    std::vector<TemplateParameter> found;
    for (const auto& [begin, end] : parts_of(tokens_, brackets_, open + 1, brackets_.behind_angles(open) - 1)) {
      if (end > begin + kMostTextTokens) continue;
      size_t name = begin;
      while (name + 1 < end && !is(name + 1, "=")) ++name;
      if (word(name))
        found.push_back({std::string(tokens_[name].text), text_of(tokens_, begin, name),
                         name + 2 < end ? text_of(tokens_, name + 2, end) : ""});
    }
    return found;
  }

  // `template __global__ void k<64, 8>(float* x);`
  void read_instance(size_t i) {
    size_t open = i + 1;
    while (open < tokens_.size() && open < i + kMostTextTokens && !is(open, "<") && !is(open, "(") && !is(open, ";"))
      ++open;
    if (!is(open, "<") || !word(open - 1) || out_.instances.size() == kMostInstances) return;
    const size_t behind = brackets_.behind_angles(open);
    if (is(behind, "("))
      out_.instances.push_back({std::string(tokens_[open - 1].text), text_of(tokens_, open + 1, behind - 1)});
  }

  // `auto k = kernel<64, 8>;`, at its =.
  void read_kernel_name(size_t i) {
    size_t end = i + 1;
    while (end < tokens_.size() && end < i + kMostTextTokens && !is(end, ";") && !is(end, "{") && !is(end, "=")) ++end;
    if (!is(end, ";") || !(is(end - 1, ">") || end <= i + kLongestKernelName)) return;
    const SourceInstance one = instance_of(text_of(tokens_, i + 1, end));
    if (!one.kernel.empty())
      out_.kernel_names.add(std::string(tokens_[i - 1].text), {tokens_[i].at, at(i).end_of_block, one});
  }

  void read_template(size_t i) {
    for (TemplateParameter& one : template_parameters(i + 1)) out_.parameter_names.insert(std::move(one.name));
  }

  // `struct __align__(16) Pair {`; also of a class, union or enum, whose members are not read.
  void read_struct(size_t i) {
    size_t name = i + 1;
    while ((is(name, "__align__") || is(name, "alignas") || is(name, "__attribute__")) && is(name + 1, "("))
      name = brackets_.closing(name + 1) + 1;
    const bool scoped = is(i, "enum") && (is(name, "class") || is(name, "struct"));
    if (scoped) ++name;
    if (!word(name)) return;
    if (out_.classes.size() < kMostClasses) out_.classes.emplace(std::string(tokens_[name].text));
    if (is(i, "enum")) return read_enum(name, scoped);
    if (is(i, "struct") && is(name + 1, "{")) read_members(std::string(tokens_[name].text), name + 1);
  }

  // At the enumeration's name: its type, and its values as constants. A scoped one's need the enumeration's name.
  void read_enum(size_t name, bool scoped) {
    const auto found = enumeration_at(tokens_, brackets_, name);
    if (!found) return;
    out_.add_type(std::string(tokens_[name].text), found->type);
    out_.enums.emplace(tokens_[name].text);
    for (const Enumerator& one : found->values) {
      enumerators_[std::string(tokens_[name].text) + "::" + one.name].push_back(one);
      if (!scoped) enumerators_[one.name].push_back(one);
    }
  }

  // A name that two enumerations define may mean either.
  void add_enumerators() {
    for (const auto& [name, all] : enumerators_) {
      if (all.size() > 1) continue;
      out_.constants.add(name, {all[0].at, SIZE_MAX, all[0].value});
      out_.kinds.emplace(all[0].at, NumberKind::whole);
    }
  }

  void read_members(const std::string& name, size_t open) {
    if (auto members = members_at(tokens_, brackets_, open)) out_.structs[name] = std::move(*members);
  }

  // #ifndef X / constexpr int X = v: -DX=w takes its place.
  void read_settable(size_t i) {
    const auto constant = read_constant(at(i), out_);
    if (!constant || constant->name != macros_.guarded() || !blocks_.empty()) return;
    if (const auto number = number_of<int64_t>(constant->value)) out_.settable.emplace_back(constant->name, *number);
  }

  struct OpenBranch {
    size_t end = 0;  // its last token
    SourceBranch branch;
  };

  Tokens tokens_;
  CppBrackets brackets_;
  WrittenParameters written_ = written_parameters(tokens_, brackets_);
  std::vector<size_t> lines_;  // the tokens that are preprocessor lines
  bool of_macro_;
  CudaSource out_;
  SourceMacros macros_{out_};
  std::map<std::string, size_t> by_name_;  // index into out_.kernels
  std::map<std::string, std::vector<Enumerator>> enumerators_;
  std::vector<SourceLaunch> in_macros_;
  std::vector<size_t> blocks_;  // the closing braces of the open blocks
  std::vector<OpenBranch> branches_;
  size_t else_at_ = SIZE_MAX;  // the brace that opens the next else, and the condition that leads there
  std::string else_condition_;
  std::string prefix_;                           // of the open namespaces
  std::vector<std::pair<size_t, size_t>> ends_;  // for each: its closing brace, and the prefix's length before it
};

}  // namespace

std::string plain_kernel_name(const std::string& name) {
  return name.substr(name.rfind(':') == std::string::npos ? 0 : name.rfind(':') + 1);
}

SourceInstance instance_of(const std::string& text) {
  const Tokens tokens = cpp_tokens(text);
  const CppBrackets brackets(tokens);
  const auto is = [&](size_t i, std::string_view mark) { return i < tokens.size() && tokens[i].is(mark); };
  size_t i = 0;
  while (is(i, "(") && brackets.closing(i) + 1 < tokens.size()) i = brackets.closing(i) + 1;  // a cast
  if (is(i, "&")) ++i;
  size_t name = SIZE_MAX;
  for (; i < tokens.size() && tokens[i].kind == TokenKind::word; ++i) {
    name = i;
    if (!is(i + 1, ":") || !is(i + 2, ":")) break;
    i += 2;
  }
  if (name == SIZE_MAX || tokens[name].kind != TokenKind::word) return {};
  if (name + 1 == tokens.size()) return {std::string(tokens[name].text), ""};
  if (!is(name + 1, "<") || brackets.behind_angles(name + 1) != tokens.size()) return {};
  return {std::string(tokens[name].text), text_of(tokens, name + 2, tokens.size() - 1)};
}

CudaSource read_cuda_source(const std::string& source) { return Reader(source).read(); }

}  // namespace attnscope::catalog
