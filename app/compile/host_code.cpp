#include "compile/host_code.h"

#include <algorithm>
#include <set>
#include <vector>

#include "compile/header_texts.h"
#include "core/cpp_tokens.h"

namespace attnscope::compile {
namespace {

using Tokens = std::vector<CppToken>;
using Words = std::set<std::string_view>;

// What NVRTC has in namespace std without a header.
const Words kBuiltIn{
    "move", "forward", "initializer_list", "index_sequence", "make_index_sequence", "integer_sequence"};

// True for a name that NVRTC or a built-in header may have in namespace std: every word of these headers counts.
bool in_device_std(std::string_view name) {
  static const Words all = [] {
    Words words = kBuiltIn;
    for (const BuiltinText& header : header_texts())
      for (const CppToken& token : cpp_tokens(header.text))
        if (token.kind == CppToken::Kind::word) words.insert(token.text);
    return words;
  }();
  return all.contains(name);
}

const Words kHostWords{"cout",
                       "cerr",
                       "endl",
                       "fopen",
                       "fprintf",
                       "fputs",
                       "fclose",
                       "fread",
                       "fwrite",
                       "stderr",
                       "stdout",
                       "FILE",
                       "atoi",
                       "atof",
                       "strtol",
                       "rand",
                       "srand",
                       "getenv",
                       "exit",
                       "abort",
                       "vector",
                       "string",
                       "ostream",
                       "thrust",
                       "torch",
                       "TORCH_CHECK",
                       "nvbench",
                       "NVBENCH_BENCH",
                       "NVBENCH_BENCH_TYPES",
                       "BENCHMARK",
                       "BENCHMARK_MAIN",
                       "PYBIND11_MODULE",
                       "TORCH_LIBRARY",
                       "AT_DISPATCH_FLOATING_TYPES",
                       "pybind11"};

// A variable with one of these in its declaration may be used by device code.
const Words kSeenByDevice{"const", "constexpr", "__constant__", "__managed__", "__shared__", "extern", "template"};

constexpr int kDeepestClass = 32;  // nested classes; deeper ones are left unchanged

bool upper(char c) { return c >= 'A' && c <= 'Z'; }

// Blanks declarations that only a host compiler accepts.
class Blanker {
 public:
  explicit Blanker(std::string_view source)
      : source_(source), out_(source), tokens_(cpp_tokens(source)), brackets_(tokens_) {
    find_macros();
  }

  std::string run() {
    if (!balanced()) return std::string(source_);
    for (size_t i = 0; i < tokens_.size();) i = declaration(i, tokens_.size(), false);
    blank_lambda_spaces();
    for (size_t i = 0; i < tokens_.size(); ++i)
      if (is(i, "register")) blank(i, i + 1);  // C++17 has no such storage class; nvcc only warns
    return out_;
  }

