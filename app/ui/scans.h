#pragma once
#include <string>

#include "charts/scan_rows.h"
#include "ui/context.h"

namespace attnscope::ui {

// The newest scan of that knob that has `draft` as one of its values; null: none.
const Scan* scan_of(const session::Snapshot& snapshot, const Draft& draft, const std::string& knob);
// Of that scan, the knob's own rows; the current value is the draft's.
charts::ScanSeries series_of(const Scan& scan, const Draft& draft, const std::string& knob);
// Runs every value of the knob with the others held, after everything else.
void ask_scan(const Context& context, const std::string& knob);
// Why the knob cannot be scanned now; empty: it can.
std::string why_not_scanned(const Knob& knob);

// Makes the value of that knob the current experiment.
void take_value(Context& context, const Knob& knob, int64_t value);

// A value of a scanned knob in lines: its time and what became of it.
std::string words_of(const charts::ScanRow& row);

}  // namespace attnscope::ui
