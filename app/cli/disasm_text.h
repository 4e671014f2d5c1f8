#pragma once
#include <set>
#include <string>
#include <vector>

#include "charts/code_diff.h"
#include "charts/code_view.h"
#include "core/kernel.h"
#include "core/listing.h"

namespace attnscope::cli {

// The columns that have a figure anywhere.
std::vector<charts::HeatColumn> columns_of(const charts::CodeView& view);

// One line per instruction with its figures, its scheduling half and its source line. `order` selects and orders the
// instructions.
std::string sass_text(const Listing& listing, const charts::CodeView& view, const std::vector<int64_t>& order);
// One line for each source line that has instructions. `order` has their numbers, from 1.
std::string lines_text(const Kernel& kernel, const charts::CodeView& view, const std::vector<int64_t>& order);
// The innermost line of the kernel's own file, as listings count it; 0 if the instruction comes from none.
int64_t own_line(const Listing& listing, const CodeLine& code, const Kernel& kernel);
// "Lines that did: 7, 9."
std::string lines_hint(const std::string& which, const std::set<int64_t>& lines);
// "all 128 CTAs" or "43 of 128 CTAs"; or that the listing has no counts.
std::string counted_text(const Listing& listing);

// The changes from A to B: the source with its macros' values, then the SASS. `a` and `b` are the texts' lines.
std::string diff_text(const std::string& title, const charts::CodeDiff& diff, const std::vector<std::string>& a,
                      const std::vector<std::string>& b);

}  // namespace attnscope::cli
