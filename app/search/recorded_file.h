#pragma once
#include <string>
#include <string_view>

#include "search/recorded.h"

namespace attnscope::search {

// The text of a T4 file (search/t4.h) or of a cache file of Kernel Tuner (search/kernel_tuner_cache.h), whichever it
// is. Kernel Tuner closes a cache file's last two brackets only at the end of its run, so they may be missing.
Result<Recorded> recorded_from_text(std::string_view text, const std::string& where);

}  // namespace attnscope::search