 private:
  const CppToken& token(size_t i) const { return tokens_[i]; }
  bool is(size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
  bool word(size_t i) const { return i < tokens_.size() && tokens_[i].kind == CppToken::Kind::word; }

  bool balanced() const {
    std::vector<char> open;
    for (const CppToken& t : tokens_) {
      if (t.kind != CppToken::Kind::mark) continue;
      const char c = t.text[0];
      if (c == '(' || c == '[' || c == '{') open.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
      if (c != ')' && c != ']' && c != '}') continue;
      if (open.empty() || open.back() != c) return false;
      open.pop_back();
    }
    return open.empty();
  }

  // Finds macros whose text says where a function runs: `#define DEV __device__ __forceinline__`.
  void find_macros() {
    for (const CppToken& t : tokens_) {
      if (t.kind != CppToken::Kind::line) continue;
      const Tokens inner = cpp_tokens(t.text.substr(1));
      if (inner.size() < 3 || !inner[0].is("define")) continue;
      if (std::ranges::any_of(inner.begin() + 2, inner.end(), [&](const CppToken& one) { return runs_on_device(one); }))
        device_macros_.insert(inner[1].text);
      else if (host_only(inner, 2, inner.size()))
        host_macros_.insert(inner[1].text);
    }
  }
  bool runs_on_device(const CppToken& t) const {
    return t.is("__device__") || t.is("__global__") ||
           (t.kind == CppToken::Kind::word && device_macros_.contains(t.text));
  }
  bool device(size_t begin, size_t end) const {
    return std::any_of(tokens_.begin() + static_cast<ptrdiff_t>(begin), tokens_.begin() + static_cast<ptrdiff_t>(end),
                       [&](const CppToken& t) { return runs_on_device(t); });
  }
  bool any_of_words(size_t begin, size_t end, const Words& words) const {
    for (size_t i = begin; i < end; ++i)
      if (word(i) && words.contains(tokens_[i].text)) return true;
    return false;
  }
  bool has(size_t begin, size_t end, std::string_view name) const {
    for (size_t i = begin; i < end; ++i)
      if (is(i, name)) return true;
    return false;
  }

  // cublasHandle_t, cudnnTensorDescriptor_t, ncclComm_t, cudaStream_t: device code does not use them.
  static bool of_host_library(std::string_view word) {
    for (const std::string_view prefix :
         {"cublas", "cudnn", "cufft", "cusparse", "cusolver", "nccl", "nvml", "nvtx", "curandGenerator", "cudaStream",
          "cudaEvent", "cudaGraph", "cudaDeviceProp", "cudaMemPool", "MPI_"})
      if (word.starts_with(prefix)) return true;
    return false;
  }

  // True if [begin, end) uses something that only the host has.
  bool host_only(size_t begin, size_t end) const { return host_only(tokens_, begin, end); }
  static bool host_only(const Tokens& tokens, size_t begin, size_t end) {
    const auto is = [&](size_t i, std::string_view text) { return i < tokens.size() && tokens[i].is(text); };
    const auto word = [&](size_t i) { return i < tokens.size() && tokens[i].kind == CppToken::Kind::word; };
    for (size_t i = begin; i < end; ++i) {
      if (is(i, "<") && is(i + 1, "<") && is(i + 2, "<") && tokens[i + 2].at == tokens[i].at + 2) return true;
      if (!word(i)) continue;
      const std::string_view text = tokens[i].text;
      const bool scope = is(i + 1, ":") && is(i + 2, ":");
      if (scope && text == "std" && word(i + 3) && !in_device_std(tokens[i + 3].text)) return true;
      if (scope && (text == "at" || text == "c10")) return true;
      if (kHostWords.contains(text) || of_host_library(text)) return true;
      if (text.size() > 4 && text.starts_with("cuda") && upper(text[4]) && is(i + 1, "(")) return true;
    }
    return false;
  }

  // Conditions and definitions stay, because they may extend over the ends of the declaration. #line stays too, because
  // it numbers the following lines.
  void blank(size_t begin, size_t end) {
    if (begin >= end) return;
    for (size_t at = tokens_[begin].at, last = tokens_[end - 1].end(); at < last; ++at)
      if (out_[at] != '\n') out_[at] = ' ';
    for (size_t i = begin; i < end; ++i) {
      if (tokens_[i].kind != CppToken::Kind::line) continue;
      const Tokens inner = cpp_tokens(tokens_[i].text.substr(1));
      static const Words kept{"if", "ifdef", "ifndef", "else", "elif", "endif", "define", "undef", "line"};
      if (!inner.empty() && kept.contains(inner[0].text))
        out_.replace(tokens_[i].at, tokens_[i].text.size(), tokens_[i].text);
    }
  }

  // `[=] __device__(int i) {…}` needs nvcc's --extended-lambda; NVRTC refuses the word and does not need it, because
  // all its code is device code. `[[nodiscard]] __device__ int f()` is not a lambda.
  void blank_lambda_spaces() {
    const auto space = [&](size_t i) { return is(i, "__device__") || is(i, "__host__"); };
    for (size_t i = 1; i < tokens_.size(); ++i) {
      if (!is(i, "]") || is(i - 1, "]") || !space(i + 1)) continue;
      size_t behind = i + 1;
      while (space(behind)) ++behind;
      if (is(behind, "(") || is(behind, "{")) blank(i + 1, behind);
    }
  }

  // The index after the ";" that ends the statement beginning at `i`, skipping brackets.
  size_t behind_semicolon(size_t i, size_t end) const {
    for (; i < end; ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "{"))
        i = brackets_.closing(i);
      else if (is(i, ";"))
        return i + 1;
    }
    return end;
  }

  // Handles one declaration of a namespace or (`member`) a class, from `first`. Returns where the next one starts.
  size_t declaration(size_t first, size_t end, bool member) {
    size_t i = first;
    if (token(i).kind == CppToken::Kind::line || is(i, ";") || is(i, "}")) return i + 1;
    if (member && (is(i, "public") || is(i, "private") || is(i, "protected")) && is(i + 1, ":")) return i + 2;
    if (is(i, "inline") && is(i + 1, "namespace")) ++i;
    if (is(i, "namespace") ||
        (is(i, "extern") && i + 1 < end && token(i + 1).kind == CppToken::Kind::text && is(i + 2, "{"))) {
      size_t open = i;
      while (open < end && !is(open, "{") && !is(open, ";")) ++open;
      return open + 1;  // its contents are read as if they were outside; the closing brace is skipped
    }
    if (is(i, "using") || is(i, "typedef") || is(i, "static_assert") || is(i, "asm")) {
      const size_t behind = behind_semicolon(i, end);
      const bool whole_namespace = is(i + 1, "namespace");
      // using ns::run; where run was a host function
      if (is(i, "using") && behind > i + 2 && word(behind - 2) && is(behind - 3, ":") &&
          gone_.contains(token(behind - 2).text)) {
        blank(first, behind);
        return behind;
      }
      if (host_only(i, behind) && !(whole_namespace && is(i + 2, "std"))) blank(first, behind);
      return behind;
    }
    while (is(i, "template") && is(i + 1, "<")) i = brackets_.behind_angles(i + 1);
    if (is_class(i, end)) return class_definition(first, i, end);
    return function_or_variable(first, i, end, member);
  }

