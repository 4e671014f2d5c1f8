#pragma once
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/host_expression.h"
#include "core/cpp_tokens.h"

namespace attnscope::catalog {

// The meanings of a name in host code, which may have a value in every block.
template <class T>
class SourceValues {
 public:
  struct One {
    size_t at = 0, end = 0;  // known from `at` to the end of its block; SIZE_MAX: the end of the file
    T value;
    bool declared = true;  // declared there, rather than assigned another value
  };
  void add(const std::string& name, One one) { all_[name].push_back(std::move(one)); }
  // The one that was added last; null if there is none.
  const One* last(const std::string& name) const {
    const auto found = all_.find(name);
    return found == all_.end() || found->second.empty() ? nullptr : &found->second.back();
  }
  // Puts them into order: once, behind the last add() and before the first look-up. Nested loops add theirs backwards,
  // so inserting each in its place would take quadratic time.
  void sort() {
    for (auto& [name, all] : all_) std::ranges::stable_sort(all, {}, &One::at);
  }
  // The nearest value before its use whose block contains the use; null if there is none.
  const One* find(const std::string& name, size_t used_at) const {
    const auto found = all_.find(name);
    if (found == all_.end()) return nullptr;
    size_t looked_at = 0;
    for (auto one = std::ranges::lower_bound(found->second, used_at, {}, &One::at); one != found->second.begin();) {
      --one;
      if (one->end >= used_at) return &*one;
      if (++looked_at == kMostLookedAt) break;
    }
    return nullptr;
  }
  // The nearest declaration before the use in any block, otherwise the last one.
  const One* any(const std::string& name, size_t used_at) const {
    const auto found = all_.find(name);
    if (found == all_.end()) return nullptr;
    const auto behind = std::ranges::lower_bound(found->second, used_at, {}, &One::at);
    const One* const before = last_declared(found->second.begin(), behind);
    return before ? before : last_declared(behind, found->second.end());
  }

 private:
  template <class Iterator>
  static const One* last_declared(Iterator begin, Iterator end) {
    for (size_t looked_at = 0; end != begin && looked_at < kMostLookedAt; ++looked_at)
      if ((--end)->declared) return &*end;
    return nullptr;
  }
  static constexpr size_t kMostLookedAt = 1000;  // limits the cost of a file with a million of them
  std::map<std::string, std::vector<One>> all_;  // ascending once they are sorted
};

// Where names get other values than those in their declarations.
class SourceChanges {
 public:
  // A loop from `begin` to `end`: what changes in it may have changed from its first line on, by an earlier turn.
  void open_loop(size_t begin, size_t end) { loops_.push_back({begin, end}); }
  // `end`: of the block in which the new value is known; a position before any use if it is unknown. `since`: where the
  // name has its value from.
  void add(const std::string& name, size_t at, size_t end, size_t since);
  // True if the value of a name, known since `from`, may have changed at `to`.
  bool any(const std::string& name, size_t from, size_t to) const;

 private:
  struct One {
    size_t at = 0, end = 0;
  };
  std::map<std::string, std::vector<One>> all_;  // ascending
  std::vector<One> loops_;                       // those that were open at the last add(), and later ones
};

// The values that host code gives its names, as written.
struct HostValues {
  SourceValues<std::string> constants;          // name = expression
  std::map<size_t, NumberKind> kinds;           // of the constants whose type is read, by `at`
  SourceChanges changes;                        // of names in a branch, or by += and the like
  SourceValues<std::vector<std::string>> dims;  // dim3 name(x, y, z)
};

// A token of a source, and the end of the block for what is declared there: byte offsets in the source.
struct HostToken {
  const std::vector<CppToken>& tokens;
  const CppBrackets& brackets;
  size_t i;
  size_t end_of_block;  // SIZE_MAX: the file's end
  bool is(size_t at, std::string_view text) const { return at < tokens.size() && tokens[at].is(text); }
  bool word(size_t at) const { return at < tokens.size() && tokens[at].kind == CppToken::Kind::word; }
};

struct SourceConstant {
  std::string name, value;
};

// A word of a whole number's type, such as the `long` of unsigned long; not of one byte.
bool is_whole_type(std::string_view word);
// Notes that a name has another value from `at`, which is known until `end` (SourceChanges::add).
void change(HostValues& values, const std::string& name, size_t at, size_t end);
// Reads `type x = v;` or `x = v;`, at the "=". Empty if it is neither.
std::optional<SourceConstant> read_constant(const HostToken& place, HostValues& values);
// Reads `x += 1; x <<= 1; x++; ++x;`, at the "=" or at the second + or -. A statement `x += n;` in the block that
// declares x as a whole number gives it a value that is known.
void read_change(const HostToken& place, HostValues& values);
// At the { of `size_t bytes{n * 4};`.
void read_braces(const HostToken& place, HostValues& values);
// Reads `f(1, &x)` and `std::cin >> x`, which may give x another value, at the & or at cin. cudaMalloc(&x, 4) does not.
void read_reference(const HostToken& place, HostValues& values);
// The bytes from row to row that cudaMallocPitch makes of rows of `bytes`: a multiple of the device's pitch alignment.
std::string pitched(const std::string& bytes);
// Reads `cudaMallocPitch(&x, &pitch, width, height)`, at its name: it gives pitch a value.
void read_pitch(const HostToken& place, HostValues& values);
// A launch takes a dim3, and a uint3 becomes one.
inline bool is_dims_type(std::string_view word) { return word == "dim3" || word == "uint3"; }

// Reads `dim3 a(…), b(…);  dim3 a = dim3(…);  auto a = dim3{…};  uint3 a = {…};`, at the first dim3 or uint3.
void read_dims(const HostToken& place, HostValues& values);

}  // namespace attnscope::catalog
