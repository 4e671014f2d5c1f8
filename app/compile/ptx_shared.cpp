#include "compile/ptx_shared.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "core/text.h"

namespace attnscope::compile {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%'; }

struct Declaration {
  std::string_view symbol;
  int64_t align = 1, bytes = 0;
  bool dynamic = false;  // .extern
};

// One .entry or .func, or the text outside all functions.
struct Function {
  std::string_view name;
  std::vector<Declaration> declarations;
  std::set<std::string_view> words;  // every symbol that its instructions name
};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t i = 0; i < line.size();) {
    if (!is_word(line[i]) && line[i] != '.') {
      ++i;
      continue;
    }
    size_t end = i + 1;
    while (end < line.size() && is_word(line[end])) ++end;
    words.push_back(line.substr(i, end - i));
    i = end;
  }
  return words;
}

// ".b8" 1, ".f64" 8, ".b128" 16
std::optional<int64_t> type_bytes(std::string_view type) {
  if (type.size() < 3 || std::string_view("busf").find(type[1]) == std::string_view::npos) return std::nullopt;
  const auto bits = number_of<int64_t>(type.substr(2));
  if (!bits || *bits % 8 != 0) return std::nullopt;
  return *bits / 8;
}

// ".shared .align 16 .b8 name[4096];" (dimensions may follow each other)
std::optional<Declaration> shared_declaration(std::string_view line) {
  const auto words = words_of(line);
  if (words.empty() || words[0].front() != '.') return std::nullopt;  // "st.shared.f32 …" is an instruction
  const auto shared = std::find(words.begin(), words.end(), ".shared");
  if (shared == words.end()) return std::nullopt;
  Declaration declaration;
  declaration.dynamic = std::find(words.begin(), shared, ".extern") != shared;
  int64_t element = 0;
  for (auto word = shared + 1; word != words.end(); ++word) {
    if (*word == ".align" && word + 1 != words.end()) {
      declaration.align = number_of<int64_t>(*++word).value_or(1);
    } else if (const auto bytes = type_bytes(*word)) {
      element = *bytes;
    } else if (declaration.symbol.empty()) {
      declaration.symbol = *word;
      declaration.bytes = element;
    } else if (const auto count = number_of<int64_t>(*word)) {
      declaration.bytes *= *count;
    }
  }
  if (declaration.symbol.empty() || element == 0) return std::nullopt;
  declaration.align = std::max({declaration.align, int64_t{1}, element});
  return declaration;
}

class Ptx {
 public:
  explicit Ptx(std::string_view text) {
    functions_.emplace_back();  // for text outside of functions
    while (!text.empty()) {
      const size_t end = text.find('\n');
      read_line(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
  }

  // The kernel and the functions it calls, the kernel first.
  std::vector<const Function*> reachable(std::string_view entry) const {
    std::vector<const Function*> found;
    std::set<std::string_view> seen = {entry};
    std::vector<std::string_view> waiting = {entry};
    while (!waiting.empty()) {
      const std::string_view name = waiting.back();
      waiting.pop_back();
      for (const Function& function : functions_) {
        if (function.name != name || function.name.empty()) continue;
        found.push_back(&function);
        for (const Function& other : functions_)
          if (function.words.contains(other.name) && seen.insert(other.name).second) waiting.push_back(other.name);
      }
    }
    return found;
  }
  const Function& outside() const { return functions_.front(); }

 private:
  void read_line(std::string_view line) {
    if (const size_t comment = line.find("//"); comment != std::string_view::npos) line = line.substr(0, comment);
    const auto words = words_of(line);
    if (words.empty() && line.find_first_of("{}") == std::string_view::npos) return;
    if (depth_ == 0) start_function(words);
    if (depth_ == 0 && !pending_name_.empty() && line.find(';') != std::string_view::npos)
      pending_name_ = {};  // a prototype
    Function& function = functions_[current_];
    if (const auto declaration = shared_declaration(line))
      function.declarations.push_back(*declaration);
    else if (words.empty() || (words[0] != ".loc" && words[0] != ".file"))
      for (const std::string_view word : words) functions_[current_].words.insert(word);
    for (const char c : line) {
      if (c == '{' && depth_++ == 0 && !pending_name_.empty()) open_function();
      if (c == '}' && depth_ > 0 && --depth_ == 0) current_ = 0;
    }
  }

  // ".visible .entry k(" or ".func  (.param .b32 func_retval0) f(": the name may be on the next line.
  void start_function(const std::vector<std::string_view>& words) {
    size_t i = 0;
    while (i < words.size() && words[i] != ".entry" && words[i] != ".func") ++i;
    if (i == words.size()) return;
    for (++i; i < words.size(); ++i)
      if (words[i].front() != '.' && !words[i].starts_with("func_retval") && !number_of<int64_t>(words[i])) {
        pending_name_ = words[i];
        return;
      }
  }

  void open_function() {
    functions_.emplace_back();
    functions_.back().name = pending_name_;
    current_ = functions_.size() - 1;
    pending_name_ = {};
  }

  std::vector<Function> functions_;
  size_t current_ = 0;
  std::string_view pending_name_;
  int depth_ = 0;
};

// "_ZZ15attention_tiledE6Q_tile" → "Q_tile"
std::string source_name(std::string_view symbol) {
  int status = 0;
  const std::string copy(symbol);
  const std::unique_ptr<char, void (*)(void*)> demangled(abi::__cxa_demangle(copy.c_str(), nullptr, nullptr, &status),
                                                         std::free);
  if (status != 0 || !demangled) return copy;
  const std::string name = demangled.get();
  const size_t last = name.rfind("::");
  return last == std::string::npos ? name : name.substr(last + 2);
}

}  // namespace

SharedLayout shared_layout(const std::string& ptx, const std::string& entry) {
  const Ptx module(ptx);
  const auto functions = module.reachable(entry);
  SharedLayout layout;
  std::map<std::string, int> seen;
  size_t contributors = 0;
  int64_t dynamic_align = 1;
  const auto place = [&](const std::vector<Declaration>& declarations, bool own_words, const Function* owner) {
    bool placed = false;
    for (const Declaration& declaration : declarations) {
      const bool named = own_words ? owner->words.contains(declaration.symbol)
                                   : std::any_of(functions.begin(), functions.end(), [&](const Function* function) {
                                       return function->words.contains(declaration.symbol);
                                     });
      if (!named) continue;
      if (declaration.dynamic) {
        dynamic_align = std::max(dynamic_align, declaration.align);
        continue;
      }
      SharedPlacement buffer{source_name(declaration.symbol), std::string(declaration.symbol), 0, declaration.bytes};
      if (const int copies = ++seen[buffer.name]; copies > 1) buffer.name += " #" + std::to_string(copies);
      buffer.offset = (layout.bytes + declaration.align - 1) / declaration.align * declaration.align;
      layout.bytes = buffer.offset + buffer.bytes;
      layout.buffers.push_back(std::move(buffer));
      placed = true;
    }
    return placed;
  };
  place(module.outside().declarations, false, nullptr);
  for (size_t i = 0; i < functions.size(); ++i) {
    const bool placed = place(functions[i]->declarations, true, functions[i]);
    if (i > 0 && placed) ++contributors;
  }
  layout.bytes = (layout.bytes + dynamic_align - 1) / dynamic_align * dynamic_align;
  layout.placed = contributors <= 1;
  return layout;
}

}  // namespace attnscope::compile