  // A class, struct, union or enum with a body; `struct P make();` is not one.
  bool is_class(size_t i, size_t end) const {
    for (; i < end; ++i) {
      if (is(i, "struct") || is(i, "class") || is(i, "union") || is(i, "enum")) break;
      if (!is(i, "static") && !is(i, "const") && !is(i, "constexpr") && !is(i, "__constant__") && !is(i, "__device__"))
        return false;
    }
    for (++i; i < end; ++i) {
      if (is(i, "{") || is(i, ";")) return true;
      if (is(i, "<"))
        i = brackets_.behind_angles(i) - 1;
      else if (is(i, "(")) {
        if (!is(i - 1, "__align__") && !is(i - 1, "alignas") && !is(i - 1, "__attribute__")) return false;
        i = brackets_.closing(i);
      } else if (is(i, "="))
        return false;
    }
    return false;
  }

  size_t class_definition(size_t first, size_t i, size_t end) {
    size_t open = i;
    while (open < end && !is(open, "{") && !is(open, ";")) ++open;
    const size_t behind = behind_semicolon(open, end);
    if (!is(open, "{")) return behind;
    const size_t close = brackets_.closing(open);
    if (!host_only(first, behind)) return behind;
    if (!device(open, close)) {
      blank(first, behind);
      return behind;
    }
    if (depth_ == kDeepestClass) return behind;
    ++depth_;
    for (size_t at = open + 1; at < close;) at = declaration(at, close, true);
    --depth_;
    return behind;
  }

  size_t function_or_variable(size_t first, size_t i, size_t end, bool member) {
    bool parameters = false, assigned = false, initialisers = false;
    for (; i < end; ++i) {
      if (is(i, "operator")) {  // operator(), operator=, operator<<
        for (++i; i + 1 < end && !is(i + 1, "("); ++i) {
        }
        if (is(i, "(")) ++i;
        continue;
      }
      if (is(i, "(")) {
        // NAME(...) at the start of a declaration, without a body: a macro that brings its own semicolon or needs none
        const size_t close = brackets_.closing(i);
        const bool macro = i == first + 1 && word(first) && device_macros_.contains(token(first).text);
        if (macro && !is(close + 1, "{")) return is(close + 1, ";") ? close + 2 : close + 1;
        if (i == first + 1 && word(first) && is_host_macro(first, close) && close < end) {
          const size_t behind = is(close + 1, ";") ? close + 2 : close + 1;
          blank(first, behind);
          return behind;
        }
        parameters = true;
        i = close;
      } else if (is(i, "[")) {
        i = brackets_.closing(i);
      } else if (is(i, "=") && !is(i + 1, "=")) {
        assigned = true;
      } else if (is(i, ":") && parameters && !is(i + 1, ":") && !is(i - 1, ":")) {
        initialisers = true;  // of a constructor
      } else if (is(i, "{")) {
        const bool body = parameters && !assigned && !(initialisers && (word(i - 1) || is(i - 1, ">")));
        const size_t close = brackets_.closing(i);
        if (body) return function_definition(first, i, close, member);
        i = close;
      } else if (is(i, ";")) {
        const bool prototype = parameters && !assigned && !device(first, i) && !has(first, i, "__constant__") &&
                               !has(first, i, "__shared__") && is_prototype(first, i);
        const bool host_variable = assigned && !member && !any_of_words(first, i, kSeenByDevice);
        if (!device(first, i) && ((prototype && !member) || host_only(first, i) || is(first, "dim3") || host_variable))
          blank(first, i + 1);
        return i + 1;
      }
    }
    return end;
  }

  // NAME(...) of a macro with host code in it, or one that gets a host function: REGISTER(launch_scale).
  bool is_host_macro(size_t name, size_t close) const {
    return host_macros_.contains(token(name).text) || (!is(close + 1, "{") && any_of_words(name + 1, close, gone_));
  }

  // `type name(…);`: an instantiation of a host template, or a declared host function.
  bool is_prototype(size_t first, size_t semicolon) const {
    size_t open = first;
    while (open < semicolon && !is(open, "(")) ++open;
    return open >= first + 2 && is(semicolon - 1, ")");
  }

  size_t function_definition(size_t first, size_t open, size_t close, bool member) {
    const bool kept =
        device(first, open) ||
        ((member || has(first, open, "constexpr") || has(first, open, "consteval")) && !host_only(first, close));
    if (kept) return close + 1;
    for (size_t i = first + 1; i < open; ++i)
      if (is(i, "(") && word(i - 1)) {
        gone_.insert(token(i - 1).text);
        break;
      }
    blank(first, close + 1);
    return close + 1;
  }

  std::string_view source_;
  std::string out_;
  Tokens tokens_;
  CppBrackets brackets_;
  Words device_macros_, host_macros_;
  Words gone_;     // functions whose definitions were blanked
  int depth_ = 0;  // of the current class
};

}  // namespace

std::string without_host_code(std::string_view source) {
  // A byte order mark is valid only at the start of a file, and macros and headers will precede it.
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  std::string out = Blanker(source).run();
  if (out.starts_with(kMark)) out.replace(0, kMark.size(), kMark.size(), ' ');
  return out;
}

}  // namespace attnscope::compile
