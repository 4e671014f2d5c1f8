#pragma once

namespace attnscope::search {

struct Prediction {
  double mean = 0, spread = 0;  // a standard deviation
};

}  // namespace attnscope::search
