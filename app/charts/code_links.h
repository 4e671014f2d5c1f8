#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/listing.h"

namespace attnscope::charts {

// An instruction that another one depends on, or that depends on it.
struct CodeLink {
  int64_t at = 0;
  std::string by;  // "R4, R5", "P0", "scoreboard 2"
  bool operator==(const CodeLink&) const = default;
};

// The possible predecessors and successors of each instruction of a listing, for following values along every path. The
// listing must outlive it.
class CodeGraph {
 public:
  explicit CodeGraph(const Listing& listing);

  // The instructions that produce what `at` reads, and those whose scoreboard it waits for, in ascending order. A
  // guarded instruction may leave the value unchanged, so earlier producers are included too.
  std::vector<CodeLink> producers_of(int64_t at) const;
  // The instructions that read what `at` produces, and those that wait for its scoreboards.
  std::vector<CodeLink> consumers_of(int64_t at) const;
  // For each instruction, how many registers (R) hold a value that is read later, at its issue and including its own
  // sources.
  std::vector<int> live_registers() const;

 private:
  const Listing& listing_;
  std::vector<std::vector<int64_t>> before_, after_;
};

}  // namespace attnscope::charts
