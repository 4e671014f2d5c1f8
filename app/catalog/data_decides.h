#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/pointer_use.h"
#include "core/cpp_tokens.h"

namespace attnscope::catalog {

// Which parts of a kernel's body depend on the contents of its buffers: `if (x[i] > 0)`, and the code under it. Bounds
// such as `i < n` are not data. A name that is computed from data counts as data in the whole body.
class DataDecides {
 public:
  DataDecides(const std::vector<CppToken>& tokens, const CppBrackets& brackets,
              const std::map<std::string, PointerUse, std::less<>>& pointers);

  // True if the tokens in [begin, end) name data.
  bool uses_data(size_t begin, size_t end) const { return before_[end] > before_[begin]; }
  // True if data decides whether the token at `i` is reached.
  bool decides(size_t i) const { return guards_[i] > 0; }

 private:
  bool is(size_t i, std::string_view text) const { return i < tokens_.size() && tokens_[i].is(text); }
  bool is_head(size_t i) const;
  bool is_tested(size_t i) const;
  void count();
  void spread();
  void find_guards();
  void guard(size_t begin, size_t end);
  size_t statement_end(size_t i) const;

  const std::vector<CppToken>& tokens_;
  const CppBrackets& brackets_;
  std::set<std::string_view> pointers_, names_;  // the parameters; and all names that hold data
  std::vector<size_t> before_;                   // by token: how many tokens before it name data
  std::vector<int64_t> guards_;                  // by token: how many conditions on data enclose it
};

}  // namespace attnscope::catalog
