#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace attnscope {

// A sequence of words in which a repeated run is stored once.
struct Folded {
  // words[first, first + length) is repeated `times` times in a row.
  struct Loop {
    size_t first = 0, length = 0;
    int64_t times = 1;
    bool operator==(const Loop&) const = default;
  };
  std::vector<uint32_t> words;
  std::vector<Loop> loops;  // ascending, not nested
  bool operator==(const Folded&) const = default;
};

// Folds a sequence that arrives in pieces and may be too long to store: the path of a warp through its code. It finds
// nested loops, and the result has the outermost ones whose body is short enough.
class Folder {
 public:
  static constexpr size_t kMostWords = 1 << 17;  // the largest size of a folded sequence

  void add(std::span<const uint32_t> words);
  // Returns false if too little of the sequence repeats.
  bool fits() const { return fits_; }
  Folded finish();

 private:
  // A word, or a body in bodies_, several times in a row.
  struct Element {
    uint64_t symbol = 0;
    int64_t times = 1;
    bool operator==(const Element&) const = default;
  };
  struct Hash {
    size_t operator()(const Element& element) const {
      return static_cast<size_t>((element.symbol * 0x9e3779b97f4a7c15ull) ^ static_cast<uint64_t>(element.times));
    }
  };
  struct Body {
    std::vector<Element> elements;
    size_t length = 0;  // in words
  };

  void append(uint64_t symbol);
  void reduce();
  void reopen_last();
  bool grow_loop();
  bool make_loop();
  uint64_t symbol_of(std::vector<Element> body);
  void remove_last(size_t count);
  size_t length_of(uint64_t symbol) const;
  void unfold(const Element& element, std::vector<uint32_t>& words) const;
  void keep(const Element& element, Folded& out) const;

  bool fits_ = true;
  std::vector<Element> tail_;
  // For each element but the last, which may still grow: the place of the previous equal element, plus one. And the
  // last place of each element.
  std::vector<size_t> before_;
  std::unordered_map<Element, size_t, Hash> last_place_;
  std::vector<size_t> loops_;  // places of the elements that are bodies
  std::vector<Body> bodies_;
  std::unordered_multimap<size_t, uint64_t> body_symbols_;  // index into bodies_ by the body's hash
};

}  // namespace attnscope
