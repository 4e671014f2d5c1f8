#pragma once

namespace attnscope::model {

// The text of assets/model/bars.json.
extern const char* const kBarsData;

}  // namespace attnscope::model
