#include "charts/code_links.h"

#include <algorithm>
#include <bitset>
#include <map>

#include "core/joined.h"

namespace attnscope::charts {
namespace {

constexpr int kScoreboards = 6;

bool has(const std::vector<int64_t>& values, int64_t value) { return std::ranges::find(values, value) != values.end(); }

bool waits_for(const CodeLine& line, int scoreboard) { return (line.control.wait_mask >> scoreboard & 1) != 0; }

bool sets(const CodeLine& line, int scoreboard) {
  return line.control.write_barrier == scoreboard || line.control.read_barrier == scoreboard;
}

// Walks from `from` along `next` until `visit` returns stop; visits each instruction at most once.
template <class Visit>
void walk(const std::vector<std::vector<int64_t>>& next, int64_t from, Visit visit) {
  std::vector<bool> seen(next.size());
  std::vector<int64_t> open = next[static_cast<size_t>(from)];
  while (!open.empty()) {
    const int64_t at = open.back();
    open.pop_back();
    if (seen[static_cast<size_t>(at)]) continue;
    seen[static_cast<size_t>(at)] = true;
    const bool goes_on = visit(at);
    if (!goes_on) continue;
    const std::vector<int64_t>& more = next[static_cast<size_t>(at)];
    open.insert(open.end(), more.begin(), more.end());
  }
}

using Found = std::map<int64_t, std::vector<std::string>>;

std::vector<CodeLink> links(const Found& found) {
  std::vector<CodeLink> all;
  for (const auto& [at, by] : found) all.push_back({at, joined(by, [](const std::string& one) { return one; })});
  return all;
}

std::string scoreboard_name(int scoreboard) { return "scoreboard " + std::to_string(scoreboard); }

}  // namespace

CodeGraph::CodeGraph(const Listing& listing)
    : listing_(listing), before_(listing.lines.size()), after_(listing.lines.size()) {
  const auto join = [&](size_t from, size_t to) {
    after_[from].push_back(static_cast<int64_t>(to));
    before_[to].push_back(static_cast<int64_t>(from));
  };
  for (size_t i = 0; i < listing.lines.size(); ++i) {
    const CodeLine& line = listing.lines[i];
    if (line.falls_through && i + 1 < listing.lines.size()) join(i, i + 1);
    for (const int64_t target : line.targets)
      if (!line.falls_through || target != static_cast<int64_t>(i) + 1) join(i, static_cast<size_t>(target));
  }
}

std::vector<CodeLink> CodeGraph::producers_of(int64_t at) const {
  Found found;
  const CodeLine& line = listing_.lines[static_cast<size_t>(at)];
  for (const int64_t value : line.reads)
    walk(before_, at, [&](int64_t earlier) {
      const CodeLine& one = listing_.lines[static_cast<size_t>(earlier)];
      if (!has(one.writes, value)) return true;
      found[earlier].push_back(code_value::name(static_cast<int>(value)));
      return one.guarded;
    });
  for (int scoreboard = 0; scoreboard < kScoreboards; ++scoreboard) {
    if (!waits_for(line, scoreboard)) continue;
    walk(before_, at, [&](int64_t earlier) {
      const CodeLine& one = listing_.lines[static_cast<size_t>(earlier)];
      if (sets(one, scoreboard)) found[earlier].push_back(scoreboard_name(scoreboard));
      return !waits_for(one, scoreboard);
    });
  }
  return links(found);
}

std::vector<CodeLink> CodeGraph::consumers_of(int64_t at) const {
  Found found;
  const CodeLine& line = listing_.lines[static_cast<size_t>(at)];
  for (const int64_t value : line.writes)
    walk(after_, at, [&](int64_t later) {
      const CodeLine& one = listing_.lines[static_cast<size_t>(later)];
      if (has(one.reads, value)) found[later].push_back(code_value::name(static_cast<int>(value)));
      return one.guarded || !has(one.writes, value);
    });
  for (int scoreboard = 0; scoreboard < kScoreboards; ++scoreboard) {
    if (!sets(line, scoreboard)) continue;
    walk(after_, at, [&](int64_t later) {
      const bool waits = waits_for(listing_.lines[static_cast<size_t>(later)], scoreboard);
      if (waits) found[later].push_back(scoreboard_name(scoreboard));
      return !waits;
    });
  }
  return links(found);
}

std::vector<int> CodeGraph::live_registers() const {
  using Set = std::bitset<code_value::kUniform>;
  const size_t count = listing_.lines.size();
  std::vector<Set> before(count);
  std::vector<bool> waiting(count, true);
  std::vector<size_t> open(count);  // starts at the end, because liveness flows backwards
  for (size_t i = 0; i < count; ++i) open[i] = i;
  while (!open.empty()) {
    const size_t at = open.back();
    open.pop_back();
    waiting[at] = false;
    const CodeLine& line = listing_.lines[at];
    Set live;
    for (const int64_t next : after_[at]) live |= before[static_cast<size_t>(next)];
    const auto registers = [](const std::vector<int64_t>& values, auto&& visit) {
      for (const int64_t value : values)
        if (value < code_value::kUniform) visit(static_cast<size_t>(value));
    };
    if (!line.guarded) registers(line.writes, [&](size_t r) { live.reset(r); });
    registers(line.reads, [&](size_t r) { live.set(r); });
    if (live == before[at]) continue;
    before[at] = live;
    for (const int64_t earlier : before_[at])
      if (!waiting[static_cast<size_t>(earlier)]) {
        waiting[static_cast<size_t>(earlier)] = true;
        open.push_back(static_cast<size_t>(earlier));
      }
  }
  std::vector<int> live(count);
  for (size_t i = 0; i < count; ++i) live[i] = static_cast<int>(before[i].count());
  return live;
}

}  // namespace attnscope::charts
