#include "catalog/grid_sync.h"

#include <set>
#include <string_view>

#include "core/cpp_tokens.h"

namespace attnscope::catalog {
namespace {

constexpr size_t kMostCalled = 100;  // functions that are followed from a kernel's text

class GridSyncFinder {
 public:
  explicit GridSyncFinder(const ReadSource& source) : source_(source) {
    const auto tokens = cpp_tokens(source.own_text());
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
      // `cg::grid_group grid = …`, also as a parameter: `const grid_group& grid`.
      if (tokens[i].is("grid_group")) {
        size_t name = i + 1;
        while (name + 1 < tokens.size() && (tokens[name].is("const") || tokens[name].is("&"))) ++name;
        if (tokens[name].kind == CppToken::Kind::word) groups_.insert(tokens[name].text);
      }
      // `auto grid = cg::this_grid();`
      if (!tokens[i].is("this_grid")) continue;
      size_t assigned = i;
      while (assigned > 0 && (tokens[assigned - 1].is(":") || tokens[assigned - 1].kind == CppToken::Kind::word))
        --assigned;
      if (assigned > 1 && tokens[assigned - 1].is("=") && tokens[assigned - 2].kind == CppToken::Kind::word)
        groups_.insert(tokens[assigned - 2].text);
    }
  }

  bool in(size_t begin, size_t end) {
    const auto tokens = cpp_tokens(std::string_view(source_.text).substr(begin, end - begin));
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].kind != CppToken::Kind::word) continue;
      const auto at = [&](size_t next) {
        return i + next < tokens.size() ? tokens[i + next].text : std::string_view();
      };
      const auto waits = [](std::string_view name) { return name == "sync" || name == "barrier_arrive"; };
      if (tokens[i].is("this_grid") && at(1) == "(" && at(2) == ")" && at(3) == "." && waits(at(4))) return true;
      if (groups_.contains(tokens[i].text) && at(1) == "." && waits(at(2))) return true;
      if (tokens[i].is("sync") && at(1) == "(" && groups_.contains(at(2))) return true;
      const HostFunction* const called =
          seen_.size() < kMostCalled && at(1) == "(" ? source_.host.function_named(tokens[i].text) : nullptr;
      if (called && seen_.insert(called->name).second && in(called->begin, called->end)) return true;
    }
    return false;
  }

 private:
  const ReadSource& source_;
  std::set<std::string_view> groups_;  // names of grid groups
  std::set<std::string_view> seen_;
};

}  // namespace

bool syncs_grid(const ReadSource& source, const SourceKernel& kernel) {
  // Most files have none.
  if (source.own_text().find("this_grid") == std::string_view::npos) return false;
  return GridSyncFinder(source).in(kernel.body, kernel.end);
}

}  // namespace attnscope::catalog
