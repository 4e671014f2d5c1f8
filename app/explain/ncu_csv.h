#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/observation.h"
#include "core/result.h"

namespace attnscope::explain {

// Finds the metrics of `ncu --csv` that were requested and not collected: their value is "n/a" or empty. Such a metric
// is not zero. Failure (Stage::input): the text has no header with "Metric Name" and "Metric Value".
Result<std::vector<Finding>> findings_of_ncu(std::string_view csv, const std::string& where);

}  // namespace attnscope::explain
