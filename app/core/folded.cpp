#include "core/folded.h"

#include <algorithm>
#include <utility>

namespace attnscope {
namespace {

constexpr uint64_t kFirstBody = uint64_t{1} << 32;  // smaller symbols are words
constexpr size_t kMostTried = 256;                  // earlier places tried for an element that may begin a second run
constexpr size_t kMostLoops = 1024;                 // loops tried before an element that may be one more run
constexpr size_t kLongestBody = 1 << 15;            // words; for a longer body, the loops within it are kept
constexpr int64_t kFewestRuns = 3;                  // of a loop

}  // namespace

void Folder::add(std::span<const uint32_t> words) {
  for (const uint32_t word : words) {
    if (!fits_) return;
    append(word);
  }
}

void Folder::append(uint64_t symbol) {
  if (!tail_.empty() && tail_.back().symbol == symbol) {
    ++tail_.back().times;
    return;
  }
  reduce();
  tail_.push_back({symbol, 1});
  fits_ = tail_.size() <= kMostWords;
}

// Adds the last element, now complete, to the others and folds repetitions that end with it.
void Folder::reduce() {
  while (!tail_.empty() && before_.size() < tail_.size()) {
    const auto [found, is_new] = last_place_.try_emplace(tail_.back(), 0);
    before_.push_back(is_new ? 0 : found->second + 1);
    found->second = tail_.size() - 1;
    if (tail_.back().symbol >= kFirstBody) loops_.push_back(tail_.size() - 1);
    if (!grow_loop()) make_loop();
  }
}

// Takes the last element back, because it may grow again.
void Folder::reopen_last() {
  if (before_.size() < tail_.size()) return;
  const auto found = last_place_.find(tail_.back());
  if (before_.back() == 0)
    last_place_.erase(found);
  else
    found->second = before_.back() - 1;
  before_.pop_back();
  if (!loops_.empty() && loops_.back() == tail_.size() - 1) loops_.pop_back();
}

void Folder::remove_last(size_t count) {
  for (; count > 0; --count) {
    reopen_last();
    tail_.pop_back();
  }
}

// Folds the last elements into the loop before them if they are one more run of it.
bool Folder::grow_loop() {
  const size_t first = loops_.size() - std::min(loops_.size(), kMostLoops);
  for (size_t i = loops_.size(); i-- > first;) {
    const size_t place = loops_[i], behind = tail_.size() - 1 - place;
    const std::vector<Element>& body = bodies_[tail_[place].symbol - kFirstBody].elements;
    if (behind != body.size() ||
        !std::equal(body.begin(), body.end(), tail_.begin() + static_cast<ptrdiff_t>(place) + 1))
      continue;
    remove_last(behind);
    reopen_last();
    ++tail_.back().times;
    return true;
  }
  return false;
}

// Makes a loop of the last elements if they repeat those before them.
bool Folder::make_loop() {
  const size_t size = tail_.size();
  size_t place = before_.back();
  for (size_t tried = 0; place > 0 && tried < kMostTried; ++tried, place = before_[place - 1]) {
    const size_t length = size - place;
    if (2 * length > size) return false;
    const auto end = tail_.end(), second = end - static_cast<ptrdiff_t>(length),
               first = second - static_cast<ptrdiff_t>(length);
    if (!std::equal(second, end, first)) continue;
    const uint64_t symbol = symbol_of(std::vector<Element>(second, end));
    remove_last(2 * length);
    if (!tail_.empty() && tail_.back().symbol == symbol) {
      reopen_last();
      tail_.back().times += 2;
    } else {
      tail_.push_back({symbol, 2});
    }
    return true;
  }
  return false;
}

uint64_t Folder::symbol_of(std::vector<Element> body) {
  size_t hash = 0;
  for (const Element& element : body) hash = hash * 31 + Hash{}(element);
  const auto [begin, end] = body_symbols_.equal_range(hash);
  for (auto known = begin; known != end; ++known)
    if (bodies_[known->second - kFirstBody].elements == body) return known->second;
  size_t length = 0;
  for (const Element& element : body) length += length_of(element.symbol) * static_cast<size_t>(element.times);
  const uint64_t symbol = kFirstBody + bodies_.size();
  bodies_.push_back({std::move(body), length});
  body_symbols_.emplace(hash, symbol);
  return symbol;
}

size_t Folder::length_of(uint64_t symbol) const {
  return symbol < kFirstBody ? 1 : bodies_[symbol - kFirstBody].length;
}

void Folder::unfold(const Element& element, std::vector<uint32_t>& words) const {
  for (int64_t i = 0; i < element.times; ++i) {
    if (element.symbol < kFirstBody)
      words.push_back(static_cast<uint32_t>(element.symbol));
    else
      for (const Element& inner : bodies_[element.symbol - kFirstBody].elements) unfold(inner, words);
  }
}

void Folder::keep(const Element& element, Folded& out) const {
  if (out.words.size() > kMostWords) return;
  const size_t length = length_of(element.symbol);
  if (element.times >= kFewestRuns && length <= kLongestBody) {
    out.loops.push_back({out.words.size(), length, element.times});
    unfold({element.symbol, 1}, out.words);
  } else if (element.symbol < kFirstBody) {
    unfold(element, out.words);
  } else {
    for (int64_t i = 0; i < element.times; ++i)
      for (const Element& inner : bodies_[element.symbol - kFirstBody].elements) keep(inner, out);
  }
}

Folded Folder::finish() {
  Folded out;
  reduce();
  for (const Element& element : tail_) keep(element, out);
  fits_ = fits_ && out.words.size() <= kMostWords;
  return out;
}

}  // namespace attnscope
