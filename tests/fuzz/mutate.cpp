#include "mutate.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/json.h"

namespace attnscope::fuzz {
namespace {

constexpr std::array<uint64_t, 16> kEdges{0,          1,          2,          7,      0x7f,       0x80,
                                          0xff,       0x7fff,     0x8000,     0xffff, 0x7fffffff, 0x80000000,
                                          0xffffffff, 1ull << 53, 1ull << 63, ~0ull};

size_t below(Random& random, size_t end) { return end == 0 ? 0 : static_cast<size_t>(random() % end); }

// Headers, and the tables at a file's end, decide more than the data between them.
size_t place(const std::string& text, Random& random) {
  switch (random() % 4) {
    case 0:
      return below(random, std::min<size_t>(text.size(), 64));
    case 1:
      return text.size() - below(random, text.size() / 4 + 1);
    default:
      return below(random, text.size());
  }
}

void set_number(std::string& text, Random& random) {
  const size_t bytes = size_t{1} << random() % 4;
  const size_t at = place(text, random) & ~(bytes - 1);
  if (at + bytes > text.size()) return;
  uint64_t value = 0;
  std::memcpy(&value, text.data() + at, bytes);
  switch (random() % 3) {
    case 0:
      value = kEdges[below(random, kEdges.size())];
      break;
    case 1:
      value += random() % 33 - 16;
      break;
    default:
      value = text.size() + random() % 17 - 8;
      break;  // near the end of the file
  }
  std::memcpy(text.data() + at, &value, bytes);
}

void lengthen_digits(std::string& text, Random& random) {
  const size_t digit = text.find_first_of("0123456789", place(text, random));
  if (digit == std::string::npos) return;
  text.insert(digit, 1 + random() % 40, "0123456789"[random() % 10]);
}

void change(std::string& text, const std::string& other, const std::vector<std::string>& words, Random& random) {
  const size_t at = std::min(place(text, random), text.size());
  const size_t length = size_t{1} << random() % 12;
  switch (random() % 10) {
    case 0:
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
      break;
    case 2:
      if (at < text.size()) text[at] = static_cast<char>(random());
      break;
    case 3:
    case 4:
      set_number(text, random);
      break;
    case 5:
      text.erase(at, length);
      break;
    case 6:
      text.insert(at, text.substr(at, length));
      break;
    case 7:
      text.insert(at, other.substr(std::min(place(other, random), other.size()), length));
      break;
    case 8:
      lengthen_digits(text, random);
      break;
    default:
      if (words.empty())
        text.resize(at);
      else
        text.insert(at, words[below(random, words.size())]);
  }
}

// All values of a document, itself included.
void collect(Json& json, std::vector<Json*>& all) {
  all.push_back(&json);
  for (Json& part : json) {
    if (part.is_structured())
      collect(part, all);
    else
      all.push_back(&part);
  }
}

Json edge_value(const std::vector<std::string>& words, Random& random) {
  switch (random() % 7) {
    case 0:
      return kEdges[below(random, kEdges.size())];
    case 1:
      return -static_cast<int64_t>(random() % 100);
    case 2:
      return 1e300 * static_cast<double>(random() % 3);
    case 3:
      return Json();
    case 4:
      return random() % 2 == 0;
    case 5:
      return Json::array({Json::object(), "", 0});
    default:
      return words.empty() ? "" : words[below(random, words.size())];
  }
}

}  // namespace

std::string mutated(const std::string& seed, const std::string& other, const std::vector<std::string>& words,
                    Random& random) {
  std::string text = seed;
  for (uint64_t left = 1 + random() % 8; left > 0; --left) change(text, other, words, random);
  if (text.size() > 2 * seed.size() + 4096) text.resize(2 * seed.size() + 4096);
  return text;
}

std::string mutated_json(const std::string& seed, const std::string& other, const std::vector<std::string>& words,
                         Random& random) {
  auto json = parse_json(seed, "seed"), donor = parse_json(other, "other");
  if (!json || !donor || random() % 2 == 0) return mutated(seed, other, words, random);
  for (uint64_t left = 1 + random() % 4; left > 0; --left) {
    std::vector<Json*> all, parts;
    collect(*json, all);
    collect(*donor, parts);
    Json& chosen = *all[below(random, all.size())];
    switch (random() % 5) {
      case 0:
        chosen = Json(*parts[below(random, parts.size())]);
        break;
      case 1:
        if (chosen.is_structured() && !chosen.empty())
          chosen.erase(std::next(chosen.begin(), static_cast<ptrdiff_t>(below(random, chosen.size()))));
        break;
      case 2:
        if (chosen.is_array() && !chosen.empty()) chosen.push_back(Json(chosen[below(random, chosen.size())]));
        break;
      case 3:
        if (chosen.is_string()) chosen = mutated(chosen.get<std::string>(), other, words, random);
        break;
      default:
        chosen = edge_value(words, random);
    }
  }
  return json->dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace attnscope::fuzz
