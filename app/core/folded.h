#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace attnscope {

// A sequence of words, of which what repeats is kept once.
struct Folded {
  // words[first, first + length) stand for `times` runs of them, one after the other.
  struct Loop {
    size_t first = 0, length = 0;
    int64_t times = 1;
    bool operator==(const Loop&) const = default;
  };
  std::vector<uint32_t> words;
  std::vector<Loop> loops;  // ascending, none within another
  bool operator==(const Folded&) const = default;
};

// Folds a sequence that comes piece by piece and may be too long to keep: the path of a warp through its code. Of loops
// within loops it knows all, and keeps the outermost whose body is short enough.
class Folder {
 public:
  static constexpr size_t kMostWords = 1 << 17;  // that a folded sequence may have

  void add(std::span<const uint32_t> words);
  // False: too little of it repeats.
  bool fits() const { return fits_; }
  Folded finish();

 private:
  // A word, or a body from bodies_, several times in a row.
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
  // The last element may still grow and is not among these: the place before, plus one, of an equal element; and the
  // last place of each.
  std::vector<size_t> before_;
  std::unordered_map<Element, size_t, Hash> last_place_;
  std::vector<size_t> loops_;  // places of elements that are bodies
  std::vector<Body> bodies_;
  std::unordered_multimap<size_t, uint64_t> body_symbols_;  // by hash
};

}  // namespace attnscope
