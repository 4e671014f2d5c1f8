#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/listing.h"

namespace attnscope::charts {

enum class DiffSide { same, removed, added };

// A line of A, of B, or of both. The other index is -1.
struct DiffRow {
  DiffSide side = DiffSide::same;
  int64_t a = -1, b = -1;
  bool operator==(const DiffRow&) const = default;
};

struct CodeDiff {
  // Contains every line of A and B; removed lines come before the lines added in their place.
  std::vector<DiffRow> rows;
  int64_t removed = 0, added = 0;
};

// A longest common subsequence of the lines (Hirschberg's recursion with bit-parallel rows, after Hyyrö: "Bit-parallel
// LCS-length computation revisited", AWOCA 2004). 20,000 lines on both sides take some milliseconds, whatever their
// content.
CodeDiff diff_of(const std::vector<std::string>& a, const std::vector<std::string>& b);

// The indexes of the rows within `around` of a change, ascending. A gap between them is unchanged code.
std::vector<size_t> changed_rows(const CodeDiff& diff, size_t around);

// An instruction without the numbers of its registers, predicates and labels, so that another register allocation is
// not a change. "@!P3 LDS.64 R4, [R2.X4+0x10]" gives "@!P LDS.64 R, [R.X4+0x10]".
std::string normal_form(std::string_view sass);
CodeDiff sass_diff(const Listing& a, const Listing& b);

struct SourceLine {
  int64_t number = 0;  // in the file, from 1
  std::string text;
};
// The lines that the compiler sees with those macros, with the macros replaced by their values. A condition that needs
// more than these macros and the source's own numbers keeps every branch.
std::vector<SourceLine> preprocessed(std::string_view source, const std::map<std::string, int64_t>& macros);
CodeDiff source_diff(const std::vector<SourceLine>& a, const std::vector<SourceLine>& b);

}  // namespace attnscope::charts
