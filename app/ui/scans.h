#pragma once
#include <string>

#include "charts/scan_rows.h"
#include "ui/context.h"

namespace attnscope::ui {

// The newest scan of that knob that has `draft` as one of its values; null if there is none.
const Scan* scan_of(const session::Snapshot& snapshot, const Draft& draft, const std::string& knob);
// The knob's own rows of that scan. The current value is the draft's.
charts::ScanSeries series_of(const Scan& scan, const Draft& draft, const std::string& knob);
// Scans every value of the knob with the others unchanged, after all other requests.
void ask_scan(const Context& context, const std::string& knob);
// Why the knob cannot be scanned now; empty if it can.
std::string why_not_scanned(const Knob& knob);

// Makes the value of that knob the current experiment.
void take_value(Context& context, const Knob& knob, int64_t value);

// A value of a scanned knob as lines of text: its time and result.
std::string words_of(const charts::ScanRow& row);

}  // namespace attnscope::ui
