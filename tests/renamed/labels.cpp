#include "renamed/labels.h"

#include <set>

#include "core/words.h"

namespace attnscope {
namespace {

constexpr std::string_view kOpen = "\u2039", kClose = "\u203a";

#ifdef ATTNSCOPE_ALWAYS_RENAMED
const bool always = testing::renamed = true;
#endif

}  // namespace

// Replaces core's own function. The empty label says nothing, and stays.
std::string_view label(std::string_view word) {
  static std::set<std::string> others;  // they live as long as the views of them
  if (!testing::renamed || word.empty()) return word;
  ++testing::renamings;
  return *others.insert(std::string(kOpen) + std::string(word.rbegin(), word.rend()) + std::string(kClose)).first;
}

std::string testing::with_old_labels(std::string text) {
  for (size_t begin = 0; (begin = text.find(kOpen, begin)) != std::string::npos;) {
    const size_t end = text.find(kClose, begin);
    const std::string word = text.substr(begin + kOpen.size(), end - begin - kOpen.size());
    text.replace(begin, end + kClose.size() - begin, std::string(word.rbegin(), word.rend()));
    begin += word.size();
  }
  return text;
}

}  // namespace attnscope
