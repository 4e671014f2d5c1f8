#include "catalog/struct_layout.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "catalog/element_types.h"

namespace attnscope::catalog {
namespace {

constexpr int kDeepestStruct = 8;      // structs in structs
constexpr size_t kMostVisited = 4000;  // members, also of structs that have none: arrays of arrays of them are many
constexpr size_t kWidestVector = 16;   // bytes to which a vector is aligned at most

using Leaf = StructLeaf;

// The layout of C++ for what is plain: each member is aligned to its own alignment.
class Layouter {
 public:
  Layouter(const CudaSource& source, const HostScope& scope) : source_(source), scope_(scope) {}

  struct Extent {
    size_t bytes = 0, align = 1;
  };
  // Empty if a member cannot be passed. `leaf`: whose members these are; its path and name begin theirs.
  std::optional<Extent> of(const std::vector<SourceParameter>& members, const Leaf& leaf, int depth,
                           std::vector<Leaf>& leaves) {
    Extent whole;
    for (const SourceParameter& member : members) {
      if (++visited_ > kMostVisited) return std::nullopt;
      Leaf one{.path = leaf.path + (leaf.path.empty() ? "" : ".") + member.name,
               .name = leaf.name + (leaf.path.empty() ? "_" : ".") + member.name,
               .member = member,
               .named = leaf.named && !member.name.ends_with("]")};
      std::vector<Leaf> inner;
      const auto extent = extent_of(one, depth, inner);
      if (!extent || leaves.size() + inner.size() > kMostStructLeaves) return std::nullopt;
      const size_t at = aligned(whole.bytes, extent->align);
      for (Leaf& each : inner) {
        each.at += at;
        leaves.push_back(std::move(each));
      }
      whole = {at + extent->bytes, std::max(whole.align, extent->align)};
    }
    return Extent{std::max<size_t>(aligned(whole.bytes, whole.align), 1), whole.align};
  }

 private:
  std::optional<Extent> extent_of(Leaf& one, int depth, std::vector<Leaf>& leaves) {
    const std::string type = scope_.resolved_type(one.member.type);
    if (one.member.pointer) {
      leaves.push_back(one);
      return Extent{kStructAddressBytes, kStructAddressBytes};
    }
    if (const auto element = element_of(type)) {
      one.type = element->type;
      one.bytes = bytes_of(element->type);
      one.lanes = static_cast<size_t>(element->lanes);
      leaves.push_back(one);
      const size_t bytes = one.bytes * one.lanes;
      return Extent{bytes, one.lanes == 3 ? one.bytes : std::min(bytes, kWidestVector)};
    }
    const auto* const members = members_of(source_, type);
    return members && depth < kDeepestStruct ? of(*members, one, depth + 1, leaves) : std::nullopt;
  }

  const CudaSource& source_;
  const HostScope& scope_;
  size_t visited_ = 0;
};

}  // namespace

const std::vector<SourceParameter>* members_of(const CudaSource& source, const std::string& whole_type) {
  const std::string type = whole_type.substr(0, whole_type.find('<'));  // of a template: its members' names
  auto found = source.structs.find(type);
  if (found == source.structs.end() && type.find("::") != std::string::npos)
    found = source.structs.find(type.substr(type.rfind("::") + 2));
  return found == source.structs.end() ? nullptr : &found->second;
}

std::string why_not_plain(const std::string& text, const std::string& whole_type) {
  std::string type = whole_type.substr(0, whole_type.find('<'));
  if (const size_t colon = type.rfind("::"); colon != std::string::npos) type.erase(0, colon + 2);
  const std::vector<CppToken> tokens = cpp_tokens(text);
  const auto is = [&](size_t i, std::string_view mark) { return i < tokens.size() && tokens[i].is(mark); };
  const CppBrackets brackets(tokens);
  for (size_t i = 1; i < tokens.size(); ++i) {
    const bool declared = is(i - 1, "struct") || is(i - 1, "class") || is(i - 1, "union");
    if (!declared || !is(i, type) || is(i + 1, ";")) continue;
    if (is(i - 1, "union")) return "is a union";
    if (is(i + 1, ":")) return "has a base class";
    if (!is(i + 1, "{")) continue;
    for (size_t at = i + 2, close = brackets.closing(i + 1); at < close; ++at) {
      if (is(at, "virtual")) return "has a virtual function";
      if (is(at, "(") || is(at, "{")) at = brackets.closing(at);
      const bool last = is(at + 2, ";") || is(at + 2, ",");
      if (is(at, ":") && last && at + 1 < close && tokens[at + 1].kind == CppToken::Kind::number)
        return "has a bit field";
      if (is(at, "&") && at + 1 < close && tokens[at + 1].kind == CppToken::Kind::word && last)
        return "has a reference";
    }
    return "has a member of a kind that is not read: an array whose length is not a number, an array of pointers, one "
           "that is aligned, a pointer to a function, or another type that is not plain";
  }
  return {};
}

std::optional<size_t> lay_out(const CudaSource& source, const HostScope& scope, const std::string& name,
                              const std::vector<SourceParameter>& members, std::vector<StructLeaf>& leaves) {
  const auto extent = Layouter(source, scope).of(members, {.path = "", .name = name, .member = {}}, 0, leaves);
  return extent ? std::optional(extent->bytes) : std::nullopt;
}

}  // namespace attnscope::catalog
