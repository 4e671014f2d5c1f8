#pragma once
#include <string>

namespace attnscope {

// "45,846,528", "1,229", "12.35", "0.4017": so many digits, and all of a whole part that has more. A large number is
// never a power of ten.
std::string number_text(double value, int digits = 4);

}  // namespace attnscope
