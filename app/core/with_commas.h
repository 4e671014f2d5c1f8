#pragma once
#include <cstdint>
#include <string>

namespace attnscope {

std::string with_commas(int64_t value);  // 36,928

}  // namespace attnscope
