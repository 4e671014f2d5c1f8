#include "ui/glossary.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "platform/atomic_file.h"

namespace attnscope::ui {
namespace {

constexpr uint64_t kMaxFileBytes = 1 << 20;
// In a sentence these words rarely have the glossary's meaning.
constexpr std::string_view kOrdinary[] = {"other",   "correct", "wrong",   "watch", "move",    "limit", "outside",
                                          "control", "term",    "history", "scale", "problem", "jumps", "uniform"};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r:");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

Glossary Glossary::parse(std::string_view markdown) {
  Glossary glossary;
  while (!markdown.empty()) {
    const size_t end = markdown.find('\n');
    const std::string_view line = markdown.substr(0, end);
    markdown.remove_prefix(end == std::string_view::npos ? markdown.size() : end + 1);
    const size_t open = line.find("**");
    if (open == std::string_view::npos || line.find_first_not_of(" -*\t") < open) continue;
    const size_t close = line.find("**", open + 2);
    if (close == std::string_view::npos) continue;
    std::string_view words = line.substr(open + 2, close - open - 2);
    const std::string sentence(trimmed(line.substr(close + 2)));
    while (!words.empty() && !sentence.empty()) {
      const size_t comma = words.find(',');
      glossary.entries_[lower(trimmed(words.substr(0, comma)))] = sentence;
      words.remove_prefix(comma == std::string_view::npos ? words.size() : comma + 1);
    }
  }
  return glossary;
}

Result<Glossary> Glossary::load(const std::filesystem::path& file) {
  const Result<std::string> text = platform::read_file(file, kMaxFileBytes);
  if (!text) return fail(text.error());
  return parse(*text);
}

const std::string& Glossary::find(std::string_view word) const {
  static const std::string none;
  const auto found = entries_.find(lower(word));
  return found == entries_.end() ? none : found->second;
}

std::vector<Glossary::Found> Glossary::words_in(std::string_view text) const {
  const std::string all = lower(text);
  const auto in_a_word = [&](size_t at) {
    return at < all.size() && (std::isalnum(static_cast<unsigned char>(all[at])) != 0 || all[at] == '_');
  };
  // The length of the word in the text at that place, with or without an s; 0 if it is not there.
  const auto length_at = [&](size_t at, std::string_view word) -> size_t {
    if (word.ends_with('s') && !word.ends_with("ss")) word.remove_suffix(1);
    if (word.size() < 2 || all.compare(at, word.size(), word) != 0) return 0;
    const size_t end = at + word.size();
    if (!in_a_word(end)) return word.size();
    return all[end] == 's' && !in_a_word(end + 1) ? word.size() + 1 : 0;
  };
  std::vector<Found> found;
  std::set<std::string_view> sentences;
  for (size_t at = 0; at < all.size(); ++at) {
    if (!in_a_word(at) || (at > 0 && in_a_word(at - 1))) continue;
    const std::pair<const std::string, std::string>* best = nullptr;
    size_t longest = 0;
    for (const auto& entry : entries_)
      if (const size_t length = length_at(at, entry.first); length > longest) longest = length, best = &entry;
    if (best == nullptr || std::ranges::find(kOrdinary, best->first) != std::end(kOrdinary)) continue;
    if (sentences.insert(best->second).second) found.push_back({std::string(text.substr(at, longest)), best->first});
    at += longest - 1;
  }
  return found;
}

}  // namespace attnscope::ui
