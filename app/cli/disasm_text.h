#pragma once
#include <set>
#include <string>
#include <vector>

#include "charts/code_diff.h"
#include "charts/code_view.h"
#include "core/kernel.h"
#include "core/listing.h"

namespace attnscope::cli {

// Only those columns that have a figure anywhere.
std::vector<charts::HeatColumn> columns_of(const charts::CodeView& view);

// One line for each instruction with its figures, its scheduling half and its line; `order` gives which and in which
// order.
std::string sass_text(const Listing& listing, const charts::CodeView& view, const std::vector<int64_t>& order);
// One line for each line of the source that has instructions; `order` holds their numbers, from 1.
std::string lines_text(const Kernel& kernel, const charts::CodeView& view, const std::vector<int64_t>& order);
// The innermost line of the kernel's own file, as listings count it; 0: it comes from none.
int64_t own_line(const Listing& listing, const CodeLine& code, const Kernel& kernel);
// "Lines that did: 7, 9."
std::string lines_hint(const std::string& which, const std::set<int64_t>& lines);
// "all 128 CTAs" or "43 of 128 CTAs", and that a listing has no counts.
std::string counted_text(const Listing& listing);

// What changed from A to B: the source with its macros' values, then the SASS. `a` and `b` are the text's lines.
std::string diff_text(const std::string& title, const charts::CodeDiff& diff, const std::vector<std::string>& a,
                      const std::vector<std::string>& b);

}  // namespace attnscope::cli
